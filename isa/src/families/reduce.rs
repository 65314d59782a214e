//! Reductions of a repeat, of its blocks, of its pairs.

use super::{Ctx, Repeat, arith, extreme, view, view_mut};
use crate::instr::Instr;
use crate::machine::{Machine, Plan, active, gather_repeat, name, order, undefined_lanes};
use crate::table::Order;
use ptoemu_core::check::uninit::Sink;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;
use ptoemu_core::mask::Mask;
use ptoemu_core::num::Extreme;

/// One repeat ready to be reduced.
struct Lanes<'a> {
    c: &'a Ctx,
    mask: Mask,
    values: &'a mut Repeat,
    /// Active lanes that hold undefined bytes.
    bad: Mask,
}

/// What one repeat leaves: pieces at byte offsets, each with its defined flag.
struct Results {
    bytes: [u8; 32 * 8],
    /// (offset, length, defined) of what is written.
    pieces: [(u16, u16, bool); 64],
    n: usize,
}

impl Results {
    fn put(&mut self, at: usize, value: &[u8], defined: bool) {
        let slot = self.bytes.get_mut(at..at + value.len());
        if let (Some(slot), Some(piece)) = (slot, self.pieces.get_mut(self.n)) {
            slot.copy_from_slice(value);
            *piece = (at as u16, value.len() as u16, defined);
            self.n += 1;
        }
    }
}

impl Default for Repeat {
    fn default() -> Self {
        Repeat([0; 256])
    }
}

/// Runs a reduction body over every repeat.
fn each(
    m: &mut Machine,
    i: &Instr,
    p: &Plan,
    rec: u32,
    mut body: impl FnMut(&mut Machine, u64, Lanes, &mut Results),
) -> u64 {
    let c = Ctx::new(i, &m.regs, &m.settings);
    let (dst, src) = (p.or_empty(0), p.or_empty(1));
    let mut values = Repeat::default();
    for r in 0..u64::from(p.repeats) {
        let act = active(p, r);
        gather_repeat(&m.ub, src, r, &act, &mut values.0);
        let bad = undefined_lanes(&m.ub.shadow, (src.0, &src.1), r, &act);
        if let Some(lane) = bad.lowest() {
            let at = crate::machine::lane_addr(&src.1, src.0, r, lane);
            let end = at + i.dtype.size() as u64;
            m.require_defined(i, rec, "src0", (at, end), Sink::Reduction);
        }
        let mut out = Results { bytes: [0; 256], pieces: [(0, 0, true); 64], n: 0 };
        body(m, r, Lanes { c: &c, mask: act.mask(), values: &mut values, bad }, &mut out);
        let Some(at) = dst.1.addr(dst.0, r, 0) else { continue };
        for &(off, len, defined) in &out.pieces[..out.n] {
            let (start, len) = (at + u64::from(off), usize::from(len));
            let from = usize::from(off);
            if let Some(to) = m.ub.bytes.get_mut(start, len) {
                to.copy_from_slice(&out.bytes[from..from + len]);
            }
            m.ub.shadow.set(start, start + len as u64, defined, rec);
        }
    }
    0
}

/// Folds `n` (a power of two) lanes from `from` to one by halves; order does not matter.
fn fold_extreme(c: &Ctx, which: Extreme, lanes: &[u8], out: &mut [u8]) {
    let mut t = Repeat::default();
    t.0[..lanes.len()].copy_from_slice(lanes);
    let mut n = lanes.len() / 2;
    while n >= c.dtype.size() {
        let mut d = Repeat::default();
        extreme::pick(c, which, &mut d.0[..n], &t.0[..n], &t.0[n..2 * n]);
        t.0[..n].copy_from_slice(&d.0[..n]);
        n /= 2;
    }
    out.copy_from_slice(&t.0[..c.dtype.size()]);
}

/// Fills the inactive lanes of `lanes` (starting at lane `first`) with its lowest active value.
fn neutralise(l: &mut Lanes, first: usize, n: usize) -> Option<()> {
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
    let (t, n) = (i.dtype, p.per_repeat);
    each(m, i, p, rec, |m, r, mut l, out| {
        if neutralise(&mut l, 0, n).is_none() {
            return nothing_active(m, i, rec, r);
        }
        let mut v = [0u8; 8];
        let e = t.size();
        fold_extreme(l.c, which, &l.values.0[..n * e], &mut v[..e]);
        let value = if e == 4 {
            u32::from_le_bytes([v[0], v[1], v[2], v[3]])
        } else {
            u32::from(u16::from_le_bytes([v[0], v[1]]))
        };
        let lane = if how == Order::OnlyValue { 0 } else { first_lane(&l, value) };
        let ok = l.bad.is_empty();
        let k = (lane as u32).to_le_bytes();
        match how {
            Order::OnlyValue => out.put(0, &v[..e], ok),
            Order::OnlyIndex => out.put(0, &k, ok),
            Order::ValueIndex => {
                out.put(0, &v[..e], ok);
                out.put(e, &k[..e], ok);
            }
            Order::IndexValue => {
                out.put(0, &k[..e], ok);
                out.put(e, &v[..e], ok);
            }
        }
        let better = best.is_none_or(|(b, _)| beats(l.c, which, value, b));
        if better {
            let lane = if how == Order::OnlyValue { first_lane(&l, value) } else { lane };
            best = Some((value, (r as usize * n + lane) as u32));
        }
    });
    if let Some(b) = best {
        m.regs.max_min = b;
    }
    0
}

