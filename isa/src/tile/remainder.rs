//! TREM, TREMS, TFMOD, TFMODS: remainders through a rounded quotient.

use super::Family;
use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict};
use super::meaning::{self, Mem, cut, f16_to_f32};
use super::op::Operator;
use super::quirks::Quirk;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType::{self, F16, F32};
use ptoemu_core::num::{Conversion, Narrow, Overflow, Round};

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.elementwise(call, true)?;
    if c.family == Family::A5 {
        return Ok(());
    }
    // The quotient is kept in dst.
    for (role, t) in call.tiles().filter(|(role, _)| role.starts_with("src")) {
        c.disjoint(("dst", &call.dst), (role, t))?;
    }
    c.scratch(call)
}

/// x - round(x / y) * y, every step rounded: quotients beyond 2^24 leave no digit. Toward -inf the
/// result has the sign of y, toward 0 that of x. f16 is computed in f32.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (op, t) = (call.op.operator, call.dst.dtype);
    meaning::elementwise(call, mem, |v| {
        let y = if call.op.sig.scalar { call.scalar_bits() } else { v[1] };
        let r = match t {
            F16 => halved(steps(op, f16_to_f32(v[0]), f16_to_f32(y))),
            _ => steps(op, v[0], y),
        };
        if op == Operator::Rem { repaired(t, r, y) } else { r }
    })
}

fn steps(op: Operator, x: u64, y: u64) -> u64 {
    let round = if op == Operator::Rem { Round::Floor } else { Round::Zero };
    let quotient = meaning::combine(Operator::Div, F32, x, y);
    let whole = conversion(F32, F32, round).element(quotient);
    meaning::combine(Operator::Sub, F32, x, meaning::combine(Operator::Mul, F32, whole, y))
}

fn conversion(from: DType, to: DType, round: Round) -> Conversion {
    Conversion { from, to, round, narrow: Narrow::Clamp, overflow: Overflow::Saturate }
}

/// f32 to f16 towards zero.
fn halved(bits: u64) -> u64 {
    conversion(F32, F16, Round::Zero).element(bits)
}

/// A remainder whose sign differs from that of the divisor moves by one divisor.
fn repaired(t: DType, r: u64, y: u64) -> u64 {
    let product = meaning::combine(Operator::Mul, t, r, y);
    let negative = meaning::to_f64(t, product) < 0.0;
    cut(t, if negative { meaning::combine(Operator::Add, t, r, y) } else { r })
}

/// A2/A3 microcode: row by row in counter mode, a barrier after every step.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (rows, cols) = call.dst.valid();
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    a.count(cols)?;
    for r in 0..rows {
        let row =
            Row { call, d: call.dst.row(r), x: call.source(0).row(r), y: call.source(1).row(r) };
        match (call.op.operator, &call.tmp) {
            (Operator::Rem, Some(tmp)) => row.floored(a, tmp.addr, cols)?,
            _ => row.truncated(a)?,
        }
    }
    a.end_count()
}

/// One row: addresses of dst and the sources.
struct Row<'c> {
    call: &'c Call,
    d: u64,
    x: u64,
    y: u64,
}

impl Row<'_> {
    /// Issues two-source instructions in counter mode, each with its barrier.
    fn two(&self, a: &mut Asm, op: Op, at: [u64; 3]) -> Done {
        a.vec2(op, at, 0, [1; 3], [8; 3])?;
        a.barrier()
    }

    /// `to` = `x` op the second operand, a row or the scalar.
    fn with_second(&self, a: &mut Asm, [to, x]: [u64; 2], (two, scalar): (Op, Op)) -> Done {
        if !self.call.op.sig.scalar {
            return self.two(a, two, [to, x, self.y]);
        }
        a.vecs(scalar, [to, x], self.call.scalar_bits(), 0, [8, 8])?;
        a.barrier()
    }

    /// `to` = x / y, rounded to an integral value.
    fn quotient(&self, a: &mut Asm, to: u64, round: Op) -> Done {
        if self.call.op.sig.scalar {
            a.dup(to, self.call.scalar_bits(), 0, [1, 1], [8, 0])?;
            a.barrier()?;
            self.two(a, Op::vdiv, [to, self.x, to])?;
        } else {
            self.two(a, Op::vdiv, [to, self.x, self.y])?;
        }
        a.vec1(round, to, to, 0, [8, 8])?;
        a.barrier()
    }

    /// dst = x - trunc(x / y) * y.
    fn truncated(&self, a: &mut Asm) -> Done {
        self.quotient(a, self.d, Op::vconv_f322f32z)?;
        self.with_second(a, [self.d, self.d], (Op::vmul, Op::vmuls))?;
        self.two(a, Op::vsub, [self.d, self.x, self.d])
    }

    /// dst = x - floor(x / y) * y, moved by y where its sign is not that of y.
    fn floored(&self, a: &mut Asm, t: u64, cols: u64) -> Done {
        self.quotient(a, t, Op::vconv_f322f32f)?;
        self.with_second(a, [self.d, t], (Op::vmul, Op::vmuls))?;
        self.two(a, Op::vsub, [self.d, self.x, self.d])?;
        self.with_second(a, [t, self.d], (Op::vmul, Op::vmuls))?;
        if self.call.op.sig.scalar && self.call.quirks.has(Quirk::Q21) {
            return self.repaired_by_first_bits(a, t);
        }
        let bits = t + u64::from(self.call.dst.cols) * self.call.dst.size();
        self.address(a, bits, cols)?;
        a.vecs(Op::vcmpvs_lt, [bits, t], 0, cols.div_ceil(64), [8, 8])?;
        a.barrier()?;
        if self.call.quirks.has(Quirk::Q31) {
            a.count(cols)?;
        }
        self.with_second(a, [t, self.d], (Op::vadd, Op::vadds))?;
        self.select(a, t, 2)
    }

    /// CMPMASK = the address of the bits. Shipped code fills a whole repeat with it, in norm mode.
    fn address(&self, a: &mut Asm, bits: u64, cols: u64) -> Done {
        let shipped = self.call.quirks.has(Quirk::Q31);
        if shipped {
            a.end_count()?;
        } else {
            a.mask(0, 2)?;
        }
        let t = a.t;
        a.t = DType::U32;
        a.dup(bits, bits, 1, [1, 1], [8, 0])?;
        a.t = t;
        a.barrier()?;
        a.emit(Op::set_cmpmask, &[bits as i64])?;
        a.barrier()?;
        if shipped { Ok(()) } else { a.mask(0, cols) }
    }

    /// Shipped form with a scalar: every repeat takes the bits of the first.
    fn repaired_by_first_bits(&self, a: &mut Asm, t: u64) -> Done {
        a.vecs(Op::vcmpvs_lt, [t, t], 0, 0, [8, 8])?;
        a.barrier()?;
        a.emit(Op::set_cmpmask, &[t as i64])?;
        a.barrier()?;
        self.with_second(a, [t, self.d], (Op::vadd, Op::vadds))?;
        self.select(a, t, 0)
    }

    /// dst = bit ? t : dst.
    fn select(&self, a: &mut Asm, t: u64, mode: i64) -> Done {
        let (d, t) = (self.d as i64, t as i64);
        a.emit(Op::vsel, &[d, t, d, 1, 1, 1, 1, 8, 8, 8, mode])?;
        a.barrier()
    }
}
