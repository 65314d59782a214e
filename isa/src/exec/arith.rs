//! Scalar arithmetic of the `arith` dialect, at the width its type says.

use super::ops::{Bin, Cast, Pred};
use super::value::Value;
use crate::text::Scalar;
use half::{bf16, f16};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::float;
use std::cmp::Ordering;

/// Bits of an integer type; `index` has 64.
fn width(ty: Scalar) -> u32 {
    match ty {
        Scalar::Int { bits, .. } => u32::from(bits).clamp(1, 64),
        _ => 64,
    }
}

/// `v` as a value of the type: sign-extended from its width (`i1` is 0 or 1).
pub fn wrap(v: i64, ty: Scalar) -> i64 {
    match width(ty) {
        1 => v & 1,
        64 => v,
        n => v << (64 - n) >> (64 - n),
    }
}

/// `v` zero-extended from the type's width.
pub fn unsigned(v: i64, ty: Scalar) -> u64 {
    match width(ty) {
        64 => v as u64,
        n => v as u64 & ((1 << n) - 1),
    }
}

/// The number a float's bits stand for.
pub fn to_f64(t: DType, bits: u64) -> f64 {
    match t {
        DType::F16 => f16::from_bits(bits as u16).to_f64(),
        DType::BF16 => bf16::from_bits(bits as u16).to_f64(),
        _ => f64::from(f32::from_bits(bits as u32)),
    }
}

/// Bits of the nearest float of type `t`.
pub fn from_f64(t: DType, x: f64) -> u64 {
    match t {
        DType::F16 => u64::from(float::f16_from_f64(x)),
        DType::BF16 => u64::from(float::bf16_from_f64(x)),
        _ => u64::from((x as f32).to_bits()),
    }
}

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// Operands of the wrong kind.
    Kind,
    /// Division or remainder by zero.
    DivisionByZero,
}

/// A two-operand operation.
pub fn bin(op: Bin, ty: Scalar, a: &Value, b: &Value) -> Result<Value, Undefined> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(op, ty, *a, *b).map(|v| Value::Int(wrap(v, ty))),
        (Value::Float(t, a), Value::Float(u, b)) if t == u => float_bin(op, *t, *a, *b),
        _ => Err(Undefined::Kind),
    }
}

fn int(op: Bin, ty: Scalar, a: i64, b: i64) -> Result<i64, Undefined> {
    let (ua, ub) = (unsigned(a, ty), unsigned(b, ty));
    let nonzero = |v: Option<i64>| v.ok_or(Undefined::DivisionByZero);
    let shift = |v: Option<u64>| v.map_or(0, |v| v as i64);
    let n = u32::try_from(ub).ok().filter(|n| *n < width(ty));
    Ok(match op {
        Bin::AddI => a.wrapping_add(b),
        Bin::SubI => a.wrapping_sub(b),
        Bin::MulI => a.wrapping_mul(b),
        Bin::DivSI if b == 0 => return Err(Undefined::DivisionByZero),
        Bin::DivSI => a.wrapping_div(b),
        Bin::DivUI => nonzero(ua.checked_div(ub).map(|v| v as i64))?,
        Bin::CeilDivUI if ub == 0 => return Err(Undefined::DivisionByZero),
        Bin::CeilDivUI => ua.div_ceil(ub) as i64,
        Bin::CeilDivSI | Bin::FloorDivSI | Bin::RemSI if b == 0 => {
            return Err(Undefined::DivisionByZero);
        }
        Bin::FloorDivSI => floor_div(a, b),
        Bin::CeilDivSI => floor_div(a.wrapping_neg(), b).wrapping_neg(),
        Bin::RemSI => a.wrapping_rem(b),
        Bin::RemUI => nonzero(ua.checked_rem(ub).map(|v| v as i64))?,
        Bin::AndI => a & b,
        Bin::OrI => a | b,
        Bin::XorI => a ^ b,
        Bin::ShlI => shift(n.map(|n| (a as u64) << n)),
        Bin::ShrSI => n.map_or(if a < 0 { -1 } else { 0 }, |n| a >> n),
        Bin::ShrUI => shift(n.map(|n| ua >> n)),
        Bin::MinSI => a.min(b),
        Bin::MaxSI => a.max(b),
        Bin::MinUI => ua.min(ub) as i64,
        Bin::MaxUI => ua.max(ub) as i64,
        _ => return Err(Undefined::Kind),
    })
}

