//! TADDRELUCONV, TSUBRELUCONV: max(src0 +- src1, 0) in a narrower type.

use super::Tile;
use super::asm::{Asm, MAX_REPEAT, rounds};
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::{self, Mem, combine, int_of, single};
use super::op::Operator;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType::{F16, F32, I8, I16};
use ptoemu_core::num::{Conversion, Narrow, Overflow, Round};

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let dst = &call.dst;
    for (role, t) in call.tiles() {
        c.row_major(role, t)?;
        c.same_valid(role, t, dst)?;
        if role == "dst" {
            continue;
        }
        c.disjoint(("dst", dst), (role, t))?;
        if t.dtype != call.source(0).dtype || instruction(call).is_none() {
            let text = format!("{role} is {}, dst {}", t.dtype, dst.dtype);
            return refuse("legality.type_mismatch", text, "f32 to f16, f16 to i8 or i16 to i8");
        }
    }
    Ok(())
}

fn instruction(call: &Call) -> Option<Op> {
    let add = call.op.operator == Operator::AddReluConv;
    Some(match (call.dst.dtype, call.source(0).dtype, add) {
        (F16, F32, true) => Op::vaddreluconv_f322f16,
        (F16, F32, false) => Op::vsubreluconv_f322f16,
        (I8, F16, true) => Op::vaddreluconv_f162s8,
        (I8, F16, false) => Op::vsubreluconv_f162s8,
        (I8, I16, true) => Op::vaddreluconv_s162s8,
        (I8, I16, false) => Op::vsubreluconv_s162s8,
        _ => return None,
    })
}

/// Saturating, to nearest even; 16-bit integers do not wrap in between.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (from, to) = (call.source(0).dtype, call.dst.dtype);
    let op = if call.op.operator == Operator::AddReluConv { Operator::Add } else { Operator::Sub };
    let conversion = Conversion {
        from,
        to,
        round: Round::NearestEven,
        narrow: Narrow::Clamp,
        overflow: Overflow::Saturate,
    };
    meaning::elementwise(call, mem, |v| {
        if from == I16 {
            let (x, y) = (int_of(from, v[0]), int_of(from, v[1]));
            return (if op == Operator::Add { x + y } else { x - y }).clamp(0, 127) as u64;
        }
        conversion.element(single(Operator::Relu, from, combine(op, from, v[0], v[1])))
    })
}

/// A2/A3 microcode: whole repeats row by row, then the rest of every row.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (Some(op), (rows, cols)) = (instruction(call), call.dst.valid()) else { return Ok(()) };
    let from = call.source(0).dtype;
    let e = 256 / from.size() as u64;
    for r in 0..rows {
        rounds(cols / e, MAX_REPEAT, |i, n| step(call, a, op, (r, i * e), n))?;
        if !cols.is_multiple_of(e) {
            a.lanes(cols % e)?;
            step(call, a, op, (r, cols / e * e), 1)?;
            a.full()?;
        }
    }
    Ok(())
}

/// `repeat` repeats from column `c` of row `r` on.
fn step(call: &Call, a: &mut Asm, op: Op, (r, c): (u64, u64), repeat: u64) -> Done {
    let at = |t: &Tile| t.at(r, c) as i64;
    let (d, x, y) = (at(&call.dst), at(call.source(0)), at(call.source(1)));
    let args = [d, x, y, repeat as i64, 1, 1, 1, 4, 8, 8, 0];
    a.emit_from(op, call.source(0).dtype, &args)
}
