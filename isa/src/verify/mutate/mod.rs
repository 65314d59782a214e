//! Mutants of microcode: does a check notice when one instruction is wrong?
//!
//! Every barrier, flag and mask set-up of the microcode of a use is dropped or moved, every stride,
//! repeat, address and count is changed by one, and operands change places, one change at a time.
//! Each mutant must be reported by a check, or be proved to be the same program for every input by
//! a stated [`Class`]; any other survives. The proofs share no code with the checks: see
//! [`symbols`] and [`steps`], which compute with names instead of numbers, and [`edges`], which
//! compares all pairs of accesses.

mod edges;
mod functions;
mod repeats;
mod steps;
mod symbols;

use super::bench::{Bench, BuiltIn, Fault, Subject};
use super::contents::{ONES, PEAKS};
use super::spec::Spec;
use super::unit::Unit;
use crate::instr::Instr;
use crate::machine::Lister;
use crate::tile::{self, Call, Family, Operator, Quirks};
use std::collections::{BTreeMap, BTreeSet};

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
    let mut trial = Trial { bench, unit, spec };
    match call.family {
        Family::A2A3 => repeats::all(&mut trial, &call, &mut score),
        Family::A5 => functions::all(&mut trial, &mut score),
    }
    Some(score)
}

/// A use whose mutants are tried.
struct Trial<'b> {
    bench: &'b mut Bench,
    unit: &'b Unit,
    spec: &'b Spec,
}

impl Trial<'_> {
    /// The code of the first finding on data of a seed and distribution.
    fn look(&mut self, (seed, dist): (u32, u8), mutant: &dyn Subject) -> Option<&'static str> {
        let contents = Spec { seed, dist, ..*self.spec };
        let call = contents.call(self.unit, Quirks::corrected());
        self.bench.notices(&call, &contents, mutant)
    }

    /// What becomes of a mutant. `proof` looks at what the last run issued and finds the class of
    /// the same program, which must hold on other data too, or UB addresses where a difference may
    /// start.
    fn fate(
        &mut self,
        mutant: &dyn Subject,
        proof: impl FnOnce() -> Result<Class, Vec<u64>>,
    ) -> Fate {
        if let Some(code) = self.look(DATA[0], mutant) {
            return Fate::Killed(code);
        }
        let proof = proof();
        match proof {
            Ok(Class::Unused) => Fate::Equivalent(Class::Unused),
            Ok(class) => self.noticed(&DATA[1..], mutant).unwrap_or(Fate::Equivalent(class)),
            Err(hints) => {
                let near = self.peaks(&self.columns(&hints));
                self.noticed(&near, mutant)
                    .or_else(|| self.noticed(&DATA[1..], mutant))
                    .or_else(|| self.noticed(&self.all_peaks(), mutant))
                    .or_else(|| self.noticed(&drawn(), mutant))
                    .unwrap_or(Fate::Survived)
            }
        }
    }

    fn noticed(&mut self, data: &[(u32, u8)], mutant: &dyn Subject) -> Option<Fate> {
        data.iter().find_map(|d| self.look(*d, mutant)).map(Fate::Killed)
    }

    fn call(&self) -> Call {
        self.spec.call(self.unit, Quirks::corrected())
    }

    /// Columns of the stored sources that hold these addresses.
    fn columns(&self, at: &[u64]) -> Vec<u32> {
        let call = self.call();
        let column = |at: &u64| {
            let t = call.src.iter().find(|t| (t.addr..t.end()).contains(at))?;
            let element = (at - t.addr) / t.dtype.size() as u64;
            Some((element % u64::from(t.storage_rows().cols.max(1))) as u32)
        };
        let columns: BTreeSet<u32> = at.iter().filter_map(column).collect();
        columns.into_iter().collect()
    }

    /// Data with one element far above the others of its row, or below them, at these columns.
    fn peaks(&self, columns: &[u32]) -> Vec<(u32, u8)> {
        let first = u8::from(self.unit.op.operator == Operator::Min);
        let kind = |k: u8| columns.iter().map(move |c| (*c, PEAKS + k));
        kind(first).chain(kind(1 - first)).collect()
    }

    /// The same for every column of the widest source: those near an edge of the valid region or of
    /// half a repeat first.
    fn all_peaks(&self) -> Vec<(u32, u8)> {
        let call = self.call();
        let width = call.src.iter().map(|t| t.storage_rows().cols).max().unwrap_or(0);
        let half = (self.unit.repeat() / 2).max(1);
        let from_edge = |c: u32| {
            let near = (c % half).min(half - c % half);
            call.src.iter().map(|t| t.storage_rows().valid_cols.abs_diff(c)).fold(near, u32::min)
        };
        let mut columns: Vec<u32> = (0..width.min(MOST_COLUMNS)).collect();
        columns.sort_by_key(|c| (from_edge(*c), *c));
        self.peaks(&columns)
    }

    fn survivor(&self, change: String) -> Survivor {
        let unit = format!("{} {}", self.unit.op.name, self.unit.types());
        Survivor { unit, spec: *self.spec, change }
    }
}

/// Most columns a peak is tried at.
const MOST_COLUMNS: u32 = 4096;
/// Draws of data for a mutant that is another program and that no peak shows.
const DRAWS: u32 = 1024;

/// Seeds and distributions drawn until something is noticed.
fn drawn() -> Vec<(u32, u8)> {
    let kinds = [0, 1, 2, 3, ONES];
    (0..DRAWS).map(|n| (100 + n, kinds[n as usize % kinds.len()])).collect()
}

/// Uses that reach the paths of an operation's microcode, small ones; of those with the same
/// instructions on A2/A3, one.
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
        // Rows one by one would make long lists, as would routines of the emulator.
        let by_row = unit.op.sig.srcs == 1 && (unit.op.expands_rows() || !unit.from.is_float());
        if tall && (by_row || unit.slow()) {
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
    let mut lists: Vec<Vec<Instr>> = Vec::new();
    out.retain(|spec| {
        let call = spec.call(unit, Quirks::corrected());
        let mut list = Lister::default();
        if call.family != Family::A2A3 || tile::a2a3(&call, &mut list).is_err() {
            return true;
        }
        let new = !lists.contains(&list.0);
        lists.push(list.0);
        new
    });
    out
}

/// The bytes of the result, for the proofs.
fn result(call: &Call) -> impl Iterator<Item = u64> + use<> {
    let runs: Vec<(u64, u64)> = super::bench::valid_runs(&call.dst).collect();
    runs.into_iter().flat_map(|(a, b)| a..b)
}
