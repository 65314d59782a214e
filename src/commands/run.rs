//! `ptoemu run`.

use super::case::Case;
use super::screen::{beside, screen};
use super::trace::{own_folders, write_all};
use super::{TargetArgs, print, say, show_all, write_json};
use crate::args::{self, Given};
use crate::session::{self, Ran, Refusal, Request, prepare, read_source, timelines};
use crate::stale;
use crate::trace_files::Wanted;
use anyhow::anyhow;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use ptoemu_core::check::Checks;
use ptoemu_core::diag::Level;
use ptoemu_core::target::Target;
use ptoemu_isa::tile::{OperandOrder, Quirks};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Options of every command that runs a program.
#[derive(Args, Clone, Debug)]
pub struct ProgramArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    /// Function to run; needed if the file has several.
    #[arg(long)]
    pub entry: Option<String>,
    /// Cores: each has its own UB, GM is shared; they run in order.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub blocks: u32,
    /// NAME=@FILE.bin, @FILE.npy, VALUE:TYPE, zeros:TYPE[RxC] or rand(SEED):TYPE[RxC] (repeatable).
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub args: Vec<String>,
    /// Synchronisation: auto inserts it, manual takes the program as written; auto if the program
    /// has none of its own.
    #[arg(long, value_enum)]
    pub sync: Option<SyncMode>,
    /// Microcode of tile operations: corrected, vendor (as shipped, with its quirks), or a file with
    /// functions named after operations.
    #[arg(long, default_value = "corrected", value_name = "corrected|vendor|FILE.pto")]
    pub microcode: Microcode,
    /// Swapped TROWEXPANDSUB, DIV, EXPDIF: full op expanded (seed) or src0 op src1 (vendor).
    #[arg(long, value_enum, default_value = "seed")]
    pub operand_order: Order,
    /// Byte that fills memory nobody wrote.
    #[arg(long, default_value = "0xCD", value_parser = byte)]
    pub poison: u8,
    /// Give the run up (status 2) after so many statements and loop rounds; each may take 100 bytes
    /// of memory.
    #[arg(long, value_name = "N", default_value_t = 50_000_000)]
    pub max_steps: u64,
    /// Alignment of tiles without an address, in bytes.
    #[arg(long, default_value_t = 512, value_parser = alignment)]
    pub align: u64,
    /// Which findings to report: all, none, or a list of memcheck, initcheck, racecheck, synccheck.
    #[arg(long, default_value = "all", value_delimiter = ',')]
    pub checks: Vec<String>,
    /// Treat warnings as errors: `--deny warnings`.
    #[arg(long, value_enum)]
    pub deny: Option<Deny>,
}

/// The options of a program that were given, by name, whatever their value.
#[derive(Clone, Debug, Default)]
pub struct Named(pub Vec<String>);

impl Args for Named {
    fn augment_args(cmd: Command) -> Command {
        cmd
    }

    fn augment_args_for_update(cmd: Command) -> Command {
        cmd
    }
}

impl FromArgMatches for Named {
    fn from_arg_matches(m: &ArgMatches) -> Result<Self, clap::Error> {
        let all = ProgramArgs::augment_args(Command::new("program"));
        let given =
            |a: &&Arg| m.value_source(a.get_id().as_str()) == Some(ValueSource::CommandLine);
        let name = |a: &Arg| match a.get_short() {
            Some(short) => format!("-{short}"),
            None => format!("--{}", a.get_long().unwrap_or_default()),
        };
        Ok(Named(all.get_arguments().filter(given).map(name).collect()))
    }

    fn update_from_arg_matches(&mut self, m: &ArgMatches) -> Result<(), clap::Error> {
        *self = Named::from_arg_matches(m)?;
        Ok(())
    }
}

/// Values of `--sync`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SyncMode {
    /// Insert barriers and flags between dependent operations.
    Auto,
    /// Exactly what is written.
    Manual,
}

/// Values of `--microcode`. The two names win over files.
#[derive(Clone, Debug)]
pub enum Microcode {
    /// Computes the meaning for every legal input.
    Corrected,
    /// As shipped.
    Vendor,
    /// A file of the user.
    File(PathBuf),
}

