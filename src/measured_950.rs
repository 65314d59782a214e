//! Published cycles of the 950: whole tile operations from our microcode, kernels from their
//! timing-only programs, points of boards and simulators.

use crate::measured::{
    Measured, Record, Row, column, dtype, fits, number, operation, recorded, size,
};
use crate::vf_program;
use crate::work::{Part, Work};
use ptoemu_core::diag::SourceFile;
use ptoemu_core::target::{Family, Target};
use ptoemu_isa::case::{Case, Placement, Scratch};
use ptoemu_isa::tile::{Quirks, Tmp};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

/// Is this the table of the 950?
pub fn is_table(rows: &[Record]) -> bool {
    rows.first().is_some_and(|r| r.contains_key("program") && r.contains_key("variant"))
}

/// Every row: scored, or listed with the reason. `dir` holds the programs of the kernels.
pub fn points(rows: &[Record], target: &Target, dir: Option<&Path>, quirks: Quirks) -> Vec<Row> {
    let works = works(rows, target, dir, quirks);
    works.into_par_iter().map(|m| m.score(target)).collect()
}

/// The work behind the rows.
pub fn works(
    rows: &[Record],
    target: &Target,
    dir: Option<&Path>,
    quirks: Quirks,
) -> Vec<Measured> {
    let mut seen = BTreeSet::new();
    rows.iter().map(|r| point(r, target, dir, quirks, &mut seen)).collect()
}

fn point(
    r: &Record,
    target: &Target,
    dir: Option<&Path>,
    quirks: Quirks,
    seen: &mut BTreeSet<String>,
) -> Measured {
    let (kind, name) = (column(r, "kind"), column(r, "name"));
    let shown = format!(
        "{name} {} {}x{} valid {}x{} {}",
        column(r, "dtype"),
        column(r, "rows"),
        column(r, "cols"),
        column(r, "valid_rows"),
        column(r, "valid_cols"),
        form(r),
    );
    let (group, ours) = match kind {
        _ if target.family != Family::A5 => {
            ("950", Err(format!("measured on the 950, not on {}", target.name)))
        }
        "instr" => ("instr", Err("an input of the model".to_string())),
        "kernel" => ("kernel", kernel(r, dir)),
        _ => (name, tile(r, quirks)),
    };
    let measured = number(r, "measured_cycles");
    let ours = match (measured, ours) {
        (None, _) => Err("no measured figure".into()),
        (Some(m), Ok(_)) if !seen.insert(point_key(r, m)) => {
            Err("the same point as an earlier row".into())
        }
        (_, ours) => ours,
    };
    Measured {
        kind: group.to_string(),
        case: shown,
        columns: r.clone(),
        measured: measured.unwrap_or(0.0),
        work: ours,
    }
}

/// The version of the operation, without the name of the test.
fn form(r: &Record) -> &str {
    column(r, "variant").split('|').next().unwrap_or("").trim()
}

/// Full and partly valid tiles of as many chunks are one point.
fn point_key(r: &Record, measured: f64) -> String {
    let t = dtype(column(r, "dtype")).map_or(4, |t| t.size() as u32);
    let chunks = size(r, "valid_cols").unwrap_or(0).div_ceil(256 / t);
    let of = |name| column(r, name);
    format!("{} {} {} {chunks} {} {measured}", of("name"), of("dtype"), of("valid_rows"), form(r))
}

fn kernel(r: &Record, dir: Option<&Path>) -> Result<Work, String> {
    let program = column(r, "program");
    if program.is_empty() {
        return Err("no program is published with it".into());
    }
    let path = dir.map(|d| d.join(program)).ok_or("no folder of programs")?;
    let text = std::fs::read_to_string(&path)
        .map_err(|e| format!("its program is not beside the table: {e}"))?;
    let file = vf_program::read(&SourceFile::new(program, text)).map_err(|d| d.message)?;
    Ok(Work::Function(Box::new(file.program), Part::Whole))
}

fn tile(r: &Record, quirks: Quirks) -> Result<Work, String> {
    let op = operation(column(r, "name"))?;
    let types = column(r, "dtype");
    let (from, to) = types.split_once("->").map_or((types, None), |(a, b)| (a, Some(b)));
    let element = |name: &str| dtype(name).ok_or(format!("{name} is not emulated"));
    let from = element(from)?;
    let to = to.map(element).transpose()?;
    let sizes = ["rows", "cols", "valid_rows", "valid_cols"].map(|n| size(r, n));
    let [Some(rows), Some(cols), Some(vr), Some(vc)] = sizes else {
        return Err("no shape".into());
    };
    fits(rows, cols)?;
    let widens = to.is_some_and(|t| t.size() > from.size());
    if widens && rows == 1 && from.size() == 2 {
        return Err("suspect: the figures fall as the work grows".into());
    }
    let mut c = Case::new(op, from, rows, cols);
    (c.valid, c.to, c.quirks) = ((vr, vc), to, quirks);
    if op.sig.tmp == Tmp::Optional {
        c.tmp = Scratch::None;
    }
    let mut call = c.call(Placement::Packed { align: 512 });
    call.family = Family::A5;
    call.attrs.indexed = form(r).contains("NO_POST");
    recorded(&call, Family::A5)
}

/// A row of the board and simulator points that is of this family.
pub fn board(r: &Record, quirks: Quirks) -> Option<Measured> {
    if column(r, "target") != "a5" {
        return None;
    }
    let (kind, shape, unit) = (column(r, "kind"), column(r, "shape_params"), column(r, "unit"));
    let measured = number(r, "measured");
    let (group, work) = match kind {
        "tileop" if unit.contains("vf_real") => ("tile op, one call", board_tile(r, quirks)),
        "tileop" => ("tile op, test program", board_tile(r, quirks)),
        "instr" | "bandwidth" => (kind, Err("an input of the model, not scored".into())),
        "conflict" => (kind, Err("absolute ticks that fit nothing else".into())),
        _ if column(r, "name").starts_with("mem_bar") => {
            (kind, Err("figures of barriers come from it".into()))
        }
        _ => (kind, Err("its program is not given".into())),
    };
    Some(Measured {
        kind: group.into(),
        case: format!("{} {} {shape}", column(r, "name"), column(r, "dtype")).trim().to_string(),
        columns: r.clone(),
        measured: measured.unwrap_or(0.0),
        work: measured.map_or(Err("no measured figure".into()), |_| work),
    })
}

/// One tile operation on a full tile; these programs give their valid sizes at run time.
fn board_tile(r: &Record, quirks: Quirks) -> Result<Work, String> {
    let op = operation(&column(r, "name").replace("_HP", " in high precision"))?;
    let name = column(r, "dtype");
    let t = dtype(name).or_else(|| dtype(&name.replacen('s', "i", 1)));
    let t = t.ok_or("several element types")?;
    let shape = column(r, "shape_params").trim_end_matches("(valid)").trim();
    let sizes = shape.split_once('x').map(|(a, b)| (a.parse(), b.parse()));
    let Some((Ok(rows), Ok(cols))) = sizes else { return Err("no single shape".into()) };
    fits(rows, cols)?;
    // Rows of a tile are whole blocks.
    let block = (32 / t.size() as u32).max(1);
    let mut c = Case::new(op, t, rows, cols.next_multiple_of(block));
    (c.valid, c.dynamic, c.quirks) = ((rows, cols), true, quirks);
    if op.sig.tmp == Tmp::Optional {
        c.tmp = Scratch::None;
    }
    let mut call = c.call(Placement::Packed { align: 512 });
    call.family = Family::A5;
    recorded(&call, Family::A5)
}
