//! Exact bytes of records that no walk describes: vector functions, and transfers of several loops.
//!
//! They are collected while the record executes, in one bit per UB byte and role, and kept as runs;
//! equal ones are kept once. What is kept is bounded: a stream that needs more says so.

use crate::access::{Role, Space};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Most GM runs of one record.
const GM_RUNS: usize = 1 << 16;
/// Most runs kept of one stream.
const KEPT: usize = 1 << 22;

/// First byte and one past the last.
pub type Run = (u64, u64);

/// Bytes read and written, as runs in order of address, by space and role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Footprint {
    runs: [[Vec<Run>; 2]; 2],
}

impl Footprint {
    /// Runs read (or only those written) in a space.
    pub fn runs(&self, space: Space, write: bool) -> &[Run] {
        &self.runs[space as usize][usize::from(write)]
    }

    fn len(&self) -> usize {
        self.runs.iter().flatten().map(Vec::len).sum()
    }
}

/// One bit a byte, of the part that was touched.
#[derive(Clone, Debug, Default)]
struct Bits {
    words: Vec<u64>,
    /// Words touched, first and one past the last.
    used: (usize, usize),
}

impl Bits {
    fn mark(&mut self, start: u64, end: u64) {
        let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end)) else { return };
        if start >= end || end > MOST_BYTES {
            return;
        }
        let (first, last) = (start / 64, (end - 1) / 64);
        if self.words.len() <= last {
            self.words.resize(last + 1, 0);
        }
        self.used = match self.used {
            (0, 0) => (first, last + 1),
            (a, b) => (a.min(first), b.max(last + 1)),
        };
        let (head, tail) = (!0u64 << (start % 64), !0u64 >> (63 - (end - 1) % 64));
        if first == last {
            self.words[first] |= head & tail;
            return;
        }
        self.words[first] |= head;
        self.words[first + 1..last].fill(!0);
        self.words[last] |= tail;
    }

    /// Marks bytes of a 32-byte block, bit i for byte i.
    fn mark_block(&mut self, block: u32, bits: u32) {
        let word = block as usize / 2;
        if word >= MOST_BYTES / 64 {
            return;
        }
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.used = match self.used {
            (0, 0) => (word, word + 1),
            (a, b) => (a.min(word), b.max(word + 1)),
        };
        self.words[word] |= u64::from(bits) << (32 * (block % 2));
    }

    /// The runs, which are forgotten.
    fn take(&mut self) -> Vec<Run> {
        let mut out: Vec<Run> = Vec::new();
        let (from, to) = std::mem::take(&mut self.used);
        for n in from..to {
            let mut word = std::mem::take(&mut self.words[n]);
            let base = n as u64 * 64;
            while word != 0 {
                let at = u64::from(word.trailing_zeros());
                let len = u64::from((!(word >> at)).trailing_zeros());
                match out.last_mut() {
                    Some(r) if r.1 == base + at => r.1 += len,
                    _ => out.push((base + at, base + at + len)),
                }
                word = if at + len >= 64 { 0 } else { word >> (at + len) << (at + len) };
            }
        }
        out
    }
}

/// No local memory has more bytes.
const MOST_BYTES: usize = 1 << 24;

/// Collects the bytes of the record under way.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    ub: [Bits; 2],
    gm: [Vec<Run>; 2],
}

impl Collector {
    /// Bytes `start..end` of a space are touched.
    pub fn touch(&mut self, space: Space, role: Role, start: u64, end: u64) {
        for (n, on) in [role != Role::Write, role != Role::Read].into_iter().enumerate() {
            if !on || start >= end {
                continue;
            }
            if space == Space::Ub {
                self.ub[n].mark(start, end);
                continue;
            }
            let many = self.gm[n].len() >= GM_RUNS;
            match self.gm[n].last_mut() {
                Some(r) if r.1 == start => r.1 = end,
                _ if !many => self.gm[n].push((start, end)),
                _ => {}
            }
        }
    }

    /// Bytes of UB are touched, by 32-byte block: bit i for byte i of it.
    pub fn blocks(&mut self, role: Role, blocks: &[(u32, u32)]) {
        for (n, on) in [role != Role::Write, role != Role::Read].into_iter().enumerate() {
            if on {
                blocks.iter().for_each(|(b, bits)| self.ub[n].mark_block(*b, *bits));
            }
        }
    }

