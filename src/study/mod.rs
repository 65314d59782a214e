//! Studies of one program: which figures its cycles depend on, how sure they are, and what they do
//! over shapes.
//!
//! Everything is an exact re-timing of one recorded execution; nothing is interpolated.

mod along;
mod even;
pub mod files;
pub mod pages;
mod probe;
pub mod ranges;
mod regime;
mod sensitivity;
pub mod shapes;
mod uncertainty;

pub use even::{Away, BreakEven, Crossing, Rival, break_even};
pub use probe::{Knob, Probe, knobs, movable_figures, timer};
pub use ranges::Ranges;
pub use regime::{Regime, regimes};
pub use sensitivity::{Interaction, Sensitivity, Swing, interactions, swings};
pub use uncertainty::{Shrink, Uncertainty, histogram, uncertainty};
