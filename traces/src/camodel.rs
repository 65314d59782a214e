//! Dumps as the vendor's cycle-accurate simulator writes them: when each instruction was issued,
//! when it ended, and how busy the pipes were.
//!
//! Scripts pair the two files of A2 and A3 by address: the k-th issue of an address belongs to its
//! k-th end. On the 950 every line has an id, the same in both files. Instructions are not encoded,
//! so every binary is 0; register numbers are made up.

use crate::detail::{detail, short};
use crate::events::{Event, Lane, Trace, What};
use crate::ids::Ids;
use crate::put;
use crate::statics::Statics;
use crate::vf::{Function, in_order};
use ptoemu_core::stream::{Kind, Pipe};
use ptoemu_core::target::Family;
use ptoemu_core::time::vf::VfRecord;
use std::io::{self, Write};

/// Which of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dump {
    /// `instr_popped_log`: issues.
    Popped,
    /// `instr_log`: ends.
    Ended,
}

/// Writes one of the two instruction dumps.
pub fn write(t: &Trace, dump: Dump, out: &mut dyn Write) -> io::Result<()> {
    let ids = (t.target.family == Family::A5).then(|| Ids::new(t));
    let mut w = Writer { t, ids, line: Vec::with_capacity(1 << 16), out };
    for (n, register) in [(0, "BLOCKID"), (1, "SUBBLOCKID")] {
        let value = if n == 0 { u64::from(t.core) } else { 0 };
        w.head(0, Statics::start_pc(n), "SCALAR", n);
        w.line.extend_from_slice(b"MOV_XD_SPR  XD:X0=");
        put::hex(&mut w.line, value);
        w.line.extend_from_slice(format!(", SPR:{register},\n").as_bytes());
    }
    let ends = ends(t);
    let tick = |i: u32, e: &Event| match dump {
        Dump::Popped => issued(e),
        Dump::Ended => position(t, i).and_then(|n| ends.get(n).copied()).unwrap_or(e.done),
    };
    let mut micros = micros(t, dump).peekable();
    for (tick, _, i) in t.ordered(|e| (tick(e.record, e), 0)) {
        while let Some((at, launch, function, r)) = micros.next_if(|m| m.0 < tick) {
            w.micro(at, launch, function, &r)?;
        }
        let Some(e) = t.event(i) else { continue };
        w.instruction(&e, tick)?;
        t.tick();
    }
    for (at, launch, function, r) in micros {
        w.micro(at, launch, function, &r)?;
    }
    w.out.write_all(&w.line)
}

/// Instructions inside vector functions in the order of a dump: tick, launch, function.
fn micros<'t>(
    t: &'t Trace,
    dump: Dump,
) -> impl Iterator<Item = (u64, u32, &'t Function<'t>, VfRecord)> {
    let key = move |r: &VfRecord| if dump == Dump::Popped { r.issue } else { r.done };
    t.launches().filter_map(move |e| Some((e.record, t.micros(&e)?))).flat_map(move |(i, all)| {
        let function = all.function;
        in_order(all, |r| r.dispatch, key).map(move |r| (key(&r), i, function, r))
    })
}

struct Writer<'t, 'a, 'w> {
    t: &'t Trace<'a>,
    /// Ids of the 950.
    ids: Option<Ids>,
    line: Vec<u8>,
    out: &'w mut dyn Write,
}

