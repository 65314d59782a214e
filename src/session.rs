//! One program, run once and timed on a target: what `run`, `op` and later commands share.

use crate::args::Given;
use crate::progress::Progress;
use anyhow::{Context, Result};
use ptoemu_core::check::Checks;
use ptoemu_core::diag::{Diagnostic, Level, SourceFile};
use ptoemu_core::dtype::DType;
use ptoemu_core::target::Target;
use ptoemu_core::time::{Timeline, time};
use ptoemu_isa::exec::{self, Limits, LowerOptions, Outcome, Own, Program};
use ptoemu_isa::hazards;
use ptoemu_isa::machine::Settings;
use ptoemu_isa::tile::{Family, Layout, OperandOrder, Quirks, Tile};
use std::path::Path;
use std::sync::Arc;
use tracing::info_span;

/// Why nothing ran.
#[derive(Debug)]
pub enum Refusal {
    /// Usage: a file that cannot be read, an unknown name.
    Usage(anyhow::Error),
    /// The program, the target or the arguments are wrong.
    Program(Vec<Diagnostic>),
}

impl From<anyhow::Error> for Refusal {
    fn from(e: anyhow::Error) -> Self {
        Refusal::Usage(e)
    }
}

impl From<crate::targets::Refused> for Refusal {
    fn from(e: crate::targets::Refused) -> Self {
        match e {
            crate::targets::Refused::Name(e) => Refusal::Usage(e),
            crate::targets::Refused::File(d) => Refusal::Program(d),
        }
    }
}

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub struct Request {
    /// Entry function.
    pub entry: Option<String>,
    /// Values of the arguments.
    pub args: Vec<Given>,
    /// Cores.
    pub blocks: u32,
    /// Synchronisation: inserted, as written, or decided per program.
    pub auto_sync: Option<bool>,
    /// Microcode variant.
    pub quirks: Quirks,
    /// Operand order of swapped row-expand operations.
    pub operand_order: OperandOrder,
    /// Byte of unwritten memory.
    pub poison: u8,
    /// Alignment of automatic tile addresses.
    pub align: u64,
    /// Statements after which a run is given up.
    pub max_steps: Option<u64>,
    /// Checks that run.
    pub checks: Checks,
    /// File whose functions take the place of the microcode of their operations.
    pub microcode: Option<std::path::PathBuf>,
}

impl Default for Request {
    fn default() -> Self {
        Request {
            entry: None,
            args: Vec::new(),
            blocks: 1,
            auto_sync: None,
            quirks: Quirks::corrected(),
            operand_order: OperandOrder::Seed,
            poison: Settings::default().poison,
            align: 512,
            max_steps: None,
            checks: Checks::ALL,
            microcode: None,
        }
    }
}

/// A program after its run.
#[derive(Debug)]
pub struct Ran {
    /// The lowered program.
    pub program: Program,
    /// Values, streams, findings.
    pub outcome: Outcome,
}

/// Reads a program text.
pub fn read_source(path: &Path) -> Result<Arc<SourceFile>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8(bytes)
        .map_err(|e| anyhow::anyhow!("{} is not UTF-8 text: {e}", path.display()))?;
    Ok(SourceFile::new(path.display().to_string(), text))
}

/// UB size and reserved window of a target.
pub fn limits(target: &Target) -> ptoemu_isa::tile::Limits {
    let mut l = ptoemu_isa::tile::Limits::of(target.family);
    let whole = |path: &str| target.value(path).map(|v| v as u64);
    if let Some(n) = whole("ub.size") {
        l.ub_bytes = n;
    }
    if target.family == Family::A5 {
        // The window above is only warned of [U: some material says it is reserved].
        return l;
    }
    if let (Some(start), Some(size)) = (whole("ub.reserved_start"), whole("ub.reserved_size")) {
        l.reserved = start..start + size;
    }
    l
}

/// Where automatic addresses end.
fn auto_end(target: &Target, limits: &ptoemu_isa::tile::Limits) -> u64 {
    match target.family {
        Family::A2A3 => limits.reserved.start,
        // What lies above the warned window is used last.
        Family::A5 => limits.ub_bytes,
    }
}

