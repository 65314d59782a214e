//! The rows of the 950 vector core (dav-3510): one per micro-op.

use super::form::Form;
use super::sem::{self, Sem};
use crate::table::Claim::{self, Documented, Inferred, Unknown};
use ptoemu_core::catalogue::Entry;
use ptoemu_core::dtype::DType::{self, *};
use ptoemu_core::stream::{Kind as RecordKind, OpId, Pipe};

/// One micro-op.
#[derive(Clone, Copy)]
pub struct Row {
    /// Mnemonic as in the text, without `pto.`.
    pub mnemonic: &'static str,
    /// Operands and results.
    pub form: Form,
    /// Element types of the first vector operand (of the result where there is none); empty where
    /// the type does not matter.
    pub types: &'static [DType],
    /// What it computes.
    pub sem: Sem,
    /// Mnemonic whose figures it shares.
    pub cost: &'static str,
    /// How well its meaning is established.
    pub claim: Claim,
    /// One line of documentation.
    pub doc: &'static str,
}

const ANY: &[DType] = &[];
const HF: &[DType] = &[F16, F32];
const HBF: &[DType] = &[F16, BF16, F32];
const NUM: &[DType] = &[I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32];
const MUL: &[DType] = &[I16, U16, I32, U32, F16, BF16, F32];
const MAX: &[DType] = &[I8, U8, I16, U16, I32, U32, F16, BF16, F32];
const SGN: &[DType] = &[I8, I16, I32, F16, BF16, F32];
const REL: &[DType] = &[F16, F32, I32];
const INT: &[DType] = &[I8, U8, I16, U16, I32, U32];
const W32: &[DType] = &[I32, U32];
const RED: &[DType] = &[I8, U8, I16, U16, I32, U32, F16, F32];
const EXT: &[DType] = &[I16, U16, I32, U32, F16, F32];
const CNT: &[DType] = &[I8, U8, I16, U16, I32, U32, F16, F32];
const WID: &[DType] = &[I16, U16, I32, U32];
const NAR: &[DType] = &[I8, U8, I16, U16];
const BYT: &[DType] = &[I8, U8];

