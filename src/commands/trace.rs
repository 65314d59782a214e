//! `ptoemu trace`.

use super::run::ProgramArgs;
use super::{page, print, show_all, write_json};
use crate::progress::Progress;
use crate::session::{Ran, Refusal, execute, read_source, timelines};
use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use ptoemu_core::target::{Family, Target};
use ptoemu_core::time::Timeline;
use ptoemu_traces::camodel::{self, Dump};
use ptoemu_traces::{Filter, Trace, csvs, insight, kanata, text};
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Arguments of `trace`.
#[derive(Args, Debug)]
pub struct TraceArgs {
    /// Kernel.
    kernel: PathBuf,
    #[command(flatten)]
    program: ProgramArgs,
    /// Folder the files are written to; with several targets each gets a folder in it. Left out,
    /// it is OPPROF_<time>_<kernel> in the current folder.
    #[arg(short = 'o', value_name = "DIR")]
    out: Option<PathBuf>,
    /// What to write.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    format: Vec<Format>,
    /// Only records alive in these cycles, FROM..TO.
    #[arg(long, value_name = "FROM..TO", value_parser = window)]
    window: Option<Range<u64>>,
    /// Only records of this instruction or tile operation.
    #[arg(long, value_name = "NAME")]
    op: Option<String>,
    /// Kanata: also one row for each repeat of a vector instruction.
    #[arg(long)]
    per_repeat: bool,
    /// Write what was written as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

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
    /// report.html, one page for all targets, for a browser.
    Html,
}

/// What one target's trace is.
#[derive(Debug, Serialize)]
struct TraceReport {
    target: String,
    entry: String,
    cycles: u64,
    records: u64,
    shown: u64,
    files: Vec<String>,
}

fn window(text: &str) -> Result<Range<u64>, String> {
    let number = |s: &str, open: u64| match s.trim() {
        "" => Ok(open),
        s => s.parse().map_err(|_| format!("`{s}` is no cycle")),
    };
    let (from, to) = text.split_once("..").ok_or("write FROM..TO, for example 100..200")?;
    let range = number(from, 0)?..number(to, u64::MAX)?;
    if range.is_empty() { Err("the window holds no cycle".into()) } else { Ok(range) }
}

/// Runs a kernel and writes its traces for every target asked for.
pub fn trace(args: &TraceArgs) -> Result<u8, Refusal> {
    let targets = args.program.target.load()?;
    if let Some(t) = targets.iter().find(|t| t.family != Family::A2A3) {
        let message = format!("traces of {} are not written yet; a2 and a3 are", t.name);
        return Err(anyhow!(message).into());
    }
    let request = args.program.request(args.program.given()?)?;
    let source = read_source(&args.kernel)?;
    let root = args.out.clone().unwrap_or_else(|| default_folder(&args.kernel));
    let (mut status, mut all) = (0, Vec::new());
    for target in &targets {
        let mut ran = execute(&source, target, &request)?;
        ran.keep(|code| args.program.wants(code));
        if args.program.deny.is_some() {
            ran.deny_warnings();
        }
        status = status.max(ran.status());
        show_all(&ran.diagnostics());
        all.push((target, ran));
    }
    // A run that was stopped has no timeline worth showing.
    if all.iter().any(|(_, ran)| ran.outcome.stop.is_some()) {
        return Ok(status);
    }
    let lines: Vec<Vec<Timeline>> = all.iter().map(|(t, ran)| timelines(ran, t)).collect();
    let mut reports = Vec::new();
    for ((target, ran), lines) in all.iter().zip(&lines) {
        let dir = if targets.len() > 1 { root.join(&target.name) } else { root.clone() };
        reports.push(write(args, ran, target, lines, &dir)?);
    }
    if wants(args, Format::Html) {
        let timed: Vec<page::Timed> =
            all.iter().zip(&lines).map(|((t, ran), l)| (*t, ran, l.as_slice())).collect();
        save(&root.join(PAGE), &|w| page::write(&timed, &filter(args), w))?;
    }
    match &reports[..] {
        [one] => write_json(&args.json, one)?,
        many => write_json(&args.json, &many)?,
    }
    Ok(status)
}

/// `OPPROF_<time>_<kernel>`, as the vendor's profiler names its folders.
fn default_folder(kernel: &Path) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    let name = kernel.file_stem().unwrap_or_default().to_string_lossy();
    PathBuf::from(format!("OPPROF_{now}_{name}"))
}

/// The page of all targets.
const PAGE: &str = "report.html";

fn wants(args: &TraceArgs, f: Format) -> bool {
    args.format.iter().any(|&g| g == f || g == Format::All)
}

fn filter(args: &TraceArgs) -> Filter {
    Filter { window: args.window.clone(), op: args.op.clone() }
}

