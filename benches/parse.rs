//! Parse and print speed. `cargo bench --bench parse`

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use ptoemu_core::diag::SourceFile;
use std::sync::Arc;

fn main() {
    divan::main();
}

/// All example kernels, repeated to a megabyte.
fn corpus() -> Arc<SourceFile> {
    let dir = format!("{}/examples", env!("CARGO_MANIFEST_DIR"));
    let mut names: Vec<_> = std::fs::read_dir(&dir)
        .unwrap_or_else(|e| panic!("{dir}: {e}"))
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "pto"))
        .collect();
    names.sort();
    let mut text = String::new();
    while text.len() < 1 << 20 {
        for p in &names {
            text.push_str(&std::fs::read_to_string(p).unwrap_or_else(|e| panic!("{e}")));
            text.push('\n');
        }
    }
    SourceFile::new("corpus", text)
}

/// Text to tree.
#[divan::bench]
fn parse(b: Bencher) {
    let source = corpus();
    b.counter(BytesCount::new(source.text.len()))
        .bench_local(|| ptoemu_isa::text::parse(black_box(&source)).0.items.len());
}

/// Tree to text.
#[divan::bench]
fn print(b: Bencher) {
    let source = corpus();
    let (file, _) = ptoemu_isa::text::parse(&source);
    b.counter(BytesCount::new(source.text.len()))
        .bench_local(|| ptoemu_isa::text::print(black_box(&file)).len());
}
