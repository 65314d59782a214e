//! Tables of one target: what to change, stalls, instructions, conflicts, the path, figures.

use super::ops::place;
use super::strip::colour;
use crate::advice::{LONGEST, advice};
use crate::banks::conflicts;
use crate::critical::{Edge, critical_path};
use crate::events::Trace;
use crate::page::plot::{self, Axis, Bar};
use crate::page::{Cell, Column, Page, Table, escape};
use crate::profile::Profile;
use indexmap::IndexMap;
use ptoemu_core::stream::{NONE, Pipe};
use ptoemu_core::target::Conf;
use ptoemu_core::time::{Cause, account};

/// Rows of a table; the files hold all.
const ROWS: usize = 200;

/// What to change first.
pub(super) fn changes(page: &mut Page, id: usize, t: &Trace) {
    let Some(all) = advice(t) else {
        page.text(&format!("Not tried: the run has more than {LONGEST} records."));
        return;
    };
    if all.is_empty() {
        page.text("Nothing that was tried makes the run shorter.");
        return;
    }
    page.note(
        "Each change was tried by timing the run again; together they need not save the sum.",
    );
    let columns = [
        Column::number("saved"),
        Column::number("of the run"),
        Column::text("change"),
        Column::text("at"),
    ];
    let mut table = Table::new(&format!("changes-{id}"), columns);
    for a in &all {
        let Some(s) = t.statics.items().get(a.index) else { continue };
        let share = a.saved as f64 / t.timeline.cycles.max(1) as f64;
        table.row([
            Cell::count(a.saved),
            Cell::share(share),
            Cell::text(&a.words(&s.name)),
            place(a.place(t)),
        ]);
    }
    page.table(&table);
}

/// Busy and stalled cycles by pipe.
pub(super) fn stalls(page: &mut Page, id: usize, t: &Trace, p: &Profile) {
    let used: Vec<Cause> = Cause::ALL
        .into_iter()
        .filter(|c| p.pipes.values().any(|pipe| pipe.stalls.contains_key(c.name())))
        .collect();
    let mut keys = vec![("busy", 0)];
    keys.extend(used.iter().map(|c| (c.name(), colour(*c))));
    let stalled =
        |pipe: &crate::profile::PipeSum, c: &Cause| pipe.stalls.get(c.name()).copied().unwrap_or(0);
    let bars: Vec<Bar> = p
        .pipes
        .iter()
        .map(|(name, pipe)| {
            let causes = used.iter().map(|c| stalled(pipe, c) as f64);
            Bar {
                label: name.clone(),
                parts: std::iter::once(pipe.busy as f64).chain(causes).collect(),
            }
        })
        .collect();
    page.figure(&plot::coloured("Cycles of each pipe", &Axis::new("cycles"), &keys, &bars), "");
    let mut columns = vec![
        Column::text("pipe"),
        Column::number("records"),
        Column::number("busy"),
        Column::number("share"),
    ];
    columns.extend(used.iter().map(|c| Column::number(c.name())));
    columns.push(Column::number("total"));
    let mut table = Table::new(&format!("pipes-{id}"), columns);
    for (name, pipe) in &p.pipes {
        let share = pipe.busy as f64 / p.cycles.max(1) as f64;
        let mut cells = vec![
            Cell::text(name),
            Cell::count(pipe.records),
            Cell::count(pipe.busy),
            Cell::share(share),
        ];
        cells.extend(used.iter().map(|c| Cell::count(stalled(pipe, c))));
        cells.push(Cell::count(pipe.busy + pipe.stalls.values().sum::<u64>()));
        table.row(cells);
    }
    page.table(&table);
    page.heading("Who was held back by whom");
    held(page, id, t);
}

/// Pipe, cause, what was held back and what it waited for.
type Held = (Pipe, Cause, usize, usize);

