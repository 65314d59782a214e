//! Timing: a pure function of a stream and a target.
//!
//! `time` never looks at values and never infers an order from footprints: pipes run in order,
//! and only barriers, flags and mask writes of the stream hold them back. What a record costs
//! comes from the target's figures and, for vector instructions, from the arbiter over the
//! addresses it really touches.
//!
//! Timelines are in whole cycles. A fractional figure rounds to the nearest cycle where it is
//! used; `per_repeat` is multiplied by the repeats first, and its whole part is the spacing the
//! arbiter keeps between repeats.
//!
//! Not modelled: depth of the queues (S runs ahead without bound), conflicts between two
//! instructions that overlap, UB to UB copies and transfers in the arbiter, data-dependent
//! latencies, instruction fetch, caches of GM, other cores on the memory.

pub mod account;
mod arbiter;
mod chain;
mod figures;
mod machine;
mod memo;
mod prepared;
mod timeline;
pub mod vf;

pub use arbiter::Geometry;
pub use prepared::{Found, Prepared};
pub use timeline::{Cause, Entry, PipeTotals, Stall, Timeline};

use crate::stream::Stream;
use crate::target::Target;

/// Times a stream once. For many targets prepare the stream and time it again and again.
pub fn time(stream: &Stream, target: &Target) -> Timeline {
    Prepared::new(stream, target).time(target)
}
