//! Inside the vector functions of the 950: what their ports did, and the stages of their first
//! instructions.

use super::ops::place;
use crate::events::{Event, Trace};
use crate::page::plot::{self, Axis, Bar, Stretch};
use crate::page::{Cell, Column, Page, Table};
use crate::vf::{Function, PortUse, ports};
use indexmap::IndexMap;
use ptoemu_core::time::vf::Cause;

/// Functions shown in full.
const FUNCTIONS: usize = 6;
/// Instructions drawn of each.
const DRAWN: u64 = 48;
/// Rows of the table of functions.
const ROWS: usize = 200;

/// Launches of one function of the program.
struct Site {
    launches: u64,
    cycles: u64,
    instructions: u64,
    first: Event,
    ports: Vec<PortUse>,
}

/// Colour of a cause; 8 is what every instruction pays.
const fn colour(c: Cause) -> u8 {
    match c {
        Cause::Operand => 1,
        Cause::Queue => 2,
        Cause::Rearm => 3,
        Cause::Port => 4,
        Cause::Bar | Cause::Order => 5,
        Cause::Register | Cause::Credit => 6,
        Cause::Width => 7,
        Cause::Launch | Cause::Stage => 8,
    }
}

/// The section of one target; nothing if the run launches no function.
pub(super) fn section(page: &mut Page, id: usize, t: &Trace) {
    let sites = sites(t);
    if sites.is_empty() {
        page.text("The run launches no vector function.");
        return;
    }
    table(page, id, t, &sites);
    if let Some(remark) = t.remark() {
        page.note(&format!("{remark}. Ports count them as \"nothing for it\"."));
    }
    for (&index, site) in sites.iter().take(FUNCTIONS) {
        let Some(s) = t.statics.items().get(index) else { continue };
        let name = s.tile_op.unwrap_or("vecscope");
        let line = super::data::line(&s.code);
        page.heading(&format!("{name}, line {line}"));
        page.figure(&pressure(name, &site.ports), "");
        if let Some(f) = t.function(&site.first) {
            page.figure(&stages(t, name, f), "");
        }
    }
    if sites.len() > FUNCTIONS {
        page.note(&format!("{} more functions are only in the table.", sites.len() - FUNCTIONS));
    }
}

/// Functions by the cycles of their launches, most first.
fn sites(t: &Trace) -> IndexMap<usize, Site> {
    let mut all: IndexMap<usize, Site> = IndexMap::new();
    let mut known: IndexMap<u32, Vec<PortUse>> = IndexMap::new();
    for e in t.launches() {
        let (Some(f), Some((r, _))) = (t.function(&e), t.record(e.record)) else { continue };
        let account = known.entry(r.link).or_insert_with(|| ports(f, t.target));
        let s = all.entry(t.statics.index(e.record)).or_insert(Site {
            launches: 0,
            cycles: 0,
            instructions: 0,
            first: e,
            ports: account.iter().map(|p| p.times(0)).collect(),
        });
        s.launches += 1;
        s.cycles += f.cycles();
        s.instructions += f.instructions();
        s.ports.iter_mut().zip(account).for_each(|(sum, p)| sum.add(p, 1));
    }
    all.sort_by(|a, x, b, y| y.cycles.cmp(&x.cycles).then(a.cmp(b)));
    all
}

fn table(page: &mut Page, id: usize, t: &Trace, sites: &IndexMap<usize, Site>) {
    let columns = [
        Column::text("function of"),
        Column::text("at"),
        Column::number("launches"),
        Column::number("cycles"),
        Column::number("of the run"),
        Column::number("instructions"),
        Column::number("instructions/cycle"),
    ];
    let mut table = Table::new(&format!("functions-{id}"), columns);
    for (&index, site) in sites.iter().take(ROWS) {
        let Some(s) = t.statics.items().get(index) else { continue };
        table.row([
            Cell::text(s.tile_op.unwrap_or("vecscope")),
            place(&s.code),
            Cell::count(site.launches),
            Cell::count(site.cycles),
            Cell::share(site.cycles as f64 / t.timeline.cycles.max(1) as f64),
            Cell::count(site.instructions),
            Cell::number(site.instructions as f64 / site.cycles.max(1) as f64, 2),
        ]);
    }
    page.table(&table);
}

/// What the ports did in all launches.
fn pressure(name: &str, ports: &[PortUse]) -> plot::Plot {
    let used: Vec<Cause> = Cause::ALL
        .into_iter()
        .filter(|c| ports.iter().any(|p| p.causes[*c as usize] > 0))
        .collect();
    let mut keys = vec![("busy", 0)];
    keys.extend(used.iter().map(|c| (c.name(), colour(*c))));
    keys.push(("nothing for it", 8));
    let bars: Vec<Bar> = ports
        .iter()
        .map(|p| {
            let causes = used.iter().map(|c| p.causes[*c as usize] as f64);
            let rest = (p.front + p.rest + p.unknown) as f64;
            let parts = std::iter::once(p.busy as f64).chain(causes).chain([rest]).collect();
            Bar { label: p.name.clone(), parts }
        })
        .collect();
    plot::coloured(&format!("Ports of {name}"), &Axis::new("cycles"), &keys, &bars)
}

/// The first instructions from the front end to their result.
fn stages(t: &Trace, name: &str, f: &Function) -> plot::Plot {
    let shown = f.shown().min(DRAWN);
    let mut causes = [false; Cause::ALL.len()];
    let rows: Vec<(String, Vec<Stretch>)> = (0..shown)
        .map_while(|seq| f.get(seq))
        .map(|r| {
            let mut row: Vec<Stretch> = Vec::new();
            for s in f.stretches(&r) {
                causes[s.cause as usize] = true;
                let (from, to) = (s.start as f64, s.end as f64);
                let tip = format!("waits for {}", s.cause.name());
                row.push(Stretch { from, to, colour: colour(s.cause), thin: true, tip });
            }
            let (from, to) = (r.issue as f64, r.done as f64);
            row.push(Stretch { from, to, colour: 0, thin: false, tip: "executes".into() });
            let inst = f.inst(&r);
            let label = inst.map_or(String::new(), |i| i.mnemonic.clone());
            let line = match inst.and_then(|i| t.statics.place(i.site?)) {
                Some(code) => format!(":{}", super::data::line(code)),
                None => String::new(),
            };
            (format!("{} {label}{line}", r.seq), row)
        })
        .collect();
    let mut keys = vec![("executes", 0)];
    let used = Cause::ALL.into_iter().filter(|c| causes[*c as usize]);
    keys.extend(used.map(|c| (c.name(), colour(c))));
    let all = crate::page::grouped(f.instructions());
    let title = match shown == f.instructions() {
        true => format!("Instructions of {name}, one launch"),
        false => format!("The first {shown} of {all} instructions of {name}, one launch"),
    };
    plot::gantt(&title, &Axis::new("cycles from the launch"), &keys, &rows)
}
