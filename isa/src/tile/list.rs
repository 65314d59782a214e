//! The list of tile operations.

use super::op::{Operator, Signature, TileOp, Tmp, Tolerance, Types};
use super::{
    a5, arg, bin, bin_scalar, block_copy, col_expand, col_expand_bin, col_reduce, compare, convert,
    copy, dequant, fill, fill_pad, fused, gather, iota, merge, part, relu_conv, remainder,
    row_expand, row_expand_bin, row_reduce, row_reduce_scalar, rsqrt, select, sort, transfer,
    transpose, unary,
};
use ptoemu_core::dtype::DType::{self, BF16, F16, F32, I8, I16, I32, I64, U8, U16, U32, U64};

const HF: &[DType] = &[F16, F32];
const HFSI: &[DType] = &[F16, F32, I16, I32];
const ROWMAX_A5: &[DType] = &[F16, F32, I32, I16, I8, U8];
const ROWSUM_A5: &[DType] = &[F16, F32, I16, I32, I64, U64];
const EXPAND: &[DType] = &[I8, U8, I16, U16, I32, U32, F16, BF16, F32];
const ALL: &[DType] = &[I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32];
const HFI: &[DType] = &[F16, F32, I32];
/// Bytes and 16-bit integers.
const NARROW: &[DType] = &[I8, U8, I16, U16];
const F: &[DType] = &[F32];
const CMPS: &[DType] = &[F16, F32, I32, I16, U16];
const INTS: &[DType] = &[I8, U8, I16, U16, I32, U32];
const ABS_A5: &[DType] = &[F16, F32, I8, I16, I32];
const DIV_A5: &[DType] = &[F16, F32, I16, I32, U16, U32, I64, U64];
const MUL_A5: &[DType] = &[F16, F32, I16, I32, BF16, U16, U32, I64, U64];
const NEG_A5: &[DType] = &[F16, F32, I16, I32, BF16, U16, U32];
const COLPROD_A5: &[DType] = &[F16, F32, BF16, I16, U16, I32, U32];
const CVT: &[DType] = &[F16, BF16, F32, I8, U8, I16, I32, I64];
const EXPAND_A5: &[DType] = &[F16, F32, I16, I32, U16, U32, BF16, I8, U8];

/// No element type: not built on the family.
const NONE: &[DType] = &[];
const W32: &[DType] = &[I32, U32, F32];
const HALF_BYTE: &[DType] = &[F16, I8];
const TRI: &[DType] = &[I16, U16, I32, U32, F16, F32];
const SHIFT: &[DType] = &[I16, U16, I32, U32];
const SEL: &[DType] = &[F16, F32, BF16, I16, U16, I32, U32];
const CMP: &[DType] = &[F16, F32, BF16, I8, U8, I16, U16, I32, U32];
const REM_A5: &[DType] = &[F16, F32];
const ARG: &[DType] = &[F16, F32, I16, U16, I32, U32];
const COLARG: &[DType] = &[F16, F32, BF16, I8, U8, I16, U16, I32, U32];
const PARTMUL: &[DType] = &[F16, F32, BF16, I16, U16, I32, U32];
const COLDIV: &[DType] = &[F16, F32, I16, I32, U16, U32];

const fn sig(srcs: u8, tmp: Tmp) -> Signature {
    Signature { srcs, more: 0, tmp, scalar: false, view: false, types: Types::All }
}

const fn scalar(srcs: u8) -> Signature {
    with_scalar(sig(srcs, Tmp::None))
}

const fn with_scalar(s: Signature) -> Signature {
    Signature { scalar: true, ..s }
}

const fn of_dst(s: Signature) -> Signature {
    Signature { types: Types::Dst, ..s }
}

const fn of_src(s: Signature) -> Signature {
    Signature { types: Types::Src, ..s }
}

const VIEW: Signature = Signature { view: true, ..sig(0, Tmp::None) };
const ONE: Signature = sig(1, Tmp::None);
const TWO: Signature = sig(2, Tmp::None);

