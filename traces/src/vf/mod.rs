//! The instructions inside vector functions.
//!
//! Each function is timed once more, this time with a record for every instruction. Loops that
//! have become periodic are kept as one period and unfolded while they are read, to the cycle as
//! if nothing had been skipped, so that memory does not grow with the trips of a loop.

mod inst;
mod order;
mod ports;

pub use inst::MicroInst;
pub(crate) use inst::bar_name;
pub(crate) use order::in_order;
pub use ports::{PortUse, ports};

use ptoemu_core::stream::{Kind, Stream};
use ptoemu_core::target::Target;
use ptoemu_core::time::vf::{self, Cause, Options, VfProgram, VfRecord, VfTiming};
use smallvec::SmallVec;
use std::ops::Range;

/// Records kept of all functions together; about 300 bytes each.
pub const MOST: usize = 1 << 20;

/// Whole periods that have no records of their own.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// First instruction without a record.
    seq: u64,
    /// Instructions without one.
    instructions: u64,
    /// Those of one period.
    period: u64,
    /// Cycles of one period.
    cycles: u64,
    /// Instructions skipped up to the end of this gap.
    skipped: u64,
}

/// One vector function of a stream: what it is and when its instructions ran, counted from the
/// launch.
#[derive(Debug)]
pub struct Function<'a> {
    /// Its instructions and loops.
    pub program: &'a VfProgram,
    /// How to print its instructions.
    pub insts: Vec<MicroInst>,
    timing: VfTiming,
    gaps: Vec<Gap>,
    /// Cycles from renaming until an instruction is eligible, and from one queue to the next.
    ways: (u64, u64),
    /// Most instructions in flight.
    window: u64,
}

impl<'a> Function<'a> {
    fn new(program: &'a VfProgram, target: &Target, records: usize) -> Option<Function<'a>> {
        let options = Options { records, ..Options::default() };
        let timing = vf::time(program, target, options).ok()?;
        let whole = |path: &str| target.value(path).map_or(0, |v| v as u64);
        let (mut gaps, mut skipped) = (Vec::with_capacity(timing.skips.len()), 0);
        for s in &timing.skips {
            let periods = s.cycles.checked_div(s.period_cycles).filter(|n| *n > 0)?;
            skipped += s.instructions;
            gaps.push(Gap {
                seq: s.seq,
                instructions: s.instructions,
                period: (s.instructions / periods).max(1),
                cycles: s.period_cycles,
                skipped,
            });
        }
        let insts = inst::describe(program);
        let ways = (whole("vf.enqueue"), whole("vf.exu_queue_delay"));
        Some(Function { program, insts, timing, gaps, ways, window: whole("vf.window") })
    }

    /// Launch until it has drained.
    pub fn cycles(&self) -> u64 {
        self.timing.cycles
    }

    /// First dispatch until the last completion.
    pub fn active(&self) -> u64 {
        let first = self.timing.records.first().map_or(0, |r| r.dispatch);
        self.timing.last_done.saturating_sub(first)
    }

    /// Instructions it runs.
    pub fn instructions(&self) -> u64 {
        self.timing.instructions
    }

    /// Instructions that can be shown: the first ones.
    pub fn shown(&self) -> u64 {
        let all = self.timing.records.len() as u64 >= self.timing.simulated;
        if all { self.instructions() } else { self.timing.records.last().map_or(0, |r| r.seq + 1) }
    }

    /// Instructions inside periods that were skipped and are unfolded from the period before.
    pub fn folded(&self) -> u64 {
        self.gaps.last().map_or(0, |g| g.skipped)
    }

    /// How an instruction is printed.
    pub fn inst(&self, r: &VfRecord) -> Option<&MicroInst> {
        self.insts.get(r.inst as usize)
    }

    /// An instruction by its number in program order.
    pub fn get(&self, seq: u64) -> Option<VfRecord> {
        let n = self.gaps.partition_point(|g| g.seq <= seq);
        let Some(g) = n.checked_sub(1).and_then(|n| self.gaps.get(n)) else {
            return self.timing.records.get(usize::try_from(seq).ok()?).copied();
        };
        let into = seq - g.seq;
        if into >= g.instructions {
            return self.timing.records.get(usize::try_from(seq - g.skipped).ok()?).copied();
        }
        // The same place in the last period before the gap, which may have gaps of its own.
        let periods = into / g.period + 1;
        let moved = periods.checked_mul(g.period)?;
        let mut r = self.get(seq.checked_sub(moved)?)?;
        if into.is_multiple_of(g.period) {
            // It came up when the period before had been dispatched, whatever was before that one.
            let head = (self.get(g.seq.checked_sub(1)?)?.dispatch).saturating_sub(g.cycles);
            if head != r.head {
                (r.head, r.front) = (head, [0; Cause::ALL.len()]);
                r.front[r.held.cause as usize] = r.dispatch.saturating_sub(head);
            }
        }
        r.seq += moved;
        for link in [&mut r.held, &mut r.after] {
            link.seq = link.seq.map(|s| s + moved);
        }
        Some(later(r, periods.checked_mul(g.cycles)?))
    }

    /// Numbers of the instructions that may be in flight in a stretch of cycles, from the launch.
    fn alive(&self, cycles: &Range<u64>) -> Range<u64> {
        let from = self.first(|r| r.dispatch >= cycles.start);
        from.saturating_sub(self.window)..self.first(|r| r.head >= cycles.end)
    }

    /// The first instruction of which something holds that holds for all later ones.
    fn first(&self, holds: impl Fn(&VfRecord) -> bool) -> u64 {
        let (mut low, mut high) = (0, self.shown());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle) {
                Some(r) if !holds(&r) => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    /// Cycle an instruction is eligible in the shared queue, or in that of its port.
    pub(crate) fn eligible(&self, r: &VfRecord) -> u64 {
        (r.rename + self.ways.0).min(r.issue)
    }

    /// Where an instruction was from the head of the front end until it started, without a break.
    pub fn stretches(&self, r: &VfRecord) -> SmallVec<[Stretch; 8]> {
        let mut out = SmallVec::new();
        let mut at = r.head;
        let mut add = |cause: Cause, until: u64| {
            if until > at {
                out.push(Stretch { cause, start: at, end: until });
                at = until;
            }
        };
        let mut until = r.head;
        for c in Cause::ALL {
            until += r.front[c as usize];
            add(c, until.min(r.dispatch));
        }
        add(Cause::Width, r.dispatch);
        until = self.eligible(r);
        add(Cause::Stage, until);
        for c in [Cause::Launch, Cause::Operand, Cause::Bar, Cause::Order] {
            until += r.waits[c as usize];
            add(c, until.min(r.issue));
        }
        let unit = self.inst(r).is_some_and(MicroInst::queued);
        if unit && r.queue >= until {
            let queue = r.waits[Cause::Queue as usize] > 0;
            let left = r.queue.saturating_sub(self.ways.1).min(r.issue);
            add(if queue { Cause::Queue } else { Cause::Port }, left);
            add(Cause::Stage, r.queue.min(r.issue));
        }
        add(Cause::Port, r.issue);
        out
    }
}

/// A stretch of cycles in which an instruction did not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Why.
    pub cause: Cause,
    /// First cycle.
    pub start: u64,
    /// One past the last cycle.
    pub end: u64,
}

/// The same instruction some cycles later.
pub(crate) fn later(mut r: VfRecord, cycles: u64) -> VfRecord {
    for at in [&mut r.head, &mut r.dispatch, &mut r.rename, &mut r.queue, &mut r.issue, &mut r.done]
    {
        *at += cycles;
    }
    r
}

/// Every function of a stream by its number.
#[derive(Debug, Default)]
pub struct Functions<'a>(Vec<Option<Function<'a>>>);

