//! What programs are: the `.pto` text, the instruction tables, the tile operations and their
//! microcode, and the executor that turns a module into values and an issue stream.
#![deny(missing_docs)]

pub mod a5;
pub mod case;
pub mod exec;
pub mod families;
pub mod hazards;
pub mod instr;
pub mod machine;
pub mod table;
pub mod text;
pub mod tile;
pub mod verify;
