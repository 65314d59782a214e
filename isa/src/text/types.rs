//! Types of a `.pto` text.

use super::ast::AttrRef;
use ptoemu_core::diag::Span;
use ptoemu_core::dtype::DType;
use std::sync::Arc;

/// A type with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// The `!pto.name` before `<` was left out, as in `<f32, gm>`; only printing cares.
    pub elided: bool,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `i32`, `ui16`, `index`, `bf16`
    Scalar(Scalar),
    /// `!pto.ptr<f32, ub>`; no space written means GM.
    Ptr {
        /// Pointed-to element.
        elem: Scalar,
        /// Address space.
        space: Option<Space>,
    },
    /// `!pto.tensor_view<..>`, `!pto.partition_tensor_view<..>`, `!pto.tile_view<..>`
    View {
        /// Which of them.
        kind: ViewKind,
        /// Sizes, outermost first.
        dims: Vec<Dim>,
        /// Element.
        elem: Scalar,
    },
    /// `!pto.tile_buf<..>` and `!pto.tile<..>` with a shape.
    Tile(Box<TileType>),
    /// `!pto.tile<...>` and `!pto.tile_buf<...>`: three literal dots, shape given elsewhere.
    TileUnknown {
        /// `tile_buf` rather than `tile`.
        buf: bool,
    },
    /// `!pto.vreg<64xf32>`
    Vreg {
        /// Lanes.
        lanes: u32,
        /// Element.
        elem: Scalar,
    },
    /// `!pto.mask<b32>`; `None` is the documentation's `<G>`.
    Mask {
        /// Bits of the element one mask bit stands for: 8, 16 or 32.
        bits: Option<u8>,
    },
    /// `!pto.align`
    Align,
    /// `memref<16x16xf32, strided<..>, #pto.address_space<vec>>`
    MemRef {
        /// Sizes, outermost first.
        dims: Vec<Dim>,
        /// Element.
        elem: Scalar,
        /// Layout text such as `strided<[16, 1], offset: ?>`.
        layout: Option<Arc<str>>,
        /// Address space attribute.
        space: Option<AttrRef>,
    },
    /// `vector<4xf32>`
    Vector {
        /// Sizes, outermost first.
        dims: Vec<Dim>,
        /// Element.
        elem: Scalar,
    },
    /// `(T, U) -> V`
    Func {
        /// Operands.
        operands: Vec<Type>,
        /// Results.
        results: Vec<Type>,
    },
    /// Any other: `!pto.pipe`, `!pto.eventid_array<4>`, `tensor<4xf32>`
    Other {
        /// Text before `<`, with its `!`.
        name: Arc<str>,
        /// Text between the angle brackets, white space collapsed.
        body: Option<Arc<str>>,
    },
}

/// Views of global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// `tensor_view`
    Tensor,
    /// `partition_tensor_view`
    Partition,
    /// `tile_view`, an older name of the partition view.
    Tile,
}

/// A size that may be unknown until run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    /// Known.
    Static(u64),
    /// `?` (and `-1` in valid sizes).
    Dynamic,
}

impl Dim {
    /// The size, if known.
    pub fn size(self) -> Option<u64> {
        match self {
            Dim::Static(n) => Some(n),
            Dim::Dynamic => None,
        }
    }
}

/// Signedness of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `i32`: vector operations read it as signed unless they say otherwise.
    Signless,
    /// `si32`
    Signed,
    /// `ui32`
    Unsigned,
}

/// Floating-point formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Float {
    F16,
    BF16,
    TF32,
    F32,
    F64,
    F8E4M3,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F4E2M1FN,
    HiF8,
}

/// Scalar types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// `i1`, `si8`, `ui64`
    Int {
        /// Width.
        bits: u16,
        /// Signedness.
        sign: Sign,
    },
    /// `index`: a signed 64-bit number.
    Index,
    /// `f32`
    Float(Float),
}

impl Scalar {
    /// The element type of the machine, if there is one; signless integers are signed.
    pub fn dtype(self) -> Option<DType> {
        Some(match self {
            Scalar::Float(Float::F16) => DType::F16,
            Scalar::Float(Float::BF16) => DType::BF16,
            Scalar::Float(Float::F32) => DType::F32,
            Scalar::Int { bits, sign: Sign::Unsigned } => match bits {
                8 => DType::U8,
                16 => DType::U16,
                32 => DType::U32,
                64 => DType::U64,
                _ => return None,
            },
            Scalar::Int { bits, .. } => match bits {
                8 => DType::I8,
                16 => DType::I16,
                32 => DType::I32,
                64 => DType::I64,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// Where a tile or a pointer lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Space {
    Gm,
    Ub,
    L1,
    L0a,
    L0b,
    L0c,
    Bt,
    Fb,
    Vec,
    Mat,
    Left,
    Right,
    Acc,
    Bias,
    Scaling,
}

/// Block or fractal layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Layout {
    RowMajor,
    ColMajor,
    NoneBox,
}

/// What lies outside the valid region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Pad {
    Null,
    Zero,
    Max,
    Min,
}

/// Compaction mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Compact {
    Null,
    Normal,
    RowPlusOne,
}

/// How a tile type was spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileSpelling {
    /// `!pto.tile_buf<vec, 16x64xf32, valid=16x63>`
    Compact,
    /// `!pto.tile_buf<loc=vec, dtype=f32, rows=16, ..>`
    Keyed,
    /// `!pto.tile_buf<16x64xf32, strided<..>, #pto.address_space<vec>>`
    Shaped,
    /// `!pto.tile<f32, 16, 64>`, `!pto.tile<loc=vec, f32, 16, 64, RowMajor, ..>`
    Positional,
}

/// A tile: storage shape, valid region and layout. Fields left out in the text hold the
/// language's defaults: row_major, none_box, fractal 512, pad and compact null, valid = shape.
#[derive(Clone, Debug, PartialEq)]
pub struct TileType {
    /// Spelling; only printing cares.
    pub spelling: TileSpelling,
    /// `tile_buf` rather than `tile`; only printing cares.
    pub buf: bool,
    /// Where it lives, if said.
    pub loc: Option<Space>,
    /// Element.
    pub dtype: Scalar,
    /// Rows of the storage.
    pub rows: u64,
    /// Columns of the storage.
    pub cols: u64,
    /// Valid rows.
    pub v_row: Dim,
    /// Valid columns.
    pub v_col: Dim,
    /// Block layout.
    pub blayout: Layout,
    /// Layout inside a fractal.
    pub slayout: Layout,
    /// Bytes of a fractal.
    pub fractal: u32,
    /// Padding.
    pub pad: Pad,
    /// Compaction.
    pub compact: Compact,
    /// Layout text of the `Shaped` spelling, such as `strided<[32, 1]>`.
    pub strides: Option<Arc<str>>,
}

impl Type {
    /// The tile, if it is one of known shape.
    pub fn as_tile(&self) -> Option<&TileType> {
        match &self.kind {
            TypeKind::Tile(t) => Some(t),
            _ => None,
        }
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<Scalar> {
        match self.kind {
            TypeKind::Scalar(s) => Some(s),
            _ => None,
        }
    }
}
