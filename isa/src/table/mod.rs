//! The instruction tables: one row per instruction, and everything else follows from it.
//!
//! A2/A3 mnemonics take addresses, repeats and strides. A row names the form (parameter list),
//! the element types, the semantics, the class whose figures it shares, how well its meaning is
//! established and one line of documentation. Decode, printing, legality, the catalogue handed to
//! `core`, `explain` and coverage are read off the rows.

mod a2a3;
mod explain;
mod form;

pub use a2a3::Op;
pub use explain::{Explanation, ParamInfo, explain, pair_name};
pub use form::{Form, Order, Param, Shape, What};

use crate::families::Sem;
use ptoemu_core::catalogue::{Catalogue, Entry};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{Kind, OpId, Pipe};

/// How well a claim is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Claim {
    /// Stated or shown by public documentation.
    Documented,
    /// Inferred from how shipped kernels use it.
    Inferred,
    /// Stated nowhere; the emulator's choice, a named setting where it matters.
    Unknown,
}

/// One instruction.
#[derive(Clone, Copy)]
pub struct Row {
    /// Mnemonic as in the manual.
    pub mnemonic: &'static str,
    /// Parameter list.
    pub form: Form,
    /// Accepted (destination, source) element types.
    pub types: &'static [(DType, DType)],
    /// What it computes.
    pub sem: Sem,
    /// Mnemonic whose figures it shares.
    pub cost: &'static str,
    /// How well its meaning is established.
    pub claim: Claim,
    /// One line of documentation.
    pub doc: &'static str,
}

impl Row {
    /// What records of this instruction are.
    pub fn kind(&self) -> Kind {
        match self.form {
            Form::CopyUb => Kind::Copy,
            Form::CopyIn | Form::CopyOut | Form::AlignIn | Form::AlignOut => Kind::Dma,
            Form::Load => Kind::ScalarLoad,
            Form::Store => Kind::ScalarStore,
            Form::SetMask => Kind::MaskWrite,
            Form::SetReg | Form::Bare | Form::SetVa => Kind::CtrlWrite,
            Form::Barrier => Kind::Barrier,
            Form::Flag if self.mnemonic == "set_flag" => Kind::SetFlag,
            Form::Flag => Kind::WaitFlag,
            _ => Kind::Vector,
        }
    }

    /// Pipe it runs on; barriers and flags name theirs in a parameter.
    pub fn pipe(&self) -> Pipe {
        match self.form {
            Form::CopyIn | Form::AlignIn => Pipe::Mte2,
            Form::CopyOut | Form::AlignOut => Pipe::Mte3,
            Form::Load | Form::Store | Form::SetReg | Form::SetVa | Form::Bare | Form::Flag => {
                Pipe::S
            }
            _ => Pipe::V,
        }
    }

    /// Does it accept these element types?
    pub fn accepts(&self, dst: DType, src: DType) -> bool {
        self.types.is_empty() || self.types.contains(&(dst, src))
    }
}

impl Op {
    /// The row that declares it.
    pub fn row(self) -> &'static Row {
        &a2a3::ROWS[self as usize]
    }

    /// Parameter list.
    pub fn form(self) -> Form {
        self.row().form
    }

    /// Mnemonic as in the manual.
    pub fn mnemonic(self) -> &'static str {
        self.row().mnemonic
    }

    /// Index in the catalogue.
    pub fn id(self) -> OpId {
        OpId(self as u16)
    }

    /// Looks a mnemonic up.
    pub fn find(mnemonic: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.mnemonic() == mnemonic)
    }
}

/// Number of a reduction order by its name, `VALUE_INDEX` and its relatives.
pub fn order_code(name: &str) -> Option<i64> {
    Order::parse(name).map(|o| o as i64)
}

/// The A2/A3 instructions as `core` sees them.
pub fn catalogue() -> Catalogue {
    Catalogue(a2a3::ROWS.iter().map(entry).collect())
}

fn entry(row: &Row) -> Entry {
    let wider = |&(d, s): &(DType, DType)| if s.size() > d.size() { s } else { d };
    let mut dtypes: Vec<DType> = row.types.iter().map(wider).collect();
    dtypes.sort();
    dtypes.dedup();
    Entry {
        mnemonic: row.mnemonic,
        dtypes,
        pipe: row.pipe(),
        kind: row.kind(),
        cost_class: row.cost,
    }
}
