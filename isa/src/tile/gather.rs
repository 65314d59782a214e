//! TGATHER, TGATHERB, TSCATTER: elements and blocks by index.

use super::Family;
use super::Tile;
use super::asm::{Asm, rounds};
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::{Mem, bits_of, int_of};
use super::op::Operator;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType::{self, I32, U32};

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (src, dst) = (call.source(0), &call.dst);
    for (role, t) in call.tiles().filter(|(role, _)| *role != "tmp") {
        c.row_major(role, t)?;
        if role != "dst" {
            c.disjoint(("dst", dst), (role, t))?;
        }
    }
    if src.dtype != dst.dtype {
        let text = format!("element types differ: dst is {}, src is {}", dst.dtype, src.dtype);
        return refuse("legality.type_mismatch", text, "give dst the type of src");
    }
    c.not_empty("dst", dst)?;
    match call.op.operator {
        Operator::Pattern => pattern(call, c),
        Operator::GatherB => blocks(call, c),
        Operator::Scatter => indices(call, c, src),
        _ => {
            indices(call, c, dst)?;
            if c.family == Family::A2A3 { c.scratch(call) } else { Ok(()) }
        }
    }
}

/// Indices: integers, one for every valid element of `of`.
fn indices(call: &Call, c: &Checker, of: &Tile) -> Verdict {
    let idx = call.source(1);
    let wide = call.op.operator != Operator::Scatter;
    let size = idx.dtype.size();
    if idx.dtype.is_float() || size != 4 && (wide || size != 2) {
        let text = format!("idx `{}` holds {}", idx.name, idx.dtype);
        return refuse("legality.type_mismatch", text, "indices are 32-bit integers");
    }
    c.same_valid("idx", idx, of)
}

/// Elements a pattern of four bits keeps of `n`.
fn kept(mask: u8, n: u64) -> u64 {
    (0..n).filter(|i| mask >> (i % 4) & 1 == 1).count() as u64
}

fn pattern(call: &Call, c: &Checker) -> Verdict {
    let (src, dst, mask) = (call.source(0), &call.dst, call.attrs.pattern);
    if mode(mask).is_none() {
        let text = format!("no instruction keeps pattern P{mask:04b}");
        let help = "one of P0101 P1010 P0001 P0010 P0100 P1000 P1111";
        return refuse("legality.pattern", text, help);
    }
    if src.valid_rows != dst.valid_rows {
        return c.row_mismatch("src", src, dst);
    }
    let n = kept(mask, src.valid_cols.into());
    // The kept elements of all rows lie side by side.
    let dense = dst.valid_rows == 1 || n == u64::from(dst.cols);
    if u64::from(dst.valid_cols) == n && dense {
        return Ok(());
    }
    let text = format!(
        "P{mask:04b} keeps {n} of {} columns; dst `{}` has {} of {}",
        src.valid_cols, dst.name, dst.valid_cols, dst.cols
    );
    refuse("legality.col_mismatch", text, "give dst as many columns as are kept")
}

fn blocks(call: &Call, c: &Checker) -> Verdict {
    let (dst, off) = (&call.dst, call.source(1));
    let per_row = u64::from(dst.valid_cols) / dst.per_block();
    if off.dtype.is_float() || off.dtype.size() != 4 {
        let text = format!("offset `{}` holds {}", off.name, off.dtype);
        return refuse("legality.type_mismatch", text, "offsets are 32-bit integers, in bytes");
    }
    if !u64::from(dst.valid_cols).is_multiple_of(dst.per_block()) {
        let text = format!("{} columns of dst `{}` are no whole blocks", dst.valid_cols, dst.name);
        return refuse("legality.alignment", text, "gather whole 32-byte blocks");
    }
    if off.valid_rows < dst.valid_rows {
        return c.row_mismatch("offset", off, dst);
    }
    if u64::from(off.valid_cols) < per_row {
        let text = format!("offset `{}` has {} columns", off.name, off.valid_cols);
        return refuse(
            "legality.col_mismatch",
            text,
            format!("{per_row} blocks a row take {per_row}"),
        );
    }
    Ok(())
}

/// Instruction mode of a pattern, element 0 in bit 0.
fn mode(pattern: u8) -> Option<u64> {
    Some(match pattern {
        0b0101 => 1,
        0b1010 => 2,
        0b0001 => 3,
        0b0010 => 4,
        0b0100 => 5,
        0b1000 => 6,
        0b1111 => 7,
        _ => return None,
    })
}

