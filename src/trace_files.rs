//! The files of a trace: which there are, and writing them into a folder.

use crate::batch::Batch;
use crate::progress::Progress;
use crate::session::{Ran, Refusal};
use anyhow::anyhow;
use clap::ValueEnum;
use ptoemu_core::diag::{SourceFile, count};
use ptoemu_core::target::Target;
use ptoemu_core::time::Timeline;
use ptoemu_traces::camodel::{self, Dump};
use ptoemu_traces::profile::Profile;
use ptoemu_traces::{Filter, Trace, csvs, insight, kanata, pftrace, text};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Values of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Every format.
    All,
    /// trace.json for MindStudio Insight, Perfetto and chrome://tracing.
    Insight,
    /// Tables: hot instructions, hot lines, use of the pipes.
    Csv,
    /// Instruction dumps and summary log as the vendor's simulator writes them.
    Camodel,
    /// pipeline.kanata for Konata.
    Kanata,
    /// timeline.txt for the terminal and for comparison.
    Text,
    /// run.pftrace for Perfetto: runs that are too large for JSON.
    Pftrace,
    /// report.html, one page for all targets, for a browser.
    Html,
}

/// The page of all targets.
pub const PAGE: &str = "report.html";

/// Files that stand under these names in every folder of traces of their formats.
pub const FIXED: [&str; 6] = [
    PAGE,
    "timeline.txt",
    "run.pftrace",
    "PipeUtilization.csv",
    "pipeline.kanata",
    "simulator/trace.json",
];

/// What to write.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Formats.
    pub formats: Vec<Format>,
    /// What of the run.
    pub filter: Filter,
    /// Kanata: a row for each repeat.
    pub per_repeat: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { formats: vec![Format::All], filter: Filter::default(), per_repeat: false }
    }
}

impl Wanted {
    /// Is a format asked for?
    pub fn wants(&self, f: Format) -> bool {
        self.formats.iter().any(|&g| g == f || g == Format::All)
    }
}

/// What one target's trace is.
#[derive(Debug, Serialize)]
pub struct TraceReport {
    pub target: String,
    pub entry: String,
    pub cycles: u64,
    pub records: u64,
    /// Records that pass the filter.
    pub shown: u64,
    /// Instructions inside vector functions that were launched by them.
    pub inside: u64,
    /// Of these, in loop periods that were unfolded rather than simulated.
    pub unfolded: u64,
    /// Of these, too many to keep, and in no file.
    pub not_shown: u64,
    pub files: Vec<String>,
}

/// The traces of a run's cores.
fn traces<'t>(
    wanted: &Wanted,
    ran: &'t Ran,
    target: &'t Target,
    lines: &'t [Timeline],
    sources: &'t [Arc<SourceFile>],
) -> Vec<Trace<'t>> {
    let blocks = ran.outcome.blocks.iter().zip(lines).zip(0u32..);
    blocks
        .map(|((b, t), core)| {
            let trace = Trace::new(&b.stream, t, target, sources).named(kernel(ran), core);
            trace.filtered(wanted.filter.clone())
        })
        .collect()
}

/// Refuses a run of which no record passes the filter.
pub fn any(wanted: &Wanted, ran: &Ran, target: &Target, lines: &[Timeline]) -> Result<(), Refusal> {
    if traces(wanted, ran, target, lines, &ran.files()).iter().any(|t| !t.selection.is_empty()) {
        return Ok(());
    }
    let why = match wanted.filter == Filter::default() {
        true => "the kernel has no instruction",
        false => "no record passes the filter",
    };
    Err(anyhow!("{why} on {}; nothing is written", target.name).into())
}

fn kernel(ran: &Ran) -> &str {
    ran.program.funcs.get(ran.program.entry).map_or("kernel", |f| f.name.as_str())
}

/// Writes the trace of a run on one target; its files appear with those of the batch.
pub fn write(
    wanted: &Wanted,
    ran: &Ran,
    target: &Target,
    lines: &[Timeline],
    dir: &Path,
    batch: &mut Batch,
) -> Result<TraceReport, Refusal> {
    let sources = ran.files();
    let traces = traces(wanted, ran, target, lines, &sources);
    let mut report = TraceReport {
        target: target.name.clone(),
        entry: kernel(ran).to_string(),
        cycles: lines.iter().map(|t| t.cycles).max().unwrap_or(0),
        records: ran.outcome.blocks.iter().map(|b| b.stream.records.len() as u64).sum(),
        shown: traces.iter().map(|t| t.selection.len() as u64).sum(),
        inside: 0,
        unfolded: 0,
        not_shown: 0,
        files: Vec::new(),
    };
    for f in traces.iter().flat_map(|t| t.launches().filter_map(|e| t.function(&e))) {
        report.inside += f.instructions();
        report.unfolded += f.folded();
    }
    report.not_shown = traces.iter().map(Trace::not_shown).sum();
    let (whole, inside) = (report.shown, report.inside - report.not_shown);
    let passes = jobs(wanted, &traces)
        .iter()
        .fold((0, 0), |sum, j| (sum.0 + j.passes.0, sum.1 + j.passes.1));
    let total = passes.0.saturating_mul(whole).saturating_add(passes.1.saturating_mul(inside));
    let progress = Progress::of("writing", "records", total);
    let written = progress.counter();
    let traces: Vec<Trace> = traces.into_iter().map(|t| t.counted(&written)).collect();
    for job in jobs(wanted, &traces) {
        batch.write(&dir.join(&job.path), job.write.as_ref())?;
        report.files.push(job.path);
    }
    Ok(report)
}

