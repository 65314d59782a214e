//! `ptoemu check`.

use super::places::Places;
use super::run::ProgramArgs;
use super::{print, show_all, write_json};
use crate::idle::{self, Idle};
use crate::report::{self, FindingReport};
use crate::session::{Ran, Refusal, execute, read_source};
use crate::stale;
use clap::Args;
use ptoemu_core::diag::{Level, count};
use ptoemu_core::target::Target;
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Kernel.
    kernel: PathBuf,
    #[command(flatten)]
    program: ProgramArgs,
    /// Repeat the run with the two ends of each hazard in the other order, and say whether output
    /// values change.
    #[arg(long)]
    stale: bool,
    /// Write the report as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What the checks say of a kernel on a target.
#[derive(Debug, Serialize)]
struct CheckReport {
    target: String,
    entry: String,
    findings: Vec<FindingReport>,
    notes: Vec<String>,
    /// Lines whose synchronisation orders nothing.
    idle: Vec<Idle>,
}

/// Checks a kernel on every target asked for.
pub fn check(args: &CheckArgs) -> Result<u8, Refusal> {
    let targets = args.program.target.load()?;
    let request = args.program.request(args.program.given()?)?;
    let source = read_source(&args.kernel)?;
    let places = Places::default().program(&args.program).reads([&args.kernel]);
    places.writes("--json", &args.json).check_writable()?;
    let (mut status, mut reports) = (0, Vec::new());
    for target in &targets {
        let mut ran = execute(&source, target, &request)?;
        ran.keep(|code| args.program.wants(code));
        if args.stale {
            stale::stale(&mut ran, target, &request)?;
        }
        if args.program.deny.is_some() {
            ran.deny_warnings();
        }
        status = status.max(ran.status());
        show_all(&ran.diagnostics());
        let idle = match args.program.wants("synccheck.idle") {
            true => idle::idle(&ran, target),
            false => Vec::new(),
        };
        show_all(&idle::notes(&ran, &idle));
        reports.push(report(&ran, target, idle));
    }
    if status == 2 {
        return Ok(2);
    }
    if args.json.is_none() {
        reports.iter().for_each(|r| print(&line(r)));
    }
    match &reports[..] {
        [one] => write_json(&args.json, one)?,
        many => write_json(&args.json, &many)?,
    }
    Ok(status)
}

fn report(ran: &Ran, target: &Target, idle: Vec<Idle>) -> CheckReport {
    let entry = ran.program.funcs.get(ran.program.entry).map_or("", |f| &f.name);
    CheckReport {
        target: target.name.clone(),
        entry: entry.to_string(),
        findings: report::findings(ran),
        notes: report::notes(ran),
        idle,
    }
}

fn line(r: &CheckReport) -> String {
    let counts = [Level::Error, Level::Warning, Level::Note].map(|level| {
        let idle = if level == Level::Note { r.idle.len() } else { 0 };
        let found = r.findings.iter().filter(|f| f.level == level.name()).count();
        count((found + idle) as u64, level.name())
    });
    format!("{} on {}: {}", r.entry, r.target, counts.join(", "))
}