/// Is `a` a strictly better extreme than `b`?
fn beats(c: &Ctx, which: Extreme, a: u32, b: u32) -> bool {
    let (mut x, mut y, mut d) = (Repeat::default(), Repeat::default(), Repeat::default());
    let e = c.dtype.size();
    x.0[..4].copy_from_slice(&a.to_le_bytes());
    y.0[..4].copy_from_slice(&b.to_le_bytes());
    extreme::pick(c, which, &mut d.0[..e], &x.0[..e], &y.0[..e]);
    a != b && bits_of(c.dtype, &d.0[..e]) == a
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

/// One level of the adjacent tree: `d[i] = s[2i] + s[2i+1]`, in place.
fn level(c: &Ctx, bytes: &mut [u8]) {
    let half = bytes.len() / 2;
    let (mut even, mut odd) = (Repeat::default(), Repeat::default());
    if c.dtype == DType::F32 {
        deal::<u32>(bytes, &mut even.0[..half], &mut odd.0[..half]);
    } else {
        deal::<u16>(bytes, &mut even.0[..half], &mut odd.0[..half]);
    }
    arith::add(c, &mut bytes[..half], &even.0[..half], &odd.0[..half]);
}

fn deal<T: bytemuck::Pod>(from: &[u8], even: &mut [u8], odd: &mut [u8]) {
    let to = view_mut::<T>(even).iter_mut().zip(view_mut::<T>(odd));
    for (pair, (e, o)) in view::<T>(from).chunks_exact(2).zip(to) {
        (*e, *o) = (pair[0], pair[1]);
    }
}

/// Sum of each repeat; with the flag ACC_VAL also gathers the repeats in order `[I]`.
pub fn whole_sum(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let (e, n) = (i.dtype.size(), p.per_repeat);
    let mut acc = Repeat::default();
    each(m, i, p, rec, |_, _, mut l, out| {
        zero_inactive(&mut l, n);
        let mut bytes = n * e;
        while bytes > e {
            level(l.c, &mut l.values.0[..bytes]);
            bytes /= 2;
        }
        out.put(0, &l.values.0[..e], l.bad.is_empty());
        let sum = acc;
        arith::add(l.c, &mut acc.0[..e], &sum.0[..e], &l.values.0[..e]);
    });
    if named_flag(i) {
        m.regs.acc = bits_of(i.dtype, &acc.0[..4]);
    }
    0
}

fn named_flag(i: &Instr) -> bool {
    crate::machine::named(i, "mode") != 0
}

/// Is any of the lanes of block `b` marked in `mask`?
fn any(mask: &Mask, b: usize, per_block: usize) -> bool {
    mask.bits(b * per_block, per_block) != 0
}

fn group_extreme(m: &mut Machine, i: &Instr, p: &Plan, rec: u32, which: Extreme) -> u64 {
    let e = i.dtype.size();
    let n = 32 / e;
    each(m, i, p, rec, |m, r, mut l, out| {
        let mut silent = true;
        for b in 0..8 {
            if neutralise(&mut l, b * n, n).is_none() {
                continue;
            }
            silent = false;
            let mut v = [0u8; 8];
            fold_extreme(l.c, which, &l.values.0[b * 32..b * 32 + 32], &mut v[..e]);
            out.put(b * e, &v[..e], !any(&l.bad, b, n));
        }
        if silent {
            nothing_active(m, i, rec, r);
        }
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
    each(m, i, p, rec, |_, _, mut l, out| {
        zero_inactive(&mut l, 8 * n);
        // Three or four levels over the whole repeat leave one sum per block.
        let mut bytes = 256;
        while bytes > 8 * e {
            level(l.c, &mut l.values.0[..bytes]);
            bytes /= 2;
        }
        for b in 0..8 {
            out.put(b * e, &l.values.0[b * e..(b + 1) * e], !any(&l.bad, b, n));
        }
    })
}

/// Sums of adjacent pairs; a pair without active lane is not written `[U]`.
pub fn pair_sum(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let e = i.dtype.size();
    each(m, i, p, rec, |_, _, mut l, out| {
        let n = 256 / e;
        zero_inactive(&mut l, n);
        level(l.c, &mut l.values.0);
        for k in (0..n / 2).filter(|k| l.mask.bits(2 * k, 2) != 0) {
            out.put(k * e, &l.values.0[k * e..(k + 1) * e], l.bad.bits(2 * k, 2) == 0);
        }
    })
}