/// The A2/A3 microcode of a module, where it is named.
macro_rules! lower_of {
    ($module:ident) => {
        None
    };
    ($module:ident $lower:ident) => {
        Some($module::$lower)
    };
}

/// Declares the registry, one operation a line.
macro_rules! ops {
    ($($name:literal $operator:ident $sig:expr, $a2a3:ident $a5:ident $tol:ident
       $module:ident: $check:ident $reference:ident $($lower:ident)?, $doc:literal;)*) => {
        /// Every tile operation.
        pub static OPS: &[TileOp] = &[$(TileOp {
            name: $name,
            doc: $doc,
            sig: $sig,
            a2a3: $a2a3,
            a5: $a5,
            operator: Operator::$operator,
            tolerance: Tolerance::$tol,
            check: $module::$check,
            reference: $module::$reference,
            lower: lower_of!($module $($lower)?),
            code: a5::$module,
        }),*];
    };
}

#[rustfmt::skip]
ops! {
    "trowmax"  Max sig(1, Tmp::Required), HFSI ROWMAX_A5 Exact row_reduce: check reference lower, "Maximum of every row.";
    "trowmin"  Min sig(1, Tmp::Required), HFSI ROWMAX_A5 Exact row_reduce: check reference lower, "Minimum of every row.";
    "trowsum"  Add sig(1, Tmp::Required), HFSI ROWSUM_A5 Sum   row_reduce: check reference lower, "Sum of every row.";
    "trowprod" Mul sig(1, Tmp::Required), HFSI HFSI      Sum   row_reduce_scalar: check reference lower, "Product of every row.";
    "trowexpand"       Move   sig(1, Tmp::None), EXPAND EXPAND Exact row_expand: check reference lower, "Element 0 of every source row, over the row.";
    "trowexpandadd"    Add    sig(2, Tmp::Optional), HFSI EXPAND_A5 Exact row_expand_bin: check reference lower, "full + one value (or block) per row.";
    "trowexpandsub"    Sub    sig(2, Tmp::Optional), HFSI EXPAND_A5 Exact row_expand_bin: check reference lower, "full - one value (or block) per row.";
    "trowexpandmul"    Mul    sig(2, Tmp::Optional), HFSI EXPAND_A5 Exact row_expand_bin: check reference lower, "full * one value (or block) per row.";
    "trowexpanddiv"    Div    sig(2, Tmp::Optional), HF   EXPAND_A5 Exact row_expand_bin: check reference lower, "full / one value (or block) per row.";
    "trowexpandmax"    Max    sig(2, Tmp::Optional), HFSI EXPAND_A5 Exact row_expand_bin: check reference lower, "max(full, one value or block per row).";
    "trowexpandmin"    Min    sig(2, Tmp::Optional), HFSI EXPAND_A5 Exact row_expand_bin: check reference lower, "min(full, one value or block per row).";
    "trowexpandexpdif" ExpDif sig(2, Tmp::Optional), HF   HF        Exact row_expand_bin: check reference lower, "exp(full - one value or block per row).";
    "tcolmax"  Max sig(1, Tmp::None),     HFSI ALL        Exact col_reduce: check reference lower, "Maximum of every column.";
    "tcolmin"  Min sig(1, Tmp::None),     HFSI ALL        Exact col_reduce: check reference lower, "Minimum of every column.";
    "tcolsum"  Add sig(1, Tmp::Optional), HFSI ALL        Sum   col_reduce: check reference lower, "Sum of every column.";
    "tcolprod" Mul sig(1, Tmp::None),     HFSI COLPROD_A5 Sum   col_reduce: check reference lower, "Product of every column.";
    "tadd"     Add TWO, HFSI ALL    Exact bin: check reference lower, "src0 + src1.";
    "tsub"     Sub TWO, HFSI ALL    Exact bin: check reference lower, "src0 - src1.";
    "tmul"     Mul TWO, HFSI MUL_A5 Exact bin: check reference lower, "src0 * src1.";
    "tdiv"     Div TWO, HF   DIV_A5 Exact bin: check reference lower, "src0 / src1.";
    "tmax"     Max TWO, HFSI ALL    Exact bin: check reference lower, "max(src0, src1).";
    "tmin"     Min TWO, HFSI ALL    Exact bin: check reference lower, "min(src0, src1).";
    "tadds"    Add   scalar(1), HFSI ALL    Exact bin_scalar: check reference lower, "src + scalar.";
    "tsubs"    Sub   scalar(1), HFSI ALL    Exact bin_scalar: check reference lower, "src - scalar.";
    "tmuls"    Mul   scalar(1), HFSI MUL_A5 Exact bin_scalar: check reference lower, "src * scalar.";
    "tdivs"    Div   scalar(1), HFSI DIV_A5 Exact bin_scalar: check reference lower, "src / scalar, or scalar / src.";
    "tmaxs"    Max   scalar(1), HFSI ALL    Exact bin_scalar: check reference lower, "max(src, scalar).";
    "tmins"    Min   scalar(1), HFSI ALL    Exact bin_scalar: check reference lower, "min(src, scalar).";
    "tneg"     Neg   ONE,       HFSI NEG_A5 Exact bin_scalar: check reference lower, "-src.";
    "trecip"   Recip ONE,       HFSI DIV_A5 Exact bin_scalar: check reference lower, "1 / src.";
    "texp"     Exp   ONE, HF  HF     Exact unary: check reference lower, "e to the src.";
    "tlog"     Log   ONE, HF  HF     Exact unary: check reference lower, "Natural logarithm.";
    "tsqrt"    Sqrt  ONE, HF  HF     Exact unary: check reference lower, "Square root.";
    "trsqrt"   Rsqrt sig(1, Tmp::Optional), HF HF Exact rsqrt: check reference lower, "1 / square root; tmp makes it accurate.";
    "tabs"     Abs   ONE, HF  ABS_A5 Exact unary: check reference lower, "Absolute value.";
    "trelu"    Relu  ONE, HFI HFI    Exact unary: check reference lower, "max(src, 0); NaN stays NaN.";
    "tnot"     Not   ONE, INTS INTS   Exact unary: check reference lower, "Bitwise complement.";
    "texpands" Move  scalar(0), EXPAND ALL Exact fill: check reference lower, "The scalar everywhere.";
    "tmov"     Move  ONE,       ALL ALL    Exact copy: check reference lower, "Copy of a tile.";
    "tcvt"     Move  of_dst(sig(1, Tmp::Optional)), CVT ALL Exact convert: check reference lower, "Element type conversion.";
    "tand"     And TWO, INTS INTS Exact bin: check reference lower, "src0 & src1.";
    "tor"      Or  TWO, INTS INTS Exact bin: check reference lower, "src0 | src1.";
    "txor"     Xor sig(2, Tmp::Optional), INTS INTS Exact bin: check reference lower, "src0 ^ src1.";
    "tshl"     Shl TWO, INTS INTS Exact bin: check reference lower, "src0 << src1; counts at or beyond the width give 0.";
    "tshr"     Shr TWO, INTS INTS Exact bin: check reference lower, "src0 >> src1, arithmetic for signed types.";
    "tprelu"   Leaky sig(2, Tmp::Optional), HF HF Exact bin: check reference lower, "src0 >= 0 ? src0 : src0 * src1; on A2/A3 > 0.";
    "tands"    And   scalar(1), NARROW INTS Exact bin_scalar: check reference lower, "src & scalar.";
    "tors"     Or    scalar(1), NARROW INTS Exact bin_scalar: check reference lower, "src | scalar.";
    "txors"    Xor   with_scalar(sig(1, Tmp::Optional)), NARROW INTS Exact bin_scalar: check reference lower, "src ^ scalar.";
    "tshls"    Shl   scalar(1), SHIFT INTS Exact bin_scalar: check reference lower, "src << scalar.";
    "tshrs"    Shr   scalar(1), SHIFT INTS Exact bin_scalar: check reference lower, "src >> scalar, arithmetic for signed types.";
    "tlrelu"   Leaky scalar(1), HF HF Exact bin_scalar: check reference lower, "src >= 0 ? src : src * scalar.";
    "trem"     Rem sig(2, Tmp::Optional), F REM_A5 Exact remainder: check reference lower, "src0 - floor(src0 / src1) * src1.";
    "tfmod"    Mod TWO, F REM_A5 Exact remainder: check reference lower, "src0 - trunc(src0 / src1) * src1.";
    "trems"    Rem with_scalar(sig(1, Tmp::Optional)), F REM_A5 Exact remainder: check reference lower, "src - floor(src / scalar) * scalar.";
    "tfmods"   Mod scalar(1), F REM_A5 Exact remainder: check reference lower, "src - trunc(src / scalar) * scalar.";
    "tsel"     Select  of_dst(sig(3, Tmp::Required)), SEL CMP Exact select: check reference lower, "Where a bit of mask is 1, src0, else src1.";
    "tsels"    Select  of_dst(with_scalar(sig(2, Tmp::Required))), SEL CMP Exact select: check reference lower, "Where a bit of mask is 1, src, else the scalar.";
    "tcmp"     Compare of_src(TWO), HFI CMP Exact compare: check reference lower, "One bit an element: src0 compared with src1.";
    "tcmps"    Compare of_src(scalar(1)), CMPS CMP Exact compare: check reference lower, "One bit an element: src compared with the scalar.";
    "tpartadd" Add TWO, HFSI EXPAND_A5 Exact part: check reference lower, "src0 + src1 where both are valid, a copy where one is.";
    "tpartmul" Mul TWO, HFSI PARTMUL Exact part: check reference lower, "src0 * src1 where both are valid, a copy where one is.";
    "tpartmax" Max TWO, HFSI EXPAND_A5 Exact part: check reference lower, "max where both are valid, a copy where one is.";
    "tpartmin" Min TWO, HFSI EXPAND_A5 Exact part: check reference lower, "min where both are valid, a copy where one is.";
    "tcolexpand"       Move   ONE, EXPAND EXPAND Exact col_expand: check reference lower, "Row 0 of the source, over all rows.";
    "tcolexpandadd"    Add    TWO, HFSI EXPAND_A5 Exact col_expand_bin: check reference lower, "full + one row.";
    "tcolexpandsub"    Sub    TWO, HFSI EXPAND_A5 Exact col_expand_bin: check reference lower, "src0 - src1, one of them a row.";
    "tcolexpandmul"    Mul    TWO, HFSI PARTMUL   Exact col_expand_bin: check reference lower, "full * one row.";
    "tcolexpanddiv"    Div    TWO, HF COLDIV    Exact col_expand_bin: check reference lower, "src0 / src1, one of them a row.";
    "tcolexpandmax"    Max    TWO, HFSI EXPAND_A5 Exact col_expand_bin: check reference lower, "max(full, one row).";
    "tcolexpandmin"    Min    TWO, HFSI EXPAND_A5 Exact col_expand_bin: check reference lower, "min(full, one row).";
    "tcolexpandexpdif" ExpDif TWO, HF HF        Exact col_expand_bin: check reference lower, "exp(src0 - src1), one of them a row.";
    "trowargmax" ArgMax of_src(sig(1, Tmp::Optional)), HF ARG Exact arg: check reference lower, "Column of the largest element of every row.";
    "trowargmin" ArgMin of_src(sig(1, Tmp::Optional)), HF ARG Exact arg: check reference lower, "Column of the smallest element of every row.";
    "tcolargmax" ArgMax of_src(sig(1, Tmp::Optional)), HF COLARG Exact arg: check reference lower, "Row of the largest element of every column.";
    "tcolargmin" ArgMin of_src(sig(1, Tmp::Optional)), HF COLARG Exact arg: check reference lower, "Row of the smallest element of every column.";
    "tfillpad"         Move ONE, EXPAND EXPAND Exact fill_pad: check reference lower, "The valid region, the rest of the tile padded.";
    "tfillpad_inplace" Move ONE, EXPAND EXPAND Exact fill_pad: check reference lower, "The tile padded outside its valid region.";
    "tfillpad_expand"  Move ONE, EXPAND EXPAND Exact fill_pad: check reference lower, "The valid region of a smaller tile, the rest padded.";
    "tsort32"  Sort of_src(sig(2, Tmp::Optional)), HF HF Exact sort: check reference lower, "Every 32 elements descending, as records of value and index.";
    "tsubrelu"         SubRelu    TWO, HF HF Exact fused: check reference lower, "max(src0 - src1, 0).";
    "tmuladddst"       MulAdd     TWO, HF HF Exact fused: check reference lower, "dst + src0 * src1, rounded once.";
    "tfusedmuladd"     MulDst     TWO, HF HF Exact fused: check reference lower, "src0 * dst + src1, rounded once.";
    "tfusedmuladdrelu" MulDstRelu TWO, HF HF Exact fused: check reference lower, "max(src0 * dst + src1, 0).";
    "taxpy"            Axpy       scalar(1), HF HF Exact fused: check reference lower, "dst + src * scalar, rounded once.";
    "taddreluconv" AddReluConv of_dst(TWO), HALF_BYTE NONE Exact relu_conv: check reference lower, "max(src0 + src1, 0) in a narrower type, saturating.";
    "tsubreluconv" SubReluConv of_dst(TWO), HALF_BYTE NONE Exact relu_conv: check reference lower, "max(src0 - src1, 0) in a narrower type, saturating.";
    "tci"      Iota  with_scalar(sig(0, Tmp::Optional)), SHIFT SHIFT Exact iota: check reference lower, "Numbers from the scalar on, up or down.";
    "ttri"     Tri   of_dst(scalar(0)), TRI TRI Exact iota: check reference lower, "1 up to the diagonal the scalar names, or from it on; 0 elsewhere.";
    "ttrans"   Trans sig(1, Tmp::Optional), EXPAND SEL Exact transpose: check reference lower, "Rows become columns.";
    "tgather"  Gather of_dst(sig(2, Tmp::Optional)), SEL W32 Exact gather: check reference lower, "dst[i] = src[idx[i]], elements counted from the start of src.";
    "tgather_mask" Pattern of_dst(ONE), SEL NONE Exact gather: check reference lower, "The elements of every row that a pattern of four names: tgather with maskPattern.";
    "tgatherb" GatherB of_dst(TWO), EXPAND EXPAND Exact gather: check reference lower, "32-byte blocks of src by byte offset.";
    "tscatter" Scatter of_dst(TWO), EXPAND NONE Exact gather: check reference lower, "0, then dst[idx[i]] = src[i] in row order.";
    "tmrgsort" Merge  Signature { more: 2, ..sig(2, Tmp::Optional) }, HF HF Exact merge: check reference lower, "Two to four descending lists of records merged.";
    "tmrgsort_block" MergeBlock ONE, HF HF Exact merge: check reference lower, "Four blocks of records at a time merged: tmrgsort with a block length.";
    "tconcat"  Concat  TWO, EXPAND EXPAND Exact block_copy: check reference lower, "src0 and src1 side by side.";
    "textract" Extract ONE, EXPAND EXPAND Exact block_copy: check reference lower, "The part of src at a row and column.";
    "tinsert"  Insert  ONE, EXPAND EXPAND Exact block_copy: check reference lower, "src into dst at a row and column.";
    "tdequant" Dequant of_dst(sig(3, Tmp::None)), F NONE Exact dequant: check reference lower, "(src - offset) * scale, one of each a row.";
    "tload"    Move  VIEW, ALL ALL Exact transfer: check reference lower, "Global memory to tile.";
    "tstore"   Move  VIEW, ALL ALL Exact transfer: check reference lower, "Tile to global memory.";
}
