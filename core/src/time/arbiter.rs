//! The Unified Buffer arbiter of the repeat-based vector pipe.
//!
//! Memory is `groups` bank groups; a group's banks hold equal layers of the address range. In one
//! cycle a bank serves one access and a group one read and one write. Writes are served first,
//! then the sources in order, block by block; the next repeat starts reading when this one has
//! read everything; the write of a repeat is asked for `depth` cycles after its reads are done.

use crate::access::{Lanes, Space, Walk};
use crate::target::Target;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Repeats whose write may be outstanding before reading waits. A memory bound only: a pipe that
/// is so far behind in writing is bound by its writes whatever the bound.
const OUTSTANDING: usize = 256;
/// Repeats after which the search for a period gives up.
const SEARCH: u64 = 4096;
/// Longest instruction that is simulated repeat by repeat: comparing states costs as much.
const SHORT: u64 = 300;
/// Blocks of one operand in one repeat that are simulated; more are refused by the executor.
const BLOCKS: usize = 4096;

/// Banks of the Unified Buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// Bank groups, 1..=64.
    pub groups: u64,
    /// Bytes one bank of every group together hold: the layer of an address.
    pub layer: u64,
    /// Bytes of a block.
    pub block: u64,
}

impl Geometry {
    /// Banks as a target describes them.
    pub fn of(target: &Target) -> Geometry {
        super::figures::geometry(target)
    }
}

/// What one instruction does to the Unified Buffer.
pub(crate) struct Access<'a> {
    /// Sources in order.
    pub reads: &'a [(u64, Walk)],
    /// Destinations.
    pub writes: &'a [(u64, Walk)],
    pub lanes: Lanes,
    pub repeats: u64,
}

/// Stages that matter to the arbiter, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pace {
    /// End of a repeat's reads until its write is asked for.
    pub depth: u64,
    /// Least cycles between the starts of two repeats.
    pub interval: u64,
}

/// Blocks of one operand in one layer that lie in different groups: one bit a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plane {
    layer: u64,
    mask: u64,
}

type Planes = SmallVec<[Plane; 4]>;

/// Cycles the instruction holds the pipe.
pub(crate) fn busy(access: &Access, geometry: Geometry, pace: Pace) -> u64 {
    Arbiter::new(access, geometry, pace).run()
}

/// A remembered state: what Brent's search for a period compares with.
#[derive(Default)]
struct Anchor {
    state: Vec<u64>,
    read: u64,
    now: u64,
    patience: u64,
    /// Repeats looked at in this stretch.
    looked: u64,
}

struct Arbiter<'a> {
    access: &'a Access<'a>,
    /// Short cut of each operand, sources first.
    patterns: SmallVec<[Pattern; 3]>,
    geometry: Geometry,
    pace: Pace,
    now: u64,
    /// Repeats whose reads are done, and repeats that are written.
    read: u64,
    written: u64,
    /// Cycle the current repeat may start reading, and the blocks it still has to read.
    start: u64,
    pending: [Planes; 3],
    /// Writes asked for: from which cycle on, which blocks.
    queue: VecDeque<(u64, Planes)>,
    /// A state met in this stretch without a change of layer, and how many repeats it stands
    /// before a later one takes its place.
    anchor: Anchor,
    /// Room for the state that is compared with it.
    state: Vec<u64>,
    /// First repeat that may lie in other layers.
    uniform: u64,
    /// Look for periods?
    periods: bool,
}

impl<'a> Arbiter<'a> {
    fn new(access: &'a Access<'a>, geometry: Geometry, pace: Pace) -> Self {
        let operands = access.reads.iter().take(3).chain(access.writes);
        let mut a = Arbiter {
            access,
            patterns: operands.map(|&(b, w)| Pattern::of(b, w, access.lanes, geometry)).collect(),
            geometry,
            pace,
            now: 0,
            read: 0,
            written: 0,
            start: 0,
            pending: Default::default(),
            queue: VecDeque::with_capacity(32),
            anchor: Anchor::default(),
            state: Vec::new(),
            uniform: 0,
            periods: access.repeats > SHORT,
        };
        a.load();
        a
    }

    fn run(mut self) -> u64 {
        let repeats = self.access.repeats;
        while self.written < repeats {
            let reading = self.read < repeats && self.queue.len() < OUTSTANDING;
            let write_at = self.queue.front().map_or(u64::MAX, |w| w.0);
            let read_at = if reading { self.start } else { u64::MAX };
            self.now = self.now.max(write_at.min(read_at));
            let mut busy_banks = Planes::new();
            if write_at <= self.now {
                self.write(&mut busy_banks);
            }
            if read_at <= self.now && self.read_blocks(&busy_banks) {
                self.repeat_read();
            }
            self.now += 1;
        }
        self.now.saturating_sub(self.pace.depth)
    }

    /// Serves the oldest write; `granted` gets the banks it takes.
    fn write(&mut self, granted: &mut Planes) {
        let Some((_, planes)) = self.queue.front_mut() else { return };
        let mut groups = 0;
        for p in planes.iter_mut() {
            let grant = p.mask & !groups;
            groups |= grant;
            p.mask &= !grant;
            granted.push(Plane { layer: p.layer, mask: grant });
        }
        planes.retain(|p| p.mask != 0);
        if planes.is_empty() {
            self.queue.pop_front();
            self.written += 1;
        }
    }

    /// Serves reads of the current repeat; true if it has read everything.
    fn read_blocks(&mut self, busy_banks: &[Plane]) -> bool {
        let (mut groups, mut left) = (0, 0);
        for p in self.pending.iter_mut().flatten() {
            let taken = busy_banks.iter().filter(|b| b.layer == p.layer).fold(0, |m, b| m | b.mask);
            let grant = p.mask & !groups & !taken;
            groups |= grant;
            p.mask &= !grant;
            left |= p.mask;
        }
        left == 0
    }

