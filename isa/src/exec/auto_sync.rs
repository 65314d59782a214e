//! Automatic synchronisation: which barriers and flags a program without any needs.
//!
//! Every tile operation, transfer or instruction announces the byte ranges it reads and writes and
//! the pipe it runs on. Whatever conflicts with an earlier range that nothing orders yet gets a
//! `pipe_barrier` (same pipe) or a `set_flag`/`wait_flag` pair (other pipe) in front of it. The
//! order already established is kept as one vector clock per pipe, so that nothing is ordered
//! twice. Deterministic: only program order and ranges decide.

use ptoemu_core::access::Space;
use ptoemu_core::stream::{Flag, Pipe};

const PIPES: usize = 7;

/// Ranges remembered before the oldest are merged; merging only ever orders more.
const REMEMBERED: usize = 256;

/// A byte range an operation is about to touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Memory.
    pub space: Space,
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Written rather than read.
    pub write: bool,
}

/// Synchronisation to insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insert {
    /// `pipe_barrier`.
    Barrier(Pipe),
    /// `set_flag` followed by `wait_flag`.
    Flag(Flag),
}

#[derive(Clone, Copy, Debug)]
struct Past {
    pipe: Pipe,
    /// Position among the operations of its pipe, from 1.
    at: u32,
    touch: Touch,
}

/// What has been touched, and what is ordered after it.
#[derive(Clone, Debug, Default)]
pub struct AutoSync {
    past: Vec<Past>,
    /// Operations announced per pipe.
    count: [u32; PIPES],
    /// `after[p][q]`: operations of `q` that the next one of `p` is ordered after.
    after: [[u32; PIPES]; PIPES],
    /// Next event id per ordered pair.
    ids: [[u8; PIPES]; PIPES],
}

impl AutoSync {
    /// What must stand before an operation of `pipe` that touches `touches`; records it.
    pub fn before(&mut self, pipe: Pipe, touches: &[Touch]) -> Vec<Insert> {
        let p = pipe as usize % PIPES;
        let mut out = Vec::new();
        // Other pipes in fixed order, then the own one: a flag may make the barrier needless.
        for q in (0..PIPES).filter(|q| *q != p).chain([p]) {
            let conflict = self.past.iter().any(|o| {
                o.pipe as usize == q
                    && o.at > self.after[p][q]
                    && touches.iter().any(|t| conflicts(t, &o.touch))
            });
            if conflict && !(q == p && pipe == Pipe::S) {
                out.push(self.order(Pipe::ALL[q], pipe));
            }
        }
        self.remember(pipe, touches);
        out
    }

    /// The program ordered everything itself (`pipe_barrier(PIPE_ALL)`).
    fn order(&mut self, from: Pipe, to: Pipe) -> Insert {
        let (q, p) = (from as usize, to as usize);
        self.after[p][q] = self.count[q];
        if p == q {
            return Insert::Barrier(to);
        }
        for r in 0..PIPES {
            self.after[p][r] = self.after[p][r].max(self.after[q][r]);
        }
        let id = self.ids[q][p];
        self.ids[q][p] = (id + 1) % 8;
        Insert::Flag(Flag { src: from, dst: to, id })
    }

    fn remember(&mut self, pipe: Pipe, touches: &[Touch]) {
        let p = pipe as usize % PIPES;
        self.count[p] += 1;
        let at = self.count[p];
        for t in touches.iter().filter(|t| t.end > t.start) {
            match self.past.iter_mut().find(|o| o.pipe == pipe && o.touch == *t) {
                Some(known) => known.at = at,
                None => self.past.push(Past { pipe, at, touch: *t }),
            }
        }
        let settled = |o: &Past| {
            (0..PIPES)
                .all(|r| self.count[r] == 0 && r != p || self.after[r][o.pipe as usize] >= o.at)
        };
        if self.past.len() > REMEMBERED {
            let keep: Vec<Past> = self.past.iter().copied().filter(|o| !settled(o)).collect();
            self.past = keep;
        }
        while self.past.len() > REMEMBERED {
            self.merge_oldest();
        }
    }

    fn merge_oldest(&mut self) {
        let first = self.past.remove(0);
        let same = |o: &&mut Past| {
            o.pipe == first.pipe
                && o.touch.space == first.touch.space
                && o.touch.write == first.touch.write
        };
        if let Some(o) = self.past.iter_mut().find(same) {
            o.at = o.at.max(first.at);
            o.touch.start = o.touch.start.min(first.touch.start);
            o.touch.end = o.touch.end.max(first.touch.end);
        }
    }
}

fn conflicts(a: &Touch, b: &Touch) -> bool {
    a.space == b.space && (a.write || b.write) && a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(start: u64, end: u64, write: bool) -> Touch {
        Touch { space: Space::Ub, start, end, write }
    }

    fn flag(src: Pipe, dst: Pipe, id: u8) -> Insert {
        Insert::Flag(Flag { src, dst, id })
    }

    #[test]
    fn load_compute_store_gets_one_edge_each() {
        let mut s = AutoSync::default();
        assert_eq!(s.before(Pipe::Mte2, &[touch(0, 256, true)]), []);
        let v = [touch(0, 256, false), touch(512, 768, true)];
        assert_eq!(s.before(Pipe::V, &v), [flag(Pipe::Mte2, Pipe::V, 0)]);
        assert_eq!(s.before(Pipe::V, &[touch(512, 768, true)]), [Insert::Barrier(Pipe::V)]);
        assert_eq!(s.before(Pipe::Mte3, &[touch(512, 768, false)]), [flag(Pipe::V, Pipe::Mte3, 0)]);
        // Reloading the input: V has read it, and V is ordered before nothing of MTE2 yet.
        assert_eq!(s.before(Pipe::Mte2, &[touch(0, 256, true)]), [flag(Pipe::V, Pipe::Mte2, 0)]);
    }

    #[test]
    fn order_is_transitive() {
        let mut s = AutoSync::default();
        s.before(Pipe::Mte2, &[touch(0, 32, true)]);
        s.before(Pipe::V, &[touch(0, 32, false), touch(64, 96, true)]);
        // MTE3 waits for V, which waited for MTE2: no second flag.
        let store = [touch(64, 96, false), touch(0, 32, false)];
        assert_eq!(s.before(Pipe::Mte3, &store), [flag(Pipe::V, Pipe::Mte3, 0)]);
    }

    #[test]
    fn independent_operations_need_nothing() {
        let mut s = AutoSync::default();
        s.before(Pipe::V, &[touch(0, 32, true)]);
        assert_eq!(s.before(Pipe::V, &[touch(32, 64, true)]), []);
        assert_eq!(s.before(Pipe::V, &[touch(0, 32, false)]), [Insert::Barrier(Pipe::V)]);
        assert_eq!(s.before(Pipe::V, &[touch(0, 32, false)]), [], "two reads");
    }

    #[test]
    fn memory_is_bounded_and_forgets_nothing() {
        let mut s = AutoSync::default();
        for i in 0..2000 {
            s.before(Pipe::Mte2, &[touch(i * 64, i * 64 + 32, true)]);
        }
        assert!(s.past.len() <= REMEMBERED);
        assert_eq!(s.before(Pipe::V, &[touch(0, 32, false)]), [flag(Pipe::Mte2, Pipe::V, 0)]);
    }
}
