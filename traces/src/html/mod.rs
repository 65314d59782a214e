//! One page about a run: summary, timeline, stalls, hot instructions, tile operations, the map of
//! the Unified Buffer, figures, program; several targets side by side.
//!
//! A page is bounded in size: runs of many records are drawn in buckets, long tables end early,
//! and both say so.

mod data;
mod functions;
mod ops;
mod source;
mod strip;
mod tables;
mod ub;

use crate::events::Trace;
use crate::page::{Cell, Column, Page, Table, grouped};
use crate::profile::Profile;
use ptoemu_core::check::Owner;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::target::Conf;
use ptoemu_core::time::account;
use std::io::{self, Write};
use std::sync::Arc;

const CSS: &str = include_str!("html.css");
const VIEW_JS: &str = include_str!("view.js");
const TIMELINE_JS: &str = include_str!("timeline.js");
const UB_JS: &str = include_str!("ub.js");

/// A program on one target: its cores.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The cores.
    pub traces: &'a [Trace<'a>],
    /// Where the tiles of each core lay in UB.
    pub tiles: &'a [&'a [Owner]],
    /// The program.
    pub sources: &'a [Arc<SourceFile>],
}

impl Run<'_> {
    /// The core that takes longest, the first of equals.
    fn slowest(&self) -> Option<&Trace<'_>> {
        let all = self.traces.iter().enumerate();
        all.max_by_key(|(i, t)| (t.timeline.cycles, std::cmp::Reverse(*i))).map(|(_, t)| t)
    }

    fn name(&self) -> &str {
        self.traces.first().map_or("", |t| t.target.name.as_str())
    }

    /// Tiles of a core.
    fn tiles_of(&self, t: &Trace) -> &[Owner] {
        let at = self.traces.iter().position(|o| o.core == t.core);
        at.and_then(|i| self.tiles.get(i)).copied().unwrap_or_default()
    }
}

/// Writes the page of a program on one target or several; `command` is what was typed.
pub fn write(runs: &[Run], command: &str, out: &mut dyn Write) -> io::Result<()> {
    let kernel = runs.iter().find_map(|r| r.traces.first()).map_or("kernel", |t| t.kernel);
    let names: Vec<&str> = runs.iter().map(Run::name).collect();
    let mut page = Page::new(&format!("{kernel} on {}", names.join(", ")));
    page.style(CSS);
    page.script(VIEW_JS);
    page.script(TIMELINE_JS);
    page.script(UB_JS);
    page.lead("Where the cycles went. The cycle is the only time that is kept.");
    let cores: Vec<&Trace> = runs.iter().filter_map(Run::slowest).collect();
    let profiles: Vec<Profile> = cores.iter().map(|t| Profile::of(t)).collect();
    if runs.len() > 1 {
        let choices: Vec<(String, String)> =
            names.iter().enumerate().map(|(i, n)| (i.to_string(), n.to_string())).collect();
        page.switch("target", "Target", &choices);
    }
    sections(&mut page, runs, &cores, &profiles).map_err(io::Error::other)?;
    if runs.len() > 1 {
        page.section("side", "Targets side by side");
        let named: Vec<(String, &Profile)> =
            names.iter().map(|n| n.to_string()).zip(&profiles).collect();
        ops::compare(&mut page, &named);
    }
    page.section("program", "Program");
    source::section(&mut page, runs);
    page.section("command", "Again");
    page.command(command);
    page.note(&format!("Written by ptoemu {}.", env!("CARGO_PKG_VERSION")));
    out.write_all(page.finish().as_bytes())
}

/// What stands once for every target: a title, and what writes it.
type Section = (&'static str, &'static str, fn(&mut Page, &View) -> serde_json::Result<()>);

/// One target of the page.
struct View<'a> {
    id: usize,
    run: &'a Run<'a>,
    core: &'a Trace<'a>,
    profile: &'a Profile,
}

