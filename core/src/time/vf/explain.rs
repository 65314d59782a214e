//! Which figures explain the cycles of a function: the chain of waits from its end back to its
//! launch, each link with the figure it rests on.

use super::params::candidates;
use super::program::{Bar, Inst, Kind, VfProgram};
use super::record::{Cause, Link, Options, VfRecord, VfTiming};
use crate::diag::Diagnostic;
use crate::target::Target;
use indexmap::IndexMap;

/// Instructions whose records are looked at; the rest is taken to be like them.
const RECORDS: usize = 1 << 16;

/// Cycles of a function by path of the figure that explains them; they add up to its cycles.
pub fn explain(p: &VfProgram, target: &Target) -> Result<IndexMap<String, u64>, Diagnostic> {
    let opts = Options { records: RECORDS, ..Options::default() };
    let timing = super::time(p, target, opts)?;
    let mut chain = Chain::new(p, target, &timing);
    chain.walk();
    Ok(chain.totals(&timing))
}

/// A moment of an instruction.
#[derive(Clone, Copy)]
enum At {
    Dispatch(usize),
    /// It left the shared queue.
    Moved(usize),
    Issue(usize),
    Done(usize),
}

/// A stretch of the clock and the figure behind it.
struct Piece {
    from: u64,
    to: u64,
    path: String,
}

struct Chain<'a> {
    p: &'a VfProgram,
    target: &'a Target,
    /// Records on a clock that stood still while periods were skipped; `Link`s hold indices.
    records: Vec<VfRecord>,
    pieces: Vec<Piece>,
    now: u64,
}

