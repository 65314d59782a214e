//! Records a second of every writer, on a kernel repeated until it has a million records.
//!
//! `cargo bench -p ptoemu-traces`; `EXPORT_RECORDS` in the environment sets another length.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Kernel, example};
use divan::Bencher;
use divan::counter::ItemsCount;
use ptoemu_core::stream::Kind;
use ptoemu_core::time::time;
use ptoemu_traces::camodel::{self, Dump};
use ptoemu_traces::{Trace, csvs, insight, kanata, text};
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
fn report(b: Bencher) {
    bench(b, |t, w| text::write(t, w));
}
