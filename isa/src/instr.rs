//! One A2/A3 instruction with every parameter a number: the unit of microcode.

use crate::table::{Form, Op, Order, What};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{Marks, Pipe};
use std::fmt;

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

/// As messages show it: mnemonic, element types, every parameter by name.
impl fmt::Display for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.op.row();
        f.write_str(row.mnemonic)?;
        if !row.types.is_empty() {
            write!(f, ".{}", crate::table::pair_name(self.dtype, self.src_dtype))?;
        }
        for (k, (p, v)) in row.form.params().iter().zip(self.args).enumerate() {
            let comma = if k == 0 { "" } else { "," };
            match p.what {
                What::Addr(_) => write!(f, "{comma} {} {v:#x}", p.name)?,
                What::Order => {
                    let name = Order::from_code(v).map_or("?", Order::name);
                    write!(f, "{comma} {} {name}", p.name)?;
                }
                What::Pipe => {
                    let pipe = usize::try_from(v).ok().and_then(|v| Pipe::ALL.get(v));
                    write!(f, "{comma} {}", pipe.map_or("?", |p| p.name()))?;
                }
                What::Scalar => write!(f, "{comma} {} {v:#x}", p.name)?,
                What::Num if p.bits == 64 => write!(f, "{comma} {} {v:#x}", p.name)?,
                _ => write!(f, "{comma} {} {v}", p.name)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_with_every_parameter() {
        let i = Instr::new(Op::vabs, DType::F32, &[0x100, 0x200, 4, 1, 1, 8, 8]);
        let want =
            "vabs.f32 dst 0x100, src0 0x200, repeat 4, dst_blk 1, src_blk 1, dst_rpt 8, src_rpt 8";
        assert_eq!(i.to_string(), want);
        let i = Instr::new(Op::set_flag, DType::F32, &[Pipe::V as i64, Pipe::S as i64, 2]);
        assert_eq!(i.to_string(), "set_flag PIPE_V, PIPE_S, event 2");
        let i = Instr::new(Op::vcmax, DType::F16, &[0, 0, 1, 1, 1, 8, 2]);
        assert!(i.to_string().ends_with("mode INDEX_VALUE"));
        assert_eq!(Instr::new(Op::set_mask_norm, DType::F32, &[]).to_string(), "set_mask_norm");
    }
}
