//! What the instruction tables tell `core`: names, element types and pipes by [`OpId`].
//!
//! `core` never names an instruction; a target file's keys are checked against a catalogue.

use crate::dtype::DType;
use crate::stream::{Kind, OpId, Pipe};

/// One instruction as `core` sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Mnemonic, the key in target files.
    pub mnemonic: &'static str,
    /// Element types it accepts, widest operand first where source and destination differ.
    pub dtypes: Vec<DType>,
    /// Pipe it runs on.
    pub pipe: Pipe,
    /// What its records are.
    pub kind: Kind,
    /// Mnemonic whose figures it shares when a target has none of its own, for families in which
    /// only the operator differs (`vconv_f322f16a` falls back to `vconv`).
    pub cost_class: &'static str,
}

/// Every instruction of one family, indexed by [`OpId`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue(pub Vec<Entry>);

impl Catalogue {
    /// The entry of an instruction.
    pub fn get(&self, op: OpId) -> Option<&Entry> {
        self.0.get(op.0 as usize)
    }

    /// Looks a mnemonic up.
    pub fn find(&self, mnemonic: &str) -> Option<OpId> {
        self.0.iter().position(|e| e.mnemonic == mnemonic).map(|i| OpId(i as u16))
    }

    /// Is `name` a mnemonic or a cost class of the family?
    pub fn knows(&self, name: &str) -> bool {
        self.0.iter().any(|e| e.mnemonic == name || e.cost_class == name)
    }
}
