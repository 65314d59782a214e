//! What the timeline of a page draws, as data.

use super::strip::{buckets, colour, strip};
use crate::detail::detail;
use crate::events::{Event, Lane, Trace, What};
use crate::statics::Static;
use indexmap::IndexSet;
use ptoemu_core::stream::{Kind, Pipe};
use ptoemu_core::time::Cause;
use serde::Serialize;

/// Records drawn one by one; more are drawn as shares of buckets. About 20 bytes each.
pub(super) const SINGLE: usize = 40_000;
/// Buckets of a lane.
const BUCKETS: u64 = 4096;
/// Stretches of a pipe's state drawn one by one.
const STRETCHES: usize = 40_000;

/// A timeline.
#[derive(Debug, Serialize)]
pub(super) struct Drawn {
    cycles: u64,
    /// Causes by number, from 1 on (0 is work), with their colours.
    states: Vec<(&'static str, u8)>,
    lanes: Vec<Row>,
    /// Instructions: name, place, line, tile operation, operands of the first run.
    names: Vec<Name>,
    /// Records of each arrow: set, wait.
    arrows: Vec<[u32; 2]>,
    /// Cycles of a bucket; 0 if records are drawn one by one.
    bucket: u64,
}

#[derive(Debug, Serialize)]
struct Name {
    name: String,
    code: String,
    line: u32,
    op: &'static str,
    detail: String,
}

/// A lane: its pipe's accounts, what the pipe did, and its records.
#[derive(Debug, Default, Serialize)]
struct Row {
    name: &'static str,
    busy: u64,
    stalls: Vec<(&'static str, u64)>,
    /// State and cycles, from the start to the end of the run.
    strip: Vec<(u8, u64)>,
    /// Bucket by bucket: cycles worked, what it mostly waited for, records, instruction with the
    /// most cycles.
    buckets: Vec<(u64, u8, u64, u32)>,
    events: Events,
}

/// Records of a lane, one column a property.
#[derive(Debug, Default, Serialize)]
struct Events {
    record: Vec<u32>,
    /// Index into the names.
    name: Vec<u32>,
    /// First cycle, less that of the record before.
    start: Vec<i64>,
    length: Vec<u64>,
    /// Cycles from its end on the lane to its result.
    tail: Vec<u64>,
    /// Cycles from hand-over to its start.
    wait: Vec<u64>,
    /// 0 work, 1 control, 2 barrier, 3 set, 4 wait.
    what: Vec<u8>,
    /// Cycles that bank conflicts added: record and cycles.
    conflict: Vec<(u32, u64)>,
    /// What held a record back: record, state, cycles.
    held: Vec<(u32, u8, u64)>,
    #[serde(skip)]
    last: i64,
}

impl Events {
    fn push(&mut self, t: &Trace, e: &Event) {
        let start = e.start as i64;
        self.record.push(e.record);
        self.name.push(t.statics.index(e.record) as u32);
        self.start.push(start - self.last);
        self.last = start;
        self.length.push(e.end.saturating_sub(e.start));
        self.tail.push(e.done.saturating_sub(e.end));
        self.wait.push(e.start.saturating_sub(e.handed));
        self.what.push(e.what as u8);
        for p in t.phases(e) {
            self.held.push((e.record, p.cause as u8 + 1, p.end - p.start));
        }
        let conflict = t.record(e.record).map_or(0, |(_, entry)| u64::from(entry.conflict));
        if conflict > 0 {
            self.conflict.push((e.record, conflict));
        }
    }
}

/// Pipe whose lane this is.
fn pipe(lane: Lane) -> Option<Pipe> {
    Pipe::ALL.into_iter().find(|p| *p != Pipe::All && Lane::of(*p) == lane)
}

/// The timeline of a trace.
pub(super) fn drawn(t: &Trace) -> Drawn {
    let single = t.selection.len() <= SINGLE;
    let bucket = if single { 0 } else { t.timeline.cycles.div_ceil(BUCKETS).max(1) };
    let used = lanes(t);
    let mut rows: Vec<Row> = used.iter().map(|&l| row(t, l, bucket)).collect();
    let at = |lane: Lane| used.iter().position(|l| *l == lane);
    let names = if single {
        for e in t.events() {
            if let Some(row) = at(e.lane).and_then(|i| rows.get_mut(i)) {
                row.events.push(t, &e);
            }
        }
        t.statics.items().iter().map(|s| name(t, s)).collect()
    } else {
        fill(t, bucket, &used, &mut rows);
        let kept = renumber(&mut rows);
        kept.iter().filter_map(|&i| t.statics.items().get(i as usize)).map(|s| name(t, s)).collect()
    };
    Drawn {
        cycles: t.timeline.cycles,
        states: Cause::ALL.map(|c| (c.name(), colour(c))).to_vec(),
        lanes: rows,
        names,
        arrows: if single { arrows(t) } else { Vec::new() },
        bucket,
    }
}

/// Lanes that show something, from the top.
fn lanes(t: &Trace) -> Vec<Lane> {
    let mut used = [false; Lane::ALL.len()];
    for e in t.events() {
        used[e.lane as usize] = true;
    }
    let order = [
        Lane::Scalar,
        Lane::FlowCtrl,
        Lane::Mte2,
        Lane::Vector,
        Lane::Mte3,
        Lane::Mte1,
        Lane::Cube,
        Lane::Fixp,
        Lane::All,
    ];
    order.into_iter().filter(|l| used[*l as usize] || *l == Lane::Scalar).collect()
}

fn row(t: &Trace, lane: Lane, bucket: u64) -> Row {
    let mut row = Row { name: lane.name(), ..Row::default() };
    let Some(pipe) = pipe(lane) else { return row };
    let totals = t.timeline.pipe(pipe);
    row.busy = totals.busy;
    row.stalls = Cause::ALL
        .into_iter()
        .map(|c| (c.name(), totals.stalled(c)))
        .filter(|(_, n)| *n > 0)
        .collect();
    let whole = if bucket == 0 { strip(t, pipe, STRETCHES) } else { None };
    match whole {
        Some(s) => row.strip = s.into_iter().map(|(s, n)| (s.number(), n)).collect(),
        None => {
            let length = if bucket == 0 { t.timeline.cycles.div_ceil(BUCKETS) } else { bucket };
            row.buckets =
                buckets(t, pipe, length).into_iter().map(|(busy, c)| (busy, c, 0, 0)).collect();
        }
    }
    row
}

/// Counts the records of every bucket and finds the instruction that holds its lane longest there.
fn fill(t: &Trace, bucket: u64, used: &[Lane], rows: &mut [Row]) {
    let n = t.timeline.cycles.div_ceil(bucket) as usize;
    let mut best = vec![vec![0u64; n]; used.len()];
    for e in t.events() {
        let Some(lane) = used.iter().position(|l| *l == e.lane) else { continue };
        let at = (e.start / bucket) as usize;
        let (Some(row), Some(best)) = (rows.get_mut(lane), best[lane].get_mut(at)) else {
            continue;
        };
        row.buckets.resize(n, (0, 0, 0, 0));
        let b = &mut row.buckets[at];
        b.2 += 1;
        let length = e.end - e.start;
        if length >= *best {
            (*best, b.3) = (length, t.statics.index(e.record) as u32);
        }
    }
}

/// Only instructions that a bucket names are kept: a program may have as many as it has records.
/// Says which, in the order of their new numbers.
fn renumber(rows: &mut [Row]) -> IndexSet<u32> {
    let mut kept = IndexSet::new();
    for b in rows.iter_mut().flat_map(|r| &mut r.buckets).filter(|b| b.2 > 0) {
        b.3 = kept.insert_full(b.3).0 as u32;
    }
    kept
}

fn name(t: &Trace, s: &Static) -> Name {
    let mut text = Vec::new();
    detail(t, s.first, 0, &mut text);
    Name {
        name: s.label(),
        code: s.code.clone(),
        line: line(&s.code),
        op: s.tile_op.unwrap_or(""),
        detail: String::from_utf8_lossy(&text).into_owned(),
    }
}

/// Line of a `file:line`; 0 if it names none.
pub(super) fn line(code: &str) -> u32 {
    code.rsplit_once(':').and_then(|(_, n)| n.parse().ok()).unwrap_or(0)
}

/// From every set shown to its wait.
fn arrows(t: &Trace) -> Vec<[u32; 2]> {
    let waits = t.selection.iter().filter_map(|i| t.record(i).map(|(r, _)| (i, r)));
    waits
        .filter(|(_, r)| r.kind == Kind::WaitFlag && t.selection.position(r.link).is_some())
        .map(|(i, r)| [r.link, i])
        .collect()
}

/// What was aggregated, for the reader; empty if nothing was.
pub(super) fn aggregated(t: &Trace) -> String {
    if t.selection.len() <= SINGLE {
        return String::new();
    }
    let bucket = t.timeline.cycles.div_ceil(BUCKETS).max(1);
    format!(
        "{} records are too many to draw one by one: each column stands for {bucket} cycles, its \
         height for the share its pipe worked; arrows are left out. Use --window FROM..TO to see \
         single records.",
        crate::page::grouped(t.selection.len() as u64)
    )
}

const _: () = assert!(What::Work as u8 == 0 && What::Wait as u8 == 4);
