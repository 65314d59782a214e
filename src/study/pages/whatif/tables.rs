//! The tables of a study.

use super::super::{number, short};
use super::{Series, WhatIf, unit};
use crate::whatif::survey::{Groups, Summary};
use crate::whatif::{Point, Study};
use ptoemu_core::time::account::RESOURCES;
use ptoemu_traces::page::{Cell, Column, Table, grouped};

/// Rows of a page at most where it cannot show all.
const ALL: u64 = 300;
/// Programs on targets in one table.
const SERIES: usize = 1000;

/// Name of an axis: its figure, or the figures that change together.
pub(super) fn axis(study: &Study, axis: usize) -> String {
    let sweeps = study.grid.axes().get(axis).map_or(&[][..], |a| a.sweeps());
    sweeps.iter().map(|s| s.path.as_str()).collect::<Vec<_>>().join(" with ")
}

fn setting(study: &Study, point: &Point) -> String {
    let named = study.grid.paths().into_iter().zip(&point.values);
    named.map(|(p, v)| format!("{p}={v}")).collect::<Vec<_>>().join(" ")
}

fn result(w: &WhatIf, v: f64) -> Cell {
    if w.survey.in_cycles { Cell::count(v as u64) } else { number(v) }
}

/// Columns that tell series apart, and their cells.
fn keys(study: &Study) -> Vec<Column> {
    ["kernel", "shape", "target"]
        .map(Column::text)
        .into_iter()
        .zip(wanted(study))
        .filter(|k| k.1)
        .map(|k| k.0)
        .collect()
}

fn wanted(study: &Study) -> [bool; 3] {
    let shapes = study.subjects.iter().any(|s| !s.shape.is_empty());
    [study.subjects.len() > 1, study.subjects.len() > 1 && shapes, study.targets.len() > 1]
}

fn key(study: &Study, series: usize) -> Vec<Cell> {
    let n = study.targets.len().max(1);
    let subject = study.subjects.get(series / n);
    let texts = [
        subject.map_or("", |s| &s.name),
        subject.map_or("", |s| &s.shape),
        study.targets.get(series % n).map_or("", |t| &t.name),
    ];
    texts.into_iter().zip(wanted(study)).filter(|k| k.1).map(|k| Cell::text(k.0)).collect()
}

/// Result of a series as its target's file says.
fn as_is(w: &WhatIf, series: usize) -> Option<f64> {
    let cycles = w.as_is.get(series).copied().flatten()? as f64;
    let targets = &w.survey.study().targets;
    let us = targets.get(series % targets.len().max(1))?.us_per_cycle();
    Some(if w.survey.in_cycles { cycles } else { cycles * us })
}

/// A row for each program on its target.
pub(super) fn results(w: &WhatIf) -> Table {
    let study = w.survey.study();
    let all = study.subjects.len() * study.targets.len();
    let faults = (0..all).any(|n| w.survey.faults(n) > 0);
    let many = study.grid.len() > 1;
    let mut columns = keys(study);
    let number = |name: &str| Column::number(&format!("{name} {}", unit(w)));
    columns.push(number("as is,"));
    if many {
        columns.extend([number("least"), Column::text("at"), number("median")]);
        columns.extend([number("most"), Column::text("at")]);
    } else {
        columns.push(number("with the settings,"));
    }
    columns.push(Column::text("mostly bound by"));
    if faults {
        columns.push(Column::number("without timing"));
    }
    let mut t = Table::new("all-results", columns);
    for n in 0..all.min(SERIES) {
        let whole = w.survey.whole(n);
        let mut row = key(study, n);
        row.push(as_is(w, n).map_or_else(Cell::empty, |v| result(w, v)));
        let some = |v: f64| if whole.points > 0 { result(w, v) } else { Cell::empty() };
        if many {
            let (low, high) = w.survey.ends(n, 1, 1);
            let high = high.first().or(low.first());
            let at = |p: Option<&u64>| {
                p.map_or_else(Cell::empty, |p| Cell::code(&setting(study, &study.point(*p))))
            };
            row.extend([some(whole.low), at(low.first()), some(whole.middle)]);
            row.extend([some(whole.high), at(high)]);
        } else {
            row.push(some(whole.middle));
        }
        row.push(Cell::text(if whole.points > 0 { RESOURCES[whole.bound()].0 } else { "" }));
        if faults {
            row.push(Cell::count(w.survey.faults(n)));
        }
        t.row(row);
    }
    if all > SERIES {
        t.rest(&format!("The first {SERIES} of {all}; {} has all.", w.rows));
    }
    t
}

