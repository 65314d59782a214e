//! Aligned stores.

use super::super::core::{Done, Run};
use super::super::mode::Dist;
use super::super::reg::{VReg, byte_mask};
use super::load::{active_blocks, block_addresses, wrong_dist};
use super::shuffle::{narrow, zip_half};
use ptoemu_core::mask::Mask;

/// Low `to` bytes of every lane of `size` bytes, packed; lane i goes to slot i `[U: no compaction]`.
fn packed(v: &VReg, mask: &Mask, size: usize, to: usize) -> (VReg, Mask) {
    let (mut image, mut dead, mut bytes) = (VReg::ZERO, VReg::ZERO, Mask::NONE);
    narrow(&mut image, v, size, to, 0);
    if !v.undef.is_empty() {
        narrow(&mut dead, &v.shadow(), size, to, 0);
        image.set_shadow(&dead);
    }
    for i in (0..256 / size).filter(|i| mask.get(i * size)) {
        (0..to).for_each(|k| bytes.set(i * to + k, true));
    }
    (image, bytes)
}

/// One register.
pub fn one(r: &mut Run<'_, '_>) -> Done {
    let (v, mask) = (*r.args.v[0], r.mask());
    let (align, image, bytes) = match r.step.mods.dist {
        Dist::Plain | Dist::Norm => (32, v, byte_mask(&mask, r.step.st.size())),
        Dist::OneptB8 => (1, v, Mask::first(1)),
        Dist::OneptB16 => (2, v, Mask::first(2)),
        Dist::OneptB32 => (4, v, Mask::first(4)),
        Dist::PkB16 => with_align(packed(&v, &mask, 2, 1)),
        Dist::PkB32 => with_align(packed(&v, &mask, 4, 2)),
        Dist::PkB64 => with_align(packed(&v, &mask, 8, 4)),
        Dist::Pk4B32 => with_align(packed(&v, &mask, 4, 1)),
        _ => return Err(wrong_dist(r, "NORM_Bn, ONEPT_Bn, PK_Bn, PK4_B32; two registers: vstsx2")),
    };
    let addr = r.args.p[0];
    r.aligned(addr, align)?;
    r.store(addr, &image, &bytes)?;
    r.outs.p = r.args.p[0].wrapping_add_signed(r.args.step);
    Ok(())
}

fn with_align((image, bytes): (VReg, Mask)) -> (u64, VReg, Mask) {
    (32, image, bytes)
}

/// Two registers, interleaved; the mask is ignored.
pub fn two(r: &mut Run<'_, '_>) -> Done {
    let size = match r.step.mods.dist {
        Dist::IntlvB8 => 1,
        Dist::IntlvB16 => 2,
        Dist::IntlvB32 => 4,
        _ => return Err(wrong_dist(r, "INTLV_B8, INTLV_B16, INTLV_B32")),
    };
    let (addr, [a, b, _]) = (r.args.p[0], r.args.v);
    r.aligned(addr, 32)?;
    for half in 0..2 {
        let (mut image, mut dead) = (VReg::ZERO, VReg::ZERO);
        zip_half(&mut image, a, b, size, half);
        if !(a.undef.is_empty() && b.undef.is_empty()) {
            zip_half(&mut dead, &a.shadow(), &b.shadow(), size, half);
            image.set_shadow(&dead);
        }
        r.store(addr.saturating_add(256 * half as u64), &image, &Mask::first(256))?;
    }
    r.outs.p = r.args.p[0].wrapping_add_signed(r.args.step);
    Ok(())
}

/// Eight blocks a stride apart; masked blocks stay untouched.
pub fn blocks(r: &mut Run<'_, '_>) -> Done {
    let (addrs, after) = block_addresses(r);
    let v = *r.args.v[0];
    for k in active_blocks(r) {
        let addr = addrs[k];
        r.aligned(addr, 32)?;
        let mut image = VReg::from_bytes(&v.bytes()[32 * k..32 * k + 32]);
        (0..32).for_each(|i| image.undef.set(i, v.undef.get(32 * k + i)));
        r.store(addr, &image, &Mask::first(32))?;
    }
    r.outs.p = after;
    Ok(())
}
