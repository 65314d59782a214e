//! `ptoemu accuracy`: the cycle model against published measurements, case by case.

use super::output::{short, table};
use super::places::Places;
use super::run::{Microcode, built_in};
use super::{TargetArgs, print, write_json};
use crate::measured::{self, Row, Scored};
use crate::measured_950;
use crate::session::Refusal;
use anyhow::Context;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Arguments of `accuracy`.
#[derive(Args, Debug)]
pub struct AccuracyArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// Single measured cases, or board and simulator points (repeatable).
    #[arg(long, value_name = "FILE.csv")]
    measured: Vec<PathBuf>,
    /// Fitted lines: slope and bias per operation, type and columns, scored at 64 rows.
    #[arg(long, value_name = "FILE.csv")]
    lines: Option<PathBuf>,
    /// Microcode the rows are run on: corrected or vendor (as shipped, which is what was measured).
    #[arg(long, default_value = "corrected", value_name = "corrected|vendor")]
    microcode: Microcode,
    /// Only the summary, not every row.
    #[arg(long)]
    summary: bool,
    /// Write rows and summary as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    target: String,
    rows: Vec<Row>,
    summary: BTreeMap<String, Summary>,
}

/// Errors of one kind of rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    count: usize,
    skipped: usize,
    mean: f64,
    median: f64,
    p90: f64,
    max: f64,
    peer_mean: Option<f64>,
}

/// Scores every row of the files given.
pub fn accuracy(args: &AccuracyArgs) -> Result<u8, Refusal> {
    if args.measured.is_empty() && args.lines.is_none() {
        return Err(anyhow::anyhow!("give --measured FILE.csv or --lines FILE.csv").into());
    }
    let places = Places::default().target(&args.target).reads(&args.measured).reads(&args.lines);
    places.writes("--json", &args.json).check_writable()?;
    let target = args.target.one()?;
    let quirks = built_in(&args.microcode)?;
    let mut rows = Vec::new();
    for file in &args.measured {
        let table = read(file)?;
        rows.extend(match measured_950::is_table(&table) {
            true => measured_950::points(&table, &target, file.parent(), quirks),
            false => measured::points_on(&table, &target, quirks)?,
        });
    }
    if let Some(file) = &args.lines {
        rows.extend(measured::lines_on(&read(file)?, &target, quirks)?);
    }
    let report = Report { target: target.name.clone(), summary: summarise(&rows), rows };
    write_json(&args.json, &report)?;
    if args.json.is_none() {
        show(&report, args.summary);
    }
    Ok(0)
}

fn read(path: &PathBuf) -> Result<Vec<measured::Record>, Refusal> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    measured::records(&text).with_context(|| path.display().to_string()).map_err(Refusal::Usage)
}

fn summarise(rows: &[Row]) -> BTreeMap<String, Summary> {
    let mut kinds: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for r in rows {
        kinds.entry(r.kind.clone()).or_default().push(r);
        if r.kind.starts_with("line ") {
            kinds.entry("lines, all".into()).or_default().push(r);
        }
    }
    kinds.into_iter().map(|(k, rows)| (k, summary(&rows))).collect()
}

fn summary(rows: &[&Row]) -> Summary {
    let mut errors: Vec<f64> = Vec::new();
    let mut peers = Vec::new();
    for r in rows {
        if let Scored::Ran { rel_error, .. } = &r.result {
            errors.push(rel_error.abs());
            peers.extend(r.peer_error.map(f64::abs));
        }
    }
    errors.sort_by(f64::total_cmp);
    let at = |q: f64| {
        let i = (q * errors.len() as f64).ceil() as usize;
        errors.get(i.saturating_sub(1)).copied().unwrap_or(0.0)
    };
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
    Summary {
        count: errors.len(),
        skipped: rows.len() - errors.len(),
        mean: mean(&errors),
        median: at(0.5),
        p90: at(0.9),
        max: errors.last().copied().unwrap_or(0.0),
        peer_mean: (!peers.is_empty()).then(|| mean(&peers)),
    }
}

fn percent(v: f64) -> String {
    format!("{:.2}%", 100.0 * v)
}

fn show(report: &Report, only_summary: bool) {
    if !only_summary {
        let rows: Vec<Vec<String>> = report.rows.iter().map(row).collect();
        print(&table(&["kind", "case", "measured", "ours", "error", "peer error", ""], &rows));
        print("");
    }
    let rows: Vec<Vec<String>> = report
        .summary
        .iter()
        .map(|(k, s)| {
            let figures = if s.count == 0 {
                [0.0; 4].map(|_| "-".to_string())
            } else {
                [s.mean, s.median, s.p90, s.max].map(percent)
            };
            let [mean, median, p90, max] = figures;
            let peer = s.peer_mean.map_or("-".into(), percent);
            vec![
                k.clone(),
                s.count.to_string(),
                s.skipped.to_string(),
                mean,
                median,
                p90,
                max,
                peer,
            ]
        })
        .collect();
    print(&table(
        &["kind", "count", "skipped", "mean", "median", "p90", "max", "peer mean"],
        &rows,
    ));
}

fn row(r: &Row) -> Vec<String> {
    let peer = r.peer_error.map_or(String::new(), percent);
    match &r.result {
        Scored::Ran { ours, rel_error } => {
            vec![
                r.kind.clone(),
                r.case.clone(),
                short(r.measured),
                short(*ours),
                percent(*rel_error),
                peer,
                String::new(),
            ]
        }
        Scored::Skipped { skipped } => {
            vec![
                r.kind.clone(),
                r.case.clone(),
                short(r.measured),
                "-".into(),
                "-".into(),
                peer,
                skipped.clone(),
            ]
        }
    }
}
