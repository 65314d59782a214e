//! Add, subtract, multiply and divide over lanes, with one rounding and the NaN rule.

use super::mode::Overflow;
use super::{bf16, f16};

/// One of the four operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arith {
    /// a + b
    Add,
    /// a - b
    Sub,
    /// a * b
    Mul,
    /// a / b
    Div,
}

/// The NaN an f32 operation generates `[U: sign and payload are not documented]`.
pub const NAN_F32: u32 = 0x7FC0_0000;
pub(super) const QUIET_F32: u32 = 0x0040_0000;

/// `r`, but a NaN result is the first NaN operand quieted, else the canonical NaN.
#[inline(always)]
pub(super) fn settle(a: f32, b: f32, r: f32) -> f32 {
    let generated = if r.is_nan() { NAN_F32 } else { r.to_bits() };
    let second = if b.is_nan() { b.to_bits() | QUIET_F32 } else { generated };
    f32::from_bits(if a.is_nan() { a.to_bits() | QUIET_F32 } else { second })
}

/// CTRL[48] = 0 for f32: INF to the largest finite value of its sign, NaN to +0.
#[inline(always)]
pub fn saturate_f32(x: f32) -> f32 {
    let mag = x.to_bits() & 0x7FFF_FFFF;
    let limited = if mag == 0x7F80_0000 { x.to_bits() - 1 } else { x.to_bits() };
    f32::from_bits(if mag > 0x7F80_0000 { 0 } else { limited })
}

/// `dst = f(a, b)` lane by lane.
#[inline(always)]
pub(super) fn zip2<T: Copy>(a: &[T], b: &[T], dst: &mut [T], f: impl Fn(T, T) -> T) {
    for ((d, &a), &b) in dst.iter_mut().zip(a).zip(b) {
        *d = f(a, b);
    }
}

/// One result per eight lanes: the adjacent tree `((0,1),(2,3)),((4,5),(6,7))`.
#[inline(always)]
pub(super) fn fold8<T: Copy>(src: &[T], dst: &mut [T], f: impl Fn(T, T) -> T) {
    for (d, c) in dst.iter_mut().zip(src.chunks_exact(8)) {
        let (low, high) = (f(f(c[0], c[1]), f(c[2], c[3])), f(f(c[4], c[5]), f(c[6], c[7])));
        *d = f(low, high);
    }
}

/// Sums of eight lanes each, added as a tree of adjacent lanes.
pub fn sum8_f32(src: &[f32], dst: &mut [f32]) {
    fold8(src, dst, add1_f32);
}

/// `dst = f(dst)` lane by lane.
#[inline(always)]
pub(super) fn each<T: Copy>(dst: &mut [T], f: impl Fn(T) -> T) {
    for d in dst {
        *d = f(*d);
    }
}

/// f32 lanes: IEEE single, subnormals kept `[U: choose IEEE]`. CTRL[48] concerns fp16
/// arithmetic only, so there is no overflow policy here.
pub fn arith_f32(op: Arith, a: &[f32], b: &[f32], dst: &mut [f32]) {
    match op {
        Arith::Add => zip2(a, b, dst, |a, b| settle(a, b, a + b)),
        Arith::Sub => zip2(a, b, dst, |a, b| settle(a, b, a - b)),
        Arith::Mul => zip2(a, b, dst, |a, b| settle(a, b, a * b)),
        Arith::Div => zip2(a, b, dst, |a, b| settle(a, b, a / b)),
    }
}

/// f16 lanes. Computed in f32 and rounded once more to f16: f32 has more than 2*11+1 bits, so
/// the second rounding gives the correctly rounded result of all four operations.
pub fn arith_f16(op: Arith, a: &[u16], b: &[u16], dst: &mut [u16], overflow: Overflow) {
    match op {
        Arith::Add => zip2(a, b, dst, sum1_f16),
        Arith::Sub => zip2(a, b, dst, |a, b| via_f32_f16(a, b, |a, b| a - b)),
        Arith::Mul => zip2(a, b, dst, mul1_f16),
        Arith::Div => zip2(a, b, dst, |a, b| via_f32_f16(a, b, |a, b| a / b)),
    }
    if overflow == Overflow::Saturate {
        each(dst, f16::saturate);
    }
}

/// bf16 lanes: one f32 operation, then one rounding to bf16.
pub fn arith_bf16(op: Arith, a: &[u16], b: &[u16], dst: &mut [u16], overflow: Overflow) {
    match op {
        Arith::Add => zip2(a, b, dst, sum1_bf16),
        Arith::Sub => zip2(a, b, dst, |a, b| via_f32_bf16(a, b, |a, b| a - b)),
        Arith::Mul => zip2(a, b, dst, mul1_bf16),
        Arith::Div => zip2(a, b, dst, |a, b| via_f32_bf16(a, b, |a, b| a / b)),
    }
    if overflow == Overflow::Saturate {
        each(dst, bf16::saturate);
    }
}

#[inline(always)]
fn via_f32_f16(a: u16, b: u16, f: impl Fn(f32, f32) -> f32) -> u16 {
    settle16::<{ f16::INF }>(a, b, f16::from_f32(f(f16::to_f32(a), f16::to_f32(b))))
}

#[inline(always)]
fn via_f32_bf16(a: u16, b: u16, f: impl Fn(f32, f32) -> f32) -> u16 {
    settle16::<{ bf16::INF }>(a, b, bf16::from_f32(f(bf16::to_f32(a), bf16::to_f32(b))))
}

