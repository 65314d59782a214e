//! TADDS, TSUBS, TMULS, TDIVS, TMAXS, TMINS, TNEG, TRECIP: a tile and a scalar.

use super::Tile;
use super::asm::{Asm, MAX_REPEAT, SCRATCH};
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::engine::{Body, Engine};
use super::meaning::{self, Mem, combine, f16_to_f32, f32_to_f16, int_of, one};
use super::op::Operator;
use super::quirks::Quirk;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.elementwise(call, false)?;
    let width = 8 * call.dst.size();
    if call.op.operator.shifts() && call.scalar_bits() >= width {
        return refuse(
            "legality.shift",
            format!("{} shifts {width}-bit elements by {}", call.op.name, call.scalar_bits()),
            format!("use a count of 0 to {}", width - 1),
        );
    }
    if c.family == super::Family::A2A3 && bitwise(call.op.operator) {
        c.row_major("dst", &call.dst)?;
        return super::bits::check(call, c);
    }
    let under = reversed(call);
    if !matches!(call.op.operator, Operator::Div | Operator::Recip) {
        return Ok(());
    }
    let (src, t) = (call.source(0), call.dst.dtype);
    if t.is_float() && under && c.family == super::Family::A2A3 {
        // The scalar is first written over dst.
        return c.disjoint(("dst", &call.dst), ("src", src));
    }
    if !t.is_float() && !under && int_of(t, call.scalar_bits()) == 0 {
        return refuse(
            "legality.division_by_zero",
            format!("{} divides {t} elements by 0", call.op.name),
            "integer division by zero has no result",
        );
    }
    if c.family == super::Family::A2A3 && needs_scratch(call) {
        c.keeps_off_scratch(call)
    } else {
        Ok(())
    }
}

/// dst = src op scalar, or scalar / src.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let t = call.dst.dtype;
    let s = operand(call);
    let op = call.op.operator;
    meaning::elementwise(call, mem, |v| match op {
        Operator::Neg => meaning::single(op, t, v[0]),
        _ if reversed(call) => combine(Operator::Div, t, s, v[0]),
        _ => combine(op, t, v[0], s),
    })
}

fn bitwise(op: Operator) -> bool {
    matches!(op, Operator::And | Operator::Or | Operator::Xor)
}

fn reversed(call: &Call) -> bool {
    call.op.operator == Operator::Recip || call.op.operator == Operator::Div && call.attrs.reversed
}

/// The scalar: given, or 1 for a reciprocal.
fn operand(call: &Call) -> u64 {
    if call.op.operator == Operator::Recip { one(call.dst.dtype) } else { call.scalar_bits() }
}

/// Dividing in place keeps the scalar in the scratch window, as dst cannot hold it.
pub(super) fn needs_scratch(call: &Call) -> bool {
    call.op.sig.scalar
        && call.dst.dtype.is_float()
        && call.op.operator == Operator::Div
        && !call.attrs.reversed
        && call.dst.addr == call.source(0).addr
        && !call.quirks.has(Quirk::Q9)
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    if call.dst.valid_rows == 0 || call.dst.valid_cols == 0 {
        return Ok(());
    }
    let t = a.t;
    if bitwise(call.op.operator) {
        return super::bits::lower(call, a);
    }
    let divides = matches!(call.op.operator, Operator::Div | Operator::Recip);
    if divides && !t.is_float() {
        return divide_ints(call, a);
    }
    if call.quirks.has(Quirk::Q3) {
        return walk(call, a, &call.dst, call.source(0));
    }
    walk(call, a, &call.dst.storage_rows(), &call.source(0).storage_rows())
}

/// The instruction, and the scalar it takes.
fn body<'c>(call: &Call, a: &mut Asm, src: &'c Tile) -> Result<Body<'c>, Stop> {
    let (t, s) = (a.t, operand(call));
    Ok(match call.op.operator {
        Operator::Add => Body::Scalar(Op::vadds, src, s),
        Operator::Sub => Body::Scalar(Op::vadds, src, negated(call, t, s)),
        Operator::Mul => Body::Scalar(Op::vmuls, src, s),
        Operator::Neg => Body::Scalar(Op::vmuls, src, minus_one(t)),
        Operator::Max => Body::Scalar(Op::vmaxs, src, s),
        Operator::Min => Body::Scalar(Op::vmins, src, s),
        Operator::Shl => Body::Scalar(Op::vshl, src, s),
        Operator::Shr => Body::Scalar(Op::vshr, src, s),
        Operator::Leaky => Body::Scalar(Op::vlrelu, src, s),
        _ if reversed(call) => Body::Under(src, s),
        _ if call.dst.addr != src.addr => Body::Over(src, s),
        _ if call.quirks.has(Quirk::Q9) => Body::Scalar(Op::vmuls, src, reciprocal(t, s)),
        _ => {
            a.dup(SCRATCH, s, 1, [1, 1], [8, 0])?;
            a.barrier()?;
            Body::OverScratch(src)
        }
    })
}

fn walk(call: &Call, a: &mut Asm, dst: &Tile, src: &Tile) -> Done {
    let body = body(call, a, src)?;
    over(call, a, dst, body)
}

/// Emits the steps of `body` over the valid region of `dst`.
pub(super) fn over(call: &Call, a: &mut Asm, dst: &Tile, body: Body) -> Done {
    let [src, _] = body.sources();
    let (full, height_of) = (src.full_cols_static(), src.rows);
    let eng = Engine { call, dst, body };
    let (rows, cols) = dst.valid();
    let e = a.e();
    let (height, width) = (u64::from(dst.rows), u64::from(dst.cols));
    let known = dst.full_cols_static() && full || dst.rows == 1 && height_of == 1;
    if known {
        let ragged = width > e && !width.is_multiple_of(e);
        return eng.flat(a, rows * cols, ragged || (height * width).div_ceil(e) > MAX_REPEAT);
    }
    eng.by_shape(a, width / e, height.max(height_of.into()))
}

/// -s: exactly, or through f32 as shipped.
fn negated(call: &Call, t: DType, s: u64) -> u64 {
    if t.is_float() {
        return s ^ 1 << (8 * t.size() as u32 - 1);
    }
    let exact = int_of(t, s).wrapping_neg();
    if !call.quirks.has(Quirk::Q10) {
        return meaning::cut(t, exact as u64);
    }
    let through = -(int_of(t, s) as f32);
    let v = if t == DType::I16 { i64::from(through as i16) } else { i64::from(through as i32) };
    meaning::cut(t, v as u64)
}

fn minus_one(t: DType) -> u64 {
    if t.is_float() { one(t) | 1 << (8 * t.size() as u32 - 1) } else { meaning::cut(t, u64::MAX) }
}

/// 1 / s in f32, rounded to the element type.
fn reciprocal(t: DType, s: u64) -> u64 {
    let wide = if t == DType::F16 { f16_to_f32(s) } else { s };
    let r = combine(Operator::Div, DType::F32, one(DType::F32), wide);
    if t == DType::F16 { f32_to_f16(r) } else { r }
}

/// Integers are divided by the scalar unit, element by element.
fn divide_ints(call: &Call, a: &mut Asm) -> Done {
    let (src, t, s) = (call.source(0), a.t, operand(call));
    let (rows, cols) = call.dst.valid();
    a.v_to_s()?;
    for r in 0..rows {
        for c in 0..cols {
            let x = a.load(src.at(r, c))?;
            let v = if reversed(call) {
                combine(Operator::Div, t, s, x)
            } else {
                combine(Operator::Div, t, x, s)
            };
            a.store(call.dst.at(r, c), v)?;
        }
    }
    a.s_to_v()
}