impl std::str::FromStr for Microcode {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "corrected" => Microcode::Corrected,
            "vendor" => Microcode::Vendor,
            path => Microcode::File(path.into()),
        })
    }
}

/// Values of `--operand-order`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Order {
    /// full op expanded.
    Seed,
    /// src0 op src1.
    Vendor,
}

/// Values of `--deny`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Deny {
    /// Warnings make the exit status 1.
    Warnings,
}

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// Kernel, or a folder with kernel.pto, vN.bin and golden_vN.bin.
    pub(super) kernel: PathBuf,
    #[command(flatten)]
    pub(super) program: ProgramArgs,
    /// NAME=FILE.bin or FILE.npy: write a buffer after the run (repeatable).
    #[arg(long = "out", value_name = "NAME=FILE")]
    pub(super) outs: Vec<String>,
    /// NAME=FILE: compare a buffer with an expected array (repeatable).
    #[arg(long = "golden", value_name = "NAME=FILE")]
    pub(super) goldens: Vec<String>,
    /// Tolerance of --golden: |got - want| <= E + E * |want|.
    #[arg(long, default_value_t = 1e-5, value_name = "E", value_parser = tolerance)]
    pub(super) eps: f64,
    /// Write the synchronisation that was inserted, as `.pto` lines.
    #[arg(long, value_name = "FILE")]
    pub(super) emit_sync: Option<PathBuf>,
    /// Write the traces of the run into this folder, in every format, as `ptoemu trace` does.
    #[arg(long, value_name = "DIR")]
    pub(super) trace: Option<PathBuf>,
    /// Repeat the run with the two ends of each hazard in the other order, and say whether output
    /// values change.
    #[arg(long)]
    pub(super) stale: bool,
    /// Write the report as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

fn byte(text: &str) -> Result<u8, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u8::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is no byte"))
}

fn alignment(text: &str) -> Result<u64, String> {
    let parsed =
        text.parse().ok().filter(|n: &u64| n.is_multiple_of(32) && (32..=65536).contains(n));
    parsed.ok_or_else(|| format!("`{text}` is no multiple of 32 up to 65536"))
}

fn tolerance(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|e: &f64| e.is_finite() && *e >= 0.0);
    parsed.ok_or_else(|| format!("`{text}` is no tolerance: give a number of 0 or more"))
}

const CHECKS: [&str; 6] = ["all", "none", "memcheck", "initcheck", "racecheck", "synccheck"];

impl ProgramArgs {
    /// The request these options make.
    pub(crate) fn request(&self, given: Vec<Given>) -> Result<Request, Refusal> {
        if let Some(c) = self.checks.iter().find(|c| !CHECKS.contains(&c.as_str())) {
            return Err(anyhow!("no check `{c}`; there are {}", CHECKS.join(", ")).into());
        }
        if self.blocks == 0 || self.blocks > 1024 {
            return Err(anyhow!("--blocks takes 1 to 1024").into());
        }
        Ok(Request {
            entry: self.entry.clone(),
            args: given,
            blocks: self.blocks,
            auto_sync: self.sync.map(|s| matches!(s, SyncMode::Auto)),
            quirks: quirks(&self.microcode),
            microcode: match &self.microcode {
                Microcode::File(path) => Some(path.clone()),
                _ => None,
            },
            operand_order: order(self.operand_order),
            poison: self.poison,
            align: self.align,
            max_steps: Some(self.max_steps),
            checks: Checks {
                memory: self.wants("memcheck."),
                init: self.wants("initcheck."),
                race: self.wants("racecheck."),
                sync: self.wants("synccheck."),
            },
        })
    }

    /// Values of `--arg`.
    pub(crate) fn given(&self) -> Result<Vec<Given>, Refusal> {
        let all: Vec<Given> = self.args.iter().map(|a| args::arg(a)).collect::<Result<_, _>>()?;
        let mut names = BTreeSet::new();
        match all.iter().find(|g| !names.insert(&g.binding.name)) {
            Some(g) => Err(anyhow!("--arg {} is given twice", g.binding.name).into()),
            None => Ok(all),
        }
    }

