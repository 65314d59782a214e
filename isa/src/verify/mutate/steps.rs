//! What vector functions execute, as far as their stores depend on it.
//!
//! Two functions compute the same for every input if their stores write the same to the same bytes
//! in the same order: every value gets a name by the micro-op that makes it, its lanes, numbers and
//! the names of its sources, so that neither order nor dead results matter. Predicates made from
//! counts are compared by their lanes, predicates made from data by what made them.

use crate::a5::reg::{byte_mask, whole_lanes};
use crate::a5::{Core, Dist, Form, Op, Step};
use crate::tile::a5::{Function, M, Micro, V};
use ptoemu_core::mask::Mask;
use ptoemu_core::state::Memory;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A predicate: its lanes, or the register if they depend on data.
#[derive(Clone, Debug, PartialEq)]
enum Lanes {
    Known(Mask),
    Register(u16),
}

/// A micro-op as executed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Executed {
    op: Op,
    step: Step,
    v: Vec<u16>,
    dst: Vec<u16>,
    /// Predicate registers made from data.
    made: Vec<u16>,
    masks: Vec<Lanes>,
    merge: bool,
    s: u64,
    at: Option<u64>,
    /// It writes to UB.
    stores: bool,
}

impl Executed {
    /// Does it convert to a narrower type, saturating?
    fn narrows(&self) -> bool {
        let to = self.step.dt;
        let saturates = self.step.mods.sat == Some(true) && self.step.mods.part == 0;
        saturates && !to.is_float() && to.size() < self.step.st.size()
    }

    /// Does the order of its two sources not matter?
    fn commutes(&self) -> bool {
        let ops = [Op::vadd, Op::vmul, Op::vmax, Op::vmin, Op::vand, Op::vor, Op::vxor];
        ops.contains(&self.op) && self.v.len() == 2
    }

    /// Bytes of the lanes of a conversion that the wanted bytes of its result come from: a narrower
    /// result has one part of every lane, the others are 0.
    fn converted(&self, wanted: &Mask) -> Mask {
        let (wide, to) = (self.lane_bytes(), self.step.dt.size());
        let part = usize::from(self.step.mods.part) % (wide / to).max(1);
        let mut made = Mask::NONE;
        let bytes = (0..crate::a5::VL).filter(|b| b % wide / to == part);
        bytes.for_each(|b| made.set(b, true));
        whole_lanes(&wanted.and(&made), wide)
    }

    /// Bytes of the lanes a predicate stands for: of the wider type of a conversion.
    fn lane_bytes(&self) -> usize {
        match self.op {
            Op::vcvt => self.step.st.size().max(self.step.dt.size()),
            _ => self.step.st.size(),
        }
    }
}

/// Number of the align register among the vector registers.
const ALIGN: u16 = u16::MAX;

/// Every micro-op the functions run.
pub(super) fn executed(all: &[Function]) -> Vec<Executed> {
    let mut out: Vec<Executed> = Vec::new();
    for f in all {
        // What it reads does not matter: addresses and counts do not depend on it.
        let mut ub = Memory::new(crate::a5::UB_BYTES as usize, 0);
        let mut data: BTreeSet<u16> = BTreeSet::new();
        let mut probe = |m: &Micro, masks: &[Mask], at: Option<u64>, stores: bool| {
            let known = m.v.is_empty() && m.m.iter().all(|M(r)| !data.contains(r));
            for M(r) in &m.masks {
                let _ = if known { data.remove(r) } else { data.insert(*r) };
            }
            let lanes = |(M(r), lanes): (&M, &Mask)| match data.contains(r) {
                true => Lanes::Register(*r),
                false => Lanes::Known(*lanes),
            };
            let align = matches!(m.step.op.form(), Form::LoadU).then_some(ALIGN);
            let primes = matches!(m.step.op.form(), Form::Prime | Form::LoadU).then_some(ALIGN);
            let by_data = m.m.iter().any(|M(r)| data.contains(r));
            out.push(Executed {
                op: m.step.op,
                step: m.step,
                v: m.v.iter().map(|V(r)| *r).chain(align).collect(),
                dst: m.dst.iter().map(|V(r)| *r).chain(primes).collect(),
                made: m.masks.iter().filter(|_| !known).map(|M(r)| *r).collect(),
                masks: m.m.iter().zip(masks).map(lanes).collect(),
                merge: m.merge,
                s: m.s,
                // Priming reads the block that holds the address.
                at: at.map(|a| if m.step.op.form() == Form::Prime { a & !31 } else { a }),
                stores: stores || by_data && m.dst.is_empty() && m.masks.is_empty(),
            });
        };
        if f.run_with(&mut Core::default(), &mut ub, &mut probe).is_err() {
            return Vec::new();
        }
    }
    out
}

