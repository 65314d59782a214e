//! Microcode without quirks computes the meaning: every operation, element type, layout, mode and
//! awkward shape, with hostile padding and special values, no byte outside the valid region
//! touched, nothing unordered and nothing for the machine to report.
//!
//! `PTOEMU_CASES` sets the cases per property.

mod common;

use common::draw::{Shaper, draw, holds};
use common::{judge, place, run, tile, valid};
use proptest::test_runner::{Config, TestRunner};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::{Dist, Round};
use ptoemu_isa::tile::{Call, Family, Layout, Limits, OPS, Sat, Tile, TileOp, check, find};

fn config(default: u32) -> Config {
    let cases = std::env::var("PTOEMU_CASES").ok().and_then(|s| s.parse().ok());
    Config { cases: cases.unwrap_or(default), failure_persistence: None, ..Config::default() }
}

fn property(
    cases: u32,
    ops: &[&str],
    build: impl Fn(&Shaper, &'static TileOp) -> Call,
    tiles: u32,
) {
    let ops: Vec<&'static TileOp> = ops.iter().map(|n| find(n).unwrap()).collect();
    let mut runner = TestRunner::new(config(cases));
    let done = runner.run(&draw(), |d| {
        let op = ops[d.op % ops.len()];
        let t = op.a2a3[d.dtype % op.a2a3.len()];
        holds(build(&Shaper::new(d, t, tiles), op), d)
    });
    if let Err(e) = done {
        panic!("{e}");
    }
}

#[test]
fn row_reductions() {
    property(400, &["trowmax", "trowmin", "trowsum", "trowprod"], Shaper::row_reduce, 3);
}

/// The four static shapes with their own trees.
#[test]
fn row_reductions_of_fast_shapes() {
    for (rows, cols) in [(64, 128), (32, 256), (16, 512), (8, 1024)] {
        for op in ["trowmax", "trowmin", "trowsum"].map(|n| find(n).unwrap()) {
            for t in [DType::F32, DType::F16] {
                let src = tile("src", t, rows, cols, Layout::RowMajor);
                let dst = tile("dst", t, rows.next_multiple_of(16), 1, Layout::ColMajor);
                let mut call = Call::new(op, valid(dst, rows, 1, true), [src.clone()]);
                call.tmp = Some(src);
                place(&mut call);
                check_fixed(&call);
            }
        }
    }
}

/// Static tiles one block wide take one broadcast instruction, in pieces.
#[test]
fn row_expand_by_broadcast() {
    for rows in [8, 16, 600, 2032, 2040] {
        for t in [DType::F32, DType::U16, DType::BF16] {
            let block = 32 / t.size() as u32;
            let rows = if t.size() == 2 { u32::next_multiple_of(rows, 16) } else { rows };
            let src = tile("src", t, rows, 1, Layout::ColMajor);
            let dst = tile("dst", t, rows, block, Layout::RowMajor);
            let mut call = Call::new(find("trowexpand").unwrap(), dst, [src]);
            place(&mut call);
            check_fixed(&call);
        }
    }
}

fn check_fixed(call: &Call) {
    let bytes: Vec<Vec<u8>> = std::iter::once(&call.dst)
        .chain(&call.src)
        .zip(0..)
        .map(|(t, k)| {
            let dist = if t.dtype.is_float() { Dist::Special } else { Dist::Full };
            let mut bytes = vec![0; t.bytes() as usize];
            dist.fill(t.dtype, 3, k, &mut bytes).unwrap();
            bytes
        })
        .collect();
    let done = run(call, &bytes).and_then(|r| judge(call, &r));
    assert_eq!(done, Ok(()), "{} {:?}", call.op.name, call.dst);
}

#[test]
fn row_expand() {
    property(200, &["trowexpand"], Shaper::row_expand, 2);
}

#[test]
fn row_expand_with_an_operand() {
    let ops: Vec<&str> = OPS
        .iter()
        .map(|o| o.name)
        .filter(|n| n.starts_with("trowexpand") && *n != "trowexpand")
        .collect();
    property(600, &ops, Shaper::row_expand_bin, 3);
}

#[test]
fn column_reductions() {
    property(300, &["tcolmax", "tcolmin", "tcolsum", "tcolprod"], Shaper::col_reduce, 3);
}

#[test]
fn tile_tile() {
    let ops = ["tadd", "tsub", "tmul", "tdiv", "tmax", "tmin", "tand", "tor"];
    property(300, &ops, Shaper::elementwise, 3);
}

#[test]
fn selection() {
    property(100, &["tsel", "tsels"], Shaper::select, 5);
}

#[test]
fn tile_scalar() {
    let ops = [
        "tadds", "tsubs", "tmuls", "tdivs", "tmaxs", "tmins", "tneg", "trecip", "tlrelu", "tshls",
        "tshrs",
    ];
    property(400, &ops, Shaper::elementwise, 2);
}

#[test]
fn unary() {
    let ops = ["texp", "tlog", "tsqrt", "trsqrt", "tabs", "trelu", "tnot"];
    property(400, &ops, Shaper::elementwise, 2);
}

#[test]
fn moves_and_fills() {
    property(400, &["tmov", "texpands"], Shaper::elementwise, 2);
}

/// Every pair of element types with a conversion.
fn convertible() -> Vec<(DType, DType)> {
    let op = find("tcvt").unwrap();
    let all = op.a2a3.iter().flat_map(|from| op.a2a3.iter().map(|to| (*from, *to)));
    all.filter(|(from, to)| {
        let mut call = Call::new(
            op,
            tile("dst", *to, 1, 32, Layout::RowMajor),
            [tile("src", *from, 1, 32, Layout::RowMajor)],
        );
        place(&mut call);
        check(&call, Family::A2A3, &Limits::of(Family::A2A3)).is_ok()
    })
    .collect()
}

#[test]
fn conversions() {
    const ROUNDS: [Option<Round>; 7] = [
        None,
        Some(Round::NearestEven),
        Some(Round::NearestAway),
        Some(Round::Floor),
        Some(Round::Ceil),
        Some(Round::Zero),
        Some(Round::Odd),
    ];
    property(
        600,
        &["tcvt"],
        |s, op| {
            let mut call = s.elementwise(op);
            let pairs = convertible();
            let (from, to) = pairs[(s.d.other * 16 + s.d.dtype) % pairs.len()];
            // Same rows and columns, padded to whole blocks of the narrower type.
            let wide = |mut t: Tile, dtype| {
                t.dtype = dtype;
                match t.layout {
                    Layout::RowMajor => t.cols = t.cols.next_multiple_of(32),
                    Layout::ColMajor => t.rows = t.rows.next_multiple_of(32),
                }
                t
            };
            call.dst = wide(call.dst.clone(), to);
            call.src[0] = wide(call.src[0].clone(), from);
            let odd = (from, to) == (DType::F32, DType::F16);
            call.attrs.round = ROUNDS[s.d.round % (ROUNDS.len() - usize::from(!odd))];
            call.attrs.sat = [None, Some(Sat::On), Some(Sat::Off)][s.d.sat];
            if s.d.tmp {
                let repeats = (call.src[0].valid_cols / 64).clamp(1, 255);
                call.tmp = Some(tile("tmp", DType::I32, 1, 64 * repeats, Layout::RowMajor));
            }
            call
        },
        4,
    );
}
