//! The machine: in-order pipes S, V and the transfer queues, ordered by barriers and flags.
//!
//! S hands every record to its pipe in program order and runs ahead. A pipe starts its next
//! record at the latest of: it is free, S has handed the record over, its gates (barrier, flag,
//! mask) are open.

use super::figures::Fixed;
use super::prepared::{NO_JOB, Timed};
use super::timeline::{Cause, Entry, PipeTotals, Stall, Timeline};
use crate::access::Space;
use crate::stream::{Kind, Marks, NONE, Pipe, Record, Stream};

/// A moment before which a pipe may not start, and what it waits for.
#[derive(Clone, Copy, Debug)]
struct Gate {
    at: u64,
    cause: Cause,
    blocker: u32,
}

impl Gate {
    const OPEN: Gate = Gate { at: 0, cause: Cause::Issue, blocker: NONE };

    fn raise(&mut self, at: u64, cause: Cause, blocker: u32) {
        if at > self.at {
            *self = Gate { at, cause, blocker };
        }
    }
}

/// One in-order pipe.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Cycle the pipe is free; everything before is accounted for.
    free: u64,
    /// End of execution of everything it ran.
    executed: u64,
    /// The record whose execution ends last.
    executed_by: u32,
    /// Everything it ran is complete, and the record that is last.
    done: u64,
    last: u32,
    /// The record it ran before.
    previous: u32,
    gate: Gate,
    /// Gate of the mask set-up, which stands behind the other.
    mask: Gate,
    totals: PipeTotals,
}

impl Queue {
    const NEW: Queue = Queue {
        free: 0,
        executed: 0,
        executed_by: NONE,
        done: 0,
        last: NONE,
        previous: NONE,
        gate: Gate::OPEN,
        mask: Gate::OPEN,
        totals: PipeTotals { busy: 0, records: 0, causes: [0; Cause::ALL.len()] },
    };

    fn complete(&mut self, done: u64, record: u32) {
        if done >= self.done {
            (self.done, self.last) = (done, record);
        }
    }
}

/// A run of mask writes without a vector instruction between them.
#[derive(Clone, Copy, Debug)]
struct MaskRun {
    /// S time it began, and whether V had nothing to do then.
    start: u64,
    idle: bool,
}

pub(crate) struct Machine<'a> {
    fixed: &'a Fixed,
    stream: &'a Stream,
    queues: [Queue; 7],
    /// Loads on S are complete, and the load that is last.
    loaded: u64,
    loaded_by: u32,
    mask_run: Option<MaskRun>,
    /// S time of a mode write that no mask write has followed yet.
    mode_at: Option<u64>,
    /// Barrier of V since its last instruction.
    barrier: bool,
    /// Mask restore that nothing on V has followed yet.
    restore: Option<u32>,
    entries: Vec<Entry>,
    stalls: Vec<Stall>,
}

const S: usize = Pipe::S as usize;
const V: usize = Pipe::V as usize;

impl<'a> Machine<'a> {
    pub fn new(fixed: &'a Fixed, stream: &'a Stream) -> Self {
        Machine {
            fixed,
            stream,
            queues: [Queue::NEW; 7],
            loaded: 0,
            loaded_by: NONE,
            mask_run: None,
            mode_at: None,
            barrier: false,
            restore: None,
            entries: Vec::with_capacity(stream.records.len()),
            stalls: Vec::new(),
        }
    }

    /// Times the records; `jobs` gives each record's entry in `timed`.
    pub fn run(mut self, jobs: &[u32], timed: &[Timed]) -> Timeline {
        let stream = self.stream;
        for ((i, r), &job) in (0u32..).zip(&stream.records).zip(jobs) {
            let entry = match r.kind {
                Kind::Vector | Kind::Copy | Kind::Dma | Kind::Function => {
                    let t = if job == NO_JOB { None } else { timed.get(job as usize) };
                    self.pipelined(i, r, t.copied().unwrap_or_default())
                }
                Kind::ScalarLoad => self.load(i, r),
                Kind::ScalarStore => self.store(i, r),
                Kind::MaskWrite => self.mask_write(i, r),
                Kind::CtrlWrite => {
                    let issue = self.hand_over();
                    self.mode_at.get_or_insert(issue);
                    Entry { issue, done: self.queues[S].free, ..Entry::default() }
                }
                Kind::Barrier => self.barrier(i, r),
                Kind::SetFlag => self.set_flag(r),
                Kind::WaitFlag => self.wait_flag(i, r),
            };
            self.entries.push(entry);
        }
        self.finish()
    }

    /// S works for `cycles` on something that is no record of its own.
    fn spend(&mut self, cycles: u64, cause: Cause) {
        let s = &mut self.queues[S];
        s.free += cycles;
        s.totals.causes[cause as usize] += cycles;
    }

