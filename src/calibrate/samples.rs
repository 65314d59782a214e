//! Measurements of the user: tables and dumps, each row with the work of ours it belongs to.

use super::dump;
use crate::measured::{self, Measured, Record, column, number};
use crate::session::{Refusal, Request, execute, read_source};
use crate::work::Work;
use crate::{args, measured_950};
use anyhow::{Context, anyhow};
use ptoemu_core::check::Checks;
use ptoemu_core::target::Target;
use ptoemu_isa::tile::Quirks;
use std::path::Path;

/// What the `cycles` of an `instr_exe.csv` are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Exe {
    /// Issue to end, as the vendor's profiler sums them.
    Latency,
    /// Cycles on the pipe, as `ptoemu trace` writes them.
    Busy,
}

/// How tables are read.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Microcode of tile operations.
    pub quirks: Quirks,
    /// Meaning of the cycles in `instr_exe.csv`.
    pub exe: Exe,
    /// Numbers of rows at which fitted lines are read.
    pub line_rows: &'a [u32],
}

/// Reads a table or a folder of dumps.
pub fn read(path: &Path, target: &Target, options: Options) -> Result<Vec<Measured>, Refusal> {
    if path.is_dir() {
        return dump::folder(path, target, options);
    }
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    if path.extension().is_some_and(|e| e == "dump") {
        let message = anyhow!("{shown} is one file of a dump: give the folder that holds the pair");
        return Err(message.into());
    }
    let rows = measured::records(&text).with_context(|| shown.to_string())?;
    let Some(first) = rows.first() else { return Err(anyhow!("{shown} has no rows").into()) };
    let has = |name: &str| first.contains_key(name);
    if has("instr") && has("call_count") {
        return Ok(dump::exe(&rows, target, options.exe));
    }
    if has("slope") && has("bias") {
        return measured::line_works(&rows, target.family, options.quirks, options.line_rows);
    }
    if measured_950::is_table(&rows) {
        return Ok(measured_950::works(&rows, target, path.parent(), options.quirks));
    }
    if has("kernel") && has("measured_cycles") {
        let kernel = |r| kernel(r, path.parent().unwrap_or(Path::new("")), target, options.quirks);
        return Ok(rows.iter().map(kernel).collect());
    }
    if !(has("measured_cycles") || has("unit")) {
        let mut names: Vec<&str> = first.keys().map(String::as_str).collect();
        names.truncate(8);
        return Err(anyhow!(
            "{shown} is no known table: its columns are {}\n  cases: op,dtype,rows,cols,measured_cycles\n  \
             kernels: kernel,args,measured_cycles\n  lines: op,dtype,cols,slope,bias\n  \
             profiles: instr,addr,pipe,call_count,cycles,running_time(us),detail",
            names.join(",")
        )
        .into());
    }
    let mut all = measured::point_works(&rows, target.family, options.quirks)?;
    for m in all.iter_mut().filter(|m| m.columns.contains_key("op")) {
        let of = |name| column(&m.columns, name);
        let shape = format!("{} {} {}x{}", of("op"), of("dtype"), of("rows"), of("cols"));
        m.case = format!("{shape} {}", m.case).trim_end().to_string();
    }
    Ok(all)
}

/// A kernel run once on generated or given arguments.
fn kernel(r: &Record, dir: &Path, target: &Target, quirks: Quirks) -> Measured {
    let (name, given) = (column(r, "kernel"), column(r, "args"));
    let measured = number(r, "measured_cycles");
    Measured {
        kind: "kernel".into(),
        case: format!("{name} {given}").trim_end().into(),
        columns: r.clone(),
        measured: measured.unwrap_or(0.0),
        work: match measured {
            Some(_) => executed(&dir.join(name), given, dir, target, quirks),
            None => Err("no measured figure".into()),
        },
    }
}

fn executed(
    path: &Path,
    given: &str,
    dir: &Path,
    target: &Target,
    quirks: Quirks,
) -> Result<Work, String> {
    let at = |text: &str| match text.split_once("=@") {
        Some((name, file)) => format!("{name}=@{}", dir.join(file).display()),
        None => text.to_string(),
    };
    let given: Result<Vec<args::Given>, anyhow::Error> =
        given.split_whitespace().map(|a| args::arg(&at(a))).collect();
    let source = read_source(path).map_err(|e| format!("{e:#}"))?;
    let args = given.map_err(|e| format!("{e:#}"))?;
    let request = Request { args, quirks, checks: Checks::NONE, ..Request::default() };
    let ran = execute(&source, target, &request).map_err(|r| match r {
        Refusal::Usage(e) => format!("{e:#}"),
        Refusal::Program(d) => d.first().map_or("refused".into(), |d| d.message.clone()),
    })?;
    if let Some(stop) = &ran.outcome.stop {
        return Err(stop.message.clone());
    }
    let block = ran.outcome.blocks.into_iter().next().ok_or("nothing ran")?;
    Ok(Work::total(block.stream))
}
