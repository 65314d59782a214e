//! Microcode on names instead of numbers: what a byte of the result is as a function of the bytes
//! there were before, whatever their values. Two programs whose results have the same names compute
//! the same for every input.
//!
//! Names are built from the walks of the instructions: lane by lane where an instruction works lane
//! by lane, from all active elements of a repeat where it does not. Maximum and minimum are sets of
//! what they were taken of, since order and repetition do not matter to them; operands of other
//! commutative instructions are sorted.

use super::repeats::Trace;
use crate::instr::Instr;
use crate::machine::{Plan, order};
use crate::table::{Form, Op, Order, What};
use crate::tile::{Call, Operator};
use ptoemu_core::access::Walk;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::Kind;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Most terms looked at for a hint.
const MOST_TERMS: usize = 1 << 16;

/// Number of a name.
type Name = u32;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Term {
    /// A byte as it was before.
    Leaf(u64),
    /// Bytes put together: name and place in it.
    Pack(Vec<(Name, u8)>),
    /// A result of an instruction: which, numbers in it, inputs, which of its results.
    Value(Op, [u8; 2], Vec<i64>, Vec<Name>, u32),
    /// Maximum or minimum of all these.
    Extreme(bool, BTreeSet<Name>),
}

/// Names and terms, kept from program to program.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    names: FxHashMap<Term, Name>,
    terms: Vec<Term>,
    /// The scalar unit stores the maximum (true) or minimum of what it loaded since it stored last.
    fold: Option<bool>,
}

/// What a program makes of memory: names of the bytes asked for, and of what the scalar unit
/// loaded, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    result: Vec<(Name, u8)>,
    loaded: Vec<Name>,
}

/// One run.
struct Run<'s> {
    all: &'s mut Symbols,
    memory: FxHashMap<u64, (Name, u8)>,
    loaded: Vec<Name>,
    /// Loaded since the last store, where that stores an extreme of it.
    folded: Vec<Name>,
}

impl Symbols {
    /// For programs of a call: integers of a row are folded by the scalar unit.
    pub fn of(call: &Call) -> Symbols {
        let fold = match call.op.operator {
            _ if !call.op.reduces_rows() || call.dst.dtype.is_float() => None,
            Operator::Max => Some(true),
            Operator::Min => Some(false),
            _ => None,
        };
        Symbols { fold, ..Symbols::default() }
    }

    /// Is it the value that changes nothing in a maximum (minimum)?
    fn neutral(&self, name: Name, max: bool) -> bool {
        let Some(Term::Value(Op::vector_dup, [t, _], numbers, ..)) = self.terms.get(name as usize)
        else {
            return false;
        };
        let t = DType::ALL.into_iter().find(|d| *d as u8 == *t).filter(|d| !d.is_float());
        let Some((t, value)) = t.zip(numbers.first()) else { return false };
        let all = u64::MAX >> (64 - 8 * t.size());
        let (least, most) = if t.is_signed() { (all / 2 + 1, all / 2) } else { (0, all) };
        *value as u64 & all == if max { least } else { most }
    }

    fn name(&mut self, term: Term) -> Name {
        if let Some(n) = self.names.get(&term) {
            return *n;
        }
        let n = self.terms.len() as Name;
        self.terms.push(term.clone());
        self.names.insert(term, n);
        n
    }

    /// Addresses the first result that differs between two programs depends on in one of them only.
    pub fn differing(&self, a: &Meaning, b: &Meaning) -> Vec<u64> {
        let mut pairs = a.result.iter().zip(&b.result);
        let Some((x, y)) = pairs.find(|(x, y)| x != y) else { return Vec::new() };
        let (x, y) = (self.leaves(x.0), self.leaves(y.0));
        x.symmetric_difference(&y).copied().collect()
    }

    /// Addresses a name is made of.
    fn leaves(&self, name: Name) -> BTreeSet<u64> {
        let (mut todo, mut seen) = (vec![name], BTreeSet::new());
        let mut out = BTreeSet::new();
        while let Some(n) = todo.pop().filter(|_| seen.len() < MOST_TERMS) {
            if !seen.insert(n) {
                continue;
            }
            match self.terms.get(n as usize) {
                Some(Term::Leaf(at)) => drop(out.insert(*at)),
                Some(Term::Pack(parts)) => todo.extend(parts.iter().map(|p| p.0)),
                Some(Term::Value(_, _, _, inputs, _)) => todo.extend(inputs),
                Some(Term::Extreme(_, of)) => todo.extend(of),
                None => {}
            }
        }
        out
    }

    /// Names of the bytes `result` behind a program.
    pub fn run(&mut self, program: &Trace, result: impl Iterator<Item = u64>) -> Meaning {
        let mut run =
            Run { all: self, memory: FxHashMap::default(), loaded: Vec::new(), folded: Vec::new() };
        for (i, p) in program {
            run.step(i, p);
        }
        let result = result.map(|at| run.byte(at)).collect();
        Meaning { result, loaded: run.loaded }
    }
}