    /// S stands still until `at`.
    fn hold(&mut self, at: u64, cause: Cause, record: u32, blocker: u32) {
        let s = &mut self.queues[S];
        if at > s.free {
            let cycles = at - s.free;
            s.free = at;
            s.totals.causes[cause as usize] += cycles;
            self.stalls.push(Stall { record, blocker, pipe: Pipe::S, cause, cycles });
        }
    }

    /// S time at which the next record is handed over; S then goes on.
    fn hand_over(&mut self) -> u64 {
        self.spend(self.fixed.scalar_op, Cause::Handover);
        let at = self.queues[S].free;
        self.spend(self.fixed.issue, Cause::Handover);
        at
    }

    /// An instruction of V or of a transfer queue.
    fn pipelined(&mut self, i: u32, r: &Record, t: Timed) -> Entry {
        let handed = self.hand_over();
        let drain = if r.pipe == Pipe::V { self.fixed.drain } else { 0 };
        let Some(q) = self.queues.get_mut(r.pipe as usize) else { return Entry::default() };
        let issue = q.free.max(handed).max(q.gate.at).max(q.mask.at);
        let after = match issue {
            t if t == q.free && q.previous != NONE => q.previous,
            t if t == q.mask.at => q.mask.blocker,
            t if t == q.gate.at => q.gate.blocker,
            _ => NONE,
        };
        if issue > q.free {
            let hand = Gate { at: handed, cause: Cause::Issue, blocker: NONE };
            let mut steps = [q.gate, hand, q.mask];
            // The mask gate stands behind the other, whatever the time. A tie goes to the gate.
            steps[..2].sort_by_key(|g| g.at);
            for g in steps {
                let cycles = g.at.saturating_sub(q.free);
                if cycles == 0 {
                    continue;
                }
                q.free = g.at;
                q.totals.causes[g.cause as usize] += cycles;
                let (blocker, cause) = (g.blocker, g.cause);
                self.stalls.push(Stall { record: i, blocker, pipe: r.pipe, cause, cycles });
            }
        }
        let executed = issue + t.startup + t.busy;
        let done = executed + t.tail + drain;
        q.free = issue + t.busy;
        if executed >= q.executed {
            (q.executed, q.executed_by) = (executed, i);
        }
        q.complete(done, i);
        q.previous = i;
        q.totals.busy += t.busy;
        q.totals.records += 1;
        if r.pipe == Pipe::V {
            (self.mask_run, self.mode_at) = (None, None);
            (self.barrier, self.restore) = (false, None);
        }
        let wait = u32::try_from(issue - handed).unwrap_or(u32::MAX);
        Entry { issue, done, busy: short(t.busy), wait, conflict: short(t.conflict), after }
    }

    fn mask_write(&mut self, i: u32, r: &Record) -> Entry {
        self.spend(self.fixed.scalar_op, Cause::Handover);
        let at = self.queues[S].free;
        let idle = self.queues[V].done <= at;
        // Mode and mask set together pay once: the set-up counts from the mode write.
        let start = self.mode_at.take().unwrap_or(at);
        let run = *self.mask_run.get_or_insert(MaskRun { start, idle });
        self.spend(self.fixed.issue, Cause::Handover);
        if run.idle {
            let computed = r.marks.has(Marks::COMPUTED);
            let f = self.fixed;
            let setup = if computed { f.mask_computed } else { f.mask_first };
            self.hold(run.start + setup, Cause::Mask, i, NONE);
        }
        let mut after = NONE;
        if self.barrier {
            let v = &mut self.queues[V];
            v.mask.raise(v.gate.at + self.fixed.mask_behind_barrier, Cause::Mask, i);
            after = v.gate.blocker;
        }
        if self.queues[V].last != NONE && r.marks.has(Marks::RESTORE) {
            self.restore = Some(i);
        }
        Entry { issue: at, done: self.queues[S].free, after, ..Entry::default() }
    }

    fn barrier(&mut self, i: u32, r: &Record) -> Entry {
        self.spend(self.fixed.scalar_op, Cause::Handover);
        let at = self.queues[S].free;
        if matches!(r.pipe, Pipe::V | Pipe::All) {
            (self.barrier, self.restore) = (true, None);
        }
        let (done, after) = match r.pipe {
            Pipe::All => {
                let all = self.queues.iter().max_by_key(|q| q.done);
                let all = all.map_or((0, NONE), |q| (q.done, q.last));
                let loaded = (self.loaded, self.loaded_by);
                let (open, last) = if loaded.0 > all.0 { loaded } else { all };
                for q in &mut self.queues[V..] {
                    q.gate.raise(open, Cause::Barrier, last);
                }
                self.hold(open, Cause::Barrier, i, last);
                (open, last)
            }
            Pipe::S => {
                self.hold(self.loaded, Cause::Load, i, self.loaded_by);
                (self.loaded, self.loaded_by)
            }
            pipe => {
                let Some(q) = self.queues.get_mut(pipe as usize) else { return Entry::default() };
                q.gate.raise(q.done, Cause::Barrier, q.last);
                (q.done, q.last)
            }
        };
        let after = if done > at { after } else { NONE };
        Entry { issue: at, done: done.max(at), after, ..Entry::default() }
    }

