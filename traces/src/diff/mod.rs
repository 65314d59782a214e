//! Two runs compared: cycles by pipe, cause, instruction and tile operation, and the first record
//! at which they part.
//!
//! A [`Side`] is what is known of a run: a trace knows everything, a report of `run` only sums, a
//! dump of the vendor's simulator only records and how busy the pipes were. What one side does not
//! know is not compared, and said.

mod align;
pub mod dump;
mod page;
mod read;
mod sides;
mod text;

pub use align::{First, How};
pub use page::page;
pub use read::{profile, report};
pub use sides::{Rec, Records, Side};
pub use text::text;

use crate::profile::{InstrSum, PipeSum};
use indexmap::{IndexMap, IndexSet};
use ptoemu_core::time::Cause;
use serde::Serialize;

/// A number on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// In A.
    pub a: u64,
    /// In B.
    pub b: u64,
    /// B less A.
    pub delta: i64,
}

impl Pair {
    fn new(a: u64, b: u64) -> Pair {
        let delta = i128::from(b) - i128::from(a);
        Pair { a, b, delta: delta.clamp(i64::MIN.into(), i64::MAX.into()) as i64 }
    }

    fn weight(&self) -> (std::cmp::Reverse<u64>, std::cmp::Reverse<u64>) {
        (std::cmp::Reverse(self.delta.unsigned_abs()), std::cmp::Reverse(self.a.max(self.b)))
    }
}

/// A pipe on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PipeDelta {
    /// Its lane.
    pub pipe: String,
    /// Cycles it worked.
    pub busy: Pair,
    /// Cycles it stood still, by cause; empty if one side does not know.
    pub stalls: Vec<CauseDelta>,
}

/// A cause on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseDelta {
    /// The cause.
    pub cause: String,
    /// Cycles.
    pub cycles: Pair,
}

/// An instruction on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InstrDelta {
    /// Name and element type.
    pub name: String,
    /// Runs.
    pub count: Pair,
    /// Cycles.
    pub cycles: Pair,
}

/// A tile operation on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpDelta {
    /// Name, type and shape.
    pub name: String,
    /// Where it stands; of B if A has none.
    pub at: String,
    /// Uses.
    pub count: Pair,
    /// Cycles from first issue to last result.
    pub cycles: Pair,
}

/// Records on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Matched {
    /// Records that stand for each other.
    pub both: u64,
    /// Those of them that start or end at another cycle.
    pub moved: u64,
    /// Only in A.
    pub only_a: u64,
    /// Only in B.
    pub only_b: u64,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// Names of the sides.
    pub a: String,
    /// B.
    pub b: String,
    /// Cycles of the run.
    pub cycles: Pair,
    /// By pipe.
    pub pipes: Vec<PipeDelta>,
    /// What the cycles of instructions are.
    pub measure: &'static str,
    /// By instruction, largest change first.
    pub instructions: Vec<InstrDelta>,
    /// By tile operation, in order of the program; empty if one side does not know them.
    pub ops: Vec<OpDelta>,
    /// Records; nothing if one side has none.
    pub records: Option<Matched>,
    /// Where they part first.
    pub first: Option<First>,
    /// What could not be compared.
    pub notes: Vec<String>,
}

impl Diff {
    /// Compares two sides.
    pub fn new(a: &Side, b: &Side) -> Diff {
        let (measure, instructions) = instructions(a, b);
        let (records, first) = match (&a.records, &b.records) {
            (Some(x), Some(y)) => {
                let (matched, first) = align::align(x, y);
                (Some(matched), first)
            }
            _ => (None, None),
        };
        Diff {
            a: a.name.clone(),
            b: b.name.clone(),
            cycles: Pair::new(a.cycles, b.cycles),
            pipes: pipes(a, b, causes(a) && causes(b)),
            measure,
            instructions,
            ops: ops(a, b),
            records,
            first,
            notes: notes(a, b),
        }
    }
}

/// Does a side know why its pipes stood still?
fn causes(s: &Side) -> bool {
    s.pipes.values().any(|p| !p.stalls.is_empty())
}

/// Does a side hold only sums, and those only of what worked?
fn sums_only(s: &Side) -> bool {
    s.records.is_none() && s.ops.is_none()
}

/// What is odd about the sides, and what could not be compared.
fn notes(a: &Side, b: &Side) -> Vec<String> {
    let own = [("A", a), ("B", b)].into_iter();
    let mut out: Vec<String> =
        own.flat_map(|(name, s)| s.notes.iter().map(move |n| format!("{name}: {n}"))).collect();
    for (known, text) in [
        (
            a.records.is_some() && b.records.is_some(),
            "records are not compared: a report holds only sums",
        ),
        (
            sums_only(a) == sums_only(b),
            "barriers and flags are not compared: a report leaves them out",
        ),
        (causes(a) && causes(b), "causes are not compared: a dump does not hold them"),
        (
            a.ops.is_some() && b.ops.is_some(),
            "tile operations are not compared: one side does not name them",
        ),
    ] {
        if !known {
            out.push(text.to_string());
        }
    }
    out
}

