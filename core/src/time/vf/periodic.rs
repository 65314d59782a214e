//! Exact fast-forward: when a loop has returned to a state it was in before, whole periods are
//! skipped.
//!
//! The state is everything the future depends on, relative to the current cycle, instruction and
//! iteration: position, queues, in-flight instructions, register versions, bank phases of every
//! access. Two equal states have equal futures, as long as the loop goes on; therefore only as
//! many periods are skipped as fit before its last iteration. What lies outside the loop enters
//! through the pacing of its iterations alone, and that is compared apart: more slack than before
//! is as good, if pacing held nothing back in between. Starts foreseen for a unit may run ahead of
//! the clock in the same way: units are compared with each other, so that further ahead is as good
//! if the clock decided nothing in between.
//!
//! States are compared with one saved at iterations 8, 16, 32 ... (Brent's method), so the cost
//! is a small multiple of the length of tail and period.

use super::compile::{Code, NONE, Step};
use super::engine::Engine;
use super::memory::bar_life;
use super::record::{Skip, Waits};
use super::state::{Phase, QUEUES};
use super::tables::Unit;
use smallvec::SmallVec;

/// A state of a loop at the start of a cycle in which an iteration had begun.
#[derive(Debug)]
struct Saved {
    k: u64,
    now: i64,
    instructions: u64,
    waits: Waits,
    slack: i64,
    paced: u64,
    ahead: [i64; QUEUES],
    clocked: [u64; QUEUES],
    print: u64,
    words: Vec<i64>,
}

#[derive(Debug, Default)]
struct Track {
    /// No period will be sought in this instance.
    closed: bool,
    next_save: u64,
    /// Instructions before this one are not all of this instance.
    first: u64,
    saved: Option<Saved>,
}

/// The search for periods in every loop.
#[derive(Debug)]
pub(crate) struct Periods {
    tracks: Vec<Track>,
    words: Vec<i64>,
    numbers: Vec<u32>,
}

/// Stands for "long ago" or "none".
const OLD: i64 = i64::MIN;

impl Periods {
    pub fn new(loops: usize) -> Periods {
        let tracks = (0..loops).map(|_| Track::default()).collect();
        Periods { tracks, words: Vec::new(), numbers: Vec::new() }
    }

    /// Looks at the loops that began an iteration in the last cycle, outermost first.
    pub fn visit(&mut self, e: &mut Engine, now: i64) {
        for l in std::mem::take(&mut e.walk.entered) {
            let info = &e.code.loops[l as usize];
            let t = &mut self.tracks[l as usize];
            t.next_save = if info.nested { 2 } else { 8 };
            t.closed = info.alias_moves || info.trips <= t.next_save;
            t.first = e.window.tail;
            t.saved = None;
        }
        let mut crossed = std::mem::take(&mut e.walk.crossed);
        crossed.sort_unstable_by_key(|&l| e.code.loops[l as usize].depth);
        for l in crossed {
            if !self.tracks[l as usize].closed && e.walk.active.contains(&l) {
                self.consider(e, l, now);
            }
        }
    }

    fn consider(&mut self, e: &mut Engine, l: u32, now: i64) {
        let k = e.walk.loops[l as usize].k;
        if e.window.head < self.tracks[l as usize].first {
            return;
        }
        let print = print(e);
        let save = k >= self.tracks[l as usize].next_save;
        let same = self.tracks[l as usize].saved.as_ref().is_some_and(|s| s.print == print);
        if same || save {
            self.describe(e, l, now);
        }
        if same && self.try_skip(e, l, now) {
            return;
        }
        if save {
            let t = &mut self.tracks[l as usize];
            t.next_save = k.saturating_mul(2);
            let run = &e.walk.loops[l as usize];
            t.saved = Some(Saved {
                k,
                now: now + e.skipped.0,
                instructions: e.window.tail + e.skipped.1,
                waits: e.total_waits(),
                slack: slack(e, l, now).unwrap_or(0),
                paced: run.paced,
                ahead: ahead(e, now),
                clocked: e.clocked,
                print,
                words: self.words.clone(),
            });
        }
    }

