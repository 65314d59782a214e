//! TCVT.

use super::super::Tile;
use super::super::call::{Call, Sat};
use super::super::convert::{a5_rounding, a5_saturation};
use super::super::quirks::Quirk;
use super::code::{Code, Convert};
use super::elementwise::Walk;
use super::function::{Affine, V, affine};
use super::{Done, Issue, down};
use crate::a5::{Barrier, Dist, Op, VL};
use ptoemu_core::dtype::DType::{self, F16, F32, I8, I16, I32, U8};

/// Types and modes of a call.
#[derive(Clone, Copy)]
struct Job {
    from: DType,
    to: DType,
    how: Convert,
    saturate: bool,
    /// Unsaturated narrowing takes its steps in between.
    stepwise: bool,
}

/// TCVT: contiguous tiles as one run of elements, others row by row.
pub fn convert(call: &Call, to: &mut dyn Issue) -> Done {
    let (dst, src) = (call.dst.storage_rows(), call.source(0).storage_rows());
    let (rows, cols) = dst.valid();
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    let saturate = a5_saturation(call) == Sat::On;
    let how = Convert { round: a5_rounding(call), saturate, part: 0 };
    let flat = Walk { dst: &dst, src: &[&src], post: false }.flat();
    let stepwise = flat || !call.quirks.has(Quirk::R6);
    let job = Job { from: src.dtype, to: dst.dtype, how, saturate, stepwise };
    let walk = if flat {
        Chunks { rows: None, n: rows * cols, dst: &dst, src: &src }
    } else {
        Chunks { rows: Some(rows), n: cols, dst: &dst, src: &src }
    };
    let mut c = Code::over(&dst);
    match (job.from.size(), job.to.size()) {
        (1, 4) => job.quadruple(&mut c, &walk),
        (4, 1) => job.quarter(&mut c, &walk),
        (2, 4) | (1, 2) | (4, 8) => job.widen(&mut c, &walk),
        (8, 4) => job.narrow(&mut c, &walk),
        (4, 2) | (2, 1) if flat || job.steps().is_some() => job.narrow(&mut c, &walk),
        (4, 2) | (2, 1) => job.narrow_pairs(&mut c, &walk),
        _ => job.same(&mut c, &walk),
    }
    to.function(&c.finish())
}

/// A run of elements, or rows of chunks.
struct Chunks<'c> {
    rows: Option<u64>,
    /// Elements of the run or of a row.
    n: u64,
    dst: &'c Tile,
    src: &'c Tile,
}

impl Chunks<'_> {
    /// `f` for every `e` elements.
    fn each(&self, c: &mut Code, e: usize, f: &mut dyn FnMut(&mut Code)) {
        let chunks = self.n.div_ceil(e as u64);
        match self.rows {
            None => c.repeat(chunks, |c| f(c)),
            Some(rows) => c.repeat(rows, |c| c.repeat(chunks, |c| f(c))),
        }
    }

    /// Elements left, in rounds of `e`; `less` fewer.
    fn left(&self, e: usize, less: u64) -> Affine {
        self.lanes(1, e, less)
    }

    /// The same in lanes, of which an element has `n`.
    fn lanes(&self, n: i64, e: usize, less: u64) -> Affine {
        let base = n * (self.n as i64 - less as i64);
        let step = n * down(e);
        let a = match self.rows {
            None => affine(0, &[step]),
            Some(_) => affine(0, &[0, step]),
        };
        Affine { base, ..a }
    }

    /// Predicate of the elements left of `size` bytes; one of 8 bytes has two 32-bit lanes.
    fn mask(&self, c: &mut Code, size: usize, e: usize) -> super::M {
        c.below(size, self.lanes(if size == 8 { 2 } else { 1 }, e, 0))
    }

    fn at(&self, t: &Tile, e: usize) -> Affine {
        let chunk = (e * t.dtype.size()) as i64;
        match self.rows {
            None => affine(t.addr, &[chunk]),
            Some(_) => affine(t.addr, &[(t.row(1) - t.addr) as i64, chunk]),
        }
    }
}

impl Job {
    /// Unsaturated narrowing goes through a type in between [D: PTO TCvt].
    fn steps(self) -> Option<[(DType, DType); 2]> {
        if self.saturate || !self.stepwise {
            return None;
        }
        match (self.from, self.to) {
            (F32, I16) => Some([(F32, I32), (I32, I16)]),
            _ => None,
        }
    }

    fn cvt(self, c: &mut Code, x: V, part: u8) -> V {
        let m = c.all(self.from.size().max(self.to.size()));
        c.convert((self.from, self.to), x, m, Convert { part, ..self.how })
    }

    /// Equal widths.
    fn same(self, c: &mut Code, w: &Chunks) {
        let size = self.from.size();
        let e = VL / size;
        w.each(c, e, &mut |c| {
            let m = c.below(size, w.left(e, 0));
            let x = c.load(Dist::Norm, w.at(w.src, e));
            let d = if (self.from, self.to) == (F32, F32) {
                c.truncate(x, m, self.how)
            } else if (self.from, self.to, self.saturate) == (F16, I16, false) && self.stepwise {
                return self.half_to_short(c, w, x, m);
            } else {
                c.convert((self.from, self.to), x, m, self.how)
            };
            c.store(Dist::Norm, d, w.at(w.dst, e), m);
        });
    }

