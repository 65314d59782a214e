//! The shadow of a memory: one defined bit per byte, and the last writer.
//!
//! The writer is kept per 32-byte block and refined per byte only for blocks that several records
//! share. bitvec stays inside; block-sized queries work on raw 32-bit halves of its words.

use bitvec::prelude::{BitVec, Lsb0};
use rustc_hash::FxHashMap;

/// "No record wrote this byte": initial contents.
pub const WRITER_NONE: u32 = u32::MAX;

const BLOCK: usize = 32;

/// Defined bits and last writers of a memory.
#[derive(Clone, Debug)]
pub struct Shadow {
    defined: BitVec<u64, Lsb0>,
    writer: Vec<u32>,
    shared: FxHashMap<u32, Box<[u32; BLOCK]>>,
}

impl Shadow {
    /// Shadow of `size` bytes, none defined, none written.
    pub fn new(size: usize) -> Self {
        Shadow {
            defined: BitVec::repeat(false, size.next_multiple_of(64)),
            writer: vec![WRITER_NONE; size.div_ceil(BLOCK)],
            shared: FxHashMap::default(),
        }
    }

    /// Defined bits of the 32-byte block `block`, bit i for byte i; 0 beyond the memory.
    pub fn block(&self, block: usize) -> u32 {
        let word = self.defined.as_raw_slice().get(block / 2).copied().unwrap_or(0);
        (word >> (32 * (block % 2))) as u32
    }

    /// Marks the bytes of `block` that `bytes` selects: defined as `bits` says, last written by
    /// `writer`.
    pub fn set_block(&mut self, block: usize, bytes: u32, bits: u32, writer: u32) {
        if bytes == 0 {
            return;
        }
        let shift = 32 * (block % 2);
        let Some(word) = self.defined.as_raw_mut_slice().get_mut(block / 2) else { return };
        *word = *word & !(u64::from(bytes) << shift) | u64::from(bits & bytes) << shift;
        self.set_writer(block, bytes, writer);
    }

    fn set_writer(&mut self, block: usize, bytes: u32, writer: u32) {
        let Some(slot) = self.writer.get_mut(block) else { return };
        if bytes == u32::MAX {
            *slot = writer;
            if !self.shared.is_empty() {
                self.shared.remove(&(block as u32));
            }
        } else if *slot != writer || self.shared.contains_key(&(block as u32)) {
            let old = *slot;
            let each = self.shared.entry(block as u32).or_insert_with(|| Box::new([old; BLOCK]));
            for (i, w) in each.iter_mut().enumerate() {
                if bytes >> i & 1 == 1 {
                    *w = writer;
                }
            }
        }
    }

    /// Marks `start..end` as defined (or not), last written by `writer`.
    pub fn set(&mut self, start: u64, end: u64, defined: bool, writer: u32) {
        for (block, bytes) in blocks(start, end) {
            self.set_block(block, bytes, if defined { u32::MAX } else { 0 }, writer);
        }
    }

    /// Are all bytes of `start..end` defined?
    pub fn is_defined(&self, start: u64, end: u64) -> bool {
        blocks(start, end).all(|(b, bytes)| self.block(b) & bytes == bytes)
    }

    /// The first byte of `start..end` that is not defined.
    pub fn first_undefined(&self, start: u64, end: u64) -> Option<u64> {
        blocks(start, end).find_map(|(b, bytes)| {
            let missing = !self.block(b) & bytes;
            (missing != 0).then(|| (b * BLOCK) as u64 + u64::from(missing.trailing_zeros()))
        })
    }

    /// Record that last wrote the byte, or [`WRITER_NONE`].
    pub fn writer(&self, at: u64) -> u32 {
        let (block, byte) = ((at / BLOCK as u64) as u32, (at % BLOCK as u64) as usize);
        match self.shared.get(&block) {
            Some(each) => each[byte],
            None => self.writer.get(block as usize).copied().unwrap_or(WRITER_NONE),
        }
    }
}

/// Blocks that `start..end` touches, each with its selected bytes.
fn blocks(start: u64, end: u64) -> impl Iterator<Item = (usize, u32)> {
    let first = start / BLOCK as u64;
    let last = if end > start { (end - 1) / BLOCK as u64 + 1 } else { first };
    (first..last).map(move |b| {
        let at = b * BLOCK as u64;
        let lo = start.saturating_sub(at).min(BLOCK as u64) as u32;
        let hi = (end - at).min(BLOCK as u64) as u32;
        let upto = |n: u32| if n >= 32 { u32::MAX } else { (1u32 << n) - 1 };
        (b as usize, upto(hi) & !upto(lo))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_bytes(writes in prop::collection::vec((0u64..256, 0u64..80, any::<bool>()), 1..40)) {
            let mut s = Shadow::new(256);
            let mut defined = vec![false; 400];
            let mut writer = vec![WRITER_NONE; 400];
            for (i, &(at, n, on)) in writes.iter().enumerate() {
                let end = (at + n).min(256);
                s.set(at, end, on, i as u32);
                for b in at..end {
                    defined[b as usize] = on;
                    writer[b as usize] = i as u32;
                }
            }
            for b in 0..256u64 {
                prop_assert_eq!(s.is_defined(b, b + 1), defined[b as usize]);
                prop_assert_eq!(s.writer(b), writer[b as usize]);
            }
            let first = (0..256u64).find(|b| !defined[*b as usize]);
            prop_assert_eq!(s.first_undefined(0, 256), first);
        }
    }

    #[test]
    fn empty_ranges_touch_nothing() {
        let mut s = Shadow::new(64);
        s.set(5, 5, true, 0);
        assert_eq!(s.first_undefined(0, 64), Some(0));
        assert!(s.is_defined(7, 7));
    }
}
