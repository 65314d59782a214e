//! The rows of the A2/A3 vector core (dav-2201).
//!
//! Naming follows the compiler builtins. In the names of type lists `H` is f16, `F` f32, `B` bf16,
//! `S` the signed integers of 16 and 32 bits; in conversions the destination comes first.

use super::Claim::{Documented, Inferred};
use super::{Form, Row};
use crate::families::{
    Sem, arith, broadcast, compare, control, convert, copy, dma, elementary, extreme, fused,
    gather, logic, reduce, scalar, select, sort,
};
use ptoemu_core::dtype::DType::{self, BF16, F16, F32, I8, I16, I32, I64, U8, U16, U32, U64};
use ptoemu_core::num::Round::{self, Ceil, Floor, NearestAway, NearestEven, Odd, Zero};

/// Same type on both sides.
macro_rules! same {
    ($($t:ident)*) => { &[$(($t, $t)),*] };
}

type Types = &'static [(DType, DType)];
const HFS: Types = same!(F16 F32 I16 I32);
const HFH: Types = same!(F16 F32 I16);
const HF: Types = same!(F16 F32);
const HFI: Types = same!(F16 F32 I32);
const W16: Types = same!(I16 U16);
const MIX: Types = &[(F16, F16), (F32, F32), (F32, F16)];
const INT: Types = same!(U16 I16 U32 I32);
const VIEW: Types = same!(U16 U32 I16 I32 F16 F32 BF16);
const FILL: Types = same!(F16 BF16 F32 I16 U16 I32 U32);
const SEL: Types = same!(F16 F32 I16 U16 I32 U32 BF16);
const B8: Types = same!(I8 U8);
const B16: Types = same!(I16 U16 F16 BF16);
const B32: Types = same!(I32 U32 F32);
const MEM: Types = same!(I8 U8 I16 U16 F16 BF16 I32 U32 F32 I64 U64);
const ANY: Types = &[];
const BYTES: Types = same!(I8 U8 I16 U16 F16 BF16 I32 U32 F32);
const WORD: Types = same!(U32 I32 F32);
const HALF: Types = same!(U16 I16 F16 BF16);
const H_F: Types = &[(F16, F32)];
const S8_H: Types = &[(I8, F16)];
const S8_S16: Types = &[(I8, I16)];
const F_F: Types = same!(F32);
const B_F: Types = &[(BF16, F32)];
const S64_F: Types = &[(I64, F32)];
const S32_F: Types = &[(I32, F32)];
const S16_F: Types = &[(I16, F32)];
const F_H: Types = &[(F32, F16)];
const S32_H: Types = &[(I32, F16)];
const S16_H: Types = &[(I16, F16)];
const U8_H: Types = &[(U8, F16)];
const F_B: Types = &[(F32, BF16)];
const S32_B: Types = &[(I32, BF16)];
const H_S16: Types = &[(F16, I16)];
const F_S16: Types = &[(F32, I16)];
const F_S32: Types = &[(F32, I32)];
const S16_S32: Types = &[(I16, I32)];
const S64_S32: Types = &[(I64, I32)];
const S32_S64: Types = &[(I32, I64)];
const F_S64: Types = &[(F32, I64)];
const H_S8: Types = &[(F16, I8)];
const H_U8: Types = &[(F16, U8)];
const H_S32: Types = &[(F16, I32)];

