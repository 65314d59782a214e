//! Where the cycles of a timed stream went, and how far their figures can be trusted.

use super::chain::Chain;
use super::timeline::Timeline;
use crate::dtype::DType;
use crate::stream::{NONE, OpId, Pipe, Stream};
use crate::target::{Conf, Target};
use indexmap::IndexMap;

/// Totals of one instruction on one element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpTotals {
    /// The instruction.
    pub op: OpId,
    /// Its element type.
    pub dtype: DType,
    /// Its pipe.
    pub pipe: Pipe,
    /// How often it ran.
    pub count: u64,
    /// Cycles on the pipe.
    pub busy: u64,
    /// Those that bank conflicts added.
    pub conflict: u64,
    /// Cycles between hand-over and issue.
    pub wait: u64,
}

/// Totals of one dynamic tile operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupTotals {
    /// Index into [`Stream::groups`].
    pub group: u32,
    /// Records in it.
    pub records: u64,
    /// Cycles its records held V.
    pub vector_busy: u64,
    /// First issue.
    pub start: u64,
    /// Last result.
    pub done: u64,
}

/// Shares of a run's cycles by the figure that explains them.
///
/// The cycles of a run are the length of a chain of waits from its end back to its start; each
/// link of the chain is explained by one figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// Cycles by path of the figure; they add up to the cycles of the run.
    pub figures: IndexMap<String, u64>,
    /// Cycles by confidence, in the order of [`Conf::ALL`].
    pub by_conf: [u64; Conf::ALL.len()],
}

impl Provenance {
    /// Share of all cycles that rests on figures of one confidence; 0 for an empty run.
    pub fn share(&self, conf: Conf) -> f64 {
        let all: u64 = self.by_conf.iter().sum();
        if all == 0 { 0.0 } else { self.by_conf[conf as usize] as f64 / all as f64 }
    }
}

/// Totals by instruction, in order of first appearance.
pub fn instructions(stream: &Stream, timeline: &Timeline) -> Vec<OpTotals> {
    let mut totals: IndexMap<(OpId, DType, Pipe), OpTotals> = IndexMap::new();
    for (r, e) in stream.records.iter().zip(&timeline.entries) {
        let (op, dtype, pipe) = (r.op, r.dtype, r.pipe);
        let zero = OpTotals { op, dtype, pipe, count: 0, busy: 0, conflict: 0, wait: 0 };
        let t = totals.entry((op, dtype, pipe)).or_insert(zero);
        t.count += 1;
        t.busy += u64::from(e.busy);
        t.conflict += u64::from(e.conflict);
        t.wait += u64::from(e.wait);
    }
    totals.into_values().collect()
}

/// Totals by dynamic tile operation.
pub fn groups(stream: &Stream, timeline: &Timeline) -> Vec<GroupTotals> {
    let mut totals: IndexMap<u32, GroupTotals> = IndexMap::new();
    for (r, e) in stream.records.iter().zip(&timeline.entries).filter(|(r, _)| r.group != NONE) {
        let zero =
            GroupTotals { group: r.group, records: 0, vector_busy: 0, start: u64::MAX, done: 0 };
        let t = totals.entry(r.group).or_insert(zero);
        t.records += 1;
        t.vector_busy += if r.pipe == Pipe::V { u64::from(e.busy) } else { 0 };
        t.start = t.start.min(e.issue);
        t.done = t.done.max(e.done);
    }
    totals.into_values().collect()
}

/// Which figures explain the cycles of a run.
pub fn provenance(stream: &Stream, target: &Target, timeline: &Timeline) -> Provenance {
    let figures = Chain::new(stream, target, timeline).walk();
    let mut by_conf = [0; Conf::ALL.len()];
    for (path, cycles) in &figures {
        let conf = target.get(path).map_or(Conf::Assumed, |f| f.conf);
        by_conf[conf as usize] += cycles;
    }
    Provenance { figures, by_conf }
}

/// What a run is bound by: the resource whose figures explain most of its cycles, the first of
/// equals in the order of [`RESOURCES`].
pub fn bound(stream: &Stream, target: &Target, timeline: &Timeline) -> &'static str {
    let mut cycles = [0u64; RESOURCES.len()];
    for (path, n) in Chain::new(stream, target, timeline).coarse().walk() {
        cycles[resource(&path)] += n;
    }
    let most = cycles.iter().copied().max().unwrap_or(0);
    let first = cycles.iter().position(|n| *n == most).unwrap_or(0);
    RESOURCES[first].0
}

/// Resources a run can be bound by, with what they stand for.
pub const RESOURCES: [(&str, &str); 9] = [
    ("V", "rate of vector instructions, or the instructions of a vector function"),
    ("banks", "bank conflicts in the Unified Buffer"),
    ("depth", "startup of vector instructions and functions"),
    ("drain", "results on their way: drain, end"),
    ("mask", "mask and mode writes"),
    ("S", "the scalar unit: hand-over, loads, stores"),
    ("flag", "flags between pipes"),
    ("MTE2", "transfers from global memory"),
    ("MTE3", "transfers to global memory"),
];

/// Index into [`RESOURCES`] of what a figure belongs to.
fn resource(path: &str) -> usize {
    let (group, field) = path.split_once('.').unwrap_or((path, ""));
    match (group, field) {
        ("mte3", _) => 8,
        ("mte2", _) => 7,
        ("flag", _) => 6,
        ("scalar", _) => 5,
        ("mask", _) => 4,
        ("drain" | "end" | "partial_block", _) | ("vf", "drain") => 3,
        ("vf", "startup") => 2,
        ("ub", _) => 1,
        _ if field.ends_with("startup") => 2,
        _ => 0,
    }
}
