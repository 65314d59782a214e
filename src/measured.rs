//! Published measurements: the rows of the tables, and the same work on our model.
//!
//! Lines and cases are whole tile operations, isolated. Lines were measured with tiles far apart
//! (each in a bank layer of its own), single cases with small tiles side by side.

use crate::session::Refusal;
use anyhow::Result;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{Pipe, Stream};
use ptoemu_core::target::Target;
use ptoemu_core::time::time;
use ptoemu_isa::case::{Case, Placement, Scratch, record};
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::{Backend, Recorder};
use ptoemu_isa::table::Op;
use ptoemu_isa::tile::{self, Call, GmLayout, GmView, Quirks};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// Columns of one row, by name.
pub type Record = BTreeMap<String, String>;

/// One scored row.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Group it is summarised in.
    pub kind: String,
    /// Case.
    pub case: String,
    /// The row's own columns.
    #[serde(flatten)]
    pub columns: Record,
    /// Cycles measured.
    pub measured: f64,
    /// Ours, or why there is none.
    #[serde(flatten)]
    pub result: Scored,
    /// Relative error of the peer model, where the table gives one.
    pub peer_error: Option<f64>,
}

/// Our figure for a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Scored {
    /// It ran.
    Ran {
        /// Our cycles.
        ours: f64,
        /// (ours - measured) / measured.
        rel_error: f64,
    },
    /// It could not be run.
    Skipped {
        /// Why.
        skipped: String,
    },
}

/// Rows of a CSV text.
pub fn records(text: &str) -> Result<Vec<Record>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers()?.clone();
    let mut out = Vec::new();
    for row in reader.records() {
        let row = row?;
        out.push(head.iter().zip(&row).map(|(h, v)| (h.to_string(), v.to_string())).collect());
    }
    Ok(out)
}

pub(crate) fn column<'r>(r: &'r Record, name: &str) -> &'r str {
    r.get(name).map_or("", String::as_str)
}

pub(crate) fn number(r: &Record, name: &str) -> Option<f64> {
    column(r, name).trim().parse().ok()
}

pub(crate) fn size(r: &Record, name: &str) -> Option<u32> {
    number(r, name).filter(|v| *v >= 0.0 && *v < 1e9).map(|v| v as u32)
}

pub(crate) fn dtype(name: &str) -> Option<DType> {
    Some(match name.trim() {
        "float" | "fp32" => DType::F32,
        "half" | "fp16" => DType::F16,
        other => {
            other.trim_end_matches("_t").replace("uint", "u").replace("int", "i").parse().ok()?
        }
    })
}

pub(crate) fn score(
    kind: String,
    case: String,
    columns: Record,
    measured: f64,
    ours: Result<f64, String>,
) -> Row {
    let relative = |v: f64| if measured == 0.0 { 0.0 } else { (v - measured) / measured };
    let peer_error = number(&columns, "peer_model_cycles").map(relative);
    let result = match ours {
        Ok(ours) => Scored::Ran { ours, rel_error: relative(ours) },
        Err(skipped) => Scored::Skipped { skipped },
    };
    Row { kind, case, columns, measured, result, peer_error }
}

/// Rows of a table of single cases, or of board and simulator points.
pub fn points(rows: &[Record], target: &Target) -> Result<Vec<Row>, Refusal> {
    points_on(rows, target, Quirks::vendor())
}

/// The same on a variant of the microcode.
pub fn points_on(rows: &[Record], target: &Target, quirks: Quirks) -> Result<Vec<Row>, Refusal> {
    let scored: Result<Vec<Option<Row>>, Refusal> =
        rows.par_iter().map(|r| point(r, target, quirks)).collect();
    Ok(scored?.into_iter().flatten().collect())
}

fn point(r: &Record, target: &Target, quirks: Quirks) -> Result<Option<Row>, Refusal> {
    if r.contains_key("unit") {
        return Ok(board(r, target));
    }
    if !r.contains_key("measured_cycles") {
        let message = "not a known table: it has neither `measured_cycles` nor `unit`";
        return Err(anyhow::anyhow!(message).into());
    }
    let measured = number(r, "measured_cycles").unwrap_or(0.0);
    let verdict = verdict(column(r, "verdict"));
    let ours = match verdict.starts_with("measured") {
        true => case(r, target, quirks),
        false => Err(format!("not scored: the table calls the figure {verdict}")),
    };
    let kind = format!("case {verdict}");
    Ok(Some(score(kind, column(r, "case").into(), r.clone(), measured, ours)))
}

/// What the table says of a figure, in a word.
fn verdict(text: &str) -> &'static str {
    let starts = |p: &str| text.starts_with(p);
    match () {
        () if starts("MEASURED isolated") => "measured, isolated",
        () if starts("MEASURED active") => "measured, vector active",
        () if starts("MEASURED (simulator-like)") => "measured, transfer",
        () if starts("MEASURED?") => "measured, doubtful",
        () if starts("STALE") => "stale",
        () if starts("REBASED") => "rebased",
        () if starts("SUSPECT") => "suspect",
        () => "other",
    }
}

