//! Counts how far the inputs of a target get, so that a run can say what it exercised.

use crate::harness::Reached;
use std::sync::atomic::{AtomicU64, Ordering};

const NAMES: [&str; 4] = ["refused as text", "refused before the run", "stopped", "finished"];
/// Executions between two lines of the tally.
const EVERY: u64 = 1 << 17;

static SEEN: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// Counts one execution; now and then a line on standard error says how many got how far.
pub fn count(reached: Reached) {
    SEEN[reached as usize].fetch_add(1, Ordering::Relaxed);
    let all: Vec<u64> = SEEN.iter().map(|n| n.load(Ordering::Relaxed)).collect();
    let total: u64 = all.iter().sum();
    if total.is_multiple_of(EVERY) {
        let parts: Vec<String> =
            all.iter().zip(NAMES).map(|(n, name)| format!("{n} {name}")).collect();
        eprintln!("tally: {total} executions: {}", parts.join(", "));
    }
}
