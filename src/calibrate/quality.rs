//! What a fit is worth: intervals, correlations, figures the rows cannot tell apart.

use super::fit::fit;
use super::linear::{gram, inverse, solve, t95};
use super::model::{Model, Point};
use ptoemu_core::diag::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};

/// A column counts as a sum of others if less than this share of its square is left.
const FLAT: f64 = 1e-2;
/// Cycles within which predictions count as the same: rounding alone moves them by one.
const SAME: f64 = 1.0;

/// What is known about a fitted figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Lower end of the 95 % interval; `None` if nothing can be said.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// Figures that can only be known together: the shares in which they move without a trace.
pub type Combination = Vec<(usize, f64)>;

/// Figures that fewer rows depend on than they are, with the number of those rows: whatever the
/// rows say, such figures can make up for each other.
pub fn crowded(touches: &[Vec<usize>]) -> Option<(Vec<usize>, usize)> {
    // Every figure needs a row of its own.
    let mut owner = BTreeMap::new();
    for p in 0..touches.len() {
        let mut seen = BTreeSet::new();
        if !place(touches, p, &mut owner, &mut seen) {
            let mut figures: Vec<usize> =
                seen.iter().filter_map(|r| owner.get(r)).copied().collect();
            figures.push(p);
            figures.sort_unstable();
            return Some((figures, seen.len()));
        }
    }
    None
}

/// Gives a figure a row, moving others to rows they can have as well.
fn place(
    touches: &[Vec<usize>],
    p: usize,
    owner: &mut BTreeMap<usize, usize>,
    seen: &mut BTreeSet<usize>,
) -> bool {
    for &row in touches.get(p).into_iter().flatten() {
        if seen.insert(row) {
            let other = owner.get(&row).copied();
            if other.is_none_or(|q| place(touches, q, owner, seen)) {
                owner.insert(row, p);
                return true;
            }
        }
    }
    false
}

/// A combination of figures that can move without changing a prediction.
///
/// A column of the Jacobian that is, nearly, a sum of earlier ones gives the combination; it is then
/// tried for real, forwards and backwards, over at least four cycles or a quarter of the figure.
pub fn blind(model: &Model, at: &Point, rows: &[usize]) -> Option<Combination> {
    let columns = model.jacobian(at, rows);
    let norm: Vec<f64> =
        columns.iter().map(|c| c.iter().map(|v| v * v).sum::<f64>().sqrt()).collect();
    let unit: Vec<Vec<f64>> = columns
        .iter()
        .zip(&norm)
        .map(|(c, n)| c.iter().map(|v| v / n.max(1e-300)).collect())
        .collect();
    let mut kept: Vec<usize> = Vec::new();
    for p in 0..columns.len() {
        let combination = dependence(&unit, &kept, p).map(|shares| {
            let raw = shares.into_iter().filter(|(_, v)| v.abs() > 0.02);
            raw.map(|(q, v)| (q, v / norm[q].max(1e-300))).collect::<Combination>()
        });
        match combination {
            Some(c) if untouched(model, at, rows, &c) => return Some(scaled(c)),
            _ if norm[p] > 0.0 => kept.push(p),
            _ => {}
        }
    }
    None
}

/// Shares in which column `p` and the `kept` ones add up to nothing, if they do.
fn dependence(unit: &[Vec<f64>], kept: &[usize], p: usize) -> Option<Combination> {
    let column = &unit[p];
    if column.iter().all(|v| *v == 0.0) {
        return Some(vec![(p, 1.0)]);
    }
    let known: Vec<Vec<f64>> = kept.iter().map(|&q| unit[q].clone()).collect();
    let shared = known.iter().map(|c| c.iter().zip(column).map(|(a, b)| a * b).sum()).collect();
    let shares = solve(gram(&known), shared)?;
    let rest = |i: usize| column[i] - known.iter().zip(&shares).map(|(c, s)| c[i] * s).sum::<f64>();
    let left: f64 = (0..column.len()).map(|i| rest(i).powi(2)).sum();
    let others = kept.iter().zip(&shares).map(|(&q, s)| (q, -s));
    (left < FLAT).then(|| others.chain([(p, 1.0)]).collect())
}

