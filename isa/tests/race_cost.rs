//! What racecheck costs on long streams. The bounds are far above what was measured, so that a
//! busy machine passes and a change of order of growth does not.

use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType::F32;
use ptoemu_core::stream::{Kind, Pipe, Stream};
use ptoemu_isa::exec::{self, ArgValue, Binding, LowerOptions};
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::{Backend, Recorder, Settings};
use ptoemu_isa::table::Op;
use ptoemu_isa::{hazards, text, tile};
use std::time::{Duration, Instant};

/// Records of the example, over and over.
fn unrolled(records: usize) -> Stream {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/softmax.pto");
    let source = SourceFile::new("softmax", std::fs::read_to_string(path).unwrap());
    let (file, _) = text::parse(&source);
    let limits = tile::Limits::of(tile::Family::A2A3);
    let lower = LowerOptions {
        entry: None,
        limits: exec::Limits { align: 512, auto_end: limits.reserved.start },
        tiles: Vec::new(),
    };
    let program = exec::lower(&file, &lower).unwrap();
    let options = exec::Options {
        args: vec![Binding { name: "x".into(), value: ArgValue::Bytes(vec![0; 64 * 128 * 4]) }],
        blocks: 1,
        auto_sync: None,
        quirks: tile::Quirks::corrected(),
        operand_order: tile::OperandOrder::Seed,
        settings: Settings::default(),
        limits,
        max_steps: None,
        progress: None,
    };
    let one = exec::run(&program, &options).unwrap().blocks.remove(0).stream;
    let mut all = one.clone();
    // What one round leaves unordered for the next.
    let mut between = Recorder::default();
    between.issue(&Instr::new(Op::pipe_barrier, F32, &[Pipe::All as i64])).unwrap();
    let barrier = between.into_stream().records[0];
    while all.records.len() < records {
        all.push(barrier);
        let start = all.records.len() as u32;
        for r in &one.records {
            let mut r = *r;
            if r.kind == Kind::WaitFlag {
                r.link += start;
            }
            all.push(r);
        }
    }
    all
}

/// Instructions of 255 repeats of 8 blocks, no two of which follow each other in memory.
fn strided(records: usize) -> Stream {
    let mut r = Recorder::default();
    for i in 0..records as i64 {
        // The repeats of one instruction lie between the blocks of another.
        let at = |k: i64| (i * 7 + k) % 32 * 32;
        let args = [at(0), at(11), at(23), 255, 3, 3, 3, 23, 23, 23];
        r.issue(&Instr::new(Op::vadd, F32, &args)).unwrap();
        r.issue(&Instr::new(Op::pipe_barrier, F32, &[Pipe::V as i64])).unwrap();
    }
    r.into_stream()
}

fn seconds(what: &str, stream: &Stream, most: u64) {
    let start = Instant::now();
    let found = hazards::check(stream, 0, false);
    let took = start.elapsed();
    println!("{what}: {} records in {took:?}", stream.records.len());
    assert!(found.is_empty(), "{:?}", found[0].diag);
    assert!(took < Duration::from_secs(most), "{took:?}");
}

#[test]
fn long_streams_are_checked_in_seconds() {
    seconds("unrolled softmax", &unrolled(1_000_000), 30);
    seconds("strided", &strided(50_000), 60);
}
