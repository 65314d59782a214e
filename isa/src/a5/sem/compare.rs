//! Comparison, selection and indexed selection.

use super::super::core::{Done, Run};
use super::super::form::Form;
use super::super::reg::{VReg, byte_mask, lane_mask};
use super::by_int;
use ptoemu_core::dtype::DType::{BF16, F16, F32};
use ptoemu_core::mask::Mask;
use ptoemu_core::num::{bf16, f16};

/// Lanes where the comparison holds.
pub fn compare(r: &mut Run<'_, '_>) -> Done {
    let (t, cmp) = (r.step.st, r.step.mods.cmp);
    let size = t.size();
    let mask = lane_mask(&r.mask(), size);
    let a = r.args.v[0];
    let b = if r.step.op.form() == Form::CmpS { VReg::splat(r.args.s, size) } else { *r.args.v[1] };
    let mut out = Mask::NONE;
    macro_rules! lanes {
        ($T:ty, $f:expr) => {
            for (i, (x, y)) in a.lanes::<$T>().iter().zip(b.lanes::<$T>()).enumerate() {
                if mask.get(i * size) && cmp.holds($f(*x).partial_cmp(&$f(*y))) {
                    out.set(i * size, true);
                }
            }
        };
    }
    match t {
        F32 => lanes!(f32, |x: f32| x),
        F16 => lanes!(u16, f16::to_f32),
        BF16 => lanes!(u16, bf16::to_f32),
        _ => by_int!(t, T => lanes!(T, |x: T| x)),
    }
    r.outs.m[0] = out;
    let undef = super::super::engine::union(&[a, &b], size).and(&byte_mask(&mask, size));
    r.must_be_defined("a compared register", &undef);
    Ok(())
}

/// d = mask ? a : b, not zeroing.
pub fn select(r: &mut Run<'_, '_>) -> Done {
    let take = byte_mask(&r.mask(), r.step.dt.size());
    let [a, b, _] = r.args.v;
    let mut d = *b;
    for i in take.iter() {
        d.bytes_mut()[i] = a.bytes()[i];
    }
    let (t, a, b) = (take.words(), a.undef.words(), b.undef.words());
    d.undef = Mask::from_words(std::array::from_fn(|i| a[i] & t[i] | b[i] & !t[i]));
    r.outs.v[0] = d;
    Ok(())
}

/// d[i] = a[idx[i] mod lanes] `[U: goldens stay in range]`.
pub fn pick(r: &mut Run<'_, '_>) -> Done {
    let size = r.step.dt.size();
    let lanes = 256 / size;
    let [a, idx, _] = r.args.v;
    let mut d = VReg::ZERO;
    let mut undef = Mask::NONE;
    let mut beyond = false;
    for i in 0..lanes {
        let k = idx.get(i, size);
        beyond |= k >= lanes as u64;
        let k = (k % lanes as u64) as usize;
        d.set(i, size, a.get(k, size));
        for byte in 0..size {
            undef.set(i * size + byte, a.undef.get(k * size + byte));
        }
    }
    d.undef = undef;
    r.outs.v[0] = d;
    r.must_be_defined("the index register", &idx.undef);
    if beyond {
        r.warn("params.index", "index beyond the lanes of the register, taken modulo", (0, 0));
    }
    Ok(())
}
