//! TEXP, TLOG, TSQRT, TRSQRT, TABS, TRELU, TNOT: one tile, element by element.

use super::Tile;
use super::asm::{Asm, MAX_REPEAT};
use super::call::Call;
use super::check::{Checker, Verdict};
use super::engine::{Body, Engine};
use super::meaning::{self, Mem, single};
use super::op::Operator;
use crate::machine::Stop;
use crate::table::Op;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.elementwise(call, true)
}

/// dst = op(src).
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (op, t) = (call.op.operator, call.dst.dtype);
    meaning::elementwise(call, mem, |v| single(op, t, v[0]))
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    if call.op.operator == Operator::Not {
        return super::bits::complement(call, a);
    }
    let op = match call.op.operator {
        Operator::Exp => Op::vexp,
        Operator::Log => Op::vln,
        Operator::Sqrt => Op::vsqrt,
        Operator::Rsqrt => Op::vrsqrt,
        Operator::Abs => Op::vabs,
        _ => Op::vrelu,
    };
    apply(call, a, op, &call.dst, call.source(0))
}

/// Emits `op` from `src` to `dst` over the valid region of the destination.
pub(super) fn apply(call: &Call, a: &mut Asm, op: Op, dst: &Tile, src: &Tile) -> Done {
    let eng = Engine { call, dst, body: Body::One(op, src) };
    let (rows, cols) = dst.valid();
    let e = a.e();
    let known = dst.full_cols_static() && src.full_cols_static() || dst.rows == 1 && src.rows == 1;
    let same = dst.rows == src.rows && dst.cols == src.cols;
    let (height, width) = (u64::from(dst.rows), u64::from(dst.cols));
    if known || same && (cols == width || rows == 1) {
        let all = if known { height * width } else { rows * cols };
        return eng.flat(a, rows * cols, all.div_ceil(e) > MAX_REPEAT);
    }
    eng.by_shape(a, width / e, height)
}
