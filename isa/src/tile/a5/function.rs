//! Vector functions as microcode describes them: loops of micro-ops whose addresses and counts
//! are affine in the loop counters. One description gives values and cycles.

use crate::a5::Step;
use ptoemu_core::dtype::DType;
use smallvec::SmallVec;

/// A number affine in the counters of the enclosing loops, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    /// Value when every counter is 0.
    pub base: i64,
    /// Added per round of each enclosing loop; missing ones are 0.
    pub steps: SmallVec<[i64; 3]>,
}

impl Affine {
    /// The value under counters.
    pub fn at(&self, counters: &[u64]) -> i64 {
        let moved = self.steps.iter().zip(counters);
        moved.fold(self.base, |sum, (s, c)| sum.wrapping_add(s.wrapping_mul(*c as i64)))
    }

    /// The same, further by `n`.
    pub fn plus(&self, n: u64) -> Affine {
        Affine { base: self.base.wrapping_add_unsigned(n), steps: self.steps.clone() }
    }
}

/// `base` and the steps per round of each enclosing loop, outermost first.
pub fn affine(base: u64, steps: &[i64]) -> Affine {
    Affine { base: base as i64, steps: SmallVec::from_slice(steps) }
}

/// A vector register of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct V(pub u16);
/// A predicate register of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct M(pub u16);

/// A micro-op with its registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Micro {
    /// Instruction, element types, modes.
    pub step: Step,
    /// Vector operands.
    pub v: SmallVec<[V; 3]>,
    /// Predicate operands.
    pub m: SmallVec<[M; 3]>,
    /// Scalar operand, as bits.
    pub s: u64,
    /// Integer operand.
    pub n: Option<Affine>,
    /// UB address, in bytes.
    pub p: Option<Affine>,
    /// Vector results.
    pub dst: SmallVec<[V; 2]>,
    /// Predicate results.
    pub masks: SmallVec<[M; 2]>,
    /// Inactive lanes keep the old result instead of becoming 0.
    pub merge: bool,
}

/// A micro-op or a loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A micro-op.
    Op(Box<Micro>),
    /// A hardware loop.
    Loop(u64, Vec<Node>),
}

/// A vector function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its statements.
    pub body: Vec<Node>,
    /// Vector registers it names.
    pub vectors: u16,
    /// Predicate registers it names.
    pub masks: u16,
    /// Element type it works on, for reports.
    pub dtype: DType,
    /// Its trip counts are known at run time only.
    pub dynamic: bool,
}
