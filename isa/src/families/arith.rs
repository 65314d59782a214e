//! Arithmetic.

use super::Repeat;
use ptoemu_core::dtype::DType;

/// dst = a + b.
pub fn add(t: DType, d: &mut Repeat, a: &Repeat, b: &Repeat) {
    if t == DType::F32 {
        for (d, (a, b)) in
            d.lanes_mut::<f32>().iter_mut().zip(a.lanes::<f32>().iter().zip(b.lanes::<f32>()))
        {
            *d = *a + *b;
        }
    }
}

/// dst = |a|.
pub fn abs(t: DType, d: &mut Repeat, a: &Repeat) {
    if t == DType::F32 {
        for (d, a) in d.lanes_mut::<f32>().iter_mut().zip(a.lanes::<f32>()) {
            *d = a.abs();
        }
    }
}