/// Signed compare: SSE2 has no unsigned one.
#[inline(always)]
const fn nan16<const INF: u16>(x: u16) -> bool {
    (x & 0x7FFF) as i16 > INF as i16
}

/// The topmost fraction bit: half of INF's lowest set bit.
const fn quiet16<const INF: u16>() -> u16 {
    (INF & INF.wrapping_neg()) >> 1
}

/// [`settle`] for a 16-bit format with this +INF: eight lanes to a register instead of four.
#[inline(always)]
pub(super) fn settle16<const INF: u16>(a: u16, b: u16, r: u16) -> u16 {
    let generated = if nan16::<INF>(r) { INF | quiet16::<INF>() } else { r };
    first_nan16::<INF>(a, first_nan16::<INF>(b, generated))
}

/// `a` quieted when it is a NaN, else `r`.
#[inline(always)]
pub(super) fn first_nan16<const INF: u16>(a: u16, r: u16) -> u16 {
    if nan16::<INF>(a) { a | quiet16::<INF>() } else { r }
}

/// a + b in f16, INF and NaN kept.
#[inline(always)]
pub(super) fn sum1_f16(a: u16, b: u16) -> u16 {
    via_f32_f16(a, b, |a, b| a + b)
}

/// a * b in f16, INF and NaN kept.
#[inline(always)]
pub(super) fn mul1_f16(a: u16, b: u16) -> u16 {
    via_f32_f16(a, b, |a, b| a * b)
}

/// a + b in bf16, INF and NaN kept.
#[inline(always)]
pub(super) fn sum1_bf16(a: u16, b: u16) -> u16 {
    via_f32_bf16(a, b, |a, b| a + b)
}

/// a * b in bf16, INF and NaN kept.
#[inline(always)]
pub(super) fn mul1_bf16(a: u16, b: u16) -> u16 {
    via_f32_bf16(a, b, |a, b| a * b)
}

/// Sum of two f16, for reduction trees.
#[inline]
pub fn add1_f16(a: u16, b: u16, overflow: Overflow) -> u16 {
    let r = sum1_f16(a, b);
    if overflow == Overflow::Saturate { f16::saturate(r) } else { r }
}

/// Sum of two f32, for reduction trees.
#[inline]
pub fn add1_f32(a: f32, b: f32) -> f32 {
    settle(a, b, a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::float::f16_from_f64;

    const OPS: [Arith; 4] = [Arith::Add, Arith::Sub, Arith::Mul, Arith::Div];

    fn exact(op: Arith, a: f64, b: f64) -> f64 {
        match op {
            Arith::Add => a + b,
            Arith::Sub => a - b,
            Arith::Mul => a * b,
            Arith::Div => a / b,
        }
    }

    #[test]
    fn f16_is_correctly_rounded() {
        // f64 holds sums and products exactly and quotients with 42 spare bits.
        let a: Vec<u16> = (0..=u16::MAX).collect();
        let seconds = [0u16, 0x8000, 1, 0x3C00, 0x3555, 0xB8E3, 0x7BFF, 0x0400, 0x7C00, 0xC0FF];
        let mut dst = vec![0u16; a.len()];
        for b in seconds {
            let bs = vec![b; a.len()];
            for op in OPS {
                arith_f16(op, &a, &bs, &mut dst, Overflow::Keep);
                for (&x, &got) in a.iter().zip(&dst).filter(|(x, _)| !f16::is_nan(**x)) {
                    let r = exact(op, f16::to_f32(x) as f64, f16::to_f32(b) as f64);
                    let want = if r.is_nan() { f16::NAN } else { f16_from_f64(r) };
                    assert_eq!(got, want, "{op:?} {x:#x} {b:#x}");
                }
            }
        }
    }

    #[test]
    fn nan_rules() {
        let mut d = [0u16; 3];
        arith_f16(
            Arith::Add,
            &[0xFD01, 0x3C00, 0x7C00],
            &[0x7E55, 0x7D03, 0xFC00],
            &mut d,
            Overflow::Keep,
        );
        assert_eq!(d, [0xFF01, 0x7F03, 0x7E00]);
        let mut d = [0f32; 2];
        arith_f32(Arith::Mul, &[0.0, 1.0], &[f32::INFINITY, f32::from_bits(0xFF80_0001)], &mut d);
        assert_eq!(d.map(f32::to_bits), [NAN_F32, 0xFFC0_0001]);
        let mut d = [0u16; 1];
        arith_bf16(Arith::Sub, &[0x7F80], &[0x7F80], &mut d, Overflow::Keep);
        assert_eq!(d, [bf16::NAN]);
    }

    #[test]
    fn saturated_results() {
        let mut d = [0u16; 4];
        let (a, b) = ([0x7B00, 0xFBFF, 0x7C00, 0x7E00], [0x7B00, 0x7C00, 0xFC00, 0x3C00]);
        arith_f16(Arith::Add, &a, &b, &mut d, Overflow::Saturate);
        assert_eq!(d, [f16::MAX, f16::MAX, 0, 0]);
        assert_eq!(
            add1_f16(f16_from_f64(60000.0), f16_from_f64(60000.0), Overflow::Saturate),
            f16::MAX
        );
        assert_eq!(saturate_f32(f32::NEG_INFINITY), f32::MIN);
        assert_eq!(saturate_f32(f32::NAN).to_bits(), 0);
    }
}