impl<'a> Chain<'a> {
    fn new(p: &'a VfProgram, target: &'a Target, t: &VfTiming) -> Chain<'a> {
        let records = t.records.iter().zip(0u64..).map(|(r, i)| {
            let gone = t.skips.iter().filter(|s| s.seq + s.instructions <= r.seq);
            let cycles: u64 = gone.map(|s| s.cycles).sum();
            let index = |l: Link| Link { seq: l.seq.and_then(|s| s.checked_sub(r.seq - i)), ..l };
            let clock = |c: u64| c.saturating_sub(cycles);
            VfRecord {
                seq: i,
                head: clock(r.head),
                dispatch: clock(r.dispatch),
                rename: clock(r.rename),
                queue: clock(r.queue),
                issue: clock(r.issue),
                done: clock(r.done),
                held: index(r.held),
                after: index(r.after),
                moved: index(r.moved),
                ..*r
            }
        });
        Chain { p, target, records: records.collect(), pieces: Vec::new(), now: 0 }
    }

    fn walk(&mut self) {
        let last = self.records.iter().enumerate().max_by_key(|(i, r)| (r.done, *i));
        let Some((i, r)) = last else { return };
        self.now = r.done;
        let mut at = Some(At::Done(i));
        // Every link leads to an earlier moment or, in the same cycle, to an earlier stage.
        for _ in 0..4 * self.records.len() {
            let Some(here) = at.filter(|_| self.now > 0) else { break };
            at = self.step(here);
        }
        self.until(0, "vf.startup".into());
    }

    fn step(&mut self, at: At) -> Option<At> {
        match at {
            At::Done(i) => {
                let r = self.record(i)?;
                self.until(r.issue, self.figure(&r, "latency"));
                Some(At::Issue(i))
            }
            At::Issue(i) => {
                let r = self.record(i)?;
                self.back(i, &r, r.after)
            }
            At::Moved(i) => {
                let r = self.record(i)?;
                self.back(i, &r, r.moved)
            }
            At::Dispatch(i) => self.front(i),
        }
    }

    fn record(&self, i: usize) -> Option<VfRecord> {
        self.records.get(i).copied()
    }

    /// The instruction a link names, with its index, if its moment is not in the future.
    fn by(&self, l: Link, moment: impl Fn(&VfRecord) -> u64) -> Option<(usize, VfRecord)> {
        let i = usize::try_from(l.seq?).ok()?;
        let r = self.record(i)?;
        (moment(&r) <= self.now).then_some((i, r))
    }

    /// Explains the clock back to `from`.
    fn until(&mut self, from: u64, path: String) {
        if from < self.now {
            self.pieces.push(Piece { from, to: self.now, path });
            self.now = from;
        }
    }

    /// What held the start of an instruction, or its way to its unit.
    fn back(&mut self, i: usize, r: &VfRecord, link: Link) -> Option<At> {
        let issue = |r: &VfRecord| r.issue;
        let to_issue = |s: &mut Self, path: String| {
            let (j, by) = s.by(link, issue)?;
            s.until(by.issue, path);
            Some(At::Issue(j))
        };
        let to_done = |s: &mut Self, path: &str| {
            let (j, by) = s.by(link, |r| r.done)?;
            s.until(by.done, path.into());
            Some(At::Done(j))
        };
        let next = match link.cause {
            Cause::Launch => {
                self.until(0, "vf.startup".into());
                return None;
            }
            Cause::Operand => {
                let producer = self.by(link, issue)?.1;
                let path = self.figure(&producer, "latency");
                to_issue(self, path)
            }
            Cause::Bar => match self.kind(r) {
                Some(Kind::Bar(_)) => to_done(self, "vf.bar.wait"),
                kind => {
                    let bar = self.by(link, issue)?.1;
                    let path = bar_figure(self.kind(&bar), kind);
                    to_issue(self, path.into())
                }
            },
            Cause::Order => to_done(self, "vf.same_address_order"),
            Cause::Queue => to_issue(self, "vf.exu_queue".into()),
            Cause::Port => {
                let path = self.port(r, link);
                to_issue(self, path)
            }
            _ => None,
        };
        next.or_else(|| {
            self.until(r.dispatch, "vf.enqueue".into());
            Some(At::Dispatch(i))
        })
    }

    /// What a port or unit is held by: the rate of the instruction before, or the number of ports.
    fn port(&self, r: &VfRecord, link: Link) -> String {
        match self.kind(r) {
            Some(Kind::Load) => "vf.load_ports".into(),
            Some(Kind::Store) => "vf.store_ports".into(),
            Some(Kind::Predicate) => "vf.predicate_ports".into(),
            Some(Kind::Scalar) => "vf.scalar_ports".into(),
            _ => {
                let before = self.by(link, |r| r.issue).map(|(_, b)| b);
                let rate = before.and_then(|b| self.own(&b, "interval"));
                rate.unwrap_or_else(|| "vf.exus".into())
            }
        }
    }

    /// What held the dispatch of an instruction.
    fn front(&mut self, i: usize) -> Option<At> {
        let r = self.record(i)?;
        let link = r.held;
        match link.cause {
            Cause::Launch => {
                self.until(0, "vf.startup".into());
                return None;
            }
            Cause::Register => {
                // Released behind the start of a reader, or by renaming the next writer.
                if let Some((j, by)) = self.by(link, |r| r.issue) {
                    self.until(by.issue, "vf.release".into());
                    return Some(At::Issue(j));
                }
            }
            Cause::Credit => {
                let left = |r: &VfRecord| if r.moved == r.after { r.issue } else { r.queue };
                if let Some((j, by)) = self.by(link, left) {
                    self.until(left(&by), "vf.credit_return".into());
                    return Some(At::Moved(j));
                }
            }
            Cause::Queue => {
                if let Some((j, by)) = self.by(link, |r| r.done) {
                    self.until(by.done, "vf.window".into());
                    return Some(At::Done(j));
                }
            }
            _ => {}
        }
        let Some(before) = i.checked_sub(1) else {
            let path = if link.cause == Cause::Rearm { "vf.first_loop" } else { "vf.startup" };
            self.until(0, path.into());
            return None;
        };
        let dispatch = self.record(before)?.dispatch;
        let paced = self.now.saturating_sub(dispatch) <= 1;
        let path = match link.cause {
            Cause::Rearm if paced => "vf.iteration",
            Cause::Rearm => "vf.rearm",
            Cause::Register => "vf.registers",
            Cause::Credit => "vf.credits",
            Cause::Queue => "vf.window",
            _ => "vf.dispatch_width",
        };
        self.until(dispatch, path.into());
        Some(At::Dispatch(before))
    }

    fn inst(&self, r: &VfRecord) -> Option<&Inst> {
        self.p.insts.get(r.inst as usize)
    }

    fn kind(&self, r: &VfRecord) -> Option<Kind> {
        self.inst(r).map(|i| i.kind)
    }

    /// Path of a figure of the instruction itself, if the target has it.
    fn own(&self, r: &VfRecord, field: &str) -> Option<String> {
        let class = self.p.classes.get(usize::from(self.inst(r)?.class))?;
        let names = [Some(&class.name), class.fallback.as_ref()];
        let mut paths = names.into_iter().flatten().flat_map(|n| candidates(n, class.dtype, field));
        paths.find(|p| self.target.value(p).is_some())
    }

    /// The same, or the figure that stands for it.
    fn figure(&self, r: &VfRecord, field: &str) -> String {
        self.own(r, field).unwrap_or_else(|| match self.kind(r) {
            Some(Kind::Bar(bar)) => bar_figure(Some(Kind::Bar(bar)), None).into(),
            _ => "vf.scalar_latency".into(),
        })
    }

    /// Cycles by path. A skipped period is like the last one that was not; what lies behind the
    /// records is like what they show.
    fn totals(&self, t: &VfTiming) -> IndexMap<String, u64> {
        let mut sums = self.between(0, u64::MAX);
        let (mut gone, mut extra) = (0, Vec::<(u64, IndexMap<String, u64>)>::new());
        for s in &t.skips {
            let end = s.at - gone;
            // Skips inside the period are part of its cycles, but not of this clock.
            let mut begin = end.saturating_sub(s.period_cycles);
            for (earlier, (at, _)) in t.skips.iter().zip(&extra).rev() {
                begin = if *at > begin { (begin + earlier.cycles).min(*at) } else { begin };
            }
            let mut period = self.between(begin, end);
            for (_, inner) in extra.iter().filter(|(at, _)| begin < *at && *at <= end) {
                inner.iter().for_each(|(path, n)| add(&mut period, path, *n));
            }
            let times = s.cycles / s.period_cycles.max(1);
            period.values_mut().for_each(|n| *n = n.saturating_mul(times));
            period.iter().for_each(|(path, n)| add(&mut sums, path, *n));
            extra.push((end, period));
            gone += s.cycles;
        }
        scale(&mut sums, t.last_done);
        add(&mut sums, "vf.drain", t.cycles - t.last_done);
        sums
    }

    /// Cycles of a stretch of the clock.
    fn between(&self, from: u64, to: u64) -> IndexMap<String, u64> {
        let mut sums = IndexMap::new();
        for p in &self.pieces {
            let n = p.to.min(to).saturating_sub(p.from.max(from));
            if n > 0 {
                add(&mut sums, &p.path, n);
            }
        }
        sums
    }
}

