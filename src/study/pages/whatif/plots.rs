//! The pictures of a study.

use super::super::short;
use super::{ALONG, Series, WhatIf, tables, unit};
use crate::whatif::survey::{Groups, Summary};
use ptoemu_core::time::account::RESOURCES;
use ptoemu_traces::page::plot::{self, Axis, Bar, HeatCell, Plot, Series as Line};

/// Programs compared in one picture.
const COMPARED: usize = 40;
/// Groups of values by what binds.
const BANDS: usize = 16;
/// How far apart results lie to be drawn by their logarithm.
const FAR: f64 = 8.0;

/// Every series along one axis.
pub(super) fn along(w: &WhatIf, drawn: &[Series], axis: usize) -> Plot {
    let study = w.survey.study();
    let Some(groups) = study.grid.axes().get(axis).map(|a| Groups::of(a, ALONG)) else {
        return plot::lines("", &Axis::new(""), &Axis::new(""), &[]);
    };
    let line = |s: &Series| {
        let by = w.survey.by(s.number, &[(axis, &groups)]);
        let at = groups.ends.iter().map(|e| (e.0 + e.1) / 2.0).zip(by);
        let some: Vec<(f64, Summary)> = at.filter(|(_, g)| g.points > 0).collect();
        let points = some.iter().map(|(x, g)| (*x, g.middle)).collect();
        Line::new(&s.name, points).within(some.iter().map(|(x, g)| (*x, g.low, g.high)).collect())
    };
    let all: Vec<Line> = drawn.iter().map(line).collect();
    let name = tables::axis(study, axis);
    let x = match skewed(&groups) {
        true => Axis::log(&name),
        false => Axis::new(&name),
    };
    let results = || all.iter().flat_map(|l| &l.band);
    let (low, high) = (
        results().map(|b| b.1).fold(f64::INFINITY, f64::min),
        results().map(|b| b.2).fold(0.0, f64::max),
    );
    let y = if low > 0.0 && high > FAR * low { Axis::log(unit(w)) } else { Axis::new(unit(w)) };
    plot::lines(&format!("{} by {name}", unit(w)), &x, &y, &all)
}

/// Do the values crowd at the low end, as those of a doubling range do?
fn skewed(groups: &Groups) -> bool {
    let ends = &groups.ends;
    match (ends.first(), ends.get(ends.len() / 2), ends.last()) {
        (Some(first), Some(middle), Some(last)) => {
            first.0 > 0.0 && ends.len() > 3 && last.1 > 4.0 * middle.1
        }
        _ => false,
    }
}

fn label(e: &(f64, f64)) -> String {
    if e.0 == e.1 { short(e.0) } else { format!("{}\u{2013}{}", short(e.0), short(e.1)) }
}

/// Two figures with what binds.
pub(super) fn heat(w: &WhatIf, s: &Series, pair: &[(usize, Groups); 2]) -> Plot {
    let by = w.survey.by(s.number, &pair.each_ref().map(|p| (p.0, &p.1)));
    let (bounds, keys) = keys(s);
    let timed = || by.iter().filter(|g| g.points > 0);
    let least = timed().map(|g| g.middle).fold(f64::INFINITY, f64::min);
    let mut framed = false;
    let mut cell = |g: &Summary| {
        if g.points == 0 {
            return HeatCell::default();
        }
        let best = !framed && g.middle == least;
        framed |= best;
        let colour = bounds.iter().position(|b| *b == g.bound()).unwrap_or(0) as u8;
        HeatCell { best, colour, ..HeatCell::new(g.middle) }
    };
    let width = pair[1].1.ends.len().max(1);
    let cells: Vec<Vec<HeatCell>> =
        by.chunks(width).map(|row| row.iter().map(&mut cell).collect()).collect();
    let labels = |n: usize| pair[n].1.ends.iter().map(label).collect::<Vec<_>>();
    let name = |n: usize| tables::axis(w.survey.study(), pair[n].0);
    let title = format!("{}: median {}", s.name, unit(w));
    plot::heat(&title, (&name(1), &labels(1)), (&name(0), &labels(0)), &cells, &keys)
}

/// What binds anything, by index and by name.
fn keys(s: &Series) -> (Vec<usize>, Vec<String>) {
    let bounds: Vec<usize> = (0..RESOURCES.len()).filter(|&b| s.whole.bounds[b] > 0).collect();
    let keys = bounds.iter().map(|&b| format!("bound by {}", RESOURCES[b].0)).collect();
    (bounds, keys)
}

/// What binds along the axis over which it changes most; nothing where one resource binds all.
pub(super) fn bounds(w: &WhatIf, s: &Series) -> Option<Plot> {
    let (bounds, names) = keys(s);
    if bounds.len() < 2 {
        return None;
    }
    let study = w.survey.study();
    let share = |g: &Summary, b: usize| g.bounds[b] as f64 / g.points.max(1) as f64;
    let shift = |by: &[Summary]| {
        let off =
            |g: &Summary| bounds.iter().map(|&b| (share(g, b) - share(&s.whole, b)).abs()).sum();
        by.iter().filter(|g| g.points > 0).map(off).fold(0.0, f64::max)
    };
    let axes = study.grid.axes().iter().enumerate().filter(|(_, a)| a.len() > 1);
    let mut best: Option<(f64, usize, Groups, Vec<Summary>)> = None;
    for (i, a) in axes {
        let groups = Groups::of(a, BANDS);
        let by = w.survey.by(s.number, &[(i, &groups)]);
        let shift = shift(&by);
        if best.as_ref().is_none_or(|b| shift > b.0) {
            best = Some((shift, i, groups, by));
        }
    }
    let (_, axis, groups, by) = best?;
    let bar = |(e, g): (&(f64, f64), &Summary)| Bar {
        label: label(e),
        parts: bounds.iter().map(|&b| 100.0 * share(g, b)).collect(),
    };
    let bars: Vec<Bar> = groups.ends.iter().zip(&by).map(bar).collect();
    let keys: Vec<&str> = names.iter().map(String::as_str).collect();
    let title = format!("{}: what binds, by {}", s.name, tables::axis(study, axis));
    Some(plot::bars(&title, &Axis::from_zero("percent of the points"), &keys, &bars))
}

/// Series of one point each, side by side.
pub(super) fn compared(w: &WhatIf, all: usize) -> Plot {
    let bar = |n: usize| Bar {
        label: super::series_name(w.survey.study(), n),
        parts: vec![w.survey.whole(n).middle],
    };
    let bars: Vec<Bar> = (0..all.min(COMPARED)).map(bar).collect();
    plot::bars(unit(w), &Axis::from_zero(unit(w)), &[unit(w)], &bars)
}
