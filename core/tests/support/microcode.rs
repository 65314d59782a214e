//! Instruction lists of the case file as streams.

use super::support::Builder;
use ptoemu_core::access::{Role, Space, Walk};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{Kind, Marks, Pipe};
use serde_json::Value;

/// One line of the case file.
pub struct Case {
    pub name: String,
    pub op: String,
    pub dtype: DType,
    pub rows: u64,
    pub cols: u64,
    pub full: bool,
    pub variant: String,
    pub reference: Option<f64>,
    calls: Value,
}

/// Every line of `tests/data/microcode_a2a3.jsonl`.
pub fn cases() -> Vec<Case> {
    let text = include_str!("../../../tests/data/microcode_a2a3.jsonl");
    text.lines().map(|l| case(serde_json::from_str(l).unwrap())).collect()
}

fn case(v: Value) -> Case {
    let text = |k: &str| v[k].as_str().unwrap().to_string();
    let int = |k: &str| v[k].as_u64().unwrap();
    let dtype = match v["dtype"].as_str().unwrap() {
        "float" => DType::F32,
        "half" => DType::F16,
        "int32_t" => DType::I32,
        "int16_t" => DType::I16,
        other => panic!("type {other}"),
    };
    Case {
        name: format!("{} {dtype} {} {}", text("op"), text("shape"), text("variant")),
        op: text("op"),
        dtype,
        rows: int("rows"),
        cols: int("cols"),
        full: int("valid_rows") == int("rows") && int("valid_cols") == int("cols"),
        variant: text("variant"),
        reference: v["ref_model_cycles"].as_f64(),
        calls: v["calls"].clone(),
    }
}

impl Case {
    /// The stream the list stands for.
    pub fn stream(&self) -> ptoemu_core::stream::Stream {
        let mut b = Builder::default();
        for call in self.calls.as_array().unwrap() {
            expand(&mut b, self.dtype, call, &mut Vec::new());
        }
        b.stream
    }
}

/// Ends a match arm.
fn done(_record: u32) {}

/// Increments of the address operands of the calls inside a loop, in the order they appear.
type Deltas = Vec<i64>;

fn leaves(call: &Value) -> usize {
    match call.get("body") {
        Some(body) => body.as_array().unwrap().iter().map(leaves).sum(),
        None => ["dst", "src0", "src1"].iter().filter(|k| call.get(**k).is_some()).count(),
    }
}

fn expand(b: &mut Builder, dtype: DType, call: &Value, offsets: &mut Deltas) {
    let Some(body) = call.get("body").and_then(Value::as_array) else {
        return emit(b, dtype, call, offsets);
    };
    let deltas: Deltas = call["delta"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|d| d.as_array().unwrap().iter().map(|x| x.as_i64().unwrap()))
        .collect();
    let n: usize = body.iter().map(leaves).sum();
    assert_eq!(deltas.len(), n, "{call}");
    let base = if offsets.is_empty() { vec![0; n] } else { offsets.clone() };
    for i in 0..call["loop"].as_i64().unwrap() {
        let mut at = 0;
        for inner in body {
            let n = leaves(inner);
            let mut here: Deltas = (at..at + n).map(|k| base[k] + i * deltas[k]).collect();
            expand(b, dtype, inner, &mut here);
            at += n;
        }
    }
}

fn address(tile: &Value, offset: i64) -> u64 {
    let base = match tile[0].as_str().unwrap() {
        "dst" => 0x1000_0000,
        "src0" => 0x2000_0000,
        "src1" => 0x3000_0000,
        "tmp" => 0x4000_0000,
        "tmpub184K" => 188_416,
        other => panic!("tile {other}"),
    };
    u64::try_from(base + tile[1].as_i64().unwrap() + offset).unwrap()
}

fn pipe(v: &Value) -> Pipe {
    Pipe::parse(v.as_str().unwrap()).unwrap()
}

fn hex(v: &Value) -> u64 {
    let s = v.as_str().unwrap();
    u64::from_str_radix(s.trim_start_matches("0x"), 16).unwrap()
}

