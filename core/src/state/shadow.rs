//! The shadow of a memory: one defined bit per byte, and the last writer.
//!
//! The writer is kept per 32-byte block and refined per byte only for blocks that several records
//! share. bitvec stays inside; ranges work on its raw words.

use bitvec::prelude::{BitVec, Lsb0};

/// "No record wrote this byte": initial contents.
pub const WRITER_NONE: u32 = u32::MAX;

const BLOCK: usize = 32;
/// Set in a block's writer when the rest is an index of `refined`.
const REFINED: u32 = 1 << 31;

/// Defined bits and last writers of a memory.
#[derive(Clone, Debug)]
pub struct Shadow {
    size: usize,
    defined: BitVec<u64, Lsb0>,
    writer: Vec<u32>,
    refined: Vec<[u32; BLOCK]>,
    free: Vec<u32>,
    /// Nothing is kept: every byte counts as defined, and nobody wrote it.
    off: bool,
}

impl Shadow {
    /// Shadow of `size` bytes, none defined, none written.
    pub fn new(size: usize) -> Self {
        Shadow {
            size,
            defined: BitVec::repeat(false, size.next_multiple_of(64)),
            writer: vec![WRITER_NONE; size.div_ceil(BLOCK)],
            refined: Vec::new(),
            free: Vec::new(),
            off: false,
        }
    }

    /// Keeps nothing from here on: every byte counts as defined, and nobody wrote it.
    pub fn switch_off(&mut self) {
        self.off = true;
    }

    /// Back to none defined, none written.
    pub fn clear(&mut self) {
        self.off = false;
        self.defined.as_raw_mut_slice().fill(0);
        self.writer.fill(WRITER_NONE);
        self.refined.clear();
        self.free.clear();
    }

    /// Defined bits of the 32-byte block `block`, bit i for byte i; 0 beyond the memory.
    #[inline]
    pub fn block(&self, block: usize) -> u32 {
        if self.off {
            return u32::MAX;
        }
        let word = self.defined.as_raw_slice().get(block / 2).copied().unwrap_or(0);
        (word >> (32 * (block % 2))) as u32
    }

    /// Marks the bytes of `block` that `bytes` selects: defined as `bits` says, last written by
    /// `writer`.
    #[inline]
    pub fn set_block(&mut self, block: usize, bytes: u32, bits: u32, writer: u32) {
        if bytes == 0 || self.off {
            return;
        }
        let shift = 32 * (block % 2);
        let Some(word) = self.defined.as_raw_mut_slice().get_mut(block / 2) else { return };
        *word = *word & !(u64::from(bytes) << shift) | u64::from(bits & bytes) << shift;
        self.set_writer(block, bytes, writer);
    }

    #[inline]
    fn set_writer(&mut self, block: usize, bytes: u32, writer: u32) {
        let Some(slot) = self.writer.get_mut(block) else { return };
        let old = *slot;
        if bytes == u32::MAX {
            *slot = writer;
            if is_refined(old) {
                self.free.push(old & !REFINED);
            }
            return;
        }
        if old == writer {
            return;
        }
        let index = if is_refined(old) {
            old & !REFINED
        } else {
            let index = self.free.pop().unwrap_or_else(|| {
                self.refined.push([WRITER_NONE; BLOCK]);
                self.refined.len() as u32 - 1
            });
            self.refined[index as usize] = [old; BLOCK];
            *slot = REFINED | index;
            index
        };
        let each = &mut self.refined[index as usize];
        let mut left = bytes;
        while left != 0 {
            each[left.trailing_zeros() as usize] = writer;
            left &= left - 1;
        }
    }

