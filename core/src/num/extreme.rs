//! Maximum and minimum: NaN and signed-zero rules, over integer keys.
//!
//! A float pattern whose magnitude bits are inverted when the sign is set orders like a signed
//! integer, with -0 just below +0; so max(-0, +0) = +0 and min = -0 `[U: as the 950]`.

use super::arith::{fold8, zip2};
use super::mode::NanRule;

/// Which end of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extreme {
    /// The larger operand.
    Max,
    /// The smaller operand.
    Min,
}

/// Order key of a 16-bit float; its own inverse.
#[inline(always)]
const fn key16(x: i16) -> i16 {
    x ^ ((x >> 15) & 0x7FFF)
}

/// Order key of an f32 pattern.
#[inline(always)]
const fn key32(x: i32) -> i32 {
    x ^ ((x >> 31) & 0x7FFF_FFFF)
}

/// The extreme of two 16-bit floats whose +INF is `INF`.
#[inline(always)]
fn pick16<const INF: i16, const MAX: bool, const NUM: bool>(a: u16, b: u16) -> u16 {
    let (x, y) = (a as i16, b as i16);
    let (kx, ky) = (key16(x), key16(y));
    let k = if MAX { kx.max(ky) } else { kx.min(ky) };
    // The quiet bit is the topmost fraction bit: half of INF's lowest set bit.
    let quiet = (INF & INF.wrapping_neg()) >> 1;
    let (nan_x, nan_y) = (x & 0x7FFF > INF, y & 0x7FFF > INF);
    let best = key16(k);
    let r = if NUM {
        let keep = if nan_x { y } else { best };
        let keep = if nan_y { x } else { keep };
        if nan_x & nan_y { x | quiet } else { keep }
    } else {
        let second = if nan_y { y | quiet } else { best };
        if nan_x { x | quiet } else { second }
    };
    r as u16
}

#[inline(always)]
fn pick32<const MAX: bool, const NUM: bool>(a: f32, b: f32) -> f32 {
    let (x, y) = (a.to_bits() as i32, b.to_bits() as i32);
    let first = if MAX { key32(x) > key32(y) } else { key32(x) < key32(y) };
    let best = if first { x } else { y };
    const QUIET: i32 = 0x0040_0000;
    let (nan_x, nan_y) = (a.is_nan(), b.is_nan());
    let r = if NUM {
        let keep = if nan_x { y } else { best };
        let keep = if nan_y { x } else { keep };
        if nan_x & nan_y { x | QUIET } else { keep }
    } else {
        let second = if nan_y { y | QUIET } else { best };
        if nan_x { x | QUIET } else { second }
    };
    f32::from_bits(r as u32)
}

fn lanes16<const INF: i16>(which: Extreme, rule: NanRule, a: &[u16], b: &[u16], dst: &mut [u16]) {
    match (which, rule) {
        (Extreme::Max, NanRule::Propagate) => zip2(a, b, dst, pick16::<INF, true, false>),
        (Extreme::Min, NanRule::Propagate) => zip2(a, b, dst, pick16::<INF, false, false>),
        (Extreme::Max, NanRule::MaxNum) => zip2(a, b, dst, pick16::<INF, true, true>),
        (Extreme::Min, NanRule::MaxNum) => zip2(a, b, dst, pick16::<INF, false, true>),
    }
}

/// f16 lanes.
pub fn extreme_f16(which: Extreme, rule: NanRule, a: &[u16], b: &[u16], dst: &mut [u16]) {
    lanes16::<0x7C00>(which, rule, a, b, dst);
}

/// bf16 lanes.
pub fn extreme_bf16(which: Extreme, rule: NanRule, a: &[u16], b: &[u16], dst: &mut [u16]) {
    lanes16::<0x7F80>(which, rule, a, b, dst);
}

/// f32 lanes.
pub fn extreme_f32(which: Extreme, rule: NanRule, a: &[f32], b: &[f32], dst: &mut [f32]) {
    match (which, rule) {
        (Extreme::Max, NanRule::Propagate) => zip2(a, b, dst, pick32::<true, false>),
        (Extreme::Min, NanRule::Propagate) => zip2(a, b, dst, pick32::<false, false>),
        (Extreme::Max, NanRule::MaxNum) => zip2(a, b, dst, pick32::<true, true>),
        (Extreme::Min, NanRule::MaxNum) => zip2(a, b, dst, pick32::<false, true>),
    }
}

