//! Instruction forms: the ordered parameters of each group of A2/A3 instructions.
//!
//! A form is what one line of the manual's prototype says. Text in both spellings, listings,
//! parameter widths, operand walks and legality are all read off it.

use ptoemu_core::access::Role;

/// What a parameter means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Byte address of operand `n` (0 is the destination).
    Addr(u8),
    /// Repeat count.
    Repeat,
    /// Block stride of operand `n`, in 32-byte blocks.
    Blk(u8),
    /// Repeat stride of operand `n`, in the unit of the form (32-byte blocks unless said).
    Rep(u8),
    /// A scalar of the element type, as bits.
    Scalar,
    /// A plain number.
    Num,
    /// The result order of a reduction: `VALUE_INDEX` and its relatives.
    Order,
    /// A pipe.
    Pipe,
}

/// One parameter of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Name in listings and JSON.
    pub name: &'static str,
    /// Name in the named text form `{repeat = 8, dst_blk = 1}`.
    pub key: &'static str,
    /// Meaning.
    pub what: What,
    /// Width of the field in bits; larger values would be truncated by the hardware.
    pub bits: u8,
    /// Value when the named form leaves it out.
    pub default: Option<i64>,
}

const fn p(name: &'static str, key: &'static str, what: What, bits: u8) -> Param {
    let default = match what {
        What::Blk(_) => Some(1),
        What::Rep(_) => Some(8),
        _ => None,
    };
    Param { name, key, what, bits, default }
}

const fn addr(name: &'static str, n: u8) -> Param {
    p(name, name, What::Addr(n), 64)
}

/// How one operand of a form walks; see [`Form::operand`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Eight masked blocks per repeat (fewer for the narrow side of a conversion).
    Lanes,
    /// One element per repeat; stride unit is one element (two for value+index pairs).
    PerRepeat,
    /// Eight contiguous results per repeat; stride unit is eight results.
    PerBlock,
    /// Half a repeat of contiguous results; stride unit is 128 bytes.
    Pairs,
    /// Eight consecutive elements per repeat, whatever the strides.
    Eight,
    /// Eight whole blocks per repeat, unmasked.
    Blocks,
    /// Packed result bits, contiguous over repeats.
    Bits,
    /// A burst of bytes.
    Burst,
    /// One element.
    One,
    /// Sixteen bytes of CMPMASK.
    CmpMask,
    /// One masked 32-bit offset a lane, dense.
    Offsets,
    /// Eight 32-bit offsets a repeat, dense.
    EightWords,
    /// Whole blocks of a compaction, unmasked.
    Whole,
    /// Packed elements of a compaction.
    Packed,
    /// Bits that name elements; none where a pattern does.
    PatternBits,
    /// 32 scores a repeat.
    Scores,
    /// 32 indices a repeat.
    Words,
    /// 32 records a repeat.
    Records,
    /// The records of merged lists.
    Merged,
    /// 16x16 elements of 16 bits.
    Square,
}

/// What a whole-repeat reduction writes; the numbers are this emulator's own [U: no source states
/// the code of the enum, so programs use the names].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The value.
    OnlyValue,
    /// The value, then its lane.
    ValueIndex,
    /// The lane, then the value.
    IndexValue,
    /// The lane, as u32.
    OnlyIndex,
}

impl Order {
    /// Every order, indexed by its number.
    pub const ALL: [Order; 4] =
        [Order::OnlyValue, Order::ValueIndex, Order::IndexValue, Order::OnlyIndex];

    /// Name as written in programs.
    pub const fn name(self) -> &'static str {
        match self {
            Order::OnlyValue => "ONLY_VALUE",
            Order::ValueIndex => "VALUE_INDEX",
            Order::IndexValue => "INDEX_VALUE",
            Order::OnlyIndex => "ONLY_INDEX",
        }
    }

    /// Looks a name up.
    pub fn parse(name: &str) -> Option<Order> {
        Order::ALL.into_iter().find(|o| o.name() == name)
    }

    /// The order of a number.
    pub fn from_code(code: i64) -> Option<Order> {
        usize::try_from(code).ok().and_then(|i| Order::ALL.get(i).copied())
    }

    /// Bytes written per repeat for elements of `size` bytes.
    pub const fn bytes(self, size: usize) -> usize {
        match self {
            Order::OnlyValue => size,
            Order::ValueIndex | Order::IndexValue => 2 * size,
            Order::OnlyIndex => 4,
        }
    }
}

