//! One file per subcommand, each thin: read, call the library, print.

pub mod accuracy;
mod calibrate;
mod case;
mod check;
mod diff;
mod explain;
mod functions;
mod op;
mod output;
mod page;
mod parse;
mod places;
mod run;
mod screen;
mod sensitivity;
mod shapes;
mod subject;
mod targets;
mod trace;
mod verify;
mod vf;
mod whatif;

use crate::render::render;
use crate::session::Refusal;
use clap::{Args, Parser, Subcommand};
use ptoemu_core::diag::Diagnostic;
use ptoemu_isa::tile::{self, TileOp};
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Values, cycles and checks for programs of the Ascend NPU vector core.
///
/// Data go to stdout or files, prose to stderr. Exit status: 0 fine, 1 a check, a golden
/// comparison or a verification failed, 2 refused before anything ran.
#[derive(Debug, Parser)]
#[command(name = "ptoemu", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a kernel: values, checks and cycles.
    Run(run::RunArgs),
    /// Run a kernel for its checks alone: findings, and synchronisation that orders nothing.
    Check(check::CheckArgs),
    /// One tile operation: its microcode, cycles and checks.
    Op(op::OpArgs),
    /// Parse `.pto` files: a summary, or errors with carets.
    Parse(parse::ParseArgs),
    /// Compare the cycle model with published measurements, case by case.
    Accuracy(accuracy::AccuracyArgs),
    /// Fit figures of a target to measurements.
    Calibrate(calibrate::CalibrateArgs),
    /// Which figures the cycles of a program depend on, and how sure they are.
    Sensitivity(Box<sensitivity::SensitivityArgs>),
    /// A program over rows and columns: rate, bound, best tile, crossovers.
    Shapes(Box<shapes::ShapesArgs>),
    /// List, show or check targets.
    Targets(targets::TargetsArgs),
    /// Cycles of a timing-only vector function of the 950.
    Vf(vf::VfArgs),
    /// What an instruction or a tile operation means, accepts and costs.
    Explain(explain::ExplainArgs),
    /// Verify the microcode of tile operations against their meaning.
    Verify(verify::VerifyArgs),
    /// Time one execution under many values of a target's figures.
    Whatif(Box<whatif::WhatifArgs>),
    /// Run a kernel and write its traces for viewers and for reading.
    Trace(trace::TraceArgs),
    /// Compare two runs: cycles by pipe, cause, instruction and tile operation.
    Diff(diff::DiffArgs),
}

/// Options many commands share.
#[derive(Args, Clone, Debug)]
pub struct TargetArgs {
    /// Targets: a2, a3, 950pr, 950dt, an alias, or a path to a .ron file; several separated by commas.
    #[arg(
        short = 'v',
        long = "target",
        alias = "soc-version",
        value_delimiter = ',',
        default_value = "a3"
    )]
    pub target: Vec<String>,
    /// Override one figure, for example vcmax.per_repeat=2 (repeatable).
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
}

/// Runs a command and returns the exit status.
pub fn run(cli: &Cli) -> u8 {
    let result = match &cli.command {
        Command::Run(a) => run::run(a),
        Command::Check(a) => check::check(a),
        Command::Op(a) => op::op(a),
        Command::Parse(a) => parse::parse(a),
        Command::Accuracy(a) => accuracy::accuracy(a),
        Command::Calibrate(a) => calibrate::calibrate(a),
        Command::Sensitivity(a) => sensitivity::sensitivity(a),
        Command::Shapes(a) => shapes::shapes(a),
        Command::Targets(a) => targets::targets(a),
        Command::Vf(a) => vf::vf(a),
        Command::Explain(a) => explain::explain(a),
        Command::Whatif(a) => whatif::whatif(a),
        Command::Trace(a) => trace::trace(a),
        Command::Diff(a) => diff::diff(a),
        Command::Verify(a) => verify::verify(a),
    };
    match result {
        Ok(status) => status,
        Err(Refusal::Usage(e)) => {
            say(&format!("error: {e:#}"));
            2
        }
        Err(Refusal::Program(diags)) => {
            show_all(&diags);
            2
        }
    }
}

/// One line of prose on stderr. A closed stderr is no reason to fail.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Data on stdout. A reader that has left, as `head` does, changes neither the status nor the files
/// still to be written; data lost for any other reason are an error.
pub(crate) fn print(text: &str) {
    static LEFT: AtomicBool = AtomicBool::new(false);
    if LEFT.load(Ordering::Relaxed) {
        return;
    }
    match writeln!(std::io::stdout().lock(), "{text}") {
        Ok(()) => {}
        Err(e) if e.kind() == ErrorKind::BrokenPipe => LEFT.store(true, Ordering::Relaxed),
        Err(e) => {
            say(&format!("error: cannot write to stdout: {e}"));
            std::process::exit(2);
        }
    }
}

/// Diagnostics shown at most; one fault often shows in many places.
const SHOWN: usize = 20;

/// Diagnostics on stderr.
pub(crate) fn show_all(diags: &[Diagnostic]) {
    let colour = std::io::stderr().is_terminal();
    for d in diags.iter().take(SHOWN) {
        say(&render(d, colour));
        say("");
    }
    if diags.len() > SHOWN {
        say(&format!("... and {} more", diags.len() - SHOWN));
    }
}

/// Writes a JSON report to a file, or to stdout for `-`.
pub(crate) fn write_json<T: serde::Serialize>(
    to: &Option<PathBuf>,
    report: &T,
) -> Result<(), Refusal> {
    let Some(path) = to else { return Ok(()) };
    let text = serde_json::to_string_pretty(report).map_err(anyhow::Error::from)?;
    if path.as_os_str() == "-" {
        print(&text);
        return Ok(());
    }
    crate::data::write_whole(path, format!("{text}\n").as_bytes()).map_err(Refusal::Usage)
}

/// The tile operation of a name as users write it.
pub(crate) fn tile_op(name: &str) -> anyhow::Result<&'static TileOp> {
    let plain = name.trim_start_matches("pto.").to_ascii_lowercase();
    if let Some(op) = tile::find(&plain) {
        return Ok(op);
    }
    if let Some(why) = tile::unbuilt_because(&plain) {
        anyhow::bail!("{plain} is not built: it {why}; `ptoemu explain` lists what is");
    }
    anyhow::bail!("no tile operation `{name}`; `ptoemu explain` lists all")
}
