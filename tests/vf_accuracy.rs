//! Published cycles of vector functions against the model.
//!
//! The programs themselves are not part of the project; the test reads them from the folder
//! `PTOEMU_SHARED/data/vf_programs` and says so when it has none.

use ptoemu::vf_program;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType;
use ptoemu_core::target::Target;
use ptoemu_core::time::vf::{Inst, Kind, Node, Options, Reg, VfProgram, mreg, time, vreg};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
    ptoemu::targets::find("950pr").unwrap_or_else(|e| panic!("{e:?}"))
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

/// The instructions of a tile op whose programs are not published, from its documented body:
/// a prologue, then rows of chunks of predicate, load, operations, store.
fn tile_op(name: &str, half: bool, rows: u64, chunks: u64, post: bool) -> VfProgram {
    let mut p = VfProgram::default();
    let dtype = Some(if half { DType::F16 } else { DType::F32 });
    let mut add = |name: &str, kind: Kind, dst: &[Reg], src: &[Reg]| {
        let class = p.class(name, dtype);
        p.add(Inst::new(class, kind).to(dst).from(src))
    };
    let (c, x, t, d, m) = (vreg(0), vreg(1), vreg(2), vreg(3), mreg(0));
    let root = name == "TRSQRT";
    let prologue = match root {
        true => add("vdup", Kind::Compute, &[c], &[]),
        false => add("vbr", Kind::Compute, &[c], &[]),
    };
    let mut body = vec![add("plt", Kind::Predicate, &[m], &[])];
    body.push(add("vlds", Kind::Load, &[x], &[]));
    if root {
        body.push(add("vsqrt", Kind::Compute, &[t], &[x, m]));
        body.push(add("vdiv", Kind::Compute, &[d], &[c, t, m]));
    } else {
        body.push(add("vdiv", Kind::Compute, &[d], &[x, c, m]));
    }
    body.push(add("vsts", Kind::Store, &[], &[d, m]));
    p.body = vec![prologue, Node::repeat(rows, vec![Node::repeat(chunks, body)])];
    if post {
        vf_program::post_update_loads(&mut p);
    }
    p
}

#[test]
fn root_and_quotient_follow_from_their_bodies() {
    let t = target();
    for name in ["TRSQRT", "TDIVS"] {
        let mut all = Vec::new();
        for f in MEASURED.lines().map(fields).filter(|f| f.len() == 13 && f[1] == name) {
            let half = f[2] == "fp16";
            let number = |i: usize| f[i].parse::<u64>().unwrap();
            let chunks = number(6).div_ceil(if half { 128 } else { 64 });
            let program = tile_op(name, half, number(5), chunks, post(&f[7]));
            let ours = time(&program, &t, Options::default()).unwrap().cycles as f64;
            let measured: f64 = f[8].parse().unwrap();
            let error = (ours - measured).abs() / measured;
            println!("{name} {} {}x{chunks} {measured} {ours} {:.2} %", f[2], f[5], error * 100.0);
            all.push(error);
        }
        let e = errors(all);
        println!("{name}: median {:.4}, p90 {:.4}, max {:.4}", e.median, e.p90, e.max);
        assert!(e.median <= 0.015 && e.max <= 0.06, "{name}: {e:?}");
    }
}