fn floor_div(a: i64, b: i64) -> i64 {
    let q = a.wrapping_div(b);
    if a.wrapping_rem(b) != 0 && (a < 0) != (b < 0) { q.wrapping_sub(1) } else { q }
}

fn float_bin(op: Bin, t: DType, a: u64, b: u64) -> Result<Value, Undefined> {
    let (x, y) = (to_f64(t, a), to_f64(t, b));
    // f64 holds products and sums of two f32 closely enough that one rounding to f32 or below is
    // the correctly rounded result (2p + 2 bits).
    let v = match op {
        Bin::AddF => x + y,
        Bin::SubF => x - y,
        Bin::MulF => x * y,
        Bin::DivF => x / y,
        Bin::MaximumF if x.is_nan() || y.is_nan() => f64::NAN,
        Bin::MinimumF if x.is_nan() || y.is_nan() => f64::NAN,
        Bin::MaximumF | Bin::MaxNumF => x.max(y),
        Bin::MinimumF | Bin::MinNumF => x.min(y),
        _ => return Err(Undefined::Kind),
    };
    Ok(Value::Float(t, from_f64(t, v)))
}

/// A comparison.
pub fn cmp(pred: Pred, ty: Scalar, a: &Value, b: &Value) -> Result<bool, Undefined> {
    let pick = |o: Ordering, holds: [bool; 3]| holds[(o as i8 + 1) as usize];
    match (pred, a, b) {
        (Pred::Int { unsigned: true, holds }, Value::Int(a), Value::Int(b)) => {
            Ok(pick(unsigned(*a, ty).cmp(&unsigned(*b, ty)), holds))
        }
        (Pred::Int { holds, .. }, Value::Int(a), Value::Int(b)) => Ok(pick(a.cmp(b), holds)),
        (Pred::Float { holds, nan }, Value::Float(t, a), Value::Float(u, b)) if t == u => {
            Ok(to_f64(*t, *a).partial_cmp(&to_f64(*u, *b)).map_or(nan, |o| pick(o, holds)))
        }
        _ => Err(Undefined::Kind),
    }
}

/// A conversion.
pub fn cast(op: Cast, from: Scalar, to: Scalar, v: &Value) -> Result<Value, Undefined> {
    let float = to.dtype().filter(|t| t.is_float());
    Ok(match (op, v) {
        (Cast::SignExtend | Cast::Truncate, Value::Int(v)) => Value::Int(wrap(*v, to)),
        (Cast::ZeroExtend, Value::Int(v)) => Value::Int(wrap(unsigned(*v, from) as i64, to)),
        (Cast::Bits, Value::Int(v)) => match float {
            Some(t) => Value::Float(t, unsigned(*v, from)),
            None => Value::Int(wrap(*v, to)),
        },
        (Cast::Bits, Value::Float(_, bits)) => match float {
            Some(t) => Value::Float(t, *bits),
            None => Value::Int(wrap(*bits as i64, to)),
        },
        (Cast::IntToFloat, Value::Int(v)) => {
            let t = float.ok_or(Undefined::Kind)?;
            Value::Float(t, int_to_float(t, i128::from(*v)))
        }
        (Cast::UIntToFloat, Value::Int(v)) => {
            let t = float.ok_or(Undefined::Kind)?;
            Value::Float(t, int_to_float(t, i128::from(unsigned(*v, from))))
        }
        (Cast::FloatToInt, Value::Float(t, b)) => Value::Int(wrap(to_f64(*t, *b) as i64, to)),
        (Cast::FloatToUInt, Value::Float(t, b)) => {
            Value::Int(wrap(to_f64(*t, *b) as u64 as i64, to))
        }
        (Cast::Float, Value::Float(t, b)) => {
            let to = float.ok_or(Undefined::Kind)?;
            Value::Float(to, from_f64(to, to_f64(*t, *b)))
        }
        _ => return Err(Undefined::Kind),
    })
}

/// Rounds once: 64-bit integers go to f32 directly, never through f64.
fn int_to_float(t: DType, v: i128) -> u64 {
    match t {
        DType::F32 => u64::from((v as f32).to_bits()),
        // |v| < 2^53 is exact in f64; beyond it f16 is infinite and bf16's 8 bits cannot see the
        // second rounding except on a tie that f64 created, which the sticky bit below prevents.
        _ => {
            let big = v.unsigned_abs();
            let sticky = if big >> 53 != 0 {
                big & !0xFFFF | u128::from(big & 0xFFFF != 0) << 15
            } else {
                big
            };
            from_f64(t, if v < 0 { -(sticky as f64) } else { sticky as f64 })
        }
    }
}