    /// Skips periods if the described state is the saved one.
    fn try_skip(&mut self, e: &mut Engine, l: u32, now: i64) -> bool {
        let t = &mut self.tracks[l as usize];
        let run = e.walk.loops[l as usize];
        let Some(s) = t.saved.as_ref().filter(|s| s.words == self.words && run.k > s.k) else {
            return false;
        };
        let slack = slack(e, l, now).unwrap_or(0);
        if slack < s.slack || slack > s.slack && run.paced != s.paced {
            return false;
        }
        let further = ahead(e, now);
        for (q, d) in further.iter().enumerate() {
            if *d < s.ahead[q] || *d > s.ahead[q] && e.clocked[q] != s.clocked[q] {
                return false;
            }
        }
        let drift: [i64; QUEUES] = std::array::from_fn(|q| further[q] - s.ahead[q]);
        t.closed = true;
        let iterations = run.k - s.k;
        let cycles = now + e.skipped.0 - s.now;
        let instructions = e.window.tail + e.skipped.1 - s.instructions;
        let n = (e.code.loops[l as usize].trips - 1 - run.k) / iterations;
        let times = |d: i64| i64::try_from(n).ok()?.checked_mul(d).filter(|&at| at < 1 << 61);
        let (Some(jump), Some(_)) = (times(cycles), times(drift[0].max(drift[1]))) else {
            return true;
        };
        if n == 0 {
            return true;
        }
        let before = s.waits;
        e.skips.push(Skip {
            seq: e.window.head + e.skipped.1,
            instructions: instructions * n,
            at: (now + e.skipped.0) as u64,
            cycles: jump as u64,
            period_iterations: iterations,
            period_cycles: cycles as u64,
        });
        let after = e.total_waits();
        for (i, w) in e.waits.iter_mut().enumerate() {
            *w += (after[i] - before[i]).wrapping_mul(n);
        }
        e.skipped = (e.skipped.0 + jump, e.skipped.1 + instructions * n);
        shift(e, l, n * iterations, jump);
        run_ahead(e, drift.map(|d| d * n as i64));
        true
    }

    /// Writes the state of the loop into `self.words`.
    fn describe(&mut self, e: &Engine, l: u32, now: i64) {
        self.words.clear();
        self.numbers.clear();
        self.numbers.resize(e.values.all.len(), NONE);
        self.position(e, l, now);
        self.resources(e, now);
        self.phases(e, l);
        for reg in 0..e.map.len() {
            self.value(e, e.map[reg], now);
        }
        for seq in e.window.head..e.window.tail {
            self.slot(e, l, seq, now);
        }
    }

    fn put(&mut self, w: impl IntoIterator<Item = i64>) {
        self.words.extend(w);
    }

    fn position(&mut self, e: &Engine, l: u32, now: i64) {
        let old = i64::from(e.p.rearm.max(e.p.nest_gap) + e.p.loop_open + 1);
        self.put([i64::from(e.walk.pc)]);
        let mut inside = false;
        for &a in &e.walk.active {
            let run = &e.walk.loops[a as usize];
            inside |= a == l;
            if !inside {
                continue;
            }
            let end = run.child_end.map_or(OLD, |c| (c - now).max(-old));
            self.put([i64::from(a), end, (run.start - now).max(-old)]);
            if a == l {
                self.put([i64::from(run.base.is_some())]);
            } else {
                let s = slack(e, a, now).unwrap_or(OLD);
                self.put([run.k as i64, s, (run.open - now).max(0)]);
            }
        }
    }

