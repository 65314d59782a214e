//! TADD, TSUB, TMUL, TDIV, TMAX, TMIN: two tiles, element by element.

use super::Tile;
use super::asm::{Asm, MAX_REPEAT};
use super::call::Call;
use super::check::{Checker, Verdict};
use super::engine::{Body, Engine};
use super::meaning::{self, Mem, combine, is_nan, to_f64};
use super::op::Operator;
use super::{Family, bits, prelu};
use crate::machine::Stop;
use crate::table::Op;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.elementwise(call, true)?;
    match (c.family, call.op.operator) {
        (Family::A2A3, Operator::Leaky) => prelu::check(call, c),
        (Family::A2A3, _) => bits::check(call, c),
        _ => Ok(()),
    }
}

/// dst = src0 op src1.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (op, t) = (call.op.operator, call.dst.dtype);
    // A2/A3 asks whether src0 is larger than 0, the 950 whether it is not smaller.
    let strict = op == Operator::Leaky && call.family == Family::A2A3;
    meaning::elementwise(call, mem, |v| match strict {
        true if is_nan(t, v[0]) || to_f64(t, v[0]) <= 0.0 => combine(Operator::Mul, t, v[0], v[1]),
        true => v[0],
        false => combine(op, t, v[0], v[1]),
    })
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    match call.op.operator {
        Operator::Leaky => prelu::lower(call, a),
        Operator::And | Operator::Or | Operator::Xor => bits::lower(call, a),
        op if op.shifts() => bits::shift(call, a),
        op => apply(call, a, op.vec2(), [&call.dst, call.source(0), call.source(1)]),
    }
}

/// Emits `op` on tiles whose row strides count as unequal.
pub(super) fn ragged(call: &Call, a: &mut Asm, op: Op, [d, s0, s1]: [&Tile; 3]) -> Done {
    Engine { call, dst: d, body: Body::Two(op, s0, s1) }.rows_then_tail(a)
}

/// Emits `op` over the valid region of `d`.
pub(super) fn apply(call: &Call, a: &mut Asm, op: Op, [d, s0, s1]: [&Tile; 3]) -> Done {
    let eng = Engine { call, dst: d, body: Body::Two(op, s0, s1) };
    let (rows, cols) = d.valid();
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
