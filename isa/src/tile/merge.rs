//! TMRGSORT: descending lists of records merged, whole tiles or blocks of one.

use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::Mem;
use super::op::Operator;
use super::sort::RECORD;
use super::{Family, Tile};
use crate::families::sort::key;
use crate::machine::Stop;
use crate::table::Op;
use std::cmp::Reverse;

type Done = Result<(), Stop>;

/// Records of the valid part of a row.
fn records(t: &Tile) -> u64 {
    u64::from(t.valid_cols) * t.size() / RECORD
}

/// Records of a block.
fn block(call: &Call) -> u64 {
    call.attrs.block * call.dst.size() / RECORD
}

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let dst = &call.dst;
    for (role, t) in call.tiles() {
        c.row_major(role, t)?;
        if t.valid_rows != 1 && role != "tmp" {
            let text = format!("{role} `{}` has {} valid rows", t.name, t.valid_rows);
            return refuse("legality.row_mismatch", text, "lists are one row of records");
        }
        if !(u64::from(t.valid_cols) * t.size()).is_multiple_of(RECORD) {
            let text = format!("{role} `{}` holds part of a record", t.name);
            return refuse("legality.alignment", text, "records are 8 bytes: value and index");
        }
        if !std::ptr::eq(t, dst) {
            c.disjoint(("dst", dst), (role, t))?;
        }
    }
    if call.op.operator == Operator::MergeBlock {
        return blocks(call);
    }
    let total: u64 = call.src.iter().map(records).sum();
    if records(dst) != total {
        let text = format!("dst `{}` holds {} records of {total}", dst.name, records(dst));
        return refuse("legality.dst_too_small", text, "give dst the records of all lists");
    }
    if let Some(t) = call.src.iter().find(|t| records(t) > 0xFFFF || records(t) == 0) {
        let text = format!("src `{}` has {} records", t.name, records(t));
        return refuse("legality.range", text, "a list has 1 to 65535 records");
    }
    match (c.family, &call.tmp) {
        (Family::A5, None) => Ok(()),
        _ => c.scratch(call),
    }
}

/// Blocks of 64 elements, four at a time [D: PTO TMrgSort].
fn blocks(call: &Call) -> Verdict {
    let (src, n) = (call.source(0), call.attrs.block);
    let cols = u64::from(src.valid_cols);
    let groups = cols.checked_div(4 * n).unwrap_or(0);
    if n == 0 || n % 64 != 0 || !cols.is_multiple_of(4 * n) || !(1..=255).contains(&groups) {
        let text = format!("blocks of {n} elements in {cols} columns");
        let help = "a multiple of 64 elements, and 4 to 1020 blocks in groups of four";
        return refuse("legality.range", text, help);
    }
    if block(call) > 0xFFFF {
        return refuse(
            "legality.range",
            format!("blocks of {n} elements"),
            "at most 65535 records",
        );
    }
    match call.dst.valid_cols == src.valid_cols {
        true => Ok(()),
        false => {
            refuse("legality.col_mismatch", "dst and src differ in columns", "make them equal")
        }
    }
}

/// The least tmp: the records of all lists.
pub(super) fn tmp(call: &Call) -> Option<(ptoemu_core::dtype::DType, u32, u32)> {
    let n: u64 = call.src.iter().map(records).sum::<u64>() * RECORD / call.dst.size();
    (call.op.operator == Operator::Merge).then_some((call.dst.dtype, 1, u32::try_from(n).ok()?))
}

/// The records of all lists in descending order; of equal ones those of the lower list come first.
/// Where exhausted lists end it, the rest of dst is whatever tmp held.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    if call.op.operator == Operator::MergeBlock {
        let n = block(call) * RECORD;
        for first in (0..records(&call.dst) * RECORD).step_by(4 * n.max(1) as usize) {
            let at = call.source(0).addr + first;
            let lists: Vec<_> = (0..4).map(|l| (at + l * n, n)).collect();
            merge(call, mem, &lists, call.dst.addr + first)?;
        }
        return Ok(());
    }
    let lists: Vec<_> = call.src.iter().map(|t| (t.addr, records(t) * RECORD)).collect();
    merge(call, mem, &lists, call.dst.addr)
}

