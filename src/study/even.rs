//! From which value of a figure on the other choice is the faster one.

use super::along::nearest;
use super::{Knob, Probe};
use crate::calibrate::Parameter;
use serde::Serialize;

/// Comparison of a program with a rival: other microcode, or another target.
#[derive(Clone, Debug, Serialize)]
pub struct BreakEven {
    /// What it is compared with.
    pub rival: String,
    /// Unit of the comparison: cycles on one target, microseconds between two.
    pub unit: &'static str,
    /// Ours.
    pub ours: f64,
    /// The rival's.
    pub theirs: f64,
    /// Figures at which both take the same time, nearest to their value.
    pub crossings: Vec<Crossing>,
}

/// A value at which the faster one changes.
#[derive(Clone, Debug, Serialize)]
pub struct Crossing {
    /// Path of the figure.
    pub path: String,
    /// Its value in the target.
    pub value: f64,
    /// First value with the other order.
    pub at: f64,
    /// Value of the other target's figure there: it moves by as much. None for microcode, where it is
    /// one figure, and where the other target has no such figure.
    pub at_rival: Option<f64>,
    /// Ours there.
    pub ours: f64,
    /// The rival's there.
    pub theirs: f64,
}

/// What ours is compared with.
pub enum Rival<'p, 't, 'r> {
    /// Microcode on the same target: the figure is turned for both.
    Microcode(&'p mut Probe<'t, 'r>),
    /// Another target, compared in microseconds.
    Target(Away<'p, 't, 'r>),
}

/// Another target. A figure that it has as well is turned by as much there; others are ours alone.
pub struct Away<'p, 't, 'r> {
    probe: &'p mut Probe<'t, 'r>,
    /// For each of our figures theirs, by number, with what they are apart.
    twins: Vec<Option<(usize, Parameter, f64)>>,
    /// Microseconds of a cycle of ours and of theirs.
    us: (f64, f64),
}

impl<'p, 't, 'r> Away<'p, 't, 'r> {
    /// A program on another target: its probe with its figures, and microseconds of a cycle of ours
    /// and of theirs.
    pub fn new(
        probe: &'p mut Probe<'t, 'r>,
        (ours, theirs): (&[Knob], &[Knob]),
        us: (f64, f64),
    ) -> Self {
        let twin = |k: &Knob| {
            let at = theirs.iter().position(|t| t.parameter.path == k.parameter.path)?;
            let other = theirs[at].parameter.clone();
            let apart = other.start - k.parameter.start;
            Some((at, other, apart))
        };
        Away { probe, twins: ours.iter().map(twin).collect(), us }
    }

    /// The other target's figure, by number, when ours has a value.
    fn twin(&self, k: usize, v: f64) -> Option<(usize, f64)> {
        let (at, other, apart) = self.twins.get(k)?.as_ref()?;
        Some((*at, other.accept(v + apart)))
    }
}

impl Rival<'_, '_, '_> {
    /// Ours and theirs with a figure changed.
    fn both(&mut self, ours: &mut Probe, change: &[(usize, f64)]) -> Option<(f64, f64)> {
        let cycles = ours.cycles(change)?;
        Some(match self {
            Rival::Microcode(p) => (cycles, p.cycles(change)?),
            Rival::Target(a) => {
                let theirs: Vec<_> = change.iter().filter_map(|&(k, v)| a.twin(k, v)).collect();
                (cycles * a.us.0, a.probe.cycles(&theirs)? * a.us.1)
            }
        })
    }
}

/// Crossings along the figures.
pub fn break_even(
    probe: &mut Probe,
    mut rival: Rival,
    name: String,
    knobs: &[Knob],
) -> Option<BreakEven> {
    let (ours, theirs) = rival.both(probe, &[])?;
    let unit = if matches!(rival, Rival::Microcode(_)) { "cycles" } else { "us" };
    let mut crossings = Vec::new();
    for (k, knob) in knobs.iter().enumerate() {
        for sign in [-1.0, 1.0] {
            crossings.extend(crossing(probe, &mut rival, knob, (k, sign), ours < theirs));
        }
    }
    Some(BreakEven { rival: name, unit, ours, theirs, crossings })
}

fn crossing(
    probe: &mut Probe,
    rival: &mut Rival,
    knob: &Knob,
    (k, sign): (usize, f64),
    faster: bool,
) -> Option<Crossing> {
    let p = &knob.parameter;
    let other = |v| rival.both(probe, &[(k, v)]).is_some_and(|(a, b)| (a < b) != faster);
    let far = nearest(p, sign, other)?;
    let (ours, theirs) = rival.both(probe, &[(k, far)])?;
    let at_rival = match rival {
        Rival::Target(a) => a.twin(k, far).map(|t| t.1),
        Rival::Microcode(_) => None,
    };
    Some(Crossing { path: p.path.clone(), value: p.start, at: far, at_rival, ours, theirs })
}
