//! TSORT32: every 32 elements of a row, descending, as records of value and index.

use super::Tile;
use super::asm::{Asm, BLOCK, MAX_REPEAT, rounds};
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::copy::Rows;
use super::meaning::{Mem, bits_of, is_nan, to_f64};
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType;
use std::cmp::Ordering;

type Done = Result<(), Stop>;

/// Elements of a group.
pub(super) const GROUP: u64 = 32;
/// Bytes of a record.
pub(super) const RECORD: u64 = 8;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (src, idx, dst) = (call.source(0), call.source(1), &call.dst);
    for (role, t) in call.tiles().filter(|(role, _)| *role != "tmp") {
        c.row_major(role, t)?;
    }
    c.not_empty("src", src)?;
    if dst.dtype != src.dtype {
        let text = format!("element types differ: dst is {}, src is {}", dst.dtype, src.dtype);
        return refuse("legality.type_mismatch", text, "give dst the type of src");
    }
    if idx.dtype.is_float() || idx.dtype.size() != 4 {
        let text = format!("idx `{}` holds {}", idx.name, idx.dtype);
        return refuse("legality.type_mismatch", text, "indices are 32-bit integers: u32");
    }
    if idx.valid_rows != 1 && idx.valid_rows < src.valid_rows {
        return c.row_mismatch("idx", idx, src);
    }
    if idx.valid_cols < src.valid_cols {
        return c.col_mismatch("idx", idx, src);
    }
    if dst.valid_rows < src.valid_rows {
        return c.row_mismatch("src", src, dst);
    }
    let groups = u64::from(src.valid_cols).div_ceil(GROUP);
    let (have, need) = (u64::from(dst.cols) * dst.size(), groups * GROUP * RECORD);
    if have < need {
        let text = format!(
            "a row of dst `{}` has {have} bytes; {groups} groups of 32 records take {need}",
            dst.name
        );
        return refuse("legality.dst_too_small", text, "give dst 8 bytes for every element");
    }
    tail(call, c, groups)?;
    c.disjoint(("dst", dst), ("src", src))?;
    c.disjoint(("dst", dst), ("idx", idx))
}

/// A part of a group is sorted in tmp.
fn tail(call: &Call, c: &mut Checker, groups: u64) -> Verdict {
    let src = call.source(0);
    if u64::from(src.valid_cols).is_multiple_of(GROUP) {
        return Ok(());
    }
    let Some(tmp) = &call.tmp else {
        let text = format!("{} columns are no whole groups of 32", src.valid_cols);
        return refuse(
            "legality.operands",
            text,
            "pass a tmp tile of one row, padded to 32 columns",
        );
    };
    c.tmp_size(
        call,
        (groups * GROUP * src.size()).next_multiple_of(BLOCK),
        "a row in whole groups",
    )?;
    call.tiles().filter(|(role, _)| *role != "tmp").try_for_each(|t| c.disjoint(("tmp", tmp), t))
}

/// Records of every group, larger values first, NaN last, ties in their order.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (src, idx) = (call.source(0), call.source(1));
    let (rows, cols) = src.valid();
    for r in 0..rows {
        let index_row = if idx.valid_rows == 1 { 0 } else { r };
        for first in (0..cols).step_by(GROUP as usize) {
            // A part of a group is filled up: -NaN, beside whatever the index row goes on with.
            let end = if fills(call) { first + GROUP } else { cols.min(first + GROUP) };
            let mut group = (first..end)
                .map(|c| {
                    let value = if c < cols { mem.read(src, r, c)? } else { fill(src.dtype) };
                    Ok((value, bits_of(mem.bytes(idx.row(index_row) + 4 * c, 4)?)))
                })
                .collect::<Result<Vec<_>, Stop>>()?;
            group.sort_by(|x, y| descending(src.dtype, x.0, y.0));
            for (k, (value, index)) in (first..).zip(group) {
                let at = call.dst.row(r) + k * RECORD;
                let record = value | index << 32;
                mem.bytes(at, RECORD as usize)?.copy_from_slice(&record.to_le_bytes());
            }
        }
    }
    Ok(())
}

