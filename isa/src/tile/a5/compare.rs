//! TCMP and TCMPS: predicates stored as packed bits.

use super::super::Tile;
use super::super::call::Call;
use super::super::compare::unit;
use super::super::quirks::Quirk;
use super::code::Code;
use super::function::{Affine, M, V, affine};
use super::{Done, Issue, down};
use crate::a5::{Dist, Op, VL};

/// TCMP, TCMPS.
pub fn compare(call: &Call, to: &mut dyn Issue) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    let mut c = Code::over(src);
    let plan = Plan { call, e: VL / c.size(), size: c.size() };
    let (columns, bytes) = unit(src.dtype);
    let dist = if plan.size == 1 { Dist::Norm } else { Dist::Pk };
    c.repeat(rows, |c| {
        c.repeat(cols.div_ceil(columns), |c| {
            let p = match plan.size {
                4 => plan.words(c, cols),
                _ => plan.chunk(c, affine(cols, &[0, down(plan.e)])),
            };
            c.store_mask(dist, p, plan.at(&call.dst, &call.dst, bytes as i64));
        });
    });
    to.function(&c.finish())
}

struct Plan<'c> {
    call: &'c Call,
    /// Lanes of a chunk and bytes of an element.
    e: usize,
    size: usize,
}

impl Plan<'_> {
    /// Where `t` is, stepped by the rows of `like`.
    fn at(&self, t: &Tile, like: &Tile, step: i64) -> Affine {
        affine(t.addr, &[(like.row(1) - like.addr) as i64, step])
    }

    fn holds(&self, c: &mut Code, x: V, y: Option<V>, m: M) -> M {
        match y {
            Some(y) => c.compare_two(self.call.attrs.cmp, x, y, m),
            None => c.compare(self.call.attrs.cmp, x, self.call.scalar_bits(), m),
        }
    }

    fn second(&self) -> Option<&Tile> {
        (!self.call.op.sig.scalar).then(|| self.call.source(1))
    }

    /// 8- and 16-bit elements.
    fn chunk(&self, c: &mut Code, left: Affine) -> M {
        let m = c.below(self.size, left);
        let src = self.call.source(0);
        let x = c.load(Dist::Norm, self.at(src, src, VL as i64));
        let y = self.second().map(|t| c.load(Dist::Norm, self.at(t, t, VL as i64)));
        self.holds(c, x, y, m)
    }

    /// 32-bit elements: two chunks share one store.
    fn words(&self, c: &mut Code, cols: u64) -> M {
        let (src, both) = (self.call.source(0), 2 * VL as i64);
        let shipped = self.call.quirks.has(Quirk::R13);
        let mut registers = Vec::new();
        for far in [0, VL as u64] {
            // Shipped code steps each source by the other's rows in one of the two chunks.
            let other = self.second().filter(|_| shipped).unwrap_or(src);
            let x_like = if far == 0 { src } else { other };
            let x = c.load(Dist::Norm, self.at(src, x_like, both).plus(far));
            let y = self.second().map(|t| {
                let like = if shipped && far == 0 { src } else { t };
                c.load(Dist::Norm, self.at(t, like, both).plus(far))
            });
            registers.push((x, y));
        }
        let masks: Vec<M> = registers
            .into_iter()
            .zip(0i64..)
            .map(|((x, y), k)| {
                let left = affine(0, &[0, down(2 * self.e)]);
                let m = c.below(4, Affine { base: cols as i64 - k * self.e as i64, ..left });
                self.holds(c, x, y, m)
            })
            .collect();
        c.predicate(Op::pdintlv_b8, &masks, 2)[0]
    }
}
