//! Tile operations: cycles and elements per cycle by shape, and targets side by side.

use super::data::line;
use crate::page::plot::{self, Axis, Bar, Plot, Series};
use crate::page::{Cell, Column, Page, Table};
use crate::profile::{OpKey, OpSum, Profile};
use indexmap::IndexMap;
use ptoemu_core::time::Cause;

/// Operations drawn as bars.
const BARS: usize = 24;
/// Operations told apart by colour.
const SERIES: usize = 8;
/// Rows of a table of operations.
const ROWS: usize = 500;

/// Elements per cycle from first issue to last result.
fn rate(key: &OpKey, sum: &OpSum) -> f64 {
    let elements = key.elements().saturating_mul(sum.count);
    if sum.span == 0 { f64::NAN } else { elements as f64 / sum.span as f64 }
}

/// A link to the line of a `file:line`.
pub(super) fn place(code: &str) -> Cell {
    let short = code.rsplit(['/', '\\']).next().unwrap_or(code);
    match line(code) {
        0 => Cell::text(short),
        n => Cell::link(short, &format!("#L{n}")),
    }
}

/// The section of one target.
pub(super) fn section(page: &mut Page, id: usize, p: &Profile) {
    if p.ops.is_empty() {
        page.text("The program uses no tile operation.");
        return;
    }
    let (plot, left) = rates(p);
    let mut caption = "Elements of the largest valid region of an operation, over the cycles from \
                       its first issue to its last result."
        .to_string();
    if left > 0 {
        caption.push_str(&format!(" {left} more are only in the table."));
    }
    page.figure(&plot, &caption);
    if let Some((plot, left)) = by_shape(p) {
        let caption =
            if left > 0 { format!("{left} more operations are not drawn.") } else { String::new() };
        page.figure(&plot, &caption);
    }
    page.table(&table(id, p));
}

fn table(id: usize, p: &Profile) -> Table {
    let text = ["tile op", "at", "type"].map(Column::text);
    let numbers = ["rows", "cols", "uses", "records", "busy", "cycles", "elements/cycle"];
    let columns = text.into_iter().chain(numbers.map(Column::number));
    let mut table = Table::new(&format!("ops-{id}"), columns);
    for (key, sum) in p.ops.iter().take(ROWS) {
        table.row([
            Cell::code(&key.name),
            place(&key.code),
            Cell::text(&key.dtype),
            Cell::count(key.rows.into()),
            Cell::count(key.cols.into()),
            Cell::count(sum.count),
            Cell::count(sum.records),
            Cell::count(sum.busy),
            Cell::count(sum.span),
            Cell::number(rate(key, sum), 2),
        ]);
    }
    if p.ops.len() > ROWS {
        table.rest(&format!("{} more operations are left out.", p.ops.len() - ROWS));
    }
    table
}

/// Elements per cycle, one bar an operation and shape; how many are left out.
fn rates(p: &Profile) -> (Plot, usize) {
    let mut sums: IndexMap<String, (f64, f64)> = IndexMap::new();
    for (key, sum) in &p.ops {
        let s = sums.entry(key.label()).or_default();
        s.0 += key.elements().saturating_mul(sum.count) as f64;
        s.1 += sum.span as f64;
    }
    let left = sums.len().saturating_sub(BARS);
    let bar = |(label, (n, cycles))| Bar { label, parts: vec![n / cycles] };
    let bars: Vec<Bar> = sums.into_iter().take(BARS).map(bar).collect();
    let axis = Axis::new("elements/cycle");
    let title = "Elements per cycle by tile operation and shape";
    (plot::bars(title, &axis, &[""], &bars), left)
}

/// Elements per cycle against elements, if the program uses several sizes; how many operations are
/// left out.
fn by_shape(p: &Profile) -> Option<(Plot, usize)> {
    let sizes: std::collections::BTreeSet<u64> = p.ops.keys().map(OpKey::elements).collect();
    if sizes.len() < 2 {
        return None;
    }
    let mut series: IndexMap<&str, Vec<(f64, f64)>> = IndexMap::new();
    for (key, sum) in &p.ops {
        series.entry(&key.name).or_default().push((key.elements() as f64, rate(key, sum)));
    }
    let left = series.len().saturating_sub(SERIES);
    let dots = |(name, points): (&str, _)| Series::dots(name, points);
    let series: Vec<Series> = series.into_iter().take(SERIES).map(dots).collect();
    let (x, y) = (Axis::log("elements of the tile"), Axis::from_zero("elements/cycle"));
    Some((plot::lines("Elements per cycle against tile size", &x, &y, &series), left))
}

