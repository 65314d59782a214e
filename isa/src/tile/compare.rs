//! TCMP, TCMPS: one packed bit an element.

use super::Tile;
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::{Mem, int_of, to_f64};
use crate::machine::Stop;
use ptoemu_core::dtype::DType;
use std::cmp::Ordering;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (dst, first) = (&call.dst, call.source(0));
    for (role, t) in call.tiles().filter(|(role, _)| role.starts_with("src")) {
        if t.dtype != first.dtype {
            let text =
                format!("element types differ: {role} is {}, src0 is {}", t.dtype, first.dtype);
            return refuse("legality.type_mismatch", text, "compare tiles of one element type");
        }
        c.row_major(role, t)?;
        c.same_valid(role, t, first)?;
        c.disjoint(("dst", dst), (role, t))?;
    }
    c.bits("dst", dst, first)
}

/// Columns whose bits one store of the 950 writes, and its bytes.
pub(super) fn unit(t: DType) -> (u64, u64) {
    if t.size() == 1 { (256, 32) } else { (128, 16) }
}

/// Bytes written for a row.
pub(super) fn written(src: &Tile) -> u64 {
    let (columns, bytes) = unit(src.dtype);
    u64::from(src.valid_cols).div_ceil(columns) * bytes
}

/// Bit c of row r = src0\[r, c\] ? src1\[r, c\]. Whole stores are written: bits behind the last column
/// are 0 `[D: PTO TCmp]`.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    let n = written(src) as usize;
    for r in 0..rows {
        let mut bits = vec![0u8; n];
        for c in 0..cols {
            let x = mem.read(src, r, c)?;
            let y = match call.op.sig.scalar {
                true => call.scalar_bits(),
                false => mem.read(call.source(1), r, c)?,
            };
            if call.attrs.cmp.holds(order(src.dtype, x, y)) {
                bits[c as usize / 8] |= 1 << (c % 8);
            }
        }
        mem.bytes(call.dst.row(r), n)?.copy_from_slice(&bits);
    }
    Ok(())
}

/// Order of two elements; none where one is NaN.
pub(super) fn order(t: DType, x: u64, y: u64) -> Option<Ordering> {
    if t.is_float() {
        return to_f64(t, x).partial_cmp(&to_f64(t, y));
    }
    let (x, y) = (int_of(t, x), int_of(t, y));
    Some(if t.is_signed() { x.cmp(&y) } else { (x as u64).cmp(&(y as u64)) })
}
