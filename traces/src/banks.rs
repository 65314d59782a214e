//! Bank conflicts by instruction: which operands meet in which bank groups, and what shift of an
//! operand would part them.
//!
//! The cycles are those of the timeline. A shift is tried by timing the instruction again with the
//! operand moved, never guessed from the addresses.

use crate::events::Trace;
use ptoemu_core::access::{Space, Walk};
use ptoemu_core::stream::{LanesId, OPERANDS, Record, ShapeId, Stream};
use ptoemu_core::time::time;

/// Instructions whose remedies are searched for.
const SEARCHED: usize = 32;

/// Conflicts of one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Index into the static instructions.
    pub index: usize,
    /// How often it ran with a conflict, and how often in all.
    pub hit: u64,
    /// Runs in all.
    pub count: u64,
    /// Repeats in all.
    pub repeats: u64,
    /// Cycles it held its pipe.
    pub busy: u64,
    /// Those that conflicts added.
    pub cycles: u64,
    /// Operands that meet in the first repeat of the first run with a conflict, by number (0 is
    /// the destination), and the bank groups they meet in.
    pub meet: Vec<(usize, usize, Vec<u64>)>,
    /// Best shift found.
    pub remedy: Option<Remedy>,
}

/// A shift of operands that removes conflict cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// Operands to move; those that share an address move together.
    pub operands: Vec<usize>,
    /// By how many bytes.
    pub shift: u64,
    /// Conflict cycles of the one run looked at, before and after.
    pub before: u64,
    /// After.
    pub after: u64,
}

/// Instructions with conflicts, worst first.
pub fn conflicts(t: &Trace) -> Vec<Conflict> {
    let mut all: Vec<Option<(Conflict, u32)>> = vec![None; t.statics.items().len()];
    for i in t.selection.iter() {
        let (Some((r, e)), index) = (t.record(i), t.statics.index(i)) else { continue };
        let Some(slot) = all.get_mut(index) else { continue };
        let zero = Conflict {
            index,
            hit: 0,
            count: 0,
            repeats: 0,
            busy: 0,
            cycles: 0,
            meet: Vec::new(),
            remedy: None,
        };
        let (c, first) = slot.get_or_insert((zero, i));
        if c.hit == 0 {
            *first = i;
        }
        c.count += 1;
        c.hit += u64::from(e.conflict > 0);
        c.repeats += u64::from(r.repeats);
        c.busy += u64::from(e.busy);
        c.cycles += u64::from(e.conflict);
    }
    let mut all: Vec<(Conflict, u32)> =
        all.into_iter().flatten().filter(|c| c.0.cycles > 0).collect();
    all.sort_by_key(|(c, _)| (std::cmp::Reverse(c.cycles), c.index));
    for (c, first) in all.iter_mut().take(SEARCHED) {
        let Some((r, _)) = t.record(*first) else { continue };
        c.meet = meetings(t, r);
        c.remedy = remedy(t, r);
    }
    all.into_iter().map(|(c, _)| c).collect()
}

fn groups(t: &Trace) -> u64 {
    t.target.value("ub.bank_groups").map_or(1, |v| v as u64).clamp(1, 64)
}

/// Bank groups in which two operands of the first repeat want different blocks.
fn meetings(t: &Trace, r: &Record) -> Vec<(usize, usize, Vec<u64>)> {
    let block = t.target.value("ub.block").map_or(32, |v| v as u64).max(1);
    let (groups, lanes) = (groups(t), t.stream.lanes(r).of_repeat(0));
    let shape = t.stream.shape(r);
    let blocks: Vec<Vec<u64>> = (0..OPERANDS)
        .map(|n| match shape.0[n] {
            Some(w) if w.space == Space::Ub => {
                w.pieces(r.base[n], 0, lanes).map(|(_, a, _)| a / block).collect()
            }
            _ => Vec::new(),
        })
        .collect();
    let mut out = Vec::new();
    for a in 0..OPERANDS {
        for b in a..OPERANDS {
            let mut met: Vec<u64> = Vec::new();
            for x in &blocks[a] {
                let clash = |y: &&u64| *y != x && *y % groups == x % groups;
                if blocks[b].iter().any(|y| clash(&y)) {
                    met.push(x % groups);
                }
            }
            met.sort_unstable();
            met.dedup();
            if !met.is_empty() {
                out.push((a, b, met));
            }
        }
    }
    out
}

/// The smallest shift of one address that leaves the fewest conflict cycles: by blocks within a turn
/// through the groups, or to another bank of every group.
fn remedy(t: &Trace, r: &Record) -> Option<Remedy> {
    let before = alone(t, *r);
    let whole =
        |path: &str, least: u64| t.target.value(path).map_or(least, |v| v as u64).max(least);
    let block = whole("ub.block", 1);
    let layer = whole("ub.size", 1) / whole("ub.banks_per_group", 1);
    let shape = t.stream.shape(r);
    let given = || (0..OPERANDS).filter(|&n| shape.0[n].is_some());
    let mut bases: Vec<u64> = given().map(|n| r.base[n]).collect();
    bases.sort_unstable();
    bases.dedup();
    let mut best: Option<Remedy> = None;
    for shift in (1..groups(t)).map(|k| k * block).chain([layer]) {
        for &base in &bases {
            let operands: Vec<usize> = given().filter(|&n| r.base[n] == base).collect();
            let mut moved = *r;
            for &n in &operands {
                moved.base[n] = r.base[n].saturating_add(shift);
            }
            if !fits(t, &moved, whole("ub.size", 1)) {
                continue;
            }
            let after = alone(t, moved);
            if after < best.as_ref().map_or(before, |b| b.after) {
                best = Some(Remedy { operands, shift, before, after });
            }
        }
    }
    best
}

/// Do all operands stay inside UB?
fn fits(t: &Trace, r: &Record, size: u64) -> bool {
    let end = |(base, w): (u64, Walk)| w.extent(base, u64::from(r.repeats)).map(|(_, end)| end);
    t.stream.operands(r).all(|o| end(o).is_some_and(|e| e <= size))
}

/// Conflict cycles of a record that runs alone.
fn alone(t: &Trace, mut r: Record) -> u64 {
    let mut s = Stream::default();
    r.shape = ShapeId(s.shapes.intern(t.stream.shape(&r)));
    r.lanes = LanesId(s.lanes.intern(t.stream.lanes(&r)));
    s.push(r);
    time(&s, t.target).entries.first().map_or(0, |e| u64::from(e.conflict))
}
