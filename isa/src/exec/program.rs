//! The lowered program: names resolved to slots, ops to codes, literals to values.

use super::a5::{LoopReg, MicroStmt, MoveStmt};
use super::ops::{Bin, Cast, Pred};
use super::value::Value;
use crate::table;
use crate::text::Scalar;
use crate::tile::{Layout, Tile};
use ptoemu_core::diag::{SourceFile, Span};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::Pipe;
use std::sync::Arc;

/// Index of a value in the frame of its function.
pub type Slot = u32;

/// A lowered file.
#[derive(Clone, Debug)]
pub struct Program {
    /// The text spans point into.
    pub source: Arc<SourceFile>,
    /// Functions; a file without any is one function named `main`.
    pub funcs: Vec<Function>,
    /// Index of the function to run.
    pub entry: usize,
    /// `pto.target_arch` around the entry function.
    pub arch: Option<(String, Span)>,
    /// Where each tile was placed: notes for the user.
    pub placed: Vec<Placed>,
    /// Functions that take the place of the microcode of their operation.
    pub microcode: Vec<super::Own>,
}

impl Program {
    /// Sizes of the widest view of a buffer argument, outer ones of 1 left out, when they are
    /// literals.
    pub fn view_shape(&self, name: &str) -> Option<Vec<u64>> {
        let f = self.funcs.get(self.entry)?;
        let slot = f.args.iter().find(|a| a.name == name)?.slot;
        let views = f.body.iter().filter_map(|s| match &s.code {
            Code::View(_, src, e) if *src == slot => Some(e),
            _ => None,
        });
        let sizes = views.filter_map(|e| {
            e.sizes
                .iter()
                .map(|n| match n {
                    Num::Lit(v) => u64::try_from(*v).ok(),
                    Num::Slot(_) => None,
                })
                .collect::<Option<Vec<u64>>>()
        });
        let widest = sizes.max_by_key(|d| d.iter().fold(1u64, |n, d| n.saturating_mul(*d)))?;
        let lead =
            widest.iter().take(widest.len().saturating_sub(1)).take_while(|d| **d == 1).count();
        Some(widest[lead..].to_vec())
    }

    /// UB address of a place known without running.
    pub fn address(&self, place: Place) -> u64 {
        match place {
            Place::At(Num::Lit(v)) => v as u64,
            Place::At(Num::Slot(_)) => 0,
            Place::Auto(i) => self.placed.get(i as usize).map_or(0, |p| p.addr),
        }
    }
}

/// A tile whose address the program left open.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Name of the tile's value.
    pub name: String,
    /// First byte in UB.
    pub addr: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Statement that asked for it.
    pub span: Span,
}

/// A lowered function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Symbol name.
    pub name: String,
    /// Arguments.
    pub args: Vec<Arg>,
    /// Values in a frame.
    pub slots: u32,
    /// Statements.
    pub body: Vec<Stmt>,
    /// It writes its own flags, barriers, events or buffer locks.
    pub has_sync: bool,
    /// Its place in the text.
    pub span: Span,
}

/// A function argument.
#[derive(Clone, Debug)]
pub struct Arg {
    /// Name without `%`.
    pub name: String,
    /// Frame slot.
    pub slot: Slot,
    /// What the caller must give.
    pub kind: ArgKind,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of arguments.
#[derive(Clone, Debug)]
pub enum ArgKind {
    /// A GM buffer of that element type.
    Buffer(DType),
    /// A scalar.
    Scalar(Scalar),
    /// A tile in UB, of a file without a function.
    Tile(Box<Tile>, Place),
    /// A type no caller can give from the command line; its text.
    Other(String),
}

/// One statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Its place in the text.
    pub span: Span,
    /// What it does.
    pub code: Code,
}

/// A number known now or at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Num {
    /// Literal.
    Lit(i64),
    /// Value of a slot.
    Slot(Slot),
}