/// Those that change something: a maximum (minimum) with the maximum (minimum) of no lane at all,
/// which is the least (largest) value, leaves the other operand as it is.
fn working(all: &[Executed]) -> Vec<&Executed> {
    // Registers whose first lane holds the value that changes nothing for an operation.
    let mut neutral: BTreeMap<u16, Op> = BTreeMap::new();
    let mut out = Vec::new();
    for e in all {
        let is = |r: u16, op: Op| neutral.get(&r) == Some(&op);
        let idle = match (e.op, &e.v[..], &e.dst[..]) {
            (op @ (Op::vmax | Op::vmin), &[a, b, ..], [d]) => {
                (a == *d && is(b, op)) || (b == *d && is(a, op))
            }
            _ => false,
        };
        if idle {
            continue;
        }
        let nothing = matches!(e.masks.last(), Some(Lanes::Known(m)) if m.is_empty());
        let of = match (e.op, &e.v[..]) {
            (Op::vcmax, _) if nothing => Some(Op::vmax),
            (Op::vcmin, _) if nothing => Some(Op::vmin),
            (op @ (Op::vmax | Op::vmin), &[a, b, ..]) if is(a, op) && is(b, op) => Some(op),
            // Saturating, the least of one type becomes the least of the other, if this is narrower.
            (Op::vcvt, &[a, ..]) if e.narrows() => neutral.get(&a).copied(),
            _ => None,
        };
        e.dst.iter().for_each(|r| _ = neutral.remove(r));
        if let (Some(of), Some(d)) = (of, e.dst.first()) {
            neutral.insert(*d, of);
        }
        out.push(e);
    }
    out
}

