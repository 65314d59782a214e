//! `ptoemu vf`: cycles of a timing-only vector function.

use super::output::table;
use super::places::Places;
use super::{TargetArgs, print, show_all, write_json};
use crate::session::{Refusal, read_source};
use crate::vf_program::{self, post_update_loads};
use clap::Args;
use ptoemu_core::target::{Family, Target};
use ptoemu_core::time::vf::{self, Cause, Options, VfProgram, VfTiming};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Arguments of `vf`.
#[derive(Args, Debug)]
pub struct VfArgs {
    /// Program: JSON loops of instructions over register names.
    program: PathBuf,
    #[command(flatten)]
    target: TargetArgs,
    /// Loads advance their address registers, as POST_UPDATE forms do.
    #[arg(long)]
    post_update: bool,
    /// List when the first N instructions reached each stage.
    #[arg(long, value_name = "N", default_value_t = 0, default_missing_value = "100", num_args = 0..=1)]
    records: usize,
    /// Simulate every instruction instead of skipping whole periods of loops.
    #[arg(long)]
    no_fast_forward: bool,
    /// Write the result as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    results: Vec<Timed>,
}

#[derive(Serialize)]
struct Timed {
    target: String,
    cycles: u64,
    time_us: f64,
    instructions: u64,
    simulated: u64,
    waits: BTreeMap<&'static str, u64>,
    /// Cycles by the figure that explains them; they add up to the cycles.
    figures: BTreeMap<String, u64>,
    records: Vec<Stage>,
}

#[derive(Serialize)]
struct Stage {
    seq: u64,
    op: String,
    head: u64,
    dispatch: u64,
    rename: u64,
    queue: u64,
    issue: u64,
    done: u64,
    latency: u64,
    /// Before dispatch, and from there on: `dispatch - head` and `done - dispatch - latency`.
    front: BTreeMap<&'static str, u64>,
    waits: BTreeMap<&'static str, u64>,
    held: By,
    after: By,
}

/// What dispatch or start waited for last.
#[derive(Serialize)]
struct By {
    cause: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
}

/// Figures shown.
const SHOWN: usize = 6;
/// Most records a listing may ask for.
const MOST: usize = 1 << 20;

/// Times a program on every target asked for.
pub fn vf(args: &VfArgs) -> Result<u8, Refusal> {
    let targets = args.target.load()?;
    let source = read_source(&args.program)?;
    let file = vf_program::read(&source).map_err(|d| Refusal::Program(vec![d]))?;
    show_all(&file.notes);
    let mut program = file.program;
    if args.post_update {
        post_update_loads(&mut program);
    }
    let places = Places::default().target(&args.target).reads([&args.program]);
    places.writes("--json", &args.json).check_writable()?;
    let mut report = Report { results: Vec::new() };
    for t in &targets {
        if t.family != Family::A5 {
            let text = format!("{} has no vector functions; use -v 950pr or 950dt", t.name);
            return Err(anyhow::anyhow!(text).into());
        }
        let opts = Options {
            fast_forward: !args.no_fast_forward,
            records: args.records.min(MOST),
            ..Options::default()
        };
        let timing = vf::time(&program, t, opts).map_err(|d| Refusal::Program(vec![d]))?;
        let figures = vf::explain(&program, t).map_err(|d| Refusal::Program(vec![d]))?;
        let timed = timed(t, &program, &timing, figures.into_iter().collect());
        if args.json.is_none() {
            show(&timed);
        }
        report.results.push(timed);
    }
    write_json(&args.json, &report)?;
    Ok(0)
}

fn causes(waits: &vf::Waits) -> BTreeMap<&'static str, u64> {
    Cause::ALL.iter().zip(waits).filter(|(_, n)| **n > 0).map(|(c, n)| (c.name(), *n)).collect()
}

fn by(l: vf::Link) -> By {
    By { cause: l.cause.name(), seq: l.seq }
}

fn timed(t: &Target, p: &VfProgram, v: &VfTiming, figures: BTreeMap<String, u64>) -> Timed {
    let name = |inst: u32| {
        let class = p.insts.get(inst as usize).and_then(|i| p.classes.get(usize::from(i.class)));
        class.map_or(String::new(), |c| match c.dtype {
            Some(d) => format!("{}.{d}", c.name),
            None => c.name.clone(),
        })
    };
    let stage = |r: &vf::VfRecord| Stage {
        seq: r.seq,
        op: name(r.inst),
        head: r.head,
        dispatch: r.dispatch,
        rename: r.rename,
        queue: r.queue,
        issue: r.issue,
        done: r.done,
        latency: r.latency,
        front: causes(&r.front),
        waits: causes(&r.waits),
        held: by(r.held),
        after: by(r.after),
    };
    Timed {
        target: t.name.clone(),
        cycles: v.cycles,
        time_us: crate::report::micros(t, v.cycles),
        instructions: v.instructions,
        simulated: v.simulated,
        waits: causes(&v.waits),
        figures,
        records: v.records.iter().map(stage).collect(),
    }
}

/// Waits as text; the way from stage to stage is none.
fn list<'a>(waits: impl IntoIterator<Item = (&'a &'static str, &'a u64)>) -> String {
    let waits = waits.into_iter().filter(|(c, _)| **c != Cause::Stage.name());
    waits.map(|(c, n)| format!("{c} {n}")).collect::<Vec<_>>().join(", ")
}

/// The figures that explain most cycles.
fn largest(figures: &BTreeMap<String, u64>) -> String {
    let mut by_cycles: Vec<(&String, u64)> = figures.iter().map(|(p, n)| (p, *n)).collect();
    by_cycles.sort_by_key(|(path, n)| (std::cmp::Reverse(*n), *path));
    let rest: u64 = by_cycles.iter().skip(SHOWN).map(|(_, n)| n).sum();
    let mut all: Vec<String> =
        by_cycles.iter().take(SHOWN).map(|(path, n)| format!("{path} {n}")).collect();
    if rest > 0 {
        all.push(format!("others {rest}"));
    }
    all.join(", ")
}

fn show(t: &Timed) {
    print(&format!(
        "{}: {} cycles, {} instructions ({} simulated)",
        t.target, t.cycles, t.instructions, t.simulated
    ));
    print(&format!("instructions waited for: {}", list(&t.waits)));
    print(&format!("cycles explained by: {}", largest(&t.figures)));
    if t.records.is_empty() {
        return;
    }
    let cell = |r: &Stage| {
        let cycles = [r.seq, r.dispatch, r.rename, r.queue, r.issue, r.done].map(|n| n.to_string());
        let [seq, rest @ ..] = cycles;
        let mut row = vec![seq, r.op.clone()];
        row.extend(rest);
        row.push(list(r.front.iter().chain(&r.waits)));
        row
    };
    let rows: Vec<Vec<String>> = t.records.iter().map(cell).collect();
    let head = ["#", "op", "dispatch", "rename", "queue", "issue", "done", "waited for"];
    print(&table(&head, &rows));
}