/// Where a tile lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At that UB address.
    At(Num),
    /// Where [`Program::placed`] says.
    Auto(u32),
}

/// A view's description with run-time numbers.
#[derive(Clone, Debug)]
pub struct ViewExpr {
    /// Sizes, outermost first.
    pub sizes: Vec<Num>,
    /// Strides in elements (`make`) or offsets in elements (`partition`), outermost first.
    pub steps: Vec<Num>,
    /// `layout` attribute: `dn` where said.
    pub dn: bool,
    /// Elements in front of the first one.
    pub offset: Option<Num>,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum Code {
    /// A literal.
    Const(Slot, Value),
    /// Two-operand scalar arithmetic at a type.
    Bin(Bin, Scalar, Slot, [Slot; 2]),
    /// Float negation at a type.
    NegF(Scalar, Slot, Slot),
    /// Comparison at a type.
    Cmp(Pred, Scalar, Slot, [Slot; 2]),
    /// Conversion from a type to a type.
    Cast(Cast, Scalar, Scalar, Slot, Slot),
    /// `arith.select`.
    Select(Slot, [Slot; 3]),
    /// A value under another name.
    Copy(Slot, Slot),
    /// `scf.for`.
    For {
        /// Induction variable.
        iv: Slot,
        /// Lower bound, upper bound, step.
        range: [Slot; 3],
        /// Region argument and initial value of each carried value.
        carried: Vec<(Slot, Slot)>,
        /// Results.
        results: Vec<Slot>,
        /// Body.
        body: Vec<Stmt>,
    },
    /// `scf.if`.
    If {
        /// Condition.
        cond: Slot,
        /// Taken when true.
        then: Vec<Stmt>,
        /// Taken when false.
        els: Vec<Stmt>,
        /// Results.
        results: Vec<Slot>,
    },
    /// `scf.while`.
    While {
        /// Arguments of the first region and initial values.
        carried: Vec<(Slot, Slot)>,
        /// First region; ends in `Condition`.
        before: Vec<Stmt>,
        /// Arguments of the second region.
        after_args: Vec<Slot>,
        /// Second region; ends in `Yield`.
        after: Vec<Stmt>,
        /// Results.
        results: Vec<Slot>,
    },
    /// `scf.yield`.
    Yield(Vec<Slot>),
    /// `scf.condition`.
    Condition(Slot, Vec<Slot>),
    /// `func.return`.
    Return(Vec<Slot>),
    /// `func.call`.
    Call {
        /// Callee.
        func: usize,
        /// Arguments.
        args: Vec<Slot>,
        /// Results.
        results: Vec<Slot>,
    },
    /// Statements of a section region.
    Section(Vec<Stmt>),
    /// `get_block_idx` (0), `get_block_num` (1), `get_subblock_idx` (2), `get_subblock_num` (3).
    Core(u8, Slot),
    /// `castptr`: integer or pointer to pointer (elem and space), or pointer to integer.
    CastPtr {
        /// Result.
        dst: Slot,
        /// Operand.
        src: Slot,
        /// Element of the result pointer; `None` gives an integer.
        to: Option<DType>,
    },
    /// `addptr`, in elements.
    AddPtr(Slot, Slot, Num),
    /// `load_scalar`.
    Load(Slot, Slot, Num, DType),
    /// `store_scalar`: value, pointer, index, type.
    Store(Slot, Slot, Num, DType),
    /// `make_tensor_view` of a pointer.
    View(Slot, Slot, ViewExpr),
    /// `partition_view` of a view.
    Partition(Slot, Slot, ViewExpr),
    /// `alloc_tile`: template, place, valid rows and columns.
    Alloc(Slot, Box<Tile>, Place, [Option<Num>; 2]),
    /// `tassign`: result (or none), tile, address in bytes.
    Assign(Option<Slot>, Slot, Num),
    /// `treshape`, `bitcast`: the source's address under the template's type.
    Reshape(Slot, Slot, Box<Tile>),
    /// `subset`: source, row and column offsets, sizes.
    Subset(Slot, Slot, [Num; 2], [u32; 2]),
    /// `tile_buf_addr`.
    TileAddr(Slot, Slot, DType),
    /// `set_validshape`: tile, rows, columns.
    SetValid(Slot, Num, Num),
    /// A tile operation.
    Tile(Box<TileStmt>),
    /// An A2/A3 instruction: op, destination and source types, parameters in order.
    Instr(table::Op, [DType; 2], Vec<Num>),
    /// `set_flag` (true) or `wait_flag`.
    Flag(bool, Pipe, Pipe, Num),
    /// `pipe_barrier`.
    Barrier(Pipe),
    /// `get_buf` (true) or `rls_buf`: buffer and mode.
    Buffer(bool, Pipe, [Num; 2]),
    /// Statements of a vecscope.
    Vecscope(Vec<Stmt>),
    /// A 950 micro-op.
    Micro(Box<MicroStmt>),
    /// A 950 transfer.
    Move(Box<MoveStmt>),
    /// A loop register of 950 transfers, of the direction out of UB or into it.
    LoopReg(LoopReg, bool, Vec<Num>),
    /// Management without effect on values.
    Nothing,
    /// An op the emulator does not execute; reported when reached.
    Unknown(String),
}

/// Operands of a tile operation in program order.
#[derive(Clone, Debug)]
pub struct TileStmt {
    /// Name with dialect, `pto.trowmax`.
    pub name: String,
    /// The op.
    pub op: &'static crate::tile::TileOp,
    /// Inputs in order, each with its type as written.
    pub ins: Vec<Operand>,
    /// Outputs in order.
    pub outs: Vec<Operand>,
    /// Storage for a result of the SSA form.
    pub result: Option<(Slot, Box<Tile>, Place)>,
    /// Storage the emulator provides for a `tmp` the program left out.
    pub tmp: Option<(Box<Tile>, Place)>,
    /// Attributes that change the meaning: name and value text.
    pub attrs: Vec<(String, String)>,
}

/// One operand of a tile operation.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Its value.
    pub slot: Slot,
    /// Element type of a scalar operand as written.
    pub scalar: Option<DType>,
    /// Where it stands.
    pub span: Span,
}

