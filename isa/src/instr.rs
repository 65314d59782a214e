//! One A2/A3 instruction with every parameter a number: the unit of microcode.

use crate::table::{Form, Op, What};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::Marks;

/// Most parameters a form has.
pub const PARAMS: usize = 11;

/// A resolved instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instr {
    /// Which instruction.
    pub op: Op,
    /// Element type of the destination (of the source where there is no destination).
    pub dtype: DType,
    /// Element type of the first source; equals `dtype` except for conversions and mixed forms.
    pub src_dtype: DType,
    /// Parameters in the order of `op.form().params()`; addresses in bytes, scalars as bits.
    pub args: [i64; PARAMS],
    /// Marks of its record (auto-inserted, mask computed at run time, ...).
    pub marks: Marks,
}

impl Instr {
    /// An instruction of one element type; `args` in the order of the form's parameters.
    ///
    /// Missing trailing parameters are 0; surplus ones are dropped.
    pub fn new(op: Op, dtype: DType, args: &[i64]) -> Self {
        let mut all = [0; PARAMS];
        for (slot, v) in all.iter_mut().zip(args) {
            *slot = *v;
        }
        Instr { op, dtype, src_dtype: dtype, args: all, marks: Marks::default() }
    }

    /// The same with another source type.
    pub fn from_dtype(mut self, src: DType) -> Self {
        self.src_dtype = src;
        self
    }

    /// The same with marks added.
    pub fn marked(mut self, marks: Marks) -> Self {
        self.marks = self.marks.with(marks);
        self
    }

    /// The parameter that means `what`, if the form has it.
    pub fn get(&self, what: What) -> Option<i64> {
        self.form().position(what).map(|i| self.args[i])
    }

    /// The parameter named `name` in listings, if the form has it.
    pub fn named(&self, name: &str) -> Option<i64> {
        self.form().params().iter().position(|p| p.name == name).map(|i| self.args[i])
    }

    /// Parameter list of the instruction.
    pub fn form(&self) -> Form {
        self.op.row().form
    }
}
