//! TSEL and TSELS: the bits of a chunk are loaded as a predicate.

use super::super::Tile;
use super::super::call::Call;
use super::super::quirks::Quirk;
use super::code::Code;
use super::function::{Affine, M, V, affine};
use super::{Done, Issue, down};
use crate::a5::{Dist, Op, VL};

struct Plan<'c> {
    call: &'c Call,
    /// The scalar in every lane.
    scalar: Option<V>,
    /// Lanes of a chunk and bytes of an element.
    e: usize,
    size: usize,
}

/// TSEL, TSELS.
pub fn select(call: &Call, to: &mut dyn Issue) -> Done {
    let dst = &call.dst;
    let (rows, cols) = dst.valid();
    let mut c = Code::over(dst);
    let size = c.size();
    let scalar = call.op.sig.scalar.then(|| {
        let all = c.all(size);
        c.fill(call.scalar_bits(), all)
    });
    let plan = Plan { call, scalar, e: VL / size, size };
    if size == 4 {
        plan.words(&mut c, rows, cols);
    } else {
        plan.narrow(&mut c, rows, cols);
    }
    to.function(&c.finish())
}

impl Plan<'_> {
    /// Byte of a row's bits, `step` bytes a round behind the rows.
    fn bits(&self, step: i64) -> Affine {
        let mask = self.call.source(0);
        let shipped = self.call.quirks.has(Quirk::R4) && !self.call.op.sig.scalar;
        let pitch = if shipped { mask.cols.into() } else { mask.row(1) - mask.addr };
        affine(mask.addr, &[pitch as i64, step])
    }

    fn at(&self, t: &Tile, step: usize) -> Affine {
        affine(t.addr, &[(t.row(1) - t.addr) as i64, step as i64])
    }

    fn load(&self, c: &mut Code, which: usize, far: u64, step: usize) -> V {
        let at = self.at(self.call.source(which), step).plus(far);
        c.load(Dist::Norm, at)
    }

    /// The second operand: a tile or the scalar.
    fn other(&self, c: &mut Code, far: u64, step: usize) -> V {
        match self.scalar {
            Some(s) => s,
            None => self.load(c, 2, far, step),
        }
    }

    /// Selects the chunk `far` bytes behind the walk and stores its first `count` elements.
    fn store(&self, c: &mut Code, d: V, far: u64, step: usize, count: Affine) {
        let m = c.below(self.size, count);
        c.store(Dist::Norm, d, self.at(&self.call.dst, step).plus(far), m);
    }

    /// 8- and 16-bit elements: a chunk a round.
    fn narrow(&self, c: &mut Code, rows: u64, cols: u64) {
        let (e, size) = (self.e, self.size);
        // Shipped code takes 16 bytes of bits for 256 bytes of elements, whatever their width.
        let shipped = self.call.quirks.has(Quirk::R5) && !self.call.op.sig.scalar;
        let (dist, step) = match size {
            1 if shipped => (Dist::Norm, 16),
            1 => (Dist::Norm, 32),
            _ => (Dist::Us, 16),
        };
        c.repeat(rows, |c| {
            c.repeat(cols.div_ceil(e as u64), |c| {
                let x = self.load(c, 1, 0, VL);
                let y = self.other(c, 0, VL);
                let p = c.load_mask(dist, self.bits(step));
                let m = c.below(size, affine(cols, &[0, down(e)]));
                let d = c.op(Op::vsel, &[x, y], p);
                c.store(Dist::Norm, d, self.at(&self.call.dst, VL), m);
            });
        });
    }

    /// 32-bit elements: two chunks a round share 16 bytes of bits, an odd chunk follows.
    fn words(&self, c: &mut Code, rows: u64, cols: u64) {
        let chunks = cols.div_ceil(self.e as u64);
        let partner = match self.scalar {
            Some(_) => c.all(4),
            None => c.below(4, affine(cols, &[])),
        };
        c.repeat(rows, |c| {
            c.repeat(chunks / 2, |c| self.pair(c, partner, cols));
            if chunks % 2 == 1 {
                self.odd(c, chunks - 1, cols);
            }
        });
    }

    fn pair(&self, c: &mut Code, partner: M, cols: u64) {
        let (line, both) = (VL as u64, 2 * VL);
        let bits = c.load_mask(Dist::Us, self.bits(16));
        let halves = c.predicate(Op::pintlv_b16, &[bits, partner], 2);
        let sources: Vec<(V, V)> =
            [0, line].map(|far| (self.load(c, 1, far, both), self.other(c, far, both))).to_vec();
        let chosen: Vec<V> =
            sources.iter().zip(&halves).map(|((x, y), p)| c.op(Op::vsel, &[*x, *y], *p)).collect();
        for (d, k) in chosen.into_iter().zip(0u64..) {
            let left = Affine {
                base: cols as i64 - (k as i64) * self.e as i64,
                ..affine(0, &[0, down(2 * self.e)])
            };
            self.store(c, d, k * line, both, left);
        }
    }

    fn odd(&self, c: &mut Code, chunk: u64, cols: u64) {
        let far = chunk * VL as u64;
        let bits = c.load_mask(Dist::Us, self.bits(0).plus(8 * chunk));
        let p = c.predicate(Op::punpack, &[bits], 1)[0];
        let x = self.load(c, 1, far, 0);
        let y = self.other(c, far, 0);
        let d = c.op(Op::vsel, &[x, y], p);
        self.store(c, d, far, 0, affine(cols - chunk * self.e as u64, &[]));
    }
}
