//! racecheck: accesses to the same bytes that nothing orders.
//!
//! Records of a pipe start in program order but may overlap; only `pipe_barrier` and flags say
//! that one is complete before another starts. The order is kept as one vector clock per pipe, the
//! accesses as the last reader and the last writer of every byte and pipe: if the last one of a
//! pipe is complete, all before it are. Rules `[D: HIA PipeBarrier, ASC; PTO-doc pipeline-sync]`:
//!
//! * PIPE_S is in order with itself, and hands records over in order: what it has waited for is
//!   complete for every pipe. Its own accesses need flags like any other.
//! * Read after write and write after write on one pipe need a barrier of it, except that a
//!   vector instruction may overwrite the result of one of the same latency class.
//! * Write after read on one pipe is safe, because reads happen at issue `[I]`.
//! * Between pipes every conflict needs a flag.
//! * Atomic stores to GM commute.
//!
//! The two exceptions are reported as warnings when [`Options::strict`] is on. After a hazard the
//! missing synchronisation is assumed to be there, so that one missing line is one finding.

mod last;
mod meet;
mod order;
mod runs;
mod words;

use super::Finding;
use crate::access::{Lanes, Role, Space, Walk};
use crate::catalogue::Catalogue;
use crate::diag::Level;
use crate::stream::{Kind, Marks, OpId, Pipe, Record, SiteId, Stream};
use last::Last;
pub use meet::{Range, meet, unwritten};
use order::{Clock, Order, PIPES};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Registers that vector instructions write and later ones read, one bit each.
pub const REGISTERS: [&str; 3] = ["CMPMASK", "the accumulator registers", "the count registers"];

/// Most different findings of one check; a program with more has one cause.
const MOST: usize = 1000;

/// Registers an instruction reads and writes, as bits over [`REGISTERS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterUse {
    /// Registers read.
    pub reads: u8,
    /// Registers written.
    pub writes: u8,
}

/// What the check is told about the instructions and how strict it is.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Names and latency classes of the instructions.
    pub catalogue: &'a Catalogue,
    /// Registers they use, by [`OpId`]; missing entries use none.
    pub registers: &'a [RegisterUse],
    /// Number of the core, for messages.
    pub core: u32,
    /// Warn where documentation promises no order although none is known to be needed.
    pub strict: bool,
}

/// Kind of a hazard, named after what the second access does to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Hazard {
    Raw,
    Waw,
    War,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug)]
struct Pair {
    kind: Hazard,
    level: Level,
    /// Record and pipe of the first access.
    first: u32,
    from: usize,
    /// Record and pipe of the second.
    second: u32,
    to: usize,
    place: Place,
}

/// Where the accesses meet.
#[derive(Clone, Copy, Debug)]
enum Place {
    Bytes(Space, u64, u64),
    Register(usize),
}

type Key = (Hazard, SiteId, OpId, SiteId, OpId);

/// Hazards of a stream, in program order of the second access.
pub fn check(stream: &Stream, options: &Options) -> Vec<Finding> {
    let mut check = Check {
        stream,
        options,
        order: Order::of(&stream.records),
        touched: std::array::from_fn(|_| std::array::from_fn(|_| Default::default())),
        registers: [[0; PIPES]; REGISTERS.len()],
        found: Vec::new(),
        index: FxHashMap::default(),
    };
    for (i, r) in (0u32..).zip(&stream.records) {
        match r.kind {
            Kind::Barrier | Kind::SetFlag | Kind::WaitFlag => check.order.step(i, r),
            _ if r.marks.has(Marks::INSIDE) => {}
            _ => check.access(i, r),
        }
    }
    check.found
}

const READ: usize = 0;
const WRITE: usize = 1;

struct Check<'a> {
    stream: &'a Stream,
    options: &'a Options<'a>,
    order: Order,
    /// By space, pipe and role.
    touched: [[[Last; 2]; PIPES]; 2],
    /// Last writer of each register by pipe, plus one.
    registers: [[u32; PIPES]; REGISTERS.len()],
    found: Vec<Finding>,
    index: FxHashMap<Key, usize>,
}

