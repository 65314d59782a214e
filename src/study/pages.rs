//! Studies as pages: plots, tables that sort, and the command that repeats them.

use super::shapes::{ShapePoint, Shapes};
use super::{Sensitivity, Swing};
use ptoemu_traces::page::plot::{self, Axis, Bar, HeatCell, Plot, Series};
use ptoemu_traces::page::{Cell, Column, Page, Table};

/// Bars of a tornado.
const BARS: usize = 16;

/// A plot with the name of its file.
pub type Named = (String, Plot);

fn number(v: f64) -> Cell {
    Cell::html(short(v), Some(v))
}

fn maybe(v: Option<f64>, decimals: usize) -> Cell {
    v.map_or_else(|| Cell::text(""), |v| Cell::number(v, decimals))
}

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
    let swing = |f: &super::Shrink| plot::Swing {
        label: f.path.clone(),
        low: f.cycles_low,
        high: f.cycles_high,
        tip: format!("{} {} to {}", f.conf, short(f.low), short(f.high)),
    };
    let swings: Vec<plot::Swing> = s.uncertainty.figures.iter().take(BARS).map(swing).collect();
    let title = format!("{} on {}: every figure over its range", s.subject, s.target);
    plot::tornado(&title, &Axis::new("cycles"), s.cycles as f64, &swings)
}

fn histogram(s: &Sensitivity) -> Plot {
    let bar = |&(from, n): &(f64, u64)| Bar { label: short(from), parts: vec![n as f64] };
    let bars: Vec<Bar> = s.uncertainty.histogram.iter().map(bar).collect();
    plot::bars("Draws by total, from", &Axis::from_zero("draws"), &["draws"], &bars)
}

fn tenths(v: f64) -> String {
    crate::calibrate::number((v * 10.0).round() / 10.0)
}

fn short(v: f64) -> String {
    crate::calibrate::number((v * 1e4).round() / 1e4)
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
    let (turned, ranges, bars) = (tornado(s), open(s), histogram(s));
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
            f.shrink.map_or_else(|| Cell::text(""), Cell::share),
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
    let columns = [
        Column::text("figure"),
        Column::number("value"),
        Column::number("even at"),
        Column::number("here"),
        Column::number("there"),
    ];
    let mut t = Table::new("even-at", columns);
    for c in &b.crossings {
        t.row([
            Cell::code(&c.path),
            number(c.value),
            number(c.at),
            number(c.ours),
            number(c.theirs),
        ]);
    }
    match t.is_empty() {
        true => page.text("No single figure changes which of the two is faster."),
        false => page.table(&t),
    }
}

/// Elements a cycle over the shapes of one contender.
pub fn heat(s: &Shapes, contender: usize) -> Plot {
    let name = s.contenders.get(contender).map_or("", String::as_str);
    let best = s.best.get(contender).and_then(Option::as_ref);
    let bounds = bounds(s);
    let cell = |r: u32, c: u32| match find(s, name, r, c) {
        Some(ShapePoint { per_cycle: Some(v), bound, .. }) => HeatCell {
            best: best.is_some_and(|b| (b.rows, b.cols) == (r, c)),
            colour: bounds.iter().position(|b| Some(b) == bound.as_ref()).unwrap_or(0).min(7) as u8,
            ..HeatCell::new((v * 10.0).round() / 10.0)
        },
        _ => HeatCell::default(),
    };
    grid(s, &format!("{} on {name}: elements a cycle", s.subject), cell, &bounds)
}

/// Time of a contender over that of the first.
pub fn ratio(s: &Shapes, contender: usize) -> Plot {
    let name = s.contenders.get(contender).map_or("", String::as_str);
    let first = s.contenders.first().map_or("", String::as_str);
    let time = |who, r, c| find(s, who, r, c).and_then(|p| p.time_us);
    let cell = |r: u32, c: u32| match (time(first, r, c), time(name, r, c)) {
        (Some(a), Some(b)) if a > 0.0 => {
            HeatCell { colour: u8::from(b < a), ..HeatCell::new((b / a * 100.0).round() / 100.0) }
        }
        _ => HeatCell::default(),
    };
    let keys = [format!("{first} is as fast or faster"), format!("{name} is faster")];
    grid(s, &format!("{}: time on {name} over time on {first}", s.subject), cell, &keys)
}

fn grid(s: &Shapes, title: &str, cell: impl Fn(u32, u32) -> HeatCell, keys: &[String]) -> Plot {
    let text = |v: &[u32]| v.iter().map(u32::to_string).collect::<Vec<_>>();
    let (x, y) = (text(&s.cols), text(&s.rows));
    let cells: Vec<Vec<HeatCell>> =
        s.rows.iter().map(|&r| s.cols.iter().map(|&c| cell(r, c)).collect()).collect();
    plot::heat(title, ("columns", &x), ("rows", &y), &cells, keys)
}

fn find<'s>(s: &'s Shapes, who: &str, rows: u32, cols: u32) -> Option<&'s ShapePoint> {
    s.points.iter().find(|p| p.contender == who && (p.rows, p.cols) == (rows, cols))
}

fn bounds(s: &Shapes) -> Vec<String> {
    let mut all: Vec<String> = s.points.iter().filter_map(|p| p.bound.clone()).collect();
    all.sort();
    all.dedup();
    all
}

/// Microseconds over the rows: a line for each contender at the narrowest and at a middling width.
fn curves(s: &Shapes) -> Plot {
    let ends = [s.cols.first(), s.cols.get(s.cols.len() / 2)].into_iter().flatten();
    let mut cols: Vec<u32> = ends.copied().collect();
    cols.dedup();
    let series: Vec<Series> = s
        .contenders
        .iter()
        .flat_map(|n| cols.iter().map(move |&c| (n, c)))
        .map(|(n, c)| {
            let at = |&r: &u32| Some((f64::from(r), find(s, n, r, c)?.time_us?));
            Series::new(&format!("{n}, {c} columns"), s.rows.iter().filter_map(at).collect())
        })
        .collect();
    let title = format!("{}: time over rows", s.subject);
    plot::lines(&title, &Axis::log("rows"), &Axis::log("microseconds"), &series)
}

/// Page and pictures of a study over shapes.
pub fn shapes(s: &Shapes, command: &str) -> (String, Vec<Named>) {
    let mut page = Page::new(&format!("{} over rows and columns", s.subject));
    page.lead("Colours say what binds a shape, shades how many elements a cycle it does.");
    let mut facts = vec![("shapes", (s.rows.len() * s.cols.len()).to_string())];
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
    for n in 0..s.contenders.len() {
        let p = heat(s, n);
        page.figure(&p, "The framed shape does most elements a cycle.");
        plots.push((format!("rate-{}", n + 1), p));
    }
    if s.contenders.len() > 1 {
        page.section("against", "One against the other");
        for n in 1..s.contenders.len() {
            let p = ratio(s, n);
            page.figure(&p, "");
            plots.push((format!("ratio-{n}"), p));
        }
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
    let count = |v: Option<u64>| v.map_or_else(|| Cell::text(""), Cell::count);
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
