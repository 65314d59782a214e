//! `ptoemu diff`.

use super::page::again;
use super::places::Places;
use super::run::ProgramArgs;
use super::{print, show_all, write_json};
use crate::session::{Refusal, execute, read_source, timelines};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use ptoemu_traces::Trace;
use ptoemu_traces::diff::{self, Diff, Records, Side, dump};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Arguments of `diff`.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// Two of: a report of `run --json`, a folder of traces, a folder of the vendor's dumps, a
    /// program; a single program is compared on two targets (`-v a2,a3`).
    #[arg(required = true, num_args = 1..=2, value_name = "A [B]")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    program: ProgramArgs,
    /// Core of folders that hold several.
    #[arg(long, default_value_t = 0, value_name = "N")]
    core: u32,
    /// Write the comparison as an html page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the comparison as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Compares two runs. That they differ is no failure.
pub fn diff(args: &DiffArgs) -> Result<u8, Refusal> {
    let places = Places::default().program(&args.program);
    let places = args.inputs.iter().fold(places, |p, i| p.reads(read_from(i, args.core)));
    places.writes("--html", &args.html).writes("--json", &args.json).check_writable()?;
    let mut sides = Vec::new();
    for path in &args.inputs {
        if path.extension().is_some_and(|e| e == "pto") {
            sides.extend(programs(args, path)?);
        } else {
            sides.push(read(path, args.core).map_err(Refusal::Usage)?);
        }
    }
    let [a, b] = &sides[..] else {
        let n = sides.len();
        let what = if n == 1 { "1 run".to_string() } else { format!("{n} runs") };
        return Err(anyhow!(
            "two runs are compared, {what} given: name two inputs, or one program with two targets \
             as in `-v a2,a3`"
        )
        .into());
    };
    let d = Diff::new(a, b);
    if let Some(path) = &args.html {
        let page = diff::page(&d, &again(std::env::args()));
        crate::data::write_whole(path, page.as_bytes()).map_err(Refusal::Usage)?;
    }
    if args.json.is_none() {
        print(diff::text(&d).trim_end());
    }
    write_json(&args.json, &d)?;
    Ok(0)
}

/// A program on every target asked for: the core chosen.
fn programs(args: &DiffArgs, path: &Path) -> Result<Vec<Side>, Refusal> {
    let request = args.program.request(args.program.given()?)?;
    let source = read_source(path)?;
    let mut out = Vec::new();
    for target in args.program.target.load()? {
        let mut ran = execute(&source, &target, &request)?;
        ran.keep(|code| args.program.wants(code));
        if let Some(stop) = &ran.outcome.stop {
            return Err(Refusal::Program(vec![stop.clone()]));
        }
        show_all(&ran.diagnostics());
        let lines = timelines(&ran, &target);
        let core = args.core as usize;
        let (Some(block), Some(line)) = (ran.outcome.blocks.get(core), lines.get(core)) else {
            return Err(anyhow!("--core {core}: the program runs on {} cores", lines.len()).into());
        };
        let kernel = ran.program.funcs.get(ran.program.entry).map_or("kernel", |f| &f.name);
        let sources = ran.files();
        let trace = Trace::new(&block.stream, line, &target, &sources).named(kernel, args.core);
        out.push(Side::of(&trace));
    }
    Ok(out)
}

/// The files an input stands for.
fn read_from(path: &Path, core: u32) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_path_buf()];
    }
    let mut out = vec![profile(path, core)];
    for dir in [path.join("dump"), path.to_path_buf()] {
        let kinds = ["instr_popped_log", "instr_log"];
        out.extend(kinds.iter().filter_map(|kind| find(&dir, core, kind).ok().flatten()));
        out.push(summary_log(&dir, core));
    }
    out
}

/// Where a folder of traces keeps the profile of a core.
fn profile(path: &Path, core: u32) -> PathBuf {
    path.join(format!("simulator/core{core}.veccore0/profile.json"))
}

/// Where a folder of dumps keeps the sums of a core.
fn summary_log(dir: &Path, core: u32) -> PathBuf {
    dir.join(format!("core{core}_summary_log"))
}

