//! TROWARGMAX and its relatives: indices travel in a register of their own beside the values.

use super::super::call::Call;
use super::super::quirks::Quirk;
use super::super::{Operator, Tile};
use super::code::{Code, Convert};
use super::function::{Affine, M, V, affine};
use super::row_reduce::{neutral, one_point};
use super::{Done, Issue, down};
use crate::a5::{Cmp, Dist, Op, VL};
use ptoemu_core::dtype::DType::{self, I16, U8, U16, U32};

/// TROWARGMAX, TROWARGMIN, TCOLARGMAX, TCOLARGMIN.
pub fn arg(call: &Call, to: &mut dyn Issue) -> Done {
    let src = call.source(0);
    let mut c = Code::over(src);
    let best = Best { call, cmp: cmp(call), shipped: call.quirks.has(Quirk::R16) };
    if call.op.reduces_rows() {
        best.rows(&mut c);
    } else if src.dtype.size() == 1 {
        best.bytes(&mut c);
    } else {
        best.columns(&mut c);
    }
    to.function(&c.finish())
}

fn cmp(call: &Call) -> Cmp {
    if call.op.operator == Operator::ArgMin { Cmp::Lt } else { Cmp::Gt }
}

/// Integer type as wide as an element, for indices.
fn index_of(t: DType) -> DType {
    if t.size() == 4 { U32 } else { U16 }
}

struct Best<'c> {
    call: &'c Call,
    /// A better element beside a worse one.
    cmp: Cmp,
    /// NaN is not looked for.
    shipped: bool,
}

/// The best elements so far and their indices.
#[derive(Clone, Copy)]
struct State {
    value: V,
    index: V,
}

