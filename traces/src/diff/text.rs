//! The comparison on a terminal.

use super::{Diff, First, How, Pair};
use crate::text::table;

/// Rows of a table.
const ROWS: usize = 20;

/// The comparison as text.
pub fn text(d: &Diff) -> String {
    let mut out = format!("A  {}\nB  {}\n\n", d.a, d.b);
    let mut rows = vec![head(&["cycles"])];
    rows.push(row(&["run".into()], &d.cycles));
    for p in &d.pipes {
        rows.push(row(&[format!("{} busy", p.pipe)], &p.busy));
        for c in p.stalls.iter().filter(|c| c.cycles.delta != 0) {
            rows.push(row(&[format!("  {}", c.cause)], &c.cycles));
        }
    }
    table(&mut out, &[0], &rows);
    out.push('\n');
    match (&d.first, &d.records) {
        (Some(f), _) => out.push_str(&format!("First difference: {}\n", sentence(f))),
        (None, Some(_)) => out.push_str("Every record starts and ends at the same cycle.\n"),
        (None, None) => {}
    }
    if let Some(m) = &d.records {
        out.push_str(&format!(
            "Records: {} in both, {} of them at other cycles; {} only in A, {} only in B\n",
            m.both, m.moved, m.only_a, m.only_b
        ));
    }
    let ops = d.ops.iter().map(|o| (vec![o.name.clone(), o.at.clone()], &o.count, &o.cycles));
    section(&mut out, "Tile operations", &["tile op", "at"], ops.collect());
    let title = format!("Instructions, cycles {}", d.measure);
    let rows = d.instructions.iter().map(|i| (vec![i.name.clone()], &i.count, &i.cycles));
    let changed = rows.filter(|(_, n, c)| n.delta != 0 || c.delta != 0).collect();
    section(&mut out, &title, &["instruction"], changed);
    for n in &d.notes {
        out.push_str(&format!("note: {n}\n"));
    }
    out
}

/// Names, runs and cycles of a row.
type Row<'d> = (Vec<String>, &'d Pair, &'d Pair);

fn section(out: &mut String, title: &str, names: &[&str], all: Vec<Row>) {
    if all.is_empty() {
        return;
    }
    out.push_str(&format!("\n{title}\n"));
    let mut first = head(names);
    first.extend(["runs A".to_string(), "B".to_string()]);
    let mut rows = vec![first];
    for (names, count, cycles) in all.iter().take(ROWS) {
        let mut cells = row(names, cycles);
        cells.extend([count.a.to_string(), count.b.to_string()]);
        rows.push(cells);
    }
    let left: Vec<usize> = (0..names.len()).collect();
    table(out, &left, &rows);
    if all.len() > ROWS {
        out.push_str(&format!("... and {} more\n", all.len() - ROWS));
    }
}

fn head(names: &[&str]) -> Vec<String> {
    names.iter().copied().chain(["A", "B", "B - A", "B / A"]).map(String::from).collect()
}

fn row(names: &[String], p: &Pair) -> Vec<String> {
    let ratio = if p.a == 0 { String::new() } else { format!("{:.3}", p.b as f64 / p.a as f64) };
    let mut out = names.to_vec();
    out.extend([p.a.to_string(), p.b.to_string(), format!("{:+}", p.delta), ratio]);
    out
}

/// Where two runs part, in words.
pub(super) fn sentence(f: &First) -> String {
    let id = |n: Option<u64>| n.map_or(String::new(), |n| format!("#{n}"));
    let at = |c: Option<(u64, u64)>| c.map_or(String::new(), |(a, b)| format!("cycles {a} to {b}"));
    let (a, b) = (at(f.at_a), at(f.at_b));
    let what = format!("{} on {}", f.name, f.lane);
    match f.how {
        How::OnlyA => format!("{what} is only in A ({}, {a})", id(f.id_a)),
        How::OnlyB => format!("{what} is only in B ({}, {b})", id(f.id_b)),
        How::Start | How::Length => {
            let verb = if f.how == How::Start { "starts elsewhere" } else { "takes another time" };
            format!("{what} {verb}: {a} in A ({}), {b} in B ({})", id(f.id_a), id(f.id_b))
        }
    }
}
