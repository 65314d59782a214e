//! Lane masks.
//!
//! `Mask` owns its bits (bitvec inside, raw words in hot loops), so that the representation can
//! change without touching its users.

use bitvec::prelude::{BitArray, Lsb0};

/// Lanes a mask can hold: 256 one-byte lanes of a 950 register; A2/A3 use the low 128.
pub const LANES: usize = 256;

/// A set of active lanes.
#[derive(Clone, Copy)]
pub struct Mask(BitArray<[u64; 4], Lsb0>);

// By words: the bit array would compare and hash bit by bit.
impl PartialEq for Mask {
    fn eq(&self, other: &Mask) -> bool {
        self.0.data == other.0.data
    }
}

impl Eq for Mask {}

impl std::hash::Hash for Mask {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.data.hash(state);
    }
}

impl Mask {
    /// No lane.
    pub const NONE: Mask = Mask(BitArray::ZERO);

    /// The first `n` lanes (all 256 when `n` is larger).
    #[inline]
    pub fn first(n: usize) -> Mask {
        let mut words = [0u64; 4];
        for (i, w) in words.iter_mut().enumerate() {
            let left = n.saturating_sub(64 * i);
            *w = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
        }
        Mask::from_words(words)
    }

    /// From raw words, word 0 holding lanes 0..63.
    #[inline]
    pub fn from_words(words: [u64; 4]) -> Mask {
        Mask(BitArray::new(words))
    }

    /// The A2/A3 MASK register: `hi` holds lanes 64..127.
    pub fn from_hi_lo(hi: u64, lo: u64) -> Mask {
        Mask::from_words([lo, hi, 0, 0])
    }

    /// Raw words, word 0 holding lanes 0..63.
    #[inline]
    pub fn words(&self) -> [u64; 4] {
        self.0.data
    }

    /// Is lane `i` active? Lanes beyond the mask are not.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        i < LANES && self.0.data[i / 64] >> (i % 64) & 1 == 1
    }

    /// Sets or clears lane `i`; lanes beyond the mask are ignored.
    pub fn set(&mut self, i: usize, on: bool) {
        if i < LANES {
            self.0.set(i, on);
        }
    }

    /// `n` if exactly the first `n` lanes are active.
    #[inline]
    pub fn prefix(&self) -> Option<usize> {
        let mut n = 0;
        for w in self.words() {
            let ones = w.trailing_ones() as usize;
            if n % 64 != 0 && w != 0 || ones < 64 && w >> ones != 0 {
                return None;
            }
            n += ones;
        }
        Some(n)
    }

    /// Number of active lanes.
    #[inline]
    pub fn count(&self) -> usize {
        self.0.data.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// True if no lane is active.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.data == [0; 4]
    }

    /// Are the first `n` lanes all active?
    #[inline]
    pub fn covers(&self, n: usize) -> bool {
        self.and(&Mask::first(n)) == Mask::first(n)
    }

    /// Lanes active in both.
    #[inline]
    pub fn and(&self, other: &Mask) -> Mask {
        let (a, b) = (self.words(), other.words());
        Mask::from_words(std::array::from_fn(|i| a[i] & b[i]))
    }

    /// `n <= 64` lanes starting at `at`, as the low bits of a word.
    #[inline]
    pub fn bits(&self, at: usize, n: usize) -> u64 {
        if at >= LANES || n == 0 {
            return 0;
        }
        let (w, s) = (at / 64, at % 64);
        let mut v = self.0.data[w] >> s;
        if s != 0 && w + 1 < 4 {
            v |= self.0.data[w + 1] << (64 - s);
        }
        if n >= 64 { v } else { v & ((1 << n) - 1) }
    }

    /// The lowest active lane.
    #[inline]
    pub fn lowest(&self) -> Option<usize> {
        let words = self.words();
        let i = words.iter().position(|w| *w != 0)?;
        Some(64 * i + words[i].trailing_zeros() as usize)
    }

    /// Active lanes in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        let words = self.words();
        (0..4).flat_map(move |i| {
            let mut w = words[i];
            std::iter::from_fn(move || {
                if w == 0 {
                    return None;
                }
                let bit = w.trailing_zeros() as usize;
                w &= w - 1;
                Some(64 * i + bit)
            })
        })
    }
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let w = self.words();
        write!(f, "Mask({:#x}_{:016x}_{:016x}_{:016x})", w[3], w[2], w[1], w[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_vector_of_bools(words in any::<[u64; 4]>(), at in 0usize..300, n in 0usize..65) {
            let m = Mask::from_words(words);
            let bools: Vec<bool> = (0..LANES).map(|i| words[i / 64] >> (i % 64) & 1 == 1).collect();
            prop_assert_eq!(m.count(), bools.iter().filter(|b| **b).count());
            let lanes: Vec<usize> = (0..LANES).filter(|&i| bools[i]).collect();
            prop_assert_eq!(m.iter().collect::<Vec<_>>(), lanes.clone());
            prop_assert_eq!(m.lowest(), lanes.first().copied());
            let straight = lanes.iter().enumerate().all(|(i, l)| i == *l).then_some(lanes.len());
            prop_assert_eq!(m.prefix(), straight);
            for i in 0..n {
                let want = at + i < LANES && bools[at + i];
                prop_assert_eq!(m.bits(at, n) >> i & 1 == 1, want);
                prop_assert_eq!(m.get(at + i), want);
            }
        }

        #[test]
        fn first_is_a_prefix(n in 0usize..300) {
            let m = Mask::first(n);
            prop_assert_eq!(m.count(), n.min(LANES));
            prop_assert!(m.covers(n.min(LANES)));
            prop_assert_eq!(m.prefix(), Some(n.min(LANES)));
            prop_assert!(n >= LANES || !m.get(n));
        }
    }
}
