//! What happened in the Unified Buffer: which bytes were read and written when.

use crate::events::{Event, Trace, What};
use ptoemu_core::access::{Role, Space};
use ptoemu_core::check::Owner;
use ptoemu_core::stream::NONE;
use ptoemu_core::target::Family;
use ptoemu_core::time::vf::{Kind, Node, UB, VfProgram};
use serde::Serialize;
use std::collections::BTreeMap;

/// Rectangles drawn at most; finer ones are joined.
const RECTANGLES: usize = 8_000;

/// The map.
#[derive(Debug, Serialize)]
pub(super) struct Map {
    size: u64,
    /// First byte and one past the last that programs may not use.
    reserved: Option<(u64, u64)>,
    /// Bytes of a block, bank groups, banks in each of them, bytes up to the next bank of a group
    /// (0 where banks take turns as groups do).
    block: u64,
    groups: u64,
    banks: u64,
    layer: u64,
    tiles: Vec<Tile>,
    /// First cycle, cycles, first byte, bytes, 0 read or 1 written, name.
    touches: Vec<(u64, u64, u64, u64, u8, u32)>,
    names: Vec<String>,
    /// Cycles and bytes to which touches were joined.
    grain: (u64, u64),
}

#[derive(Debug, Serialize)]
struct Tile {
    name: String,
    start: u64,
    end: u64,
    /// First and last cycle any of its bytes was touched.
    first: u64,
    last: u64,
}

/// A touch: cycles, bytes, written.
#[derive(Clone, Copy, Debug)]
struct Touch {
    from: u64,
    to: u64,
    low: u64,
    high: u64,
    written: bool,
    name: u32,
}

/// The map of a trace.
pub(super) fn map(t: &Trace, tiles: &[Owner]) -> Map {
    let whole = |path: &str| t.target.value(path).map_or(0, |v| v as u64);
    let size = whole("ub.size");
    let banks = whole("ub.banks_per_group").max(1);
    let (start, length) = (whole("ub.reserved_start"), whole("ub.reserved_size"));
    let mut owned: Vec<Tile> = tiles
        .iter()
        .map(|o| Tile {
            name: o.name.clone(),
            start: o.start,
            end: o.end,
            first: u64::MAX,
            last: 0,
        })
        .collect();
    let mut all = Joined::default();
    collect(t, |touch| {
        for o in owned.iter_mut().filter(|o| touch.low < o.end && o.start < touch.high) {
            o.first = o.first.min(touch.from);
            o.last = o.last.max(touch.to);
        }
        all.add(touch);
    });
    owned.retain(|o| o.first < o.last);
    owned.sort_by_key(|o| (o.start, o.end));
    let (names, numbers) = names(t);
    let touch = |x: Touch| {
        let name = numbers.get(x.name as usize).copied().unwrap_or(0);
        (x.from, x.to - x.from, x.low, x.high - x.low, u8::from(x.written), name)
    };
    Map {
        size,
        reserved: (length > 0).then_some((start, start + length)),
        block: whole("ub.block").max(1),
        groups: whole("ub.bank_groups").max(1),
        banks,
        layer: if t.target.family == Family::A2A3 { size / banks } else { 0 },
        tiles: owned,
        grain: (all.cycles, all.bytes),
        touches: all.rectangles.into_values().map(touch).collect(),
        names,
    }
}

/// Names of what touches bytes: the tile operation of an instruction, or else the instruction; and
/// the number of each static instruction's name.
fn names(t: &Trace) -> (Vec<String>, Vec<u32>) {
    let mut names: indexmap::IndexMap<String, ()> = indexmap::IndexMap::new();
    let numbers = t.statics.items().iter().map(|s| {
        let name = s.tile_op.map_or_else(|| s.name.to_ascii_lowercase(), str::to_string);
        names.insert_full(format!("{name} at {}", s.code), ()).0 as u32
    });
    let numbers = numbers.collect();
    (names.into_keys().collect(), numbers)
}

/// Every touch of UB in program order; those of one tile operation that overlap are joined.
fn collect(t: &Trace, mut f: impl FnMut(Touch)) {
    let (mut open, mut group): (Vec<Touch>, u32) = (Vec::new(), NONE);
    for e in t.events().filter(|e| e.what == What::Work) {
        let Some((r, _)) = t.record(e.record) else { continue };
        if r.group != group || group == NONE {
            open.drain(..).for_each(&mut f);
            group = r.group;
        }
        let name = t.statics.index(e.record) as u32;
        for (low, high, written) in ranges(t, &e) {
            let touch =
                Touch { from: e.start, to: e.done.max(e.start + 1), low, high, written, name };
            let meets = |o: &&mut Touch| o.written == written && o.low <= high && low <= o.high;
            match open.iter_mut().find(meets) {
                Some(o) => join(o, &touch),
                None => open.push(touch),
            }
        }
    }
    open.into_iter().for_each(f);
}

