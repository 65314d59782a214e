//! Operations that count, transpose, gather and move parts of tiles.

use super::super::asm::Asm;
use super::super::call::Call;
use super::super::transpose::scalar as by_element;
use super::super::{Operator, Tile, block_copy, iota, merge};
use super::code::Code;
use super::elementwise::Walk;
use super::function::{V, affine};
use super::run::Single;
use super::{Done, Issue, down};
use crate::a5::{Dist, Op, VL};
use ptoemu_core::dtype::DType::{I16, I32, U16, U32};

/// TCI and TTRI.
pub fn iota(call: &Call, to: &mut dyn Issue) -> Done {
    match (call.op.operator, &call.tmp) {
        (Operator::Iota, None) => iota::stored(call, &mut Asm::of(call, to.instructions())),
        (Operator::Iota, Some(_)) => counted(call, to),
        _ => triangle(call, to),
    }
}

/// Lane numbers, negated if they count down, and the start of every 256 bytes.
fn counted(call: &Call, to: &mut dyn Issue) -> Done {
    let dst = &call.dst;
    let mut c = Code::new(if dst.size() == 2 { I16 } else { I32 });
    let (e, cols) = (VL as u64 / dst.size(), u64::from(dst.valid_cols));
    let all = c.all(c.size());
    let mut lanes = c.count(0);
    if call.attrs.down {
        lanes = c.scalar(Op::vmuls, lanes, u64::MAX, all);
    }
    for first in (0..cols).step_by(e as usize) {
        let m = c.below(c.size(), affine(cols - first, &[]));
        let x = c.scalar(Op::vadds, lanes, iota::nth(call, first), m);
        c.store(Dist::Norm, x, affine(dst.at(0, first), &[]), m);
    }
    to.function(&c.finish())
}

/// Ones and zeros chosen by the columns before the edge of every row.
fn triangle(call: &Call, to: &mut dyn Issue) -> Done {
    let dst = &call.dst;
    let (rows, cols) = dst.valid();
    let mut c = Code::new(dst.dtype);
    let e = VL as u64 / dst.size();
    let [before, behind] = iota::sides(call).map(|bits| c.splat(bits));
    for r in 0..rows {
        let edge = iota::edge(call, r).min(cols);
        for first in (0..cols).step_by(e as usize) {
            let inside = c.below(c.size(), affine(edge.saturating_sub(first), &[]));
            let x = c.op(Op::vsel, &[before, behind], inside);
            let m = c.below(c.size(), affine(cols - first, &[]));
            c.store(Dist::Norm, x, affine(dst.at(r, first), &[]), m);
        }
    }
    to.function(&c.finish())
}

/// TTRANS: a column of the source at a time, gathered by lane numbers times its row length.
pub fn transpose(call: &Call, to: &mut dyn Issue) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let (rows, cols) = src.valid();
    let (size, line) = (src.size(), u64::from(src.cols));
    let (t, most) = if size == 2 { (U16, 0xFFFF / line) } else { (U32, u64::from(u32::MAX)) };
    // Indices of 16-bit elements have 16 bits; stores begin at blocks.
    let e = (VL as u64 / size).min((most + 1) / src.per_block() * src.per_block());
    if e == 0 {
        return by_element(call, &mut Asm::of(call, to.instructions()));
    }
    let mut c = Code::new(src.dtype);
    let index = c.typed(t, |c| {
        let (all, lanes) = (c.all(c.size()), c.count(0));
        c.scalar(Op::vmuls, lanes, line, all)
    });
    c.repeat(cols, |c| {
        c.repeat(rows.div_ceil(e), |c| {
            let n = affine(rows, &[0, down(e as usize)]);
            let m = c.below_most(c.size(), n, e);
            let from = affine(src.addr, &[size as i64, (e * line * size) as i64]);
            let x = c.gather(Op::vgather2, from, index, m);
            let at = affine(dst.addr, &[(dst.row(1) - dst.addr) as i64, (e * size) as i64]);
            c.store(Dist::Norm, x, at, m);
        });
    });
    to.function(&c.finish())
}

/// TGATHER by index of 32-bit elements, TGATHERB.
pub fn gather(call: &Call, to: &mut dyn Issue) -> Done {
    let (src, idx, dst) = (call.source(0), call.source(1), &call.dst);
    let (rows, cols) = dst.valid();
    let blocks = call.op.operator == Operator::GatherB;
    let e = VL as u64 / dst.size();
    // Eight offsets, or an index an element.
    let step = if blocks { 32 } else { VL as i64 };
    let mut c = Code::over(dst);
    c.repeat(rows, |c| {
        c.repeat(cols.div_ceil(e), |c| {
            let m = c.below(c.size(), affine(cols, &[0, down(e as usize)]));
            let at = affine(idx.addr, &[(idx.row(1) - idx.addr) as i64, step]);
            let i = c.load_as(U32, Dist::Norm, at);
            let x = if blocks {
                let n = affine(cols / dst.per_block(), &[0, -8]);
                let lanes = c.below_most(4, n, 8);
                c.gather(Op::vgatherb, affine(src.addr, &[]), i, lanes)
            } else {
                c.gather(Op::vgather2, affine(src.addr, &[]), i, m)
            };
            let to = affine(dst.addr, &[(dst.row(1) - dst.addr) as i64, VL as i64]);
            c.store(Dist::Norm, x, to, m);
        });
    });
    to.function(&c.finish())
}

/// TMRGSORT: one instruction, into tmp and from there to dst where tmp is given.
pub fn merge(call: &Call, to: &mut dyn Issue) -> Done {
    let (dst, t) = (&call.dst, call.dst.dtype);
    let (at, lens, config) = merge::operands(call);
    let tmp = call.tmp.as_ref().filter(|_| call.op.operator == Operator::Merge);
    let first = tmp.unwrap_or(dst).addr;
    let p = [first, at[0], at[1], at[2], at[3]];
    to.single(&Single::new(Op::vmrgsort4, t, &p, [lens as i64, config as i64]))?;
    let Some(tmp) = tmp else { return Ok(()) };
    let from = Tile { addr: tmp.addr, ..dst.clone() };
    copy(to, dst, &from)
}

fn copy(to: &mut dyn Issue, dst: &Tile, src: &Tile) -> Done {
    let walk = Walk { dst, src: &[src], post: false };
    let (rows, cols) = dst.valid();
    let mut c = Code::over(dst);
    walk.rows(&mut c, rows, cols, &mut |_, x, _| x.first().copied().unwrap_or(V(0)));
    to.function(&c.finish())
}

/// TCONCAT, TEXTRACT, TINSERT: rectangles that start at blocks as loads and stores, the others by
/// the scalar unit.
pub fn block_copy(call: &Call, to: &mut dyn Issue) -> Done {
    for p in block_copy::parts(call) {
        let (dst, src) = p.tiles(&call.dst);
        if dst.addr.is_multiple_of(32) && src.addr.is_multiple_of(32) {
            copy(to, &dst, &src)?;
        } else {
            block_copy::scalar(call, &mut Asm::of(call, to.instructions()), &p)?;
        }
    }
    Ok(())
}
