//! Microcode with every quirk of the shipped headers against the listed instructions of 926
//! combinations of operation, shape, element type and mode.

use ptoemu_core::dtype::DType;
use ptoemu_core::stream::Pipe;
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::{Backend, Stop};
use ptoemu_isa::tile::{Call, Layout, Loc, OperandOrder, Quirks, SCRATCH, Tile, a2a3, find};
use serde_json::Value;

/// Keeps what is issued; loads give 0.
#[derive(Default)]
struct Lister(Vec<Instr>);

impl Backend for Lister {
    fn issue(&mut self, instr: &Instr) -> Result<u64, Stop> {
        self.0.push(*instr);
        Ok(0)
    }
}

fn base(name: &str) -> u64 {
    match name {
        "dst" => 0x1000_0000,
        "src0" => 0x2000_0000,
        "src1" => 0x3000_0000,
        "tmp" => 0x4000_0000,
        "tmpub184K" => SCRATCH,
        other => panic!("unknown tile {other}"),
    }
}

fn text<'v>(v: &'v Value, key: &str) -> &'v str {
    v[key].as_str().unwrap_or_else(|| panic!("no text {key} in {v}"))
}

fn number(v: &Value) -> i64 {
    match v {
        Value::String(s) => match s.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).unwrap() as i64,
            None => Pipe::parse(s).unwrap_or_else(|| panic!("number {s}")) as i64,
        },
        Value::Array(a) => (base(a[0].as_str().unwrap()) as i64) + a[1].as_i64().unwrap(),
        v => v.as_i64().unwrap_or_else(|| v.as_u64().unwrap() as i64),
    }
}

/// One listed instruction: mnemonic and named parameters.
#[derive(Clone, Debug, PartialEq)]
struct Line(String, Vec<(String, i64)>);

/// Expands a list with its loops.
fn expand(list: &[Value], out: &mut Vec<Line>) {
    for item in list {
        let Some(n) = item.get("loop") else {
            leaf(item, out);
            continue;
        };
        let body = item["body"].as_array().unwrap();
        let delta = item["delta"].as_array().unwrap();
        for i in 0..n.as_i64().unwrap() {
            for (element, step) in body.iter().zip(delta) {
                let mut steps = step.as_array().unwrap().iter();
                expand(&[advanced(element, &mut steps, i)], out);
            }
        }
    }
}

/// A loop element in iteration `i`: its leaves take their address increments from `steps`.
fn advanced<'v>(v: &Value, steps: &mut impl Iterator<Item = &'v Value>, i: i64) -> Value {
    let mut v = v.clone();
    if let Some(body) = v.get_mut("body") {
        for b in body.as_array_mut().unwrap() {
            *b = advanced(b, steps, i);
        }
        return v;
    }
    for key in ["dst", "src0", "src1"] {
        if let Some(at) = v.get_mut(key) {
            let by = steps.next().map_or(0, |s| s.as_i64().unwrap());
            at[1] = (at[1].as_i64().unwrap() + by * i).into();
        }
    }
    v
}

fn leaf(v: &Value, out: &mut Vec<Line>) {
    let mut line = |op: &str, params: Vec<(String, i64)>| out.push(Line(op.into(), params));
    match text(v, "op") {
        "SCALAR_LOAD(inferred)" => {
            line("scalar_load", vec![("src0".into(), number(&v["src0"]))]);
        }
        "SCALAR_REDUCE(inferred)" => {
            for i in 0..v["loads"].as_i64().unwrap() {
                let at = number(&v["src0"]) + i * v["bytes_each"].as_i64().unwrap();
                line("scalar_load", vec![("src0".into(), at)]);
            }
        }
        "SCALAR_STORE(inferred)" => {
            line("scalar_store", vec![("dst".into(), number(&v["dst"]))]);
        }
        op => {
            let params = v.as_object().unwrap().iter().filter(|(k, _)| *k != "op");
            line(op, params.map(|(k, v)| (k.clone(), number(v))).collect());
        }
    }
}

/// Same mnemonic, and the same value for every parameter the list names.
fn same(instr: &Instr, want: &Line, loaded: bool) -> bool {
    instr.op.mnemonic() == want.0
        && want.1.iter().all(|(name, v)| {
            let ignored = name == "imm" && loaded;
            ignored || instr.named(name) == Some(*v)
        })
}

