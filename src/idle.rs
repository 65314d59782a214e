//! Synchronisation of the program that orders nothing, and what it costs.
//!
//! A barrier, or a flag with its set, orders nothing if the program without it has no hazard more.
//! What it costs is the difference to the cycles of the program without it.

use crate::session::Ran;
use ptoemu_core::check::Finding;
use ptoemu_core::diag::{Diagnostic, Level, count};
use ptoemu_core::stream::{Kind, Marks, NONE, Pipe, Record, SiteId, Stream};
use ptoemu_core::target::Target;
use ptoemu_core::time::time;
use ptoemu_isa::hazards;
use serde::Serialize;
use std::collections::BTreeMap;

/// Most records looked at over all lines tried: each line costs a check and a timing.
const MOST: usize = 20_000_000;

/// Notes, one a source line.
pub fn notes(ran: &Ran, idle: &[Idle]) -> Vec<Diagnostic> {
    idle.iter().map(|i| i.note(ran)).collect()
}

/// A line whose synchronisation orders nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Idle {
    #[serde(skip)]
    site: u32,
    /// 1-based line.
    pub line: usize,
    /// Barrier or flag, in words.
    pub what: String,
    /// Times it was executed, on the first core.
    pub count: u32,
    /// Cycles the run is longer for it.
    pub cycles: u64,
}

/// Lines whose synchronisation orders nothing, most cycles first. None if the program has hazards:
/// they come first.
pub fn idle(ran: &Ran, target: &Target) -> Vec<Idle> {
    let streams: Vec<&Stream> = ran.outcome.blocks.iter().map(|b| &b.stream).collect();
    let hazards = |s: &Stream| hazards::check_of(target.family, s, 0, false).len();
    if streams.iter().any(|s| hazards(s) > 0) || ran.outcome.stop.is_some() {
        return Vec::new();
    }
    let Some(first) = streams.first() else { return Vec::new() };
    let sites = candidates(first);
    let records: usize = streams.iter().map(|s| s.records.len()).sum();
    let cycles = |s: &[Stream]| s.iter().map(|s| time(s, target).cycles).max().unwrap_or(0);
    let whole: Vec<Stream> = streams.iter().map(|s| (*s).clone()).collect();
    let all = cycles(&whole);
    let mut out = Vec::new();
    for (tried, (site, (count, what))) in sites.into_iter().enumerate() {
        if (tried + 1).saturating_mul(records) > MOST {
            break;
        }
        let less: Vec<Stream> = streams.iter().map(|s| s.without(&gone(s, site))).collect();
        if less.iter().any(|s| hazards(s) > 0) {
            continue;
        }
        let place = first.sites.items().get(site as usize);
        let line = place.map_or(0, |s| ran.program.source.line_col(s.span.start as usize).0);
        let cycles = all.saturating_sub(cycles(&less));
        out.push(Idle { site, line, what, count, cycles });
    }
    out.sort_by_key(|i| (std::cmp::Reverse(i.cycles), i.line));
    out
}

/// Barriers and waits written in the program with work behind them: how often each ran.
fn candidates(s: &Stream) -> BTreeMap<u32, (u32, String)> {
    let work = |r: &Record| !matches!(r.kind, Kind::Barrier | Kind::SetFlag | Kind::WaitFlag);
    let last = s.records.iter().rposition(work).unwrap_or(0);
    let mut out = BTreeMap::new();
    for (i, r) in s.records.iter().enumerate() {
        let written = r.group == NONE && !r.marks.has(Marks::AUTO) && r.site.0 != NONE;
        let what = match (r.kind, r.flag()) {
            (Kind::Barrier, _) => format!("pipe_barrier {}", r.pipe.name()),
            (Kind::WaitFlag, Some(f)) if (f.src as usize) < Pipe::ALL.len() && f.id < 8 => {
                format!("flag [{}, {}, EVENT_ID{}]", f.src.name(), f.dst.name(), f.id)
            }
            _ => continue,
        };
        if written && i < last {
            out.entry(r.site.0).or_insert((0, what)).0 += 1;
        }
    }
    out
}

/// The records of a line's synchronisation: its barriers, or its waits and their sets.
fn gone(s: &Stream, site: u32) -> Vec<bool> {
    let mut out = vec![false; s.records.len()];
    for (i, r) in s.records.iter().enumerate().filter(|(_, r)| r.site.0 == site) {
        if !matches!(r.kind, Kind::Barrier | Kind::WaitFlag) {
            continue;
        }
        out[i] = true;
        if let (Kind::WaitFlag, Some(set)) = (r.kind, out.get_mut(r.link as usize)) {
            *set = true;
        }
    }
    out
}

impl Idle {
    fn note(&self, ran: &Ran) -> Diagnostic {
        let message =
            format!("{} orders nothing here and costs {}", self.what, count(self.cycles, "cycle"));
        let mut d = Diagnostic::new("synccheck.idle", Level::Note, message);
        if self.count > 1 {
            d = d.note(format!("executed {} times", self.count));
        }
        let site = SiteId(self.site);
        let files = [ran.program.source.clone()];
        let stream = ran.outcome.blocks.first().map(|b| &b.stream);
        let shown = stream.map(|s| Finding::new(d.clone(), NONE, site).render(s, &files));
        shown.unwrap_or(d).help(
            "without it no two accesses lose their order in this run; other arguments may differ",
        )
    }
}
