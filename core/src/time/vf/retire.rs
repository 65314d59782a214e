//! Retirement: finished instructions leave in order, with an account of their waits.

use super::engine::Engine;
use super::record::{Cause, VfRecord, Waits};
use super::state::{Phase, Slot};
use super::tables::Unit;

impl Engine<'_> {
    /// Lets finished instructions go, in order, and writes their records.
    pub fn retire(&mut self) {
        while self.window.head < self.window.tail {
            let slot = self.window.get(self.window.head);
            if slot.phase != Phase::Done || !slot.released {
                return;
            }
            let mut waits = self.back_waits(slot);
            for (sum, w) in self.waits.iter_mut().zip(&waits) {
                *sum += w;
            }
            if let Some(front) = self.slot_waits.pop_front() {
                waits.iter_mut().zip(&front).for_each(|(w, f)| *w += f);
                let op = &self.code.ops[slot.op as usize];
                let at = |c: i64| (c + self.skipped.0) as u64;
                let eligible = slot.rename + i64::from(self.p.enqueue);
                let queue = if op.unit == Unit::Exu { slot.queued } else { eligible };
                self.records.push(VfRecord {
                    seq: self.window.head + self.skipped.1,
                    inst: op.inst,
                    dispatch: at(slot.dispatch),
                    rename: at(slot.rename),
                    queue: at(queue),
                    issue: at(slot.start),
                    done: at(slot.done),
                    exu: slot.exu,
                    waits,
                });
            }
            self.window.head += 1;
        }
    }

    /// Waits between renaming and start.
    fn back_waits(&self, s: &Slot) -> Waits {
        let mut w = Waits::default();
        let unit = self.code.ops[s.op as usize].unit;
        let mut t = s.rename + i64::from(self.p.enqueue);
        let launch = if unit == Unit::Store { t } else { i64::from(self.p.startup) };
        // A skip moves the clock but not the launch: only the first instructions can wait for it.
        let launch = if self.skipped.0 > 0 { t } else { launch };
        let bounds = [
            (Cause::Launch, launch),
            (Cause::Operand, s.sources),
            (Cause::Bar, s.bar),
            (Cause::Order, s.order),
        ];
        for (cause, until) in bounds {
            w[cause as usize] += (until - t).max(0) as u64;
            t = t.max(until);
        }
        if unit == Unit::Exu {
            let left = s.queued - i64::from(self.p.exu_queue_delay);
            let cause = if s.crowded { Cause::Queue } else { Cause::Port };
            w[cause as usize] += (left - t).max(0) as u64;
            t = s.queued;
        }
        w[Cause::Port as usize] += (s.start - t).max(0) as u64;
        w
    }
}
