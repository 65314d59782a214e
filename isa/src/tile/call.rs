//! One use of a tile operation, everything resolved to numbers.

use super::op::{Operator, TileOp, Types};
use super::quirks::Quirks;
use super::{Family, Layout, Tile};
use crate::a5::Cmp;
use ptoemu_core::check::uninit::Partial;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Round;
use ptoemu_core::stream::{Group, SiteId};
use smallvec::SmallVec;

/// A scalar operand: bits of one element, zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Element type.
    pub dtype: DType,
    /// The bits.
    pub bits: u64,
}

/// Which operand a swapped row-expand SUB, DIV or EXPDIF takes from which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OperandOrder {
    /// full op expanded, as the instruction documents say.
    #[default]
    Seed,
    /// src0 op src1, as every shipped implementation computes.
    Vendor,
}

/// Saturation asked of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Sat {
    On,
    Off,
}

/// Order of elements in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GmLayout {
    /// The last dimension is contiguous.
    Nd,
    /// The last but one dimension is contiguous.
    Dn,
}

/// The GM side of TLOAD and TSTORE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GmView {
    /// Name shown in messages.
    pub name: String,
    /// First byte.
    pub addr: u64,
    /// Element type.
    pub dtype: DType,
    /// Five sizes, outermost first.
    pub shape: [u32; 5],
    /// Five strides in elements, outermost first.
    pub strides: [i64; 5],
    /// Order of elements.
    pub layout: GmLayout,
}

/// Settings of one use that are no operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attrs {
    /// Rounding mode of TCVT; `None` is the mode called NONE.
    pub round: Option<Round>,
    /// Saturation of TCVT; `None` leaves it to the pair of types.
    pub sat: Option<Sat>,
    /// TDIVS: scalar / tile rather than tile / scalar.
    pub reversed: bool,
    /// TCOLSUM: sum pairs of rows in tmp.
    pub binary: bool,
    /// Comparison of TCMP.
    pub cmp: Cmp,
    /// TSTORE: add to what global memory holds.
    pub atomic: bool,
    /// TCI: count down.
    pub down: bool,
    /// TTRI: ones right of the diagonal rather than left of it.
    pub upper: bool,
    /// Elements of four that a pattern keeps, the first one in bit 0.
    pub pattern: u8,
    /// TMRGSORT: elements of a block.
    pub block: u64,
    /// TMRGSORT: stop when a list is exhausted.
    pub exhausted: bool,
    /// TEXTRACT, TINSERT: row and column in the larger tile.
    pub at: (u64, u64),
    /// 950: loads index their address instead of advancing it (`NO_POST_UPDATE`); same values.
    pub indexed: bool,
}

/// One use of a tile operation.
#[derive(Clone, Debug)]
pub struct Call {
    /// The operation.
    pub op: &'static TileOp,
    /// Destination; for TSTORE the tile that is stored.
    pub dst: Tile,
    /// Source tiles.
    pub src: SmallVec<[Tile; 3]>,
    /// Scratch tile, if given.
    pub tmp: Option<Tile>,
    /// Scalar operand, if the operation has one.
    pub scalar: Option<Scalar>,
    /// GM side of a transfer.
    pub view: Option<GmView>,
    /// Settings.
    pub attrs: Attrs,
    /// Which differences from the meaning the microcode has.
    pub quirks: Quirks,
    /// Operand order of swapped row-expand operations.
    pub operand_order: OperandOrder,
    /// Family it runs on: a few meanings differ in how they round.
    pub family: Family,
}

impl Call {
    /// What the stream remembers of it.
    pub fn group(&self, site: SiteId) -> Group {
        let area = |t: &&Tile| u64::from(t.valid_rows) * u64::from(t.valid_cols);
        // Of equal tiles the destination counts: it is looked at last.
        let widest = self.src.iter().chain([&self.dst]).max_by_key(area).unwrap_or(&self.dst);
        let (rows, cols, dtype) = (widest.valid_rows, widest.valid_cols, widest.dtype);
        Group { name: self.op.name, site, rows, cols, dtype }
    }

    /// A call without tmp, scalar and settings, corrected microcode, operand order of the seed.
    pub fn new(op: &'static TileOp, dst: Tile, src: impl IntoIterator<Item = Tile>) -> Call {
        Call {
            op,
            dst,
            src: src.into_iter().collect(),
            tmp: None,
            scalar: None,
            view: None,
            attrs: Attrs::default(),
            quirks: Quirks::corrected(),
            operand_order: OperandOrder::Seed,
            family: Family::A2A3,
        }
    }

    /// Source `i`; the destination where the call lacks it (legality has refused that before).
    pub fn source(&self, i: usize) -> &Tile {
        self.src.get(i).unwrap_or(&self.dst)
    }

    /// Element type the lists of the operation are about, and the scalar has.
    pub fn dtype(&self) -> DType {
        match self.op.sig.types {
            Types::Src => self.source(0).dtype,
            Types::All | Types::Dst => self.dst.dtype,
        }
    }

