//! Listeners of a timeline: reports and trace dumps.
//!
//! A [`Trace`] joins one stream with its timeline and the target it was timed on. Every format is
//! one writer that reads a trace and writes to an `io::Write`; nothing here times, checks or opens
//! files. The cycle is the only time that is kept: a format that wants microseconds computes them
//! from the clock of the target while it writes.
//!
//! Memory: a writer holds a few words for each record at most (an order of events, a lane), never
//! the text it writes.
#![deny(missing_docs)]

pub mod advice;
mod agenda;
pub mod banks;
pub mod camodel;
mod clock;
mod critical;
pub mod csvs;
mod detail;
pub mod diff;
mod events;
pub mod html;
mod ids;
pub mod insight;
pub mod kanata;
mod lanes;
pub mod page;
pub mod pftrace;
pub mod profile;
mod put;
mod select;
mod statics;
pub mod text;
pub mod vf;

pub use clock::Clock;
pub use critical::{Edge, Step, critical_path};
pub use events::{Event, Lane, Phase, Trace, What};
pub use select::{Filter, Selection};
pub use statics::{Static, Statics};
