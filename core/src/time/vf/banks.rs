//! Banks of the Unified Buffer, cycle by cycle.
//!
//! Each bank group serves two reads, or one read and one write in different banks. For accesses as
//! wide as all groups that means two loads, or a load and a store, or a store alone. The blocks of
//! a store are written group by group: those that meet a busy bank stay behind, one in each group,
//! while the others go on.

use super::compile::Mem;
use super::params::VfParams;

const GROUPS: usize = 32;

/// What one access takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Need {
    /// Blocks in each group.
    groups: [u8; GROUPS],
    /// Blocks by bank and group: bit `bank * groups + group`; 0 when the address is unknown.
    slots: u64,
    /// Most blocks in one group.
    most: u8,
}

/// A block of a store that waits for its bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// Bit of the block among the slots.
    pub slot: u8,
    /// The store.
    pub seq: u64,
}

/// Use of the banks in the current cycle.
#[derive(Clone, Debug)]
pub(crate) struct Banks {
    shared: bool,
    block: i64,
    groups: usize,
    banks: usize,
    per_group: u8,
    reads: [u8; GROUPS],
    read_slots: u64,
    /// Groups written in this cycle.
    written: u32,
    write_slots: u64,
    /// First cycle in which the banks are free of an access that takes several.
    pub free_at: i64,
    closed: bool,
    /// Blocks left behind, by group.
    pub left: [Option<Left>; GROUPS],
    left_count: u32,
}

impl Banks {
    pub fn new(p: &VfParams) -> Banks {
        Banks {
            shared: p.ub_shared == 1,
            block: i64::from(p.ub_block),
            groups: p.ub_groups as usize,
            banks: (p.ub_banks as usize).min(64 / p.ub_groups as usize).max(1),
            per_group: p.ub_reads as u8,
            reads: [0; GROUPS],
            read_slots: 0,
            written: 0,
            write_slots: 0,
            free_at: i64::MIN,
            closed: false,
            left: [None; GROUPS],
            left_count: 0,
        }
    }

    /// Bytes after which the pattern of groups and banks repeats.
    pub fn span(&self) -> i64 {
        self.block * (self.groups * self.banks) as i64
    }

    /// A new cycle.
    pub fn begin(&mut self, now: i64) {
        self.reads = [0; GROUPS];
        self.read_slots = 0;
        self.written = 0;
        self.write_slots = 0;
        self.closed = now < self.free_at;
    }

    /// Are there blocks that wait for their bank?
    pub fn has_left(&self) -> bool {
        self.left_count > 0
    }

    /// Blocks of an access; an unknown address takes one block of every group.
    pub fn need(&self, mem: Option<&Mem>, addr: i64) -> Need {
        let mut n = Need::default();
        let Some(m) = mem.filter(|m| m.known()) else {
            n.groups[..self.groups].fill(1);
            n.most = 1;
            return n;
        };
        for piece in 0..i64::from(m.pieces) {
            let first = addr.wrapping_add(piece * i64::from(m.stride));
            let end = first.wrapping_add(i64::from(m.bytes)).wrapping_sub(1);
            let (a, b) = (first.div_euclid(self.block), end.div_euclid(self.block));
            // Beyond four rows of all groups the pattern only repeats.
            for block in a..=b.min(a + 4 * self.groups as i64) {
                let slot = block.rem_euclid((self.groups * self.banks) as i64) as usize;
                let count = &mut n.groups[slot % self.groups];
                *count = count.saturating_add(1);
                n.most = n.most.max(*count);
                n.slots |= 1 << slot;
            }
        }
        n
    }

    /// Can a load start in this cycle?
    pub fn load_fits(&self, n: &Need) -> bool {
        if !self.shared {
            return true;
        }
        !self.closed
            && (self.idle()
                || (0..self.groups).all(|g| {
                    let writes = (self.written >> g & 1) as u8;
                    let use_ = self.reads[g].saturating_add(writes).saturating_add(n.groups[g]);
                    n.groups[g] == 0 || use_ <= self.per_group
                }) && n.slots & self.write_slots == 0)
    }

    fn idle(&self) -> bool {
        self.written == 0 && self.reads.iter().all(|&r| r == 0)
    }

    pub fn take_load(&mut self, n: &Need, now: i64) {
        self.reads.iter_mut().zip(&n.groups).for_each(|(r, g)| *r = r.saturating_add(*g));
        self.read_slots |= n.slots;
        self.hold(n, now, self.per_group);
    }

    /// Can a block be written to this slot of a group now?
    fn writable(&self, group: usize, slot: u64) -> bool {
        self.written >> group & 1 == 0
            && self.reads[group] < self.per_group
            && slot & self.read_slots == 0
    }

    fn write(&mut self, group: usize, slot: u64) {
        self.written |= 1 << group;
        self.write_slots |= slot;
    }

    /// Writes what was left behind as far as banks are free; says whose blocks.
    pub fn write_left(&mut self, mut done: impl FnMut(u64)) {
        if self.left_count == 0 || self.closed {
            return;
        }
        for g in 0..self.groups {
            let Some(l) = self.left[g] else { continue };
            if self.writable(g, 1 << l.slot) {
                self.write(g, 1 << l.slot);
                self.left[g] = None;
                self.left_count -= 1;
                done(l.seq);
            }
        }
    }

    /// Starts a store if a part of it can be written now; the number of blocks left behind, or
    /// none if it cannot start.
    pub fn start_store(&mut self, n: &Need, seq: u64, now: i64) -> Option<u8> {
        if !self.shared {
            return Some(0);
        }
        if self.closed {
            return None;
        }
        if n.slots == 0 || n.most > 1 {
            return self.start_whole(n, now);
        }
        let mine = |g: &usize| n.groups[*g] > 0;
        if (0..self.groups).filter(mine).any(|g| self.left[g].is_some()) {
            return None;
        }
        let slot = |g: usize| n.slots & self.column(g);
        if !(0..self.groups).filter(mine).any(|g| self.writable(g, slot(g))) {
            return None;
        }
        let mut behind = 0;
        for g in (0..self.groups).filter(mine) {
            let slot = n.slots & self.column(g);
            if self.writable(g, slot) {
                self.write(g, slot);
            } else {
                self.left[g] = Some(Left { slot: slot.trailing_zeros() as u8, seq });
                behind += 1;
            }
        }
        self.left_count += u32::from(behind);
        Some(behind)
    }

    /// A store of unknown address, or of several blocks in one group: all at once.
    fn start_whole(&mut self, n: &Need, now: i64) -> Option<u8> {
        let free = |g: usize| {
            n.groups[g] == 0 || self.left[g].is_none() && self.writable(g, n.slots & self.column(g))
        };
        if (self.has_left() || !self.idle()) && !(0..self.groups).all(free) {
            return None;
        }
        for g in (0..self.groups).filter(|&g| n.groups[g] > 0) {
            let slot = n.slots & self.column(g);
            self.write(g, slot);
        }
        self.hold(n, now, 1);
        Some(0)
    }

    /// Slots of one group.
    fn column(&self, group: usize) -> u64 {
        (0..self.banks).fold(0, |m, b| m | 1 << (b * self.groups + group))
    }

    /// An access with more blocks in a group than a cycle serves keeps the banks.
    fn hold(&mut self, n: &Need, now: i64, per_cycle: u8) {
        let cycles = i64::from(n.most.div_ceil(per_cycle.max(1)));
        if self.shared && cycles > 1 {
            self.free_at = now + cycles;
        }
    }
}
