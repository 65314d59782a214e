//! Which figures the cycles of a program depend on.

use super::{Named, counts, maybe, number, short, tenths};
use crate::study::{Sensitivity, Shrink, Swing};
use ptoemu_traces::page::plot::{self, Axis, Plot};
use ptoemu_traces::page::{Cell, Column, Page, Table};

/// Bars of a tornado.
const BARS: usize = 16;

/// The widest figures as a tornado.
pub fn tornado(s: &Sensitivity) -> Plot {
    let swing = |w: &Swing| plot::Swing {
        label: w.path.clone(),
        low: w.cycles_low,
        high: w.cycles_high,
        tip: format!("{} to {}", short(w.low), short(w.high)),
    };
    let swings: Vec<plot::Swing> = s.swings.iter().take(BARS).map(swing).collect();
    let title =
        format!("{} on {}: figures turned by {}%", s.subject, s.target, short(100.0 * s.step));
    plot::tornado(&title, &Axis::new("cycles"), s.cycles as f64, &swings)
}

/// The ranges of the figures as a tornado.
pub fn open(s: &Sensitivity) -> Plot {
    let swing = |f: &Shrink| plot::Swing {
        label: f.path.clone(),
        low: f.cycles_low,
        high: f.cycles_high,
        tip: format!("{} {} to {}", f.conf, short(f.low), short(f.high)),
    };
    let swings: Vec<plot::Swing> = s.uncertainty.figures.iter().take(BARS).map(swing).collect();
    let title = format!("{} on {}: every figure over its range", s.subject, s.target);
    plot::tornado(&title, &Axis::new("cycles"), s.cycles as f64, &swings)
}

/// Page and pictures of a sensitivity study.
pub fn sensitivity(s: &Sensitivity, command: &str) -> (String, Vec<Named>) {
    let mut page = Page::new(&format!("{} on {}: what the cycles depend on", s.subject, s.target));
    let u = &s.uncertainty;
    page.lead("Every number is an exact re-timing of one execution with figures changed.");
    let most =
        u.figures.iter().max_by(|a, b| a.shrink.unwrap_or(0.0).total_cmp(&b.shrink.unwrap_or(0.0)));
    page.facts(&[
        ("cycles", s.cycles.to_string()),
        ("bound by", s.bound.clone()),
        ("figures that matter", format!("{} of {}", s.swings.len(), s.figures)),
        ("nine of ten totals", format!("{} to {}", short(u.p05), short(u.p95))),
        ("measure first", most.map_or("none is open".into(), |m| m.path.clone())),
    ]);
    let (turned, ranges, bars) =
        (tornado(s), open(s), counts("Draws by total, from", "draws", &u.histogram));
    page.section("figures", "Figures turned one at a time");
    page.figure(&turned, "Low and high value of each figure; the line is the total as it is.");
    page.table(&swings(s));
    interactions(&mut page, s);
    regimes(&mut page, s);
    page.section("open", "What is still open");
    page.text(&format!(
        "Ranges: {}. {} draws of all figures at once give a mean of {} cycles with a deviation of {}; \
         half of the totals exceed {}.",
        u.ranges, u.draws, tenths(u.mean), tenths(u.deviation), short(u.p50),
    ));
    page.figure(&ranges, "The total with one figure at either end of its range.");
    page.figure(&bars, "");
    page.table(&shrinks(s));
    break_even(&mut page, s);
    page.section("again", "The same again");
    page.command(command);
    let plots = vec![("tornado".into(), turned), ("uncertainty".into(), ranges)];
    (page.finish(), plots)
}