    fn set_flag(&mut self, r: &Record) -> Entry {
        let handed = self.hand_over();
        let Some(flag) = r.flag() else { return Entry::default() };
        let Some(q) = self.queues.get(flag.src as usize) else { return Entry::default() };
        // V signals S when execution ends; the value is read while the drain goes on.
        let (ready, by) = match (flag.src, flag.dst) {
            (Pipe::S, _) => (self.loaded, self.loaded_by),
            (Pipe::V, Pipe::S) => (q.executed, q.executed_by),
            _ => (q.done, q.last),
        };
        let set = ready.max(handed).max(q.gate.at);
        let after = match set {
            t if t == handed => NONE,
            t if t == ready => by,
            _ => q.gate.blocker,
        };
        let done = set + self.fixed.flag(flag.src, flag.dst);
        Entry { issue: handed, done, after, ..Entry::default() }
    }

    fn wait_flag(&mut self, i: u32, r: &Record) -> Entry {
        self.spend(self.fixed.scalar_op, Cause::Handover);
        let at = self.queues[S].free;
        let set = self.entries.get(r.link as usize).map_or(at, |e| e.done);
        let Some(flag) = r.flag() else { return Entry::default() };
        let mut after = NONE;
        if flag.dst == Pipe::S {
            after = if set > at { r.link } else { NONE };
            self.hold(set, Cause::Flag, i, r.link);
        } else if let Some(q) = self.queues.get_mut(flag.dst as usize) {
            q.gate.raise(set, Cause::Flag, r.link);
        }
        Entry { issue: at, done: set.max(at), after, ..Entry::default() }
    }

    fn in_gm(&self, r: &Record) -> bool {
        self.stream.shape(r).0.iter().flatten().any(|w| w.space == Space::Gm)
    }

    fn load(&mut self, i: u32, r: &Record) -> Entry {
        let f = self.fixed;
        let latency = if self.in_gm(r) { f.gm_load } else { f.load };
        self.spend(f.scalar_op, Cause::Handover);
        let issue = self.work(f.load_interval);
        if issue + latency >= self.loaded {
            (self.loaded, self.loaded_by) = (issue + latency, i);
        }
        self.queues[S].complete(issue + latency, i);
        Entry { issue, done: issue + latency, busy: short(f.load_interval), ..Entry::default() }
    }

    fn store(&mut self, i: u32, r: &Record) -> Entry {
        let f = self.fixed;
        let busy = if self.in_gm(r) { f.gm_store } else { f.store };
        self.spend(f.scalar_op, Cause::Handover);
        let held = self.loaded > self.queues[S].free;
        self.hold(self.loaded, Cause::Load, i, self.loaded_by);
        let issue = self.work(busy);
        self.queues[S].complete(issue + busy, i);
        let after = if held { self.loaded_by } else { NONE };
        Entry { issue, done: issue + busy, busy: short(busy), after, ..Entry::default() }
    }

    /// S works on a record of its own for `busy` cycles; when it starts.
    fn work(&mut self, busy: u64) -> u64 {
        let s = &mut self.queues[S];
        let issue = s.free;
        s.free += busy;
        s.totals.busy += busy;
        s.totals.records += 1;
        issue
    }

    /// Closes the accounts.
    fn finish(mut self) -> Timeline {
        if let Some(i) = self.restore {
            let v = &mut self.queues[V];
            let done = v.done + self.fixed.mask_restore;
            v.mask = Gate { at: done, cause: Cause::Mask, blocker: i };
            if let Some(e) = self.entries.get_mut(i as usize).filter(|e| done > e.done) {
                (e.done, e.after) = (done, v.last);
            }
        }
        let last = self.entries.iter().map(|e| e.done).max().unwrap_or(0);
        let last = self.queues.iter().map(|q| q.free).max().unwrap_or(0).max(last);
        let end = if self.entries.is_empty() { 0 } else { self.fixed.end };
        let restored = self.restore.map_or(0, |_| self.queues[V].mask.at);
        let mut pipes = [PipeTotals::default(); 7];
        for (n, (q, out)) in self.queues.iter().zip(&mut pipes).enumerate() {
            *out = q.totals;
            let mut at = q.free;
            let mut until = |t: u64, cause: Cause| {
                out.causes[cause as usize] += t.saturating_sub(at);
                at = at.max(t);
            };
            until(q.done, Cause::Drain);
            if n == V {
                until(restored, Cause::Mask);
            }
            until(last, Cause::Idle);
            until(last + end, Cause::End);
        }
        let cycles = last + end;
        let retire = self.fixed.retire;
        let (entries, stalls) = (self.entries, self.stalls);
        Timeline { entries, stalls, pipes, cycles, retire, faults: Vec::new() }
    }
}

fn short(cycles: u64) -> u32 {
    u32::try_from(cycles).unwrap_or(u32::MAX)
}
