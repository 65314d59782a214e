//! Fast rounding to integers for slices, in f64 where every f32 and f16 is exact.
//!
//! Below 2^51 the f64 adder itself rounds at the unit bit; the other modes correct the result by
//! one. Staged over chunks so that each stage is one short loop that vectorises.

use super::mode::Narrow;
use super::round::Round;

/// Elements per stage: one repeat of f32.
pub(super) const CHUNK: usize = 64;
/// 1.5 * 2^52.
const SHIFTER: f64 = 6755399441055744.0;
/// Magnitudes from here on are integral in f32 and too big for the adder.
const BIG: f64 = 1125899906842624.0; // 2^50

#[inline(always)]
fn nearest(x: f64) -> f64 {
    (x + SHIFTER) - SHIFTER
}

#[inline(always)]
fn toward_zero(x: f64) -> f64 {
    let n = nearest(x.abs());
    let t = if n > x.abs() { n - 1.0 } else { n };
    t.copysign(x)
}

/// Rounds every value to an integral one; BIG and beyond, INF and NaN are left as they are, the
/// sign of zero is kept.
pub(super) fn round_all(xs: &mut [f64; CHUNK], mode: Round) {
    #[inline(always)]
    fn run(xs: &mut [f64; CHUNK], f: impl Fn(f64) -> f64) {
        for x in xs {
            let r = f(*x).copysign(*x);
            *x = if x.abs() < BIG { r } else { *x };
        }
    }
    match mode {
        Round::NearestEven => run(xs, nearest),
        Round::NearestAway => run(xs, |x| {
            let t = toward_zero(x);
            if (x - t).abs() >= 0.5 { t + 1f64.copysign(x) } else { t }
        }),
        Round::Floor => run(xs, |x| {
            let n = nearest(x);
            if n > x { n - 1.0 } else { n }
        }),
        Round::Ceil => run(xs, |x| {
            let n = nearest(x);
            if n < x { n + 1.0 } else { n }
        }),
        Round::Zero => run(xs, toward_zero),
        Round::Odd => run(xs, |x| {
            let t = toward_zero(x);
            let even = (t + SHIFTER).to_bits() & 1 == 0;
            if (t != x) & even { t + 1f64.copysign(x) } else { t }
        }),
    }
}

/// Integers of at most 32 bits from integral values, low bits first.
///
/// Low bits are right for destinations of at most 16 bits: a value of BIG or more has at least
/// 27 zero bits at the end when it comes from f32.
pub(super) fn to_ints(xs: &[f64; CHUNK], narrow: Narrow, min: i32, max: i32) -> [i32; CHUNK] {
    let (low, high) = match narrow {
        Narrow::Clamp => (min as f64, max as f64),
        Narrow::LowBits => (i32::MIN as f64, i32::MAX as f64),
    };
    let mut out = [0; CHUNK];
    for (o, &x) in out.iter_mut().zip(xs) {
        let huge = (x.abs() >= BIG) & (x.abs() < f64::INFINITY);
        let limited = if x > low { x } else { low };
        let limited = if limited < high { limited } else { high };
        let wraps = if huge { 0.0 } else { x };
        // Only INF is limited under the low-bits rule.
        let kept = if x.abs() == f64::INFINITY { limited } else { wraps };
        let y = if narrow == Narrow::Clamp { limited } else { kept };
        let y = if x.is_nan() { 0.0 } else { y };
        *o = (y + SHIFTER).to_bits() as i32;
    }
    out
}
