//! A run in the other order: one instruction sees bytes as they were before another one, which
//! nothing orders before it, had its effect.

use super::Machine;
use ptoemu_core::access::Space;
use ptoemu_core::check::race::Range;

/// Which of two accesses the other order changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The later one reads what was there before the earlier one wrote.
    Read,
    /// What the earlier one wrote ends up on top.
    Write,
    /// The earlier one reads what the later one writes: the bytes, or none to find them out.
    Ahead(Vec<u8>),
}

/// Two records of one core that change places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// Core they belong to.
    pub core: u32,
    /// The two are accesses of vector functions of the 950, by their numbers in the run.
    pub inside: bool,
    /// The earlier record.
    pub first: u32,
    /// The later record.
    pub second: u32,
    /// What is swapped.
    pub swap: Swap,
    /// Bytes at which they meet.
    pub bytes: Vec<Range>,
    /// Those of them that the record which reads does not write.
    pub restored: Vec<Range>,
}

/// How far a swap has got.
#[derive(Clone, Debug, Default)]
pub struct Swapping {
    /// Bytes as they were, or as the later record left them.
    seen: Vec<u8>,
    now: Vec<u8>,
    /// It has taken place.
    done: bool,
}

impl Swapping {
    /// The bytes seen, once the swap has taken place.
    pub fn into_seen(self) -> Option<Vec<u8>> {
        self.done.then_some(self.seen)
    }
}

impl Machine {
    fn bytes_of(&self, (space, start, end): Range) -> Option<&[u8]> {
        let n = usize::try_from(end.checked_sub(start)?).ok()?;
        match space {
            Space::Ub => self.ub.bytes.get(start, n),
            Space::Gm => {
                let (b, at) = self.gm.locate(start)?;
                self.gm.buffers().get(b)?.mem.bytes.get(at, n)
            }
        }
    }

    fn capture(&self, all: &[Range]) -> Vec<u8> {
        let mut out = Vec::new();
        for r in all {
            let n = (r.2 - r.1) as usize;
            let old = out.len();
            out.extend_from_slice(self.bytes_of(*r).unwrap_or(&[]));
            out.resize(old + n, 0);
        }
        out
    }

    fn put(&mut self, all: &[Range], bytes: &[u8]) {
        let mut rest = bytes;
        for &(space, start, end) in all {
            let n = ((end - start) as usize).min(rest.len());
            let (head, tail) = rest.split_at(n);
            rest = tail;
            let to = match space {
                Space::Ub => self.ub.bytes.get_mut(start, n),
                Space::Gm => match self.gm.locate(start) {
                    Some((b, at)) => self.gm.buffer_mut(b).and_then(|b| b.mem.bytes.get_mut(at, n)),
                    None => None,
                },
            };
            if let Some(to) = to {
                to.copy_from_slice(head);
            }
        }
    }

    /// Record `rec` is about to take effect.
    pub(crate) fn before(&mut self, rec: u32) {
        let Some(s) = self.stale.clone().filter(|s| !s.inside) else { return };
        let mut at = std::mem::take(&mut self.swapping);
        match &s.swap {
            Swap::Read if rec == s.first => at.seen = self.capture(&s.bytes),
            Swap::Read if rec == s.second => {
                at.now = self.capture(&s.restored);
                self.put(&s.bytes, &at.seen);
                at.done = true;
            }
            Swap::Ahead(later) if rec == s.first && !later.is_empty() => {
                at.now = self.capture(&s.restored);
                self.put(&s.bytes, later);
                at.done = true;
            }
            _ => {}
        }
        self.swapping = at;
    }

    /// Record `rec` has had its effect.
    pub(crate) fn after(&mut self, rec: u32) {
        let Some(s) = self.stale.clone().filter(|s| !s.inside) else { return };
        let mut at = std::mem::take(&mut self.swapping);
        match &s.swap {
            Swap::Read if rec == s.second => self.put(&s.restored, &at.now),
            Swap::Write if rec == s.first => at.seen = self.capture(&s.bytes),
            Swap::Write if rec == s.second => {
                self.put(&s.bytes, &at.seen);
                at.done = true;
            }
            Swap::Ahead(later) if rec == s.first && !later.is_empty() => {
                self.put(&s.restored, &at.now);
            }
            Swap::Ahead(later) if rec == s.second && later.is_empty() => {
                at.seen = self.capture(&s.bytes);
                at.done = true;
            }
            _ => {}
        }
        self.swapping = at;
    }
}
