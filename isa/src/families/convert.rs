//! Conversion of element types.

use super::arith::relu_in_place;
use super::{Ctx, Repeat, arith, view, view_mut};
use crate::instr::Instr;
use crate::machine::{Machine, Plan, active, gather_repeat, lane_addr, undefined_lanes};
use ptoemu_core::access::Walk;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::float::f16_from_f64;
use ptoemu_core::num::{Conversion, Narrow, Overflow, Round, f16, s4_from_f16, s4_to_f16};

/// Converts dense lanes as the mnemonic says.
pub fn lanes(c: &Ctx, d: &mut [u8], a: &[u8]) {
    Conversion::new(c.src, c.dtype, c.round, &c.mode).lanes(a, d);
}

/// d = convert(max(a + b, 0))
pub fn add_relu(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    relu_convert(c, d, a, b, false);
}

/// d = convert(max(a - b, 0))
pub fn sub_relu(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8]) {
    relu_convert(c, d, a, b, true);
}

/// Saturating, nearest even, whatever CTRL says `[D: ASC]`; 16-bit sums do not wrap before the
/// clamp `[I]`.
fn relu_convert(c: &Ctx, d: &mut [u8], a: &[u8], b: &[u8], subtract: bool) {
    if c.src == DType::I16 {
        for ((d, &a), &b) in d.iter_mut().zip(view::<i16>(a)).zip(view::<i16>(b)) {
            let (a, b) = (i32::from(a), i32::from(b));
            *d = (if subtract { a - b } else { a + b }).clamp(0, 127) as u8;
        }
        return;
    }
    let wide = Ctx { dtype: c.src, ..*c };
    let conv = Conversion {
        from: c.src,
        to: c.dtype,
        round: Round::NearestEven,
        narrow: Narrow::Clamp,
        overflow: Overflow::Saturate,
    };
    let step = 256 / c.src.size() * c.dtype.size();
    let mut t = Repeat([0; 256]);
    for ((d, a), b) in d.chunks_mut(step).zip(a.chunks(256)).zip(b.chunks(256)) {
        let t = &mut t.0[..a.len()];
        let op = if subtract { arith::sub } else { arith::add };
        op(&wide, t, a, b);
        relu_in_place(c.src, t);
        conv.lanes(t, d);
    }
}

/// d = f16(a * DEQSCALE), rounded once.
pub fn deq(c: &Ctx, d: &mut [u8], a: &[u8]) {
    let scale = f64::from(f16::to_f32(c.deqscale));
    for (d, &a) in view_mut::<u16>(d).iter_mut().zip(view::<i32>(a)) {
        let h = f16_from_f64(f64::from(a) * scale);
        *d = if c.mode.overflow == Overflow::Saturate { f16::saturate(h) } else { h };
    }
}

/// f16 to packed s4 or back: lane i is nibble i, low nibble first `[I]`.
pub fn nibbles(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let c = Ctx::new(i, &m.regs, &m.settings);
    for r in 0..u64::from(p.repeats) {
        if i.src_dtype == DType::F16 {
            pack_repeat(m, p, &c, r, rec);
        } else {
            unpack_repeat(m, p, r, rec);
        }
    }
    0
}

/// Byte that holds the nibble of a lane.
fn nibble_addr((base, w): (u64, Walk), r: u64, lane: usize) -> u64 {
    let block = (i64::from(w.blk) as u64).wrapping_mul((lane / 64) as u64);
    let at = base.wrapping_add((w.rep as u64).wrapping_mul(r)).wrapping_add(block);
    at.wrapping_add((lane % 64 / 2) as u64)
}

fn pack_repeat(m: &mut Machine, p: &Plan, c: &Ctx, r: u64, rec: u32) {
    let (dst, src) = (p.or_empty(0), p.or_empty(1));
    let act = active(p, r);
    let (mut wide, mut packed) = (Repeat([0; 256]), [0u8; 64]);
    gather_repeat(&m.ub, src, r, &act, &mut wide.0);
    let bad = undefined_lanes(&m.ub.shadow, (src.0, &src.1), r, &act);
    s4_from_f16(view(&wide.0), &mut packed, c.round, c.mode.narrow);
    for lane in act.mask().iter().filter(|l| *l < 128) {
        let at = nibble_addr(dst, r, lane);
        // The other nibble of the byte keeps its value.
        let keep = 0xF0u8 >> (4 * (lane % 2));
        if let Some(to) = m.ub.bytes.get_mut(at, 1) {
            to[0] = to[0] & keep | packed[lane / 2] & !keep;
        }
        let ok = !bad.get(lane) && (lane % 2 == 0 || m.ub.shadow.is_defined(at, at + 1));
        m.ub.shadow.set(at, at + 1, ok, rec);
    }
}

fn unpack_repeat(m: &mut Machine, p: &Plan, r: u64, rec: u32) {
    let (dst, src) = (p.or_empty(0), p.or_empty(1));
    let (mut wide, mut packed) = (Repeat([0; 256]), [0u8; 64]);
    let mut defined = [false; 128];
    let lanes: Vec<usize> = active(p, r).mask().iter().filter(|l| *l < 128).collect();
    for &lane in &lanes {
        let at = nibble_addr(src, r, lane);
        defined[lane] = m.ub.shadow.is_defined(at, at + 1);
        packed[lane / 2] = m.ub.bytes.get(at, 1).map_or(0, |b| b[0]);
    }
    s4_to_f16(&packed, view_mut(&mut wide.0));
    for lane in lanes {
        let at = lane_addr(&dst.1, dst.0, r, lane);
        if let Some(to) = m.ub.bytes.get_mut(at, 2) {
            to.copy_from_slice(&wide.0[2 * lane..2 * lane + 2]);
        }
        m.ub.shadow.set(at, at + 2, defined[lane], rec);
    }
}
