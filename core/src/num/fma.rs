//! Multiply-add: `a * b + c` with one rounding, or with two where the setting asks for it.
//!
//! The product of two f32 is exact in f64. The sum is rounded to odd in f64, which keeps enough
//! information for one correct rounding to any narrower format.

use super::arith::{NAN_F32, QUIET_F32, each, first_nan16, settle, settle16};
use super::arith::{mul1_bf16, mul1_f16, sum1_bf16, sum1_f16};
use super::float::bf16_from_f64;
use super::mode::{Fusion, Overflow};
use super::{bf16, f16};

/// `a * b + c` of f32 values, rounded to odd in f64. INF and NaN follow IEEE.
#[inline(always)]
fn sum_to_odd(a: f32, b: f32, c: f32) -> f64 {
    let p = a as f64 * b as f64;
    let c = c as f64;
    let s = p + c;
    // Error of the sum, exact; NaN when s is not finite, and then nothing is adjusted.
    let v = s - p;
    let err = (p - (s - v)) + (c - v);
    let inexact = if (err < 0.0) | (err > 0.0) { !s.to_bits() & 1 } else { 0 };
    // An even inexact s moves one step toward the exact sum.
    let away = 1 ^ (err.to_bits() ^ s.to_bits()) >> 63;
    let step = (inexact << 1 & away << 1).wrapping_sub(inexact);
    f64::from_bits(s.to_bits().wrapping_add(step))
}

/// `a * b + c` of f16 values, rounded to odd in f32: the product has 22 bits and everything is a
/// multiple of 2^-48 below 2^33, so f32 neither overflows nor underflows.
#[inline(always)]
fn sum_to_odd_f16(a: f32, b: f32, c: f32) -> f32 {
    let p = a * b;
    let s = p + c;
    let v = s - p;
    let err = (p - (s - v)) + (c - v);
    let inexact = if (err < 0.0) | (err > 0.0) { !s.to_bits() & 1 } else { 0 };
    let away = 1 ^ (err.to_bits() ^ s.to_bits()) >> 31;
    let step = (inexact << 1 & away << 1).wrapping_sub(inexact);
    f32::from_bits(s.to_bits().wrapping_add(step))
}

/// NaN rule of a multiply-add: first NaN of a, b, c, else the canonical NaN.
#[inline(always)]
fn settle3(a: f32, b: f32, c: f32, r: f32) -> f32 {
    let generated = if r.is_nan() { NAN_F32 } else { r.to_bits() };
    let third = if c.is_nan() { c.to_bits() | QUIET_F32 } else { generated };
    let second = if b.is_nan() { b.to_bits() | QUIET_F32 } else { third };
    f32::from_bits(if a.is_nan() { a.to_bits() | QUIET_F32 } else { second })
}

/// One f32 multiply-add with a single rounding.
#[inline(always)]
pub fn fma1_f32(a: f32, b: f32, c: f32) -> f32 {
    settle3(a, b, c, sum_to_odd(a, b, c) as f32)
}

#[inline(always)]
fn fma1_f16(a: u16, b: u16, c: u16) -> u16 {
    let s = sum_to_odd_f16(f16::to_f32(a), f16::to_f32(b), f16::to_f32(c));
    settle16_3::<{ f16::INF }>(a, b, c, f16::from_f32(s))
}

#[inline(always)]
fn fma1_bf16(a: u16, b: u16, c: u16) -> u16 {
    let s = sum_to_odd(bf16::to_f32(a), bf16::to_f32(b), bf16::to_f32(c));
    settle16_3::<{ bf16::INF }>(a, b, c, bf16_from_f64(s))
}

/// [`settle3`] for a 16-bit format.
#[inline(always)]
fn settle16_3<const INF: u16>(a: u16, b: u16, c: u16, r: u16) -> u16 {
    let generated = settle16::<INF>(0, 0, r);
    first_nan16::<INF>(a, first_nan16::<INF>(b, first_nan16::<INF>(c, generated)))
}

/// `dst = f(a, b, c)` lane by lane.
#[inline(always)]
fn zip3<A: Copy, T: Copy>(a: &[A], b: &[A], c: &[T], dst: &mut [T], f: impl Fn(A, A, T) -> T) {
    for (((d, &a), &b), &c) in dst.iter_mut().zip(a).zip(b).zip(c) {
        *d = f(a, b, c);
    }
}

#[inline(always)]
fn separate_f32(a: f32, b: f32, c: f32) -> f32 {
    let p = settle(a, b, a * b);
    settle(p, c, p + c)
}

/// f32 lanes: `dst = a * b + c`.
pub fn fma_f32(a: &[f32], b: &[f32], c: &[f32], dst: &mut [f32], fusion: Fusion) {
    match fusion {
        Fusion::Fused => zip3(a, b, c, dst, fma1_f32),
        Fusion::Separate => zip3(a, b, c, dst, separate_f32),
    }
}

/// f16 lanes: `dst = a * b + c`.
pub fn fma_f16(a: &[u16], b: &[u16], c: &[u16], dst: &mut [u16], fusion: Fusion, over: Overflow) {
    match fusion {
        Fusion::Fused => zip3(a, b, c, dst, fma1_f16),
        Fusion::Separate => zip3(a, b, c, dst, |a, b, c| sum1_f16(mul1_f16(a, b), c)),
    }
    if over == Overflow::Saturate {
        each(dst, f16::saturate);
    }
}

