//! Where cycles went, and which figures they rest on.

mod support;

use ptoemu_core::access::Space;
use ptoemu_core::dtype::DType::{F16, F32};
use ptoemu_core::stream::{Kind, Pipe};
use ptoemu_core::target::Conf;
use ptoemu_core::time::{account, time};
use support::*;

const DST: u64 = 0x1000_0000;
const A: u64 = 0x2000_0000;
const B: u64 = 0x3000_0000;

/// Cycles of a run by the figure that explains them.
fn explained(build: impl FnOnce(&mut Builder)) -> Vec<(String, u64)> {
    let mut b = Builder::default();
    build(&mut b);
    let t = target("a3");
    let p = account::provenance(&b.stream, &t, &time(&b.stream, &t));
    p.figures.into_iter().collect()
}

fn figures(list: &[(&str, u64)]) -> Vec<(String, u64)> {
    list.iter().map(|&(p, n)| (p.to_string(), n)).collect()
}

#[test]
fn every_cycle_rests_on_a_figure() {
    let two = explained(|b| {
        b.mode(true);
        b.set_mask(0, 64 * 64);
        b.dense("vmax", F32, 0, &[DST, A, B]);
        b.barrier(Pipe::V);
        b.dense("vcmax", F32, 0, &[DST, A]);
        b.dense("vcmax", F32, 0, &[DST, A]);
    });
    let want = figures(&[
        ("end", 7),
        ("drain", 24),
        ("vcmax.f32.per_repeat", 2 * 448),
        ("vcmax.f32.startup", 8),
        ("ub.read_stage", 64),
        ("vmax.f32.per_repeat", 64),
        ("vmax.f32.startup", 4),
        ("mask.first", 3),
        ("scalar.issue", 2),
    ]);
    assert_eq!(two, want);
    let load = explained(|b| {
        b.dma(Pipe::Mte2, 1, 1280);
        b.set_flag(Pipe::Mte2, Pipe::V);
        b.wait_flag(Pipe::Mte2, Pipe::V);
        b.dense("vector_dup", F32, 5, &[DST]);
        b.set_flag(Pipe::V, Pipe::S);
        b.wait_flag(Pipe::V, Pipe::S);
        b.scalar(Kind::ScalarLoad, Space::Ub);
        b.scalar(Kind::ScalarStore, Space::Ub);
        b.set_mask(0, 1);
        b.set_mask(!0, !0);
    });
    let want = figures(&[
        ("end", 7),
        ("scalar.issue", 2),
        ("mask.first", 4),
        ("scalar.store", 8),
        ("scalar.load", 12),
        ("vector_dup.per_repeat", 5),
        ("vector_dup.startup", 1),
        ("mte2.bytes_per_cycle", 10),
        ("mte2.latency", 264),
    ]);
    assert_eq!(load, want);
}

#[test]
fn shares_of_confidence() {
    let mut b = Builder::default();
    b.dense("vexp", F32, 64, &[DST, A]);
    let t = target("a3");
    let p = account::provenance(&b.stream, &t, &time(&b.stream, &t));
    assert_eq!(p.by_conf, [140, 19, 0, 0]);
    assert_eq!(p.share(Conf::Measured), 140.0 / 159.0);
}

#[test]
fn totals_by_instruction_and_group() {
    let mut b = Builder::default();
    b.dense("vmax", F32, 10, &[DST, A, B]);
    b.dense("vmax", F32, 10, &[DST, A]);
    b.dense("vmax", F16, 10, &[DST, A]);
    b.stream.records[1].group = 0;
    let timeline = time(&b.stream, &target("a3"));
    let ops = account::instructions(&b.stream, &timeline);
    let rows: Vec<_> = ops.iter().map(|o| (o.dtype, o.count, o.busy, o.conflict)).collect();
    assert_eq!(rows, [(F32, 2, 30, 10), (F16, 1, 10, 0)]);
    let groups = account::groups(&b.stream, &timeline);
    assert_eq!((groups[0].start, groups[0].vector_busy, groups.len()), (20, 10, 1));
}
