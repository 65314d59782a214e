//! What is known of a run.

use crate::events::{Trace, What};
use crate::ids::Ids;
use crate::profile::{InstrSum, OpKey, OpSum, PipeSum, Profile};
use indexmap::{IndexMap, IndexSet};
use ptoemu_core::stream::Kind;
use ptoemu_core::time::vf;

/// A run as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// For headings.
    pub name: String,
    /// Cycles of the run.
    pub cycles: u64,
    /// By pipe.
    pub pipes: IndexMap<String, PipeSum>,
    /// Cycles instructions hold their pipes.
    pub held: Option<IndexMap<String, InstrSum>>,
    /// By tile operation.
    pub ops: Option<IndexMap<OpKey, OpSum>>,
    /// Every record, in order of issue.
    pub records: Option<Records>,
    /// What is odd about it.
    pub notes: Vec<String>,
}

impl Side {
    /// Of a trace.
    pub fn of(t: &Trace) -> Side {
        Side { records: Some(Records::of(t)), ..Side::from(Profile::of(t)) }
    }
}

impl From<Profile> for Side {
    fn from(p: Profile) -> Side {
        Side {
            name: p.name,
            cycles: p.cycles,
            pipes: p.pipes,
            held: Some(p.instructions),
            ops: Some(p.ops),
            ..Side::default()
        }
    }
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rec {
    /// Dynamic id: the number of a record in its run; of a dump its id, or its place if it has none.
    pub id: u64,
    /// Index into the names.
    pub name: u32,
    /// Index into the lanes.
    pub lane: u32,
    /// Cycle it leaves the queue.
    pub start: u64,
    /// Cycle it ends.
    pub end: u64,
}

/// Records of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// Names, each once.
    pub names: IndexSet<String>,
    /// Lanes, each once.
    pub lanes: IndexSet<String>,
    /// In order of issue.
    pub items: Vec<Rec>,
}

impl Records {
    /// Of a trace, with the cycles a dump has.
    pub fn of(t: &Trace) -> Records {
        let mut out = Records::default();
        let ids = (!t.functions.is_empty()).then(|| Ids::new(t));
        let id = |record: u32| ids.as_ref().map_or(u64::from(record), |ids| ids.of(record));
        for e in t.events() {
            let (Some((r, _)), Some(s)) = (t.record(e.record), t.statics.of(e.record)) else {
                continue;
            };
            let end = match r.kind {
                Kind::Vector => t.timeline.retired(e.record).unwrap_or(e.done),
                _ => e.done,
            };
            let start = match e.what {
                What::Work | What::Control => e.start,
                What::Barrier | What::Set | What::Wait => e.handed,
            };
            out.push(id(e.record), (&s.label(), e.lane.name()), start, end.max(start));
        }
        for launch in t.launches() {
            let Some(all) = t.micros(&launch) else { continue };
            let function = all.function;
            for r in all {
                let Some(i) = function.inst(&r) else { continue };
                let name = match i.kind {
                    vf::Kind::Bar(_) => i.name.clone(),
                    _ => format!("{}.{}", i.name, i.dtype.name()),
                };
                let id = id(launch.record) + 1 + r.seq;
                out.push(id, (&name, i.lane.name()), r.issue, r.done);
            }
        }
        // As dumps have them.
        out.items.sort_by_key(|r| r.start);
        out
    }

    /// Adds a record with its name and its lane.
    pub fn push(&mut self, id: u64, (name, lane): (&str, &str), start: u64, end: u64) {
        let (name, lane) = (number(&mut self.names, name), number(&mut self.lanes, lane));
        self.items.push(Rec { id, name, lane, start, end });
    }

    /// Name of a record.
    pub fn name(&self, r: &Rec) -> &str {
        self.names.get_index(r.name as usize).map_or("", String::as_str)
    }

    /// Lane of a record.
    pub fn lane(&self, r: &Rec) -> &str {
        self.lanes.get_index(r.lane as usize).map_or("", String::as_str)
    }

    /// Instructions with their cycles from issue to end.
    pub(super) fn issue_to_end(&self) -> IndexMap<String, InstrSum> {
        let mut out: IndexMap<String, InstrSum> = IndexMap::new();
        for r in &self.items {
            let sum = out.entry(self.name(r).to_string()).or_default();
            sum.count += 1;
            sum.busy = sum.busy.saturating_add(r.end.saturating_sub(r.start));
            if sum.lane.is_empty() {
                sum.lane = self.lane(r).to_string();
            }
        }
        out
    }
}

fn number(all: &mut IndexSet<String>, name: &str) -> u32 {
    let index = all.get_index_of(name);
    index.unwrap_or_else(|| all.insert_full(name.to_string()).0) as u32
}
