//! `ptoemu whatif`: one execution, thousands of targets.

mod file;
mod rows;
mod summary;

use super::op::CaseArgs;
use super::places::Places;
use super::run::{Named, ProgramArgs};
use super::{TargetArgs, say};
use crate::data::save;
use crate::session::{Refusal, read_source};
use crate::whatif::rows::Format;
use crate::whatif::shard::{self, Shard};
use crate::whatif::{Axis, Grid, Study, Subject, Sweep, alternatives};
use anyhow::{Context, Result, anyhow};
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches, Subcommand};
use ptoemu_core::diag::SourceFile;
use rows::run;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SETS: &str = "Values of a figure: drain=0,6,12, vcmax.per_repeat=1..8, 1..16:2, 1..1024:x2; \
                    several give every combination";

/// Arguments of `whatif`.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    mut_arg("sets", |a| a.value_name("PATH=VALUES").help(SETS)),
    mut_arg("args", |a| a.help("Value of an argument; several of one name are alternatives")),
)]
pub struct WhatifArgs {
    #[command(subcommand)]
    command: Option<What>,
    /// Kernels, or one study file (.ron).
    #[arg(required = true)]
    kernels: Vec<PathBuf>,
    // Before the options it looks at: reading those takes them away.
    #[command(flatten)]
    named: Named,
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    study: StudyArgs,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Tile operations, isolated.
    #[command(mut_arg("sets", |a| a.value_name("PATH=VALUES").help(SETS)))]
    Op {
        /// Tile operation, for example trowmax; several separated by commas.
        op: String,
        /// Element type; several separated by commas.
        dtype: String,
        /// Physical rows and columns; several separated by commas.
        #[arg(long, value_delimiter = ',', required = true, value_name = "RxC,...")]
        shape: Vec<String>,
        #[command(flatten)]
        target: Box<TargetArgs>,
        #[command(flatten)]
        case: Box<CaseArgs>,
        #[command(flatten)]
        study: StudyArgs,
    },
    /// Join the shards of a study into what one run writes.
    Merge {
        /// Files written with --shard, in any order.
        #[arg(required = true)]
        parts: Vec<PathBuf>,
        /// The whole; stdout if left out.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// Options of every study.
#[derive(Args, Clone, Debug)]
pub struct StudyArgs {
    #[command(flatten)]
    pairs: Pairs,
    /// File the rows go to: CSV, or JSON lines for .json and .jsonl (`-`: CSV on stdout).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only part I of N of the points, for N machines or jobs; `whatif merge` joins them.
    #[arg(long, value_name = "I/N", default_value = "0/1")]
    shard: Shard,
    /// Keep the rows the file has and go on behind them.
    #[arg(long)]
    resume: bool,
    /// Write a page into a folder: study.html, its pictures, and the rows as study.csv unless -o names
    /// another file.
    #[arg(long, value_name = "DIR")]
    page: Option<PathBuf>,
    /// Write the summary as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// `--pair A=1,2,4 B=3,5,7`: words by occurrence of the option.
#[derive(Clone, Debug, Default)]
struct Pairs(Vec<String>);

impl Args for Pairs {
    fn augment_args(cmd: clap::Command) -> clap::Command {
        let arg = Arg::new("pair")
            .long("pair")
            .num_args(1..)
            .action(ArgAction::Append)
            .value_name("PATH=VALUES")
            .help("Figures that change together: --pair drain=0,6,12 end=0,3,7 (repeatable)");
        cmd.arg(arg)
    }

    fn augment_args_for_update(cmd: clap::Command) -> clap::Command {
        Pairs::augment_args(cmd)
    }
}

impl FromArgMatches for Pairs {
    fn from_arg_matches(m: &ArgMatches) -> Result<Self, clap::Error> {
        let all = m.get_occurrences::<String>("pair").into_iter().flatten();
        Ok(Pairs(all.map(|words| words.cloned().collect::<Vec<_>>().join(" ")).collect()))
    }

    fn update_from_arg_matches(&mut self, m: &ArgMatches) -> Result<(), clap::Error> {
        *self = Pairs::from_arg_matches(m)?;
        Ok(())
    }
}

/// Runs the command.
pub fn whatif(args: &WhatifArgs) -> Result<u8, Refusal> {
    match &args.command {
        Some(What::Merge { parts, output }) => merge(parts, output),
        Some(What::Op { op, dtype, shape, target, case, study }) => {
            let mut subjects = Vec::new();
            for op in op.split(',') {
                for dtype in dtype.split(',') {
                    for shape in shape {
                        subjects.push(Subject::op(case.built_in(op, dtype, shape)?));
                    }
                }
            }
            let plan = Study { subjects, targets: files(target)?, grid: grid(target, study)? };
            let places = Places::default().target(target).microcode(&case.microcode);
            run(&plan, study, places, &|_| true, false)
        }
        None => kernels(args),
    }
}

fn kernels(args: &WhatifArgs) -> Result<u8, Refusal> {
    let program = &args.program;
    let (wants, deny) = (|code: &str| program.wants(code), program.deny.is_some());
    let is_study = |p: &PathBuf| p.extension().is_some_and(|e| e == "ron");
    if let [one] = &args.kernels[..]
        && is_study(one)
    {
        let plan = file::load(one)?;
        let mut study = args.study.clone();
        alone(one, args)?;
        study.output = study.output.or(plan.output);
        // A part has no page; the whole gets it once the parts are joined.
        study.page = study.page.or(plan.page.filter(|_| study.shard == Shard::ALL));
        let places = Places::default().reads([one]).reads(plan.files);
        return run(&plan.study, &study, places, &wants, deny);
    }
    if let Some(study) = args.kernels.iter().find(|p| is_study(p)) {
        return Err(anyhow!("{}: give one study file alone", study.display()).into());
    }
    let mut subjects = Vec::new();
    for path in &args.kernels {
        let source = kernel_source(path)?;
        for (shape, given) in alternatives(&program.args)? {
            subjects.push(Subject::kernel(&source, shape, program.request(given)?));
        }
    }
    let grid = grid(&program.target, &args.study)?;
    let plan = Study { subjects, targets: files(&program.target)?, grid };
    let places = Places::default().reads(&args.kernels).program(program);
    run(&plan, &args.study, places, &wants, deny)
}

/// Refuses options beside a study file that say what it says. Findings are shown as asked for.
fn alone(study: &Path, args: &WhatifArgs) -> Result<()> {
    let pair = (!args.study.pairs.0.is_empty()).then(|| "--pair".to_string());
    let mut names: Vec<String> = args.named.0.iter().cloned().chain(pair).collect();
    names.retain(|n| !["--checks", "--deny"].contains(&n.as_str()));
    if names.is_empty() {
        return Ok(());
    }
    Err(anyhow!(
        "{}: the study file says what runs and what changes: leave {} out, or write it into the file",
        study.display(),
        names.join(", ")
    ))
}

/// Reads a kernel; operations have a command of their own.
fn kernel_source(path: &Path) -> Result<Arc<SourceFile>, Refusal> {
    let name = path.to_string_lossy();
    if !path.exists() && ptoemu_isa::tile::find(name.trim_start_matches("pto.")).is_some() {
        let way = format!("`ptoemu whatif op {name} TYPE --shape RxC`");
        return Err(anyhow!("{name} is a tile operation, not a kernel: use {way}").into());
    }
    Ok(read_source(path)?)
}

/// The targets as their files say.
fn files(args: &TargetArgs) -> Result<Vec<ptoemu_core::target::Target>, Refusal> {
    Ok(args.target.iter().map(|t| crate::targets::find(t)).collect::<Result<_, _>>()?)
}

/// The settings `--set` and `--pair` make.
fn grid(target: &TargetArgs, study: &StudyArgs) -> Result<Grid, Refusal> {
    let sets = target.sets.iter().map(|s| Sweep::parse("--set", s).map(Axis::one));
    let pairs = study.pairs.0.iter().map(|p| Axis::parse_pair(p));
    let axes = sets.chain(pairs).collect::<Result<_, _>>();
    axes.and_then(Grid::new).map_err(|d| Refusal::Program(vec![d]))
}

fn merge(parts: &[PathBuf], output: &Option<PathBuf>) -> Result<u8, Refusal> {
    let Some(path) = output.as_ref().filter(|p| p.as_os_str() != "-") else {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        shard::merge(parts, &mut out)?;
        out.flush().context("cannot write to stdout")?;
        return Ok(0);
    };
    Format::of(path)?;
    Places::default().reads(parts).writes("-o", output).check_writable()?;
    let rows = std::cell::Cell::new(0);
    let join = |out: &mut dyn Write| {
        rows.set(shard::merge(parts, out).map_err(std::io::Error::other)?);
        Ok(())
    };
    save(path, &join).map_err(|e| match e.get_ref() {
        // Said by the parts, not by the disk.
        Some(why) => anyhow!("{why}"),
        None => anyhow!("cannot write {}: {e}", path.display()),
    })?;
    say(&format!("{} rows: {}", rows.get(), path.display()));
    Ok(0)
}
