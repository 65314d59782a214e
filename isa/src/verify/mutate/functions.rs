//! Mutants of 950 microcode: one micro-op or loop of a vector function is changed.
//!
//! Two functions compute the same for every input if they run the same micro-ops on the same
//! registers, lanes and addresses, those left out whose results never reach a store. Predicates
//! made from counts are compared by their lanes, predicates made from data by what made them.

use super::{Class, Fate, Score, drawn, noticed, survivor};
use crate::a5::reg::byte_mask;
use crate::a5::{Core, Dist, Form, Op};
use crate::machine::{Backend, Machine, Stop};
use crate::tile::a5::{Affine, Function, Issue, M, Micro, Node, Single, V, Values};
use crate::tile::{self, Call};
use crate::verify::bench::Bench;
use crate::verify::spec::Spec;
use crate::verify::unit::Unit;
use ptoemu_core::mask::Mask;
use ptoemu_core::state::Memory;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// One change of a micro-op or a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// A barrier or predicate is left out.
    Drop,
    /// It comes after the next one of its body.
    Later,
    /// Its address, moved by so many bytes.
    Base(i64),
    /// The step of its address in the n-th loop around it.
    Step(usize, i64),
    /// The count of a predicate.
    Count(i64),
    /// The step of that count.
    CountStep(usize, i64),
    /// Rounds of a loop.
    Trips(i64),
    /// The two sources change places.
    Swap,
}

/// The function, the node in it (in text order), and the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mutant {
    function: usize,
    node: usize,
    change: Change,
}

/// Issues microcode with one change; keeps the functions.
struct Mutating<'m> {
    to: Values<'m>,
    mutant: Option<Mutant>,
    issued: &'m Mutex<Vec<Function>>,
}

impl Issue for Mutating<'_> {
    fn function(&mut self, f: &Function) -> Result<(), Stop> {
        let n = self.issued.lock().unwrap_or_else(PoisonError::into_inner).len();
        let mutant = self.mutant.filter(|m| m.function == n);
        let f = mutant.map_or_else(|| f.clone(), |m| changed(f, m.node, m.change));
        self.issued.lock().unwrap_or_else(PoisonError::into_inner).push(f.clone());
        self.to.function(&f)
    }

    fn single(&mut self, s: &Single) -> Result<(), Stop> {
        self.to.single(s)
    }

    fn instructions(&mut self) -> &mut dyn Backend {
        self.to.instructions()
    }
}

fn setup(n: &Node) -> bool {
    match n {
        Node::Op(m) => !m.masks.is_empty() || m.step.op == Op::mem_bar,
        Node::Loop(..) => false,
    }
}

/// The changes of each node, in text order.
fn mutants(function: usize, f: &Function) -> Vec<Mutant> {
    fn walk(list: &[Node], next: &mut usize, put: &mut dyn FnMut(usize, Change)) {
        for (at, n) in list.iter().enumerate() {
            let me = *next;
            *next += 1;
            let follows = list.get(at + 1);
            if setup(n) {
                put(me, Change::Drop);
            }
            if follows.is_some_and(|f| setup(n) || setup(f) && matches!(n, Node::Op(_))) {
                put(me, Change::Later);
            }
            match n {
                Node::Loop(_, body) => {
                    put(me, Change::Trips(1));
                    put(me, Change::Trips(-1));
                    walk(body, next, put);
                }
                Node::Op(m) => {
                    let size = m.step.dt.size() as i64;
                    for by in [32, -32, size, -size] {
                        if let Some(p) = &m.p {
                            put(me, Change::Base(by));
                            (0..p.steps.len()).for_each(|k| put(me, Change::Step(k, by)));
                        }
                    }
                    for by in [1, -1] {
                        if let Some(n) = &m.n {
                            put(me, Change::Count(by));
                            (0..n.steps.len()).for_each(|k| put(me, Change::CountStep(k, by)));
                        }
                    }
                    if m.v.len() >= 2 && m.v[0] != m.v[1] {
                        put(me, Change::Swap);
                    }
                }
            }
        }
    }
    let mut out = Vec::new();
    walk(&f.body, &mut 0, &mut |node, change| out.push(Mutant { function, node, change }));
    out
}

/// The function with one change.
fn changed(f: &Function, node: usize, change: Change) -> Function {
    fn walk(list: &mut Vec<Node>, next: &mut usize, node: usize, change: Change) {
        let mut at = 0;
        while at < list.len() {
            let me = *next;
            *next += 1;
            if me == node {
                match change {
                    Change::Drop => drop(list.remove(at)),
                    Change::Later if at + 1 < list.len() => list.swap(at, at + 1),
                    _ => alter(&mut list[at], change),
                }
                *next = usize::MAX / 2;
                return;
            }
            if let Some(Node::Loop(_, body)) = list.get_mut(at) {
                walk(body, next, node, change);
            }
            at += 1;
        }
    }
    let mut f = f.clone();
    walk(&mut f.body, &mut 0, node, change);
    f
}

