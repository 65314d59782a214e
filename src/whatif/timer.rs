//! One recorded run timed under many settings of one target.

use super::subject::Recorded;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::stream::Pipe;
use ptoemu_core::target::{Slot, Target, schema};
use ptoemu_core::time::{Found, Geometry, Prepared, Timeline, account};
use rustc_hash::FxHashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Bank layouts whose preparation is kept; later ones are prepared each time.
const LAYOUTS: usize = 256;

/// What one timing says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Cycles of the slowest block.
    pub cycles: u64,
    /// The same in microseconds at the target's clock.
    pub time_us: f64,
    /// Busy cycles by `Pipe as usize` in that block.
    pub busy: [u64; 7],
    /// What binds it, a name of [`account::RESOURCES`].
    pub bound: &'static str,
    /// Why there is no timing under this setting; the cycles are then 0.
    pub fault: Option<String>,
}

/// A stream made ready for one bank layout.
type Layout<'r> = Arc<Vec<Prepared<'r>>>;

/// A recorded run and a target, ready for many settings of some figures.
pub struct Timer<'r> {
    recorded: &'r Recorded,
    target: Target,
    knobs: Vec<Vec<Slot>>,
    layouts: RwLock<FxHashMap<Geometry, Layout<'r>>>,
}

impl<'r> Timer<'r> {
    /// Makes a recorded run ready. `paths` are the figures that will change; one that changes the
    /// execution, or that the target has not, is refused.
    pub fn new(
        recorded: &'r Recorded,
        target: &Target,
        paths: &[&str],
    ) -> Result<Timer<'r>, Diagnostic> {
        let mut target = target.clone();
        if let Some(path) = paths.iter().find(|p| schema::changes_execution(p)) {
            let message = format!("`{path}` changes what a program does, not only its cycles");
            return Err(Diagnostic::error("whatif.execution", message));
        }
        let knobs = paths.iter().map(|p| target.slots(p)).collect::<Result<_, _>>()?;
        Ok(Timer { recorded, target, knobs, layouts: RwLock::default() })
    }

    /// The target with the figures as they are in its file.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// A worker with a copy of the target of its own; one per thread.
    pub fn worker(&self) -> Worker<'_, 'r> {
        let geometry = Geometry::of(&self.target);
        let layout = self.layout(geometry, &self.target);
        let found = layout.iter().map(|p| p.found(&self.target)).collect();
        Worker { timer: self, target: self.target.clone(), geometry, layout, found }
    }

    fn layout(&self, geometry: Geometry, target: &Target) -> Layout<'r> {
        let known = self.layouts.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(l) = known.get(&geometry) {
            return l.clone();
        }
        drop(known);
        let streams = self.recorded.streams.iter();
        let made: Layout = Arc::new(streams.map(|s| Prepared::new(s, target)).collect());
        let mut known = self.layouts.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < LAYOUTS {
            known.insert(geometry, made.clone());
        }
        made
    }
}

/// Times settings one after the other.
pub struct Worker<'t, 'r> {
    timer: &'t Timer<'r>,
    target: Target,
    geometry: Geometry,
    layout: Layout<'r>,
    found: Vec<Found>,
}

impl Worker<'_, '_> {
    /// The target with a value for every path the timer was made with.
    pub fn target(&mut self, values: &[f64]) -> &Target {
        for (slots, v) in self.timer.knobs.iter().zip(values) {
            for slot in slots {
                self.target.put(*slot, *v);
            }
        }
        &self.target
    }

    /// Timeline of every block under a value for every path.
    pub fn timelines(&mut self, values: &[f64]) -> Vec<Timeline> {
        let geometry = Geometry::of(self.target(values));
        if geometry != self.geometry {
            self.geometry = geometry;
            self.layout = self.timer.layout(geometry, &self.target);
        }
        let blocks = self.layout.iter().zip(&self.found);
        blocks.map(|(p, found)| p.time_found(&self.target, found)).collect()
    }

    /// Cycles and what binds them, under a value for every path.
    pub fn time(&mut self, values: &[f64]) -> Measured {
        let lines = self.timelines(values);
        if let Some(d) = lines.iter().flat_map(|l| &l.faults).next() {
            return Measured { fault: Some(d.message.clone()), ..Measured::default() };
        }
        let blocks = self.timer.recorded.streams.iter().zip(&lines);
        // The first of the slowest blocks, as reports of a run choose it.
        let Some((stream, line)) = blocks.rev().max_by_key(|(_, l)| l.cycles) else {
            return Measured::default();
        };
        Measured {
            cycles: line.cycles,
            time_us: line.cycles as f64 * self.target.us_per_cycle(),
            busy: std::array::from_fn(|i| line.pipe(Pipe::ALL[i]).busy),
            bound: account::bound(stream, &self.target, line),
            fault: None,
        }
    }

    /// Cycles alone, 0 where there is no timing: for searches that need nothing else.
    pub fn cycles(&mut self, values: &[f64]) -> u64 {
        let lines = self.timelines(values);
        if lines.iter().any(|l| !l.faults.is_empty()) {
            return 0;
        }
        lines.iter().map(|l| l.cycles).max().unwrap_or(0)
    }
}
