//! Element by element: one function of one loop over contiguous elements, or of rows and chunks.

use super::super::call::Call;
use super::super::meaning::{combine, cut, one};
use super::super::{Operator, Tile};
use super::code::Code;
use super::function::{M, V, affine};
use super::{Done, Issue, down, software};
use crate::a5::{Dist, Op, VL};
use ptoemu_core::dtype::DType;

/// The walk all elementwise operations share.
pub(super) struct Walk<'c> {
    pub dst: &'c Tile,
    pub src: &'c [&'c Tile],
    /// Contiguous loads advance their address themselves.
    pub post: bool,
}

impl Walk<'_> {
    fn tiles(&self) -> impl Iterator<Item = &Tile> {
        std::iter::once(self.dst).chain(self.src.iter().copied())
    }

    /// Are all tiles one run of elements, known so at compile time?
    pub fn flat(&self) -> bool {
        self.tiles().all(Tile::full_cols_static) || self.tiles().all(|t| t.rows == 1)
    }

    /// Predicate, loads, `body`, store; 256 bytes a round.
    pub fn each(&self, c: &mut Code, body: &mut dyn FnMut(&mut Code, &[V], M) -> V) {
        let (rows, cols) = self.dst.valid();
        if self.flat() {
            c.post = self.post;
            return self.line(c, rows * cols, body);
        }
        self.rows(c, rows, cols, body);
    }

    fn line(&self, c: &mut Code, n: u64, body: &mut dyn FnMut(&mut Code, &[V], M) -> V) {
        let e = VL / c.size();
        c.repeat(n.div_ceil(e as u64), |c| {
            let m = c.below(c.size(), affine(n, &[down(e)]));
            let at = |t: &Tile| affine(t.addr, &[VL as i64]);
            let x: Vec<V> = self.src.iter().map(|t| c.load(Dist::Norm, at(t))).collect();
            let d = body(c, &x, m);
            c.store(Dist::Norm, d, at(self.dst), m);
        });
    }

    pub fn rows(
        &self,
        c: &mut Code,
        rows: u64,
        cols: u64,
        body: &mut dyn FnMut(&mut Code, &[V], M) -> V,
    ) {
        let e = VL / c.size();
        c.repeat(rows, |c| {
            c.repeat(cols.div_ceil(e as u64), |c| {
                let m = c.below(c.size(), affine(cols, &[0, down(e)]));
                let at = |t: &Tile| affine(t.addr, &[(t.row(1) - t.addr) as i64, VL as i64]);
                let x: Vec<V> = self.src.iter().map(|t| c.load(Dist::Norm, at(t))).collect();
                let d = body(c, &x, m);
                c.store(Dist::Norm, d, at(self.dst), m);
            });
        });
    }
}

/// A walk over tiles in storage order; column-major tiles exchange rows and columns.
pub(super) fn run(
    call: &Call,
    to: &mut dyn Issue,
    prologue: impl FnOnce(&mut Code) -> Option<V>,
    mut body: impl FnMut(&mut Code, &[V], M, Option<V>) -> V,
) -> Done {
    let dst = call.dst.storage_rows();
    let src: Vec<Tile> = call.src.iter().map(Tile::storage_rows).collect();
    let src: Vec<&Tile> = src.iter().collect();
    let walk = Walk { dst: &dst, src: &src, post: !call.attrs.indexed };
    if dst.valid_rows == 0 || dst.valid_cols == 0 {
        return Ok(());
    }
    let mut c = Code::over(&dst);
    let constant = prologue(&mut c);
    walk.each(&mut c, &mut |c, x, m| body(c, x, m, constant));
    to.function(&c.finish())
}

/// TADD, TSUB, TMUL, TDIV, TMAX, TMIN.
pub fn bin(call: &Call, to: &mut dyn Issue) -> Done {
    let op = call.op.operator;
    run(
        call,
        to,
        |_| None,
        |c, x, m, _| match *x {
            [a, b] => software::combine(c, op, a, b, m),
            _ => V(0),
        },
    )
}

/// TMULADDDST, TFUSEDMULADD, TFUSEDMULADDRELU, TAXPY, TSUBRELU: dst is loaded too where it counts.
pub fn fused(call: &Call, to: &mut dyn Issue) -> Done {
    let (op, bits) = (call.op.operator, call.scalar_bits());
    let dst = &call.dst;
    let old = call.reads_dst().then_some(dst);
    let src: Vec<&Tile> = old.into_iter().chain(call.src.iter()).collect();
    let walk = Walk { dst, src: &src, post: !call.attrs.indexed };
    if dst.valid_rows == 0 || dst.valid_cols == 0 {
        return Ok(());
    }
    let mut c = Code::over(dst);
    walk.each(&mut c, &mut |c, x, m| match (op, x) {
        (Operator::SubRelu, [a, b]) => {
            let difference = c.op(Op::vsub, &[*a, *b], m);
            c.op(Op::vrelu, &[difference], m)
        }
        (Operator::Axpy, [d, a]) => c.scalar_two(Op::vaxpy, [*a, *d], bits, m),
        (Operator::MulAdd, [d, a, b]) => c.op(Op::vmula, &[*d, *a, *b], m),
        (Operator::MulDst, [d, a, b]) => c.op(Op::vmadd, &[*d, *a, *b], m),
        (_, [d, a, b]) => {
            let sum = c.op(Op::vmadd, &[*d, *a, *b], m);
            c.op(Op::vrelu, &[sum], m)
        }
        _ => V(0),
    });
    to.function(&c.finish())
}

