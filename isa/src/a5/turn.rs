//! A run in the other order: an access of a vector function sees bytes as they were before another
//! one, which nothing orders before it, had its effect.

use super::core::Core;
use crate::machine::{Stale, Swap};
use ptoemu_core::state::Memory;
use std::sync::Arc;

/// Two accesses that change places, and how far they have got.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// The accesses, by their numbers.
    pub of: Option<Arc<Stale>>,
    /// Bytes as they were, or as the later access left them.
    seen: Vec<u8>,
    now: Vec<u8>,
    done: bool,
}

impl Turn {
    /// The bytes seen, once the accesses have changed places.
    pub fn into_seen(self) -> Option<Vec<u8>> {
        self.done.then_some(self.seen)
    }
}

fn capture(ub: &Memory, s: &Stale) -> Vec<u8> {
    let ranges = s.bytes.iter().filter_map(|r| ub.bytes.get(r.1, (r.2 - r.1) as usize));
    ranges.flatten().copied().collect()
}

fn put(ub: &mut Memory, s: &Stale, bytes: &[u8]) {
    let mut rest = bytes;
    for r in &s.bytes {
        let n = (r.2 - r.1) as usize;
        let Some(to) = ub.bytes.get_mut(r.1, n).filter(|_| rest.len() >= n) else { return };
        let (head, tail) = rest.split_at(n);
        to.copy_from_slice(head);
        rest = tail;
    }
}

impl Core {
    /// The next access is about to take effect.
    pub fn before(&mut self, ub: &mut Memory) {
        let Some(s) = self.turn.of.clone() else { return };
        let (n, at) = (self.order.upcoming(), &mut self.turn);
        match &s.swap {
            Swap::Read if n == s.first => at.seen = capture(ub, &s),
            Swap::Read if n == s.second => {
                at.now = capture(ub, &s);
                put(ub, &s, &at.seen);
                at.done = true;
            }
            Swap::Ahead(later) if n == s.first && !later.is_empty() => {
                at.now = capture(ub, &s);
                put(ub, &s, later);
                at.done = true;
            }
            _ => {}
        }
    }

    /// Access `n` has had its effect.
    pub fn after(&mut self, n: u32, ub: &mut Memory) {
        let Some(s) = self.turn.of.clone() else { return };
        let at = &mut self.turn;
        match &s.swap {
            Swap::Read if n == s.second => put(ub, &s, &at.now),
            Swap::Write if n == s.first => at.seen = capture(ub, &s),
            Swap::Write if n == s.second => {
                put(ub, &s, &at.seen);
                at.done = true;
            }
            Swap::Ahead(later) if n == s.first && !later.is_empty() => put(ub, &s, &at.now),
            Swap::Ahead(later) if n == s.second && later.is_empty() => {
                at.seen = capture(ub, &s);
                at.done = true;
            }
            _ => {}
        }
    }
}
