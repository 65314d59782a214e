//! A recorded run asked again and again with a few figures changed.

use crate::calibrate::Parameter;
use crate::session::Refusal;
use crate::whatif::{Measured, Recorded, Timer, Worker};
use ptoemu_core::target::{Conf, Target, schema};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// A figure that can be turned.
#[derive(Clone, Debug)]
pub struct Knob {
    /// Path, value, range.
    pub parameter: Parameter,
    /// Confidence.
    pub conf: Conf,
    /// Id of its source.
    pub src: String,
}

/// The figure at a path if it is a quantity that changes cycles and nothing else. Banks and choices
/// are left out: nothing can be added to them a little at a time.
fn movable(target: &Target, path: &str) -> Option<Parameter> {
    let named = !schema::changes_execution(path)
        && path != "clock_mhz"
        && (!path.starts_with("ub.") || path == "ub.read_stage");
    Parameter::new(target, path, true).filter(|p| named && !p.is_choice())
}

/// How many figures of a target change cycles and nothing else.
pub fn movable_figures(target: &Target) -> usize {
    target.paths().filter(|(p, _)| movable(target, p).is_some()).count()
}

/// Those of them that the runs can depend on: figures of instructions that none of them issues are
/// left out.
pub fn knobs(target: &Target, runs: &[&Recorded]) -> Vec<Knob> {
    let issued = issued(target, runs);
    let used = |path: &str| {
        let head = path.split('.').next().unwrap_or(path);
        !target.catalogue().knows(head) || issued.contains(head)
    };
    let knob = |path: &str| {
        let figure = target.get(path).ok()?;
        let parameter = movable(target, path)?;
        Some(Knob { parameter, conf: figure.conf, src: figure.src.clone() })
    };
    target.paths().map(|(p, _)| p).filter(|p| used(p)).filter_map(knob).collect()
}

/// Instructions of the runs, and those whose figures they share.
fn issued(target: &Target, runs: &[&Recorded]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for stream in runs.iter().flat_map(|r| &r.streams) {
        for entry in stream.records.iter().filter_map(|r| target.catalogue().get(r.op)) {
            if !out.contains(entry.mnemonic) {
                out.extend([entry.mnemonic.to_string(), entry.cost_class.to_string()]);
            }
        }
        for class in stream.functions.iter().flat_map(|f| &f.classes) {
            out.insert(class.name.clone());
            out.extend(class.fallback.clone());
        }
    }
    out
}

/// A timer over the figures.
pub fn timer<'r>(
    recorded: &'r Recorded,
    target: &Target,
    knobs: &[Knob],
) -> Result<Timer<'r>, Refusal> {
    let paths: Vec<&str> = knobs.iter().map(|k| k.parameter.path.as_str()).collect();
    Timer::new(recorded, target, &paths).map_err(|d| Refusal::Program(vec![d]))
}

/// A few figures, by number of the knob, with their values.
pub type Changes = Vec<(usize, f64)>;

/// Cycles under many changes, on all threads.
pub fn many(timer: &Timer, knobs: &[Knob], all: &[Changes]) -> Vec<Option<f64>> {
    let one = |probe: &mut Probe, changes: &Changes| probe.cycles(changes);
    all.par_iter().map_init(|| Probe::new(timer, knobs), one).collect()
}

/// Asks for cycles with some figures changed.
pub struct Probe<'t, 'r> {
    worker: Worker<'t, 'r>,
    base: Vec<f64>,
    values: Vec<f64>,
}

impl<'t, 'r> Probe<'t, 'r> {
    /// A probe around the values of the knobs.
    pub fn new(timer: &'t Timer<'r>, knobs: &[Knob]) -> Probe<'t, 'r> {
        let base: Vec<f64> = knobs.iter().map(|k| k.parameter.start).collect();
        Probe { worker: timer.worker(), values: base.clone(), base }
    }

    /// Everything a timing says; `None` where the target cannot time it.
    pub fn time(&mut self, changes: &[(usize, f64)]) -> Option<Measured> {
        self.put(changes);
        Some(self.worker.time(&self.values)).filter(|m| m.fault.is_none())
    }

    /// Cycles alone.
    pub fn cycles(&mut self, changes: &[(usize, f64)]) -> Option<f64> {
        self.put(changes);
        Some(self.worker.cycles(&self.values)).filter(|c| *c > 0).map(|c| c as f64)
    }

    fn put(&mut self, changes: &[(usize, f64)]) {
        self.values.copy_from_slice(&self.base);
        for &(k, v) in changes {
            if let Some(slot) = self.values.get_mut(k) {
                *slot = v;
            }
        }
    }
}
