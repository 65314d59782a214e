//! Loads, stores, barriers and the order of accesses to the same bytes.

use super::compile::Op;
use super::engine::Engine;
use super::params::VfParams;
use super::program::{Bar, Kind};
use super::state::{BarState, NOBODY, Phase, by};
use super::tables::Unit;

/// Barrier start until a younger access may start; `None` if it does not wait.
fn delay(p: &VfParams, bar: Bar, unit: Unit) -> Option<i64> {
    let store = i64::from(p.bar_load_store + p.bar_load_store_use);
    let load = i64::from(p.bar_store_load + p.bar_store_load_use);
    match (bar, unit) {
        (Bar::LoadStore | Bar::All, Unit::Store) => Some(store),
        (Bar::StoreLoad | Bar::All, Unit::Load) => Some(load),
        (Bar::StoreStore, Unit::Store) if p.bar_store_store > 0 => {
            Some(i64::from(p.bar_store_store.saturating_sub(p.bar_wait)))
        }
        _ => None,
    }
}

/// Barrier start until it retires and the next may start.
fn retire(p: &VfParams, bar: Bar) -> i64 {
    let (ls, sl) = (p.bar_load_store_retire, p.bar_store_load_retire);
    i64::from(match bar {
        Bar::LoadStore => ls,
        Bar::StoreLoad => sl,
        Bar::All => ls.max(sl),
        Bar::StoreStore => p.bar_store_store.saturating_sub(p.bar_wait),
    })
}

/// Cycles after its start that a barrier can still matter.
pub(crate) fn bar_life(p: &VfParams, bar: Bar) -> i64 {
    let of = |u| delay(p, bar, u).unwrap_or(0);
    retire(p, bar).max(of(Unit::Load)).max(of(Unit::Store))
}

/// Does the barrier wait for an older access of this unit?
fn covers(bar: Bar, unit: Unit) -> bool {
    bar != Bar::StoreStore || unit == Unit::Store
}