/// The same combination with 1 as its largest share.
fn scaled(c: Combination) -> Combination {
    let largest = c.iter().fold(0.0, |m: f64, (_, v)| if v.abs() > m.abs() { *v } else { m });
    c.into_iter().map(|(p, v)| (p, v / largest)).collect()
}

/// Do predictions stay when the figures move together, as far as their bounds allow?
fn untouched(model: &Model, at: &Point, rows: &[usize], c: &Combination) -> bool {
    let c = scaled(c.clone());
    let far =
        c.iter().find(|(_, v)| *v == 1.0).map_or(4.0, |(p, _)| (at.values[*p] / 4.0).max(4.0));
    let mut moved = false;
    for reach in [far, -far, far / 2.0, -far / 2.0] {
        let want = |&(p, v): &(usize, f64)| (p, at.values[p] + reach * v);
        let accepted = |(p, v): (usize, f64)| (p, model.parameters[p].accept(v));
        let clipped = |w: (usize, f64)| (accepted(w).1 - w.1).abs() > 0.5;
        if c.iter().map(want).any(clipped) {
            continue;
        }
        moved = true;
        let changes: Vec<(usize, f64)> = c.iter().map(want).map(accepted).collect();
        let to = model.moved(at, &changes);
        if rows.iter().any(|&i| (to.ours[i] - at.ours[i]).abs() > SAME) {
            return false;
        }
    }
    moved
}

/// The refusal that names a combination.
pub fn refusal(model: &Model, at: &Point, combination: &Combination) -> Diagnostic {
    let name = |p: usize| format!("`{}`", model.parameters[p].path);
    let code = "calibrate.unidentified";
    if let [(p, _)] = combination[..] {
        let message = format!(
            "the measurements do not say what {} is: around {} no row depends on it",
            name(p),
            super::number(at.values[p]),
        );
        return Diagnostic::error(code, message)
            .help("leave it out of --fit, or measure something that waits for it");
    }
    let list: Vec<String> = combination.iter().map(|c| name(c.0)).collect();
    let moves: Vec<String> =
        combination.iter().map(|&(p, v)| format!("{} {v:+.2}", name(p))).collect();
    Diagnostic::error(code, format!("the measurements cannot tell {} apart", list.join(" and ")))
        .note(format!("no row changes when they move together: {}", moves.join(", ")))
        .help("leave one of them out of --fit, or add rows in which they count differently")
}

/// Deviations of the figures from the curvature, 0 for one that moves nothing where it is; none if
/// there are not more rows than figures.
fn deviations(model: &Model, at: &Point, rows: &[usize]) -> Option<Vec<f64>> {
    let freedom = rows.len().checked_sub(model.parameters.len()).filter(|n| *n > 0)?;
    let variance = model.sse(at, rows) / freedom as f64;
    let columns = model.jacobian(at, rows);
    let moving = |p: &usize| columns[*p].iter().any(|v| *v != 0.0);
    let kept: Vec<usize> = (0..columns.len()).filter(moving).collect();
    let inverse = inverse(&gram(&kept.iter().map(|&p| columns[p].clone()).collect::<Vec<_>>()))?;
    let mut out = vec![0.0; columns.len()];
    for (i, &p) in kept.iter().enumerate() {
        out[p] = (inverse[i][i].max(0.0) * variance).sqrt();
    }
    Some(out)
}

