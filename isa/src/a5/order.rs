//! Order of memory accesses inside a vecscope: registers are tracked by the machine, UB is not.
//!
//! A load after a store of the same bytes needs `mem_bar` `VST_VLD`, a store after a load
//! `VLD_VST`, a store after a store `VST_VST`, unless the stored value was computed from the load;
//! scalar accesses need the kinds named after them `[D: GYM, ASC LocalMemBar]`. Values always
//! follow program order; a missing barrier is reported.
//!
//! Exact to the byte: a load of a whole register reads, for this check, the bytes that lie in lanes
//! somebody uses. It is entered when it is issued and its bytes count from their first use on; what
//! it met on the way waits as a [`Suspect`] until then.

use super::mode::{Barrier, Class};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Blocks of 32 bytes on one page.
const PAGE: usize = 128;
/// Most accesses remembered of one block; older ones are forgotten.
const REMEMBERED: usize = 24;
/// Most loads with suspects.
const SUSPECTS: usize = 4096;

/// Bytes of UB by 32-byte block: number of the block, and a bit for each of its bytes.
pub type Blocks = SmallVec<[(u32, u32); 10]>;

/// An access of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// Number of the access.
    n: u32,
    class: Class,
    /// Bytes it may touch.
    may: u32,
    /// Bytes it does touch.
    does: u32,
}

type Block = SmallVec<[Entry; 2]>;

/// Two accesses that nothing orders, of which it is not known yet whether they share a byte.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    /// The other access, and its kind of access.
    other: u32,
    class: Class,
    /// The load is the later of the two.
    later: bool,
    block: u32,
    bytes: u32,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Number of the earlier access and what it does.
    pub first: (u32, Class),
    /// The same of the later one.
    pub second: (u32, Class),
    /// First byte they share, and one past the last one in its block.
    pub bytes: (u64, u64),
}

/// Where an access stands: number of its source site, and its micro-op.
pub type Place = (u32, &'static str);

/// What is complete before something begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Clock {
    /// By class: accesses up to this number.
    upto: [u32; Class::COUNT],
    /// Loads, one bit each, beyond those.
    loads: u64,
}

impl Clock {
    fn join(&mut self, other: &Clock) {
        for (a, b) in self.upto.iter_mut().zip(&other.upto) {
            *a = (*a).max(*b);
        }
        self.loads |= other.loads;
    }

    fn covers(&self, n: u32, class: Class) -> bool {
        n <= self.upto[class as usize] || class == Class::Vld && self.loads & bit(n) != 0
    }
}

/// Loads that a register can name: as many as its word of sources has bits.
const NAMED: usize = 64;

/// Accesses of the current vecscope, by byte.
#[derive(Clone, Debug, Default)]
pub struct Order {
    active: bool,
    pages: Vec<Option<Box<[Block; PAGE]>>>,
    now: u32,
    /// Number before the first access of the vecscope, and the places of its accesses.
    start: u32,
    places: Vec<Place>,
    /// What is complete before the next access of each class begins.
    floor: [Clock; Class::COUNT],
    /// What was complete before any access of each class began so far.
    seen: [Clock; Class::COUNT],
    /// The same of the latest loads, by the bit that names them.
    loads: Vec<Clock>,
    /// By the load whose use decides.
    suspects: FxHashMap<u32, SmallVec<[Suspect; 2]>>,
    /// Pairs found.
    found: SmallVec<[Pair; 2]>,
}

/// The bit that stands for a load in the sources of a register.
pub(super) fn bit(access: u32) -> u64 {
    1 << (access % 64)
}

impl Order {
    /// A vecscope begins: everything before it is done.
    pub fn enter(&mut self) {
        if self.now > u32::MAX / 2 {
            *self = Order::default();
        }
        self.active = true;
        let done = Clock { upto: [self.now; Class::COUNT], loads: 0 };
        (self.floor, self.seen) = ([done; Class::COUNT], [done; Class::COUNT]);
        self.loads.clear();
        self.loads.resize(NAMED, done);
        self.start = self.now;
        self.places.clear();
        self.suspects.clear();
    }

