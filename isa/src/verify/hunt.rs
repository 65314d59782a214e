//! A stretch of the uses of a unit: how many were legal, which parts of the microcode they reached,
//! and of every cause the simplest use that shows it.

use super::bench::{Bench, Fault, STRAY, Subject, UNDEFINED, VALUES};
use super::corners::Uses;
use super::cover::{Cell, Cover};
use super::domain::Domain;
use super::shrink::shrink;
use super::spec::Spec;
use super::unit::Unit;
use crate::tile::{Quirk, Quirks};
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// Why a use is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Without this quirk of the shipped code it is right.
    Quirk(Quirk),
    /// No single quirk explains it: the check that says so.
    Check(&'static str),
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cause::Quirk(q) => f.write_str(q.name()),
            Cause::Check(code) => f.write_str(code),
        }
    }
}

/// A use that goes wrong.
#[derive(Clone, Debug)]
pub struct Catch {
    /// The unit.
    pub unit: Unit,
    /// The use.
    pub spec: Spec,
    /// The check the cause was found by.
    pub code: &'static str,
    /// Everything wrong with it, that check first.
    pub faults: Vec<Fault>,
    /// Uses with this cause.
    pub count: u64,
}

/// What a stretch of uses showed.
#[derive(Debug, Default)]
pub struct Tally {
    /// Uses executed and compared.
    pub cases: u64,
    /// Uses that are not legal.
    pub refused: u64,
    /// Hashes of the uses executed, contents left aside.
    pub identities: Vec<u64>,
    /// What was exercised.
    pub cells: BTreeMap<Cell, u64>,
    /// The simplest use met of every cause.
    pub caught: BTreeMap<Cause, Catch>,
}

/// Checks a fault is filed under, the most telling first.
fn rank(code: &str) -> usize {
    let order = [VALUES, STRAY, UNDEFINED];
    order.iter().position(|c| *c == code).unwrap_or(order.len())
}

fn size(s: &Spec) -> (u64, Spec) {
    (u64::from(s.rows) * u64::from(s.cols), *s)
}

impl Bench {
    /// Runs a stretch of uses.
    pub fn hunt(
        &mut self,
        uses: &Uses,
        stretch: Range<u64>,
        quirks: Quirks,
        subject: &dyn Subject,
    ) -> Tally {
        let unit = uses.unit();
        let mut tally = Tally::default();
        let mut cover = Cover::default();
        let mut suspects: Vec<Quirk> = quirks.iter().collect();
        for n in stretch {
            let spec = uses.nth(n);
            let Some(faults) = self.verify(unit, &spec, quirks, subject) else {
                tally.refused += 1;
                continue;
            };
            tally.cases += 1;
            tally.identities.push(identity(unit, &spec));
            if let Some(stream) = self.stream() {
                cover.count(unit, &spec, stream);
            }
            for (cause, code) in self.causes(unit, &spec, &faults, &mut suspects, quirks, subject) {
                let caught = Catch { unit: *unit, spec, code, faults: faults.clone(), count: 1 };
                keep(&mut tally.caught, cause, caught);
            }
        }
        tally.cells = cover.cells(unit.family);
        tally
    }

    /// Every cause of the faults of a use, with the fault it was found by.
    fn causes(
        &mut self,
        unit: &Unit,
        spec: &Spec,
        faults: &[Fault],
        suspects: &mut Vec<Quirk>,
        quirks: Quirks,
        subject: &dyn Subject,
    ) -> Vec<(Cause, &'static str)> {
        let mut codes: Vec<&'static str> = faults.iter().map(|f| f.code).collect();
        codes.sort_by_key(|c| (rank(c), *c));
        codes.dedup();
        let mut out: Vec<(Cause, &'static str)> = Vec::new();
        for code in codes {
            let cause = self
                .blame(unit, spec, code, suspects, quirks, subject)
                .map_or(Cause::Check(code), Cause::Quirk);
            if !out.iter().any(|(c, _)| *c == cause) {
                out.push((cause, code));
            }
        }
        out
    }

    /// The quirk without which a fault is gone: because the use is right then, or else because it is
    /// refused; where several do the same harm, one that does it alone. Quirks that were to blame
    /// before are asked first.
    fn blame(
        &mut self,
        unit: &Unit,
        spec: &Spec,
        code: &str,
        suspects: &mut Vec<Quirk>,
        quirks: Quirks,
        subject: &dyn Subject,
    ) -> Option<Quirk> {
        // Refused, or does it show?
        let mut shows = |q: Quirks| {
            let faults = self.verify(unit, spec, q, subject);
            faults.map(|f| f.iter().any(|f| f.code == code))
        };
        let (mut right, mut refused) = (None, None);
        for (i, q) in suspects.iter().enumerate() {
            match shows(quirks.without(*q)) {
                Some(true) => continue,
                Some(false) => right = Some(i),
                None => {
                    refused.get_or_insert(i);
                    continue;
                }
            }
            break;
        }
        let alone = |q: &Quirk| shows(Quirks::corrected().with(*q)) == Some(true);
        let at = right.or(refused).or_else(|| suspects.iter().position(alone))?;
        let q = suspects.remove(at);
        suspects.insert(0, q);
        Some(q)
    }

    /// The smallest use found that shows the same cause.
    pub fn minimal(
        &mut self,
        cause: Cause,
        caught: &Catch,
        quirks: Quirks,
        subject: &dyn Subject,
        domain: &Domain,
    ) -> Catch {
        let (unit, code) = (caught.unit, caught.code);
        let spec = shrink(caught.spec, |s| {
            if !domain.holds(s) || *s != s.relevant(&unit) {
                return false;
            }
            let faults = self.verify(&unit, s, quirks, subject);
            if !faults.is_some_and(|f| f.iter().any(|f| f.code == code)) {
                return false;
            }
            let Cause::Quirk(q) = cause else { return true };
            let others = quirks.iter().filter(|o| *o != q);
            let mut suspects = std::iter::once(q).chain(others).collect();
            self.blame(&unit, s, code, &mut suspects, quirks, subject) == Some(q)
        });
        let mut faults = self.verify(&unit, &spec, quirks, subject).unwrap_or_default();
        faults.sort_by_key(|f| (f.code != code, rank(f.code)));
        Catch { spec, faults, ..caught.clone() }
    }
}

/// Keeps the simplest use of a cause and counts the others.
fn keep(all: &mut BTreeMap<Cause, Catch>, cause: Cause, new: Catch) {
    match all.get_mut(&cause) {
        None => drop(all.insert(cause, new)),
        Some(old) => {
            let count = old.count + new.count;
            let better = (rank(new.code), size(&new.spec)) < (rank(old.code), size(&old.spec));
            if better {
                *old = new;
            }
            old.count = count;
        }
    }
}

fn identity(unit: &Unit, spec: &Spec) -> u64 {
    let mut h = DefaultHasher::new();
    (unit.family as u8, unit.op.name, unit.from, unit.to, unit.form).hash(&mut h);
    spec.identity().hash(&mut h);
    h.finish()
}

impl Tally {
    /// Adds what another stretch showed.
    pub fn add(&mut self, other: Tally) {
        self.cases += other.cases;
        self.refused += other.refused;
        self.identities.extend(other.identities);
        for (cell, n) in other.cells {
            *self.cells.entry(cell).or_default() += n;
        }
        for (cause, caught) in other.caught {
            keep(&mut self.caught, cause, caught);
        }
    }
}
