//! Predictions of the measured rows as a function of the figures to fit, by exact re-timing.

use super::parameter::Parameter;
use crate::work::Ready;
use ptoemu_core::target::Target;
use rayon::prelude::*;

/// How residuals are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// (ours - measured) / measured.
    Relative,
    /// ours - measured, in cycles.
    Absolute,
}

/// Rows, figures and the target they are put into.
#[derive(Debug)]
pub struct Model<'a> {
    /// Every other figure.
    pub target: Target,
    /// The work of each row.
    pub ready: Vec<Ready<'a>>,
    /// Cycles measured.
    pub measured: Vec<f64>,
    /// Residuals are divided by this.
    pub scale: Vec<f64>,
    /// Figures to fit.
    pub parameters: Vec<Parameter>,
    /// Rows that depend on each figure.
    pub touches: Vec<Vec<usize>>,
}

/// Figures with what they predict.
#[derive(Clone, Debug)]
pub struct Point {
    /// A value for each parameter.
    pub values: Vec<f64>,
    /// Cycles of each row; NaN where the target cannot time it.
    pub ours: Vec<f64>,
}

impl Model<'_> {
    /// The target with the figures set.
    pub fn target_at(&self, values: &[f64]) -> Target {
        let mut t = self.target.clone();
        for (p, v) in self.parameters.iter().zip(values) {
            // The path exists and the value was clamped to its range.
            let _ = t.set(&p.path, *v);
        }
        t
    }

    /// All rows under some figures.
    pub fn at(&self, values: Vec<f64>) -> Point {
        let target = self.target_at(&values);
        let ours = self.ready.par_iter().map(|r| r.cycles(&target).unwrap_or(f64::NAN)).collect();
        Point { values, ours }
    }

    /// `from` with some figures changed: only rows that depend on them are timed again.
    pub fn moved(&self, from: &Point, changes: &[(usize, f64)]) -> Point {
        let mut to = from.clone();
        let mut rows: Vec<usize> = Vec::new();
        for &(p, v) in changes {
            if let Some(slot) = to.values.get_mut(p) {
                *slot = v;
            }
            rows.extend(self.touches.get(p).into_iter().flatten());
        }
        rows.sort_unstable();
        rows.dedup();
        let target = self.target_at(&to.values);
        let ours: Vec<(usize, f64)> = rows
            .into_par_iter()
            .filter_map(|i| Some((i, self.ready.get(i)?.cycles(&target).unwrap_or(f64::NAN))))
            .collect();
        for (i, v) in ours {
            to.ours[i] = v;
        }
        to
    }

    /// Rows that change when figure `p` takes other values.
    pub fn rows_of(&self, p: usize) -> Vec<usize> {
        let Some(parameter) = self.parameters.get(p) else { return Vec::new() };
        let start: Vec<f64> = self.parameters.iter().map(|p| p.start).collect();
        let base = self.at(start.clone());
        let mut seen = vec![false; self.ready.len()];
        for v in parameter.probes(parameter.start) {
            let mut values = start.clone();
            values[p] = v;
            for ((s, a), b) in seen.iter_mut().zip(&base.ours).zip(&self.at(values).ours) {
                *s |= a.to_bits() != b.to_bits();
            }
        }
        (0..seen.len()).filter(|&i| seen[i]).collect()
    }

    /// Weighted residual of a row.
    pub fn residual(&self, point: &Point, row: usize) -> f64 {
        (point.ours[row] - self.measured[row]) / self.scale[row]
    }

    /// Sum of squared residuals of some rows; infinite where a row cannot be timed.
    pub fn sse(&self, point: &Point, rows: &[usize]) -> f64 {
        let sum: f64 = rows.iter().map(|&i| self.residual(point, i).powi(2)).sum();
        if sum.is_nan() { f64::INFINITY } else { sum }
    }

    /// Change of the weighted predictions of `rows` with each figure, a column each.
    pub fn jacobian(&self, at: &Point, rows: &[usize]) -> Vec<Vec<f64>> {
        let column = |p: usize| {
            let (Some(q), Some(&v)) = (self.parameters.get(p), at.values.get(p)) else {
                return vec![0.0; rows.len()];
            };
            let (up, down) = (q.accept(v + q.step(v)), q.accept(v - q.step(v)));
            if up == down {
                return vec![0.0; rows.len()];
            }
            let (a, b) = (self.moved(at, &[(p, up)]), self.moved(at, &[(p, down)]));
            rows.iter().map(|&i| (a.ours[i] - b.ours[i]) / (up - down) / self.scale[i]).collect()
        };
        (0..self.parameters.len()).map(column).collect()
    }
}
