//! `ptoemu verify`: microcode of tile operations against their meaning.

mod mutate;
mod replay;
mod report;
mod sweep;

use super::places::Places;
use super::run::{Microcode, quirks};
use super::{TargetArgs, print as print_line, say, tile_op, write_json};
use crate::session::{self, Refusal};
use anyhow::{Result, anyhow};
use clap::Args;
use ptoemu_core::diag::count;
use ptoemu_core::dtype::DType;
use ptoemu_isa::exec::Own;
use ptoemu_isa::tile::{self, Family, OPS, Quirks, TileOp};
use ptoemu_isa::verify::{Bench, BuiltIn, Domain, Spec, Subject, Unit, Uses, template};
use std::path::PathBuf;
use sweep::{Job, Sweep};

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
    /// Valid rows tried, A..B.
    #[arg(long, value_name = "A..B", value_parser = range)]
    rows: Option<(u32, u32)>,
    /// Valid columns tried, A..B.
    #[arg(long, value_name = "A..B", value_parser = range)]
    cols: Option<(u32, u32)>,
    /// Uses tried per operation and element type.
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cases: u64,
    /// Print a microcode file to start from: the built-in microcode of one operation for one shape
    /// (the least --rows and --cols, else 64x128) and one of --types, else f32.
    #[arg(long, conflicts_with_all = ["json", "junit", "out", "microcode", "cases", "time", "seed"])]
    emit_template: bool,
    /// Seed of the drawn uses and of the data.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Start no more uses after so many seconds.
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    /// Mutation score of the checks: every barrier, flag and mask set-up dropped or moved, every
    /// stride, repeat, address and count changed by one, operands swapped.
    #[arg(long, conflicts_with_all = ["microcode", "rows", "cols", "cases", "time", "seed", "out", "junit", "emit_template"])]
    mutate: bool,
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
        let op = tile_op(name)?;
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

/// `A..B`, both ends included.
fn range(text: &str) -> Result<(u32, u32), String> {
    let parsed = match text.split_once("..") {
        Some((a, b)) => a.parse().ok().zip(b.parse().ok()),
        None => text.parse().ok().map(|n: u32| (n, n)),
    };
    let sound = parsed.filter(|(a, b): &(u32, u32)| *a > 0 && a <= b);
    sound.ok_or_else(|| format!("`{text}` is no range of sizes, for example 1..255"))
}

/// What is verified on one family, and by whose microcode.
struct Task {
    units: Vec<Unit>,
    own: Option<Own>,
    domain: Domain,
}

impl VerifyArgs {
    fn kept_to(&self, own: Option<&Own>) -> Domain {
        let mut d = own.map_or_else(Domain::default, Domain::of);
        d.rows = self.rows.unwrap_or(d.rows);
        d.cols = self.cols.unwrap_or(d.cols);
        d
    }

    fn units(&self, family: Family, op: &'static TileOp, types: &[DType]) -> Vec<Unit> {
        let mut all = Unit::all(family, op);
        all.retain(|u| types.is_empty() || types.contains(&u.from));
        all
    }

