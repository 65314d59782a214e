//! ptoemu: values, cycles and checks for programs of the Ascend NPU vector core.
//!
//! This crate joins the parts: it reads files, embeds the targets, and runs the flow text → parse
//! → lower → execute → time for the command line and for callers.

pub mod args;
pub mod batch;
pub mod calibrate;
pub mod commands;
pub mod data;
pub mod golden;
mod idle;
pub mod measured;
pub mod measured_950;
pub mod progress;
pub mod render;
pub mod report;
pub mod session;
mod stale;
pub mod study;
pub mod targets;
pub mod trace_files;
pub mod vf_program;
pub mod whatif;
pub mod work;
