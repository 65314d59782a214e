//! The program with the cycles of each line.

use super::Run;
use super::data::line;
use crate::events::What;
use crate::page::{Page, escape, grouped};
use crate::vf::MicroInst;
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
    let inner: Vec<BTreeMap<u32, Inner>> = runs.iter().map(|r| inside(r, &file.name)).collect();
    if inner.iter().any(|i| !i.is_empty()) {
        page.note(
            "Lines inside a vecscope: how often the instruction ran, and the mean cycles from its \
             dispatch to its start.",
        );
    }
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
        for (s, inner) in sums.iter().zip(&inner) {
            match (s.get(&n), inner.get(&n)) {
                (None, Some(i)) => {
                    let (count, mean) = (grouped(i.count), i.waited as f64 / i.count as f64);
                    let _ = write!(out, "<td class=\"number\">{count} × {mean:.1}</td>");
                }
                (Some(&cycles), _) => {
                    let share = 100.0 * cycles as f64 / most as f64;
                    let cycles = grouped(cycles);
                    let _ = write!(
                        out,
                        "<td class=\"number heat\" style=\"--share:{share:.1}%\">{cycles}</td>"
                    );
                }
                (None, None) => out.push_str("<td></td>"),
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

/// Instructions of one line inside vector functions.
#[derive(Default)]
struct Inner {
    count: u64,
    waited: u64,
}

/// Those of each line that stands in a vecscope; every function is looked at once, and counts as
/// often as it was launched.
fn inside(r: &Run, file: &str) -> BTreeMap<u32, Inner> {
    let mut out: BTreeMap<u32, Inner> = BTreeMap::new();
    let Some(t) = r.slowest() else { return out };
    let mut launches: BTreeMap<u32, u64> = BTreeMap::new();
    for e in t.launches() {
        let link = t.record(e.record).map_or(0, |(r, _)| r.link);
        *launches.entry(link).or_default() += 1;
    }
    for (link, times) in launches {
        let Some(f) = t.functions.get(link) else { continue };
        let line = |i: &MicroInst| own(t.statics.place(i.site?)?, file).into();
        let lines: Vec<Option<u32>> = f.insts.iter().map(line).collect();
        if lines.iter().all(Option::is_none) {
            continue;
        }
        for r in (0..f.shown()).map_while(|seq| f.get(seq)) {
            let Some(n) = lines.get(r.inst as usize).copied().flatten() else { continue };
            let sum = out.entry(n).or_default();
            sum.count += times;
            sum.waited += times * r.issue.saturating_sub(r.dispatch);
        }
    }
    out
}

/// Line of a place in this file; 0 for other files.
fn own(code: &str, file: &str) -> u32 {
    let here = code.rsplit_once(':').is_some_and(|(name, _)| name == file);
    if here { line(code) } else { 0 }
}