/// Parameter list of a group of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// `OP(dst, src0, src1, repeat, dB, s0B, s1B, dR, s0R, s1R)`.
    Vec2,
    /// `OP(dst, src, repeat, dB, sB, dR, sR)`.
    Vec1,
    /// `OP(dst, src, scalar, repeat, dB, sB, dR, sR)`.
    VecS,
    /// `vcmax(dst, src, repeat, dR, sB, sR, ORDER)`.
    Extreme,
    /// `vcadd(dst, src, repeat, dR, sB, sR, accumulate)`.
    Sum,
    /// `vcgmax(dst, src, repeat, dR, sB, sR)`.
    Group,
    /// `vcpadd(dst, src, repeat, dR, sB, sR)`.
    Pair,
    /// `vector_dup(dst, scalar, repeat, dB, sB, dR, sR)`.
    Dup,
    /// `vbrcb(dst, src, dB, dR, repeat)`.
    Brcb,
    /// `vcmpv_XX(dst, src0, src1, repeat, dB, s0B, s1B, dR, s0R, s1R)`.
    Cmp2,
    /// `vcmpvs_XX(dst, src, scalar, repeat, dB, sB, dR, sR)`.
    CmpS,
    /// `vcmp_XX(src0, src1, repeat, dB, s0B, s1B, dR, s0R, s1R)` into CMPMASK.
    CmpReg,
    /// `vsel(dst, src0, src1, repeat, dB, s0B, s1B, dR, s0R, s1R, mode)`.
    Sel,
    /// `vaddreluconv_X(dst, src0, src1, repeat, dB, s0B, s1B, dR, s0R, s1R, half)`.
    Vec2Conv,
    /// `vshr(dst, src, n, repeat, dB, sB, dR, sR, round)`.
    ShiftRight,
    /// `copy_ubuf_to_ubuf(dst, src, sid, nBurst, lenBurst, srcGap, dstGap)`.
    CopyUb,
    /// `copy_gm_to_ubuf(dst, src, sid, nBurst, lenBurst, srcGap, dstGap)`, all in blocks.
    CopyIn,
    /// `copy_ubuf_to_gm(dst, src, sid, nBurst, lenBurst, srcGap, dstGap)`, all in blocks.
    CopyOut,
    /// `copy_gm_to_ubuf_align_bN(dst, src, sid, nBurst, lenBurst, leftPad, rightPad, srcGap, dstGap)`.
    AlignIn,
    /// `copy_ubuf_to_gm_align_bN(dst, src, sid, nBurst, lenBurst, leftPad, rightPad, srcGap, dstGap)`.
    AlignOut,
    /// Scalar load, `*(__ubuf__ T*)p`.
    Load,
    /// Scalar store.
    Store,
    /// `set_cmpmask(ptr)`.
    SetCmpMask,
    /// `vgather(dst, offset, srcBase, dR, repeat)`.
    Gather,
    /// `vgatherb(dst, offset, srcBase, dR, dB, repeat)`.
    GatherB,
    /// `vreducev2(dst, src0, src1, repeat, s0B, mode, s0R, s1R)`.
    Reduce,
    /// `scatter_vnchwconv_b16(VAd, VAs, repeat, dR, sR)`.
    Vnchw,
    /// `scatter_vnchwconv_b8(VAd, VAs, repeat, dR, sR, dstHigh, srcHigh)`.
    VnchwHalf,
    /// `set_va_reg_sb(VAn, addr[8])`.
    SetVa,
    /// `vtranspose(dst, src)`.
    Square,
    /// `vbitsort(dst, score, idx, repeat)`.
    Sort,
    /// `vmrgsort4(dst, addr[4], lens, config)`.
    Merge,
    /// `set_vector_mask(hi, lo)`.
    SetMask,
    /// A special register written from one number.
    SetReg,
    /// No parameter.
    Bare,
    /// `set_flag(src, dst, id)`, `wait_flag(src, dst, id)`.
    Flag,
    /// `pipe_barrier(pipe)`.
    Barrier,
}

macro_rules! params {
    ($name:ident: $($param:expr),* $(,)?) => { static $name: &[Param] = &[$($param),*]; };
}

use What::{Blk, Num, Rep, Repeat, Scalar};

