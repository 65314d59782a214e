//! What a timed run looks like: one entry a record, stalls by cause, totals by pipe.

use crate::diag::Diagnostic;
use crate::stream::{NONE, Pipe};

/// When a record ran. At most 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Cycle it started on its pipe (for control records: when S handed it over).
    pub issue: u64,
    /// Cycle its effect is complete: what waits for it may start.
    pub done: u64,
    /// Cycles it held its pipe.
    pub busy: u32,
    /// Cycles from its hand-over by S to its issue.
    pub wait: u32,
    /// Part of `busy` that bank conflicts added.
    pub conflict: u32,
    /// The record it waited for: the one before on its pipe, or the one that opened its gate;
    /// `stream::NONE` if only for S.
    pub after: u32,
}

impl Default for Entry {
    fn default() -> Self {
        Entry { issue: 0, done: 0, busy: 0, wait: 0, conflict: 0, after: NONE }
    }
}

/// Why a pipe did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// S had not handed the instruction over yet.
    Issue,
    /// Mask or mode was being set.
    Mask,
    /// A barrier waited for earlier results.
    Barrier,
    /// A flag was not set yet.
    Flag,
    /// S waited for loads.
    Load,
    /// S was handing instructions to other pipes.
    Handover,
    /// After the last instruction: its results were still on their way.
    Drain,
    /// The end of the run.
    End,
    /// After the last result: other pipes still worked.
    Idle,
}

impl Cause {
    /// Every cause, in display order.
    pub const ALL: [Cause; 9] = [
        Cause::Issue,
        Cause::Mask,
        Cause::Barrier,
        Cause::Flag,
        Cause::Load,
        Cause::Handover,
        Cause::Drain,
        Cause::End,
        Cause::Idle,
    ];

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Issue => "issue",
            Cause::Mask => "mask",
            Cause::Barrier => "barrier",
            Cause::Flag => "flag",
            Cause::Load => "load",
            Cause::Handover => "handover",
            Cause::Drain => "drain",
            Cause::End => "end",
            Cause::Idle => "idle",
        }
    }
}

/// A stretch in which a pipe stood still before a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The record that could not start.
    pub record: u32,
    /// The record it waited for, or `stream::NONE`.
    pub blocker: u32,
    /// The pipe that stood still.
    pub pipe: Pipe,
    /// Why.
    pub cause: Cause,
    /// How long.
    pub cycles: u64,
}

/// Totals of one pipe: `busy` and the causes add up to the cycles of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipeTotals {
    /// Cycles it worked.
    pub busy: u64,
    /// Records it ran.
    pub records: u64,
    /// Cycles it stood still, by [`Cause`].
    pub causes: [u64; Cause::ALL.len()],
}

impl PipeTotals {
    /// Cycles it stood still for one cause.
    pub fn stalled(&self, cause: Cause) -> u64 {
        self.causes[cause as usize]
    }

    /// Busy and still together.
    pub fn total(&self) -> u64 {
        self.busy + self.causes.iter().sum::<u64>()
    }
}

/// A timed stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// One entry a record, in stream order.
    pub entries: Vec<Entry>,
    /// Stalls in the order they happened.
    pub stalls: Vec<Stall>,
    /// Totals by `Pipe as usize`; barriers of all pipes have none.
    pub pipes: [PipeTotals; 7],
    /// Cycles of the run.
    pub cycles: u64,
    /// Cycles from the result of a V instruction to its retirement.
    pub retire: u64,
    /// Vector functions that could not be timed: they count as 0 cycles.
    pub faults: Vec<Diagnostic>,
}

impl Timeline {
    /// Cycle a V instruction retires, as the vendor's simulator reports it.
    pub fn retired(&self, record: u32) -> Option<u64> {
        self.entries.get(record as usize).map(|e| e.done + self.retire)
    }

    /// Totals of a pipe.
    pub fn pipe(&self, pipe: Pipe) -> PipeTotals {
        self.pipes.get(pipe as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_small() {
        assert!(size_of::<Entry>() <= 32, "{}", size_of::<Entry>());
    }
}
