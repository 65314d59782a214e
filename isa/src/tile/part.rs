//! TPARTADD, TPARTMUL, TPARTMAX, TPARTMIN: two tiles of which one may be valid in part only.

use super::Tile;
use super::asm::{Asm, MAX_REPEAT, MAX_STRIDE, rounds};
use super::call::Call;
use super::check::{Checker, Verdict, extent, refuse};
use super::copy::Rows;
use super::meaning::{Mem, combine};
use super::quirks::Quirk;
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

/// A2/A3 microcode: the operation where both are valid, a copy of the rest.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (dst, (whole, part)) = (&call.dst, call.whole_and_part());
    let (rows, cols) = part.valid();
    if part.valid_cols == dst.valid_cols {
        if rows > 0 {
            both(call, a, [dst, whole, part], (rows, cols))?;
        }
        return copy(call, a, whole, rows);
    }
    copy(call, a, whole, 0)?;
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    a.barrier()?;
    both(call, a, [dst, part, dst], (rows, cols))
}

/// Copies the rows from `first` on.
fn copy(call: &Call, a: &mut Asm, from: &Tile, first: u64) -> Done {
    let dst = &call.dst;
    let (rows, cols) = dst.valid();
    if first == rows || from.addr == dst.addr {
        return Ok(());
    }
    let shipped = call.quirks.has(Quirk::D14);
    let part = Rows {
        dst: dst.row(first),
        src: from.row(first),
        rows: rows - first,
        bytes: cols * dst.size(),
        dst_step: dst.row(1) - dst.addr,
        src_step: from.row(1) - from.addr,
    };
    if !shipped {
        return part.exact(a);
    }
    if dst.cols != from.cols {
        return part.blocks(a);
    }
    let bytes = part.rows * u64::from(dst.cols) * dst.size();
    Rows { rows: 1, bytes, ..part }.blocks(a)
}

/// The operation on the region of the smaller source.
fn both(call: &Call, a: &mut Asm, at: [&Tile; 3], (rows, cols): (u64, u64)) -> Done {
    let (op, e) = (call.op.operator.vec2(), a.e());
    let rep = at.map(Tile::stride_blocks);
    let line = |r: u64, off: u64| at.map(|t| t.row(r) + off);
    if rep.iter().any(|s| *s > MAX_STRIDE) || rows < cols.div_ceil(e) * rows.div_ceil(MAX_REPEAT) {
        a.count(cols)?;
        (0..rows).try_for_each(|r| a.vec2(op, line(r, 0), 0, [1; 3], [8; 3]))?;
        return a.end_count();
    }
    let strip = |a: &mut Asm, off: u64| {
        rounds(rows, MAX_REPEAT, |r, n| a.vec2(op, line(r, off), n, [1; 3], rep))
    };
    (0..cols / e).try_for_each(|i| strip(a, 256 * i))?;
    if !cols.is_multiple_of(e) {
        a.lanes(cols % e)?;
        strip(a, cols / e * 256)?;
        a.full()?;
    }
    Ok(())
}
