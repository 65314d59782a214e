//! TROWEXPAND: the first element of every source row, over the row.

use super::asm::Asm;
use super::call::Call;
use super::check::Checker;
use super::meaning::Mem;
use super::quirks::Quirk;
use super::{Layout, Tile};
use crate::machine::Stop;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;

type Done = Result<(), Stop>;

/// Most repeats one broadcast takes here, so that the second piece stays aligned.
const BRCB_PIECE: u64 = 254;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Result<(), Box<Diagnostic>> {
    c.row_expand(call)
}

/// dst\[i, j\] = src\[i, 0\].
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (rows, cols) = call.dst.valid();
    let src = call.source(0);
    let firsts = (0..rows).map(|r| mem.read(src, r, 0)).collect::<Result<Vec<_>, _>>()?;
    for (r, bits) in (0..rows).zip(firsts) {
        for c in 0..cols {
            mem.write(&call.dst, r, c, bits)?;
        }
    }
    Ok(())
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let (rows, cols) = dst.valid();
    let empty = rows == 0 || cols == 0 || src.valid_rows == 0 || src.valid_cols == 0;
    if empty && !call.quirks.has(Quirk::D15) {
        return Ok(());
    }
    if broadcasts(call) {
        let repeats = u64::from(dst.rows) / 8;
        return super::asm::rounds(repeats, BRCB_PIECE, |at, n| {
            a.brcb(dst.addr + at * 256, src.addr + at * 8 * src.size(), n)
        });
    }
    if dst.dtype.size() == 1 {
        return bytes(call, a);
    }
    a.count(cols)?;
    for r in 0..rows {
        let value = first(a, src, r)?;
        a.s_to_v()?;
        a.dup(dst.row(r), value, 0, [1, 1], [8, 0])?;
    }
    a.end_count()
}

/// Waits for V and loads the first element of a row.
fn first(a: &mut Asm, src: &Tile, r: u64) -> Result<u64, Stop> {
    a.v_to_s()?;
    a.load(src.row(r))
}

/// One-byte elements are filled in pairs; the last of an odd count is stored by the scalar unit.
fn bytes(call: &Call, a: &mut Asm) -> Done {
    let (src, dst, t) = (call.source(0), &call.dst, a.t);
    let (rows, cols) = dst.valid();
    let stray = call.quirks.has(Quirk::D12);
    let pairs = if stray { cols.div_ceil(2) } else { cols / 2 };
    a.count(pairs)?;
    for r in 0..rows {
        let value = first(a, src, r)? & 0xFF;
        if !stray && cols % 2 == 1 {
            a.store(dst.row(r) + cols - 1, value)?;
        }
        a.s_to_v()?;
        if pairs > 0 {
            a.t = DType::U16;
            a.dup(dst.row(r), value << 8 | value, 0, [1, 1], [8, 0])?;
            a.t = t;
        }
    }
    a.end_count()
}

/// Can one broadcast instruction do it: a destination one block wide, everything static and full?
fn broadcasts(call: &Call) -> bool {
    let (src, dst) = (call.source(0), &call.dst);
    let column = src.layout == Layout::ColMajor && src.cols == 1 && src.rows == dst.rows;
    let flat = src.layout == Layout::RowMajor && src.rows == 1 && src.cols == dst.rows;
    let rows_fit = dst.rows.is_multiple_of(8) || call.quirks.has(Quirk::D16);
    dst.dtype.size() > 1
        && src.full_static()
        && dst.full_static()
        && u64::from(dst.cols) == dst.per_block()
        && rows_fit
        && (column || flat && call.quirks.has(Quirk::D16))
}
