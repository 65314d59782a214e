//! The chain of waits from the end of a run back to its start, link by link with the figure that
//! explains it.

use super::figures::{Fixed, cycles};
use super::timeline::{Entry, Timeline};
use super::vf;
use crate::access::Space;
use crate::dtype::DType;
use crate::stream::{Kind, Marks, OpId, Pipe, Record, Stream};
use crate::target::Target;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Stands for the figures of a vector function as a whole.
const FUNCTION: &str = "function";

/// Where the chain goes on.
#[derive(Clone, Copy)]
enum Link {
    /// At the result of a record.
    Done(u32),
    /// At the moment a record left its pipe free.
    Free(u32),
    /// On S, when it came to a record.
    Scalar(u32),
}

/// Paths of an instruction's figures.
#[derive(Clone)]
struct Paths {
    startup: String,
    startup_cycles: u64,
    rate: String,
}

pub(crate) struct Chain<'a> {
    stream: &'a Stream,
    target: &'a Target,
    timeline: &'a Timeline,
    fixed: Fixed,
    paths: FxHashMap<(OpId, DType), Paths>,
    figures: IndexMap<String, u64>,
    /// Figures of vector functions by number.
    functions: FxHashMap<u32, Arc<IndexMap<String, u64>>>,
    /// Cycles from here on are explained.
    at: u64,
    /// Look into vector functions?
    inside: bool,
}

impl<'a> Chain<'a> {
    pub fn new(stream: &'a Stream, target: &'a Target, timeline: &'a Timeline) -> Self {
        Chain {
            stream,
            target,
            timeline,
            fixed: Fixed::new(target),
            paths: FxHashMap::default(),
            figures: IndexMap::new(),
            functions: FxHashMap::default(),
            at: timeline.cycles,
            inside: true,
        }
    }

    /// The same with vector functions as wholes: what is not their launch or drain is theirs.
    pub fn coarse(self) -> Self {
        Chain { inside: false, ..self }
    }

    /// Cycles by path of the figure; they add up to the cycles of the run.
    pub fn walk(mut self) -> IndexMap<String, u64> {
        self.explain(self.at.saturating_sub(self.fixed.end), "end");
        let last = (0u32..).zip(&self.timeline.entries).max_by_key(|(_, e)| e.done);
        let n = self.stream.records.len() as u32;
        let mut link = match last {
            Some((i, e)) if e.done == self.at => Link::Done(i),
            _ => Link::Scalar(n),
        };
        // Every link leads to an earlier record, or from a record to S before it.
        while self.at > 0 {
            let next = match link {
                Link::Done(i) => self.done(i),
                Link::Free(i) => self.free(i),
                Link::Scalar(i) => self.scalar(i),
            };
            let Some(next) = next else { break };
            link = next;
        }
        self.explain(0, "scalar.issue");
        self.figures
    }

    /// Explains the cycles from `from` on by a figure.
    fn explain(&mut self, from: u64, path: &str) {
        let cycles = self.at.saturating_sub(from);
        if cycles > 0 {
            self.at = from;
            match self.figures.get_mut(path) {
                Some(n) => *n += cycles,
                None => drop(self.figures.insert(path.to_string(), cycles)),
            }
        }
    }

    fn record(&self, i: u32) -> Option<(Record, Entry)> {
        let r = self.stream.records.get(i as usize)?;
        Some((*r, *self.timeline.entries.get(i as usize)?))
    }

    /// At the result of record `i`.
    fn done(&mut self, i: u32) -> Option<Link> {
        let (r, e) = self.record(i)?;
        match r.kind {
            Kind::Vector | Kind::Copy => {
                let p = self.paths_of(&r);
                let executed = e.issue + p.startup_cycles + u64::from(e.busy);
                self.explain(self.at.saturating_sub(self.fixed.drain).max(executed), "drain");
                self.explain(executed, "partial_block");
                self.busy(e.issue + p.startup_cycles, e, &p.rate);
                self.explain(e.issue, &p.startup);
                return Some(self.before(i, &r, e));
            }
            Kind::Dma | Kind::Function => return self.free(i),
            Kind::ScalarLoad => {
                let path = if self.in_gm(&r) { "scalar.gm_load" } else { "scalar.load" };
                self.explain(e.issue, path);
            }
            Kind::ScalarStore => self.explain(e.issue, self.scalar_path(&r)),
            Kind::SetFlag => {
                let flag = r.flag()?;
                let (path, latency) = self.fixed.flag_named(flag.src, flag.dst);
                self.explain(self.at.saturating_sub(latency), path);
            }
            Kind::WaitFlag => return Some(Link::Done(r.link)).filter(|_| r.link < i),
            Kind::MaskWrite => return Some(self.mask(i, e)),
            Kind::CtrlWrite => return Some(Link::Scalar(i + 1)),
            Kind::Barrier => {}
        }
        let after = e.after;
        Some(if after < i { Link::Done(after) } else { Link::Scalar(i) })
    }

    /// At the effect of a mask write: on V behind a barrier, of a trailing restore, or on S.
    fn mask(&mut self, i: u32, e: Entry) -> Link {
        let Some((_, last)) = self.record(e.after) else { return Link::Scalar(i + 1) };
        let restored = last.done + self.fixed.mask_restore == self.at;
        let (path, cycles) = if restored && e.done == self.at {
            ("mask.restore", self.fixed.mask_restore)
        } else {
            ("mask.behind_barrier", self.fixed.mask_behind_barrier)
        };
        self.explain(self.at.saturating_sub(cycles), path);
        Link::Done(e.after)
    }