/// Maximum (true) or minimum of values alone.
fn extreme(i: &Instr) -> Option<bool> {
    match i.op {
        Op::vmax | Op::vcgmax => Some(true),
        Op::vmin | Op::vcgmin => Some(false),
        Op::vcmax if order(i) == Order::OnlyValue => Some(true),
        Op::vcmin if order(i) == Order::OnlyValue => Some(false),
        _ => None,
    }
}

impl Run<'_> {
    fn byte(&mut self, at: u64) -> (Name, u8) {
        match self.memory.get(&at) {
            Some(known) => *known,
            None => (self.all.name(Term::Leaf(at)), 0),
        }
    }

    /// Name of the element at an address.
    fn read(&mut self, at: u64, size: usize) -> Name {
        let bytes: Vec<(Name, u8)> = (0..size as u64).map(|k| self.byte(at + k)).collect();
        let whole =
            bytes.iter().enumerate().all(|(k, b)| b.0 == bytes[0].0 && usize::from(b.1) == k);
        let leaf = matches!(self.all.terms.get(bytes[0].0 as usize), Some(Term::Leaf(_)));
        if whole && !leaf { bytes[0].0 } else { self.all.name(Term::Pack(bytes)) }
    }

    fn write(&mut self, at: u64, size: usize, name: Name) {
        for k in 0..size {
            self.memory.insert(at + k as u64, (name, k as u8));
        }
    }

    fn value(&mut self, i: &Instr, mut inputs: Vec<Name>, which: u32) -> Name {
        if let Some(max) = extreme(i) {
            return self.extreme(max, inputs);
        }
        if matches!(i.op, Op::vadd | Op::vmul | Op::vand | Op::vor) {
            inputs.sort_unstable();
        }
        let plain = |w: What| matches!(w, What::Scalar | What::Num | What::Order);
        let params = i.form().params().iter().zip(i.args);
        let numbers = params.filter(|(p, _)| plain(p.what)).map(|(_, v)| v).collect();
        let types = [i.dtype as u8, i.src_dtype as u8];
        self.all.name(Term::Value(i.op, types, numbers, inputs, which))
    }

    /// The maximum or minimum of names: of what they are extremes of, without what changes nothing.
    fn extreme(&mut self, max: bool, inputs: Vec<Name>) -> Name {
        let mut set = BTreeSet::new();
        for n in &inputs {
            match self.all.terms.get(*n as usize) {
                Some(Term::Extreme(m, of)) if *m == max => set.extend(of),
                _ => drop(set.insert(*n)),
            }
        }
        let idle = set.iter().copied().find(|n| self.all.neutral(*n, max));
        set.retain(|n| !self.all.neutral(*n, max));
        match (set.first(), idle) {
            (None, Some(idle)) => idle,
            (Some(only), _) if set.len() == 1 => *only,
            _ => self.all.name(Term::Extreme(max, set)),
        }
    }

    fn step(&mut self, i: &Instr, p: &Plan) {
        match (p.row.kind(), i.form()) {
            (Kind::ScalarLoad, _) => {
                if let Some((base, w)) = p.operand(0) {
                    let name = self.read(base, w.unit as usize);
                    match self.all.fold {
                        Some(_) => self.folded.push(name),
                        None => self.loaded.push(name),
                    }
                }
            }
            (Kind::ScalarStore, _) => {
                let name = match self.all.fold {
                    Some(max) => {
                        let inputs = std::mem::take(&mut self.folded);
                        self.extreme(max, inputs)
                    }
                    None => self.value(i, Vec::new(), 0),
                };
                if let Some((base, w)) = p.operand(0) {
                    self.write(base, w.unit as usize, name);
                }
            }
            (Kind::Copy, _) => (0..u64::from(p.repeats)).for_each(|r| self.copy(p, r)),
            (Kind::Vector, Form::Brcb) => {
                (0..u64::from(p.repeats)).for_each(|r| self.spread(i, p, r))
            }
            (Kind::Vector, Form::Group) => {
                (0..u64::from(p.repeats)).for_each(|r| self.blocks(i, p, r));
            }
            (Kind::Vector, _) => (0..u64::from(p.repeats)).for_each(|r| self.repeat(i, p, r)),
            _ => {}
        }
    }

    fn copy(&mut self, p: &Plan, r: u64) {
        let (Some((d, dw)), Some((s, sw))) = (p.operand(0), p.operand(1)) else { return };
        let (Some(to), Some(from)) = (dw.addr(d, r, 0), sw.addr(s, r, 0)) else { return };
        let bytes: Vec<_> = (0..u64::from(sw.unit)).map(|k| self.byte(from + k)).collect();
        for (k, b) in (0u64..).zip(bytes) {
            self.memory.insert(to + k, b);
        }
    }

    /// Eight elements, each over a block.
    fn spread(&mut self, i: &Instr, p: &Plan, r: u64) {
        let (Some((d, dw)), Some((s, sw))) = (p.operand(0), p.operand(1)) else { return };
        let size = i.dtype.size();
        let Some(from) = sw.addr(s, r, 0) else { return };
        let all: Vec<Name> = (0..8).map(|k| self.read(from + k * size as u64, size)).collect();
        for (b, name) in all.into_iter().enumerate() {
            let Some(to) = dw.addr(d, r, b) else { continue };
            (0..32 / size as u64).for_each(|k| self.write(to + k * size as u64, size, name));
        }
    }

    /// Address of each lane of a repeat, if the operand has lanes.
    fn lane(w: &Walk, base: u64, r: u64, lane: usize) -> Option<u64> {
        let n = w.lanes_per_block().max(1);
        let at = w.addr(base, r, lane / n)?;
        Some(at + (lane % n) as u64 * u64::from(w.elem))
    }

    /// One result for each block of the source.
    fn blocks(&mut self, i: &Instr, p: &Plan, r: u64) {
        let (Some((d, dw)), Some((s, sw))) = (p.operand(0), p.operand(1)) else { return };
        let (size, mask) = (i.dtype.size(), p.lanes.of_repeat(r));
        let n = sw.lanes_per_block();
        let Some(to) = dw.addr(d, r, 0) else { return };
        let mut out = Vec::new();
        for b in 0..dw.unit as usize / size {
            let active = (b * n..(b + 1) * n).filter(|l| mask.get(*l));
            let at: Vec<u64> = active.filter_map(|l| Self::lane(&sw, s, r, l)).collect();
            let inputs: Vec<Name> = at.into_iter().map(|a| self.read(a, size)).collect();
            out.push(self.value(i, inputs, b as u32));
        }
        for (k, name) in (0u64..).zip(out) {
            self.write(to + k * size as u64, size, name);
        }
    }

    /// Lane by lane where the destination has lanes, or else from the whole repeat.
    fn repeat(&mut self, i: &Instr, p: &Plan, r: u64) {
        let Some((d, dw)) = p.operand(0) else { return };
        let mask = p.lanes.of_repeat(r);
        let sources: Vec<(u64, Walk)> = (1..3).filter_map(|n| p.operand(n)).collect();
        let lanes = |w: &Walk| w.lanes_per_block() * usize::from(w.blocks);
        let by_lane = dw.elem > 0 && sources.iter().all(|(_, w)| w.elem > 0);
        if !by_lane {
            return self.whole(i, p, r);
        }
        let mut out = Vec::new();
        for l in (0..lanes(&dw)).filter(|l| mask.get(*l)) {
            let mut inputs = Vec::new();
            if dw.role == ptoemu_core::access::Role::Update
                && let Some(at) = Self::lane(&dw, d, r, l)
            {
                inputs.push(self.read(at, usize::from(dw.elem)));
            }
            for (s, w) in &sources {
                if let Some(at) = Self::lane(w, *s, r, l) {
                    inputs.push(self.read(at, usize::from(w.elem)));
                }
            }
            let Some(to) = Self::lane(&dw, d, r, l) else { continue };
            out.push((to, self.value(i, inputs, 0)));
        }
        for (to, name) in out {
            self.write(to, usize::from(dw.elem), name);
        }
    }

    /// Everything written depends on everything read.
    fn whole(&mut self, i: &Instr, p: &Plan, r: u64) {
        let mask = p.lanes.of_repeat(r);
        let mut inputs = Vec::new();
        for (s, w) in (1..3).filter_map(|n| p.operand(n)) {
            let mut places = Vec::new();
            w.runs(s, r, &mask, |lane, at, n| places.push((lane, at, n)));
            for (lane, at, n) in places {
                let size = usize::from(w.elem.max(1));
                for k in 0..n / size {
                    inputs.push(self.read(at + (k * size) as u64, size));
                    // Where a lane lies matters to what is not an extreme of values.
                    if extreme(i).is_none() {
                        inputs.push((lane + k) as Name);
                    }
                }
            }
        }
        let Some((d, dw)) = p.operand(0) else { return };
        let mut places = Vec::new();
        dw.runs(d, r, &mask, |_, at, n| places.push((at, n)));
        let size = if dw.elem > 0 { usize::from(dw.elem) } else { i.dtype.size() };
        let mut which = 0;
        for (at, n) in places {
            for k in (0..n).step_by(size.max(1)) {
                let name = self.value(i, inputs.clone(), which);
                self.write(at + k as u64, size.min(n - k), name);
                which += 1;
            }
        }
    }
}
