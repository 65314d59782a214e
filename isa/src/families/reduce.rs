//! Reductions of a repeat, of its blocks, of its pairs.

use super::{Ctx, Repeat, arith, extreme, view, view_mut};
use crate::instr::Instr;
use crate::machine::{
    Machine, Plan, active, gather_repeat, lane_addr, name, named, order, undefined_lanes,
    whole_defined,
};
use crate::table::Order;
use ptoemu_core::check::uninit::Sink;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;
use ptoemu_core::mask::Mask;
use ptoemu_core::num::{Extreme, extreme8_f32, sum8_f32};
use ptoemu_core::state::Memory;

/// One repeat ready to be reduced.
struct Lanes<'a> {
    c: &'a Ctx,
    mask: Mask,
    values: &'a mut Repeat,
    /// Active lanes that hold undefined bytes.
    bad: Mask,
}

/// Result elements one repeat writes, from the start of `values`, and those of them undefined.
struct Results {
    written: Mask,
    bad: Mask,
}

impl Results {
    /// The first `n` elements, all or none of them defined.
    fn first(n: usize, defined: bool) -> Results {
        let written = Mask::first(n);
        Results { written, bad: if defined { Mask::NONE } else { written } }
    }

    const NOTHING: Results = Results { written: Mask::NONE, bad: Mask::NONE };
}

/// Runs a reduction body over every repeat; the body leaves its results in the values.
fn each(
    m: &mut Machine,
    i: &Instr,
    p: &Plan,
    rec: u32,
    mut body: impl FnMut(&mut Machine, u64, &mut Lanes) -> Results,
) -> u64 {
    let c = Ctx::new(i, &m.regs, &m.settings);
    let (dst, src) = (p.or_empty(0), p.or_empty(1));
    let known = whole_defined(&m.ub.shadow, &src, p.repeats);
    let mut values = Repeat([0; 256]);
    for r in 0..u64::from(p.repeats) {
        let act = active(p, r);
        gather_repeat(&m.ub, src, r, &act, &mut values.0);
        let bad = if known {
            Mask::NONE
        } else {
            undefined_lanes(&m.ub.shadow, (src.0, &src.1), r, &act)
        };
        if let Some(lane) = bad.lowest() {
            let at = lane_addr(&src.1, src.0, r, lane);
            let end = at + i.dtype.size() as u64;
            m.require_defined(i, rec, "src0", (at, end), Sink::Reduction);
        }
        let out = body(m, r, &mut Lanes { c: &c, mask: act.mask(), values: &mut values, bad });
        if let Some(at) = dst.1.addr(dst.0, r, 0) {
            write(&mut m.ub, at, i.dtype.size(), &values.0, &out, rec);
        }
    }
    0
}

fn write(ub: &mut Memory, at: u64, e: usize, values: &[u8; 256], out: &Results, rec: u32) {
    if let (Some(n), true) = (out.written.prefix(), out.bad.is_empty()) {
        if let (Some(to), Some(from)) = (ub.bytes.get_mut(at, n * e), values.get(..n * e)) {
            to.copy_from_slice(from);
        }
        return ub.shadow.set(at, at + (n * e) as u64, true, rec);
    }
    for k in out.written.iter() {
        let start = at + (k * e) as u64;
        if let (Some(to), Some(from)) = (ub.bytes.get_mut(start, e), values.get(k * e..(k + 1) * e))
        {
            to.copy_from_slice(from);
        }
        ub.shadow.set(start, start + e as u64, !out.bad.get(k), rec);
    }
}

/// Folds the lanes of the whole repeat to one by halves; the order does not matter.
fn fold_extreme(c: &Ctx, which: Extreme, lanes: &[u8; 256]) -> u32 {
    let (mut t, mut d) = (Repeat([0; 256]), Repeat([0; 256]));
    extreme::pick(c, which, &mut t.0[..128], &lanes[..128], &lanes[128..]);
    let mut n = 64;
    while n >= c.dtype.size() {
        extreme::pick(c, which, &mut d.0[..n], &t.0[..n], &t.0[n..2 * n]);
        t.0[..n].copy_from_slice(&d.0[..n]);
        n /= 2;
    }
    bits_of(c.dtype, &t.0[..4])
}

/// Fills the inactive lanes of `lanes` (starting at lane `first`) with its lowest active value.
fn neutralise(l: &mut Lanes, first: usize, n: usize) -> Option<()> {
    if l.mask.covers(first + n) {
        return Some(());
    }
    let e = l.c.dtype.size();
    let lane = (first..first + n).find(|i| l.mask.get(*i))?;
    let mut v = [0u8; 8];
    v[..e].copy_from_slice(&l.values.0[lane * e..(lane + 1) * e]);
    for i in (first..first + n).filter(|i| !l.mask.get(*i)) {
        l.values.0[i * e..(i + 1) * e].copy_from_slice(&v[..e]);
    }
    Some(())
}

