//! The pipeline, cycle by cycle; cycles in which nothing can happen are stepped over.

use super::banks::Banks;
use super::calendar::Calendar;
use super::compile::{Code, DST, NONE, Op, SRC};
use super::params::VfParams;
use super::periodic::Periods;
use super::record::{Cause, Options, Skip, VfRecord, VfTiming, Waits};
use super::retire::Front;
use super::state::{BarState, Exu, NEVER, NOBODY, Phase, QUEUES, Slot, Values, Window, by};
use super::tables::{Tables, Unit};
use super::walk::Walk;
use crate::diag::Diagnostic;
use std::collections::VecDeque;

/// Instructions that wait for a port, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ready(pub Vec<u64>);

impl Ready {
    pub fn insert(&mut self, seq: u64) {
        let at = self.0.iter().rposition(|&s| s < seq).map_or(0, |i| i + 1);
        self.0.insert(at, seq);
    }
}

/// Everything that changes while a function runs.
pub(crate) struct Engine<'a> {
    pub code: &'a Code,
    pub tables: &'a Tables,
    pub p: &'a VfParams,
    pub walk: Walk,
    pub window: Window,
    pub values: Values,
    /// Current version of each register, or [`NONE`].
    pub map: Vec<u32>,
    /// Next instruction to rename.
    pub unrenamed: u64,
    pub registers: u32,
    pub credits: u32,
    /// Cycles at which credits come back, and from whom.
    pub returns: VecDeque<(i64, u64)>,
    /// Source releases: cycle and instruction.
    pub releases: VecDeque<(i64, u64)>,
    pub wake: Calendar,
    pub done: Calendar,
    /// Units that an instruction leaves before it is done.
    pub left: Calendar,
    /// By unit, in the order of [`Unit`].
    pub ready: [Ready; 6],
    pub exus: Vec<Exu>,
    /// Times that the clock or an empty queue had a say in a start foreseen, by queue.
    pub clocked: [u64; QUEUES],
    pub banks: Banks,
    pub bars: VecDeque<BarState>,
    /// Stores renamed and not done.
    pub stores: VecDeque<u64>,
    /// A load held back by an older store: store, load.
    pub orders: Vec<(u64, u64)>,
    pub loads_out: u32,
    /// First cycle whose wake-ups have not been taken.
    pub wake_from: i64,
    /// Wake-ups of this cycle are taken, unit queues not filled yet.
    pub before_moves: bool,
    /// Registers freed by renaming in this cycle.
    pub freed_in_rename: u32,
    pub last_done: i64,
    /// Cycles and instructions skipped so far.
    pub skipped: (i64, u64),
    pub waits: Waits,
    front: Front,
    pub fronts: VecDeque<Front>,
    /// When and by whom a credit, a register was given back last; an instruction started on each
    /// unit. The youngest where several did in one cycle.
    credit_by: (i64, u64),
    pub register_by: (i64, u64),
    pub started: [(i64, u64); 6],
    opts: Options,
    pub records: Vec<VfRecord>,
    pub skips: Vec<Skip>,
    scratch: Vec<u64>,
}

