//! Values with all checks, and values + checks + cycles, of kernels and single operations.
//!
//! `cargo bench --bench run`

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use ptoemu::args::Given;
use ptoemu::session::{Request, execute, limits, timelines};
use ptoemu::targets::find;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Dist;
use ptoemu_core::target::Target;
use ptoemu_core::time::{Prepared, time};
use ptoemu_isa::case::{Case, Placement};
use ptoemu_isa::exec::{ArgValue, Binding, LowerOptions, Options, Program, Runner, lower, run};
use ptoemu_isa::machine::{Machine, Settings};
use ptoemu_isa::tile;
use std::sync::Arc;

fn main() {
    divan::main();
}

fn a3() -> Target {
    find("a3").unwrap_or_else(|e| panic!("{e:?}"))
}

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

/// A program lowered once, ready to run again and again.
fn program(name: &str, t: DType, target: &Target) -> (Program, Options) {
    let (file, errors) = ptoemu_isa::text::parse(&source(name));
    assert!(errors.is_empty(), "{errors:?}");
    let limits = limits(target);
    let auto_end = limits.reserved.start;
    let options = LowerOptions {
        entry: None,
        limits: ptoemu_isa::exec::Limits { align: 512, auto_end },
        tiles: Vec::new(),
    };
    let program = lower(&file, &options).unwrap_or_else(|e| panic!("{e:?}"));
    let req = Request::default();
    let options = Options {
        args: vec![input(t).binding],
        blocks: 1,
        auto_sync: None,
        quirks: req.quirks,
        operand_order: req.operand_order,
        settings: Settings { ub_bytes: limits.ub_bytes, ..Settings::default() },
        limits,
        max_steps: None,
        progress: None,
    };
    (program, options)
}

const SOFTMAX: [(&str, DType); 2] = [("softmax", DType::F32), ("softmax_f16", DType::F16)];

/// Values and every check.
#[divan::bench(args = SOFTMAX.map(|(n, _)| n))]
fn softmax_values(b: Bencher, name: &str) {
    let t = SOFTMAX.iter().find(|(n, _)| *n == name).map_or(DType::F32, |(_, t)| *t);
    let (program, options) = program(name, t, &a3());
    let mut runner = Runner::default();
    b.bench_local(|| runner.run(black_box(&program), &options).map(|o| o.blocks.len()));
}

/// Values, every check, and cycles.
#[divan::bench(args = SOFTMAX.map(|(n, _)| n))]
fn softmax_values_and_cycles(b: Bencher, name: &str) {
    let t = SOFTMAX.iter().find(|(n, _)| *n == name).map_or(DType::F32, |(_, t)| *t);
    let target = a3();
    let (program, options) = program(name, t, &target);
    let mut runner = Runner::default();
    b.bench_local(|| {
        let out = runner.run(black_box(&program), &options).unwrap_or_else(|e| panic!("{e:?}"));
        time(&out.blocks[0].stream, &target).cycles
    });
}

/// The whole command: text to cycles.
#[divan::bench(args = SOFTMAX.map(|(n, _)| n))]
fn softmax_from_text(b: Bencher, name: &str) {
    let t = SOFTMAX.iter().find(|(n, _)| *n == name).map_or(DType::F32, |(_, t)| *t);
    let target = a3();
    let (source, given) = (source(name), input(t));
    b.bench_local(|| {
        let req = Request { args: vec![given.clone()], ..Request::default() };
        let ran = execute(&source, &target, &req).unwrap_or_else(|e| panic!("{e:?}"));
        timelines(&ran, &target)[0].cycles
    });
}

const OPS: [&str; 6] = [
    "trowmax f32",
    "trowmax f16",
    "trowexpandsub f32",
    "trowexpandsub f16",
    "texp f32",
    "texp f16",
];

/// One operation on 64x128: values and every check.
#[divan::bench(args = OPS)]
fn op_values(b: Bencher, what: &str) {
    let (name, t) = what.split_once(' ').unwrap_or((what, "f32"));
    let t: DType = t.parse().unwrap_or_else(|e| panic!("{e}"));
    let op = tile::find(name).unwrap_or_else(|| panic!("no {name}"));
    let call = Case::new(op, t, 64, 128).call(Placement::Packed { align: 512 });
    let mut m = Machine::new(Settings::default());
    for tile in &call.src {
        if let Some(bytes) = m.ub.bytes.get_mut(tile.addr, tile.bytes() as usize) {
            Dist::Unit.fill(t, 1, 0, bytes);
        }
        m.ub.shadow.set(tile.addr, tile.end(), true, ptoemu_core::state::WRITER_NONE);
    }
    b.bench_local(|| {
        m.log = Default::default();
        tile::a2a3(black_box(&call), &mut m).is_ok()
    });
}

/// Timing alone, prepared once, in records.
#[divan::bench]
fn timing_alone(b: Bencher) {
    let target = a3();
    let (program, options) = program("softmax", DType::F32, &target);
    let out = run(&program, &options).unwrap_or_else(|e| panic!("{e:?}"));
    let one = &out.blocks[0].stream;
    let mut stream = one.clone();
    for _ in 0..1000 {
        for r in &one.records {
            let mut r = *r;
            if r.kind == ptoemu_core::stream::Kind::WaitFlag {
                r.link += stream.records.len() as u32
                    - stream.records.len() as u32 % one.records.len() as u32;
            }
            stream.records.push(r);
        }
    }
    let prepared = Prepared::new(&stream, &target);
    b.counter(ItemsCount::new(stream.records.len()))
        .bench_local(|| prepared.time(black_box(&target)).cycles);
}
