//! How the total follows each figure: one at a time, and two together.

use super::probe::many;
use super::{BreakEven, Knob, Probe, Regime, Uncertainty};
use crate::whatif::Timer;
use serde::Serialize;

/// Figures whose pairs are looked at.
const TOP: usize = 5;

/// The answer for one program on one target.
#[derive(Clone, Debug, Serialize)]
pub struct Sensitivity {
    /// Program or operation.
    pub subject: String,
    /// Target.
    pub target: String,
    /// Cycles with the figures as they are.
    pub cycles: u64,
    /// What binds them.
    pub bound: String,
    /// Share by which figures were turned.
    pub step: f64,
    /// Figures the target has.
    pub figures: usize,
    /// Those that move the total, widest first.
    pub swings: Vec<Swing>,
    /// Pairs of the widest: cycles beyond the sum of both alone.
    pub interactions: Vec<Interaction>,
    /// Values at which another resource becomes the bound.
    pub regimes: Vec<Regime>,
    /// What is left open by how well the figures are known.
    pub uncertainty: Uncertainty,
    /// Comparison with another target or microcode.
    pub break_even: Option<BreakEven>,
}

/// One figure turned down and up.
#[derive(Clone, Debug, Serialize)]
pub struct Swing {
    /// Path.
    pub path: String,
    /// Unit.
    pub unit: &'static str,
    /// Confidence.
    pub conf: &'static str,
    /// Id of its source.
    pub src: String,
    /// Value.
    pub value: f64,
    /// Turned down.
    pub low: f64,
    /// Turned up.
    pub high: f64,
    /// Cycles with the figure low.
    pub cycles_low: f64,
    /// Cycles with the figure high.
    pub cycles_high: f64,
    /// Cycles per unit of the figure.
    pub slope: f64,
    /// Percent of the total per percent of the figure; none for a figure of 0.
    pub elasticity: Option<f64>,
}

impl Swing {
    /// Cycles between low and high.
    pub fn width(&self) -> f64 {
        (self.cycles_high - self.cycles_low).abs()
    }
}

/// Two figures turned up together.
#[derive(Clone, Debug, Serialize)]
pub struct Interaction {
    /// One figure.
    pub a: String,
    /// The other.
    pub b: String,
    /// Change of the total with both up.
    pub together: f64,
    /// Beyond the sum of the changes alone: below 0 where one hides the other.
    pub extra: f64,
}

/// A figure turned by a share of itself, at least by one where it is a whole number.
pub fn turned(knob: &Knob, step: f64) -> (f64, f64) {
    let (p, v) = (&knob.parameter, knob.parameter.start);
    let d = if p.whole { (v * step).round().max(1.0) } else { (v * step).max(0.01) };
    (p.accept(v - d), p.accept(v + d))
}

/// Cycles with each figure at its two ends, where the target can time both.
pub(super) fn both_ends(
    timer: &Timer,
    knobs: &[Knob],
    ends: &[(f64, f64)],
) -> Vec<Option<(f64, f64)>> {
    let changes = ends.iter().enumerate().flat_map(|(k, e)| [vec![(k, e.0)], vec![(k, e.1)]]);
    let cycles = many(timer, knobs, &changes.collect::<Vec<_>>());
    cycles.chunks(2).map(|c| Some((c[0]?, c[1]?))).collect()
}

/// Every figure turned down and up; those that move nothing are left out. Widest first.
pub fn swings(timer: &Timer, knobs: &[Knob], step: f64, base: f64) -> Vec<(usize, Swing)> {
    let ends: Vec<(f64, f64)> = knobs.iter().map(|k| turned(k, step)).collect();
    let cycles = both_ends(timer, knobs, &ends);
    let mut out: Vec<(usize, Swing)> = Vec::new();
    for (k, knob) in knobs.iter().enumerate() {
        let (Some((a, b)), (low, high)) = (cycles[k], ends[k]) else { continue };
        let (value, width) = (knob.parameter.start, high - low);
        if (a, b) == (base, base) || width == 0.0 {
            continue;
        }
        let slope = (b - a) / width;
        let swing = Swing {
            path: knob.parameter.path.clone(),
            unit: knob.parameter.unit,
            conf: knob.conf.name(),
            src: knob.src.clone(),
            value,
            low,
            high,
            cycles_low: a,
            cycles_high: b,
            slope,
            elasticity: (value != 0.0 && base > 0.0).then(|| slope * value / base),
        };
        out.push((k, swing));
    }
    out.sort_by(|x, y| y.1.width().total_cmp(&x.1.width()).then(x.1.path.cmp(&y.1.path)));
    out
}

/// Pairs of the widest figures, both turned up.
pub fn interactions(probe: &mut Probe, swings: &[(usize, Swing)], base: f64) -> Vec<Interaction> {
    let top: Vec<&(usize, Swing)> = swings.iter().take(TOP).collect();
    let mut out = Vec::new();
    for (i, (k, a)) in top.iter().map(|x| (x.0, &x.1)).enumerate() {
        for (l, b) in top.iter().skip(i + 1).map(|x| (x.0, &x.1)) {
            let Some(both) = probe.cycles(&[(k, a.high), (l, b.high)]) else { continue };
            let together = both - base;
            let extra = together - (a.cycles_high - base) - (b.cycles_high - base);
            out.push(Interaction { a: a.path.clone(), b: b.path.clone(), together, extra });
        }
    }
    out
}
