//! `ptoemu op`: the everyday question about one tile operation.

use super::output::table;
use super::places::Places;
use super::run::{Deny, Microcode, Order, built_in, order, quirks};
use super::{TargetArgs, print, say, show_all, tile_op, write_json};
use crate::report::{self, FindingReport};
use crate::session::{self, Refusal, deny, is_refusal, limits};
use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use ptoemu_core::diag::{Diagnostic, Level, SourceFile, count};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::Pipe;
use ptoemu_core::target::Target;
use ptoemu_core::time::time;
use ptoemu_isa::case::{self, Case, Placement, Scratch, Trial};
use ptoemu_isa::exec::Own;
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::Settings;
use ptoemu_isa::table::What;
use ptoemu_isa::tile::{self, Call};
use ptoemu_isa::verify::{BuiltIn, Subject};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `op`.
#[derive(Args, Debug)]
pub struct OpArgs {
    /// Tile operation, for example trowmax.
    op: String,
    /// Element type.
    dtype: String,
    /// Physical rows and columns, RxC.
    shape: String,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    case: CaseArgs,
    /// Seed of the generated data.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Treat warnings as errors: `--deny warnings`.
    #[arg(long, value_enum)]
    deny: Option<Deny>,
    /// Write the operation as a program `ptoemu run` takes, its operands arguments.
    #[arg(long, value_name = "FILE.pto")]
    emit_pto: Option<PathBuf>,
    /// Print the microcode with every parameter.
    #[arg(long)]
    list: bool,
    /// Write the results as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What a tile operation is besides its name, type and shape.
#[derive(Args, Clone, Debug)]
pub struct CaseArgs {
    /// Valid rows and columns, RxC; all by default.
    #[arg(long, value_name = "RxC")]
    pub(super) valid: Option<String>,
    /// Row-expand operations: 1, one scalar per row; 2, one 32-byte block per row.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(super) mode: u8,
    /// Row-expand operations: the expanded operand is src0.
    #[arg(long)]
    pub(super) swap: bool,
    /// Shape of the scratch tile.
    #[arg(long, value_name = "RxC", conflicts_with = "no_tmp")]
    pub(super) tmp: Option<String>,
    /// Leave the scratch tile out.
    #[arg(long)]
    pub(super) no_tmp: bool,
    /// Layout of a row reduction's result: nd or dn (one column, col_major).
    #[arg(long, value_enum, default_value = "dn")]
    pub(super) dst: Layout,
    /// Physical columns of the destination.
    #[arg(long, value_name = "N")]
    pub(super) dst_cols: Option<u32>,
    /// Layout of TROWEXPAND's source.
    #[arg(long, value_enum, default_value = "dn")]
    pub(super) src: Layout,
    /// Element type of a conversion's result.
    #[arg(long, value_name = "TYPE")]
    pub(super) to: Option<String>,
    /// Valid sizes are run-time values (some fast paths need static ones).
    #[arg(long)]
    pub(super) dynamic: bool,
    /// Microcode: corrected, vendor, or a file with a function named after the operation.
    #[arg(long, default_value = "corrected", value_name = "corrected|vendor|FILE.pto")]
    pub(super) microcode: Microcode,
    /// Swapped SUB, DIV, EXPDIF: seed or vendor.
    #[arg(long, value_enum, default_value = "seed")]
    pub(super) operand_order: Order,
}

/// Layout of a one-column tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// Row-major, first column of a block per row.
    Nd,
    /// Column-major, one column.
    Dn,
}

#[derive(Serialize)]
struct Report {
    results: Vec<ResultReport>,
}

#[derive(Serialize)]
struct ResultReport {
    target: String,
    op: &'static str,
    dtype: &'static str,
    rows: u32,
    cols: u32,
    valid_rows: u32,
    valid_cols: u32,
    cycles: u64,
    vector_busy: u64,
    correct: bool,
    mismatch: Option<String>,
    findings: Vec<FindingReport>,
    microcode: Vec<Value>,
    stalls: BTreeMap<&'static str, u64>,
}

