//! A run boiled down to sums: by pipe, by instruction, by tile operation. What comparisons and pages
//! show.

use crate::events::{Lane, Trace, What};
use indexmap::IndexMap;
use ptoemu_core::stream::{NONE, Pipe};
use ptoemu_core::time::Cause;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// Sums of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// What ran on what: for headings.
    pub name: String,
    /// Cycles of the run.
    pub cycles: u64,
    /// By pipe, named as its lane.
    pub pipes: IndexMap<String, PipeSum>,
    /// By instruction and element type, `VADD.f32`.
    pub instructions: IndexMap<String, InstrSum>,
    /// By tile operation, where it stands and its shape, in order of first appearance.
    #[serde(with = "indexmap::map::serde_seq")]
    pub ops: IndexMap<OpKey, OpSum>,
}

/// Sums of a pipe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PipeSum {
    /// Cycles it worked.
    pub busy: u64,
    /// Records it ran.
    pub records: u64,
    /// Cycles it stood still, by cause; empty if the causes are not known.
    pub stalls: IndexMap<String, u64>,
}

/// Sums of an instruction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InstrSum {
    /// Lane it runs on.
    pub lane: String,
    /// How often it ran.
    pub count: u64,
    /// Cycles it held its pipe.
    pub busy: u64,
    /// Those that bank conflicts added.
    pub conflict: u64,
}

/// A tile operation at its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OpKey {
    /// Its name.
    pub name: String,
    /// `file:line`.
    pub code: String,
    /// Element type.
    pub dtype: String,
    /// Rows and columns of its largest valid region.
    pub rows: u32,
    /// Columns.
    pub cols: u32,
}

impl OpKey {
    /// Name, type and shape.
    pub fn label(&self) -> String {
        format!("{} {} {}x{}", self.name, self.dtype, self.rows, self.cols)
    }

    /// Elements of one use.
    pub fn elements(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.cols)
    }
}

/// Sums of a tile operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpSum {
    /// How often it ran.
    pub count: u64,
    /// Records.
    pub records: u64,
    /// Cycles its records held their pipes.
    pub busy: u64,
    /// Cycles from first issue to last result, added up.
    pub span: u64,
}

impl Profile {
    /// Of a trace; filters of the trace count.
    pub fn of(t: &Trace) -> Profile {
        let mut p = Profile {
            name: format!("{} on {}", t.kernel, t.target.name),
            cycles: t.timeline.cycles,
            pipes: pipes(t),
            ..Profile::default()
        };
        // One open tile operation a time: its records stand together.
        let mut open: Option<(u32, u64, u64)> = None;
        for e in t.events() {
            let Some((r, entry)) = t.record(e.record) else { continue };
            let busy = if e.what == What::Work { e.end - e.start } else { 0 };
            if let Some(s) = t.statics.of(e.record) {
                let sum = p.instructions.entry(s.label()).or_default();
                if sum.lane.is_empty() {
                    sum.lane = e.lane.name().to_string();
                }
                sum.count += 1;
                sum.busy += busy;
                sum.conflict += u64::from(entry.conflict);
            }
            let Some(key) = key(t, r.group, e.record) else { continue };
            let (start, done) =
                if e.what == What::Work { (e.start, e.done) } else { (u64::MAX, 0) };
            let sum = p.ops.entry(key).or_default();
            sum.records += 1;
            sum.busy += busy;
            match &mut open {
                Some((group, from, to)) if *group == r.group => {
                    let before = to.saturating_sub(*from);
                    (*from, *to) = ((*from).min(start), (*to).max(done));
                    sum.span += to.saturating_sub(*from) - before;
                }
                _ => {
                    open = Some((r.group, start, done));
                    sum.count += 1;
                    sum.span += done.saturating_sub(start);
                }
            }
        }
        p
    }
}

impl Profile {
    /// Writes it as JSON, for a later comparison.
    pub fn write(&self, mut out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut out, self)?;
        writeln!(out)
    }
}

fn pipes(t: &Trace) -> IndexMap<String, PipeSum> {
    let mut out = IndexMap::new();
    for pipe in Pipe::ALL.into_iter().filter(|p| *p != Pipe::All) {
        let totals = t.timeline.pipe(pipe);
        if totals.records == 0 && pipe != Pipe::S {
            continue;
        }
        let stalls = Cause::ALL.map(|c| (c.name().to_string(), totals.stalled(c)));
        let stalls = stalls.into_iter().filter(|(_, n)| *n > 0).collect();
        let sum = PipeSum { busy: totals.busy, records: totals.records, stalls };
        out.insert(Lane::of(pipe).name().to_string(), sum);
    }
    out
}

fn key(t: &Trace, group: u32, record: u32) -> Option<OpKey> {
    let g = t.stream.groups.get(group as usize).filter(|_| group != NONE)?;
    Some(OpKey {
        name: g.name.to_string(),
        code: t.statics.of(record).map_or(String::new(), |s| s.code.clone()),
        dtype: g.dtype.name().to_string(),
        rows: g.rows,
        cols: g.cols,
    })
}
