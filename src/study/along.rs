//! Along one figure: the value, nearest to its own, from which on something is different.

use crate::calibrate::Parameter;

/// Steps away from the value, doubling: up to some hundred times the figure.
const DOUBLINGS: u32 = 10;
/// Halvings of the stretch in which it changes, for figures that count in fractions.
const HALVINGS: u32 = 12;

/// The first value in direction `sign` at which `turned` holds.
pub(super) fn nearest(
    p: &Parameter,
    sign: f64,
    mut turned: impl FnMut(f64) -> bool,
) -> Option<f64> {
    let step = p.step(p.start);
    let mut near = p.start;
    let mut far = None;
    for n in 0..DOUBLINGS {
        let v = p.accept(p.start + sign * step * f64::from(1u32 << n));
        if v == near {
            break;
        }
        if turned(v) {
            far = Some(v);
            break;
        }
        near = v;
    }
    let mut far = far?;
    for _ in 0..HALVINGS {
        let middle = p.accept((near + far) / 2.0);
        if middle == near || middle == far {
            break;
        }
        match turned(middle) {
            true => far = middle,
            false => near = middle,
        }
    }
    Some(far)
}
