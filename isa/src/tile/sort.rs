//! TSORT32: every 32 elements of a row, descending, as records of value and index.

use super::asm::BLOCK;
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::{Mem, is_nan, to_f64};
use crate::machine::Stop;
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
            let mut group = (first..cols.min(first + GROUP))
                .map(|c| Ok((mem.read(src, r, c)?, mem.read(idx, index_row, c)?)))
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

fn descending(t: DType, x: u64, y: u64) -> Ordering {
    match (is_nan(t, x), is_nan(t, y)) {
        (false, false) => to_f64(t, y).partial_cmp(&to_f64(t, x)).unwrap_or(Ordering::Equal),
        (x, y) => x.cmp(&y),
    }
}
