//! TCMP, TCMPS: one packed bit an element.

use super::asm::{Asm, rounds};
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::{Mem, int_of, to_f64};
use super::quirks::Quirk;
use super::{Family, Tile};
use crate::a5::Cmp;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType;
use std::cmp::Ordering;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (dst, first) = (&call.dst, call.source(0));
    for (role, t) in call.tiles().filter(|(role, _)| role.starts_with("src")) {
        if t.dtype != first.dtype {
            let text =
                format!("element types differ: {role} is {}, src0 is {}", t.dtype, first.dtype);
            return refuse("legality.type_mismatch", text, "compare tiles of one element type");
        }
        c.row_major(role, t)?;
        c.same_valid(role, t, first)?;
        c.disjoint(("dst", dst), (role, t))?;
    }
    if c.family == Family::A2A3 {
        a2a3_types(call, c)?;
    }
    c.bits("dst", dst, first)
}

/// What the instructions of A2/A3 compare: floats in every way, 32-bit integers for equality.
fn a2a3_types(call: &Call, c: &mut Checker) -> Verdict {
    let (t, cmp) = (call.source(0).dtype, call.attrs.cmp);
    if !matches!(call.dst.dtype.size(), 1) {
        let text = format!("dst `{}` holds {}", call.dst.name, call.dst.dtype);
        return refuse("legality.type_mismatch", text, "packed bits are bytes here: u8");
    }
    let verdict = match t {
        DType::I16 | DType::U16 => refuse(
            "legality.compare",
            format!("A2/A3 has no comparison of {t}; shipped code compares them as f16"),
            "convert to i32 (for eq and ne) or f32 first",
        ),
        DType::I32 if !matches!(cmp, Cmp::Eq | Cmp::Ne) => refuse(
            "legality.compare",
            format!("A2/A3 compares i32 for eq and ne only, not {cmp:?}").to_lowercase(),
            "convert to f32 first",
        ),
        _ => return Ok(()),
    };
    c.unless(if t == DType::I32 { Quirk::Q12 } else { Quirk::Q13 }, verdict)
}

/// Columns whose bits one store of the 950 writes, and its bytes.
pub(super) fn unit(t: DType) -> (u64, u64) {
    if t.size() == 1 { (256, 32) } else { (128, 16) }
}

/// Bytes written for a row: whole stores on the 950, whole repeats on A2/A3.
pub(super) fn written(family: Family, src: &Tile) -> u64 {
    let (columns, bytes) = match family {
        Family::A5 => unit(src.dtype),
        Family::A2A3 => (256 / src.size(), 32 / src.size()),
    };
    u64::from(src.valid_cols).div_ceil(columns) * bytes
}

/// Bytes of a row of A2/A3 result bits, in whole blocks.
pub(super) fn row_bytes(src: &Tile) -> u32 {
    written(Family::A2A3, src).next_multiple_of(32) as u32
}

/// Bit c of row r = src0\[r, c\] ? src1\[r, c\]. Whole stores are written: bits behind the last column
/// are 0 `[D: PTO TCmp]`; on A2/A3, where ne is the complement of eq, they are 1 for ne.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    let n = written(call.family, src) as usize;
    let inverted = call.family == Family::A2A3 && call.attrs.cmp == Cmp::Ne;
    for r in 0..rows {
        let mut bits = vec![if inverted { 0xFF } else { 0u8 }; n];
        for c in 0..cols {
            let x = mem.read(src, r, c)?;
            let y = match call.op.sig.scalar {
                true => call.scalar_bits(),
                false => mem.read(call.source(1), r, c)?,
            };
            if call.attrs.cmp.holds(order(src.dtype, x, y)) != inverted {
                bits[c as usize / 8] ^= 1 << (c % 8);
            }
        }
        mem.bytes(call.dst.row(r), n)?.copy_from_slice(&bits);
    }
    Ok(())
}

/// Order of two elements; none where one is NaN.
pub(super) fn order(t: DType, x: u64, y: u64) -> Option<Ordering> {
    if t.is_float() {
        return to_f64(t, x).partial_cmp(&to_f64(t, y));
    }
    let (x, y) = (int_of(t, x), int_of(t, y));
    Some(if t.is_signed() { x.cmp(&y) } else { (x as u64).cmp(&(y as u64)) })
}

