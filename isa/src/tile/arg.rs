//! TROWARGMAX, TROWARGMIN, TCOLARGMAX, TCOLARGMIN: where the largest or smallest element is.

use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::compare::order;
use super::meaning::{Mem, is_nan};
use super::op::Operator;
use super::{Layout, Tile};
use crate::machine::Stop;
use ptoemu_core::dtype::DType;
use std::cmp::Ordering;

type Done = Result<(), Stop>;

/// Columns a 16-bit index of the row forms reaches.
const MAX_COLS_16: u32 = 1 << 16;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (src, dst) = (call.source(0), &call.dst);
    c.row_major("src", src)?;
    c.not_empty("src", src)?;
    index_type(call)?;
    if call.op.reduces_rows() {
        if dst.layout == Layout::ColMajor && dst.cols != 1 {
            let text = format!("column-major dst `{}` has {} columns", dst.name, dst.cols);
            return refuse("legality.layout", text, "use row_major, or col_major with one column");
        }
        if src.valid_rows != dst.valid_rows {
            return c.row_mismatch("src", src, dst);
        }
        if src.size() == 2 && src.valid_cols > MAX_COLS_16 {
            let text =
                format!("{} columns; indices of 16-bit elements have 16 bits", src.valid_cols);
            return refuse("legality.index_range", text, "split the rows");
        }
    } else {
        c.row_major("dst", dst)?;
        if src.valid_cols != dst.valid_cols {
            return c.col_mismatch("src", src, dst);
        }
        c.not_empty("dst", dst)?;
    }
    c.disjoint(("dst", dst), ("src", src))
}

/// Indices are 32-bit integers, or 16-bit ones beside 16-bit elements of a row.
fn index_type(call: &Call) -> Verdict {
    let (t, dst) = (call.source(0).dtype, &call.dst);
    let narrow = call.op.reduces_rows() && t.size() == 2 && dst.dtype.size() == 2;
    if !dst.dtype.is_float() && (dst.dtype.size() == 4 || narrow) {
        return Ok(());
    }
    let text = format!("dst `{}` of {} takes no index of {t} elements", dst.name, dst.dtype);
    refuse("legality.type_mismatch", text, "use a dst of u32 or i32")
}

/// dst\[i, 0\] or dst\[0, j\] = number of the best element of row i or column j.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    let want = best_order(call);
    let by_rows = call.op.reduces_rows();
    let (lines, length) = if by_rows { (rows, cols) } else { (cols, rows) };
    for line in 0..lines {
        let at = |i: u64| if by_rows { (line, i) } else { (i, line) };
        let values = (0..length).map(|i| read(mem, src, at(i))).collect::<Result<Vec<_>, _>>()?;
        let index = first_best(src.dtype, &values, want);
        let (r, c) = if by_rows { (line, 0) } else { (0, line) };
        mem.write(&call.dst, r, c, index as u64)?;
    }
    Ok(())
}

fn read(mem: &mut Mem, t: &Tile, (r, c): (u64, u64)) -> Result<u64, Stop> {
    mem.read(t, r, c)
}

/// The order in which a better element stands to a worse one.
pub(super) fn best_order(call: &Call) -> Ordering {
    if call.op.operator == Operator::ArgMin { Ordering::Less } else { Ordering::Greater }
}

/// Ties, zeros of either sign among them, go to the first; NaN beats everything.
fn first_best(t: DType, values: &[u64], want: Ordering) -> usize {
    if let Some(nan) = values.iter().position(|v| is_nan(t, *v)) {
        return nan;
    }
    let mut best = 0;
    for (i, v) in values.iter().enumerate() {
        if values.get(best).is_some_and(|b| order(t, *v, *b) == Some(want)) {
            best = i;
        }
    }
    best
}
