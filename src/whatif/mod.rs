//! What-if studies: execute once, time under thousands of targets.
//!
//! A [`Subject`] (a kernel with arguments, or one tile operation) is executed once per family; its
//! [`Recorded`] streams are timed under every setting of a [`Grid`] of figures. For one subject and
//! one target:
//!
//! ```no_run
//! use ptoemu::whatif::{Subject, Timer};
//! use ptoemu_core::dtype::DType;
//! use ptoemu_isa::{case::Case, tile};
//! # fn main() -> Result<(), String> {
//! let op = tile::find("trowmax").ok_or("no such operation")?;
//! let subject = Subject::op(Case::new(op, DType::F32, 64, 128));
//! let target = ptoemu::targets::with_overrides("a3", &[]).map_err(|e| format!("{e:?}"))?;
//! let recorded = subject.record(&target).map_err(|e| format!("{e:?}"))?;
//! let paths = ["drain", "vcgmax.per_repeat"];
//! let timer = Timer::new(&recorded, &target, &paths).map_err(|d| d.message)?;
//! let mut worker = timer.worker(); // one per thread
//! let m = worker.time(&[12.0, 2.0]); // a value for every path, in that order
//! println!("{} cycles, bound by {}", m.cycles, m.bound);
//! # Ok(()) }
//! ```
//!
//! * [`Timer::new`] looks the paths up once; [`Worker::time`] then changes numbers in place. It
//!   does not check ranges: [`Sweep::check`] does, or `Target::accepts`.
//! * [`Worker::cycles`] is the cheapest question, [`Worker::timelines`] the most detailed answer.
//! * A [`Study`] joins subjects, targets and a grid ([`Axis`], [`Sweep`]), numbers the points, and
//!   runs a range of them on all threads with the results in order ([`Study::run`]).
//! * A [`survey::Survey`] keeps the results and sums them up along each figure.
//! * Figures that change the execution (`schema::changes_execution`) are refused everywhere.

mod grid;
pub mod rows;
pub mod shard;
mod study;
mod subject;
pub mod survey;
mod timer;
pub mod values;

pub use grid::{Axis, Grid, Sweep};
pub use study::{Cell, Point, Study};
pub use subject::{Recorded, Subject, alternatives, kin};
pub use timer::{Measured, Timer, Worker};