impl Engine<'_> {
    /// A load or store is renamed: what holds it back?
    pub fn access(&mut self, seq: u64, op: &Op, now: i64) {
        let p = self.p;
        while self
            .bars
            .front()
            .is_some_and(|b| b.start.is_some_and(|s| s + bar_life(p, b.bar) < now))
        {
            self.bars.pop_front();
        }
        for b in self.bars.iter_mut() {
            let Some(d) = delay(p, b.bar, op.unit) else { continue };
            let slot = self.window.get_mut(seq);
            match b.start {
                Some(s) => slot.raise(by::BAR, s + d, b.seq),
                None => {
                    slot.holds += 1;
                    b.waiting.push(seq);
                }
            }
        }
        if op.unit == Unit::Store {
            self.stores.push_back(seq);
            return;
        }
        self.loads_out += 1;
        if op.may_alias && p.same_address_order == 1 {
            self.order_behind_stores(seq, op);
        }
    }

    fn order_behind_stores(&mut self, seq: u64, op: &Op) {
        let Some(l) = &op.mem else { return };
        let at = self.window.get(seq).addr;
        for &older in &self.stores {
            let s = self.window.get(older);
            let Some(m) = &self.code.ops[s.op as usize].mem else { continue };
            let apart = s.addr.wrapping_add(m.extent.0).wrapping_sub(at.wrapping_add(l.extent.1))
                >= 0
                || at.wrapping_add(l.extent.0).wrapping_sub(s.addr.wrapping_add(m.extent.1)) >= 0;
            if m.region == l.region && !apart {
                self.orders.push((older, seq));
                let slot = self.window.get_mut(seq);
                slot.holds += 1;
            }
        }
    }

    /// A barrier is renamed.
    pub fn bar(&mut self, seq: u64, op: &Op, now: i64) {
        let Kind::Bar(bar) = op.kind else { return };
        let stores = self.stores.len() as u32;
        let pending = if bar == Bar::StoreStore { stores } else { stores + self.loads_out };
        let free_at = now + i64::from(self.p.enqueue);
        self.bars.push_back(BarState {
            seq,
            bar,
            pending,
            free_at,
            free_by: NOBODY,
            start: None,
            waiting: Vec::new(),
        });
        self.start_bars(now);
    }

    /// Starts barriers, in order, that have nothing left to wait for.
    fn start_bars(&mut self, now: i64) {
        let (mut after, mut by) = (i64::MIN, NOBODY);
        for i in 0..self.bars.len() {
            let b = &self.bars[i];
            if let Some(s) = b.start {
                (after, by) = (after, by).max((s + retire(self.p, b.bar), b.seq));
                continue;
            }
            // A barrier that orders nothing neither waits nor holds.
            let empty = bar_life(self.p, b.bar) == 0;
            if b.pending > 0 && !empty {
                return;
            }
            let (free, seq) = ((b.free_at, b.free_by), b.seq);
            let (start, who) = if empty { free } else { free.max((after, by)) };
            self.window.get_mut(seq).by[by::BAR] = who;
            self.begin_bar(i, start.max(now + 1), now);
            (after, by) = (after, by).max((start + retire(self.p, self.bars[i].bar), seq));
        }
    }

    fn begin_bar(&mut self, i: usize, start: i64, now: i64) {
        let b = &mut self.bars[i];
        b.start = Some(start);
        let (seq, bar, waiting) = (b.seq, b.bar, std::mem::take(&mut b.waiting));
        let slot = self.window.get_mut(seq);
        slot.phase = Phase::Running;
        slot.start = start;
        slot.ready = start;
        slot.bar = start;
        slot.done = start + retire(self.p, bar).max(1);
        slot.released = true;
        let done = slot.done;
        self.done.push(done, seq);
        for held in waiting {
            let unit = self.code.ops[self.window.get(held).op as usize].unit;
            let d = delay(self.p, bar, unit).unwrap_or(0);
            let slot = self.window.get_mut(held);
            slot.raise(by::BAR, start + d, seq);
            slot.holds -= 1;
            if slot.holds == 0 && slot.unready == 0 {
                self.schedule(held, now);
            }
        }
    }

    pub fn load_done(&mut self, seq: u64, now: i64) {
        self.loads_out -= 1;
        self.access_done(seq, Unit::Load, now);
    }

    pub fn store_done(&mut self, seq: u64, now: i64) {
        if let Some(i) = self.stores.iter().position(|&s| s == seq) {
            self.stores.remove(i);
        }
        let mut i = 0;
        while i < self.orders.len() {
            let (store, load) = self.orders[i];
            if store != seq {
                i += 1;
                continue;
            }
            self.orders.swap_remove(i);
            let slot = self.window.get_mut(load);
            slot.raise(by::ORDER, now, seq);
            slot.holds -= 1;
            if slot.holds == 0 && slot.unready == 0 {
                self.schedule(load, now);
            }
        }
        self.access_done(seq, Unit::Store, now);
    }

    fn access_done(&mut self, seq: u64, unit: Unit, now: i64) {
        if self.bars.is_empty() {
            return;
        }
        let free_at = now + i64::from(self.p.bar_wait);
        for b in self.bars.iter_mut().filter(|b| b.start.is_none() && b.seq > seq) {
            if covers(b.bar, unit) {
                b.pending -= 1;
                (b.free_at, b.free_by) = (b.free_at, b.free_by).max((free_at, seq));
            }
        }
        self.start_bars(now);
    }

    /// Who had the memory ports before: the load or store that started last.
    fn note_port(&mut self, seq: u64) {
        let last = self.started[Unit::Load as usize].max(self.started[Unit::Store as usize]);
        self.window.get_mut(seq).by[by::PORT] = last.1;
    }

    /// Starts ready loads, oldest first.
    pub fn start_loads(&mut self, now: i64) {
        let mut started = 0;
        let mut i = 0;
        while started < self.p.load_ports && i < self.ready[Unit::Load as usize].0.len() {
            let seq = self.ready[Unit::Load as usize].0[i];
            let slot = self.window.get(seq);
            let need = self.banks.need(self.code.ops[slot.op as usize].mem.as_ref(), slot.addr);
            if !self.banks.load_fits(&need) {
                i += 1;
                continue;
            }
            self.banks.take_load(&need, now);
            self.ready[Unit::Load as usize].0.remove(i);
            self.note_port(seq);
            started += 1;
            let latency = self.latency(seq);
            self.start(seq, now, latency);
        }
    }

    /// Writes blocks left behind, then starts ready stores, oldest first; a store that meets busy
    /// banks holds those behind it.
    pub fn start_stores(&mut self, now: i64) {
        if self.banks.has_left() {
            let window = &mut self.window;
            let mut finished = Vec::new();
            self.banks.write_left(|seq| {
                let s = window.get_mut(seq);
                s.behind -= 1;
                if s.behind == 0 {
                    finished.push(seq);
                }
            });
            for seq in finished {
                let done = now + self.latency(seq);
                self.window.get_mut(seq).done = done;
                self.done.push(done, seq);
            }
        }
        for _ in 0..self.p.store_ports {
            let Some(&seq) = self.ready[Unit::Store as usize].0.first() else { return };
            let slot = self.window.get(seq);
            let need = self.banks.need(self.code.ops[slot.op as usize].mem.as_ref(), slot.addr);
            let Some(behind) = self.banks.start_store(&need, seq, now) else { return };
            self.window.get_mut(seq).behind = behind;
            self.ready[Unit::Store as usize].0.remove(0);
            self.note_port(seq);
            self.returns.push_back((now + i64::from(self.p.credit_return), seq));
            let latency = self.latency(seq);
            self.start(seq, now, latency);
        }
    }
}
