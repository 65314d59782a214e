//! initcheck: values nothing ever wrote, at the place where they matter.

use super::{Owner, owners};
use crate::diag::{Diagnostic, Level};
use crate::state::{Shadow, WRITER_NONE};

/// Where an undefined value arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// Global memory.
    Gm,
    /// A scalar register, hence possibly a branch or an address.
    Scalar,
    /// An active lane of a reduction.
    Reduction,
    /// A special register (CMPMASK).
    Register,
}

/// The report of an undefined byte at `at` that reaches `sink`.
pub fn undefined(
    name: &str,
    operand: &str,
    at: u64,
    sink: Sink,
    shadow: &Shadow,
    all: &[Owner],
    by: Option<&str>,
) -> Diagnostic {
    let (level, how) = match sink {
        Sink::Gm => (Level::Error, "stores it to global memory"),
        Sink::Scalar => (Level::Error, "loads it into a scalar register"),
        Sink::Reduction => (Level::Warning, "reduces it as an active lane"),
        Sink::Register => (Level::Warning, "loads it into a special register"),
    };
    let mut d = Diagnostic::new(
        "initcheck.undefined",
        level,
        format!("UB byte {at:#x} holds no defined value, and {name} {how}"),
    )
    .note(format!("operand `{operand}`"));
    if let Some(o) = owners(all, at, at + 1) {
        d = d.note(format!("the byte belongs to `{o}`"));
    }
    d = match shadow.writer(at) {
        WRITER_NONE => d.note("no instruction wrote it"),
        _ => d.note(match by {
            Some(by) => {
                format!("last writer: {by}, from undefined bytes or as a transfer's residue")
            }
            None => "it was written from undefined bytes, or as a transfer's residue".to_string(),
        }),
    };
    d.help("write the bytes first, narrow the mask to the valid lanes, or pad the load")
}