    /// Marks `start..end` as defined (or not), last written by `writer`; bytes beyond the memory
    /// are left out.
    #[inline]
    pub fn set(&mut self, start: u64, end: u64, defined: bool, writer: u32) {
        let (start, end) =
            (start.min(self.size as u64) as usize, end.min(self.size as u64) as usize);
        if start >= end || self.off {
            return;
        }
        let words = self.defined.as_raw_mut_slice();
        let (head, whole, tail) = split::<64>(start, end);
        words[whole].fill(if defined { u64::MAX } else { 0 });
        for (word, bits) in [head, tail].into_iter().flatten() {
            words[word] = if defined { words[word] | bits } else { words[word] & !bits };
        }
        let (head, whole, tail) = split::<32>(start, end);
        self.set_writers(whole, writer);
        for (block, bytes) in [head, tail].into_iter().flatten() {
            self.set_writer(block, bytes as u32, writer);
        }
    }

    fn set_writers(&mut self, blocks: std::ops::Range<usize>, writer: u32) {
        let slots = &mut self.writer[blocks];
        if self.refined.len() > self.free.len() {
            self.free.extend(slots.iter().filter(|w| is_refined(**w)).map(|w| w & !REFINED));
        }
        slots.fill(writer);
    }

    /// Marks `n` bytes at `to` as defined where those at `from` are, last written by `writer`.
    pub fn copy(&mut self, from: u64, to: u64, n: u64, writer: u32) {
        if self.off {
            return;
        }
        if self.is_defined(from, from.saturating_add(n)) {
            return self.set(to, to.saturating_add(n), true, writer);
        }
        let bits: Vec<bool> =
            (from..from.saturating_add(n)).map(|b| self.is_defined(b, b + 1)).collect();
        for (k, on) in bits.into_iter().enumerate() {
            self.set(to + k as u64, to + k as u64 + 1, on, writer);
        }
    }

    /// The same from another memory's shadow.
    pub fn copy_from(&mut self, other: &Shadow, from: u64, to: u64, n: u64, writer: u32) {
        if self.off {
            return;
        }
        if other.is_defined(from, from.saturating_add(n)) {
            return self.set(to, to.saturating_add(n), true, writer);
        }
        for k in 0..n {
            let on = other.is_defined(from + k, from + k + 1);
            self.set(to + k, to + k + 1, on, writer);
        }
    }

    /// Are all bytes of `start..end` defined? Bytes beyond the memory are not.
    #[inline]
    pub fn is_defined(&self, start: u64, end: u64) -> bool {
        if self.off {
            return true;
        }
        if end > self.size as u64 || start >= end {
            return start >= end;
        }
        let words = self.defined.as_raw_slice();
        let (head, whole, tail) = split::<64>(start as usize, end as usize);
        words[whole].iter().all(|w| *w == u64::MAX)
            && [head, tail].into_iter().flatten().all(|(w, bits)| words[w] & bits == bits)
    }

    /// The first byte of `start..end` that is not defined.
    pub fn first_undefined(&self, start: u64, end: u64) -> Option<u64> {
        if self.off {
            return None;
        }
        let inside = end.min(self.size as u64).max(start);
        let words = self.defined.as_raw_slice();
        let found = pieces::<64>(start as usize, inside as usize).find_map(|(w, bits)| {
            let missing = !words[w] & bits;
            (missing != 0).then(|| (w * 64) as u64 + u64::from(missing.trailing_zeros()))
        });
        found.or((inside < end).then_some(inside))
    }

    /// The first byte of `start..end` that a record wrote.
    pub fn first_written(&self, start: u64, end: u64) -> Option<u64> {
        let (start, end) = (start.min(self.size as u64), end.min(self.size as u64));
        let blocks = start as usize / BLOCK..(end as usize).div_ceil(BLOCK);
        let slots = self.writer.get(blocks.clone())?;
        blocks.zip(slots).filter(|(_, w)| **w != WRITER_NONE).find_map(|(b, _)| {
            let block = (b * BLOCK) as u64;
            let bytes = start.max(block)..end.min(block + BLOCK as u64);
            bytes.into_iter().find(|at| self.writer(*at) != WRITER_NONE)
        })
    }

    /// Record that last wrote the byte, or [`WRITER_NONE`].
    #[inline]
    pub fn writer(&self, at: u64) -> u32 {
        let slot =
            usize::try_from(at / BLOCK as u64).ok().and_then(|b| self.writer.get(b).copied());
        match slot {
            Some(w) if is_refined(w) => {
                self.refined[(w & !REFINED) as usize][(at % BLOCK as u64) as usize]
            }
            Some(w) => w,
            None => WRITER_NONE,
        }
    }
}

