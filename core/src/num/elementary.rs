//! The one-source functions under all settings, and f16 through tables.

use super::arith::{each, saturate_f32};
use super::exp::exp_f32;
use super::f16;
use super::ln::ln_f32;
use super::mode::{NumMode, Overflow, Precision, Reciprocal};
use super::root::{rec_f32, rsqrt_f32, sqrt_f32, truncate12_f32};
use super::table16::table;

/// A one-source function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elementary {
    /// e^x
    Exp,
    /// Natural logarithm.
    Ln,
    /// Square root.
    Sqrt,
    /// 1 / sqrt(x)
    Rsqrt,
    /// 1 / x
    Rec,
}

impl Elementary {
    /// Every function, in declaration order.
    pub const ALL: [Elementary; 5] =
        [Elementary::Exp, Elementary::Ln, Elementary::Sqrt, Elementary::Rsqrt, Elementary::Rec];

    /// True where the `hw-like` setting treats subnormal sources as zero.
    const fn flushes_source(self) -> bool {
        matches!(self, Elementary::Ln | Elementary::Sqrt)
    }
}

/// Zero of the same sign for a subnormal f32.
#[inline(always)]
fn flush_f32(x: f32) -> f32 {
    let tiny = x.to_bits() & 0x7F80_0000 == 0;
    f32::from_bits(if tiny { x.to_bits() & 0x8000_0000 } else { x.to_bits() })
}

/// Zero of the same sign for a subnormal f16.
#[inline(always)]
fn flush_f16(x: u16) -> u16 {
    if x & 0x7C00 == 0 { x & 0x8000 } else { x }
}

/// f32 lanes. CTRL[48] applies to the result `[I: exp overflow gives FLT_MAX in mode 0]`.
pub fn elementary_f32(op: Elementary, src: &[f32], dst: &mut [f32], mode: &NumMode) {
    let hw_like = mode.precision == Precision::HwLike;
    if hw_like && op.flushes_source() {
        let mut chunk = [0f32; 64];
        for (s, d) in src.chunks(64).zip(dst.chunks_mut(64)) {
            for (c, &x) in chunk.iter_mut().zip(s) {
                *c = flush_f32(x);
            }
            plain_f32(op, &chunk[..s.len()], d);
        }
    } else {
        plain_f32(op, src, dst);
    }
    let n = src.len().min(dst.len());
    let dst = &mut dst[..n];
    if hw_like && op == Elementary::Exp {
        each(dst, flush_f32);
    }
    let approx = mode.reciprocal == Reciprocal::Approx12;
    if approx && matches!(op, Elementary::Rec | Elementary::Rsqrt) {
        each(dst, truncate12_f32);
    }
    if mode.overflow == Overflow::Saturate {
        each(dst, saturate_f32);
    }
}

fn plain_f32(op: Elementary, src: &[f32], dst: &mut [f32]) {
    match op {
        Elementary::Exp => exp_f32(src, dst),
        Elementary::Ln => ln_f32(src, dst),
        Elementary::Sqrt => sqrt_f32(src, dst),
        Elementary::Rsqrt => rsqrt_f32(src, dst),
        Elementary::Rec => rec_f32(src, dst),
    }
}

/// f16 lanes: a table of correctly rounded results. The 12-bit setting cannot be seen here.
pub fn elementary_f16(op: Elementary, src: &[u16], dst: &mut [u16], mode: &NumMode) {
    let table = table(op);
    let hw_like = mode.precision == Precision::HwLike;
    let flush = hw_like && op.flushes_source();
    for (d, &h) in dst.iter_mut().zip(src) {
        let h = if flush { flush_f16(h) } else { h };
        // Every u16 is a valid index of the full table.
        *d = table.get(h as usize).copied().unwrap_or(f16::NAN);
    }
    let n = src.len().min(dst.len());
    let dst = &mut dst[..n];
    if hw_like && op == Elementary::Exp {
        each(dst, flush_f16);
    }
    if mode.overflow == Overflow::Saturate {
        each(dst, f16::saturate);
    }
}
