//! What a tile operation is.

use super::Family;
use super::a5::Issue;
use super::asm::Asm;
use super::call::Call;
use super::check::Checker;
use super::list::OPS;
use super::meaning::Mem;
use crate::machine::{Backend, Stop};
use crate::table::Op;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;

/// What an operation does to elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names say it
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
    ExpDif,
    Exp,
    Log,
    Sqrt,
    Rsqrt,
    Abs,
    Neg,
    Recip,
    Relu,
    Not,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    /// x >= 0 ? x : x * y.
    Leaky,
    /// Remainder with the sign of the divisor.
    Rem,
    /// Remainder with the sign of the dividend.
    Mod,
    Select,
    Compare,
    ArgMax,
    ArgMin,
    Sort,
    /// dst + x * y.
    MulAdd,
    /// x * dst + y.
    MulDst,
    /// max(x * dst + y, 0).
    MulDstRelu,
    /// dst + x * scalar.
    Axpy,
    /// max(x - y, 0).
    SubRelu,
    AddReluConv,
    SubReluConv,
    /// Numbers that count.
    Iota,
    /// A triangle of ones.
    Tri,
    /// Rows become columns.
    Trans,
    /// Elements by index.
    Gather,
    /// Elements of a pattern.
    Pattern,
    /// Blocks by offset.
    GatherB,
    /// Elements to an index.
    Scatter,
    /// Descending lists merged.
    Merge,
    /// Blocks of one list merged.
    MergeBlock,
    /// Side by side.
    Concat,
    /// Part of a tile.
    Extract,
    /// Into part of a tile.
    Insert,
    Dequant,
    /// Moves elements.
    Move,
}

/// Scratch tile of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tmp {
    /// The operation has no such operand.
    None,
    /// May be given.
    Optional,
    /// Must be given.
    Required,
}

/// Which operands have an element type of the operation's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// Every tile and the scalar.
    All,
    /// The destination; the operation looks at the sources itself.
    Dst,
    /// The first source; the operation looks at the destination itself.
    Src,
}

/// Operands of an operation besides the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Source tiles.
    pub srcs: u8,
    /// Source tiles that may follow.
    pub more: u8,
    /// Scratch tile.
    pub tmp: Tmp,
    /// Takes a scalar.
    pub scalar: bool,
    /// Takes a GM view.
    pub view: bool,
    /// Whose element types the lists of the operation are.
    pub types: Types,
}

/// How results of microcode compare with the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// Bit by bit, NaN equal to NaN.
    Exact,
    /// A float sum whose order of addition is the implementation's: relative to the sum of
    /// magnitudes of the row, one unit in the last place per level of the tree.
    Sum,
}

type Done = Result<(), Stop>;

/// A tile operation.
pub struct TileOp {
    /// Mnemonic, `trowmax`.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Operands.
    pub sig: Signature,
    /// Element types on A2/A3 (of the destination).
    pub a2a3: &'static [DType],
    /// Element types on the 950.
    pub a5: &'static [DType],
    /// What it does to elements.
    pub operator: Operator,
    /// How microcode compares with the reference.
    pub tolerance: Tolerance,
    /// Rules beyond types, extents and placement.
    pub check: fn(&Call, &mut Checker) -> Result<(), Box<Diagnostic>>,
    /// Meaning.
    pub reference: fn(&Call, &mut Mem) -> Done,
    /// A2/A3 microcode, where it is built.
    pub lower: Option<fn(&Call, &mut Asm) -> Done>,
    /// 950 microcode.
    pub code: fn(&Call, &mut dyn Issue) -> Done,
}

