//! Instructions leave program order while they run: this puts them in order of a cycle.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Items in order of `key`, first come first served among equals. `floor` never falls from item to
/// item, and no item has a key below its floor: only as many are held back as overlap.
pub(crate) fn in_order<T>(
    items: impl Iterator<Item = T>,
    floor: impl Fn(&T) -> u64,
    key: impl Fn(&T) -> u64,
) -> impl Iterator<Item = T> {
    let mut items = items.peekable();
    let (mut held, mut slots, mut free) = (BinaryHeap::new(), Vec::new(), Vec::new());
    let mut n = 0u64;
    std::iter::from_fn(move || {
        loop {
            let due = held.peek().is_some_and(|Reverse((k, _, _))| {
                items.peek().is_none_or(|next: &T| floor(next) >= *k)
            });
            if due {
                let Reverse((_, _, slot)) = held.pop()?;
                free.push(slot);
                return slots.get_mut(slot).and_then(Option::take);
            }
            let item = items.next()?;
            let k = key(&item);
            let slot = free.pop().unwrap_or_else(|| {
                slots.push(None);
                slots.len() - 1
            });
            slots[slot] = Some(item);
            held.push(Reverse((k, n, slot)));
            n += 1;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_stable() {
        // floor, key
        let items = [(0, 9), (1, 1), (1, 4), (3, 4), (5, 5), (9, 9), (9, 12)];
        let out: Vec<_> = in_order(items.into_iter(), |i| i.0, |i| i.1).collect();
        assert_eq!(out, [(1, 1), (1, 4), (3, 4), (5, 5), (0, 9), (9, 9), (9, 12)]);
    }
}
