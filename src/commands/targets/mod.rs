//! `ptoemu targets list|show|diff|check|new|schema`.

mod form;
mod new;

use super::output::{short, table};
use super::places::Places;
use super::{TargetArgs, print, say, show_all, write_json};
use crate::report::{FindingReport, finding};
use crate::session::Refusal;
use crate::targets::{all, load_file, with_overrides};
use clap::{Args, Subcommand};
use ptoemu_core::diag::SourceFile;
use ptoemu_core::target::{Figure, Target};
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `targets`.
#[derive(Args, Debug)]
pub struct TargetsArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Names, aliases and clocks.
    List {
        /// Write the list as JSON (`-` for stdout).
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Every figure of a target with unit, source and confidence.
    Show {
        /// Target name, alias or .ron file.
        name: String,
        /// Override one figure (repeatable).
        #[arg(long = "set", value_name = "PATH=VALUE")]
        sets: Vec<String>,
        /// Only the paths, one a line.
        #[arg(long)]
        paths: bool,
        /// Write the figures as JSON (`-` for stdout).
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Figures in which two targets differ.
    Diff {
        /// Target name, alias or .ron file.
        a: String,
        /// The other one.
        b: String,
        /// Write the differences as JSON (`-` for stdout).
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Write a file of one's own on top of a target.
    New {
        /// Target name, alias or .ron file it begins from.
        from: String,
        /// Its name.
        name: String,
        /// Give it another figure (repeatable).
        #[arg(long = "set", value_name = "PATH=VALUE")]
        sets: Vec<String>,
        /// The file; NAME.ron by default.
        #[arg(short, long, value_name = "FILE.ron")]
        output: Option<PathBuf>,
    },
    /// The form of target files as JSON Schema, for editors and checkers.
    Schema,
    /// Check target files: syntax, keys, values, sources, completeness.
    Check {
        /// Target files; the embedded ones if none is given.
        files: Vec<PathBuf>,
        /// Write the targets checked and the faults as JSON (`-` for stdout).
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
}

#[derive(Serialize)]
struct TargetReport {
    name: String,
    aliases: Vec<String>,
    note: String,
    clock_mhz: Option<f64>,
}

#[derive(Serialize)]
struct CheckReport {
    targets: Vec<String>,
    findings: Vec<FindingReport>,
}

#[derive(Serialize)]
struct FigureReport {
    path: String,
    value: f64,
    unit: &'static str,
    conf: &'static str,
    src: String,
    moves: &'static str,
}

/// Runs the subcommand.
pub fn targets(args: &TargetsArgs) -> Result<u8, Refusal> {
    match &args.what {
        What::List { json } => list(json),
        What::Show { name, sets, paths, json } => {
            Places::default().targets([name]).writes("--json", json).check_writable()?;
            let target = with_overrides(name, sets)?;
            show(&target, *paths, json)
        }
        What::Diff { a, b, json } => {
            Places::default().targets([a, b]).writes("--json", json).check_writable()?;
            diff(a, b, json)
        }
        What::New { from, name, sets, output } => {
            let path = new::new(from, name, sets, output)?;
            say(&format!("{}: `ptoemu targets check` reads it again", path.display()));
            Ok(0)
        }
        What::Schema => {
            let text = serde_json::to_string_pretty(&form::form()).map_err(anyhow::Error::from)?;
            print(&text);
            Ok(0)
        }
        What::Check { files, json } => {
            let names = files.iter().map(|f| f.to_string_lossy());
            let places = Places::default().reads(files).targets(names);
            places.writes("--json", json).check_writable()?;
            check(files, json)
        }
    }
}

fn list(json: &Option<PathBuf>) -> Result<u8, Refusal> {
    let targets = all().map_err(Refusal::Program)?;
    let report: Vec<TargetReport> = targets
        .iter()
        .map(|t| TargetReport {
            name: t.name.clone(),
            aliases: t.aliases.clone(),
            note: t.note.clone(),
            clock_mhz: t.value("clock_mhz"),
        })
        .collect();
    write_json(json, &report)?;
    if json.is_none() {
        let rows: Vec<Vec<String>> = report
            .iter()
            .map(|t| {
                let mhz = t.clock_mhz.map_or(String::new(), short);
                vec![t.name.clone(), mhz, t.note.clone(), t.aliases.join(" ")]
            })
            .collect();
        print(&table(&["target", "MHz", "what", "aliases"], &rows));
    }
    Ok(0)
}

fn show(target: &Target, paths: bool, json: &Option<PathBuf>) -> Result<u8, Refusal> {
    if paths && json.is_none() {
        target.paths().for_each(|(p, _)| print(p));
        return Ok(0);
    }
    let report: Vec<FigureReport> = target
        .paths()
        .map(|(path, f)| FigureReport {
            path: path.to_string(),
            value: f.value,
            unit: f.unit,
            conf: f.conf.name(),
            src: f.src.clone(),
            moves: target.reach(path).name(),
        })
        .collect();
    write_json(json, &report)?;
    if json.is_some() {
        return Ok(0);
    }
    let rows: Vec<Vec<String>> = report
        .iter()
        .map(|f| {
            let words = [f.unit, f.moves, f.conf, &f.src].map(str::to_string);
            [f.path.clone(), short(f.value)].into_iter().chain(words).collect()
        })
        .collect();
    print(&table(&["figure", "value", "unit", "moves", "confidence", "source"], &rows));
    print("");
    let sources: Vec<Vec<String>> = target
        .sources
        .iter()
        .map(|(id, s)| vec![id.clone(), s.kind.clone(), s.date.clone(), s.note.clone()])
        .collect();
    print(&table(&["source", "kind", "date", "note"], &sources));
    Ok(0)
}

/// One figure in two targets.
#[derive(Serialize)]
struct DiffReport {
    path: String,
    unit: &'static str,
    a: Option<SideReport>,
    b: Option<SideReport>,
}

#[derive(Serialize)]
struct SideReport {
    value: f64,
    conf: &'static str,
    src: String,
}

fn diff(a: &str, b: &str, json: &Option<PathBuf>) -> Result<u8, Refusal> {
    let (a, b) = (crate::targets::find(a)?, crate::targets::find(b)?);
    let side = |f: &Figure| SideReport { value: f.value, conf: f.conf.name(), src: f.src.clone() };
    let report: Vec<DiffReport> = a
        .diff(&b)
        .into_iter()
        .map(|d| DiffReport {
            unit: d.a.as_ref().or(d.b.as_ref()).map_or("", |f| f.unit),
            a: d.a.as_ref().map(side),
            b: d.b.as_ref().map(side),
            path: d.path,
        })
        .collect();
    write_json(json, &report)?;
    if json.is_some() {
        return Ok(0);
    }
    if report.is_empty() {
        print(&format!("{} and {} have the same figures", a.name, b.name));
        return Ok(0);
    }
    let cells = |s: &Option<SideReport>| match s {
        Some(s) => [short(s.value), format!("{} {}", s.conf, s.src)],
        None => ["-".to_string(), String::new()],
    };
    let row = |d: &DiffReport| {
        let ([va, wa], [vb, wb]) = (cells(&d.a), cells(&d.b));
        vec![d.path.clone(), va, vb, d.unit.to_string(), wa, wb]
    };
    let rows: Vec<Vec<String>> = report.iter().map(row).collect();
    let head = ["figure", &a.name, &b.name, "unit", "first", "second"];
    print(&table(&head, &rows));
    Ok(0)
}

fn check(files: &[PathBuf], json: &Option<PathBuf>) -> Result<u8, Refusal> {
    let mut diags = Vec::new();
    let mut names = Vec::new();
    let mut targets = Vec::new();
    if files.is_empty() {
        targets = all().map_err(Refusal::Program)?;
    }
    for f in files {
        let text = std::fs::read_to_string(f)
            .map_err(|e| anyhow::anyhow!("cannot read {}: {e}", f.display()))?;
        let source = SourceFile::new(f.display().to_string(), text);
        match load_file(&source, f.parent()) {
            Ok(t) => targets.push(t),
            Err(d) => diags.extend(d),
        }
    }
    for t in &targets {
        diags.extend(t.check());
        names.push(t.name.clone());
    }
    show_all(&diags);
    let findings = diags.iter().map(|d| finding(d, None)).collect();
    write_json(json, &CheckReport { targets: names.clone(), findings })?;
    if diags.is_empty() {
        say(&format!("{}: no fault found", names.join(", ")));
        return Ok(0);
    }
    Ok(2)
}

impl TargetArgs {
    /// The targets asked for, overrides applied.
    pub(crate) fn load(&self) -> Result<Vec<Target>, Refusal> {
        self.target.iter().map(|name| Ok(with_overrides(name, &self.sets)?)).collect()
    }

    /// The one target asked for.
    pub(crate) fn one(&self) -> Result<Target, Refusal> {
        match &self.target[..] {
            [name] => Ok(with_overrides(name, &self.sets)?),
            _ => Err(anyhow::anyhow!("give one target, not {}", self.target.join(",")).into()),
        }
    }
}
