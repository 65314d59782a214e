//! Timing of 950 vector functions: hardware loops feeding an out-of-order pipeline.
//!
//! A function is walked instruction by instruction. The front end dispatches in order, as loops,
//! registers and credits allow; renaming gives every result its own register version; loads and
//! stores wait for ports, banks and barriers; computations wait for sources, then move through a
//! shared queue and the queue of one execution unit. Every figure comes from a target. The model
//! counts cycles from the launch and never looks at values.

mod allocate;
mod banks;
mod calendar;
mod compile;
mod compiled;
mod engine;
mod explain;
mod issue;
mod memory;
mod params;
mod periodic;
mod program;
mod record;
mod rename;
mod retire;
mod state;
mod tables;
mod touch;
mod walk;

pub use allocate::allocate;
pub use compiled::{Bound, Compiled, Key};
pub use explain::explain;
pub use params::{Figures, OP_FIGURES, OpFigures, PARAMS, VfParams};
pub use program::{
    Access, Bar, Class, File, Inst, Kind, Loop, Node, Reg, UB, VfProgram, mreg, vreg,
};
pub use record::{Cause, Link, Options, Skip, VfRecord, VfTiming, Waits};

use crate::diag::Diagnostic;

/// Times a vector function with the figures of a target. For many targets compile it once
/// ([`Compiled`]).
pub fn time(p: &VfProgram, from: &dyn Figures, opts: Options) -> Result<VfTiming, Diagnostic> {
    Compiled::new([p]).bind(from)?.time(0, opts)
}

/// The same with the pipeline's figures given apart, for studies of single figures.
pub fn time_with(
    p: &VfProgram,
    params: &VfParams,
    from: &dyn Figures,
    opts: Options,
) -> Result<VfTiming, Diagnostic> {
    Compiled::new([p]).bind_with(params.clone(), from)?.time(0, opts)
}
