//! Drawn calls of operations whose operands differ in type or extent.

use super::draw::Shaper;
use super::{tile, valid};
use ptoemu_core::dtype::DType;
use ptoemu_isa::a5::Cmp;
use ptoemu_isa::tile::{Call, Layout, Tile, TileOp};

const BITS: [DType; 6] = [DType::U8, DType::I8, DType::U16, DType::I16, DType::U32, DType::I32];
const COMPARISONS: [Cmp; 6] = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge];

impl Shaper {
    /// Packed bits for the valid region.
    fn bits(&self, name: &str) -> Tile {
        let t = BITS[self.d.other % BITS.len()];
        let line = (self.cols.div_ceil(8)).next_multiple_of(32) + 32 * (self.d.slack[2] % 6);
        tile(name, t, self.rows + self.slack_rows(), line / t.size() as u32, Layout::RowMajor)
    }

    pub fn select(&self, op: &'static TileOp) -> Call {
        let mut src = vec![self.bits("mask"), self.full("src0", 1)];
        if !op.sig.scalar {
            src.push(self.full("src1", 2));
        }
        let mut call = Call::new(op, self.full("dst", 0), src);
        call.tmp = Some(tile("tmp", DType::U32, 1, 8, Layout::RowMajor));
        call
    }

    pub fn compare(&self, op: &'static TileOp) -> Call {
        let src: Vec<Tile> =
            (0..op.sig.srcs as usize).map(|i| self.full(&format!("src{i}"), i)).collect();
        let mut call = Call::new(op, self.bits("dst"), src);
        call.attrs.cmp = COMPARISONS[self.d.round % COMPARISONS.len()];
        call
    }

    /// A tile valid in a part of the region, maybe none or all of it.
    fn partly(&self, name: &str, which: usize) -> Tile {
        let t = self.full(name, which);
        let some = |n: u32, k: usize| n - n * (k as u32 % 5) / 4;
        let (rows, cols) = (some(self.rows, self.d.other), some(self.cols, self.d.round));
        valid(t, rows, cols, self.d.fixed)
    }

    pub fn part(&self, op: &'static TileOp) -> Call {
        let (whole, part) = (self.full("whole", 1), self.partly("part", 2));
        let src = if self.d.swapped { [part, whole] } else { [whole, part] };
        Call::new(op, self.full("dst", 0), src)
    }

    fn one_row(&self, name: &str, which: usize) -> Tile {
        let t = self.full(name, which);
        let rows = 1 + self.slack_rows().min(2);
        valid(Tile { rows, ..t }, 1, self.cols, self.d.fixed)
    }

    pub fn col_expand(&self, op: &'static TileOp) -> Call {
        Call::new(op, self.full("dst", 0), [self.one_row("src", 1)])
    }

    pub fn col_expand_bin(&self, op: &'static TileOp) -> Call {
        let (full, row) = (self.full("full", 1), self.one_row("row", 2));
        let src = if self.d.swapped { [row, full] } else { [full, row] };
        Call::new(op, self.full("dst", 0), src)
    }

    pub fn arg(&self, op: &'static TileOp) -> Call {
        let narrow = op.reduces_rows() && self.t.size() == 2 && self.d.flag;
        let t = match (narrow, self.d.order) {
            (true, _) => DType::U16,
            (_, true) => DType::U32,
            _ => DType::I32,
        };
        let index = |tile: Tile| Tile { dtype: t, ..tile };
        let dst = match op.reduces_rows() {
            true if self.d.column => index(self.column("dst")),
            true => Tile { cols: 16, ..index(self.blocks("dst", 1)) },
            false => Tile { rows: 1, valid_rows: 1, ..index(self.full("dst", 0)) },
        };
        Call::new(op, dst, [self.full("src", 1)])
    }

    pub fn fill_pad(&self, op: &'static TileOp) -> Call {
        let whole = self.full("dst", 0);
        let dst = Tile {
            valid_cols: whole.cols,
            pad: (self.d.sat % 3 + 1) as u8,
            ..valid(whole.clone(), self.rows, whole.cols, self.d.fixed)
        };
        let src = Tile { name: "src".into(), ..self.partly("src", 0) };
        Call::new(op, dst, [src])
    }

    pub fn sort(&self, op: &'static TileOp) -> Call {
        let groups = self.cols.div_ceil(32).min(8);
        let wide = |name: &str, t: DType, cols: u32| {
            tile(name, t, self.rows.min(8), cols, Layout::RowMajor)
        };
        let rows = self.rows.min(8);
        let src = wide("src", self.t, 32 * groups);
        let idx_rows = if self.d.flag { 1 } else { rows };
        let idx = valid(wide("idx", DType::U32, 32 * groups), idx_rows, 32 * groups, true);
        let dst = wide("dst", self.t, groups * 256 / self.t.size() as u32);
        Call::new(op, dst, [src, idx])
    }
}