/// TEXP, TLOG, TSQRT, TABS, TRELU, TNOT.
pub fn unary(call: &Call, to: &mut dyn Issue) -> Done {
    let op = match call.op.operator {
        Operator::Exp => Op::vexp,
        Operator::Log => Op::vln,
        Operator::Sqrt => Op::vsqrt,
        Operator::Abs => Op::vabs,
        Operator::Not => Op::vnot,
        _ => Op::vrelu,
    };
    run(call, to, |_| None, |c, x, m, _| c.op(op, x, m))
}

/// TRSQRT: a root and a division, with or without tmp.
pub fn rsqrt(call: &Call, to: &mut dyn Issue) -> Done {
    let (rows, cols) = call.dst.valid();
    let ones = |c: &mut Code| {
        let m = c.below(c.size(), affine(rows * cols, &[]));
        Some(c.fill(one(c.t), m))
    };
    run(call, to, ones, |c, x, m, ones| {
        let root = c.op(Op::vsqrt, x, m);
        c.op(Op::vdiv, &[ones.unwrap_or(root), root], m)
    })
}

/// TMOV: loads feed stores; always row by row.
pub fn copy(call: &Call, to: &mut dyn Issue) -> Done {
    let words = |t: &Tile| {
        let mut t = t.storage_rows();
        if t.dtype.size() == 8 {
            // 8-byte elements travel as pairs of words.
            t.dtype = DType::U32;
            (t.cols, t.valid_cols) = (t.cols.saturating_mul(2), t.valid_cols.saturating_mul(2));
        }
        t
    };
    let (dst, src) = (words(&call.dst), words(call.source(0)));
    let walk = Walk { dst: &dst, src: &[&src], post: false };
    let rows = u64::from(dst.valid_rows.min(src.valid_rows));
    let cols = u64::from(dst.valid_cols.min(src.valid_cols));
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    let mut c = Code::over(&dst);
    walk.rows(&mut c, rows, cols, &mut |_, x, _| x.first().copied().unwrap_or(V(0)));
    to.function(&c.finish())
}

/// TEXPANDS: the load the source text has is dead and dropped.
pub fn fill(call: &Call, to: &mut dyn Issue) -> Done {
    let bits = call.scalar_bits();
    run(call, to, |_| None, |c, _, m, _| c.fill(bits, m))
}

/// A tile and a scalar.
pub fn bin_scalar(call: &Call, to: &mut dyn Issue) -> Done {
    let (t, s) = (call.dst.dtype, call.scalar_bits());
    let op = call.op.operator;
    if matches!(op, Operator::Div | Operator::Recip) {
        if !t.is_float() {
            return divide_ints(call, to);
        }
        return divide(call, to);
    }
    if matches!(op, Operator::And | Operator::Or | Operator::Xor) {
        return spread(call, to, super::two(op), call.scalar_bits(), false);
    }
    let sign = 1u64 << (8 * t.size() as u32 - 1);
    let (op, s) = match op {
        Operator::Add => (Op::vadds, s),
        Operator::Sub if t.is_float() => (Op::vadds, s ^ sign),
        Operator::Sub => (Op::vadds, cut(t, s.wrapping_neg())),
        Operator::Mul => (Op::vmuls, s),
        Operator::Neg if t.is_float() => (Op::vmuls, one(t) | sign),
        Operator::Neg => (Op::vmuls, cut(t, u64::MAX)),
        Operator::Min => (Op::vmins, s),
        Operator::Shl => (Op::vshls, s),
        Operator::Shr => (Op::vshrs, s),
        Operator::Leaky => (Op::vlrelu, s),
        _ => (Op::vmaxs, s),
    };
    run(call, to, |_| None, |c, x, m, _| c.scalar(op, x.first().copied().unwrap_or(V(0)), s, m))
}

/// A tile and a scalar that is spread once, as the second operand; as the first if `first`.
fn spread(call: &Call, to: &mut dyn Issue, op: Op, bits: u64, first: bool) -> Done {
    run(
        call,
        to,
        |c| Some(c.splat(bits)),
        |c, x, m, s| {
            let x = x.first().copied().unwrap_or(V(0));
            let s = s.unwrap_or(x);
            c.op(op, &if first { [s, x] } else { [x, s] }, m)
        },
    )
}

/// Tile / scalar or scalar / tile.
fn divide(call: &Call, to: &mut dyn Issue) -> Done {
    let recip = call.op.operator == Operator::Recip;
    let bits = if recip { one(call.dst.dtype) } else { call.scalar_bits() };
    spread(call, to, Op::vdiv, bits, recip || call.attrs.reversed)
}

/// Integers are divided by the scalar unit, element by element, after the vector pipe.
fn divide_ints(call: &Call, to: &mut dyn Issue) -> Done {
    let (src, t) = (call.source(0), call.dst.dtype);
    let recip = call.op.operator == Operator::Recip;
    let s = if recip { one(t) } else { call.scalar_bits() };
    let under = recip || call.attrs.reversed;
    let mut a = super::super::asm::Asm::of(call, to.instructions());
    let (rows, cols) = call.dst.valid();
    a.v_to_s()?;
    for r in 0..rows {
        for c in 0..cols {
            let x = a.load(src.at(r, c))?;
            let (x, y) = if under { (s, x) } else { (x, s) };
            a.store(call.dst.at(r, c), combine(Operator::Div, t, x, y))?;
        }
    }
    // What the vector pipe does next may read the quotients; shipped code leaves this wait out.
    if call.quirks.has(super::super::Quirk::R2) { Ok(()) } else { a.s_to_v() }
}
