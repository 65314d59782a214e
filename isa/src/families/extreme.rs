//! Larger and smaller.

use super::{Ctx, map2, view, view_mut, with_scalar};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::{Extreme, extreme_f16, extreme_f32};

/// The larger or the smaller of two lanes.
pub fn pick(c: &Ctx, which: Extreme, d: &mut [u8], a: &[u8], b: &[u8]) {
    let max = which == Extreme::Max;
    match c.dtype {
        DType::F32 => extreme_f32(which, c.mode.nan_rule, view(a), view(b), view_mut(d)),
        DType::F16 => extreme_f16(which, c.mode.nan_rule, view(a), view(b), view_mut(d)),
        DType::I16 => map2(d, a, b, |a: i16, b: i16| if max { a.max(b) } else { a.min(b) }),
        _ => map2(d, a, b, |a: i32, b: i32| if max { a.max(b) } else { a.min(b) }),
    }
}

/// d = max(a, b)
pub fn max(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    pick(c, Extreme::Max, d, a, b);
}

/// d = min(a, b)
pub fn min(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    pick(c, Extreme::Min, d, a, b);
}

/// d = max(a, scalar)
pub fn max_scalar(c: &Ctx, d: &mut [u8], a: &[u8]) {
    with_scalar(c, d, a, max);
}

/// d = min(a, scalar)
pub fn min_scalar(c: &Ctx, d: &mut [u8], a: &[u8]) {
    with_scalar(c, d, a, min);
}
