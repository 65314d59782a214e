//! `ptoemu run`.

use super::output::{percent, short, table};
use super::{TargetArgs, print, say, show_all, write_json};
use crate::args::{self, Given};
use crate::data;
use crate::golden::{Comparison, compare};
use crate::report::{self, OutputReport, Provenance, RunReport};
use crate::session::{Ran, Refusal, Request, execute, read_source, timelines};
use anyhow::anyhow;
use clap::{Args, ValueEnum};
use ptoemu_core::diag::Level;
use ptoemu_core::target::Target;
use ptoemu_core::time::Timeline;
use ptoemu_isa::exec::Insert;
use ptoemu_isa::tile::{OperandOrder, Quirks};
use std::fmt::Write as _;
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
    /// Microcode of tile operations: corrected or vendor (as shipped, with its quirks).
    #[arg(long, default_value = "corrected")]
    pub microcode: Microcode,
    /// Swapped TROWEXPANDSUB, DIV, EXPDIF: full op expanded (seed) or src0 op src1 (vendor).
    #[arg(long, value_enum, default_value = "seed")]
    pub operand_order: Order,
    /// Byte that fills memory nobody wrote.
    #[arg(long, default_value = "0xCD", value_parser = byte)]
    pub poison: u8,
    /// Alignment of tiles without an address, in bytes.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u64).range(32..=65536))]
    pub align: u64,
    /// Which findings to report: all, none, or a list of memcheck, initcheck, racecheck, synccheck.
    #[arg(long, default_value = "all", value_delimiter = ',')]
    pub checks: Vec<String>,
    /// Treat warnings as errors: `--deny warnings`.
    #[arg(long, value_enum)]
    pub deny: Option<Deny>,
}

/// Values of `--sync`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SyncMode {
    /// Insert barriers and flags between dependent operations.
    Auto,
    /// Exactly what is written.
    Manual,
}

/// Values of `--microcode`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Microcode {
    /// Computes the meaning for every legal input.
    Corrected,
    /// As shipped.
    Vendor,
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
    kernel: PathBuf,
    #[command(flatten)]
    program: ProgramArgs,
    /// NAME=FILE.bin or FILE.npy: write a buffer after the run (repeatable).
    #[arg(long = "out", value_name = "NAME=FILE")]
    outs: Vec<String>,
    /// NAME=FILE: compare a buffer with an expected array (repeatable).
    #[arg(long = "golden", value_name = "NAME=FILE")]
    goldens: Vec<String>,
    /// Tolerance of --golden: |got - want| <= E + E * |want|.
    #[arg(long, default_value_t = 1e-5, value_name = "E")]
    eps: f64,
    /// Write the synchronisation that was inserted, as `.pto` lines.
    #[arg(long, value_name = "FILE")]
    emit_sync: Option<PathBuf>,
    /// Write the report as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn byte(text: &str) -> Result<u8, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u8::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is no byte"))
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
            quirks: quirks(self.microcode),
            operand_order: order(self.operand_order),
            poison: self.poison,
            align: self.align,
            max_steps: None,
        })
    }

    /// Values of `--arg`.
    pub(crate) fn given(&self) -> Result<Vec<Given>, Refusal> {
        self.args.iter().map(|a| args::arg(a).map_err(Refusal::Usage)).collect()
    }

    /// Are findings of this code wanted?
    pub(crate) fn wants(&self, code: &str) -> bool {
        let tool = code.split('.').next().unwrap_or(code);
        let known = CHECKS.contains(&tool);
        self.checks.iter().any(|c| c == "all" || c == tool || (!known && c != "none"))
    }
}

pub(crate) fn quirks(m: Microcode) -> Quirks {
    match m {
        Microcode::Corrected => Quirks::corrected(),
        Microcode::Vendor => Quirks::vendor(),
    }
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
    let case = Case::read(args)?;
    let request = args.program.request(case.given.clone())?;
    let source = read_source(&case.kernel)?;
    let mut status = 0;
    let mut reports = Vec::new();
    for (i, target) in targets.iter().enumerate() {
        let mut ran = execute(&source, target, &request)?;
        ran.keep(|code| args.program.wants(code));
        let lines = timelines(&ran, target);
        let mut report = case.report(&ran, target, &lines)?;
        let own = ran.status(args.program.deny.is_some());
        status = status.max(own).max(u8::from(report.golden.iter().any(|g| !g.pass)));
        if i == 0 && stopped(&ran) {
            report.outputs.iter_mut().for_each(|o| o.file = None);
        } else if i == 0 {
            case.write(&ran, args)?;
        }
        show_all(&ran.diagnostics());
        show_notes(&ran);
        if args.json.is_none() {
            print(&screen(&report, &ran));
        }
        reports.push(report);
    }
    match &reports[..] {
        [one] => write_json(&args.json, one)?,
        many => write_json(&args.json, &many)?,
    }
    Ok(status)
}

