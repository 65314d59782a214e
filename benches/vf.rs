//! The 950: instructions of vector functions a second, values of vecscopes, softmax on both
//! families, timings of one recorded run under changing figures.
//!
//! `cargo bench --bench vf`

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use ptoemu::args::Given;
use ptoemu::session::{Ran, Request, execute, timelines};
use ptoemu::targets::find;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Dist;
use ptoemu_core::target::Target;
use ptoemu_core::time::Prepared;
use ptoemu_core::time::vf::{
    Access, Compiled, Inst, Kind, Node, Options, Reg, UB, VfProgram, time, vreg,
};
use ptoemu_isa::exec::{ArgValue, Binding};
use std::sync::Arc;

fn main() {
    divan::main();
}

fn target(name: &str) -> Target {
    find(name).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Loops around loads, a chain of operations and a store, at addresses of their own.
fn kernel(op: &str, loads: u16, chain: u16, trips: &[u64]) -> VfProgram {
    let mut p = VfProgram::default();
    let mut body = Vec::new();
    let mut add = |op: &str, kind, dst: &[Reg], src: &[Reg], at: Option<i64>| {
        let class = p.class(op, Some(DType::F32));
        let mut inst = Inst::new(class, kind).to(dst).from(src);
        let mut deltas = vec![0; trips.len()];
        deltas[trips.len() - 1] = 256;
        inst.access = at.map(|base| Access::contiguous(UB, base, &deltas, 256));
        body.push(p.add(inst));
    };
    for r in 0..loads {
        add("vlds", Kind::Load, &[vreg(r)], &[], Some(i64::from(r) << 26));
    }
    let all: Vec<Reg> = (0..loads).map(vreg).collect();
    add(op, Kind::Compute, &[vreg(8)], &all, None);
    for _ in 1..chain {
        add(op, Kind::Compute, &[vreg(8)], &[vreg(8)], None);
    }
    add("vsts", Kind::Store, &[], &[vreg(8)], Some(1 << 28));
    p.body = trips.iter().rev().fold(body, |body, &n| vec![Node::repeat(n, body)]);
    p
}

const KERNELS: [(&str, u16, u16); 4] =
    [("vadd", 2, 1), ("vexp", 1, 1), ("vadds", 1, 16), ("vdiv", 2, 4)];

/// Simulated one by one: 200,000 iterations.
#[divan::bench(args = KERNELS, sample_count = 10)]
fn instructions_plain(b: Bencher, (op, loads, chain): (&str, u16, u16)) {
    let (p, t) = (kernel(op, loads, chain, &[1000, 200]), target("950pr"));
    let opts = Options { fast_forward: false, ..Options::default() };
    b.counter(ItemsCount::new(p.dynamic().unwrap_or(0)))
        .bench_local(|| time(black_box(&p), &t, opts).map(|t| t.cycles));
}

/// The same with whole periods skipped: 10 million iterations.
#[divan::bench(args = KERNELS)]
fn instructions_fast_forward(b: Bencher, (op, loads, chain): (&str, u16, u16)) {
    let (p, t) = (kernel(op, loads, chain, &[10, 1000, 1000]), target("950pr"));
    b.counter(ItemsCount::new(p.dynamic().unwrap_or(0)))
        .bench_local(|| time(black_box(&p), &t, Options::default()).map(|t| t.cycles));
}

fn source(name: &str) -> Arc<SourceFile> {
    let path = format!("{}/examples/{name}.pto", env!("CARGO_MANIFEST_DIR"));
    SourceFile::new(name, std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}")))
}

fn softmax(t: &Target) -> Ran {
    run(&source("softmax"), t, "x", 64 * 128)
}

fn run(source: &Arc<SourceFile>, t: &Target, name: &str, elements: usize) -> Ran {
    let mut bytes = vec![0u8; elements * 4];
    Dist::Unit.fill(DType::F32, 1, 0, &mut bytes);
    let binding = Binding { name: name.into(), value: ArgValue::Bytes(bytes) };
    let args = vec![Given { binding, shape: None, file: None }];
    let req = Request { args, ..Request::default() };
    execute(source, t, &req).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Text to values, findings and cycles.
#[divan::bench(args = ["a3", "950pr"])]
fn softmax_end_to_end(b: Bencher, name: &str) {
    let t = target(name);
    b.bench_local(|| timelines(&softmax(black_box(&t)), &t)[0].cycles);
}

/// A vecscope of 16,384 micro-ops on 64 lanes: load, three operations, store.
const SCOPE: &str = r#"module attributes {pto.target_arch = "a5"} {
  func.func @k(%g: !pto.ptr<f32, gm>) attributes {pto.aicore} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %rows = arith.constant 64 : index
    %end = arith.constant 4096 : index
    %z = arith.constant 0 : i64
    %ub = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
    %one = arith.constant 1 : i64
    %len = arith.constant 16384 : i64
    pto.mte_gm_ub %g, %ub, %z, %len nburst(%one, %len, %len) : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.vecscope {
      %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      scf.for %r = %c0 to %rows step %c1 {
        scf.for %i = %c0 to %end step %c64 {
          %v = pto.vlds %ub[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
          %a = pto.vadd %v, %v, %m : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
          %b = pto.vmul %a, %v, %m : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
          %c = pto.vmax %a, %b, %m : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
          pto.vsts %c, %ub[%i], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
        }
      }
    }
    return
  }
}
"#;

/// Lanes written by micro-ops a second, checks included.
#[divan::bench(sample_count = 20)]
fn vecscope_values(b: Bencher) {
    let (t, source) = (target("950pr"), SourceFile::new("scope.pto", SCOPE.to_string()));
    b.counter(ItemsCount::new(64 * 64 * 5 * 64u32))
        .bench_local(|| run(black_box(&source), &t, "g", 4096).outcome.blocks.len());
}

/// One recorded run of softmax under figures that change every time.
#[divan::bench(args = ["vexp.latency", "vf.credits", "mte2.latency"])]
fn softmax_again(b: Bencher, figure: &str) {
    let mut t = target("950pr");
    let ran = softmax(&t);
    let prepared = Prepared::new(&ran.outcome.blocks[0].stream, &t);
    let mut value = 20.0;
    b.counter(ItemsCount::new(1u32)).bench_local(|| {
        value = if value > 1000.0 { 20.0 } else { value + 1.0 };
        t.set(figure, value).unwrap_or_else(|d| panic!("{}", d.message));
        prepared.time(&t).cycles
    });
}

/// A function of more than a million iterations, compiled once.
#[divan::bench(args = KERNELS)]
fn long_loop_again(b: Bencher, (op, loads, chain): (&str, u16, u16)) {
    let mut t = target("950pr");
    let p = kernel(op, loads, chain, &[32, 40_000]);
    let compiled = Compiled::new([&p]);
    let mut value = 2.0;
    b.counter(ItemsCount::new(1u32)).bench_local(|| {
        value = if value > 28.0 { 2.0 } else { value + 1.0 };
        t.set("vf.drain", value).unwrap_or_else(|d| panic!("{}", d.message));
        let bound = compiled.bind(&t).unwrap_or_else(|d| panic!("{}", d.message));
        bound.time(0, Options::default()).map(|t| t.cycles)
    });
}
