//! The comparison as an html page.

use super::text::sentence;
use super::{Diff, Pair};
use crate::page::plot::{self, Axis, Bar};
use crate::page::{Cell, Column, Page, Table, grouped};

/// Rows of a table.
const ROWS: usize = 1000;

/// The page; `command` is what was typed.
pub fn page(d: &Diff, command: &str) -> String {
    let mut page = Page::new("Two runs compared");
    page.lead(&format!("A: {}. B: {}.", d.a, d.b));
    page.facts(&[
        ("cycles of A", grouped(d.cycles.a)),
        ("cycles of B", grouped(d.cycles.b)),
        ("B less A", signed(d.cycles.delta)),
        ("B / A", ratio(&d.cycles)),
    ]);
    if let Some(f) = &d.first {
        page.section("first", "First difference");
        page.text(&format!("{}.", sentence(f)));
    }
    if let Some(m) = &d.records {
        page.text(&format!(
            "{} records in both, {} of them at other cycles; {} only in A, {} only in B.",
            grouped(m.both),
            grouped(m.moved),
            grouped(m.only_a),
            grouped(m.only_b)
        ));
    }
    page.section("pipes", "Pipes");
    pipes(&mut page, d);
    if !d.ops.is_empty() {
        page.section("ops", "Tile operations");
        let rows = d.ops.iter().map(|o| (vec![o.name.clone(), o.at.clone()], &o.count, &o.cycles));
        table(&mut page, "op-table", &["tile op", "at"], rows.collect());
    }
    page.section("instructions", "Instructions");
    page.note(&format!("Cycles {}.", d.measure));
    let rows = d.instructions.iter().map(|i| (vec![i.name.clone()], &i.count, &i.cycles));
    table(&mut page, "instruction-table", &["instruction"], rows.collect());
    page.section("command", "Again");
    d.notes.iter().for_each(|n| page.note(n));
    page.command(command);
    page.finish()
}

fn signed(n: i64) -> String {
    let sign = if n < 0 { "\u{2212}" } else { "+" };
    format!("{sign}{}", grouped(n.unsigned_abs()))
}

fn ratio(p: &Pair) -> String {
    if p.a == 0 { "none".into() } else { format!("{:.3}", p.b as f64 / p.a as f64) }
}

fn pipes(page: &mut Page, d: &Diff) {
    let bars: Vec<Bar> = d
        .pipes
        .iter()
        .flat_map(|p| {
            [
                Bar { label: p.pipe.clone(), parts: vec![p.busy.a as f64, 0.0] },
                Bar { label: String::new(), parts: vec![0.0, p.busy.b as f64] },
            ]
        })
        .collect();
    page.figure(&plot::bars("Busy cycles", &Axis::new("cycles"), &["A", "B"], &bars), "");
    let mut columns = vec![Column::text("pipe"), Column::text("state")];
    columns.extend(["A", "B", "B \u{2212} A", "B / A"].map(Column::number));
    let mut table = Table::new("pipe-table", columns);
    for p in &d.pipes {
        table.row([Cell::text(&p.pipe), Cell::text("busy")].into_iter().chain(cells(&p.busy)));
        for c in &p.stalls {
            let names = [Cell::text(&p.pipe), Cell::text(&c.cause)];
            table.row(names.into_iter().chain(cells(&c.cycles)));
        }
    }
    page.table(&table);
}

fn cells(p: &Pair) -> [Cell; 4] {
    let ratio = p.b as f64 / p.a as f64;
    [Cell::count(p.a), Cell::count(p.b), Cell::change(p.delta), Cell::number(ratio, 3)]
}

/// Names, runs and cycles of a row.
type Row<'d> = (Vec<String>, &'d Pair, &'d Pair);

fn table(page: &mut Page, id: &str, names: &[&str], rows: Vec<Row>) {
    let mut columns: Vec<Column> = names.iter().map(|n| Column::text(n)).collect();
    let numbers = ["A", "B", "B \u{2212} A", "B / A", "runs A", "runs B"];
    columns.extend(numbers.map(Column::number));
    let mut table = Table::new(id, columns);
    for (names, count, cycles) in rows.iter().take(ROWS) {
        let runs = [Cell::count(count.a), Cell::count(count.b)];
        let names = names.iter().map(|n| Cell::text(n));
        table.row(names.chain(cells(cycles)).chain(runs));
    }
    if rows.len() > ROWS {
        table.rest(&format!("{} more rows are left out.", rows.len() - ROWS));
    }
    page.table(&table);
}
