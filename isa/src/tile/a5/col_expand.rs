//! TCOLEXPAND and its relatives with a full operand.

use super::super::call::Call;
use super::super::{Operator, Tile};
use super::code::Code;
use super::function::{V, affine};
use super::{Done, Issue, M, down, software};
use crate::a5::{Dist, Op, VL};
use ptoemu_core::dtype::DType::F32;

fn row_step(t: &Tile) -> i64 {
    (t.row(1) - t.addr) as i64
}

/// TCOLEXPAND: each chunk is loaded once and stored in every row.
pub fn col_expand(call: &Call, to: &mut dyn Issue) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let (rows, cols) = dst.valid();
    let mut c = Code::over(dst);
    let (e, size, line) = (VL / c.size(), c.size(), VL as i64);
    c.post = !call.attrs.indexed;
    c.repeat(cols.div_ceil(e as u64), |c| {
        let x = c.load(Dist::Norm, affine(src.addr, &[line]));
        let m = c.below(size, affine(cols, &[down(e)]));
        c.repeat(rows, |c| {
            c.store(Dist::Norm, x, affine(dst.addr, &[line, row_step(dst)]), m);
        });
    });
    to.function(&c.finish())
}

/// TCOLEXPAND{ADD,SUB,MUL,DIV,MAX,MIN,EXPDIF}: the row is loaded again for every row.
pub fn col_expand_bin(call: &Call, to: &mut dyn Issue) -> Done {
    let dst = &call.dst;
    let (full, row) = call.full_and_row();
    let (rows, cols) = dst.valid();
    let mut c = Code::over(dst);
    let (e, size) = (VL / c.size(), c.size());
    let post = !call.attrs.indexed && (dst.full_cols_static() || dst.rows == 1);
    let at = |t: &Tile| affine(t.addr, &[row_step(t), VL as i64]);
    c.repeat(rows, |c| {
        c.repeat(cols.div_ceil(e as u64), |c| {
            let m = c.below(size, affine(cols, &[0, down(e)]));
            let y = c.load(Dist::Norm, affine(row.addr, &[0, VL as i64]));
            c.post = post;
            let x = c.load(Dist::Norm, at(full));
            c.post = false;
            let operands = if call.row_first() { [y, x] } else { [x, y] };
            let d = combine(c, call.op.operator, operands, m);
            c.store(Dist::Norm, d, at(dst), m);
        });
    });
    to.function(&c.finish())
}

/// x op y of an expanding operation; f32 differences of exponents have an instruction.
pub fn combine(c: &mut Code, op: Operator, [x, y]: [V; 2], m: M) -> V {
    match (op, c.t) {
        (Operator::ExpDif, F32) => c.op(Op::vexpdif, &[x, y], m),
        (Operator::ExpDif, _) => {
            let d = c.op(Op::vsub, &[x, y], m);
            c.op(Op::vexp, &[d], m)
        }
        (op, _) => software::combine(c, op, x, y, m),
    }
}
