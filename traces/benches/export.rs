//! Records a second of every writer, on a kernel repeated until it has a million records.
//!
//! `cargo bench -p ptoemu-traces`; `EXPORT_RECORDS` in the environment sets another length.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Kernel, example, kernel_on};
use divan::Bencher;
use divan::counter::ItemsCount;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::stream::Kind;
use ptoemu_core::time::time;
use ptoemu_traces::camodel::{self, Dump};
use ptoemu_traces::{Trace, csvs, insight, kanata, pftrace, text};
use std::io::{self, Write};
use std::sync::LazyLock;

fn main() {
    divan::main();
}

/// Softmax, over and over.
static LONG: LazyLock<Kernel> = LazyLock::new(|| {
    let wanted = std::env::var("EXPORT_RECORDS").ok().and_then(|n| n.parse().ok());
    let wanted: usize = wanted.unwrap_or(1_000_000);
    let array = 64 * 128 * 4;
    let mut k = example("softmax_manual", &[("x", array), ("y", array)]);
    let once = std::mem::take(&mut k.stream.records);
    while k.stream.records.len() < wanted {
        let base = k.stream.records.len() as u32;
        k.stream.records.extend(once.iter().map(|r| {
            let mut r = *r;
            if r.kind == Kind::WaitFlag {
                r.link += base;
            }
            r
        }));
    }
    k.timeline = time(&k.stream, &k.target);
    k
});

/// One vector function with a loop of a million instructions.
static LOOP: LazyLock<Kernel> = LazyLock::new(|| {
    let (v, m) = ("!pto.vreg<64xf32>", "!pto.mask<b32>");
    let text = format!(
        r#"
module attributes {{pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  func.func @k(%x: !pto.ptr<f32, gm>) attributes {{pto.aicore}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 333333 : index
    %at = arith.constant 16384 : i64
    %at0 = arith.constant 0 : i64
    %a = pto.castptr %at0 : i64 -> !pto.ptr<f32, ub>
    %b = pto.castptr %at : i64 -> !pto.ptr<f32, ub>
    pto.vecscope {{
      %m = pto.pset_b32 "PAT_ALL" : {m}
      scf.for %i = %c0 to %n step %c1 {{
        %l = pto.vlds %a[%c0] : !pto.ptr<f32, ub> -> {v}
        %s = pto.vadd %l, %l, %m : {v}, {v}, {m} -> {v}
        pto.vsts %s, %b[%c0], %m : {v}, !pto.ptr<f32, ub>, {m}
      }}
    }}
    return
  }}
}}
"#
    );
    kernel_on("950pr", "k", SourceFile::new("k.pto", text), &[("x", 64)])
});

fn bench_inside(b: Bencher, write: impl Fn(&Trace, &mut dyn Write) -> io::Result<()> + Sync) {
    let inside = LOOP.inside();
    b.counter(ItemsCount::new(inside)).bench(|| write(&LOOP.trace(), &mut io::sink()));
}

fn bench(b: Bencher, write: impl Fn(&Trace, &mut dyn Write) -> io::Result<()> + Sync) {
    let records = LONG.stream.records.len();
    b.counter(ItemsCount::new(records)).bench(|| write(&LONG.trace(), &mut io::sink()));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn kanata_log(b: Bencher) {
    bench(b, |t, w| kanata::write(t, kanata::Options::default(), w));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn json_one_core(b: Bencher) {
    bench(b, |t, w| insight::write_core(t, w));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn json_all_cores(b: Bencher) {
    bench(b, |_, w| insight::write_all(&[LONG.trace()], w));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn dump(b: Bencher) {
    bench(b, |t, w| camodel::write(t, Dump::Popped, w));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn tables(b: Bencher) {
    bench(b, |t, w| csvs::instructions(t, w));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn perfetto(b: Bencher) {
    bench(b, |_, w| pftrace::write(&[LONG.trace()], w));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn kanata_log_of_the_950(b: Bencher) {
    bench_inside(b, |t, w| kanata::write(t, kanata::Options::default(), w));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn json_of_the_950(b: Bencher) {
    bench_inside(b, |t, w| insight::write_core(t, w));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn perfetto_of_the_950(b: Bencher) {
    bench_inside(b, |t, w| pftrace::write(std::slice::from_ref(t), w));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn report(b: Bencher) {
    bench(b, |t, w| text::write(t, w));
}