/// Do the positions that the contents of UB name lie in the tile they are read from?
pub(crate) fn positions(call: &Call, ub: &[u8]) -> Done {
    let (src, named) = (call.source(0), call.source(1));
    let (rows, cols) = match call.op.operator {
        Operator::Gather => named.valid(),
        Operator::GatherB => {
            let (rows, cols) = call.dst.valid();
            (rows, cols / call.dst.per_block())
        }
        _ => return Ok(()),
    };
    for r in 0..rows {
        for c in 0..cols {
            let at = named.at(r, c);
            let bytes = ub.get(at as usize..at.saturating_add(named.size()) as usize);
            // What lies beyond UB is a matter of range.
            let Some(n) = bytes.map(bits_of) else { return Ok(()) };
            match call.op.operator {
                Operator::Gather => stray(call, n, src)?,
                _ => stray_block(call, n, src)?,
            }
        }
    }
    Ok(())
}

/// Elements by number, blocks by byte offset, elements of a pattern, elements to where an index says.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    positions(call, mem.ub)?;
    match call.op.operator {
        Operator::Pattern => keep(call, mem),
        Operator::GatherB => take_blocks(call, mem),
        Operator::Scatter => put(call, mem),
        _ => take(call, mem),
    }
}

/// Address of element `n` of a tile's storage.
fn nth(t: &Tile, n: u64) -> u64 {
    t.addr.wrapping_add(n.wrapping_mul(t.size()))
}

/// An index that leads out of its tile.
fn stray(call: &Call, n: u64, t: &Tile) -> Result<(), Stop> {
    let most = u64::from(t.rows) * u64::from(t.cols);
    if n < most {
        return Ok(());
    }
    let n = int_of(call.source(1).dtype, n);
    let text = format!("index {n} leads out of `{}`, which has {most} elements", t.name);
    let d = Diagnostic::error("memcheck.index", format!("{}: {text}", call.op.name));
    Err(Stop(Box::new(d.help("indices count elements from the start of the tile"))))
}

/// An offset of a block that leads out of its tile.
fn stray_block(call: &Call, offset: u64, t: &Tile) -> Done {
    if offset.saturating_add(32) <= t.bytes() {
        return Ok(());
    }
    let text =
        format!("offset {offset:#x} leads out of `{}`, which has {} bytes", t.name, t.bytes());
    let d = Diagnostic::error("memcheck.index", format!("{}: {text}", call.op.name));
    let help = "offsets count bytes from the start of the tile, and a whole block of 32 is read";
    Err(Stop(Box::new(d.help(help))))
}

fn take(call: &Call, mem: &mut Mem) -> Done {
    let (src, idx) = (call.source(0), call.source(1));
    let mut out = Vec::new();
    for n in mem.read_valid(idx)? {
        out.push(bits_of(mem.bytes(nth(src, n), src.dtype.size())?));
    }
    mem.write_valid(&call.dst, &out)
}

fn keep(call: &Call, mem: &mut Mem) -> Done {
    let (rows, cols) = call.source(0).valid();
    for r in 0..rows {
        let chosen = (0..cols).filter(|c| call.attrs.pattern >> (c % 4) & 1 == 1);
        for (to, c) in (0..).zip(chosen) {
            let bits = mem.read(call.source(0), r, c)?;
            mem.write(&call.dst, r, to, bits)?;
        }
    }
    Ok(())
}

fn take_blocks(call: &Call, mem: &mut Mem) -> Done {
    let (rows, cols) = call.dst.valid();
    for r in 0..rows {
        for b in 0..cols / call.dst.per_block() {
            let at = call.source(0).addr + mem.read(call.source(1), r, b)?;
            let block = mem.bytes(at, 32)?.to_vec();
            mem.bytes(call.dst.row(r) + 32 * b, 32)?.copy_from_slice(&block);
        }
    }
    Ok(())
}

/// The whole tile becomes 0; of equal indices the last one in row order wins.
fn put(call: &Call, mem: &mut Mem) -> Done {
    let dst = &call.dst;
    mem.bytes(dst.addr, dst.bytes() as usize)?.fill(0);
    let values = mem.read_valid(call.source(0))?;
    let n = dst.dtype.size();
    for (i, bits) in mem.read_valid(call.source(1))?.into_iter().zip(values) {
        stray(call, i, dst)?;
        mem.bytes(nth(dst, i), n)?.copy_from_slice(&bits.to_le_bytes()[..n]);
    }
    Ok(())
}

/// The least tmp: byte offsets of 16-bit elements, beside the indices.
pub(super) fn tmp(call: &Call) -> Option<(DType, u32, u32)> {
    let narrow = call.op.operator == Operator::Gather && call.dst.size() == 2;
    narrow.then_some((I32, call.dst.valid_rows, call.source(1).cols))
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    match call.op.operator {
        Operator::Pattern => compact(call, a),
        Operator::GatherB => gather_blocks(call, a),
        Operator::Scatter => scatter(call, a),
        _ => gather(call, a),
    }
}

