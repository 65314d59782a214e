//! Which settings a study times: every combination of its axes.

use super::values;
use ptoemu_core::diag::{Diagnostic, SourceFile, Span};
use ptoemu_core::target::{Slot, Target, schema};
use std::sync::Arc;

/// Points of one grid accepted at most.
pub const MOST_POINTS: u64 = 1_000_000_000_000;

/// A figure and the values it runs through, with the places they are written at.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Path as written; without an element type it stands for all of them.
    pub path: String,
    /// Values in order.
    pub values: Vec<f64>,
    /// Text the spans point into.
    pub file: Arc<SourceFile>,
    /// The path in it.
    pub path_span: Span,
    /// The values in it.
    pub values_span: Span,
}

impl Sweep {
    /// A sweep made by a program: messages show `path=...`.
    pub fn new(path: &str, values: Vec<f64>) -> Sweep {
        let list: Vec<String> = values.iter().take(8).map(f64::to_string).collect();
        let text = format!("{path}={}", list.join(","));
        let (path_span, values_span) =
            (Span::new(0, path.len()), Span::new(path.len() + 1, text.len()));
        let file = SourceFile::new("figures", text);
        Sweep { path: path.into(), values, file, path_span, values_span }
    }

    /// Reads `PATH=VALUES`; `option` names where it stands.
    pub fn parse(option: &str, text: &str) -> Result<Sweep, Diagnostic> {
        let file = SourceFile::new(option, text);
        Sweep::within(&file, Span::new(0, text.len()))
    }

    /// Reads `PATH=VALUES` from a part of a text.
    fn within(file: &Arc<SourceFile>, span: Span) -> Result<Sweep, Diagnostic> {
        let text = file.text.get(span.range()).unwrap_or("");
        let Some((path, list)) = text.split_once('=') else {
            let message = format!("`{text}` is not PATH=VALUES");
            return Err(Diagnostic::error("whatif.set", message)
                .at(file, span, "")
                .help("for example drain=0,6,12 or vcmax.per_repeat=1..8"));
        };
        let start = span.start as usize;
        let lead = path.len() - path.trim_start().len();
        let path_span = Span::new(start + lead, start + lead + path.trim().len());
        let values_span = Span::new(start + path.len() + 1, span.end as usize);
        let values = values::parse(list).map_err(|f| at(f, file, values_span.start as usize))?;
        Ok(Sweep { path: path.trim().into(), values, file: file.clone(), path_span, values_span })
    }

    /// Is this figure one that a target has, and may it take every value?
    pub fn check(&self, target: &Target) -> Result<(), Diagnostic> {
        if schema::changes_execution(&self.path) {
            let message =
                format!("`{}` changes what a program does, not only its cycles", self.path);
            return Err(Diagnostic::error("whatif.execution", message)
                .at(&self.file, self.path_span, "")
                .help("write a target file with another value and run the program on it"));
        }
        let mut copy = target.clone();
        copy.slots(&self.path).map_err(|d| d.at(&self.file, self.path_span, ""))?;
        for v in &self.values {
            target.accepts(&self.path, *v).map_err(|d| d.at(&self.file, self.values_span, ""))?;
        }
        Ok(())
    }
}

/// Is `part` the figure `path` of one element type?
fn covers(path: &str, part: &str) -> bool {
    let Some((head, field)) = path.split_once('.') else { return false };
    let typed = part.strip_prefix(head).and_then(|p| p.strip_prefix('.'));
    typed.and_then(|p| p.split_once('.')).is_some_and(|(_, last)| last == field)
}

/// A fault in a list of values as a diagnostic; the list starts at byte `start` of the file.
pub(super) fn at(f: values::Fault, file: &Arc<SourceFile>, start: usize) -> Diagnostic {
    let span = Span::new(start + f.at.start, start + f.at.end);
    Diagnostic::error("whatif.values", f.message).at(file, span, "").help(f.help)
}

/// Figures that change together: one after the other of their values. Most axes have one figure.
#[derive(Clone, Debug)]
pub struct Axis {
    /// At least one, all with equally many values.
    sweeps: Vec<Sweep>,
}

impl Axis {
    /// An axis of one figure.
    pub fn one(sweep: Sweep) -> Axis {
        Axis { sweeps: vec![sweep] }
    }

    /// Figures that change together.
    pub fn paired(sweeps: Vec<Sweep>) -> Result<Axis, Diagnostic> {
        let Some(first) = sweeps.first() else {
            return Err(Diagnostic::error("whatif.pair", "a pair without figures"));
        };
        let n = first.values.len();
        if let Some(s) = sweeps.iter().find(|s| s.values.len() != n) {
            let message =
                format!("`{}` has {n} values, `{}` {}", first.path, s.path, s.values.len());
            return Err(Diagnostic::error("whatif.pair", message)
                .at(&s.file, s.values_span, "")
                .help("figures of a pair change together: give each equally many values"));
        }
        Ok(Axis { sweeps })
    }

    /// Reads the words of `--pair`: `a=1,2,4 b=3,5,7`.
    pub fn parse_pair(text: &str) -> Result<Axis, Diagnostic> {
        let file = SourceFile::new("--pair", text);
        let (mut sweeps, mut at) = (Vec::new(), 0);
        for word in text.split(' ') {
            if !word.is_empty() {
                sweeps.push(Sweep::within(&file, Span::new(at, at + word.len()))?);
            }
            at += word.len() + 1;
        }
        if sweeps.len() < 2 {
            return Err(Diagnostic::error("whatif.pair", "a pair has two figures or more")
                .at(&file, Span::new(0, text.len()), "")
                .help("for example --pair \"drain=0,6,12 end=0,3,7\""));
        }
        Axis::paired(sweeps)
    }

