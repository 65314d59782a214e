//! TROWARGMAX, TROWARGMIN, TCOLARGMAX, TCOLARGMIN: where the largest or smallest element is.

use super::asm::{Asm, MAX_REPEAT, rounds};
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::compare::order;
use super::meaning::{Mem, is_nan};
use super::op::Operator;
use super::{Family, Layout, Tile};
use crate::machine::Stop;
use crate::table::{Op, Order};
use ptoemu_core::dtype::DType::{self, I16, I32, U32};
use std::cmp::Ordering;

type Done = Result<(), Stop>;

/// Columns a 16-bit index of the row forms reaches.
const MAX_COLS_16: u32 = 1 << 16;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (src, dst) = (call.source(0), &call.dst);
    c.row_major("src", src)?;
    c.not_empty("src", src)?;
    index_type(call)?;
    if call.op.reduces_rows() {
        if dst.layout == Layout::ColMajor && dst.cols != 1 {
            let text = format!("column-major dst `{}` has {} columns", dst.name, dst.cols);
            return refuse("legality.layout", text, "use row_major, or col_major with one column");
        }
        if src.valid_rows != dst.valid_rows {
            return c.row_mismatch("src", src, dst);
        }
        if src.size() == 2 && src.valid_cols > MAX_COLS_16 {
            let text =
                format!("{} columns; indices of 16-bit elements have 16 bits", src.valid_cols);
            return refuse("legality.index_range", text, "split the rows");
        }
    } else {
        c.row_major("dst", dst)?;
        if src.valid_cols != dst.valid_cols {
            return c.col_mismatch("src", src, dst);
        }
        c.not_empty("dst", dst)?;
    }
    c.disjoint(("dst", dst), ("src", src))?;
    if c.family == Family::A5 {
        return Ok(());
    }
    if dst.size() == 2 {
        let text = format!("dst `{}` of {} takes no index on A2/A3", dst.name, dst.dtype);
        return refuse("legality.type_mismatch", text, "use a dst of u32 or i32");
    }
    let (most, e) = (two_stages(src), 256 / src.size());
    if call.op.reduces_rows() && u64::from(src.valid_cols) > most {
        let text = format!(
            "{} columns: more than {e} repeats, which take a third stage that is not emulated",
            src.valid_cols
        );
        return refuse("unsupported", text, "split the rows");
    }
    if call.op.reduces_cols() && src.size() == 2 && src.valid_rows > 1 << 15 {
        let text = format!("{} rows; 16-bit counters reach {}", src.valid_rows, (1 << 15) - 1);
        return refuse("legality.index_range", text, "split the columns");
    }
    c.scratch(call)
}

/// Columns two stages of reductions reach: a repeat of repeats.
fn two_stages(src: &Tile) -> u64 {
    let e = 256 / src.size();
    e * e
}

/// Indices are 32-bit integers, or 16-bit ones beside 16-bit elements of a row.
fn index_type(call: &Call) -> Verdict {
    let (t, dst) = (call.source(0).dtype, &call.dst);
    let narrow = call.op.reduces_rows() && t.size() == 2 && dst.dtype.size() == 2;
    if !dst.dtype.is_float() && (dst.dtype.size() == 4 || narrow) {
        return Ok(());
    }
    let text = format!("dst `{}` of {} takes no index of {t} elements", dst.name, dst.dtype);
    refuse("legality.type_mismatch", text, "use a dst of u32 or i32")
}

/// dst\[i, 0\] or dst\[0, j\] = number of the best element of row i or column j.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    let want = best_order(call);
    let by_rows = call.op.reduces_rows();
    let (lines, length) = if by_rows { (rows, cols) } else { (cols, rows) };
    for line in 0..lines {
        let at = |i: u64| if by_rows { (line, i) } else { (i, line) };
        let values = (0..length).map(|i| read(mem, src, at(i))).collect::<Result<Vec<_>, _>>()?;
        // Reductions order zeros, comparisons do not.
        let zeros = by_rows && call.family == Family::A2A3;
        let index = first_best(src.dtype, &values, want, zeros);
        let (r, c) = if by_rows { (line, 0) } else { (0, line) };
        mem.write(&call.dst, r, c, index as u64)?;
    }
    Ok(())
}

fn read(mem: &mut Mem, t: &Tile, (r, c): (u64, u64)) -> Result<u64, Stop> {
    mem.read(t, r, c)
}

