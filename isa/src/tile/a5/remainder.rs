//! TREM, TREMS, TFMOD, TFMODS: quotient, rounding, product, difference; the floored forms then
//! repair the sign.

use super::super::Operator;
use super::super::call::Call;
use super::super::quirks::Quirk;
use super::code::{Code, Convert};
use super::elementwise::run;
use super::function::{M, V};
use super::{Done, Issue};
use crate::a5::{Cmp, Op};
use ptoemu_core::dtype::DType::{F16, F32};
use ptoemu_core::num::Round;

/// The four remainders.
pub fn remainder(call: &Call, to: &mut dyn Issue) -> Done {
    let floored = call.op.operator == Operator::Rem;
    let shipped = call.op.sig.scalar && call.quirks.has(Quirk::R17);
    let round = if floored { Round::Floor } else { Round::Zero };
    run(
        call,
        to,
        |_| None,
        |c, x, m, _| {
            let (a, b) = match *x {
                [a, b] => (a, b),
                [a, ..] => (a, c.fill(call.scalar_bits(), m)),
                _ => (V(0), V(0)),
            };
            let r = match c.t {
                F16 => halves(c, [a, b], round, m),
                _ => steps(c, [a, b], round, m),
            };
            if floored && !shipped { repaired(c, r, b, m) } else { r }
        },
    )
}

fn steps(c: &mut Code, [a, b]: [V; 2], round: Round, m: M) -> V {
    let quotient = c.op(Op::vdiv, &[a, b], m);
    let whole = c.truncate(quotient, m, Convert { round: Some(round), ..Convert::default() });
    let product = c.op(Op::vmul, &[whole, b], m);
    c.op(Op::vsub, &[a, product], m)
}

/// f16: even and odd lanes in f32, back towards zero.
fn halves(c: &mut Code, from: [V; 2], round: Round, m: M) -> V {
    let all = c.all(4);
    let parts = [0u8, 1].map(|part| {
        let how = Convert { part, ..Convert::default() };
        let wide = from.map(|x| c.convert((F16, F32), x, all, how));
        let r = c.typed(F32, |c| steps(c, wide, round, all));
        let back = Convert { round: Some(Round::Zero), saturate: true, part };
        c.convert((F32, F16), r, all, back)
    });
    c.op(Op::vor, &parts, m)
}

/// One divisor more where remainder and divisor differ in sign.
fn repaired(c: &mut Code, r: V, b: V, m: M) -> V {
    let product = c.op(Op::vmul, &[r, b], m);
    let differ = c.compare(Cmp::Lt, product, 0, m);
    let moved = c.op(Op::vadd, &[r, b], m);
    c.op(Op::vsel, &[moved, r], differ)
}
