//! Who touched each byte last: one map per memory, pipe and role.
//!
//! A value is the number of the record plus one; 0 is nobody. Whole 32-byte blocks hold one value;
//! a block of which only some bytes were touched is refined to bytes.

use crate::access::BLOCK;
use rustc_hash::FxHashMap;

/// Blocks of one page: 128 KB of addresses.
const PAGE: u64 = 4096;

/// The value of a block that is refined to bytes.
const FINE: u32 = u32::MAX;

/// The last toucher of every byte.
#[derive(Clone, Debug, Default)]
pub(super) struct Last {
    pages: FxHashMap<u64, u32>,
    blocks: Vec<Vec<u32>>,
    fine: FxHashMap<u64, [u32; BLOCK as usize]>,
    /// The page used before: number and index.
    recent: Option<(u64, u32)>,
    /// The largest value marked.
    newest: u32,
}

impl Last {
    /// Was anything touched by a record of value more than `after`?
    pub fn any_after(&self, after: u32) -> bool {
        self.newest > after
    }

    fn page(&mut self, n: u64) -> usize {
        if let Some((known, at)) = self.recent
            && known == n
        {
            return at as usize;
        }
        let fresh = self.blocks.len() as u32;
        let at = *self.pages.entry(n).or_insert(fresh);
        if at == fresh {
            self.blocks.push(vec![0; PAGE as usize]);
        }
        self.recent = Some((n, at));
        at as usize
    }

    /// Bytes `start..end` were touched by the record of `value`.
    pub fn mark(&mut self, start: u64, end: u64, value: u32) {
        self.newest = self.newest.max(value);
        let (first, last) = (start.div_ceil(BLOCK), end / BLOCK);
        if first > last {
            return self.refine(last, start % BLOCK, end % BLOCK, value);
        }
        if !start.is_multiple_of(BLOCK) {
            self.refine(first - 1, start % BLOCK, BLOCK, value);
        }
        let mut at = first;
        while at < last {
            let stop = last.min((at / PAGE + 1) * PAGE);
            let page = self.page(at / PAGE);
            let from = (at % PAGE) as usize;
            if let Some(to) = self.blocks[page].get_mut(from..from + (stop - at) as usize) {
                to.fill(value);
            }
            at = stop;
        }
        if !end.is_multiple_of(BLOCK) {
            self.refine(last, 0, end % BLOCK, value);
        }
    }

    /// Bytes `from..to` of a block were touched.
    fn refine(&mut self, block: u64, from: u64, to: u64, value: u32) {
        let page = self.page(block / PAGE);
        let entry = &mut self.blocks[page][(block % PAGE) as usize];
        if *entry == value || from >= to {
            return;
        }
        let bytes = self.fine.entry(block).or_insert([0; BLOCK as usize]);
        if *entry != FINE {
            bytes.fill(*entry);
            *entry = FINE;
        }
        bytes[from as usize..to as usize].fill(value);
        if bytes.iter().all(|b| *b == value) {
            *entry = value;
        }
    }

    /// Calls `f(first byte, one past the last, value)` for the parts of `start..end` whose value is
    /// more than `after`, in order of address; neighbours of the same value come as one.
    pub fn newer(&mut self, start: u64, end: u64, after: u32, mut f: impl FnMut(u64, u64, u32)) {
        let mut open: Option<(u64, u64, u32)> = None;
        let mut part = |from: u64, to: u64, value: u32| {
            match &mut open {
                Some(o) if o.1 == from && o.2 == value => o.1 = to,
                _ => {
                    if let Some((a, b, v)) = open.replace((from, to, value)) {
                        f(a, b, v);
                    }
                }
            };
        };
        let mut at = start / BLOCK;
        let stop = end.div_ceil(BLOCK);
        while at < stop {
            let upto = stop.min((at / PAGE + 1) * PAGE);
            let from = (at % PAGE) as usize;
            let page = self.page(at / PAGE);
            let blocks = &self.blocks[page][from..from + (upto - at) as usize];
            // Mostly everything is old: one pass without branches settles it.
            if blocks.iter().fold(0, |m, v| m.max(*v)) > after {
                for (block, value) in (at..upto).zip(blocks) {
                    let (a, b) = (start.max(block * BLOCK), end.min((block + 1) * BLOCK));
                    if *value != FINE {
                        if *value > after {
                            part(a, b, *value);
                        }
                    } else if let Some(bytes) = self.fine.get(&block) {
                        for byte in a..b {
                            let value = bytes[(byte % BLOCK) as usize];
                            if value > after {
                                part(byte, byte + 1, value);
                            }
                        }
                    }
                }
            }
            at = upto;
        }
        if let Some((a, b, v)) = open {
            f(a, b, v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn newer(l: &mut Last, a: u64, b: u64, after: u32) -> Vec<(u64, u64, u32)> {
        let mut out = Vec::new();
        l.newer(a, b, after, |a, b, v| out.push((a, b, v)));
        out
    }

    #[test]
    fn blocks_and_bytes() {
        let mut l = Last::default();
        l.mark(0, 256, 1);
        l.mark(40, 44, 2);
        assert_eq!(newer(&mut l, 0, 96, 0), [(0, 40, 1), (40, 44, 2), (44, 96, 1)]);
        assert_eq!(newer(&mut l, 0, 96, 1), [(40, 44, 2)]);
        assert_eq!(newer(&mut l, 0, 40, 1), []);
        assert!(l.any_after(1) && !l.any_after(2));
    }

    proptest! {
        #[test]
        fn agrees_with_an_array(
            marks in prop::collection::vec((0u64..200, 0u64..120), 1..30),
            look in (0u64..200, 0u64..160, 0u32..30),
            // Astride the border between two pages.
            base in prop::sample::select(vec![0u64, PAGE * BLOCK - 128, (1 << 40) + 7]),
        ) {
            let (mut l, mut plain) = (Last::default(), [0u32; 400]);
            for (v, (at, n)) in (1u32..).zip(&marks) {
                l.mark(base + at, base + at + n, v);
                plain[*at as usize..(at + n) as usize].fill(v);
            }
            let mut got = [0u32; 400];
            let (at, n, after) = look;
            for (a, b, v) in newer(&mut l, base + at, base + at + n, after) {
                got[(a - base) as usize..(b - base) as usize].fill(v);
            }
            for i in at..at + n {
                let want = plain[i as usize];
                prop_assert_eq!(got[i as usize], if want > after { want } else { 0 });
            }
        }
    }
}