/// Predicate of `arith.cmpi` or `arith.cmpf` by its name.
pub fn pred(name: &str, float: bool) -> Option<Pred> {
    let relation = |s: &str| {
        Some(match s {
            "eq" => [false, true, false],
            "ne" => [true, false, true],
            "lt" => [true, false, false],
            "le" => [true, true, false],
            "gt" => [false, false, true],
            "ge" => [false, true, true],
            _ => return None,
        })
    };
    if !float {
        let (unsigned, rest) = match name {
            "eq" | "ne" => (false, name),
            _ if name.starts_with('s') => (false, &name[1..]),
            _ if name.starts_with('u') => (true, &name[1..]),
            _ => return None,
        };
        return Some(Pred::Int { unsigned, holds: relation(rest)? });
    }
    Some(match name {
        "false" => Pred::Float { holds: [false; 3], nan: false },
        "true" => Pred::Float { holds: [true; 3], nan: true },
        "ord" => Pred::Float { holds: [true; 3], nan: false },
        "uno" => Pred::Float { holds: [false; 3], nan: true },
        _ if name.starts_with('o') => Pred::Float { holds: relation(&name[1..])?, nan: false },
        _ if name.starts_with('u') => Pred::Float { holds: relation(&name[1..])?, nan: true },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Sign;
    const I8: Scalar = Scalar::Int { bits: 8, sign: Sign::Signless };
    const I32: Scalar = Scalar::Int { bits: 32, sign: Sign::Signless };

    #[test]
    fn integers_wrap_at_their_width() {
        let add = |a, b| bin(Bin::AddI, I8, &Value::Int(a), &Value::Int(b));
        assert_eq!(add(127, 1), Ok(Value::Int(-128)));
        let div = |op, a, b| bin(op, I32, &Value::Int(a), &Value::Int(b));
        assert_eq!(div(Bin::CeilDivSI, -7, 2), Ok(Value::Int(-3)));
        assert_eq!(div(Bin::FloorDivSI, -7, 2), Ok(Value::Int(-4)));
        assert_eq!(div(Bin::DivUI, -1, 2), Ok(Value::Int(0x7FFF_FFFF)));
        assert_eq!(div(Bin::RemSI, 1, 0), Err(Undefined::DivisionByZero));
        assert_eq!(div(Bin::DivSI, i64::from(i32::MIN), -1), Ok(Value::Int(i64::from(i32::MIN))));
        assert_eq!(div(Bin::ShrUI, -1, 28), Ok(Value::Int(15)));
        assert_eq!(div(Bin::ShlI, 1, 40), Ok(Value::Int(0)), "beyond the width");
    }

    #[test]
    fn predicates_by_name() {
        let lt = pred("slt", false).unwrap();
        assert_eq!(cmp(lt, I32, &Value::Int(-1), &Value::Int(0)), Ok(true));
        let ult = pred("ult", false).unwrap();
        assert_eq!(cmp(ult, I32, &Value::Int(-1), &Value::Int(0)), Ok(false));
        let one = pred("one", true).unwrap();
        let f = |x: f32| Value::Float(DType::F32, u64::from(x.to_bits()));
        assert_eq!(cmp(one, I32, &f(f32::NAN), &f(0.0)), Ok(false));
        assert_eq!(pred("xlt", false), None);
    }

    #[test]
    fn casts_round_once() {
        let f32_ty = Scalar::Float(crate::text::Float::F32);
        let bf = Scalar::Float(crate::text::Float::BF16);
        let i64_ty = Scalar::Int { bits: 64, sign: Sign::Signless };
        let v = cast(Cast::IntToFloat, i64_ty, f32_ty, &Value::Int(16_777_217));
        assert_eq!(v, Ok(Value::Float(DType::F32, u64::from(16_777_216f32.to_bits()))));
        // Just above the tie between 2^62 and the next bf16.
        let v = cast(Cast::IntToFloat, i64_ty, bf, &Value::Int((1 << 62) + (1 << 54) + 1));
        // 2^62 + 2^55: one unit in the last place above 2^62.
        assert_eq!(v, Ok(Value::Float(DType::BF16, 0x5E81)));
    }
}
