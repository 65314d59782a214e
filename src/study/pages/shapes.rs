//! A program over rows and columns.

use super::{Named, maybe, tenths};
use crate::study::shapes::{ShapePoint, Shapes};
use ptoemu_traces::page::plot::{self, Axis, HeatCell, Plot, Series};
use ptoemu_traces::page::{Cell, Column, Page, Table};

/// Elements a cycle over the shapes of one contender.
fn heat(s: &Shapes, contender: usize) -> Plot {
    let name = s.contenders.get(contender).map_or("", String::as_str);
    let best = s.best.get(contender).and_then(Option::as_ref);
    let bounds = bounds(s);
    let cell = |r: usize, c: usize| match s.at(contender, r, c) {
        Some(ShapePoint { per_cycle: Some(v), bound, rows, cols, .. }) => HeatCell {
            best: best.is_some_and(|b| (b.rows, b.cols) == (*rows, *cols)),
            colour: bounds.iter().position(|b| Some(b) == bound.as_ref()).unwrap_or(0).min(7) as u8,
            ..HeatCell::new((v * 10.0).round() / 10.0)
        },
        _ => HeatCell::default(),
    };
    grid(s, &format!("{} on {name}: elements a cycle", s.subject), cell, (&bounds, false))
}

/// Time of a contender over that of the first.
fn ratio(s: &Shapes, contender: usize) -> Plot {
    let name = s.contenders.get(contender).map_or("", String::as_str);
    let first = s.contenders.first().map_or("", String::as_str);
    let time = |who, r, c| s.at(who, r, c).and_then(|p| p.time_us);
    let cell = |r: usize, c: usize| match (time(0, r, c), time(contender, r, c)) {
        (Some(a), Some(b)) if a > 0.0 => {
            HeatCell { colour: u8::from(b < a), ..HeatCell::new((b / a * 100.0).round() / 100.0) }
        }
        _ => HeatCell::default(),
    };
    let keys = [format!("{first} is as fast or faster"), format!("{name} is faster")];
    grid(s, &format!("{}: time on {name} over time on {first}", s.subject), cell, (&keys, true))
}

fn grid(
    s: &Shapes,
    title: &str,
    cell: impl Fn(usize, usize) -> HeatCell,
    (keys, parted): (&[String], bool),
) -> Plot {
    let text = |v: &[u32]| v.iter().map(u32::to_string).collect::<Vec<_>>();
    let (x, y) = (text(&s.cols), text(&s.rows));
    let row = |r: usize| (0..s.cols.len()).map(|c| cell(r, c)).collect();
    let cells: Vec<Vec<HeatCell>> = (0..s.rows.len()).map(row).collect();
    let draw = if parted { plot::parted } else { plot::heat };
    draw(title, ("columns", &x), ("rows", &y), &cells, keys)
}

fn bounds(s: &Shapes) -> Vec<String> {
    let mut all: Vec<String> = s.points.iter().filter_map(|p| p.bound.clone()).collect();
    all.sort();
    all.dedup();
    all
}

/// Microseconds over the rows: a line for each contender at the narrowest and at a middling width.
fn curves(s: &Shapes) -> Plot {
    let mut cols = vec![0, s.cols.len() / 2];
    cols.dedup();
    let mut series = Vec::new();
    for (n, name) in s.contenders.iter().enumerate() {
        for &c in &cols {
            let at = |r: usize| s.at(n, r, c).and_then(|p| Some((f64::from(p.rows), p.time_us?)));
            let width = s.cols.get(c).copied().unwrap_or(0);
            let points = (0..s.rows.len()).filter_map(at).collect();
            series.push(Series::new(&format!("{name}, {width} columns"), points));
        }
    }
    let title = format!("{}: time over rows", s.subject);
    plot::lines(&title, &Axis::log("rows"), &Axis::log("microseconds"), &series)
}

/// Page and pictures of a study over shapes.
pub fn shapes(s: &Shapes, command: &str) -> (String, Vec<Named>) {
    let mut page = Page::new(&format!("{} over rows and columns", s.subject));
    page.lead("Colours say what binds a shape, shades how many elements a cycle it does.");
    let mut facts = vec![("shapes", (s.rows.len() * s.cols.len()).to_string())];
    facts.extend(s.budget.map(|b| ("bytes of UB for the best", b.to_string())));
    for best in s.best.iter().flatten() {
        let text = format!(
            "{}x{}, {} elements a cycle",
            best.rows,
            best.cols,
            tenths(best.per_cycle.unwrap_or(0.0))
        );
        facts.push((best.contender.as_str(), text));
    }
    page.facts(&facts);
    let mut plots: Vec<Named> = Vec::new();
    page.section("rate", "Elements a cycle");
    let within = s.budget.map_or(String::new(), |b| format!(" within {b} bytes of UB"));
    page.text(&format!("The framed shape does most elements a cycle{within}."));
    plots.extend((0..s.contenders.len()).map(|n| (format!("rate-{}", n + 1), heat(s, n))));
    page.gallery(plots.iter().map(|p| &p.1));
    if s.contenders.len() > 1 {
        page.section("against", "One against the other");
        let ratios = 1..s.contenders.len();
        plots.extend(ratios.map(|n| (format!("ratio-{n}"), ratio(s, n))));
        page.text("The line is where the order changes.");
        page.gallery(plots.iter().skip(s.contenders.len()).map(|p| &p.1));
        page.table(&crossovers(s));
    }
    page.section("time", "Time");
    let p = curves(s);
    page.figure(&p, "");
    plots.push(("time".into(), p));
    page.section("all", "All shapes");
    page.table(&points(s));
    page.section("again", "The same again");
    page.command(command);
    (page.finish(), plots)
}

fn crossovers(s: &Shapes) -> Table {
    let columns = [
        Column::number("columns"),
        Column::number("from rows"),
        Column::text("faster"),
        Column::text("against"),
        Column::number("time over the other's"),
    ];
    let mut t = Table::new("crossovers", columns).caption("Where the order changes along the rows");
    for c in &s.crossovers {
        let other = if c.faster == c.a { &c.b } else { &c.a };
        let ratio = if c.faster == c.a { 1.0 / c.ratio } else { c.ratio };
        t.row([
            Cell::count(c.cols.into()),
            Cell::count(c.rows.into()),
            Cell::text(&c.faster),
            Cell::text(other),
            Cell::number(ratio, 3),
        ]);
    }
    if t.is_empty() {
        t.rest("The order is the same for all rows.");
    }
    t
}

fn points(s: &Shapes) -> Table {
    let columns = [
        Column::text("on"),
        Column::number("rows"),
        Column::number("columns"),
        Column::number("cycles"),
        Column::number("us"),
        Column::number("elements a cycle"),
        Column::text("bound by"),
        Column::number("UB bytes"),
        Column::text("refused"),
    ];
    let mut t = Table::new("shapes", columns);
    let count = |v: Option<u64>| v.map_or_else(Cell::empty, Cell::count);
    for p in &s.points {
        t.row([
            Cell::text(&p.contender),
            Cell::count(p.rows.into()),
            Cell::count(p.cols.into()),
            count(p.cycles),
            maybe(p.time_us, 4),
            maybe(p.per_cycle, 2),
            Cell::text(p.bound.as_deref().unwrap_or("")),
            count(p.ub_bytes),
            Cell::text(p.refused.as_deref().unwrap_or("")),
        ]);
    }
    t
}
