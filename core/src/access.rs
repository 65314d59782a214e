//! The repeat / block walk: which bytes an operand touches.
//!
//! Execution, checks and timing all read operands through this one description, so that what is
//! computed, what is checked and what is charged are the same bytes.

use crate::mask::Mask;

/// Bytes of one block.
pub const BLOCK: u64 = 32;
/// Blocks one repeat covers.
pub const BLOCKS_PER_REPEAT: usize = 8;
/// Bytes one repeat covers.
pub const REPEAT_BYTES: u64 = 256;

/// Memory an operand lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Space {
    /// Unified Buffer.
    Ub,
    /// Global memory.
    Gm,
}

/// What an instruction does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Role {
    /// Only read.
    Read,
    /// Only written.
    Write,
    /// Read, then written (accumulating instructions).
    Update,
}

/// Shape of one operand's walk: `repeats` times `blocks` pieces of `unit` bytes.
///
/// Piece `b` of repeat `r` starts at `base + r*rep + b*blk`. With `elem > 0` the piece holds
/// `unit / elem` masked lanes, and lane `i` of the repeat is element `i % (unit/elem)` of block
/// `i / (unit/elem)`; with `elem == 0` the piece is moved whatever the mask says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Walk {
    /// Memory walked.
    pub space: Space,
    /// Read, written or both.
    pub role: Role,
    /// Bytes per lane; 0 if the mask does not apply.
    pub elem: u8,
    /// Pieces per repeat.
    pub blocks: u16,
    /// Contiguous bytes per piece.
    pub unit: u32,
    /// Bytes from piece to piece.
    pub blk: i32,
    /// Bytes from repeat to repeat.
    pub rep: i64,
}

impl Walk {
    /// First byte of piece `b` of repeat `r`, or `None` beyond the 64-bit address range.
    #[inline]
    pub fn addr(&self, base: u64, r: u64, b: usize) -> Option<u64> {
        let rep = i128::from(self.rep) * i128::from(r);
        let at = i128::from(base) + rep + i128::from(self.blk) * b as i128;
        u64::try_from(at).ok()
    }

    /// Lowest and one past the highest byte any piece of repeats `from..to` could touch, masks left
    /// aside; may lie below zero or beyond 64 bits. `(0, 0)` if there are no pieces.
    #[inline]
    pub fn reach(&self, base: u64, from: u64, to: u64) -> (i128, i128) {
        if from >= to || self.blocks == 0 || self.unit == 0 {
            return (0, 0);
        }
        let rep = |r: u64| i128::from(self.rep) * i128::from(r);
        let (near, far) = (rep(from), rep(to - 1));
        let far_b = i128::from(self.blk) * i128::from(self.blocks - 1);
        let lo = i128::from(base) + near.min(far) + far_b.min(0);
        let hi = i128::from(base) + near.max(far) + far_b.max(0) + i128::from(self.unit);
        (lo, hi)
    }

    /// The reach of `repeats` repeats as addresses; `None` if there are no pieces or one leaves the
    /// 64-bit range.
    #[inline]
    pub fn extent(&self, base: u64, repeats: u64) -> Option<(u64, u64)> {
        let (lo, hi) = self.reach(base, 0, repeats);
        let ends = (u64::try_from(lo).ok()?, u64::try_from(hi).ok()?);
        (ends.0 < ends.1).then_some(ends)
    }

    /// Lanes one piece holds (0 for unmasked walks).
    #[inline]
    pub fn lanes_per_block(&self) -> usize {
        if self.elem == 0 { 0 } else { self.unit as usize / self.elem as usize }
    }

    /// Does `mask` leave anything of piece `b` active?
    #[inline]
    pub fn block_active(&self, mask: &Mask, b: usize) -> bool {
        let n = self.lanes_per_block();
        n == 0 || mask.bits(b * n, n) != 0
    }

