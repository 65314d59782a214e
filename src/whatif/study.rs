//! A study: subjects x targets x settings, its points numbered once and for all.

use super::grid::Grid;
use super::subject::{Recorded, Subject, kin};
use super::timer::{Measured, Timer};
use crate::session::Refusal;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::target::Target;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Points a thread times before it hands its rows on.
const CHUNK: u64 = 128;
/// Chunks a thread has in hand at a time.
const PER_THREAD: usize = 8;

/// What is timed, on what, under which settings.
///
/// Points are numbered subject by subject, in each target by target, in each through the grid.
#[derive(Clone, Debug)]
pub struct Study {
    /// Kernels and operations.
    pub subjects: Vec<Subject>,
    /// Targets.
    pub targets: Vec<Target>,
    /// Settings.
    pub grid: Grid,
}

/// One point: what is timed, on what, with which values.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its number.
    pub number: u64,
    /// Index into [`Study::subjects`].
    pub subject: usize,
    /// Index into [`Study::targets`].
    pub target: usize,
    /// Value of every figure, in the order of [`Grid::paths`].
    pub values: Vec<f64>,
}

/// A subject on a target, recorded.
pub struct Cell {
    subject: usize,
    target: usize,
    recorded: Arc<Recorded>,
}

impl Study {
    /// Checks everything that can be refused without running: figures, values, programs.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.subjects.is_empty() || self.targets.is_empty() || self.grid.is_empty() {
            return Err(anyhow::anyhow!("the study has no points").into());
        }
        let faults: Vec<Diagnostic> =
            self.targets.iter().filter_map(|t| self.grid.check(t).err()).flatten().collect();
        if !faults.is_empty() {
            return Err(Refusal::Program(faults));
        }
        self.one_line()?;
        self.distinct()?;
        for s in &self.subjects {
            let mut done = Vec::new();
            for t in &self.targets {
                if !done.contains(&kin(t)) {
                    s.check(t)?;
                    done.push(kin(t));
                }
            }
        }
        match self.len() {
            Some(_) => Ok(()),
            None => Err(anyhow::anyhow!("the study has more than 2^64 points").into()),
        }
    }

    /// Refuses names that would break a row in two: rows are lines.
    fn one_line(&self) -> Result<(), Refusal> {
        let subjects = self.subjects.iter().flat_map(|s| [&s.name, &s.shape]);
        let mut names = subjects.chain(self.targets.iter().map(|t| &t.name));
        match names.find(|n| n.contains(char::is_control)) {
            Some(n) => Err(anyhow::anyhow!(
                "{n:?} has a line break or control character, and rows are lines: name it otherwise"
            )
            .into()),
            None => Ok(()),
        }
    }

    /// Refuses rows that could not be told apart.
    fn distinct(&self) -> Result<(), Refusal> {
        let mut seen = BTreeSet::new();
        if let Some(s) = self.subjects.iter().find(|s| !seen.insert((&s.name, &s.shape))) {
            let d = Diagnostic::error("whatif.twice", "it is in the study twice")
                .help("give the kernel or operation a `label`, or leave it out");
            return Err(Refusal::Program(vec![s.named(d)]));
        }
        let mut seen = BTreeSet::new();
        if let Some(t) = self.targets.iter().find(|t| !seen.insert(&t.name)) {
            return Err(anyhow::anyhow!("two targets are both `{}`", t.name).into());
        }
        Ok(())
    }

    /// Points, unless they are more than 2^64.
    pub fn len(&self) -> Option<u64> {
        let cells = (self.subjects.len() as u64).checked_mul(self.targets.len() as u64)?;
        cells.checked_mul(self.grid.len())
    }

    /// Has it no points?
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The point of a number.
    pub fn point(&self, number: u64) -> Point {
        let mut values = Vec::new();
        let (cell, rest) = self.place(number);
        self.grid.values(rest, &mut values);
        let n = self.targets.len().max(1);
        Point { number, subject: cell / n, target: cell % n, values }
    }

    fn place(&self, number: u64) -> (usize, u64) {
        let per_cell = self.grid.len().max(1);
        ((number / per_cell) as usize, number % per_cell)
    }

    /// Executes what the points of `range` need, each subject once per family.
    pub fn record(&self, range: &Range<u64>) -> Result<Vec<Cell>, Refusal> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let (first, last) = (self.place(range.start).0, self.place(range.end - 1).0);
        let n = self.targets.len().max(1);
        let subjects: Vec<usize> = (first / n..=last / n).collect();
        let of_subject = |&subject: &usize| {
            let mut cells: Vec<Cell> = Vec::new();
            for (target, t) in self.targets.iter().enumerate() {
                if !(first..=last).contains(&(subject * n + target)) {
                    continue;
                }
                let known = cells
                    .iter()
                    .find(|c| self.targets.get(c.target).is_some_and(|other| kin(other) == kin(t)));
                let recorded = match (known, self.subjects.get(subject)) {
                    (Some(c), _) => c.recorded.clone(),
                    (None, Some(s)) => Arc::new(s.record(t)?),
                    (None, None) => continue,
                };
                cells.push(Cell { subject, target, recorded });
            }
            Ok(cells)
        };
        let all: Result<Vec<Vec<Cell>>, Refusal> = subjects.par_iter().map(of_subject).collect();
        Ok(all?.into_iter().flatten().collect())
    }

    /// Times the points of `range` on all threads and gives every one to `sink` in order. `done`
    /// counts them.
    pub fn run(
        &self,
        range: Range<u64>,
        cells: &[Cell],
        done: &AtomicU64,
        sink: &mut dyn FnMut(&Point, &Measured) -> anyhow::Result<()>,
    ) -> Result<(), Refusal> {
        let paths = self.grid.paths();
        let n = self.targets.len().max(1);
        let mut at = range.start;
        while at < range.end {
            let (cell, rest) = self.place(at);
            let end = range.end.min(at + (self.grid.len() - rest));
            let found = cells.iter().find(|c| c.subject == cell / n && c.target == cell % n);
            let (Some(cell), Some(target)) = (found, self.targets.get(cell % n)) else { break };
            let timer = Timer::new(&cell.recorded, target, &paths)
                .map_err(|d| Refusal::Program(vec![d]))?;
            self.stretch(at..end, &timer, done, sink)?;
            at = end;
        }
        Ok(())
    }

    /// Points of one cell.
    fn stretch(
        &self,
        range: Range<u64>,
        timer: &Timer,
        done: &AtomicU64,
        sink: &mut dyn FnMut(&Point, &Measured) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let batch = CHUNK * (rayon::current_num_threads().max(1) * PER_THREAD) as u64;
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min(at + batch);
            let starts: Vec<u64> = (at..end).step_by(CHUNK as usize).collect();
            let chunks: Vec<Vec<(Point, Measured)>> = starts
                .par_iter()
                .map_init(
                    || timer.worker(),
                    |worker, &start| {
                        let stop = end.min(start + CHUNK);
                        let chunk = (start..stop).map(|number| {
                            let point = self.point(number);
                            let measured = worker.time(&point.values);
                            done.fetch_add(1, Ordering::Relaxed);
                            (point, measured)
                        });
                        chunk.collect()
                    },
                )
                .collect();
            for (point, measured) in chunks.iter().flatten() {
                sink(point, measured)?;
            }
            at = end;
        }
        Ok(())
    }
}

impl Cell {
    /// Index into [`Study::subjects`].
    pub fn subject(&self) -> usize {
        self.subject
    }

    /// Index into [`Study::targets`].
    pub fn target(&self) -> usize {
        self.target
    }

    /// The execution behind it.
    pub fn recorded(&self) -> &Recorded {
        &self.recorded
    }
}
