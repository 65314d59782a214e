//! Published measurements: the rows of the tables, and the same work on our model.
//!
//! Lines and cases are whole tile operations, isolated. Lines were measured with tiles far apart
//! (each in a bank layer of its own), single cases with small tiles side by side.

use crate::measured_950;
use crate::session::Refusal;
use crate::work::{Reading, Work};
use anyhow::Result;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::Stream;
use ptoemu_core::target::{Family, Target};
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
    column(r, name).trim().parse().ok().filter(|v: &f64| v.is_finite())
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

/// One row of a table: what was measured, and the same work of ours or why there is none.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Group it is summarised in.
    pub kind: String,
    /// Case.
    pub case: String,
    /// The row's own columns.
    pub columns: Record,
    /// Cycles measured.
    pub measured: f64,
    /// Our work.
    pub work: Result<Work, String>,
}

impl Measured {
    /// The row with our cycles on a target.
    pub fn score(self, target: &Target) -> Row {
        let Measured { kind, case, columns, measured, work } = self;
        let relative = |v: f64| if measured == 0.0 { 0.0 } else { (v - measured) / measured };
        let peer_error = number(&columns, "peer_model_cycles").map(relative);
        let result = match work.and_then(|w| w.cycles(target)) {
            Ok(ours) => Scored::Ran { ours, rel_error: relative(ours) },
            Err(skipped) => Scored::Skipped { skipped },
        };
        Row { kind, case, columns, measured, result, peer_error }
    }
}

fn scored(rows: Vec<Measured>, target: &Target) -> Vec<Row> {
    rows.into_par_iter().map(|m| m.score(target)).collect()
}

/// Rows of a table of single cases, or of board and simulator points.
pub fn points(rows: &[Record], target: &Target) -> Result<Vec<Row>, Refusal> {
    points_on(rows, target, Quirks::vendor())
}

/// The same on a variant of the microcode.
pub fn points_on(rows: &[Record], target: &Target, quirks: Quirks) -> Result<Vec<Row>, Refusal> {
    Ok(scored(point_works(rows, target.family, quirks)?, target))
}

/// The work behind such rows.
pub fn point_works(
    rows: &[Record],
    family: Family,
    quirks: Quirks,
) -> Result<Vec<Measured>, Refusal> {
    let all: Result<Vec<Option<Measured>>, Refusal> =
        rows.par_iter().map(|r| point(r, family, quirks)).collect();
    Ok(all?.into_iter().flatten().collect())
}

