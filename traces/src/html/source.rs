//! The program with the cycles of each line.

use super::Run;
use super::data::line;
use crate::events::What;
use crate::page::{Page, escape, grouped};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines shown of a program.
const LINES: usize = 20_000;

/// The section: line numbers are anchors `L<n>`.
pub(super) fn section(page: &mut Page, runs: &[Run]) {
    let Some(file) = runs.first().and_then(|r| r.sources.first()) else {
        page.text("No program text.");
        return;
    };
    page.note(&format!("{}: cycles that records of each line held their pipes.", file.name));
    let sums: Vec<BTreeMap<u32, u64>> = runs.iter().map(|r| by_line(r, &file.name)).collect();
    let most = sums.iter().flat_map(BTreeMap::values).max().copied().unwrap_or(0).max(1);
    let mut out = String::from(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Program\">\
         <table class=\"source\"><thead><tr><th scope=\"col\">line</th>",
    );
    for r in runs {
        let name = escape(r.name());
        let _ = write!(out, "<th scope=\"col\" class=\"number\">{name}</th>");
    }
    out.push_str("<th scope=\"col\">program</th></tr></thead><tbody>\n");
    for (n, text) in (1u32..).zip(file.text.lines().take(LINES)) {
        let _ = write!(out, "<tr id=\"L{n}\"><td class=\"number\"><a href=\"#L{n}\">{n}</a></td>");
        for s in &sums {
            match s.get(&n) {
                Some(&cycles) => {
                    let share = 100.0 * cycles as f64 / most as f64;
                    let cycles = grouped(cycles);
                    let _ = write!(
                        out,
                        "<td class=\"number heat\" style=\"--share:{share:.1}%\">{cycles}</td>"
                    );
                }
                None => out.push_str("<td></td>"),
            }
        }
        let _ = writeln!(out, "<td><code>{}</code></td></tr>", escape(text));
    }
    out.push_str("</tbody></table></div>\n");
    page.html(&out);
    let more = file.text.lines().count().saturating_sub(LINES);
    if more > 0 {
        page.note(&format!("{more} more lines are left out."));
    }
}

/// Cycles that the records of each line held their pipes.
fn by_line(r: &Run, file: &str) -> BTreeMap<u32, u64> {
    let mut out = BTreeMap::new();
    let Some(t) = r.slowest() else { return out };
    let lines: Vec<u32> = t.statics.items().iter().map(|s| own(&s.code, file)).collect();
    for e in t.events().filter(|e| e.what == What::Work) {
        match lines.get(t.statics.index(e.record)) {
            Some(&n) if n > 0 => *out.entry(n).or_default() += e.end - e.start,
            _ => {}
        }
    }
    out
}

/// Line of a place in this file; 0 for other files.
fn own(code: &str, file: &str) -> u32 {
    let here = code.rsplit_once(':').is_some_and(|(name, _)| name == file);
    if here { line(code) } else { 0 }
}
