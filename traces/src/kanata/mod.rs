//! Kanata 0004: one row an instruction, its stages and waits, for the Konata viewer.
//!
//! Lane 0 holds the stages `Q` (in the queue of its pipe), `W` (next in line, but held back),
//! `Xv` (on the pipe; `Xs`, `Xm` for scalar and transfer pipes) and `Wb` (result on its way).
//! Lane 1 names what held it back. Arrows lead from what an instruction waited for; the viewer
//! draws them only at stages with a capital X.
//!
//! On the 950 every instruction inside a vector function has a row of its own: `F` (at the head of
//! the front end), `D` (dispatched), `R` (renamed), `Sh` (in the shared queue), `Q` (in the queue of
//! its port or unit), and `Xl`, `Xs`, `Xe0`, `Xe1`, `Xp` (on a load or store port, an execution unit,
//! for predicates, scalars and barriers).
//!
//! With `per_repeat` a vector instruction is followed by one row for each repeat. The model keeps
//! the cycles of a whole instruction: its repeats are drawn evenly over them.

mod inner;

use crate::agenda::Agenda;
use crate::detail::detail;
use crate::events::{Event, Lane, Trace, What};
use crate::put;
use inner::Inner;
use ptoemu_core::stream::{Kind, NONE, Pipe};
use smallvec::SmallVec;
use std::io::{self, Write};

/// What to write.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Also one row for each repeat of a vector instruction.
    pub per_repeat: bool,
}

/// Writes a trace as a Kanata log.
pub fn write(t: &Trace, options: Options, out: &mut dyn Write) -> io::Result<()> {
    let mut w = Writer {
        t,
        options,
        out,
        line: Vec::with_capacity(1 << 16),
        now: 0,
        ids: 0,
        retired: 0,
        open: Agenda::new(Lane::ALL.len()),
        keeps: options.per_repeat || !t.functions.is_empty(),
        id_of: Vec::new(),
        inner: Inner::default(),
    };
    w.line.extend_from_slice(b"Kanata\t0004\nC=\t0\n");
    let mut born = 0;
    for (n, event) in t.events().enumerate() {
        born = event.handed.max(born);
        w.until(born)?;
        w.instruction(n as u32, &event, born)?;
        t.tick();
    }
    w.until(u64::MAX)?;
    w.flush(0)
}

/// Repeats of one instruction that get a row: all of a norm-mode instruction, sixteen times that
/// of a counter-mode one.
const MOST_REPEATS: u32 = 255 * 16;

/// What a row shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    record: u32,
    /// Next step of the row.
    step: u32,
    /// Repeat, counted from 1; 0 for the instruction itself.
    repeat: u32,
}

/// A command of a row: stage `name` of a lane starts or ends.
#[derive(Clone, Copy)]
struct Mark {
    at: u64,
    start: bool,
    lane: u8,
    name: &'static str,
}

type Marks = SmallVec<[Mark; 12]>;

struct Writer<'t, 'a, 'w> {
    t: &'t Trace<'a>,
    options: Options,
    out: &'w mut dyn Write,
    line: Vec<u8>,
    now: u64,
    ids: u32,
    retired: u64,
    /// Rows that are not finished.
    open: Agenda<(u32, Row)>,
    /// Other rows than those of records have ids too.
    keeps: bool,
    /// Then: id of each record shown.
    id_of: Vec<u32>,
    /// Instructions inside vector functions.
    inner: Inner<'t, 'a>,
}

