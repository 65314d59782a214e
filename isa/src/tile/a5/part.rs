//! TPARTADD and its relatives: the part both sources have, then the rest of its rows, then rows
//! only one has.

use super::super::call::Call;
use super::super::{Operator, Tile};
use super::code::Code;
use super::elementwise::Walk;
use super::function::{Affine, affine};
use super::{Done, Issue, down, software};
use crate::a5::{Dist, Op, VL};

/// TPARTADD, TPARTMUL, TPARTMAX, TPARTMIN.
pub fn part(call: &Call, to: &mut dyn Issue) -> Done {
    let (whole, part) = call.whole_and_part();
    let op = call.op.operator;
    let mut c = Code::over(&call.dst);
    if whole.valid() == part.valid() {
        let src = [call.source(0), call.source(1)];
        let walk = Walk { dst: &call.dst, src: &src, post: !call.attrs.indexed };
        walk.each(&mut c, &mut |c, x, m| match *x {
            [a, b] => software::combine(c, op, a, b, m),
            _ => x[0],
        });
    } else {
        unequal(&mut c, call, op, whole, part);
    }
    to.function(&c.finish())
}

fn row_step(t: &Tile) -> i64 {
    (t.row(1) - t.addr) as i64
}

fn unequal(c: &mut Code, call: &Call, op: Operator, whole: &Tile, part: &Tile) {
    let dst = &call.dst;
    let (e, size) = (VL / c.size(), c.size());
    let ((rows, cols), (some_rows, some_cols)) = (dst.valid(), part.valid());
    let some_rows = if some_cols == 0 { 0 } else { some_rows };
    let at = |t: &Tile| affine(t.addr, &[row_step(t), VL as i64]);
    let left = |n: u64| Affine { base: n as i64, ..affine(0, &[0, down(e)]) };
    let both = some_cols.div_ceil(e as u64);
    c.repeat(some_rows, |c| {
        c.repeat(both, |c| {
            let (all, some) = (c.below(size, left(cols)), c.below(size, left(some_cols)));
            let [x, y] = [0, 1].map(|i| c.load(Dist::Norm, at(call.source(i))));
            let d = software::combine(c, op, x, y, some);
            let big = c.load(Dist::Norm, at(whole));
            c.merge(big, Op::vmov, &[d], some);
            c.store(Dist::Norm, big, at(dst), all);
        });
        let far = both * VL as u64;
        let rest = cols.saturating_sub(both * e as u64);
        c.repeat(rest.div_ceil(e as u64), |c| {
            let m = c.below(size, left(rest));
            let x = c.load(Dist::Norm, at(whole).plus(far));
            c.store(Dist::Norm, x, at(dst).plus(far), m);
        });
    });
    c.repeat(rows - some_rows, |c| {
        c.repeat(cols.div_ceil(e as u64), |c| {
            let m = c.below(size, left(cols));
            let down_to = |t: &Tile| at(t).plus(t.row(some_rows) - t.addr);
            let x = c.load(Dist::Norm, down_to(whole));
            c.store(Dist::Norm, x, down_to(dst), m);
        });
    });
}