/// bf16 lanes: `dst = a * b + c`.
pub fn fma_bf16(a: &[u16], b: &[u16], c: &[u16], dst: &mut [u16], fusion: Fusion, over: Overflow) {
    match fusion {
        Fusion::Fused => zip3(a, b, c, dst, fma1_bf16),
        Fusion::Separate => zip3(a, b, c, dst, |a, b, c| sum1_bf16(mul1_bf16(a, b), c)),
    }
    if over == Overflow::Saturate {
        each(dst, bf16::saturate);
    }
}

/// Mixed widths: f16 factors, f32 sum. The product is exact in f32, so both settings agree.
pub fn fma_mixed(a: &[u16], b: &[u16], c: &[f32], dst: &mut [f32]) {
    zip3(a, b, c, dst, |a, b, c| separate_f32(f16::to_f32(a), f16::to_f32(b), c));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::float::{F16, Num, f16_from_f64, pack};
    use crate::num::generate::SplitMix64;
    use crate::num::round::Round;

    #[test]
    fn f32_matches_the_correctly_rounded_library_function() {
        let mut rng = SplitMix64::new(7);
        let special =
            [0.0f32, -0.0, 1.0, -1.0, f32::MAX, f32::MIN_POSITIVE, 1e-45, f32::INFINITY, f32::NAN];
        for i in 0..1_000_000u32 {
            let [mut a, mut b, mut c] = [(); 3].map(|()| f32::from_bits(rng.next_u64() as u32));
            match i % 4 {
                // Sums that nearly cancel, and specials in every position.
                0 => c = f32::from_bits((-(a * b)).to_bits().wrapping_add(i >> 2 & 3)),
                1 => a = special[i as usize / 4 % special.len()],
                2 => (b, c) = (special[i as usize / 4 % 9], special[i as usize / 36 % 9]),
                _ => c = f32::from_bits(c.to_bits() & 0x8FFF_FFFF | 0x3000_0000),
            }
            let (got, want) = (fma1_f32(a, b, c), a.mul_add(b, c));
            assert!(
                got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                "{a:e} {b:e} {c:e}"
            );
        }
    }

    #[test]
    fn f16_matches_exact_integers() {
        // Scaled by 2^48 every product and sum is an i128; round that once.
        let mut rng = SplitMix64::new(9);
        let fix = |h: u16| (f16::to_f32(h) as f64 * 16777216.0) as i128;
        for i in 0..400_000 {
            let r = rng.next_u64();
            let [a, b, mut c] = [r as u16, (r >> 16) as u16, (r >> 32) as u16];
            if i % 2 == 0 {
                let p = f16::to_f32(a) * f16::to_f32(b);
                c = f16::from_f32(-p).wrapping_add((r >> 48) as u16 & 3);
            }
            if [a, b, c].iter().any(|&h| h & 0x7FFF >= f16::INF) {
                continue;
            }
            let exact = fix(a) * fix(b) + (fix(c) << 24);
            if exact == 0 {
                continue;
            }
            // Round to odd at 62 bits keeps the sticky information for the f16 rounding.
            let mag = exact.unsigned_abs();
            let cut = (128 - mag.leading_zeros()).saturating_sub(62);
            let m = (mag >> cut) as u64 | (mag & ((1 << cut) - 1) != 0) as u64;
            let n = Num::Finite { neg: exact < 0, m, e: cut as i32 - 48 };
            let want = pack(F16, n, Round::NearestEven, Overflow::Keep) as u16;
            assert_eq!(fma1_f16(a, b, c), want, "{a:#x} {b:#x} {c:#x}");
        }
    }

    #[test]
    fn bf16_and_mixed_and_separate() {
        let mut d = [0u16];
        // 1.0078125^2 - 1.015625 = 2^-14 when fused; 0 when the product is rounded first.
        let (x, c) = ([0x3F81], [bf16::from_f32(-1.015625)]);
        fma_bf16(&x, &x, &c, &mut d, Fusion::Fused, Overflow::Keep);
        assert_eq!(bf16::to_f32(d[0]), 2f32.powi(-14));
        fma_bf16(&x, &x, &c, &mut d, Fusion::Separate, Overflow::Keep);
        assert_eq!(d[0], 0);
        let (x, c) = ([0x3C01], [f16_from_f64(-(1.0 + 2.0 / 1024.0))]);
        fma_f16(&x, &x, &c, &mut d, Fusion::Fused, Overflow::Keep);
        assert_eq!(f16::to_f32(d[0]), 2f32.powi(-20));
        fma_f16(&x, &x, &c, &mut d, Fusion::Separate, Overflow::Keep);
        assert_eq!(d[0], 0);
        let mut f = [0f32];
        fma_mixed(&x, &x, &[-1.0], &mut f);
        assert_eq!(f[0], 2.0 / 1024.0 + 1.0 / 1048576.0);
    }

    #[test]
    fn nan_order() {
        let nan = |p: u32| f32::from_bits(0x7F80_0000 | p);
        assert_eq!(fma1_f32(0.0, f32::INFINITY, 1.0).to_bits(), NAN_F32);
        assert_eq!(fma1_f32(0.0, f32::INFINITY, nan(3)).to_bits(), 0x7FC0_0003);
        assert_eq!(fma1_f32(1.0, nan(2), nan(3)).to_bits(), 0x7FC0_0002);
        let mut d = [0u16];
        fma_f16(&[0x7BFF], &[0x7BFF], &[0], &mut d, Fusion::Fused, Overflow::Saturate);
        assert_eq!(d, [f16::MAX]);
    }
}
