//! Studies as pages: plots, tables that sort, and the command that repeats them.

mod fit;
mod sensitivity;
mod shapes;
mod whatif;

pub use fit::calibration;
pub use sensitivity::sensitivity;
pub use shapes::shapes;
pub use whatif::{WhatIf, whatif};

use crate::calibrate::number as plain;
use ptoemu_traces::page::Cell;
use ptoemu_traces::page::plot::{self, Axis, Bar, Plot};

/// A plot with the name of its file.
pub type Named = (String, Plot);

/// A number with every digit that target files show.
fn value(v: f64) -> Cell {
    Cell::html(plain(v), Some(v))
}

/// A number with four decimals at most.
fn number(v: f64) -> Cell {
    Cell::html(short(v), Some(v))
}

fn maybe(v: Option<f64>, decimals: usize) -> Cell {
    v.map_or_else(Cell::empty, |v| Cell::number(v, decimals))
}

/// A share of one as a percentage with two decimals.
fn percent(v: f64) -> Cell {
    Cell::html(format!("{:.2}%", 100.0 * v), Some(v))
}

fn tenths(v: f64) -> String {
    plain((v * 10.0).round() / 10.0)
}

fn short(v: f64) -> String {
    plain((v * 1e4).round() / 1e4)
}

/// How many there are of each stretch, by where it starts.
fn counts(title: &str, what: &str, stretches: &[(f64, u64)]) -> Plot {
    let bar = |&(from, n): &(f64, u64)| Bar { label: short(from), parts: vec![n as f64] };
    let bars: Vec<Bar> = stretches.iter().map(bar).collect();
    plot::bars(title, &Axis::from_zero(what), &[what], &bars)
}