/// The order in which a better element stands to a worse one.
pub(super) fn best_order(call: &Call) -> Ordering {
    if call.op.operator == Operator::ArgMin { Ordering::Less } else { Ordering::Greater }
}

/// Ties go to the first, NaN beats everything; zeros of either sign tie unless they are ordered.
fn first_best(t: DType, values: &[u64], want: Ordering, zeros: bool) -> usize {
    if let Some(nan) = values.iter().position(|v| is_nan(t, *v)) {
        return nan;
    }
    let mut best = 0;
    for (i, v) in values.iter().enumerate() {
        let beats = |b: &u64| match order(t, *v, *b) {
            // Equal floats of other bits are zeros of either sign.
            Some(Ordering::Equal) if zeros && v != b => (*v == 0) == (want == Ordering::Greater),
            o => o == Some(want),
        };
        if values.get(best).is_some_and(beats) {
            best = i;
        }
    }
    best
}

/// Elements of a block-aligned run of `n` elements.
fn whole(t: &Tile, n: u64) -> u64 {
    n.next_multiple_of(t.per_block())
}

/// The least tmp on A2/A3: type, rows, columns. Row forms keep pairs and values of every row; column
/// forms a counter, the best row, an index and a spare, each of a repeat.
pub(super) fn tmp(call: &Call, src: &Tile) -> Option<(DType, u32, u32)> {
    let (e, cols) = (256 / src.size(), u64::from(src.valid_cols));
    if call.op.reduces_cols() {
        let repeats = if src.size() == 2 { 6 } else { 3 };
        return Some((src.dtype, 1, (repeats * e) as u32));
    }
    if cols <= e {
        return None;
    }
    let n = cols.div_ceil(e);
    // The second stage writes a pair over the values.
    let width = whole(src, 2 * n) + whole(src, n.max(2));
    Some((src.dtype, src.valid_rows, width as u32))
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    a.t = call.source(0).dtype;
    match (&call.tmp, call.op.reduces_cols()) {
        (Some(tmp), true) => columns(call, a, tmp),
        (Some(tmp), false) if u64::from(call.source(0).valid_cols) > a.e() => rows(call, a, tmp),
        _ => short_rows(call, a),
    }
}

fn extreme(call: &Call) -> Op {
    if call.op.operator == Operator::ArgMin { Op::vcmin } else { Op::vcmax }
}

/// Issues a whole-repeat reduction: step of dst, source stride in blocks, what is written.
fn reduce(
    call: &Call,
    a: &mut Asm,
    at: [u64; 2],
    repeat: u64,
    [step, stride]: [u64; 2],
    order: Order,
) -> Done {
    let args = [at[0], at[1], repeat, step, 1, stride, order as u64].map(|x| x as i64);
    a.emit(extreme(call), &args).map(drop)
}

/// At most one repeat a row: the index straight to dst.
fn short_rows(call: &Call, a: &mut Asm) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let (rows, cols) = src.valid();
    let steps = [u64::from(dst.row_stride()), src.stride_blocks()];
    if cols == a.e() {
        a.count(rows * a.e())?;
        reduce(call, a, [dst.addr, src.addr], 0, steps, Order::OnlyIndex)?;
        a.barrier()?;
        return a.end_count();
    }
    a.lanes(cols)?;
    rounds(rows, MAX_REPEAT, |r, n| {
        reduce(call, a, [dst.row(r), src.row(r)], n, steps, Order::OnlyIndex)?;
        a.barrier()
    })?;
    a.full()
}

/// Several repeats a row: pairs of value and index of every repeat, then the best of the values.
fn rows(call: &Call, a: &mut Asm, tmp: &Tile) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    let n = cols.div_ceil(a.e());
    let values = |r: u64| tmp.row(r) + whole(src, 2 * n) * src.size();
    a.counter()?;
    for r in 0..rows {
        let pairs = tmp.row(r);
        a.mask(0, cols)?;
        reduce(call, a, [pairs, src.row(r)], 0, [1, 8], Order::ValueIndex)?;
        a.barrier()?;
        a.mask(0, 2 * n)?;
        compact(a, values(r), pairs, 1)?;
        compact(a, pairs, pairs, 2)?;
        a.mask(0, n)?;
        reduce(call, a, [values(r), values(r)], 0, [1, 8], Order::ValueIndex)?;
        a.barrier()?;
    }
    a.end_count()?;
    a.v_to_s()?;
    let (t, bytes) = (a.t, src.size());
    for r in 0..rows {
        a.t = if bytes == 2 { DType::U16 } else { U32 };
        let repeat = a.load(values(r) + bytes)?;
        let lane = a.load(tmp.row(r) + repeat * bytes)?;
        a.t = U32;
        a.store(call.dst.at(r, 0), repeat * (256 / bytes) + lane)?;
    }
    a.t = t;
    a.s_to_v()
}

