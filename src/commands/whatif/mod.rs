//! `ptoemu whatif`: one execution, thousands of targets.

mod file;
mod summary;

use super::op::CaseArgs;
use super::output::table;
use super::run::ProgramArgs;
use super::{TargetArgs, print, say, show_all, write_json};
use crate::data::{same_file, save, writable};
use crate::progress::Progress;
use crate::session::{Refusal, read_source};
use crate::whatif::rows::{Format, PIPES, Rows};
use crate::whatif::shard::{self, Present, Shard};
use crate::whatif::{Axis, Cell, Grid, Measured, Point, Study, Subject, Sweep, alternatives};
use anyhow::{Context, Result, anyhow};
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches, Subcommand};
use ptoemu_core::diag::{Diagnostic, Level};
use std::io::Write;
use std::path::{Path, PathBuf};
use summary::Summary;
use tracing::info_span;

/// Rows shown on the screen at most.
const SHOWN: u64 = 60;
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
    #[arg(long, requires = "output")]
    resume: bool,
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
            run(&plan, study, &|_| true, false)
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
        if !program.target.sets.is_empty() || !study.pairs.0.is_empty() || !program.args.is_empty()
        {
            return Err(anyhow!("{}: the study file says what changes", one.display()).into());
        }
        study.output = study.output.or(plan.output);
        return run(&plan.study, &study, &wants, deny);
    }
    if let Some(study) = args.kernels.iter().find(|p| is_study(p)) {
        return Err(anyhow!("{}: give one study file alone", study.display()).into());
    }
    let mut subjects = Vec::new();
    for path in &args.kernels {
        let source = read_source(path)?;
        for (shape, given) in alternatives(&program.args)? {
            subjects.push(Subject::kernel(&source, shape, program.request(given)?));
        }
    }
    let grid = grid(&program.target, &args.study)?;
    let plan = Study { subjects, targets: files(&program.target)?, grid };
    run(&plan, &args.study, &wants, deny)
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

/// Where rows go.
enum Sink {
    File(std::io::BufWriter<std::fs::File>),
    Stdout,
    Screen(Vec<Vec<String>>),
    Nowhere,
}

fn run(
    study: &Study,
    args: &StudyArgs,
    wants: &dyn Fn(&str) -> bool,
    deny: bool,
) -> Result<u8, Refusal> {
    study.check()?;
    two_outputs(args)?;
    let range = args.shard.range(study.len().unwrap_or(0));
    let output = args.output.as_deref().filter(|p| p.as_os_str() != "-");
    for path in output.into_iter().chain(args.json.as_deref().filter(|p| p.as_os_str() != "-")) {
        writable(path)?;
    }
    let format = output.map_or(Format::Csv, Format::of);
    let rows = Rows::new(study, format, args.shard);
    let mut summary = Summary::new(study);
    let mut present = Present::default();
    if let (Some(path), true) = (output, args.resume) {
        let seen = &mut |p: &Point, cycles| summary.add(p, cycles);
        present = shard::present(path, study, &rows, &range, seen)?;
    }
    let cells = info_span!("record").in_scope(|| study.record(&range))?;
    let (status, stopped) = report(&cells, wants, deny);
    if stopped {
        return Ok(status);
    }
    let left = range.start + present.rows..range.end;
    let mut sink = open(args, output, &rows, present, left.end - left.start)?;
    let progress = Progress::of("timing", "points", left.end - left.start);
    let mut line = String::new();
    info_span!("points").in_scope(|| {
        study.run(left, &cells, &progress.counter(), &mut |point, measured| {
            summary.add(point, Some(measured.cycles).filter(|_| measured.fault.is_none()));
            line.clear();
            match &mut sink {
                Sink::Nowhere => return Ok(()),
                Sink::Screen(list) => list.push(cells_of(study, point, measured)),
                Sink::Stdout | Sink::File(_) => rows.row(point, measured, &mut line),
            }
            match &mut sink {
                Sink::File(f) => f.write_all(line.as_bytes()).context("cannot write the rows")?,
                Sink::Stdout => print(line.trim_end()),
                Sink::Screen(_) | Sink::Nowhere => {}
            }
            Ok(())
        })
    })?;
    drop(progress);
    let on_screen = matches!(sink, Sink::Screen(_));
    if let Sink::File(f) = &mut sink {
        f.flush().context("cannot write the rows")?;
    }
    if let Sink::Screen(list) = sink {
        print(&table(&head(study), &list));
    }
    summary.as_is(&cells);
    finish(args, output, on_screen, &summary)?;
    Ok(status)
}