    /// Calls `f(first lane, address, bytes)` for every run of contiguous active bytes of repeat `r`.
    ///
    /// Addresses are those of a walk already known to stay inside its memory. Unmasked walks give
    /// one run per piece, with the lane counted in bytes.
    pub fn runs(&self, base: u64, r: u64, mask: &Mask, mut f: impl FnMut(usize, u64, usize)) {
        let at = base.wrapping_add((self.rep as u64).wrapping_mul(r));
        let unit = self.unit as usize;
        let n = self.lanes_per_block();
        for b in 0..usize::from(self.blocks) {
            let at = at.wrapping_add((i64::from(self.blk) as u64).wrapping_mul(b as u64));
            if n == 0 {
                f(b * unit, at, unit);
                continue;
            }
            let mut bits = mask.bits(b * n, n);
            let mut lane = 0;
            while bits != 0 {
                let skip = bits.trailing_zeros() as usize;
                let len = (!(bits >> skip)).trailing_zeros() as usize;
                lane += skip;
                let e = usize::from(self.elem);
                f(b * n + lane, at.wrapping_add((lane * e) as u64), len * e);
                lane += len;
                bits = bits.checked_shr((skip + len) as u32).unwrap_or(0);
            }
        }
    }

    /// Byte range of the pieces of repeat `r` that `mask` leaves active: `(start, end)`.
    ///
    /// For a partly active piece the range spans its first to its last active lane.
    pub fn pieces(self, base: u64, r: u64, mask: Mask) -> impl Iterator<Item = (usize, u64, u64)> {
        let n = self.lanes_per_block();
        (0..self.blocks as usize).filter_map(move |b| {
            let at = self.addr(base, r, b)?;
            if n == 0 {
                return Some((b, at, at.saturating_add(u64::from(self.unit))));
            }
            let bits = mask.bits(b * n, n);
            if bits == 0 {
                return None;
            }
            let (first, last) = (bits.trailing_zeros(), 63 - bits.leading_zeros());
            let e = u64::from(self.elem);
            Some((
                b,
                at.saturating_add(u64::from(first) * e),
                at.saturating_add((u64::from(last) + 1) * e),
            ))
        })
    }
}

/// Which lanes each repeat of an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// Every lane of every repeat; the instruction ignores MASK.
    All,
    /// Norm mode: the same lanes in every repeat.
    Norm(Mask),
    /// Counter mode: this many elements in all, `per_repeat` of them in each repeat.
    Count {
        /// Total elements.
        total: u64,
        /// Elements one repeat holds.
        per_repeat: u16,
    },
}

impl Lanes {
    /// Active lanes of repeat `r`.
    #[inline]
    pub fn of_repeat(&self, r: u64) -> Mask {
        match *self {
            Lanes::All => Mask::first(crate::mask::LANES),
            Lanes::Norm(m) => m,
            Lanes::Count { total, per_repeat } => {
                let before = r.saturating_mul(u64::from(per_repeat));
                Mask::first(total.saturating_sub(before).min(u64::from(per_repeat)) as usize)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENSE: Walk = Walk {
        space: Space::Ub,
        role: Role::Read,
        elem: 4,
        blocks: 8,
        unit: 32,
        blk: 32,
        rep: 256,
    };

    #[test]
    fn partly_active_block_is_cut_to_its_lanes() {
        let pieces: Vec<_> = DENSE.pieces(0x100, 1, Mask::first(10)).collect();
        assert_eq!(pieces, [(0, 0x200, 0x220), (1, 0x220, 0x228)]);
    }

    #[test]
    fn counter_mode_shortens_the_last_repeat() {
        let lanes = Lanes::Count { total: 70, per_repeat: 64 };
        assert_eq!(lanes.of_repeat(0).count(), 64);
        assert_eq!(lanes.of_repeat(1).count(), 6);
        assert_eq!(lanes.of_repeat(2).count(), 0);
    }

    #[test]
    fn extent_spans_all_pieces() {
        assert_eq!(DENSE.extent(0x100, 2), Some((0x100, 0x300)));
        assert_eq!(DENSE.extent(0x100, 0), None);
        let back = Walk { rep: -256, ..DENSE };
        assert_eq!(back.extent(0x100, 2), Some((0, 0x200)));
        assert_eq!(back.extent(0, 2), None, "below zero");
        assert_eq!(back.reach(0, 1, 3), (-512, 0));
        assert_eq!(DENSE.reach(0x100, 1, 2), (0x200, 0x300));
    }

    #[test]
    fn addresses_below_zero_are_none() {
        let w = Walk { rep: -512, ..DENSE };
        assert_eq!(w.addr(256, 1, 0), None);
    }
}
