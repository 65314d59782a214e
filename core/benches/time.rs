//! Records a second: preparing a stream, timing it, timing it again under other figures.
//! `cargo bench -p ptoemu-core --bench time`

#[path = "../tests/support/mod.rs"]
mod support;

use ptoemu_core::dtype::DType::F32;
use ptoemu_core::stream::{Pipe, Stream};
use ptoemu_core::target::Target;
use ptoemu_core::time::{Prepared, time};
use std::hint::black_box;
use std::time::Instant;
use support::{Builder, target};

/// Records of each stream.
const RECORDS: u64 = 1_000_000;

/// Masks, two-source instructions with clashes, a reduction and barriers, at `phases` places.
fn stream(phases: u64) -> Stream {
    let mut b = Builder::default();
    for i in 0..RECORDS / 5 {
        let at = i % phases * 32;
        b.set_mask(0, !0);
        b.dense("vmul", F32, 64, &[0x8000, at, 0x4000]);
        b.dense("vadd", F32, 64, &[0x18000, at, 0x4000 + at]);
        b.barrier(Pipe::V);
        b.dense("vcmax", F32, 64, &[0x10000 + at, 0]);
    }
    b.stream
}

/// Best of a few rounds, in millions of records a second.
fn rate(mut f: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let t = Instant::now();
        f();
        best = best.min(t.elapsed().as_secs_f64());
    }
    RECORDS as f64 / best / 1e6
}

fn with(base: &Target, path: &str, value: f64) -> Target {
    let mut t = base.clone();
    t.set(path, value).unwrap_or_else(|d| panic!("{}", d.message));
    t
}

fn main() {
    let base = target("a3");
    for phases in [1, 64, 4096] {
        let stream = stream(phases);
        let prepared = Prepared::new(&stream, &base);
        let slower = with(&base, "drain", 13.0);
        let mut depth = 0.0;
        let prepare = rate(|| drop(black_box(Prepared::new(&stream, &base))));
        let once = rate(|| drop(black_box(time(&stream, &base))));
        let again = rate(|| drop(black_box(prepared.time(&slower))));
        let deeper = rate(|| {
            // A depth never seen before: the arbiter has to be asked again.
            depth += 1.0;
            drop(black_box(prepared.time(&with(&base, "vmul.startup", depth))));
        });
        println!(
            "{phases:5} phases: prepare {prepare:5.1}  once {once:5.1}  again {again:5.1}  \
             other depth {deeper:5.1}  M records/s"
        );
    }
}
