//! What to change first: changes tried by timing the run again without what they remove.
//!
//! Tried are: a barrier between instructions that share no byte; an operand moved out
//! of the way of a bank conflict, with everything else that lies in the same tile; a wait that
//! only protects a buffer from being overwritten, which a second buffer makes needless; on the 950
//! also a memory barrier inside a vector function and a tile its accesses touch. Nothing is
//! promised about a change that was not timed.

mod inside;

use crate::banks::{Conflict, conflicts};
use crate::events::Trace;
use crate::text::operand;
use crate::vf::bar_name;
use ptoemu_core::access::{Role, Space};
use ptoemu_core::stream::{Kind, OPERANDS, Pipe, Record, SiteId, Stream};
use ptoemu_core::time::time;
use ptoemu_core::time::vf::Bar;
use ptoemu_isa::table::{Form, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// Records of the longest run that is timed again; each try copies the stream.
pub const LONGEST: usize = 200_000;
/// Changes of one kind that are tried, those with the most stalled cycles first.
const TRIED: usize = 8;
/// Instructions on either side of a barrier that are compared; a barrier with more is kept.
const NEAR: usize = 32;

/// A change that makes the run shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What to change.
    pub change: Change,
    /// Index of the instruction concerned in the static instructions.
    pub index: usize,
    /// Cycles of the run with the change.
    pub cycles: u64,
    /// Cycles saved.
    pub saved: u64,
}

impl Advice {
    /// `file:line` of what is to be changed.
    pub fn place<'t>(&self, t: &'t Trace) -> &'t str {
        let site = match self.change {
            Change::MemBar { site, .. } => site,
            _ => None,
        };
        t.statics.inner_code(self.index, site)
    }

    /// The change as a sentence; `name` is the instruction concerned.
    pub fn words(&self, name: &str) -> String {
        match &self.change {
            Change::Barrier => "leave this barrier out: what it separates shares no byte".into(),
            Change::Buffer => "use a second buffer, so that nothing waits for the first".into(),
            Change::Shift { operands, by, free } => {
                let names: Vec<&str> = operands.iter().map(|&n| operand(n)).collect();
                let room = if *free { "" } else { ", after making room there" };
                format!("move the tile of {} of {name} by {by} bytes{room}", names.join(" and "))
            }
            Change::MemBar { bar, .. } => {
                let kind = bar_name(*bar);
                format!("leave mem_bar {kind} out: what it orders shares no byte")
            }
            Change::Tile { at, by, free } => {
                let room = if *free { "" } else { ", after making room there" };
                format!("move what lies at {at:#x} in UB by {by} bytes{room}")
            }
        }
    }
}

/// Kinds of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Leave a barrier out: what it separates shares no byte.
    Barrier,
    /// Give the waiting pipe a second buffer, so that it need not wait until the first is free.
    Buffer,
    /// Move operands, and what shares their tile.
    Shift {
        /// Operands of the instruction, 0 the destination.
        operands: Vec<usize>,
        /// Bytes upwards.
        by: u64,
        /// Nothing else lies where the tile goes.
        free: bool,
    },
    /// Leave a memory barrier out of a vector function: what it orders shares no byte.
    MemBar {
        /// Which kind.
        bar: Bar,
        /// Where it stands in the program.
        site: Option<SiteId>,
    },
    /// Move a tile that a vector function reads or writes to other banks.
    Tile {
        /// Its first byte in UB.
        at: u64,
        /// Bytes upwards.
        by: u64,
        /// Nothing else lies where it goes.
        free: bool,
    },
}

/// The best changes, most saved first; `None` for a run that is too long to try any.
pub fn advice(t: &Trace) -> Option<Vec<Advice>> {
    if t.stream.records.len() > LONGEST {
        return None;
    }
    let mut out: Vec<Advice> = Vec::new();
    let mut note = |change: Change, index: usize, stream: &Stream| {
        let cycles = time(stream, t.target).cycles;
        let saved = t.timeline.cycles.saturating_sub(cycles);
        if saved > 0 {
            out.push(Advice { change, index, cycles, saved });
        }
    };
    for (index, kind) in held(t).into_iter().take(2 * TRIED) {
        let gone = |i: u32| t.statics.index(i) == index;
        match kind {
            Kind::Barrier if needless(t, index) => {
                note(Change::Barrier, index, &without(t.stream, gone));
            }
            Kind::WaitFlag if protects(t, index) => {
                let waits = (0u32..).zip(&t.stream.records).filter(|(i, _)| gone(*i));
                let sets: FxHashSet<u32> = waits.map(|(_, r)| r.link).collect();
                note(Change::Buffer, index, &without(t.stream, |i| gone(i) || sets.contains(&i)));
            }
            _ => {}
        }
    }
    for c in conflicts(t).iter().take(TRIED) {
        if let (Some(r), Some((moved, free))) = (&c.remedy, shifted(t, c)) {
            let (operands, by) = (r.operands.clone(), r.shift);
            note(Change::Shift { operands, by, free }, c.index, &moved);
        }
    }
    for (change, index, stream) in inside::changes(t) {
        note(change, index, &stream);
    }
    out.sort_by_key(|a| (std::cmp::Reverse(a.saved), a.index));
    Some(out)
}

