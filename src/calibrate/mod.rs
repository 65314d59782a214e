//! Fits the figures of a target to measurements.

mod dump;
mod dump_950;
mod fit;
mod linear;
mod model;
mod parameter;
mod quality;
pub mod samples;
mod write;

pub use model::Loss;
pub use parameter::Parameter;
pub use write::{body, overridden, target_file};

use crate::measured::{Measured, Record};
use crate::session::Refusal;
use crate::work::Work;
use anyhow::anyhow;
use model::{Model, Point};
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::target::{Family, Target};
use serde::Serialize;

/// Most cycles a reading may say: minutes on any clock.
const MOST_CYCLES: f64 = 1e12;

/// What is fitted and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// Figures: paths, or prefixes that stand for all figures under them.
    pub fit: Vec<String>,
    /// How residuals are compared.
    pub loss: Loss,
    /// Parts of the cross-validation; below 2 there is none.
    pub folds: usize,
}

/// A fit with everything there is to say about it.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    /// The target it began from.
    pub target: String,
    /// How residuals were compared.
    pub loss: Loss,
    /// The figures.
    pub figures: Vec<FigureReport>,
    /// Figures of groups that no measurement depends on: left as they were.
    pub left: Vec<String>,
    /// Pairs whose estimates move together, strongest first.
    pub correlations: Vec<Correlation>,
    /// Errors before, after, and of rows a fit did not see.
    pub errors: Errors,
    /// Parts of the cross-validation.
    pub folds: usize,
    /// Every row that was used.
    pub rows: Vec<RowReport>,
    /// Rows that were not, with the reason.
    pub skipped: Vec<Skipped>,
}

/// One fitted figure.
#[derive(Clone, Debug, Serialize)]
pub struct FigureReport {
    /// Path.
    pub path: String,
    /// Unit.
    pub unit: &'static str,
    /// Value the fit began with.
    pub before: f64,
    /// Value it found.
    pub value: f64,
    /// 95 % interval; none with as many figures as rows.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Rows that depend on it.
    pub rows: usize,
}

/// How strongly two estimates move together.
#[derive(Clone, Debug, Serialize)]
pub struct Correlation {
    /// One figure.
    pub a: String,
    /// The other.
    pub b: String,
    /// -1 to 1.
    pub value: f64,
}

/// Mean and largest absolute relative errors.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Errors {
    /// With the figures the fit began with.
    pub before: Spread,
    /// With the fitted ones.
    pub fitted: Spread,
    /// Of rows by fits that did not see them.
    pub held_out: Option<Spread>,
}

/// Mean and largest.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

/// One row of the measurements.
#[derive(Clone, Debug, Serialize)]
pub struct RowReport {
    /// What was measured.
    pub case: String,
    /// Cycles measured.
    pub measured: f64,
    /// Ours before the fit.
    pub before: f64,
    /// Ours after it.
    pub fitted: f64,
    /// (fitted - measured) / measured.
    pub rel_error: f64,
    /// Ours by a fit that did not see the row.
    pub held_out: Option<f64>,
}

/// One row that was not used.
#[derive(Clone, Debug, Serialize)]
pub struct Skipped {
    /// What was measured.
    pub case: String,
    /// Why not.
    pub why: String,
}

