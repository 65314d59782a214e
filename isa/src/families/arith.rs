//! Addition, subtraction, multiplication, division and the rectifiers.

use super::{Ctx, map1, map2, view, view_mut, with_scalar};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::{Arith, arith_f16, arith_f32, f16};

fn two(c: &Ctx, op: Arith, d: &mut [u8], a: &[u8], b: &[u8]) {
    match c.dtype {
        DType::F32 => arith_f32(op, view(a), view(b), view_mut(d)),
        DType::F16 => arith_f16(op, view(a), view(b), view_mut(d), c.mode.overflow),
        DType::I16 => map2(d, a, b, |a: i16, b: i16| match op {
            Arith::Add => a.wrapping_add(b),
            Arith::Sub => a.wrapping_sub(b),
            _ => a.wrapping_mul(b),
        }),
        _ => map2(d, a, b, |a: i32, b: i32| match op {
            Arith::Add => a.wrapping_add(b),
            Arith::Sub => a.wrapping_sub(b),
            _ => a.wrapping_mul(b),
        }),
    }
}

/// d = a + b
pub fn add(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    two(c, Arith::Add, d, a, b);
}

/// d = a - b
pub fn sub(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    two(c, Arith::Sub, d, a, b);
}

/// d = a * b
pub fn mul(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    two(c, Arith::Mul, d, a, b);
}

/// d = a / b; floats only.
pub fn div(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    two(c, Arith::Div, d, a, b);
}

/// d = a + scalar
pub fn add_scalar(c: &Ctx, d: &mut [u8], a: &[u8]) {
    with_scalar(c, d, a, add);
}

/// d = a * scalar
pub fn mul_scalar(c: &Ctx, d: &mut [u8], a: &[u8]) {
    with_scalar(c, d, a, mul);
}

/// d = max(a - b, 0)
pub fn sub_relu(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    sub(c, d, a, b);
    relu_in_place(c.dtype, d);
}

/// d = max(a, 0)
pub fn relu(c: &Ctx, d: &mut [u8], a: &[u8]) {
    d.copy_from_slice(a);
    relu_in_place(c.dtype, d);
}

/// max(x, 0) with NaN kept and -0 made +0.
pub fn relu_in_place(t: DType, d: &mut [u8]) {
    match t {
        DType::F32 => view_mut::<f32>(d)
            .iter_mut()
            .for_each(|x| *x = if *x > 0.0 || x.is_nan() { *x } else { 0.0 }),
        DType::F16 => view_mut::<u16>(d)
            .iter_mut()
            .for_each(|h| *h = if *h >> 15 == 0 || f16::is_nan(*h) { *h } else { 0 }),
        DType::I16 => view_mut::<i16>(d).iter_mut().for_each(|x| *x = (*x).max(0)),
        _ => view_mut::<i32>(d).iter_mut().for_each(|x| *x = (*x).max(0)),
    }
}

/// d = a >= 0 ? a : a * scalar; NaN passes through the product.
pub fn leaky_relu(c: &Ctx, d: &mut [u8], a: &[u8]) {
    mul_scalar(c, d, a);
    if c.dtype == DType::F32 {
        for (d, a) in view_mut::<f32>(d).iter_mut().zip(view::<f32>(a)) {
            *d = if *a >= 0.0 { *a } else { *d };
        }
        return;
    }
    for (d, &a) in view_mut::<u16>(d).iter_mut().zip(view::<u16>(a)) {
        let keep = a >> 15 == 0 && !f16::is_nan(a) || a == 0x8000;
        *d = if keep { a } else { *d };
    }
}

/// d = |a|: clears the sign bit, also of NaN.
pub fn abs(c: &Ctx, d: &mut [u8], a: &[u8]) {
    match c.dtype {
        DType::F32 => map1(d, a, |x: u32| x & 0x7FFF_FFFF),
        _ => map1(d, a, |x: u16| x & 0x7FFF),
    }
}