    /// The reads of a repeat are done: its write is on its way, the next repeat comes up.
    fn repeat_read(&mut self) {
        let through = self.now.max(self.start + self.pace.interval.saturating_sub(1));
        let mut planes = Planes::new();
        let sources = self.access.reads.len().min(3);
        for (i, &(base, walk)) in self.access.writes.iter().enumerate() {
            self.planes(sources + i, base, walk, self.read, &mut planes);
        }
        self.queue.push_back((through + self.pace.depth, planes));
        self.read += 1;
        self.start = through + 1;
        self.load();
        if self.periods {
            self.skip();
        }
    }

    /// Blocks the current repeat has to read.
    fn load(&mut self) {
        for (i, &(base, walk)) in self.access.reads.iter().take(3).enumerate() {
            let mut planes = std::mem::take(&mut self.pending[i]);
            planes.clear();
            self.planes(i, base, walk, self.read, &mut planes);
            self.pending[i] = planes;
        }
    }

    /// Blocks of operand `index` in one repeat, in address order, each once.
    fn planes(&self, index: usize, base: u64, walk: Walk, repeat: u64, out: &mut Planes) {
        if walk.space != Space::Ub {
            return;
        }
        let g = self.geometry;
        let short = self.patterns.get(index).and_then(|p| p.plane(base, walk, repeat, g));
        if let (Some(plane), true) = (short, out.is_empty()) {
            if plane.mask != 0 {
                out.push(plane);
            }
            return;
        }
        let mut blocks: SmallVec<[u64; 16]> = SmallVec::new();
        for (_, a, b) in walk.pieces(base, repeat, self.access.lanes.of_repeat(repeat)) {
            let last = b.saturating_sub(1) / g.block;
            let room = BLOCKS.saturating_sub(blocks.len());
            blocks.extend((a / g.block..=last).take(room));
        }
        blocks.sort_unstable();
        blocks.dedup();
        for b in blocks {
            let (layer, bit) = (b * g.block / g.layer, 1u64 << (b % g.groups).min(63));
            match out.iter_mut().find(|p| p.layer == layer && p.mask & bit == 0) {
                Some(p) => p.mask |= bit,
                None => out.push(Plane { layer, mask: bit }),
            }
        }
    }

    /// Jumps over whole periods of the state.
    fn skip(&mut self) {
        let last_full = match self.access.lanes {
            Lanes::Count { total, per_repeat } => total / u64::from(per_repeat.max(1)),
            _ => u64::MAX,
        };
        let end = self.access.repeats.saturating_sub(1).min(last_full);
        if self.read >= self.uniform {
            self.anchor = Anchor::default();
            self.uniform = self.next_layer_change();
        }
        if self.read >= end || self.anchor.looked >= SEARCH {
            return;
        }
        self.anchor.looked += 1;
        self.describe();
        if self.state != self.anchor.state {
            if self.read - self.anchor.read >= self.anchor.patience {
                std::mem::swap(&mut self.state, &mut self.anchor.state);
                (self.anchor.read, self.anchor.now) = (self.read, self.now);
                self.anchor.patience = (2 * self.anchor.patience).max(1);
            }
            return;
        }
        let (repeats, cycles) = (self.read - self.anchor.read, self.now - self.anchor.now);
        let n = end.min(self.uniform).saturating_sub(self.read) / repeats.max(1);
        self.read += n * repeats;
        self.written += n * repeats;
        self.now += n * cycles;
        self.start += n * cycles;
        for w in &mut self.queue {
            w.0 += n * cycles;
        }
        self.load();
        self.anchor = Anchor::default();
    }

    /// Everything the future depends on, relative to now, into `state`.
    fn describe(&mut self) {
        let mut key = std::mem::take(&mut self.state);
        key.clear();
        let mut layers: SmallVec<[u64; 8]> = SmallVec::new();
        let mut name = |layer: u64| {
            let known = layers.iter().position(|&l| l == layer);
            known.unwrap_or_else(|| {
                layers.push(layer);
                layers.len() - 1
            }) as u64
        };
        key.push(self.start - self.now);
        let turn = self.geometry.groups * self.geometry.block;
        for &(base, walk) in self.access.reads.iter().chain(self.access.writes) {
            let at = walk.addr(base, self.read, 0).unwrap_or(0);
            key.push(at % turn);
            key.push(name(at / self.geometry.layer));
        }
        for (ready, planes) in &self.queue {
            key.push(ready.saturating_sub(self.now) << 1 | 1);
            for p in planes {
                key.push(p.mask);
                key.push(name(p.layer) << 1);
            }
        }
        self.state = key;
    }

    /// First repeat after the current one in which an operand may touch another layer.
    fn next_layer_change(&self) -> u64 {
        let per_operand = |&(base, walk): &(u64, Walk)| {
            let (lo, hi) = walk.reach(base, self.read, self.read + 1);
            let size = i128::from(self.geometry.layer);
            let (a, b) = (lo.div_euclid(size), (hi - 1).div_euclid(size));
            if a != b {
                return self.read + 1;
            }
            let more = match i128::from(walk.rep) {
                0 => return u64::MAX,
                r if r > 0 => ((b + 1) * size - hi) / r,
                r => (lo - a * size) / -r,
            };
            self.read.saturating_add(u64::try_from(more).unwrap_or(u64::MAX).saturating_add(1))
        };
        let operands = self.access.reads.iter().chain(self.access.writes);
        operands.map(per_operand).min().unwrap_or(u64::MAX)
    }
}

mod pattern;
use pattern::Pattern;

#[cfg(test)]
mod tests;
