//! Lane-by-lane execution: gather, body, scatter, shadow.
//!
//! Repeats run in order; within a repeat every source is read before anything is written. Where
//! that cannot be told apart, several dense repeats go through the body at once.

use super::Machine;
use super::plan::Plan;
use crate::families::Ctx;
use ptoemu_core::access::{Lanes, Walk};
use ptoemu_core::check::{alias, bounds};
use ptoemu_core::mask::Mask;
use ptoemu_core::state::{Bytes, Memory, Shadow};

/// Repeats that go through a body at once when they are dense.
const BATCH: usize = 8;

/// Buffers for the lanes of one step, aligned for every element type.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub struct Scratch {
    a: [u8; 256],
    b: [u8; 256],
    d: [u8; 256 * BATCH],
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch { a: [0; 256], b: [0; 256], d: [0; 256 * BATCH] }
    }
}

/// Active lanes of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Active {
    /// The first `n` lanes.
    Prefix(usize),
    /// Any other set.
    Bits(Mask),
}

impl Active {
    /// Number of lanes up to the last active one.
    pub fn span(&self, per_repeat: usize) -> usize {
        match self {
            Active::Prefix(n) => *n,
            Active::Bits(_) => per_repeat,
        }
    }

    /// As a mask (of at most 256 lanes).
    pub fn mask(&self) -> Mask {
        match self {
            Active::Prefix(n) => Mask::first(*n),
            Active::Bits(m) => *m,
        }
    }

    fn of(mask: Mask) -> Active {
        mask.prefix().map_or(Active::Bits(mask), Active::Prefix)
    }
}

/// Active lanes of repeat `r`.
#[inline]
pub fn active(p: &Plan, r: u64) -> Active {
    match p.lanes {
        Lanes::All => Active::Prefix(p.per_repeat),
        Lanes::Norm(m) => Active::of(m),
        Lanes::Count { total, per_repeat } => {
            let before = r.saturating_mul(u64::from(per_repeat));
            Active::Prefix(total.saturating_sub(before).min(u64::from(per_repeat)) as usize)
        }
    }
}

/// Address of one lane of repeat `r`.
pub fn lane_addr(w: &Walk, base: u64, r: u64, lane: usize) -> u64 {
    let n = w.lanes_per_block().max(1);
    let block = (i64::from(w.blk)).wrapping_mul((lane / n) as i64);
    let at = base.wrapping_add((w.rep as u64).wrapping_mul(r)).wrapping_add(block as u64);
    at.wrapping_add((lane % n * usize::from(w.elem)) as u64)
}

/// Calls `f(first lane, address, bytes)` for the contiguous runs of active lanes of repeat `r`.
#[inline]
pub fn visit(w: &Walk, base: u64, r: u64, act: &Active, mut f: impl FnMut(usize, u64, usize)) {
    let n = w.lanes_per_block();
    let mut left = match act {
        Active::Prefix(k) if n > 0 => *k,
        Active::Prefix(_) => return w.runs(base, r, &Mask::NONE, f),
        Active::Bits(m) => return w.runs(base, r, m, f),
    };
    let e = usize::from(w.elem);
    let mut at = base.wrapping_add((w.rep as u64).wrapping_mul(r));
    if w.blk == w.unit as i32 {
        if left > 0 {
            f(0, at, left * e);
        }
        return;
    }
    let mut lane = 0;
    while left > 0 {
        let k = left.min(n);
        f(lane, at, k * e);
        (lane, left) = (lane + k, left - k);
        at = at.wrapping_add(i64::from(w.blk) as u64);
    }
}

fn dense(p: &Plan, w: &Walk) -> bool {
    let bytes = p.per_repeat * usize::from(w.elem);
    w.elem > 0 && w.blk == w.unit as i32 && w.rep == bytes as i64
}

