//! A call written as a program does what the call does: the same records at the same addresses,
//! the same values.

mod common;

use common::draw::{Shaper, contents, draw, settle};
use common::{place, run, tile};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use ptoemu_core::diag::{Level, SourceFile};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Round;
use ptoemu_core::stream::{Marks, Record, Stream};
use ptoemu_isa::case::{record, to_pto};
use ptoemu_isa::exec::{self, ArgValue, Binding, LowerOptions, Options};
use ptoemu_isa::machine::Settings;
use ptoemu_isa::text;
use ptoemu_isa::tile::{
    Call, Family, Layout, Limits, OperandOrder, Quirks, Sat, Scalar, Tile, TileOp, check, find,
};

/// What a record does, without its place in the program.
fn essence(s: &Stream, r: &Record) -> String {
    format!(
        "{:?} {:?} {:x?} {} {:?} {:?} {:?}",
        r.op,
        r.dtype,
        r.base,
        r.repeats,
        s.shapes.items()[r.shape.0 as usize],
        s.lanes.items()[r.lanes.0 as usize],
        r.marks
    )
}

/// Runs the text of a call on `bytes` (destination first) and returns its records and values.
fn as_program(call: &Call, bytes: &[Vec<u8>]) -> Result<(Vec<String>, Vec<u8>), String> {
    let text = to_pto(call, &|k, t| format!("rand({k}):{t}")).ok_or("a transfer")?;
    let source = SourceFile::new("op.pto", text.clone());
    let (file, errors) = text::parse(&source);
    if !errors.is_empty() {
        return Err(format!("{errors:?}\n{text}"));
    }
    let tile_limits = Limits::of(Family::A2A3);
    let limits = exec::Limits { align: 32, auto_end: tile_limits.reserved.start };
    let lower = LowerOptions { entry: None, limits, tiles: Vec::new() };
    let program = exec::lower(&file, &lower).map_err(|d| format!("{d:?}\n{text}"))?;
    let names: &[&str] = if call.src.len() == 1 { &["src"] } else { &["src0", "src1"] };
    let bind = |(name, b): (&&str, &Vec<u8>)| Binding {
        name: name.to_string(),
        value: ArgValue::Bytes(b.clone()),
    };
    let options = Options {
        args: names.iter().zip(&bytes[1..]).take(call.src.len()).map(bind).collect(),
        blocks: 1,
        auto_sync: Some(true),
        quirks: call.quirks,
        operand_order: call.operand_order,
        settings: Settings::default(),
        limits: tile_limits,
        max_steps: None,
        progress: None,
    };
    let out = exec::run(&program, &options).map_err(|d| format!("{d:?}\n{text}"))?;
    if let Some(d) = &out.stop {
        return Err(format!("stopped: {d:?}\n{text}"));
    }
    let block = &out.blocks[0];
    let bad = block.findings.iter().find(|f| f.diag.level == Level::Error);
    if let Some(f) = bad {
        return Err(format!("{:?}\n{text}", f.diag));
    }
    let group = block.stream.groups.iter().position(|g| g.name == call.op.name);
    let own = |r: &&Record| Some(r.group as usize) == group && !r.marks.has(Marks::AUTO);
    let records = block.stream.records.iter().filter(own);
    let y = out.outputs.iter().find(|o| o.name == "dst").map(|o| o.bytes.clone());
    Ok((records.map(|r| essence(&block.stream, r)).collect(), y.unwrap_or_default()))
}

/// Bytes of the valid region of the destination in storage order.
fn result(call: &Call, ub: &[u8]) -> Vec<u8> {
    let t = &call.dst;
    let (rows, cols) = (u64::from(t.valid_rows), u64::from(t.valid_cols));
    let cells: Vec<(u64, u64)> = match t.layout {
        Layout::RowMajor => (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))).collect(),
        Layout::ColMajor => (0..cols).flat_map(|c| (0..rows).map(move |r| (r, c))).collect(),
    };
    let n = t.dtype.size();
    cells.iter().flat_map(|&(r, c)| ub[t.at(r, c) as usize..][..n].to_vec()).collect()
}

