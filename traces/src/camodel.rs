//! Dumps as the vendor's cycle-accurate simulator writes them: when each instruction was issued,
//! when it ended, and how busy the pipes were.
//!
//! Scripts pair the two files by address: the k-th issue of an address belongs to its k-th end.
//! Instructions are not encoded, so every binary is 0; register numbers are made up.

use crate::detail::{detail, short};
use crate::events::{Event, Lane, Trace, What};
use crate::put;
use crate::statics::Statics;
use ptoemu_core::stream::{Kind, Pipe};
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
    let mut line = Vec::with_capacity(1 << 16);
    for (n, register) in [(0, "BLOCKID"), (1, "SUBBLOCKID")] {
        let value = if n == 0 { u64::from(t.core) } else { 0 };
        head(&mut line, 0, Statics::start_pc(n), "SCALAR");
        line.extend_from_slice(b"MOV_XD_SPR  XD:X0=");
        put::hex(&mut line, value);
        line.extend_from_slice(format!(", SPR:{register},\n").as_bytes());
    }
    let ends = ends(t);
    let tick = |i: u32, e: &Event| match dump {
        Dump::Popped => issued(e),
        Dump::Ended => position(t, i).and_then(|n| ends.get(n).copied()).unwrap_or(e.done),
    };
    for (tick, _, i) in t.ordered(|e| (tick(e.record, e), 0)) {
        let Some(e) = t.event(i) else { continue };
        instruction(t, &e, tick, &mut line);
        t.tick();
        if line.len() > 1 << 15 {
            out.write_all(&line)?;
            line.clear();
        }
    }
    out.write_all(&line)
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

fn head(line: &mut Vec<u8>, tick: u64, pc: u64, pipe: &str) {
    line.extend_from_slice(b"[info] [");
    put::dec_padded(line, tick, 8);
    line.extend_from_slice(b"] (PC: ");
    put::hex(line, pc);
    line.extend_from_slice(b") ");
    line.extend_from_slice(pipe.as_bytes());
    line.resize(line.len() + 8usize.saturating_sub(pipe.len()), b' ');
    line.extend_from_slice(b" : (Binary: 0x00000000) ");
}

/// One line; a mask write is one line for each half of the mask.
fn instruction(t: &Trace, e: &Event, tick: u64, line: &mut Vec<u8>) {
    let Some(s) = t.statics.of(e.record) else { return };
    let halves = match t.record(e.record) {
        Some((r, _)) if r.kind == Kind::MaskWrite => r.link.clamp(1, 2),
        _ => 1,
    };
    let pipe = match e.lane {
        Lane::Vector => short(Pipe::V),
        lane => lane.name(),
    };
    for half in 0..halves {
        head(line, tick, Statics::pc(t.statics.index(e.record)), pipe);
        line.extend_from_slice(s.name.as_bytes());
        line.extend_from_slice(b"  ");
        detail(t, e.record, half, line);
        line.push(b'\n');
    }
}

/// Writes `core<N>_summary_log`: ticks of the kernel, busy cycles of the pipes.
pub fn summary(t: &Trace, out: &mut dyn Write) -> io::Result<()> {
    let cycles = t.timeline.cycles;
    // Sic: scripts look for this spelling.
    writeln!(out, "kernal total ticks : {cycles}")?;
    writeln!(out, "system total ticks : {cycles}")?;
    let rows = [
        ("mte2_veccore0_su_busy_cycle", Pipe::Mte2),
        ("mte3_veccore0_su_busy_cycle", Pipe::Mte3),
        ("vec_veccore0_su_busy_cycle", Pipe::V),
        ("CCU.scalar_veccore0_su_busy_cycle", Pipe::S),
    ];
    for (name, pipe) in rows {
        writeln!(out, "{name:<38}| {}", t.timeline.pipe(pipe).busy)?;
    }
    Ok(())
}