impl<'t, 'a> Writer<'t, 'a, '_> {
    /// Writes what happens up to and in cycle `at`.
    fn until(&mut self, at: u64) -> io::Result<()> {
        loop {
            // Instructions inside functions come after records of the same cycle.
            let inside = self.inner.next();
            if let Some((cycle, (id, row))) = self.open.pop(at.min(inside)) {
                self.advance(cycle);
                self.row(id, row);
            } else if inside <= at && inside < u64::MAX {
                self.inside(inside);
            } else {
                return Ok(());
            }
            self.flush(1 << 15)?;
        }
    }

    fn flush(&mut self, above: usize) -> io::Result<()> {
        if self.line.len() > above {
            self.out.write_all(&self.line)?;
            self.line.clear();
        }
        Ok(())
    }

    fn advance(&mut self, cycle: u64) {
        if cycle > self.now {
            self.command(b"C", cycle - self.now);
            self.line.push(b'\n');
            self.now = cycle;
        }
    }

    fn command(&mut self, name: &[u8], n: u64) {
        self.line.extend_from_slice(name);
        self.line.push(b'\t');
        put::dec(&mut self.line, n);
    }

    fn field(&mut self, n: u64) {
        self.line.push(b'\t');
        put::dec(&mut self.line, n);
    }

    /// Declares a row; its thread is the pipe.
    fn declare(&mut self, record: u32, lane: Lane) -> u32 {
        let id = self.ids;
        self.ids += 1;
        self.command(b"I", u64::from(id));
        self.field(u64::from(record));
        self.field(lane as u64);
        self.line.push(b'\n');
        id
    }

    /// Declares an instruction, and its repeats if they are wanted.
    fn instruction(&mut self, n: u32, e: &Event, born: u64) -> io::Result<()> {
        self.advance(born);
        let id = self.declare(e.record, e.lane);
        if self.keeps {
            debug_assert_eq!(self.id_of.len(), n as usize);
            self.id_of.push(id);
        }
        if let Some(micros) = self.t.micros(e) {
            self.inner.launch(micros);
        }
        self.labels(id, e);
        self.arrows(id, e);
        self.row(id, Row { record: e.record, step: 0, repeat: 0 });
        if self.options.per_repeat {
            self.repeats(e)?;
        }
        self.flush(1 << 15)
    }

    fn repeats(&mut self, e: &Event) -> io::Result<()> {
        let Some((r, _)) = self.t.record(e.record) else { return Ok(()) };
        if r.kind != Kind::Vector {
            return Ok(());
        }
        for repeat in 1..=r.repeats.min(MOST_REPEATS) {
            let id = self.declare(e.record, e.lane);
            self.command(b"L", u64::from(id));
            self.line.extend_from_slice(format!("\t0\t  repeat {}\n", repeat - 1).as_bytes());
            self.row(id, Row { record: e.record, step: 0, repeat });
            self.flush(1 << 15)?;
        }
        Ok(())
    }

    fn labels(&mut self, id: u32, e: &Event) {
        let Some(s) = self.t.statics.of(e.record) else { return };
        self.command(b"L", u64::from(id));
        self.line.extend_from_slice(b"\t0\t");
        text(&mut self.line, s.code.rsplit('/').next().unwrap_or(&s.code));
        self.line.extend_from_slice(b": ");
        self.line.extend_from_slice(s.name.as_bytes());
        self.line.push(b' ');
        detail(self.t, e.record, 0, &mut self.line);
        self.line.push(b'\n');
        self.command(b"L", u64::from(id));
        self.line.extend_from_slice(b"\t1\t");
        if let Some(op) = s.tile_op {
            self.line.extend_from_slice(op.as_bytes());
            self.line.extend_from_slice(b"\\n");
        }
        for (name, cycle) in
            [("handed over ", e.handed), ("starts ", e.start), ("ends ", e.end), ("done ", e.done)]
        {
            self.line.extend_from_slice(name.as_bytes());
            put::dec(&mut self.line, cycle);
            self.line.extend_from_slice(b"\\n");
        }
        let conflict = self.t.record(e.record).map_or(0, |(_, e)| e.conflict);
        self.line.extend_from_slice(b"bank conflict cycles ");
        put::dec(&mut self.line, u64::from(conflict));
        self.line.push(b'\n');
    }

    /// Arrows from what the record waited for.
    fn arrows(&mut self, id: u32, e: &Event) {
        let Some((r, entry)) = self.t.record(e.record) else { return };
        let set = if r.kind == Kind::WaitFlag { r.link } else { NONE };
        let mut producers: SmallVec<[u32; 4]> = SmallVec::new();
        let stalls = self.t.stalls(e.record).iter().map(|s| s.blocker);
        for p in [entry.after, set].into_iter().chain(stalls) {
            if p < e.record && !producers.contains(&p) {
                producers.push(p);
            }
        }
        for p in producers {
            let Some(n) = self.t.selection.position(p) else { continue };
            let of = if self.keeps { self.id_of.get(n as usize).copied() } else { Some(n) };
            let Some(producer) = of else { continue };
            self.command(b"W", u64::from(id));
            self.field(u64::from(producer));
            self.field(0);
            self.line.push(b'\n');
        }
    }

    /// Writes what happens to a row now, and queues it for its next cycle.
    fn row(&mut self, id: u32, mut row: Row) {
        let Some(e) = self.t.event(row.record) else { return };
        let (lane, marks) = (e.lane as usize, self.marks(&e, &row));
        while let Some(m) = marks.get(row.step as usize) {
            if m.at > self.now {
                self.open.push(lane, m.at, (id, row));
                return;
            }
            self.command(if m.start { b"S" } else { b"E" }, u64::from(id));
            self.field(u64::from(m.lane));
            self.line.push(b'\t');
            self.line.extend_from_slice(m.name.as_bytes());
            self.line.push(b'\n');
            row.step += 1;
        }
        let end = self.end(&e, &row).max(self.now);
        if end > self.now {
            self.open.push(lane, end, (id, row));
            return;
        }
        self.command(b"R", u64::from(id));
        self.field(self.retired);
        self.field(0);
        self.line.push(b'\n');
        self.retired += 1;
    }

    fn end(&self, e: &Event, row: &Row) -> u64 {
        if row.repeat == 0 { e.done } else { self.repeat(e, row.repeat).1 }
    }

    /// First cycle of a repeat and one past its last: even shares of the instruction's.
    fn repeat(&self, e: &Event, repeat: u32) -> (u64, u64) {
        let n = self.t.record(e.record).map_or(1, |(r, _)| u64::from(r.repeats.max(1)));
        let span = u128::from(e.end - e.start);
        let at = |k: u32| e.start + (span * u128::from(k) / u128::from(n)) as u64;
        (at(repeat - 1), at(repeat))
    }

    fn marks(&self, e: &Event, row: &Row) -> Marks {
        let mut m = Marks::new();
        if row.repeat > 0 {
            let at = self.repeat(e, row.repeat).0;
            m.push(Mark { at, start: true, lane: 0, name: "Xv" });
            return m;
        }
        let phases = self.t.phases(e);
        let held = phases.iter().map(|p| p.end - p.start).sum::<u64>();
        let mut stage = |from: u64, to: u64, name| {
            if from < to {
                m.push(Mark { at: from, start: true, lane: 0, name });
            }
        };
        match e.what {
            What::Work => {
                let head = e.start.saturating_sub(held).max(e.handed);
                stage(e.handed, head, "Q");
                stage(head, e.start, "W");
                stage(e.start, e.end, execute(e.lane));
                stage(e.end, e.done, "Wb");
            }
            What::Control => {
                stage(e.start, e.end, "Xs");
                stage(e.end, e.done, "Wb");
            }
            What::Barrier | What::Set => {
                stage(e.handed, e.start, "W");
                stage(e.start, e.end, "X");
            }
            What::Wait => {
                stage(e.handed, e.start, "Q");
                stage(e.start, e.end, "X");
            }
        }
        for p in &phases {
            m.push(Mark { at: p.start, start: true, lane: 1, name: p.cause.name() });
            m.push(Mark { at: p.end, start: false, lane: 1, name: p.cause.name() });
        }
        let conflict = self.t.record(e.record).map_or(0, |(_, x)| u64::from(x.conflict));
        if conflict > 0 {
            let from = e.end.saturating_sub(conflict).max(e.start);
            m.push(Mark { at: from, start: true, lane: 1, name: "bank" });
            m.push(Mark { at: e.end, start: false, lane: 1, name: "bank" });
        }
        m.sort_by_key(|m| m.at);
        m
    }
}

fn execute(lane: Lane) -> &'static str {
    match lane {
        l if l == Lane::of(Pipe::V) => "Xv",
        Lane::Scalar => "Xs",
        _ => "Xm",
    }
}

/// Text of a label: a tab or a line end would end the field.
fn text(out: &mut Vec<u8>, s: &str) {
    out.extend(s.bytes().map(|b| if b < b' ' { b' ' } else { b }));
}