pub(crate) fn operation(name: &str) -> Result<&'static tile::TileOp, String> {
    tile::find(&name.to_ascii_lowercase()).ok_or_else(|| format!("{name} is not implemented"))
}

pub(crate) fn cycles(call: &Call, target: &Target) -> Result<f64, String> {
    let stream = record(call, target.family).map_err(|s| s.0.message.clone())?;
    let line = time(&stream, target);
    match line.faults.first() {
        Some(d) => Err(d.message.clone()),
        None => Ok(line.cycles as f64),
    }
}

fn case(r: &Record, target: &Target, quirks: Quirks) -> Result<f64, String> {
    let op = operation(column(r, "op"))?;
    if op.name == "tload" {
        return load(r, target, quirks);
    }
    let t = dtype(column(r, "dtype")).ok_or("unknown element type")?;
    let sizes = ["rows", "cols", "valid_rows", "valid_cols"].map(|n| size(r, n));
    let [Some(rows), Some(cols), Some(vr), Some(vc)] = sizes else {
        return Err("no shape".into());
    };
    let mut c = Case::new(op, t, rows, cols);
    c.valid = (vr, vc);
    c.quirks = quirks;
    if op.name == "tcvt" {
        let mut types = column(r, "test_template_args").split(',').filter_map(dtype);
        c.to = types.next();
        c.dtype = types.next().ok_or("no source type")?;
    }
    as_measured(&mut c);
    if op.name == "tdivs" && rows * cols % 64 == 0 {
        // Measured when the contiguous path issued whole repeats only (the table says so).
        c.shape.0 = (rows * cols).next_multiple_of(128) / cols;
        c.valid = c.shape;
    }
    let mut call = c.call(Placement::Packed { align: 512 });
    call.attrs.reversed = column(r, "case").contains("scalar_tile");
    call.attrs.binary = column(r, "test_template_args").contains("true");
    if column(r, "case").contains("inplace")
        && let Some(src) = call.src.first()
    {
        call.dst.addr = src.addr;
    }
    let isolated = cycles(&call, target)?;
    if !column(r, "verdict").contains("active") {
        return Ok(isolated);
    }
    // The reading of the vector pipe alone: without drain and end.
    let tail = ["drain", "end"].iter().filter_map(|p| target.value(p)).sum::<f64>();
    Ok(isolated - tail)
}

/// The paths the tables were measured on: row reductions with run-time valid sizes into a block
/// per row, TROWEXPAND from a block per row with run-time sizes, the rest static and contiguous.
fn as_measured(c: &mut Case) {
    if c.op.reduces_rows() || c.op.name == "trowexpand" {
        (c.dynamic, c.dn) = (true, false);
    }
    if c.op.sig.tmp == tile::Tmp::Optional {
        c.tmp = Scratch::None;
    }
}

/// `TLOAD`: five GM sizes, tile rows and columns from the test's arguments.
fn load(r: &Record, target: &Target, quirks: Quirks) -> Result<f64, String> {
    let args: Vec<&str> = column(r, "test_template_args").split(',').map(str::trim).collect();
    let ints: Vec<u32> = args.iter().skip(1).map_while(|a| a.parse().ok()).collect();
    let [g0, g1, g2, rows, cols, ..] = ints[..] else { return Err("no GM shape".into()) };
    if args.iter().any(|a| a.contains("Layout")) {
        return Err("a convolution layout".into());
    }
    let t = dtype(column(r, "dtype")).ok_or("unknown element type")?;
    let outer = g0.max(1) * g1.max(1) * g2.max(1);
    let op = operation("tload")?;
    let mut c = Case::new(op, t, size(r, "rows").unwrap_or(rows), size(r, "cols").unwrap_or(cols));
    c.valid = (rows, cols);
    c.quirks = quirks;
    let mut call = c.call(Placement::Virtual);
    call.dst.addr = 0;
    let g3 = rows / outer;
    let row = i64::from(cols);
    let inner = i64::from(g3) * row;
    call.view = Some(GmView {
        name: "gm".into(),
        addr: 1 << 40,
        dtype: t,
        shape: [g0, g1, g2, g3, cols],
        strides: [inner * i64::from(g1 * g2), inner * i64::from(g2), inner, row, 1],
        layout: GmLayout::Nd,
    });
    cycles(&call, target)
}

/// Rows of a table of fitted lines, each as its total at 64 rows.
pub fn lines(rows: &[Record], target: &Target) -> Result<Vec<Row>, Refusal> {
    lines_on(rows, target, Quirks::vendor())
}

/// The same on a variant of the microcode.
pub fn lines_on(rows: &[Record], target: &Target, quirks: Quirks) -> Result<Vec<Row>, Refusal> {
    const ROWS: u32 = 64;
    let one = |r: &Record| -> Result<Row, Refusal> {
        let op = column(r, "op");
        let (slope, bias) = (number(r, "slope"), number(r, "bias"));
        let (Some(slope), Some(bias)) = (slope, bias) else {
            return Err(anyhow::anyhow!("a line without slope or bias").into());
        };
        let (cols, t) = match column(r, "cols") {
            "*" => (64, DType::F32),
            _ => (size(r, "cols").unwrap_or(0), dtype(column(r, "dtype")).unwrap_or(DType::F32)),
        };
        let measured = slope * f64::from(ROWS) * f64::from(cols) + bias;
        let ours = line(op, t, (ROWS, cols), target, quirks);
        let case = format!("{op} {t} {ROWS}x{cols}");
        Ok(score(format!("line {op}"), case, r.clone(), measured, ours))
    };
    rows.par_iter().map(one).collect()
}