impl std::fmt::Debug for TileOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl TileOp {
    /// Element types on a family.
    pub fn types(&self, family: Family) -> &'static [DType] {
        match family {
            Family::A2A3 => self.a2a3,
            Family::A5 => self.a5,
        }
    }

    /// One result per row?
    pub fn reduces_rows(&self) -> bool {
        self.name.starts_with("trow") && !self.expands_rows()
    }

    /// One result per column?
    pub fn reduces_cols(&self) -> bool {
        self.name.starts_with("tcol") && !self.name.starts_with("tcolexpand")
    }

    /// Spreads one value or block per row over the row?
    pub fn expands_rows(&self) -> bool {
        self.name.starts_with("trowexpand")
    }

    /// How it is written: `pto.tadd ins(src0, src1) outs(dst)`, optional operands in brackets.
    pub fn form(&self) -> String {
        let mut ins: Vec<String> = match self.sig.srcs {
            _ if self.is_store() => vec!["src".into()],
            0 if self.sig.view => vec!["view".into()],
            _ => self.sources().iter().map(|name| name.to_string()).collect(),
        };
        let least = ins.len().saturating_sub(self.sig.more.into());
        ins[least..].iter_mut().for_each(|name| *name = format!("[{name}]"));
        match self.sig.tmp {
            Tmp::None => {}
            Tmp::Optional => ins.push("[tmp]".into()),
            Tmp::Required => ins.push("tmp".into()),
        }
        if self.sig.scalar {
            ins.push("scalar".into());
        }
        ins.extend(self.numbers().iter().map(|name| name.to_string()));
        let attribute = self.attribute().map_or(String::new(), |a| format!(" {a}"));
        let dst = if self.is_store() { "view" } else { "dst" };
        format!("pto.{} ins({}{attribute}) outs({dst})", self.written(), ins.join(", "))
    }

    /// Its name in programs: forms told apart by their operands share one.
    pub fn written(&self) -> &'static str {
        match self.operator {
            Operator::Pattern => "tgather",
            Operator::MergeBlock => "tmrgsort",
            _ => self.name,
        }
    }

    /// Numbers among its operands, of type `index`.
    pub fn numbers(&self) -> &'static [&'static str] {
        match self.operator {
            Operator::Extract | Operator::Insert => &["row", "col"],
            Operator::MergeBlock => &["blockLen"],
            _ => &[],
        }
    }

    /// The attribute that belongs to it, in brackets where it may be left out.
    fn attribute(&self) -> Option<&'static str> {
        Some(match self.operator {
            Operator::Pattern => "{maskPattern = #pto.mask_pattern<P0101>}",
            Operator::Compare => "[{cmpMode = #pto<cmp lt>}]",
            Operator::Merge => "[{exhausted = true}]",
            Operator::Iota => "[{descending = true}]",
            Operator::Tri => "[{upperOrLower = 1 : i32}]",
            _ => match self.name {
                "tcvt" => "[{rmode = #pto<round_mode RINT>}]",
                "tcolsum" => "[{isBinary = true}]",
                "tstore" => "[{atomicType = #pto<atomic_type atomic_add>}]",
                _ => return None,
            },
        })
    }

    /// Names of the source tiles.
    pub fn sources(&self) -> &'static [&'static str] {
        match (self.operator, self.sig.srcs) {
            (Operator::Select, 3) => &["mask", "src0", "src1"],
            (Operator::Select, _) => &["mask", "src"],
            (Operator::Sort | Operator::Gather | Operator::Scatter, _) => &["src", "idx"],
            (Operator::GatherB, _) => &["src", "offset"],
            (Operator::Dequant, _) => &["src", "scale", "offset"],
            (Operator::Merge, _) => &["src0", "src1", "src2", "src3"],
            (_, 0) => &[],
            (_, 1) => &["src"],
            _ => &["src0", "src1"],
        }
    }

    /// Is its destination global memory?
    pub fn is_store(&self) -> bool {
        self.sig.view && self.sig.srcs == 0 && self.name == "tstore"
    }
}

/// Issues the A2/A3 microcode of a call that passed [`super::check`].
pub fn a2a3(call: &Call, backend: &mut dyn Backend) -> Done {
    match call.op.lower {
        Some(lower) => lower(call, &mut Asm::of(call, backend)),
        None => Err(Stop(Box::new(unbuilt(call.op, Family::A2A3)))),
    }
}

/// The refusal of an operation without microcode on a family.
pub(super) fn unbuilt(op: &TileOp, family: Family) -> Diagnostic {
    let (here, there, target) = match family {
        Family::A2A3 => ("A2/A3", "the 950", "950pr"),
        Family::A5 => ("the 950", "A2/A3", "a3"),
    };
    Diagnostic::error("unsupported", format!("{} is not emulated on {here}", op.name))
        .help(format!("it runs on {there}: -v {target}"))
}

/// Applies the meaning of a call to memory.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    (call.op.reference)(call, mem)
}

/// Looks an operation up by mnemonic.
pub fn find(name: &str) -> Option<&'static TileOp> {
    OPS.iter().find(|op| op.name == name)
}

impl Operator {
    /// The two-source instruction.
    pub(super) fn vec2(self) -> Op {
        match self {
            Operator::Add => Op::vadd,
            Operator::Sub | Operator::ExpDif => Op::vsub,
            Operator::Mul => Op::vmul,
            Operator::Div | Operator::Recip => Op::vdiv,
            Operator::Min => Op::vmin,
            Operator::And => Op::vand,
            Operator::Or => Op::vor,
            _ => Op::vmax,
        }
    }

    /// Is the second operand a number of bits?
    pub fn shifts(self) -> bool {
        matches!(self, Operator::Shl | Operator::Shr)
    }

    /// Does the order of operands not matter?
    pub(super) fn commutes(self) -> bool {
        matches!(self, Operator::Add | Operator::Mul | Operator::Max | Operator::Min)
    }
}
