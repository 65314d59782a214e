//! The 950 vector core: register micro-ops of a vecscope.
//!
//! [`Op`] names them, its rows say what they take and compute, [`Core::exec`] runs one. The
//! caller owns the vector, predicate and align registers; the core owns the special ones.

pub mod catalogue;
pub mod core;
mod engine;
pub mod flow;
pub mod form;
pub mod mode;
pub mod order;
pub mod record;
pub mod reg;
mod remark;
pub mod sem;
mod sink;
pub mod table;
pub mod timing;
mod turn;
mod used;

pub use self::core::{Args, Core, Outs, Run, Step, Touch, UB_BYTES, UB_USABLE};
pub use catalogue::catalogue;
pub use form::{Form, Kind, Mode};
pub use mode::{Barrier, Class, Cmp, Dist, Mods, Pattern, parse_part};
pub use reg::{Align, AlignKind, VL, VReg};
pub use remark::{Ordering, Remark};
pub use sink::{Executed, LoopEntry, MicroSink, RegId};
pub use table::{Op, Row};
