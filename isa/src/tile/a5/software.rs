//! Operations the vector core has no instruction for: integer and bf16 division, 8-bit products.
//!
//! What the vendor's compiler puts in their place is not described. The values are defined; the
//! sequences here are this emulator's, so their cycles are assumed and a note says so.

use super::super::Operator;
use super::super::call::Call;
use super::code::{Code, Convert};
use super::function::{M, V};
use crate::a5::{Cmp, Op};
use ptoemu_core::dtype::DType::{self, BF16, F32, I8, I16, U8, U16};

/// Does the vector microcode of this call need a routine from here?
pub fn needed(call: &Call) -> bool {
    let (t, op) = (call.dst.dtype, call.op.operator);
    let scalar = call.op.sig.scalar || op == Operator::Recip;
    match op {
        Operator::Div if !scalar => !t.is_float() || t == BF16,
        Operator::Mul => t.size() == 1,
        _ => false,
    }
}

/// x op y, by instruction or by routine.
pub fn combine(c: &mut Code, op: Operator, x: V, y: V, m: M) -> V {
    match (op, c.t) {
        (Operator::Div, BF16) => by_halves(c, F32, [BF16, F32, BF16], Op::vdiv, [x, y], m),
        (Operator::Div, t) if !t.is_float() => divide(c, x, y, m),
        (Operator::Mul, U8) => by_halves(c, U16, [U8, U16, U8], Op::vmul, [x, y], m),
        (Operator::Mul, I8) => by_halves(c, I16, [I8, I16, U8], Op::vmul, [x, y], m),
        (op, _) => c.op(super::two(op), &[x, y], m),
    }
}

/// Even and odd lanes at twice the width, `op`, and back. `types`: narrow, wide, narrow result.
fn by_halves(c: &mut Code, wide: DType, types: [DType; 3], op: Op, from: [V; 2], m: M) -> V {
    let t = c.t;
    let all = c.all(wide.size());
    let halves = [0u8, 1].map(|part| {
        let how = Convert { part, ..Convert::default() };
        let up = from.map(|x| c.convert((types[0], types[1]), x, all, how));
        c.t = wide;
        let d = c.op(op, &up, all);
        c.t = t;
        c.convert((types[1], types[2]), d, all, how)
    });
    c.op(Op::vor, &halves, m)
}

/// Quotients towards zero by restoring division, one bit a round; x / 0 is 0.
///
/// The rest never loses a bit: before round k it is less than 2^k.
fn divide(c: &mut Code, x: V, y: V, m: M) -> V {
    let t = c.t;
    let bits = 8 * t.size() as u64;
    let zero = c.splat(0);
    let (mut a, mut b) = (x, y);
    if t.is_signed() {
        (a, b) = (c.op(Op::vabs, &[x], m), c.op(Op::vabs, &[y], m));
    }
    let (rest, left, q) = (c.vector(), c.vector(), c.vector());
    c.t = unsigned(t);
    c.into(left, Op::vor, &[a, a], m);
    c.splat_into(rest, 0);
    c.splat_into(q, 0);
    c.repeat(bits, |c| {
        let top = c.scalar(Op::vshrs, left, bits - 1, m);
        let moved = c.scalar(Op::vshls, left, 1, m);
        c.into(left, Op::vor, &[moved, moved], m);
        let double = c.scalar(Op::vshls, rest, 1, m);
        c.into(rest, Op::vor, &[double, top], m);
        let fits = c.compare_two(Cmp::Ge, rest, b, m);
        let less = c.op(Op::vsub, &[rest, b], m);
        c.into(rest, Op::vsel, &[less, rest], fits);
        let even = c.scalar(Op::vshls, q, 1, m);
        let odd = c.scalar(Op::vadds, even, 1, m);
        c.into(q, Op::vsel, &[odd, even], fits);
    });
    let none = c.compare(Cmp::Eq, b, 0, m);
    let mut out = c.op(Op::vsel, &[zero, q], none);
    c.t = t;
    if t.is_signed() {
        let sign = c.op(Op::vxor, &[x, y], m);
        let negative = c.compare(Cmp::Lt, sign, 0, m);
        let minus = c.op(Op::vsub, &[zero, out], m);
        out = c.op(Op::vsel, &[minus, out], negative);
    }
    out
}

fn unsigned(t: DType) -> DType {
    match t.size() {
        1 => U8,
        2 => U16,
        _ => DType::U32,
    }
}