    /// The destination, its valid region being what the operation defines: packed bits, records and
    /// padding fill more or less than the valid columns.
    pub fn result(&self) -> Tile {
        let mut t = self.dst.clone();
        let src = self.source(0);
        let cols = match self.op.operator {
            Operator::Compare => {
                t.valid_rows = src.valid_rows;
                super::compare::written(self.family, src) / t.size()
            }
            Operator::Scatter => {
                t.valid_rows = t.rows;
                t.cols.into()
            }
            Operator::Insert => {
                t.addr = t.at(self.attrs.at.0, self.attrs.at.1);
                t.rows = t.rows.saturating_sub(self.attrs.at.0 as u32);
                t.valid_rows = src.valid_rows;
                src.valid_cols.into()
            }
            Operator::Sort => {
                t.valid_rows = src.valid_rows;
                super::sort::sorted(self) * 8 / t.size()
            }
            _ if self.op.name.starts_with("tfillpad") => t.cols.into(),
            _ => return t,
        };
        t.valid_cols = u32::try_from(cols).unwrap_or(t.cols).min(t.cols);
        t
    }

    /// The part of the destination that the operation defines, if that is less than what counts as
    /// valid in it.
    pub fn partial(&self) -> Option<Partial> {
        let (dst, result) = (self.dst.storage_rows(), self.result().storage_rows());
        let less = result.valid_rows < dst.valid_rows || result.valid_cols < dst.valid_cols;
        less.then(|| Partial {
            by: self.op.name,
            start: dst.addr,
            end: dst.end(),
            pitch: u64::from(dst.cols) * dst.size(),
            rows: result.valid_rows.into(),
            width: u64::from(result.valid_cols) * dst.size(),
        })
    }

    /// Every tile with its role, destination first.
    pub fn tiles(&self) -> impl Iterator<Item = (&'static str, &Tile)> {
        let src = self.op.sources().iter().copied().zip(&self.src);
        let dst = if self.op.is_store() { "src" } else { "dst" };
        std::iter::once((dst, &self.dst)).chain(src).chain(self.tmp.iter().map(|t| ("tmp", t)))
    }

    /// Does the result depend on what dst held?
    pub fn reads_dst(&self) -> bool {
        use Operator::{Axpy, MulAdd, MulDst, MulDstRelu};
        matches!(self.op.operator, MulAdd | MulDst | MulDstRelu | Axpy)
    }

    /// Does A2/A3 microcode of this call write the reserved window of UB ([`super::SCRATCH`])?
    pub fn uses_scratch(&self) -> bool {
        if self.family == Family::A5 {
            return false;
        }
        let expands = self.op.expands_rows() && self.op.sig.srcs == 2 && self.tmp.is_none();
        expands && self.roles().exp.layout == Layout::ColMajor
            || super::bin_scalar::needs_scratch(self)
    }

    /// Bits of the scalar operand, 0 without one.
    pub fn scalar_bits(&self) -> u64 {
        self.scalar.map_or(0, |s| s.bits)
    }
}

impl Tile {
    /// Bytes of one element.
    pub(super) fn size(&self) -> u64 {
        self.dtype.size() as u64
    }

    /// Elements of one block.
    pub(super) fn per_block(&self) -> u64 {
        32 / self.size()
    }

    /// Row stride in whole blocks; 0 for a column-major tile.
    pub(super) fn stride_blocks(&self) -> u64 {
        u64::from(self.row_stride()) / self.per_block()
    }

    /// Byte address of row `r`.
    pub(super) fn row(&self, r: u64) -> u64 {
        let step = u64::from(self.row_stride()).wrapping_mul(self.size());
        self.addr.wrapping_add(r.wrapping_mul(step))
    }

    /// Byte address of the element in row `r`, column `c`.
    pub fn at(&self, r: u64, c: u64) -> u64 {
        let (rows, cols) = (u64::from(self.rows), u64::from(self.cols));
        let block = self.per_block();
        let index = match self.layout {
            _ if self.is_nz() => {
                (c / block).wrapping_mul(rows).wrapping_add(r).wrapping_mul(block) + c % block
            }
            Layout::RowMajor => r.wrapping_mul(cols).wrapping_add(c),
            Layout::ColMajor => c.wrapping_mul(rows).wrapping_add(r),
        };
        self.addr.wrapping_add(index.wrapping_mul(self.size()))
    }

    /// One past the last byte.
    pub fn end(&self) -> u64 {
        self.addr.saturating_add(self.bytes())
    }

    /// Valid rows and columns.
    pub(super) fn valid(&self) -> (u64, u64) {
        (u64::from(self.valid_rows), u64::from(self.valid_cols))
    }

    /// All columns valid, and known so at compile time.
    pub(super) fn full_cols_static(&self) -> bool {
        self.static_cols && self.valid_cols == self.cols
    }

    /// Rows and columns all valid, and known so at compile time.
    pub(super) fn full_static(&self) -> bool {
        self.full_cols_static() && self.static_rows && self.valid_rows == self.rows
    }

    /// The same bytes seen as rows of the storage order: a column-major tile transposed.
    pub(crate) fn storage_rows(&self) -> Tile {
        let mut t = self.clone();
        if t.layout == Layout::ColMajor {
            std::mem::swap(&mut t.rows, &mut t.cols);
            std::mem::swap(&mut t.valid_rows, &mut t.valid_cols);
            std::mem::swap(&mut t.static_rows, &mut t.static_cols);
            t.layout = Layout::RowMajor;
        }
        t
    }
}
