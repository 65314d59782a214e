//! TCOLEXPAND{ADD,SUB,MUL,DIV,MAX,MIN,EXPDIF}: a full tile against one row.

use super::Tile;
use super::asm::{Asm, MAX_REPEAT, MAX_STRIDE, rounds};
use super::call::Call;
use super::check::{Checker, Verdict, extent, refuse};
use super::meaning::{Mem, combine};
use super::op::Operator;
use super::quirks::Quirk;
use crate::machine::Stop;
use crate::table::Op;

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

/// A2/A3 microcode: the row has repeat stride 0; row by row in counter mode for tiles whose valid
/// columns are not all of a static width.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let dst = &call.dst;
    let (full, _) = call.full_and_row();
    let (rows, cols) = dst.valid();
    let e = a.e();
    let rep = [dst, full].map(Tile::stride_blocks);
    let wide = rep.iter().any(|s| *s > MAX_STRIDE) && !call.quirks.has(Quirk::Q14);
    if !(dst.full_cols_static() || dst.rows == 1) || wide {
        a.count(cols)?;
        (0..rows).try_for_each(|r| step(call, a, (r, 0), 0, [8; 2]))?;
        return a.end_count();
    }
    let narrow = [dst, full].iter().all(|t| u64::from(t.cols) < e);
    if narrow {
        return strip(call, a, cols, 0, rep);
    }
    (0..cols / e).try_for_each(|i| rows_of(call, a, 256 * i, rep))?;
    strip(call, a, cols % e, cols / e * 256, rep)
}

/// The first `lanes` columns from byte `off` on.
fn strip(call: &Call, a: &mut Asm, lanes: u64, off: u64, rep: [u64; 2]) -> Done {
    if lanes == 0 {
        return Ok(());
    }
    a.lanes(lanes)?;
    rows_of(call, a, off, rep)?;
    a.full()
}

/// One repeat a row; shipped code keeps 8 bits of their number and of the strides.
fn rows_of(call: &Call, a: &mut Asm, off: u64, rep: [u64; 2]) -> Done {
    let rows = u64::from(call.dst.valid_rows);
    if call.quirks.has(Quirk::Q14) {
        return step(call, a, (0, off), rows % 256, rep.map(|s| s % 256));
    }
    rounds(rows, MAX_REPEAT, |r, n| step(call, a, (r, off), n, rep))
}

fn step(call: &Call, a: &mut Asm, (r, off): (u64, u64), repeat: u64, [dr, fr]: [u64; 2]) -> Done {
    let (full, row) = call.full_and_row();
    let counted = [dr, fr] == [8; 2] && repeat == 0;
    let once = if counted { 8 } else { 0 };
    let (d, x, y) = (call.dst.row(r) + off, full.row(r) + off, row.addr + off);
    let (at, rep) = match call.row_first() {
        true => ([d, y, x], [dr, once, fr]),
        false => ([d, x, y], [dr, fr, once]),
    };
    a.vec2(call.op.operator.vec2(), at, repeat, [1; 3], rep)?;
    if call.op.operator == Operator::ExpDif {
        a.barrier()?;
        a.vec1(Op::vexp, d, d, repeat, [dr, dr])?;
    }
    Ok(())
}
