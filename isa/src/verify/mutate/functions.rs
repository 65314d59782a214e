//! Mutants of 950 microcode: one micro-op or loop of a vector function is changed.

use super::steps::{Executed, Names, Term, executed, live};
use super::{Class, DATA, Score, Trial};
use crate::a5::{Core, Op};
use crate::machine::{Backend, Machine, Stop};
use crate::tile::a5::{Affine, Function, Issue, Node, Single, Values};
use crate::tile::{self, Call};
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
pub(super) fn all(trial: &mut Trial, score: &mut Score) {
    let issued = Mutex::new(Vec::new());
    let issue = |mutant: Option<Mutant>, call: &Call, machine: &mut Machine, core: &mut Core| {
        issued.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let to = Values { machine, core };
        tile::a5(call, &mut Mutating { to, mutant, issued: &issued })
    };
    if trial
        .look(DATA[0], &|c: &Call, m: &mut Machine, k: &mut Core| issue(None, c, m, k))
        .is_some()
    {
        return;
    }
    let original = issued.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut names = Names::default();
    let steps = executed(&original);
    let program = Program { stores: names.stores(&live(&steps)), steps };
    for (n, f) in original.iter().enumerate() {
        for mutant in mutants(n, f) {
            let subject = |c: &Call, m: &mut Machine, k: &mut Core| issue(Some(mutant), c, m, k);
            let fate = trial.fate(&subject, || {
                let now = issued.lock().unwrap_or_else(PoisonError::into_inner).clone();
                class(&program, &executed(&now), &mut names, mutant).ok_or_else(Vec::new)
            });
            let words = || format!("function {n}, node {}: {:?}", mutant.node, mutant.change);
            score.count(fate, || trial.survivor(words()));
        }
    }
}

/// The proof that a mutant is the same program, if there is one.
fn class(program: &Program, now: &[Executed], names: &mut Names, mutant: Mutant) -> Option<Class> {
    if names.stores(&live(now)) != program.stores {
        return None;
    }
    Some(match mutant.change {
        Change::Drop | Change::Later => Class::OrdersNothing,
        Change::Swap => Class::Commutes,
        _ if now == program.steps => Class::Unused,
        _ => Class::NeverRead,
    })
}

/// Microcode as it is: what it executes and what its stores write.
struct Program {
    steps: Vec<Executed>,
    stores: Vec<Term>,
}