fn merge(call: &Call, mem: &mut Mem, lists: &[(u64, u64)], to: u64) -> Done {
    let mut all = Vec::new();
    let mut left = Vec::new();
    for (list, (at, n)) in lists.iter().enumerate() {
        let records = mem.bytes(*at, *n as usize)?.chunks_exact(8);
        all.extend(records.map(|r| (list, r.to_vec())));
        left.push(n / RECORD);
    }
    all.sort_by_key(|(_, r)| Reverse(score(call, r)));
    for (k, (list, record)) in (0u64..).zip(&all) {
        mem.bytes(to + k * RECORD, 8)?.copy_from_slice(record);
        left[*list] -= 1;
        if call.attrs.exhausted && left[*list] == 0 {
            break;
        }
    }
    Ok(())
}

fn score(call: &Call, record: &[u8]) -> (bool, u32) {
    let n = call.dst.dtype.size().min(4);
    let bits = record.iter().take(n).rev().fold(0, |acc, b| acc << 8 | u32::from(*b));
    key(call.dst.dtype, bits)
}

/// Descending lists of what generated bytes hold, in blocks where the operation has some.
pub(super) fn sort(call: &Call, bytes: &mut [u8]) {
    let n = match call.op.operator {
        Operator::MergeBlock => block(call) as usize * 8,
        _ => bytes.len() / 8 * 8,
    };
    for list in bytes.chunks_mut(n.max(8)) {
        let mut all: Vec<Vec<u8>> = list.chunks_exact(8).map(<[u8]>::to_vec).collect();
        all.sort_by_key(|r| Reverse(score(call, r)));
        for (to, r) in list.chunks_exact_mut(8).zip(all) {
            to.copy_from_slice(&r);
        }
    }
}

/// Addresses, lengths and configuration of the merge instruction.
pub(super) fn operands(call: &Call) -> ([u64; 4], u64, u64) {
    let lens = |n: [u64; 4]| n.iter().rev().fold(0, |acc, n| acc << 16 | n);
    if call.op.operator == Operator::MergeBlock {
        let (n, src) = (block(call), call.source(0).addr);
        let repeat = records(&call.dst) / (4 * n.max(1));
        let at = std::array::from_fn(|l| src + l as u64 * n * RECORD);
        return (at, lens([n; 4]), 0xF00 | repeat);
    }
    let at = std::array::from_fn(|l| call.source(l).addr);
    let n: [u64; 4] = std::array::from_fn(|l| call.src.get(l).map_or(0, records));
    let lists = [0x300, 0x300, 0x300, 0x700, 0xF00][call.src.len().min(4)];
    (at, lens(n), lists | u64::from(call.attrs.exhausted) << 12 | 1)
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (dst, (at, lens, config)) = (&call.dst, operands(call));
    let tmp = match call.op.operator {
        Operator::MergeBlock => return instruction(a, dst.addr, at, lens, config),
        _ => call.tmp.as_ref().unwrap_or(dst),
    };
    instruction(a, tmp.addr, at, lens, config)?;
    if call.attrs.exhausted {
        a.v_to_s()?;
        a.emit(Op::get_vms4_sr, &[])?;
    }
    a.barrier()?;
    let bytes = records(dst) * RECORD;
    let row = super::copy::Rows {
        dst: dst.addr,
        src: tmp.addr,
        rows: 1,
        bytes,
        dst_step: 0,
        src_step: 0,
    };
    row.exact(a)
}

fn instruction(a: &mut Asm, dst: u64, at: [u64; 4], lens: u64, config: u64) -> Done {
    let args = [dst, at[0], at[1], at[2], at[3], lens, config];
    a.emit(Op::vmrgsort4, &args.map(|x| x as i64)).map(drop)
}
