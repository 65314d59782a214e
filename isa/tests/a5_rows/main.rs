//! One program for every row of the 950 table: its text runs and gives the values written beside
//! it.

mod cases;

use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType;
use ptoemu_isa::a5::{Op, UB_BYTES};
use ptoemu_isa::exec::{self, ArgValue, Binding};
use ptoemu_isa::{machine::Settings, text, tile};

/// What an output byte holds before the kernel runs.
const BEFORE: u8 = 0x77;

/// One program: `x` and `y` are loaded into `%a` and `%b`, 512 bytes each are in UB.
pub struct Case {
    pub op: &'static str,
    /// Element type of `x` and `y`.
    pub t: DType,
    /// Element type of the output.
    pub r: DType,
    /// Statements of the vecscope, with the tokens of [`expand`].
    pub body: &'static str,
    pub x: &'static [f64],
    pub y: &'static [f64],
    /// First output elements.
    pub want: &'static [f64],
}

fn bits(t: DType, v: f64) -> u64 {
    match t {
        DType::F32 => u64::from((v as f32).to_bits()),
        DType::F16 => u64::from(half::f16::from_f64(v).to_bits()),
        DType::BF16 => u64::from(half::bf16::from_f64(v).to_bits()),
        t if t.is_signed() => v as i64 as u64,
        _ => v as u64,
    }
}

fn encode(t: DType, values: &[f64], bytes: usize, fill: u8) -> Vec<u8> {
    let mut out: Vec<u8> =
        values.iter().flat_map(|v| bits(t, *v).to_le_bytes()[..t.size()].to_vec()).collect();
    out.resize(bytes, fill);
    out
}

fn mlir(t: DType) -> String {
    match t {
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => format!("ui{}", 8 * t.size()),
        t => t.name().to_string(),
    }
}

/// `{V}` source register type, `{W}` result register type, `{T}` and `{R}` their elements, `{M}`
/// predicate type of the source, `{N}` of the result, `{P}` and `{Q}` pointers, `{STORE}` stores
/// `%r`, `{STOREP}` stores the predicate `%p`.
fn expand(c: &Case) -> String {
    let vreg = |t: DType| format!("!pto.vreg<{}x{}>", 256 / t.size(), mlir(t));
    let mask = |t: DType| format!("!pto.mask<b{}>", 8 * t.size().min(4));
    let ptr = |t: DType| format!("!pto.ptr<{}, ub>", mlir(t));
    let body = c
        .body
        .replace("{STORE}", "pto.vsts %r, %o[%c0], %allr : {W}, {Q}, {N}")
        .replace("{STOREP}", "pto.psts %p, %o[%c0], \"NORM\" : {M}, {Q}, index")
        .replace("{V}", &vreg(c.t))
        .replace("{W}", &vreg(c.r))
        .replace("{M}", &mask(c.t))
        .replace("{N}", &mask(c.r))
        .replace("{P}", &ptr(c.t))
        .replace("{Q}", &ptr(c.r))
        .replace("{T}", &mlir(c.t))
        .replace("{R}", &mlir(c.r));
    let (t, r) = (mlir(c.t), mlir(c.r));
    let (g, h) = (8 * c.t.size().min(4), 8 * c.r.size().min(4));
    let (v, m, n) = (vreg(c.t), mask(c.t), mask(c.r));
    let (p, q) = (ptr(c.t), ptr(c.r));
    format!(
        r#"module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%gx: !pto.ptr<{t}, gm>, %gy: !pto.ptr<{t}, gm>, %go: !pto.ptr<{r}, gm>) attributes {{pto.aicore}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %i0 = arith.constant 0 : i32
    %i2 = arith.constant 2 : i32
    %i3 = arith.constant 3 : i32
    %h1 = arith.constant 1 : i16
    %h2 = arith.constant 2 : i16
    %z = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %len = arith.constant 512 : i64
    %k1 = arith.constant 1024 : i64
    %k2 = arith.constant 2048 : i64
    %x = pto.castptr %z : i64 -> {p}
    %y = pto.castptr %k1 : i64 -> {p}
    %o = pto.castptr %k2 : i64 -> {q}
    pto.mte_gm_ub %gx, %x, %z, %len nburst(%one, %len, %len) : !pto.ptr<{t}, gm>, {p}, i64, i64, i64, i64, i64
    pto.mte_gm_ub %gy, %y, %z, %len nburst(%one, %len, %len) : !pto.ptr<{t}, gm>, {p}, i64, i64, i64, i64, i64
    pto.mte_gm_ub %go, %o, %z, %len nburst(%one, %len, %len) : !pto.ptr<{r}, gm>, {q}, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.vecscope {{
      %all = pto.pset_b{g} "PAT_ALL" : {m}
      %allr = pto.pset_b{h} "PAT_ALL" : {n}
      %some = pto.pset_b{g} "PAT_VL4" : {m}
      %a = pto.vlds %x[%c0] : {p} -> {v}
      %b = pto.vlds %y[%c0] : {p} -> {v}
      {body}
    }}
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mte_ub_gm %o, %go, %len nburst(%one, %len, %len) : {q}, !pto.ptr<{r}, gm>, i64, i64, i64, i64
    return
  }}
}}
"#
    )
}

