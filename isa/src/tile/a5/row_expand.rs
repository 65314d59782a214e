//! TROWEXPAND and its relatives with a second operand.

use super::super::call::{Call, OperandOrder};
use super::super::quirks::Quirk;
use super::super::row_expand_bin::Roles;
use super::super::{Layout, Tile};
use super::code::Code;
use super::function::{Affine, V, affine};
use super::{Done, Issue, down};
use crate::a5::{Dist, VL};

fn row_step(t: &Tile) -> i64 {
    (t.row(1) - t.addr) as i64
}

/// Stores of one register over the row: `n` rounds behind the rows.
fn over_row(c: &mut Code, dst: &Tile, v: V) {
    let e = VL / c.size();
    let cols = u64::from(dst.valid_cols);
    c.repeat(cols.div_ceil(e as u64), |c| {
        let m = c.below(c.size(), affine(cols, &[0, down(e)]));
        c.store(Dist::Norm, v, affine(dst.addr, &[row_step(dst), VL as i64]), m);
    });
}

/// TROWEXPAND.
pub fn row_expand(call: &Call, to: &mut dyn Issue) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let mut c = Code::over(dst);
    let e = VL / c.size();
    let column = src.layout == Layout::ColMajor;
    let all = match column {
        true => c.all(1),
        false => c.below(c.size(), affine(e as u64, &[])),
    };
    c.post = !call.attrs.indexed;
    c.repeat(u64::from(dst.valid_rows), |c| {
        let at = affine(src.addr, &[row_step(src)]);
        let x = if column { c.load_unaligned(at) } else { c.load(Dist::Norm, at) };
        let y = c.spread(x, all);
        over_row(c, dst, y);
    });
    to.function(&c.finish())
}

struct Plan<'c> {
    call: &'c Call,
    full: &'c Tile,
    exp: &'c Tile,
    /// Put the expanded operand first.
    exp_first: bool,
}

/// TROWEXPAND{ADD,SUB,MUL,DIV,MAX,MIN,EXPDIF}.
pub fn row_expand_bin(call: &Call, to: &mut dyn Issue) -> Done {
    let Roles { full, exp, swapped, .. } = call.roles();
    let commutes = call.op.operator.commutes();
    let exp_first = swapped && !commutes && call.operand_order == OperandOrder::Vendor;
    let plan = Plan { call, full, exp, exp_first };
    let dst = &call.dst;
    let mut c = Code::over(dst);
    let e = (VL / c.size()) as u64;
    let narrow = u64::from(dst.cols) < e;
    if narrow && (dst.full_cols_static() || dst.rows == 1) {
        plan.narrow(&mut c);
    } else {
        plan.wide(&mut c);
    }
    to.function(&c.finish())
}

impl Plan<'_> {
    /// Where the value or block of each row lies.
    fn expanded(&self) -> Affine {
        let exp = self.exp;
        let step = match exp.layout {
            Layout::ColMajor if self.call.quirks.has(Quirk::D6) => {
                i64::from(exp.cols) * exp.size() as i64
            }
            Layout::RowMajor if self.call.quirks.has(Quirk::D4) => 32,
            _ => row_step(exp),
        };
        affine(exp.addr, &[step])
    }

    fn column(&self) -> bool {
        self.exp.layout == Layout::ColMajor
    }

    fn combine(&self, c: &mut Code, x: V, s: V, m: super::M) -> V {
        let operands = if self.exp_first { [s, x] } else { [x, s] };
        super::col_expand::combine(c, self.call.op.operator, operands, m)
    }

    /// Rows, then chunks of columns.
    fn wide(&self, c: &mut Code) {
        let (dst, full) = (&self.call.dst, self.full);
        let (rows, cols) = dst.valid();
        let (e, size) = (VL / c.size(), c.size());
        let dist = match (self.column(), size) {
            (false, _) => Dist::Blk,
            (_, 1) => Dist::BrcB8,
            (_, 2) => Dist::BrcB16,
            _ => Dist::BrcB32,
        };
        c.repeat(rows, |c| {
            let s = c.load(dist, self.expanded());
            c.repeat(cols.div_ceil(e as u64), |c| {
                let m = c.below(size, affine(cols, &[0, down(e)]));
                let at = |t: &Tile| affine(t.addr, &[row_step(t), VL as i64]);
                let x = c.load(Dist::Norm, at(full));
                let d = self.combine(c, x, s, m);
                c.store(Dist::Norm, d, at(dst), m);
            });
        });
    }

    /// Rows narrower than a register: one loop, one row a round.
    ///
    /// Shipped code steps all tiles by the valid columns of dst, which is the full operand's row
    /// only if that has the same width.
    fn narrow(&self, c: &mut Code) {
        let (dst, full) = (&self.call.dst, self.full);
        let (rows, cols) = dst.valid();
        let size = c.size();
        let all = self.column().then(|| c.all(1));
        let pitch = (cols as usize * size) as i64;
        let step = if self.call.quirks.has(Quirk::D5) { pitch } else { row_step(full) };
        c.repeat(rows, |c| {
            let s = match all {
                Some(all) => {
                    let t = c.load_unaligned(self.expanded());
                    c.spread(t, all)
                }
                None => c.load(Dist::Blk, self.expanded()),
            };
            let m = c.below(size, affine(cols, &[]));
            let x = c.load(Dist::Norm, affine(full.addr, &[step]));
            let d = self.combine(c, x, s, m);
            c.store(Dist::Norm, d, affine(dst.addr, &[row_step(dst)]), m);
        });
    }
}
