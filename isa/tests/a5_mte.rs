//! Transfers of the 950: strides, loops, padding, flat forms, and what goes wrong.

use ptoemu_core::diag::SourceFile;
use ptoemu_isa::a5::UB_BYTES;
use ptoemu_isa::exec::{self, ArgValue, Binding};
use ptoemu_isa::{machine::Settings, text, tile};

/// Runs statements on `%in` (bytes 0, 1, 2, ..) and `%out` (256 bytes of 0x77); the output and the
/// codes of the findings.
fn run(body: &str) -> Result<(Vec<u8>, Vec<&'static str>), String> {
    let numbers: String = [0, 1, 2, 3, 4, 8, 16, 24, 32, 40, 48, 64, 96, 128, 256, 512]
        .iter()
        .map(|n| format!("    %c{n} = arith.constant {n} : i64\n"))
        .collect();
    let program = format!(
        r#"module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%in: !pto.ptr<i8, gm>, %out: !pto.ptr<i8, gm>) attributes {{pto.aicore}} {{
{numbers}
    %ub = pto.castptr %c0 : i64 -> !pto.ptr<i8, ub>
    %ub2 = pto.castptr %c512 : i64 -> !pto.ptr<i8, ub>
    %far = arith.constant 262112 : i64
    %end = pto.castptr %far : i64 -> !pto.ptr<i8, ub>
    %no = arith.constant false
    %yes = arith.constant true
    {body}
    return
  }}
}}
"#
    );
    let (file, diags) = text::parse(&SourceFile::new("mte.pto", program));
    assert!(diags.is_empty(), "{diags:?}");
    let options = exec::LowerOptions {
        entry: None,
        limits: exec::Limits { align: 32, auto_end: UB_BYTES },
        tiles: vec![],
    };
    let program = exec::lower(&file, &options).map_err(|d| d[0].message.clone())?;
    let bind = |name: &str, b: Vec<u8>| Binding { name: name.into(), value: ArgValue::Bytes(b) };
    let options = exec::Options {
        args: vec![bind("in", (0..=255).collect()), bind("out", vec![0x77; 256])],
        blocks: 1,
        auto_sync: None,
        quirks: Default::default(),
        operand_order: Default::default(),
        settings: Settings { ub_bytes: UB_BYTES, ..Settings::default() },
        limits: tile::Limits::of(tile::Family::A5),
        max_steps: Some(10_000),
        progress: None,
    };
    let out = exec::run(&program, &options).map_err(|d| d[0].message.clone())?;
    if let Some(stop) = out.stop {
        return Err(stop.message);
    }
    let codes = out.blocks[0].findings.iter().map(|f| f.diag.code).collect();
    Ok((out.outputs[1].bytes.clone(), codes))
}

const IN: &str = "!pto.ptr<i8, gm>, !pto.ptr<i8, ub>, i64, i64, i64, i64, i64";
const OUT: &str = "!pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64";
const BAR: &str = "pto.barrier #pto.pipe<PIPE_ALL>";

#[test]
fn strides_run_from_start_to_start() {
    // Rows of 3 bytes, 16 apart in GM, 32 apart in UB; back with rows of 3, dense.
    let (out, codes) = run(&format!(
        "pto.mte_gm_ub %in, %ub, %c0, %c3 nburst(%c4, %c16, %c32) : {IN} {BAR}
         pto.mte_ub_gm %ub, %out, %c3 nburst(%c4, %c32, %c3) : {OUT}"
    ))
    .unwrap();
    assert_eq!(out[..13], [0, 1, 2, 16, 17, 18, 32, 33, 34, 48, 49, 50, 0x77]);
    assert!(codes.is_empty(), "{codes:?}");
}

#[test]
fn loops_wrap_bursts_inner_first() {
    let (out, _) = run(&format!(
        "pto.mte_gm_ub %in, %ub, %c0, %c1 nburst(%c2, %c1, %c32) loop(%c2, %c64, %c64) loop(%c2, %c8, %c128) : {IN}, loop i64, i64, i64, loop i64, i64, i64 {BAR}
         pto.mte_ub_gm %ub, %out, %c1 nburst(%c8, %c32, %c1) : {OUT}"
    ))
    .unwrap();
    assert_eq!(out[..9], [0, 1, 64, 65, 8, 9, 72, 73, 0x77]);
}

