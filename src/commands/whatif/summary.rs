//! What a study ends with: one line for every subject on every target.

use crate::commands::output::table;
use crate::whatif::{Cell, Point, Study, Timer};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

/// Report of `whatif`.
#[derive(Serialize)]
pub(super) struct Report<'s> {
    points: u64,
    figures: Vec<&'s str>,
    output: Option<String>,
    results: Vec<ResultReport>,
}

#[derive(Serialize)]
struct ResultReport {
    kernel: String,
    shape: String,
    target: String,
    points: u64,
    faults: u64,
    as_is: Option<u64>,
    least: Option<ExtremeReport>,
    most: Option<ExtremeReport>,
}

#[derive(Serialize)]
struct ExtremeReport {
    cycles: u64,
    point: u64,
    figures: Map<String, Value>,
}

/// Least and most cycles of one subject on one target.
#[derive(Clone, Default)]
struct Line {
    points: u64,
    faults: u64,
    as_is: Option<u64>,
    /// Cycles and the first point that has them.
    least: Option<(u64, u64)>,
    most: Option<(u64, u64)>,
}

/// Collects the points of a study.
pub(super) struct Summary<'s> {
    study: &'s Study,
    lines: Vec<Line>,
}

impl<'s> Summary<'s> {
    pub fn new(study: &'s Study) -> Self {
        let n = study.subjects.len() * study.targets.len();
        Summary { study, lines: vec![Line::default(); n] }
    }

    fn index(&self, subject: usize, target: usize) -> usize {
        subject * self.study.targets.len() + target
    }

    /// Takes a point in; `None` for one that has no timing.
    pub fn add(&mut self, p: &Point, cycles: Option<u64>) {
        let at = self.index(p.subject, p.target);
        let Some(line) = self.lines.get_mut(at) else { return };
        line.points += 1;
        let Some(cycles) = cycles else {
            line.faults += 1;
            return;
        };
        if line.least.is_none_or(|(c, _)| cycles < c) {
            line.least = Some((cycles, p.number));
        }
        if line.most.is_none_or(|(c, _)| cycles > c) {
            line.most = Some((cycles, p.number));
        }
    }

    /// Times every subject on its targets as their files have them.
    pub fn as_is(&mut self, cells: &[Cell]) {
        for c in cells {
            let Some(target) = self.study.targets.get(c.target()) else { continue };
            let at = self.index(c.subject(), c.target());
            let (Some(line), Ok(timer)) =
                (self.lines.get_mut(at), Timer::new(c.recorded(), target, &[]))
            else {
                continue;
            };
            let m = timer.worker().time(&[]);
            line.as_is = Some(m.cycles).filter(|_| m.fault.is_none());
        }
    }

    /// Cycles of every subject on each of its targets as their files have them.
    pub fn cycles_as_is(&self) -> Vec<Option<u64>> {
        self.lines.iter().map(|l| l.as_is).collect()
    }

    /// Lines with points, with their subject and target.
    fn lines(&self) -> impl Iterator<Item = (&Line, &crate::whatif::Subject, &str)> {
        let n = self.study.targets.len().max(1);
        let all = self.lines.iter().enumerate().filter(|(_, l)| l.points > 0);
        all.filter_map(move |(i, line)| {
            let subject = self.study.subjects.get(i / n)?;
            Some((line, subject, self.study.targets.get(i % n)?.name.as_str()))
        })
    }

    /// The table on the screen.
    pub fn screen(&self) -> String {
        let number = |v: Option<u64>| v.map_or("-".to_string(), |v| v.to_string());
        let rows: Vec<Vec<String>> = self
            .lines()
            .map(|(l, s, target)| {
                vec![
                    s.name.clone(),
                    s.shape.clone(),
                    target.to_string(),
                    l.points.to_string(),
                    number(l.as_is),
                    number(l.least.map(|(c, _)| c)),
                    self.at(l.least),
                    number(l.most.map(|(c, _)| c)),
                    self.at(l.most),
                ]
            })
            .collect();
        let head = ["kernel", "shape", "target", "points", "as is", "least", "at", "most", "at"];
        let mut out = table(&head, &rows);
        let faults: u64 = self.lines.iter().map(|l| l.faults).sum();
        if faults > 0 {
            out.push_str(&format!("\n{faults} points have no timing: see their column `fault`"));
        }
        out
    }

    fn at(&self, extreme: Option<(u64, u64)>) -> String {
        let Some((_, point)) = extreme else { return String::new() };
        let values = self.study.point(point).values;
        let named = self.study.grid.paths().into_iter().zip(values);
        named.map(|(p, v)| format!("{p}={v}")).collect::<Vec<_>>().join(" ")
    }

    /// The JSON report.
    pub fn report(&self, output: Option<&Path>) -> Report<'s> {
        let extreme = |e: Option<(u64, u64)>| {
            let (cycles, point) = e?;
            let named = self.study.grid.paths().into_iter().zip(self.study.point(point).values);
            let figures = named.map(|(p, v)| (p.to_string(), Value::from(v))).collect();
            Some(ExtremeReport { cycles, point, figures })
        };
        Report {
            points: self.lines.iter().map(|l| l.points).sum(),
            figures: self.study.grid.paths(),
            output: output.map(|p| p.display().to_string()),
            results: self
                .lines()
                .map(|(l, s, target)| ResultReport {
                    kernel: s.name.clone(),
                    shape: s.shape.clone(),
                    target: target.to_string(),
                    points: l.points,
                    faults: l.faults,
                    as_is: l.as_is,
                    least: extreme(l.least),
                    most: extreme(l.most),
                })
                .collect(),
        }
    }
}