/// Targets side by side.
pub(super) fn compare(page: &mut Page, runs: &[(String, &Profile)]) {
    let keys: Vec<&str> = runs.iter().map(|(n, _)| n.as_str()).collect();
    page.table(&side_by_side("targets", "cycles", &keys, quantities(runs)));
    let mut ops: IndexMap<(String, u32), Vec<u64>> = IndexMap::new();
    for (i, (_, p)) in runs.iter().enumerate() {
        for (key, sum) in &p.ops {
            let at = (key.label(), line(&key.code));
            ops.entry(at).or_insert_with(|| vec![0; runs.len()])[i] += sum.span;
        }
    }
    if ops.is_empty() {
        return;
    }
    let bars: Vec<Bar> =
        ops.iter().take(BARS).flat_map(|((label, _), n)| beside(label, n)).collect();
    page.figure(
        &plot::bars("Cycles of tile operations", &Axis::new("cycles"), &keys, &bars),
        &match ops.len().saturating_sub(BARS) {
            0 => "From first issue to last result, all uses added up.".to_string(),
            n => format!("From first issue to last result, all uses added up; {n} more below."),
        },
    );
    let rows = ops.into_iter().map(|((label, line), n)| (format!("{label}, line {line}"), n));
    page.table(&side_by_side("target-ops", "tile op", &keys, rows.collect()));
}

/// Cycles of the run and of every pipe, by target.
fn quantities(runs: &[(String, &Profile)]) -> Vec<(String, Vec<u64>)> {
    let mut rows: IndexMap<String, Vec<u64>> = IndexMap::new();
    let mut put = |name: String, i: usize, n: u64| {
        rows.entry(name).or_insert_with(|| vec![0; runs.len()])[i] += n;
    };
    for (i, (_, p)) in runs.iter().enumerate() {
        put("run".into(), i, p.cycles);
        for (name, pipe) in &p.pipes {
            put(format!("{name} busy"), i, pipe.busy);
            for c in Cause::ALL {
                let n = pipe.stalls.get(c.name()).copied().unwrap_or(0);
                if n > 0 {
                    put(format!("{name} {}", c.name()), i, n);
                }
            }
        }
    }
    rows.into_iter().collect()
}

/// A bar a target, the name at the first.
fn beside(label: &str, cycles: &[u64]) -> Vec<Bar> {
    let one = |(i, n): (usize, &u64)| {
        let mut parts = vec![0.0; cycles.len()];
        parts[i] = *n as f64;
        Bar { label: if i == 0 { label.to_string() } else { String::new() }, parts }
    };
    cycles.iter().enumerate().map(one).collect()
}

/// A row a quantity, a column a target, and ratios to the first.
fn side_by_side(id: &str, what: &str, keys: &[&str], rows: Vec<(String, Vec<u64>)>) -> Table {
    let mut columns = vec![Column::text(what)];
    columns.extend(keys.iter().map(|k| Column::number(k)));
    let first = keys.first().copied().unwrap_or("");
    columns.extend(keys.iter().skip(1).map(|k| Column::number(&format!("{k} / {first}"))));
    let mut table = Table::new(id, columns);
    for (name, values) in rows.iter().take(ROWS) {
        let mut cells = vec![Cell::text(name)];
        cells.extend(values.iter().map(|n| Cell::count(*n)));
        let base = values.first().copied().unwrap_or(0) as f64;
        cells.extend(values.iter().skip(1).map(|n| Cell::number(*n as f64 / base, 2)));
        table.row(cells);
    }
    if rows.len() > ROWS {
        table.rest(&format!("{} more rows are left out.", rows.len() - ROWS));
    }
    table
}
