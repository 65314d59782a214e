//! Bitwise operations and shifts.

use super::{Ctx, map1, map2};
use ptoemu_core::dtype::DType;

/// d = a & b
pub fn and(_: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    map2(d, a, b, |a: u16, b: u16| a & b);
}

/// d = a | b
pub fn or(_: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    map2(d, a, b, |a: u16, b: u16| a | b);
}

/// d = !a
pub fn not(_: &Ctx, d: &mut [u8], a: &[u8]) {
    map1(d, a, |a: u16| !a);
}

/// d = a
pub fn copy(_: &Ctx, d: &mut [u8], a: &[u8]) {
    d.copy_from_slice(a);
}

/// d = a << n; 0 for n equal to the width.
pub fn shift_left(c: &Ctx, d: &mut [u8], a: &[u8]) {
    let n = c.scalar as u32;
    match c.dtype.size() {
        2 => map1(d, a, |x: u16| x.checked_shl(n).unwrap_or(0)),
        _ => map1(d, a, |x: u32| x.checked_shl(n).unwrap_or(0)),
    }
}

/// d = a >> n, arithmetic for signed types; with `round` plus the last bit shifted out.
pub fn shift_right(c: &Ctx, d: &mut [u8], a: &[u8]) {
    // Wide enough that neither the shift nor the carry overflows.
    let n = c.scalar.min(32) as u32;
    let half = if c.flag && n > 0 { n - 1 } else { 63 };
    let go = move |x: i64| (x >> n) + if half < 63 { x >> half & 1 } else { 0 };
    match c.dtype {
        DType::I16 => map1(d, a, |x: i16| go(i64::from(x)) as i16),
        DType::U16 => map1(d, a, |x: u16| go(i64::from(x)) as u16),
        DType::I32 => map1(d, a, |x: i32| go(i64::from(x)) as i32),
        _ => map1(d, a, |x: u32| go(i64::from(x)) as u32),
    }
}
