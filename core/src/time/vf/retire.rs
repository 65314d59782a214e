//! Retirement: finished instructions leave in order, with an account of their waits.

use super::engine::Engine;
use super::record::{Cause, Link, VfRecord, Waits};
use super::state::{NOBODY, Phase, Slot, by};
use super::tables::Unit;

/// What happened to an instruction at the head of the front end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Front {
    /// It became the head.
    since: i64,
    pub waits: Waits,
    /// What it waited for last.
    pub cause: Cause,
    pub by: u64,
}

impl Front {
    pub fn new(since: i64) -> Front {
        Front { since, waits: Waits::default(), cause: Cause::Stage, by: NOBODY }
    }
}

impl Engine<'_> {
    /// Lets finished instructions go, in order, and writes their records.
    pub fn retire(&mut self) {
        while self.window.head < self.window.tail {
            let slot = self.window.get(self.window.head);
            if slot.phase != Phase::Done || !slot.released {
                return;
            }
            let (waits, moved, after) = self.back_waits(slot);
            for (sum, w) in self.waits.iter_mut().zip(&waits) {
                *sum += w;
            }
            if let Some(front) = self.fronts.pop_front() {
                let record = self.record(front, waits, [moved, after]);
                self.records.push(record);
            }
            self.window.head += 1;
        }
    }

    fn record(&self, front: Front, waits: Waits, [moved, after]: [Link; 2]) -> VfRecord {
        let slot = self.window.get(self.window.head);
        let op = &self.code.ops[slot.op as usize];
        let at = |c: i64| (c + self.skipped.0) as u64;
        let eligible = slot.rename + i64::from(self.p.enqueue);
        let queue = if op.unit == Unit::Exu { slot.queued } else { eligible };
        VfRecord {
            seq: self.window.head + self.skipped.1,
            inst: op.inst,
            head: at(front.since),
            dispatch: at(slot.dispatch),
            rename: at(slot.rename),
            queue: at(queue),
            issue: at(slot.start),
            done: at(slot.done),
            latency: self.own(slot) as u64,
            exu: slot.exu,
            front: front.waits,
            waits,
            held: self.moved(link(front.cause, front.by)),
            after: self.moved(after),
            moved: self.moved(moved),
        }
    }

    /// A link as it is behind the periods skipped so far.
    fn moved(&self, l: Link) -> Link {
        Link { seq: l.seq.map(|s| s + self.skipped.1), ..l }
    }

    /// Cycles from start to done that are the instruction's own.
    fn own(&self, s: &Slot) -> i64 {
        let op = &self.code.ops[s.op as usize];
        match op.unit {
            Unit::Bar => s.done - s.start,
            _ => i64::from(self.tables.rows[usize::from(op.class)].latency),
        }
    }

    /// Waits from dispatch on, and the last of them before the queue of the unit and before the
    /// start.
    fn back_waits(&self, s: &Slot) -> (Waits, Link, Link) {
        let unit = self.code.ops[s.op as usize].unit;
        let mut a = Account::new(s.dispatch);
        a.pass(s.rename + i64::from(self.p.enqueue));
        // A skip moves the clock but not the launch: only the first instructions can wait for it.
        if unit != Unit::Store && self.skipped.0 == 0 {
            a.until(Cause::Launch, i64::from(self.p.startup), NOBODY);
        }
        a.until(Cause::Operand, s.sources, s.by[by::SOURCES]);
        a.until(Cause::Bar, s.bar, s.by[by::BAR]);
        a.until(Cause::Order, s.order, s.by[by::ORDER]);
        if unit == Unit::Exu {
            let cause = if s.crowded { Cause::Queue } else { Cause::Port };
            a.until(cause, s.queued - i64::from(self.p.exu_queue_delay), s.by[by::QUEUE]);
            a.pass(s.queued);
        }
        let moved = a.last;
        a.until(Cause::Port, s.start, s.by[by::PORT]);
        // Blocks of a store that met busy banks are written later.
        a.waits[Cause::Port as usize] += (s.done - s.start - self.own(s)) as u64;
        (a.waits, if unit == Unit::Exu { moved } else { a.last }, a.last)
    }
}

fn link(cause: Cause, who: u64) -> Link {
    Link { cause, seq: Some(who).filter(|&s| s != NOBODY) }
}

/// Cycles by cause, up to a moment.
struct Account {
    now: i64,
    waits: Waits,
    last: Link,
}

impl Account {
    fn new(now: i64) -> Account {
        Account { now, waits: Waits::default(), last: link(Cause::Stage, NOBODY) }
    }

    /// On its way until `at`.
    fn pass(&mut self, at: i64) {
        self.waits[Cause::Stage as usize] += (at - self.now) as u64;
        self.now = at;
    }

    /// Waits until `at`, if that is later.
    fn until(&mut self, cause: Cause, at: i64, who: u64) {
        if at > self.now {
            self.waits[cause as usize] += (at - self.now) as u64;
            self.now = at;
            self.last = link(cause, who);
        }
    }
}
