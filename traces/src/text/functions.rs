//! What happens inside vector functions: instructions, ports, a drawn timeline.

use super::table::{percent, table};
use super::{and_more, lines};
use crate::events::{Event, Trace};
use crate::vf::{Function, PortUse, ports};
use indexmap::IndexMap;
use ptoemu_core::stream::SiteId;
use ptoemu_core::time::vf::{Cause, VfRecord};

/// Functions of the program whose ports are shown.
const FUNCTIONS: usize = 8;
/// Rows of the table of instructions.
const ROWS: usize = 20;
/// Rows drawn.
const DRAWN: usize = 40;

/// Launches of one function of the program.
#[derive(Default)]
struct Site {
    launches: u64,
    cycles: u64,
    active: u64,
    instructions: u64,
    folded: u64,
    missing: u64,
    /// First launch.
    first: Option<Event>,
    /// How often each function was launched here.
    links: IndexMap<u32, u64>,
}

/// The whole section.
pub(super) fn section(t: &Trace) -> String {
    let sites = sites(t);
    if sites.is_empty() {
        return "none is shown\n".into();
    }
    let mut out = overview(t, &sites);
    out.push_str("\nInstructions inside, by the cycles they waited from dispatch to start:\n");
    out.push_str(&instructions(t));
    for (&index, site) in sites.iter().take(FUNCTIONS) {
        out.push_str(&format!("\nPorts of {}\n", place(t, index, None)));
        out.push_str(&pressure(t, site));
    }
    if sites.len() > FUNCTIONS {
        out.push_str(&format!("\n{} more functions\n", sites.len() - FUNCTIONS));
    }
    if let Some((&index, first)) = sites.iter().find_map(|(i, s)| Some((i, s.first?))) {
        out.push_str(&format!("\nTimeline of {}, first launch shown\n", place(t, index, None)));
        out.push_str(&drawn(t, &first));
    }
    out
}

/// Functions by the cycles of their launches, most first.
fn sites(t: &Trace) -> IndexMap<usize, Site> {
    let mut all: IndexMap<usize, Site> = IndexMap::new();
    for e in t.launches() {
        let (Some(f), Some((r, _))) = (t.function(&e), t.record(e.record)) else { continue };
        let s = all.entry(t.statics.index(e.record)).or_default();
        s.launches += 1;
        s.cycles += f.cycles();
        s.active += f.active();
        s.instructions += f.instructions();
        s.folded += f.folded();
        s.missing += f.instructions() - f.shown();
        s.first.get_or_insert(e);
        *s.links.entry(r.link).or_default() += 1;
    }
    all.sort_by(|a, x, b, y| y.cycles.cmp(&x.cycles).then(a.cmp(b)));
    all
}

/// A function, or an instruction of it that has a line of its own.
fn place(t: &Trace, index: usize, site: Option<SiteId>) -> String {
    let Some(s) = t.statics.items().get(index) else { return String::new() };
    let code = t.statics.inner_code(index, site);
    format!("{} at {code}", s.tile_op.unwrap_or("the vecscope"))
}

