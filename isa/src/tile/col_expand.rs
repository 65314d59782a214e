//! TCOLEXPAND: row 0 of the source, over all rows.

use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict};
use super::copy::Rows;
use super::meaning::Mem;
use super::quirks::Quirk;
use crate::machine::Stop;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (dst, src) = (&call.dst, call.source(0));
    c.row_major("dst", dst)?;
    c.row_major("src", src)?;
    c.not_empty("src", src)?;
    if src.valid_cols < dst.valid_cols {
        return c.col_mismatch("src", src, dst);
    }
    c.same_or_disjoint(("dst", dst), ("src", src))
}

/// dst\[i, j\] = src\[0, j\].
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (rows, cols) = call.dst.valid();
    let row = (0..cols).map(|c| mem.read(call.source(0), 0, c)).collect::<Result<Vec<_>, _>>()?;
    for r in 0..rows {
        for (c, bits) in (0..).zip(&row) {
            mem.write(&call.dst, r, c, *bits)?;
        }
    }
    Ok(())
}

/// A2/A3 microcode: a copy a row; shipped code copies whole blocks.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (dst, src) = (&call.dst, call.source(0));
    let (rows, cols) = dst.valid();
    // The row a tile already has in its own place stays.
    let first = u64::from(src.addr == dst.addr);
    if cols == 0 || rows <= first {
        return Ok(());
    }
    let copies = Rows {
        dst: dst.row(first),
        src: src.addr,
        rows: rows - first,
        bytes: cols * dst.size(),
        dst_step: dst.row(1) - dst.addr,
        src_step: 0,
    };
    if call.quirks.has(Quirk::D14) { copies.blocks(a) } else { copies.exact(a) }
}
