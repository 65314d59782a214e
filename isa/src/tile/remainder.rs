//! TREM, TREMS, TFMOD, TFMODS: remainders through a rounded quotient.

use super::call::Call;
use super::check::{Checker, Verdict};
use super::meaning::{self, Mem, cut, f16_to_f32};
use super::op::Operator;
use crate::machine::Stop;
use ptoemu_core::dtype::DType::{self, F16, F32};
use ptoemu_core::num::{Conversion, Narrow, Overflow, Round};

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.elementwise(call, true)
}

/// x - round(x / y) * y, every step rounded: quotients beyond 2^24 leave no digit. Toward -inf the
/// result has the sign of y, toward 0 that of x. f16 is computed in f32.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (op, t) = (call.op.operator, call.dst.dtype);
    meaning::elementwise(call, mem, |v| {
        let y = if call.op.sig.scalar { call.scalar_bits() } else { v[1] };
        let r = match t {
            F16 => halved(steps(op, f16_to_f32(v[0]), f16_to_f32(y))),
            _ => steps(op, v[0], y),
        };
        if op == Operator::Rem { repaired(t, r, y) } else { r }
    })
}

fn steps(op: Operator, x: u64, y: u64) -> u64 {
    let round = if op == Operator::Rem { Round::Floor } else { Round::Zero };
    let quotient = meaning::combine(Operator::Div, F32, x, y);
    let whole = conversion(F32, F32, round).element(quotient);
    meaning::combine(Operator::Sub, F32, x, meaning::combine(Operator::Mul, F32, whole, y))
}

fn conversion(from: DType, to: DType, round: Round) -> Conversion {
    Conversion { from, to, round, narrow: Narrow::Clamp, overflow: Overflow::Saturate }
}

/// f32 to f16 towards zero.
fn halved(bits: u64) -> u64 {
    conversion(F32, F16, Round::Zero).element(bits)
}

/// A remainder whose sign differs from that of the divisor moves by one divisor.
fn repaired(t: DType, r: u64, y: u64) -> u64 {
    let product = meaning::combine(Operator::Mul, t, r, y);
    let negative = meaning::to_f64(t, product) < 0.0;
    cut(t, if negative { meaning::combine(Operator::Add, t, r, y) } else { r })
}
