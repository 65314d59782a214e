//! CMPMASK and select.

use super::Repeat;
use crate::instr::Instr;
use crate::machine::{Machine, Plan, active, gather_repeat, lane_addr, named, undefined_lanes};
use ptoemu_core::check::uninit::Sink;
use ptoemu_core::mask::Mask;

/// CMPMASK = 16 bytes of UB. Every mode uses the first two; where the others were never written,
/// what they select is undefined.
pub fn set_cmpmask(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let (src, _) = p.or_empty(1);
    m.require_defined(i, rec, "src0", (src, src + 2), Sink::Register);
    let Some(bytes) = m.ub.bytes.get(src, 16) else { return 0 };
    for (w, half) in m.regs.cmpmask.iter_mut().zip(bytes.chunks_exact(8)) {
        *w = half.iter().rev().fold(0, |acc, b| acc << 8 | u64::from(*b));
    }
    m.regs.cmpmask_defined =
        (0..16).map(|b| u16::from(m.ub.shadow.is_defined(src + b, src + b + 1)) << b).sum();
    0
}

/// Where the select bits of a repeat come from, and which of them are defined.
fn bits(m: &Machine, i: &Instr, p: &Plan, r: u64) -> (Mask, Mask) {
    let bytes = p.per_repeat / 8;
    let from = match named(i, "mode") {
        0 => {
            let known = (0..16).filter(|b| m.regs.cmpmask_defined >> b & 1 == 1);
            let mut defined = Mask::NONE;
            known.for_each(|b| (0..8).for_each(|k| defined.set(8 * b + k, true)));
            return (Mask::from_hi_lo(m.regs.cmpmask[1], m.regs.cmpmask[0]), defined);
        }
        1 => p.or_empty(2).0,
        _ => m.regs.cmpmask[0] & 0xFFFF_FFFF,
    };
    let at = from.saturating_add(r * bytes as u64);
    let mut raw = [0u8; 16];
    let n = bytes.min(16);
    if let Some(b) = m.ub.bytes.get(at, n) {
        raw[..n].copy_from_slice(b);
    }
    let all = u128::from_le_bytes(raw);
    let mut defined = Mask::NONE;
    for b in (0..n).filter(|b| m.ub.shadow.is_defined(at + *b as u64, at + *b as u64 + 1)) {
        (0..8).for_each(|k| defined.set(8 * b + k, true));
    }
    (Mask::from_hi_lo((all >> 64) as u64, all as u64), defined)
}

/// Bit 1 takes src0, bit 0 src1 (the scalar in CMPMASK in mode 1).
pub fn vsel(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let (dst, dw) = p.or_empty(0);
    let size = i.dtype.size();
    let (mut a, mut b) = (Repeat([0; 256]), Repeat([0; 256]));
    let scalar = named(i, "mode") == 1;
    for r in 0..u64::from(p.repeats) {
        let act = active(p, r);
        let (take, known) = bits(m, i, p, r);
        gather_repeat(&m.ub, p.or_empty(1), r, &act, &mut a.0);
        let bad_a = undefined_lanes(&m.ub.shadow, (p.or_empty(1).0, &p.or_empty(1).1), r, &act);
        let mut bad_b = Mask::NONE;
        if scalar {
            super::splat(&mut b.0, size, m.regs.cmpmask[0]);
            if m.regs.cmpmask_defined.trailing_ones() < size as u32 {
                bad_b = act.mask();
            }
        } else {
            gather_repeat(&m.ub, p.or_empty(2), r, &act, &mut b.0);
            bad_b = undefined_lanes(&m.ub.shadow, (p.or_empty(2).0, &p.or_empty(2).1), r, &act);
        }
        for lane in act.mask().iter() {
            let (from, bad) = if take.get(lane) { (&a.0, &bad_a) } else { (&b.0, &bad_b) };
            let at = lane_addr(&dw, dst, r, lane);
            if let Some(to) = m.ub.bytes.get_mut(at, size) {
                to.copy_from_slice(&from[lane * size..(lane + 1) * size]);
            }
            m.ub.shadow.set(at, at + size as u64, known.get(lane) && !bad.get(lane), rec);
        }
    }
    0
}
