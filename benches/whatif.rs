//! Points a second of what-if studies and the memory they take: one worker, all threads, and all
//! threads to CSV rows and a page.
//!
//! Memory is the largest resident set of the process while a benchmark ran, with the program, its
//! execution and everything before it. Linux alone tells and resets it.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use ptoemu::args::Given;
use ptoemu::session::Request;
use ptoemu::study::pages::{WhatIf, whatif};
use ptoemu::targets::with_overrides;
use ptoemu::whatif::rows::{Format, Rows};
use ptoemu::whatif::shard::Shard;
use ptoemu::whatif::survey::{Survey, resource};
use ptoemu::whatif::{Axis, Cell, Grid, Study, Subject, Sweep, Timer};
use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Dist;
use ptoemu_core::target::Target;
use ptoemu_isa::exec::{ArgValue, Binding};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Largest resident sets, in the order of the benchmarks.
static PEAKS: Mutex<Vec<(String, Option<u64>)>> = Mutex::new(Vec::new());

fn main() {
    divan::main();
    let peaks = PEAKS.lock().unwrap_or_else(|e| e.into_inner());
    if !peaks.is_empty() {
        println!("\nlargest resident set, kB");
    }
    for (name, kb) in peaks.iter() {
        let kb = kb.map_or("not told by this system".to_string(), |n| n.to_string());
        println!("  {name:<40} {kb:>10}");
    }
}

/// Runs a benchmark and notes how much memory the process came to hold.
fn watched(name: &str, job: impl FnOnce()) {
    // The kernel's word for: the peak starts anew from what is resident now.
    let reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    job();
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let kb = reset.then(peak).flatten();
    PEAKS.lock().unwrap_or_else(|e| e.into_inner()).push((name.to_string(), kb));
}

fn target(name: &str) -> Target {
    with_overrides(name, &[]).unwrap_or_else(|e| panic!("{e:?}"))
}

fn softmax() -> Subject {
    kernel_of("examples/softmax.pto", 64 * 128 * 4)
}

fn kernel_of(file: &str, bytes: usize) -> Subject {
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut data = vec![0u8; bytes];
    Dist::Unit.fill(DType::F32, 1, 0, &mut data);
    let binding = Binding { name: "x".into(), value: ArgValue::Bytes(data) };
    let args = vec![Given { binding, shape: None, file: None }];
    let request = Request { args, ..Request::default() };
    Subject::kernel(&SourceFile::new(file, text), String::new(), request)
}

/// Figures only, and with the banks changing at every point.
const FIGURES: [(&str, &[&str]); 2] = [
    ("figures", &["drain=0..19", "vcgmax.per_repeat=1..8", "vdiv.per_repeat=1..8"]),
    ("banks", &["drain=0..19", "vcgmax.per_repeat=1..8", "ub.bank_groups=8,12,16,32"]),
];

fn grid(name: &str) -> Grid {
    grid_of(FIGURES.iter().find(|(n, _)| *n == name).map_or(&[][..], |(_, s)| s))
}

fn grid_of(sets: &[&str]) -> Grid {
    let axis = |s: &&str| Axis::one(Sweep::parse("--set", s).unwrap_or_else(|e| panic!("{e:?}")));
    Grid::new(sets.iter().map(axis).collect()).unwrap_or_else(|e| panic!("{e:?}"))
}

/// One thread.
#[divan::bench(args = ["figures", "banks"])]
fn softmax_a3_one_thread(b: Bencher, what: &str) {
    let (target, subject, grid) = (target("a3"), softmax(), grid(what));
    let recorded = subject.record(&target).unwrap_or_else(|e| panic!("{e:?}"));
    let timer = Timer::new(&recorded, &target, &grid.paths()).unwrap_or_else(|e| panic!("{e:?}"));
    let mut worker = timer.worker();
    let (mut point, mut values) = (0, Vec::new());
    watched(&format!("softmax_a3_one_thread {what}"), || {
        b.counter(ItemsCount::new(1usize)).bench_local(|| {
            grid.values(point % grid.len(), &mut values);
            point += 1;
            worker.time(black_box(&values)).cycles
        });
    });
}

/// Kernels of the 950: five vector functions, and one of over a million loop trips.
const KERNELS: [(&str, &str); 2] =
    [("softmax", "examples/softmax.pto"), ("million", "tests/data/million_950.pto")];

