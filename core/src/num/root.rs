//! Square root, reciprocal square root and reciprocal.

use super::arith::NAN_F32;

const QUIET: u32 = 0x0040_0000;

/// NaN source quieted, else `r` with the canonical NaN.
#[inline(always)]
fn settle1(x: f32, r: f32) -> f32 {
    let generated = if r.is_nan() { NAN_F32 } else { r.to_bits() };
    f32::from_bits(if x.is_nan() { x.to_bits() | QUIET } else { generated })
}

/// Square root, correctly rounded; sqrt(-0) = -0, sqrt(x < 0) = NaN.
pub fn sqrt_f32(src: &[f32], dst: &mut [f32]) {
    for (d, &x) in dst.iter_mut().zip(src) {
        *d = settle1(x, x.sqrt());
    }
}

/// 1 / sqrt(x), correctly rounded (tested for every significand); rsqrt(+-0) = +-INF, rsqrt(x < 0) = NaN, rsqrt(INF) = +0.
pub fn rsqrt_f32(src: &[f32], dst: &mut [f32]) {
    for (d, &x) in dst.iter_mut().zip(src) {
        *d = settle1(x, rsqrt_kernel(x as f64) as f32);
    }
}

/// 1 / x, correctly rounded; rec(+-0) = +-INF, rec(+-INF) = +-0.
pub fn rec_f32(src: &[f32], dst: &mut [f32]) {
    for (d, &x) in dst.iter_mut().zip(src) {
        *d = settle1(x, 1.0 / x);
    }
}

/// Two roundings to f64, error below 2^-52 relative.
#[inline(always)]
pub(super) fn rsqrt_kernel(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// Keeps 12 significand bits (truncation toward zero); INF, NaN and zero stay what they are.
#[inline(always)]
pub fn truncate12_f32(x: f32) -> f32 {
    f32::from_bits(x.to_bits() & 0xFFFF_F000)
}
