//! The machine, ignorant of instruction names.
//!
//! `core` holds the state of a vector core (Unified Buffer, shadow, masks, flags), number
//! semantics, the recorded issue stream, the checks over it, the target files and the timing
//! models. It performs no I/O and names no instruction: the instruction tables hand it a
//! catalogue when a target is loaded.
#![deny(missing_docs)]

pub mod access;
pub mod catalogue;
pub mod check;
pub mod diag;
pub mod dtype;
pub mod footprint;
pub mod mask;
pub mod num;
pub mod similar;
pub mod state;
pub mod stream;
pub mod target;
pub mod time;
