//! Changes inside vector functions: memory barriers between accesses that share no byte, tiles
//! that meet others in the banks of UB. Each is timed by timing the changed functions, and with
//! them the whole run, again.

use super::Change;
use crate::events::Trace;
use ptoemu_core::access::Space;
use ptoemu_core::stream::{Kind as RecordKind, OPERANDS, Stream};
use ptoemu_core::time::vf::{self, Access, Bar, Cause, Inst, Kind, Node, Options, UB, VfProgram};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Functions of the program that are looked at, those with the most cycles first.
const FUNCTIONS: usize = 4;
/// Tiles that are moved, for each function.
const TILES: usize = 4;

/// Every change worth timing: what, the function concerned, the changed stream.
pub(super) fn changes(t: &Trace) -> Vec<(Change, usize, Stream)> {
    let mut busy: Vec<(u64, usize, u32)> = Vec::new();
    for e in t.launches() {
        let (Some(f), Some((r, _))) = (t.function(&e), t.record(e.record)) else { continue };
        let index = t.statics.index(e.record);
        match busy.iter_mut().find(|b| b.1 == index) {
            Some(b) => b.0 += f.cycles(),
            None => busy.push((f.cycles(), index, r.link)),
        }
    }
    busy.sort_by_key(|&(cycles, index, _)| (std::cmp::Reverse(cycles), index));
    let mut out = Vec::new();
    for (_, index, link) in busy.into_iter().take(FUNCTIONS) {
        // What an operation of the library carries in itself is not the reader's to change.
        if t.statics.items().get(index).is_some_and(|s| s.tile_op.is_none()) {
            out.extend(barriers(t, index, link));
        }
        out.extend(shifts(t, index, link));
    }
    out
}

/// An access and every byte it ever touches.
struct Hull {
    inst: u32,
    kind: Kind,
    bytes: Option<(i128, i128)>,
    /// Rounds of one instruction may touch a byte twice.
    again: bool,
}

/// Loads and stores of a program.
fn hulls(p: &VfProgram, body: &[Node], trips: &mut Vec<u64>, out: &mut Vec<Hull>) {
    for n in body {
        match n {
            Node::Inst(i) => {
                let Some(inst) = p.insts.get(*i as usize) else { continue };
                if matches!(inst.kind, Kind::Load | Kind::Store) {
                    let (bytes, again) = hull(inst, trips);
                    out.push(Hull { inst: *i, kind: inst.kind, bytes, again });
                }
            }
            Node::Loop(l) => {
                trips.push(l.trips);
                hulls(p, &l.body, trips, out);
                trips.pop();
            }
        }
    }
}

fn hull(i: &Inst, trips: &[u64]) -> (Option<(i128, i128)>, bool) {
    let Some(a) = i.access.as_ref().filter(|a| a.region == UB) else { return (None, true) };
    let extent = a.extent();
    let (mut lo, mut hi) = (i128::from(a.base) + i128::from(extent.0), i128::from(a.base));
    hi += i128::from(extent.1);
    let mut again = false;
    for (n, &rounds) in trips.iter().enumerate() {
        let step = a.deltas.get(n).copied().unwrap_or(0);
        let far = i128::from(step) * i128::from(rounds.saturating_sub(1));
        (lo, hi) = (lo + far.min(0), hi + far.max(0));
        again |= rounds > 1 && step.unsigned_abs() < u64::from(a.bytes);
    }
    // Several loops may come back to a byte although each moves far enough.
    (Some((lo, hi)), again || trips.iter().filter(|&&n| n > 1).count() > 1)
}

/// Barriers of a function that separate nothing: no two accesses they order share a byte.
fn barriers(t: &Trace, index: usize, link: u32) -> Vec<(Change, usize, Stream)> {
    let Some(p) = t.stream.functions.get(link) else { return Vec::new() };
    let mut all = Vec::new();
    hulls(p, &p.body, &mut Vec::new(), &mut all);
    let bars = (0u32..).zip(&p.insts).filter_map(|(n, i)| match i.kind {
        Kind::Bar(b) => Some((n, b, i.site)),
        _ => None,
    });
    let needless = bars.filter(|(_, b, _)| !ordered(*b, &all));
    needless
        .map(|(inst, bar, site)| {
            let stream = rebuilt(t, index, |p| {
                let same = p.insts.get(inst as usize).is_some_and(|i| i.kind == Kind::Bar(bar));
                if same {
                    p.body = left_out(&p.body, inst);
                }
            });
            (Change::MemBar { bar, site }, index, stream)
        })
        .collect()
}

/// Do two accesses of the kinds a barrier orders touch a byte in common, or might they?
fn ordered(bar: Bar, all: &[Hull]) -> bool {
    let concerned = |a: Kind, b: Kind| match bar {
        Bar::LoadStore | Bar::StoreLoad => a != b,
        Bar::StoreStore => a == Kind::Store && b == Kind::Store,
        Bar::All => a == Kind::Store || b == Kind::Store,
    };
    all.iter().enumerate().any(|(n, a)| {
        all[n..].iter().filter(|b| concerned(a.kind, b.kind)).any(|b| match (a.bytes, b.bytes) {
            _ if a.inst == b.inst => a.again && a.kind == Kind::Store,
            (Some(x), Some(y)) => x.0 < y.1 && y.0 < x.1,
            _ => true,
        })
    })
}