/// Barriers and waits of the program by the cycles pipes stood still before them, most first.
fn held(t: &Trace) -> Vec<(usize, Kind)> {
    let mut cycles: FxHashMap<usize, u64> = FxHashMap::default();
    let mut gate: [Option<u32>; 8] = [None; 8];
    let mut stalls = t.timeline.stalls.iter().peekable();
    for (i, r) in (0u32..).zip(&t.stream.records) {
        if matches!(r.kind, Kind::Barrier | Kind::WaitFlag) {
            cycles.entry(t.statics.index(i)).or_default();
            gate[r.pipe as usize] = Some(i);
        }
        while let Some(s) = stalls.next_if(|s| s.record <= i) {
            if let Some(g) = gate[s.pipe as usize] {
                *cycles.entry(t.statics.index(g)).or_default() += s.cycles;
            }
        }
    }
    let mut all: Vec<(usize, u64)> = cycles.into_iter().collect();
    all.sort_by_key(|&(index, c)| (std::cmp::Reverse(c), index));
    let kind = |index: usize| t.statics.items().get(index).map(|s| (index, s.kind));
    all.into_iter().filter_map(|(index, _)| kind(index)).collect()
}

/// The run without some of its records.
fn without(stream: &Stream, gone: impl Fn(u32) -> bool) -> Stream {
    let gone: Vec<bool> = (0u32..).zip(&stream.records).map(|(i, _)| gone(i)).collect();
    stream.without(&gone)
}

/// Does every barrier of V of this instruction stand between records that share no byte?
fn needless(t: &Trace, index: usize) -> bool {
    let records = &t.stream.records;
    let fence = |r: &Record| r.kind == Kind::Barrier && matches!(r.pipe, Pipe::V | Pipe::All);
    let work = |r: &&Record| {
        r.pipe == Pipe::V && matches!(r.kind, Kind::Vector | Kind::Copy | Kind::Function)
    };
    let mut at = (0..records.len()).filter(|&i| t.statics.index(i as u32) == index);
    at.all(|i| {
        let (before, after) = (records[..i].iter().rev(), records[i + 1..].iter());
        let near: Vec<&Record> =
            before.take_while(|r| !fence(r)).filter(work).take(NEAR + 1).collect();
        let next: Vec<&Record> =
            after.take_while(|r| !fence(r)).filter(work).take(NEAR + 1).collect();
        let few = near.len() <= NEAR && next.len() <= NEAR;
        let apart = |a: &&Record| near.iter().all(|b| !share(t.stream, a, b));
        records[i].pipe == Pipe::V && few && next.iter().all(apart)
    })
}

/// Could two records touch a byte in common that one of them writes? Operands count as a whole.
/// The compare mask is no operand: what sets or uses it counts as sharing.
fn share(s: &Stream, a: &Record, b: &Record) -> bool {
    let masked = |r: &Record| {
        let form = Op::ALL.get(usize::from(r.op.0)).map(|op| op.form());
        matches!(form, None | Some(Form::CmpReg | Form::SetCmpMask | Form::Sel))
    };
    let function = a.kind == Kind::Function || b.kind == Kind::Function;
    if function || masked(a) || masked(b) {
        return true;
    }
    s.operands(a).any(|(base, w)| {
        let Some((lo, hi)) = w.extent(base, u64::from(a.repeats)) else { return true };
        s.operands(b).any(|(base, v)| {
            let Some((from, to)) = v.extent(base, u64::from(b.repeats)) else { return true };
            let writes = w.role != Role::Read || v.role != Role::Read;
            writes && w.space == v.space && lo < to && from < hi
        })
    })
}

/// Does a wait go against the way of the data, from GM over V back to GM? Then it only keeps a
/// buffer from being overwritten.
fn protects(t: &Trace, index: usize) -> bool {
    let order = |p: Pipe| [Pipe::Mte2, Pipe::V, Pipe::Mte3].iter().position(|&q| q == p);
    let flag = t.statics.items().get(index).and_then(|s| t.record(s.first)?.0.flag());
    flag.is_some_and(|f| matches!((order(f.src), order(f.dst)), (Some(a), Some(b)) if a > b))
}

/// The stream with the operands of a remedy moved, and all that lies between their bounds; and
/// whether nothing else lies where they go.
fn shifted(t: &Trace, c: &Conflict) -> Option<(Stream, bool)> {
    let remedy = c.remedy.as_ref()?;
    let first = t.statics.items().get(c.index)?.first;
    let (r, _) = t.record(first)?;
    let bounds = remedy.operands.iter().filter_map(|&n| {
        let walk = *t.stream.shape(r).0.get(n)?;
        walk?.extent(*r.base.get(n)?, u64::from(r.repeats))
    });
    let (lo, hi) = bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    let room = lo.saturating_add(remedy.shift)..hi.saturating_add(remedy.shift);
    let (mut out, mut free) = (t.stream.clone(), true);
    for r in &mut out.records {
        let shape = t.stream.shape(r);
        for n in 0..OPERANDS {
            let Some(w) = shape.0[n].filter(|w| w.space == Space::Ub) else { continue };
            if (lo..hi).contains(&r.base[n]) {
                r.base[n] = r.base[n].saturating_add(remedy.shift);
            } else if let Some((from, to)) = w.extent(r.base[n], u64::from(r.repeats)) {
                free &= to <= room.start || from >= room.end;
            }
        }
    }
    Some((out, free))
}
