//! What of a stream does not depend on figures, computed once for many timings.

use super::arbiter::{Access, Geometry, Pace};
use super::figures::{Cost, Fixed, Places, geometry};
use super::machine::Machine;
use super::memo::remembered;
use super::timeline::Timeline;
use super::vf;
use crate::access::{Lanes, Role, Walk};
use crate::diag::Diagnostic;
use crate::dtype::DType;
use crate::stream::{Kind, LanesId, OPERANDS, OpId, Pipe, Record, ShapeId, Stream};
use crate::target::Target;
use rustc_hash::FxHashMap;
use std::sync::{PoisonError, RwLock};

/// A stream made ready for timing under any number of targets of its family.
///
/// Records that must take the same time under any figures share one [`Job`]; what the arbiter
/// says about a job is remembered, so that re-timing costs a few operations a record.
#[derive(Debug)]
pub struct Prepared<'s> {
    pub(crate) stream: &'s Stream,
    geometry: Geometry,
    /// Job of each record; `NO_JOB` for control records.
    pub(crate) jobs: Vec<u32>,
    table: Vec<Job>,
    pub(crate) classes: Vec<(OpId, DType)>,
    known: RwLock<FxHashMap<(u32, Pace), u64>>,
    functions: vf::Compiled<'s>,
    /// Cycles of functions under figures met before.
    seen: RwLock<FxHashMap<vf::Key, u64>>,
}

/// Places of a stream's figures in a target and its copies, for [`Prepared::time_found`].
#[derive(Clone, Debug)]
pub struct Found(Places);

/// Arbiter answers and cycles of functions kept by one stream; later ones are computed each time.
const KNOWN: usize = 1 << 18;
const SEEN: usize = 1 << 13;

/// Record without a job.
pub(crate) const NO_JOB: u32 = u32::MAX;

/// Records alike to the model: same instruction, walks, lanes and bank phases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub class: u32,
    /// The first such record.
    record: u32,
    /// Does the mask cut inside a block that is written?
    partial: bool,
}

/// What makes two records alike.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    class: u32,
    shape: ShapeId,
    lanes: LanesId,
    repeats: u32,
    pipe: Pipe,
    phase: [u64; OPERANDS],
}

/// A job under one target.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timed {
    /// Issue until execution begins.
    pub startup: u64,
    /// Cycles on the pipe.
    pub busy: u64,
    /// Those that bank conflicts added.
    pub conflict: u64,
    /// End of execution until a result counts as written, beyond the drain.
    pub tail: u64,
}

