//! TEXPANDS: a scalar over the whole valid region.

use super::Tile;
use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict};
use super::meaning::Mem;
use super::quirks::Quirk;
use crate::machine::Stop;
use ptoemu_core::dtype::DType;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.elementwise(call, false)
}

/// dst = scalar.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (rows, cols) = call.dst.valid();
    for r in 0..rows {
        for c in 0..cols {
            mem.write(&call.dst, r, c, call.scalar_bits())?;
        }
    }
    Ok(())
}

/// A2/A3 microcode; counter mode throughout.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    apply(call, a, &call.dst.storage_rows(), call.scalar_bits())
}

/// Fills the valid region of a row-major tile of the assembler's type.
pub(super) fn apply(call: &Call, a: &mut Asm, dst: &Tile, bits: u64) -> Done {
    let (rows, cols) = dst.valid();
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    let known = dst.rows == 1 || dst.full_cols_static();
    let taken = call.quirks.has(Quirk::Q1) && dst.static_cols;
    if known || rows == 1 || taken {
        fill(call, a, dst, bits, (1, rows * cols))
    } else {
        fill(call, a, dst, bits, (rows, cols))
    }
}

/// `n` contiguous elements from the start of each of the first `rows` rows.
fn fill(call: &Call, a: &mut Asm, dst: &Tile, bits: u64, (rows, n): (u64, u64)) -> Done {
    let t = a.t;
    let bytes = t.size() == 1;
    let odd = bytes && n % 2 == 1 && !call.quirks.has(Quirk::D12);
    if odd {
        a.v_to_s()?;
        (0..rows).try_for_each(|r| a.store(dst.row(r) + n - 1, bits))?;
        a.s_to_v()?;
    }
    let (count, value) = match bytes {
        true if odd => (n / 2, (bits & 0xFF) * 0x101),
        true => (n.div_ceil(2), (bits & 0xFF) * 0x101),
        false => (n, bits),
    };
    if count == 0 {
        return Ok(());
    }
    if bytes {
        a.t = DType::U16;
    }
    a.count(count)?;
    (0..rows).try_for_each(|r| a.dup(dst.row(r), value, 0, [1, 1], [8, 0]))?;
    a.t = t;
    a.end_count()
}
