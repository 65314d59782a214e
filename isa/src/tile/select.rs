//! TSEL, TSELS: one packed bit an element chooses between two tiles, or a tile and a scalar.

use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::Mem;
use super::{Family, Tile};
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType::{F16, F32, U32};

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (dst, mask) = (&call.dst, call.source(0));
    c.row_major("dst", dst)?;
    for (role, t) in call.tiles().filter(|(role, _)| role.starts_with("src")) {
        if t.dtype != dst.dtype {
            let text = format!("element types differ: {role} is {}, dst is {}", t.dtype, dst.dtype);
            return refuse("legality.type_mismatch", text, "select between tiles of dst's type");
        }
        c.row_major(role, t)?;
        c.same_valid(role, t, dst)?;
        c.same_or_disjoint(("dst", dst), (role, t))?;
    }
    c.bits("mask", mask, dst)?;
    c.disjoint(("dst", dst), ("mask", mask))?;
    let Some(tmp) = call.tmp.as_ref().filter(|_| c.family == Family::A2A3) else { return Ok(()) };
    let need = if call.op.sig.scalar { dst.size() } else { 32 / dst.size() };
    c.tmp_size(call, need, "one operand of the select instruction")?;
    call.tiles().filter(|(role, _)| *role != "tmp").try_for_each(|t| c.disjoint(("tmp", tmp), t))
}

impl Checker<'_> {
    /// A tile of packed bits: integers, row-major, one bit for every valid element of `of`.
    pub(super) fn bits(&mut self, role: &str, bits: &Tile, of: &Tile) -> Verdict {
        let name = &bits.name;
        if bits.dtype.is_float() {
            let text = format!("{role} `{name}` holds packed bits, {} is no integer", bits.dtype);
            return refuse("legality.type", text, "use an integer tile, for example of u8");
        }
        self.row_major(role, bits)?;
        if bits.valid_rows < of.valid_rows {
            return self.row_mismatch(role, bits, of);
        }
        let (have, need) =
            (u64::from(bits.cols) * bits.size(), u64::from(of.valid_cols).div_ceil(8));
        if have < need {
            let text = format!(
                "a row of {role} `{name}` has {have} bytes; the bits of {} columns take {need}",
                of.valid_cols
            );
            return refuse("legality.mask_too_narrow", text, "give it one bit an element");
        }
        Ok(())
    }
}

/// dst = bit ? first : second.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (rows, cols) = call.dst.valid();
    let mask = call.source(0);
    let mut out = Vec::new();
    for r in 0..rows {
        for c in 0..cols {
            let byte = mem.bytes(mask.row(r).wrapping_add(c / 8), 1)?[0];
            out.push(match (byte >> (c % 8) & 1 == 1, call.op.sig.scalar) {
                (true, _) => mem.read(call.source(1), r, c)?,
                (false, true) => call.scalar_bits(),
                (false, false) => mem.read(call.source(2), r, c)?,
            });
        }
    }
    mem.write_valid(&call.dst, &out)
}

/// A2/A3 microcode: counter mode, row by row; elements are moved as f16 or f32.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (rows, cols) = call.dst.valid();
    let Some(tmp) = call.tmp.as_ref().filter(|_| rows > 0 && cols > 0) else { return Ok(()) };
    a.t = if call.dst.size() == 2 { F16 } else { F32 };
    if call.op.sig.scalar { with_scalar(call, a, tmp) } else { of_tiles(call, a, tmp) }
}

/// The address of the mask row travels through tmp into CMPMASK.
fn of_tiles(call: &Call, a: &mut Asm, tmp: &Tile) -> Done {
    let (dst, [mask, x, y]) = (&call.dst, [0, 1, 2].map(|i| call.source(i)));
    let (rows, cols) = dst.valid();
    let t = a.t;
    a.counter()?;
    for r in 0..rows {
        a.mask(0, 8 / dst.size())?;
        a.t = U32;
        a.dup(tmp.addr, mask.row(r), 0, [1, 1], [8, 0])?;
        a.t = t;
        cmpmask(a, tmp)?;
        a.mask(0, cols)?;
        select(a, [dst.row(r), x.row(r), y.row(r)], 2)?;
    }
    a.end_count()
}

/// The scalar travels through tmp into CMPMASK.
fn with_scalar(call: &Call, a: &mut Asm, tmp: &Tile) -> Done {
    let (dst, [mask, x]) = (&call.dst, [0, 1].map(|i| call.source(i)));
    let (rows, cols) = dst.valid();
    a.v_to_s()?;
    a.store(tmp.addr, call.scalar_bits())?;
    a.count(cols)?;
    a.s_to_v()?;
    cmpmask(a, tmp)?;
    (0..rows).try_for_each(|r| select(a, [dst.row(r), x.row(r), mask.row(r)], 1))?;
    a.end_count()
}

fn cmpmask(a: &mut Asm, tmp: &Tile) -> Done {
    a.barrier()?;
    a.emit(Op::set_cmpmask, &[tmp.addr as i64])?;
    a.barrier()
}

fn select(a: &mut Asm, [d, x, y]: [u64; 3], mode: i64) -> Done {
    let (d, x, y) = (d as i64, x as i64, y as i64);
    a.emit(Op::vsel, &[d, x, y, 1, 1, 1, 1, 8, 8, 8, mode]).map(drop)
}
