//! TCOLMAX, TCOLMIN, TCOLSUM, TCOLPROD: two rows a round onto an accumulator.

use super::super::call::Call;
use super::function::{Code, affine};
use super::{Done, Issue, down, two};
use crate::a5::{Dist, VL};

/// Chunks of columns; in each, pairs of rows are combined and then joined with the accumulator.
/// The pair tree in tmp is not built: binary sums come out in this order too.
pub fn col_reduce(call: &Call, to: &mut dyn Issue) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let (rows, cols) = src.valid();
    let op = two(call.op.operator);
    let mut c = Code::new(dst.dtype);
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
