//! A calibration as a page: what was found, how sure it is, what is left of every row.

use super::{Named, percent, value};
use crate::calibrate::{Calibration, FigureReport};
use ptoemu_traces::page::plot::{self, Axis, Plot, Series};
use ptoemu_traces::page::{Cell, Column, Page, Table};

/// Page and pictures of a fit.
pub fn calibration(c: &Calibration, command: &str) -> (String, Vec<Named>) {
    let mut page = Page::new(&format!("Figures of {} fitted to measurements", c.target));
    let mean = |v: f64| format!("{:.2}%", 100.0 * v);
    let mut facts = vec![
        ("rows", c.rows.len().to_string()),
        ("mean error before", mean(c.errors.before.mean)),
        ("mean error fitted", mean(c.errors.fitted.mean)),
    ];
    facts.extend(c.errors.held_out.map(|h| ("mean error held out", mean(h.mean))));
    page.facts(&facts);
    page.section("figures", "Figures");
    page.table(&figures(&c.figures));
    if !c.left.is_empty() {
        page.note(&format!("No row depends on {}: left as they were.", c.left.join(", ")));
    }
    correlations(&mut page, c);
    page.section("rows", "What is left of every row");
    let plot = residuals(c);
    page.figure(&plot, "Relative error over the cycles measured.");
    page.table(&rows(c));
    if !c.skipped.is_empty() {
        page.section("skipped", "Rows that were not used");
        let mut t = Table::new("skipped-rows", [Column::text("row"), Column::text("why")]);
        c.skipped.iter().for_each(|s| t.row([Cell::text(&s.case), Cell::text(&s.why)]));
        page.table(&t);
    }
    page.section("again", "The same again");
    page.command(command);
    (page.finish(), vec![("residuals".into(), plot)])
}

fn figures(all: &[FigureReport]) -> Table {
    let columns = [
        Column::text("figure"),
        Column::number("before"),
        Column::number("fitted"),
        Column::number("95% from"),
        Column::number("to"),
        Column::text("unit"),
        Column::number("rows"),
    ];
    let mut t = Table::new("figures-fitted", columns);
    for f in all {
        let (low, high) =
            (f.low.map_or_else(Cell::empty, value), f.high.map_or_else(Cell::empty, value));
        let (unit, rows) = (Cell::text(f.unit), Cell::count(f.rows as u64));
        t.row([Cell::code(&f.path), value(f.before), value(f.value), low, high, unit, rows]);
    }
    t
}

fn correlations(page: &mut Page, c: &Calibration) {
    if c.correlations.is_empty() {
        return page.text("No two estimates move together by half or more.");
    }
    let columns = [Column::text("figure"), Column::text("and"), Column::number("correlation")];
    let mut t = Table::new("correlations", columns).caption("Estimates that move together");
    for k in &c.correlations {
        t.row([Cell::code(&k.a), Cell::code(&k.b), Cell::number(k.value, 2)]);
    }
    page.table(&t);
}

fn residuals(c: &Calibration) -> Plot {
    let error = |ours: f64, measured: f64| 100.0 * (ours - measured) / measured;
    let points = |ours: &dyn Fn(usize) -> Option<f64>| -> Vec<(f64, f64)> {
        let rows = c.rows.iter().enumerate();
        rows.filter_map(|(i, r)| Some((r.measured, error(ours(i)?, r.measured)))).collect()
    };
    let mut series = vec![
        Series::dots("before", points(&|i| c.rows.get(i).map(|r| r.before))),
        Series::dots("fitted", points(&|i| c.rows.get(i).map(|r| r.fitted))),
    ];
    if c.errors.held_out.is_some() {
        series.push(Series::dots("held out", points(&|i| c.rows.get(i)?.held_out)));
    }
    plot::lines("Error by row", &Axis::log("cycles measured"), &Axis::new("percent"), &series)
}

fn rows(c: &Calibration) -> Table {
    let columns = [
        Column::text("row"),
        Column::number("measured"),
        Column::number("before"),
        Column::number("fitted"),
        Column::number("error"),
        Column::number("held out"),
    ];
    let mut t = Table::new("all-rows", columns);
    for r in &c.rows {
        let held = r.held_out.map(|h| (h - r.measured) / r.measured);
        t.row([
            Cell::text(&r.case),
            value((r.measured * 100.0).round() / 100.0),
            value(r.before),
            value(r.fitted),
            percent(r.rel_error),
            held.map_or_else(Cell::empty, percent),
        ]);
    }
    t
}
