//! TCOLMAX, TCOLMIN, TCOLPROD, TCOLSUM: one value per column.

use super::Tile;
use super::asm::Asm;
use super::call::Call;
use super::check::Checker;
use super::copy::Rows;
use super::meaning::{self, Mem};
use super::op::Operator;
use super::quirks::Quirk;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::diag::Diagnostic;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Result<(), Box<Diagnostic>> {
    c.col_reduce(call)
}

/// dst\[0, j\] = the fold of column j.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    meaning::col_fold(call, mem)
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (rows, cols) = call.source(0).valid();
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    match (call.op.operator, &call.tmp) {
        (Operator::Add, Some(tmp)) if call.attrs.binary && rows > 1 => pairs(call, a, tmp),
        (Operator::Add, _) => sum(call, a),
        _ => fold(call, a),
    }
}

/// Copies one row into dst; shipped microcode copies whole blocks.
fn copy_row(call: &Call, a: &mut Asm, from: u64) -> Done {
    let bytes = u64::from(call.source(0).valid_cols) * call.dst.size();
    let row = Rows { dst: call.dst.addr, src: from, rows: 1, bytes, dst_step: 0, src_step: 0 };
    if call.quirks.has(Quirk::D14) {
        row.blocks(a)?
    } else {
        row.exact(a)?
    }
    a.barrier()
}

/// Row after row into dst: whole repeats in counter mode, then the rest under a mask.
fn fold(call: &Call, a: &mut Asm) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    let op = call.op.operator.vec2();
    copy_row(call, a, src.addr)?;
    if rows == 1 {
        return Ok(());
    }
    let whole = cols / a.e() * a.e();
    let each = |a: &mut Asm, off: u64, repeat: u64| {
        (1..rows).try_for_each(|r| {
            let d = call.dst.addr + off;
            a.vec2(op, [d, d, src.row(r) + off], repeat, [1; 3], [8; 3])?;
            a.barrier()
        })
    };
    if whole > 0 {
        a.count(whole)?;
        each(a, 0, 0)?;
        a.end_count()?;
    }
    if cols > whole {
        a.lanes(cols - whole)?;
        each(a, whole * src.size(), 1)?;
        a.full()?;
    }
    a.barrier()
}

/// Row after row into dst, in counter mode.
fn sum(call: &Call, a: &mut Asm) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    copy_row(call, a, src.addr)?;
    a.count(cols)?;
    for r in 1..rows {
        add(a, call.dst.addr, call.dst.addr, src.row(r))?;
        a.barrier()?;
    }
    a.end_count()
}

fn add(a: &mut Asm, dst: u64, x: u64, y: u64) -> Done {
    a.vec2(Op::vadd, [dst, x, y], 0, [1; 3], [8; 3])
}

/// Pairs of rows into tmp, then pairs of its rows, down to one.
fn pairs(call: &Call, a: &mut Asm, tmp: &Tile) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    a.count(cols)?;
    let mut from = src;
    let mut left = rows;
    while left > 1 {
        for i in 0..left / 2 {
            add(a, tmp.row(i), from.row(2 * i), from.row(2 * i + 1))?;
        }
        a.barrier()?;
        if left % 2 == 1 {
            add(a, tmp.addr, tmp.addr, from.row(left - 1))?;
            a.barrier()?;
        }
        (from, left) = (tmp, left / 2);
    }
    a.end_count()?;
    copy_row(call, a, tmp.addr)
}
