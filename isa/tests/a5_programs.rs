//! Programs on the 950: what is recorded for timing, what is placed, what is said.

use ptoemu_core::diag::SourceFile;
use ptoemu_core::stream::{Kind, Pipe};
use ptoemu_isa::a5::{Op, UB_BYTES};
use ptoemu_isa::exec::{self, ArgValue, Binding, Outcome};
use ptoemu_isa::machine::Settings;
use ptoemu_isa::{text, tile};

fn run_with(
    program: &str,
    entry: Option<&str>,
    args: &[(&str, Vec<u8>)],
) -> Result<Outcome, String> {
    let (file, diags) = text::parse(&SourceFile::new("a5.pto", program.to_string()));
    assert!(diags.is_empty(), "{diags:?}");
    let options = exec::LowerOptions {
        entry: entry.map(str::to_string),
        limits: exec::Limits { align: 32, auto_end: UB_BYTES },
        tiles: vec![],
    };
    let program = exec::lower(&file, &options).map_err(|d| d[0].message.clone())?;
    let bind = |(name, bytes): &(&str, Vec<u8>)| Binding {
        name: name.to_string(),
        value: ArgValue::Bytes(bytes.clone()),
    };
    let options = exec::Options {
        args: args.iter().map(bind).collect(),
        blocks: 1,
        auto_sync: Some(true),
        quirks: Default::default(),
        operand_order: Default::default(),
        settings: Settings { ub_bytes: UB_BYTES, ..Settings::of(tile::Family::A5) },
        limits: tile::Limits::of(tile::Family::A5),
        max_steps: Some(10_000),
        progress: None,
    };
    let out = exec::run(&program, &options).map_err(|d| d[0].message.clone())?;
    match out.stop {
        Some(stop) => Err(stop.message),
        None => Ok(out),
    }
}

fn module(body: &str) -> String {
    format!("module attributes {{pto.target_arch = \"a5\"}} {{\n{body}\n}}\n")
}

/// Sorts and copies inside UB stand outside vecscopes and hold the vector pipe.
#[test]
fn sorts_and_copies_are_recorded() {
    let program = module(
        r#"func.func @f() {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %n = arith.constant 2 : index
    %c512 = arith.constant 512 : i64
    %c4096 = arith.constant 4096 : i64
    %a = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
    %i = pto.castptr %c512 : i64 -> !pto.ptr<ui32, ub>
    %d = pto.castptr %c4096 : i64 -> !pto.ptr<f32, ub>
    pto.vbitsort %d, %a, %i, %n : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<ui32, ub>, index
    pto.mte_ub_ub %a, %d, %c1 nburst(%c1, %c0, %c0) : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64
    return
  }"#,
    );
    let out = run_with(&program, None, &[]).unwrap();
    let records = &out.blocks[0].stream.records;
    let sort = records.iter().find(|r| r.op == Op::vbitsort.id()).expect("a record of the sort");
    assert_eq!((sort.pipe, sort.kind, sort.repeats), (Pipe::V, Kind::Vector, 2));
    let copy = records.iter().find(|r| r.kind == Kind::Copy).expect("a record of the copy");
    assert_eq!((copy.pipe, copy.repeats), (Pipe::V, 1));
}

const TOO_LARGE: &str = r#"  func.func @large() {
    %a = pto.alloc_tile : !pto.tile_buf<vec, 1024x64xf32>
    %b = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>
    return
  }
  func.func @small() {
    %a = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>
    return
  }"#;

/// Only the tiles of the function that runs must fit.
#[test]
fn other_functions_may_be_too_large() {
    let program = module(TOO_LARGE);
    assert!(run_with(&program, Some("small"), &[]).is_ok());
    let refused = run_with(&program, Some("large"), &[]).unwrap_err();
    assert!(refused.contains("do not fit"), "{refused}");
}

/// A view whose strides run down the columns is DN, said or not.
#[test]
fn strides_tell_the_layout() {
    let view = "!pto.tensor_view<1x1x1x8x2xf32>";
    let tile = "!pto.tile_buf<vec, 8x2xf32, blayout=col_major>";
    let make = |v: &str| {
        format!(
            "%{v}v = pto.make_tensor_view %{v}, shape = [%c1, %c1, %c1, %c8, %c2], \
             strides = [%c16, %c16, %c16, %c1, %c8] : {view}\n"
        )
    };
    let program = module(&format!(
        "func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    {}{}
    %t = pto.alloc_tile : {tile}
    pto.tload ins(%xv : {view}) outs(%t : {tile})
    pto.tstore ins(%t : {tile}) outs(%yv : {view})
    return
  }}",
        make("x"),
        make("y")
    ));
    let x: Vec<u8> = (0..64).collect();
    let out = run_with(&program, None, &[("x", x.clone()), ("y", vec![0; 64])]).unwrap();
    assert_eq!(out.outputs[1].bytes, x);
}

/// Attributes of public kernels that change nothing are answered.
#[test]
fn attributes_without_effect_are_named() {
    let full = "!pto.tile_buf<vec, 8x16xf32>";
    let program = module(&format!(
        "func.func @f() {{
    %f1 = arith.constant 1.0 : f32
    %a = pto.alloc_tile : {full}
    %b = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    %d = pto.alloc_tile : {full}
    pto.texpands ins(%f1 : f32) outs(%a : {full})
    pto.texpands ins(%f1 : f32) outs(%b : !pto.tile_buf<vec, 8x8xf32>)
    pto.trowexpanddiv ins(%a, %b : {full}, !pto.tile_buf<vec, 8x8xf32>) outs(%d : {full}) \
         {{src1Col = 1 : i64, highPrecision = true}}
    return
  }}"
    ));
    let notes: Vec<&str> =
        run_with(&program, None, &[]).unwrap().notes.iter().map(|n| n.code).collect();
    assert_eq!(notes, ["note.precision", "note.attribute"]);
}