macro_rules! micro_ops {
    ($($name:ident $form:ident $types:ident $sem:expr, $cost:literal, $claim:ident, $doc:literal;)*) => {
        /// A 950 micro-op, spelled as its mnemonic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        #[allow(non_camel_case_types)]
        pub enum Op { $(#[doc = $doc] $name),* }

        impl Op {
            /// Every micro-op, in table order.
            pub const ALL: &'static [Op] = &[$(Op::$name),*];
        }

        static ROWS: &[Row] = &[$(Row {
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

use sem::{
    arith, bits, compare, convert, gather, load, predicate, reduce, shuffle, sort, store, stream,
};

#[rustfmt::skip]
micro_ops! {
    // Predicates.
    pset_b8     Pset    ANY Sem::Any(predicate::pset),      "pset", Documented, "Predicate of 256 lanes from a pattern.";
    pset_b16    Pset    ANY Sem::Any(predicate::pset),      "pset", Documented, "Predicate of 128 lanes from a pattern.";
    pset_b32    Pset    ANY Sem::Any(predicate::pset),      "pset", Documented, "Predicate of 64 lanes from a pattern.";
    pge_b8      Pset    ANY Sem::Any(predicate::pset),      "pset", Documented, "Predicate of 256 lanes from a tail pattern.";
    pge_b16     Pset    ANY Sem::Any(predicate::pset),      "pset", Documented, "Predicate of 128 lanes from a tail pattern.";
    pge_b32     Pset    ANY Sem::Any(predicate::pset),      "pset", Documented, "Predicate of 64 lanes from a tail pattern.";
    plt_b8      Plt     ANY Sem::Any(predicate::plt),       "plt",  Documented, "Lanes below the count; the count falls by 256, not below 0.";
    plt_b16     Plt     ANY Sem::Any(predicate::plt),       "plt",  Documented, "Lanes below the count; the count falls by 128, not below 0.";
    plt_b32     Plt     ANY Sem::Any(predicate::plt),       "plt",  Documented, "Lanes below the count; the count falls by 64, not below 0.";
    pand        P3      ANY Sem::Any(predicate::and),       "pand", Documented, "a & b where the governing predicate is set, else 0.";
    por         P3      ANY Sem::Any(predicate::or),        "pand", Documented, "a | b where the governing predicate is set, else 0.";
    pxor        P3      ANY Sem::Any(predicate::xor),       "pand", Documented, "a ^ b where the governing predicate is set, else 0.";
    pnot        P2      ANY Sem::Any(predicate::not),       "pand", Documented, "!a where the governing predicate is set, else 0.";
    psel        P3      ANY Sem::Any(predicate::select),    "pand", Documented, "Third predicate ? first : second, bit by bit.";
    pmov        P1      ANY Sem::Any(predicate::copy),      "pand", Documented, "The same bits.";
    pbitcast    P1      ANY Sem::Any(predicate::copy),      "none", Documented, "The same bits at another granularity; no instruction.";
    ppack       P1      ANY Sem::Any(predicate::pack),      "ppack", Documented, "Even bits, packed into one half; the other half is 0.";
    punpack     P1      ANY Sem::Any(predicate::unpack),    "ppack", Documented, "One half spread to even bits; odd bits are 0.";
    pintlv_b8   PPair   ANY Sem::Any(predicate::interleave),   "pintlv", Documented, "Lanes of two predicates alternately: lower halves, then upper halves.";
    pintlv_b16  PPair   ANY Sem::Any(predicate::interleave),   "pintlv", Documented, "Lanes of two predicates alternately: lower halves, then upper halves.";
    pintlv_b32  PPair   ANY Sem::Any(predicate::interleave),   "pintlv", Documented, "Lanes of two predicates alternately: lower halves, then upper halves.";
    pdintlv_b8  PPair   ANY Sem::Any(predicate::deinterleave), "pintlv", Documented, "Even lanes of both, then odd lanes of both.";
    pdintlv_b16 PPair   ANY Sem::Any(predicate::deinterleave), "pintlv", Documented, "Even lanes of both, then odd lanes of both.";
    pdintlv_b32 PPair   ANY Sem::Any(predicate::deinterleave), "pintlv", Documented, "Even lanes of both, then odd lanes of both.";
    plds        PLoad   ANY Sem::Any(predicate::load),      "plds", Documented, "32 bytes of bits; US doubles 16 bytes of bits, DS keeps every second of 64 bytes.";
    pldi        PLoad   ANY Sem::Any(predicate::load),      "plds", Documented, "plds with an immediate offset.";
    psts        PStore  ANY Sem::Any(predicate::store),     "psts", Documented, "32 bytes of bits; PK keeps every second bit, 16 bytes.";
    psti        PStore  ANY Sem::Any(predicate::store),     "psts", Documented, "psts with an immediate offset.";
    pstu        PStream ANY Sem::Any(stream::predicate),    "pstu", Documented, "Appends the lanes as packed bits to an unaligned stream.";

    // Memory.
    vlds        Load    ANY Sem::Any(load::one),            "vlds", Documented, "Aligned load with a distribution.";
    vldi        Load    ANY Sem::Any(load::one),            "vlds", Documented, "vlds with an immediate offset.";
    vldsx2      Load2   ANY Sem::Any(load::two),            "vlds", Documented, "512 bytes, de-interleaved into two registers.";
    vldas       Prime   ANY Sem::Any(stream::prime),        "vldas", Documented, "Reads the block that holds the address into an align register.";
    vldus       LoadU   ANY Sem::Any(stream::load),         "vldus", Documented, "256 bytes at any element-aligned address, through the align register.";
    vsldb       LoadB   ANY Sem::Any(load::blocks),         "vlds", Documented, "Eight 32-byte blocks a stride apart; masked blocks are 0.";
    vsts        Store   ANY Sem::Any(store::one),           "vsts", Documented, "Aligned store with a distribution; masked lanes leave memory as it is.";
    vsti        Store   ANY Sem::Any(store::one),           "vsts", Documented, "vsts with an immediate offset.";
    vstsx2      Store2  ANY Sem::Any(store::two),           "vsts", Documented, "512 bytes, two registers interleaved; the mask is ignored.";
    vsstb       StoreB  ANY Sem::Any(store::blocks),        "vsts", Documented, "Eight 32-byte blocks a stride apart; masked blocks stay untouched.";
    init_align  Init    ANY Sem::Any(stream::fresh),        "none", Documented, "An align register that holds nothing.";
    vstus       StreamN ANY Sem::Any(stream::store_count),  "vstus", Documented, "Appends the first elements of a register to an unaligned stream.";
    vstas       FlushN  ANY Sem::Any(stream::flush_at),     "vstas", Documented, "Writes the tail of an unaligned stream.";
    vstur       StreamR ANY Sem::Any(stream::store_squeezed), "vstus", Documented, "Appends SQZN bytes at base + AR; POST_UPDATE advances AR.";
    vstar       FlushR  ANY Sem::Any(stream::flush_ar),     "vstas", Documented, "Writes the tail of a stream that runs on AR.";
    vgather2    Gather  ANY Sem::Any(gather::elements),     "vgather2", Documented, "Lane i = element idx[i]; inactive lanes are 0.";
    vgather2_bc Gather  ANY Sem::Any(gather::elements),     "vgather2", Documented, "vgather2 under a broadcast-style mask.";
    vgatherb    Gather  ANY Sem::Any(gather::blocks),       "vgatherb", Documented, "Block k = the 32 bytes at byte offset off[k].";
    vscatter    Scatter ANY Sem::Any(gather::scatter),      "vscatter", Documented, "Element idx[i] = lane i of active lanes; the highest lane wins.";

    // Arithmetic.
    vadd        V2      NUM Sem::Two(arith::add),           "vadd", Documented, "a + b; integers wrap.";
    vsub        V2      NUM Sem::Two(arith::sub),           "vsub", Documented, "a - b; integers wrap.";
    vmul        V2      MUL Sem::Two(arith::mul),           "vmul", Documented, "a * b; integers wrap.";
    vdiv        V2      HF  Sem::Two(arith::div),           "vdiv", Documented, "a / b, rounded once.";
    vmax        V2      MAX Sem::Two(arith::max),           "vmax", Documented, "The larger; NaN wins, +0 is larger than -0.";
    vmin        V2      MAX Sem::Two(arith::min),           "vmin", Documented, "The smaller; NaN wins, -0 is smaller than +0.";
    vadds       VS      NUM Sem::Two(arith::add),           "vadds", Documented, "a + scalar; integers wrap.";
    vmuls       VS      MUL Sem::Two(arith::mul),           "vmuls", Documented, "a * scalar; integers wrap.";
    vmaxs       VS      MAX Sem::Two(arith::max),           "vmaxs", Documented, "The larger of lane and scalar.";
    vmins       VS      MAX Sem::Two(arith::min),           "vmins", Documented, "The smaller of lane and scalar.";
    vabs        V1      SGN Sem::One(arith::abs),           "vabs", Documented, "|a|; the smallest integer stays.";
    vneg        V1      SGN Sem::One(arith::neg),           "vneg", Documented, "-a; floats flip the sign bit.";
    vrelu       V1      REL Sem::One(arith::relu),          "vrelu", Documented, "a >= 0 ? a : 0; NaN passes.";
    vlrelu      VS      HF  Sem::Two(arith::leaky),         "vlrelu", Documented, "a >= 0 ? a : a * scalar.";
    vprelu      V2      HF  Sem::Two(arith::leaky),         "vprelu", Documented, "a >= 0 ? a : a * b.";
    vmula       V3      MUL Sem::Three(arith::mula),        "vmula", Documented, "acc + a * b, rounded once; integers wrap.";
    vmadd       V3      HBF Sem::Three(arith::madd),        "vmadd", Inferred, "d * a + b, rounded once.";
    vaxpy       VVS     HF  Sem::Three(arith::axpy),        "vaxpy", Documented, "scalar * a + b, rounded once.";
    vexp        V1      HF  Sem::One(arith::exp),           "vexp", Documented, "e to the power of a.";
    vln         V1      HF  Sem::One(arith::ln),            "vln",  Documented, "Natural logarithm; 0 gives -INF, negatives NaN.";
    vsqrt       V1      HF  Sem::One(arith::sqrt),          "vsqrt", Documented, "Square root; negatives give NaN.";
    vrec        V1      HF  Sem::One(arith::rec),           "vrec", Unknown, "1 / a, correctly rounded by choice.";
    vrsqrt      V1      HF  Sem::One(arith::rsqrt),         "vrsqrt", Unknown, "1 / sqrt(a), correctly rounded by choice.";
    vexpdif     V2Part  HF  Sem::Any(arith::expdif),        "vexpdif", Documented, "e to the power of a - b as f32; f16 sources take the even or odd lanes.";
    vaddc       Carry   W32 Sem::Any(arith::addc),          "vaddc", Documented, "a + b and the carry of every lane.";
    vaddcs      CarryIn W32 Sem::Any(arith::addc),          "vaddc", Documented, "a + b + carry in, and the carry out.";
    vsubc       Carry   W32 Sem::Any(arith::subc),          "vsubc", Documented, "a - b; carry where nothing was borrowed.";
    vsubcs      CarryIn W32 Sem::Any(arith::subc),          "vsubc", Documented, "a - b - 1 + carry in; carry where nothing was borrowed.";
    vmull       Wide    W32 Sem::Any(arith::mull),          "vmull", Documented, "Low and high halves of the 64-bit product.";
    vci         Count   CNT Sem::Any(arith::count),         "vci", Documented, "scalar + lane number, or minus it.";

    // Bits.
    vand        V2      ANY Sem::Two(bits::and),            "vand", Documented, "a & b.";
    vor         V2      ANY Sem::Two(bits::or),             "vand", Documented, "a | b.";
    vxor        V2      ANY Sem::Two(bits::xor),            "vand", Documented, "a ^ b.";
    vnot        V1      ANY Sem::One(bits::not),            "vnot", Documented, "!a.";
    vshl        V2      INT Sem::Any(bits::shift_left),     "vshls", Documented, "a << b; counts at or beyond the width give 0.";
    vshr        V2      INT Sem::Any(bits::shift_right),    "vshrs", Documented, "a >> b, arithmetic for signed types.";
    vshls       VS      INT Sem::Any(bits::shift_left),     "vshls", Documented, "a << scalar.";
    vshrs       VS      INT Sem::Any(bits::shift_right),    "vshrs", Documented, "a >> scalar, arithmetic for signed types.";
    vbcnt       V1      INT Sem::One(bits::popcount),       "vand", Documented, "Number of set bits.";
    vcls        V1      INT Sem::One(bits::leading_signs),  "vand", Unknown, "Bits below the top one that equal it, by choice.";

    // Compare and select.
    vcmp        Cmp2    MAX Sem::Any(compare::compare),     "vcmp", Documented, "Lanes where the comparison holds; NaN is only unequal.";
    vcmps       CmpS    MAX Sem::Any(compare::compare),     "vcmp", Documented, "Lanes where the comparison with the scalar holds.";
    vsel        V2      ANY Sem::Any(compare::select),      "vsel", Documented, "mask ? a : b.";
    vselr       Index   ANY Sem::Any(compare::pick),        "vselr", Documented, "Lane i = lane idx[i] of a, modulo the lanes.";
    vbr         Splat   ANY Sem::Any(shuffle::splat),       "vbr", Documented, "A scalar in every lane.";
    vdup        Dup     ANY Sem::Any(shuffle::dup),         "vdup", Documented, "A scalar, the first or the last lane in every active lane.";

    // Reductions.
    vcadd       V1      RED Sem::Any(reduce::sum),          "vcadd", Documented, "Lane 0 = sum of active lanes as a tree of neighbours; integers below 32 bits widen.";
    vcmax       V1      EXT Sem::Any(reduce::max),          "vcmax", Documented, "Lane 0 = largest active lane, lane 1 = its number.";
    vcmin       V1      EXT Sem::Any(reduce::min),          "vcmin", Documented, "Lane 0 = smallest active lane, lane 1 = its number.";
    vcgadd      V1      EXT Sem::Any(reduce::group_sum),    "vcgadd", Documented, "Lanes 0..7 = sums of the eight 32-byte groups.";
    vcgmax      V1      EXT Sem::Any(reduce::group_max),    "vcgmax", Documented, "Lanes 0..7 = largest of the eight 32-byte groups.";
    vcgmin      V1      EXT Sem::Any(reduce::group_min),    "vcgmax", Documented, "Lanes 0..7 = smallest of the eight 32-byte groups.";
    vcpadd      V1      HF  Sem::Any(reduce::pair_sum),     "vcpadd", Documented, "Lane i = a[2i] + a[2i+1]; upper half 0.";

    // Conversion.
    vcvt        Convert ANY Sem::Any(convert::convert),     "vcvt", Documented, "Conversion with rounding, saturation and part.";
    vtrc        Trunc   HBF Sem::Any(convert::round),       "vtrc", Documented, "Rounds to an integral float; INF and NaN stay.";

    // Rearrangement.
    vintlv      VPair   ANY Sem::Move(shuffle::interleave), "vintlv", Documented, "Lanes of two registers alternately: lower halves, then upper halves.";
    vdintlv     VPair   ANY Sem::Move(shuffle::deinterleave), "vintlv", Documented, "Even lanes of both, then odd lanes of both.";
    vpack       Pack    WID Sem::Move(shuffle::pack),       "vpack", Documented, "Low halves of the lanes in one half; the other half is 0.";
    vsunpack    Unpack  NAR Sem::Move(shuffle::unpack_signed), "vunpack", Documented, "Sign-extends the lanes of one half.";
    vzunpack    Unpack  NAR Sem::Move(shuffle::unpack_zero), "vunpack", Documented, "Zero-extends the lanes of one half.";
    vsqz        V1      ANY Sem::Any(shuffle::squeeze),     "vsqz", Documented, "Active lanes to the front, rest 0; SQZN counts them.";
    vusqz       V1      ANY Sem::Any(shuffle::unsqueeze),   "vusqz", Documented, "Lane i = number of active lanes below i.";
    vmov        V1      ANY Sem::One(bits::copy),           "vmov", Documented, "The same lanes.";
    vbitcast    Same    ANY Sem::Move(shuffle::same),       "none", Documented, "The same bits at another type; no instruction.";
    chistv2     Histogram BYT Sem::Any(sort::cumulative),   "vhist", Documented, "Adds counts of bytes at most the bin to 128 u16 bins.";
    dhistv2     Histogram BYT Sem::Any(sort::histogram),    "vhist", Documented, "Adds counts of bytes equal to the bin to 128 u16 bins.";
    vselrv2     Index   ANY Sem::Refused("the 950 has no vselrv2 [D: GYM]; use vselr"), "none", Documented, "Not available on the 950.";
    vintlvv2    VHalf   ANY Sem::Refused("the 950 has no vintlvv2 [D: GYM]; use vintlv"), "none", Documented, "Not available on the 950.";
    vdintlvv2   VHalf   ANY Sem::Refused("the 950 has no vdintlvv2 [D: GYM]; use vdintlv"), "none", Documented, "Not available on the 950.";

    // Sorting and special registers.
    vbitsort    Sort    HF  Sem::Any(sort::sort32),         "vbitsort", Documented, "32 scores a repeat, descending, as records of score and index.";
    vmrgsort4   Merge   HF  Sem::Any(sort::merge4),         "vmrgsort4", Documented, "Merges up to four descending lists of records.";
    get_vms4_sr ReadVms ANY Sem::Any(sort::read_vms4),      "scalar", Documented, "Records consumed from each list by the last merge.";
    sprclr      Special ANY Sem::Any(stream::clear),        "scalar", Documented, "AR = 0.";
    mem_bar     Bar     ANY Sem::Any(stream::bar),                "mem_bar", Documented, "Orders memory accesses of a vecscope.";
}

impl Row {
    /// Do its lanes map one to one, so that result and sources have one width?
    pub fn lanewise(&self) -> bool {
        matches!(self.sem, Sem::One(_) | Sem::Two(_) | Sem::Three(_))
    }

    /// Does it accept this element type?
    pub fn accepts(&self, t: DType) -> bool {
        self.types.is_empty() || self.types.contains(&t)
    }
}

impl Op {
    /// The row that declares it.
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Operands and results.
    pub fn form(self) -> Form {
        self.row().form
    }

    /// Mnemonic without `pto.`.
    pub fn mnemonic(self) -> &'static str {
        self.row().mnemonic
    }

    /// Index in the catalogue of the family.
    pub fn id(self) -> OpId {
        OpId(self as u16)
    }

    /// Looks a mnemonic up.
    pub fn find(mnemonic: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.mnemonic() == mnemonic)
    }

    /// Predicate granularity in bytes, where the mnemonic fixes it: `pset_b16` has 2.
    pub fn gran(self) -> Option<u8> {
        match self.mnemonic().rsplit_once("_b")?.1 {
            "8" => Some(1),
            "16" => Some(2),
            "32" => Some(4),
            _ => None,
        }
    }
}

/// The micro-ops as `core` sees them.
pub(super) fn micro_ops() -> Vec<Entry> {
    ROWS.iter().map(entry).collect()
}

fn entry(row: &Row) -> Entry {
    let dtypes = if row.types.is_empty() { DType::ALL.to_vec() } else { row.types.to_vec() };
    Entry {
        mnemonic: row.mnemonic,
        dtypes,
        pipe: Pipe::V,
        kind: RecordKind::Vector,
        cost_class: row.cost,
    }
}
