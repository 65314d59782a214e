//! Short cut for regular operands: the groups one repeat touches, relative to its first block.

use super::{Geometry, Plane};
use crate::access::{Lanes, Walk};

/// What is known of an operand before its repeats are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Whole blocks in different groups: their groups relative to the base's, and the bytes from
    /// the base to the lowest and to one past the highest of them. Not for repeats from `until` on.
    Blocks { mask: u64, low: i64, high: i64, until: u64 },
    /// Anything else.
    General,
}

impl Pattern {
    pub(super) fn of(base: u64, walk: Walk, lanes: Lanes, g: Geometry) -> Pattern {
        let block = g.block as i64;
        let aligned = |v: i64| v % block == 0;
        let whole = aligned(base as i64) && aligned(walk.rep) && aligned(i64::from(walk.blk));
        if block == 0 || !whole || u64::from(walk.unit) > g.block || g.groups > 64 {
            return Pattern::General;
        }
        let (active, until) = match lanes {
            Lanes::All => (lanes.of_repeat(0), u64::MAX),
            Lanes::Norm(m) => (m, u64::MAX),
            Lanes::Count { total, per_repeat } => {
                (lanes.of_repeat(0), total / u64::from(per_repeat.max(1)))
            }
        };
        let (mut mask, mut low, mut high) = (0u64, i64::MAX, i64::MIN);
        let mut seen = [None; 64];
        for b in (0..usize::from(walk.blocks)).filter(|&b| walk.block_active(&active, b)) {
            let at = i64::from(walk.blk) * b as i64;
            let group = (at / block).rem_euclid(g.groups as i64) as usize;
            if seen[group].is_some_and(|other| other != at) {
                return Pattern::General;
            }
            seen[group] = Some(at);
            mask |= 1 << group;
            (low, high) = (low.min(at), high.max(at + block));
        }
        if mask == 0 { Pattern::General } else { Pattern::Blocks { mask, low, high, until } }
    }

    /// The blocks of one repeat, if the short cut holds for it.
    pub(super) fn plane(&self, base: u64, walk: Walk, repeat: u64, g: Geometry) -> Option<Plane> {
        let Pattern::Blocks { mask, low, high, until } = *self else { return None };
        if repeat >= until {
            return None;
        }
        let at = walk.addr(base, repeat, 0)?;
        let first = at.checked_add_signed(low)? / g.layer;
        if at.checked_add_signed(high - 1)? / g.layer != first {
            return None;
        }
        Some(Plane { layer: first, mask: rotate(mask, (at / g.block) % g.groups, g.groups) })
    }
}

/// Rotates the low `n` bits of `mask` up by `by < n`.
fn rotate(mask: u64, by: u64, n: u64) -> u64 {
    let all = if n >= 64 { u64::MAX } else { (1 << n) - 1 };
    let low = if by == 0 { 0 } else { mask >> (n - by) };
    (mask << by | low) & all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_stays_in_its_ring() {
        assert_eq!(rotate(0xFF, 12, 16), 0xF00F);
        assert_eq!(rotate(0x8001, 0, 16), 0x8001);
        assert_eq!(rotate(1 << 63, 1, 64), 1);
    }
}
