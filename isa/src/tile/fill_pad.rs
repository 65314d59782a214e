//! TFILLPAD, TFILLPAD_INPLACE, TFILLPAD_EXPAND: the valid region of the source, the rest padded.

use super::Tile;
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::Mem;
use super::quirks::Quirk;
use super::transfer::pad_value;
use crate::machine::Stop;

type Done = Result<(), Stop>;

impl Call {
    /// Does the fill work on the tile it reads?
    pub(super) fn in_place(&self) -> bool {
        self.op.name == "tfillpad_inplace"
    }
}

/// Bits a tile is padded with; 0 where it asks for nothing [D: PTO].
pub(super) fn pad_bits(t: &Tile) -> u64 {
    pad_value(t).unwrap_or(0)
}

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (src, dst) = (call.source(0), &call.dst);
    c.row_major("src", src)?;
    c.row_major("dst", dst)?;
    let expands = call.op.name == "tfillpad_expand";
    let (small, same) = (
        src.rows <= dst.rows && src.cols <= dst.cols,
        (src.rows, src.cols) == (dst.rows, dst.cols),
    );
    if !(same || expands && small) {
        let text = format!(
            "src `{}` is {}x{}, dst `{}` {}x{}",
            src.name, src.rows, src.cols, dst.name, dst.rows, dst.cols
        );
        let help =
            if expands { "make dst no smaller" } else { "use tfillpad_expand for a larger dst" };
        return refuse("legality.shape", text, help);
    }
    if call.in_place() && src.addr != dst.addr {
        let text = format!("src `{}` and dst `{}` are two tiles", src.name, dst.name);
        return refuse("legality.overlap", text, "use tfillpad for two tiles");
    }
    if dst.valid_rows < src.valid_rows {
        let verdict = c.row_mismatch("src", src, dst);
        c.unless(Quirk::R11, verdict)?;
    }
    c.same_or_disjoint(("dst", dst), ("src", src))
}

/// dst = src where src is valid, else the padding: all columns of the tile, its valid rows.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let ((rows, cols), pad) = (src.valid(), pad_bits(dst));
    let mut out = Vec::new();
    for r in 0..u64::from(dst.valid_rows) {
        for c in 0..u64::from(dst.cols) {
            out.push(if r < rows && c < cols { mem.read(src, r, c)? } else { pad });
        }
    }
    for (i, bits) in (0u64..).zip(out) {
        let width = u64::from(dst.cols).max(1);
        mem.write(dst, i / width, i % width, bits)?;
    }
    Ok(())
}