fn line(
    op: &str,
    t: DType,
    (rows, cols): (u32, u32),
    target: &Target,
    quirks: Quirks,
) -> Result<f64, String> {
    let mut c = Case::new(operation(op)?, t, rows, cols);
    c.quirks = quirks;
    as_measured(&mut c);
    cycles(&c.call(Placement::Virtual), target)
}

/// A row of board and simulator points: those with an address layout of Add.
fn board(r: &Record, target: &Target) -> Option<Row> {
    if column(r, "target") != "a2a3" {
        return None;
    }
    let name = column(r, "name");
    let measured = number(r, "measured");
    let skip = |kind: &str, why: &str| {
        let case = format!("{name} {}", column(r, "shape_params"));
        Some(score(kind.into(), case, r.clone(), measured.unwrap_or(0.0), Err(why.into())))
    };
    if name.starts_with("Add x1000") {
        let ticks = measured?;
        let numbers: Vec<u64> = addresses(column(r, "shape_params"));
        let [s0, s1, d] = numbers[..] else { return skip("board", "no addresses") };
        let ours = loop_of_adds(DType::F32, [d, s0, s1], 64, target);
        // Ticks of 20 ns for 1000 Adds at 1.8 GHz.
        let per_add = ticks * 0.036;
        let mut row = score("board, Add in a loop".into(), name.into(), r.clone(), per_add, ours);
        row.peer_error = None;
        return Some(row);
    }
    if let Some(rest) = name.strip_prefix("f16 Add R") {
        let repeats = rest.split([' ', '(']).next()?.parse().ok()?;
        let ours = loop_of_adds(DType::F16, [0x10000, 0, 0x8000], repeats, target);
        return Some(score("board, Add in a loop".into(), name.into(), r.clone(), measured?, ours));
    }
    if column(r, "kind") == "conflict" && column(r, "shape_params").contains('/') {
        let first = measured_range(column(r, "measured"));
        let numbers = addresses(column(r, "shape_params"));
        let [s0, s1, d] = numbers[..] else { return skip("simulator", "no addresses") };
        let ours = per_repeat(DType::F32, [d, s0, s1], target);
        let case = format!("{name} {}", column(r, "shape_params"));
        return Some(score("simulator, cycles per repeat".into(), case, r.clone(), first, ours));
    }
    match column(r, "kind") {
        "instr" => skip("instruction", "an input of the model, not scored"),
        _ => skip("kernel or bandwidth", "its program is not given"),
    }
}

/// The upper end of `2.000..2.125`.
fn measured_range(text: &str) -> f64 {
    text.rsplit("..").next().and_then(|v| v.parse().ok()).unwrap_or(0.0)
}

/// Numbers in hexadecimal, in order.
fn addresses(text: &str) -> Vec<u64> {
    text.split([' ', '/', ','])
        .filter_map(|w| w.strip_prefix("0x").and_then(|h| u64::from_str_radix(h, 16).ok()))
        .collect()
}

fn add(t: DType, [d, s0, s1]: [u64; 3], repeats: i64) -> Instr {
    Instr::new(Op::vadd, t, &[d as i64, s0 as i64, s1 as i64, repeats, 1, 1, 1, 8, 8, 8])
}

fn timed(instrs: &[Instr], target: &Target) -> Result<(Stream, u64, u64), String> {
    let mut r = Recorder::default();
    for i in instrs {
        r.issue(i).map_err(|s| s.0.message.clone())?;
    }
    let stream = r.into_stream();
    let line = time(&stream, target);
    Ok((stream, line.cycles, line.pipe(Pipe::V).busy))
}

/// Cycles of one iteration of a loop that sets the mask, adds and waits: the board's unit.
///
/// Issue to retire of a lone instruction is 15 + execution + busy there, and execution is
/// `startup + 1`.
fn loop_of_adds(t: DType, at: [u64; 3], repeats: i64, target: &Target) -> Result<f64, String> {
    let (_, _, busy) = timed(&[add(t, at, repeats)], target)?;
    let path = format!("vadd.{}.startup", t.name());
    let startup = target.value(&path).ok_or_else(|| format!("no figure {path}"))?;
    Ok(15.0 + startup + 1.0 + busy as f64)
}

/// Busy cycles per repeat of a long Add.
fn per_repeat(t: DType, at: [u64; 3], target: &Target) -> Result<f64, String> {
    const REPEATS: i64 = 64;
    let (_, _, busy) = timed(&[add(t, at, REPEATS)], target)?;
    Ok(busy as f64 / REPEATS as f64)
}
