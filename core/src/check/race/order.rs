//! Which records are complete before which: one vector clock per pipe.

use crate::stream::{Flag, Kind, NONE, Pipe, Record};
use rustc_hash::FxHashMap;

/// Pipes that issue records.
pub(super) const PIPES: usize = 7;

const S: usize = Pipe::S as usize;

/// Per pipe: its records numbered below this are complete.
pub(super) type Clock = [u32; PIPES];

/// The order established so far, in program order.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// What is complete before the next record of each pipe starts.
    done: [Clock; PIPES],
    /// What each pending set has seen complete.
    sets: FxHashMap<u32, Clock>,
    /// What each release of a buffer has seen complete.
    releases: FxHashMap<u32, Clock>,
    /// Event ids set and not waited for, one bit each.
    pending: [[u8; PIPES]; PIPES],
    /// Event ids the program sets anywhere, one bit each.
    used: [[u8; PIPES]; PIPES],
}

fn join(to: &mut Clock, from: &Clock) {
    for (a, b) in to.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}

impl Order {
    /// Of a program with these records; nothing is ordered yet.
    pub fn of(records: &[Record]) -> Self {
        let mut order = Order::default();
        for f in records.iter().filter(|r| r.kind == Kind::SetFlag).filter_map(Record::flag) {
            if named(f) {
                order.used[f.src as usize][f.dst as usize] |= bit(f.id);
            }
        }
        order
    }

    /// What is complete before the next record of `pipe`.
    ///
    /// S hands the records to the pipes in order, so what it has waited for is complete for them.
    pub fn before(&self, pipe: usize) -> Clock {
        let mut clock = self.done[pipe];
        join(&mut clock, &self.done[S]);
        clock
    }

    /// Follows the synchronisation of record `i`.
    pub fn step(&mut self, i: u32, r: &Record) {
        match (r.kind, r.flag()) {
            (Kind::Barrier, _) if r.pipe == Pipe::All => self.done = [[i; PIPES]; PIPES],
            (Kind::Barrier, _) => self.barrier(i, r.pipe as usize),
            // A release of a buffer is there for every pipe, as often as one asks.
            (Kind::SetFlag, Some(f)) if f.dst == Pipe::All && (f.src as usize) < PIPES => {
                let clock = self.fired(i, f.src as usize);
                self.releases.insert(i, clock);
            }
            (Kind::SetFlag, Some(f)) if named(f) => {
                let clock = self.fired(i, f.src as usize);
                self.sets.insert(i, clock);
                self.pending[f.src as usize][f.dst as usize] |= bit(f.id);
            }
            (Kind::WaitFlag, Some(f)) if named(f) && self.releases.contains_key(&r.link) => {
                if let Some(clock) = self.releases.get(&r.link) {
                    join(&mut self.done[f.dst as usize], clock);
                }
            }
            (Kind::WaitFlag, Some(f)) if named(f) && r.link != NONE => {
                if let Some(clock) = self.sets.remove(&r.link) {
                    join(&mut self.done[f.dst as usize], &clock);
                }
                self.pending[f.src as usize][f.dst as usize] &= !bit(f.id);
            }
            _ => {}
        }
    }

    /// Everything of `pipe` before record `i` is complete before what follows on it.
    pub fn barrier(&mut self, i: u32, pipe: usize) {
        self.done[pipe][pipe] = i;
    }

    /// A set before record `i`, waited for at once.
    pub fn flag(&mut self, i: u32, src: usize, dst: usize) {
        let clock = self.fired(i, src);
        join(&mut self.done[dst], &clock);
    }

    /// A flag fires when everything before it on its pipe is complete.
    fn fired(&self, i: u32, src: usize) -> Clock {
        let mut clock = self.before(src);
        clock[src] = i;
        clock
    }

    /// An event id of the pair that the program never sets, or else one that is not set now: the
    /// line it is meant for may run again while another is.
    pub fn free_id(&self, src: usize, dst: usize) -> Option<u32> {
        let free = |ids: u8| Some(ids.trailing_ones()).filter(|n| *n < 8);
        free(self.used[src][dst]).or_else(|| free(self.pending[src][dst]))
    }
}

fn named(f: Flag) -> bool {
    (f.src as usize) < PIPES && (f.dst as usize) < PIPES
}

fn bit(id: u8) -> u8 {
    1u8.checked_shl(u32::from(id)).unwrap_or(0)
}
