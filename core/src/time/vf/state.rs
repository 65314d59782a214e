//! In-flight instructions, register values and execution units.

use super::compile::{DST, NONE, SRC};
use std::collections::VecDeque;

/// How far an instruction has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    #[default]
    Dispatched,
    /// Waits for sources, a barrier or an older store.
    Waiting,
    /// Its ready cycle is known.
    Scheduled,
    /// Ready, waits for its port or for room in a unit queue.
    Ready,
    /// In the queue of a unit.
    Queued,
    Running,
    Done,
}

/// Places in [`Slot::by`].
pub(crate) mod by {
    pub const SOURCES: usize = 0;
    pub const BAR: usize = 1;
    pub const ORDER: usize = 2;
    pub const QUEUE: usize = 3;
    pub const PORT: usize = 4;
}

/// No instruction.
pub(crate) const NOBODY: u64 = u64::MAX;
/// Something no instruction has done yet.
pub(crate) const NEVER: (i64, u64) = (i64::MIN, NOBODY);

/// One in-flight instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slot {
    pub op: u32,
    pub phase: Phase,
    /// Sources whose producer has not started.
    pub unready: u8,
    /// Barriers and stores that hold it back.
    pub holds: u32,
    pub exu: u8,
    pub released: bool,
    /// Blocks of a store not written yet.
    pub behind: u8,
    /// Met a full unit queue.
    pub crowded: bool,
    pub dispatch: i64,
    pub rename: i64,
    /// Earliest cycle its sources allow.
    pub sources: i64,
    /// Earliest cycle barriers allow.
    pub bar: i64,
    /// Earliest cycle older stores allow.
    pub order: i64,
    /// First cycle it could go on.
    pub ready: i64,
    /// Arrival in the unit queue.
    pub queued: i64,
    /// Start foreseen when the unit was chosen.
    pub predicted: i64,
    pub start: i64,
    pub done: i64,
    pub addr: i64,
    /// Who set `sources`, `bar`, `order`; who went before it to the unit queue and to execution.
    pub by: [u64; 5],
    pub src: [u32; SRC],
    /// Next waiter on the same value: sequence number * 8 + source + 1.
    pub next: [u64; SRC],
    pub dst: [u32; DST],
}

/// One renamed register version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub class: u16,
    pub vector: bool,
    /// Current version of an architectural register.
    pub mapped: bool,
    /// The producer has not finished.
    pub pending: bool,
    pub started: bool,
    pub start: i64,
    /// References of consumers not yet released.
    pub consumers: u32,
    pub waiters: u64,
    pub producer: u64,
}

/// Register versions, reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    pub all: Vec<Value>,
    free: Vec<u32>,
}

impl Values {
    pub fn new_version(&mut self, class: u16, vector: bool, producer: u64) -> u32 {
        let v = Value {
            class,
            vector,
            mapped: true,
            pending: true,
            started: false,
            start: 0,
            consumers: 0,
            waiters: 0,
            producer,
        };
        if let Some(i) = self.free.pop() {
            self.all[i as usize] = v;
            return i;
        }
        self.all.push(v);
        (self.all.len() - 1) as u32
    }

    /// Frees a version nobody can name, read or write any more. True if that returns a physical
    /// vector register.
    pub fn try_free(&mut self, id: u32) -> bool {
        let Some(v) = self.all.get(id as usize) else { return false };
        if v.mapped || v.pending || v.consumers > 0 {
            return false;
        }
        self.free.push(id);
        v.vector
    }
}

/// The instructions between dispatch and retirement, by sequence number.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    slots: Vec<Slot>,
    pub head: u64,
    pub tail: u64,
}

impl Default for Window {
    fn default() -> Self {
        Window { slots: vec![Slot::default(); 256], head: 0, tail: 0 }
    }
}

impl Slot {
    /// Raises one of its bounds and notes who did.
    pub fn raise(&mut self, what: usize, at: i64, seq: u64) {
        let bound = match what {
            by::SOURCES => &mut self.sources,
            by::BAR => &mut self.bar,
            _ => &mut self.order,
        };
        if at > *bound || at == *bound && self.by[what] < seq {
            *bound = at;
            self.by[what] = seq;
        }
    }
}

impl Window {
    fn at(&self, seq: u64) -> usize {
        seq as usize & (self.slots.len() - 1)
    }

    pub fn get(&self, seq: u64) -> &Slot {
        &self.slots[self.at(seq)]
    }

    pub fn get_mut(&mut self, seq: u64) -> &mut Slot {
        let at = self.at(seq);
        &mut self.slots[at]
    }

    pub fn push(&mut self, slot: Slot) -> u64 {
        if self.tail - self.head == self.slots.len() as u64 {
            self.grow();
        }
        let seq = self.tail;
        self.tail += 1;
        *self.get_mut(seq) = slot;
        seq
    }

    fn grow(&mut self) {
        let mut bigger = vec![Slot::default(); self.slots.len() * 2];
        for seq in self.head..self.tail {
            bigger[seq as usize & (self.slots.len() * 2 - 1)] = self.get(seq).clone();
        }
        self.slots = bigger;
    }
}

/// Instruction classes that queue apart in front of a unit.
pub(crate) const QUEUES: usize = 2;

/// One execution unit.
#[derive(Clone, Debug)]
pub(crate) struct Exu {
    pub queues: [VecDeque<u64>; QUEUES],
    pub inflight: u32,
    /// Start and class of the last instruction.
    pub last: (i64, u32),
    /// That instruction, and the last one moved to its queues.
    pub last_seq: u64,
    pub last_moved: u64,
    /// The same for each queue.
    pub last_of: [(i64, u32); QUEUES],
}

impl Default for Exu {
    fn default() -> Self {
        Exu {
            queues: [VecDeque::new(), VecDeque::new()],
            inflight: 0,
            last: (i64::MIN / 2, NONE),
            last_seq: NOBODY,
            last_moved: NOBODY,
            last_of: [(i64::MIN / 2, NONE); QUEUES],
        }
    }
}

impl Exu {
    pub fn waiting(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }
}

/// A memory barrier in flight.
#[derive(Clone, Debug)]
pub(crate) struct BarState {
    pub seq: u64,
    pub bar: super::program::Bar,
    /// Older accesses not done.
    pub pending: u32,
    /// Earliest start as far as older accesses go.
    pub free_at: i64,
    /// The access or barrier that set it.
    pub free_by: u64,
    pub start: Option<i64>,
    /// Younger accesses held back.
    pub waiting: Vec<u64>,
}