fn agrees(call: &Call, bytes: &[Vec<u8>]) -> Result<(), String> {
    let stream = record(call, Family::A2A3).map_err(|s| format!("{:?}", s.0))?;
    // Scalar loads steer nothing here: the recorder and the machine issue the same.
    let alone: Vec<String> = stream.records.iter().map(|r| essence(&stream, r)).collect();
    let want = result(call, &run(call, bytes)?.after);
    let (records, got) = as_program(call, bytes)?;
    if records != alone {
        let at = records.iter().zip(&alone).position(|(a, b)| a != b).unwrap_or(0);
        return Err(format!(
            "{} records for {}, first difference {at}:\n{:?}\n{:?}\n{}",
            records.len(),
            alone.len(),
            records.get(at),
            alone.get(at),
            to_pto(call, &|_, _| String::new()).unwrap_or_default()
        ));
    }
    if got == want { Ok(()) } else { Err("other values".into()) }
}

type Build = fn(&Shaper, &'static TileOp) -> Call;

#[test]
fn drawn_calls() {
    let ops: [(&str, Build, u32); 12] = [
        ("trowmax", |s, op| s.row_reduce(op), 3),
        ("trowsum", |s, op| s.row_reduce(op), 3),
        ("trowexpand", |s, op| s.row_expand(op), 2),
        ("trowexpandsub", |s, op| s.row_expand_bin(op), 3),
        ("trowexpanddiv", |s, op| s.row_expand_bin(op), 3),
        ("tcolmax", |s, op| s.col_reduce(op), 3),
        ("tcolsum", |s, op| s.col_reduce(op), 3),
        ("tadd", |s, op| s.elementwise(op), 3),
        ("tadds", |s, op| s.elementwise(op), 2),
        ("tdivs", |s, op| s.elementwise(op), 2),
        ("texp", |s, op| s.elementwise(op), 2),
        ("texpands", |s, op| s.elementwise(op), 2),
    ];
    let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
    let done = TestRunner::new(config).run(&draw(), |d| {
        let (name, build, tiles) = ops[d.op % ops.len()];
        let op = find(name).unwrap();
        let t = op.a2a3[d.dtype % op.a2a3.len()];
        let mut call = build(&Shaper::new(d, t, tiles), op);
        if op.sig.scalar {
            call.scalar = Some(Scalar { dtype: t, bits: d.seed >> (64 - 8 * t.size()) });
        }
        let mut bytes = contents(&call, d);
        settle(&mut call, d, &mut bytes);
        if check(&call, Family::A2A3, &Limits::of(Family::A2A3)).is_err() {
            return Err(TestCaseError::reject("not legal"));
        }
        agrees(&call, &bytes).map_err(TestCaseError::fail)
    });
    done.unwrap_or_else(|e| panic!("{e}"));
}

fn zeros(call: &Call) -> Vec<Vec<u8>> {
    let tiles = std::iter::once(&call.dst).chain(&call.src);
    tiles.map(|t| vec![1; t.bytes() as usize]).collect()
}

#[test]
fn settings_of_a_call_are_written() {
    let t = |name: &str, dtype| -> Tile { tile(name, dtype, 8, 64, Layout::RowMajor) };
    let mut call = Call::new(find("tcvt").unwrap(), t("dst", DType::I16), [t("src", DType::F32)]);
    call.attrs.round = Some(Round::Floor);
    call.attrs.sat = Some(Sat::On);
    place(&mut call);
    agrees(&call, &zeros(&call)).unwrap();
    let text = to_pto(&call, &|k, _| format!("rand({k})")).unwrap();
    assert!(text.contains("{rmode = #pto<round_mode FLOOR>, sat_mode"), "{text}");
    assert!(text.contains("--arg src=rand(0):f32[8x64]"), "{text}");
    call.quirks = Quirks::vendor();
    call.operand_order = OperandOrder::Vendor;
    let text = to_pto(&call, &|_, _| "zeros".into()).unwrap();
    assert!(text.contains("--microcode vendor --operand-order vendor"), "{text}");
    let mut sum = Call::new(
        find("tcolsum").unwrap(),
        tile("dst", DType::F32, 1, 64, Layout::RowMajor),
        [t("src", DType::F32)],
    );
    sum.tmp = Some(t("tmp", DType::F32));
    sum.attrs.binary = true;
    place(&mut sum);
    agrees(&sum, &zeros(&sum)).unwrap();
    let load = Call::new(find("tload").unwrap(), t("dst", DType::F32), []);
    assert_eq!(to_pto(&load, &|_, _| String::new()), None);
}