/// Parses `RxC`.
pub(crate) fn pair(text: &str) -> Result<(u32, u32)> {
    let parsed = text.split_once('x').and_then(|(r, c)| Some((r.parse().ok()?, c.parse().ok()?)));
    parsed.ok_or_else(|| anyhow!("`{text}` is not RxC, for example 64x128"))
}

/// Parses the physical shape of a tile.
pub(crate) fn shape(text: &str) -> Result<(u32, u32)> {
    let (rows, cols) = pair(text)?;
    anyhow::ensure!(rows > 0 && cols > 0, "{text} holds nothing: give 1x1 or more");
    Ok((rows, cols))
}

impl CaseArgs {
    /// The same for commands that take no microcode file.
    pub(super) fn built_in(&self, op: &str, dtype: &str, shape: &str) -> Result<Case, Refusal> {
        built_in(&self.microcode)?;
        self.case(op, dtype, shape)
    }

    /// The case of an operation by name, element type and shape as written.
    pub(super) fn case(&self, op: &str, dtype: &str, shape: &str) -> Result<Case, Refusal> {
        let found = tile_op(op)?;
        let name = found.name;
        if found.sig.view {
            let what = anyhow!("{name} moves global memory: write a kernel and use `ptoemu run`");
            return Err(what.into());
        }
        let dtype: DType = dtype.parse().map_err(|e| anyhow!("{e}"))?;
        let (rows, cols) = self::shape(shape)?;
        if u64::from(rows) * u64::from(cols) > 1 << 24 {
            return Err(anyhow!("{rows}x{cols} is larger than any UB").into());
        }
        let mut c = Case::new(found, dtype, rows, cols);
        if let Some(v) = &self.valid {
            c.valid = pair(v)?;
        }
        let to = self.to.as_ref().map(|t| t.parse().map_err(|e| anyhow!("{e}")));
        c.to = to.transpose()?;
        if name == "tcvt" && c.to.is_none() {
            return Err(anyhow!("tcvt needs --to TYPE").into());
        }
        c.mode = self.mode;
        c.swap = self.swap;
        c.tmp = match &self.tmp {
            Some(t) => {
                let (r, k) = pair(t)?;
                Scratch::Shape(r, k)
            }
            None if self.no_tmp => Scratch::None,
            None => Scratch::Default,
        };
        let layout = if found.reduces_rows() { self.dst } else { self.src };
        c.dn = layout == Layout::Dn;
        c.dst_cols = self.dst_cols;
        c.dynamic = self.dynamic;
        c.quirks = quirks(&self.microcode);
        c.order = order(self.operand_order);
        Ok(c)
    }
}

/// Runs one tile operation on every target asked for.
pub fn op(args: &OpArgs) -> Result<u8, Refusal> {
    let case = args.case.case(&args.op, &args.dtype, &args.shape)?;
    let targets = args.target.load()?;
    if args.emit_pto.is_some() && targets.iter().any(|t| t.family == tile::Family::A5) {
        let text = "--emit-pto writes A2/A3 instructions; for the 950 use --list";
        return Err(anyhow!(text).into());
    }
    let call = case.call(Placement::Packed { align: 512 });
    let mut report = Report { results: Vec::new() };
    let mut strays = Vec::new();
    let places = Places::default().target(&args.target).microcode(&args.case.microcode);
    places.writes("--emit-pto", &args.emit_pto).writes("--json", &args.json).check_writable()?;
    for target in &targets {
        let limits = limits(target);
        let settings = Settings { ub_bytes: limits.ub_bytes, ..Settings::of(target.family) };
        let own = own(args, &case, target.family)?;
        let subject: &dyn Subject = own.as_ref().map_or(&BuiltIn, |o| o);
        let done = case::execute_by(subject, &call, &limits, settings, args.seed);
        let mut trial = match done {
            Ok(t) => t,
            Err(stop) => {
                let refused = is_refusal(&stop.0);
                show_all(&[*stop.0]);
                return Ok(if refused { 2 } else { 1 });
            }
        };
        if args.deny.is_some() {
            let findings = trial.findings.iter_mut().map(|f| &mut f.diag);
            deny(findings.chain(&mut trial.notes));
        }
        report.results.push(result(args, &case, &call, target, &trial)?);
        let source = subject.source();
        show_all(&messages(&trial, source.as_ref()));
        strays.push(trial.stray);
    }
    if let Some(path) = &args.emit_pto {
        let data = |k, t| format!("rand({},{},{k})", args.seed, case::dist(t));
        let text = case::to_pto(&call, &data)
            .ok_or_else(|| anyhow!("{} cannot be written as a program", call.op.name))?;
        crate::data::write_whole(path, text.as_bytes())?;
    }
    if args.json.is_none() {
        report.results.iter().zip(strays).for_each(|(r, stray)| show(r, stray, args.list));
    }
    write_json(&args.json, &report)?;
    let bad = |r: &ResultReport| !r.correct || r.findings.iter().any(|f| f.level == "error");
    Ok(u8::from(report.results.iter().any(bad)))
}

