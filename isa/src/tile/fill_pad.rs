//! TFILLPAD, TFILLPAD_INPLACE, TFILLPAD_EXPAND: the valid region of the source, the rest padded.

use super::asm::{Asm, MAX_REPEAT, rounds};
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::Mem;
use super::quirks::Quirk;
use super::transfer::pad_value;
use super::{Family, Tile};
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType::{U8, U16, U32};

type Done = Result<(), Stop>;

impl Call {
    /// Does the fill work on the tile it reads?
    pub(crate) fn in_place(&self) -> bool {
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
    if c.family == Family::A2A3 && dst.pad == 0 {
        let text = format!("dst `{}` has no pad value", dst.name);
        return refuse("legality.pad", text, "give dst pad=1 (zero), 2 (max) or 3 (min)");
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

/// A2/A3 microcode; bytes go in pairs.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (dst, src) = (&call.dst, call.source(0));
    if dst.valid_rows == 0 || dst.valid_cols == 0 {
        return Ok(());
    }
    a.t = if dst.size() == 4 { U32 } else { U16 };
    let pad = Pad::of(call);
    if !call.in_place() && src.valid_rows > 0 {
        pad.copy(a, src)?;
    }
    if pad.from < pad.line && !(call.quirks.has(Quirk::Q34) && src.pad == dst.pad) {
        pad.tail(a)?;
    }
    a.counter()?;
    if pad.rows > 0 && pad.first < pad.line {
        pad.right(a)?;
    }
    let below = u64::from(dst.valid_rows).saturating_sub(pad.rows);
    if below > 0 {
        a.mask(0, below * pad.line / pad.unit(a))?;
        a.dup(dst.row(pad.rows), pad.bits, 0, [1, 1], [8, 0])?;
    }
    a.end_count()
}

/// Where padding goes: bytes of a row of dst.
struct Pad<'c> {
    dst: &'c Tile,
    /// Valid rows of the source.
    rows: u64,
    /// First padded byte of a row.
    from: u64,
    /// First byte of the whole padded blocks.
    first: u64,
    /// Bytes of a row.
    line: u64,
    /// The pad value, in every unit.
    bits: u64,
    shipped: bool,
}

impl<'c> Pad<'c> {
    fn of(call: &'c Call) -> Pad<'c> {
        let (dst, (rows, cols)) = (&call.dst, call.source(0).valid());
        let (from, line) = (cols * dst.size(), u64::from(dst.cols) * dst.size());
        let bits = pad_bits(dst);
        let bits = if dst.size() == 1 { (bits & 0xFF) * 0x101 } else { bits };
        let first = from.next_multiple_of(32).min(line);
        Pad { dst, rows, from, first, line, bits, shipped: call.quirks.has(Quirk::Q11) }
    }

    fn unit(&self, a: &Asm) -> u64 {
        a.t.size() as u64
    }

    /// Row stride in blocks; one row has none.
    fn stride(&self, t: &Tile) -> u64 {
        if self.rows > 1 { t.stride_blocks() } else { 8 }
    }

    /// The rows of the source, all columns of its tile.
    fn copy(&self, a: &mut Asm, src: &Tile) -> Done {
        let n = u64::from(src.cols) * src.size() / self.unit(a);
        let rep = [self.stride(self.dst), self.stride(src)];
        a.count(n)?;
        rounds(self.rows, MAX_REPEAT, |r, n| {
            a.vec1(Op::vcopy, self.dst.row(r), src.row(r), n, rep)
        })?;
        a.end_count()?;
        if self.shipped { Ok(()) } else { a.barrier() }
    }

    /// The rest of the last block with valid columns.
    fn tail(&self, a: &mut Asm) -> Done {
        if self.first == self.from || self.rows == 0 {
            return Ok(());
        }
        if self.dst.size() == 1 {
            return self.tail_bytes(a);
        }
        let (size, b) = (self.unit(a), a.b());
        let n = (self.first - self.from) / size;
        a.mask(0, ((1 << n) - 1) << (b - n))?;
        let stride = self.stride(self.dst);
        let fill = |a: &mut Asm, r: u64, n: u64| {
            let at = self.dst.row(r) + self.first - 32;
            a.dup(at, self.bits, n, [1, 1], [stride, 0])
        };
        if self.shipped && self.rows > MAX_REPEAT {
            // One round of 255, then what 8 bits hold of the rest.
            fill(a, 0, MAX_REPEAT)?;
            fill(a, MAX_REPEAT, (self.rows - MAX_REPEAT) % 256)?;
        } else {
            rounds(self.rows, MAX_REPEAT, |r, n| fill(a, r, n))?;
        }
        a.full()?;
        a.barrier()
    }

    fn tail_bytes(&self, a: &mut Asm) -> Done {
        let t = a.t;
        a.t = U8;
        a.v_to_s()?;
        for r in 0..self.rows {
            let row = self.dst.row(r);
            (self.from..self.first).try_for_each(|c| a.store(row + c, self.bits & 0xFF))?;
        }
        a.t = t;
        a.s_to_v()
    }

    /// Whole blocks right of the valid columns: row 0, then copies of its first padded block.
    fn right(&self, a: &mut Asm) -> Done {
        let n = (self.line - self.first) / self.unit(a);
        let at = |r: u64| self.dst.row(r) + self.first;
        a.mask(0, n)?;
        a.dup(at(0), self.bits, 1, [1, 1], [8, 0])?;
        a.barrier()?;
        rounds(self.rows - 1, MAX_REPEAT, |r, n| {
            let args = [at(r + 1), at(0), n, 1, 0, self.stride(self.dst), 0].map(|x| x as i64);
            a.emit(Op::vcopy, &args).map(drop)
        })
    }
}
