//! What a vector function makes worth saying without stopping the run.

use super::mode::Barrier;
use ptoemu_core::diag::Diagnostic;

/// A remark that does not stop the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What.
    pub diag: Diagnostic,
    /// UB bytes concerned; empty where none are.
    pub bytes: (u64, u64),
    /// Of two accesses that nothing orders: what and where they are.
    pub order: Option<Box<Ordering>>,
}

/// The two ends of a missing `mem_bar`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordering {
    /// Numbers of the later and of the earlier access.
    pub accesses: [u32; 2],
    /// Number of the source site of the later access.
    pub here: u32,
    /// The same of the earlier one.
    pub there: u32,
    /// What the later access does, `vlds Read`.
    pub is: String,
    /// What the earlier one did.
    pub was: String,
    /// The line to insert before the later access.
    pub fix: String,
}

impl Ordering {
    /// Number of the kind of `mem_bar` that is missing.
    pub fn number(&self) -> u16 {
        let named = |name: &&str| self.fix.contains(&format!("\"{name}\""));
        Barrier::NAMES.iter().position(named).map_or(0, |n| n as u16)
    }
}
