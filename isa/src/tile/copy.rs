//! Copies inside UB that stop at a byte count instead of a block boundary; TMOV.

use super::Tile;
use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict};
use super::meaning::{self, Mem};
use super::quirks::Quirk;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType;

type Done = Result<(), Stop>;

/// `bytes` of each of `rows` rows: destination and source address, byte strides of the rows.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub dst: u64,
    pub src: u64,
    pub rows: u64,
    pub bytes: u64,
    pub dst_step: u64,
    pub src_step: u64,
}

impl Rows {
    /// Copies whole blocks, the last one of every row included whatever it holds.
    pub fn blocks(&self, a: &mut Asm) -> Done {
        (0..self.rows).try_for_each(|r| {
            let (d, s) = (self.dst + r * self.dst_step, self.src + r * self.src_step);
            a.copy(d, s, 1, self.bytes.div_ceil(32), [0, 0])
        })
    }

    /// Copies exactly the bytes: whole blocks, then the rest under a mask.
    pub fn exact(&self, a: &mut Asm) -> Done {
        let whole = self.bytes / 32 * 32;
        if whole > 0 {
            Rows { bytes: whole, ..*self }.blocks(a)?;
        }
        if whole == self.bytes {
            return Ok(());
        }
        let rest = Rows {
            dst: self.dst + whole,
            src: self.src + whole,
            bytes: self.bytes - whole,
            ..*self
        };
        rest.masked(a)
    }

    /// Less than a block per row: masked 16- or 32-bit lanes, an odd byte by the scalar unit.
    fn masked(&self, a: &mut Asm) -> Done {
        let t = a.t;
        let lane = if self.bytes.is_multiple_of(4) { DType::U32 } else { DType::U16 };
        let lanes = self.bytes / lane.size() as u64;
        let last = self.bytes - 1;
        if lanes > 0 {
            a.t = lane;
            a.lanes(lanes)?;
            let rep = [self.dst_step / 32, self.src_step / 32];
            super::asm::rounds(self.rows, super::asm::MAX_REPEAT, |r, n| {
                let (d, s) = (self.dst + r * self.dst_step, self.src + r * self.src_step);
                a.vec1(Op::vcopy, d, s, n, rep)
            })?;
            a.full()?;
        }
        if self.bytes % 2 == 1 {
            a.t = DType::U8;
            a.v_to_s()?;
            for r in 0..self.rows {
                let byte = a.load(self.src + r * self.src_step + last)?;
                a.store(self.dst + r * self.dst_step + last, byte)?;
            }
            a.s_to_v()?;
        }
        a.t = t;
        Ok(())
    }
}

/// Legality of TMOV beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.elementwise(call, false)
}

/// dst = src.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    meaning::elementwise(call, mem, |v| v[0])
}

/// A2/A3 microcode of TMOV.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (dst, src) = (&call.dst, call.source(0));
    if call.quirks.has(Quirk::Q4) {
        return walk(call, a, dst, src);
    }
    walk(call, a, &dst.storage_rows(), &src.storage_rows())
}

fn walk(call: &Call, a: &mut Asm, dst: &Tile, src: &Tile) -> Done {
    let rows = u64::from(dst.valid_rows.min(src.valid_rows));
    let cols = u64::from(dst.valid_cols.min(src.valid_cols));
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    let width = u64::from(dst.cols);
    // Shipped code asks for tiles of one shape at compile time.
    let alike = dst.cols == src.cols || rows == 1;
    if alike && (dst.full_cols_static() || cols == width) {
        let bytes = width * rows * dst.size();
        let all = Rows { dst: dst.addr, src: src.addr, rows: 1, bytes, dst_step: 0, src_step: 0 };
        return if call.quirks.has(Quirk::D14) { all.blocks(a) } else { all.exact(a) };
    }
    let part = Rows {
        dst: dst.addr,
        src: src.addr,
        rows,
        bytes: cols * dst.size(),
        dst_step: dst.row(1) - dst.addr,
        src_step: src.row(1) - src.addr,
    };
    if call.quirks.has(Quirk::D14) { part.blocks(a) } else { part.exact(a) }
}
