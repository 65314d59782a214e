//! The summary a run ends with, and the synchronisation it inserted as text.

use super::output::{percent, short, table};
use crate::golden::Comparison;
use crate::report::RunReport;
use crate::session::Ran;
use ptoemu_core::diag::count;
use ptoemu_isa::exec::Insert;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What was inserted, as the lines a user would write.
pub(super) fn sync_text(ran: &Ran) -> String {
    let mut out = String::new();
    for i in &ran.outcome.inserted {
        let (line, _) = ran.program.source.line_col(i.span.start as usize);
        let _ = match i.what {
            Insert::Barrier(p) => {
                writeln!(out, "pto.pipe_barrier \"{}\"  // before line {line}", p.name())
            }
            Insert::Flag(f) => {
                let list =
                    format!("[\"{}\", \"{}\", \"EVENT_ID{}\"]", f.src.name(), f.dst.name(), f.id);
                writeln!(out, "pto.set_flag{list}  // before line {line}")
                    .and_then(|()| writeln!(out, "pto.wait_flag{list}"))
            }
        };
    }
    out
}

/// The one-screen summary.
pub(super) fn screen(r: &RunReport, ran: &Ran) -> String {
    let mut out =
        format!("{} on {}: {} cycles, {} us", r.entry, r.target, r.cycles, short(r.time_us));
    let line = |out: &mut String, text: &str| {
        out.push('\n');
        out.push_str(text);
    };
    if ran.outcome.stop.is_some() {
        line(&mut out, "the run stopped at a fault; cycles and values end there");
    }
    for g in &r.golden {
        line(&mut out, &golden_line(g));
    }
    let rows: Vec<Vec<String>> = r
        .pipes
        .iter()
        .map(|(name, p)| {
            let stalls: Vec<String> = p.stalls.iter().map(|(c, n)| format!("{c} {n}")).collect();
            vec![
                name.clone(),
                p.busy.to_string(),
                percent(p.busy as f64, r.cycles as f64),
                p.records.to_string(),
                stalls.join(", "),
            ]
        })
        .collect();
    line(&mut out, "");
    line(&mut out, &table(&["pipe", "busy", "share", "records", "stalled"], &rows));
    let rows: Vec<Vec<String>> = r
        .top
        .iter()
        .take(10)
        .map(|i| {
            vec![
                format!("{}.{}", i.name, i.dtype),
                i.pipe.to_string(),
                i.count.to_string(),
                i.busy.to_string(),
                i.conflict.to_string(),
            ]
        })
        .collect();
    line(&mut out, "");
    line(&mut out, &table(&["instruction", "pipe", "count", "busy", "conflicts"], &rows));
    line(&mut out, "");
    for o in &r.outputs {
        let shape: Vec<String> = o.shape.iter().map(u64::to_string).collect();
        let file = o.file.as_ref().map_or(String::new(), |f| format!(" -> {f}"));
        line(&mut out, &format!("buffer {} {}[{}]{file}", o.name, o.dtype, shape.join("x")));
    }
    let counts = ["error", "warning", "note"]
        .map(|level| count(r.findings.iter().filter(|f| f.level == level).count() as u64, level));
    line(&mut out, &format!("findings: {}", counts.join(", ")));
    let shares: Vec<String> = r
        .provenance
        .shares()
        .iter()
        .map(|(n, s)| format!("{} {}", percent(*s, 1.0), n.to_lowercase()))
        .collect();
    line(&mut out, &format!("figures behind the cycles: {}", shares.join(", ")));
    out
}

/// One line a target, beside each other: cycles, time, busy cycles of every pipe, comparison.
pub(super) fn beside(all: &[RunReport]) -> String {
    let pipes: BTreeSet<&String> = all.iter().flat_map(|r| r.pipes.keys()).collect();
    let busy: Vec<String> = pipes.iter().map(|p| format!("{p} busy")).collect();
    let mut head = vec!["target", "cycles", "us"];
    head.extend(busy.iter().map(String::as_str));
    head.push("golden");
    let row = |r: &RunReport| {
        let mut cells = vec![r.target.clone(), r.cycles.to_string(), short(r.time_us)];
        cells.extend(pipes.iter().map(|p| r.pipes.get(*p).map_or(0, |p| p.busy).to_string()));
        cells.push(match (r.golden.len(), r.golden.iter().filter(|g| !g.pass).count()) {
            (0, _) => "-".into(),
            (_, 0) => "close".into(),
            (n, bad) => format!("{bad} of {n} differ"),
        });
        cells
    };
    table(&head, &all.iter().map(row).collect::<Vec<_>>())
}

fn golden_line(g: &Comparison) -> String {
    match &g.first_bad {
        None => format!(
            "golden {}: all {} elements close, max abs error {:.3e}, max rel {:.3e}",
            g.name, g.count, g.max_abs, g.max_rel
        ),
        Some(b) => format!(
            "golden {}: {} of {} elements differ; first [{}] got {}, want {}; max abs error {:.3e}",
            g.name, g.wrong, g.count, b.index, b.got, b.want, g.max_abs
        ),
    }
}