/// Runs a program; the output buffer, or the first message.
fn run(program: &str, c: &Case) -> Result<Vec<u8>, String> {
    let source = SourceFile::new("case.pto", program);
    let (file, diags) = text::parse(&source);
    if let Some(d) = diags.first() {
        return Err(d.message.clone());
    }
    let options = exec::LowerOptions {
        entry: None,
        limits: exec::Limits { align: 32, auto_end: UB_BYTES },
        tiles: vec![],
    };
    let lowered = exec::lower(&file, &options).map_err(|d| d[0].message.clone())?;
    let bind = |name: &str, bytes| Binding { name: name.into(), value: ArgValue::Bytes(bytes) };
    let options = exec::Options {
        args: vec![
            bind("gx", encode(c.t, c.x, 512, 0)),
            bind("gy", encode(c.t, c.y, 512, 0)),
            bind("go", vec![BEFORE; 512]),
        ],
        blocks: 1,
        auto_sync: None,
        quirks: Default::default(),
        operand_order: Default::default(),
        settings: Settings { ub_bytes: UB_BYTES, ..Settings::default() },
        limits: tile::Limits::of(tile::Family::A5),
        max_steps: Some(10_000),
        progress: None,
    };
    let out = exec::run(&lowered, &options).map_err(|d| d[0].message.clone())?;
    if let Some(stop) = out.stop {
        return Err(stop.message);
    }
    Ok(out.outputs.into_iter().find(|o| o.name == "go").map_or(Vec::new(), |o| o.bytes))
}

fn same(t: DType, got: u64, want: f64) -> bool {
    let number = |b: u64| match t {
        DType::F32 => f64::from(f32::from_bits(b as u32)),
        DType::F16 => half::f16::from_bits(b as u16).to_f64(),
        DType::BF16 => half::bf16::from_bits(b as u16).to_f64(),
        _ => 0.0,
    };
    if want.is_nan() {
        return number(got).is_nan();
    }
    let low = u64::MAX >> (64 - 8 * t.size());
    got == bits(t, want) & low
}

#[test]
fn every_row_gives_the_values_beside_it() {
    let mut wrong = Vec::new();
    for (i, c) in cases::CASES.iter().enumerate() {
        let program = expand(c);
        assert!(program.contains(&format!("pto.{}", c.op)), "case {i} does not use {}", c.op);
        let out = match run(&program, c) {
            Ok(out) => out,
            Err(message) => {
                wrong.push(format!("{} (case {i}): {message}", c.op));
                continue;
            }
        };
        for (k, want) in c.want.iter().enumerate() {
            let mut word = [0u8; 8];
            word[..c.r.size()].copy_from_slice(&out[k * c.r.size()..(k + 1) * c.r.size()]);
            let got = u64::from_le_bytes(word);
            if !same(c.r, got, *want) {
                wrong.push(format!("{} (case {i}): element {k} is {got:#x}, not {want}", c.op));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_has_a_case() {
    for op in Op::ALL {
        let name = op.mnemonic();
        let refused = cases::REFUSED.iter().any(|(n, _)| *n == name);
        assert!(refused || cases::CASES.iter().any(|c| c.op == name), "{name} has no case");
    }
}

#[test]
fn refusals_say_why() {
    for (op, body) in cases::REFUSED {
        let c = Case { op, t: DType::F32, r: DType::F32, body, x: &[], y: &[], want: &[] };
        let message = run(&expand(&c), &c).unwrap_err();
        assert!(message.contains(op), "{op}: {message}");
    }
}

#[test]
fn faults_name_the_rule() {
    for (body, words) in cases::FAULTS {
        let c = Case { op: "", t: DType::F32, r: DType::F32, body, x: &[], y: &[], want: &[] };
        let message = run(&expand(&c), &c).unwrap_err();
        assert!(message.contains(words), "{body}: {message}");
    }
}
