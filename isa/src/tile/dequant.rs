//! TDEQUANT: (src - offset) * scale, one offset and scale a row.

use super::Tile;
use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::{Mem, combine, from_f64, int_of};
use super::op::Operator;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType::{F16, F32, I8, I16};

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (dst, src) = (&call.dst, call.source(0));
    for (role, t) in call.tiles() {
        c.row_major(role, t)?;
        if role != "dst" {
            c.disjoint(("dst", dst), (role, t))?;
        }
    }
    if !matches!(src.dtype, I8 | I16) {
        let text = format!("src `{}` holds {}", src.name, src.dtype);
        return refuse("legality.type_mismatch", text, "quantised elements are i8 or i16");
    }
    for (role, t) in [("scale", call.source(1)), ("offset", call.source(2))] {
        if t.dtype != F32 || t.valid_rows < dst.valid_rows || t.valid_cols == 0 {
            let text =
                format!("{role} `{}` is {}x{} {}", t.name, t.valid_rows, t.valid_cols, t.dtype);
            return refuse("legality.shape", text, "one f32 a row, in column 0");
        }
    }
    c.same_valid("src", src, dst)
}

/// dst = (src - offset) * scale, each step rounded.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (src, scale, offset) = (call.source(0), call.source(1), call.source(2));
    let (rows, cols) = call.dst.valid();
    for r in 0..rows {
        let (s, o) = (mem.read(scale, r, 0)?, mem.read(offset, r, 0)?);
        for c in 0..cols {
            let x = from_f64(F32, int_of(src.dtype, mem.read(src, r, c)?) as f64);
            let moved = combine(Operator::Sub, F32, x, o);
            mem.write(&call.dst, r, c, combine(Operator::Mul, F32, moved, s))?;
        }
    }
    Ok(())
}

/// A2/A3 microcode: row by row in counter mode; bytes are widened twice, the second time in place.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (rows, cols) = call.dst.valid();
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    a.count(cols)?;
    for r in 0..rows {
        widen(a, call.source(0), r, call.dst.row(r))?;
        scale(call, a, r)?;
    }
    a.end_count()
}

fn widen(a: &mut Asm, src: &Tile, r: u64, d: u64) -> Done {
    if src.dtype == I16 {
        a.convert(Op::vconv_s162f32, (F32, I16), [d, src.row(r)], 0, [8, 4])?;
        return a.barrier();
    }
    // Halves go to every other block, so that each lies where its floats begin.
    let halves = [d, src.row(r), 0, 2, 1, 16, 4].map(|x| x as i64);
    a.emit_as(Op::vconv_s82f16, (F16, I8), &halves)?;
    a.barrier()?;
    let floats = [d, d, 0, 1, 2, 8, 8].map(|x| x as i64);
    a.emit_as(Op::vconv_f162f32, (F32, F16), &floats)?;
    a.barrier()
}

fn scale(call: &Call, a: &mut Asm, r: u64) -> Done {
    let d = call.dst.row(r);
    a.v_to_s()?;
    let offset = a.load(call.source(2).at(r, 0))?;
    let scale = a.load(call.source(1).at(r, 0))?;
    a.s_to_v()?;
    a.vecs(Op::vadds, [d, d], offset ^ 1 << 31, 0, [8, 8])?;
    a.barrier()?;
    a.vecs(Op::vmuls, [d, d], scale, 0, [8, 8])?;
    a.barrier()
}
