//! Rows of the instructions inside vector functions.

use super::{Mark, Marks, Writer, text};
use crate::events::Lane;
use crate::put;
use crate::vf::{Function, Micros};
use ptoemu_core::time::vf::{Cause, VfRecord};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Instructions of one function whose ids are remembered for arrows.
const REMEMBERED: usize = 1 << 12;

/// A row that is not finished.
struct Open {
    marks: Marks,
    step: usize,
    done: u64,
}

/// Functions that were launched, and the rows of the one that runs.
#[derive(Default)]
pub(super) struct Inner<'t, 'a> {
    launched: VecDeque<Micros<'t, 'a>>,
    /// The function that runs; its next instruction is in `born`.
    now: Option<Micros<'t, 'a>>,
    born: Option<VfRecord>,
    /// Next cycle, id and place of every open row.
    due: BinaryHeap<Reverse<(u64, u32, usize)>>,
    rows: Vec<Open>,
    free: Vec<usize>,
    /// Number in the function and id of the last instructions.
    ids: VecDeque<(u64, u32)>,
}

impl<'t, 'a> Inner<'t, 'a> {
    /// A function is launched behind those before it.
    pub fn launch(&mut self, micros: Micros<'t, 'a>) {
        self.launched.push_back(micros);
        if self.born.is_none() {
            self.read();
        }
    }

    /// Takes the next instruction, if need be of the next function.
    fn read(&mut self) {
        loop {
            self.born = self.now.as_mut().and_then(Iterator::next);
            if self.born.is_some() {
                return;
            }
            self.now = self.launched.pop_front();
            self.ids.clear();
            if self.now.is_none() {
                return;
            }
        }
    }

    /// Next cycle in which something happens.
    pub fn next(&self) -> u64 {
        let due = self.due.peek().map(|Reverse(d)| d.0);
        let born = self.born.as_ref().map(|r| r.head);
        due.into_iter().chain(born).min().unwrap_or(u64::MAX)
    }

    fn id(&self, seq: u64) -> Option<u32> {
        let at = self.ids.binary_search_by_key(&seq, |i| i.0).ok()?;
        self.ids.get(at).map(|i| i.1)
    }
}

impl Writer<'_, '_, '_> {
    /// What happens next inside functions, in cycle `at`.
    pub(super) fn inside(&mut self, at: u64) {
        self.advance(at);
        match self.inner.due.peek() {
            Some(&Reverse((cycle, id, place))) if cycle <= at => {
                self.inner.due.pop();
                self.go_on(id, place);
            }
            _ => self.bear(),
        }
    }

    /// Declares the next instruction.
    fn bear(&mut self) {
        let now = self.inner.now.as_ref().map(|m| (m.function, m.index));
        let (Some(r), Some((f, index))) = (self.inner.born, now) else { return };
        if f.inst(&r).is_some() {
            let id = self.declare_inner(f, &r, index);
            if self.inner.ids.len() == REMEMBERED {
                self.inner.ids.pop_front();
            }
            self.inner.ids.push_back((r.seq, id));
            let row = Open { marks: marks(f, &r), step: 0, done: r.done };
            let place = match self.inner.free.pop() {
                Some(place) => {
                    self.inner.rows[place] = row;
                    place
                }
                None => {
                    self.inner.rows.push(row);
                    self.inner.rows.len() - 1
                }
            };
            self.go_on(id, place);
        }
        self.t.tick();
        self.inner.read();
    }

    fn declare_inner(&mut self, f: &Function, r: &VfRecord, index: usize) -> u32 {
        let lane = f.inst(r).map_or(Lane::RvecScalar, |i| i.lane);
        let id = self.declare(self.ids, lane);
        self.command(b"L", u64::from(id));
        self.line.extend_from_slice(b"\t0\t    ");
        put::dec(&mut self.line, r.seq);
        self.line.extend_from_slice(b": ");
        if let Some(i) = f.inst(r) {
            self.line.extend_from_slice(i.name.as_bytes());
            self.line.push(b' ');
            self.line.extend_from_slice(i.detail.as_bytes());
        }
        self.line.push(b'\n');
        self.command(b"L", u64::from(id));
        self.line.extend_from_slice(b"\t1\t");
        if let Some(i) = f.inst(r) {
            let code = self.t.statics.inner_code(index, i.site);
            text(&mut self.line, code.rsplit('/').next().unwrap_or(code));
            self.line.extend_from_slice(b"\\n");
        }
        for (name, cycle) in [
            ("dispatched ", r.dispatch),
            ("renamed ", r.rename),
            ("queued ", r.queue),
            ("starts ", r.issue),
            ("done ", r.done),
        ] {
            self.line.extend_from_slice(name.as_bytes());
            put::dec(&mut self.line, cycle);
            self.line.extend_from_slice(b"\\n");
        }
        self.line.extend_from_slice(b"waited for ");
        self.line.extend_from_slice(r.after.cause.name().as_bytes());
        self.line.push(b'\n');
        let producers: SmallVec<[u32; 2]> = [r.after.seq, r.held.seq]
            .into_iter()
            .flatten()
            .filter_map(|s| self.inner.id(s))
            .collect();
        for (n, p) in producers.iter().enumerate() {
            if !producers[..n].contains(p) {
                self.command(b"W", u64::from(id));
                self.field(u64::from(*p));
                self.line.extend_from_slice(b"\t0\n");
            }
        }
        id
    }

    /// Writes what happens to a row now, and queues it for its next cycle.
    fn go_on(&mut self, id: u32, place: usize) {
        let now = self.now;
        let due = loop {
            let Some(row) = self.inner.rows.get_mut(place) else { return };
            let Some(m) = row.marks.get(row.step).copied() else { break row.done };
            if m.at > now {
                break m.at;
            }
            row.step += 1;
            self.command(if m.start { b"S" } else { b"E" }, u64::from(id));
            self.field(u64::from(m.lane));
            self.line.push(b'\t');
            self.line.extend_from_slice(m.name.as_bytes());
            self.line.push(b'\n');
        };
        if due > now {
            self.inner.due.push(Reverse((due, id, place)));
            return;
        }
        self.command(b"R", u64::from(id));
        self.field(self.retired);
        self.line.extend_from_slice(b"\t0\n");
        self.retired += 1;
        self.inner.free.push(place);
    }
}

/// Stages on lane 0, what held it back on lane 1.
fn marks(f: &Function, r: &VfRecord) -> Marks {
    let mut m = Marks::new();
    let eligible = f.eligible(r);
    let mut stage = |from: u64, to: u64, name| {
        if from < to {
            m.push(Mark { at: from, start: true, lane: 0, name });
        }
    };
    stage(r.head, r.dispatch, "F");
    stage(r.dispatch, r.rename, "D");
    stage(r.rename, eligible, "R");
    stage(eligible, r.queue.min(r.issue), "Sh");
    stage(r.queue.max(eligible), r.issue, "Q");
    let unit = match f.inst(r).map(|i| i.lane) {
        Some(Lane::RvecLoad) => "Xl",
        Some(Lane::RvecStore) => "Xs",
        Some(Lane::RvecExecute) if r.exu == 0 => "Xe0",
        Some(Lane::RvecExecute) => "Xe1",
        _ => "Xp",
    };
    stage(r.issue, r.done, unit);
    for s in f.stretches(r).iter().filter(|s| s.cause != Cause::Stage) {
        m.push(Mark { at: s.start, start: true, lane: 1, name: s.cause.name() });
        m.push(Mark { at: s.end, start: false, lane: 1, name: s.cause.name() });
    }
    m.sort_by_key(|m| m.at);
    m
}