impl TraceReport {
    /// For a reader: what was written where, and what was not.
    pub fn summary(&self, dir: &Path) -> String {
        let mut out = format!(
            "{} on {}: {} cycles, {}",
            self.entry,
            self.target,
            self.cycles,
            count(self.records, "record")
        );
        if self.shown < self.records {
            out.push_str(&format!(", {} of them shown", self.shown));
        }
        if self.inside > 0 {
            out.push_str(&format!(", {} in vector functions", count(self.inside, "instruction")));
        }
        if self.unfolded > 0 {
            out.push_str(&format!(
                "\n{} of these repeat the loop rounds before them",
                self.unfolded
            ));
        }
        if self.not_shown > 0 {
            out.push_str(&format!(
                "\n{} of these are too many to keep: in no file",
                self.not_shown
            ));
        }
        for f in &self.files {
            let path = match f.strip_prefix("../") {
                Some(beside) => dir.with_file_name(beside),
                None => dir.join(f),
            };
            out.push_str(&format!("\n{}", path.display()));
        }
        out
    }
}

type Writer<'t> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 't>;

/// A file to write.
struct Job<'t> {
    /// Path in the folder.
    path: String,
    /// How often it goes over the records, and over the instructions inside functions.
    passes: (u64, u64),
    write: Writer<'t>,
}

/// The files asked for.
fn jobs<'t>(wanted: &Wanted, traces: &'t [Trace<'t>]) -> Vec<Job<'t>> {
    let wants = |f| wanted.wants(f);
    let mut out: Vec<Job> = Vec::new();
    let mut add = |path: String, passes, write: Writer<'t>| out.push(Job { path, passes, write });
    let kernel = traces.first().map_or("kernel", |t| t.kernel);
    if wants(Format::Text) {
        add("timeline.txt".into(), (0, 0), Box::new(|w| reports(traces, w)));
    }
    if wants(Format::Insight) {
        add("simulator/trace.json".into(), (1, 1), Box::new(|w| insight::write_all(traces, w)));
    }
    if wants(Format::Pftrace) {
        add("run.pftrace".into(), (1, 1), Box::new(|w| pftrace::write(traces, w)));
    }
    if wants(Format::Csv) {
        add("PipeUtilization.csv".into(), (0, 0), Box::new(|w| csvs::utilization(traces, w)));
        let summary = format!("{}_pipeline_summary.csv", file_name(kernel));
        add(summary, (0, 0), Box::new(|w| csvs::pipeline_summary(traces, w)));
    }
    for t in traces {
        let core = t.core_name();
        if wants(Format::Insight) {
            let path = format!("simulator/{core}/trace.json");
            add(path, (1, 1), Box::new(move |w| insight::write_core(t, w)));
        }
        if wants(Format::Csv) {
            let path = format!("simulator/{core}/{core}_");
            let instructions = Box::new(move |w: &mut dyn Write| csvs::instructions(t, w));
            add(format!("{path}instr_exe.csv"), (1, 1), instructions);
            add(format!("{path}code_exe.csv"), (1, 0), Box::new(move |w| csvs::lines(t, w)));
            let path = format!("simulator/{core}/profile.json");
            add(path, (0, 0), Box::new(move |w| Profile::of(t).write(w)));
        }
        if wants(Format::Camodel) {
            let path = format!("dump/{core}.instr");
            let popped = move |w: &mut dyn Write| camodel::write(t, Dump::Popped, w);
            let ended = move |w: &mut dyn Write| camodel::write(t, Dump::Ended, w);
            add(format!("{path}_popped_log.dump"), (1, 1), Box::new(popped));
            add(format!("{path}_log.dump"), (1, 1), Box::new(ended));
            let path = format!("dump/core{}_summary_log", t.core);
            add(path, (0, 0), Box::new(move |w| camodel::summary(t, w)));
        }
        if wants(Format::Kanata) {
            let options = kanata::Options { per_repeat: wanted.per_repeat };
            let name = match t.core {
                0 => "pipeline.kanata".to_string(),
                n => format!("pipeline.core{n}.kanata"),
            };
            add(name, (1, 1), Box::new(move |w| kanata::write(t, options, w)));
        }
    }
    out
}

/// A symbol as part of a file name.
fn file_name(symbol: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    symbol.chars().map(|c| if plain(c) { c } else { '_' }).collect()
}

/// The text reports of all cores.
fn reports(traces: &[Trace], out: &mut dyn Write) -> io::Result<()> {
    for (i, t) in traces.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        text::write(t, out)?;
    }
    Ok(())
}
