//! IEEE half precision as `u16` patterns: conversion to and from f32 and the INF/NaN policy.

/// The NaN an operation generates `[U: sign and payload are not documented]`.
pub const NAN: u16 = 0x7E00;
/// +INF; also the threshold above which a magnitude is a NaN.
pub const INF: u16 = 0x7C00;
/// Largest finite value, 65504.
pub const MAX: u16 = 0x7BFF;

/// Exact value; NaN is quieted and keeps sign and payload.
#[inline(always)]
pub fn to_f32(h: u16) -> f32 {
    let h = h as u32;
    let mag = (h & 0x7FFF) << 13;
    // Exponent rebias 15 -> 127; INF and NaN need the step twice, NaN also the quiet bit.
    let step = 112 << 23;
    let top = if mag >= 0x0F80_0000 { step } else { 0 };
    let quiet = if mag > 0x0F80_0000 { 0x0040_0000 } else { 0 };
    let normal = (mag + step + top) | quiet;
    // A subnormal is the fraction of a number with exponent -14, less its hidden one.
    let tiny = f32::from_bits(mag + step + (1 << 23)) - f32::from_bits(step + (1 << 23));
    let bits = if mag < 1 << 23 { tiny.to_bits() } else { normal };
    f32::from_bits(bits | (h & 0x8000) << 16)
}

/// Nearest half, ties to even; overflow gives INF; NaN is quieted and keeps sign and payload.
#[inline(always)]
pub fn from_f32(x: f32) -> u16 {
    let bits = x.to_bits();
    let mag = bits & 0x7FFF_FFFF;
    let round = (mag >> 13 & 1) + 0x0FFF;
    let normal = (mag.wrapping_add(round) >> 13).wrapping_sub(112 << 10);
    // Adding 0.5 aligns the last kept bit with 2^-24 and lets the addition round.
    // Below half of that the result is 0 anyway; the mask keeps f32 subnormals out of the adder.
    let small = if mag > 0x3300_0000 { mag } else { 0 };
    let tiny = (f32::from_bits(small) + 0.5).to_bits().wrapping_sub(0x3F00_0000);
    let finite = if mag < 0x3880_0000 { tiny } else { normal };
    let limited = if mag >= 0x477F_F000 { INF as u32 } else { finite };
    let nan = (mag >> 13 & 0x3FF) | NAN as u32;
    let mag16 = if mag > 0x7F80_0000 { nan } else { limited };
    (mag16 | bits >> 16 & 0x8000) as u16
}

/// [`to_f32`] over a slice.
pub fn widen(src: &[u16], dst: &mut [f32]) {
    for (d, &s) in dst.iter_mut().zip(src) {
        *d = to_f32(s);
    }
}

/// [`from_f32`] over a slice.
pub fn narrow(src: &[f32], dst: &mut [u16]) {
    for (d, &s) in dst.iter_mut().zip(src) {
        *d = from_f32(s);
    }
}

/// True for every NaN pattern.
#[inline(always)]
pub const fn is_nan(h: u16) -> bool {
    h & 0x7FFF > INF
}

/// CTRL[48] = 0: INF to the largest finite value of its sign, NaN to +0.
#[inline(always)]
pub fn saturate(h: u16) -> u16 {
    let mag = h & 0x7FFF;
    let limited = if mag == INF { h - 1 } else { h };
    if mag > INF { 0 } else { limited }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_is_exact_for_every_pattern() {
        let src: Vec<u16> = (0..=u16::MAX).collect();
        let mut dst = vec![0f32; src.len()];
        widen(&src, &mut dst);
        for (&h, &x) in src.iter().zip(&dst) {
            assert_eq!(x.to_bits(), half::f16::from_bits(h).to_f32().to_bits(), "{h:#x}");
            let quiet = if is_nan(h) { h | 0x200 } else { h };
            assert_eq!(from_f32(x), quiet, "{h:#x}");
        }
    }

    #[test]
    fn narrowing_matches_the_reference_around_every_boundary() {
        // Every f32 that is a half, a midpoint between two, or near either; both signs.
        for h in 0..0x7C00u16 {
            let a = to_f32(h).to_bits();
            let mid = a + (to_f32(h + 1).to_bits().wrapping_sub(a)) / 2;
            let tie = ((to_f32(h) as f64 + to_f32(h + 1) as f64) / 2.0) as f32;
            for base in [a, mid, tie.to_bits()] {
                for off in -3i32..=3 {
                    check(base.wrapping_add_signed(off) & 0x7FFF_FFFF);
                }
            }
        }
        for i in 0..1u32 << 20 {
            check(i << 11 | i.wrapping_mul(0x9E37_79B9) >> 21);
        }
    }

    fn check(bits: u32) {
        for bits in [bits, bits | 0x8000_0000] {
            let x = f32::from_bits(bits);
            assert_eq!(from_f32(x), half::f16::from_f32_const(x).to_bits(), "{bits:#x}");
        }
    }

    #[test]
    fn saturation_table() {
        let rows =
            [(INF, MAX), (0xFC00, 0xFBFF), (NAN, 0), (0xFE01, 0), (MAX, MAX), (0x8000, 0x8000)];
        for (h, want) in rows {
            assert_eq!(saturate(h), want);
        }
    }
}
