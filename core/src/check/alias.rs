//! Overlap of a source and the destination of one instruction.

use super::bounds::extent;
use crate::access::{Lanes, Walk};
use crate::mask::Mask;
use rustc_hash::FxHashMap;

/// What overlaps; both ends name a byte and the repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// Repeat whose reads and writes overlap without being the same elements, and a shared byte.
    pub within: Option<(u64, u64)>,
    /// In every such repeat the destination lies at or below the source (compaction).
    pub downward: bool,
    /// Reading repeat, an earlier repeat that wrote the byte, the byte.
    pub across: Option<(u64, u64, u64)>,
}

impl Overlap {
    /// True if nothing overlaps in a way the rules forbid.
    pub fn is_clean(&self) -> bool {
        self.within.is_none() && self.across.is_none()
    }
}

/// Same bytes in the same lanes for every repeat?
pub fn identical(dst: (u64, &Walk), src: (u64, &Walk)) -> bool {
    let key = |w: &Walk| (w.elem, w.blocks, w.unit, w.blk, w.rep);
    dst.0 == src.0 && key(dst.1) == key(src.1)
}

/// Do the bytes that lie between the ends of both walks stay apart?
pub fn disjoint(dst: (u64, &Walk), src: (u64, &Walk), repeats: u64) -> bool {
    let (a, b) = (extent(dst.0, dst.1, repeats), extent(src.0, src.1, repeats));
    a.1 <= b.0 || b.1 <= a.0 || interleaved(dst, src)
}

/// Rows of equal pitch that never meet, whatever the number of repeats.
fn interleaved(dst: (u64, &Walk), src: (u64, &Walk)) -> bool {
    let pitch = i128::from(dst.1.rep);
    if dst.1.rep != src.1.rep || pitch <= 0 {
        return false;
    }
    let (a, b) = (extent(dst.0, dst.1, 1), extent(src.0, src.1, 1));
    let offset = (b.0 - a.0).rem_euclid(pitch);
    offset >= a.1 - a.0 && offset + (b.1 - b.0) <= pitch
}

/// No repeat of the walk touches bytes of another?
pub fn repeats_apart(walk: &Walk) -> bool {
    let span =
        i64::from(walk.blk.unsigned_abs()) * (i64::from(walk.blocks) - 1) + i64::from(walk.unit);
    walk.rep.unsigned_abs() >= span.unsigned_abs()
}

/// Examines one source against the destination.
pub fn examine(dst: (u64, &Walk), src: (u64, &Walk), repeats: u64, lanes: &Lanes) -> Overlap {
    let mut found = Overlap { downward: true, ..Overlap::default() };
    let same = identical(dst, src);
    if disjoint(dst, src, repeats) || same && (repeats == 1 || repeats_apart(dst.1)) {
        return found;
    }
    let forward = reads_stay_ahead(dst, src, repeats);
    let mut written: FxHashMap<u64, (u32, u64)> = FxHashMap::default();
    let mut reads: Vec<(u64, u32)> = Vec::new();
    for r in 0..repeats {
        if forward && !meet(dst, src, r) {
            continue;
        }
        let mask = lanes.of_repeat(r);
        reads.clear();
        blocks(src, r, mask, |block, bytes| {
            if let Some(&(old, by)) = written.get(&block)
                && old & bytes != 0
                && found.across.is_none()
            {
                let at = block * 32 + u64::from((old & bytes).trailing_zeros());
                found.across = Some((r, by, at));
            }
            reads.push((block, bytes));
        });
        let mut shared = None;
        blocks(dst, r, mask, |block, bytes| {
            let common =
                |&(b, read): &(u64, u32)| (b == block && read & bytes != 0).then_some(read & bytes);
            if shared.is_none() {
                let bits = reads.iter().find_map(common);
                shared = bits.map(|c| block * 32 + u64::from(c.trailing_zeros()));
            }
            if !forward {
                let slot = written.entry(block).or_default();
                *slot = (slot.0 | bytes, r);
            }
        });
        if let Some(at) = shared.filter(|_| !same_lanes(dst, src, r, mask)) {
            found.within.get_or_insert((r, at));
            found.downward &= below(dst, src, r, mask);
        }
    }
    found
}

/// Ends of one repeat.
fn ends((base, walk): (u64, &Walk), r: u64) -> (i128, i128) {
    walk.reach(base, r, r.saturating_add(1))
}

/// Does everything a repeat reads lie above everything earlier repeats wrote?
fn reads_stay_ahead(dst: (u64, &Walk), src: (u64, &Walk), repeats: u64) -> bool {
    // The distance changes by the same step with every repeat: the first and the last decide.
    let ahead = |r: u64| ends(dst, r - 1).1 <= ends(src, r).0;
    dst.1.rep >= 0 && src.1.rep >= 0 && repeats > 1 && ahead(1) && ahead(repeats - 1)
}

/// Do the ends of both walks overlap in this repeat?
fn meet(dst: (u64, &Walk), src: (u64, &Walk), r: u64) -> bool {
    let (a, b) = (ends(dst, r), ends(src, r));
    a.0 < b.1 && b.0 < a.1
}