/// Parses and lowers a program for the family of a target.
pub fn prepare(
    source: &Arc<SourceFile>,
    target: &Target,
    req: &Request,
) -> Result<Program, Refusal> {
    let (file, errors) = info_span!("parse").in_scope(|| ptoemu_isa::text::parse(source));
    if !errors.is_empty() {
        return Err(Refusal::Program(errors));
    }
    let limits = limits(target);
    let lower = LowerOptions {
        entry: req.entry.clone(),
        limits: Limits { align: req.align, auto_end: auto_end(target, &limits) },
        tiles: req.args.iter().filter_map(tile_shape).collect(),
    };
    let program =
        info_span!("lower").in_scope(|| exec::lower(&file, &lower)).map_err(Refusal::Program)?;
    if let Some(d) = program.foreign(target.family) {
        return Err(Refusal::Program(vec![d]));
    }
    let microcode = match &req.microcode {
        Some(path) => microcode(path, target.family)?,
        None => Vec::new(),
    };
    Ok(Program { microcode, ..program })
}

/// Functions of a file that stand for tile operations, for a family.
pub fn microcode(path: &Path, family: Family) -> Result<Vec<Own>, Refusal> {
    microcode_of(&read_source(path)?, family)
}

/// The same from a text.
pub fn microcode_of(source: &Arc<SourceFile>, family: Family) -> Result<Vec<Own>, Refusal> {
    let (file, errors) = ptoemu_isa::text::parse(source);
    if !errors.is_empty() {
        return Err(Refusal::Program(errors));
    }
    let auto_end = ptoemu_isa::tile::Limits::of(family).ub_bytes;
    let limits = Limits { align: 32, auto_end };
    let options = LowerOptions { entry: None, limits, tiles: Vec::new() };
    let own = Own::read(&file, &options).map_err(Refusal::Program)?;
    match own.iter().find_map(|o| o.foreign(family)) {
        Some(d) => Err(Refusal::Program(vec![d])),
        None => Ok(own),
    }
}

/// Parses, lowers and executes a program for the family of a target.
pub fn execute(source: &Arc<SourceFile>, target: &Target, req: &Request) -> Result<Ran, Refusal> {
    run(prepare(source, target, req)?, target, req)
}

/// What the executor is told.
pub(crate) fn options(target: &Target, req: &Request) -> exec::Options {
    let limits = limits(target);
    exec::Options {
        args: req.args.iter().map(|g| g.binding.clone()).collect(),
        blocks: req.blocks,
        auto_sync: req.auto_sync,
        quirks: req.quirks,
        operand_order: req.operand_order,
        settings: Settings {
            ub_bytes: limits.ub_bytes,
            poison: req.poison,
            checks: req.checks,
            ..Settings::of(target.family)
        },
        limits,
        max_steps: req.max_steps,
        progress: None,
    }
}

/// Executes a program that was prepared for the family of the target.
pub fn run(program: Program, target: &Target, req: &Request) -> Result<Ran, Refusal> {
    let options = options(target, req);
    let progress = Progress::start("executing", "statements");
    let options = exec::Options { progress: Some(progress.counter()), ..options };
    let mut outcome = info_span!("execute")
        .in_scope(|| exec::run(&program, &options))
        .map_err(Refusal::Program)?;
    if req.checks.race {
        let _span = info_span!("racecheck").entered();
        for (core, b) in (0u32..).zip(&mut outcome.blocks) {
            b.findings.extend(hazards::check_of(target.family, &b.stream, core, false));
        }
    }
    outcome.notes.extend(foreign_arch(&program, target));
    if let Some(note) = empty_buffers(&program, req) {
        let findings = outcome.blocks.iter_mut().flat_map(|b| &mut b.findings);
        for f in findings.filter(|f| f.diag.code == "initcheck.undefined") {
            f.diag.notes.push(note.clone());
        }
    }
    Ok(Ran { program, outcome })
}

/// Which buffers nobody gave contents: the first thing to look at when undefined bytes are read.
fn empty_buffers(program: &Program, req: &Request) -> Option<String> {
    let given = |name: &str| req.args.iter().any(|g| g.binding.name == name);
    let names: Vec<String> = program
        .funcs
        .get(program.entry)?
        .args
        .iter()
        .filter(|a| matches!(a.kind, exec::ArgKind::Buffer(_)) && !given(&a.name))
        .map(|a| format!("`{}`", a.name))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "no --arg gives {}: what is read of such a buffer counts as never written",
            names.join(", ")
        )
    })
}

/// A note when the module names another architecture than the target's.
fn foreign_arch(program: &Program, target: &Target) -> Option<Diagnostic> {
    let (arch, _) = program.arch.as_ref()?;
    let known = crate::targets::find(arch).ok();
    let same = known.map_or(target.answers_to(arch), |t| t.family == target.family);
    (!same).then(|| {
        let message = format!("the module is written for {arch}; it runs on {}", target.name);
        Diagnostic::new("note.arch", Level::Note, message)
    })
}

