//! TCI: numbers that count up or down; TTRI: a triangle of ones.

use super::Tile;
use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::{Mem, cut, int_of, one};
use super::op::Operator;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType::{self, F16, F32, I16, I32};

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let dst = &call.dst;
    c.row_major("dst", dst)?;
    c.not_empty("dst", dst)?;
    if call.op.operator == Operator::Iota && dst.valid_rows != 1 {
        let text = format!("dst `{}` has {} valid rows", dst.name, dst.valid_rows);
        return refuse("legality.row_mismatch", text, "tci fills one row");
    }
    if call.tmp.is_some() { c.scratch(call) } else { Ok(()) }
}

/// dst\[0, j\] = start +- j; dst\[i, j\] = 1 where j <= i + diagonal, or j >= i + diagonal.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let t = call.dst.dtype;
    let (rows, cols) = call.dst.valid();
    for r in 0..rows {
        for c in 0..cols {
            let bits = match call.op.operator {
                Operator::Iota => nth(call, c),
                _ if inside(call, r as i64, c as i64) => one(t),
                _ => 0,
            };
            mem.write(&call.dst, r, c, bits)?;
        }
    }
    Ok(())
}

pub(super) fn nth(call: &Call, n: u64) -> u64 {
    let start = call.scalar_bits();
    let v = if call.attrs.down { start.wrapping_sub(n) } else { start.wrapping_add(n) };
    cut(call.dst.dtype, v)
}

/// The diagonal of a triangle.
fn diagonal(call: &Call) -> i64 {
    int_of(I32, call.scalar_bits())
}

/// Columns of row `r` before the edge, however many the row has.
pub(super) fn edge(call: &Call, r: u64) -> u64 {
    let edge = r as i64 + diagonal(call) + i64::from(!call.attrs.upper);
    u64::try_from(edge).unwrap_or(0)
}

/// What stands before the edge and behind it.
pub(super) fn sides(call: &Call) -> [u64; 2] {
    let one = one(call.dst.dtype);
    if call.attrs.upper { [0, one] } else { [one, 0] }
}

fn inside(call: &Call, r: i64, c: i64) -> bool {
    let edge = r + diagonal(call);
    if call.attrs.upper { c >= edge } else { c <= edge }
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    match (call.op.operator, &call.tmp) {
        (Operator::Iota, Some(tmp)) => counted(call, a, tmp),
        (Operator::Iota, None) => stored(call, a),
        _ => triangle(call, a),
    }
}

/// Scalar stores, element by element.
pub(super) fn stored(call: &Call, a: &mut Asm) -> Done {
    a.v_to_s()?;
    (0..u64::from(call.dst.valid_cols))
        .try_for_each(|n| a.store(call.dst.at(0, n), nth(call, n)))?;
    a.s_to_v()
}

/// Bytes of the scratch tile of the vector form [D: PTO TCI].
pub(super) fn tmp(call: &Call) -> (DType, u32, u32) {
    match call.dst.size() {
        2 => (call.dst.dtype, 1, 896),
        _ => (call.dst.dtype, 1, 192),
    }
}

/// The numbers of one repeat from sums of blocks, then the start of every repeat added.
fn counted(call: &Call, a: &mut Asm, tmp: &Tile) -> Done {
    let (dst, ints) = (&call.dst, if call.dst.size() == 2 { I16 } else { I32 });
    let (e, cols) = (256 / dst.size(), u64::from(dst.valid_cols));
    let base = repeat_of_numbers(a, tmp, ints, call.attrs.down)?;
    a.t = ints;
    for first in (0..cols).step_by(e as usize) {
        let n = e.min(cols - first);
        if n < e {
            a.lanes(n)?;
        }
        a.vecs(Op::vadds, [dst.at(0, first), base], nth(call, first), 1, [8, 8])?;
        if n < e {
            a.full()?;
        }
    }
    Ok(())
}

/// 0, 1, 2, .. of one repeat, negated if they count down; where they lie.
fn repeat_of_numbers(a: &mut Asm, tmp: &Tile, ints: DType, down: bool) -> Result<u64, Stop> {
    let (floats, per_block) = if ints == I16 { (F16, 16u64) } else { (F32, 8) };
    let number = |v: f64| super::meaning::from_f64(floats, v);
    let repeats = per_block / 8;
    let (blocks, ramp) = (tmp.addr, tmp.addr + 256 * repeats);
    let (starts, base) = (ramp + 32, ramp + 64);
    a.t = floats;
    a.lanes(per_block)?;
    for k in 0..per_block {
        let share = number(k as f64 / per_block as f64);
        a.dup(blocks + 32 * k, share, 1, [1, 1], [8, 0])?;
    }
    a.full()?;
    a.barrier()?;
    // The sum of a block is its number.
    a.group(Op::vcgadd, ramp, blocks, repeats)?;
    a.barrier()?;
    a.lanes(per_block)?;
    a.vecs(Op::vmuls, [starts, ramp], number(per_block as f64), 1, [8, 8])?;
    a.full()?;
    a.barrier()?;
    a.brcb(blocks, starts, 1)?;
    a.barrier()?;
    a.vec2(Op::vadd, [blocks, blocks, ramp], 1, [1, 1, 0], [8, 8, 0])?;
    a.barrier()?;
    if down {
        a.vecs(Op::vmuls, [blocks, blocks], number(-1.0), 1, [8, 8])?;
        a.barrier()?;
    }
    let op = if ints == I16 { Op::vconv_f162s16r } else { Op::vconv_f322s32r };
    a.convert(op, (ints, floats), [base, blocks], 1, [8, 8])?;
    a.barrier()?;
    Ok(base)
}

/// Row by row in counter mode: the outside over the whole row, then the inside up to the edge.
fn triangle(call: &Call, a: &mut Asm) -> Done {
    let (rows, cols) = call.dst.valid();
    let [before, behind] = sides(call);
    a.counter()?;
    for r in 0..rows {
        a.mask(0, cols)?;
        a.dup(call.dst.row(r), behind, 0, [1, 1], [8, 0])?;
        a.barrier()?;
        let edge = edge(call, r);
        if edge > 0 {
            a.mask(0, cols.min(edge))?;
            a.dup(call.dst.row(r), before, 0, [1, 1], [8, 0])?;
            a.barrier()?;
        }
    }
    a.end_count()
}
