//! Uses that must be refused, each for its own reason.

use ptoemu_core::diag::Level;
use ptoemu_core::dtype::DType;
use ptoemu_isa::machine::{Backend, Stop};
use ptoemu_isa::tile::{Call, Family, Layout, Limits, Loc, Quirk, Quirks, Tile, a2a3, check, find};
use serde_json::Value;

fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/illegal.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn tile(name: &str, v: &Value, addr: &mut u64) -> Tile {
    let n = |v: &Value| v.as_u64().unwrap() as u32;
    let dtype: DType = v["dtype"].as_str().unwrap().parse().unwrap();
    let mut t = Tile {
        name: name.into(),
        loc: if v["loc"].as_str() == Some("Mat") { Loc::Mat } else { Loc::Vec },
        dtype,
        rows: n(&v["rows"]),
        cols: n(&v["cols"]),
        valid_rows: n(&v["valid"][0]),
        valid_cols: n(&v["valid"][1]),
        static_rows: true,
        static_cols: true,
        layout: if v["layout"] == "col" { Layout::ColMajor } else { Layout::RowMajor },
        fractal: v.get("fractal").is_some(),
        pad: 0,
        addr: *addr,
    };
    match v.get("addr") {
        Some(at) => t.addr = at.as_u64().unwrap(),
        None => *addr += t.bytes().next_multiple_of(512),
    }
    t
}

fn call(case: &Value) -> Call {
    let tiles = &case["tiles"];
    let mut addr = 0;
    let mut named = |name: &str| tiles.get(name).map(|v| tile(name, v, &mut addr));
    let op = find(&case["op"].as_str().unwrap().to_lowercase()).unwrap();
    let dst = named("dst").unwrap();
    let src: Vec<Tile> = ["src", "src0", "src1"].into_iter().filter_map(&mut named).collect();
    let mut call = Call::new(op, dst, src);
    call.tmp = named("tmp");
    call
}

fn family(case: &Value) -> Family {
    if case["target"] == "a5" { Family::A5 } else { Family::A2A3 }
}

fn code(violates: &str) -> String {
    format!(
        "legality.{}",
        match violates {
            "type mismatch" => "type_mismatch",
            "zero rows" => "zero_rows",
            "zero cols" => "zero_cols",
            "row mismatch" => "row_mismatch",
            "two full operands" => "two_full_operands",
            "no full operand" => "no_full_operand",
            "mode 1 valid cols" => "mode1_valid_cols",
            "mode 2 valid cols" => "mode2_valid_cols",
            "tmp overload in mode 2" => "tmp_in_mode2",
            "tmp too small" => "tmp_too_small",
            "UB overflow" => "ub_overflow",
            "reserved region" => "reserved",
            other => other,
        }
    )
}

/// Fails on any instruction.
struct Silent;

impl Backend for Silent {
    fn issue(&mut self, i: &ptoemu_isa::instr::Instr) -> Result<u64, Stop> {
        panic!("{} was issued", i.op.mnemonic())
    }
}

#[test]
fn every_listed_use_is_refused_for_its_reason() {
    let cases = cases();
    assert_eq!(cases.len(), 28);
    for case in &cases {
        let (call, family) = (call(case), family(case));
        let verdict = check(&call, family, &Limits::of(family));
        let id = &case["id"];
        if case["expect"] == "refused" {
            let refusal = verdict.expect_err(id.as_str().unwrap());
            assert_eq!(refusal.code, code(case["violates"].as_str().unwrap()), "{id} {refusal:?}");
            assert!(refusal.level == Level::Error && refusal.help.is_some(), "{id}");
        } else {
            let remarks = verdict.unwrap_or_else(|d| panic!("{id} {d:?}"));
            assert!(remarks.iter().any(|d| d.level == Level::Note), "{id} has no note");
            a2a3(&call, &mut Silent).unwrap();
        }
    }
}

fn simple(name: &str, layout: Layout, rows: u32, cols: u32, addr: u64) -> Tile {
    Tile {
        name: name.into(),
        loc: Loc::Vec,
        dtype: DType::F32,
        rows,
        cols,
        valid_rows: rows,
        valid_cols: cols,
        static_rows: true,
        static_cols: true,
        layout,
        fractal: false,
        pad: 0,
        addr,
    }
}

fn verdict(call: &Call) -> Result<Vec<Level>, &'static str> {
    match check(call, Family::A2A3, &Limits::of(Family::A2A3)) {
        Ok(remarks) => Ok(remarks.iter().map(|d| d.level).collect()),
        Err(d) => Err(d.code),
    }
}

#[test]
fn what_the_shipped_header_accepts_is_a_warning_there() {
    let (row, col) = (Layout::RowMajor, Layout::ColMajor);
    let op = find("trowexpandmax").unwrap();
    let dst = simple("dst", row, 16, 32, 0);
    let src = |at| simple("s", row, 16, 32, at);
    let mut both = Call::new(op, dst.clone(), [src(4096), src(8192)]);
    assert_eq!(verdict(&both), Err("legality.two_full_operands"));
    both.quirks = Quirks::corrected().with(Quirk::D2);
    assert_eq!(verdict(&both), Ok(vec![Level::Warning]));

    let narrow = simple("tmp", row, 16, 8, 40960);
    let wide = simple("src", row, 16, 200, 0);
    let mut max = Call::new(find("trowmax").unwrap(), simple("dst", col, 16, 1, 32768), [wide]);
    max.tmp = Some(narrow);
    assert_eq!(verdict(&max), Err("legality.tmp_too_small"));
    max.quirks = Quirks::vendor();
    assert_eq!(verdict(&max), Ok(vec![Level::Warning]));
}

#[test]
fn scratch_window_is_only_reserved_where_it_is_used() {
    let (row, col) = (Layout::RowMajor, Layout::ColMajor);
    let op = find("trowexpandsub").unwrap();
    let full = simple("dst", row, 16, 64, 188_416);
    let exp = simple("exp", col, 16, 1, 0);
    let mut call = Call::new(op, full.clone(), [full, exp]);
    assert_eq!(verdict(&call), Err("legality.reserved"));
    call.tmp = Some(simple("tmp", row, 64, 8, 4096));
    assert_eq!(verdict(&call), Ok(vec![]));
}

#[test]
fn column_sources_are_accepted_with_a_note() {
    let dst = simple("dst", Layout::RowMajor, 16, 64, 4096);
    let src = simple("src", Layout::ColMajor, 16, 1, 0);
    assert_eq!(verdict(&Call::new(find("trowexpand").unwrap(), dst, [src])), Ok(vec![Level::Note]));
}

#[test]
fn huge_tiles_are_refused_without_overflow() {
    let huge = simple("dst", Layout::RowMajor, u32::MAX, u32::MAX - 7, u64::MAX - 31);
    let call = Call::new(find("tneg").unwrap(), huge.clone(), [huge]);
    assert_eq!(verdict(&call), Err("legality.ub_overflow"));
}
