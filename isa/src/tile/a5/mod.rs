//! Microcode of tile operations on the 950: vector functions over registers.
//!
//! A function is described once, as loops of micro-ops; the machine executes it for values and the
//! timing model takes the same loops. `tmp` is accepted and left alone.

mod arg;
mod code;
mod col_expand;
mod col_reduce;
mod compare;
mod convert;
mod elementwise;
mod fill_pad;
mod function;
mod part;
mod rearrange;
mod remainder;
mod row_expand;
mod row_reduce;
mod run;
mod select;
mod software;
mod sort;

pub use code::Code;
pub use function::{Affine, Function, M, Micro, Node, V};
pub(crate) use run::sort_repeats;
pub use run::{Issue, Item, Listing, Single, Values};
pub(crate) use software::needed as by_software;

pub(super) use arg::arg;
pub(super) use col_expand::{col_expand, col_expand_bin};
pub(super) use col_reduce::col_reduce;
pub(super) use compare::compare;
pub(super) use convert::{convert, legal as converts};
pub(super) use elementwise::{bin, bin_scalar, copy, fill, rsqrt, unary};
pub(super) use fill_pad::fill_pad;
pub(super) use part::part;
pub(super) use rearrange::{block_copy, gather, iota, merge, transpose};
pub(super) use remainder::remainder;
pub(super) use row_expand::{row_expand, row_expand_bin};
pub(super) use row_reduce::{row_reduce, row_reduce_scalar};
pub(super) use select::select;
pub(super) use sort::sort;

pub(super) use self::{elsewhere as dequant, elsewhere as relu_conv};
pub(super) use elementwise::fused;

use super::asm::Asm;
use super::call::Call;
use crate::machine::Stop;
use ptoemu_core::diag::Diagnostic;

type Done = Result<(), Stop>;

/// Issues the 950 microcode of a call that passed [`super::check`].
pub fn a5(call: &Call, to: &mut dyn Issue) -> Done {
    unbuilt(call).map_or(Ok(()), |d| Err(Stop(Box::new(d))))?;
    (call.op.code)(call, to)
}

/// TLOAD and TSTORE: transfers as on A2/A3, whose padding and bursts the 950 keeps.
pub(super) fn transfer(call: &Call, to: &mut dyn Issue) -> Done {
    super::transfer::lower(call, &mut Asm::of(call, to.instructions()))
}

/// Operations of A2/A3 alone.
pub(super) fn elsewhere(call: &Call, _: &mut dyn Issue) -> Done {
    Err(Stop(Box::new(super::op::unbuilt(call.op, super::Family::A5))))
}

/// Legal uses whose microcode is a software routine that is not described.
pub fn unbuilt(call: &Call) -> Option<Diagnostic> {
    let t = call.dst.dtype;
    let wide = [t, call.source(0).dtype].iter().any(|t| t.size() == 8);
    let moves = call.op.sig.view || matches!(call.op.name, "tmov" | "tcvt");
    if !wide || moves {
        return None;
    }
    let text = format!(
        "{} of {t} on the 950 is not emulated: 64-bit elements go through a software routine",
        call.op.name
    );
    Some(Diagnostic::error("unsupported", text).help("use 32-bit elements"))
}

/// Micro-op of an operator between two registers.
fn two(op: super::Operator) -> crate::a5::Op {
    use super::Operator as O;
    use crate::a5::Op;
    match op {
        O::Add => Op::vadd,
        O::Sub => Op::vsub,
        O::Mul => Op::vmul,
        O::Div | O::Recip => Op::vdiv,
        O::Min => Op::vmin,
        O::And => Op::vand,
        O::Or => Op::vor,
        O::Xor => Op::vxor,
        O::Shl => Op::vshl,
        O::Shr => Op::vshr,
        O::Leaky => Op::vprelu,
        _ => Op::vmax,
    }
}

/// `n` as a step that counts down.
fn down(n: usize) -> i64 {
    -(n as i64)
}