/// A fault that stops the run leaves no output behind.
fn stopped(ran: &Ran) -> bool {
    ran.outcome.stop.is_some()
}

fn show_notes(ran: &Ran) {
    for n in &ran.outcome.notes {
        match n.level {
            Level::Note => say(&format!("note: {}", n.message)),
            _ => show_all(std::slice::from_ref(n)),
        }
    }
}

/// What is run, from the command line and from the case folder.
struct Case {
    kernel: PathBuf,
    given: Vec<Given>,
    goldens: Vec<(String, PathBuf)>,
    outs: Vec<(String, PathBuf)>,
    eps: f64,
}

impl Case {
    fn read(args: &RunArgs) -> Result<Case, Refusal> {
        let mut case = Case {
            kernel: args.kernel.clone(),
            given: Vec::new(),
            goldens: Vec::new(),
            outs: args.outs.iter().map(|o| args::file(o)).collect::<Result<_, _>>()?,
            eps: args.eps,
        };
        if args.kernel.is_dir() {
            case.folder()?;
        }
        case.given.extend(args.program.given()?);
        for g in &args.goldens {
            case.goldens.push(args::file(g)?);
        }
        Ok(case)
    }

    /// `kernel.pto` with `vN.bin` for the arguments in order and `golden_vN.bin` to compare with.
    fn folder(&mut self) -> Result<(), Refusal> {
        let dir = self.kernel.clone();
        self.kernel = dir.join("kernel.pto");
        let source = read_source(&self.kernel)?;
        let (file, _) = ptoemu_isa::text::parse(&source);
        let funcs = file.funcs();
        let Some((_, f)) = funcs.first() else {
            return Err(anyhow!("{} holds no function", self.kernel.display()).into());
        };
        for (i, a) in f.args.iter().enumerate() {
            let Some(name) = &a.name else { continue };
            let v = dir.join(format!("v{}.bin", i + 1));
            if v.is_file() {
                self.given.push(args::arg(&format!("{}=@{}", name.text, v.display()))?);
            }
            let golden = dir.join(format!("golden_v{}.bin", i + 1));
            if golden.is_file() {
                self.goldens.push((name.text.to_string(), golden));
            }
        }
        Ok(())
    }

    fn report(&self, ran: &Ran, target: &Target, lines: &[Timeline]) -> Result<RunReport, Refusal> {
        let slowest =
            lines.iter().enumerate().max_by_key(|(i, t)| (t.cycles, std::cmp::Reverse(*i)));
        let empty = Timeline::default();
        let (block, line) = slowest.unwrap_or((0, &empty));
        let stream = ran.outcome.blocks.get(block).map(|b| &b.stream);
        let golden = self.compare(ran)?;
        Ok(RunReport {
            target: target.name.clone(),
            entry: ran.program.funcs[ran.program.entry].name.clone(),
            cycles: line.cycles,
            time_us: report::micros(target, line.cycles),
            pipes: report::pipes(line),
            instructions: ran.outcome.blocks.iter().map(|b| b.stream.records.len() as u64).sum(),
            top: stream.map_or(Vec::new(), |s| report::instructions(s, line, target.catalogue())),
            findings: report::findings(ran),
            notes: ran.outcome.notes.iter().map(|n| n.message.clone()).collect(),
            outputs: self.outputs(ran),
            golden,
            provenance: stream.map_or(Provenance::default(), |s| Provenance::of(s, target, line)),
        })
    }

    fn outputs(&self, ran: &Ran) -> Vec<OutputReport> {
        let file = |name: &str| {
            self.outs.iter().find(|(n, _)| n == name).map(|(_, p)| p.display().to_string())
        };
        ran.outcome
            .outputs
            .iter()
            .map(|o| OutputReport {
                name: o.name.clone(),
                dtype: o.dtype.name(),
                shape: ran.output_shape(
                    &self.given,
                    &o.name,
                    (o.bytes.len() / o.dtype.size()) as u64,
                ),
                file: file(&o.name),
            })
            .collect()
    }

    fn compare(&self, ran: &Ran) -> Result<Vec<Comparison>, Refusal> {
        let mut out = Vec::new();
        for (name, path) in &self.goldens {
            let o = self.output(ran, name)?;
            let want = data::read(path)?;
            let golden = ran.outcome.stop.is_none();
            let got = if golden { o.bytes.as_slice() } else { &[] };
            out.push(compare(name, o.dtype, got, &want.bytes, self.eps));
        }
        Ok(out)
    }