fn overview(t: &Trace, sites: &IndexMap<usize, Site>) -> String {
    let head = ["cycles", "share", "launches", "active", "instructions", "a cycle", "function"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (&index, s) in sites.iter().take(ROWS) {
        rows.push(vec![
            s.cycles.to_string(),
            percent(s.cycles, t.timeline.cycles),
            s.launches.to_string(),
            s.active.to_string(),
            s.instructions.to_string(),
            format!("{:.2}", s.instructions as f64 / s.cycles.max(1) as f64),
            place(t, index, None),
        ]);
    }
    let mut out = String::new();
    table(&mut out, &[6], &rows);
    and_more(&mut out, sites.len().saturating_sub(ROWS));
    let sum = |of: fn(&Site) -> u64| sites.values().map(of).sum::<u64>();
    let (all, folded, missing) = (sum(|s| s.instructions), sum(|s| s.folded), sum(|s| s.missing));
    out.push_str(&format!("{all} instructions inside"));
    if folded > 0 {
        out.push_str(&format!(
            "; {folded} of them are in loop rounds that repeat those before them to the cycle, and \
             are unfolded from these"
        ));
    }
    if missing > 0 {
        out.push_str(&format!("; the last {missing} are too many to keep and are not shown"));
    }
    out.push('\n');
    out
}

/// Instructions inside functions by the cycles they waited.
fn instructions(t: &Trace) -> String {
    struct Row {
        count: u64,
        waited: u64,
        causes: [u64; Cause::ALL.len()],
        longest: u64,
    }
    type Named = (Row, String, Option<SiteId>);
    let mut totals: IndexMap<(usize, u32), Named> = IndexMap::new();
    for e in t.launches() {
        let Some(all) = t.micros(&e) else { continue };
        let (f, index) = (all.function, t.statics.index(e.record));
        for r in all {
            let (row, ..) = totals.entry((index, r.inst)).or_insert_with(|| {
                let i = f.inst(&r);
                let name = i.map_or(String::new(), |i| format!("{} {}", i.name, i.detail));
                let row = Row { count: 0, waited: 0, causes: [0; Cause::ALL.len()], longest: 0 };
                (row, name, i.and_then(|i| i.site))
            });
            let waited = r.issue - r.dispatch;
            row.count += 1;
            row.waited += waited;
            row.longest = row.longest.max(waited);
            row.causes.iter_mut().zip(&r.waits).for_each(|(sum, w)| *sum += w);
        }
    }
    totals.sort_by(|a, (x, ..), b, (y, ..)| y.waited.cmp(&x.waited).then(a.cmp(b)));
    let head = ["waited", "count", "mean", "longest", "mostly for", "in", "instruction"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (&(index, _), (r, name, site)) in totals.iter().take(ROWS) {
        let most = Cause::ALL.iter().max_by_key(|c| (r.causes[**c as usize], -(**c as i32)));
        rows.push(vec![
            r.waited.to_string(),
            r.count.to_string(),
            format!("{:.1}", r.waited as f64 / r.count.max(1) as f64),
            r.longest.to_string(),
            most.map_or("", |c| c.name()).to_string(),
            place(t, index, *site),
            name.clone(),
        ]);
    }
    let mut out = String::new();
    table(&mut out, &[4, 5, 6], &rows);
    and_more(&mut out, totals.len().saturating_sub(ROWS));
    out
}

/// Busy cycles and causes of every port; each row adds up to the cycles of the launches.
fn pressure(t: &Trace, site: &Site) -> String {
    let mut sum: Vec<PortUse> = Vec::new();
    for (&link, &times) in &site.links {
        let Some(f) = t.functions.get(link) else { continue };
        for (n, p) in ports(f, t.target).into_iter().enumerate() {
            match sum.get_mut(n) {
                Some(s) => s.add(&p, times),
                None => sum.push(p.times(times)),
            }
        }
    }
    let used = |c: &Cause| sum.iter().any(|p| p.causes[*c as usize] > 0);
    let causes: Vec<Cause> = Cause::ALL.into_iter().filter(used).collect();
    let mut head: Vec<String> = ["port", "busy", "busy%"].map(String::from).to_vec();
    head.extend(causes.iter().map(|c| c.name().to_string()));
    head.extend(["not reached", "rest"].map(String::from));
    let unknown = sum.iter().any(|p| p.unknown > 0);
    if unknown {
        head.push("not kept".into());
    }
    head.push("total".into());
    let mut rows = vec![head];
    for p in sum.iter().filter(|p| p.busy > 0) {
        let mut row = vec![p.name.clone(), p.busy.to_string(), percent(p.busy, p.total())];
        row.extend(causes.iter().map(|c| p.causes[*c as usize].to_string()));
        row.extend([p.front.to_string(), p.rest.to_string()]);
        if unknown {
            row.push(p.unknown.to_string());
        }
        row.push(p.total().to_string());
        rows.push(row);
    }
    let mut out = String::new();
    table(&mut out, &[0], &rows);
    out
}

const LEGEND: &str = "l launch, a loop start or re-arm, n no room in this cycle, r no register, c no credit, \
- on its way, o waits for an operand, q for its queue, p for its port, b for a memory barrier, \
s for an older store, x executes (X its last cycle)";

/// The first instructions of a launch, a row each.
fn drawn(t: &Trace, e: &Event) -> String {
    let Some(all) = t.micros(e) else { return String::new() };
    let f = all.function;
    let list: Vec<VfRecord> = all.take(DRAWN).collect();
    let (Some(first), Some(last)) =
        (list.iter().map(|r| r.head).min(), list.iter().map(|r| r.done).max())
    else {
        return "no instruction\n".into();
    };
    let grid = lines::Grid::new(first, last);
    let mut out = grid.describe();
    out.push_str(&format!("{LEGEND}\n\n"));
    grid.ruler(&mut out);
    for r in &list {
        let mut row = grid.row();
        for s in f.stretches(r) {
            grid.fill(&mut row, s.start..s.end, letter(s.cause));
        }
        grid.fill(&mut row, r.issue..r.done, b'x');
        grid.fill(&mut row, r.done.saturating_sub(1).max(r.issue)..r.done, b'X');
        let cells = String::from_utf8_lossy(&row).into_owned();
        out.push_str(format!("{:>6} {cells} {}", r.seq, named(t, f, r)).trim_end());
        out.push('\n');
    }
    out
}

fn named(t: &Trace, f: &Function, r: &VfRecord) -> String {
    let Some(i) = f.inst(r) else { return String::new() };
    match i.site.and_then(|s| t.statics.place(s)) {
        Some(code) => format!("{} {} at {code}", i.name, i.detail),
        None => format!("{} {}", i.name, i.detail),
    }
}

fn letter(c: Cause) -> u8 {
    match c {
        Cause::Launch => b'l',
        Cause::Rearm => b'a',
        Cause::Width => b'n',
        Cause::Register => b'r',
        Cause::Credit => b'c',
        Cause::Stage => b'-',
        Cause::Operand => b'o',
        Cause::Queue => b'q',
        Cause::Port => b'p',
        Cause::Bar => b'b',
        Cause::Order => b's',
    }
}
