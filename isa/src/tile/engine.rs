//! What the elementwise engines share: walks over the valid region with one instruction a step.

use super::Tile;
use super::asm::{Asm, MAX_REPEAT, MAX_STRIDE, SCRATCH, rounds};
use super::call::Call;
use super::quirks::Quirk;
use crate::machine::Stop;
use crate::table::Op;

type Done = Result<(), Stop>;

/// The instruction of one step.
pub(super) enum Body<'c> {
    /// `op dst, src`.
    One(Op, &'c Tile),
    /// `op dst, src0, src1`.
    Two(Op, &'c Tile, &'c Tile),
    /// `op dst, src, scalar`.
    Scalar(Op, &'c Tile, u64),
    /// Fill dst with the scalar, then dst = src / dst.
    Over(&'c Tile, u64),
    /// Fill dst with the scalar, then dst = dst / src.
    Under(&'c Tile, u64),
    /// dst = src / the block in the scratch window.
    OverScratch(&'c Tile),
}

impl Body<'_> {
    /// Source tiles, the first one twice where there is one.
    pub(super) fn sources(&self) -> [&Tile; 2] {
        match *self {
            Body::Two(_, a, b) => [a, b],
            Body::One(_, s)
            | Body::Scalar(_, s, _)
            | Body::Over(s, _)
            | Body::Under(s, _)
            | Body::OverScratch(s) => [s, s],
        }
    }
}

/// A destination and the instruction that fills it.
pub(super) struct Engine<'c> {
    pub call: &'c Call,
    pub dst: &'c Tile,
    pub body: Body<'c>,
}

impl Engine<'_> {
    /// Repeat strides of destination and sources, in blocks.
    fn strides(&self) -> [u64; 3] {
        let [s0, s1] = self.body.sources();
        [self.dst, s0, s1].map(Tile::stride_blocks)
    }

    /// A stride does not fit its field.
    fn wide(&self) -> bool {
        self.strides().iter().any(|s| *s > MAX_STRIDE)
    }

    /// One step at row `r`, byte `off` of the row.
    fn step(&self, a: &mut Asm, r: u64, off: u64, repeat: u64, rep: [u64; 3]) -> Done {
        let [s0, s1] = self.body.sources();
        let (d, x, y) = (self.dst.row(r) + off, s0.row(r) + off, s1.row(r) + off);
        let [dr, xr, _] = rep;
        match self.body {
            Body::One(op, _) => a.vec1(op, d, x, repeat, [dr, xr]),
            Body::Two(op, ..) => a.vec2(op, [d, x, y], repeat, [1; 3], rep),
            Body::Scalar(op, _, imm) => a.vecs(op, [d, x], imm, repeat, [dr, xr]),
            Body::Over(_, imm) => {
                a.dup(d, imm, repeat, [1, 1], [dr, 0])?;
                a.barrier()?;
                a.vec2(Op::vdiv, [d, x, d], repeat, [1; 3], [dr, xr, dr])
            }
            Body::Under(_, imm) => {
                a.dup(d, imm, repeat, [1, 1], [dr, 0])?;
                a.barrier()?;
                a.vec2(Op::vdiv, [d, d, x], repeat, [1; 3], [dr, dr, xr])
            }
            Body::OverScratch(_) => {
                a.vec2(Op::vdiv, [d, x, SCRATCH], repeat, [1, 1, 0], [dr, xr, 0])
            }
        }
    }

    /// `n` contiguous elements, in counter mode or as whole repeats and a rest.
    pub fn flat(&self, a: &mut Asm, n: u64, counter: bool) -> Done {
        let e = a.e();
        if counter {
            a.count(n)?;
            self.step(a, 0, 0, 0, [8; 3])?;
            return a.end_count();
        }
        self.step(a, 0, 0, n / e, [8; 3])?;
        if !n.is_multiple_of(e) {
            a.lanes(n % e)?;
            self.step(a, 0, n / e * 256, 1, [8; 3])?;
            a.full()?;
        }
        Ok(())
    }

    /// Chooses between rows and columns: `q` whole repeats per row, `height` static rows.
    pub fn by_shape(&self, a: &mut Asm, q: u64, height: u64) -> Done {
        let (rows, cols) = self.dst.valid();
        let e = a.e();
        if q > 1 && height * q < 4 {
            return self.rows_counted(a);
        }
        if height < q + 1 {
            let fits = cols / e <= MAX_REPEAT || self.call.quirks.has(Quirk::A4);
            if !cols.is_multiple_of(e) || !fits {
                return self.rows_counted(a);
            }
            return (0..rows).try_for_each(|r| self.step(a, r, 0, cols / e, [8; 3]));
        }
        self.columns(a)
    }

    /// Counter mode, one step per row.
    pub fn rows_counted(&self, a: &mut Asm) -> Done {
        let (rows, cols) = self.dst.valid();
        a.count(cols)?;
        (0..rows).try_for_each(|r| self.step(a, r, 0, 0, [8; 3]))?;
        a.end_count()
    }

    /// Rows as repeats, one step per whole repeat of columns, then the rest of the columns.
    fn columns(&self, a: &mut Asm) -> Done {
        let (rows, cols) = self.dst.valid();
        let e = a.e();
        if self.dst.rows <= 255 && !self.wide() {
            let strides = self.strides();
            (0..cols / e).try_for_each(|i| self.step(a, 0, i * 256, rows, strides))?;
            return self.strip(a, cols % e, cols / e * 256);
        }
        if u64::from(self.dst.rows) > e {
            return self.rows_then_tail(a);
        }
        self.few_wide_rows(a)
    }

    /// Few rows, far apart.
    fn few_wide_rows(&self, a: &mut Asm) -> Done {
        let cols = u64::from(self.dst.valid_cols);
        let e = a.e();
        let (skips, quirk) = match self.body {
            Body::One(..) => (cols >= e, Quirk::D19),
            // The mask of 128 16-bit lanes is computed with a shift by 64: upper half off.
            _ => (cols > e || cols == 128, Quirk::D20),
        };
        if !skips {
            return self.strip(a, cols, 0);
        }
        match (self.call.quirks.has(quirk), quirk) {
            (false, _) => self.rows_counted(a),
            (true, Quirk::D19) => self.strip(a, cols % e, 0),
            (true, _) => {
                let low = |n: u64| if n >= 64 { u64::MAX } else { (1 << n) - 1 };
                let high = if cols > 64 { (1 << ((cols - 64) % 64)) - 1 } else { 0 };
                a.mask(high, low(cols))?;
                self.strip_rows(a, 0)?;
                a.full()
            }
        }
    }

    /// Whole repeats row by row, then the rest of the columns.
    pub fn rows_then_tail(&self, a: &mut Asm) -> Done {
        let (rows, cols) = self.dst.valid();
        let e = a.e();
        if cols / e > MAX_REPEAT && !self.call.quirks.has(Quirk::A4) {
            return self.rows_counted(a);
        }
        if cols >= e {
            (0..rows).try_for_each(|r| self.step(a, r, 0, cols / e, [8; 3]))?;
        }
        self.strip(a, cols % e, cols / e * 256)
    }

    /// `lanes` columns of every row from byte `off` on.
    pub fn strip(&self, a: &mut Asm, lanes: u64, off: u64) -> Done {
        if lanes == 0 {
            return Ok(());
        }
        a.lanes(lanes)?;
        self.strip_rows(a, off)?;
        a.full()
    }

    fn strip_rows(&self, a: &mut Asm, off: u64) -> Done {
        let rows = u64::from(self.dst.valid_rows);
        if self.wide() {
            return (0..rows).try_for_each(|r| self.step(a, r, off, 1, [8; 3]));
        }
        let strides = self.strides();
        rounds(rows, MAX_REPEAT, |r, n| self.step(a, r, off, n, strides))
    }
}