fn alter(n: &mut Node, change: Change) {
    let add = |a: &mut Option<Affine>, k: Option<usize>, by: i64| {
        let Some(a) = a else { return };
        match k.and_then(|k| a.steps.get_mut(k)) {
            Some(step) => *step = step.wrapping_add(by),
            None => a.base = a.base.wrapping_add(by),
        }
    };
    match (n, change) {
        (Node::Loop(trips, _), Change::Trips(by)) => *trips = trips.saturating_add_signed(by),
        (Node::Op(m), Change::Base(by)) => add(&mut m.p, None, by),
        (Node::Op(m), Change::Step(k, by)) => add(&mut m.p, Some(k), by),
        (Node::Op(m), Change::Count(by)) => add(&mut m.n, None, by),
        (Node::Op(m), Change::CountStep(k, by)) => add(&mut m.n, Some(k), by),
        (Node::Op(m), Change::Swap) => m.v.swap(0, 1),
        _ => {}
    }
}

/// Tries every mutant of a use.
pub(super) fn all(bench: &mut Bench, unit: &Unit, spec: &Spec, call: &Call, score: &mut Score) {
    let issued = Mutex::new(Vec::new());
    let run = |bench: &mut Bench, mutant, more: bool| {
        let subject = |call: &Call, machine: &mut Machine, core: &mut Core| {
            issued.lock().unwrap_or_else(PoisonError::into_inner).clear();
            let to = Values { machine, core };
            tile::a5(call, &mut Mutating { to, mutant, issued: &issued })
        };
        let look = if more { drawn } else { noticed };
        look(bench, unit, spec, &subject)
    };
    if run(bench, None, false).is_some() {
        return;
    }
    let original = issued.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let meaning = steps(&original);
    for (n, f) in original.iter().enumerate() {
        for mutant in mutants(n, f) {
            let fate = match run(bench, Some(mutant), false) {
                Some(code) => Fate::Killed(code),
                None => {
                    let now = issued.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    match class(&meaning, &steps(&now), mutant) {
                        Fate::Survived => {
                            run(bench, Some(mutant), true).map_or(Fate::Survived, Fate::Killed)
                        }
                        fate => fate,
                    }
                }
            };
            let words = || format!("function {n}, node {}: {:?}", mutant.node, mutant.change);
            score.count(fate, || survivor(unit, spec, words()));
        }
    }
    let _ = call;
}

/// A mutant nobody reported: the proof that it is the same program, if there is one.
fn class(meaning: &[Executed], now: &[Executed], mutant: Mutant) -> Fate {
    let (was, is) = (live(meaning), live(now));
    let same = |a: &Executed, b: &Executed| a == b;
    let commuted = |a: &Executed, b: &Executed| {
        let commutes =
            matches!(a.op, Op::vadd | Op::vmul | Op::vmax | Op::vmin | Op::vand | Op::vor);
        let mut v = b.v.clone();
        if let Some(pair) = v.get_mut(..2) {
            pair.swap(0, 1);
        }
        a == b || commutes && *a == Executed { v, ..b.clone() }
    };
    let all = |f: &dyn Fn(&Executed, &Executed) -> bool| {
        was.len() == is.len() && was.iter().zip(&is).all(|(a, b)| f(a, b))
    };
    if all(&same) {
        let whole = meaning.len() == now.len() && meaning.iter().zip(now).all(|(a, b)| a == b);
        return Fate::Equivalent(match mutant.change {
            Change::Drop | Change::Later => Class::OrdersNothing,
            _ if whole => Class::Unused,
            _ => Class::NeverRead,
        });
    }
    match all(&commuted) {
        true => Fate::Equivalent(Class::Commutes),
        false => Fate::Survived,
    }
}

/// A predicate: its lanes, or the register if they depend on data.
#[derive(Clone, Debug, PartialEq)]
enum Lanes {
    Known(Mask),
    Register(u16),
}

/// A micro-op as executed.
#[derive(Clone, Debug, PartialEq)]
struct Executed {
    op: Op,
    step: crate::a5::Step,
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

/// Number of the align register among the vector registers.
const ALIGN: u16 = u16::MAX;

/// Every micro-op the functions run.
fn steps(all: &[Function]) -> Vec<Executed> {
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
    let mut neutral: BTreeMap<u16, Op> = BTreeMap::new();
    let mut out = Vec::new();
    for e in all {
        let idle = match (e.op, &e.v[..], &e.dst[..]) {
            (op @ (Op::vmax | Op::vmin), &[a, b, ..], [d]) => {
                (a == *d && neutral.get(&b) == Some(&op))
                    || (b == *d && neutral.get(&a) == Some(&op))
            }
            _ => false,
        };
        if idle {
            continue;
        }
        e.dst.iter().for_each(|r| _ = neutral.remove(r));
        let nothing = matches!(e.masks.last(), Some(Lanes::Known(m)) if m.is_empty());
        let of = match e.op {
            Op::vcmax => Some(Op::vmax),
            Op::vcmin => Some(Op::vmin),
            _ => None,
        };
        if let (Some(of), Some(d), true) = (of, e.dst.first(), nothing) {
            neutral.insert(*d, of);
        }
        out.push(e);
    }
    out
}

/// Those whose results reach a store. Of predicates made from counts only the lanes matter that
/// somebody needs: lanes are followed back through what works lane by lane.
fn live(all: &[Executed]) -> Vec<Executed> {
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
        let size = e.step.st.size();
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
        let by_lane = e.op.row().lanewise();
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

fn or(a: Mask, b: &Mask) -> Mask {
    let (x, y) = (a.words(), b.words());
    Mask::from_words(std::array::from_fn(|i| x[i] | y[i]))
}
