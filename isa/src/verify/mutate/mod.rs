//! Mutants of microcode: does a check notice when one instruction is wrong?
//!
//! Every barrier, flag and mask set-up of the microcode of a use is dropped or moved, every stride,
//! repeat, address and count is changed by one, and operands change places, one change at a time.
//! Each mutant must be reported by a check, or be proved to be the same program for every input by
//! a stated [`Class`]; any other survives. The proofs share no code with the checks: see
//! [`symbols`], which computes with names instead of numbers, and [`edges`], which compares all
//! pairs of accesses.

mod edges;
mod functions;
mod repeats;
mod symbols;

use super::bench::{Bench, BuiltIn, Fault, Subject};
use super::spec::Spec;
use super::unit::Unit;
use crate::tile::{Call, Family, Quirks};
use std::collections::BTreeMap;

/// Why a mutant is the same program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The instruction touches the same bytes with the same lanes: the field is not used by it.
    Unused,
    /// The operands of a commutative instruction changed places.
    Commutes,
    /// What was moved or dropped orders no two accesses that meet.
    OrdersNothing,
    /// What is written besides is read by nobody, and the result is the same function of the
    /// sources.
    NeverRead,
}

impl Class {
    /// In words, for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Unused => "field not used by this instruction",
            Class::Commutes => "commutative operands",
            Class::OrdersNothing => "orders no two accesses that meet",
            Class::NeverRead => "same function of the sources: the write is never read",
        }
    }
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// A check reports it; the code of the first finding.
    Killed(&'static str),
    /// It is the same program.
    Equivalent(Class),
    /// Nothing noticed it.
    Survived,
}

/// A mutant nobody noticed.
#[derive(Clone, Debug, PartialEq)]
pub struct Survivor {
    /// Operation and types.
    pub unit: String,
    /// The use.
    pub spec: Spec,
    /// What was changed, in words.
    pub change: String,
}

/// What became of the mutants of a use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// Killed, by the code of the finding.
    pub killed: BTreeMap<&'static str, u64>,
    /// Proved equivalent, by class.
    pub equivalent: BTreeMap<Class, u64>,
    /// Not noticed.
    pub survived: Vec<Survivor>,
    /// Findings about the microcode as it is.
    pub false_alarms: Vec<Fault>,
    /// Uses looked at.
    pub uses: u64,
}

impl Score {
    /// Adds another score.
    pub fn add(&mut self, other: Score) {
        for (k, n) in other.killed {
            *self.killed.entry(k).or_default() += n;
        }
        for (k, n) in other.equivalent {
            *self.equivalent.entry(k).or_default() += n;
        }
        self.survived.extend(other.survived);
        self.false_alarms.extend(other.false_alarms);
        self.uses += other.uses;
    }

    /// Mutants killed.
    pub fn kills(&self) -> u64 {
        self.killed.values().sum()
    }

    /// Mutants in all.
    pub fn mutants(&self) -> u64 {
        self.kills() + self.equivalent.values().sum::<u64>() + self.survived.len() as u64
    }

    fn count(&mut self, fate: Fate, survivor: impl FnOnce() -> Survivor) {
        match fate {
            Fate::Killed(code) => *self.killed.entry(code).or_default() += 1,
            Fate::Equivalent(class) => *self.equivalent.entry(class).or_default() += 1,
            Fate::Survived => self.survived.push(survivor()),
        }
    }
}

/// Data every mutant is tried on: seeds and distributions.
const DATA: [(u32, u8); 4] = [(1, 0), (2, 2), (3, 0), (4, 1)];

/// Mutates the microcode of one use in every way; `None` if the use is not legal.
pub fn mutate(bench: &mut Bench, unit: &Unit, spec: &Spec) -> Option<Score> {
    let call = spec.call(unit, Quirks::corrected());
    if super::unit::unbuilt(&call) {
        return None;
    }
    let mut score = Score { uses: 1, ..Score::default() };
    for (seed, dist) in DATA {
        let contents = Spec { seed, dist, ..*spec };
        let faults = bench.judge(&contents.call(unit, Quirks::corrected()), &contents, &BuiltIn);
        score.false_alarms.extend(faults.ok()?);
    }
    match call.family {
        Family::A2A3 => repeats::all(bench, unit, spec, &call, &mut score),
        Family::A5 => functions::all(bench, unit, spec, &call, &mut score),
    }
    Some(score)
}

/// The code of the first finding about a mutant, on any of the data.
fn noticed(
    bench: &mut Bench,
    unit: &Unit,
    spec: &Spec,
    mutant: &dyn Subject,
) -> Option<&'static str> {
    DATA.iter().find_map(|(seed, dist)| {
        let contents = Spec { seed: *seed, dist: *dist, ..*spec };
        let call = contents.call(unit, Quirks::corrected());
        let faults = bench.judge(&call, &contents, mutant).ok()?;
        faults.first().map(|f| f.code)
    })
}

/// Most draws of data for a mutant that is another program.
const DRAWS: u32 = 4096;

/// The same on data drawn until something is noticed.
fn drawn(
    bench: &mut Bench,
    unit: &Unit,
    spec: &Spec,
    mutant: &dyn Subject,
) -> Option<&'static str> {
    (0..DRAWS).find_map(|n| {
        let contents = Spec { seed: 100 + n, dist: (n % 4) as u8, ..*spec };
        let call = contents.call(unit, Quirks::corrected());
        let faults = bench.judge(&call, &contents, mutant).ok()?;
        faults.first().map(|f| f.code)
    })
}

fn survivor(unit: &Unit, spec: &Spec, change: String) -> Survivor {
    Survivor { unit: format!("{} {}", unit.op.name, unit.from), spec: *spec, change }
}

/// Uses that reach the paths of an operation's microcode, small ones.
pub fn uses(unit: &Unit) -> Vec<Spec> {
    let e = unit.repeat();
    let b = unit.block();
    let sizes = [
        (1, 1),
        (3, b - 1),
        (9, b + 3),
        (5, e - 3),
        (4, e),
        (5, e + 5),
        (3, 2 * e),
        (3, 2 * e + b + 1),
        (2, 4 * e + 3),
    ];
    let tall = [(241, b)];
    let mut out: Vec<Spec> = Vec::new();
    for (n, (rows, cols)) in sizes.into_iter().chain(tall).enumerate() {
        let plain = Spec { rows, cols, ..Spec::default() };
        let tall = n == sizes.len();
        // Rows one by one would make long lists.
        let by_row = unit.op.sig.srcs == 1 && (unit.op.expands_rows() || !unit.from.is_float());
        if tall && by_row {
            continue;
        }
        let mut all = vec![plain, Spec { slack: [1, 2, 0, 1], ..plain }];
        if unit.op.expands_rows() {
            all = vec![
                plain,
                Spec { slack: [1, 2, 0, 1], tmp: 1, ..plain },
                Spec { blocks: true, ..plain },
                Spec { swapped: true, tmp: 1, ..plain },
            ];
            if unit.op.sig.srcs == 1 {
                all = vec![plain, Spec { turned: true, ..plain }];
            }
        } else if !tall {
            all.push(Spec { turned: true, ..plain });
            all.push(Spec { dynamic: [true; 2], ..plain });
        }
        if tall && !unit.op.expands_rows() {
            all.truncate(1);
        }
        out.extend(all);
    }
    out
}

/// The bytes of the result, for the proofs.
fn result(call: &Call) -> impl Iterator<Item = u64> + use<> {
    let runs: Vec<(u64, u64)> = super::bench::valid_runs(&call.dst).collect();
    runs.into_iter().flat_map(|(a, b)| a..b)
}