/// A number as target files and screens show it.
pub(crate) fn number(v: f64) -> String {
    let text = format!("{v:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Fits the figures; refused if the rows cannot tell what they are.
pub fn calibrate(
    mut target: Target,
    measured: Vec<Measured>,
    request: &Request,
) -> Result<Calibration, Refusal> {
    let dumps = measured.iter().any(|m| m.kind == "dump" || m.kind == "profile");
    let note = (dumps && target.family == Family::A5).then_some(dump_950::NOTE);
    let refuse = |d: Diagnostic| {
        let unidentified = d.code == "calibrate.unidentified";
        let note = note.filter(|_| unidentified);
        Refusal::Program(vec![match note {
            Some(note) => d.note(note),
            None => d,
        }])
    };
    let parameters = parameter::parameters(&mut target, &request.fit).map_err(refuse)?;
    let (used, skipped) = usable(measured, &target);
    if used.is_empty() {
        let why = skipped.first().map_or(String::new(), |s| format!("; the first: {}", s.why));
        return Err(anyhow!("no row can be used, {} are skipped{why}", skipped.len()).into());
    }
    let scale = used.iter().map(|u| match request.loss {
        Loss::Relative => u.measured,
        Loss::Absolute => 1.0,
    });
    let mut model = Model {
        ready: used.iter().map(|u| u.work.ready(&target)).collect(),
        measured: used.iter().map(|u| u.measured).collect(),
        scale: scale.collect(),
        touches: Vec::new(),
        parameters,
        target,
    };
    let mut left = parameter::touched(&mut model).map_err(refuse)?;
    let rows: Vec<usize> = (0..used.len()).collect();
    let (start, best) = fitted(&mut model, &rows, &mut left).map_err(refuse)?;
    let folds = request.folds.min(used.last().map_or(0, |u| u.group + 1));
    let held = match folds {
        0 | 1 => Vec::new(),
        k => {
            let groups: Vec<usize> = used.iter().map(|u| u.group).collect();
            quality::held_out(&model, &start, &groups, k)
        }
    };
    Ok(report(&model, &used, (&start, &best), &held, (request.loss, folds, left, skipped)))
}

struct Used {
    /// Number of the measurement: several rows may be readings of one.
    group: usize,
    case: String,
    measured: f64,
    work: Work,
}

fn usable(measured: Vec<Measured>, target: &Target) -> (Vec<Used>, Vec<Skipped>) {
    let (mut used, mut skipped) = (Vec::<Used>::new(), Vec::new());
    let mut last = Record::new();
    for m in measured {
        let Measured { case, measured, work, columns, .. } = m;
        let next = used.last().map_or(0, |u| u.group + 1);
        let same = !columns.is_empty() && columns == last;
        let group = if same { next.saturating_sub(1) } else { next };
        last = columns;
        let sound = measured > 0.0 && measured <= MOST_CYCLES;
        let work = work.and_then(|w| match w.cycles(target) {
            Ok(_) if !sound => Err("the measured figure is no number of cycles".into()),
            Ok(_) if w.is_empty() => Err("no instruction runs".into()),
            Ok(_) => Ok(w),
            Err(e) => Err(e),
        });
        match work {
            Ok(work) => used.push(Used { group, case, measured, work }),
            Err(why) => skipped.push(Skipped { case, why }),
        }
    }
    (used, skipped)
}

/// Fits, leaves out figures of groups that turn out not to matter, refuses what cannot be told.
fn fitted(
    model: &mut Model,
    rows: &[usize],
    left: &mut Vec<String>,
) -> Result<(Point, Point), Diagnostic> {
    loop {
        if model.parameters.is_empty() {
            let message = "no measurement depends on any of the figures to fit";
            return Err(Diagnostic::error("calibrate.unidentified", message)
                .note(left.join(", "))
                .help("name figures that the measured instructions use"));
        }
        if let Some((figures, n)) = quality::crowded(&model.touches) {
            let names = figures.iter().map(|&p| format!("`{}`", model.parameters[p].path));
            let names = names.collect::<Vec<_>>().join(", ");
            let rows = if n == 1 { "1 row".to_string() } else { format!("{n} rows") };
            let message = format!("{rows} cannot say what {} figures are: {names}", figures.len());
            return Err(Diagnostic::error("calibrate.unidentified", message)
                .note("no other row depends on them")
                .help("fit fewer figures, or measure more"));
        }
        let start = model.at(model.parameters.iter().map(|p| p.start).collect());
        // Where figures of the fit end up at a bound, the start shows better what goes together.
        if let Some(c) = quality::blind(model, &start, rows).filter(|c| c.len() > 1) {
            return Err(quality::refusal(model, &start, &c));
        }
        let best = fit::fit(model, rows, start.clone());
        let best = quality::simplest(model, &best, rows);
        match quality::blind(model, &best, rows) {
            None => return Ok((start, best)),
            Some(c) => match c[..] {
                [(p, _)] if !model.parameters[p].named => {
                    left.push(model.parameters.remove(p).path);
                    model.touches.remove(p);
                }
                _ => return Err(quality::refusal(model, &best, &c)),
            },
        }
    }
}

fn spread(errors: impl Iterator<Item = f64>) -> Spread {
    let all: Vec<f64> = errors.map(f64::abs).collect();
    let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
    Spread { mean, max: all.iter().copied().fold(0.0, f64::max) }
}

fn report(
    model: &Model,
    used: &[Used],
    (start, best): (&Point, &Point),
    held: &[(usize, f64)],
    (loss, folds, left, skipped): (Loss, usize, Vec<String>, Vec<Skipped>),
) -> Calibration {
    let rows: Vec<usize> = (0..used.len()).collect();
    let relative = |ours: f64, i: usize| (ours - used[i].measured) / used[i].measured;
    let all = |p: &Point| spread(rows.iter().map(|&i| relative(p.ours[i], i)));
    let figure = |(p, interval): (usize, quality::Interval)| FigureReport {
        path: model.parameters[p].path.clone(),
        unit: model.parameters[p].unit,
        before: model.parameters[p].start,
        value: best.values[p],
        low: interval.low,
        high: interval.high,
        rows: model.touches[p].len(),
    };
    let name = |p: usize| model.parameters[p].path.clone();
    let pairs = quality::correlations(model, best, &rows).into_iter();
    Calibration {
        target: model.target.name.clone(),
        loss,
        figures: quality::intervals(model, best, &rows)
            .into_iter()
            .enumerate()
            .map(figure)
            .collect(),
        left,
        correlations: pairs
            .filter(|c| c.2.abs() >= 0.5)
            .map(|(a, b, value)| Correlation { a: name(a), b: name(b), value })
            .collect(),
        errors: Errors {
            before: all(start),
            fitted: all(best),
            held_out: (!held.is_empty()).then(|| spread(held.iter().map(|&(i, v)| relative(v, i)))),
        },
        folds,
        rows: rows
            .iter()
            .map(|&i| RowReport {
                case: used[i].case.clone(),
                measured: used[i].measured,
                before: start.ours[i],
                fitted: best.ours[i],
                rel_error: relative(best.ours[i], i),
                held_out: held.iter().find(|h| h.0 == i).map(|h| h.1),
            })
            .collect(),
        skipped,
    }
}
