//! Uses of operations whose tiles have shapes or types of their own.

use super::spec::Spec;
use super::unit::{Form, Unit};
use crate::tile::{Call, Family, Operator, Scalar, Tile, TileOp};
use ptoemu_core::dtype::DType::{self, F32, I32, U32};

/// Patterns with an instruction.
const PATTERNS: [u8; 7] = [0b0101, 0b1010, 0b0001, 0b0010, 0b0100, 0b1000, 0b1111];

/// Destination and sources.
type Tiles = (Tile, Vec<Tile>);

impl Unit {
    /// Do its tiles have shapes no form describes?
    pub(super) fn odd(&self) -> bool {
        use Operator::*;
        matches!(
            self.op.operator,
            Iota | Gather
                | Pattern
                | GatherB
                | Scatter
                | Merge
                | MergeBlock
                | Concat
                | Extract
                | Insert
                | Dequant
        )
    }
}

/// A use of such an operation on tiles of these valid rows and columns; `None` for other operations.
pub(crate) fn example(
    op: &'static TileOp,
    (from, to): (DType, DType),
    (rows, cols): (u32, u32),
) -> Option<Call> {
    let to = if op.operator == Operator::Dequant { F32 } else { to };
    let unit = Unit { family: Family::A2A3, op, from, to, form: Form::Elementwise, turns: false };
    let mut call = Spec { rows, cols, columns: 1, ..Spec::default() }.odd_call(&unit)?;
    if let (Operator::MergeBlock, Some(src)) = (op.operator, call.src.first_mut()) {
        let cols = cols.next_multiple_of(256);
        (src.cols, src.valid_cols) = (cols, cols);
        (call.dst.cols, call.dst.valid_cols) = (cols, cols);
    }
    Some(call)
}

impl Spec {
    /// Tiles and settings of such a use.
    pub(super) fn odd_call(&self, u: &Unit) -> Option<Call> {
        if !u.odd() {
            return None;
        }
        let (dst, src) = self.odd_tiles(u);
        let mut call = Call::new(u.op, dst, src);
        let choice = usize::from(self.round);
        call.attrs.pattern = PATTERNS[choice % PATTERNS.len()];
        call.attrs.block = 64;
        call.attrs.down = self.variant;
        if matches!(u.op.operator, Operator::Extract | Operator::Insert) {
            call.attrs.at = self.place_of(u);
        }
        if u.op.operator == Operator::Iota {
            call.scalar = Some(Scalar { dtype: u.to, bits: u64::from(self.seed) });
        }
        Some(call)
    }

    /// A tile of this many valid rows and columns, with the spare rows and blocks of operand `k`.
    fn odd_tile(&self, name: &str, t: DType, (rows, cols): (u32, u32), k: usize) -> Tile {
        let block = 32 / t.size() as u32;
        let line = cols.max(1).next_multiple_of(block) + block * u32::from(self.slack[k]);
        let tile = Tile::plain(name, t, (rows + self.below, line), (rows, cols));
        Tile { static_rows: !self.dynamic[0], static_cols: !self.dynamic[1], ..tile }
    }

    /// The tile without spare columns and rows.
    fn tight(&self, name: &str, t: DType, (rows, cols): (u32, u32)) -> Tile {
        Spec { slack: [0; 4], below: 0, ..*self }.odd_tile(name, t, (rows, cols), 0)
    }

    fn odd_tiles(&self, u: &Unit) -> Tiles {
        let (t, size) = (u.from, (self.rows, self.cols));
        let block = 32 / t.size() as u32;
        match u.op.operator {
            Operator::Iota => (self.odd_tile("dst", u.to, (1, self.cols), 0), Vec::new()),
            Operator::Pattern => self.pattern_tiles(t),
            Operator::GatherB => {
                let cols = self.cols.next_multiple_of(block);
                let per_row = (cols / block).next_multiple_of(8);
                let offset = self.odd_tile("offset", U32, (self.rows, per_row), 2);
                let src = self.odd_tile("src", t, size, 1);
                (self.odd_tile("dst", t, (self.rows, cols), 0), vec![src, offset])
            }
            Operator::Gather => {
                let src = self.odd_tile("src", t, (self.cols % 7 + 1, self.rows % 90 + 1), 1);
                (self.odd_tile("dst", t, size, 0), vec![src, self.odd_tile("idx", I32, size, 2)])
            }
            Operator::Scatter => {
                let src = self.odd_tile("src", t, size, 1);
                (self.odd_tile("dst", t, size, 0), vec![src, self.odd_tile("idx", U32, size, 2)])
            }
            Operator::Merge | Operator::MergeBlock => self.lists(u),
            Operator::Concat => {
                let first = (self.cols * (1 + u32::from(self.round)) / 8).max(1);
                let second = (self.cols - first.min(self.cols)).max(1);
                let tile = |name, cols, k| self.odd_tile(name, t, (self.rows, cols), k);
                let src = vec![tile("src0", first, 1), tile("src1", second, 2)];
                (tile("dst", first + second, 0), src)
            }
            Operator::Extract => {
                let (r, c) = self.place_of(u);
                let whole = (self.rows + r as u32, self.cols + c as u32);
                (self.odd_tile("dst", t, size, 0), vec![self.odd_tile("src", t, whole, 1)])
            }
            Operator::Insert => {
                let (r, c) = self.place_of(u);
                let whole = (self.rows + r as u32, self.cols + c as u32);
                (self.odd_tile("dst", t, whole, 0), vec![self.odd_tile("src", t, size, 1)])
            }
            _ => {
                let column = |name| self.odd_tile(name, F32, (self.rows, 1), 2);
                let src = vec![self.odd_tile("src", t, size, 1), column("scale"), column("offset")];
                (self.odd_tile("dst", u.to, size, 0), src)
            }
        }
    }

    /// Where the smaller tile lies in the larger one.
    fn place_of(&self, u: &Unit) -> (u64, u64) {
        let block = 32 / u.from.size() as u64;
        (u64::from(self.round % 4), block * u64::from(self.columns % 4))
    }

    /// Kept elements fill the rows of dst.
    fn pattern_tiles(&self, t: DType) -> Tiles {
        let block = 32 / t.size() as u32;
        let cols = self.cols.next_multiple_of(4 * block);
        let pattern = PATTERNS[usize::from(self.round) % PATTERNS.len()];
        let kept = cols / 4 * pattern.count_ones();
        let dst = self.tight("dst", t, (self.rows, kept));
        (dst, vec![self.odd_tile("src", t, (self.rows, cols), 1)])
    }

    /// Lists of one row; a record is 8 bytes.
    fn lists(&self, u: &Unit) -> Tiles {
        let record = 8 / u.from.size() as u32;
        if u.op.operator == Operator::MergeBlock {
            let cols = 256 * (self.cols % 5 + 1);
            let tile = |name| self.tight(name, u.from, (1, cols));
            return (tile("dst"), vec![tile("src")]);
        }
        let n = 2 + u32::from(self.round) % 3;
        let sizes = (0..n).map(|k| record * (1 + (self.cols + 37 * k) % 150));
        let names = ["src0", "src1", "src2", "src3"];
        let src: Vec<Tile> =
            sizes.zip(names).map(|(c, name)| self.odd_tile(name, u.from, (1, c), 1)).collect();
        let total = src.iter().map(|t| t.valid_cols).sum();
        (self.odd_tile("dst", u.from, (1, total), 0), src)
    }
}