    /// Unsaturated f16 to i16: 32-bit values in between, even and odd lanes.
    fn half_to_short(self, c: &mut Code, w: &Chunks, x: V, m: super::M) {
        let all = c.all(4);
        let parts = [0, 1].map(|part| {
            let wide = Convert { part, saturate: true, ..self.how };
            let y = c.convert((F16, I32), x, all, wide);
            c.convert((I32, I16), y, all, Convert { part, ..Convert::default() })
        });
        let d = c.op(Op::vor, &parts, m);
        c.store(Dist::Norm, d, w.at(w.dst, VL / 2), m);
    }

    /// Twice the width: elements spread by the load, even lanes converted.
    fn widen(self, c: &mut Code, w: &Chunks) {
        let (size, dist) = match self.from.size() {
            1 => (2, Dist::UnpkB8),
            2 => (4, Dist::UnpkB16),
            _ => (8, Dist::UnpkB32),
        };
        let e = VL / size;
        w.each(c, e, &mut |c| {
            let m = w.mask(c, size, e);
            let x = c.load_as(self.from, dist, w.at(w.src, e));
            let d = self.cvt(c, x, 0);
            // Pairs of 32-bit lanes stand for 64-bit elements.
            let t = if size == 8 { I32 } else { self.to };
            c.typed(t, |c| c.store(Dist::Norm, d, w.at(w.dst, e), m));
        });
    }

    /// Half the width: even lanes converted, packed by the store.
    fn narrow(self, c: &mut Code, w: &Chunks) {
        let wide = self.from.size();
        let e = VL / wide;
        let dist = match wide {
            8 => Dist::PkB64,
            4 => Dist::PkB32,
            _ => Dist::PkB16,
        };
        w.each(c, e, &mut |c| {
            let m = w.mask(c, wide, e);
            let x = c.load_as(self.from, Dist::Norm, w.at(w.src, e));
            let d = match self.steps() {
                Some([a, b]) => {
                    let all = c.all(wide);
                    let first = c.convert(a, x, all, Convert { saturate: true, ..self.how });
                    c.convert(b, first, all, Convert::default())
                }
                None if (self.from, self.to, self.saturate) == (F16, I8, false) => {
                    self.low_byte(c, x)
                }
                None => self.cvt(c, x, 0),
            };
            c.store(dist, d, w.at(w.dst, e), m);
        });
    }

    /// Unsaturated f16 to i8: the low byte of a 16-bit integer travels as an f16 of 0 to 255.
    fn low_byte(self, c: &mut Code, x: V) -> V {
        let all = c.all(2);
        let plain = Convert::default();
        let whole = c.convert((F16, I16), x, all, self.how);
        let low = c.typed(I16, |c| {
            let byte = c.fill(0xFF, all);
            c.op(Op::vand, &[whole, byte], all)
        });
        let back = c.convert((I16, F16), low, all, plain);
        c.convert((F16, I8), back, all, plain)
    }

    /// Half the width from pairs of registers: even and odd elements, converted and merged.
    fn narrow_pairs(self, c: &mut Code, w: &Chunks) {
        let narrow = self.to.size();
        let e = VL / narrow;
        let dist = if narrow == 2 { Dist::DintlvB32 } else { Dist::DintlvB16 };
        w.each(c, e, &mut |c| {
            let m = c.below(narrow, w.left(e, 0));
            let [x0, x1] = c.load_pair(dist, w.at(w.src, e));
            let odd = self.cvt(c, x1, 1);
            let even = self.cvt(c, x0, 0);
            let d = c.op(Op::vor, &[even, odd], m);
            c.store(Dist::Norm, d, w.at(w.dst, e), m);
        });
    }

    /// Four times the width: bytes spread in two steps, two stores.
    fn quadruple(self, c: &mut Code, w: &Chunks) {
        let zero = c.splat(0);
        let e = VL / 2;
        w.each(c, e, &mut |c| {
            let masks = [0, 64].map(|less| c.below(4, w.left(e, less)));
            let t = std::mem::replace(&mut c.t, DType::I16);
            let v = c.load_as(self.from, Dist::UnpkB8, w.at(w.src, e));
            let halves = c.pair(Op::vintlv, [v, zero]);
            c.t = t;
            for ((x, m), at) in halves.into_iter().zip(masks).zip([0, VL as u64]) {
                let d = self.cvt(c, x, 0);
                c.store(Dist::Norm, d, w.at(w.dst, e).plus(at), m);
            }
        });
    }

    /// A quarter of the width: bytes picked from the lanes, a barrier before every store. In one run
    /// of elements a store writes on behind its 64 bytes, and the next ones write over that.
    fn quarter(self, c: &mut Code, w: &Chunks) {
        let e = VL / 4;
        let every = c.typed(I8, |c| c.count(0));
        let all = c.all(2);
        let lanes = c.typed(I16, |c| c.scalar(Op::vmuls, every, 4, all));
        let chunk = w.rows.map(|_| c.below(1, affine(e as u64, &[])));
        w.each(c, e, &mut |c| {
            let _ = c.below(4, w.left(e, 0));
            let left = c.below(1, w.left(e, 0));
            let m = match chunk {
                Some(chunk) => c.predicate(Op::pand, &[left, chunk, chunk], 1)[0],
                None => left,
            };
            let x = c.load_as(self.from, Dist::Norm, w.at(w.src, e));
            let d = self.cvt(c, x, 0);
            let packed = c.pick(d, lanes);
            c.bar(Barrier::StoreStore);
            c.store(Dist::Norm, packed, w.at(w.dst, e), m);
        });
    }
}

/// Does the 950 convert this pair?
pub fn legal(from: DType, to: DType) -> bool {
    let same_float = (from, to) == (F32, F32);
    let bytes = matches!((from, to), (I8 | U8, F32));
    same_float || !bytes && crate::a5::sem::convert::legal(from, to)
}