fn bits_of(t: DType, b: &[u8]) -> u32 {
    if t == DType::F32 { view::<u32>(b)[0] } else { u32::from(view::<u16>(b)[0]) }
}

fn is_nan(t: DType, v: u32) -> bool {
    if t == DType::F32 { v & 0x7FFF_FFFF > 0x7F80_0000 } else { v & 0x7FFF > 0x7C00 }
}

/// Lowest active lane that holds the result `v` (any NaN stands for a NaN result).
fn first_lane(l: &Lanes, v: u32) -> usize {
    let t = l.c.dtype;
    let e = t.size();
    let zero = |x: u32| x << (32 - 8 * e) << 1 == 0;
    let hit = |x: u32| x == v || is_nan(t, x) && is_nan(t, v);
    let at = |i: &usize| bits_of(t, &l.values.0[i * e..(i + 1) * e]);
    let found = l.mask.iter().find(|i| hit(at(i)));
    // A zero of either sign may come out of equal zeros.
    found.or_else(|| l.mask.iter().find(|i| zero(at(i)) && zero(v))).unwrap_or(0)
}

fn whole(m: &mut Machine, i: &Instr, p: &Plan, rec: u32, which: Extreme) -> u64 {
    let how = order(i);
    let mut best: Option<(u32, u32)> = None;
    let (e, n) = (i.dtype.size(), p.per_repeat);
    each(m, i, p, rec, |m, r, l| {
        if neutralise(l, 0, n).is_none() {
            nothing_active(m, i, rec, r);
            return Results::NOTHING;
        }
        let value = fold_extreme(l.c, which, &l.values.0);
        if best.is_none_or(|(b, _)| b != value && beats(l.c, which, value, b)) {
            best = Some((value, (r as usize * n + first_lane(l, value)) as u32));
        }
        let (v, k) = (
            value.to_le_bytes(),
            match how {
                Order::OnlyValue => [0; 4],
                _ => (first_lane(l, value) as u32).to_le_bytes(),
            },
        );
        let (first, second) = match how {
            Order::OnlyValue | Order::ValueIndex => (v, k),
            Order::IndexValue | Order::OnlyIndex => (k, v),
        };
        let written = how.bytes(e) / e;
        if how == Order::OnlyIndex {
            l.values.0[..4].copy_from_slice(&k);
        } else {
            l.values.0[..e].copy_from_slice(&first[..e]);
            l.values.0[e..2 * e].copy_from_slice(&second[..e]);
        }
        Results::first(written, l.bad.is_empty())
    });
    if let Some(b) = best {
        m.regs.max_min = b;
    }
    0
}

/// Does `a` win against `b`?
fn beats(c: &Ctx, which: Extreme, a: u32, b: u32) -> bool {
    let (mut x, mut y, mut d) = (Repeat([0; 256]), Repeat([0; 256]), Repeat([0; 256]));
    let e = c.dtype.size();
    x.0[..4].copy_from_slice(&a.to_le_bytes());
    y.0[..4].copy_from_slice(&b.to_le_bytes());
    extreme::pick(c, which, &mut d.0[..e], &x.0[..e], &y.0[..e]);
    bits_of(c.dtype, &d.0[..4]) == a && a != b
}

fn nothing_active(m: &mut Machine, i: &Instr, rec: u32, r: u64) {
    if !m.findings.seen("memcheck.reduce_empty", m.log.site, i.op.id()) {
        let what =
            format!("{}: no lane of repeat {r} is active, so there is nothing to compare", name(i));
        let d = Diagnostic::error("memcheck.reduce_empty", what)
            .note("the result is not written here; the hardware's result is unspecified")
            .help("set a mask with at least one lane");
        m.report(i, rec, d, (0, 0), None);
    }
}

/// Largest active element of each repeat.
pub fn whole_max(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    whole(m, i, p, rec, Extreme::Max)
}

/// Smallest active element of each repeat.
pub fn whole_min(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    whole(m, i, p, rec, Extreme::Min)
}

/// Inactive lanes enter a sum as +0 `[I]`.
fn zero_inactive(l: &mut Lanes, n: usize) {
    if l.mask.covers(n) {
        return;
    }
    let e = l.c.dtype.size();
    for i in (0..n).filter(|i| !l.mask.get(*i)) {
        l.values.0[i * e..(i + 1) * e].fill(0);
    }
}

