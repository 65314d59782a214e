//! `ptoemu verify --mutate`: do the checks notice wrong microcode?

use super::report::family_name;
use crate::commands::output::table;
use crate::commands::{print, write_json};
use crate::progress::Progress;
use crate::session::Refusal;
use ptoemu_isa::verify::mutate::{Score, mutate, uses};
use ptoemu_isa::verify::{Bench, Unit};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Survivors shown.
const SHOWN: usize = 20;

/// The score of every operation.
#[derive(Debug, Serialize)]
struct MutationReport {
    rows: Vec<Row>,
    /// Killed mutants by the code of the finding.
    killed: BTreeMap<String, u64>,
    /// Equivalent mutants by class.
    equivalent: BTreeMap<String, u64>,
    /// Mutants nobody noticed.
    survived: Vec<String>,
    /// Findings about microcode that was not changed.
    false_alarms: Vec<String>,
}

/// One operation on one element type of a family.
#[derive(Debug, Serialize)]
struct Row {
    family: &'static str,
    op: String,
    types: String,
    uses: u64,
    mutants: u64,
    killed: u64,
    equivalent: u64,
    survived: u64,
    false_alarms: u64,
}

/// Mutates the microcode of all units.
pub(super) fn run(units: &[Unit], json: &Option<PathBuf>) -> Result<u8, Refusal> {
    let jobs: Vec<(usize, _)> = units
        .iter()
        .enumerate()
        .flat_map(|(n, u)| uses(u).into_iter().map(move |s| (n, s)))
        .collect();
    let progress = Progress::of("mutating", "uses", jobs.len() as u64);
    let counter = progress.counter();
    let done: Vec<(usize, Option<Score>)> = jobs
        .into_par_iter()
        .map_init(Bench::default, |bench, (n, spec)| {
            let score = mutate(bench, &units[n], &spec);
            counter.fetch_add(1, Ordering::Relaxed);
            (n, score)
        })
        .collect();
    let mut scores: Vec<Score> = units.iter().map(|_| Score::default()).collect();
    for (n, score) in done {
        if let Some(s) = score {
            scores[n].add(s);
        }
    }
    drop(progress);
    let report = report(units, &scores);
    if json.is_none() {
        screen(&report);
    }
    write_json(json, &report)?;
    Ok(u8::from(!report.survived.is_empty() || !report.false_alarms.is_empty()))
}

fn report(units: &[Unit], scores: &[Score]) -> MutationReport {
    let mut all = Score::default();
    let mut rows = Vec::new();
    for (u, s) in units.iter().zip(scores) {
        rows.push(Row {
            family: family_name(u.family),
            op: u.op.name.to_string(),
            types: u.types(),
            uses: s.uses,
            mutants: s.mutants(),
            killed: s.kills(),
            equivalent: s.equivalent.values().sum(),
            survived: s.survived.len() as u64,
            false_alarms: s.false_alarms.len() as u64,
        });
        all.add(s.clone());
    }
    let survivor = |s: &ptoemu_isa::verify::mutate::Survivor| {
        format!("{} {}x{}: {} ({:?})", s.unit, s.spec.rows, s.spec.cols, s.change, s.spec)
    };
    MutationReport {
        rows,
        killed: all.killed.iter().map(|(k, n)| (k.to_string(), *n)).collect(),
        equivalent: all.equivalent.iter().map(|(k, n)| (k.name().to_string(), *n)).collect(),
        survived: all.survived.iter().map(survivor).collect(),
        false_alarms: all
            .false_alarms
            .iter()
            .map(|f| format!("{}: {}", f.code, f.message))
            .collect(),
    }
}

fn screen(r: &MutationReport) {
    let names =
        ["operation", "types", "family", "uses", "mutants", "killed", "equivalent", "survived"];
    let line = |row: &Row| {
        let numbers = [row.uses, row.mutants, row.killed, row.equivalent, row.survived];
        let names = [row.op.clone(), row.types.clone(), row.family.to_string()];
        names.into_iter().chain(numbers.map(|n| n.to_string())).collect()
    };
    let rows: Vec<Vec<String>> = r.rows.iter().map(line).collect();
    print(&table(&names, &rows));
    let counts = |map: &BTreeMap<String, u64>| -> Vec<Vec<String>> {
        map.iter().map(|(k, n)| vec![k.clone(), n.to_string()]).collect()
    };
    print(&format!("\n{}", table(&["killed by", "mutants"], &counts(&r.killed))));
    print(&format!("\n{}", table(&["equivalent", "mutants"], &counts(&r.equivalent))));
    for s in r.survived.iter().take(SHOWN) {
        print(&format!("survived: {s}"));
    }
    for f in r.false_alarms.iter().take(SHOWN) {
        print(&format!("false alarm: {f}"));
    }
    let killed: u64 = r.killed.values().sum();
    let real = killed + r.survived.len() as u64;
    let share = if real == 0 { 100.0 } else { 100.0 * killed as f64 / real as f64 };
    print(&format!(
        "\nmutation score {share:.2}%: {killed} of {real} mutants that change the program are reported; {} survived, {} false alarms",
        r.survived.len(),
        r.false_alarms.len()
    ));
}
