//! TCOLMAX, TCOLMIN, TCOLSUM, TCOLPROD: two rows a round onto an accumulator.

use super::super::Tile;
use super::super::call::Call;
use super::super::quirks::Quirk;
use super::code::Code;
use super::function::{Affine, M, V, affine};
use super::{Done, Issue, down, two};
use crate::a5::{Barrier, Dist, Op, VL};

/// Chunks of columns; in each, pairs of rows are combined and then joined with the accumulator.
pub fn col_reduce(call: &Call, to: &mut dyn Issue) -> Done {
    if let Some(tmp) = call.tmp.as_ref().filter(|_| call.attrs.binary) {
        return binary(call, tmp, to);
    }
    let (src, dst) = (call.source(0), &call.dst);
    let (rows, cols) = src.valid();
    let op = two(call.op.operator);
    let mut c = Code::over(dst);
    let (e, size, line) = (VL / c.size(), c.size(), VL as i64);
    let step = (src.row(1) - src.addr) as i64;
    c.post = !call.attrs.indexed;
    c.repeat(cols.div_ceil(e as u64), |c| {
        let m = c.below(size, affine(cols, &[down(e)]));
        let acc = c.load(Dist::Norm, affine(src.addr, &[line]));
        c.repeat((rows - 1) / 2, |c| {
            let two_rows = step.saturating_mul(2);
            let a = c.load(Dist::Norm, affine(src.row(1), &[line, two_rows]));
            let b = c.load(Dist::Norm, affine(src.row(2), &[line, two_rows]));
            let both = c.op(op, &[a, b], m);
            c.into(acc, op, &[acc, both], m);
        });
        if rows % 2 == 0 {
            let last = c.load(Dist::Norm, affine(src.row(rows - 1), &[line]));
            c.into(acc, op, &[acc, last], m);
        }
        c.store(Dist::Norm, acc, affine(dst.addr, &[line]), m);
    });
    to.function(&c.finish())
}

/// TCOLSUM by pairs: rows of src into tmp, then rows of tmp, down to one.
fn binary(call: &Call, tmp: &Tile, to: &mut dyn Issue) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let (rows, cols) = src.valid();
    let mut c = Code::new(dst.dtype);
    let (e, size) = (VL / c.size(), c.size());
    let acc = c.vector();
    c.splat_into(acc, 0);
    let pairs = Pairs { acc, tmp, ordered: !call.quirks.has(Quirk::R14) };
    c.repeat(cols.div_ceil(e as u64), |c| {
        let m = c.below(size, affine(cols, &[down(e)]));
        if rows == 1 {
            let x = c.load(Dist::Norm, affine(src.addr, &[VL as i64]));
            // Shipped code adds the only row to 0, which loses the sign of -0.
            let d = if call.quirks.has(Quirk::R15) { c.op(Op::vadd, &[acc, x], m) } else { x };
            c.store(Dist::Norm, d, affine(dst.addr, &[VL as i64]), m);
            return;
        }
        let (mut from, mut left) = (src, rows);
        while left > 1 {
            if left < rows {
                c.bar(Barrier::StoreLoad);
            } else if pairs.ordered {
                // Chunks of columns share tmp.
                c.bar(Barrier::All);
            }
            pairs.pass(c, from, left, m);
            (from, left) = (tmp, left / 2);
        }
        c.store(Dist::Norm, acc, affine(dst.addr, &[VL as i64]), m);
    });
    to.function(&c.finish())
}

struct Pairs<'c> {
    /// The sum written last.
    acc: V,
    tmp: &'c Tile,
    /// Barriers keep two stores to one row, and chunks that share tmp, apart.
    ordered: bool,
}

impl Pairs<'_> {
    /// Row `r` of a tile, `step` rows further each round of the inner loop. Every chunk of columns
    /// uses the same columns of tmp.
    fn at(&self, t: &Tile, r: u64, step: i64) -> Affine {
        let chunk = if std::ptr::eq(t, self.tmp) { 0 } else { VL as i64 };
        affine(t.row(r), &[chunk, step.saturating_mul((t.row(1) - t.addr) as i64)])
    }

    /// tmp\[j\] = from\[2j\] + from\[2j + 1\]; an odd last row joins the last sum.
    fn pass(&self, c: &mut Code, from: &Tile, left: u64, m: M) {
        c.repeat(left / 2, |c| {
            let x = c.load(Dist::Norm, self.at(from, 0, 2));
            let y = c.load(Dist::Norm, self.at(from, 1, 2));
            c.into(self.acc, Op::vadd, &[x, y], m);
            if self.ordered && left > 3 && std::ptr::eq(from, self.tmp) {
                // Round j stores over a row that round j / 2 loaded.
                c.bar(Barrier::LoadStore);
            }
            c.store(Dist::Norm, self.acc, self.at(self.tmp, 0, 1), m);
        });
        if left % 2 == 1 {
            let x = c.load(Dist::Norm, self.at(from, left - 1, 0));
            c.into(self.acc, Op::vadd, &[self.acc, x], m);
            if self.ordered {
                c.bar(Barrier::StoreStore);
            }
            c.store(Dist::Norm, self.acc, self.at(self.tmp, left / 2 - 1, 0), m);
        }
    }
}