fn held(page: &mut Page, id: usize, t: &Trace) {
    let mut totals: IndexMap<Held, (u64, u64, u32)> = IndexMap::new();
    for s in t.timeline.stalls.iter().filter(|s| t.selection.position(s.record).is_some()) {
        let blocker = if s.blocker == NONE { usize::MAX } else { t.statics.index(s.blocker) };
        let key = (s.pipe, s.cause, t.statics.index(s.record), blocker);
        let row = totals.entry(key).or_insert((0, 0, s.record));
        (row.0, row.1) = (row.0 + s.cycles, row.1 + 1);
    }
    totals.sort_by(|a, x, b, y| y.0.cmp(&x.0).then(a.cmp(b)));
    let columns = [
        Column::number("cycles"),
        Column::number("times"),
        Column::text("pipe"),
        Column::text("cause"),
        Column::text("held back"),
        Column::text("at"),
        Column::text("waited for"),
        Column::text("at"),
    ];
    let mut table = Table::new(&format!("held-{id}"), columns);
    let name = |i: usize| t.statics.items().get(i).map_or("", |s| s.name.as_str());
    let code = |i: usize| t.statics.items().get(i).map_or("", |s| s.code.as_str());
    for (&(pipe, cause, held, blocker), &(cycles, times, record)) in totals.iter().take(ROWS) {
        table.row([
            Cell::count(cycles),
            Cell::count(times),
            Cell::text(pipe.short()),
            Cell::text(cause.name()),
            show(name(held), record),
            place(code(held)),
            Cell::text(name(blocker)),
            place(code(blocker)),
        ]);
    }
    rest(&mut table, totals.len());
    page.table(&table);
}

/// The name of an instruction, as a link that shows one of its records in the timeline.
fn show(name: &str, record: u32) -> Cell {
    let name = escape(name);
    Cell::html(
        format!("<a href=\"#timeline\" data-record=\"{record}\"><code>{name}</code></a>"),
        None,
    )
}

fn rest(table: &mut Table, all: usize) {
    if all > ROWS {
        table.rest(&format!("The {ROWS} largest of {all}; the csv files hold all."));
    }
}

/// Sums of an instruction of the program.
#[derive(Default)]
struct Instruction {
    count: u64,
    repeats: u64,
    busy: u64,
    conflict: u64,
    wait: u64,
    first: u32,
    lane: &'static str,
}

fn totals(t: &Trace) -> IndexMap<usize, Instruction> {
    let mut totals: IndexMap<usize, Instruction> = IndexMap::new();
    for e in t.events() {
        let Some((r, entry)) = t.record(e.record) else { continue };
        let new = || Instruction { first: e.record, lane: e.lane.name(), ..Instruction::default() };
        let row = totals.entry(t.statics.index(e.record)).or_insert_with(new);
        row.count += 1;
        row.repeats += u64::from(r.repeats);
        row.busy += u64::from(entry.busy);
        row.conflict += u64::from(entry.conflict);
        row.wait += u64::from(entry.wait);
    }
    totals.sort_by(|a, x, b, y| y.busy.cmp(&x.busy).then(a.cmp(b)));
    totals
}

/// Instructions of the program, those that hold their pipe longest first.
pub(super) fn instructions(page: &mut Page, id: usize, t: &Trace) {
    let totals = totals(t);
    let columns = [
        Column::text("instruction"),
        Column::text("pipe"),
        Column::number("busy"),
        Column::number("of the run"),
        Column::number("count"),
        Column::number("repeats"),
        Column::number("conflict"),
        Column::number("waited"),
        Column::text("at"),
        Column::text("tile op"),
    ];
    let mut table = Table::new(&format!("instructions-{id}"), columns);
    for (&index, r) in totals.iter().take(ROWS) {
        let Some(s) = t.statics.items().get(index) else { continue };
        table.row([
            show(&s.label(), r.first),
            Cell::text(r.lane),
            Cell::count(r.busy),
            Cell::share(r.busy as f64 / t.timeline.cycles.max(1) as f64),
            Cell::count(r.count),
            Cell::count(r.repeats),
            Cell::count(r.conflict),
            Cell::count(r.wait),
            place(&s.code),
            Cell::text(s.tile_op.unwrap_or("")),
        ]);
    }
    rest(&mut table, totals.len());
    page.table(&table);
}

/// Bank conflicts by instruction, with the groups in which operands meet.
pub(super) fn banks(page: &mut Page, id: usize, t: &Trace) {
    let all = conflicts(t);
    page.heading("Bank conflicts");
    if all.is_empty() {
        page.text("None.");
        return;
    }
    let groups = t.target.value("ub.bank_groups").map_or(1, |v| v as u64).clamp(1, 64);
    let columns = [
        Column::number("cycles"),
        Column::number("of busy"),
        Column::text("instruction"),
        Column::text("at"),
        Column::text("meet"),
        Column::text("bank groups of the first repeat"),
        Column::text("remedy"),
    ];
    let mut table = Table::new(&format!("banks-{id}"), columns);
    for c in all.iter().take(ROWS) {
        let Some(s) = t.statics.items().get(c.index) else { continue };
        let met: Vec<u64> = c.meet.iter().flat_map(|m| m.2.iter().copied()).collect();
        table.row([
            Cell::count(c.cycles),
            Cell::count(c.busy),
            show(&s.label(), s.first),
            place(&s.code),
            Cell::text(&crate::text::meetings(c)),
            Cell::html(squares(groups, &met), None),
            Cell::text(&crate::text::remedy(c)),
        ]);
    }
    rest(&mut table, all.len());
    page.table(&table);
}

