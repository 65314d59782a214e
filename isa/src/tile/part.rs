//! TPARTADD, TPARTMUL, TPARTMAX, TPARTMIN: two tiles of which one may be valid in part only.

use super::Tile;
use super::call::Call;
use super::check::{Checker, Verdict, extent, refuse};
use super::meaning::{Mem, combine};
use crate::machine::Stop;

type Done = Result<(), Stop>;

impl Call {
    /// The source valid wherever dst is, and the other one.
    pub(super) fn whole_and_part(&self) -> (&Tile, &Tile) {
        let (s0, s1) = (self.source(0), self.source(1));
        if s0.valid() == self.dst.valid() { (s0, s1) } else { (s1, s0) }
    }
}

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (dst, (whole, part)) = (&call.dst, call.whole_and_part());
    for (role, t) in call.tiles() {
        c.row_major(role, t)?;
    }
    let inside = part.valid_rows <= dst.valid_rows && part.valid_cols <= dst.valid_cols;
    if whole.valid() != dst.valid() || !inside {
        let text = format!(
            "src0 {}, src1 {}, dst {} (valid): neither source is valid wherever dst is",
            extent(call.source(0)),
            extent(call.source(1)),
            extent(dst)
        );
        let help = "give one source the valid region of dst, the other the same or a smaller one";
        return refuse("legality.no_full_operand", text, help);
    }
    c.not_empty("dst", dst)?;
    // Elements only one source has are copied while the other is still to be read.
    let equal = whole.valid() == part.valid();
    c.same_or_disjoint(("dst", dst), ("src", whole))?;
    match equal {
        true => c.same_or_disjoint(("dst", dst), ("src", part)),
        false => c.disjoint(("dst", dst), ("src", part)),
    }
}

/// dst = src0 op src1 where both are valid, else the one that is.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (op, t) = (call.op.operator, call.dst.dtype);
    let (whole, part) = call.whole_and_part();
    let (rows, cols) = call.dst.valid();
    let mut out = Vec::new();
    for r in 0..rows {
        for c in 0..cols {
            let x = mem.read(whole, r, c)?;
            let both = r < u64::from(part.valid_rows) && c < u64::from(part.valid_cols);
            out.push(if both { combine(op, t, x, mem.read(part, r, c)?) } else { x });
        }
    }
    mem.write_valid(&call.dst, &out)
}
