//! `ptoemu verify`: microcode of tile operations against their meaning.

mod replay;
mod report;
mod sweep;

use super::run::{Microcode, quirks};
use super::{TargetArgs, print as print_line, say, write_json};
use crate::session::Refusal;
use anyhow::{Result, anyhow};
use clap::Args;
use ptoemu_core::dtype::DType;
use ptoemu_isa::tile::{self, Family, OPS, TileOp};
use ptoemu_isa::verify::{BuiltIn, Unit};
use std::path::PathBuf;
use sweep::Sweep;

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// Tile operation, several separated by commas, or all.
    #[arg(value_delimiter = ',')]
    op: Vec<String>,
    #[command(flatten)]
    target: TargetArgs,
    /// Microcode: corrected, vendor, or a function of the same name in a file of yours.
    #[arg(long, default_value = "corrected", value_name = "corrected|vendor|FILE.pto")]
    microcode: Microcode,
    /// Element types of the sources; all by default.
    #[arg(long, value_delimiter = ',', value_name = "TYPE")]
    types: Vec<String>,
    /// Uses tried per operation and element type.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    cases: u64,
    /// Seed of the drawn uses and of the data.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Start no more uses after so many seconds.
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    /// Folder for what was found: a folder each that `ptoemu run` replays.
    #[arg(short = 'o', long = "out", value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the report as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a JUnit report, a test case per operation and family.
    #[arg(long, value_name = "FILE.xml")]
    junit: Option<PathBuf>,
}

fn operations(names: &[String]) -> Result<Vec<&'static TileOp>, Refusal> {
    if names.is_empty() {
        return Err(anyhow!("which operation? `ptoemu verify trowmax`, or `verify all`").into());
    }
    let mut out: Vec<&'static TileOp> = Vec::new();
    for name in names {
        let plain = name.trim_start_matches("pto.").to_ascii_lowercase();
        if plain == "all" {
            return Ok(OPS.iter().filter(|o| !o.sig.view).collect());
        }
        let op = tile::find(&plain)
            .ok_or_else(|| anyhow!("no tile operation `{name}`; `ptoemu explain` lists all"))?;
        if op.sig.view {
            let text = "moves global memory: verify covers operations on tiles";
            return Err(anyhow!("{plain} {text}").into());
        }
        if !out.iter().any(|o| o.name == op.name) {
            out.push(op);
        }
    }
    Ok(out)
}

/// Families of the targets, each once: targets of a family share their streams.
fn families(args: &TargetArgs) -> Result<Vec<(Family, String)>, Refusal> {
    let mut out: Vec<(Family, String)> = Vec::new();
    for t in args.load()? {
        if !out.iter().any(|(f, _)| *f == t.family) {
            out.push((t.family, t.name.clone()));
        }
    }
    Ok(out)
}

/// Runs the verification asked for.
pub fn verify(args: &VerifyArgs) -> Result<u8, Refusal> {
    let ops = operations(&args.op)?;
    let types: Vec<DType> =
        args.types.iter().map(|t| t.parse().map_err(|e| anyhow!("{e}"))).collect::<Result<_>>()?;
    let families = families(&args.target)?;
    for path in args.json.iter().chain(&args.junit).filter(|p| p.as_os_str() != "-") {
        crate::data::writable(path)?;
    }
    let quirks = quirks(&args.microcode)?;
    let mut units = Vec::new();
    for (family, _) in &families {
        let all = ops.iter().flat_map(|op| Unit::all(*family, op));
        units.extend(all.filter(|u| types.is_empty() || types.contains(&u.from)));
    }
    if units.is_empty() {
        return Err(anyhow!("no such operation has a legal use with these types here").into());
    }
    let sweep = Sweep { units, quirks, subject: &BuiltIn, seed: args.seed };
    let results = sweep.run(args.cases, args.time);
    let findings = sweep.findings(&results);
    let report = report::Report::new(args, &families, &ops, &sweep, &results, &findings);
    if let Some(dir) = &args.out {
        let names = replay::write(dir, &sweep, &findings, &report)?;
        say(&format!("{} findings written to {}", names, dir.display()));
    }
    if args.json.is_none() {
        report.screen();
    }
    if let Some(path) = &args.junit {
        crate::data::write_whole(path, report.junit().as_bytes())?;
    }
    write_json(&args.json, &report)?;
    Ok(u8::from(!findings.is_empty()))
}