impl Check<'_> {
    fn access(&mut self, i: u32, r: &Record) {
        let to = r.pipe as usize;
        if to >= PIPES {
            return;
        }
        let stream = self.stream;
        let parts = parts(stream, i, r);
        let clock = self.order.before(r.pipe as usize);
        let mut pairs: Vec<Pair> = Vec::new();
        // A record does not race with itself: all its operands are compared before any is marked.
        for part in &parts {
            let (space, role) = (part.space, part.role);
            for (from, kind) in suspects(&self.touched[space as usize], &clock, to, role) {
                let side = if kind == Hazard::War { READ } else { WRITE };
                if !self.options.strict && harmless(kind, from, to) {
                    continue;
                }
                let last = &mut self.touched[space as usize][from][side];
                let mut seen = 0;
                part.runs(|a, b| {
                    last.newer(a, b, clock[from], |a, b, value| {
                        if value != seen {
                            seen = value;
                            let place = Place::Bytes(space, a, b);
                            let level = Level::Error;
                            let first = value - 1;
                            pairs.push(Pair { kind, level, first, from, second: i, to, place });
                        }
                    });
                });
            }
        }
        self.registers_of(i, r, &clock, &mut pairs);
        for pair in pairs {
            self.judge(pair, r);
        }
        for part in &parts {
            let [read, write] = &mut self.touched[part.space as usize][to];
            let value = i + 1;
            if part.role != Role::Write {
                part.runs(|a, b| read.mark(a, b, value));
            }
            if part.role != Role::Read {
                part.runs(|a, b| write.mark(a, b, value));
            }
        }
    }

    /// Registers are only read after they were written; writers follow each other in order.
    fn registers_of(&mut self, i: u32, r: &Record, clock: &Clock, pairs: &mut Vec<Pair>) {
        let Some(uses) = self.options.registers.get(usize::from(r.op.0)) else { return };
        let to = r.pipe as usize;
        for (n, writers) in self.registers.iter_mut().enumerate() {
            if uses.reads >> n & 1 == 1 {
                for from in (0..PIPES).filter(|p| writers[*p] > clock[*p]) {
                    let (first, place) = (writers[from] - 1, Place::Register(n));
                    let (kind, level) = (Hazard::Raw, Level::Error);
                    pairs.push(Pair { kind, level, first, from, second: i, to, place });
                }
            }
            if uses.writes >> n & 1 == 1 {
                writers[to] = i + 1;
            }
        }
    }

    /// Decides how serious a pair is, and assumes the order it lacks.
    fn judge(&mut self, mut pair: Pair, second: &Record) {
        let Some(first) = self.stream.records.get(pair.first as usize) else { return };
        if pair.from == Pipe::S as usize && pair.to == Pipe::S as usize {
            return;
        }
        if let Place::Bytes(Space::Gm, ..) = pair.place
            && self.atomic(first)
            && self.atomic(second)
        {
            return;
        }
        let same_class = pair.kind == Hazard::Waw && pair.from == pair.to && {
            let class = |r: &Record| {
                (self.options.catalogue.get(r.op).map(|e| e.cost_class), r.dtype, r.kind)
            };
            second.kind == Kind::Vector && class(first) == class(second)
        };
        // What runs on V of the 950 completes in order with vector functions `[U: documentation
        // leaves it open]`.
        let functions =
            pair.from == pair.to && [first, second].iter().any(|r| r.kind == Kind::Function);
        if harmless(pair.kind, pair.from, pair.to) || same_class || functions {
            if !self.options.strict {
                return;
            }
            pair.level = Level::Warning;
        } else if self.order.before(pair.to)[pair.from] > pair.first {
            // The line that an earlier pair of this record lacks orders this one too.
            return;
        }
        self.report(&pair, first, second);
        if pair.level == Level::Error {
            match pair.from == pair.to {
                true => self.order.barrier(pair.second, pair.to),
                false => self.order.flag(pair.second, pair.from, pair.to),
            }
        }
    }

    /// Does the record add to GM?
    fn atomic(&self, r: &Record) -> bool {
        self.stream.operands(r).any(|(_, w)| w.space == Space::Gm && w.role == Role::Update)
    }

    fn report(&mut self, pair: &Pair, first: &Record, second: &Record) {
        let key = (pair.kind, second.site, second.op, first.site, first.op);
        if let Some(&at) = self.index.get(&key) {
            if let Some(f) = self.found.get_mut(at) {
                f.count = f.count.saturating_add(1);
            }
            return;
        }
        if self.found.len() >= MOST {
            return;
        }
        self.index.insert(key, self.found.len());
        let finding = words::finding(self, pair, first, second);
        self.found.push(finding);
    }
}

/// Bytes of one role in one memory.
struct Part<'a> {
    space: Space,
    role: Role,
    bytes: Bytes<'a>,
}

enum Bytes<'a> {
    Walk(u64, Walk, Lanes, u32),
    Runs(&'a [(u64, u64)]),
}

impl Part<'_> {
    fn runs(&self, mut f: impl FnMut(u64, u64)) {
        match &self.bytes {
            Bytes::Walk(base, walk, lanes, repeats) => runs::runs(*base, walk, lanes, *repeats, f),
            Bytes::Runs(runs) => runs.iter().for_each(|(a, b)| f(*a, *b)),
        }
    }
}

/// What a record touches: its footprint if it has one, or else its operands.
fn parts<'a>(stream: &'a Stream, i: u32, r: &Record) -> SmallVec<[Part<'a>; 4]> {
    let Some(f) = stream.footprints.get(i) else {
        let lanes = stream.lanes(r);
        let walk = |(base, w): (u64, Walk)| {
            let bytes = Bytes::Walk(base, w, lanes, r.repeats);
            Part { space: w.space, role: w.role, bytes }
        };
        return stream.operands(r).map(walk).collect();
    };
    let mut out = SmallVec::new();
    for space in [Space::Ub, Space::Gm] {
        for (role, write) in [(Role::Read, false), (Role::Write, true)] {
            let bytes = Bytes::Runs(f.runs(space, write));
            out.push(Part { space, role, bytes });
        }
    }
    out
}

/// Write after read on one pipe: reads happen at issue.
fn harmless(kind: Hazard, from: usize, to: usize) -> bool {
    kind == Hazard::War && from == to
}

/// Pipes and kinds of hazard that an operand of `role` on pipe `to` could meet at all.
fn suspects(
    touched: &[[Last; 2]; PIPES],
    clock: &Clock,
    to: usize,
    role: Role,
) -> impl Iterator<Item = (usize, Hazard)> + use<> {
    let mut out = SmallVec::<[(usize, Hazard); 8]>::new();
    for (from, [read, write]) in touched.iter().enumerate() {
        if from == to && to == Pipe::S as usize {
            continue;
        }
        let after = clock[from];
        if write.any_after(after) {
            if role != Role::Write {
                out.push((from, Hazard::Raw));
            }
            if role != Role::Read {
                out.push((from, Hazard::Waw));
            }
        }
        if role != Role::Read && read.any_after(after) {
            out.push((from, Hazard::War));
        }
    }
    out.into_iter()
}