/// 95 % intervals: from the curvature, and never narrower than the stretch over which the fit stays
/// as good, because cycles rise in steps.
pub fn intervals(model: &Model, at: &Point, rows: &[usize]) -> Vec<Interval> {
    let deviations = deviations(model, at, rows);
    let sse = model.sse(at, rows);
    let freedom = rows.len().saturating_sub(model.parameters.len());
    let allowed = match freedom {
        0 => sse,
        n => sse * (1.0 + t95(n).powi(2) / n as f64),
    };
    (0..model.parameters.len())
        .map(|p| {
            let q = &model.parameters[p];
            let v = at.values[p];
            let curve = deviations.as_ref().map(|d| t95(freedom) * d[p]);
            let Some(half) = curve else { return Interval::default() };
            let flat = |sign: f64| v + sign * reach(model, at, rows, (p, sign, allowed));
            let (mut low, mut high) = ((v - half).min(flat(-1.0)), (v + half).max(flat(1.0)));
            if q.whole {
                (low, high) = ((low - 1e-9).ceil().min(v), (high + 1e-9).floor().max(v));
                if half > 1e-9 {
                    // The best whole number lies up to half a cycle beside the best number.
                    (low, high) =
                        ((v - half - 0.5).floor().min(low), (v + half + 0.5).ceil().max(high));
                }
            }
            Interval { low: Some(q.accept(low)), high: Some(q.accept(high)) }
        })
        .collect()
}

/// How far figure `p` can go alone before the sum of squares is worse than allowed.
fn reach(model: &Model, at: &Point, rows: &[usize], (p, sign, allowed): (usize, f64, f64)) -> f64 {
    let q = &model.parameters[p];
    let fits = |d: f64| {
        let v = q.accept(at.values[p] + sign * d);
        (v - at.values[p]).abs() > d - 0.5
            && model.sse(&model.moved(at, &[(p, v)]), rows) <= allowed * (1.0 + 1e-9)
    };
    let least = if q.whole { 1.0 } else { 1.0 / 256.0 };
    let mut good = 0.0;
    let mut step = least;
    while step <= 4096.0 && fits(good + step) {
        good += step;
        step *= 2.0;
    }
    while step > least {
        step /= 2.0;
        if fits(good + step) {
            good += step;
        }
    }
    good
}

/// Correlations of figures that were fitted together, strongest first.
pub fn correlations(model: &Model, at: &Point, rows: &[usize]) -> Vec<(usize, usize, f64)> {
    let Some(c) = inverse(&gram(&model.jacobian(at, rows))) else { return Vec::new() };
    let n = c.len();
    let mut out: Vec<(usize, usize, f64)> = (0..n)
        .flat_map(|p| (0..p).map(move |q| (q, p)))
        .map(|(q, p)| (q, p, c[q][p] / (c[p][p] * c[q][q]).sqrt()))
        .filter(|(_, _, r)| r.is_finite())
        .collect();
    out.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    out
}

/// Predictions of every row by a fit that did not see it. Group `i` is left out in fold `i mod k`;
/// rows of one measurement are one group.
pub fn held_out(model: &Model, start: &Point, groups: &[usize], folds: usize) -> Vec<(usize, f64)> {
    let mut out = Vec::new();
    for fold in 0..folds {
        let pick = |left_out: bool| -> Vec<usize> {
            (0..groups.len()).filter(|&i| (groups[i] % folds == fold) == left_out).collect()
        };
        let point = fit(model, &pick(false), start.clone());
        out.extend(pick(true).into_iter().map(|i| (i, point.ours[i])));
    }
    out.sort_unstable_by_key(|x| x.0);
    out
}

/// Figures stay where they were if that fits as well; fractions get as few digits as fit as well.
pub fn simplest(model: &Model, at: &Point, rows: &[usize]) -> Point {
    let mut best = at.clone();
    let limit = model.sse(at, rows) * (1.0 + 1e-6) + 1e-18;
    for p in 0..model.parameters.len() {
        let to = model.moved(&best, &[(p, model.parameters[p].start)]);
        if model.sse(&to, rows) <= limit {
            best = to;
            continue;
        }
        if model.parameters[p].whole {
            continue;
        }
        for digits in 0..4 {
            let unit = 10f64.powi(digits);
            let v = model.parameters[p].accept((best.values[p] * unit).round() / unit);
            let to = model.moved(&best, &[(p, v)]);
            if model.sse(&to, rows) <= limit {
                best = to;
                break;
            }
        }
    }
    best
}