/// May several repeats be read before the first of them is written?
fn can_batch(p: &Plan) -> bool {
    let full = match p.lanes {
        Lanes::All | Lanes::Count { .. } => true,
        Lanes::Norm(m) => m.covers(p.per_repeat),
    };
    let Some(dst) = p.operand(0).filter(|(_, w)| full && dense(p, w)) else { return false };
    (1..p.base.len()).filter_map(|n| p.operand(n)).all(|(base, w)| {
        let src = (base, &w);
        dense(p, &w)
            && (alias::identical((dst.0, &dst.1), src)
                || alias::disjoint((dst.0, &dst.1), src, u64::from(p.repeats)))
    })
}

/// The lanes of a source: straight from UB where they are contiguous, else gathered.
#[inline]
fn source<'a>(
    ub: &'a Bytes,
    (base, w): (u64, &Walk),
    r: u64,
    act: &Active,
    span: usize,
    buf: &'a mut [u8; 256],
) -> &'a [u8] {
    let bytes = span * usize::from(w.elem);
    if matches!(act, Active::Prefix(_)) && w.blk == w.unit as i32 {
        return ub.get(lane_addr(w, base, r, 0), bytes).unwrap_or(&[]);
    }
    if w.blk == 0 && matches!(act, Active::Prefix(_)) {
        let n = bytes.min(w.unit as usize);
        let block = ub.get(lane_addr(w, base, r, 0), n).unwrap_or(&[]);
        buf.chunks_exact_mut(w.unit.max(1) as usize)
            .for_each(|c| c[..block.len()].copy_from_slice(block));
    } else {
        gather(ub, (base, w), r, act, buf);
    }
    &buf[..bytes.min(256)]
}

/// Are all active lanes of repeat `r` defined?
#[inline]
fn all_defined(shadow: &Shadow, (base, w): (u64, &Walk), r: u64, act: &Active) -> bool {
    if let (Active::Prefix(n), 0) = (act, w.blk) {
        let at = lane_addr(w, base, r, 0);
        let bytes = (n * usize::from(w.elem)).min(w.unit as usize);
        return shadow.is_defined(at, at + bytes as u64);
    }
    let mut whole = true;
    visit(w, base, r, act, |_, at, len| whole &= shadow.is_defined(at, at + len as u64));
    whole
}

/// Copies the active lanes of repeat `r` to their places in `buf`; the other lanes keep theirs.
pub fn gather_repeat(
    ub: &Memory,
    (base, w): (u64, Walk),
    r: u64,
    act: &Active,
    buf: &mut [u8; 256],
) {
    gather(&ub.bytes, (base, &w), r, act, buf);
}

/// Copies the active lanes of repeat `r` into `buf`, lane by lane in order.
#[inline]
fn gather(ub: &Bytes, (base, w): (u64, &Walk), r: u64, act: &Active, buf: &mut [u8]) {
    let e = usize::from(w.elem);
    visit(w, base, r, act, |lane, at, len| {
        let to = buf.get_mut(lane * e..lane * e + len);
        if let (Some(from), Some(to)) = (ub.get(at, len), to) {
            to.copy_from_slice(from);
        }
    });
}

#[inline]
fn scatter(ub: &mut Bytes, (base, w): (u64, &Walk), r: u64, act: &Active, buf: &[u8]) {
    let e = usize::from(w.elem);
    visit(w, base, r, act, |lane, at, len| {
        let from = buf.get(lane * e..lane * e + len);
        if let (Some(to), Some(from)) = (ub.get_mut(at, len), from) {
            to.copy_from_slice(from);
        }
    });
}