fn is_refined(writer: u32) -> bool {
    writer & REFINED != 0 && writer != WRITER_NONE
}

/// A word of the shadow and the bits of it that a range covers.
type Part = Option<(usize, u64)>;

/// `start..end` (not empty) as a partial first word, whole words and a partial last word of `N`
/// bytes each.
fn split<const N: usize>(start: usize, end: usize) -> (Part, std::ops::Range<usize>, Part) {
    let upto = |n: usize| if n >= 64 { u64::MAX } else { (1u64 << n) - 1 };
    let (first, last) = (start / N, end / N);
    let (lo, hi) = (start % N, end % N);
    if first == last {
        return (Some((first, upto(hi) & !upto(lo))), first..first, None);
    }
    let head = (lo != 0).then_some((first, upto(N) & !upto(lo)));
    let tail = (hi != 0).then_some((last, upto(hi)));
    (head, first + usize::from(lo != 0)..last, tail)
}

/// The `N`-byte words that `start..end` touches, each with its selected bytes.
fn pieces<const N: usize>(start: usize, end: usize) -> impl Iterator<Item = (usize, u64)> {
    let first = start / N;
    let last = if end > start { (end - 1) / N + 1 } else { first };
    let upto = |n: usize| if n >= 64 { u64::MAX } else { (1u64 << n) - 1 };
    (first..last).map(move |w| {
        let at = w * N;
        let lo = start.saturating_sub(at).min(N);
        let hi = (end - at).min(N);
        (w, upto(hi) & !upto(lo))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_bytes(writes in prop::collection::vec((0u64..300, 0u64..120, any::<bool>()), 1..40)) {
            let mut s = Shadow::new(256);
            let mut defined = vec![false; 500];
            let mut writer = vec![WRITER_NONE; 500];
            for (i, &(at, n, on)) in writes.iter().enumerate() {
                s.set(at, at + n, on, i as u32);
                for b in at..(at + n).min(256) {
                    defined[b as usize] = on;
                    writer[b as usize] = i as u32;
                }
            }
            for b in 0..300u64 {
                prop_assert_eq!(s.is_defined(b, b + 1), defined[b as usize]);
                prop_assert_eq!(s.writer(b), writer[b as usize]);
                let block = s.block(b as usize / 32) >> (b % 32) & 1 == 1;
                prop_assert_eq!(block, defined[b as usize]);
            }
            for (a, b) in [(0, 256), (40, 90), (200, 300), (60, 60)] {
                let first = (a..b).find(|i| !defined[*i as usize]);
                prop_assert_eq!(s.first_undefined(a, b), first);
                let written = (a..b).find(|i| writer[*i as usize] != WRITER_NONE);
                prop_assert_eq!(s.first_written(a, b), written);
                prop_assert_eq!(s.is_defined(a, b), first.is_none());
            }
        }
    }

    #[test]
    fn switched_off_everything_is_defined() {
        let mut s = Shadow::new(64);
        s.switch_off();
        s.set(0, 8, false, 1);
        assert_eq!((s.is_defined(0, 64), s.first_undefined(0, 64)), (true, None));
        assert_eq!((s.writer(0), s.block(1)), (WRITER_NONE, u32::MAX));
        s.clear();
        assert_eq!(s.first_undefined(0, 64), Some(0));
    }

    #[test]
    fn empty_ranges_touch_nothing() {
        let mut s = Shadow::new(64);
        s.set(5, 5, true, 0);
        assert_eq!(s.first_undefined(0, 64), Some(0));
        assert!(s.is_defined(7, 7));
    }

    #[test]
    fn refined_blocks_are_reused() {
        let mut s = Shadow::new(64);
        for i in 0..100 {
            s.set(0, 4, true, i);
            s.set(0, 32, true, i + 1000);
        }
        assert_eq!(s.refined.len(), 1);
        assert_eq!(s.writer(3), 1099);
    }
}
