//! `ptoemu trace`.

use super::places::Places;
use super::run::ProgramArgs;
use super::{page, print, say, show_all, write_json};
use crate::batch::Batch;
use crate::data;
use crate::session::{Ran, Refusal, execute, read_source, timelines};
use crate::trace_files::{self, Format, PAGE, TraceReport, Wanted};
use anyhow::anyhow;
use clap::Args;
use ptoemu_core::target::Target;
use ptoemu_core::time::Timeline;
use ptoemu_traces::Filter;
use std::collections::BTreeSet;
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
    /// Only records of this instruction or tile operation; on the 950 also an instruction inside
    /// vector functions.
    #[arg(long, value_name = "NAME")]
    op: Option<String>,
    /// Kanata: also one row for each repeat of a vector instruction.
    #[arg(long)]
    per_repeat: bool,
    /// Write what was written as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
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

/// The name of an operation, as it stands in a program or alone.
fn plain(name: &str) -> String {
    name.strip_prefix("pto.").unwrap_or(name).to_string()
}

/// Runs a kernel and writes its traces for every target asked for.
pub fn trace(args: &TraceArgs) -> Result<u8, Refusal> {
    let targets = args.program.target.load()?;
    let request = args.program.request(args.program.given()?)?;
    let source = read_source(&args.kernel)?;
    let root = args.out.clone().unwrap_or_else(|| default_folder(&args.kernel));
    Places::default()
        .program(&args.program)
        .reads([&args.kernel])
        .folder("-o", &Some(root.clone()), &trace_files::FIXED)
        .writes("--json", &args.json)
        .check()?;
    args.json.iter().filter(|p| p.as_os_str() != "-").try_for_each(|p| data::writable(p))?;
    data::writable_folder(&root)?;
    own_folders(&targets)?;
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
    let wanted = Wanted {
        formats: args.format.clone(),
        filter: Filter { window: args.window.clone(), op: args.op.as_deref().map(plain) },
        per_repeat: args.per_repeat,
    };
    let reports = write_all(&wanted, &all, &root)?;
    if args.json.is_none() {
        for (dir, r) in &reports {
            print(&r.summary(dir));
        }
    }
    let reports: Vec<&TraceReport> = reports.iter().map(|(_, r)| r).collect();
    match &reports[..] {
        [one] => write_json(&args.json, one)?,
        [] => say("a run that was stopped has no trace; nothing is written"),
        many => write_json(&args.json, &many)?,
    }
    Ok(status)
}

/// Writes the traces of finished runs: into `root`, or with several targets into a folder of it
/// for each. All files appear or none. A run that was stopped has no timeline worth showing: then
/// there are none.
pub(super) fn write_all(
    wanted: &Wanted,
    all: &[(&Target, Ran)],
    root: &Path,
) -> Result<Vec<(PathBuf, TraceReport)>, Refusal> {
    if all.iter().any(|(_, ran)| ran.outcome.stop.is_some()) {
        return Ok(Vec::new());
    }
    let lines: Vec<Vec<Timeline>> = all.iter().map(|(t, ran)| timelines(ran, t)).collect();
    for ((target, ran), lines) in all.iter().zip(&lines) {
        trace_files::any(wanted, ran, target, lines)?;
    }
    let several = all.len() > 1;
    let (mut reports, mut batch) = (Vec::new(), Batch::default());
    for ((target, ran), lines) in all.iter().zip(&lines) {
        let dir = if several { root.join(&target.name) } else { root.to_path_buf() };
        lines.iter().for_each(|l| show_all(&l.faults));
        let mut report = trace_files::write(wanted, ran, target, lines, &dir, &mut batch)?;
        if wanted.wants(Format::Html) {
            report.files.push(if several { format!("../{PAGE}") } else { PAGE.into() });
        }
        reports.push((dir, report));
    }
    if wanted.wants(Format::Html) {
        let timed: Vec<page::Timed> =
            all.iter().zip(&lines).map(|((t, ran), l)| (*t, ran, l.as_slice())).collect();
        batch.write(&root.join(PAGE), &|w| page::write(&timed, &wanted.filter, w))?;
    }
    batch.place()?;
    Ok(reports)
}

/// Targets of one name would share a folder.
pub(super) fn own_folders(targets: &[Target]) -> Result<(), Refusal> {
    let mut names = BTreeSet::new();
    match targets.iter().find(|t| !names.insert(&t.name)) {
        Some(t) => {
            Err(anyhow!("two targets are named {}: their traces share a folder", t.name).into())
        }
        None => Ok(()),
    }
}

/// `OPPROF_<time>_<kernel>`, as the vendor's profiler names its folders.
fn default_folder(kernel: &Path) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    let name = kernel.file_stem().unwrap_or_default().to_string_lossy();
    PathBuf::from(format!("OPPROF_{now}_{name}"))
}