    /// At the moment record `i` left its pipe free.
    fn free(&mut self, i: u32) -> Option<Link> {
        let (r, e) = self.record(i)?;
        if r.kind == Kind::Dma {
            let mte3 = r.pipe == Pipe::Mte3;
            let (q, name) =
                if mte3 { (self.fixed.mte3, "mte3") } else { (self.fixed.mte2, "mte2") };
            self.explain(e.issue + q.latency, &format!("{name}.bytes_per_cycle"));
            self.explain(e.issue, &format!("{name}.latency"));
        } else if r.kind == Kind::Function {
            self.function(&r, e);
        } else {
            let rate = self.paths_of(&r).rate;
            self.busy(e.issue, e, &rate);
        }
        Some(self.before(i, &r, e))
    }

    /// A vector function: the figures on its own chain of waits.
    fn function(&mut self, r: &Record, e: Entry) {
        let begin = e.issue;
        if !self.inside {
            let cycles_of = |path: &str| self.target.value(path).map_or(0, cycles);
            let (startup, drain) = (cycles_of("vf.startup"), cycles_of("vf.drain"));
            let begun = (begin + startup).min(self.at);
            self.explain(self.at.saturating_sub(drain).max(begun), "vf.drain");
            self.explain(begun, FUNCTION);
            return self.explain(begin, "vf.startup");
        }
        let (stream, target) = (self.stream, self.target);
        let figures = self.functions.entry(r.link).or_insert_with(|| {
            let program = stream.functions.get(r.link);
            let all = program.and_then(|p| vf::explain(p, target).ok()).unwrap_or_default();
            Arc::new(all)
        });
        for (path, n) in figures.clone().iter() {
            self.explain(self.at.saturating_sub(*n).max(begin), path);
        }
        self.explain(begin, "vf.startup");
    }

    /// The cycles an instruction held its pipe: bank conflicts, then its own rate.
    fn busy(&mut self, from: u64, e: Entry, rate: &str) {
        let conflict = u64::from(e.conflict).min(self.at.saturating_sub(from));
        // The depth of the read stage decides which write meets which read.
        self.explain(self.at - conflict, "ub.read_stage");
        self.explain(from, rate);
    }

    /// What an instruction waited for before its issue.
    fn before(&mut self, i: u32, r: &Record, e: Entry) -> Link {
        self.explain(e.issue, "scalar.issue");
        if e.after >= i {
            return Link::Scalar(i);
        }
        match self.record(e.after) {
            Some((p, f)) if p.pipe == r.pipe && f.issue + u64::from(f.busy) == e.issue => {
                Link::Free(e.after)
            }
            _ => Link::Done(e.after),
        }
    }

    /// On S when it came to record `i`: what it did for the record before.
    fn scalar(&mut self, i: u32) -> Option<Link> {
        let k = i.checked_sub(1)?;
        let (r, e) = self.record(k)?;
        match r.kind {
            Kind::Vector | Kind::Copy | Kind::Dma | Kind::Function => {
                self.hand_over(e.issue.saturating_sub(u64::from(e.wait)));
            }
            Kind::ScalarLoad | Kind::ScalarStore => {
                self.explain(e.issue, self.scalar_path(&r));
                if e.after < k {
                    return Some(Link::Done(e.after));
                }
            }
            Kind::WaitFlag | Kind::Barrier if e.after < k => return Some(Link::Done(e.after)),
            Kind::MaskWrite => {
                let computed = r.marks.has(Marks::COMPUTED);
                let from = (e.issue + self.fixed.issue).min(self.at);
                self.explain(from, if computed { "mask.computed" } else { "mask.first" });
                self.hand_over(e.issue);
            }
            _ => self.hand_over(e.issue),
        }
        Some(Link::Scalar(k))
    }

    /// S handed a record over from `from` on.
    fn hand_over(&mut self, from: u64) {
        let op = self.fixed.scalar_op.min(self.at.saturating_sub(from));
        self.explain(from + op, "scalar.issue");
        self.explain(from, "scalar.op");
    }

    fn in_gm(&self, r: &Record) -> bool {
        self.stream.shape(r).0.iter().flatten().any(|w| w.space == Space::Gm)
    }

    fn scalar_path(&self, r: &Record) -> &'static str {
        match (r.kind, self.in_gm(r)) {
            (Kind::ScalarLoad, _) => "scalar.load_interval",
            (_, true) => "scalar.gm_store",
            (_, false) => "scalar.store",
        }
    }

    fn paths_of(&mut self, r: &Record) -> Paths {
        let target = self.target;
        let of = |field: &str| {
            let entry = target.catalogue().get(r.op);
            let own = entry.and_then(|e| target.cost(e, r.dtype, field)).map(|(p, _)| p);
            own.unwrap_or_else(|| format!("default.{field}"))
        };
        let rate = if r.kind == Kind::Copy { "bytes_per_cycle" } else { "per_repeat" };
        let new = || {
            let startup = of("startup");
            let startup_cycles = target.value(&startup).map_or(0, cycles);
            Paths { rate: of(rate), startup, startup_cycles }
        };
        self.paths.entry((r.op, r.dtype)).or_insert_with(new).clone()
    }
}
