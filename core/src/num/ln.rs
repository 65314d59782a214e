//! Natural logarithm: f64 kernel without library calls, one rounding to f32.

use super::arith::NAN_F32;

const LN2_HI: f64 = 0.6931471805592082;
const LN2_LO: f64 = 7.371002565167799e-13;
/// Pattern of sqrt(1/2): significands are centred on 1 by splitting there.
const SQRT_HALF: u64 = 0x3FE6_A09E_667F_3BCD;
const ONE: u64 = 0x3FF0_0000_0000_0000;

/// (2 atanh(s) / s - 2) / s^2 as a polynomial in s^2, |s| <= (sqrt 2 - 1) / (sqrt 2 + 1);
/// Chebyshev interpolation, relative error of the logarithm 2^-57.
const P: [f64; 7] = [
    0.666666666666667,
    0.399999999998992,
    0.2857142862611452,
    0.22222211112104948,
    0.1818289077802613,
    0.15331666676597175,
    0.146171283998073,
];

/// ln x for a positive normal x; otherwise the result is meaningless.
#[inline(always)]
pub(super) fn kernel(x: f64) -> f64 {
    let bits = x.to_bits();
    // Biased so that the exponent field of `t` is 1023 + k with x = 2^k * m, m around 1.
    let t = bits.wrapping_add(ONE - SQRT_HALF);
    let field = t >> 52;
    let k = f64::from_bits(field | 0x4330_0000_0000_0000) - (4503599627370496.0 + 1023.0);
    let m = f64::from_bits(bits.wrapping_sub(field << 52).wrapping_add(ONE));
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let z2 = z * z;
    let low = P[0] + P[1] * z + (P[2] + P[3] * z) * z2;
    let high = P[4] + P[5] * z + P[6] * z2;
    let r = z * (low + high * (z2 * z2));
    let half = 0.5 * f * f;
    k * LN2_HI + (f - (half - (s * (half + r) + k * LN2_LO)))
}

/// One element of [`ln_f32`].
#[inline(always)]
fn ln1(x: f32) -> f32 {
    // f32 subnormals are normal in f64.
    let y = kernel(x as f64) as f32;
    let positive = if x == f32::INFINITY { x.to_bits() } else { y.to_bits() };
    let real = if x < 0.0 { NAN_F32 } else { positive };
    let finite = if x == 0.0 { f32::NEG_INFINITY.to_bits() } else { real };
    f32::from_bits(if x.is_nan() { x.to_bits() | 0x0040_0000 } else { finite })
}

/// ln x: ln(+-0) = -INF, ln(x < 0) = NaN, ln(INF) = INF, NaN quieted, subnormal sources exact.
///
/// Correctly rounded for all f32 but five, where the error is below 0.50000001 ulp (exhaustive
/// test in `accuracy.rs`; kernel error 1.4e-16 relative).
pub fn ln_f32(src: &[f32], dst: &mut [f32]) {
    for (d, &x) in dst.iter_mut().zip(src) {
        *d = ln1(x);
    }
}
