//! Integer row reductions and TROWPROD: block by block into one block of tmp, then a scalar fold.

use super::asm::Asm;
use super::call::Call;
use super::check::Checker;
use super::meaning::{self, Mem, combine};
use super::op::Operator;
use crate::machine::Stop;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Result<(), Box<Diagnostic>> {
    c.row_reduce(call, call.source(0).per_block())
}

/// dst\[i, 0\] = the fold of row i.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    meaning::row_fold(call, mem)
}

/// The value that changes nothing, sign-extended to 64 bits.
fn neutral(op: Operator, t: DType) -> u64 {
    match (op, t) {
        (Operator::Mul, DType::F32) => u64::from(1f32.to_bits()),
        (Operator::Mul, DType::F16) => 0x3C00,
        (Operator::Mul, _) => 1,
        (Operator::Max, DType::I16) => i16::MIN as u64,
        (Operator::Max, _) => i32::MIN as u64,
        (Operator::Min, DType::I16) => i16::MAX as u64,
        (Operator::Min, _) => i32::MAX as u64,
        _ => 0,
    }
}

/// A2/A3 microcode; counter mode throughout.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let tmp = call.tmp.as_ref().unwrap_or(dst).addr;
    let (rows, cols) = src.valid();
    let b = a.b();
    let op = call.op.operator;
    let init = neutral(op, a.t);
    a.counter()?;
    for r in 0..rows {
        a.mask(0, b)?;
        a.dup(tmp, init, 1, [1, 1], [0, 0])?;
        a.barrier()?;
        for k in 0..cols / b {
            fold_block(a, op, tmp, src.row(r) + 32 * k)?;
        }
        if !cols.is_multiple_of(b) {
            a.mask(0, cols % b)?;
            fold_block(a, op, tmp, src.row(r) + cols / b * 32)?;
        }
        a.v_to_s()?;
        let value = fold_scalars(a, op, tmp)?;
        a.store(dst.row(r), value)?;
        a.s_to_v()?;
    }
    a.end_count()
}

fn fold_block(a: &mut Asm, op: Operator, tmp: u64, block: u64) -> Done {
    a.vec2(op.vec2(), [tmp, tmp, block], 1, [0, 0, 1], [0, 0, 1])?;
    a.barrier()
}

/// The scalar unit folds the elements of the block; f16 products in f32, rounded once.
fn fold_scalars(a: &mut Asm, op: Operator, tmp: u64) -> Result<u64, Stop> {
    let (b, size, t) = (a.b(), a.t.size() as u64, a.t);
    let wide = t == DType::F16 && op == Operator::Mul;
    let mut acc = None;
    for i in 0..b {
        let bits = a.load(tmp + i * size)?;
        let (t, bits) = if wide { (DType::F32, meaning::f16_to_f32(bits)) } else { (t, bits) };
        acc = Some(acc.map_or(bits, |acc| combine(op, t, acc, bits)));
    }
    let acc = acc.unwrap_or(0);
    Ok(if wide { meaning::f32_to_f16(acc) } else { acc })
}