/// The function of a microcode file that stands for the operation.
fn own(args: &OpArgs, case: &Case, family: tile::Family) -> Result<Option<Own>, Refusal> {
    let Microcode::File(path) = &args.case.microcode else { return Ok(None) };
    if args.list || args.emit_pto.is_some() {
        let text = "--list and --emit-pto show microcode of the emulator, not of a file";
        return Err(anyhow!(text).into());
    }
    let all = session::microcode(path, family)?;
    let found = all.into_iter().find(|o| o.op.name == case.op.name);
    let missing = || anyhow!("{} has no function @{}", path.display(), case.op.name);
    Ok(Some(found.ok_or_else(missing)?))
}

fn messages(trial: &Trial, own: Option<&Arc<SourceFile>>) -> Vec<Diagnostic> {
    // Sites of the user's text are those of file 1.
    let files: Vec<_> = own.into_iter().flat_map(|s| [s.clone(), s.clone()]).collect();
    let findings = trial.findings.iter().map(|f| f.render(&trial.stream, &files));
    trial.notes.iter().filter(|n| n.level > Level::Note).cloned().chain(findings).collect()
}

fn result(
    args: &OpArgs,
    case: &Case,
    call: &Call,
    target: &Target,
    trial: &Trial,
) -> Result<ResultReport, Refusal> {
    let line = time(&trial.stream, target);
    let v = line.pipe(Pipe::V);
    let stalls = ptoemu_core::time::Cause::ALL
        .into_iter()
        .filter(|c| v.stalled(*c) > 0)
        .map(|c| (c.name(), v.stalled(c)))
        .collect();
    let mut findings: Vec<FindingReport> =
        messages(trial, None).iter().map(|d| report::finding(d, None)).collect();
    if let Some((at, n)) = trial.stray {
        let message = stray_message(at, n);
        findings.push(report::finding(&Diagnostic::error("memcheck.stray", message), None));
    }
    let built_in = !matches!(args.case.microcode, Microcode::File(_));
    let listed = built_in && (args.list || args.json.is_some());
    let microcode = if listed { microcode(call, target.family)? } else { Vec::new() };
    Ok(ResultReport {
        target: target.name.clone(),
        op: call.op.name,
        dtype: case.dtype.name(),
        rows: case.shape.0,
        cols: case.shape.1,
        valid_rows: case.valid.0,
        valid_cols: case.valid.1,
        cycles: line.cycles,
        vector_busy: v.busy,
        correct: trial.mismatch.is_none() && trial.stray.is_none(),
        mismatch: trial.mismatch.as_ref().map(|m| {
            format!(
                "[{}, {}] is {:#x}, the meaning is {:#x}; {} elements differ",
                m.at.0, m.at.1, m.got, m.want, m.count
            )
        }),
        findings,
        microcode,
        stalls,
    })
}