    /// It ends.
    pub fn leave(&mut self) {
        self.active = false;
    }

    /// Is a vecscope under way?
    pub fn active(&self) -> bool {
        self.active
    }

    /// A barrier: accesses of some classes are complete before later ones of some others begin, and
    /// so is what was complete before they began.
    pub fn bar(&mut self, kind: Barrier) {
        let seen = self.seen;
        for (first, second) in kind.orders() {
            let floor = &mut self.floor[second as usize];
            floor.join(&seen[first as usize]);
            floor.upto[first as usize] = self.now;
        }
    }

    /// The number of the next access.
    pub fn upcoming(&self) -> u32 {
        self.now.saturating_add(1)
    }

    /// The number of an access about to be entered.
    pub fn next(&mut self, place: Place) -> u32 {
        self.now += 1;
        self.places.push(place);
        self.now
    }

    /// Where an access of this vecscope stands.
    pub fn place(&self, n: u32) -> Place {
        let at = n.checked_sub(self.start + 1).and_then(|i| self.places.get(i as usize));
        at.copied().unwrap_or((ptoemu_core::stream::NONE, "?"))
    }

    /// Was a pair found since the last time?
    pub fn found(&self) -> bool {
        !self.found.is_empty()
    }

    /// Pairs found since the last time.
    pub fn take(&mut self) -> SmallVec<[Pair; 2]> {
        std::mem::take(&mut self.found)
    }

    /// Enters the bytes of access `n`. Only a part of the bytes of a load may be `used`, which its
    /// users say later; everything else touches what it names. `sources` are the loads that a
    /// stored value was computed from.
    pub fn enter_bytes(&mut self, n: u32, class: Class, bytes: &Blocks, used: bool, sources: u64) {
        let clock = self.clock(class, sources);
        for &(number, bits) in bytes {
            let mut block = std::mem::take(self.block(number));
            self.meet(&block, (n, class), (number, bits), used, &clock);
            let floor = &self.floor;
            let settled = |e: &Entry| floor.iter().all(|f| e.n <= f.upto[e.class as usize]);
            block.retain(|e| {
                if class.writes() && e.class == class {
                    // Who comes after both comes after the later one.
                    (e.may, e.does) = (e.may & !bits, e.does & !bits);
                }
                e.may != 0 && !settled(e)
            });
            if block.len() >= REMEMBERED {
                block.remove(0);
            }
            let does = if used { bits } else { 0 };
            match block.last_mut() {
                Some(e) if e.n == n && e.class == class => {
                    (e.may, e.does) = (e.may | bits, e.does | does);
                }
                _ => block.push(Entry { n, class, may: bits, does }),
            }
            *self.block(number) = block;
        }
        self.seen[class as usize].join(&clock);
        if let (Class::Vld, Some(slot)) = (class, self.loads.get_mut(n as usize % NAMED)) {
            *slot = clock;
        }
    }

    /// What is complete before an access begins that takes values of the loads `sources`: registers
    /// are tracked, so those loads are, and what came before them.
    fn clock(&self, class: Class, sources: u64) -> Clock {
        let mut clock = self.floor[class as usize];
        clock.loads |= sources;
        if class.scalar() {
            // The scalar unit keeps the order of its accesses.
            for own in [Class::Ld, Class::St] {
                clock.join(&self.seen[own as usize]);
                clock.upto[own as usize] = self.now;
            }
        }
        let mut left = sources;
        while left != 0 {
            if let Some(load) = self.loads.get(left.trailing_zeros() as usize) {
                clock.join(load);
            }
            left &= left - 1;
        }
        clock
    }