const REPEAT: Param = p("repeat", "repeat", Repeat, 8);
const DB: Param = p("dst_blk", "dst_blk", Blk(0), 16);
const DB8: Param = p("dst_blk", "dst_blk", Blk(0), 8);
const DR: Param = p("dst_rpt", "dst_rep", Rep(0), 16);
const DR8: Param = p("dst_rpt", "dst_rep", Rep(0), 8);
const SB: Param = p("src_blk", "src_blk", Blk(1), 16);
const SR: Param = p("src_rpt", "src_rep", Rep(1), 16);
const S0B: Param = p("src0_blk", "src0_blk", Blk(1), 8);
const S1B: Param = p("src1_blk", "src1_blk", Blk(2), 8);
const S0R: Param = p("src0_rpt", "src0_rep", Rep(1), 8);
const S1R: Param = p("src1_rpt", "src1_rep", Rep(2), 8);
const DST: Param = addr("dst", 0);
const SRC0: Param = addr("src0", 1);
const SRC1: Param = addr("src1", 2);
const IMM: Param = p("imm", "scalar", Scalar, 64);
const SID: Param = p("sid", "sid", Num, 4);
const NBURST: Param = p("nBurst", "nBurst", Repeat, 12);
const LEN: Param = p("lenBurst", "lenBurst", Num, 16);
const SGAP: Param = p("srcGap", "srcGap", Num, 16);
const DGAP: Param = p("dstGap", "dstGap", Num, 16);
const WIDE_LEN: Param = p("lenBurst", "lenBurst", Num, 32);
const WIDE_SGAP: Param = p("srcGap", "srcGap", Num, 32);
const WIDE_DGAP: Param = p("dstGap", "dstGap", Num, 32);
const LPAD: Param = p("leftPad", "leftPad", Num, 8);
const RPAD: Param = p("rightPad", "rightPad", Num, 8);

params!(VEC2: DST, SRC0, SRC1, REPEAT, DB8, S0B, S1B, DR8, S0R, S1R);
params!(VEC1: DST, SRC0, REPEAT, DB, SB, DR, SR);
params!(VECS: DST, SRC0, IMM, REPEAT, DB, SB, DR, SR);
params!(EXTREME: DST, SRC0, REPEAT, p("dst_rpt_elems", "dst_rep", Rep(0), 16), SB, SR,
        p("mode", "order", What::Order, 2));
params!(SUM: DST, SRC0, REPEAT, p("dst_rpt_elems", "dst_rep", Rep(0), 16), SB, SR,
        p("mode", "mode", Num, 1));
params!(GROUP: DST, SRC0, REPEAT, p("dst_rpt_blocks", "dst_rep", Rep(0), 16), SB, SR);
params!(DUP: DST, IMM, REPEAT, DB, SB, DR, SR);
params!(BRCB: DST, SRC0, DB, DR, REPEAT);
params!(CMPREG: SRC0, SRC1, REPEAT, DB8, S0B, S1B, DR8, S0R, S1R);
params!(SEL: DST, SRC0, SRC1, REPEAT, DB8, S0B, S1B, DR8, S0R, S1R, p("mode", "mode", Num, 2));
params!(VEC2CONV: DST, SRC0, SRC1, REPEAT, DB8, S0B, S1B, DR8, S0R, S1R, p("half", "half", Num, 1));
params!(SHIFTRIGHT: DST, SRC0, IMM, REPEAT, DB, SB, DR, SR, p("round", "round", Num, 1));
params!(COPY: DST, SRC0, SID, NBURST, LEN, SGAP, DGAP);
params!(ALIGN: DST, SRC0, SID, NBURST, WIDE_LEN, LPAD, RPAD, WIDE_SGAP, WIDE_DGAP);
params!(LOAD: SRC0);
params!(STORE: IMM, DST);
params!(CMPMASK: SRC0);
params!(GATHER: DST, addr("offset", 1), addr("srcBase", 3), DR, REPEAT);
params!(GATHERB: DST, addr("offset", 1), addr("srcBase", 3), DR, DB8, REPEAT);
params!(REDUCE: DST, SRC0, SRC1, p("repeat", "repeat", Repeat, 16), p("src0_blk", "src0_blk", Blk(1), 16),
        p("mode", "mode", Num, 3), p("src0_rpt", "src0_rep", Rep(1), 16), S1R);
params!(VNCHW: p("dst_va", "dst_va", Num, 3), p("src_va", "src_va", Num, 3), REPEAT, DR, SR);
params!(VNCHWHALF: p("dst_va", "dst_va", Num, 3), p("src_va", "src_va", Num, 3), REPEAT, DR, SR,
        p("dst_high", "dst_high", Num, 1), p("src_high", "src_high", Num, 1));
