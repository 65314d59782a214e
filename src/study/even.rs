//! From which value of a figure on the other choice is the faster one.

use super::along::nearest;
use super::{Knob, Probe};
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
    /// Ours there.
    pub ours: f64,
    /// The rival's there.
    pub theirs: f64,
}

/// What ours is compared with.
pub enum Rival<'p, 't, 'r> {
    /// Microcode on the same target: the figure is turned for both.
    Microcode(&'p mut Probe<'t, 'r>),
    /// Another target: its time stays, in microseconds; ours is cycles times the number.
    Target {
        /// Microseconds of the rival.
        time_us: f64,
        /// Microseconds of one of our cycles.
        us_per_cycle: f64,
    },
}

impl Rival<'_, '_, '_> {
    /// Ours and theirs with a figure changed.
    fn both(&mut self, ours: &mut Probe, change: &[(usize, f64)]) -> Option<(f64, f64)> {
        let cycles = ours.cycles(change)?;
        Some(match self {
            Rival::Microcode(p) => (cycles, p.cycles(change)?),
            Rival::Target { time_us, us_per_cycle } => (cycles * *us_per_cycle, *time_us),
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
    Some(Crossing { path: p.path.clone(), value: p.start, at: far, ours, theirs })
}