impl<'a> Engine<'a> {
    pub fn new(code: &'a Code, tables: &'a Tables, p: &'a VfParams, opts: Options) -> Self {
        Engine {
            code,
            tables,
            p,
            walk: Walk::new(code, p, opts.fast_forward),
            window: Window::default(),
            values: Values::default(),
            map: vec![NONE; code.files.len()],
            unrenamed: 0,
            registers: p.registers,
            credits: p.credits,
            returns: VecDeque::new(),
            releases: VecDeque::new(),
            wake: Calendar::default(),
            done: Calendar::default(),
            left: Calendar::default(),
            ready: Default::default(),
            exus: vec![Exu::default(); p.exus as usize],
            clocked: [0; QUEUES],
            banks: Banks::new(p),
            bars: VecDeque::new(),
            stores: VecDeque::new(),
            orders: Vec::new(),
            loads_out: 0,
            wake_from: 0,
            before_moves: false,
            freed_in_rename: 0,
            last_done: 0,
            skipped: (0, 0),
            waits: Waits::default(),
            front: Front::new(0),
            fronts: VecDeque::new(),
            credit_by: NEVER,
            register_by: NEVER,
            started: [NEVER; 6],
            opts,
            records: Vec::new(),
            skips: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Runs to the end.
    pub fn run(mut self) -> Result<VfTiming, Diagnostic> {
        let mut periods = Periods::new(self.code.loops.len());
        let mut now = 0i64;
        while self.walk.head.is_some() || self.window.head < self.window.tail {
            if !self.walk.crossed.is_empty() || !self.walk.entered.is_empty() {
                periods.visit(&mut self, now);
            }
            self.wake_from = now;
            self.rename(now);
            let blocked = self.dispatch(now);
            self.back_end(now);
            self.retire();
            let next = self.next_cycle(now, blocked);
            let Some(next) = next else {
                if self.walk.head.is_none() && self.window.head == self.window.tail {
                    break;
                }
                return Err(self.stuck());
            };
            if self.walk.head.is_some() {
                let cause = blocked.map_or(Cause::Width, |(cause, _)| cause);
                self.front.waits[cause as usize] += (next - now) as u64;
                self.front.cause = cause;
            }
            now = next;
            if self.window.tail > self.opts.most {
                return Err(Diagnostic::error("vf.limit", "too many instructions to simulate")
                    .note(format!("gave up after {} without a period", self.opts.most)));
            }
        }
        Ok(self.finish())
    }

    fn stuck(&self) -> Diagnostic {
        Diagnostic::error("vf.stuck", "the function cannot go on: no physical register is free")
            .note(format!("{} physical vector registers", self.p.registers))
            .help("use fewer register names at a time")
    }

    fn finish(self) -> VfTiming {
        let last = (self.last_done + self.skipped.0) as u64;
        let idle = u64::from(self.p.startup);
        VfTiming {
            cycles: last.max(idle) + u64::from(self.p.drain),
            last_done: last,
            instructions: self.window.tail + self.skipped.1,
            simulated: self.window.tail,
            waits: self.waits,
            records: self.records,
            skips: self.skips,
        }
    }

    /// Cycles waited so far, those of the head included.
    pub fn total_waits(&self) -> Waits {
        let mut sum = self.waits;
        sum.iter_mut().zip(&self.front.waits).for_each(|(s, w)| *s += w);
        sum
    }

    /// Sends instructions in order until one cannot go: why, and the cycle when it may.
    fn dispatch(&mut self, now: i64) -> Option<(Cause, Option<i64>)> {
        for _ in 0..self.p.dispatch_width {
            let at = self.walk.head?;
            let code = self.code;
            if let Err((cause, when)) = self.walk.gate(code, self.p, at, now) {
                return Some((cause, Some(when)));
            }
            let op = &code.ops[at as usize];
            if u32::from(op.nvec) > self.registers {
                return Some((Cause::Register, None));
            }
            if op.credit && self.credits == 0 {
                return Some((Cause::Credit, None));
            }
            if self.window.tail - self.window.head >= u64::from(self.p.window) {
                return Some((Cause::Queue, None));
            }
            self.registers -= u32::from(op.nvec);
            self.credits -= u32::from(op.credit);
            self.send(at, op, now);
            self.walk.advance(code, self.p, now);
        }
        None
    }

    fn send(&mut self, at: u32, op: &Op, now: i64) {
        let addr = op.mem.as_ref().map_or(0, |m| self.walk.address(m.base, &m.deltas));
        self.window.push(Slot {
            op: at,
            dispatch: now,
            addr,
            src: [NONE; SRC],
            dst: [NONE; DST],
            by: [NOBODY; 5],
            ..Slot::default()
        });
        for (sum, w) in self.waits.iter_mut().zip(&self.front.waits) {
            *sum += w;
        }
        let mut front = std::mem::replace(&mut self.front, Front::new(now));
        if self.records.len() + self.fronts.len() < self.opts.records {
            front.by = match front.cause {
                Cause::Launch => NOBODY,
                Cause::Register => self.register_by.1,
                Cause::Credit => self.credit_by.1,
                Cause::Queue => self.window.head.wrapping_sub(1),
                _ => (self.window.tail - 1).wrapping_sub(1),
            };
            self.fronts.push_back(front);
        }
    }

    /// Everything behind renaming, in the order the machine decides it.
    fn back_end(&mut self, now: i64) {
        self.registers += std::mem::take(&mut self.freed_in_rename);
        while let Some(&(_, seq)) = self.returns.front().filter(|r| r.0 <= now) {
            self.returns.pop_front();
            self.credits += 1;
            self.credit_by = self.credit_by.max((now, seq));
        }
        while let Some(&(at, seq)) = self.releases.front().filter(|r| r.0 <= now) {
            debug_assert!(at == now);
            self.releases.pop_front();
            self.release(seq, now);
        }
        let mut due = std::mem::take(&mut self.scratch);
        self.done.take(now, &mut due);
        due.drain(..).for_each(|seq| self.complete(seq, now));
        self.left.take(now, &mut due);
        due.drain(..).for_each(|exu| self.exus[exu as usize].inflight -= 1);
        self.wake.take(now, &mut due);
        due.drain(..).for_each(|seq| self.make_ready(seq));
        self.scratch = due;
        self.wake_from = now + 1;
        self.before_moves = true;
        self.banks.begin(now);
        if self.p.loads_first == 0 {
            self.start_stores(now);
        }
        self.start_loads(now);
        self.start_plain(Unit::Predicate, self.p.predicate_ports, now);
        self.start_plain(Unit::Scalar, self.p.scalar_ports, now);
        self.fill_queues(now);
        self.before_moves = false;
        self.start_exus(now);
        if self.p.loads_first == 1 {
            self.start_stores(now);
        }
    }

    fn release(&mut self, seq: u64, now: i64) {
        let slot = self.window.get_mut(seq);
        slot.released = true;
        let src = slot.src;
        for v in src.into_iter().filter(|&v| v != NONE) {
            self.values.all[v as usize].consumers -= 1;
            self.free(v, seq, now);
        }
    }

    fn free(&mut self, version: u32, seq: u64, now: i64) {
        if self.values.try_free(version) {
            self.registers += 1;
            self.register_by = self.register_by.max((now, seq));
        }
    }

    fn complete(&mut self, seq: u64, now: i64) {
        let slot = self.window.get_mut(seq);
        slot.phase = Phase::Done;
        let (dst, exu, op) = (slot.dst, slot.exu, slot.op);
        self.last_done = now;
        for v in dst.into_iter().filter(|&v| v != NONE) {
            self.values.all[v as usize].pending = false;
            self.free(v, seq, now);
        }
        match self.code.ops[op as usize].unit {
            Unit::Exu if self.leaves_early(op).is_none() => {
                self.exus[usize::from(exu)].inflight -= 1;
            }
            Unit::Load => self.load_done(seq, now),
            Unit::Store => self.store_done(seq, now),
            Unit::Exu | Unit::Predicate | Unit::Scalar | Unit::Bar => {}
        }
    }

    pub fn make_ready(&mut self, seq: u64) {
        let slot = self.window.get_mut(seq);
        slot.phase = Phase::Ready;
        let unit = self.code.ops[slot.op as usize].unit;
        self.ready[unit as usize].insert(seq);
    }

    /// Marks an instruction as started and tells its consumers.
    pub fn start(&mut self, seq: u64, now: i64, latency: i64) {
        let slot = self.window.get_mut(seq);
        slot.phase = Phase::Running;
        slot.start = now;
        slot.done = now + latency.max(1);
        let (dst, done, behind, op) = (slot.dst, slot.done, slot.behind, slot.op);
        self.started[self.code.ops[op as usize].unit as usize] = (now, seq);
        if behind == 0 {
            self.done.push(done, seq);
        }
        self.releases.push_back((now + i64::from(self.p.release), seq));
        for v in dst.into_iter().filter(|&v| v != NONE) {
            let value = &mut self.values.all[v as usize];
            value.started = true;
            value.start = now;
            let class = value.class;
            let mut link = std::mem::take(&mut value.waiters);
            while link != 0 {
                let (waiter, i) = ((link - 1) >> 3, ((link - 1) & 7) as usize);
                link = self.window.get(waiter).next[i];
                let op = &self.code.ops[self.window.get(waiter).op as usize];
                let at = now + self.distance(class, op, i);
                let w = self.window.get_mut(waiter);
                w.raise(by::SOURCES, at, seq);
                w.unready -= 1;
                if w.unready == 0 && w.holds == 0 {
                    self.schedule(waiter, now);
                }
            }
        }
    }

    /// First cycle after `now` in which something can happen.
    fn next_cycle(&self, now: i64, blocked: Option<(Cause, Option<i64>)>) -> Option<i64> {
        let busy = self.unrenamed < self.window.tail
            || self.ready.iter().any(|r| !r.0.is_empty())
            || self.banks.has_left()
            || self.exus.iter().any(|e| e.waiting() > 0)
            || (self.walk.head.is_some() && blocked.is_none());
        if busy {
            return Some(now + 1);
        }
        let gate = blocked.and_then(|(_, when)| when);
        let events = [
            gate,
            self.returns.front().map(|r| r.0),
            self.releases.front().map(|r| r.0),
            self.wake.next(now),
            self.done.next(now),
            self.left.next(now),
        ];
        // A register or credit freed in this cycle can be used in the next.
        let freed = matches!(blocked, Some((Cause::Register | Cause::Credit | Cause::Queue, _)))
            .then_some(now + 1)
            .filter(|_| self.head_fits());
        events.into_iter().chain([freed]).flatten().min().map(|at| at.max(now + 1))
    }

    fn head_fits(&self) -> bool {
        self.walk.head.is_some_and(|at| {
            let op = &self.code.ops[at as usize];
            u32::from(op.nvec) <= self.registers
                && (!op.credit || self.credits > 0)
                && self.window.tail - self.window.head < u64::from(self.p.window)
        })
    }
}
