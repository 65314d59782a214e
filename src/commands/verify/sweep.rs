//! Every core runs stretches of uses; what they show is put together in order.

use crate::progress::Progress;
use ptoemu_core::dtype::DType;
use ptoemu_isa::tile::Quirks;
use ptoemu_isa::verify::{Bench, BuiltIn, Catch, Cause, Domain, Subject, Tally, Unit, Uses};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Uses of one stretch.
const STRETCH: u64 = 128;

/// A unit, whose microcode is verified, and the uses it is kept to.
pub(super) struct Job<'s> {
    pub unit: Unit,
    pub subject: &'s dyn Subject,
    pub domain: Domain,
}

/// What is verified.
pub(super) struct Sweep<'s> {
    pub jobs: Vec<Job<'s>>,
    pub quirks: Quirks,
    pub seed: u64,
    /// Element types it is narrowed down to; empty for all.
    pub types: Vec<DType>,
}

/// What the uses of every unit showed, in the order of the units.
pub(super) struct Results {
    pub tallies: Vec<Tally>,
    pub distinct: Vec<u64>,
    /// Seconds it took.
    pub seconds: f64,
    /// Stretches that the time limit left out.
    pub left: usize,
}

/// One cause in one operation on one family.
pub(super) struct Found {
    pub cause: Cause,
    pub catch: Catch,
    /// Element types it was met with.
    pub types: Vec<String>,
}

impl Sweep<'_> {
    /// Runs `cases` uses of every unit; the first ones of all units before the next ones.
    pub fn run(&self, cases: u64, limit: Option<u64>) -> Results {
        let start = Instant::now();
        let end = limit.map(|s| start + Duration::from_secs(s));
        let uses: Vec<Uses> =
            self.jobs.iter().map(|j| Uses::within(j.unit, self.seed, j.domain.clone())).collect();
        let mut stretches = Vec::new();
        for first in (0..cases).step_by(STRETCH as usize) {
            let last = cases.min(first + STRETCH);
            stretches.extend((0..uses.len()).map(|u| (u, first..last)));
        }
        let progress = Progress::of("verifying", "uses", cases * uses.len() as u64);
        let counter = progress.counter();
        let benches: Mutex<Vec<Bench>> = Mutex::default();
        let done: Vec<Option<(usize, Tally)>> = stretches
            .into_par_iter()
            .map(|(u, stretch)| {
                if end.is_some_and(|end| Instant::now() > end) {
                    return None;
                }
                let spare = benches.lock().ok().and_then(|mut b| b.pop());
                let mut bench = spare.unwrap_or_default();
                let n = stretch.end - stretch.start;
                let tally = bench.hunt(&uses[u], stretch, self.quirks, self.jobs[u].subject);
                if let Ok(mut b) = benches.lock() {
                    b.push(bench);
                }
                counter.fetch_add(n, Ordering::Relaxed);
                Some((u, tally))
            })
            .collect();
        let left = done.iter().filter(|d| d.is_none()).count();
        let mut tallies: Vec<Tally> = uses.iter().map(|_| Tally::default()).collect();
        for (u, tally) in done.into_iter().flatten() {
            tallies[u].add(tally);
        }
        let distinct = tallies
            .par_iter()
            .map(|t| t.identities.iter().collect::<HashSet<_>>().len() as u64)
            .collect();
        Results { tallies, distinct, seconds: start.elapsed().as_secs_f64(), left }
    }

    /// Every cause of every operation and family once, its simplest use shrunk.
    pub fn findings(&self, results: &Results) -> Vec<Found> {
        let mut groups: BTreeMap<(u8, &str, Cause), Vec<&Catch>> = BTreeMap::new();
        for tally in &results.tallies {
            for (cause, catch) in &tally.caught {
                let key = (catch.unit.family as u8, catch.unit.op.name, *cause);
                groups.entry(key).or_default().push(catch);
            }
        }
        let groups: Vec<_> = groups.into_iter().collect();
        groups
            .into_par_iter()
            .map(|((_, _, cause), mut all)| {
                let mut types: Vec<String> = all.iter().map(|c| c.unit.types()).collect();
                types.dedup();
                let size = |c: &Catch| u64::from(c.spec.rows) * u64::from(c.spec.cols);
                all.sort_by_key(|c| (c.unit.from.size() != 4, size(c), c.spec));
                let count = all.iter().map(|c| c.count).sum();
                let first = Catch { count, ..all[0].clone() };
                let subject = self.subject(&first.unit);
                let domain = self.domain(&first.unit);
                let catch = Bench::default().minimal(cause, &first, self.quirks, subject, &domain);
                Found { cause, catch, types }
            })
            .collect()
    }

    fn job(&self, unit: &Unit) -> Option<&Job<'_>> {
        let key = |u: &Unit| (u.family, u.op.name, u.from, u.to);
        self.jobs.iter().find(|j| key(&j.unit) == key(unit))
    }

    /// Whose microcode a unit is verified with.
    pub fn subject(&self, unit: &Unit) -> &dyn Subject {
        self.job(unit).map_or(&BuiltIn, |j| j.subject)
    }

    fn domain(&self, unit: &Unit) -> Domain {
        self.job(unit).map_or_else(Domain::default, |j| j.domain.clone())
    }
}