#[test]
fn padding_fills_the_row_to_its_block() {
    let (out, codes) = run(&format!(
        "%v = arith.constant 9 : i8
         pto.mte_gm_ub %in, %ub, %c0, %c4 nburst(%c2, %c4, %c64) pad(%v, %c2, %c3) : {IN}, pad i8, i64, i64 {BAR}
         pto.mte_ub_gm %ub, %out, %c96 nburst(%c1, %c96, %c96) : {OUT}"
    ))
    .unwrap();
    assert_eq!(out[..10], [9, 9, 0, 1, 2, 3, 9, 9, 9, 9]);
    assert_eq!(out[31], 9, "to the block boundary");
    assert_eq!(out[64..72], [9, 9, 4, 5, 6, 7, 9, 9]);
    assert_eq!(codes, ["initcheck.undefined"], "bytes 32..64 were never written");
}

#[test]
fn flat_forms_take_their_loops_from_registers() {
    let (out, _) = run(&format!(
        "pto.set_loop_size_outtoub %c2, %c1 : i64, i64
         pto.set_loop1_stride_outtoub %c64, %c64 : i64, i64
         pto.copy_gm_to_ubuf %in, %ub, %c0, %c2, %c2, %c0, %c0, %no, %c0, %c8, %c32 : !pto.ptr<i8, gm>, !pto.ptr<i8, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64
         {BAR}
         pto.copy_ubuf_to_gm %ub, %out, %c0, %c4, %c2, %c0, %c4, %c32 : !pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64, i64, i64"
    ))
    .unwrap();
    assert_eq!(out[..14], [0, 1, 0x77, 0x77, 8, 9, 0x77, 0x77, 64, 65, 0x77, 0x77, 72, 73]);
    let (out, _) = run(&format!(
        "pto.set_mov_pad_val %c3 : i64
         pto.copy_gm_to_ubuf %in, %ub, %c0, %c1, %c2, %c1, %c1, %yes, %c0, %c8, %c32 : !pto.ptr<i8, gm>, !pto.ptr<i8, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64
         {BAR}
         pto.copy_ubuf_to_gm %ub, %out, %c0, %c1, %c4, %c0, %c4, %c32 : !pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64, i64, i64"
    ))
    .unwrap();
    assert_eq!(out[..5], [3, 0, 1, 3, 0x77]);
}

#[test]
fn copies_within_ub_count_blocks_and_gaps() {
    let (out, codes) = run(&format!(
        "pto.mte_gm_ub %in, %ub, %c0, %c256 nburst(%c1, %c256, %c256) : {IN} {BAR}
         pto.mte_ub_ub %ub, %ub2, %c1 nburst(%c3, %c1, %c0) : !pto.ptr<i8, ub>, !pto.ptr<i8, ub>, i64, i64, i64, i64
         {BAR}
         pto.mte_ub_gm %ub2, %out, %c96 nburst(%c1, %c96, %c96) : {OUT}"
    ))
    .unwrap();
    assert_eq!((out[0], out[32], out[64], out[96]), (0, 64, 128, 0x77));
    assert!(codes.is_empty(), "{codes:?}");
}

#[test]
fn what_goes_wrong_is_named() {
    let gm = |args: &str| run(&format!("pto.mte_gm_ub %in, {args} : {IN}"));
    let (_, codes) = gm("%ub, %c0, %c256 nburst(%c2, %c256, %c256)").unwrap();
    assert_eq!(codes, ["memcheck.gm_range"], "reads beyond a buffer are reported and go on");
    let beyond = gm("%end, %c0, %c64 nburst(%c1, %c64, %c64)").unwrap_err();
    assert!(beyond.contains("beyond the 256 KB"), "{beyond}");
    let odd = gm("%ub, %c0, %c8 nburst(%c2, %c8, %c8)").unwrap_err();
    assert!(odd.contains("not a multiple of 32"), "{odd}");
    let many = run(&format!(
        "%huge = arith.constant 1000000000000 : i64 pto.mte_gm_ub %in, %ub, %c0, %c8 nburst(%huge, %c0, %c0) loop(%huge, %c0, %c0) : {IN}, loop i64, i64, i64"
    ));
    assert!(many.unwrap_err().contains("bursts"));
    let negative = run(&format!(
        "%m = arith.constant -1 : i64 pto.mte_gm_ub %in, %ub, %c0, %m nburst(%c1, %c0, %c0) : {IN}"
    ));
    assert!(negative.unwrap_err().contains("length of a burst"));
    let missing = run(&format!("pto.mte_gm_ub %in, %ub, %c0, %c8 : {IN}")).unwrap_err();
    assert!(missing.contains("nburst"), "{missing}");
    let wrong_way = run(
        "pto.mte_ub_gm %in, %out, %c8 nburst(%c1, %c8, %c8) : !pto.ptr<i8, gm>, !pto.ptr<i8, gm>, i64, i64, i64, i64",
    );
    assert!(wrong_way.unwrap_err().contains("wrong memories"));
}
