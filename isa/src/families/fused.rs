//! Multiply-add.

use super::arith::relu_in_place;
use super::{Ctx, Repeat, view, view_mut, with_scalar};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::{fma_f16, fma_f32, fma_mixed};

/// Calls `f(d, a, b, copy of d)` in pieces of one repeat.
fn with_old(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8], f: impl Fn(&mut [u8], &[u8], &[u8], &[u8])) {
    let lanes = 256 / c.dtype.size();
    let mut old = Repeat([0; 256]);
    let step = lanes * c.src.size();
    for ((d, a), b) in d.chunks_mut(256).zip(a.chunks(step)).zip(b.chunks(step)) {
        old.0[..d.len()].copy_from_slice(d);
        let n = d.len();
        f(d, a, b, &old.0[..n]);
    }
}

/// d = x * y + z
fn fma(c: &Ctx, d: &mut [u8], x: &[u8], y: &[u8], z: &[u8]) {
    match (c.dtype, c.src) {
        (DType::F32, DType::F16) => fma_mixed(view(x), view(y), view(z), view_mut(d)),
        (DType::F32, _) => fma_f32(view(x), view(y), view(z), view_mut(d), c.mode.fusion),
        _ => fma_f16(view(x), view(y), view(z), view_mut(d), c.mode.fusion, c.mode.overflow),
    }
}

/// d = a * b + d
pub fn mla(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    with_old(c, d, a, b, |d, a, b, old| fma(c, d, a, b, old));
}

/// d = a * d + b
pub fn madd(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    with_old(c, d, a, b, |d, a, b, old| fma(c, d, a, old, b));
}

/// d = max(a * d + b, 0)
pub fn madd_relu(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    madd(c, d, a, b);
    relu_in_place(c.dtype, d);
}

/// d = a * scalar + d
pub fn axpy(c: &Ctx, d: &mut [u8], a: &[u8]) {
    with_scalar(c, d, a, mla);
}