    /// Compares an access with the earlier ones of a block.
    fn meet(
        &mut self,
        block: &Block,
        (n, class): (u32, Class),
        (number, bits): (u32, u32),
        used: bool,
        clock: &Clock,
    ) {
        for e in block.iter().rev().filter(|e| e.n != n && e.may & bits != 0) {
            let ordered = !e.class.conflicts(class) || clock.covers(e.n, e.class);
            if ordered {
                continue;
            }
            if used && e.does & bits != 0 {
                self.pair((e.n, e.class), (n, class), (number, e.does & bits));
            }
            // Bytes of the earlier load that nobody has used yet, or of this one.
            let left = if used { e.may & !e.does & bits } else { e.may & bits };
            let (load, other) = if used { (e.n, (n, class)) } else { (n, (e.n, e.class)) };
            if left != 0 {
                if self.suspects.len() >= SUSPECTS {
                    // Registers loaded that long ago are hardly used any more.
                    let old = self.now.saturating_sub(SUSPECTS as u32 / 2);
                    self.suspects.retain(|load, _| *load > old);
                }
                let (other, class) = other;
                let s = Suspect { other, class, later: !used, block: number, bytes: left };
                self.suspects.entry(load).or_default().push(s);
            }
        }
    }

    /// Bytes of load `n` are used.
    pub fn used(&mut self, n: u32, bytes: &Blocks) {
        for &(number, bits) in bytes {
            let entry = self.block(number).iter_mut().rev().find(|e| e.n == n);
            if let Some(e) = entry {
                e.does |= e.may & bits;
            }
        }
        if self.suspects.is_empty() {
            return;
        }
        let Some(suspects) = self.suspects.get_mut(&n) else { return };
        let mut hit: SmallVec<[(Suspect, u32); 2]> = SmallVec::new();
        suspects.retain(|s| {
            let at =
                bytes.iter().find(|(b, _)| *b == s.block).map_or(0, |(_, bits)| bits & s.bytes);
            if at != 0 {
                hit.push((*s, at));
            }
            at == 0
        });
        for (s, bits) in hit {
            let (load, other) = ((n, Class::Vld), (s.other, s.class));
            let (first, second) = if s.later { (other, load) } else { (load, other) };
            self.pair(first, second, (s.block, bits));
        }
    }

    fn pair(&mut self, first: (u32, Class), second: (u32, Class), (block, bits): (u32, u32)) {
        let base = u64::from(block) * 32;
        let bytes =
            (base + u64::from(bits.trailing_zeros()), base + 32 - u64::from(bits.leading_zeros()));
        match self.found.iter_mut().find(|p| (p.first, p.second) == (first, second)) {
            // The bytes of one access come in order.
            Some(p) => p.bytes = (p.bytes.0.min(bytes.0), p.bytes.1.max(bytes.1)),
            None => self.found.push(Pair { first, second, bytes }),
        }
    }

    fn block(&mut self, number: u32) -> &mut Block {
        let (page, at) = (number as usize / PAGE, number as usize % PAGE);
        if self.pages.len() <= page {
            self.pages.resize(page + 1, None);
        }
        let empty = || Box::new(std::array::from_fn(|_| Block::new()));
        &mut self.pages[page].get_or_insert_with(empty)[at]
    }
}

/// The bytes `start..start + n` by block.
pub(super) fn blocks(start: u64, n: u64, out: &mut Blocks) {
    let end = start.saturating_add(n);
    let mut at = start;
    while at < end {
        let stop = end.min((at / 32 + 1) * 32);
        let bits = u32::MAX >> (32 - (stop - at)) << (at % 32);
        add(out, at / 32, bits);
        at = stop;
    }
}

/// Adds bytes of a block, which come in order of address.
pub(super) fn add(out: &mut Blocks, block: u64, bits: u32) {
    let Ok(block) = u32::try_from(block) else { return };
    match out.last_mut() {
        Some(last) if last.0 == block => last.1 |= bits,
        _ if bits != 0 => out.push((block, bits)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