/// Shape an argument's value gives to a tile the text leaves open.
fn tile_shape(g: &Given) -> Option<Tile> {
    let (dtype, dims) = g.shape.as_ref()?;
    let [rows, cols] = dims[..] else { return None };
    let (rows, cols) = (u32::try_from(rows).ok()?, u32::try_from(cols).ok()?);
    let layout = if cols == 1 { Layout::ColMajor } else { Layout::RowMajor };
    let size = (rows, cols);
    Some(Tile { layout, ..Tile::plain(&g.binding.name, *dtype, size, size) })
}

/// Timelines of all blocks on a target.
pub fn timelines(ran: &Ran, target: &Target) -> Vec<Timeline> {
    let _span = info_span!("time").entered();
    ran.outcome.blocks.iter().map(|b| time(&b.stream, target)).collect()
}

impl Ran {
    /// Drops findings whose code is not wanted.
    pub fn keep(&mut self, wanted: impl Fn(&str) -> bool) {
        for b in &mut self.outcome.blocks {
            b.findings.retain(|f| wanted(f.diag.code));
        }
    }

    /// Makes every warning an error, as `--deny warnings` asks.
    pub fn deny_warnings(&mut self) {
        let findings = self.outcome.blocks.iter_mut().flat_map(|b| &mut b.findings);
        let all = findings.map(|f| &mut f.diag).chain(&mut self.outcome.notes);
        deny(all);
    }

    /// Findings of all blocks as diagnostics with places, the fault that stopped the run last.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let files = self.files();
        let mut out = Vec::new();
        for b in &self.outcome.blocks {
            out.extend(b.findings.iter().map(|f| f.render(&b.stream, &files)));
        }
        out.extend(self.outcome.notes.iter().filter(|d| d.level > Level::Note).cloned());
        out.extend(self.outcome.stop.clone());
        out
    }

    /// Texts that sites point into: the program, and the microcode of the user.
    pub fn files(&self) -> Vec<Arc<SourceFile>> {
        let own = self.program.microcode.first().map(|o| o.source().clone());
        std::iter::once(self.program.source.clone()).chain(own).collect()
    }

    /// Exit status of the run alone: 2 for a refusal met while running, 1 for error-level
    /// findings, 0 otherwise.
    pub fn status(&self) -> u8 {
        if self.outcome.stop.as_ref().is_some_and(is_refusal) {
            return 2;
        }
        u8::from(self.diagnostics().iter().any(|d| d.level == Level::Error))
    }

    /// Shape of a tile argument in the order of its storage.
    fn tile_shape(&self, name: &str) -> Option<Vec<u64>> {
        let f = self.program.funcs.get(self.program.entry)?;
        match &f.args.iter().find(|a| a.name == name)?.kind {
            exec::ArgKind::Tile(t, _) => {
                let transposed = t.layout == Layout::ColMajor && t.cols > 1;
                let (rows, cols) = if transposed { (t.cols, t.rows) } else { (t.rows, t.cols) };
                Some(vec![rows.into(), cols.into()])
            }
            _ => None,
        }
    }

    /// Shape of an argument's buffer as far as the program or the caller says it.
    pub fn output_shape(&self, given: &[Given], name: &str, elements: u64) -> Vec<u64> {
        let said = given.iter().find(|g| g.binding.name == name).and_then(|g| g.shape.clone());
        let dims = said
            .map(|(_, dims)| dims)
            .or_else(|| self.tile_shape(name))
            .or_else(|| self.program.view_shape(name));
        dims.filter(|d| d.iter().product::<u64>() == elements).unwrap_or_else(|| vec![elements])
    }
}

/// Raises warnings to errors.
pub fn deny<'d>(all: impl Iterator<Item = &'d mut Diagnostic>) {
    for d in all.filter(|d| d.level == Level::Warning) {
        d.level = Level::Error;
        d.notes.push("a warning, made an error by --deny warnings".into());
    }
}

/// Codes of refusals, as opposed to faults of a running program.
pub fn is_refusal(d: &Diagnostic) -> bool {
    ["legality.", "lower.", "unsupported", "usage.", "limit.", "syntax"]
        .iter()
        .any(|p| d.code.starts_with(p))
}

/// Bytes of the type.
pub fn elements(bytes: usize, t: DType) -> u64 {
    (bytes / t.size()) as u64
}