fn left_out(body: &[Node], inst: u32) -> Vec<Node> {
    let kept = body.iter().filter(|n| **n != Node::Inst(inst));
    kept.map(|n| match n {
        Node::Loop(l) => {
            let mut l = l.clone();
            l.body = left_out(&l.body, inst);
            Node::Loop(l)
        }
        Node::Inst(_) => n.clone(),
    })
    .collect()
}

/// Tiles of a function whose accesses waited for a port: moved to where the function takes least.
fn shifts(t: &Trace, index: usize, link: u32) -> Vec<(Change, usize, Stream)> {
    let (Some(p), Some(f)) = (t.stream.functions.get(link), t.functions.get(link)) else {
        return Vec::new();
    };
    let waited = (0..f.shown().min(4096)).filter_map(|seq| f.get(seq)).any(|r| {
        f.inst(&r).is_some_and(|i| matches!(i.kind, Kind::Load | Kind::Store))
            && (r.waits[Cause::Port as usize] > 0)
    });
    let whole = |path: &str| t.target.value(path).map_or(1, |v| v as i64).max(1);
    let (block, groups) = (whole("ub.block"), whole("ub.bank_groups"));
    let size = i128::from(whole("ub.size"));
    if !waited {
        return Vec::new();
    }
    let mut all = Vec::new();
    hulls(p, &p.body, &mut Vec::new(), &mut all);
    let tiles: BTreeSet<(i128, i128)> = all.iter().filter_map(|h| h.bytes).collect();
    let mut out = Vec::new();
    for tile in merged(tiles).into_iter().take(TILES) {
        let best = (1..=groups)
            .map(|k| k * block)
            .filter(|by| tile.1 + i128::from(*by) <= size)
            .filter_map(|by| {
                let mut moved = p.clone();
                moved.insts.iter_mut().for_each(|i| shift(i, tile, by));
                let time = vf::time(&moved, t.target, Options::default()).ok()?;
                Some((time.cycles, by))
            })
            .min();
        if let Some((_, by)) = best.filter(|(cycles, _)| *cycles < f.cycles()) {
            let (stream, free) = moved(t, tile, by);
            let at = tile.0.max(0) as u64;
            out.push((Change::Tile { at, by: by as u64, free }, index, stream));
        }
    }
    out
}

/// Ranges that overlap, as one.
fn merged(ranges: BTreeSet<(i128, i128)>) -> Vec<(i128, i128)> {
    let mut out: Vec<(i128, i128)> = Vec::new();
    for (lo, hi) in ranges {
        match out.last_mut().filter(|last| lo < last.1) {
            Some(last) => last.1 = last.1.max(hi),
            None => out.push((lo, hi)),
        }
    }
    out
}

fn shift(i: &mut Inst, tile: (i128, i128), by: i64) {
    let inside = |a: &Access| a.region == UB && (tile.0..tile.1).contains(&i128::from(a.base));
    if let Some(a) = i.access.as_mut().filter(|a| inside(a)) {
        a.base = a.base.saturating_add(by);
    }
}

/// The stream with everything moved that lies in a tile; and whether nothing else lies there.
fn moved(t: &Trace, tile: (i128, i128), by: i64) -> (Stream, bool) {
    let room = (tile.0 + i128::from(by), tile.1 + i128::from(by));
    let outside =
        |lo: i128, hi: i128| (tile.0 <= lo && hi <= tile.1) || hi <= room.0 || lo >= room.1;
    let mut free = true;
    let mut all = Vec::new();
    let launched: BTreeSet<u32> = functions(t).map(|(_, link)| link).collect();
    for p in launched.iter().filter_map(|&l| t.stream.functions.get(l)) {
        hulls(p, &p.body, &mut Vec::new(), &mut all);
    }
    free &= all.iter().filter_map(|h| h.bytes).all(|(lo, hi)| outside(lo, hi));
    let mut out = rebuilt(t, usize::MAX, |p| p.insts.iter_mut().for_each(|i| shift(i, tile, by)));
    for r in &mut out.records {
        let shape = t.stream.shape(r);
        for n in 0..OPERANDS {
            let Some(w) = shape.0[n].filter(|w| w.space == Space::Ub) else { continue };
            let extent = w.extent(r.base[n], u64::from(r.repeats));
            if (tile.0..tile.1).contains(&i128::from(r.base[n])) {
                r.base[n] = r.base[n].saturating_add_signed(by);
            } else if let Some((lo, hi)) = extent {
                free &= outside(i128::from(lo), i128::from(hi));
            }
        }
    }
    (out, free)
}

/// Launches: record and function.
fn functions<'t>(t: &'t Trace) -> impl Iterator<Item = (u32, u32)> + 't {
    let all = (0u32..).zip(&t.stream.records);
    all.filter(|(_, r)| r.kind == RecordKind::Function).map(|(i, r)| (i, r.link))
}

/// The stream with its functions changed: those of one instruction, or all.
fn rebuilt(t: &Trace, index: usize, change: impl Fn(&mut VfProgram)) -> Stream {
    let mut out = t.stream.clone();
    let mut known: SmallVec<[(u32, u32); 8]> = SmallVec::new();
    for (i, link) in functions(t) {
        if index != usize::MAX && t.statics.index(i) != index {
            continue;
        }
        let new = match known.iter().find(|k| k.0 == link) {
            Some(k) => k.1,
            None => {
                let Some(p) = t.stream.functions.get(link) else { continue };
                let mut p = p.clone();
                change(&mut p);
                let new = out.functions.intern(p);
                known.push((link, new));
                new
            }
        };
        if let Some(r) = out.records.get_mut(i as usize) {
            r.link = new;
        }
    }
    out
}
