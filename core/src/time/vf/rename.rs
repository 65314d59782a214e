//! Renaming: sources get the current version of their register, destinations a new one.

use super::compile::{NONE, Op};
use super::engine::Engine;
use super::program::File;
use super::state::{Phase, by};
use super::tables::Unit;

impl Engine<'_> {
    /// Renames everything dispatched long enough ago. Registers freed here are seen by the
    /// dispatch of the next cycle only.
    pub fn rename(&mut self, now: i64) {
        let mut freed = 0;
        while self.unrenamed < self.window.tail {
            let seq = self.unrenamed;
            let slot = self.window.get(seq);
            if slot.dispatch + i64::from(self.p.rename) > now {
                break;
            }
            self.unrenamed += 1;
            freed += self.rename_one(seq, slot.op, now);
        }
        self.freed_in_rename = freed;
    }

    fn rename_one(&mut self, seq: u64, at: u32, now: i64) -> u32 {
        let code = self.code;
        let op = &code.ops[at as usize];
        let slot = self.window.get_mut(seq);
        slot.rename = now;
        slot.phase = Phase::Waiting;
        for i in 0..usize::from(op.nsrc) {
            let v = self.map[usize::from(op.src[i])];
            if v != NONE {
                self.read(seq, op, i, v);
            }
        }
        let freed = self.write(seq, op, now);
        match op.unit {
            Unit::Bar => self.bar(seq, op, now),
            Unit::Load | Unit::Store => self.access(seq, op, now),
            Unit::Exu | Unit::Predicate | Unit::Scalar => {}
        }
        let slot = self.window.get(seq);
        if op.unit != Unit::Bar && slot.unready == 0 && slot.holds == 0 {
            self.schedule(seq, now);
        }
        freed
    }

    fn read(&mut self, seq: u64, op: &Op, i: usize, v: u32) {
        let value = &mut self.values.all[v as usize];
        value.consumers += 1;
        let (started, at, class, link) = (value.started, value.start, value.class, value.waiters);
        let producer = value.producer;
        let slot = self.window.get_mut(seq);
        slot.src[i] = v;
        if started {
            let at = at + self.distance(class, op, i);
            self.window.get_mut(seq).raise(by::SOURCES, at, producer);
        } else {
            slot.next[i] = link;
            slot.unready += 1;
            self.values.all[v as usize].waiters = seq * 8 + i as u64 + 1;
        }
    }

    fn write(&mut self, seq: u64, op: &Op, now: i64) -> u32 {
        let mut freed = 0;
        for i in 0..usize::from(op.ndst) {
            let reg = usize::from(op.dst[i]);
            let vector = self.code.files[reg] == File::Vector;
            let new = self.values.new_version(op.class, vector, seq);
            self.window.get_mut(seq).dst[i] = new;
            let old = std::mem::replace(&mut self.map[reg], new);
            if let Some(v) = self.values.all.get_mut(old as usize) {
                v.mapped = false;
                if self.values.try_free(old) {
                    freed += 1;
                    self.register_by = self.register_by.max((now, seq));
                }
            }
        }
        freed
    }

    /// Start of a producer until source `i` of `op` may be used. A computation is woken one cycle
    /// early, because it still has to reach the queue of its unit.
    pub fn distance(&self, producer: u16, op: &Op, i: usize) -> i64 {
        let cycles = match self.code.files[usize::from(op.src[i])] {
            File::Vector => self.tables.data(producer, op.class),
            File::Mask => self.tables.mask(producer, op.class),
            File::Align => i64::from(self.p.align),
            File::Scalar => i64::from(self.p.scalar_latency),
        };
        match op.unit {
            Unit::Exu => (cycles - i64::from(self.p.exu_queue_delay)).max(0),
            _ => cycles,
        }
    }

    /// Everything it waits for is known: enters it at its ready cycle.
    pub fn schedule(&mut self, seq: u64, now: i64) {
        let unit = self.code.ops[self.window.get(seq).op as usize].unit;
        let eligible = i64::from(self.p.enqueue);
        let launch = if unit == Unit::Store || self.skipped.0 > 0 { 0 } else { self.p.startup };
        let slot = self.window.get_mut(seq);
        let ready = (slot.rename + eligible)
            .max(i64::from(launch))
            .max(slot.sources)
            .max(slot.bar)
            .max(slot.order);
        slot.ready = ready;
        slot.phase = Phase::Scheduled;
        if ready <= now && self.before_moves && unit == Unit::Exu {
            self.make_ready(seq);
        } else {
            self.wake.push(ready.max(self.wake_from), seq);
        }
    }
}
