//! State left behind: modes, masks and flags at the end of a tile operation or a kernel.

use crate::diag::{Diagnostic, Level};

/// Mode state that later code may trip over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    /// Counter mode is on.
    pub counter: bool,
    /// MASK, hi and lo.
    pub mask: (u64, u64),
    /// CTRL.
    pub ctrl: u64,
}

/// Bits of CTRL whose change alters later values: overflow (48), narrowing (59).
const VALUE_BITS: u64 = 1 << 48 | 1 << 59;
/// Bits of CTRL that select the atomic store: type and operation.
const ATOMIC_BITS: u64 = 0b111 << 6 | 0b11 << 9;

/// What `now` leaves behind against `entry`; `last` says that nothing follows (end of the kernel).
pub fn left_behind(entry: &Modes, now: &Modes, last: bool) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let place = if last { "kernel" } else { "tile operation" };
    let mut warn = |code, what: String, help: &str| {
        out.push(
            Diagnostic::new(code, Level::Warning, format!("{what} at the end of the {place}"))
                .help(help),
        );
    };
    if now.counter {
        warn("state.counter_mode", "mask mode is left in counter".into(), "end with set_mask_norm");
    } else if now.mask != (u64::MAX, u64::MAX) {
        warn(
            "state.mask",
            format!("MASK is left at {:#x}:{:#x}", now.mask.0, now.mask.1),
            "end with set_vector_mask -1, -1",
        );
    }
    let changed = (entry.ctrl ^ now.ctrl) & VALUE_BITS;
    if changed != 0 {
        let bits: Vec<String> = (0..64)
            .filter(|b| changed >> b & 1 == 1)
            .map(|b| format!("CTRL[{b}] is left at {}", now.ctrl >> b & 1))
            .collect();
        let help = "restore CTRL: later conversions saturate differently";
        warn("state.ctrl", bits.join(" and "), help);
    }
    if now.ctrl & ATOMIC_BITS & 0b111 << 6 != 0 && (entry.ctrl ^ now.ctrl) & ATOMIC_BITS != 0 {
        warn("state.atomic", "atomic store mode is left on".into(), "end with set_atomic_none");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: Modes = Modes { counter: false, mask: (u64::MAX, u64::MAX), ctrl: 1 << 48 };

    #[test]
    fn each_leftover_is_named() {
        assert!(left_behind(&CLEAN, &CLEAN, true).is_empty());
        let codes = |m: Modes| -> Vec<_> {
            left_behind(&CLEAN, &m, false).iter().map(|d| d.code).collect()
        };
        assert_eq!(codes(Modes { counter: true, mask: (0, 5), ..CLEAN }), ["state.counter_mode"]);
        assert_eq!(codes(Modes { mask: (0, 5), ..CLEAN }), ["state.mask"]);
        assert_eq!(codes(Modes { ctrl: 1 << 59, ..CLEAN }), ["state.ctrl"]);
        assert_eq!(codes(Modes { ctrl: 1 << 48 | 1 << 6, ..CLEAN }), ["state.atomic"]);
    }
}