/// Every other element of a row of pairs; MASK holds their number.
fn compact(a: &mut Asm, dst: u64, src: u64, mode: i64) -> Done {
    let t = a.t;
    a.t = if t.size() == 2 { DType::U16 } else { U32 };
    a.emit(Op::vreducev2, &[dst as i64, src as i64, src as i64, 1, 1, mode, 0, 0])?;
    a.t = t;
    a.barrier()
}

/// A repeat of columns at a time: a counter of rows, the best row so far and its number.
fn columns(call: &Call, a: &mut Asm, tmp: &Tile) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    let e = a.e();
    for first in (0..cols).step_by(e as usize) {
        let n = e.min(cols - first);
        a.count(n)?;
        strip(call, a, tmp, (first, rows))?;
        if src.size() == 2 {
            widen(a, tmp, call.dst.at(0, first))?;
        }
        a.end_count()?;
    }
    Ok(())
}

/// Addresses of the parts of tmp for columns.
fn parts(tmp: &Tile) -> [u64; 4] {
    [0, 1, 2, 3].map(|k| tmp.addr + 256 * k)
}

fn strip(call: &Call, a: &mut Asm, tmp: &Tile, (first, rows): (u64, u64)) -> Done {
    let (src, t) = (call.source(0), a.t);
    let [counter, best, spare, narrow] = parts(tmp);
    let index = if src.size() == 2 { narrow } else { call.dst.at(0, first) };
    let (ints, bits) = if src.size() == 2 { (I16, DType::U16) } else { (I32, U32) };
    a.t = ints;
    a.dup(counter, 0, 0, [1, 1], [8, 0])?;
    a.dup(index, 0, 0, [1, 1], [8, 0])?;
    a.t = bits;
    // The count is per repeat here.
    a.vec1(Op::vcopy, best, src.at(0, first), 1, [8, 8])?;
    a.barrier()?;
    let (better, keep) = match call.op.operator {
        Operator::ArgMin => (Op::vmin, Op::vcmp_le),
        _ => (Op::vmax, Op::vcmp_ge),
    };
    for r in 1..rows {
        let row = src.at(r, first);
        a.t = ints;
        a.vecs(Op::vadds, [counter, counter], 1, 0, [8, 8])?;
        a.t = t;
        compare(a, keep, best, row)?;
        select(a, [spare, index, counter])?;
        // Once it is NaN, the best stays.
        compare(a, Op::vcmp_eq, best, best)?;
        select(a, [index, spare, index])?;
        a.vec2(better, [best, best, row], 0, [1; 3], [8; 3])?;
        a.barrier()?;
    }
    Ok(())
}

/// CMPMASK = x ? y.
fn compare(a: &mut Asm, op: Op, x: u64, y: u64) -> Done {
    a.emit(op, &[x as i64, y as i64, 1, 1, 1, 1, 8, 8, 8])?;
    a.barrier()
}

/// d = bit of CMPMASK ? x : y.
fn select(a: &mut Asm, at: [u64; 3]) -> Done {
    let [d, x, y] = at.map(|v| v as i64);
    a.emit(Op::vsel, &[d, x, y, 1, 1, 1, 1, 8, 8, 8, 0])?;
    a.barrier()
}

/// 16-bit indices to 32-bit ones, through f32: exact.
fn widen(a: &mut Asm, tmp: &Tile, dst: u64) -> Done {
    let [_, _, _, narrow] = parts(tmp);
    let floats = narrow + 256;
    a.convert(Op::vconv_s162f32, (DType::F32, I16), [floats, narrow], 0, [8, 4])?;
    a.barrier()?;
    a.convert(Op::vconv_f322s32z, (I32, DType::F32), [dst, floats], 0, [8, 8])?;
    a.barrier()
}
