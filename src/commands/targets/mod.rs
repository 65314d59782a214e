//! `ptoemu targets list|show|check`.

use super::output::{short, table};
use super::{TargetArgs, print, say, show_all, write_json};
use crate::report::{FindingReport, finding};
use crate::session::Refusal;
use crate::targets::{all, load_file, with_overrides};
use clap::{Args, Subcommand};
use ptoemu_core::diag::SourceFile;
use ptoemu_core::target::Target;
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
}

/// Runs the subcommand.
pub fn targets(args: &TargetsArgs) -> Result<u8, Refusal> {
    match &args.what {
        What::List { json } => list(json),
        What::Show { name, sets, paths, json } => {
            let target = with_overrides(name, sets)?;
            show(&target, *paths, json)
        }
        What::Check { files, json } => check(files, json),
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
        })
        .collect();
    write_json(json, &report)?;
    if json.is_some() {
        return Ok(0);
    }
    let rows: Vec<Vec<String>> = report
        .iter()
        .map(|f| {
            let src = f.src.clone();
            vec![f.path.clone(), short(f.value), f.unit.to_string(), f.conf.to_string(), src]
        })
        .collect();
    print(&table(&["figure", "value", "unit", "confidence", "source"], &rows));
    print("");
    let sources: Vec<Vec<String>> = target
        .sources
        .iter()
        .map(|(id, s)| vec![id.clone(), s.kind.clone(), s.date.clone(), s.note.clone()])
        .collect();
    print(&table(&["source", "kind", "date", "note"], &sources));
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