/// Declares every instruction: the `Op` enum and the table it indexes.
macro_rules! instructions {
    ($($name:ident $form:ident $types:ident $sem:expr, $cost:literal, $claim:ident, $doc:literal;)*) => {
        /// An A2/A3 instruction, spelled as its mnemonic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        #[allow(non_camel_case_types)]
        pub enum Op { $(#[doc = $doc] $name),* }

        impl Op {
            /// Every instruction, in table order.
            pub const ALL: &'static [Op] = &[$(Op::$name),*];
        }

        pub(super) static ROWS: &[Row] = &[$(Row {
            mnemonic: stringify!($name),
            form: Form::$form,
            types: $types,
            sem: $sem,
            cost: $cost,
            claim: $claim,
            doc: $doc,
        }),*];
    };
}

/// A conversion that rounds.
const fn conv(round: Round) -> Sem {
    Sem::Convert(round)
}

#[rustfmt::skip]
instructions! {
    vadd                      Vec2       HFS     Sem::Two(arith::add),                   "vadd",              Documented, "dst = src0 + src1; integers wrap.";
    vsub                      Vec2       HFS     Sem::Two(arith::sub),                   "vsub",              Documented, "dst = src0 - src1; integers wrap.";
    vmul                      Vec2       HFS     Sem::Two(arith::mul),                   "vmul",              Documented, "dst = src0 * src1; integers wrap.";
    vdiv                      Vec2       HF      Sem::Two(arith::div),                   "vdiv",              Documented, "dst = src0 / src1, correctly rounded [U: about 1 ulp is promised].";
    vmax                      Vec2       HFS     Sem::Two(extreme::max),                 "vmax",              Documented, "Larger element; a NaN operand gives NaN [U: setting nan_rule].";
    vmin                      Vec2       HFS     Sem::Two(extreme::min),                 "vmin",              Documented, "Smaller element; a NaN operand gives NaN [U: setting nan_rule].";
    vand                      Vec2       W16     Sem::Two(logic::and),                   "vand",              Documented, "Bitwise and of 16-bit views.";
    vor                       Vec2       W16     Sem::Two(logic::or),                    "vor",               Documented, "Bitwise or of 16-bit views.";
    vsubrelu                  Vec2       HFH     Sem::Two(arith::sub_relu),              "vsubrelu",          Documented, "dst = max(src0 - src1, 0).";
    vmla                      Vec2       MIX     Sem::AccTwo(fused::mla),                "vmla",              Documented, "dst = src0 * src1 + dst; dst f32 may take f16 sources.";
    vmadd                     Vec2       HF      Sem::AccTwo(fused::madd),               "vmadd",             Documented, "dst = src0 * dst + src1.";
    vmaddrelu                 Vec2       HF      Sem::AccTwo(fused::madd_relu),          "vmaddrelu",         Documented, "dst = max(src0 * dst + src1, 0).";
    vaddreluconv_f322f16      Vec2Conv   H_F     Sem::Two(convert::add_relu),            "vaddrelu",          Documented, "dst = convert(max(src0 + src1, 0)), f322f16, saturating, nearest even.";
    vaddreluconv_f162s8       Vec2Conv   S8_H    Sem::Two(convert::add_relu),            "vaddrelu",          Documented, "dst = convert(max(src0 + src1, 0)), f162s8, saturating, nearest even.";
    vaddreluconv_s162s8       Vec2Conv   S8_S16  Sem::Two(convert::add_relu),            "vaddrelu",          Documented, "dst = convert(max(src0 + src1, 0)), s162s8, saturating, nearest even.";
    vsubreluconv_f322f16      Vec2Conv   H_F     Sem::Two(convert::sub_relu),            "vsubrelu",          Documented, "dst = convert(max(src0 - src1, 0)), f322f16, saturating, nearest even.";
    vsubreluconv_f162s8       Vec2Conv   S8_H    Sem::Two(convert::sub_relu),            "vsubrelu",          Documented, "dst = convert(max(src0 - src1, 0)), f162s8, saturating, nearest even.";
    vsubreluconv_s162s8       Vec2Conv   S8_S16  Sem::Two(convert::sub_relu),            "vsubrelu",          Documented, "dst = convert(max(src0 - src1, 0)), s162s8, saturating, nearest even.";
    vabs                      Vec1       HF      Sem::One(arith::abs),                   "vabs",              Documented, "dst = |src|; clears the sign bit, also of NaN.";
    vexp                      Vec1       HF      Sem::One(elementary::exp),              "vexp",              Documented, "dst = e^src, correctly rounded [U: no bit-exact definition is public].";
    vln                       Vec1       HF      Sem::One(elementary::ln),               "vln",               Documented, "Natural logarithm; ln(0) = -INF, negative gives NaN.";
    vsqrt                     Vec1       HF      Sem::One(elementary::sqrt),             "vsqrt",             Documented, "Square root; negative gives NaN.";
    vrsqrt                    Vec1       HF      Sem::One(elementary::rsqrt),            "vrsqrt",            Documented, "1 / sqrt(src) [U: low precision on hardware; setting reciprocal].";
    vrec                      Vec1       HF      Sem::One(elementary::rec),              "vrec",              Documented, "1 / src [U: low precision on hardware; setting reciprocal].";
    vrelu                     Vec1       HFI     Sem::One(arith::relu),                  "vrelu",             Documented, "dst = max(src, 0); NaN stays NaN [U].";
    vnot                      Vec1       W16     Sem::One(logic::not),                   "vnot",              Documented, "Bitwise complement of 16-bit views.";
    vcopy                     Vec1       INT     Sem::Special(copy::vcopy),              "vcopy",             Documented, "Masked move of elements inside UB; counter mode counts per repeat.";
    vadds                     VecS       HFS     Sem::One(arith::add_scalar),            "vadds",             Documented, "dst = src + scalar; integers wrap.";
    vmuls                     VecS       HFS     Sem::One(arith::mul_scalar),            "vmuls",             Documented, "dst = src * scalar; integers wrap.";
    vmaxs                     VecS       HFS     Sem::One(extreme::max_scalar),          "vmaxs",             Documented, "Larger of element and scalar.";
    vmins                     VecS       HFS     Sem::One(extreme::min_scalar),          "vmins",             Documented, "Smaller of element and scalar.";
    vlrelu                    VecS       HF      Sem::One(arith::leaky_relu),            "vlrelu",            Documented, "dst = src >= 0 ? src : src * scalar; NaN stays NaN [U].";
    vaxpy                     VecS       MIX     Sem::AccOne(fused::axpy),               "vaxpy",             Documented, "dst = src * scalar + dst; dst f32 may take an f16 source and scalar.";
    vshl                      VecS       INT     Sem::One(logic::shift_left),            "vshl",              Documented, "Left shift by a number of bits, zero fill.";
    vshr                      ShiftRight INT     Sem::One(logic::shift_right),           "vshr",              Documented, "Right shift, arithmetic for signed; with round adds the last bit shifted out.";
    vector_dup                Dup        FILL    Sem::Fill(broadcast::fill),             "vector_dup",        Documented, "Every active element becomes the scalar.";
    vbrcb                     Brcb       VIEW    Sem::Special(broadcast::brcb),          "vbrcb",             Documented, "Block b of repeat r is filled with copies of src[8r+b]; ignores MASK [I].";
    copy_ubuf_to_ubuf         CopyUb     MEM     Sem::Special(copy::ub_to_ub),           "copy_ubuf_to_ubuf", Documented, "Bursts of 32-byte blocks inside UB, on PIPE_V; ignores MASK.";
    copy_gm_to_ubuf           CopyIn     MEM     Sem::Special(dma::load),                "copy_gm_to_ubuf",   Inferred,   "Bursts from GM to UB, all lengths and gaps in 32-byte blocks.";
    copy_ubuf_to_gm           CopyOut    MEM     Sem::Special(dma::store),               "copy_ubuf_to_gm",   Inferred,   "Bursts from UB to GM, all lengths and gaps in 32-byte blocks.";
    copy_gm_to_ubuf_align_b8  AlignIn    B8      Sem::Special(dma::load_align),          "copy_gm_to_ubuf",   Documented, "Bursts of bytes from GM, each to an aligned block of UB, padded in 8-bit elements.";
    copy_gm_to_ubuf_align_b16 AlignIn    B16     Sem::Special(dma::load_align),          "copy_gm_to_ubuf",   Documented, "Bursts of bytes from GM, each to an aligned block of UB, padded in 16-bit elements.";
    copy_gm_to_ubuf_align_b32 AlignIn    B32     Sem::Special(dma::load_align),          "copy_gm_to_ubuf",   Documented, "Bursts of bytes from GM, each to an aligned block of UB, padded in 32-bit elements.";
    copy_ubuf_to_gm_align_b8  AlignOut   B8      Sem::Special(dma::store_align),         "copy_ubuf_to_gm",   Documented, "Bursts of bytes from aligned blocks of UB to GM, 8-bit elements; atomic as CTRL says.";
    copy_ubuf_to_gm_align_b16 AlignOut   B16     Sem::Special(dma::store_align),         "copy_ubuf_to_gm",   Documented, "Bursts of bytes from aligned blocks of UB to GM, 16-bit elements; atomic as CTRL says.";
    copy_ubuf_to_gm_align_b32 AlignOut   B32     Sem::Special(dma::store_align),         "copy_ubuf_to_gm",   Documented, "Bursts of bytes from aligned blocks of UB to GM, 32-bit elements; atomic as CTRL says.";
    scalar_load               Load       MEM     Sem::Special(scalar::load),             "scalar_load",       Documented, "Scalar load of 1, 2, 4 or 8 bytes, on PIPE_S.";
    scalar_store              Store      MEM     Sem::Special(scalar::store),            "scalar_store",      Documented, "Scalar store of 1, 2, 4 or 8 bytes, on PIPE_S.";
    vcmax                     Extreme    HF      Sem::Special(reduce::whole_max),        "vcmax",             Documented, "Largest active element of each repeat and its first lane, as ORDER says.";
    vcmin                     Extreme    HF      Sem::Special(reduce::whole_min),        "vcmin",             Documented, "Smallest active element of each repeat and its first lane, as ORDER says.";
    vcadd                     Sum        HF      Sem::Special(reduce::whole_sum),        "vcadd",             Documented, "Sum of each repeat, a balanced tree over adjacent elements rounded at every level.";
    vcgmax                    Group      HF      Sem::Special(reduce::group_max),        "vcgmax",            Documented, "Largest element of each block; eight results per repeat.";
    vcgmin                    Group      HF      Sem::Special(reduce::group_min),        "vcgmin",            Documented, "Smallest element of each block; eight results per repeat.";
    vcgadd                    Group      HF      Sem::Special(reduce::group_add),        "vcgadd",            Documented, "Sum of each block, adjacent tree; eight results per repeat.";
    vcpadd                    Pair       HF      Sem::Special(reduce::pair_sum),         "vcpadd",            Documented, "dst[i] = src[2i] + src[2i+1]; stride unit 128 bytes [U].";
    vconv_f322f16             Vec1       H_F     conv(NearestEven),                      "vconv",             Documented, "f32 to f16, default rounding; overflow as CTRL[48] says.";
    vconv_f322f16r            Vec1       H_F     conv(NearestEven),                      "vconv",             Documented, "f32 to f16, to nearest even; overflow as CTRL[48] says.";
    vconv_f322f16a            Vec1       H_F     conv(NearestAway),                      "vconv",             Documented, "f32 to f16, to nearest, ties away from zero; overflow as CTRL[48] says.";
    vconv_f322f16f            Vec1       H_F     conv(Floor),                            "vconv",             Documented, "f32 to f16, down; overflow as CTRL[48] says.";
    vconv_f322f16c            Vec1       H_F     conv(Ceil),                             "vconv",             Documented, "f32 to f16, up; overflow as CTRL[48] says.";
    vconv_f322f16z            Vec1       H_F     conv(Zero),                             "vconv",             Documented, "f32 to f16, toward zero; overflow as CTRL[48] says.";
    vconv_f322f16o            Vec1       H_F     conv(Odd),                              "vconv",             Documented, "f32 to f16, to odd; overflow as CTRL[48] says.";
    vconv_f322f32r            Vec1       F_F     conv(NearestEven),                      "vconv",             Documented, "f32 to f32, to nearest even, to an integral value.";
    vconv_f322f32a            Vec1       F_F     conv(NearestAway),                      "vconv",             Documented, "f32 to f32, to nearest, ties away from zero, to an integral value.";
    vconv_f322f32f            Vec1       F_F     conv(Floor),                            "vconv",             Documented, "f32 to f32, down, to an integral value.";
    vconv_f322f32c            Vec1       F_F     conv(Ceil),                             "vconv",             Documented, "f32 to f32, up, to an integral value.";
    vconv_f322f32z            Vec1       F_F     conv(Zero),                             "vconv",             Documented, "f32 to f32, toward zero, to an integral value.";
    vconv_f322bf16r           Vec1       B_F     conv(NearestEven),                      "vconv",             Documented, "f32 to bf16, to nearest even.";
    vconv_f322bf16a           Vec1       B_F     conv(NearestAway),                      "vconv",             Documented, "f32 to bf16, to nearest, ties away from zero.";
    vconv_f322bf16f           Vec1       B_F     conv(Floor),                            "vconv",             Documented, "f32 to bf16, down.";
    vconv_f322bf16c           Vec1       B_F     conv(Ceil),                             "vconv",             Documented, "f32 to bf16, up.";
    vconv_f322bf16z           Vec1       B_F     conv(Zero),                             "vconv",             Documented, "f32 to bf16, toward zero.";
    vconv_f322s64r            Vec1       S64_F   conv(NearestEven),                      "vconv",             Documented, "f32 to s64, to nearest even; range as CTRL[59] says.";
    vconv_f322s64a            Vec1       S64_F   conv(NearestAway),                      "vconv",             Documented, "f32 to s64, to nearest, ties away from zero; range as CTRL[59] says.";
    vconv_f322s64f            Vec1       S64_F   conv(Floor),                            "vconv",             Documented, "f32 to s64, down; range as CTRL[59] says.";
    vconv_f322s64c            Vec1       S64_F   conv(Ceil),                             "vconv",             Documented, "f32 to s64, up; range as CTRL[59] says.";
    vconv_f322s64z            Vec1       S64_F   conv(Zero),                             "vconv",             Documented, "f32 to s64, toward zero; range as CTRL[59] says.";
    vconv_f322s32r            Vec1       S32_F   conv(NearestEven),                      "vconv",             Documented, "f32 to s32, to nearest even; range as CTRL[59] says.";
    vconv_f322s32a            Vec1       S32_F   conv(NearestAway),                      "vconv",             Documented, "f32 to s32, to nearest, ties away from zero; range as CTRL[59] says.";
    vconv_f322s32f            Vec1       S32_F   conv(Floor),                            "vconv",             Documented, "f32 to s32, down; range as CTRL[59] says.";
    vconv_f322s32c            Vec1       S32_F   conv(Ceil),                             "vconv",             Documented, "f32 to s32, up; range as CTRL[59] says.";
    vconv_f322s32z            Vec1       S32_F   conv(Zero),                             "vconv",             Documented, "f32 to s32, toward zero; range as CTRL[59] says.";
    vconv_f322s16r            Vec1       S16_F   conv(NearestEven),                      "vconv",             Documented, "f32 to s16, to nearest even; range as CTRL[59] says.";
    vconv_f322s16a            Vec1       S16_F   conv(NearestAway),                      "vconv",             Documented, "f32 to s16, to nearest, ties away from zero; range as CTRL[59] says.";
    vconv_f322s16f            Vec1       S16_F   conv(Floor),                            "vconv",             Documented, "f32 to s16, down; range as CTRL[59] says.";
    vconv_f322s16c            Vec1       S16_F   conv(Ceil),                             "vconv",             Documented, "f32 to s16, up; range as CTRL[59] says.";
    vconv_f322s16z            Vec1       S16_F   conv(Zero),                             "vconv",             Documented, "f32 to s16, toward zero; range as CTRL[59] says.";
    vconv_f162f32             Vec1       F_H     conv(NearestEven),                      "vconv",             Documented, "f16 to f32, exact.";
    vconv_f162s32r            Vec1       S32_H   conv(NearestEven),                      "vconv",             Documented, "f16 to s32, to nearest even.";
    vconv_f162s32a            Vec1       S32_H   conv(NearestAway),                      "vconv",             Documented, "f16 to s32, to nearest, ties away from zero.";
    vconv_f162s32f            Vec1       S32_H   conv(Floor),                            "vconv",             Documented, "f16 to s32, down.";
    vconv_f162s32c            Vec1       S32_H   conv(Ceil),                             "vconv",             Documented, "f16 to s32, up.";
    vconv_f162s32z            Vec1       S32_H   conv(Zero),                             "vconv",             Documented, "f16 to s32, toward zero.";
    vconv_f162s16r            Vec1       S16_H   conv(NearestEven),                      "vconv",             Documented, "f16 to s16, to nearest even; range as CTRL[59] says.";
    vconv_f162s16a            Vec1       S16_H   conv(NearestAway),                      "vconv",             Documented, "f16 to s16, to nearest, ties away from zero; range as CTRL[59] says.";
    vconv_f162s16f            Vec1       S16_H   conv(Floor),                            "vconv",             Documented, "f16 to s16, down; range as CTRL[59] says.";
    vconv_f162s16c            Vec1       S16_H   conv(Ceil),                             "vconv",             Documented, "f16 to s16, up; range as CTRL[59] says.";
    vconv_f162s16z            Vec1       S16_H   conv(Zero),                             "vconv",             Documented, "f16 to s16, toward zero; range as CTRL[59] says.";
    vconv_f162s8              Vec1       S8_H    conv(NearestEven),                      "vconv",             Documented, "f16 to s8, default rounding; range as CTRL[59] says.";
    vconv_f162s8r             Vec1       S8_H    conv(NearestEven),                      "vconv",             Documented, "f16 to s8, to nearest even; range as CTRL[59] says.";
    vconv_f162s8a             Vec1       S8_H    conv(NearestAway),                      "vconv",             Documented, "f16 to s8, to nearest, ties away from zero; range as CTRL[59] says.";
    vconv_f162s8f             Vec1       S8_H    conv(Floor),                            "vconv",             Documented, "f16 to s8, down; range as CTRL[59] says.";
    vconv_f162s8c             Vec1       S8_H    conv(Ceil),                             "vconv",             Documented, "f16 to s8, up; range as CTRL[59] says.";
    vconv_f162s8z             Vec1       S8_H    conv(Zero),                             "vconv",             Documented, "f16 to s8, toward zero; range as CTRL[59] says.";
    vconv_f162u8              Vec1       U8_H    conv(NearestEven),                      "vconv",             Documented, "f16 to u8, default rounding; range as CTRL[59] says.";
    vconv_f162u8r             Vec1       U8_H    conv(NearestEven),                      "vconv",             Documented, "f16 to u8, to nearest even; range as CTRL[59] says.";
    vconv_f162u8a             Vec1       U8_H    conv(NearestAway),                      "vconv",             Documented, "f16 to u8, to nearest, ties away from zero; range as CTRL[59] says.";
    vconv_f162u8f             Vec1       U8_H    conv(Floor),                            "vconv",             Documented, "f16 to u8, down; range as CTRL[59] says.";
    vconv_f162u8c             Vec1       U8_H    conv(Ceil),                             "vconv",             Documented, "f16 to u8, up; range as CTRL[59] says.";
    vconv_f162u8z             Vec1       U8_H    conv(Zero),                             "vconv",             Documented, "f16 to u8, toward zero; range as CTRL[59] says.";
    vconv_f162s4r             Vec1       S8_H    Sem::Nibble(NearestEven),               "vconv",             Documented, "f16 to s4, to nearest even; two per byte, low nibble first [I].";
    vconv_f162s4a             Vec1       S8_H    Sem::Nibble(NearestAway),               "vconv",             Documented, "f16 to s4, to nearest, ties away from zero; two per byte, low nibble first [I].";
    vconv_f162s4f             Vec1       S8_H    Sem::Nibble(Floor),                     "vconv",             Documented, "f16 to s4, down; two per byte, low nibble first [I].";
    vconv_f162s4c             Vec1       S8_H    Sem::Nibble(Ceil),                      "vconv",             Documented, "f16 to s4, up; two per byte, low nibble first [I].";
    vconv_f162s4z             Vec1       S8_H    Sem::Nibble(Zero),                      "vconv",             Documented, "f16 to s4, toward zero; two per byte, low nibble first [I].";
    vconv_bf162f32            Vec1       F_B     conv(NearestEven),                      "vconv",             Documented, "bf16 to f32, exact.";
    vconv_bf162s32r           Vec1       S32_B   conv(NearestEven),                      "vconv",             Documented, "bf16 to s32, to nearest even.";
    vconv_bf162s32a           Vec1       S32_B   conv(NearestAway),                      "vconv",             Documented, "bf16 to s32, to nearest, ties away from zero.";
    vconv_bf162s32f           Vec1       S32_B   conv(Floor),                            "vconv",             Documented, "bf16 to s32, down.";
    vconv_bf162s32c           Vec1       S32_B   conv(Ceil),                             "vconv",             Documented, "bf16 to s32, up.";
    vconv_bf162s32z           Vec1       S32_B   conv(Zero),                             "vconv",             Documented, "bf16 to s32, toward zero.";
    vconv_s162f16             Vec1       H_S16   conv(NearestEven),                      "vconv",             Documented, "s16 to f16, default rounding.";
    vconv_s162f16r            Vec1       H_S16   conv(NearestEven),                      "vconv",             Documented, "s16 to f16, to nearest even.";
    vconv_s162f16a            Vec1       H_S16   conv(NearestAway),                      "vconv",             Documented, "s16 to f16, to nearest, ties away from zero.";
    vconv_s162f16f            Vec1       H_S16   conv(Floor),                            "vconv",             Documented, "s16 to f16, down.";
    vconv_s162f16c            Vec1       H_S16   conv(Ceil),                             "vconv",             Documented, "s16 to f16, up.";
    vconv_s162f16z            Vec1       H_S16   conv(Zero),                             "vconv",             Documented, "s16 to f16, toward zero.";
    vconv_s162f32             Vec1       F_S16   conv(NearestEven),                      "vconv",             Documented, "s16 to f32, exact.";
    vconv_s322f32             Vec1       F_S32   conv(NearestEven),                      "vconv",             Documented, "s32 to f32, default rounding.";
    vconv_s322f32r            Vec1       F_S32   conv(NearestEven),                      "vconv",             Documented, "s32 to f32, to nearest even.";
    vconv_s322f32a            Vec1       F_S32   conv(NearestAway),                      "vconv",             Documented, "s32 to f32, to nearest, ties away from zero.";
    vconv_s322f32f            Vec1       F_S32   conv(Floor),                            "vconv",             Documented, "s32 to f32, down.";
    vconv_s322f32c            Vec1       F_S32   conv(Ceil),                             "vconv",             Documented, "s32 to f32, up.";
    vconv_s322f32z            Vec1       F_S32   conv(Zero),                             "vconv",             Documented, "s32 to f32, toward zero.";
    vconv_s322s16             Vec1       S16_S32 conv(NearestEven),                      "vconv",             Documented, "s32 to s16, default rounding; range as CTRL[59] says.";
    vconv_s322s64             Vec1       S64_S32 conv(NearestEven),                      "vconv",             Documented, "s32 to s64, exact.";
    vconv_s642s32             Vec1       S32_S64 conv(NearestEven),                      "vconv",             Documented, "s64 to s32, default rounding; range as CTRL[59] says.";
    vconv_s642f32r            Vec1       F_S64   conv(NearestEven),                      "vconv",             Documented, "s64 to f32, to nearest even.";
    vconv_s642f32a            Vec1       F_S64   conv(NearestAway),                      "vconv",             Documented, "s64 to f32, to nearest, ties away from zero.";
    vconv_s642f32f            Vec1       F_S64   conv(Floor),                            "vconv",             Documented, "s64 to f32, down.";
    vconv_s642f32c            Vec1       F_S64   conv(Ceil),                             "vconv",             Documented, "s64 to f32, up.";
    vconv_s642f32z            Vec1       F_S64   conv(Zero),                             "vconv",             Documented, "s64 to f32, toward zero.";
    vconv_s82f16              Vec1       H_S8    conv(NearestEven),                      "vconv",             Documented, "s8 to f16, exact.";
    vconv_u82f16              Vec1       H_U8    conv(NearestEven),                      "vconv",             Documented, "u8 to f16, exact.";
    vconv_s42f16              Vec1       H_S8    Sem::Nibble(NearestEven),               "vconv",             Documented, "s4 to f16, exact; two per byte, low nibble first [I].";
    vconv_deq                 Vec1       H_S32   Sem::One(convert::deq),                 "vconv",             Documented, "s32 to f16 times DEQSCALE.";
    vcmpv_eq                  Cmp2       HFI     Sem::Special(compare::eq),              "vcmpv",             Documented, "One bit per element, src0 == src1, packed over repeats; false with NaN.";
    vcmpv_lt                  Cmp2       HF      Sem::Special(compare::lt),              "vcmpv",             Documented, "One bit per element, src0 < src1, packed over repeats; false with NaN.";
    vcmpv_gt                  Cmp2       HF      Sem::Special(compare::gt),              "vcmpv",             Documented, "One bit per element, src0 > src1, packed over repeats; false with NaN.";
    vcmpv_le                  Cmp2       HF      Sem::Special(compare::le),              "vcmpv",             Documented, "One bit per element, src0 <= src1, packed over repeats; false with NaN.";
    vcmpv_ge                  Cmp2       HF      Sem::Special(compare::ge),              "vcmpv",             Documented, "One bit per element, src0 >= src1, packed over repeats; false with NaN.";
    vcmpvs_eq                 CmpS       HFI     Sem::Special(compare::eq),              "vcmpvs",            Documented, "One bit per element, src == scalar, packed over repeats; false with NaN.";
    vcmpvs_lt                 CmpS       HF      Sem::Special(compare::lt),              "vcmpvs",            Documented, "One bit per element, src < scalar, packed over repeats; false with NaN.";
    vcmpvs_gt                 CmpS       HF      Sem::Special(compare::gt),              "vcmpvs",            Documented, "One bit per element, src > scalar, packed over repeats; false with NaN.";
    vcmpvs_le                 CmpS       HF      Sem::Special(compare::le),              "vcmpvs",            Documented, "One bit per element, src <= scalar, packed over repeats; false with NaN.";
    vcmpvs_ge                 CmpS       HF      Sem::Special(compare::ge),              "vcmpvs",            Documented, "One bit per element, src >= scalar, packed over repeats; false with NaN.";
    vcmp_eq                   CmpReg     HFI     Sem::Special(compare::eq),              "vcmp",              Documented, "One bit per element, src0 == src1, into CMPMASK.";
    vcmp_lt                   CmpReg     HF      Sem::Special(compare::lt),              "vcmp",              Documented, "One bit per element, src0 < src1, into CMPMASK.";
    vcmp_gt                   CmpReg     HF      Sem::Special(compare::gt),              "vcmp",              Documented, "One bit per element, src0 > src1, into CMPMASK.";
    vcmp_le                   CmpReg     HF      Sem::Special(compare::le),              "vcmp",              Documented, "One bit per element, src0 <= src1, into CMPMASK.";
    vcmp_ge                   CmpReg     HF      Sem::Special(compare::ge),              "vcmp",              Documented, "One bit per element, src0 >= src1, into CMPMASK.";
    vgather                   Gather     VIEW    Sem::Special(gather::gather),           "vgather",           Documented, "Lane i = the element at srcBase + offset i, byte offsets of 32 bits; masked.";
    vgatherb                  GatherB    BYTES   Sem::Special(gather::gather_blocks),    "vgatherb",          Documented, "Block b of repeat r = the 32 bytes at srcBase + offset[8r+b]; ignores MASK [I].";
    vreducev2                 Reduce     VIEW    Sem::Special(gather::reduce),           "vreducev2",         Documented, "Keeps elements, packed over all repeats: mode 0 by bits, 1 even, 2 odd, 3 to 6 one of four, 7 all.";
    vbitsort                  Sort       HF      Sem::Special(sort::sort32),             "vbitsort",          Documented, "Every 32 scores descending, as records of score and index; ties keep their order, NaN last [U].";
    vmrgsort4                 Merge      HF      Sem::Special(sort::merge4),             "vmrgsort4",         Documented, "Merges up to four descending lists of records; ties take the lower list.";
    scatter_vnchwconv_b8      VnchwHalf  B8      Sem::Special(gather::transpose_rows),   "scatter_vnchwconv_b8", Documented, "16x16 bytes of 16 rows, transposed to half rows of 16 others.";
    scatter_vnchwconv_b16     Vnchw      HALF    Sem::Special(gather::transpose_rows),   "scatter_vnchwconv_b16", Documented, "16x16 elements of 16 rows, transposed to 16 others.";
    scatter_vnchwconv_b32     Vnchw      WORD    Sem::Special(gather::transpose_rows),   "scatter_vnchwconv_b32", Documented, "16x8 elements of 16 rows, transposed to eight rows of two slots.";
    vtranspose                Square     HALF    Sem::Special(gather::transpose_square), "vtranspose",        Inferred,   "16x16 elements of 16 bits in 512 contiguous bytes, transposed.";
    set_cmpmask               SetCmpMask ANY     Sem::Special(select::set_cmpmask),      "set_cmpmask",       Documented, "CMPMASK = 16 bytes of UB.";
    vsel                      Sel        SEL     Sem::Special(select::vsel),             "vsel",              Documented, "Bit 1 takes src0, bit 0 src1; bits from CMPMASK (mode 0) or UB (modes 1, 2).";
    set_mask_norm             Bare       ANY     Sem::Control(control::set_mask_norm),   "ctrl",              Documented, "Mask bits select the lanes of every repeat.";
    set_mask_count            Bare       ANY     Sem::Control(control::set_mask_count),  "ctrl",              Documented, "MASK holds the total number of elements.";
    set_vector_mask           SetMask    ANY     Sem::Control(control::set_vector_mask), "set_vector_mask",   Documented, "MASK = hi:lo; the element count in counter mode.";
    set_flag                  Flag       ANY     Sem::Nothing,                           "set_flag",          Documented, "Fires when everything before it on the source pipe has completed.";
    wait_flag                 Flag       ANY     Sem::Nothing,                           "wait_flag",         Documented, "Blocks the destination pipe until the flag is set, then clears it.";
    pipe_barrier              Barrier    ANY     Sem::Nothing,                           "pipe_barrier",      Documented, "Later instructions of the pipe wait for all earlier ones.";
    dsb                       SetReg     ANY     Sem::Nothing,                           "dsb",               Inferred,   "Waits until scalar stores to UB are visible.";
    set_ctrl                  SetReg     ANY     Sem::Control(control::set_ctrl),        "ctrl",              Documented, "CTRL = value.";
    get_ctrl                  Bare       ANY     Sem::Control(control::get_ctrl),        "ctrl",              Documented, "Reads CTRL.";
    set_atomic_none           Bare       ANY     Sem::Control(control::set_atomic_none), "ctrl",              Documented, "Stores to GM overwrite.";
    set_atomic_f32            Bare       ANY     Sem::Control(control::set_atomic_f32),  "ctrl",              Documented, "Stores to GM accumulate f32.";
    set_atomic_f16            Bare       ANY     Sem::Control(control::set_atomic_f16),  "ctrl",              Documented, "Stores to GM accumulate f16.";
    set_atomic_s16            Bare       ANY     Sem::Control(control::set_atomic_s16),  "ctrl",              Documented, "Stores to GM accumulate s16.";
    set_atomic_s32            Bare       ANY     Sem::Control(control::set_atomic_s32),  "ctrl",              Documented, "Stores to GM accumulate s32.";
    set_atomic_s8             Bare       ANY     Sem::Control(control::set_atomic_s8),   "ctrl",              Documented, "Stores to GM accumulate s8.";
    set_atomic_bf16           Bare       ANY     Sem::Control(control::set_atomic_bf16), "ctrl",              Documented, "Stores to GM accumulate bf16.";
    set_atomic_add            Bare       ANY     Sem::Control(control::set_atomic_add),  "ctrl",              Documented, "Accumulating stores add.";
    set_atomic_max            Bare       ANY     Sem::Control(control::set_atomic_max),  "ctrl",              Documented, "Accumulating stores keep the larger.";
    set_atomic_min            Bare       ANY     Sem::Control(control::set_atomic_min),  "ctrl",              Documented, "Accumulating stores keep the smaller.";
    set_deqscale              SetReg     ANY     Sem::Control(control::set_deqscale),    "ctrl",              Documented, "Scale of vconv_deq, f16 bits.";
    set_mov_pad_val           SetReg     ANY     Sem::Control(control::set_mov_pad_val), "ctrl",              Documented, "Pad value of the aligned GM to UB copies.";
    get_max_min_cnt           Bare       ANY     Sem::Control(control::get_max_min_cnt), "ctrl",              Documented, "Value (low half) and global index (high half) of the last vcmax or vcmin.";
    get_acc_val               Bare       ANY     Sem::Control(control::get_acc_val),     "ctrl",              Inferred,   "Sum over the repeats of the last accumulating vcadd.";
    set_va_reg_sb             SetVa      ANY     Sem::Control(control::set_va),          "ctrl",              Documented, "Addresses of eight rows in an address register.";
    get_rsvd_cnt              Bare       ANY     Sem::Control(control::get_rsvd_cnt),    "ctrl",              Documented, "Elements the last vreducev2 kept.";
    get_vms4_sr               Bare       ANY     Sem::Control(control::get_vms4_sr),     "ctrl",              Documented, "Records the last vmrgsort4 took of each list, 16 bits each.";
    get_block_idx             Bare       ANY     Sem::Control(control::get_block_idx),   "ctrl",              Documented, "Number of this core.";
    get_block_num             Bare       ANY     Sem::Control(control::get_block_num),   "ctrl",              Documented, "Number of cores.";
    get_subblockid            Bare       ANY     Sem::Control(control::get_subblockid),  "ctrl",              Documented, "Number of this vector core in its group.";
}
