//! A2/A3 microcode of bitwise operations: 16-bit instructions on views of the tiles, shifts by a tile
//! element by element.

use super::Tile;
use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict};
use super::meaning::{combine, single};
use super::op::Operator;
use super::quirks::Quirk;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType::{self, U16};

type Done = Result<(), Stop>;

/// Legality on A2/A3: intermediate results lie in dst, so that it is no source.
pub(super) fn check(call: &Call, c: &mut Checker) -> Verdict {
    let apart = match call.op.operator {
        Operator::Xor => true,
        Operator::And | Operator::Or => call.op.sig.scalar,
        _ => false,
    };
    if apart {
        let sources = call.tiles().filter(|(role, _)| role.starts_with("src"));
        sources.into_iter().try_for_each(|(role, t)| c.disjoint(("dst", &call.dst), (role, t)))?;
    }
    c.scratch(call)
}

/// The tile as 16-bit elements; of an odd number of bytes the last one is left out.
fn halves(t: &Tile, exact: bool) -> Tile {
    let double = |n: u32| n * 2;
    let half = |n: u32| if exact { n / 2 } else { n.div_ceil(2) };
    let (cols, valid_cols) = match t.dtype.size() {
        1 => (t.cols / 2, half(t.valid_cols)),
        4 => (double(t.cols), double(t.valid_cols)),
        _ => (t.cols, t.valid_cols),
    };
    Tile { dtype: U16, cols, valid_cols, ..t.clone() }
}

/// The scalar in every 16 bits.
fn wide(t: DType, bits: u64) -> u64 {
    if t.size() == 1 { (bits & 0xFF) * 0x101 } else { bits }
}

/// TAND, TOR, TXOR and their forms with a scalar.
pub(super) fn lower(call: &Call, a: &mut Asm) -> Done {
    let t = call.dst.dtype;
    let odd = t.size() == 1 && call.dst.valid_cols % 2 == 1;
    let exact = !call.quirks.has(Quirk::D12);
    if odd && exact {
        last_bytes(call, a)?;
    }
    a.t = U16;
    let view = |t: &Tile| halves(t, exact);
    let (dst, x) = (view(&call.dst), view(call.source(0)));
    let tmp = call.tmp.as_ref().map(&view);
    if dst.valid_rows == 0 || dst.valid_cols == 0 {
        return Ok(());
    }
    let unequal = t.size() == 4;
    let op2 = |a: &mut Asm, op, [d, s, y]: [&Tile; 3]| {
        if unequal {
            super::bin::ragged(call, a, op, [d, s, y])
        } else {
            super::bin::apply(call, a, op, [d, s, y])
        }
    };
    let with = |a: &mut Asm, op, d: &Tile| {
        if call.op.sig.scalar {
            super::fill::apply(call, a, d, wide(t, call.scalar_bits()))?;
            a.barrier()?;
            op2(a, op, [d, &x, d])
        } else {
            op2(a, op, [d, &x, &view(call.source(1))])
        }
    };
    match (call.op.operator, &tmp) {
        (Operator::Xor, Some(tmp)) => {
            let tmp =
                &Tile { valid_rows: dst.valid_rows, valid_cols: dst.valid_cols, ..tmp.clone() };
            with(a, Op::vor, tmp)?;
            a.barrier()?;
            with(a, Op::vand, &dst)?;
            a.barrier()?;
            super::unary::apply(call, a, Op::vnot, &dst, &dst)?;
            a.barrier()?;
            op2(a, Op::vand, [&dst, &dst, tmp])
        }
        (op, _) => with(a, op.vec2(), &dst),
    }
}

/// TNOT on views.
pub(super) fn complement(call: &Call, a: &mut Asm) -> Done {
    let exact = !call.quirks.has(Quirk::D12);
    if call.dst.dtype.size() == 1 && call.dst.valid_cols % 2 == 1 && exact {
        last_bytes(call, a)?;
    }
    a.t = U16;
    let (dst, src) = (halves(&call.dst, exact), halves(call.source(0), exact));
    if dst.valid_rows == 0 || dst.valid_cols == 0 {
        return Ok(());
    }
    super::unary::apply(call, a, Op::vnot, &dst, &src)
}

/// The last byte of every row of an odd number of them, by the scalar unit.
fn last_bytes(call: &Call, a: &mut Asm) -> Done {
    let (rows, cols) = call.dst.valid();
    a.v_to_s()?;
    (0..rows).try_for_each(|r| element(call, a, r, cols - 1))?;
    a.s_to_v()
}

/// One element, by the scalar unit.
fn element(call: &Call, a: &mut Asm, r: u64, c: u64) -> Done {
    let (op, t) = (call.op.operator, call.dst.dtype);
    let x = a.load(call.source(0).at(r, c))?;
    let v = match (call.op.sig.scalar, call.op.sig.srcs) {
        (true, _) => combine(op, t, x, call.scalar_bits()),
        (_, 1) => single(op, t, x),
        _ => combine(op, t, x, a.load(call.source(1).at(r, c))?),
    };
    a.store(call.dst.at(r, c), v)
}

/// TSHL, TSHR: a loop of the scalar unit.
pub(super) fn shift(call: &Call, a: &mut Asm) -> Done {
    let (rows, cols) = call.dst.valid();
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    a.v_to_s()?;
    (0..rows).try_for_each(|r| (0..cols).try_for_each(|c| element(call, a, r, c)))?;
    a.s_to_v()
}