    /// Units of every family and operation; of a file, those its functions stand for.
    fn tasks(
        &self,
        families: &[(Family, String)],
        ops: &[&'static TileOp],
        types: &[DType],
    ) -> Result<Vec<Task>, Refusal> {
        let mut out = Vec::new();
        for (family, _) in families {
            let Microcode::File(path) = &self.microcode else {
                let units = ops.iter().flat_map(|op| self.units(*family, op, types)).collect();
                out.push(Task { units, own: None, domain: self.kept_to(None) });
                continue;
            };
            let all = session::microcode(path, *family)?;
            for own in all.into_iter().filter(|o| ops.iter().any(|op| op.name == o.op.name)) {
                let domain = self.kept_to(Some(&own));
                let mut units = self.units(*family, own.op, types);
                units.retain(|u| fits(u, &own, &domain));
                out.push(Task { units, own: Some(own), domain });
            }
        }
        Ok(out)
    }
}

/// Does the function take any of the first uses of a unit?
fn fits(unit: &Unit, own: &Own, domain: &Domain) -> bool {
    let uses = Uses::within(*unit, 1, domain.clone());
    (0..256).any(|n| own.takes(&uses.nth(n).call(unit, Quirks::corrected())))
}

/// Runs the verification asked for.
pub fn verify(args: &VerifyArgs) -> Result<u8, Refusal> {
    let ops = operations(&args.op)?;
    let types: Vec<DType> =
        args.types.iter().map(|t| t.parse().map_err(|e| anyhow!("{e}"))).collect::<Result<_>>()?;
    let families = families(&args.target)?;
    if args.junit.as_ref().is_some_and(|p| p.as_os_str() == "-") {
        return Err(anyhow!("--junit takes the name of a file").into());
    }
    let places = Places::default().target(&args.target).microcode(&args.microcode);
    places.writes("--json", &args.json).writes("--junit", &args.junit).check_writable()?;
    if let Some(dir) = &args.out {
        crate::data::writable_folder(dir)?;
    }
    if args.emit_template {
        return emit(args, &families, &ops, &types);
    }
    let tasks = args.tasks(&families, &ops, &types)?;
    if tasks.iter().all(|t| t.units.is_empty()) {
        let text = match args.microcode {
            Microcode::File(_) => "no function of the file takes any legal use of these operations",
            _ => "these operations have no legal use with these types here",
        };
        return Err(anyhow!(text).into());
    }
    if args.mutate {
        let units: Vec<Unit> = tasks.iter().flat_map(|t| t.units.iter().copied()).collect();
        return mutate::run(&units, &args.json);
    }
    let sweep = Sweep {
        jobs: tasks.iter().flat_map(Task::jobs).collect(),
        quirks: quirks(&args.microcode),
        seed: args.seed,
        types,
    };
    let results = sweep.run(args.cases, args.time);
    let findings = sweep.findings(&results);
    if results.tallies.iter().all(|t| t.cases == 0) {
        let why = match results.left {
            0 => "no legal use with these sizes was found",
            _ => "--time ended before the first use",
        };
        return Err(anyhow!("nothing was verified: {why}").into());
    }
    let report = report::Report::new(args, &families, &ops, &sweep, &results, &findings);
    if let Some(dir) = &args.out {
        let n = replay::write(dir, &sweep, &findings, &report)?;
        if n > 0 {
            say(&format!("{} written to {}", count(n as u64, "finding"), dir.display()));
        }
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

/// Uses a template must pass before it is printed.
const PROOF: u64 = 64;

/// Prints a microcode file that verifies clean as it is.
fn emit(
    args: &VerifyArgs,
    families: &[(Family, String)],
    ops: &[&'static TileOp],
    types: &[DType],
) -> Result<u8, Refusal> {
    let ([(family, _)], [op]) = (families, ops) else {
        return Err(anyhow!("--emit-template takes one operation and one family").into());
    };
    if types.len() > 1 {
        return Err(
            anyhow!("--emit-template takes one of --types: tiles have one type each").into()
        );
    }
    let wanted = types.first().copied().unwrap_or(DType::F32);
    let mut units = args.units(*family, op, types);
    units.sort_by_key(|u| u.from != wanted);
    let unit = units.first().ok_or_else(|| anyhow!("{} has no such type here", op.name))?;
    let rows = args.rows.map_or(64, |r| r.0);
    let cols = args.cols.map_or(128, |c| c.0);
    let spec = Spec { rows, cols, ..Spec::default() };
    let call = spec.call(unit, Quirks::corrected());
    tile::check(&call, *family, &tile::Limits::of(*family))
        .map_err(|d| Refusal::Program(vec![*d]))?;
    let no = |why: String| {
        let types = unit.types();
        anyhow!(
            "no template of {} {types} {rows}x{cols}: {why}; try another type or shape",
            op.name
        )
    };
    let text = template(&call).map_err(no)?;
    let source = ptoemu_core::diag::SourceFile::new("template.pto", text.clone());
    let own = session::microcode_of(&source, *family)?;
    let Some(own) = own.first() else { return Err(no("it does not read back".into()).into()) };
    let uses = Uses::within(*unit, args.seed, Domain::of(own));
    let tally = Bench::default().hunt(&uses, 0..PROOF, Quirks::corrected(), own);
    if tally.cases == 0 || !tally.caught.is_empty() {
        return Err(no("its instructions depend on the data".into()).into());
    }
    print_line(text.trim_end());
    Ok(0)
}

impl Task {
    fn jobs(&self) -> impl Iterator<Item = Job<'_>> {
        let subject: &dyn Subject = self.own.as_ref().map_or(&BuiltIn, |o| o);
        self.units.iter().map(move |u| Job { unit: *u, subject, domain: self.domain.clone() })
    }
}