    fn output<'r>(
        &self,
        ran: &'r Ran,
        name: &str,
    ) -> Result<&'r ptoemu_isa::exec::Output, Refusal> {
        let names =
            || ran.outcome.outputs.iter().map(|o| o.name.as_str()).collect::<Vec<_>>().join(", ");
        ran.outcome
            .outputs
            .iter()
            .find(|o| o.name == name)
            .ok_or_else(|| anyhow!("no buffer argument `{name}`; there are {}", names()).into())
    }

    fn write(&self, ran: &Ran, args: &RunArgs) -> Result<(), Refusal> {
        for (name, _) in &self.outs {
            self.output(ran, name)?;
        }
        for (name, path) in &self.outs {
            let o = self.output(ran, name)?;
            let n = (o.bytes.len() / o.dtype.size()) as u64;
            let shape = ran.output_shape(&self.given, name, n);
            data::write(path, &o.bytes, o.dtype, &shape)?;
        }
        if let Some(path) = &args.emit_sync {
            data::write_whole(path, sync_text(ran).as_bytes())?;
        }
        Ok(())
    }
}

/// What was inserted, as the lines a user would write.
fn sync_text(ran: &Ran) -> String {
    let mut out = String::new();
    for i in &ran.outcome.inserted {
        let (line, _) = ran.program.source.line_col(i.span.start as usize);
        let _ = match i.what {
            Insert::Barrier(p) => {
                writeln!(out, "pto.pipe_barrier \"{}\"  // before line {line}", p.name())
            }
            Insert::Flag(f) => {
                let list =
                    format!("[\"{}\", \"{}\", \"EVENT_ID{}\"]", f.src.name(), f.dst.name(), f.id);
                writeln!(out, "pto.set_flag{list}  // before line {line}")
                    .and_then(|()| writeln!(out, "pto.wait_flag{list}"))
            }
        };
    }
    out
}

/// The one-screen summary.
fn screen(r: &RunReport, ran: &Ran) -> String {
    let mut out =
        format!("{} on {}: {} cycles, {} us", r.entry, r.target, r.cycles, short(r.time_us));
    let line = |out: &mut String, text: &str| {
        out.push('\n');
        out.push_str(text);
    };
    if ran.outcome.stop.is_some() {
        line(&mut out, "the run stopped at a fault; cycles and values end there");
    }
    for g in &r.golden {
        line(&mut out, &golden_line(g));
    }
    let rows: Vec<Vec<String>> = r
        .pipes
        .iter()
        .map(|(name, p)| {
            let stalls: Vec<String> = p.stalls.iter().map(|(c, n)| format!("{c} {n}")).collect();
            vec![
                name.clone(),
                p.busy.to_string(),
                percent(p.busy as f64, r.cycles as f64),
                p.records.to_string(),
                stalls.join(", "),
            ]
        })
        .collect();
    line(&mut out, "");
    line(&mut out, &table(&["pipe", "busy", "share", "records", "stalled"], &rows));
    let rows: Vec<Vec<String>> = r
        .top
        .iter()
        .take(10)
        .map(|i| {
            vec![
                format!("{}.{}", i.name, i.dtype),
                i.pipe.to_string(),
                i.count.to_string(),
                i.busy.to_string(),
                i.conflict.to_string(),
            ]
        })
        .collect();
    line(&mut out, "");
    line(&mut out, &table(&["instruction", "pipe", "count", "busy", "conflicts"], &rows));
    line(&mut out, "");
    for o in &r.outputs {
        let shape: Vec<String> = o.shape.iter().map(u64::to_string).collect();
        let file = o.file.as_ref().map_or(String::new(), |f| format!(" -> {f}"));
        line(&mut out, &format!("buffer {} {}[{}]{file}", o.name, o.dtype, shape.join("x")));
    }
    let count = |level: &str| r.findings.iter().filter(|f| f.level == level).count();
    line(
        &mut out,
        &format!(
            "findings: {} errors, {} warnings, {} notes",
            count("error"),
            count("warning"),
            count("note")
        ),
    );
    let shares: Vec<String> = r
        .provenance
        .shares()
        .iter()
        .map(|(n, s)| format!("{} {}", percent(*s, 1.0), n.to_lowercase()))
        .collect();
    line(&mut out, &format!("figures behind the cycles: {}", shares.join(", ")));
    out
}

fn golden_line(g: &Comparison) -> String {
    match &g.first_bad {
        None => format!(
            "golden {}: all {} elements close, max abs error {:.3e}, max rel {:.3e}",
            g.name, g.count, g.max_abs, g.max_rel
        ),
        Some(b) => format!(
            "golden {}: {} of {} elements differ; first [{}] got {}, want {}; max abs error {:.3e}",
            g.name, g.wrong, g.count, b.index, b.got, b.want, g.max_abs
        ),
    }
}