fn union<'s>(
    a: impl Iterator<Item = &'s String>,
    b: impl Iterator<Item = &'s String>,
) -> IndexSet<&'s str> {
    a.chain(b).map(String::as_str).collect()
}

fn pipes(a: &Side, b: &Side, causes: bool) -> Vec<PipeDelta> {
    let mut names = union(a.pipes.keys(), b.pipes.keys());
    // A pipe that ran nothing stands in no report.
    let nothing = |p: &PipeSum| p.busy == 0 && p.records == 0;
    names.retain(|n| match (a.pipes.get(*n), b.pipes.get(*n)) {
        (Some(p), None) | (None, Some(p)) => !nothing(p),
        _ => true,
    });
    // One that is missing on a side idled all the time there.
    let of = |side: &Side, pipe: &str| {
        side.pipes.get(pipe).cloned().unwrap_or_else(|| PipeSum {
            stalls: [(Cause::Idle.name().to_string(), side.cycles)].into(),
            ..PipeSum::default()
        })
    };
    let one = |pipe: &str| {
        let (x, y) = (of(a, pipe), of(b, pipe));
        let cycles = |c: &str| {
            let of = |s: &PipeSum| s.stalls.get(c).copied().unwrap_or(0);
            Pair::new(of(&x), of(&y))
        };
        let stalls = union(x.stalls.keys(), y.stalls.keys()).into_iter().filter(|_| causes);
        let stalls = stalls.map(|c| CauseDelta { cause: c.into(), cycles: cycles(c) }).collect();
        PipeDelta { pipe: pipe.into(), busy: Pair::new(x.busy, y.busy), stalls }
    };
    names.into_iter().map(one).collect()
}

/// By the cycles they hold their pipes, or, if one side does not know these, from issue to end.
fn instructions(a: &Side, b: &Side) -> (&'static str, Vec<InstrDelta>) {
    let sums = |s: &Side, held: bool| match (&s.held, &s.records) {
        (Some(sums), _) if held => sums.clone(),
        (_, Some(r)) => r.issue_to_end(),
        (Some(sums), None) => sums.clone(),
        (None, None) => IndexMap::new(),
    };
    let held = a.held.is_some() && b.held.is_some();
    let (x, y) = (sums(a, held), sums(b, held));
    let none = InstrSum::default();
    let mut names = union(x.keys(), y.keys());
    if sums_only(a) != sums_only(b) {
        let held = |s: &IndexMap<String, InstrSum>, n: &str| s.get(n).is_some_and(|i| i.busy > 0);
        names.retain(|n| held(&x, n) || held(&y, n));
    }
    let mut out: Vec<InstrDelta> = names
        .into_iter()
        .map(|name| {
            let (x, y) = (x.get(name).unwrap_or(&none), y.get(name).unwrap_or(&none));
            let (count, cycles) = (Pair::new(x.count, y.count), Pair::new(x.busy, y.busy));
            InstrDelta { name: name.into(), count, cycles }
        })
        .collect();
    out.sort_by(|p, q| p.cycles.weight().cmp(&q.cycles.weight()).then(p.name.cmp(&q.name)));
    (if held { "on the pipe" } else { "from issue to end" }, out)
}

/// The k-th operation of a name, type and shape belongs to the k-th.
fn ops(a: &Side, b: &Side) -> Vec<OpDelta> {
    let (Some(x), Some(y)) = (&a.ops, &b.ops) else { return Vec::new() };
    let mut rows: IndexMap<(String, usize), OpDelta> = IndexMap::new();
    for (side, ops) in [x, y].into_iter().enumerate() {
        let mut seen: IndexMap<String, usize> = IndexMap::new();
        for (key, sum) in ops {
            let label = key.label();
            let n = seen.entry(label.clone()).or_default();
            *n += 1;
            let row = rows.entry((label.clone(), *n)).or_insert(OpDelta {
                name: label,
                at: key.code.clone(),
                count: Pair::new(0, 0),
                cycles: Pair::new(0, 0),
            });
            (row.count, row.cycles) = match side {
                0 => (Pair::new(sum.count, 0), Pair::new(sum.span, 0)),
                _ => (Pair::new(row.count.a, sum.count), Pair::new(row.cycles.a, sum.span)),
            };
        }
    }
    rows.into_values().collect()
}
