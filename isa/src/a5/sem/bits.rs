//! Bitwise operations and shifts.

use super::super::core::{Done, Run};
use super::super::reg::{VReg, byte_mask};
use super::{Ctx, by_size, map1, map2};

/// d = a & b.
pub fn and(_: &Ctx, d: &mut VReg, a: &VReg, b: &VReg) {
    map2::<u64>(d, a, b, |a, b| a & b);
}

/// d = a | b.
pub fn or(_: &Ctx, d: &mut VReg, a: &VReg, b: &VReg) {
    map2::<u64>(d, a, b, |a, b| a | b);
}

/// d = a ^ b.
pub fn xor(_: &Ctx, d: &mut VReg, a: &VReg, b: &VReg) {
    map2::<u64>(d, a, b, |a, b| a ^ b);
}

/// d = !a.
pub fn not(_: &Ctx, d: &mut VReg, a: &VReg) {
    map1::<u64>(d, a, |a| !a);
}

/// d = a.
pub fn copy(_: &Ctx, d: &mut VReg, a: &VReg) {
    *d.bytes_mut() = *a.bytes();
}

/// Number of set bits.
pub fn popcount(c: &Ctx, d: &mut VReg, a: &VReg) {
    by_size!(c.dt.size(), T => map1::<T>(d, a, |x| x.count_ones() as T));
}

/// Bits below the top one that equal it `[U: GYM says leading sign bits]`.
pub fn leading_signs(c: &Ctx, d: &mut VReg, a: &VReg) {
    by_size!(c.dt.size(), T => map1::<T>(d, a, |x| {
        (x.leading_ones().max(x.leading_zeros()) - 1) as T
    }));
}

/// Shifts every lane by the count in the other register; counts at or beyond the width give `far`.
fn shift(r: &mut Run<'_, '_>, near: fn(u64, u32) -> u64, far: fn(u64) -> u64) -> Done {
    let (t, mask) = (r.step.dt, r.mask());
    let size = t.size();
    let (a, signed) = (r.args.v[0], t.is_signed());
    let counts = match r.step.op.form() {
        super::super::form::Form::VS => VReg::splat(r.args.s, size),
        _ => *r.args.v[1],
    };
    let width = 8 * size as u32;
    let mut beyond = false;
    let mut d = VReg::ZERO;
    for i in 0..256 / size {
        let x = a.get(i, size);
        // Signed lanes as 64-bit numbers, so that one arithmetic shift serves all widths.
        let x = if signed { ((x << (64 - width)) as i64 >> (64 - width)) as u64 } else { x };
        let n = counts.get(i, size);
        let in_range = n < u64::from(width);
        beyond |= !in_range && mask.get(i * size);
        d.set(i, size, if in_range { near(x, n as u32) } else { far(x) });
    }
    d.undef = super::super::engine::union(&[a, &counts], size);
    d.keep(&byte_mask(&mask, size));
    r.outs.v[0] = d;
    if beyond {
        r.warn("params.shift", "shift count at or beyond the element width", (0, 0));
    }
    Ok(())
}

/// d = a << b.
pub fn shift_left(r: &mut Run<'_, '_>) -> Done {
    shift(r, |x, n| x << n, |_| 0)
}

/// d = a >> b.
pub fn shift_right(r: &mut Run<'_, '_>) -> Done {
    if r.step.dt.is_signed() {
        shift(r, |x, n| (x as i64 >> n) as u64, |x| (x as i64 >> 63) as u64)
    } else {
        shift(r, |x, n| x >> n, |_| 0)
    }
}