    /// What was touched since the last time.
    pub fn take(&mut self) -> Footprint {
        let gm = |list: &mut Vec<Run>| {
            let mut all = std::mem::take(list);
            all.sort_unstable();
            all.dedup_by(|next, kept| {
                let joins = next.0 <= kept.1;
                kept.1 = if joins { kept.1.max(next.1) } else { kept.1 };
                joins
            });
            all
        };
        let [read, written] = &mut self.ub;
        let ub = [read.take(), written.take()];
        let [read, written] = &mut self.gm;
        let gm = [gm(read), gm(written)];
        let mut runs: [[Vec<Run>; 2]; 2] = Default::default();
        (runs[Space::Ub as usize], runs[Space::Gm as usize]) = (ub, gm);
        Footprint { runs }
    }
}

/// Footprints of a stream by record.
#[derive(Clone, Debug, Default)]
pub struct Footprints {
    /// Record and footprint, in order of records.
    of: Vec<(u32, u32)>,
    items: Vec<Arc<Footprint>>,
    ids: FxHashMap<Arc<Footprint>, u32>,
    kept: usize,
    /// Some were too many to keep.
    pub partial: bool,
}

impl Footprints {
    /// Keeps the footprint of a record later than all before it.
    pub fn keep(&mut self, record: u32, f: Footprint) {
        let id = match self.ids.get(&f) {
            Some(id) => *id,
            None if self.kept + f.len() > KEPT => {
                self.partial = true;
                return;
            }
            None => {
                self.kept += f.len();
                let (id, f) = (self.items.len() as u32, Arc::new(f));
                self.items.push(f.clone());
                self.ids.insert(f, id);
                id
            }
        };
        self.of.push((record, id));
    }

    /// The same for a stream that kept only some records: `place` gives their new numbers.
    pub(crate) fn moved(&self, place: &[Option<u32>]) -> Footprints {
        let new = |r: u32| place.get(r as usize).copied().flatten();
        let of = self.of.iter().filter_map(|(r, id)| Some((new(*r)?, *id))).collect();
        Footprints { of, ..self.clone() }
    }

    /// The footprint of a record, if it has one of its own.
    pub fn get(&self, record: u32) -> Option<&Footprint> {
        let at = self.of.binary_search_by_key(&record, |(r, _)| *r).ok()?;
        self.items.get(self.of[at].1 as usize).map(|f| &**f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_footprints_are_kept_once() {
        let (mut c, mut all) = (Collector::default(), Footprints::default());
        for record in [3, 7] {
            c.touch(Space::Ub, Role::Update, 0, 32);
            c.touch(Space::Gm, Role::Read, 1 << 40, (1 << 40) + 8);
            all.keep(record, c.take());
        }
        assert_eq!(all.items.len(), 1);
        let f = all.get(7).expect("kept");
        assert_eq!(f.runs(Space::Ub, true), [(0, 32)]);
        assert_eq!(f.runs(Space::Ub, false), [(0, 32)]);
        assert_eq!(f.runs(Space::Gm, false), [(1 << 40, (1 << 40) + 8)]);
        assert!(all.get(4).is_none());
    }

    proptest! {
        #[test]
        fn runs_are_the_bytes_marked(
            marks in prop::collection::vec((0u64..600, 0u64..200), 0..12),
            gm in any::<bool>(),
        ) {
            let space = if gm { Space::Gm } else { Space::Ub };
            let mut c = Collector::default();
            let mut want = vec![false; 1000];
            for (at, n) in &marks {
                c.touch(space, Role::Write, *at, at + n);
                want[*at as usize..(at + n) as usize].fill(true);
            }
            let f = c.take();
            let mut got = vec![false; 1000];
            for w in f.runs(space, true).windows(2) {
                prop_assert!(w[0].1 < w[1].0);
            }
            for (a, b) in f.runs(space, true) {
                got[*a as usize..*b as usize].fill(true);
            }
            prop_assert_eq!(got, want);
            prop_assert_eq!(c.take(), Footprint::default());
        }
    }
}