impl<'s> Prepared<'s> {
    /// Prepares a stream for targets with the banks of `target`.
    pub fn new(stream: &'s Stream, target: &Target) -> Prepared<'s> {
        let mut p = Prepared {
            stream,
            geometry: geometry(target),
            jobs: Vec::with_capacity(stream.records.len()),
            table: Vec::new(),
            classes: Vec::new(),
            known: RwLock::default(),
            functions: vf::Compiled::new(stream.functions.iter()),
            seen: RwLock::default(),
        };
        let mut classes = FxHashMap::default();
        let mut keys = FxHashMap::default();
        for (i, r) in stream.records.iter().enumerate() {
            if !matches!(r.kind, Kind::Vector | Kind::Copy | Kind::Dma | Kind::Function) {
                p.jobs.push(NO_JOB);
                continue;
            }
            let class = *classes.entry((r.op, r.dtype)).or_insert_with(|| {
                p.classes.push((r.op, r.dtype));
                (p.classes.len() - 1) as u32
            });
            let key = p.key(r, class);
            let (table, next) = (&mut p.table, keys.len() as u32);
            let job = *keys.entry(key).or_insert_with(|| {
                let partial = r.kind == Kind::Vector && cuts_a_block(stream, r);
                table.push(Job { class, record: i as u32, partial });
                next
            });
            p.jobs.push(job);
        }
        p
    }

    fn key(&self, r: &Record, class: u32) -> Key {
        let (shape, lanes, repeats, pipe) = (r.shape, r.lanes, r.repeats, r.pipe);
        let phase = match r.kind {
            Kind::Vector => self.phase(r),
            Kind::Function => [u64::from(r.link); OPERANDS],
            _ => [0; OPERANDS],
        };
        Key { class, shape, lanes, repeats, pipe, phase }
    }

    /// What of the base addresses matters: the place in a turn through the groups, and which
    /// operands share a layer. An operand that crosses layers keeps its address.
    fn phase(&self, r: &Record) -> [u64; OPERANDS] {
        let g = self.geometry;
        let shape = self.stream.shape(r);
        let (turn, mut layers, mut phase) =
            (g.groups * g.block, [u64::MAX; OPERANDS], [0; OPERANDS]);
        for i in 0..OPERANDS {
            let Some(walk) = shape.0[i] else { continue };
            let (lo, hi) = walk.reach(r.base[i], 0, u64::from(r.repeats));
            let size = i128::from(g.layer);
            if lo.div_euclid(size) != (hi - 1).div_euclid(size) {
                return r.base;
            }
            layers[i] = r.base[i] / g.layer;
            let id = layers[..i].iter().position(|&l| l == layers[i]).unwrap_or(i);
            // The top bit keeps phases apart from whole addresses.
            phase[i] = 1 << 63 | (id as u64) << 32 | (r.base[i] % turn);
        }
        phase
    }

    /// Times the stream under the figures of `target`.
    pub fn time(&self, target: &Target) -> Timeline {
        if geometry(target) != self.geometry {
            return Prepared::new(self.stream, target).time(target);
        }
        let costs = self.classes.iter().map(|&(op, dtype)| Cost::new(target, op, dtype));
        self.time_with(target, &Fixed::new(target), &costs.collect::<Vec<_>>())
    }

    /// Where the figures of this stream stand in `target` and in copies of it.
    pub fn found(&self, target: &Target) -> Found {
        Found(Places::find(target, &self.classes))
    }

    /// Times the stream under `target`, a copy of the target the figures were found in, with the
    /// banks this stream was prepared for: the same as [`Prepared::time`] without looking up names.
    pub fn time_found(&self, target: &Target, found: &Found) -> Timeline {
        let (fixed, costs) = found.0.read(target);
        self.time_with(target, &fixed, &costs)
    }

    fn time_with(&self, target: &Target, fixed: &Fixed, costs: &[Cost]) -> Timeline {
        let mut faults = Vec::new();
        let jobs = self.timed(target, fixed, costs, &mut faults);
        let line = Machine::new(fixed, self.stream).run(&self.jobs, &jobs);
        Timeline { faults, ..line }
    }

    /// Every job under the figures of `target`.
    fn timed(
        &self,
        target: &Target,
        fixed: &Fixed,
        costs: &[Cost],
        faults: &mut Vec<Diagnostic>,
    ) -> Vec<Timed> {
        let of = |job: &Job| costs.get(job.class as usize).copied().unwrap_or_default();
        let functions =
            if self.functions.is_empty() { None } else { Some(self.functions.bind(target)) };
        let function = |r: &Record| match functions.as_ref()? {
            Ok(f) => Some(self.function(f, r.link as usize)),
            Err(d) => Some(Err(d.clone())),
        };
        let mut out = Vec::with_capacity(self.table.len());
        for (i, job) in (0u32..).zip(&self.table) {
            let Some(r) = self.stream.records.get(job.record as usize) else { continue };
            let t = match (r.kind == Kind::Function).then(|| function(r)).flatten() {
                Some(cycles) => Timed {
                    busy: cycles.map_err(|d| faults.push(d)).unwrap_or(0),
                    ..Timed::default()
                },
                None => self.timed_record(i, r, job, of(job), fixed),
            };
            // Entries keep 32 bits; nothing real comes near.
            out.push(Timed { busy: t.busy.min(u64::from(u32::MAX)), ..t });
        }
        out
    }

    fn timed_record(&self, id: u32, r: &Record, job: &Job, cost: Cost, fixed: &Fixed) -> Timed {
        match r.kind {
            Kind::Dma => {
                let q = if r.pipe == Pipe::Mte3 { fixed.mte3 } else { fixed.mte2 };
                let busy = bursts(self.stream, r, q.per_burst, q.bytes_per_cycle);
                Timed { busy: q.latency.saturating_add(busy), ..Timed::default() }
            }
            Kind::Copy => {
                let busy = bursts(self.stream, r, cost.per_burst, cost.bytes_per_cycle);
                Timed { startup: cost.startup, busy, ..Timed::default() }
            }
            _ => {
                let depth = fixed.read_stage + cost.startup + 1;
                let interval = (cost.per_repeat.floor() as u64).max(1);
                let served = self.served(id, r, Pace { depth, interval });
                let repeats = u64::from(r.repeats);
                let floor = super::figures::cycles(cost.per_repeat * repeats as f64).max(repeats);
                let busy = served.max(floor);
                let tail = if job.partial { fixed.partial_block } else { 0 };
                Timed { startup: cost.startup, busy, conflict: busy - floor, tail }
            }
        }
    }

    /// Cycles of a vector function, from memory if its figures were the same before.
    fn function(&self, bound: &vf::Bound, function: usize) -> Result<u64, Diagnostic> {
        let key = bound.key(function);
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(&cycles) = seen.get(&key) {
            return Ok(cycles);
        }
        drop(seen);
        let cycles = bound.time(function, vf::Options::default())?.cycles;
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < SEEN {
            seen.insert(key, cycles);
        }
        Ok(cycles)
    }

    /// Arbiter cycles of a job, from memory if it has been asked before.
    fn served(&self, id: u32, r: &Record, pace: Pace) -> u64 {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(&cycles) = known.get(&(id, pace)) {
            return cycles;
        }
        drop(known);
        let cycles = arbitrate(self.stream, r, self.geometry, pace);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < KNOWN {
            known.insert((id, pace), cycles);
        }
        cycles
    }
}

/// Runs the arbiter over a record.
fn arbitrate(stream: &Stream, r: &Record, geometry: Geometry, pace: Pace) -> u64 {
    let with = |role: Role| {
        let mut list: Vec<(u64, Walk)> =
            stream.operands(r).filter(|(_, w)| w.role == role || w.role == Role::Update).collect();
        // The destination comes first in a record; as a source it is read last.
        if role == Role::Read {
            list.sort_by_key(|(_, w)| w.role == Role::Update);
        }
        list
    };
    let (reads, writes) = (with(Role::Read), with(Role::Write));
    let lanes = stream.lanes(r);
    let repeats = u64::from(r.repeats);
    remembered(&Access { reads: &reads, writes: &writes, lanes, repeats }, geometry, pace)
}

/// Cycles of the bursts of a copy or transfer.
fn bursts(stream: &Stream, r: &Record, per_burst: u64, bytes_per_cycle: f64) -> u64 {
    let bytes = stream.shape(r).0[0].map_or(0, |w| u64::from(w.blocks) * u64::from(w.unit));
    let one = (bytes as f64 / bytes_per_cycle).ceil() as u64;
    u64::from(r.repeats).saturating_mul(one.max(per_burst))
}

/// Is some written block only partly active?
fn cuts_a_block(stream: &Stream, r: &Record) -> bool {
    let last = u64::from(r.repeats).saturating_sub(1);
    let mask = match stream.lanes(r) {
        Lanes::All => return false,
        lanes => lanes.of_repeat(last),
    };
    stream.operands(r).filter(|(_, w)| w.role != Role::Read).any(|(base, w)| {
        let n = w.lanes_per_block();
        n > 0 && w.pieces(base, last, mask).any(|(_, a, b)| b - a != u64::from(w.unit))
    })
}