/// Figures of the instructions in them, every point new; and of the pipes beside them.
const FIGURES_950: [(&str, &[&str]); 2] = [
    ("functions", &["vf.startup=20..59", "vadd.latency=5..14", "vf.drain=1..30"]),
    ("pipes", &["scalar.issue=0..9", "mte2.latency=100..499", "vf.drain=11,12"]),
];

/// All threads on the 950; points a sample as many as a second is likely to hold.
#[divan::bench(args = ["softmax functions", "softmax pipes", "million functions", "million pipes"], sample_count = 3)]
fn study_950pr(b: Bencher, what: &str) {
    let (kernel, figures) = what.split_once(' ').unwrap_or((what, ""));
    let file = KERNELS.iter().find(|(n, _)| *n == kernel).map_or("", |(_, f)| f);
    let bytes = if kernel == "million" { 131_072 } else { 64 * 128 * 4 };
    let sets = FIGURES_950.iter().find(|(n, _)| *n == figures).map_or(&[][..], |(_, s)| s);
    let study = Study {
        subjects: vec![kernel_of(file, bytes)],
        targets: vec![target("950pr")],
        grid: grid_of(sets),
    };
    let n = study.len().unwrap_or(0).min(if figures == "pipes" { 8000 } else { 1000 });
    let cells = study.record(&(0..n)).unwrap_or_else(|e| panic!("{e:?}"));
    let mut from = 0;
    watched(&format!("study_950pr {what}"), || {
        b.counter(ItemsCount::new(n)).bench_local(|| {
            // Other points in every sample, as far as there are any.
            let start = from % study.len().unwrap_or(1);
            from += n;
            summed(&study, &cells, start..start + n)
        });
    });
}

/// Times points and adds their cycles up.
fn summed(study: &Study, cells: &[Cell], range: Range<u64>) -> u64 {
    let mut sum = 0;
    let ran = study.run(range, cells, &AtomicU64::new(0), &mut |_, m| {
        sum += m.cycles;
        Ok(())
    });
    ran.unwrap_or_else(|e| panic!("{e:?}"));
    sum
}

/// All threads.
#[divan::bench(args = ["figures", "banks"], sample_count = 10)]
fn softmax_a3_study(b: Bencher, what: &str) {
    let study = Study { subjects: vec![softmax()], targets: vec![target("a3")], grid: grid(what) };
    let all: Range<u64> = 0..study.len().unwrap_or(0);
    let cells = study.record(&all).unwrap_or_else(|e| panic!("{e:?}"));
    watched(&format!("softmax_a3_study {what}"), || {
        b.counter(ItemsCount::new(all.end)).bench_local(|| summed(&study, &cells, all.clone()));
    });
}

/// A hundred thousand points to CSV rows, in memory, and a page.
#[divan::bench(sample_count = 3)]
fn softmax_a3_page(b: Bencher) {
    let grid = grid_of(&[
        "drain=0..24",
        "vcgmax.per_repeat=1..8",
        "vdiv.per_repeat=1..10",
        "vexp.per_repeat=1..10",
        "ub.bank_groups=8,12,16,24,32",
    ]);
    let study = Study { subjects: vec![softmax()], targets: vec![target("a3")], grid };
    let all: Range<u64> = 0..study.len().unwrap_or(0);
    let cells = study.record(&all).unwrap_or_else(|e| panic!("{e:?}"));
    watched("softmax_a3_page", || {
        b.counter(ItemsCount::new(all.end)).bench_local(|| {
            let rows = Rows::new(&study, Format::Csv, Shard::ALL);
            let mut survey = Survey::new(&study).unwrap_or_else(|| panic!("too many points"));
            let mut csv = rows.header();
            let ran = study.run(all.clone(), &cells, &AtomicU64::new(0), &mut |p, m| {
                survey.add(Some((m.cycles, resource(m.bound))));
                rows.row(p, m, &mut csv);
                Ok(())
            });
            ran.unwrap_or_else(|e| panic!("{e:?}"));
            let page = WhatIf { survey: &survey, as_is: vec![None], rows: "study.csv".into() };
            (csv.len(), whatif(&page, "ptoemu whatif").0.len())
        });
    });
}
