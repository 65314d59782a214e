//! TCOLEXPAND{ADD,SUB,MUL,DIV,MAX,MIN,EXPDIF}: a full tile against one row.

use super::Tile;
use super::call::Call;
use super::check::{Checker, Verdict, extent, refuse};
use super::meaning::{Mem, combine};
use crate::machine::Stop;

type Done = Result<(), Stop>;

impl Call {
    /// Is src1 the full operand, so that src0 is the row?
    pub(super) fn row_first(&self) -> bool {
        self.source(0).valid() != self.dst.valid()
    }

    /// The full tile and the row.
    pub(super) fn full_and_row(&self) -> (&Tile, &Tile) {
        let (s0, s1) = (self.source(0), self.source(1));
        if self.row_first() { (s1, s0) } else { (s0, s1) }
    }
}

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let dst = &call.dst;
    for (role, t) in call.tiles() {
        c.row_major(role, t)?;
    }
    c.not_empty("dst", dst)?;
    let (full, row) = call.full_and_row();
    if full.valid() != dst.valid() {
        let text = format!(
            "no source has the valid shape of dst: src0 {}, src1 {}, dst {} (valid)",
            extent(call.source(0)),
            extent(call.source(1)),
            extent(dst)
        );
        return refuse("legality.no_full_operand", text, "give one source the valid region of dst");
    }
    let names = if call.row_first() { ["src1", "src0"] } else { ["src0", "src1"] };
    if row.valid_cols != dst.valid_cols {
        return c.col_mismatch(names[1], row, dst);
    }
    c.not_empty(names[1], row)?;
    c.same_or_disjoint(("dst", dst), (names[0], full))?;
    c.disjoint(("dst", dst), (names[1], row))
}

/// dst\[i, j\] = src0 op src1, the row repeated: the order of the operands is kept.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (op, t) = (call.op.operator, call.dst.dtype);
    let (full, row) = call.full_and_row();
    let (rows, cols) = call.dst.valid();
    let mut out = Vec::new();
    for r in 0..rows {
        for c in 0..cols {
            let (x, y) = (mem.read(full, r, c)?, mem.read(row, 0, c)?);
            out.push(match call.row_first() {
                true => combine(op, t, y, x),
                false => combine(op, t, x, y),
            });
        }
    }
    mem.write_valid(&call.dst, &out)
}
