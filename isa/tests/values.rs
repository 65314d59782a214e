//! Listed inputs and the hashes of their results: through microcode on the machine and through
//! the meaning, bit by bit.

mod common;

use common::{Run, run, stray, tile, valid};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Dist;
use ptoemu_isa::tile::{Call, Family, Layout, OperandOrder, Tile, find};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn cases(target: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/values.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let all = text.lines().map(|l| serde_json::from_str(l).unwrap());
    all.filter(|c: &Value| c["target"] == target).collect()
}

fn number(v: &Value) -> u32 {
    v.as_u64().unwrap_or_else(|| panic!("no number: {v}")) as u32
}

struct Case<'v> {
    v: &'v Value,
    t: DType,
    rows: u32,
    cols: u32,
}

impl Case<'_> {
    fn tile(&self, name: &str, default: (u32, u32)) -> Option<Tile> {
        let v = self.v.get(name)?;
        let layout = match v["layout"].as_str() {
            Some("col" | "DN") => Layout::ColMajor,
            _ => Layout::RowMajor,
        };
        let t = tile(name, self.t, number(&v["rows"]), number(&v["cols"]), layout);
        let (r, c) = match v.get("valid") {
            Some(list) => (number(&list[0]), number(&list[1])),
            None => default,
        };
        Some(valid(t, r, c, true))
    }

    /// Bytes of tensor `k`, as the generator defines them.
    fn bytes(&self, name: &str, k: u64, t: &Tile) -> Vec<u8> {
        let seed = self.v["seed"].as_str().unwrap().trim_start_matches("0x");
        let seed = u64::from_str_radix(seed, 16).unwrap();
        let dist: Dist = self.v[name]["dist"].as_str().unwrap().parse().unwrap();
        let mut bytes = vec![0; t.bytes() as usize];
        dist.fill(self.t, seed, k, &mut bytes).unwrap();
        assert_eq!(hex(&bytes), self.v["input_sha256"][k as usize], "{}", self.v["id"]);
        bytes
    }

    fn call(&self) -> (Call, Vec<Vec<u8>>) {
        let op = find(&self.v["op"].as_str().unwrap().to_lowercase()).unwrap();
        let region = (self.rows, self.cols);
        let reduced = (self.rows, 1);
        let reduces = op.name == "trowmax";
        let dst = self.tile("dst", if reduces { reduced } else { region }).unwrap();
        let poison = vec![0xA5; dst.bytes() as usize];
        let (src, contents) = if let Some(src) = self.tile("src", region) {
            let bytes = self.bytes("src", 0, &src);
            (vec![src], vec![poison, bytes])
        } else {
            let full = self.tile("full", region).unwrap();
            let exp = self.tile("expanded", reduced).unwrap();
            let (f, e) = (self.bytes("full", 0, &full), self.bytes("expanded", 1, &exp));
            if self.v["swapped"] == true {
                (vec![exp, full], vec![poison, e, f])
            } else {
                (vec![full, exp], vec![poison, f, e])
            }
        };
        let mut call = Call::new(op, dst, src);
        call.tmp = self.tile("tmp", region);
        if self.v["tmp_given"] == true {
            let n = number(&self.v["tmp_bytes"]) / self.t.size() as u32;
            call.tmp = Some(tile("tmp", self.t, 1, n, Layout::RowMajor));
        }
        common::place(&mut call);
        (call, contents)
    }
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// The valid region of dst in canonical form: one NaN, and +0 where max may give either zero.
fn canonical(call: &Call, ub: &[u8]) -> Vec<u8> {
    let dst = &call.dst;
    let (t, size) = (dst.dtype, dst.dtype.size());
    let zero = matches!(call.op.name, "trowmax" | "trowexpandmax");
    let (inf, nan, sign) = match t {
        DType::F32 => (0x7F80_0000, 0x7FC0_0000, 0x8000_0000),
        DType::F16 => (0x7C00, 0x7E00, 0x8000),
        _ => (0x7F80, 0x7FC0, 0x8000),
    };
    let mut out = Vec::new();
    for r in 0..u64::from(dst.valid_rows) {
        for c in 0..u64::from(dst.valid_cols) {
            let at = dst.at(r, c) as usize;
            let mut v = ub[at..at + size].iter().rev().fold(0u32, |a, b| a << 8 | u32::from(*b));
            if t.is_float() && v & !sign > inf {
                v = nan;
            }
            if t.is_float() && zero && v == sign {
                v = 0;
            }
            out.extend_from_slice(&v.to_le_bytes()[..size]);
        }
    }
    out
}

#[test]
fn listed_results_come_out_of_microcode_and_of_the_meaning() {
    assert_eq!(results("a2a3", Family::A2A3), (40, 6), "cases, swapped SUB and DIV");
}

#[test]
fn listed_results_of_the_950_come_out_of_microcode_and_of_the_meaning() {
    assert_eq!(results("a5", Family::A5), (20, 2), "cases, swapped SUB and DIV");
}

fn results(target: &str, family: Family) -> (usize, usize) {
    let cases = cases(target);
    let (mut orders, mut wrong) = (0, Vec::new());
    for v in &cases {
        let t = v["dtype"].as_str().unwrap().parse().unwrap();
        let case = Case { v, t, rows: number(&v["valid_rows"]), cols: number(&v["valid_cols"]) };
        let (mut call, contents) = case.call();
        call.family = family;
        let mut expect = |call: &Call, hash: &Value| {
            let done: Run = run(call, &contents).unwrap_or_else(|e| panic!("{} {e}", v["id"]));
            for (what, ub) in [("microcode", &done.after), ("meaning", &done.meant)] {
                if hex(&canonical(call, ub)) != *hash {
                    wrong.push(format!("{} {what} {:?}", v["id"], call.operand_order));
                }
            }
            assert_eq!(stray(call, &done), None, "{}", v["id"]);
        };
        expect(&call, &v["expect"]["sha256"]);
        if let Some(other) = v.get("expect_operand_order") {
            call.operand_order = OperandOrder::Vendor;
            expect(&call, &other["sha256"]);
            orders += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    (cases.len(), orders)
}
