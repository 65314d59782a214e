//! TTRANS: rows become columns.

use super::Tile;
use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::copy::Rows;
use super::meaning::Mem;
use super::quirks::Quirk;
use super::{Family, Layout};
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (src, dst) = (call.source(0), &call.dst);
    c.row_major("src", src)?;
    c.row_major("dst", dst)?;
    if (src.valid_rows, src.valid_cols) != (dst.valid_cols, dst.valid_rows) {
        let text = format!(
            "src is {}x{}, dst {}x{} (valid)",
            src.valid_rows, src.valid_cols, dst.valid_rows, dst.valid_cols
        );
        return refuse("legality.shape", text, "dst has the columns of src as its rows");
    }
    c.not_empty("src", src)?;
    c.disjoint(("dst", dst), ("src", src))?;
    if c.family == Family::A2A3 { c.scratch(call) } else { Ok(()) }
}

/// dst\[j, i\] = src\[i, j\].
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (rows, cols) = call.source(0).valid();
    for r in 0..rows {
        for c in 0..cols {
            let bits = mem.read(call.source(0), r, c)?;
            mem.write(&call.dst, c, r, bits)?;
        }
    }
    Ok(())
}

/// Rows transposed at a time.
fn height(t: DType) -> u64 {
    if t.size() == 1 { 32 } else { 16 }
}

/// Do rows of dst hold whole groups of source rows?
fn by_groups(call: &Call) -> bool {
    u64::from(call.dst.cols).is_multiple_of(height(call.dst.dtype))
        && call.source(0).layout == Layout::RowMajor
}

/// The least tmp, as one row: a line for every source column in whole blocks, of groups of source
/// rows.
pub(super) fn tmp(call: &Call) -> Option<(DType, u32, u32)> {
    let src = call.source(0);
    let rows = u64::from(src.valid_cols).next_multiple_of(src.per_block());
    let cols = u64::from(src.valid_rows).next_multiple_of(height(src.dtype));
    by_groups(call).then_some((src.dtype, 1, (rows * cols) as u32))
}

/// A2/A3 microcode: 16 rows at a time through tmp, or element by element.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    match call.tmp.as_ref().filter(|_| by_groups(call)) {
        Some(tmp) => grouped(call, a, tmp),
        None => scalar(call, a),
    }
}

pub(super) fn scalar(call: &Call, a: &mut Asm) -> Done {
    let (rows, cols) = call.source(0).valid();
    a.v_to_s()?;
    for r in 0..rows {
        for c in 0..cols {
            let bits = a.load(call.source(0).at(r, c))?;
            a.store(call.dst.at(c, r), bits)?;
        }
    }
    a.s_to_v()
}

fn grouped(call: &Call, a: &mut Asm, tmp: &Tile) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    let (size, y) = (src.size(), height(src.dtype));
    // tmp[c][r], rows of whole groups.
    let line = rows.next_multiple_of(y) * size;
    let t = a.t;
    a.t = [DType::U8, DType::U16, DType::U32][(size / 2).min(2) as usize];
    for i in 0..cols.div_ceil(src.per_block()) {
        let to = tmp.addr + i * src.per_block() * line;
        if rows >= y {
            group(a, src, (0, i), (to, line), rows / y)?;
        }
        if !rows.is_multiple_of(y) {
            let first = rows / y * y;
            group(a, src, (first, i), (to + first * size, line), 1)?;
        }
    }
    a.t = t;
    a.barrier()?;
    let shipped = call.quirks.has(Quirk::D14);
    let step = call.dst.row(1) - call.dst.addr;
    let bytes = rows * size;
    let whole = if shipped { bytes.div_ceil(32) } else { bytes / 32 };
    if whole > 0 {
        let gaps = [line / 32 - whole, step / 32 - whole];
        a.copy(call.dst.addr, tmp.addr, cols, whole, gaps)?;
    }
    let (dst, from, rest) = (call.dst.addr + 32 * whole, tmp.addr + 32 * whole, bytes % 32);
    if shipped || rest == 0 {
        return Ok(());
    }
    Rows { dst, src: from, rows: cols, bytes: rest, dst_step: step, src_step: line }.exact(a)
}

/// `n` groups of source rows from `first` on, block column `i`, into rows of tmp.
fn group(a: &mut Asm, src: &Tile, (first, i): (u64, u64), (to, line): (u64, u64), n: u64) -> Done {
    // Rows behind the last one take its place; their columns are left behind in tmp.
    let last = u64::from(src.valid_rows) - 1;
    let row = |k: u64| src.row((first + k).min(last)) + 32 * i;
    let step = u64::from(src.cols) * src.size() / 32;
    match src.size() {
        1 => {
            for (half, rows) in [(0, 0), (1, 16)] {
                rows_of(a, 2, |k| row(rows + k))?;
                for high in 0..2 {
                    rows_of(a, 0, |k| to + (16 * high + k) * line)?;
                    scatter(a, Op::scatter_vnchwconv_b8, n, [1, 32 * step], &[half, high])?;
                }
            }
            Ok(())
        }
        2 => {
            rows_of(a, 2, row)?;
            rows_of(a, 0, |k| to + k * line)?;
            scatter(a, Op::scatter_vnchwconv_b16, n, [1, 16 * step], &[])
        }
        _ => {
            rows_of(a, 2, row)?;
            // Two slots a row of 16 results.
            rows_of(a, 0, |k| to + k / 2 * line + k % 2 * 32)?;
            scatter(a, Op::scatter_vnchwconv_b32, n, [2, 16 * step], &[])
        }
    }
}

/// Addresses of 16 rows in two registers.
fn rows_of(a: &mut Asm, va: u64, row: impl Fn(u64) -> u64) -> Done {
    for half in 0..2 {
        let mut args = [0i64; 9];
        args[0] = (va + half) as i64;
        for (k, slot) in (0..8).zip(&mut args[1..]) {
            *slot = row(8 * half + k) as i64;
        }
        a.emit(Op::set_va_reg_sb, &args)?;
    }
    Ok(())
}

/// One repeat has no strides.
fn scatter(a: &mut Asm, op: Op, n: u64, strides: [u64; 2], halves: &[u64]) -> Done {
    let [d, s] = if n > 1 { strides } else { [0, 0] };
    let mut args = vec![0, 2, n as i64, d as i64, s as i64];
    args.extend(halves.iter().map(|h| *h as i64));
    a.emit(op, &args).map(drop)
}