fn join(o: &mut Touch, other: &Touch) {
    (o.from, o.to) = (o.from.min(other.from), o.to.max(other.to));
    (o.low, o.high) = (o.low.min(other.low), o.high.max(other.high));
}

/// Bytes of UB a record touches, an operand at a time, and whether it writes them.
fn ranges(t: &Trace, e: &Event) -> Vec<(u64, u64, bool)> {
    let Some((r, _)) = t.record(e.record) else { return Vec::new() };
    if let Some(f) =
        t.stream.functions.get(r.link).filter(|_| r.kind == ptoemu_core::stream::Kind::Function)
    {
        return function(f);
    }
    let mut out = Vec::new();
    for (base, w) in t.stream.operands(r).filter(|(_, w)| w.space == Space::Ub) {
        let Some((low, high)) = w.extent(base, u64::from(r.repeats)) else { continue };
        if matches!(w.role, Role::Read | Role::Update) {
            out.push((low, high, false));
        }
        if matches!(w.role, Role::Write | Role::Update) {
            out.push((low, high, true));
        }
    }
    out
}

/// Bytes of UB a vector function touches.
fn function(p: &VfProgram) -> Vec<(u64, u64, bool)> {
    let mut out = Vec::new();
    walk(p, &p.body, &mut Vec::new(), &mut out);
    out
}

fn walk(p: &VfProgram, body: &[Node], trips: &mut Vec<u64>, out: &mut Vec<(u64, u64, bool)>) {
    for node in body {
        match node {
            Node::Loop(l) => {
                trips.push(l.trips);
                walk(p, &l.body, trips, out);
                trips.pop();
            }
            Node::Inst(i) => {
                let Some(inst) = p.insts.get(*i as usize) else { continue };
                let written = inst.kind == Kind::Store;
                let Some(a) = inst.access.as_ref().filter(|a| a.region == UB) else { continue };
                let (low, high) = a.extent();
                let (mut low, mut high) = (i128::from(a.base + low), i128::from(a.base + high));
                for (delta, n) in a.deltas.iter().zip(trips.iter()) {
                    let last = i128::from(*delta) * i128::from(n.saturating_sub(1));
                    (low, high) = (low + last.min(0), high + last.max(0));
                }
                let ends = (u64::try_from(low.max(0)), u64::try_from(high.max(0)));
                if let (Ok(low), Ok(high)) = ends
                    && low < high
                {
                    out.push((low, high, written));
                }
            }
        }
    }
}

/// Touches, joined ever more coarsely so that their number stays bounded.
#[derive(Debug)]
struct Joined {
    cycles: u64,
    bytes: u64,
    rectangles: BTreeMap<(u64, u64, u64, bool), Touch>,
}

impl Default for Joined {
    fn default() -> Self {
        Joined { cycles: 1, bytes: 1, rectangles: BTreeMap::new() }
    }
}

impl Joined {
    fn add(&mut self, t: Touch) {
        self.put(t);
        while self.rectangles.len() > RECTANGLES {
            self.cycles *= 2;
            self.bytes = if self.cycles > 16 { (self.bytes * 2).min(4096) } else { 1 };
            for (_, t) in std::mem::take(&mut self.rectangles) {
                self.put(t);
            }
        }
    }

    fn put(&mut self, t: Touch) {
        let key =
            (t.from / self.cycles, t.low / self.bytes, t.high.div_ceil(self.bytes), t.written);
        self.rectangles.entry(key).and_modify(|o| join(o, &t)).or_insert(t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_touches_stay_few_and_lose_no_byte() {
        let mut all = Joined::default();
        for i in 0..100_000u64 {
            let low = (i * 7919) % 200_000;
            let (from, to) = (i * 3, i * 3 + 2);
            all.add(Touch { from, to, low, high: low + 64, written: i % 2 == 0, name: 0 });
        }
        assert!(all.rectangles.len() <= RECTANGLES);
        let ends = |f: fn(&Touch) -> u64| all.rectangles.values().map(f).max();
        assert_eq!(ends(|t| t.to), Some(99_999 * 3 + 2));
        assert_eq!(all.rectangles.values().map(|t| t.from).min(), Some(0));
    }
}
