//! TCVT to narrow integers without saturation, through a 32-bit integer in tmp.
//!
//! The value is first clamped to 32 bits, then its low bits are kept; the instruction that
//! converts directly keeps the low bits of the exact integer.

use super::Tile;
use super::asm::{Asm, MAX_REPEAT, rounds};
use super::call::{Call, Sat};
use super::convert::{one_step, saturation};
use super::quirks::Quirk;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType::{self, F16, F32, I8, I16, I32};
use ptoemu_core::num::mode::CTRL_LOW_BITS;

type Done = Result<(), Stop>;

/// Bytes of tmp a strip of one repeat needs.
const STRIP: u64 = 256;

/// The tmp tile of a call that takes this path.
pub(super) fn tmp(call: &Call) -> Option<&Tile> {
    let pair = (call.source(0).dtype, call.dst.dtype);
    let listed = matches!(pair, (F32, I16) | (F16, I16 | I8));
    call.tmp.as_ref().filter(|_| listed && saturation(call) == Sat::Off)
}

/// Bytes of tmp the path needs.
pub(super) fn tmp_bytes(call: &Call) -> u64 {
    let repeats = u64::from(call.source(0).valid_cols) / 64;
    if call.source(0).dtype == F32 { STRIP * repeats.clamp(1, MAX_REPEAT) } else { STRIP }
}

/// The steps of one call: instructions with their element types.
struct Path {
    /// First conversion, to s32.
    widen: Op,
    from: DType,
    to: DType,
    tmp: u64,
    ctrl: u64,
}

/// A2/A3 microcode; `ctrl` is CTRL on entry, restored by the caller.
pub(super) fn lower(call: &Call, a: &mut Asm, tmp: &Tile, ctrl: u64) -> Done {
    let (dst, src) = (call.dst.storage_rows(), call.source(0).storage_rows());
    let (from, to) = (src.dtype, dst.dtype);
    let Some(widen) = one_step(call, from, I32) else { return Ok(()) };
    let path = Path { widen, from, to, tmp: tmp.addr, ctrl };
    if from == F32 {
        return path.wide(call, a, tmp, (&dst, &src));
    }
    let (rows, cols) = dst.valid();
    for r in 0..rows {
        rounds(cols, 64, |at, n| {
            a.lanes(n)?;
            let (d, s) = (dst.row(r) + at * dst.size(), src.row(r) + at * 2);
            if to == I16 { path.half(a, d, s) } else { path.byte(a, d, s) }
        })?;
    }
    a.full()
}

impl Path {
    fn ctrl(&self, a: &mut Asm, low_bits: bool) -> Done {
        let bit = 1u64 << CTRL_LOW_BITS;
        let v = if low_bits { self.ctrl | bit } else { self.ctrl & !bit };
        a.emit(Op::set_ctrl, &[v as i64]).map(drop)
    }

    /// src to s32 in tmp, clamped.
    fn first(&self, a: &mut Asm, src: u64, n: u64, rep: [u64; 2]) -> Done {
        self.ctrl(a, false)?;
        a.convert(self.widen, (I32, self.from), [self.tmp, src], n, rep)?;
        a.barrier()?;
        self.ctrl(a, true)
    }

    /// f32: whole repeats row by row, then the rest of all rows together.
    fn wide(&self, call: &Call, a: &mut Asm, tmp: &Tile, (dst, src): (&Tile, &Tile)) -> Done {
        let (rows, cols) = dst.valid();
        let fits = (tmp.bytes() / STRIP).clamp(1, MAX_REPEAT);
        let narrow = |a: &mut Asm, d: u64, n: u64, rep: [u64; 2]| {
            a.convert(Op::vconv_s322s16, (I16, I32), [d, self.tmp], n, rep)
        };
        for r in 0..rows {
            rounds(cols / 64, fits, |at, n| {
                self.first(a, src.row(r) + at * 256, n, [8, 8])?;
                narrow(a, dst.row(r) + at * 128, n, [4, 8])
            })?;
        }
        let rest = cols % 64;
        if rest == 0 {
            return Ok(());
        }
        // As shipped, tmp is walked with the row stride of the source, whatever its size.
        let strided = call.quirks.has(Quirk::Q30);
        let (step, most) = if strided { (src.stride_blocks(), MAX_REPEAT) } else { (8, fits) };
        a.lanes(rest)?;
        rounds(rows, most, |r, n| {
            self.first(a, src.row(r) + cols / 64 * 256, n, [step, src.stride_blocks()])?;
            narrow(a, dst.row(r) + cols / 64 * 128, n, [dst.stride_blocks(), step])
        })?;
        a.full()
    }

    /// f16 to i16, up to 64 elements.
    fn half(&self, a: &mut Asm, dst: u64, src: u64) -> Done {
        self.first(a, src, 1, [8, 4])?;
        a.convert(Op::vconv_s322s16, (I16, I32), [dst, self.tmp], 1, [4, 8])?;
        a.barrier()
    }

    /// f16 to i8, up to 64 elements: the low byte travels as an f16 between 0 and 255.
    fn byte(&self, a: &mut Asm, dst: u64, src: u64) -> Done {
        let (low, high, t) = (self.tmp, self.tmp + 128, a.t);
        self.first(a, src, 1, [8, 4])?;
        a.convert(Op::vconv_s322s16, (I16, I32), [low, low], 1, [4, 8])?;
        a.barrier()?;
        a.t = I16;
        a.dup(high, 0x00FF, 1, [1, 1], [8, 0])?;
        a.barrier()?;
        a.vec2(Op::vand, [low, low, high], 1, [1; 3], [8; 3])?;
        a.t = t;
        a.barrier()?;
        a.convert(Op::vconv_s162f16, (F16, I16), [high, low], 1, [8, 8])?;
        a.barrier()?;
        a.convert(Op::vconv_f162s8z, (self.to, F16), [dst, high], 1, [4, 8])?;
        a.barrier()
    }
}
