//! Where another resource becomes the bound.

use super::along::nearest;
use super::{Knob, Probe};
use serde::Serialize;

/// A value of a figure from which on something else binds the program.
#[derive(Clone, Debug, Serialize)]
pub struct Regime {
    /// Path of the figure.
    pub path: String,
    /// Its value in the target.
    pub value: f64,
    /// The value at which the bound changes, nearest to that.
    pub at: f64,
    /// The bound from there on.
    pub bound: String,
    /// Cycles there.
    pub cycles: u64,
}

/// The nearest changes of the bound below and above the value of each figure.
pub fn regimes(probe: &mut Probe, knobs: &[Knob], of: &[usize]) -> Vec<Regime> {
    let Some(base) = probe.time(&[]) else { return Vec::new() };
    let mut out = Vec::new();
    for &k in of {
        let Some(knob) = knobs.get(k) else { continue };
        for sign in [-1.0, 1.0] {
            out.extend(change(probe, knob, (k, sign), base.bound));
        }
    }
    out
}

fn change(
    probe: &mut Probe,
    knob: &Knob,
    (k, sign): (usize, f64),
    base: &'static str,
) -> Option<Regime> {
    let p = &knob.parameter;
    let other = |v| probe.time(&[(k, v)]).is_some_and(|m| m.bound != base);
    let far = nearest(p, sign, other)?;
    let there = probe.time(&[(k, far)])?;
    Some(Regime {
        path: p.path.clone(),
        value: p.start,
        at: far,
        bound: there.bound.to_string(),
        cycles: there.cycles,
    })
}
