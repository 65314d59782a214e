//! 950 microcode without quirks computes the meaning: every operation and element type it is built
//! for, awkward shapes, hostile padding and special values, nothing written outside the valid
//! region.
//!
//! `PTOEMU_CASES` sets the cases per property.

mod common;

use common::draw::{Shaper, draw, holds};
use common::{judge, place, run, tile, valid};
use proptest::test_runner::{Config, TestRunner};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Round;
use ptoemu_isa::tile::{Call, Family, Layout, Quirk, Sat, Tile, TileOp, find};

fn property(
    cases: u32,
    ops: &[&str],
    build: impl Fn(&Shaper, &'static TileOp) -> Call,
    tiles: u32,
) {
    let own = std::env::var("PTOEMU_CASES").ok().and_then(|s| s.parse().ok());
    let config = Config {
        cases: own.unwrap_or(cases),
        failure_persistence: None,
        max_global_rejects: 100_000,
        ..Config::default()
    };
    let ops: Vec<&'static TileOp> = ops.iter().map(|n| find(n).unwrap()).collect();
    let mut runner = TestRunner::new(config);
    let done = runner.run(&draw(), |d| {
        let op = ops[d.op % ops.len()];
        let t = op.a5[d.dtype % op.a5.len()];
        let call = build(&Shaper::new(d, t, tiles), op);
        holds(Call { family: Family::A5, ..call }, d)
    });
    if let Err(e) = done {
        panic!("{e}");
    }
}

#[test]
fn row_reductions() {
    property(100, &["trowmax", "trowmin", "trowsum", "trowprod"], Shaper::row_reduce, 3);
}

#[test]
fn row_expansions() {
    property(100, &["trowexpand"], Shaper::row_expand, 2);
    let ops = [
        "trowexpandadd",
        "trowexpandsub",
        "trowexpandmul",
        "trowexpanddiv",
        "trowexpandmax",
        "trowexpandmin",
        "trowexpandexpdif",
    ];
    property(120, &ops, Shaper::row_expand_bin, 4);
}

#[test]
fn column_reductions() {
    property(100, &["tcolmax", "tcolmin", "tcolsum", "tcolprod"], Shaper::col_reduce, 3);
}

#[test]
fn elementwise() {
    let ops = [
        "tadd", "tsub", "tmul", "tdiv", "tmax", "tmin", "tadds", "tsubs", "tmuls", "tdivs",
        "tmaxs", "tmins", "tneg", "trecip", "texp", "tlog", "tsqrt", "trsqrt", "tabs", "trelu",
        "tnot", "texpands", "tmov", "tand", "tor", "txor", "tshl", "tshr", "tprelu", "tands",
        "tors", "txors", "tshls", "tshrs", "tlrelu", "trem", "tfmod", "trems", "tfmods",
    ];
    property(300, &ops, Shaper::elementwise, 4);
}

#[test]
fn selection_and_comparison() {
    property(60, &["tsel", "tsels"], Shaper::select, 5);
    property(60, &["tcmp", "tcmps"], Shaper::compare, 4);
}

#[test]
fn parts() {
    property(60, &["tpartadd", "tpartmul", "tpartmax", "tpartmin"], Shaper::part, 4);
    property(60, &["tfillpad", "tfillpad_expand"], Shaper::fill_pad, 3);
}

#[test]
fn column_expansions() {
    property(40, &["tcolexpand"], Shaper::col_expand, 3);
    let ops = [
        "tcolexpandadd",
        "tcolexpandsub",
        "tcolexpandmul",
        "tcolexpanddiv",
        "tcolexpandmax",
        "tcolexpandmin",
        "tcolexpandexpdif",
    ];
    property(80, &ops, Shaper::col_expand_bin, 4);
}

#[test]
fn places_of_extremes() {
    let ops = ["trowargmax", "trowargmin", "tcolargmax", "tcolargmin"];
    property(120, &ops, Shaper::arg, 6);
}

#[test]
fn sorting() {
    property(30, &["tsort32"], Shaper::sort, 8);
}

#[test]
fn conversions() {
    use DType::*;
    const TYPES: [DType; 10] = [F32, F16, BF16, I32, I16, I8, U8, U16, U32, I64];
    let rounds = [None].into_iter().chain(Round::ALL.into_iter().map(Some)).collect::<Vec<_>>();
    let build = |s: &Shaper, op| {
        let mut call = s.elementwise(op);
        let wide = |mut t: Tile, dtype| {
            t.dtype = dtype;
            match t.layout {
                Layout::RowMajor => t.cols = t.cols.next_multiple_of(32),
                Layout::ColMajor => t.rows = t.rows.next_multiple_of(32),
            }
            t
        };
        call.dst = wide(call.dst.clone(), TYPES[s.d.other % TYPES.len()]);
        call.src[0] = wide(call.src[0].clone(), TYPES[s.d.dtype % TYPES.len()]);
        call.attrs.round = rounds[s.d.round % rounds.len()];
        call.attrs.sat = [None, Some(Sat::On), Some(Sat::Off)][s.d.sat];
        call
    };
    property(200, &["tcvt"], build, 17);
}

fn bytes_of(call: &Call, fill: &dyn Fn(usize, usize) -> u8) -> Vec<Vec<u8>> {
    let tiles = std::iter::once(&call.dst).chain(&call.src);
    tiles.enumerate().map(|(k, t)| (0..t.bytes() as usize).map(|i| fill(k, i)).collect()).collect()
}

fn broken_by(mut call: Call, quirk: Quirk, fill: &dyn Fn(usize, usize) -> u8) {
    call.family = Family::A5;
    place(&mut call);
    let bytes = bytes_of(&call, fill);
    let outcome = |c: &Call| run(c, &bytes).and_then(|r| judge(c, &r));
    outcome(&call).unwrap();
    call.quirks = call.quirks.with(quirk);
    assert!(outcome(&call).is_err(), "{} shows nothing", quirk.name());
}

/// Each quirk of the shipped code shows in one call, and only with the quirk.
#[test]
fn quirks_show() {
    let row = Layout::RowMajor;
    // One valid byte of -5, the next byte is padding of 100.
    let src = valid(tile("src", DType::I8, 1, 32, row), 1, 1, true);
    let mut max = Call::new(
        find("trowmax").unwrap(),
        valid(tile("dst", DType::I8, 32, 1, Layout::ColMajor), 1, 1, true),
        [src.clone()],
    );
    max.tmp = Some(tile("tmp", DType::I8, 1, 32, row));
    broken_by(max, Quirk::D18, &|_, i| if i == 0 { -5i8 as u8 } else { 100 });
    // Full operand of another width than dst.
    let full = valid(tile("full", DType::I32, 4, 16, row), 4, 8, true);
    let exp = valid(tile("exp", DType::I32, 8, 1, Layout::ColMajor), 4, 1, true);
    let dst = tile("dst", DType::I32, 4, 8, row);
    let add = Call::new(find("trowexpandadd").unwrap(), dst.clone(), [full, exp]);
    broken_by(add, Quirk::D5, &|k, i| (k * 64 + i) as u8);
    // A column-major expanded tile with two columns, one of them valid.
    let full = tile("full", DType::I32, 4, 8, row);
    let exp = valid(tile("exp", DType::I32, 8, 2, Layout::ColMajor), 4, 1, true);
    let add = Call::new(find("trowexpandadd").unwrap(), dst, [full, exp]);
    broken_by(add, Quirk::D6, &|k, i| (k * 64 + i) as u8);
}