/// Extremes of eight f32 lanes each, compared as a tree of adjacent lanes.
pub fn extreme8_f32(which: Extreme, rule: NanRule, src: &[f32], dst: &mut [f32]) {
    match (which, rule) {
        (Extreme::Max, NanRule::Propagate) => fold8(src, dst, pick32::<true, false>),
        (Extreme::Min, NanRule::Propagate) => fold8(src, dst, pick32::<false, false>),
        (Extreme::Max, NanRule::MaxNum) => fold8(src, dst, pick32::<true, true>),
        (Extreme::Min, NanRule::MaxNum) => fold8(src, dst, pick32::<false, true>),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::{bf16, f16};

    const SECONDS: [u16; 14] = [
        0, 0x8000, 1, 0x8001, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFD01,
        0x7F80, 0xFFC1,
    ];

    /// The rule in words, on f32 values.
    fn meaning(which: Extreme, rule: NanRule, a: f32, b: f32) -> f32 {
        match (a.is_nan(), b.is_nan(), rule) {
            (true, false, NanRule::MaxNum) => return b,
            (false, true, NanRule::MaxNum) => return a,
            (true, ..) => return f32::from_bits(a.to_bits() | 0x0040_0000),
            (_, true, _) => return f32::from_bits(b.to_bits() | 0x0040_0000),
            _ => {}
        }
        let a_first = match which {
            Extreme::Max => a > b || (a == b && a.is_sign_positive()),
            Extreme::Min => a < b || (a == b && a.is_sign_negative()),
        };
        if a_first { a } else { b }
    }

    fn check(widen: fn(u16) -> f32, run: fn(Extreme, NanRule, &[u16], &[u16], &mut [u16])) {
        let a: Vec<u16> = (0..=u16::MAX).collect();
        let mut dst = vec![0u16; a.len()];
        for b in SECONDS {
            let bs = vec![b; a.len()];
            for which in [Extreme::Max, Extreme::Min] {
                for rule in [NanRule::Propagate, NanRule::MaxNum] {
                    run(which, rule, &a, &bs, &mut dst);
                    for (&x, &got) in a.iter().zip(&dst) {
                        let want = meaning(which, rule, widen(x), widen(b));
                        // Equal as values and as patterns, NaN payload included.
                        assert_eq!(widen(got).to_bits(), want.to_bits(), "{which:?} {x:#x} {b:#x}");
                    }
                }
            }
        }
    }

    #[test]
    fn f16_and_bf16_follow_the_rule() {
        check(f16::to_f32, extreme_f16);
        check(bf16::to_f32, extreme_bf16);
    }

    #[test]
    fn f32_follows_the_rule() {
        let values: Vec<f32> =
            SECONDS.iter().flat_map(|&h| [f16::to_f32(h), bf16::to_f32(h)]).collect();
        for which in [Extreme::Max, Extreme::Min] {
            for rule in [NanRule::Propagate, NanRule::MaxNum] {
                for &b in &values {
                    let mut dst = vec![0f32; values.len()];
                    extreme_f32(which, rule, &values, &vec![b; values.len()], &mut dst);
                    for (&a, got) in values.iter().zip(dst) {
                        let want = meaning(which, rule, a, b);
                        assert_eq!(got.to_bits(), want.to_bits(), "{which:?} {rule:?} {a} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn eight_lanes_fold_as_the_tree_of_pairs() {
        let nan = f32::from_bits(0x7F80_0001);
        let src = [1.0, -0.0, 0.0, nan, 3.0, f32::INFINITY, -2.0, 0.5];
        for (which, rule) in [
            (Extreme::Max, NanRule::Propagate),
            (Extreme::Min, NanRule::Propagate),
            (Extreme::Max, NanRule::MaxNum),
            (Extreme::Min, NanRule::MaxNum),
        ] {
            let mut level = src.to_vec();
            while level.len() > 1 {
                let (even, odd): (Vec<f32>, Vec<f32>) =
                    level.chunks_exact(2).map(|p| (p[0], p[1])).unzip();
                let mut next = vec![0f32; even.len()];
                extreme_f32(which, rule, &even, &odd, &mut next);
                level = next;
            }
            let mut got = [0f32];
            extreme8_f32(which, rule, &src, &mut got);
            assert_eq!(got[0].to_bits(), level[0].to_bits(), "{which:?} {rule:?}");
        }
    }
}
