//! Transfers between GM and UB.

use crate::instr::Instr;
use crate::machine::{Machine, Plan, padded};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::{
    Arith, Extreme, NumMode, arith_bf16, arith_f16, arith_f32, extreme_bf16, extreme_f16,
    extreme_f32,
};

/// Bursts of whole blocks from GM.
pub fn load(m: &mut Machine, _: &Instr, p: &Plan, rec: u32) -> u64 {
    bursts_in(m, p, rec, |m, from, to| {
        let n = p.or_empty(1).1.unit as usize;
        copy_in(m, from, to, n, rec);
    })
}

/// Bursts of bytes from GM, padded to blocks.
///
/// The bytes from the end of the right pad to the block boundary keep their value and count as
/// undefined `[U]`.
pub fn load_align(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let (left, len, right) = padded(i);
    bursts_in(m, p, rec, |m, from, to| {
        pad(m, i, to, left, rec);
        copy_in(m, from, to + left, len as usize, rec);
        pad(m, i, to + left + len, right, rec);
        let used = left + len + right;
        m.ub.shadow.set(to + used, to + used.next_multiple_of(32), false, rec);
    })
}

fn bursts_in(m: &mut Machine, p: &Plan, _: u32, mut f: impl FnMut(&mut Machine, u64, u64)) -> u64 {
    let ((dst, dw), (src, sw)) = (p.or_empty(0), p.or_empty(1));
    for r in 0..u64::from(p.repeats) {
        if let (Some(from), Some(to)) = (sw.addr(src, r, 0), dw.addr(dst, r, 0)) {
            f(m, from, to);
        }
    }
    0
}

fn copy_in(m: &mut Machine, from: u64, to: u64, n: usize, rec: u32) {
    let Some((b, at)) = m.gm.range(from, from.saturating_add(n as u64)) else { return };
    let mem = &m.gm.buffers()[b].mem;
    let (Some(data), Some(out)) = (mem.bytes.get(at, n), m.ub.bytes.get_mut(to, n)) else { return };
    out.copy_from_slice(data);
    m.ub.shadow.copy_from(&mem.shadow, at, to, n as u64, rec);
}

fn pad(m: &mut Machine, i: &Instr, to: u64, n: u64, rec: u32) {
    let size = i.dtype.size();
    if let Some(out) = m.ub.bytes.get_mut(to, n as usize) {
        let value = m.regs.mov_pad.to_le_bytes();
        out.chunks_exact_mut(size).for_each(|e| e.copy_from_slice(&value[..size]));
    }
    m.ub.shadow.set(to, to + n, true, rec);
}

/// Bursts of whole blocks to GM.
pub fn store(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    store_align(m, i, p, rec)
}

/// Bursts of bytes to GM, accumulating as CTRL says.
pub fn store_align(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let ((dst, dw), (src, sw)) = (p.or_empty(0), p.or_empty(1));
    let n = u64::from(dw.unit);
    for r in 0..u64::from(p.repeats) {
        let (Some(from), Some(to)) = (sw.addr(src, r, 0), dw.addr(dst, r, 0)) else { continue };
        m.stores_defined(i, rec, (from, from.saturating_add(n)));
        copy_out(m, from, to, n as usize, rec);
    }
    0
}

fn copy_out(m: &mut Machine, from: u64, to: u64, n: usize, rec: u32) {
    let Some((b, at)) = m.gm.range(to, to.saturating_add(n as u64)) else { return };
    let mode = m.settings.num.with_ctrl(m.regs.ctrl);
    let (kind, op) = m.regs.atomic();
    let Some(buffer) = m.gm.buffer_mut(b) else { return };
    let (Some(data), Some(out)) = (m.ub.bytes.get(from, n), buffer.mem.bytes.get_mut(at, n)) else {
        return;
    };
    match atomic_type(kind) {
        Some(t) => accumulate(t, op, out, data, &mode),
        None => out.copy_from_slice(data),
    }
    buffer.mem.shadow.copy_from(&m.ub.shadow, from, at, n as u64, rec);
}

/// Element type of CTRL\[8:6\]; `None` for plain stores and the unused code.
fn atomic_type(code: u8) -> Option<DType> {
    use DType::{BF16, F16, F32, I8, I16, I32};
    [None, Some(F32), Some(F16), Some(I16), Some(I32), Some(I8), Some(BF16), None]
        .get(usize::from(code))
        .copied()
        .flatten()
}

/// `out = out op data` element by element; op 0 add, 1 max, 2 min; integers wrap.
fn accumulate(t: DType, op: u8, out: &mut [u8], data: &[u8], mode: &NumMode) {
    let size = t.size();
    for (o, d) in out.chunks_exact_mut(size).zip(data.chunks_exact(size)) {
        let word = |b: &[u8]| b.iter().rev().fold(0u32, |acc, x| acc << 8 | u32::from(*x));
        let v = combine(t, op, word(o), word(d), mode);
        o.copy_from_slice(&v.to_le_bytes()[..size]);
    }
}

fn combine(t: DType, op: u8, a: u32, b: u32, mode: &NumMode) -> u32 {
    let which = if op == 1 { Extreme::Max } else { Extreme::Min };
    let (fa, fb, ha, hb) = ([f32::from_bits(a)], [f32::from_bits(b)], [a as u16], [b as u16]);
    let (mut f, mut h) = ([0f32], [0u16]);
    match (t, op) {
        (DType::F32, 0) => arith_f32(Arith::Add, &fa, &fb, &mut f),
        (DType::F32, _) => extreme_f32(which, mode.nan_rule, &fa, &fb, &mut f),
        (DType::F16, 0) => arith_f16(Arith::Add, &ha, &hb, &mut h, mode.overflow),
        (DType::F16, _) => extreme_f16(which, mode.nan_rule, &ha, &hb, &mut h),
        (DType::BF16, 0) => arith_bf16(Arith::Add, &ha, &hb, &mut h, mode.overflow),
        (DType::BF16, _) => extreme_bf16(which, mode.nan_rule, &ha, &hb, &mut h),
        _ => return integer(t, op, a, b),
    }
    if t == DType::F32 { f[0].to_bits() } else { u32::from(h[0]) }
}

fn integer(t: DType, op: u8, a: u32, b: u32) -> u32 {
    let shift = 32 - 8 * t.size() as u32;
    let signed = |x: u32| ((x << shift) as i32) >> shift;
    let (a, b) = (signed(a), signed(b));
    (match op {
        0 => a.wrapping_add(b),
        1 => a.max(b),
        _ => a.min(b),
    }) as u32
}