/// Rows and summary go to two places, and only a file can be gone on with.
fn two_outputs(args: &StudyArgs) -> Result<(), Refusal> {
    let Some(rows) = &args.output else { return Ok(()) };
    if args.json.as_ref().is_some_and(|json| same_file(json, rows)) {
        let place = rows.display();
        return Err(anyhow!("-o and --json both write to {place}: give two names").into());
    }
    if args.resume && rows.as_os_str() == "-" {
        return Err(anyhow!("--resume goes on with a file: give -o FILE").into());
    }
    Ok(())
}

/// Findings of the executions; the status they make, and whether one of them stopped.
fn report(cells: &[Cell], wants: &dyn Fn(&str) -> bool, deny: bool) -> (u8, bool) {
    let mut seen: Vec<Diagnostic> = Vec::new();
    let mut stopped = None;
    for c in cells {
        let recorded = c.recorded();
        let new = recorded.diagnostics.iter().filter(|d| wants(d.code));
        for d in new {
            if !seen.contains(d) {
                seen.push(d.clone());
            }
        }
        stopped = stopped.max(recorded.stopped);
    }
    if deny {
        crate::session::deny(seen.iter_mut());
    }
    show_all(&seen);
    let error = u8::from(seen.iter().any(|d| d.level == Level::Error));
    (stopped.unwrap_or(error), stopped.is_some())
}

fn open(
    args: &StudyArgs,
    output: Option<&Path>,
    rows: &Rows,
    present: Present,
    left: u64,
) -> Result<Sink, Refusal> {
    if let Some(path) = output {
        let mut file = shard::append(path, present)?;
        if present.bytes == 0 {
            file.write_all(rows.header().as_bytes()).context("cannot write the rows")?;
        }
        return Ok(Sink::File(file));
    }
    if args.output.is_some() {
        print(rows.header().trim_end());
        return Ok(Sink::Stdout);
    }
    Ok(if left <= SHOWN && args.json.is_none() { Sink::Screen(Vec::new()) } else { Sink::Nowhere })
}

/// Column names of the screen: columns that are the same in every row are left out.
fn head(study: &Study) -> Vec<&str> {
    let mut out = Vec::new();
    if study.subjects.len() > 1 {
        out.extend(["kernel", "shape"]);
    }
    if study.targets.len() > 1 {
        out.push("target");
    }
    out.extend(study.grid.paths());
    out.push("cycles");
    out.extend(PIPES.map(|p| p.short()));
    out.push("bound");
    out
}

fn cells_of(study: &Study, point: &Point, m: &Measured) -> Vec<String> {
    let mut out = Vec::new();
    if let (Some(s), true) = (study.subjects.get(point.subject), study.subjects.len() > 1) {
        out.extend([s.name.clone(), s.shape.clone()]);
    }
    if let (Some(t), true) = (study.targets.get(point.target), study.targets.len() > 1) {
        out.push(t.name.clone());
    }
    out.extend(point.values.iter().map(f64::to_string));
    if let Some(why) = &m.fault {
        out.push(why.clone());
        return out;
    }
    out.push(m.cycles.to_string());
    out.extend(PIPES.map(|p| m.busy[p as usize].to_string()));
    out.push(m.bound.to_string());
    out
}

fn finish(
    args: &StudyArgs,
    output: Option<&Path>,
    on_screen: bool,
    summary: &Summary,
) -> Result<(), Refusal> {
    let stdout = args.json.as_ref().is_some_and(|p| p.as_os_str() == "-")
        || args.output.as_ref().is_some_and(|p| p.as_os_str() == "-");
    if !stdout {
        if on_screen {
            print("");
        }
        print(&summary.screen());
        match output {
            Some(path) => say(&format!("rows: {}", path.display())),
            None if !on_screen => say("-o FILE.csv keeps the rows"),
            None => {}
        }
    }
    write_json(&args.json, &summary.report(output))
}

fn merge(parts: &[PathBuf], output: &Option<PathBuf>) -> Result<u8, Refusal> {
    let Some(path) = output.as_ref().filter(|p| p.as_os_str() != "-") else {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        shard::merge(parts, &mut out)?;
        out.flush().context("cannot write to stdout")?;
        return Ok(0);
    };
    writable(path)?;
    if parts.iter().any(|p| same_file(p, path)) {
        return Err(anyhow!("{} is one of the parts: give -o another name", path.display()).into());
    }
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
