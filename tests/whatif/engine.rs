//! Points against fresh runs on changed targets.

use ptoemu::targets::with_overrides;
use ptoemu::whatif::{Axis, Grid, Recorded, Study, Subject, Sweep, Timer};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::Pipe;
use ptoemu_core::target::Target;
use ptoemu_core::time::time;
use ptoemu_isa::case::{self, Case, Placement};
use ptoemu_isa::machine::Settings;
use ptoemu_isa::tile;
use std::sync::atomic::AtomicU64;

fn target(name: &str) -> Target {
    with_overrides(name, &[]).expect("an embedded target")
}

fn op(name: &str, dtype: DType, rows: u32, cols: u32) -> Subject {
    Subject::op(Case::new(tile::find(name).expect("an operation"), dtype, rows, cols))
}

fn recorded(subject: &Subject, target: &Target) -> Recorded {
    subject.record(target).expect("legal")
}

/// Settings that touch every kind of figure of a family, banks among them.
fn grid(family: &str) -> Grid {
    let sets: &[&str] = match family {
        "a3" => &[
            "vcgmax.per_repeat=1..3",
            "vmax.f32.startup=0,9",
            "ub.bank_groups=8,16,32",
            "drain=0,12",
            "ub.read_stage=4,8",
            "clock_mhz=1000,1850",
        ],
        _ => &["vf.startup=20,70", "vmax.latency=4..6", "ub.bank_groups=4,16", "scalar.issue=0,3"],
    };
    let axis = |s: &&str| Axis::one(Sweep::parse("--set", s).expect("a sweep"));
    Grid::new(sets.iter().map(axis).collect()).expect("a grid")
}

#[test]
fn points_are_what_a_fresh_run_on_a_changed_target_says() {
    for name in ["a3", "950pr"] {
        let (base, grid) = (target(name), grid(name));
        for subject in [op("trowmax", DType::F32, 64, 128), op("tadd", DType::F16, 5, 144)] {
            let recorded = recorded(&subject, &base);
            let timer = Timer::new(&recorded, &base, &grid.paths()).expect("known figures");
            let mut worker = timer.worker();
            let mut values = Vec::new();
            // Back and forth, so that nothing of the point before may stay.
            for point in (0..grid.len()).step_by(5).chain((0..grid.len()).rev().step_by(7)) {
                grid.values(point, &mut values);
                let mut fresh = base.clone();
                for (path, v) in grid.paths().iter().zip(&values) {
                    fresh.set(path, *v).expect("in range");
                }
                let line = time(&recorded.streams[0], &fresh);
                let m = worker.time(&values);
                assert_eq!((m.cycles, &m.fault), (line.cycles, &None), "{name} {values:?}");
                assert_eq!(m.busy[Pipe::V as usize], line.pipe(Pipe::V).busy, "{name} {values:?}");
                assert_eq!(m.time_us, line.cycles as f64 * fresh.us_per_cycle());
                assert_eq!(worker.cycles(&values), line.cycles);
            }
        }
    }
}

/// Operations are recorded without values; that must not show in their cycles.
#[test]
fn operations_take_the_cycles_of_their_execution() {
    let mut seen = 0;
    for name in ["a3", "950pr"] {
        let base = target(name);
        let settings = Settings::of(base.family);
        let limits = ptoemu::session::limits(&base);
        for found in tile::OPS.iter().filter(|o| !o.sig.view) {
            let case = Case::new(found, DType::F32, 16, 64);
            let call = case.call(Placement::Packed { align: 512 });
            let Ok(trial) = case::execute(&call, &limits, settings.clone(), 1) else { continue };
            let recorded = recorded(&Subject::op(case), &base);
            let (a, b) = (time(&recorded.streams[0], &base), time(&trial.stream, &base));
            assert_eq!(a.cycles, b.cycles, "{} on {name}", found.name);
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen} operations");
}

#[test]
fn a_study_gives_its_points_in_order_whatever_the_threads() {
    let study = Study {
        subjects: vec![op("trowmax", DType::F32, 64, 128), op("trowmax", DType::F32, 32, 64)],
        targets: vec![target("a2"), target("a3")],
        grid: grid("a3"),
    };
    study.check().expect("legal");
    let all = 0..study.len().expect("few points");
    let run = |range: std::ops::Range<u64>| {
        let cells = study.record(&range).expect("recorded");
        let mut out = Vec::new();
        let mut sink = |p: &ptoemu::whatif::Point, m: &ptoemu::whatif::Measured| {
            out.push((p.clone(), m.clone()));
            Ok(())
        };
        study.run(range, &cells, &AtomicU64::new(0), &mut sink).expect("timed");
        out
    };
    let whole = run(all.clone());
    assert_eq!(whole.len() as u64, all.end);
    assert!(whole.iter().zip(0..).all(|((p, _), i)| p.number == i));
    let part = run(100..all.end - 31);
    assert_eq!(part[..], whole[100..whole.len() - 31]);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    assert_eq!(one.install(|| run(all)), whole);
}

#[test]
fn a_point_without_timing_says_so() {
    let base = target("950pr");
    let recorded = recorded(&op("tadd", DType::F32, 64, 128), &base);
    let timer = Timer::new(&recorded, &base, &["vf.registers"]).expect("a figure");
    let mut worker = timer.worker();
    let m = worker.time(&[2.0]);
    assert!(m.fault.as_ref().is_some_and(|f| f.contains("register")), "{m:?}");
    assert_eq!((m.cycles, worker.cycles(&[2.0])), (0, 0));
    let usual = base.value("vf.registers").expect("a figure");
    assert_eq!(worker.time(&[usual]).cycles, time(&recorded.streams[0], &base).cycles);
}

#[test]
fn figures_that_change_the_execution_are_refused() {
    let base = target("a3");
    let recorded = recorded(&op("tadd", DType::F32, 8, 64), &base);
    for path in ["ub.size", "ub.reserved_start", "nothing.of.this"] {
        assert!(Timer::new(&recorded, &base, &[path]).is_err(), "{path}");
    }
}