/// One level of the adjacent tree: lane i of the first half = f(lanes 2i, 2i+1).
fn level(
    c: &Ctx,
    bytes: &mut [u8],
    t: &mut [Repeat; 2],
    f: impl Fn(&Ctx, &mut [u8], &[u8], &[u8]),
) {
    let half = bytes.len() / 2;
    let [even, odd] = t;
    if c.dtype == DType::F32 {
        deal::<u32>(bytes, &mut even.0[..half], &mut odd.0[..half]);
    } else {
        deal::<u16>(bytes, &mut even.0[..half], &mut odd.0[..half]);
    }
    f(c, &mut bytes[..half], &even.0[..half], &odd.0[..half]);
}

fn deal<T: bytemuck::Pod>(from: &[u8], even: &mut [u8], odd: &mut [u8]) {
    let to = view_mut::<T>(even).iter_mut().zip(view_mut::<T>(odd));
    for (pair, (e, o)) in view::<T>(from).chunks_exact(2).zip(to) {
        (*e, *o) = (pair[0], pair[1]);
    }
}

/// Levels of the tree until `left` bytes of results remain.
fn tree(l: &mut Lanes, left: usize, f: impl Fn(&Ctx, &mut [u8], &[u8], &[u8]) + Copy) {
    let mut bytes = 256;
    let mut t = [Repeat([0; 256]); 2];
    while bytes > left {
        level(l.c, &mut l.values.0[..bytes], &mut t, f);
        bytes /= 2;
    }
}

/// Sum of each repeat; with the flag ACC_VAL also gathers the repeats in order `[I]`.
pub fn whole_sum(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let (e, n) = (i.dtype.size(), p.per_repeat);
    let accumulate = named(i, "mode") != 0;
    let mut acc = Repeat([0; 256]);
    each(m, i, p, rec, |_, _, l| {
        zero_inactive(l, n);
        tree(l, e, arith::add);
        if accumulate {
            let sum = acc;
            arith::add(l.c, &mut acc.0[..e], &sum.0[..e], &l.values.0[..e]);
        }
        Results::first(1, l.bad.is_empty())
    });
    if accumulate {
        m.regs.acc = bits_of(i.dtype, &acc.0[..4]);
    }
    0
}

/// Groups of `n` lanes, eight of them, that hold a lane of `mask`.
fn groups(mask: &Mask, count: usize, n: usize) -> Mask {
    if mask.covers(count * n) {
        return Mask::first(count);
    }
    let mut out = Mask::NONE;
    if !mask.is_empty() {
        (0..count).for_each(|b| out.set(b, mask.bits(b * n, n) != 0));
    }
    out
}

fn group_extreme(m: &mut Machine, i: &Instr, p: &Plan, rec: u32, which: Extreme) -> u64 {
    let e = i.dtype.size();
    let n = 32 / e;
    each(m, i, p, rec, |m, r, l| {
        if l.mask.is_empty() {
            nothing_active(m, i, rec, r);
            return Results::NOTHING;
        }
        if !l.mask.covers(8 * n) {
            for b in 0..8 {
                neutralise(l, b * n, n);
            }
        }
        if l.c.dtype == DType::F32 {
            let mut best = [0f32; 8];
            extreme8_f32(which, l.c.mode.nan_rule, view(&l.values.0), &mut best);
            view_mut(&mut l.values.0)[..8].copy_from_slice(&best);
        } else {
            tree(l, 8 * e, |c, d, a, b| extreme::pick(c, which, d, a, b));
        }
        Results { written: groups(&l.mask, 8, n), bad: groups(&l.bad, 8, n) }
    })
}

/// Largest element of each block; a block without active lane leaves its result alone `[U]`.
pub fn group_max(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    group_extreme(m, i, p, rec, Extreme::Max)
}

/// Smallest element of each block; a block without active lane leaves its result alone `[U]`.
pub fn group_min(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    group_extreme(m, i, p, rec, Extreme::Min)
}

/// Sum of each block; 0 for a block without active lane `[D: ASC]`.
pub fn group_add(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let e = i.dtype.size();
    let n = 32 / e;
    each(m, i, p, rec, |_, _, l| {
        zero_inactive(l, 8 * n);
        if l.c.dtype == DType::F32 {
            let mut sums = [0f32; 8];
            sum8_f32(view(&l.values.0), &mut sums);
            view_mut(&mut l.values.0)[..8].copy_from_slice(&sums);
        } else {
            tree(l, 8 * e, arith::add);
        }
        Results { written: Mask::first(8), bad: groups(&l.bad, 8, n) }
    })
}

/// Sums of adjacent pairs; a pair without active lane is not written `[U]`.
pub fn pair_sum(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let n = p.per_repeat;
    each(m, i, p, rec, |_, _, l| {
        zero_inactive(l, n);
        tree(l, 128, arith::add);
        Results { written: groups(&l.mask, n / 2, 2), bad: groups(&l.bad, n / 2, 2) }
    })
}
