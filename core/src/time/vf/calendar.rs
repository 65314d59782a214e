//! Wake-up times of instructions, one bucket a cycle.

/// Cycles the wheel spans; entries further away wait in their bucket for another turn.
const SPAN: usize = 256;

/// Entries due at future cycles.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    wheel: Vec<Vec<(i64, u64)>>,
    len: usize,
}

impl Default for Calendar {
    fn default() -> Self {
        Calendar { wheel: vec![Vec::new(); SPAN], len: 0 }
    }
}

fn bucket(at: i64) -> usize {
    at.rem_euclid(SPAN as i64) as usize
}

impl Calendar {
    /// Enters `what` at a cycle not yet taken.
    pub fn push(&mut self, at: i64, what: u64) {
        self.wheel[bucket(at)].push((at, what));
        self.len += 1;
    }

    /// Moves everything due at `now` to `out`, in order of entry.
    pub fn take(&mut self, now: i64, out: &mut Vec<u64>) {
        let b = &mut self.wheel[bucket(now)];
        if b.is_empty() {
            return;
        }
        let before = b.len();
        b.retain(|&(at, what)| {
            if at == now {
                out.push(what);
            }
            at != now
        });
        self.len -= before - b.len();
    }

    /// First due cycle after `now`, given that nothing older is left.
    pub fn next(&self, now: i64) -> Option<i64> {
        if self.len == 0 {
            return None;
        }
        let near = (1..=SPAN as i64).map(|d| now + d);
        for at in near {
            if self.wheel[bucket(at)].iter().any(|e| e.0 == at) {
                return Some(at);
            }
        }
        self.wheel.iter().flatten().map(|e| e.0).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_entries_wait_their_turn() {
        let mut c = Calendar::default();
        c.push(5, 1);
        c.push(5 + SPAN as i64, 2);
        assert_eq!(c.next(0), Some(5));
        let mut out = Vec::new();
        c.take(5, &mut out);
        assert_eq!(out, [1]);
        assert_eq!(c.next(5), Some(5 + SPAN as i64));
        c.take(5 + SPAN as i64, &mut out);
        assert_eq!(out, [1, 2]);
        assert_eq!(c.next(300), None);
    }
}