    fn resources(&mut self, e: &Engine, now: i64) {
        let head = e.window.head;
        let rel = |seq: u64| seq.wrapping_sub(head) as i64;
        let horizon = e.tables.horizon;
        self.put([
            i64::from(e.registers),
            i64::from(e.credits),
            rel(e.unrenamed),
            rel(e.window.tail),
        ]);
        self.put([(e.banks.free_at.max(now) - now), e.returns.len() as i64]);
        self.put(e.returns.iter().map(|r| r.0 - now));
        if e.banks.has_left() {
            let left = e.banks.left.iter();
            self.put(left.flat_map(|l| l.map_or([OLD; 2], |l| [i64::from(l.slot), rel(l.seq)])));
        }
        let ahead = ahead(e, now);
        for exu in &e.exus {
            self.put([i64::from(exu.inflight)]);
            for (at, class) in [exu.last, exu.last_of[0], exu.last_of[1]] {
                let recent = now - at <= horizon;
                self.put(if recent { [at - now, i64::from(class)] } else { [OLD, 0] });
            }
            for (q, ahead) in exu.queues.iter().zip(ahead) {
                let last = q.back().map_or(OLD, |&s| e.window.get(s).predicted - now - ahead);
                self.put([q.len() as i64, last]);
                self.put(q.iter().map(|&s| rel(s)));
            }
        }
        for b in &e.bars {
            if b.start.is_some_and(|s| s + bar_life(e.p, b.bar) < now) {
                continue;
            }
            let start = b.start.map_or(OLD, |s| s - now);
            let free = (b.free_at - now).max(-1);
            self.put([b.bar as i64, i64::from(b.pending), free, start, rel(b.seq)]);
            self.put(b.waiting.iter().map(|&s| rel(s)));
        }
        self.put(e.orders.iter().flat_map(|&(s, l)| [rel(s), rel(l)]));
    }

    /// Where every access of the loop stands in the pattern of banks.
    fn phases(&mut self, e: &Engine, l: u32) {
        let (a, b) = e.code.loops[l as usize].steps;
        let span = e.banks.span();
        for step in &e.code.steps[a as usize..b as usize] {
            let Step::Op(op) = *step else { continue };
            if e.code.ops[op as usize].mem.as_ref().is_some_and(|m| m.known()) {
                self.words.push(reference(e, l, op).rem_euclid(span));
            }
        }
    }

    /// Numbers register versions in order of appearance; the first time, says all about one.
    fn value(&mut self, e: &Engine, id: u32, now: i64) {
        if id == NONE {
            self.words.push(OLD);
            return;
        }
        let known = self.numbers[id as usize];
        if known != NONE {
            self.words.push(i64::from(known));
            return;
        }
        let number = self.words.len() as u32;
        self.numbers[id as usize] = number;
        let v = &e.values.all[id as usize];
        let recent = !v.started || now - v.start <= e.tables.horizon;
        let flags = i64::from(v.mapped) | i64::from(v.pending) << 1 | i64::from(v.started) << 2;
        self.put([i64::from(number), flags, i64::from(v.consumers)]);
        let start = if v.started { v.start - now } else { OLD + 1 };
        self.put(if recent { [start, i64::from(v.class)] } else { [OLD, 0] });
    }

    fn slot(&mut self, e: &Engine, l: u32, seq: u64, now: i64) {
        let s = e.window.get(seq);
        let flags = i64::from(s.released) | i64::from(s.crowded) << 1;
        self.put([i64::from(s.op), s.phase as i64, flags, s.dispatch - now]);
        let mem = e.code.ops[s.op as usize].mem.as_ref();
        if mem.is_some() {
            self.words.push(s.addr.wrapping_sub(reference(e, l, s.op)));
        }
        if s.phase == Phase::Dispatched {
            return;
        }
        let eligible = s.rename + i64::from(e.p.enqueue);
        let bound = |at: i64| if at <= eligible { OLD } else { at - now };
        self.put([s.rename - now, bound(s.sources), bound(s.bar), bound(s.order)]);
        self.put([i64::from(s.unready), i64::from(s.holds), i64::from(s.exu)]);
        if s.phase != Phase::Waiting {
            self.words.push(s.ready - now);
        }
        let in_unit = matches!(s.phase, Phase::Queued | Phase::Running | Phase::Done);
        if in_unit && e.code.ops[s.op as usize].unit == Unit::Exu {
            self.words.push(s.queued - now);
        }
        if matches!(s.phase, Phase::Running | Phase::Done) {
            let done = if s.behind == 0 { s.done - now } else { OLD };
            self.put([s.start - now, done, i64::from(s.behind)]);
        }
        if !s.released {
            (0..s.src.len()).for_each(|i| self.value(e, s.src[i], now));
        }
        if s.phase != Phase::Done {
            (0..s.dst.len()).for_each(|i| self.value(e, s.dst[i], now));
        }
    }
}