/// The microcode of a call, an instruction or micro-op each.
fn microcode(call: &Call, family: tile::Family) -> Result<Vec<Value>, Refusal> {
    let stop = |s: ptoemu_isa::machine::Stop| Refusal::Program(vec![*s.0]);
    match family {
        tile::Family::A2A3 => {
            Ok(case::listing(call).map_err(stop)?.iter().map(|i| listed(call, i)).collect())
        }
        tile::Family::A5 => {
            Ok(super::functions::listed(call, &case::listing_a5(call).map_err(stop)?))
        }
    }
}

fn stray_message(at: u64, n: u64) -> String {
    let (bytes, was) = (count(n, "byte"), if n == 1 { "was" } else { "were" });
    format!("{bytes} outside the valid region {was} written, the first at UB {at:#x}")
}

/// One instruction with parameters by name, addresses as [tile, offset in bytes].
pub(crate) fn listed(call: &Call, i: &Instr) -> Value {
    let mut out = Map::new();
    out.insert("op".into(), json!(i.op.mnemonic()));
    for (p, v) in i.form().params().iter().zip(i.args) {
        let value = match p.what {
            What::Addr(_) => place(call, v as u64),
            What::Pipe => json!(Pipe::ALL.get(v as usize).map_or("?", |p| p.name())),
            What::Num if p.name.starts_with("mask") => json!(format!("{v:#x}")),
            What::Scalar => json!(format!("{v:#x}")),
            _ => json!(v),
        };
        out.insert(p.name.into(), value);
    }
    Value::Object(out)
}

pub(super) fn place(call: &Call, addr: u64) -> Value {
    for (role, t) in call.tiles() {
        if (t.addr..t.end()).contains(&addr) {
            return json!([role, addr - t.addr]);
        }
    }
    match addr.checked_sub(tile::SCRATCH) {
        Some(at) if at < tile::SCRATCH_BYTES => json!(["tmpub184K", at]),
        _ => json!(["ub", addr]),
    }
}

fn show(r: &ResultReport, stray: Option<(u64, u64)>, list: bool) {
    let valid = if (r.rows, r.cols) == (r.valid_rows, r.valid_cols) {
        String::new()
    } else {
        format!(" valid {}x{}", r.valid_rows, r.valid_cols)
    };
    let state = match (&r.mismatch, stray) {
        (Some(_), _) => "WRONG VALUES",
        (None, Some(_)) => "values as meant, but STRAY WRITES",
        (None, None) => "values as meant",
    };
    print(&format!(
        "{} {} {}x{}{valid} on {}: {} cycles, vector busy {}, {state}",
        r.op, r.dtype, r.rows, r.cols, r.target, r.cycles, r.vector_busy
    ));
    if let Some(m) = &r.mismatch {
        say(&format!("error: {m}"));
    }
    if let Some((at, n)) = stray {
        say(&format!("error: {}", stray_message(at, n)));
    }
    let stalls: Vec<String> = r.stalls.iter().map(|(c, n)| format!("{c} {n}")).collect();
    if !stalls.is_empty() {
        print(&format!("vector pipe stood still: {}", stalls.join(", ")));
    }
    if list {
        let rows: Vec<Vec<String>> = r.microcode.iter().enumerate().map(row).collect();
        print("");
        print(&table(&["#", "instruction", "parameters"], &rows));
    }
}

fn row((n, v): (usize, &Value)) -> Vec<String> {
    let Value::Object(map) = v else { return Vec::new() };
    let text = |v: &Value| match v {
        Value::Array(a) => match &a[..] {
            [Value::String(tile), at] => format!("{tile}+{at}"),
            _ => v.to_string(),
        },
        Value::String(s) => s.clone(),
        _ => v.to_string(),
    };
    let params: Vec<String> =
        map.iter().filter(|(k, _)| *k != "op").map(|(k, v)| format!("{k}={}", text(v))).collect();
    vec![n.to_string(), map.get("op").map(text).unwrap_or_default(), params.join(" ")]
}