impl Best<'_> {
    fn row_step(&self) -> i64 {
        let src = self.call.source(0);
        (src.row(1) - src.addr) as i64
    }

    /// Takes lanes of `x` and `index` that are better; the first NaN stays.
    fn take(&self, c: &mut Code, s: State, x: V, index: V, m: M) {
        let t = c.t;
        let mut better = c.compare_two(self.cmp, x, s.value, m);
        if t.is_float() && !self.shipped {
            let number = c.compare_two(Cmp::Eq, s.value, s.value, m);
            let nan = c.compare_two(Cmp::Ne, x, x, number);
            better = c.predicate(Op::por, &[better, nan, m], 1)[0];
        }
        c.typed(index_of(t), |c| c.into(s.index, Op::vsel, &[index, s.index], better));
        c.into(s.value, Op::vsel, &[x, s.value], better);
    }

    /// Row after row: the extreme of every chunk with its lane, in lane 0.
    fn rows(&self, c: &mut Code) {
        let (src, dst, t) = (self.call.source(0), &self.call.dst, c.t);
        let (rows, cols) = src.valid();
        let (size, e) = (t.size(), VL / t.size());
        let one = c.below(size, affine(1, &[]));
        let zero = c.splat(0);
        let (min, op) = match self.cmp {
            Cmp::Lt => (Operator::Min, Op::vcmin),
            _ => (Operator::Max, Op::vcmax),
        };
        c.post = !self.call.attrs.indexed;
        c.repeat(rows, |c| {
            let s = State { value: c.vector(), index: c.vector() };
            let offset = c.vector();
            c.splat_into(s.value, neutral(min, t));
            c.typed(index_of(t), |c| [s.index, offset].map(|v| c.splat_into(v, 0)));
            c.repeat(cols.div_ceil(e as u64), |c| {
                let m = c.below(size, affine(cols, &[0, down(e)]));
                let x = c.load(Dist::Norm, affine(src.addr, &[self.row_step(), VL as i64]));
                let found = c.op(op, &[x], m);
                let [value, lane] = c.pair(Op::vdintlv, [found, zero]);
                let index = c.typed(index_of(t), |c| c.op(Op::vadd, &[lane, offset], one));
                self.take(c, s, value, index, one);
                let step = e as u64;
                c.typed(index_of(t), |c| c.scalar_into(offset, Op::vadds, offset, step, one));
            });
            let step = u64::from(dst.row_stride()) * dst.size();
            let at = affine(dst.addr, &[step as i64]);
            if dst.size() as usize > size {
                let wide = c.convert((U16, U32), s.index, one, Convert::default());
                c.store(one_point(U32), wide, at, one);
            } else {
                c.store(one_point(t), s.index, at, one);
            }
        });
    }

    /// Row `1 + round` of a chunk.
    fn next_row(&self, e: usize, size: usize) -> Affine {
        let src = self.call.source(0);
        affine(src.row(1), &[(e * size) as i64, self.row_step()])
    }

    fn columns(&self, c: &mut Code) {
        let (src, t) = (self.call.source(0), c.t);
        let (rows, cols) = src.valid();
        let (size, e) = (t.size(), VL / t.size());
        let all = c.all(size);
        c.repeat(cols.div_ceil(e as u64), |c| {
            let m = c.below(size, affine(cols, &[down(e)]));
            let best = c.load(Dist::Norm, affine(src.addr, &[VL as i64]));
            let s = self.start(c, best, all);
            let row = self.start_count(c, all);
            c.repeat(rows - 1, |c| {
                self.count(c, row, all);
                let x = c.load(Dist::Norm, self.next_row(e, size));
                self.take(c, s, x, row, m);
            });
            match size {
                4 => self.store(c, &[s.index], e, cols),
                _ => {
                    let words = self.widened(c, s.index);
                    self.store(c, &words, e, cols);
                }
            }
        });
    }

    /// Values of row 0 and index 0.
    fn start(&self, c: &mut Code, value: V, all: M) -> State {
        let index = self.start_count(c, all);
        State { value, index }
    }

    fn start_count(&self, c: &mut Code, all: M) -> V {
        let t = index_of(c.t);
        c.typed(t, |c| c.fill(0, all))
    }

    fn count(&self, c: &mut Code, row: V, all: M) {
        let t = index_of(c.t);
        c.typed(t, |c| c.scalar_into(row, Op::vadds, row, 1, all));
    }

    /// 16-bit indices as two registers of 32-bit ones.
    fn widened(&self, c: &mut Code, index: V) -> [V; 2] {
        let all = c.all(4);
        let halves = [0u8, 1]
            .map(|part| c.convert((U16, U32), index, all, Convert { part, ..Convert::default() }));
        c.typed(U32, |c| c.pair(Op::vintlv, halves))
    }

    /// Stores registers of 64 indices of one chunk of `e` columns.
    fn store(&self, c: &mut Code, words: &[V], e: usize, cols: u64) {
        let dst: &Tile = &self.call.dst;
        for (v, k) in words.iter().zip(0i64..) {
            let left = Affine { base: cols as i64 - 64 * k, ..affine(0, &[down(e)]) };
            let m = c.below(4, left);
            let at = affine(dst.addr, &[4 * e as i64]).plus(VL as u64 * k as u64);
            c.typed(dst.dtype, |c| c.store(Dist::Norm, *v, at, m));
        }
    }

    /// Bytes as two registers of 16-bit elements: even and odd ones.
    fn bytes(&self, c: &mut Code) {
        let (src, t) = (self.call.source(0), c.t);
        let (rows, cols) = src.valid();
        let wide = if t == U8 { U16 } else { I16 };
        let all = c.all(2);
        let split = |c: &mut Code, x: V| {
            [0u8, 1]
                .map(|part| c.convert((t, wide), x, all, Convert { part, ..Convert::default() }))
        };
        c.repeat(cols.div_ceil(VL as u64), |c| {
            let masks =
                [cols.div_ceil(2), cols / 2].map(|n| c.below(2, affine(n, &[down(VL / 2)])));
            let first = c.load(Dist::Norm, affine(src.addr, &[VL as i64]));
            let halves = split(c, first);
            let (states, row) = c
                .typed(wide, |c| (halves.map(|h| self.start(c, h, all)), self.start_count(c, all)));
            c.repeat(rows - 1, |c| {
                c.typed(wide, |c| self.count(c, row, all));
                let x = c.load(Dist::Norm, self.next_row(VL, 1));
                let halves = split(c, x);
                c.typed(wide, |c| {
                    for ((s, h), m) in states.into_iter().zip(halves).zip(masks) {
                        self.take(c, s, h, row, m);
                    }
                });
            });
            let order = c.typed(U16, |c| c.pair(Op::vintlv, states.map(|s| s.index)));
            let words: Vec<V> = order.into_iter().flat_map(|v| self.widened(c, v)).collect();
            self.store(c, &words, VL, cols);
        });
    }
}
