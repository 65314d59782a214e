//! Rearrangement: bytes move, nothing is computed.

use super::super::core::{Done, Run};
use super::super::reg::{VReg, byte_mask};
use super::Ctx;
use ptoemu_core::mask::Mask;

/// Lanes of `size` bytes taken alternately from the lower (0) or upper (1) halves.
pub(super) fn zip_half(d: &mut VReg, a: &VReg, b: &VReg, size: usize, half: usize) {
    let n = 128 / size;
    for i in 0..n {
        d.set(2 * i, size, a.get(half * n + i, size));
        d.set(2 * i + 1, size, b.get(half * n + i, size));
    }
}

/// Even (0) or odd (1) lanes of a, then of b.
pub(super) fn unzip(d: &mut VReg, a: &VReg, b: &VReg, size: usize, odd: usize) {
    let n = 128 / size;
    for i in 0..n {
        d.set(i, size, a.get(2 * i + odd, size));
        d.set(n + i, size, b.get(2 * i + odd, size));
    }
}

/// Zero-extends lanes `at..` of `size` bytes to `wide` bytes.
pub(super) fn widen(d: &mut VReg, a: &VReg, size: usize, wide: usize, at: usize) {
    for i in 0..256 / wide {
        d.set(i, wide, a.get(at + i, size));
    }
}

/// Low halves of the lanes of `size` bytes, from lane `at` of the narrow result on.
pub(super) fn narrow(d: &mut VReg, a: &VReg, size: usize, to: usize, at: usize) {
    for i in 0..256 / size {
        d.set(at + i, to, a.get(i, size));
    }
}

/// lo = a0 b0 a1 b1 .. of the lower halves, hi of the upper halves.
pub fn interleave(c: &Ctx, d: &mut [VReg; 2], [a, b]: [&VReg; 2]) {
    for (half, d) in d.iter_mut().enumerate() {
        zip_half(d, a, b, c.dt.size(), half);
    }
}

/// lo = even lanes of a, b; hi = odd lanes.
pub fn deinterleave(c: &Ctx, d: &mut [VReg; 2], [a, b]: [&VReg; 2]) {
    for (odd, d) in d.iter_mut().enumerate() {
        unzip(d, a, b, c.dt.size(), odd);
    }
}

/// Truncates to half the width, into the half that the part names.
pub fn pack(c: &Ctx, d: &mut [VReg; 2], [a, _]: [&VReg; 2]) {
    let size = c.st.size();
    d[0] = VReg::ZERO;
    narrow(&mut d[0], a, size, size / 2, usize::from(c.mods.part & 1) * 256 / size);
}

fn half(c: &Ctx) -> usize {
    usize::from(c.n[0] & 1 == 1) * 128 / c.st.size()
}

/// Zero-extends one half.
pub fn unpack_zero(c: &Ctx, d: &mut [VReg; 2], [a, _]: [&VReg; 2]) {
    let size = c.st.size();
    widen(&mut d[0], a, size, 2 * size, half(c));
}

/// Sign-extends one half.
pub fn unpack_signed(c: &Ctx, d: &mut [VReg; 2], [a, _]: [&VReg; 2]) {
    let size = c.st.size();
    let (at, shift) = (half(c), 64 - 8 * size as u32);
    for i in 0..128 / size {
        let x = (a.get(at + i, size) << shift) as i64 >> shift;
        d[0].set(i, 2 * size, x as u64);
    }
}

/// The same bits.
pub fn same(_: &Ctx, d: &mut [VReg; 2], [a, _]: [&VReg; 2]) {
    *d[0].bytes_mut() = *a.bytes();
}

/// A scalar in every lane.
pub fn splat(r: &mut Run<'_, '_>) -> Done {
    r.outs.v[0] = VReg::splat(r.args.s, r.step.dt.size());
    Ok(())
}

/// A scalar, or the lowest (0) or highest (1) lane of a register, in every active lane
/// `[U: the lowest is lane 0, active or not]`.
pub fn dup(r: &mut Run<'_, '_>) -> Done {
    let size = r.step.dt.size();
    let keep = byte_mask(&r.mask(), size);
    let a = r.args.v[0];
    let lane = usize::from(r.step.mods.part & 1) * (256 / size - 1);
    let from_register = r.step.mods.dist == super::super::mode::Dist::Norm;
    let d = &mut r.outs.v[0];
    *d = VReg::splat(if from_register { a.get(lane, size) } else { r.args.s }, size);
    if from_register && a.undef.bits(lane * size, size) != 0 {
        d.undef = Mask::first(256);
    }
    d.keep(&keep);
    Ok(())
}

/// Active lanes to the front.
pub fn squeeze(r: &mut Run<'_, '_>) -> Done {
    let size = r.step.dt.size();
    let (mask, a) = (r.mask(), r.args.v[0]);
    let shadow = a.shadow();
    let (mut d, mut dead) = (VReg::ZERO, VReg::ZERO);
    let mut n = 0;
    for i in (0..256 / size).filter(|i| mask.get(i * size)) {
        d.set(n, size, a.get(i, size));
        dead.set(n, size, shadow.get(i, size));
        n += 1;
    }
    d.set_shadow(&dead);
    r.outs.v[0] = d;
    r.core.sqzn = (n * size) as u32;
    Ok(())
}

/// Lane i = number of active lanes below i.
pub fn unsqueeze(r: &mut Run<'_, '_>) -> Done {
    let size = r.step.dt.size();
    let mask = r.mask();
    let mut d = VReg::ZERO;
    let mut n = 0u64;
    for i in 0..256 / size {
        d.set(i, size, n);
        n += u64::from(mask.get(i * size));
    }
    r.outs.v[0] = d;
    Ok(())
}