/// Is the last group sorted though it is not whole?
fn fills(call: &Call) -> bool {
    call.tmp.is_some()
}

/// Records a row of the result has.
pub(super) fn sorted(call: &Call) -> u64 {
    let cols = u64::from(call.source(0).valid_cols);
    if fills(call) { cols.next_multiple_of(GROUP) } else { cols }
}

/// The least tmp: a row in whole groups, or one group of long rows; none for whole groups.
pub(super) fn tmp(src: &Tile) -> Option<(DType, u32, u32)> {
    let cols = u64::from(src.valid_cols);
    let last = cols / GROUP >= MAX_REPEAT;
    let n = if last { GROUP } else { cols.next_multiple_of(GROUP) };
    (!cols.is_multiple_of(GROUP)).then_some((src.dtype, 1, n as u32))
}

/// What fills a part of a group up.
pub(super) fn fill(t: DType) -> u64 {
    if t == DType::F16 { 0xFFFF } else { 0xFFFF_FFFF }
}

fn descending(t: DType, x: u64, y: u64) -> Ordering {
    match (is_nan(t, x), is_nan(t, y)) {
        (false, false) => to_f64(t, y).partial_cmp(&to_f64(t, x)).unwrap_or(Ordering::Equal),
        (x, y) => x.cmp(&y),
    }
}

/// A2/A3 microcode: sort instructions; the last group of a ragged row goes through tmp.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    a.t = call.source(0).dtype;
    let (src, idx) = (call.source(0), call.source(1));
    let (rows, cols) = src.valid();
    for r in 0..rows {
        let index = idx.row(if idx.valid_rows == 1 { 0 } else { r });
        let at = [call.dst.row(r), src.row(r), index];
        match call.tmp.as_ref().filter(|_| !cols.is_multiple_of(GROUP)) {
            None => groups(a, at, cols / GROUP)?,
            Some(tmp) => ragged(call, a, tmp, at)?,
        }
        a.barrier()?;
    }
    Ok(())
}

/// `n` groups, 255 an instruction.
fn groups(a: &mut Asm, [d, s, x]: [u64; 3], n: u64) -> Done {
    let size = a.t.size() as u64;
    rounds(n, MAX_REPEAT, |g, n| {
        let args = [d + g * GROUP * RECORD, s + g * GROUP * size, x + g * GROUP * 4, n];
        a.emit(Op::vbitsort, &args.map(|x| x as i64)).map(drop)
    })
}

/// A row that ends inside a group: all of it through tmp while one instruction sorts it, else its
/// last group.
fn ragged(call: &Call, a: &mut Asm, tmp: &Tile, [d, s, x]: [u64; 3]) -> Done {
    let (size, cols) = (call.source(0).size(), u64::from(call.source(0).valid_cols));
    let whole = cols / GROUP;
    let first = if whole < MAX_REPEAT { 0 } else { whole };
    groups(a, [d, s, x], first)?;
    let bytes = (cols - first * GROUP) * size;
    let from = s + first * GROUP * size;
    let row = Rows { dst: tmp.addr, src: from, rows: 1, bytes, dst_step: 0, src_step: 0 };
    row.blocks(a)?;
    a.barrier()?;
    let last = tmp.addr + (whole - first) * GROUP * size;
    let (t, used) = (a.t, cols % GROUP);
    a.t = if size == 2 { DType::U16 } else { DType::U32 };
    a.mask(0, 0xFFFF_FFFF >> used << used)?;
    a.dup(last, fill(t), 1, [1, 1], [8, 0])?;
    a.t = t;
    a.full()?;
    a.barrier()?;
    groups(a, [d + first * GROUP * RECORD, tmp.addr, x + first * GROUP * 4], whole + 1 - first)
}
