//! The text report: what the other formats hold, readable without a viewer and made to be
//! compared line by line.

mod functions;
mod lines;
mod table;

use crate::advice::{LONGEST, advice};
use crate::banks::{Conflict, conflicts};
use crate::critical::{Edge, Step, critical_path};
use crate::events::Trace;
use indexmap::IndexMap;
use ptoemu_core::stream::{NONE, Pipe};
use ptoemu_core::target::Conf;
use ptoemu_core::time::{Cause, account};
use std::io::{self, Write};
use table::percent;
pub(crate) use table::table;

/// Rows of a table of instructions, stalls or conflicts.
const ROWS: usize = 20;
/// Steps of the critical path.
const STEPS: usize = 40;

/// A heading and what writes what stands under it.
type Section = (&'static str, fn(&Trace) -> String);

/// Writes the report of one core.
pub fn write(t: &Trace, out: &mut dyn Write) -> io::Result<()> {
    let mut sections: Vec<Section> = vec![
        ("Pipes", pipes),
        ("Instructions", instructions),
        ("Stalls", stalls),
        ("Bank conflicts", banks),
        ("Critical path", critical),
        ("What to change", changes),
        ("Figures", figures),
        ("Timeline", timeline),
    ];
    if !t.functions.is_empty() {
        sections.insert(3, ("Vector functions", functions::section));
    }
    out.write_all(summary(t).as_bytes())?;
    for (name, section) in sections {
        write!(out, "\n{name}\n{}\n{}", "=".repeat(name.len()), section(t))?;
    }
    Ok(())
}

fn summary(t: &Trace) -> String {
    let cycles = t.timeline.cycles;
    let busiest = PIPES.iter().max_by_key(|p| (t.timeline.pipe(**p).busy, **p == Pipe::V));
    let bound = busiest.filter(|p| t.timeline.pipe(**p).busy > 0).map_or(String::new(), |p| {
        let share = percent(t.timeline.pipe(*p).busy, cycles);
        format!("Busiest pipe  {} ({share} of the cycles)\n", p.short())
    });
    let mut shown = String::new();
    if let Some(w) = &t.filter.window {
        shown.push_str(&format!("Window        cycles {}..{}\n", w.start, w.end));
    }
    if let Some(op) = &t.filter.op {
        shown.push_str(&format!("Operation     {op}\n"));
    }
    if !shown.is_empty() {
        let (n, all) = (t.selection.len(), t.stream.records.len());
        shown.push_str(&format!(
            "Shown         {n} of {all} records; pipes and path are of the whole run\n"
        ));
    }
    format!(
        "Kernel        {}, {}\nTarget        {} at {} MHz\nCycles        {cycles} ({:.3} us)\nRecords       {}\n{bound}{shown}",
        t.kernel,
        t.core_name(),
        t.target.name,
        t.clock.mhz(),
        t.clock.micros(cycles),
        t.stream.records.len(),
    )
}

const PIPES: [Pipe; 7] = [Pipe::S, Pipe::V, Pipe::Mte2, Pipe::Mte3, Pipe::M, Pipe::Mte1, Pipe::Fix];

/// Busy cycles and stalls by cause; every row adds up to the cycles of the run.
fn pipes(t: &Trace) -> String {
    let mut head = vec!["pipe".to_string(), "records".into(), "busy".into(), "busy%".into()];
    head.extend(Cause::ALL.map(|c| c.name().to_string()));
    head.push("total".into());
    let mut rows = vec![head];
    for p in PIPES {
        let totals = t.timeline.pipe(p);
        if totals.records == 0 && p != Pipe::S {
            continue;
        }
        let mut row = vec![
            p.short().to_string(),
            totals.records.to_string(),
            totals.busy.to_string(),
            percent(totals.busy, t.timeline.cycles),
        ];
        row.extend(Cause::ALL.map(|c| totals.stalled(c).to_string()));
        row.push(totals.total().to_string());
        rows.push(row);
    }
    let mut out = String::new();
    table(&mut out, &[0], &rows);
    out
}

/// Instructions of the program by the cycles they held their pipe.
fn instructions(t: &Trace) -> String {
    struct Row {
        count: u64,
        repeats: u64,
        busy: u64,
        conflict: u64,
        wait: u64,
    }
    let mut totals: IndexMap<usize, Row> = IndexMap::new();
    for i in t.selection.iter() {
        let Some((r, e)) = t.record(i) else { continue };
        let zero = Row { count: 0, repeats: 0, busy: 0, conflict: 0, wait: 0 };
        let row = totals.entry(t.statics.index(i)).or_insert(zero);
        row.count += 1;
        row.repeats += u64::from(r.repeats);
        row.busy += u64::from(e.busy);
        row.conflict += u64::from(e.conflict);
        row.wait += u64::from(e.wait);
    }
    totals.sort_by(|a, x, b, y| y.busy.cmp(&x.busy).then(a.cmp(b)));
    let head =
        ["busy", "share", "count", "repeats", "conflict", "waited", "instruction", "at", "tile op"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (&index, r) in totals.iter().filter(|(_, r)| r.busy > 0).take(ROWS) {
        let Some(s) = t.statics.items().get(index) else { continue };
        rows.push(vec![
            r.busy.to_string(),
            percent(r.busy, t.timeline.cycles),
            r.count.to_string(),
            r.repeats.to_string(),
            r.conflict.to_string(),
            r.wait.to_string(),
            s.label(),
            s.code.clone(),
            s.tile_op.unwrap_or("").to_string(),
        ]);
    }
    let more = totals.values().filter(|r| r.busy > 0).count().saturating_sub(ROWS);
    let mut out = String::new();
    table(&mut out, &[6, 7, 8], &rows);
    and_more(&mut out, more);
    out
}

fn and_more(out: &mut String, more: usize) {
    if more > 0 {
        out.push_str(&format!("... and {more} more\n"));
    }
}

/// Stalls by pipe, cause and the instruction that was held back.
fn stalls(t: &Trace) -> String {
    let mut totals: IndexMap<(Pipe, Cause, usize, usize), (u64, u64)> = IndexMap::new();
    for s in &t.timeline.stalls {
        if t.selection.position(s.record).is_none() {
            continue;
        }
        let blocker = if s.blocker == NONE { usize::MAX } else { t.statics.index(s.blocker) };
        let row = totals.entry((s.pipe, s.cause, t.statics.index(s.record), blocker)).or_default();
        row.0 += s.cycles;
        row.1 += 1;
    }
    totals.sort_by(|a, x, b, y| y.0.cmp(&x.0).then(a.cmp(b)));
    let head = ["cycles", "count", "pipe", "cause", "held back", "at", "waited for"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (&(pipe, cause, held, blocker), &(cycles, count)) in totals.iter().take(ROWS) {
        let items = t.statics.items();
        let name = |i: usize| items.get(i).map_or(String::new(), |s| s.name.clone());
        rows.push(vec![
            cycles.to_string(),
            count.to_string(),
            pipe.short().to_string(),
            cause.name().to_string(),
            name(held),
            items.get(held).map_or(String::new(), |s| s.code.clone()),
            items.get(blocker).map_or(String::new(), |s| format!("{} {}", s.name, s.code)),
        ]);
    }
    let more = totals.len().saturating_sub(ROWS);
    let mut out = String::new();
    table(&mut out, &[2, 3, 4, 5, 6], &rows);
    and_more(&mut out, more);
    out
}

/// Conflicts by instruction, with the shift that parts the operands.
fn banks(t: &Trace) -> String {
    let all = conflicts(t);
    if all.is_empty() {
        return "none\n".to_string();
    }
    let head =
        ["cycles", "of busy", "count", "repeats", "instruction", "at", "meet in groups", "remedy"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for c in all.iter().take(ROWS) {
        let Some(s) = t.statics.items().get(c.index) else { continue };
        rows.push(vec![
            c.cycles.to_string(),
            c.busy.to_string(),
            format!("{}/{}", c.hit, c.count),
            c.repeats.to_string(),
            s.label(),
            s.code.clone(),
            meetings(c),
            remedy(c),
        ]);
    }
    let mut out = String::new();
    table(&mut out, &[4, 5, 6, 7], &rows);
    and_more(&mut out, all.len().saturating_sub(ROWS));
    out
}

/// Operand names: 0 is the destination.
pub(crate) fn operand(n: usize) -> &'static str {
    ["dst", "src0", "src1"].get(n).copied().unwrap_or("?")
}

pub(crate) fn meetings(c: &Conflict) -> String {
    let one = |(a, b, groups): &(usize, usize, Vec<u64>)| {
        let list = if groups.len() == 16 {
            "all".to_string()
        } else {
            groups.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
        };
        let with = if a == b { "itself" } else { operand(*b) };
        format!("{}/{with} {list}", operand(*a))
    };
    let all: Vec<String> = c.meet.iter().map(one).collect();
    if all.is_empty() { "later repeats only".into() } else { all.join("; ") }
}

pub(crate) fn remedy(c: &Conflict) -> String {
    let Some(r) = &c.remedy else { return "no shift helps".into() };
    let names: Vec<&str> = r.operands.iter().map(|&n| operand(n)).collect();
    format!("{} +{} B: {} -> {} cycles", names.join(" and "), r.shift, r.before, r.after)
}

/// The chain of waits that makes the run as long as it is.
fn critical(t: &Trace) -> String {
    let path = critical_path(t);
    let mut out = String::new();
    let mut by: IndexMap<(Edge, usize), (u64, u64)> = IndexMap::new();
    for s in &path {
        let row =
            by.entry((s.edge, s.record.map_or(usize::MAX, |r| t.statics.index(r)))).or_default();
        row.0 += s.cycles();
        row.1 += 1;
    }
    by.sort_by(|a, x, b, y| y.0.cmp(&x.0).then(a.cmp(b)));
    let head = ["cycles", "share", "steps", "behind", "what", "at"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (&(edge, index), &(cycles, steps)) in by.iter().take(ROWS) {
        let (what, at) = named(t, index, edge);
        let share = percent(cycles, t.timeline.cycles);
        let edge = edge.name().to_string();
        rows.push(vec![cycles.to_string(), share, steps.to_string(), edge, what, at]);
    }
    table(&mut out, &[3, 4, 5], &rows);
    and_more(&mut out, by.len().saturating_sub(ROWS));
    out.push_str("\nIn order of time:\n");
    let rows: Vec<Vec<String>> = path.iter().take(STEPS).map(|s| step(t, s)).collect();
    table(&mut out, &[3, 4, 5], &rows);
    and_more(&mut out, path.len().saturating_sub(STEPS));
    out
}

pub(crate) fn named(t: &Trace, index: usize, edge: Edge) -> (String, String) {
    match t.statics.items().get(index) {
        Some(s) => (s.label(), s.code.clone()),
        None if edge == Edge::Result => ("end of the run".into(), String::new()),
        None => ("S hands over".into(), String::new()),
    }
}

fn step(t: &Trace, s: &Step) -> Vec<String> {
    let index = s.record.map_or(usize::MAX, |r| t.statics.index(r));
    let (what, at) = named(t, index, s.edge);
    let span = format!("{}..{}", s.from, s.to);
    vec![
        s.cycles().to_string(),
        span,
        s.record.map_or(String::new(), |r| format!("#{r}")),
        s.edge.name().into(),
        what,
        at,
    ]
}

/// Changes at the top of the list of what to do.
const CHANGES: usize = 3;

/// The first things to change, each timed.
fn changes(t: &Trace) -> String {
    let Some(all) = advice(t) else {
        return format!("not tried: the run has more than {LONGEST} records\n");
    };
    let mut rows = vec![["saved", "share", "change", "at"].map(String::from).to_vec()];
    for a in all.iter().take(CHANGES) {
        let Some(s) = t.statics.items().get(a.index) else { continue };
        let what = a.words(&s.name);
        let share = percent(a.saved, t.timeline.cycles);
        rows.push(vec![a.saved.to_string(), share, what, a.place(t).to_string()]);
    }
    if rows.len() == 1 {
        return "nothing that was tried makes the run shorter\n".into();
    }
    let mut out = String::new();
    table(&mut out, &[2, 3], &rows);
    out
}

/// What the cycles rest on.
fn figures(t: &Trace) -> String {
    let p = account::provenance(t.stream, t.target, t.timeline);
    let mut figures: Vec<(&String, &u64)> = p.figures.iter().collect();
    figures.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let mut out = String::new();
    let shares: Vec<String> =
        Conf::ALL.map(|c| format!("{} {:.1}%", c.name(), 100.0 * p.share(c))).to_vec();
    out.push_str(&format!("{}\n", shares.join(", ")));
    let mut rows = Vec::new();
    for (path, cycles) in figures.iter().take(ROWS) {
        let conf = t.target.get(path).map_or(Conf::Assumed, |f| f.conf).name().to_string();
        let share = percent(**cycles, t.timeline.cycles);
        rows.push(vec![cycles.to_string(), share, path.to_string(), conf]);
    }
    table(&mut out, &[2, 3], &rows);
    and_more(&mut out, figures.len().saturating_sub(ROWS));
    out
}

fn timeline(t: &Trace) -> String {
    let mut out = String::new();
    lines::draw(&mut out, t);
    out
}
