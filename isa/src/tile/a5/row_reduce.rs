//! TROWMAX, TROWMIN, TROWSUM, TROWPROD: chunk after chunk of every row.

use super::super::call::Call;
use super::super::meaning::one;
use super::super::quirks::Quirk;
use super::super::{Operator, Tile};
use super::code::{Code, Convert};
use super::function::{Affine, M, V, affine};
use super::{Done, Issue, down, two};
use crate::a5::{Dist, Op, VL};
use ptoemu_core::dtype::DType::{self, F16, I8, I16, I32, U8, U16};
use ptoemu_core::num::Round;

/// Bits of the value that changes nothing.
pub(super) fn neutral(op: Operator, t: DType) -> u64 {
    let bits = 8 * t.size() as u32;
    let infinity = match t {
        DType::F16 => 0x7C00u64,
        DType::BF16 => 0x7F80,
        _ => 0x7F80_0000,
    };
    let (top, sign) = (u64::MAX >> (64 - bits), 1u64 << (bits - 1));
    match (op, t.is_float(), t.is_signed()) {
        (Operator::Add, ..) => 0,
        (Operator::Mul, ..) => one(t),
        (Operator::Min, true, _) => infinity,
        (Operator::Min, _, true) => top >> 1,
        (Operator::Min, ..) => top,
        (_, true, _) => infinity | sign,
        (_, _, true) => sign,
        _ => 0,
    }
}

pub(super) fn one_point(t: DType) -> Dist {
    match t.size() {
        1 => Dist::OneptB8,
        2 => Dist::OneptB16,
        _ => Dist::OneptB32,
    }
}

/// Row after row: an accumulator, `chunk` for every 256 bytes, then the store of lane 0.
struct Rows<'c> {
    call: &'c Call,
    src: &'c Tile,
    /// Type of the accumulator.
    acc: DType,
}

impl Rows<'_> {
    fn row_step(&self) -> i64 {
        (self.src.row(1) - self.src.addr) as i64
    }

    /// Count of elements left, in rounds of `e`.
    fn left(&self, e: usize) -> Affine {
        affine(self.src.valid_cols.into(), &[0, down(e)])
    }

    fn each(
        &self,
        c: &mut Code,
        chunk: &mut dyn FnMut(&mut Code, V, V),
        last: &mut dyn FnMut(&mut Code, V) -> V,
        one: M,
    ) {
        let (rows, cols) = self.src.valid();
        let t = c.t;
        let chunks = cols.div_ceil((VL / t.size()) as u64);
        let dst = &self.call.dst;
        c.post = !self.call.attrs.indexed;
        c.repeat(rows, |c| {
            let acc = c.vector();
            c.t = self.acc;
            c.splat_into(acc, neutral(self.call.op.operator, self.acc));
            c.t = t;
            c.repeat(chunks, |c| {
                let x = c.load(Dist::Norm, affine(self.src.addr, &[self.row_step(), VL as i64]));
                chunk(c, x, acc);
            });
            let out = last(c, acc);
            let step = u64::from(dst.row_stride()) * dst.size();
            c.store(one_point(t), out, affine(dst.addr, &[step as i64]), one);
        });
    }
}

/// TROWMAX, TROWMIN, TROWSUM.
pub fn row_reduce(call: &Call, to: &mut dyn Issue) -> Done {
    let src = call.source(0);
    let t = src.dtype;
    let mut c = Code::over(src);
    let one = c.below(t.size(), affine(1, &[]));
    let sums_i16 = call.op.operator == Operator::Add && t == I16;
    let rows = Rows { call, src, acc: if sums_i16 { I32 } else { t } };
    let reduce = match call.op.operator {
        Operator::Add => Op::vcadd,
        Operator::Min => Op::vcmin,
        _ => Op::vcmax,
    };
    let combine = two(call.op.operator);
    if t.size() == 1 {
        bytes(&rows, &mut c, reduce, combine, one);
        return to.function(&c.finish());
    }
    let e = VL / t.size();
    let mut chunk = |c: &mut Code, x: V, acc: V| {
        let m = c.below(t.size(), rows.left(e));
        let r = c.vector();
        c.reduce(r, reduce, x, m, (t, rows.acc));
        c.t = rows.acc;
        c.into(acc, combine, &[acc, r], one);
        c.t = t;
    };
    let mut last = |c: &mut Code, acc: V| match sums_i16 {
        true => c.convert((I32, I16), acc, one, Convert::default()),
        false => acc,
    };
    rows.each(&mut c, &mut chunk, &mut last, one);
    to.function(&c.finish())
}

/// Bytes are reduced as 16-bit halves: even elements, odd elements, then both.
///
/// The shipped code lets the byte predicate govern the odd half too, so an odd column count takes
/// one element beyond the row; a predicate of their own keeps the halves apart.
fn bytes(rows: &Rows, c: &mut Code, reduce: Op, combine: Op, one: M) {
    let t = c.t;
    let wide = if t == U8 { U16 } else { F16 };
    let cols = u64::from(rows.src.valid_cols);
    let shipped = rows.call.quirks.has(Quirk::D18);
    let half = |n: u64| affine(n, &[0, down(VL / 2)]);
    let mut chunk = |c: &mut Code, x: V, acc: V| {
        let masks = if shipped {
            [c.below(1, rows.left(VL)); 2]
        } else {
            [c.below(2, half(cols.div_ceil(2))), c.below(2, half(cols / 2))]
        };
        let parts: Vec<V> = masks
            .into_iter()
            .zip(0..)
            .map(|(m, part)| {
                let how = Convert { part, ..Convert::default() };
                let h = c.convert((t, wide), x, m, how);
                c.t = wide;
                let r = c.op(reduce, &[h], m);
                c.t = t;
                r
            })
            .collect();
        c.t = wide;
        let both = c.op(combine, &parts, one);
        c.t = t;
        let back = narrow(c, both, (wide, t), one);
        c.into(acc, combine, &[acc, back], one);
    };
    rows.each(c, &mut chunk, &mut |_, acc| acc, one);
}

fn narrow(c: &mut Code, x: V, types: (DType, DType), one: M) -> V {
    debug_assert!(matches!(types.1, U8 | I8));
    let round = Some(Round::NearestEven);
    c.convert(types, x, one, Convert { round, saturate: true, part: 0 })
}

/// TROWPROD: lanes multiplied over the chunks, then folded in halves.
pub fn row_reduce_scalar(call: &Call, to: &mut dyn Issue) -> Done {
    let src = call.source(0);
    let t = src.dtype;
    let mut c = Code::over(src);
    let first = c.below(t.size(), affine(1, &[]));
    let all = c.all(t.size());
    let ones = c.splat(one(t));
    let rows = Rows { call, src, acc: t };
    let e = VL / t.size();
    let mut chunk = |c: &mut Code, x: V, acc: V| {
        let m = c.below(t.size(), rows.left(e));
        c.merge(acc, Op::vmul, &[acc, x], m);
    };
    let mut last = |c: &mut Code, acc: V| {
        let mut out = acc;
        for _ in 0..e.ilog2() {
            let [a, b] = c.pair(Op::vintlv, [out, ones]);
            out = c.op(Op::vmul, &[a, b], all);
        }
        out
    };
    rows.each(&mut c, &mut chunk, &mut last, first);
    to.function(&c.finish())
}
