//! Verification of microcode: every use of a tile operation, made from a few numbers, executed and
//! compared with the meaning of the operation, byte by byte.
//!
//! [`Unit`] names an operation on element types of a family. [`Uses`] enumerates its uses, each a
//! [`Spec`]. A [`Bench`] runs one use as a [`Subject`] does it (the microcode of the emulator, or
//! any other) and returns every [`Fault`]: wrong values, stray writes, results from bytes nobody
//! wrote, hazards, modes left behind, accesses outside UB. [`Bench::hunt`] runs many and keeps the
//! simplest use of every [`Cause`], which [`Bench::minimal`] shrinks.

mod bench;
mod contents;
mod corners;
mod cover;
mod domain;
mod hunt;
pub mod mutate;
mod shapes;
mod shrink;
mod spec;
mod template;
mod unit;

pub use bench::{Bench, BuiltIn, Fault, STRAY, Subject, UNDEFINED, VALUES};
pub use corners::Uses;
pub use cover::{Cell, Cover, Tail};
pub use domain::Domain;
pub use hunt::{Catch, Cause, Tally};
pub(crate) use shapes::example;
pub use shrink::shrink;
pub use spec::Spec;
pub use template::template;
pub use unit::{Form, Unit};