/// Calls `f(block, selected bytes)` for every 32-byte block a repeat touches.
fn blocks((base, walk): (u64, &Walk), r: u64, mask: Mask, mut f: impl FnMut(u64, u32)) {
    walk.runs(base, r, &mask, |_, at, len| {
        let end = at.saturating_add(len as u64);
        let mut a = at;
        while a < end {
            let stop = end.min((a / 32 + 1) * 32);
            let n = (stop - a) as u32;
            let bits = if n >= 32 { u32::MAX } else { ((1u32 << n) - 1) << (a % 32) };
            f(a / 32, bits);
            a = stop;
        }
    });
}

fn same_lanes(dst: (u64, &Walk), src: (u64, &Walk), r: u64, mask: Mask) -> bool {
    let shape = |w: &Walk| (w.elem, w.blocks, w.unit);
    shape(dst.1) == shape(src.1)
        && (0..usize::from(dst.1.blocks))
            .filter(|&b| dst.1.block_active(&mask, b))
            .all(|b| dst.1.addr(dst.0, r, b) == src.1.addr(src.0, r, b))
}

/// No destination piece starts above the source piece of the same number.
fn below(dst: (u64, &Walk), src: (u64, &Walk), r: u64, mask: Mask) -> bool {
    let n = usize::from(dst.1.blocks.min(src.1.blocks));
    (0..n)
        .filter(|&b| src.1.block_active(&mask, b))
        .all(|b| dst.1.addr(dst.0, r, b) <= src.1.addr(src.0, r, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Role, Space};

    const D: Walk = Walk {
        space: Space::Ub,
        role: Role::Write,
        elem: 4,
        blocks: 8,
        unit: 32,
        blk: 32,
        rep: 256,
    };

    #[test]
    fn exact_alias_and_disjoint_are_clean() {
        assert!(examine((0, &D), (0, &D), 4, &Lanes::All).is_clean());
        assert!(examine((0, &D), (1024, &D), 4, &Lanes::All).is_clean());
    }

    #[test]
    fn rows_side_by_side_are_apart() {
        let row = Walk { rep: 512, ..D };
        assert!(disjoint((0, &row), (256, &row), 9));
        assert!(disjoint((256, &row), (0, &row), 9));
        assert!(disjoint((0, &row), (2560 + 256, &row), 9));
        assert!(!disjoint((0, &row), (224, &row), 9));
        assert!(!disjoint((224, &row), (0, &row), 9));
        assert!(!disjoint((0, &row), (1024, &row), 9));
    }

    #[test]
    fn shifted_by_a_block_reads_what_an_earlier_repeat_wrote() {
        let o = examine((32, &D), (0, &D), 2, &Lanes::All);
        assert_eq!(o.across, Some((1, 0, 256)));
        assert!(o.within.is_some() && !o.downward);
    }

    #[test]
    fn compaction_of_the_shipped_trees_is_downward_and_never_rereads() {
        // Group results of repeat r go to block r while repeat r reads blocks 8r to 8r+7.
        let out = Walk { elem: 0, blocks: 1, unit: 32, blk: 0, rep: 32, ..D };
        let o = examine((0, &out), (0, &D), 16, &Lanes::All);
        assert_eq!((o.across, o.downward), (None, true));
        assert!(o.within.is_some());
        // Every other block against its neighbour.
        let wide = Walk { blk: 64, rep: 512, ..D };
        for base in [0, 32] {
            let o = examine((0, &D), (base, &wide), 8, &Lanes::All);
            assert_eq!((o.across, o.downward), (None, true));
        }
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_bytes(
            d in 0u64..40, s in 0u64..40, reps in [-9i64..20, -9i64..20], blks in [0i32..4, 0i32..4],
            repeats in 1u64..7, n in 1usize..65,
        ) {
            let walk = |k: usize| Walk { rep: 32 * reps[k], blk: 32 * blks[k], ..D };
            let (dst, src) = ((0x2000 + 32 * d, walk(0)), (0x2000 + 32 * s, walk(1)));
            let mask = Mask::first(n);
            let bytes = |(base, w): (u64, Walk), r| {
                let mut out = std::collections::BTreeSet::new();
                blocks((base, &w), r, mask, |b, bits| {
                    out.extend((0..32).filter(|i| bits >> i & 1 == 1).map(|i| b * 32 + i));
                });
                out
            };
            let (mut written, mut across, mut within) = (std::collections::BTreeSet::new(), false, false);
            for r in 0..repeats {
                let (w, x) = (bytes(dst, r), bytes(src, r));
                across |= x.iter().any(|b| written.contains(b));
                within |= x.iter().any(|b| w.contains(b)) && !same_lanes((dst.0, &dst.1), (src.0, &src.1), r, mask);
                written.extend(w);
            }
            let o = examine((dst.0, &dst.1), (src.0, &src.1), repeats, &Lanes::Norm(mask));
            proptest::prop_assert_eq!((o.across.is_some(), o.within.is_some()), (across, within));
        }
    }

    #[test]
    fn repeat_stride_zero_is_an_accumulation() {
        let acc = Walk { rep: 0, ..D };
        let o = examine((0, &acc), (0, &acc), 3, &Lanes::All);
        assert_eq!(o.across.map(|a| (a.0, a.1)), Some((1, 0)));
        assert_eq!(o.within, None);
    }
}
