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

/// A tile whose last operation defines only a part of it: `width` bytes of each of its first
/// `rows` rows. What lies beside stays as it was, by the definition of the operation and not by an
/// oversight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    /// Name of the operation.
    pub by: &'static str,
    /// First byte of the tile.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// Bytes from row to row.
    pub pitch: u64,
    /// Rows that are defined.
    pub rows: u64,
    /// Bytes defined at the start of each of them.
    pub width: u64,
}

impl Partial {
    /// If the operation leaves byte `at` open: one past the last byte it leaves open there.
    pub fn open(&self, at: u64) -> Option<u64> {
        let offset = at.checked_sub(self.start).filter(|_| at < self.end)?;
        let (row, col) = (offset / self.pitch.max(1), offset % self.pitch.max(1));
        match row < self.rows {
            true => (col >= self.width).then(|| (at - col).saturating_add(self.pitch)),
            false => Some(self.end),
        }
    }
}

/// The report of a byte that a tile operation leaves open and that reaches global memory: defined
/// bytes of the same rows do so as well, and who reads the buffer may leave these out.
pub fn residue(name: &str, at: u64, tile: &Partial, all: &[Owner]) -> Diagnostic {
    let mut d = Diagnostic::new(
        "initcheck.residue",
        Level::Warning,
        format!("{name} stores UB byte {at:#x} to global memory, which {} leaves open", tile.by),
    );
    if let Some(o) = owners(all, at, at + 1) {
        d = d.note(format!("the byte belongs to `{o}`"));
    }
    d.note(format!(
        "{} defines {} bytes in each of the first {} rows of {} bytes; the others hold what was there",
        tile.by, tile.width, tile.rows, tile.pitch
    ))
    .help("store the bytes the operation defines, or leave the others out where the buffer is read")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_operation_leaves_open() {
        let by = "top";
        let t = Partial { by, start: 64, end: 64 + 4 * 32, pitch: 32, rows: 2, width: 5 };
        assert_eq!([64, 68, 96].map(|at| t.open(at)), [None; 3]);
        assert_eq!([69, 95, 101].map(|at| t.open(at)), [Some(96), Some(96), Some(128)]);
        assert_eq!([128, 191].map(|at| t.open(at)), [Some(192), Some(192)]);
        assert_eq!([63, 192].map(|at| t.open(at)), [None; 2]);
    }
}