fn point(r: &Record, family: Family, quirks: Quirks) -> Result<Option<Measured>, Refusal> {
    if r.contains_key("unit") {
        return Ok(match family {
            Family::A2A3 => board(r),
            Family::A5 => measured_950::board(r, quirks),
        });
    }
    if !r.contains_key("measured_cycles") {
        let message = "not a known table: it has neither `measured_cycles` nor `unit`";
        return Err(anyhow::anyhow!(message).into());
    }
    let verdict = match r.get("verdict") {
        Some(text) => verdict(text),
        None => "measured",
    };
    let work = match verdict.starts_with("measured") {
        true => case(r, family, quirks),
        false => Err(format!("not scored: the table calls the figure {verdict}")),
    };
    let measured = number(r, "measured_cycles");
    Ok(Some(Measured {
        kind: format!("case {verdict}"),
        case: column(r, "case").into(),
        columns: r.clone(),
        measured: measured.unwrap_or(0.0),
        work: measured.map_or(Err("no measured figure".into()), |_| work),
    }))
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

/// Is the shape one that a UB could hold?
pub(crate) fn fits(rows: u32, cols: u32) -> Result<(), String> {
    match u64::from(rows) * u64::from(cols) {
        0 => Err(format!("{rows}x{cols} has no element")),
        n if n > 1 << 18 => Err(format!("{rows}x{cols} is larger than any UB")),
        _ => Ok(()),
    }
}

/// The microcode of a call, recorded.
pub(crate) fn recorded(call: &Call, family: Family) -> Result<Work, String> {
    record(call, family).map(Work::total).map_err(|s| s.0.message.clone())
}

fn case(r: &Record, family: Family, quirks: Quirks) -> Result<Work, String> {
    let op = operation(column(r, "op"))?;
    if op.name == "tload" {
        return load(r, family, quirks);
    }
    let t = dtype(column(r, "dtype")).ok_or("unknown element type")?;
    let sizes = ["rows", "cols"].map(|n| size(r, n));
    let [Some(rows), Some(cols)] = sizes else { return Err("no shape".into()) };
    let valid = |name, whole| if column(r, name).is_empty() { Some(whole) } else { size(r, name) };
    let (Some(vr), Some(vc)) = (valid("valid_rows", rows), valid("valid_cols", cols)) else {
        return Err("no valid shape".into());
    };
    fits(rows, cols)?;
    let mut c = Case::new(op, t, rows, cols);
    c.valid = (vr, vc);
    c.quirks = quirks;
    if op.name == "tcvt" {
        let mut types = column(r, "test_template_args").split(',').filter_map(dtype);
        c.to = types.next();
        c.dtype = types.next().ok_or("no source type")?;
    }
    as_measured(&mut c);
    if op.name == "tdivs" && cols > 0 && rows * cols % 64 == 0 {
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
    let stream = Box::new(record(&call, family).map_err(|s| s.0.message.clone())?);
    // The reading of the vector pipe alone: without drain and end.
    let active: &[&str] = &["drain", "end"];
    let less = if column(r, "verdict").contains("active") { active } else { &[] };
    Ok(Work::Stream(stream, Reading::Total { less }))
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
fn load(r: &Record, family: Family, quirks: Quirks) -> Result<Work, String> {
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
    recorded(&call, family)
}

/// Rows of a table of fitted lines, each as its total at 64 rows.
pub fn lines(rows: &[Record], target: &Target) -> Result<Vec<Row>, Refusal> {
    lines_on(rows, target, Quirks::vendor())
}

/// The same on a variant of the microcode.
pub fn lines_on(rows: &[Record], target: &Target, quirks: Quirks) -> Result<Vec<Row>, Refusal> {
    Ok(scored(line_works(rows, target.family, quirks, &[LINE_ROWS])?, target))
}

/// Rows at which lines are scored.
pub const LINE_ROWS: u32 = 64;

/// The work behind such rows, each line read at some numbers of rows.
pub fn line_works(
    lines: &[Record],
    family: Family,
    quirks: Quirks,
    at: &[u32],
) -> Result<Vec<Measured>, Refusal> {
    let one = |(r, rows): (&Record, u32)| -> Result<Measured, Refusal> {
        let op = column(r, "op");
        let (slope, bias) = (number(r, "slope"), number(r, "bias"));
        let (Some(slope), Some(bias)) = (slope, bias) else {
            return Err(anyhow::anyhow!("a line without slope or bias").into());
        };
        let (cols, t) = match column(r, "cols") {
            "*" => (64, DType::F32),
            _ => (size(r, "cols").unwrap_or(0), dtype(column(r, "dtype")).unwrap_or(DType::F32)),
        };
        Ok(Measured {
            kind: format!("line {op}"),
            case: format!("{op} {t} {rows}x{cols}"),
            columns: r.clone(),
            measured: slope * f64::from(rows) * f64::from(cols) + bias,
            work: line(op, t, (rows, cols), family, quirks),
        })
    };
    let all: Vec<(&Record, u32)> =
        lines.iter().flat_map(|r| at.iter().map(move |&n| (r, n))).collect();
    all.into_par_iter().map(one).collect()
}

fn line(
    op: &str,
    t: DType,
    (rows, cols): (u32, u32),
    family: Family,
    quirks: Quirks,
) -> Result<Work, String> {
    fits(rows, cols)?;
    let mut c = Case::new(operation(op)?, t, rows, cols);
    c.quirks = quirks;
    as_measured(&mut c);
    recorded(&c.call(Placement::Virtual), family)
}

/// A row of board and simulator points: those with an address layout of Add.
fn board(r: &Record) -> Option<Measured> {
    if column(r, "target") != "a2a3" {
        return None;
    }
    let name = column(r, "name");
    let measured = number(r, "measured");
    let row = |kind: &str, case: &str, measured: f64, work: Result<Work, String>| Measured {
        kind: kind.into(),
        case: case.into(),
        columns: r.clone(),
        measured,
        work,
    };
    let shown = format!("{name} {}", column(r, "shape_params"));
    let skip =
        |kind: &str, why: &str| Some(row(kind, &shown, measured.unwrap_or(0.0), Err(why.into())));
    if name.starts_with("Add x1000") {
        let numbers: Vec<u64> = addresses(column(r, "shape_params"));
        let [s0, s1, d] = numbers[..] else { return skip("board", "no addresses") };
        let ours = loop_of_adds(DType::F32, [d, s0, s1], 64);
        // Ticks of 20 ns for 1000 Adds at 1.8 GHz.
        let per_add = measured? * 0.036;
        return Some(row("board, Add in a loop", name, per_add, ours));
    }
    if let Some(rest) = name.strip_prefix("f16 Add R") {
        let repeats = rest.split([' ', '(']).next()?.parse().ok()?;
        let ours = loop_of_adds(DType::F16, [0x10000, 0, 0x8000], repeats);
        return Some(row("board, Add in a loop", name, measured?, ours));
    }
    if column(r, "kind") == "conflict" && column(r, "shape_params").contains('/') {
        let first = measured_range(column(r, "measured"));
        let numbers = addresses(column(r, "shape_params"));
        let [s0, s1, d] = numbers[..] else { return skip("simulator", "no addresses") };
        let ours = per_repeat(DType::F32, [d, s0, s1]);
        return Some(row("simulator, cycles per repeat", &shown, first, ours));
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

fn stream(instrs: &[Instr]) -> Result<Box<Stream>, String> {
    let mut r = Recorder::default();
    for i in instrs {
        r.issue(i).map_err(|s| s.0.message.clone())?;
    }
    Ok(Box::new(r.into_stream()))
}

/// One round of a loop that sets the mask, adds and waits: the board's unit.
fn loop_of_adds(t: DType, at: [u64; 3], repeats: i64) -> Result<Work, String> {
    let startup = format!("vadd.{}.startup", t.name());
    Ok(Work::Stream(stream(&[add(t, at, repeats)])?, Reading::Round { startup }))
}

/// Busy cycles per repeat of a long Add.
fn per_repeat(t: DType, at: [u64; 3]) -> Result<Work, String> {
    const REPEATS: i64 = 64;
    let calls = 1.0 / REPEATS as f64;
    Ok(Work::Stream(stream(&[add(t, at, REPEATS)])?, Reading::Busy { calls }))
}
