//! Computations: shared queue to unit queue, unit queue to execution.

use super::compile::NONE;
use super::engine::Engine;
use super::state::{Exu, Phase, by};
use super::tables::Unit;

impl Engine<'_> {
    /// Starts ready predicate or scalar instructions, oldest first.
    pub fn start_plain(&mut self, unit: Unit, ports: u32, now: i64) {
        for _ in 0..ports {
            let list = &mut self.ready[unit as usize].0;
            if list.is_empty() {
                return;
            }
            let seq = list.remove(0);
            self.window.get_mut(seq).by[by::PORT] = self.started[unit as usize].1;
            let latency = self.latency(seq);
            self.start(seq, now, latency);
        }
    }

    pub fn latency(&self, seq: u64) -> i64 {
        let op = &self.code.ops[self.window.get(seq).op as usize];
        i64::from(self.tables.rows[usize::from(op.class)].latency)
    }

    /// Cycles after which it no longer counts in its unit, if that is before it is done.
    pub fn leaves_early(&self, op: u32) -> Option<i64> {
        let row = &self.tables.rows[usize::from(self.code.ops[op as usize].class)];
        let early = row.figures.early.filter(|&n| n > 0)?;
        Some(i64::from(row.latency.saturating_sub(early).max(1)))
    }

    /// Moves ready computations to the unit foreseen to start them first: at most one a unit.
    pub fn fill_queues(&mut self, now: i64) {
        let mut used = 0u8;
        let mut moved = 0;
        let mut list = std::mem::take(&mut self.ready[Unit::Exu as usize].0);
        list.retain(|&seq| {
            if moved == self.p.exu_moves || used.count_ones() == self.p.exus {
                return true;
            }
            let Some((exu, at)) = self.choose(seq, used, now) else { return true };
            used |= 1 << exu;
            moved += 1;
            self.enqueue(seq, exu, at, now);
            false
        });
        self.ready[Unit::Exu as usize].0 = list;
    }

    /// Unit and foreseen start; none if every legal unit is taken or full.
    fn choose(&mut self, seq: u64, used: u8, now: i64) -> Option<(usize, i64)> {
        let op = &self.code.ops[self.window.get(seq).op as usize];
        let row = &self.tables.rows[usize::from(op.class)].figures;
        let legal = if row.exu0 == Some(1) { 1 } else { self.exus.len() };
        let queue = usize::from(row.sfu == Some(1));
        let mut best: Option<(i64, usize, usize)> = None;
        let (mut full, mut by_clock) = (false, false);
        for (i, exu) in self.exus.iter().enumerate().take(legal) {
            let waiting = exu.waiting();
            if used >> i & 1 == 1 {
                continue;
            }
            if waiting >= self.p.exu_queue as usize {
                full = true;
                continue;
            }
            let (at, clocked) = self.foresee(exu, queue, op.class, now);
            by_clock |= clocked;
            let key = (at, waiting, i);
            if best.is_none_or(|b| key < b) {
                best = Some(key);
            }
        }
        if best.is_none() && full {
            self.window.get_mut(seq).crowded = true;
        }
        self.clocked[queue] += u64::from(by_clock);
        best.map(|(at, _, i)| (i, at))
    }

    /// Start foreseen on a unit, and whether anything but the queue before it says so.
    fn foresee(&self, exu: &Exu, queue: usize, class: u16, now: i64) -> (i64, bool) {
        let (at, before) = match exu.queues[queue].back() {
            Some(&seq) => {
                let s = self.window.get(seq);
                (s.predicted, u32::from(self.code.ops[s.op as usize].class))
            }
            None => exu.last_of[queue],
        };
        let (earliest, next) =
            (now + i64::from(self.p.exu_queue_delay), at + self.gap(before, class));
        (earliest.max(next), next < earliest || exu.queues[queue].is_empty())
    }

    fn gap(&self, before: u32, class: u16) -> i64 {
        if before == NONE { 0 } else { self.tables.interval(before as u16, class) }
    }

    fn enqueue(&mut self, seq: u64, exu: usize, predicted: i64, now: i64) {
        let unit = &mut self.exus[exu];
        let slot = self.window.get_mut(seq);
        let before = std::mem::replace(&mut unit.last_moved, seq);
        slot.by[by::QUEUE] = if slot.crowded { unit.last_seq } else { before };
        let op = &self.code.ops[slot.op as usize];
        slot.phase = Phase::Queued;
        slot.exu = exu as u8;
        slot.queued = now + i64::from(self.p.exu_queue_delay);
        slot.predicted = predicted;
        let sfu = self.tables.rows[usize::from(op.class)].figures.sfu == Some(1);
        self.exus[exu].queues[usize::from(sfu)].push_back(seq);
        self.returns.push_back((now + i64::from(self.p.credit_return), seq));
    }

    /// Starts at most one instruction on each unit.
    pub fn start_exus(&mut self, now: i64) {
        for i in 0..self.exus.len() {
            if self.exus[i].inflight >= self.p.exu_inflight {
                continue;
            }
            let exu = &self.exus[i];
            let head = |q: usize| {
                let seq = *exu.queues[q].front()?;
                let s = self.window.get(seq);
                let class = self.code.ops[s.op as usize].class;
                let free = exu.last.0 + self.gap(exu.last.1, class);
                (s.queued <= now && free <= now).then_some((s.ready, s.queued, seq, q, class))
            };
            let Some((_, _, seq, q, class)) = head(0).into_iter().chain(head(1)).min() else {
                continue;
            };
            let exu = &mut self.exus[i];
            exu.queues[q].pop_front();
            exu.inflight += 1;
            exu.last = (now, u32::from(class));
            let before = std::mem::replace(&mut exu.last_seq, seq);
            self.window.get_mut(seq).by[by::PORT] = before;
            exu.last_of[q] = exu.last;
            if let Some(cycles) = self.leaves_early(self.window.get(seq).op) {
                self.left.push(now + cycles, i as u64);
            }
            let latency = self.latency(seq);
            self.start(seq, now, latency);
        }
    }
}
