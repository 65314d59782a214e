//! Exponential, logarithm and roots.

use super::{Ctx, view, view_mut};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::{Elementary, elementary_f16, elementary_f32};

fn apply(c: &Ctx, op: Elementary, d: &mut [u8], a: &[u8]) {
    match c.dtype {
        DType::F32 => elementary_f32(op, view(a), view_mut(d), &c.mode),
        _ => elementary_f16(op, view(a), view_mut(d), &c.mode),
    }
}

/// d = e^a
pub fn exp(c: &Ctx, d: &mut [u8], a: &[u8]) {
    apply(c, Elementary::Exp, d, a);
}

/// d = ln(a)
pub fn ln(c: &Ctx, d: &mut [u8], a: &[u8]) {
    apply(c, Elementary::Ln, d, a);
}

/// d = sqrt(a)
pub fn sqrt(c: &Ctx, d: &mut [u8], a: &[u8]) {
    apply(c, Elementary::Sqrt, d, a);
}

/// d = 1 / sqrt(a)
pub fn rsqrt(c: &Ctx, d: &mut [u8], a: &[u8]) {
    apply(c, Elementary::Rsqrt, d, a);
}

/// d = 1 / a
pub fn rec(c: &Ctx, d: &mut [u8], a: &[u8]) {
    apply(c, Elementary::Rec, d, a);
}
