//! Rectifiers: NaN passes through quieted `[U: choose so]`.

use super::arith::{each, first_nan16, settle};
use super::f16;
use super::mode::Overflow;

/// max(x, 0) for f32: negative numbers and -0 give +0.
#[inline(always)]
fn relu1_f32(x: f32) -> f32 {
    settle(x, x, if x > 0.0 { x } else { 0.0 })
}

/// max(x, 0) for f16: negative numbers and -0 give +0.
#[inline(always)]
fn relu1_f16(x: u16) -> u16 {
    first_nan16::<{ f16::INF }>(x, if x as i16 > 0 { x } else { 0 })
}

/// f32 lanes: max(x, 0).
pub fn relu_f32(src: &[f32], dst: &mut [f32]) {
    for (d, &x) in dst.iter_mut().zip(src) {
        *d = relu1_f32(x);
    }
}

/// f16 lanes: max(x, 0).
pub fn relu_f16(src: &[u16], dst: &mut [u16]) {
    for (d, &x) in dst.iter_mut().zip(src) {
        *d = relu1_f16(x);
    }
}

/// f32 lanes: x >= 0 ? x : x * slope, with `slope` a scalar or one value per lane, cycled.
pub fn leaky_f32(src: &[f32], slope: &[f32], dst: &mut [f32]) {
    for ((d, &x), &a) in dst.iter_mut().zip(src).zip(slope.iter().cycle()) {
        *d = if x >= 0.0 { x } else { settle(x, a, x * a) };
    }
}

/// f16 lanes: x >= 0 ? x : x * slope, with `slope` a scalar or one value per lane, cycled.
pub fn leaky_f16(src: &[u16], slope: &[u16], dst: &mut [u16], overflow: Overflow) {
    for ((d, &x), &a) in dst.iter_mut().zip(src).zip(slope.iter().cycle()) {
        let product = super::arith::mul1_f16(x, a);
        *d = if f16::to_f32(x) >= 0.0 { x } else { product };
    }
    if overflow == Overflow::Saturate {
        each(dst, f16::saturate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f16_and_f32_agree_on_every_pattern() {
        let src: Vec<u16> = (0..=u16::MAX).collect();
        let mut wide = vec![0f32; src.len()];
        f16::widen(&src, &mut wide);
        let (mut d16, mut d32) = (src.clone(), wide.clone());
        relu_f16(&src, &mut d16);
        relu_f32(&wide, &mut d32);
        for (i, (&h, &x)) in d16.iter().zip(&d32).enumerate() {
            assert_eq!(f16::to_f32(h).to_bits(), x.to_bits(), "{i:#x}");
            let v = f16::to_f32(i as u16);
            let want = if v.is_nan() { v.to_bits() } else { (v.max(0.0) + 0.0).to_bits() };
            assert_eq!(x.to_bits(), want, "{i:#x}");
        }
        // A power of two as slope keeps both products exact.
        leaky_f16(&src, &[0xC400], &mut d16, Overflow::Keep);
        leaky_f32(&wide, &[-4.0], &mut d32);
        for (&h, &x) in d16.iter().zip(&d32) {
            assert_eq!(h, f16::from_f32(x));
        }
    }
}
