//! What the fuzz targets share: the functions under test and the mutations of programs.

pub mod harness;
pub mod mutate;
pub mod tally;