fn emit(b: &mut Builder, dtype: DType, c: &Value, offsets: &[i64]) {
    let keys: Vec<&str> =
        ["dst", "src0", "src1"].into_iter().filter(|k| c.get(*k).is_some()).collect();
    let at = |k: &str| {
        let i = keys.iter().position(|x| *x == k).unwrap();
        address(&c[k], offsets.get(i).copied().unwrap_or(0))
    };
    let int = |k: &str| c[k].as_i64().unwrap_or_else(|| panic!("{k} in {c}"));
    let repeat = || u32::try_from(int("repeat")).unwrap();
    let blk = |k: &str| i32::try_from(int(k)).unwrap();
    match c["op"].as_str().unwrap() {
        "set_mask_count" => done(b.mode(true)),
        "set_mask_norm" => done(b.mode(false)),
        "set_vector_mask" => {
            let (hi, lo) = (hex(&c["mask1_hi"]), hex(&c["mask0_lo_or_count"]));
            b.mask_marked(hi, lo, Marks::default());
        }
        "pipe_barrier" => done(b.barrier(pipe(&c["pipe"]))),
        "set_flag" => done(b.set_flag(pipe(&c["src_pipe"]), pipe(&c["dst_pipe"]))),
        "wait_flag" => done(b.wait_flag(pipe(&c["src_pipe"]), pipe(&c["dst_pipe"]))),
        "SCALAR_LOAD(inferred)" => done(b.scalar(Kind::ScalarLoad, Space::Ub)),
        "SCALAR_REDUCE(inferred)" => {
            (0..int("loads")).for_each(|_| done(b.scalar(Kind::ScalarLoad, Space::Ub)));
        }
        "SCALAR_STORE(inferred)" => done(b.scalar(Kind::ScalarStore, Space::Ub)),
        "copy_ubuf_to_ubuf" => {
            let (n, len) = (int("nBurst") as u32, int("lenBurst") as u32);
            b.copy(at("dst"), at("src0"), n, len, (int("dstGap"), int("srcGap")));
        }
        "vbrcb" => {
            // Eight elements of the source a repeat, whatever the strides.
            let src = Walk {
                space: Space::Ub,
                role: Role::Read,
                elem: 0,
                blocks: 1,
                unit: 8 * dtype.size() as u32,
                blk: 0,
                rep: 8 * dtype.size() as i64,
            };
            let dst = strided(Role::Write, 0, blk("dst_blk"), int("dst_rpt") * 32);
            let lanes = ptoemu_core::access::Lanes::All;
            b.walks("vbrcb", dtype, repeat(), lanes, &[(at("dst"), dst), (at("src0"), src)]);
        }
        "vector_dup" => {
            b.vector("vector_dup", dtype, repeat(), &[(at("dst"), blk("dst_blk"), int("dst_rpt"))]);
        }
        name @ ("vcmax" | "vcmin" | "vcadd" | "vcgmax" | "vcgmin" | "vcgadd") => {
            let size = dtype.size() as i64;
            let (unit, step) = match c.get("dst_rpt_elems") {
                Some(n) => (size, n.as_i64().unwrap() * size),
                None => (8 * size, int("dst_rpt_blocks") * 8 * size),
            };
            let dst = Walk {
                space: Space::Ub,
                role: Role::Write,
                elem: 0,
                blocks: 1,
                unit: unit as u32,
                blk: 0,
                rep: step,
            };
            let src = strided(Role::Read, dtype.size() as u8, blk("src_blk"), int("src_rpt") * 32);
            let (repeats, lanes) = b.extent(dtype, repeat());
            b.walks(name, dtype, repeats, lanes, &[(at("dst"), dst), (at("src0"), src)]);
        }
        name if keys.len() == 3 => {
            let operand = |k: &str| (at(k), blk(&format!("{k}_blk")), int(&format!("{k}_rpt")));
            let operands = [operand("dst"), operand("src0"), operand("src1")];
            b.vector(name, dtype, repeat(), &operands);
        }
        name => {
            let dst = (at("dst"), blk("dst_blk"), int("dst_rpt"));
            let src = (at("src0"), blk("src_blk"), int("src_rpt"));
            b.vector(name, dtype, repeat(), &[dst, src]);
        }
    }
}

fn strided(role: Role, elem: u8, blk: i32, rep: i64) -> Walk {
    Walk { space: Space::Ub, role, elem, blocks: 8, unit: 32, blk: blk * 32, rep }
}
