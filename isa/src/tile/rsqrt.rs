//! TRSQRT: approximate without tmp, square root and division with it.

use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::meaning::{self, Mem, combine, one, single};
use super::op::Operator;
use super::unary;
use super::{Family, Tile};
use crate::machine::Stop;
use crate::table::Op;

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.elementwise(call, true)?;
    let Some(tmp) = call.tmp.as_ref().filter(|_| c.family == Family::A2A3) else { return Ok(()) };
    c.tmp_size(call, 32, "one block of ones")?;
    if tmp.dtype != call.dst.dtype {
        let text = format!("element types differ: tmp is {}, dst {}", tmp.dtype, call.dst.dtype);
        return refuse("legality.type_mismatch", text, "give tmp the type of dst");
    }
    c.disjoint(("tmp", tmp), ("dst", &call.dst))?;
    c.disjoint(("tmp", tmp), ("src", call.source(0)))
}

/// dst = 1 / sqrt(src), rounded once without tmp and twice with it or on the 950.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let t = call.dst.dtype;
    let once = call.tmp.is_none() && call.family == Family::A2A3;
    meaning::elementwise(call, mem, |v| match once {
        true => single(Operator::Rsqrt, t, v[0]),
        false => combine(Operator::Div, t, one(t), single(Operator::Sqrt, t, v[0])),
    })
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    match &call.tmp {
        None => unary::apply(call, a, Op::vrsqrt, &call.dst, call.source(0)),
        Some(tmp) => accurate(call, a, tmp),
    }
}

fn accurate(call: &Call, a: &mut Asm, tmp: &Tile) -> Done {
    let (dst, src) = (&call.dst, call.source(0));
    let (rows, cols) = dst.valid();
    a.counter()?;
    a.mask(0, a.b())?;
    a.dup(tmp.addr, one(a.t), 0, [0, 0], [0, 0])?;
    a.mask(0, cols)?;
    (0..rows).try_for_each(|r| a.vec1(Op::vsqrt, dst.row(r), src.row(r), 0, [8, 8]))?;
    a.barrier()?;
    for r in 0..rows {
        let at = [dst.row(r), tmp.addr, dst.row(r)];
        a.vec2(Op::vdiv, at, 0, [1, 0, 1], [8, 0, 8])?;
    }
    a.end_count()
}