/// A `Tile` template for a type, address 0.
pub fn template(name: &str, ty: &crate::text::TileType, dtype: DType) -> Tile {
    use crate::text::{Layout as L, Pad, Space};
    use crate::tile::Loc;
    let size = |d: crate::text::Dim, whole: u64| d.size().unwrap_or(whole) as u32;
    Tile {
        name: name.to_string(),
        loc: match ty.loc {
            None | Some(Space::Vec | Space::Ub) => Loc::Vec,
            Some(Space::Left | Space::L0a) => Loc::Left,
            Some(Space::Right | Space::L0b) => Loc::Right,
            Some(Space::Acc | Space::L0c) => Loc::Acc,
            Some(Space::Bias | Space::Bt) => Loc::Bias,
            Some(Space::Scaling | Space::Fb) => Loc::Scaling,
            Some(Space::Mat | Space::L1 | Space::Gm) => Loc::Mat,
        },
        dtype,
        rows: ty.rows as u32,
        cols: ty.cols as u32,
        valid_rows: size(ty.v_row, ty.rows),
        valid_cols: size(ty.v_col, ty.cols),
        static_rows: ty.v_row.size().is_some(),
        static_cols: ty.v_col.size().is_some(),
        layout: if ty.blayout == L::ColMajor { Layout::ColMajor } else { Layout::RowMajor },
        fractal: ty.slayout != L::NoneBox,
        pad: match ty.pad {
            Pad::Null => 0,
            Pad::Zero => 1,
            Pad::Max => 2,
            Pad::Min => 3,
        },
        addr: 0,
    }
}