/// Runs a lane-by-lane instruction; `acc` if the body also reads the destination.
#[inline]
pub fn run(
    m: &mut Machine,
    p: &Plan,
    rec: u32,
    acc: bool,
    ctx: &Ctx,
    body: impl Fn(&Ctx, &mut [u8], &[u8], &[u8]),
) -> u64 {
    let (dst, a, b) = (p.or_empty(0), p.or_empty(1), p.or_empty(2));
    let batch = if can_batch(p) { BATCH as u64 } else { 1 };
    let fixed = matches!(p.lanes, Lanes::Norm(_)).then(|| active(p, 0));
    let read_all = [a, b, if acc { dst } else { a }];
    let known = read_all.iter().all(|o| whole_defined(&m.ub.shadow, o, p.repeats));
    let Machine { ub, scratch, .. } = m;
    let Scratch { a: buf_a, b: buf_b, d: buf_d } = &mut **scratch;
    let repeats = u64::from(p.repeats);
    let mut r = 0;
    while r < repeats {
        let k = batch.min(repeats - r);
        let act = match fixed {
            Some(Active::Prefix(n)) => Active::Prefix(n * k as usize),
            Some(bits) => bits,
            None if k == 1 => active(p, r),
            None => Active::Prefix((r..r + k).map(|r| active(p, r).span(p.per_repeat)).sum()),
        };
        let span = act.span(p.per_repeat);
        if span == 0 {
            // No lane: the operands may lie anywhere, also outside of UB.
            r += k;
            continue;
        }
        let d = &mut buf_d[..(span * usize::from(dst.1.elem)).min(256 * BATCH)];
        if acc {
            gather(&ub.bytes, (dst.0, &dst.1), r, &act, d);
        }
        let sa = source(&ub.bytes, (a.0, &a.1), r, &act, span, buf_a);
        let sb = source(&ub.bytes, (b.0, &b.1), r, &act, span, buf_b);
        body(ctx, d, sa, sb);
        scatter(&mut ub.bytes, (dst.0, &dst.1), r, &act, d);
        let sources = [a, b, dst];
        let read = if acc { &sources[..] } else { &sources[..2] };
        if known {
            visit(&dst.1, dst.0, r, &act, |_, at, len| {
                ub.shadow.set(at, at + len as u64, true, rec);
            });
        } else {
            define(ub, (dst.0, &dst.1), read, r, &act, rec);
        }
        r += k;
    }
    0
}

/// Is every byte between the ends of an operand defined? What an instruction writes from such
/// sources is defined too, so that the answer holds for all its repeats.
pub fn whole_defined(shadow: &Shadow, (base, w): &(u64, Walk), repeats: u32) -> bool {
    let (lo, hi) = bounds::extent(*base, w, u64::from(repeats));
    match (u64::try_from(lo), u64::try_from(hi)) {
        (Ok(lo), Ok(hi)) => shadow.is_defined(lo, hi),
        _ => false,
    }
}

/// Destination lanes are defined where all source lanes are.
fn define(
    ub: &mut Memory,
    dst: (u64, &Walk),
    read: &[(u64, Walk)],
    r: u64,
    act: &Active,
    rec: u32,
) {
    if read.iter().all(|(base, w)| all_defined(&ub.shadow, (*base, w), r, act)) {
        visit(dst.1, dst.0, r, act, |_, at, len| ub.shadow.set(at, at + len as u64, true, rec));
        return;
    }
    // All lanes are looked at before any changes: the operands may overlap.
    let keep = act.mask();
    let chosen = |l: &usize| matches!(act, Active::Prefix(_)) || keep.get(*l);
    let lanes: Vec<usize> = (0..act.span(256)).filter(chosen).collect();
    let known = |lane: &usize| {
        read.iter().filter(|(_, w)| w.elem > 0).all(|(base, w)| {
            let at = lane_addr(w, *base, r, *lane);
            ub.shadow.is_defined(at, at + u64::from(w.elem))
        })
    };
    let defined: Vec<bool> = lanes.iter().map(known).collect();
    for (lane, ok) in lanes.into_iter().zip(defined) {
        let at = lane_addr(dst.1, dst.0, r, lane);
        ub.shadow.set(at, at + u64::from(dst.1.elem), ok, rec);
    }
}

/// Active lanes of repeat `r` that hold an undefined byte.
pub fn undefined_lanes(shadow: &Shadow, (base, w): (u64, &Walk), r: u64, act: &Active) -> Mask {
    let mut out = Mask::NONE;
    if all_defined(shadow, (base, w), r, act) {
        return out;
    }
    for lane in act.mask().iter() {
        let at = lane_addr(w, base, r, lane);
        out.set(lane, !shadow.is_defined(at, at + u64::from(w.elem)));
    }
    out
}