fn dtype(name: &str) -> DType {
    match name {
        "float" => DType::F32,
        "half" => DType::F16,
        "int32_t" => DType::I32,
        _ => DType::I16,
    }
}

struct Shape {
    t: DType,
    rows: u32,
    cols: u32,
    valid: (u32, u32),
    fixed: bool,
}

impl Shape {
    fn tile(&self, name: &str, cols: u32, valid_cols: u32, layout: Layout) -> Tile {
        Tile {
            name: name.into(),
            loc: Loc::Vec,
            dtype: self.t,
            rows: self.rows,
            cols,
            valid_rows: self.valid.0,
            valid_cols,
            static_rows: self.fixed,
            static_cols: self.fixed,
            layout,
            fractal: false,
            pad: 0,
            addr: base(name),
        }
    }

    fn of(case: &Value) -> Shape {
        let n = |key: &str| case[key].as_u64().unwrap() as u32;
        Shape {
            t: dtype(text(case, "dtype")),
            rows: n("rows"),
            cols: n("cols"),
            valid: (n("valid_rows"), n("valid_cols")),
            fixed: text(case, "variant").contains("static"),
        }
    }
}

fn call(case: &Value) -> Call {
    use Layout::{ColMajor, RowMajor};
    let s = Shape::of(case);
    let block = 32 / s.t.size() as u32;
    let full = |name: &str| s.tile(name, s.cols, s.valid.1, RowMajor);
    let column = |name: &str| s.tile(name, 1, 1, ColMajor);
    let blocks = |name: &str, valid: u32| s.tile(name, block, valid, RowMajor);
    let name = text(case, "op").to_lowercase();
    let op = find(&name).unwrap_or_else(|| panic!("no operation {name}"));
    let variant = text(case, "variant");
    let mut call = match variant {
        "dst_rowmajor_block_dyn" => Call::new(op, blocks("dst", 1), [full("src0")]),
        "dst_colmajor_static" => Call::new(op, column("dst"), [full("src0")]),
        "src_colmajor" => Call::new(op, full("dst"), [column("src0")]),
        "src_rowmajor_block" => Call::new(op, full("dst"), [blocks("src0", 1)]),
        "brcb_static_dst_one_block" => Call::new(op, blocks("dst", block), [column("src0")]),
        v if v.starts_with("mode1") => Call::new(op, full("dst"), [full("src0"), column("src1")]),
        v if v.starts_with("mode2") => {
            Call::new(op, full("dst"), [full("src0"), blocks("src1", block)])
        }
        _ if op.sig.srcs == 2 => Call::new(op, full("dst"), [full("src0"), full("src1")]),
        _ => Call::new(op, full("dst"), [full("src0")]),
    };
    if variant.starts_with("dst_") || variant.ends_with("_tmp") {
        call.tmp = Some(full("tmp"));
    }
    call.quirks = Quirks::vendor();
    call.operand_order = OperandOrder::Vendor;
    call
}

fn mismatch(case: &Value) -> Option<String> {
    let mut want = Vec::new();
    expand(case["calls"].as_array().unwrap(), &mut want);
    let mut got = Lister::default();
    a2a3(&call(case), &mut got).unwrap();
    let loaded = text(case, "op") == "TROWEXPAND";
    let differs =
        (0..want.len().max(got.0.len())).find(|&i| match (got.0.get(i), want.get(i)) {
            (Some(g), Some(w)) => !same(g, w, loaded),
            _ => true,
        })?;
    Some(format!(
        "{} {} {} {}: instruction {differs} of {} (listed {}): issued {}, listed {:?}",
        text(case, "op"),
        text(case, "dtype"),
        text(case, "variant"),
        text(case, "shape"),
        got.0.len(),
        want.len(),
        got.0.get(differs).map_or("nothing".into(), show),
        want.get(differs),
    ))
}

fn show(i: &Instr) -> String {
    let params = i.form().params().iter().zip(i.args);
    let list: Vec<String> = params.map(|(p, v)| format!("{}={v:#x}", p.name)).collect();
    format!("{} {}", i.op.mnemonic(), list.join(" "))
}

#[test]
fn every_listed_combination_is_reproduced() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/microcode_a2a3.jsonl");
    let lists = std::fs::read_to_string(path).unwrap();
    let cases: Vec<Value> = lists.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(cases.len(), 926);
    let wrong: Vec<String> = cases.iter().filter_map(mismatch).collect();
    let report = wrong.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {} differ:\n{report}", wrong.len(), cases.len());
}