impl Writer<'_, '_, '_> {
    fn head(&mut self, tick: u64, pc: u64, pipe: &str, id: u64) {
        let line = &mut self.line;
        line.extend_from_slice(b"[info] [");
        put::dec_padded(line, tick, 8);
        line.extend_from_slice(b"] (PC: ");
        put::hex(line, pc);
        line.extend_from_slice(b") ");
        line.extend_from_slice(pipe.as_bytes());
        line.resize(line.len() + 8usize.saturating_sub(pipe.len()), b' ');
        line.extend_from_slice(b" : (Binary: 0x00000000) ");
        if self.ids.is_some() {
            line.extend_from_slice(b"(ID: ");
            put::dec_padded(line, id, 6);
            line.extend_from_slice(b") ");
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.line.push(b'\n');
        if self.line.len() > 1 << 15 {
            self.out.write_all(&self.line)?;
            self.line.clear();
        }
        Ok(())
    }

    /// One line; a mask write is one line for each half of the mask.
    fn instruction(&mut self, e: &Event, tick: u64) -> io::Result<()> {
        let t = self.t;
        let Some(s) = t.statics.of(e.record) else { return Ok(()) };
        let (pc, id) = (Statics::pc(t.statics.index(e.record)), self.id(e.record));
        if let Some(f) = t.function(e) {
            self.head(tick, pc, "PUSHQ", id);
            // One space, then a comma: scripts look for this text.
            let text = totals(f.cycles(), f.active(), f.instructions());
            self.line.extend_from_slice(text.as_bytes());
            return self.end();
        }
        let halves = match t.record(e.record) {
            Some((r, _)) if r.kind == Kind::MaskWrite => r.link.clamp(1, 2),
            _ => 1,
        };
        let pipe = match e.lane {
            Lane::Vector => short(Pipe::V),
            lane => lane.name(),
        };
        for half in 0..halves {
            self.head(tick, pc, pipe, id);
            self.line.extend_from_slice(s.name.as_bytes());
            self.line.extend_from_slice(b"  ");
            detail(t, e.record, half, &mut self.line);
            self.end()?;
        }
        Ok(())
    }

    fn id(&self, record: u32) -> u64 {
        self.ids.as_ref().map_or(0, |ids| ids.of(record))
    }

    fn micro(&mut self, tick: u64, launch: u32, f: &Function, r: &VfRecord) -> io::Result<()> {
        let Some(i) = f.inst(r) else { return Ok(()) };
        let pc = self.t.statics.inner_pc(self.t.statics.index(launch), r.inst);
        let id = self.id(launch) + 1 + r.seq;
        self.head(tick, pc, i.lane.name(), id);
        self.line.extend_from_slice(i.name.as_bytes());
        self.line.extend_from_slice(b"  ");
        self.line.extend_from_slice(i.detail.as_bytes());
        self.t.tick();
        self.end()
    }
}

/// Cycles of a vector function, those from its first dispatch to its last result, instructions.
fn totals(cycles: u64, active: u64, instructions: u64) -> String {
    format!(
        "VF , vf_execute_time: {cycles}, vf_real_execute_time: {active}, instr_num: {instructions}"
    )
}

fn position(t: &Trace, i: u32) -> Option<usize> {
    t.selection.position(i).map(|n| n as usize)
}

/// Cycle an event leaves the queue.
fn issued(e: &Event) -> u64 {
    match e.what {
        What::Work | What::Control => e.start,
        What::Barrier | What::Set | What::Wait => e.handed,
    }
}

/// Cycle each record shown ends: vector instructions when they retire. Runs of one instruction end
/// in the order they were issued.
fn ends(t: &Trace) -> Vec<u64> {
    let mut last = vec![0; t.statics.items().len()];
    let mut out = Vec::with_capacity(t.selection.len());
    for e in t.events() {
        let vector = t.record(e.record).is_some_and(|(r, _)| r.kind == Kind::Vector);
        let end = if vector { t.timeline.retired(e.record).unwrap_or(e.done) } else { e.done };
        let end = end.max(e.end).max(issued(&e));
        let slot = last.get_mut(t.statics.index(e.record));
        out.push(match slot {
            Some(l) => {
                *l = end.max(*l);
                *l
            }
            None => end,
        });
    }
    out
}

/// Writes `core<N>_summary_log`: ticks of the kernel, busy cycles of the pipes.
pub fn summary(t: &Trace, out: &mut dyn Write) -> io::Result<()> {
    let cycles = t.timeline.cycles;
    // Sic: scripts look for this spelling.
    writeln!(out, "kernal total ticks : {cycles}")?;
    writeln!(out, "system total ticks : {cycles}")?;
    let vector = match t.target.family {
        Family::A2A3 => "vec_veccore0_su_busy_cycle",
        Family::A5 => "rvec_veccore0_busy_cycle",
    };
    let rows = [
        ("mte2_veccore0_su_busy_cycle", Pipe::Mte2),
        ("mte3_veccore0_su_busy_cycle", Pipe::Mte3),
        (vector, Pipe::V),
        ("CCU.scalar_veccore0_su_busy_cycle", Pipe::S),
    ];
    for (name, pipe) in rows {
        writeln!(out, "{name:<38}| {}", t.timeline.pipe(pipe).busy)?;
    }
    if !t.functions.is_empty() {
        let all = t.stream.records.iter().filter(|r| r.kind == Kind::Function);
        let sum = all.filter_map(|r| t.functions.get(r.link)).fold((0, 0, 0), |sum, f| {
            (sum.0 + f.cycles(), sum.1 + f.active(), sum.2 + f.instructions())
        });
        writeln!(out, "{}", totals(sum.0, sum.1, sum.2))?;
        if let Some(remark) = t.remark() {
            writeln!(out, "note: {remark}")?;
        }
    }
    Ok(())
}
