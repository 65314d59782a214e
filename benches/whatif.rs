//! Points a second of what-if studies: one worker, then all threads to CSV rows.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use ptoemu::args::Given;
use ptoemu::session::Request;
use ptoemu::targets::with_overrides;
use ptoemu::whatif::{Axis, Grid, Study, Subject, Sweep, Timer};
use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Dist;
use ptoemu_core::target::Target;
use ptoemu_isa::exec::{ArgValue, Binding};
use std::ops::Range;
use std::sync::atomic::AtomicU64;

fn main() {
    divan::main();
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
    b.counter(ItemsCount::new(1usize)).bench_local(|| {
        grid.values(point % grid.len(), &mut values);
        point += 1;
        worker.time(black_box(&values)).cycles
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
    b.counter(ItemsCount::new(n)).bench_local(|| {
        // Other points in every sample, as far as there are any.
        let range = from % study.len().unwrap_or(1)..(from % study.len().unwrap_or(1) + n);
        from += n;
        let mut sum = 0;
        let ran = study.run(range, &cells, &AtomicU64::new(0), &mut |_, m| {
            sum += m.cycles;
            Ok(())
        });
        ran.unwrap_or_else(|e| panic!("{e:?}"));
        sum
    });
}

/// All threads.
#[divan::bench(args = ["figures", "banks"], sample_count = 10)]
fn softmax_a3_study(b: Bencher, what: &str) {
    let study = Study { subjects: vec![softmax()], targets: vec![target("a3")], grid: grid(what) };
    let all: Range<u64> = 0..study.len().unwrap_or(0);
    let cells = study.record(&all).unwrap_or_else(|e| panic!("{e:?}"));
    b.counter(ItemsCount::new(all.end)).bench_local(|| {
        let mut sum = 0;
        let done = AtomicU64::new(0);
        let ran = study.run(all.clone(), &cells, &done, &mut |_, m| {
            sum += m.cycles;
            Ok(())
        });
        ran.unwrap_or_else(|e| panic!("{e:?}"));
        sum
    });
}
