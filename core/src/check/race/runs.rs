//! The bytes of one operand as runs: exact to the lane, neighbours joined.

use crate::access::{Lanes, Walk};
use crate::mask::Mask;

/// Calls `f(start, end)` for the bytes an operand touches; ranges that follow each other come as
/// one. A byte that is touched twice may be named twice.
pub(super) fn runs(base: u64, w: &Walk, lanes: &Lanes, repeats: u32, f: impl FnMut(u64, u64)) {
    let mut join = Join { open: None, f };
    let mask = match *lanes {
        Lanes::Norm(m) if w.elem > 0 => m,
        Lanes::Count { total, per_repeat } if w.elem > 0 => {
            return counted(base, w, (total, per_repeat), repeats, join);
        }
        _ => Mask::first(crate::mask::LANES),
    };
    // Without a repeat stride every repeat touches the same bytes.
    let repeats = if w.rep == 0 { repeats.min(1) } else { repeats };
    if covers(w, &mask) {
        join.whole(base, w, repeats);
    } else {
        (0..u64::from(repeats)).for_each(|r| join.masked(base, w, r, &mask));
    }
    join.end();
}

/// Counter mode: whole repeats, then one that ends early.
fn counted<F: FnMut(u64, u64)>(
    base: u64,
    w: &Walk,
    (total, per_repeat): (u64, u16),
    repeats: u32,
    mut join: Join<F>,
) {
    let n = u64::from(per_repeat.max(1));
    let full = Mask::first(usize::from(per_repeat));
    let whole = (total / n).min(u64::from(repeats));
    if covers(w, &full) {
        join.whole(base, w, whole as u32);
    } else {
        (0..whole).for_each(|r| join.masked(base, w, r, &full));
    }
    if whole < u64::from(repeats) {
        join.masked(base, w, whole, &Mask::first((total - whole * n) as usize));
    }
    join.end();
}

/// Is every lane of the walk active?
fn covers(w: &Walk, mask: &Mask) -> bool {
    w.elem == 0 || mask.covers(w.lanes_per_block() * usize::from(w.blocks))
}

/// Joins ranges that follow each other.
struct Join<F> {
    open: Option<(u64, u64)>,
    f: F,
}

impl<F: FnMut(u64, u64)> Join<F> {
    fn put(&mut self, start: u64, end: u64) {
        match &mut self.open {
            Some(o) if o.1 == start => o.1 = end,
            _ => {
                if let Some((a, b)) = self.open.replace((start, end)) {
                    (self.f)(a, b);
                }
            }
        }
    }

    fn end(mut self) {
        if let Some((a, b)) = self.open.take().filter(|(a, b)| a < b) {
            (self.f)(a, b);
        }
    }

    /// Repeats of which every piece is touched whole.
    fn whole(&mut self, base: u64, w: &Walk, repeats: u32) {
        let (unit, blocks) = (u64::from(w.unit), u64::from(w.blocks));
        let blk = i64::from(w.blk) as u64;
        let together = blocks == 1 || blk == unit;
        let span = unit.wrapping_mul(blocks);
        if blocks == 0 || unit == 0 {
            return;
        }
        for r in 0..u64::from(repeats) {
            let at = base.wrapping_add((w.rep as u64).wrapping_mul(r));
            if together {
                self.put(at, at.saturating_add(span));
                continue;
            }
            for b in 0..blocks {
                let at = at.wrapping_add(blk.wrapping_mul(b));
                self.put(at, at.saturating_add(unit));
            }
        }
    }

    fn masked(&mut self, base: u64, w: &Walk, r: u64, mask: &Mask) {
        w.runs(base, r, mask, |_, at, n| self.put(at, at.saturating_add(n as u64)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Role, Space};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn bytes(base: u64, w: &Walk, lanes: &Lanes, repeats: u32) -> BTreeSet<u64> {
        let mut out = BTreeSet::new();
        runs(base, w, lanes, repeats, |a, b| {
            assert!(a < b);
            out.extend(a..b);
        });
        out
    }

    /// Lane by lane, as the machine computes.
    fn lanewise(base: u64, w: &Walk, lanes: &Lanes, repeats: u32) -> BTreeSet<u64> {
        let mut out = BTreeSet::new();
        let (n, e) = (w.lanes_per_block(), u64::from(w.elem));
        for r in 0..u64::from(repeats) {
            for b in 0..usize::from(w.blocks) {
                let at = w.addr(base, r, b).unwrap_or(0);
                if n == 0 {
                    out.extend(at..at + u64::from(w.unit));
                }
                for lane in (0..n).filter(|l| lanes.of_repeat(r).get(b * n + l)) {
                    out.extend(at + lane as u64 * e..at + (lane as u64 + 1) * e);
                }
            }
        }
        out
    }

    #[test]
    fn dense_repeats_are_one_run() {
        let w = Walk {
            space: Space::Ub,
            role: Role::Read,
            elem: 4,
            blocks: 8,
            unit: 32,
            blk: 32,
            rep: 256,
        };
        let mut seen = Vec::new();
        runs(64, &w, &Lanes::Count { total: 130, per_repeat: 64 }, 3, |a, b| seen.push((a, b)));
        assert_eq!(seen, [(64, 64 + 130 * 4)]);
    }

    proptest! {
        #[test]
        fn exactly_the_active_lanes(
            elem in prop::sample::select(vec![0u8, 1, 2, 4, 8]),
            (blocks, blk, rep) in (1u16..9, 0i32..12, 0i64..20),
            (words, which, total, repeats) in (any::<[u64; 2]>(), 0u8..4, 0u64..300, 0u32..6),
        ) {
            let w = Walk { space: Space::Ub, role: Role::Read, elem, blocks, unit: 32,
                           blk: 32 * blk, rep: 32 * rep };
            let per_repeat = 256 / u16::from(elem.max(1));
            let lanes = match which {
                0 => Lanes::All,
                1 => Lanes::Norm(Mask::first(usize::from(per_repeat))),
                2 => Lanes::Norm(Mask::from_words([words[0], words[1], 0, 0])),
                _ => Lanes::Count { total, per_repeat },
            };
            let repeats = match lanes {
                Lanes::Count { .. } => total.div_ceil(u64::from(per_repeat)) as u32,
                _ => repeats,
            };
            prop_assert_eq!(bytes(4096, &w, &lanes, repeats), lanewise(4096, &w, &lanes, repeats));
        }
    }
}
