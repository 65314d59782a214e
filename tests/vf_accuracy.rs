//! Published cycles of vector functions against the model.
//!
//! The programs themselves are not part of the project; the test reads them from the folder
//! `PTOEMU_SHARED/data/vf_programs` and says so when it has none.

use ptoemu::vf_program;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::target::Target;
use ptoemu_core::time::vf::{Options, time};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MEASURED: &str = include_str!("data/measured/950_measured.csv");

/// One measured row that has a program.
struct Row {
    kind: String,
    name: String,
    variant: String,
    measured: f64,
    peer: Option<f64>,
    program: String,
}

fn fields(line: &str) -> Vec<String> {
    let (mut out, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => out.push(String::new()),
            c => out.last_mut().unwrap().push(c),
        }
    }
    out
}

/// Rows with a measured value and a program, each program and variant once.
fn rows() -> Vec<Row> {
    let mut seen = std::collections::BTreeSet::new();
    MEASURED
        .lines()
        .skip(1)
        .map(fields)
        .filter(|f| f.len() == 13 && !f[12].is_empty() && !f[8].is_empty())
        .map(|f| Row {
            kind: f[0].clone(),
            name: f[1].clone(),
            variant: f[7].clone(),
            measured: f[8].parse().unwrap(),
            peer: f[9].parse().ok(),
            program: f[12].clone(),
        })
        .filter(|r| seen.insert((r.program.clone(), post(&r.variant), r.measured.to_bits())))
        .collect()
}

/// Does the variant use post-updated addresses?
fn post(variant: &str) -> bool {
    let v = variant.to_ascii_lowercase().replace('_', "");
    v.contains("postupdate") && !v.contains("nopostupdate")
}

fn target() -> Target {
    let source = |name: &str| {
        let text = match name {
            "950pr" => include_str!("../targets/950pr.ron"),
            "dav-3510" => include_str!("../targets/dav-3510.ron"),
            _ => return None,
        };
        Some(SourceFile::new(name, text))
    };
    let file = source("950pr").unwrap();
    Target::load(&file, &source, Arc::new(ptoemu_isa::a5::catalogue())).unwrap()
}

fn shared() -> Option<PathBuf> {
    let dir = std::env::var_os("PTOEMU_SHARED").map(PathBuf::from);
    if dir.is_none() {
        println!("skipped: PTOEMU_SHARED names no folder with the programs");
    }
    dir
}

fn cycles(dir: &Path, row: &Row, t: &Target) -> f64 {
    let path = dir.join("data").join(&row.program);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut p = vf_program::read(&SourceFile::new(row.program.clone(), text)).unwrap().program;
    if post(&row.variant) {
        vf_program::post_update_loads(&mut p);
    }
    time(&p, t, Options::default()).unwrap().cycles as f64
}

#[derive(Debug)]
struct Errors {
    median: f64,
    p90: f64,
    max: f64,
}

fn errors(mut of: Vec<f64>) -> Errors {
    of.sort_by(f64::total_cmp);
    let at = |q: f64| of[((of.len() - 1) as f64 * q).round() as usize];
    Errors { median: at(0.5), p90: at(0.9), max: at(1.0) }
}

#[test]
fn programs_meet_the_published_cycles() {
    let Some(dir) = shared() else { return };
    let t = target();
    let mut groups: BTreeMap<String, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for r in rows() {
        let ours = cycles(&dir, &r, &t);
        let error = |v: f64| (v - r.measured).abs() / r.measured;
        let peer = r.peer.map_or(String::new(), |p| format!("{p:8} {:6.2} %", 100.0 * error(p)));
        println!(
            "{:40} {:8} {ours:8} {:6.2} % {peer} {}",
            r.program.trim_start_matches("vf_programs/"),
            r.measured,
            100.0 * error(ours),
            if post(&r.variant) { "post" } else { "" },
        );
        let group = if r.kind == "kernel" { "kernel" } else { r.name.as_str() };
        for g in [group, r.kind.as_str()] {
            let e = groups.entry(g.to_string()).or_default();
            if g == group || r.kind != "kernel" {
                e.0.push(error(ours));
                e.1.extend(r.peer.map(error));
            }
            if r.kind == "kernel" {
                break;
            }
        }
    }
    for (name, (ours, peer)) in groups {
        let n = ours.len();
        let (o, p) = (errors(ours), errors(peer));
        let show = |e: &Errors| {
            format!("{:6.2} {:6.2} {:6.2}", 100.0 * e.median, 100.0 * e.p90, 100.0 * e.max)
        };
        println!("{name:8} {n:4} rows: median, p90, max % {} (peer {})", show(&o), show(&p));
        let gate = if name == "kernel" { [0.04, 0.15, 0.15] } else { [0.012, 0.06, 0.09] };
        if name == "kernel" || name == "tileop" {
            assert!(o.median <= gate[0] && o.p90 <= gate[1] && o.max <= gate[2], "{name}: {o:?}");
        }
    }
}
