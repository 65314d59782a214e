//! exp: f64 kernel without library calls, one rounding to f32.

const LOG2_E: f64 = std::f64::consts::LOG2_E;
// ln 2 in two parts; k * LN2_HI is exact for |k| < 2^13.
const LN2_HI: f64 = 0.6931471805592082;
const LN2_LO: f64 = 7.371002565167799e-13;
/// Adding it moves the integer part of a small number to the low bits of the pattern.
const SHIFTER: f64 = 6755399441055744.0; // 1.5 * 2^52

/// (e^r - 1 - r) / r^2 on |r| <= ln2 / 2, Chebyshev interpolation; relative error of e^r 2^-55.8.
const Q: [f64; 10] = [
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662413,
    0.008333333333330062,
    0.0013888888917213717,
    0.00019841269863053618,
    2.4801521295954376e-05,
    2.7557268459997064e-06,
    2.7620088445409746e-07,
    2.510038549551032e-08,
];

/// e^x for x within [-745, 709]; outside, and for NaN, the result is meaningless.
#[inline(always)]
pub(super) fn kernel(x: f64) -> f64 {
    let t = x * LOG2_E + SHIFTER;
    let k = t - SHIFTER;
    let r = (x - k * LN2_HI) - k * LN2_LO;
    let r2 = r * r;
    let r4 = r2 * r2;
    let a = (Q[0] + Q[1] * r) + (Q[2] + Q[3] * r) * r2;
    let b = (Q[4] + Q[5] * r) + (Q[6] + Q[7] * r) * r2;
    let c = Q[8] + Q[9] * r;
    let q = a + (b + c * r4) * r4;
    let y = 1.0 + (r + r2 * q);
    // The low bits of t hold k; only those that end up in the exponent field survive the shift.
    f64::from_bits(y.to_bits().wrapping_add(t.to_bits() << 52))
}

/// One element of [`exp_f32`].
#[inline(always)]
fn exp1(x: f32) -> f32 {
    // Beyond these the f32 result is 0 or INF; a NaN becomes a bound and is restored below.
    let low = if x > -110.0 { x } else { -110.0 };
    let bounded = if low < 90.0 { low } else { 90.0 };
    let y = kernel(bounded as f64) as f32;
    f32::from_bits(if x.is_nan() { x.to_bits() | 0x0040_0000 } else { y.to_bits() })
}

/// e^x, correctly rounded for every f32 (the exhaustive test in `accuracy.rs` checks all of
/// them; kernel error 1.6e-16 relative): exp(-INF) = +0, exp(+INF) = INF, NaN quieted, subnormal results kept.
pub fn exp_f32(src: &[f32], dst: &mut [f32]) {
    for (d, &x) in dst.iter_mut().zip(src) {
        *d = exp1(x);
    }
}