fn write(
    args: &TraceArgs,
    ran: &Ran,
    target: &Target,
    lines: &[Timeline],
    dir: &Path,
) -> Result<TraceReport, Refusal> {
    let progress = Progress::start("writing", "records");
    let written = progress.counter();
    let kernel = ran.program.funcs.get(ran.program.entry).map_or("kernel", |f| f.name.as_str());
    let filter = filter(args);
    let sources = [ran.program.source.clone()];
    let blocks = ran.outcome.blocks.iter().zip(lines).zip(0u32..);
    let traces: Vec<Trace> = blocks
        .map(|((b, t), core)| {
            let trace = Trace::new(&b.stream, t, target, &sources).named(kernel, core);
            trace.filtered(filter.clone()).counted(&written)
        })
        .collect();
    let shown = traces.iter().map(|t| t.selection.len() as u64).sum();
    if shown == 0 {
        return Err(anyhow!("no record passes the filter; nothing is written").into());
    }
    let mut files = Vec::new();
    for (path, job) in jobs(args, &traces) {
        save(&dir.join(&path), job.as_ref())?;
        files.push(path);
    }
    drop(progress);
    if wants(args, Format::Html) {
        files.push(if args.program.target.target.len() > 1 {
            format!("../{PAGE}")
        } else {
            PAGE.into()
        });
    }
    let report = TraceReport {
        target: target.name.clone(),
        entry: kernel.to_string(),
        cycles: lines.iter().map(|t| t.cycles).max().unwrap_or(0),
        records: ran.outcome.blocks.iter().map(|b| b.stream.records.len() as u64).sum(),
        shown,
        files,
    };
    if args.json.is_none() {
        print(&summary(&report, dir));
    }
    Ok(report)
}

fn summary(r: &TraceReport, dir: &Path) -> String {
    let mut out =
        format!("{} on {}: {} cycles, {} records", r.entry, r.target, r.cycles, r.records);
    for f in &r.files {
        out.push_str(&format!("\n{}", dir.join(f).display()));
    }
    out
}

type Job<'t> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 't>;

/// The files asked for: path in the folder and what writes it.
fn jobs<'t>(args: &TraceArgs, traces: &'t [Trace<'t>]) -> Vec<(String, Job<'t>)> {
    let wants = |f: Format| wants(args, f);
    let mut out: Vec<(String, Job)> = Vec::new();
    let mut add = |path: String, job: Job<'t>| out.push((path, job));
    let kernel = traces.first().map_or("kernel", |t| t.kernel);
    if wants(Format::Text) {
        add("timeline.txt".into(), Box::new(|w| reports(traces, w)));
    }
    if wants(Format::Insight) {
        add("simulator/trace.json".into(), Box::new(|w| insight::write_all(traces, w)));
    }
    if wants(Format::Csv) {
        add("PipeUtilization.csv".into(), Box::new(|w| csvs::utilization(traces, w)));
        let summary = format!("{}_pipeline_summary.csv", file_name(kernel));
        add(summary, Box::new(|w| csvs::pipeline_summary(traces, w)));
    }
    for t in traces {
        let core = t.core_name();
        if wants(Format::Insight) {
            let path = format!("simulator/{core}/trace.json");
            add(path, Box::new(move |w| insight::write_core(t, w)));
        }
        if wants(Format::Csv) {
            let path = format!("simulator/{core}/{core}_");
            add(format!("{path}instr_exe.csv"), Box::new(move |w| csvs::instructions(t, w)));
            add(format!("{path}code_exe.csv"), Box::new(move |w| csvs::lines(t, w)));
        }
        if wants(Format::Camodel) {
            let path = format!("dump/{core}.instr");
            let popped = move |w: &mut dyn Write| camodel::write(t, Dump::Popped, w);
            let ended = move |w: &mut dyn Write| camodel::write(t, Dump::Ended, w);
            add(format!("{path}_popped_log.dump"), Box::new(popped));
            add(format!("{path}_log.dump"), Box::new(ended));
            let path = format!("dump/core{}_summary_log", t.core);
            add(path, Box::new(move |w| camodel::summary(t, w)));
        }
        if wants(Format::Kanata) {
            let options = kanata::Options { per_repeat: args.per_repeat };
            let name = match t.core {
                0 => "pipeline.kanata".to_string(),
                n => format!("pipeline.core{n}.kanata"),
            };
            add(name, Box::new(move |w| kanata::write(t, options, w)));
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

/// Writes a file through a neighbour that is renamed into place.
fn save(path: &Path, job: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> Result<(), Refusal> {
    let say = || format!("cannot write {}", path.display());
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).with_context(say)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".part");
    let part = path.with_file_name(name);
    let stream = || -> io::Result<()> {
        let mut file = BufWriter::with_capacity(1 << 18, File::create(&part)?);
        job(&mut file)?;
        file.flush()?;
        fs::rename(&part, path)
    };
    stream()
        .inspect_err(|_| {
            let _ = fs::remove_file(&part);
        })
        .with_context(say)?;
    Ok(())
}
