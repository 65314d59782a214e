//! What a run says about itself: the JSON report and the one-screen summary.

use crate::golden::Comparison;
use crate::session::Ran;
use ptoemu_core::access::Space;
use ptoemu_core::catalogue::Catalogue;
use ptoemu_core::check::Finding;
use ptoemu_core::diag::{Diagnostic, Label, Level};
use ptoemu_core::stream::{Kind, Pipe, Stream};
use ptoemu_core::target::{Conf, Target};
use ptoemu_core::time::{Cause, Timeline, account};
use serde::Serialize;
use std::collections::BTreeMap;

/// Report of `run`.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// Target name.
    pub target: String,
    /// Entry function.
    pub entry: String,
    /// Cycles of the slowest block.
    pub cycles: u64,
    /// The same in microseconds at the target's clock.
    pub time_us: f64,
    /// Busy and stalled cycles of each pipe that ran something, slowest block.
    pub pipes: BTreeMap<String, PipeReport>,
    /// Records issued, all blocks.
    pub instructions: u64,
    /// Instructions by busy cycles, slowest block.
    pub top: Vec<InstrReport>,
    /// Findings of all blocks, then the fault that stopped the run, if one did.
    pub findings: Vec<FindingReport>,
    /// Notes about the program.
    pub notes: Vec<String>,
    /// Buffers after the run.
    pub outputs: Vec<OutputReport>,
    /// Golden comparisons.
    pub golden: Vec<Comparison>,
    /// Shares of the cycles that rest on figures of each confidence.
    pub provenance: Provenance,
}

/// One pipe: busy and stalled cycles add up to the cycles of the run.
#[derive(Debug, Default, Serialize)]
pub struct PipeReport {
    /// Cycles it worked.
    pub busy: u64,
    /// Share of the run it worked.
    pub share: f64,
    /// Records it ran.
    pub records: u64,
    /// Cycles it stood still, by cause.
    pub stalls: BTreeMap<&'static str, u64>,
}

/// One instruction at one element type.
#[derive(Debug, Serialize)]
pub struct InstrReport {
    /// Mnemonic.
    pub name: String,
    /// Element type.
    pub dtype: &'static str,
    /// Pipe.
    pub pipe: &'static str,
    /// Times issued.
    pub count: u64,
    /// Cycles on its pipe.
    pub busy: u64,
    /// Those that bank conflicts added.
    pub conflict: u64,
}

/// A finding.
#[derive(Debug, Serialize)]
pub struct FindingReport {
    /// Stable code.
    pub code: &'static str,
    /// `error`, `warning` or `note`.
    pub level: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub at: Option<PlaceReport>,
    /// The other end.
    pub other: Option<PlaceReport>,
    /// Bytes concerned.
    pub bytes: Option<BytesReport>,
    /// Facts.
    pub notes: Vec<String>,
    /// The way out.
    pub help: Option<String>,
    /// How often at this place.
    pub count: u32,
}

/// A place in a file.
#[derive(Debug, Serialize)]
pub struct PlaceReport {
    /// File name.
    pub file: String,
    /// 1-based line.
    pub line: usize,
    /// 1-based column.
    pub column: usize,
}

/// A byte range.
#[derive(Debug, Serialize)]
pub struct BytesReport {
    /// `ub` or `gm`.
    pub space: &'static str,
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// A buffer after the run.
#[derive(Debug, Serialize)]
pub struct OutputReport {
    /// Argument name.
    pub name: String,
    /// Element type.
    pub dtype: &'static str,
    /// Shape as far as known.
    pub shape: Vec<u64>,
    /// File it was written to.
    pub file: Option<String>,
}

/// Shares of the total cycles by confidence of the figures they rest on.
#[derive(Debug, Default, Serialize)]
pub struct Provenance {
    /// Read off silicon or the vendor's cycle-accurate model.
    pub measured: f64,
    /// Fitted to measured cases.
    pub derived: f64,
    /// Stated by the vendor.
    pub documented: f64,
    /// Nobody says.
    pub assumed: f64,
}

impl Provenance {
    /// Of a timed stream.
    pub fn of(stream: &Stream, target: &Target, t: &Timeline) -> Self {
        let p = account::provenance(stream, target, t);
        let [measured, derived, documented, assumed] = Conf::ALL.map(|c| p.share(c));
        Provenance { measured, derived, documented, assumed }
    }

