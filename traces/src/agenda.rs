//! What happens next, by cycle. S runs far ahead of the pipes, so most entries wait for a pipe that
//! takes them in the order they came: those stand in a queue for each lane, and only what is out
//! of order pays for a heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Entries by cycle, then by the rest of the entry.
pub(crate) struct Agenda<T> {
    queues: Vec<VecDeque<(u64, T)>>,
    heap: BinaryHeap<Reverse<(u64, T)>>,
    /// No entry is due before this cycle.
    soonest: u64,
}

impl<T: Ord + Copy> Agenda<T> {
    /// For so many lanes.
    pub fn new(lanes: usize) -> Self {
        let queues = (0..lanes).map(|_| VecDeque::new()).collect();
        Agenda { queues, heap: BinaryHeap::new(), soonest: u64::MAX }
    }

    /// Adds an entry.
    pub fn push(&mut self, lane: usize, cycle: u64, item: T) {
        self.soonest = self.soonest.min(cycle);
        match self.queues.get_mut(lane) {
            Some(q) if q.back().is_none_or(|b| *b <= (cycle, item)) => q.push_back((cycle, item)),
            _ => self.heap.push(Reverse((cycle, item))),
        }
    }

    /// Takes the first entry if it is due at `until`.
    pub fn pop(&mut self, until: u64) -> Option<(u64, T)> {
        if self.soonest > until {
            return None;
        }
        let heads = self.queues.iter().enumerate().filter_map(|(n, q)| Some((*q.front()?, n)));
        let queued = heads.min();
        let heaped = self.heap.peek().map(|Reverse(e)| *e);
        let (next, from) = match (queued, heaped) {
            (Some((q, n)), Some(h)) if q <= h => (q, Some(n)),
            (Some((q, n)), None) => (q, Some(n)),
            (_, Some(h)) => (h, None),
            (None, None) => {
                self.soonest = u64::MAX;
                return None;
            }
        };
        self.soonest = next.0;
        if next.0 > until {
            return None;
        }
        match from.and_then(|n| self.queues.get_mut(n)) {
            Some(q) => drop(q.pop_front()),
            None => drop(self.heap.pop()),
        }
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_whatever_the_lane() {
        let mut a = Agenda::new(2);
        for (i, (lane, cycle)) in
            [(0, 5), (0, 9), (0, 7), (1, 6), (7, 1), (1, 6)].iter().enumerate()
        {
            a.push(*lane, *cycle, i);
        }
        assert_eq!(a.pop(0), None);
        let order: Vec<_> = std::iter::from_fn(|| a.pop(u64::MAX)).collect();
        assert_eq!(order, [(1, 4), (5, 0), (6, 3), (6, 5), (7, 2), (9, 1)]);
    }
}
