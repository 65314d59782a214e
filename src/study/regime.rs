//! Where another resource becomes the bound.

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

/// Steps away from the value, doubling: up to some hundred times the figure.
const DOUBLINGS: u32 = 10;
/// Halvings of the stretch in which the bound changes, for figures that count in fractions.
const HALVINGS: u32 = 12;

/// The nearest changes of the bound below and above the value of each figure.
pub fn regimes(probe: &mut Probe, knobs: &[Knob], of: &[usize]) -> Vec<Regime> {
    let Some(base) = probe.time(&[]) else { return Vec::new() };
    let mut out = Vec::new();
    for &k in of {
        let Some(knob) = knobs.get(k) else { continue };
        for sign in [-1.0, 1.0] {
            out.extend(nearest(probe, knob, (k, sign), base.bound));
        }
    }
    out
}

fn nearest(
    probe: &mut Probe,
    knob: &Knob,
    (k, sign): (usize, f64),
    base: &'static str,
) -> Option<Regime> {
    let p = &knob.parameter;
    let step = p.step(p.start);
    let mut near = p.start;
    let mut far = None;
    for n in 0..DOUBLINGS {
        let v = p.accept(p.start + sign * step * f64::from(1u32 << n));
        if v == near {
            break;
        }
        match probe.time(&[(k, v)]) {
            Some(m) if m.bound != base => {
                far = Some(v);
                break;
            }
            _ => near = v,
        }
    }
    let mut far = far?;
    for _ in 0..HALVINGS {
        let middle = p.accept((near + far) / 2.0);
        if middle == near || middle == far {
            break;
        }
        match probe.time(&[(k, middle)]) {
            Some(m) if m.bound != base => far = middle,
            _ => near = middle,
        }
    }
    let there = probe.time(&[(k, far)])?;
    Some(Regime {
        path: p.path.clone(),
        value: p.start,
        at: far,
        bound: there.bound.to_string(),
        cycles: there.cycles,
    })
}