    /// Name and share, best confidence first.
    pub fn shares(&self) -> [(&'static str, f64); 4] {
        let names = Conf::ALL.map(Conf::name);
        let values = [self.measured, self.derived, self.documented, self.assumed];
        std::array::from_fn(|i| (names[i], values[i]))
    }
}

/// Pipes that ran something.
pub fn pipes(t: &Timeline) -> BTreeMap<String, PipeReport> {
    let mut out = BTreeMap::new();
    for p in &Pipe::ALL[..7] {
        let totals = t.pipe(*p);
        if totals.records == 0 {
            continue;
        }
        let stalls = Cause::ALL
            .into_iter()
            .filter(|c| totals.stalled(*c) > 0)
            .map(|c| (c.name(), totals.stalled(c)))
            .collect();
        let share = if t.cycles == 0 { 0.0 } else { totals.busy as f64 / t.cycles as f64 };
        let report = PipeReport { busy: totals.busy, share, records: totals.records, stalls };
        out.insert(p.short().to_string(), report);
    }
    out
}

/// Instructions by busy cycles, most first; control records are left out.
pub fn instructions(stream: &Stream, t: &Timeline, catalogue: &Catalogue) -> Vec<InstrReport> {
    let shown = |k: Kind| {
        matches!(
            k,
            Kind::Vector
                | Kind::Function
                | Kind::Copy
                | Kind::Dma
                | Kind::ScalarLoad
                | Kind::ScalarStore
        )
    };
    let mut out: Vec<InstrReport> = account::instructions(stream, t)
        .into_iter()
        .filter_map(|o| {
            let entry = catalogue.get(o.op).filter(|e| shown(e.kind))?;
            Some(InstrReport {
                name: entry.mnemonic.to_string(),
                dtype: o.dtype.name(),
                pipe: o.pipe.short(),
                count: o.count,
                busy: o.busy,
                conflict: o.conflict,
            })
        })
        .collect();
    out.sort_by(|a, b| b.busy.cmp(&a.busy).then_with(|| a.name.cmp(&b.name)));
    out
}

/// Findings of a run with their places.
pub fn findings(ran: &Ran) -> Vec<FindingReport> {
    let files = ran.files();
    let mut out = Vec::new();
    for b in &ran.outcome.blocks {
        for f in &b.findings {
            out.push(finding(&f.render(&b.stream, &files), Some(f)));
        }
    }
    let remarks = ran.outcome.notes.iter().filter(|d| d.level > Level::Note);
    out.extend(remarks.chain(&ran.outcome.stop).map(|d| finding(d, None)));
    out
}

/// Notes about the program, in words.
pub fn notes(ran: &Ran) -> Vec<String> {
    let notes = ran.outcome.notes.iter().filter(|d| d.level == Level::Note);
    notes.map(|d| d.message.clone()).collect()
}

/// One finding.
pub fn finding(d: &Diagnostic, f: Option<&Finding>) -> FindingReport {
    let bytes = f.filter(|f| f.bytes.1 > f.bytes.0).map(|f| BytesReport {
        space: if f.space == Space::Ub { "ub" } else { "gm" },
        start: f.bytes.0,
        end: f.bytes.1,
    });
    FindingReport {
        code: d.code,
        level: d.level.name(),
        message: d.message.clone(),
        at: d.labels.first().map(place),
        other: d.labels.get(1).map(place),
        bytes,
        notes: d.notes.clone(),
        help: d.help.clone(),
        count: f.map_or(1, |f| f.count),
    }
}

fn place(l: &Label) -> PlaceReport {
    let (line, column) = l.file.line_col(l.span.start as usize);
    PlaceReport { file: l.file.name.clone(), line, column }
}

/// Cycles in microseconds.
pub fn micros(target: &Target, cycles: u64) -> f64 {
    cycles as f64 * target.us_per_cycle()
}
