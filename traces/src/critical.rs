//! The critical path: the chain of waits from the end of a run back to its start.
//!
//! Each step begins where the step before it ends, so that the steps add up to the cycles of the
//! run. Shortening anything off the path changes nothing.

use crate::events::Trace;
use ptoemu_core::stream::{Kind, Record};
use ptoemu_core::time::{Cause, Entry};

/// Why a step could not begin earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Edge {
    /// The start of the run.
    Start,
    /// S had to come to it.
    Handover,
    /// The instruction before it held the pipe.
    Pipe,
    /// A barrier.
    Barrier,
    /// A flag.
    Flag,
    /// A mask or mode write.
    Mask,
    /// A load of S.
    Load,
    /// The last result.
    Result,
}

impl Edge {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Edge::Start => "start",
            Edge::Handover => "handover",
            Edge::Pipe => "pipe",
            Edge::Barrier => "barrier",
            Edge::Flag => "flag",
            Edge::Mask => "mask",
            Edge::Load => "load",
            Edge::Result => "result",
        }
    }

    fn of(cause: Cause) -> Edge {
        match cause {
            Cause::Mask => Edge::Mask,
            Cause::Barrier => Edge::Barrier,
            Cause::Flag => Edge::Flag,
            Cause::Load => Edge::Load,
            Cause::Drain | Cause::End | Cause::Idle => Edge::Result,
            Cause::Issue | Cause::Handover => Edge::Handover,
        }
    }
}

/// A stretch of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The record that takes this time; none for the end of the run and for S handing over.
    pub record: Option<u32>,
    /// First cycle.
    pub from: u64,
    /// One past the last cycle.
    pub to: u64,
    /// What it waited for: how it hangs on the step before.
    pub edge: Edge,
}

impl Step {
    /// Its length.
    pub fn cycles(&self) -> u64 {
        self.to - self.from
    }
}

/// Where the path goes on, going back in time.
#[derive(Clone, Copy)]
enum Link {
    /// At the result of a record.
    Done(u32),
    /// At the moment a record left its pipe free.
    Free(u32),
    /// On S, when it came to a record.
    Scalar(u32),
}

/// The path, in order of time.
pub fn critical_path(t: &Trace) -> Vec<Step> {
    let mut w = Walk { t, at: t.timeline.cycles, steps: Vec::new() };
    let n = t.stream.records.len().min(t.timeline.entries.len()) as u32;
    let last = (0u32..).zip(&t.timeline.entries).max_by_key(|(_, e)| e.done);
    if let Some((_, e)) = last {
        w.take(None, e.done, Edge::Result);
    }
    let mut link = match last {
        Some((i, e)) if e.done == w.at => Link::Done(i),
        _ => Link::Scalar(n),
    };
    while w.at > 0 {
        let next = match link {
            Link::Done(i) => w.done(i),
            Link::Free(i) => w.free(i),
            Link::Scalar(i) => w.scalar(i),
        };
        let Some(next) = next else { break };
        link = next;
    }
    w.take(None, 0, Edge::Start);
    w.steps.reverse();
    w.steps
}

struct Walk<'t, 'a> {
    t: &'t Trace<'a>,
    /// Cycles from here on are on the path already.
    at: u64,
    steps: Vec<Step>,
}

impl Walk<'_, '_> {
    /// Puts the cycles from `from` on the path.
    fn take(&mut self, record: Option<u32>, from: u64, edge: Edge) {
        if from >= self.at {
            return;
        }
        let (to, joined) = (self.at, self.steps.last_mut());
        self.at = from;
        match joined {
            // S handing over many records is one step.
            Some(s)
                if record.is_none()
                    && s.record.is_none()
                    && s.from == to
                    && s.edge != Edge::Result =>
            {
                (s.from, s.edge) = (from, edge);
            }
            _ => self.steps.push(Step { record, from, to, edge }),
        }
    }

    fn entry(&self, i: u32) -> Option<(Record, Entry)> {
        self.t.record(i).map(|(r, e)| (*r, *e))
    }

    /// What held record `i` back last.
    fn why(&self, i: u32) -> Edge {
        self.t.stalls(i).last().map_or(Edge::Pipe, |s| Edge::of(s.cause))
    }

    fn done(&mut self, i: u32) -> Option<Link> {
        let (r, e) = self.entry(i)?;
        let known = e.after < i;
        match r.kind {
            Kind::Vector | Kind::Copy | Kind::Dma | Kind::Function => return self.free(i),
            Kind::ScalarLoad | Kind::ScalarStore => {
                self.take(Some(i), e.issue, if known { Edge::Load } else { Edge::Handover });
            }
            Kind::WaitFlag => return (r.link < i).then_some(Link::Done(r.link)),
            Kind::SetFlag | Kind::MaskWrite if known => {
                let (_, before) = self.entry(e.after)?;
                self.take(Some(i), before.done, Edge::Result);
            }
            Kind::SetFlag => self.take(Some(i), e.issue, Edge::Handover),
            Kind::MaskWrite | Kind::CtrlWrite => return Some(Link::Scalar(i + 1)),
            Kind::Barrier => {}
        }
        Some(if known { Link::Done(e.after) } else { Link::Scalar(i) })
    }

    /// Record `i` held its pipe, or its result was on its way.
    fn free(&mut self, i: u32) -> Option<Link> {
        let (r, e) = self.entry(i)?;
        if e.after >= i {
            self.take(Some(i), e.issue, Edge::Handover);
            return Some(Link::Scalar(i));
        }
        let (p, f) = self.entry(e.after)?;
        if p.pipe == r.pipe && f.issue + u64::from(f.busy) == e.issue && p.kind != Kind::SetFlag {
            self.take(Some(i), e.issue, Edge::Pipe);
            return Some(Link::Free(e.after));
        }
        self.take(Some(i), e.issue, self.why(i));
        Some(Link::Done(e.after))
    }

    /// On S when it came to record `i`: what it did for the record before.
    fn scalar(&mut self, i: u32) -> Option<Link> {
        let k = i.checked_sub(1)?;
        let (r, e) = self.entry(k)?;
        let handed = e.issue.saturating_sub(u64::from(e.wait));
        match r.kind {
            Kind::Vector | Kind::Copy | Kind::Dma | Kind::Function => {
                self.take(None, handed, Edge::Handover)
            }
            Kind::ScalarLoad | Kind::ScalarStore => {
                self.take(Some(k), e.issue, if e.after < k { Edge::Load } else { Edge::Handover });
                if e.after < k {
                    return Some(Link::Done(e.after));
                }
            }
            Kind::WaitFlag | Kind::Barrier if e.after < k => {
                self.take(None, e.done, Edge::of(self.cause(&r)));
                return Some(Link::Done(e.after));
            }
            Kind::MaskWrite => self.take(Some(k), e.issue, Edge::Handover),
            _ => self.take(None, e.issue, Edge::Handover),
        }
        Some(Link::Scalar(k))
    }

    fn cause(&self, r: &Record) -> Cause {
        if r.kind == Kind::WaitFlag { Cause::Flag } else { Cause::Barrier }
    }
}
