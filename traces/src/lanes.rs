//! Sub-lanes: viewers draw slices of one lane side by side only if none overlaps another.

/// A free-lane search over slices in order of their start.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubLanes {
    /// End of the last slice of each sub-lane.
    ends: Vec<u64>,
}

impl SubLanes {
    /// The lowest sub-lane that is free from `start` on; it is taken until `end`.
    pub fn place(&mut self, start: u64, end: u64) -> u16 {
        let free = self.ends.iter().position(|&e| e <= start);
        let lane = free.unwrap_or_else(|| {
            // Thousands of slices over each other cannot be read: the last lane takes them all.
            if self.ends.len() < usize::from(u16::MAX) {
                self.ends.push(0);
            }
            self.ends.len() - 1
        });
        if let Some(e) = self.ends.get_mut(lane) {
            *e = (*e).max(end);
        }
        lane as u16
    }

    /// Makes that there are at least so many sub-lanes.
    pub fn reach(&mut self, n: usize) {
        self.ends.resize(self.ends.len().max(n), 0);
    }

    /// How many sub-lanes there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_slices_share_a_lane() {
        let mut l = SubLanes::default();
        let placed = [(0, 4), (2, 6), (4, 5), (5, 9), (6, 7)].map(|(a, b)| l.place(a, b));
        assert_eq!(placed, [0, 1, 0, 0, 1]);
        assert_eq!(l.len(), 2);
    }
}
