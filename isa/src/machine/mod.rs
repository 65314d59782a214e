//! The A2/A3 machine: executes instructions for values and records what was issued.

mod backends;
mod indirect;
mod lanes;
mod log;
mod overlap;
mod plan;
mod regs;
mod remarks;
mod stale;
mod verify;

pub use backends::{Lister, Recorder};
pub(crate) use indirect::{Lists, Va, indirect, kept, reduce_elements};
pub(crate) use lanes::{
    Active, active, gather_repeat, lane_addr, run as run_lanes, undefined_lanes, whole_defined,
};
pub use log::Log;
pub use plan::{Plan, field, named, order, padded, pipe as pipe_named, plan};
pub use regs::{CTRL_COUNTER, MaskedCompare, Regs, Settings};
pub use stale::{Stale, Swap, Swapping};
pub use verify::name;

use crate::families::{Ctx, Sem};
use crate::instr::Instr;
use lanes::Scratch;
use ptoemu_core::access::Space;
use ptoemu_core::check::state::{Modes, left_behind};
use ptoemu_core::check::uninit::{Partial, Sink, residue, undefined};
use ptoemu_core::check::{Finding, Findings, Owner};
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::state::{Gm, Memory, WRITER_NONE};
use ptoemu_core::stream::{Kind, NONE, OpId, SiteId, Stream};
use std::sync::Arc;

/// A fault that stops the run (range, alignment, deadlock, illegal instruction).
#[derive(Clone, Debug)]
pub struct Stop(pub Box<Diagnostic>);

/// Whatever takes microcode: the machine, a recorder for timing alone, a listing.
pub trait Backend {
    /// Issues one instruction. Returns the loaded bits for a scalar load or a register read, 0
    /// otherwise.
    fn issue(&mut self, instr: &Instr) -> Result<u64, Stop>;
}

/// The machine: memories, registers, the stream under construction and what the checks found.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Unified Buffer.
    pub ub: Memory,
    /// Global memory.
    pub gm: Gm,
    /// Special registers.
    pub regs: Regs,
    /// Records, flags, current site.
    pub log: Log,
    /// What the checks found so far.
    pub findings: Findings,
    /// Choices and limits.
    pub settings: Settings,
    /// Named allocations of UB, for messages.
    pub owners: Vec<Owner>,
    /// Tiles whose last operation defines a part of them.
    pub partial: Vec<Partial>,
    /// Record at the other end of the fault that stopped the run, if it has one.
    pub other_end: Option<u32>,
    /// Two records that change places in this run.
    pub stale: Option<Arc<Stale>>,
    /// How far they have got.
    pub swapping: Swapping,
    scratch: Box<Scratch>,
    mask_mode_warned: bool,
}

impl Default for Machine {
    fn default() -> Self {
        Machine::new(Settings::default())
    }
}

impl Machine {
    /// A machine with undefined UB and power-on registers.
    pub fn new(settings: Settings) -> Self {
        let ub = Memory::new(settings.ub_bytes as usize, settings.poison);
        Machine::with_memory(settings, ub)
    }

    /// The same on a memory that was used before, reset if its size fits.
    pub fn reusing(settings: Settings, mut ub: Memory) -> Self {
        if ub.len() as u64 != settings.ub_bytes {
            return Machine::new(settings);
        }
        ub.reset(settings.poison);
        Machine::with_memory(settings, ub)
    }

    /// Back to power-on with undefined UB, keeping the memory.
    pub fn restart(&mut self) {
        self.ub.reset(self.settings.poison);
        if !self.settings.checks.init {
            self.ub.shadow.switch_off();
        }
        self.gm = Gm::default();
        self.regs = Regs::default();
        self.log.clear();
        self.findings = Findings::default();
        self.owners.clear();
        self.partial.clear();
        self.other_end = None;
        self.mask_mode_warned = false;
    }

    fn with_memory(settings: Settings, mut ub: Memory) -> Self {
        if !settings.checks.init {
            ub.shadow.switch_off();
        }
        Machine {
            ub,
            gm: Gm::default(),
            regs: Regs::default(),
            log: Log::of(settings.family),
            findings: Findings::default(),
            stale: settings.stale.clone().filter(|s| s.core == settings.block_idx),
            swapping: Swapping::default(),
            settings,
            owners: Vec::new(),
            partial: Vec::new(),
            other_end: None,
            scratch: Box::default(),
            mask_mode_warned: false,
        }
    }

    /// Sets where the records to come belong: source site and tile operation.
    pub fn at(&mut self, site: SiteId, group: u32) {
        (self.log.site, self.log.group) = (site, group);
    }

    /// Records so far.
    pub fn stream(&self) -> &Stream {
        &self.log.stream
    }

    /// The state a later [`Machine::leave`] compares with.
    pub fn modes(&self) -> Modes {
        self.regs.modes()
    }

    /// Reports modes left behind since `entry`: at the end of a tile operation, or of the kernel
    /// (`last`), where flags still set are reported too.
    pub fn leave(&mut self, entry: &Modes, last: bool) {
        if self.settings.checks.memory {
            self.modes_left(entry, last);
        }
        if last && self.settings.checks.sync {
            for (record, d) in self.log.unmatched() {
                let record_site = self.log.stream.records[record as usize].site;
                let op = self.log.stream.records[record as usize].op;
                self.findings.add(Finding::new(d, record, record_site), op);
            }
        }
    }