fn swings(s: &Sensitivity) -> Table {
    let columns = [
        Column::text("figure"),
        Column::text("confidence"),
        Column::number("value"),
        Column::number("low"),
        Column::number("high"),
        Column::number("cycles low"),
        Column::number("cycles high"),
        Column::number("cycles per unit"),
        Column::number("elasticity"),
    ];
    let mut t =
        Table::new("swings", columns).caption("Elasticity: percent of the total per percent");
    for w in &s.swings {
        t.row([
            Cell::code(&w.path),
            Cell::text(w.conf),
            number(w.value),
            number(w.low),
            number(w.high),
            Cell::change((w.cycles_low - s.cycles as f64) as i64),
            Cell::change((w.cycles_high - s.cycles as f64) as i64),
            Cell::number(w.slope, 2),
            maybe(w.elasticity, 3),
        ]);
    }
    t.rest(&format!("{} figures move nothing.", s.figures - s.swings.len()));
    t
}

fn interactions(page: &mut Page, s: &Sensitivity) {
    page.section("pairs", "Pairs of the widest");
    let columns = [
        Column::text("figure"),
        Column::text("and"),
        Column::number("both up"),
        Column::number("beyond the sum"),
    ];
    let mut t = Table::new("pairs", columns);
    for i in &s.interactions {
        let (both, extra) = (Cell::change(i.together as i64), Cell::change(i.extra as i64));
        t.row([Cell::code(&i.a), Cell::code(&i.b), both, extra]);
    }
    if t.is_empty() {
        return page.text("Fewer than two figures move the total.");
    }
    page.text("Below 0: one hides the other. Above: they add to each other.");
    page.table(&t);
}

fn regimes(page: &mut Page, s: &Sensitivity) {
    page.section("regimes", "Where another resource becomes the bound");
    let columns = [
        Column::text("figure"),
        Column::number("value"),
        Column::number("from"),
        Column::text("bound by"),
        Column::number("cycles"),
    ];
    let mut t = Table::new("regimes", columns);
    for r in &s.regimes {
        let (at, bound) = (number(r.at), Cell::text(&r.bound));
        t.row([Cell::code(&r.path), number(r.value), at, bound, Cell::count(r.cycles)]);
    }
    match t.is_empty() {
        true => page.text(&format!("{} binds it wherever one figure is turned.", s.bound)),
        false => page.table(&t),
    }
}

fn shrinks(s: &Sensitivity) -> Table {
    let columns = [
        Column::text("figure"),
        Column::text("confidence"),
        Column::number("value"),
        Column::number("low"),
        Column::number("high"),
        Column::number("cycles low"),
        Column::number("cycles high"),
        Column::number("deviation shrinks by"),
    ];
    let mut t = Table::new("open-figures", columns)
        .caption("What measuring a figure would settle, for the widest");
    for f in &s.uncertainty.figures {
        t.row([
            Cell::code(&f.path),
            Cell::text(f.conf),
            number(f.value),
            number(f.low),
            number(f.high),
            Cell::change((f.cycles_low - s.cycles as f64) as i64),
            Cell::change((f.cycles_high - s.cycles as f64) as i64),
            f.shrink.map_or_else(Cell::empty, Cell::share),
        ]);
    }
    t
}

fn break_even(page: &mut Page, s: &Sensitivity) {
    let Some(b) = &s.break_even else { return };
    page.section("even", &format!("Against {}", b.rival));
    page.text(&format!(
        "{} {unit} here, {} {unit} there.",
        short(b.ours),
        short(b.theirs),
        unit = b.unit
    ));
    if b.unit == "us" {
        page.text(
            "A figure that both targets have is turned by as much there; others are turned here alone.",
        );
    }
    let columns = [
        Column::text("figure"),
        Column::number("value"),
        Column::number("even at"),
        Column::number("and there at"),
        Column::number("here"),
        Column::number("there"),
    ];
    let mut t = Table::new("even-at", columns);
    for c in &b.crossings {
        t.row([
            Cell::code(&c.path),
            number(c.value),
            number(c.at),
            c.at_rival.map_or_else(Cell::empty, number),
            number(c.ours),
            number(c.theirs),
        ]);
    }
    match t.is_empty() {
        true => page.text("No single figure changes which of the two is faster."),
        false => page.table(&t),
    }
}