fn sections(
    page: &mut Page,
    runs: &[Run],
    cores: &[&Trace],
    profiles: &[Profile],
) -> serde_json::Result<()> {
    let all: [Section; 9] = [
        ("summary", "Summary", summary),
        ("timeline", "Timeline", timeline),
        ("stalls", "Stalls", |p, v| {
            tables::stalls(p, v.id, v.core, v.profile);
            Ok(())
        }),
        ("instructions", "Instructions", |p, v| {
            tables::instructions(p, v.id, v.core);
            Ok(())
        }),
        ("ops", "Tile operations", |p, v| {
            ops::section(p, v.id, v.profile);
            Ok(())
        }),
        ("functions", "Inside vector functions", |p, v| {
            functions::section(p, v.id, v.core);
            Ok(())
        }),
        ("ub", "Unified Buffer", buffer),
        ("path", "Critical path", |p, v| {
            tables::path(p, v.id, v.core);
            Ok(())
        }),
        ("figures", "Figures", |p, v| {
            tables::figures(p, v.id, v.core);
            Ok(())
        }),
    ];
    for (anchor, title, write) in all {
        if anchor == "functions" && cores.iter().all(|t| t.functions.is_empty()) {
            continue;
        }
        page.section(anchor, title);
        for (id, ((run, core), profile)) in runs.iter().zip(cores).zip(profiles).enumerate() {
            page.view("target", &id.to_string());
            write(page, &View { id, run, core, profile })?;
            page.end_view();
        }
    }
    Ok(())
}

fn summary(page: &mut Page, v: &View) -> serde_json::Result<()> {
    let (t, p) = (v.core, v.profile);
    let busiest = p.pipes.iter().max_by_key(|(name, s)| (s.busy, *name == "VECTOR"));
    let share = |n: u64| format!("{:.1}%", 100.0 * n as f64 / p.cycles.max(1) as f64);
    let bound = busiest.filter(|(_, s)| s.busy > 0);
    let known = account::provenance(t.stream, t.target, t.timeline);
    page.facts(&[
        ("target", t.target.name.clone()),
        ("cycles", grouped(p.cycles)),
        ("time", format!("{:.3} us at {} MHz", t.clock.micros(p.cycles), t.clock.mhz())),
        ("records", grouped(t.stream.records.len() as u64)),
        ("busiest pipe", bound.map_or("none".into(), |(n, s)| format!("{n} {}", share(s.busy)))),
        ("on assumed figures", format!("{:.1}%", 100.0 * known.share(Conf::Assumed))),
    ]);
    for (what, value) in filters(t) {
        page.note(&format!("Shown: {what} {value}; pipes, path and figures are of the whole run."));
    }
    if let Some(remark) = t.remark() {
        page.note(&format!("Not everything is on this page: {remark}."));
    }
    if v.run.traces.len() > 1 {
        cores(page, v);
    }
    page.heading("What to change first");
    tables::changes(page, v.id, t);
    Ok(())
}

fn filters(t: &Trace) -> Vec<(&'static str, String)> {
    let window = t.filter.window.as_ref().map(|w| ("cycles", format!("{}..{}", w.start, w.end)));
    window.into_iter().chain(t.filter.op.clone().map(|op| ("operation", op))).collect()
}

/// Cycles of every core.
fn cores(page: &mut Page, v: &View) {
    page.text(&format!(
        "{} cores; the rest of this page is about {}, the slowest.",
        v.run.traces.len(),
        v.core.core_name()
    ));
    let columns = [
        Column::text("core"),
        Column::number("cycles"),
        Column::number("records"),
        Column::number("VECTOR busy"),
    ];
    let mut table = Table::new(&format!("cores-{}", v.id), columns);
    for t in v.run.traces {
        table.row([
            Cell::text(&t.core_name()),
            Cell::count(t.timeline.cycles),
            Cell::count(t.stream.records.len() as u64),
            Cell::count(t.timeline.pipe(ptoemu_core::stream::Pipe::V).busy),
        ]);
    }
    page.table(&table);
}

fn timeline(page: &mut Page, v: &View) -> serde_json::Result<()> {
    let id = format!("timeline-{}", v.id);
    page.note(&data::aggregated(v.core));
    page.data(&id, &data::drawn(v.core))?;
    page.html(&format!(
        "<div class=\"timeline\" data-source=\"{id}\" data-group=\"{}\"></div>\n",
        v.id
    ));
    Ok(())
}

fn buffer(page: &mut Page, v: &View) -> serde_json::Result<()> {
    let id = format!("ub-{}", v.id);
    page.note(
        "Bytes of UB read and written over the time of the timeline above; both zoom together.",
    );
    page.data(&id, &ub::map(v.core, v.run.tiles_of(v.core)))?;
    page.html(&format!("<div class=\"ub\" data-source=\"{id}\" data-group=\"{}\"></div>\n", v.id));
    tables::banks(page, v.id, v.core);
    Ok(())
}