params!(SETVA: p("va", "va", Num, 3), addr("a0", 8), addr("a1", 9), addr("a2", 10), addr("a3", 11),
        addr("a4", 12), addr("a5", 13), addr("a6", 14), addr("a7", 15));
params!(SQUARE: DST, SRC0);
params!(SORT: DST, addr("score", 1), addr("idx", 2), REPEAT);
params!(MERGE: DST, addr("list0", 3), addr("list1", 4), addr("list2", 5), addr("list3", 6),
        p("lens", "lens", Num, 64), p("config", "config", Num, 16));
params!(SETMASK: p("mask1_hi", "hi", Num, 64), p("mask0_lo_or_count", "lo", Num, 64));
params!(SETREG: p("value", "value", Num, 64));
params!(BARE:);
params!(FLAG: p("src_pipe", "src_pipe", What::Pipe, 4), p("dst_pipe", "dst_pipe", What::Pipe, 4),
        p("event", "event", Num, 3));
params!(BARRIER: p("pipe", "pipe", What::Pipe, 4));

impl Form {
    /// Parameters in the order of the prototype.
    pub fn params(self) -> &'static [Param] {
        match self {
            Form::Vec2 | Form::Cmp2 => VEC2,
            Form::Vec1 => VEC1,
            Form::VecS | Form::CmpS => VECS,
            Form::Extreme => EXTREME,
            Form::Sum => SUM,
            Form::Group | Form::Pair => GROUP,
            Form::Dup => DUP,
            Form::Brcb => BRCB,
            Form::CmpReg => CMPREG,
            Form::Sel => SEL,
            Form::Vec2Conv => VEC2CONV,
            Form::ShiftRight => SHIFTRIGHT,
            Form::CopyUb | Form::CopyIn | Form::CopyOut => COPY,
            Form::AlignIn | Form::AlignOut => ALIGN,
            Form::Load => LOAD,
            Form::Store => STORE,
            Form::SetCmpMask => CMPMASK,
            Form::Gather => GATHER,
            Form::GatherB => GATHERB,
            Form::Reduce => REDUCE,
            Form::Vnchw => VNCHW,
            Form::VnchwHalf => VNCHWHALF,
            Form::SetVa => SETVA,
            Form::Square => SQUARE,
            Form::Sort => SORT,
            Form::Merge => MERGE,
            Form::SetMask => SETMASK,
            Form::SetReg => SETREG,
            Form::Bare => BARE,
            Form::Flag => FLAG,
            Form::Barrier => BARRIER,
        }
    }

    /// Position of the parameter that means `what`.
    pub fn position(self, what: What) -> Option<usize> {
        self.params().iter().position(|q| q.what == what)
    }

    /// How operand `n` (0 is the destination) walks, or `None` if the form has no such operand.
    pub fn operand(self, n: u8) -> Option<(Shape, Role)> {
        use Role::{Read, Write};
        self.position(What::Addr(n))?;
        let dst = match self {
            Form::Extreme | Form::Sum => Shape::PerRepeat,
            Form::Group => Shape::PerBlock,
            Form::Pair => Shape::Pairs,
            Form::Brcb | Form::GatherB => Shape::Blocks,
            Form::Reduce => Shape::Packed,
            Form::Sort => Shape::Records,
            Form::Merge => Shape::Merged,
            Form::Square => Shape::Square,
            Form::Cmp2 | Form::CmpS => Shape::Bits,
            Form::CopyUb | Form::CopyIn | Form::CopyOut | Form::AlignIn | Form::AlignOut => {
                Shape::Burst
            }
            Form::Store => Shape::One,
            _ => Shape::Lanes,
        };
        let src = match self {
            Form::Brcb => Shape::Eight,
            Form::Load => Shape::One,
            Form::Gather => Shape::Offsets,
            Form::GatherB => Shape::EightWords,
            Form::Reduce => {
                if n == 2 {
                    Shape::PatternBits
                } else {
                    Shape::Whole
                }
            }
            Form::Sort => {
                if n == 2 {
                    Shape::Words
                } else {
                    Shape::Scores
                }
            }
            Form::Square => Shape::Square,
            Form::SetCmpMask => Shape::CmpMask,
            Form::CopyUb | Form::CopyIn | Form::CopyOut | Form::AlignIn | Form::AlignOut => {
                Shape::Burst
            }
            _ => Shape::Lanes,
        };
        Some(if n == 0 { (dst, Write) } else { (src, Read) })
    }
}