/// Row by row in counter mode: indices to byte offsets, in dst or tmp, then the elements.
fn gather(call: &Call, a: &mut Asm) -> Done {
    let (src, idx, dst) = (call.source(0), call.source(1), &call.dst);
    let (rows, cols) = dst.valid();
    let offsets = call.tmp.as_ref().filter(|_| dst.size() == 2).unwrap_or(dst);
    let t = a.t;
    a.count(cols)?;
    for r in 0..rows {
        a.t = I32;
        a.vecs(Op::vmuls, [offsets.row(r), idx.row(r)], dst.size(), 0, [8, 8])?;
        a.barrier()?;
        a.t = t;
        a.emit(Op::vgather, &[dst.row(r), offsets.row(r), src.addr, 8, 0].map(|x| x as i64))?;
    }
    a.end_count()
}

/// Every row is a repeat, however long.
fn compact(call: &Call, a: &mut Asm) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let (rows, cols) = src.valid();
    let Some(mode) = mode(call.attrs.pattern) else { return Ok(()) };
    a.count(cols)?;
    let args = [dst.addr, src.addr, src.addr, rows, 1, mode, src.stride_blocks(), 0];
    a.emit(Op::vreducev2, &args.map(|x| x as i64))?;
    a.end_count()
}

/// Whole repeats by instruction; the blocks that are left one by one, as the instruction writes
/// eight of them always.
fn gather_blocks(call: &Call, a: &mut Asm) -> Done {
    let (src, off, dst) = (call.source(0), call.source(1), &call.dst);
    let (rows, cols) = dst.valid();
    let n = cols / dst.per_block();
    for r in 0..rows {
        rounds(n / 8, super::asm::MAX_REPEAT, |i, k| {
            let args = [dst.row(r) + 256 * i, off.row(r) + 32 * i, src.addr, 8, 1, k];
            a.emit(Op::vgatherb, &args.map(|x| x as i64)).map(drop)
        })?;
    }
    if n.is_multiple_of(8) {
        return Ok(());
    }
    let t = a.t;
    a.t = U32;
    a.v_to_s()?;
    for r in 0..rows {
        for b in n / 8 * 8..n {
            let offset = a.load(off.row(r) + 4 * b)?;
            a.s_to_v()?;
            a.copy(dst.row(r) + 32 * b, src.addr + offset, 1, 1, [0, 0])?;
        }
    }
    a.t = t;
    Ok(())
}

/// Zeros over the whole tile, then a loop of the scalar unit.
fn scatter(call: &Call, a: &mut Asm) -> Done {
    let (src, idx, dst) = (call.source(0), call.source(1), &call.dst);
    let (rows, cols) = src.valid();
    let t = a.t;
    a.t = DType::U16;
    a.count(dst.bytes() / 2)?;
    a.dup(dst.addr, 0, 0, [1, 1], [8, 0])?;
    a.end_count()?;
    a.v_to_s()?;
    for r in 0..rows {
        for c in 0..cols {
            a.t = idx.dtype;
            let n = a.load(idx.at(r, c))?;
            a.t = t;
            let bits = a.load(src.at(r, c))?;
            stray(call, n, dst)?;
            a.store(nth(dst, n), bits)?;
        }
    }
    a.s_to_v()
}

impl Call {
    /// Makes generated contents of operand `k` (0 is dst) ones the operation can be used with.
    pub(crate) fn tame(&self, k: usize, bytes: &mut [u8]) {
        let most = |t: &Tile| (u64::from(t.rows) * u64::from(t.cols)).max(1);
        let idx = || self.source(1).dtype.size();
        match (self.op.operator, k) {
            (Operator::Gather, 2) => limit(bytes, idx(), most(self.source(0)), 1),
            (Operator::Scatter, 2) => limit(bytes, idx(), most(&self.dst), 1),
            (Operator::GatherB, 2) => limit(bytes, 4, (self.source(0).bytes() / 32).max(1), 32),
            (Operator::Merge | Operator::MergeBlock, 1..) => super::merge::sort(self, bytes),
            _ => {}
        }
    }
}

/// Numbers of `size` bytes below `most`, in steps of `unit`.
fn limit(bytes: &mut [u8], size: usize, most: u64, unit: u64) {
    for e in bytes.chunks_exact_mut(size.max(1)) {
        let v = e.iter().rev().fold(0u64, |acc, b| acc << 8 | u64::from(*b));
        let v = (v ^ v >> 13).wrapping_mul(0x9E37_79B9) % most * unit;
        e.copy_from_slice(&v.to_le_bytes()[..size]);
    }
}