impl<'a> Functions<'a> {
    /// Times every function of a stream.
    pub fn new(stream: &'a Stream, target: &Target) -> Functions<'a> {
        Functions::within(stream, target, MOST)
    }

    /// The same with room for so many records.
    pub fn within(stream: &'a Stream, target: &Target, records: usize) -> Functions<'a> {
        let (mut all, mut left): (Vec<Option<Function>>, usize) = (Vec::new(), records);
        for r in stream.records.iter().filter(|r| r.kind == Kind::Function) {
            let n = r.link as usize;
            if all.get(n).is_some_and(Option::is_some) {
                continue;
            }
            let Some(program) = stream.functions.get(r.link) else { continue };
            if all.len() <= n {
                all.resize_with(n + 1, || None);
            }
            all[n] = Function::new(program, target, left);
            left -= all[n].as_ref().map_or(0, |f| f.timing.records.len()).min(left);
        }
        Functions(all)
    }

    /// The function of a number.
    pub fn get(&self, link: u32) -> Option<&Function<'a>> {
        self.0.get(link as usize)?.as_ref()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The instructions of one launch that a trace shows, in program order, with cycles of the run.
pub struct Micros<'f, 'a> {
    pub(crate) function: &'f Function<'a>,
    /// The static instruction that launched it.
    pub(crate) index: usize,
    seqs: Range<u64>,
    /// Launch.
    start: u64,
    window: Option<Range<u64>>,
    op: Option<&'f str>,
}

impl<'f, 'a> Micros<'f, 'a> {
    /// Those of a launch, a static instruction at `start`: alive in the cycles of `window`, of the instruction `op`.
    pub(crate) fn new(
        function: &'f Function<'a>,
        (index, start): (usize, u64),
        window: Option<Range<u64>>,
        op: Option<&'f str>,
    ) -> Micros<'f, 'a> {
        let seqs = match &window {
            None => 0..function.shown(),
            Some(w) => {
                function.alive(&(w.start.saturating_sub(start)..w.end.saturating_sub(start)))
            }
        };
        Micros { function, index, seqs, start, window, op }
    }

    fn wanted(&self, r: &VfRecord) -> bool {
        let alive = |w: &Range<u64>| r.head < w.end && r.done >= w.start;
        let named = |name: &str| {
            let mnemonic = self.function.inst(r).map(|i| i.mnemonic.as_str());
            mnemonic.is_some_and(|m| m.eq_ignore_ascii_case(name))
        };
        self.window.as_ref().is_none_or(alive) && self.op.is_none_or(named)
    }
}

impl Iterator for Micros<'_, '_> {
    type Item = VfRecord;

    fn next(&mut self) -> Option<VfRecord> {
        loop {
            let seq = self.seqs.next()?;
            let r = later(self.function.get(seq)?, self.start);
            if self.wanted(&r) {
                return Some(r);
            }
        }
    }
}