/// A square a bank group; those in which operands meet are filled.
fn squares(groups: u64, met: &[u64]) -> String {
    let mut list: Vec<u64> = met.to_vec();
    list.sort_unstable();
    list.dedup();
    let names: Vec<String> = list.iter().map(u64::to_string).collect();
    let mut out =
        format!("<span class=\"groups\" role=\"img\" aria-label=\"groups {}\">", names.join(", "));
    for g in 0..groups {
        let on = if list.contains(&g) { " class=\"on\"" } else { "" };
        out.push_str(&format!("<i{on} title=\"group {g}\"></i>"));
    }
    out.push_str("</span>");
    out
}

/// The chain of waits that makes the run as long as it is.
pub(super) fn path(page: &mut Page, id: usize, t: &Trace) {
    let path = critical_path(t);
    page.note(
        "The chain of waits from the end of the run back to its start. Its steps add up to the \
         cycles of the run; what is not on it can be made faster without any gain.",
    );
    let mut by: IndexMap<(Edge, usize), (u64, u64, Option<u32>)> = IndexMap::new();
    for s in &path {
        let index = s.record.map_or(usize::MAX, |r| t.statics.index(r));
        let row = by.entry((s.edge, index)).or_insert((0, 0, s.record));
        (row.0, row.1) = (row.0 + s.cycles(), row.1 + 1);
    }
    by.sort_by(|a, x, b, y| y.0.cmp(&x.0).then(a.cmp(b)));
    let columns = [
        Column::number("cycles"),
        Column::number("of the run"),
        Column::number("steps"),
        Column::text("behind"),
        Column::text("what"),
        Column::text("at"),
    ];
    let mut table = Table::new(&format!("path-{id}"), columns);
    for (&(edge, index), &(cycles, steps, record)) in by.iter().take(ROWS) {
        let (what, at) = crate::text::named(t, index, edge);
        table.row([
            Cell::count(cycles),
            Cell::share(cycles as f64 / t.timeline.cycles.max(1) as f64),
            Cell::count(steps),
            Cell::text(edge.name()),
            record.map_or_else(|| Cell::text(&what), |r| show(&what, r)),
            place(&at),
        ]);
    }
    rest(&mut table, by.len());
    page.table(&table);
}

/// What the cycles rest on.
pub(super) fn figures(page: &mut Page, id: usize, t: &Trace) {
    let p = account::provenance(t.stream, t.target, t.timeline);
    let shares = Conf::ALL.map(|c| p.share(c) * 100.0);
    let names = Conf::ALL.map(Conf::name);
    let bar = Bar { label: t.target.name.clone(), parts: shares.to_vec() };
    page.figure(
        &plot::bars(
            "How well the figures behind the cycles are known",
            &Axis::new("% of the cycles"),
            &names,
            &[bar],
        ),
        "Measured: read off silicon or the vendor's cycle-accurate model. Derived: fitted to \
         measured cases. Documented: stated by the vendor. Assumed: nobody says.",
    );
    let mut figures: Vec<(&String, &u64)> = p.figures.iter().collect();
    figures.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let columns = [
        Column::text("figure"),
        Column::number("value"),
        Column::text("unit"),
        Column::text("known"),
        Column::text("source"),
        Column::number("cycles"),
        Column::number("of the run"),
    ];
    let mut table = Table::new(&format!("figures-{id}"), columns);
    for (path, cycles) in figures.iter().take(ROWS) {
        let figure = t.target.get(path).ok();
        table.row([
            Cell::code(path),
            figure
                .map_or_else(|| Cell::text(""), |f| Cell::html(f.value.to_string(), Some(f.value))),
            Cell::text(figure.map_or("", |f| f.unit)),
            Cell::text(figure.map_or(Conf::Assumed, |f| f.conf).name()),
            Cell::text(figure.map_or("", |f| &f.src)),
            Cell::count(**cycles),
            Cell::share(**cycles as f64 / t.timeline.cycles.max(1) as f64),
        ]);
    }
    rest(&mut table, figures.len());
    page.table(&table);
}