    fn modes_left(&mut self, entry: &Modes, last: bool) {
        let site = self.log.site;
        let end = self.log.stream.records.len().checked_sub(1).map_or(NONE, |r| r as u32);
        for d in left_behind(entry, &self.regs.modes(), last) {
            // Of a kernel's end, the caret belongs to what changed the state last.
            let by = if last { self.log.changed_last(d.code) } else { None };
            let at = by.map_or(site, |r| self.log.stream.records[r as usize].site);
            self.findings.add(Finding::new(d, by.unwrap_or(end), at), OpId(u16::MAX));
        }
    }

    /// An operation is about to write a tile, of which it defines only a part or everything.
    pub(crate) fn defines(&mut self, (start, end): (u64, u64), part: Option<Partial>) {
        self.partial.retain(|p| p.end <= start || end <= p.start);
        self.partial.extend(part);
    }

    /// The first undefined byte of `start..end` that no operation leaves open, and the first one
    /// that is left open.
    fn undefined(&self, start: u64, end: u64) -> (Option<u64>, Option<u64>) {
        let (mut at, mut open) = (start, None);
        while let Some(byte) = self.ub.shadow.first_undefined(at, end) {
            let Some(stop) = self.partial.iter().find_map(|p| p.open(byte)) else {
                return (Some(byte), open);
            };
            open.get_or_insert(byte);
            at = stop.max(byte + 1);
        }
        (None, open)
    }

    /// Reports the bytes of UB `start..end` that nothing defines and that a transfer stores.
    pub(crate) fn stores_defined(&mut self, i: &Instr, rec: u32, (start, end): (u64, u64)) {
        let (at, open) = match self.partial.is_empty() {
            true => (Some(start), None),
            false => self.undefined(start, end),
        };
        if let Some(at) = at {
            self.require_defined(i, rec, "src0", (at, end), Sink::Gm);
        }
        let code = "initcheck.residue";
        let Some(at) = open.filter(|_| !self.findings.seen(code, self.log.site, i.op.id())) else {
            return;
        };
        if let Some(tile) = self.partial.iter().find(|p| p.open(at).is_some()) {
            let d = residue(&name(i), at, tile, &self.owners);
            self.report(i, rec, d, (at, end), None);
        }
    }

    pub(crate) fn report(
        &mut self,
        i: &Instr,
        rec: u32,
        finding: Diagnostic,
        bytes: (u64, u64),
        other: Option<u32>,
    ) {
        let finding = finding.note(i.to_string());
        let f = Finding::new(finding, rec, self.log.site).bytes(Space::Ub, bytes.0, bytes.1);
        self.findings.add(f.other(other), i.op.id());
    }

    /// Reports the first undefined byte of UB `start..end` that reaches `sink`.
    pub(crate) fn require_defined(
        &mut self,
        i: &Instr,
        rec: u32,
        operand: &str,
        range: (u64, u64),
        sink: Sink,
    ) {
        let Some(at) = self.ub.shadow.first_undefined(range.0, range.1) else { return };
        if self.findings.seen("initcheck.undefined", self.log.site, i.op.id()) {
            return;
        }
        let writer = Some(self.ub.shadow.writer(at)).filter(|w| *w != WRITER_NONE);
        let by = writer.and_then(|w| self.log.describe(w));
        let shadow = &self.ub.shadow;
        let d = undefined(&name(i), operand, at, sink, shadow, &self.owners, by.as_deref());
        self.report(i, rec, d, (at, range.1), writer);
    }
}

impl Backend for Machine {
    fn issue(&mut self, i: &Instr) -> Result<u64, Stop> {
        verify::legal(i, &self.regs, &self.settings).map_err(Stop)?;
        let mut p = plan::plan(i, &self.regs);
        let memories = verify::Memories {
            gm: &self.gm,
            ub: &self.ub,
            settings: &self.settings,
            regs: &self.regs,
            owners: &self.owners,
        };
        verify::reach(i, &p, &memories).map_err(Stop)?;
        let rec = self.log.push(i, &p).map_err(|(d, other)| {
            self.other_end = other;
            Stop(d)
        })?;
        if p.at_most(i) {
            // Its walk says what could be written; what is, data decide.
            p.shape.0[0] = None;
        }
        if self.settings.checks.memory && matches!(p.row.kind(), Kind::Vector | Kind::Copy) {
            overlap::check(self, i, &p, rec);
            remarks::check(self, i, &p, rec);
        }
        let ctx = Ctx::new(i, &self.regs, &self.settings);
        self.before(rec);
        let bits = match p.row.sem {
            Sem::Fill(f) => lanes::run(self, &p, rec, false, &ctx, |c, d, _, _| f(c, d)),
            Sem::One(f) => lanes::run(self, &p, rec, false, &ctx, |c, d, a, _| f(c, d, a)),
            Sem::Two(f) => lanes::run(self, &p, rec, false, &ctx, f),
            Sem::AccOne(f) => lanes::run(self, &p, rec, true, &ctx, |c, d, a, _| f(c, d, a)),
            Sem::AccTwo(f) => lanes::run(self, &p, rec, true, &ctx, f),
            Sem::Convert(_) => lanes::run(self, &p, rec, false, &ctx, |c, d, a, _| {
                crate::families::convert::lanes(c, d, a)
            }),
            Sem::Nibble(_) => crate::families::convert::nibbles(self, i, &p, rec),
            Sem::Special(f) => f(self, i, &p, rec),
            Sem::Control(f) => f(&mut self.regs, i, &self.settings),
            Sem::Nothing => 0,
        };
        self.after(rec);
        Ok(bits)
    }
}

#[cfg(test)]
mod tests;