    /// Are findings of this code wanted?
    pub(crate) fn wants(&self, code: &str) -> bool {
        let tool = match code.split('.').next().unwrap_or(code) {
            "alias" | "state" | "params" => "memcheck",
            tool => tool,
        };
        let known = CHECKS.contains(&tool);
        self.checks.iter().any(|c| c == "all" || c == tool || (!known && c != "none"))
    }
}

/// The quirks of a variant; operations that a file leaves out are corrected.
pub(crate) fn quirks(m: &Microcode) -> Quirks {
    match m {
        Microcode::Vendor => Quirks::vendor(),
        Microcode::Corrected | Microcode::File(_) => Quirks::corrected(),
    }
}

/// The same for commands that take no file.
pub(crate) fn built_in(m: &Microcode) -> Result<Quirks, Refusal> {
    let Microcode::File(path) = m else { return Ok(quirks(m)) };
    let text = "this command takes `corrected` or `vendor`, no file";
    Err(anyhow!("--microcode {}: {text}", path.display()).into())
}

pub(crate) fn order(o: Order) -> OperandOrder {
    match o {
        Order::Seed => OperandOrder::Seed,
        Order::Vendor => OperandOrder::Vendor,
    }
}

/// Runs a kernel on every target asked for.
pub fn run(args: &RunArgs) -> Result<u8, Refusal> {
    let targets = args.program.target.load()?;
    let mut case = Case::read(args)?;
    if args.trace.is_some() {
        own_folders(&targets)?;
    }
    let source = read_source(case.kernel())?;
    let mut request = args.program.request(case.given.clone())?;
    let mut programs = Vec::new();
    for target in &targets {
        programs.push(prepare(&source, target, &request)?);
    }
    case.complete(&programs)?;
    request.args = case.given.clone();
    let mut all = Vec::new();
    for (target, program) in targets.iter().zip(programs) {
        let mut ran = session::run(program, target, &request)?;
        ran.keep(|code| args.program.wants(code));
        if args.stale {
            stale::stale(&mut ran, target, &request)?;
        }
        if args.program.deny.is_some() {
            ran.deny_warnings();
        }
        all.push((target, ran));
    }
    finish(args, &case, &all)
}

/// Messages, files, reports. A refusal met while running leaves nothing behind either.
fn finish(args: &RunArgs, case: &Case, all: &[(&Target, Ran)]) -> Result<u8, Refusal> {
    let mut reports = Vec::new();
    let mut status = 0;
    for (i, (target, ran)) in all.iter().enumerate() {
        let lines = timelines(ran, target);
        let mut report = case.report(ran, target, &lines);
        if i > 0 || ran.outcome.stop.is_some() {
            // Files hold the values of the first target.
            report.outputs.iter_mut().for_each(|o| o.file = None);
        }
        status = status.max(ran.status()).max(u8::from(report.golden.iter().any(|g| !g.pass)));
        show_all(&ran.diagnostics());
        lines.iter().for_each(|l| show_all(&l.faults));
        for n in ran.outcome.notes.iter().filter(|n| n.level == Level::Note) {
            say(&format!("note: {}", n.message));
        }
        reports.push(report);
    }
    if status == 2 {
        return Ok(2);
    }
    match all.first() {
        Some((_, ran)) if ran.outcome.stop.is_none() => case.write(ran, args)?,
        _ => {}
    }
    if let Some(root) = &args.trace {
        let written = write_all(&Wanted::default(), all, root)?;
        if written.is_empty() {
            say("a run that was stopped has no trace");
        }
        for (dir, _) in written {
            say(&format!("traces in {}", dir.display()));
        }
    }
    if args.json.is_none() {
        all.iter().zip(&reports).for_each(|((_, ran), r)| print(&screen(r, ran)));
        if reports.len() > 1 {
            print(&format!("\n{}", beside(&reports)));
        }
    }
    match &reports[..] {
        [one] => write_json(&args.json, one)?,
        many => write_json(&args.json, &many)?,
    }
    Ok(status)
}
