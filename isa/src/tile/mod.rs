//! Tile operations: legality, meaning and microcode, one short file each or per family where only
//! the operator differs.

pub mod a5;
mod agree;
mod arg;
mod asm;
mod bin;
mod bin_scalar;
mod bits;
mod block_copy;
mod call;
mod check;
mod col_expand;
mod col_expand_bin;
mod col_reduce;
mod compare;
mod convert;
mod convert_off;
mod copy;
mod dequant;
mod engine;
mod fill;
mod fill_pad;
mod fused;
mod gather;
mod iota;
mod list;
mod meaning;
mod merge;
mod op;
mod part;
mod prelu;
mod quirks;
mod relu_conv;
mod remainder;
mod row_expand;
mod row_expand_bin;
mod row_reduce;
mod row_reduce_scalar;
mod rsqrt;
mod rules;
mod scratch;
mod select;
mod sort;
mod transfer;
mod transfer_nz;
mod transpose;
mod unary;
mod unbuilt;

pub use self::a5::a5;
pub use agree::agree;
pub use asm::{Asm, SCRATCH, SCRATCH_BYTES};
pub use call::{Attrs, Call, GmLayout, GmView, OperandOrder, Sat, Scalar};
pub use check::{Checker, Limits, check};
pub(crate) use gather::positions;
pub use list::OPS;
pub use meaning::{Mem, combine, single};
pub use op::{Operator, Signature, TileOp, Tmp, Tolerance, Types, a2a3, find, reference};
pub use quirks::{Quirk, Quirks};
pub use unbuilt::{UNBUILT, Unbuilt, unbuilt_because};

pub use ptoemu_core::target::Family;

use ptoemu_core::dtype::DType;

/// Memory a tile lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Loc {
    Vec,
    Mat,
    Left,
    Right,
    Acc,
    Bias,
    Scaling,
}

/// Order of elements in a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Layout {
    RowMajor,
    ColMajor,
}

/// A tile at a UB address, with its valid region resolved to numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Name shown in messages: the value's name in the program.
    pub name: String,
    /// Memory.
    pub loc: Loc,
    /// Element type.
    pub dtype: DType,
    /// Physical rows.
    pub rows: u32,
    /// Physical columns.
    pub cols: u32,
    /// Valid rows.
    pub valid_rows: u32,
    /// Valid columns.
    pub valid_cols: u32,
    /// Valid rows known at compile time (some fast paths need static sizes).
    pub static_rows: bool,
    /// Valid columns known at compile time.
    pub static_cols: bool,
    /// `blayout`.
    pub layout: Layout,
    /// `slayout` other than `none_box`: a fractal tile.
    pub fractal: bool,
    /// Pad value: 0 null, 1 zero, 2 max, 3 min.
    pub pad: u8,
    /// First byte in UB.
    pub addr: u64,
}

/// Shape, type, layout, valid region and place: `8x16 f32 col_major valid 4x1 at 0x40`.
impl std::fmt::Display for Tile {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}x{} {}", self.rows, self.cols, self.dtype)?;
        if self.layout == Layout::ColMajor {
            f.write_str(" col_major")?;
        }
        if (self.valid_rows, self.valid_cols) != (self.rows, self.cols) {
            write!(f, " valid {}x{}", self.valid_rows, self.valid_cols)?;
        }
        if !self.static_rows || !self.static_cols {
            f.write_str(" dynamic")?;
        }
        write!(f, " at {:#x}", self.addr)
    }
}

impl Tile {
    /// A row-major vector tile at address 0, sizes known at compile time; `(rows, columns)`.
    pub fn plain(name: &str, dtype: DType, shape: (u32, u32), valid: (u32, u32)) -> Tile {
        Tile {
            name: name.to_string(),
            loc: Loc::Vec,
            dtype,
            rows: shape.0,
            cols: shape.1,
            valid_rows: valid.0,
            valid_cols: valid.1,
            static_rows: true,
            static_cols: true,
            layout: Layout::RowMajor,
            fractal: false,
            pad: 0,
            addr: 0,
        }
    }

    /// Physical size in bytes.
    pub fn bytes(&self) -> u64 {
        (u64::from(self.rows) * u64::from(self.cols)).saturating_mul(self.dtype.size() as u64)
    }

    /// Elements from one row to the next: `cols`, or 1 for a col-major tile.
    pub fn row_stride(&self) -> u32 {
        match self.layout {
            Layout::RowMajor => self.cols,
            Layout::ColMajor => 1,
        }
    }
}