/// A2/A3 microcode: whole rows in counter mode; rows of whole repeats, and all rows in shipped code, in
/// norm mode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    a.t = match src.dtype {
        DType::I16 | DType::U16 => DType::F16,
        t => t,
    };
    let shipped = call.quirks.has(Quirk::Q35);
    if shipped || cols.is_multiple_of(a.e()) {
        by_repeats(call, a, rows, cols.div_ceil(a.e()))?;
    } else {
        a.count(cols)?;
        (0..rows).try_for_each(|r| compare(call, a, r, 0, 0))?;
        a.end_count()?;
    }
    if call.attrs.cmp == Cmp::Ne { complement(call, a) } else { Ok(()) }
}

/// Most repeats of one instruction, so that the bits of the next one start at a block.
const PIECE: u64 = 240;

fn by_repeats(call: &Call, a: &mut Asm, rows: u64, n: u64) -> Done {
    let piece = |a: &mut Asm, r, at, k| compare(call, a, r, at, k);
    if !call.op.sig.scalar {
        return (0..rows).try_for_each(|r| rounds(n, PIECE, |at, k| piece(a, r, at, k)));
    }
    // The form with a scalar issues the whole pieces of all rows first.
    let whole = n / PIECE * PIECE;
    (0..rows).try_for_each(|r| rounds(whole, PIECE, |at, k| piece(a, r, at, k)))?;
    if n == whole {
        return Ok(());
    }
    (0..rows).try_for_each(|r| piece(a, r, whole, n - whole))
}

/// `repeat` repeats of row `r` from repeat `from` on.
fn compare(call: &Call, a: &mut Asm, r: u64, from: u64, repeat: u64) -> Done {
    let cmp = call.attrs.cmp;
    let (x, off) = (call.source(0), from * 256);
    let dst = call.dst.row(r) + from * a.e() / 8;
    if call.op.sig.scalar {
        return a.vecs(vcmpvs(cmp, a.t), [dst, x.row(r) + off], call.scalar_bits(), repeat, [8, 8]);
    }
    let y = call.source(1);
    a.vec2(vcmpv(cmp, a.t), [dst, x.row(r) + off, y.row(r) + off], repeat, [1; 3], [8; 3])
}

fn vcmpv(cmp: Cmp, t: DType) -> Op {
    match cmp {
        _ if t == DType::I32 => Op::vcmpv_eq,
        Cmp::Eq | Cmp::Ne => Op::vcmpv_eq,
        Cmp::Lt => Op::vcmpv_lt,
        Cmp::Le => Op::vcmpv_le,
        Cmp::Gt => Op::vcmpv_gt,
        Cmp::Ge => Op::vcmpv_ge,
    }
}

fn vcmpvs(cmp: Cmp, t: DType) -> Op {
    match cmp {
        _ if t == DType::I32 => Op::vcmpvs_eq,
        Cmp::Eq | Cmp::Ne => Op::vcmpvs_eq,
        Cmp::Lt => Op::vcmpvs_lt,
        Cmp::Le => Op::vcmpvs_le,
        Cmp::Gt => Op::vcmpvs_gt,
        Cmp::Ge => Op::vcmpvs_ge,
    }
}

/// ne: the bits of eq turned over; shipped code turns whole rows of dst over.
fn complement(call: &Call, a: &mut Asm) -> Done {
    let dst = &call.dst;
    let rows = u64::from(call.source(0).valid_rows);
    a.barrier()?;
    a.t = DType::U16;
    if call.quirks.has(Quirk::Q35) {
        a.count(rows * u64::from(dst.cols) / 2)?;
        a.vec1(Op::vnot, dst.addr, dst.addr, 0, [8, 8])?;
    } else {
        a.count(written(Family::A2A3, call.source(0)) / 2)?;
        (0..rows).try_for_each(|r| a.vec1(Op::vnot, dst.row(r), dst.row(r), 0, [8, 8]))?;
    }
    a.end_count()
}