/// Cycles by which the current iteration is behind its earliest.
fn slack(e: &Engine, l: u32, now: i64) -> Option<i64> {
    let run = &e.walk.loops[l as usize];
    let stride = e.code.loops[l as usize].stride(e.p);
    run.base.map(|b| now - b - (run.k as i64).wrapping_mul(stride))
}

/// Cycles by which the last start foreseen is ahead of the clock on the unit where that is least;
/// 0 while a unit has an empty queue, because the clock counts then.
fn ahead(e: &Engine, now: i64) -> [i64; QUEUES] {
    std::array::from_fn(|q| {
        let last = |seq: &u64| e.window.get(*seq).predicted - now;
        let all = e.exus.iter().map(|exu| exu.queues[q].back().map(last));
        all.collect::<Option<SmallVec<[i64; 4]>>>()
            .and_then(|all| all.into_iter().min())
            .unwrap_or(0)
    })
}

/// Moves the last starts foreseen on by what they gained on the clock.
fn run_ahead(e: &mut Engine, by: [i64; QUEUES]) {
    for exu in &e.exus {
        for (q, by) in exu.queues.iter().zip(by) {
            if let Some(&seq) = q.back() {
                e.window.get_mut(seq).predicted += by;
            }
        }
    }
}

/// Address of an access at the current iteration of the loop, inner counters at 0.
fn reference(e: &Engine, l: u32, op: u32) -> i64 {
    let depth = e.code.loops[l as usize].depth;
    let Some(m) = &e.code.ops[op as usize].mem else { return 0 };
    let outer = |d: &&(u32, i64)| e.code.loops[d.0 as usize].depth <= depth;
    m.deltas.iter().filter(outer).fold(m.base, |a, &(l, d)| {
        a.wrapping_add(d.wrapping_mul(e.walk.loops[l as usize].k as i64))
    })
}

/// A cheap summary: equal states have equal prints.
fn print(e: &Engine) -> u64 {
    let mut h = u64::from(e.walk.pc);
    let mut mix = |v: u64| h = (h ^ v).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    mix(e.window.tail - e.window.head);
    mix(u64::from(e.registers) << 32 | u64::from(e.credits));
    mix(e.returns.len() as u64);
    for exu in &e.exus {
        mix(u64::from(exu.inflight) << 32 | exu.waiting() as u64);
    }
    for r in &e.ready {
        mix(r.0.len() as u64);
    }
    h
}

/// Moves the loop on by whole periods. The clock stays; what lies outside moves back instead.
fn shift(e: &mut Engine, l: u32, iterations: u64, cycles: i64) {
    e.walk.loops[l as usize].k += iterations;
    if let Some(b) = &mut e.walk.loops[l as usize].base {
        *b -= cycles;
    }
    let mut outer = e.code.loops[l as usize].parent;
    while outer != NONE {
        let run = &mut e.walk.loops[outer as usize];
        run.start -= cycles;
        run.open -= cycles;
        if let Some(b) = &mut run.base {
            *b -= cycles;
        }
        outer = e.code.loops[outer as usize].parent;
    }
    let code: &Code = e.code;
    for seq in e.window.head..e.window.tail {
        let slot = e.window.get_mut(seq);
        if let Some(m) = &code.ops[slot.op as usize].mem {
            let by = m.delta(l).wrapping_mul(iterations as i64);
            slot.addr = slot.addr.wrapping_add(by);
        }
    }
}
