//! Elementary functions of all 65,536 f16 patterns, tabulated on first use.

use std::sync::OnceLock;

use super::elementary::Elementary;
use super::float::f16_from_f64;
use super::{exp, f16, ln, root};

static TABLES: [OnceLock<Box<[u16]>>; 5] = [const { OnceLock::new() }; 5];

/// The table of one function, 128 KB.
pub(super) fn table(op: Elementary) -> &'static [u16] {
    TABLES[op as usize].get_or_init(|| (0..=u16::MAX).map(|h| entry(op, h)).collect())
}

/// Correctly rounded value of one entry: f64 result, one rounding to f16.
fn entry(op: Elementary, h: u16) -> u16 {
    if f16::is_nan(h) {
        return h | 0x200;
    }
    let y = real(op, f16::to_f32(h) as f64);
    if y.is_nan() { f16::NAN } else { f16_from_f64(y) }
}

/// The function in f64, with the limits the kernels leave out.
pub(super) fn real(op: Elementary, x: f64) -> f64 {
    match op {
        // e^-20 is below half the smallest f16 subnormal, e^12 above the largest f16.
        Elementary::Exp if x < -20.0 => 0.0,
        Elementary::Exp if x > 12.0 => f64::INFINITY,
        Elementary::Exp => exp::kernel(x),
        Elementary::Ln if x == 0.0 => f64::NEG_INFINITY,
        Elementary::Ln if x < 0.0 => f64::NAN,
        Elementary::Ln if x == f64::INFINITY => x,
        Elementary::Ln => ln::kernel(x),
        Elementary::Sqrt => x.sqrt(),
        Elementary::Rsqrt => root::rsqrt_kernel(x),
        Elementary::Rec => 1.0 / x,
    }
}