/// A report or a folder.
fn read(path: &Path, core: u32) -> Result<Side> {
    let shown = path.display();
    if path.is_dir() {
        return folder(path, core).with_context(|| shown.to_string());
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    diff::report(&text).map_err(|e| anyhow!("{shown}: {e}"))
}

/// A folder of traces, or of dumps.
fn folder(path: &Path, core: u32) -> Result<Side> {
    let dumps = dumps(path, core)?;
    let saved = saved(path, core)?;
    if saved.is_none() && dumps.is_none() {
        let inside = below(path, core);
        if !inside.is_empty() {
            let names: Vec<String> = inside.iter().map(|p| p.display().to_string()).collect();
            return Err(anyhow!("its traces are in folders below it: give {}", names.join(" or ")));
        }
        return Err(anyhow!(
            "neither traces of this tool nor dumps named core{core}...instr_popped_log.dump and \
             core{core}...instr_log.dump are in it"
        ));
    }
    let records = dumps.as_ref().and_then(|d| d.records.clone());
    match (saved, dumps) {
        // Sums with their causes come from the profile, records from the dumps.
        (Some(s), d) => {
            let mut notes = d.map_or(Vec::new(), |d| d.notes);
            notes.extend(records.as_ref().and_then(|r| fewer(&s, r)));
            Ok(Side { records, notes, ..s })
        }
        (None, Some(d)) => Ok(d),
        (None, None) => Err(anyhow!("nothing to compare")),
    }
}

/// Says so if dumps hold fewer instructions than the profile beside them.
fn fewer(side: &Side, records: &Records) -> Option<String> {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    records.items.iter().for_each(|r| *found.entry(records.name(r)).or_default() += 1);
    side.held.iter().flatten().find_map(|(name, sum)| {
        let n = found.get(name.as_str()).copied().unwrap_or(0);
        (n < sum.count).then(|| {
            format!("the dumps are cut off: they hold {n} of the {} {name} that ran", sum.count)
        })
    })
}

/// Folders right below that hold a trace or dumps, as a run on several targets leaves them.
fn below(path: &Path, core: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path());
    let holds = |p: &PathBuf| {
        let dump = |kind| {
            let found = [p.join("dump"), p.clone()].map(|d| find(&d, core, kind).ok().flatten());
            found.iter().any(Option::is_some)
        };
        profile(p, core).is_file() || dump("instr_popped_log") && dump("instr_log")
    };
    let mut all: Vec<PathBuf> = entries.filter(|p| p.is_dir()).filter(holds).collect();
    all.sort();
    all
}

/// The profile of a core in a folder of traces.
fn saved(path: &Path, core: u32) -> Result<Option<Side>> {
    let file = profile(path, core);
    if !file.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&file)?;
    let side = diff::profile(&text).map_err(|e| anyhow!("{}: {e}", file.display()))?;
    Ok(Some(side))
}

/// The dumps of a core, in the folder or in `dump` below it.
fn dumps(path: &Path, core: u32) -> Result<Option<Side>> {
    for dir in [path.join("dump"), path.to_path_buf()] {
        let (Some(popped), Some(ended)) =
            (find(&dir, core, "instr_popped_log")?, find(&dir, core, "instr_log")?)
        else {
            continue;
        };
        let open = |p: &Path| File::open(p).with_context(|| format!("cannot read {}", p.display()));
        let name = format!("{}, core {core}", path.display());
        let (one, two) = (BufReader::new(open(&popped)?), BufReader::new(open(&ended)?));
        let mut side = dump::read(&name, one, two).map_err(|e| anyhow!(e))?;
        let log = summary_log(&dir, core);
        if log.is_file() {
            dump::summary(&mut side, BufReader::new(open(&log)?));
        }
        return Ok(Some(side));
    }
    Ok(None)
}

/// The first dump of a kind by name: `core<N>`, then a dot or an underscore and what the simulator
/// puts there, then the kind.
fn find(dir: &Path, core: u32, kind: &str) -> Result<Option<PathBuf>> {
    if !dir.is_dir() {
        return Ok(None);
    }
    let start = format!("core{core}");
    let mut all: Vec<PathBuf> = fs::read_dir(dir)
        .with_context(|| format!("cannot read {}", dir.display()))?
        .filter_map(|e| e.ok().map(|e| e.path()))
        .collect();
    all.sort();
    let fits = |p: &PathBuf| {
        let name = p.file_name().unwrap_or_default().to_string_lossy();
        let rest = name.strip_prefix(&start).filter(|r| r.starts_with(['.', '_']));
        rest.is_some_and(|r| {
            [".", "_"].iter().any(|d| r.contains(&format!("{d}{kind}.dump")))
                && !r.contains("icache")
        })
    };
    Ok(all.into_iter().find(fits))
}