/// What each figure does to each series.
pub(super) fn figures(w: &WhatIf, drawn: &[Series]) -> Table {
    let study = w.survey.study();
    let mut columns = vec![Column::text("figure"), Column::number("values")];
    if drawn.len() > 1 {
        columns.push(Column::text("program"));
    }
    columns.extend([Column::number("from"), Column::number("to")]);
    let median = |name: &str| Column::number(&format!("median {} {name}", unit(w)));
    columns.extend([median("at the low end"), median("at the high end")]);
    columns.push(Column::number("share of the spread"));
    let mut t = Table::new("all-figures", columns).caption(
        "Share: how much of the variance of all points goes with the values of the figure alone",
    );
    for (i, a) in study.grid.axes().iter().enumerate().filter(|(_, a)| a.len() > 1) {
        let groups = Groups::of(a, a.len() as usize);
        for s in drawn {
            let by = w.survey.by(s.number, &[(i, &groups)]);
            // Settings without timing have no result to show.
            let timed = || groups.ends.iter().zip(&by).filter(|(_, g)| g.points > 0);
            let (low, high) = (timed().next(), timed().next_back());
            let at =
                |g: Option<(_, &Summary)>| g.map_or_else(Cell::empty, |(_, g)| result(w, g.middle));
            let end = |e: Option<f64>| e.map_or_else(Cell::empty, number);
            let mut row = vec![Cell::code(&axis(study, i)), Cell::count(groups.ends.len() as u64)];
            if drawn.len() > 1 {
                row.push(Cell::text(&s.name));
            }
            row.extend([end(low.map(|l| l.0.0)), end(high.map(|h| h.0.1))]);
            row.extend([at(low), at(high), Cell::share(s.share(i))]);
            t.row(row);
        }
    }
    t
}

/// Where each resource binds.
pub(super) fn regions(w: &WhatIf, s: &Series) -> Table {
    let columns = [
        Column::text("bound by"),
        Column::text("which is"),
        Column::number("points"),
        Column::number("share"),
        Column::text("only where"),
    ];
    let mut t =
        Table::new(&format!("regions-{}", s.number), columns).caption("What binds, and where");
    for (b, &(name, what)) in RESOURCES.iter().enumerate() {
        let n = s.whole.bounds[b];
        if n > 0 {
            let spans = w.survey.spans(s.number, |_, x| usize::from(x) == b);
            let share = n as f64 / s.whole.points.max(1) as f64;
            let place = Cell::code(&narrower(w, s, &spans));
            t.row([Cell::text(name), Cell::text(what), Cell::count(n), Cell::share(share), place]);
        }
    }
    t
}

/// Figures that keep to a part of their values.
fn narrower(w: &WhatIf, s: &Series, spans: &[(f64, f64)]) -> String {
    let study = w.survey.study();
    let all = w.survey.spans(s.number, |_, _| true);
    let named = study.grid.paths().into_iter().zip(spans.iter().zip(&all));
    let part = named.filter(|(_, (a, b))| a != b).map(|(path, (a, _))| match a.0 == a.1 {
        true => format!("{path}={}", short(a.0)),
        false => format!("{path}={}..{}", short(a.0), short(a.1)),
    });
    part.collect::<Vec<_>>().join(" ")
}

/// Which values the settings up to a result have.
pub(super) fn near(w: &WhatIf, s: &Series, limit: f64) -> Table {
    let columns = [
        Column::text("figure"),
        Column::number("from"),
        Column::number("to"),
        Column::number("of all from"),
        Column::number("to"),
    ];
    let mut t = Table::new(&format!("near-{}", s.number), columns);
    let spans = w.survey.spans(s.number, |v, _| v <= limit);
    let all = w.survey.spans(s.number, |_, _| true);
    for ((path, a), b) in w.survey.study().grid.paths().into_iter().zip(spans).zip(all) {
        t.row([Cell::code(path), number(a.0), number(a.1), number(b.0), number(b.1)]);
    }
    t
}

/// The points: all of them, or the ends of each series.
pub(super) fn points(w: &WhatIf) -> Table {
    let study = w.survey.study();
    let mut columns = keys(study);
    columns.extend(study.grid.paths().into_iter().map(Column::number));
    columns.push(Column::number("cycles"));
    if !w.survey.in_cycles {
        columns.push(Column::number("us"));
    }
    columns.push(Column::text("bound by"));
    let mut t = Table::new("settings", columns);
    let total = study.len().unwrap_or(0);
    if total <= ALL {
        (0..total).for_each(|p| t.row(row(w, p)));
        return t;
    }
    let all = study.subjects.len() * study.targets.len();
    let shown = all.min(ALL as usize);
    let each = (ALL as usize / shown.max(1)).max(1);
    let (least, most) = (each.div_ceil(3) * 2, each / 3);
    for n in 0..shown {
        let (low, high) = w.survey.ends(n, least, most);
        low.into_iter().chain(high).for_each(|p| t.row(row(w, p)));
    }
    let rest = match study.grid.len() {
        1 => format!("The first {shown} of {total}; {} has all.", w.rows),
        _ => {
            let of = if all > shown {
                format!("the first {shown} of {all}")
            } else {
                "each program".into()
            };
            let of = if all == 1 { String::new() } else { format!(" of {of}") };
            format!(
                "The {least} least and the {most} most{of}; {} has all {} points.",
                w.rows,
                grouped(total)
            )
        }
    };
    t.rest(&rest);
    t
}

fn row(w: &WhatIf, number: u64) -> Vec<Cell> {
    let study = w.survey.study();
    let point = study.point(number);
    let mut row = key(study, point.subject * study.targets.len() + point.target);
    row.extend(point.values.iter().map(|v| super::super::number(*v)));
    let Some((cycles, bound)) = w.survey.outcome(number) else {
        let empty = if w.survey.in_cycles { 1 } else { 2 };
        row.extend((0..empty).map(|_| Cell::empty()));
        row.push(Cell::text("no timing"));
        return row;
    };
    row.push(Cell::count(cycles));
    if !w.survey.in_cycles {
        row.push(super::super::number(w.survey.result(&point, cycles)));
    }
    row.push(Cell::text(RESOURCES.get(usize::from(bound)).map_or("", |r| r.0)));
    row
}
