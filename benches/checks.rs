//! What the checks cost: softmax on both families with no check, with each check alone and with
//! all of them, and the ratios of one run.
//!
//! `cargo bench --bench checks`
//!
//! The variants take turns, and of each the fastest round counts, so that a busy machine slows all
//! of them alike. Values and cycles are part of every round, the reading of the text is not.

use ptoemu::args::Given;
use ptoemu::session::{Request, prepare, run, timelines};
use ptoemu::targets::find;
use ptoemu_core::check::Checks;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Dist;
use ptoemu_core::target::Target;
use ptoemu_isa::exec::{ArgValue, Binding, Program};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: usize = 200;

const VARIANTS: [(&str, Checks); 6] = [
    ("none", Checks::NONE),
    ("memcheck", Checks { memory: true, ..Checks::NONE }),
    ("initcheck", Checks { init: true, ..Checks::NONE }),
    ("racecheck", Checks { race: true, ..Checks::NONE }),
    ("synccheck", Checks { sync: true, ..Checks::NONE }),
    ("all", Checks::ALL),
];

fn source(name: &str) -> Arc<SourceFile> {
    let path = format!("{}/examples/{name}.pto", env!("CARGO_MANIFEST_DIR"));
    SourceFile::new(name, std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}")))
}

fn input(t: DType) -> Given {
    let mut bytes = vec![0u8; 64 * 128 * t.size()];
    Dist::Unit.fill(t, 1, 0, &mut bytes);
    let binding = Binding { name: "x".into(), value: ArgValue::Bytes(bytes) };
    Given { binding, shape: None, file: None }
}

/// Values and cycles of a program that is lowered already.
fn round(program: &Program, target: &Target, request: &Request) -> Duration {
    let program = program.clone();
    let start = Instant::now();
    let ran = run(program, target, request).unwrap_or_else(|e| panic!("{e:?}"));
    black_box(timelines(&ran, target)[0].cycles);
    start.elapsed()
}

/// The fastest round of every variant.
fn fastest(name: &str, t: DType, target: &Target) -> [Duration; VARIANTS.len()] {
    let requests =
        VARIANTS.map(|(_, checks)| Request { args: vec![input(t)], checks, ..Request::default() });
    let program = prepare(&source(name), target, &requests[0]).unwrap_or_else(|e| panic!("{e:?}"));
    let mut best = [Duration::MAX; VARIANTS.len()];
    for _ in 0..ROUNDS {
        for (best, request) in best.iter_mut().zip(&requests) {
            *best = round(&program, target, request).min(*best);
        }
    }
    best
}

fn main() {
    // `cargo test --benches` only wants to see it run.
    let benches = std::env::args().any(|a| a == "--bench");
    let heads: Vec<String> = VARIANTS.iter().map(|(n, _)| format!("{n:>16}")).collect();
    println!("{:<24}{}", "microseconds (ratio)", heads.join(""));
    for target in ["a3", "950pr"] {
        let target = find(target).unwrap_or_else(|e| panic!("{e:?}"));
        for (name, t) in [("softmax", DType::F32), ("softmax_f16", DType::F16)] {
            if !benches {
                continue;
            }
            let best = fastest(name, t, &target);
            let none = best[0].as_secs_f64();
            let cells: Vec<String> = best
                .iter()
                .map(|b| format!("{:>9.1} ({:.2})", b.as_secs_f64() * 1e6, b.as_secs_f64() / none))
                .collect();
            println!("{:<24}{}", format!("{name} {}", target.name), cells.join(""));
        }
    }
}
