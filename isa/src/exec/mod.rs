//! Runs a module: scalar code, control flow, views and tiles here; instructions and the microcode
//! of tile operations on the machine, which records the issue stream.

mod a5;
mod arith;
mod auto_sync;
mod bind;
mod buffers;
mod deadlock;
mod foreign;
mod frame;
mod lower;
mod memory;
mod micro;
mod mte;
mod ops;
mod own;
mod program;
mod queue;
mod run;
mod tile_call;
mod value;

pub use auto_sync::Insert;
pub use bind::{ArgValue, Binding};
pub use lower::{Limits, Options as LowerOptions, lower};
pub use own::{MICROCODE_FILE, Own};
pub use program::{Arg, ArgKind, Function, Placed, Program};
pub use run::{BlockRun, Inserted, Options, Outcome, Output, Runner, run, run_with};
