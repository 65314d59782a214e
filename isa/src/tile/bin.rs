//! TADD, TSUB, TMUL, TDIV, TMAX, TMIN: two tiles, element by element.

use super::asm::{Asm, MAX_REPEAT};
use super::call::Call;
use super::check::{Checker, Verdict};
use super::engine::{Body, Engine};
use super::meaning::{self, Mem, combine};
use crate::machine::Stop;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.elementwise(call, true)
}

/// dst = src0 op src1.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (op, t) = (call.op.operator, call.dst.dtype);
    meaning::elementwise(call, mem, |v| combine(op, t, v[0], v[1]))
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (s0, s1) = (call.source(0), call.source(1));
    let body = Body::Two(call.op.operator.vec2(), s0, s1);
    let eng = Engine { call, dst: &call.dst, body };
    let (d, (rows, cols)) = (&call.dst, call.dst.valid());
    let e = a.e();
    if d.row_stride() != s0.row_stride() || d.row_stride() != s1.row_stride() {
        return eng.rows_then_tail(a);
    }
    let (height, width) = (u64::from(d.rows), u64::from(d.cols));
    let tiles = [d, s0, s1];
    let known = tiles.iter().all(|t| t.full_cols_static()) || tiles.iter().all(|t| t.rows == 1);
    if height <= MAX_REPEAT && width < e {
        return eng.strip(a, cols, 0);
    }
    if known || cols == width || rows == 1 {
        let all = if known { height * width } else { rows * cols };
        let ragged = width > e && !width.is_multiple_of(e);
        return eng.flat(a, rows * cols, ragged || all.div_ceil(e) > MAX_REPEAT);
    }
    eng.by_shape(a, width / e, height)
}
