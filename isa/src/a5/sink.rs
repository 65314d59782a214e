//! What a listener sees of executed vecscopes: for timing, traces and checks.

use super::core::{Step, Touch};
use super::form::Kind;
use ptoemu_core::diag::Span;
use ptoemu_core::stream::SiteId;

/// A virtual register: kind and number. Every value of the program has its own number;
/// [`LoopEntry`] says which numbers of a loop name one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegId {
    /// Vector, predicate, align or scalar register.
    pub kind: Kind,
    /// Number, unique in its function.
    pub id: u32,
}

/// One executed micro-op.
#[derive(Clone, Copy, Debug)]
pub struct Executed<'a> {
    /// Instruction, element types, modes.
    pub step: &'a Step,
    /// Number of the statement, unique in the program.
    pub stmt: u32,
    /// Its place in the text.
    pub span: Span,
    /// The same as a site of the stream.
    pub site: SiteId,
    /// Registers read, in operand order.
    pub reads: &'a [RegId],
    /// Registers written, in result order.
    pub writes: &'a [RegId],
    /// UB address operands as resolved, offset applied.
    pub addresses: &'a [u64],
    /// UB bytes read and written, in order.
    pub touched: &'a [Touch],
    /// Lanes the governing predicate activates, as the 256 bits of the register.
    pub mask: Option<ptoemu_core::mask::Mask>,
}

/// A loop about to run inside a vecscope.
#[derive(Clone, Copy, Debug)]
pub struct LoopEntry<'a> {
    /// Number of its induction variable, unique in its function.
    pub iv: u32,
    /// Rounds it will make.
    pub trips: u64,
    /// First value and step of the induction variable.
    pub range: (i64, i64),
    /// Carried values: number inside the body, number of the initial value.
    pub carried: &'a [(u32, u32)],
    /// Numbers of the values the body yields, in the order of `carried`.
    pub yields: &'a [u32],
    /// Numbers of the results, in the order of `carried`.
    pub results: &'a [u32],
}

/// Listens to executed vecscopes.
pub trait MicroSink {
    /// A vecscope begins.
    fn enter_scope(&mut self, _span: Span) {}
    /// It ends; a fault inside it ends the run instead.
    fn leave_scope(&mut self) {}
    /// A loop of the current vecscope begins.
    fn enter_loop(&mut self, _entry: &LoopEntry<'_>) {}
    /// Its next round begins; the induction variable's value.
    fn round(&mut self, _iv: i64) {}
    /// It is done.
    fn leave_loop(&mut self) {}
    /// A micro-op was executed.
    fn micro(&mut self, _op: &Executed<'_>) {}
}
