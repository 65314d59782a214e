//! Bounded least squares over figures of which most are whole numbers.
//!
//! Cycles are whole and rise in steps and kinks, so a derivative is only a hint: every trial is an
//! exact re-timing and is kept only if the sum of squares falls. Damped Gauss-Newton steps (with
//! difference quotients over whole steps) find the valley; a search along single figures and pairs
//! of them, steps halved down to one cycle, finds its bottom.

use super::linear::{gram, solve};
use super::model::{Model, Point};

const NEWTON_STEPS: usize = 40;
const ROUNDS: usize = 12;
/// Steps of the search: in cycles for whole figures, all of them for fractional ones.
const STRIDES: [f64; 12] =
    [16.0, 8.0, 4.0, 2.0, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125];

/// The best figures for some of the rows.
pub fn fit(model: &Model, rows: &[usize], start: Point) -> Point {
    let mut best = start;
    let mut sse = model.sse(&best, rows);
    for _ in 0..ROUNDS {
        let before = sse;
        newton(model, rows, &mut best, &mut sse);
        search(model, rows, &mut best, &mut sse);
        if sse == 0.0 || sse >= before * (1.0 - 1e-9) {
            break;
        }
    }
    best
}

fn newton(model: &Model, rows: &[usize], best: &mut Point, sse: &mut f64) {
    let mut damping = 1e-3;
    for _ in 0..NEWTON_STEPS {
        let columns = model.jacobian(best, rows);
        let residuals: Vec<f64> = rows.iter().map(|&i| -model.residual(best, i)).collect();
        let slope: Vec<f64> =
            columns.iter().map(|c| c.iter().zip(&residuals).map(|(a, b)| a * b).sum()).collect();
        let normal = gram(&columns);
        let largest = (0..normal.len()).map(|i| normal[i][i]).fold(0.0, f64::max);
        let mut better = false;
        while damping < 1e9 && !better {
            let mut damped = normal.clone();
            for (i, row) in damped.iter_mut().enumerate() {
                row[i] += damping * row[i].max(1e-9 * largest).max(1e-12);
            }
            let Some(step) = solve(damped, slope.clone()) else { break };
            let changes: Vec<(usize, f64)> = model
                .parameters
                .iter()
                .enumerate()
                .map(|(p, q)| (p, q.accept(best.values[p] + step[p])))
                .filter(|&(p, v)| v != best.values[p])
                .collect();
            if changes.is_empty() {
                return;
            }
            better = improve(model, rows, best, sse, &changes);
            damping *= if better { 0.2 } else { 6.0 };
        }
        if !better || *sse == 0.0 {
            return;
        }
    }
}

/// Takes changes that lower the sum of squares.
fn improve(
    model: &Model,
    rows: &[usize],
    best: &mut Point,
    sse: &mut f64,
    changes: &[(usize, f64)],
) -> bool {
    let to = model.moved(best, changes);
    let now = model.sse(&to, rows);
    let better = now < *sse * (1.0 - 1e-12);
    if better {
        (*best, *sse) = (to, now);
    }
    better
}

fn search(model: &Model, rows: &[usize], best: &mut Point, sse: &mut f64) {
    let n = model.parameters.len();
    let shared = |p: usize, q: usize| {
        let (a, b) = (&model.touches[p], &model.touches[q]);
        a.iter().any(|i| b.binary_search(i).is_ok())
    };
    let pairs: Vec<(usize, usize)> =
        (0..n).flat_map(|p| (0..p).map(move |q| (p, q))).filter(|&(p, q)| shared(p, q)).collect();
    for stride in STRIDES {
        let size = |p: usize| if model.parameters[p].whole { stride.max(1.0) } else { stride };
        if stride < 1.0 && model.parameters.iter().all(|p| p.whole) {
            return;
        }
        let mut again = true;
        while again && *sse > 0.0 {
            again = false;
            for p in 0..n {
                for d in [size(p), -size(p)] {
                    let v = model.parameters[p].accept(best.values[p] + d);
                    again |= v != best.values[p] && improve(model, rows, best, sse, &[(p, v)]);
                }
            }
            // Pairs are many: only near the bottom, and only when no single figure helps.
            for &(p, q) in pairs.iter().filter(|_| stride <= 2.0) {
                for (a, b) in [(1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                    if again {
                        break;
                    }
                    let v = model.parameters[p].accept(best.values[p] + a * size(p));
                    let w = model.parameters[q].accept(best.values[q] + b * size(q));
                    let moves = v != best.values[p] && w != best.values[q];
                    again |= moves && improve(model, rows, best, sse, &[(p, v), (q, w)]);
                }
            }
        }
    }
}