fn add(sums: &mut IndexMap<String, u64>, path: &str, n: u64) {
    match sums.get_mut(path) {
        Some(v) => *v = v.saturating_add(n),
        None => drop(sums.insert(path.to_string(), n)),
    }
}

/// Stretches sums to a total; what rounding leaves goes to the largest.
fn scale(sums: &mut IndexMap<String, u64>, to: u64) {
    let from: u128 = sums.values().map(|v| u128::from(*v)).sum();
    if from == 0 {
        add(sums, "vf.startup", to);
        return;
    }
    for v in sums.values_mut() {
        *v = (u128::from(*v) * u128::from(to) / from) as u64;
    }
    let missing = to.saturating_sub(sums.values().sum());
    if let Some(v) = sums.values_mut().max() {
        *v += missing;
    }
}

/// Figure that a barrier holds an instruction back by.
fn bar_figure(bar: Option<Kind>, held: Option<Kind>) -> &'static str {
    match (bar, held) {
        (Some(Kind::Bar(Bar::StoreStore)), _) => "vf.bar.store_store",
        (Some(Kind::Bar(Bar::StoreLoad)), _) => "vf.bar.store_load",
        (Some(Kind::Bar(Bar::All)), Some(Kind::Load)) => "vf.bar.store_load",
        _ => "vf.bar.load_store",
    }
}