/// Those whose results reach a store. Of predicates made from counts only the lanes matter that
/// somebody needs: lanes are followed back through what works lane by lane.
pub(super) fn live(all: &[Executed]) -> Vec<Executed> {
    let every = Mask::first(crate::a5::VL);
    let (mut vectors, mut masks) = (BTreeMap::<u16, Mask>::new(), BTreeSet::new());
    let mut out = Vec::new();
    for e in working(all).into_iter().rev() {
        let wanted = e.dst.iter().filter_map(|r| vectors.get(r)).fold(Mask::NONE, or);
        let needed = e.stores || !wanted.is_empty() || e.made.iter().any(|r| masks.contains(r));
        if !needed {
            continue;
        }
        if !e.merge {
            e.dst.iter().for_each(|r| _ = vectors.remove(r));
        }
        e.made.iter().for_each(|r| _ = masks.remove(r));
        let mut e = e.clone();
        let size = e.lane_bytes();
        let wanted = if e.op == Op::vcvt { e.converted(&wanted) } else { wanted };
        let lanes = |l: &Lanes| match l {
            Lanes::Known(m) => byte_mask(m, size),
            Lanes::Register(_) => every,
        };
        let mut governing = e.masks.last().map_or(every, lanes);
        let plain = matches!(e.step.mods.dist, Dist::Plain | Dist::Norm);
        let first = matches!(e.step.mods.dist, Dist::OneptB8 | Dist::OneptB16 | Dist::OneptB32);
        if e.op == Op::vsts && first {
            // The first element is stored whatever the predicate says [D: ASC FIRST_ELEMENT].
            governing = Mask::first(size);
            e.masks.clear();
        }
        // A lane of a conversion depends on the lane of the wider type it lies in.
        let by_lane = e.op.row().lanewise() || e.op == Op::vcvt;
        let spread = e.op == Op::vdup && e.step.mods.part == 0;
        let uses = match e.op {
            Op::vsts if plain || first => governing,
            _ if by_lane => governing.and(&wanted),
            _ if spread => Mask::first(size),
            Op::vcadd | Op::vcmax | Op::vcmin => governing,
            _ => every,
        };
        if let (Some(l @ Lanes::Known(_)), true) = (e.masks.last_mut(), by_lane || spread) {
            *l = Lanes::Known(governing.and(&wanted));
        }
        for r in &e.v {
            let uses = if *r == ALIGN { every } else { uses };
            let old = vectors.get(r).copied().unwrap_or(Mask::NONE);
            vectors.insert(*r, or(old, &uses));
        }
        masks.extend(e.masks.iter().filter_map(|l| match l {
            Lanes::Register(r) => Some(*r),
            Lanes::Known(_) => None,
        }));
        out.push(e);
    }
    out.reverse();
    out
}

/// What makes a value, or what a store writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Term {
    step: Step,
    lanes: Vec<Governing>,
    inputs: Vec<u32>,
    s: u64,
    /// Address, and the stores before.
    at: Option<(u64, usize)>,
    /// Which of its results.
    which: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Governing {
    Known([u64; 4]),
    Name(u32),
}

/// Names of values, kept from program to program.
#[derive(Debug, Default)]
pub(super) struct Names(FxHashMap<Term, u32>);

/// First name of what registers hold before they are written.
const BEFORE: u32 = u32::MAX - u16::MAX as u32;

impl Names {
    fn name(&mut self, t: &Term, which: usize) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(Term { which, ..t.clone() }).or_insert(next)
    }

    /// The stores of a program, in order.
    pub fn stores(&mut self, all: &[Executed]) -> Vec<Term> {
        let mut vectors: BTreeMap<u16, u32> = BTreeMap::new();
        let mut predicates: BTreeMap<u16, u32> = BTreeMap::new();
        let mut stores = Vec::new();
        let held =
            |of: &BTreeMap<u16, u32>, r: u16| of.get(&r).copied().unwrap_or(BEFORE + u32::from(r));
        for e in all {
            let mut inputs: Vec<u32> = e.v.iter().map(|r| held(&vectors, *r)).collect();
            if e.commutes() {
                inputs.sort_unstable();
            }
            if e.merge {
                inputs.extend(e.dst.iter().map(|r| held(&vectors, *r)));
            }
            let lanes = |l: &Lanes| match l {
                Lanes::Known(m) => Governing::Known(m.words()),
                Lanes::Register(r) => Governing::Name(held(&predicates, *r)),
            };
            let term = Term {
                step: e.step,
                lanes: e.masks.iter().map(lanes).collect(),
                inputs,
                s: e.s,
                at: e.at.map(|a| (a, stores.len())),
                which: 0,
            };
            for (k, d) in e.dst.iter().enumerate() {
                let name = self.name(&term, k);
                vectors.insert(*d, name);
            }
            for (k, d) in e.made.iter().enumerate() {
                let name = self.name(&term, e.dst.len() + k);
                predicates.insert(*d, name);
            }
            if e.stores {
                stores.push(term);
            }
        }
        stores
    }
}

fn or(a: Mask, b: &Mask) -> Mask {
    let (x, y) = (a.words(), b.words());
    Mask::from_words(std::array::from_fn(|i| x[i] | y[i]))
}