    /// Settings of this axis.
    pub fn len(&self) -> u64 {
        self.sweeps.first().map_or(0, |s| s.values.len() as u64)
    }

    /// Has it none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its figures.
    pub fn sweeps(&self) -> &[Sweep] {
        &self.sweeps
    }
}

/// Every combination of some axes; the last axis changes fastest. Without axes it has one point:
/// the target as it is.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    axes: Vec<Axis>,
    points: u64,
}

impl Grid {
    /// All combinations of `axes`.
    pub fn new(axes: Vec<Axis>) -> Result<Grid, Diagnostic> {
        let sweeps = || axes.iter().flat_map(|a| &a.sweeps);
        for (i, s) in sweeps().enumerate() {
            if sweeps().take(i).any(|t| t.path == s.path) {
                let message = format!("`{}` is set twice", s.path);
                return Err(Diagnostic::error("whatif.set", message)
                    .at(&s.file, s.path_span, "")
                    .help("one list of values: PATH=1,2,8..16"));
            }
        }
        let points = axes.iter().try_fold(1u64, |n, a| n.checked_mul(a.len()));
        match points.filter(|n| *n <= MOST_POINTS) {
            Some(points) => Ok(Grid { axes, points }),
            None => {
                let message = format!("the settings make more than {MOST_POINTS} points");
                let d = Diagnostic::error("whatif.size", message)
                    .help("fewer values, or figures that change together as a pair");
                Err(match axes.last().and_then(|a| a.sweeps.first()) {
                    Some(s) => d.at(&s.file, s.path_span, ""),
                    None => d,
                })
            }
        }
    }

    /// Settings.
    pub fn len(&self) -> u64 {
        self.points
    }

    /// Has it none?
    pub fn is_empty(&self) -> bool {
        self.points == 0
    }

    /// Its axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Figures in the order of the columns.
    pub fn sweeps(&self) -> impl Iterator<Item = &Sweep> {
        self.axes.iter().flat_map(|a| &a.sweeps)
    }

    /// Paths in the order of the columns.
    pub fn paths(&self) -> Vec<&str> {
        self.sweeps().map(|s| s.path.as_str()).collect()
    }

    /// Value of every figure at a point, in the order of [`Grid::paths`].
    pub fn values(&self, point: u64, out: &mut Vec<f64>) {
        out.clear();
        let mut left = self.points;
        let mut rest = point;
        for a in &self.axes {
            left /= a.len().max(1);
            let k = (rest / left.max(1)) as usize;
            rest %= left.max(1);
            out.extend(a.sweeps.iter().map(|s| s.values.get(k).copied().unwrap_or(0.0)));
        }
    }

    /// Checks every figure against a target.
    pub fn check(&self, target: &Target) -> Result<(), Vec<Diagnostic>> {
        let faults: Vec<_> = self.sweeps().filter_map(|s| s.check(target).err()).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut copy = target.clone();
        let mut all: Vec<(&Sweep, Vec<Slot>)> = Vec::new();
        for s in self.sweeps() {
            all.extend(copy.slots(&s.path).ok().map(|slots| (s, slots)));
        }
        for (i, (s, slots)) in all.iter().enumerate() {
            let both = |(t, other): &&(&Sweep, Vec<Slot>)| {
                covers(&s.path, &t.path)
                    || covers(&t.path, &s.path)
                    || slots.iter().any(|x| other.contains(x))
            };
            if let Some((t, _)) = all[..i].iter().find(both) {
                let message = format!("`{}` and `{}` set the same figure", t.path, s.path);
                return Err(vec![
                    Diagnostic::error("whatif.set", message)
                        .at(&s.file, s.path_span, "")
                        .help("set one of them; a path without element type stands for all types"),
                ]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_axis_changes_fastest_and_pairs_change_together() {
        let set = |t: &str| Axis::one(Sweep::parse("--set", t).unwrap());
        let pair = Axis::parse_pair("drain=0,6 end=1..2").unwrap();
        let grid = Grid::new(vec![set("retire=5,7"), pair, set("mask.first=1..3")]).unwrap();
        assert_eq!((grid.len(), grid.paths()), (12, vec!["retire", "drain", "end", "mask.first"]));
        let mut row = Vec::new();
        let all: Vec<Vec<f64>> = (0..12)
            .map(|i| {
                grid.values(i, &mut row);
                row.clone()
            })
            .collect();
        assert_eq!(all[0], [5.0, 0.0, 1.0, 1.0]);
        assert_eq!(all[2], [5.0, 0.0, 1.0, 3.0]);
        assert_eq!(all[3], [5.0, 6.0, 2.0, 1.0]);
        assert_eq!(all[11], [7.0, 6.0, 2.0, 3.0]);
    }

    #[test]
    fn impossible_grids_are_refused() {
        let set = |t: &str| Axis::one(Sweep::parse("--set", t).unwrap());
        assert!(Grid::new(vec![set("drain=1"), set("drain=2")]).is_err());
        let huge = (0..4).map(|i| set(&format!("f{i}=1..10000"))).collect();
        assert!(Grid::new(huge).unwrap_err().message.contains("points"));
        assert!(Axis::parse_pair("a=1,2 b=1").is_err() && Axis::parse_pair("a=1").is_err());
        assert!(Sweep::parse("--set", "drain").is_err());
        let none = Grid::new(Vec::new()).unwrap();
        let mut row = vec![1.0];
        none.values(0, &mut row);
        assert_eq!((none.len(), row.len()), (1, 0));
    }
}
