//! `trace.json` in the dialect of the vendor's operator simulator, for MindStudio Insight,
//! Perfetto and chrome://tracing.
//!
//! The file of all cores shows how long each instruction held its pipe; the file of one core shows
//! each instruction until its result is complete, spread over sub-lanes. Neither has two slices
//! over each other on one lane. Times are microseconds with six decimals; the exact cycles stand
//! in the arguments.

mod inner;
mod look;

use crate::detail::detail;
use crate::events::{Event, Lane, Trace, What};
use crate::lanes::SubLanes;
use crate::put;
use crate::statics::Statics;
use look::{Track, colour, process};
use ptoemu_core::stream::{Kind, Pipe};
use std::io::{self, Write};

const HEAD: &str = r#"{"displayTimeUnit":"ns","profilingType":"op","schemaVersion":"#;

/// Place of a lane from the top.
pub(crate) fn sort_index(lane: Lane) -> u64 {
    look::sort_index(Track::Lane(lane))
}

/// Writes the file of all cores.
pub fn write_all(cores: &[Trace], out: &mut dyn Write) -> io::Result<()> {
    let mut w = Writer::new(out, "2")?;
    for t in cores {
        let lanes = Lanes::new(t, View::Pipes);
        w.cores_metadata(t, &lanes)?;
        w.slices(t, View::Pipes, &lanes)?;
    }
    for t in cores {
        w.throughput(t, cores.len() > 1)?;
    }
    w.finish(cores)
}

/// Writes the file of one core.
pub fn write_core(t: &Trace, out: &mut dyn Write) -> io::Result<()> {
    let mut w = Writer::new(out, "1")?;
    let lanes = Lanes::new(t, View::Latency);
    w.pipes_metadata(&lanes)?;
    w.slices(t, View::Latency, &lanes)?;
    w.finish(std::slice::from_ref(t))
}

/// Which of the two files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// All cores: slices are the time on the pipe.
    Pipes,
    /// One core: slices last until the result is complete.
    Latency,
}

impl View {
    /// First cycle of an event's slice and one past its last.
    fn span(self, e: &Event) -> (u64, u64) {
        match (self, e.what) {
            (View::Latency, What::Work) => (e.start, e.done),
            _ => (e.start, e.end),
        }
    }

    fn track(self, t: &Trace, e: &Event) -> Track {
        let scalar = |k| matches!(k, Kind::ScalarLoad | Kind::ScalarStore);
        let access = t.record(e.record).is_some_and(|(r, _)| scalar(r.kind));
        if self == View::Latency && access { Track::ScalarLdst } else { Track::Lane(e.lane) }
    }
}

/// The sub-lane of every slice shown, and how many each track has.
struct Lanes {
    sub: Vec<u16>,
    tracks: Vec<(Track, SubLanes)>,
}

impl Lanes {
    fn new(t: &Trace, view: View) -> Lanes {
        let mut lanes = Lanes {
            sub: vec![0; t.selection.len()],
            tracks: Track::ALL.iter().map(|&k| (k, SubLanes::default())).collect(),
        };
        for (_, _, i) in t.ordered(|e| (view.span(e).0, 0)) {
            let (Some(e), Some(n)) = (t.event(i), t.selection.position(i)) else { continue };
            let (track, (start, end)) = (view.track(t, &e), view.span(&e));
            let free = lanes.tracks.iter_mut().find(|(k, _)| *k == track);
            if let (Some((_, s)), Some(slot)) = (free, lanes.sub.get_mut(n as usize)) {
                *slot = s.place(start, end);
            }
        }
        for (_, r) in inner::slices(t) {
            let track = lanes.tracks.iter_mut().find(|(k, _)| *k == r.track);
            if let Some((_, s)) = track {
                s.reach(usize::from(r.sub) + 1);
            }
        }
        lanes
    }

    fn used(&self) -> impl Iterator<Item = (Track, usize)> + '_ {
        self.tracks.iter().map(|(k, s)| (*k, s.len())).filter(|(_, n)| *n > 0)
    }
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    line: Vec<u8>,
    first: bool,
}

impl<'w> Writer<'w> {
    fn new(out: &'w mut dyn Write, version: &str) -> io::Result<Writer<'w>> {
        out.write_all(HEAD.as_bytes())?;
        out.write_all(version.as_bytes())?;
        out.write_all(b",\"traceEvents\":[")?;
        Ok(Writer { out, line: Vec::with_capacity(1 << 16), first: true })
    }

    /// Ends the file; remarks stand behind the events, where viewers that know the key show them.
    fn finish(mut self, cores: &[Trace]) -> io::Result<()> {
        self.raw("]");
        let remarks = cores.iter().filter_map(|t| Some((t.core_name(), t.remark()?)));
        for (n, (core, remark)) in remarks.enumerate() {
            self.raw(if n == 0 { ",\"otherData\":{" } else { "," });
            self.string(&core);
            self.raw(":");
            self.string(&remark);
        }
        if cores.iter().any(|t| t.not_shown() > 0) {
            self.raw("}");
        }
        self.raw("}\n");
        self.out.write_all(&self.line)
    }

    /// Begins an event.
    fn begin(&mut self, phase: &str, name: &str) {
        if !std::mem::take(&mut self.first) {
            self.line.push(b',');
        }
        self.raw("{\"ph\":\"");
        self.raw(phase);
        self.raw("\",\"name\":");
        self.string(name);
    }

    fn end(&mut self) -> io::Result<()> {
        self.line.push(b'}');
        if self.line.len() > 1 << 15 {
            self.out.write_all(&self.line)?;
            self.line.clear();
        }
        Ok(())
    }

    fn raw(&mut self, s: &str) {
        self.line.extend_from_slice(s.as_bytes());
    }

    fn string(&mut self, s: &str) {
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut self.line, s);
    }

    fn key(&mut self, name: &str) {
        self.raw(",\"");
        self.raw(name);
        self.raw("\":");
    }

    fn time(&mut self, key: &str, picoseconds: u64) {
        self.key(key);
        put::millionths(&mut self.line, picoseconds);
    }

    /// A number as a string, as the vendor writes ids.
    fn quoted(&mut self, n: u64) {
        self.line.push(b'"');
        put::dec(&mut self.line, n);
        self.line.push(b'"');
    }

    fn metadata(&mut self, name: &str, pid: &str, tid: &str, arg: &str) -> io::Result<()> {
        self.begin("M", name);
        self.key("pid");
        self.raw(pid);
        self.key("tid");
        self.raw(tid);
        self.key("args");
        self.raw("{");
        self.raw(arg);
        self.raw("}");
        self.end()
    }

    fn cores_metadata(&mut self, t: &Trace, lanes: &Lanes) -> io::Result<()> {
        let pid = format!("\"{}\"", t.core_name());
        let order = format!("\"sort_index\":{}", 3 * u64::from(t.core) + 2);
        self.metadata("process_sort_index", &pid, "\"NA\"", &order)?;
        for (track, n) in lanes.used() {
            for sub in 0..n {
                let tid = format!("\"{}\"", sub_name(track, sub as u16));
                let order = format!("\"sort_index\":{}", look::sort_index(track));
                self.metadata("thread_sort_index", &pid, &tid, &order)?;
            }
        }
        Ok(())
    }

    fn pipes_metadata(&mut self, lanes: &Lanes) -> io::Result<()> {
        for (track, n) in lanes.used() {
            let pid = process(track).to_string();
            let name = format!("\"name\":\"{}\"", track.name());
            let order = format!("\"sort_index\":{}", look::sort_index(track));
            self.metadata("process_name", &pid, "0", &name)?;
            self.metadata("process_sort_index", &pid, "0", &order)?;
            for sub in 1..=n {
                let tid = sub.to_string();
                let name = format!("\"name\":\"{}_{sub}\"", track.name());
                let order = format!("\"sort_index\":{sub}");
                self.metadata("thread_name", &pid, &tid, &name)?;
                self.metadata("thread_sort_index", &pid, &tid, &order)?;
            }
        }
        Ok(())
    }

    /// Every slice, ordered by its end and its address.
    fn slices(&mut self, t: &Trace, view: View, lanes: &Lanes) -> io::Result<()> {
        let mut inside = inner::slices(t).peekable();
        for (end, _, i) in t.ordered(|e| (view.span(e).1, t.statics.index(e.record) as u32)) {
            let Some(e) = t.event(i) else { continue };
            while let Some((f, r)) = inside.next_if(|(_, r)| r.at.done < end) {
                self.inner(t, view, f, &r)?;
            }
            match e.what {
                What::Set | What::Wait => self.flag(t, view, lanes, &e)?,
                _ => self.slice(t, view, lanes, &e)?,
            }
            t.tick();
        }
        inside.try_for_each(|(f, r)| self.inner(t, view, f, &r))
    }

    /// Process and lane of an event.
    fn place(&mut self, t: &Trace, view: View, lanes: &Lanes, e: &Event) {
        let n = t.selection.position(e.record).map_or(0, |n| n as usize);
        self.lane(t, view, view.track(t, e), lanes.sub.get(n).copied().unwrap_or(0));
    }

    fn lane(&mut self, t: &Trace, view: View, track: Track, sub: u16) {
        self.key("pid");
        if view == View::Latency {
            put::dec(&mut self.line, process(track));
            self.key("tid");
            put::dec(&mut self.line, u64::from(sub) + 1);
            return;
        }
        self.raw("\"");
        self.raw("core");
        put::dec(&mut self.line, u64::from(t.core));
        self.raw(".veccore0\"");
        self.key("tid");
        self.raw("\"");
        self.raw(track.name());
        if sub > 0 {
            self.raw("_");
            put::dec(&mut self.line, u64::from(sub) + 1);
        }
        self.raw("\"");
    }

    fn slice(&mut self, t: &Trace, view: View, lanes: &Lanes, e: &Event) -> io::Result<()> {
        let Some(s) = t.statics.of(e.record) else { return Ok(()) };
        self.begin("X", &s.name);
        self.key("cname");
        self.string(colour(view.track(t, e)));
        let (start, end) = view.span(e);
        let (from, to) = (t.clock.picoseconds(start), t.clock.picoseconds(end));
        self.time("ts", from);
        self.time("dur", to.saturating_sub(from));
        self.place(t, view, lanes, e);
        self.arguments(t, e, start, end);
        self.end()
    }

    /// Arguments: strings only, the exact cycles among them.
    fn arguments(&mut self, t: &Trace, e: &Event, start: u64, end: u64) {
        let Some(s) = t.statics.of(e.record) else { return };
        self.key("args");
        self.raw("{\"pc_addr\":\"");
        put::hex(&mut self.line, Statics::pc(t.statics.index(e.record)));
        self.raw("\",\"code\":");
        self.string(&s.code);
        self.raw(",\"detail\":\"");
        // Operands hold letters, digits and `:=,` only: nothing to escape.
        detail(t, e.record, 0, &mut self.line);
        self.raw("\"");
        for (name, v) in [("cycle_start", start), ("cycle_end", end)] {
            self.key(name);
            self.quoted(v);
        }
        if let Some(op) = s.tile_op {
            self.key("tile_op");
            self.string(op);
        }
        let Some((r, entry)) = t.record(e.record) else { return self.raw("}") };
        if r.kind == Kind::Dma {
            self.key("process_bytes");
            self.quoted(t.stream.bytes(r));
        }
        if entry.conflict > 0 {
            self.key("conflict_cycles");
            self.quoted(u64::from(entry.conflict));
        }
        self.raw("}");
    }

    /// A flag set or wait: a pair of events, and for a wait the arrow from its set.
    fn flag(&mut self, t: &Trace, view: View, lanes: &Lanes, e: &Event) -> io::Result<()> {
        let Some(s) = t.statics.of(e.record) else { return Ok(()) };
        let (start, end) = view.span(e);
        for (phase, cycle) in [("B", start), ("E", end)] {
            self.begin(phase, &s.name);
            self.time("ts", t.clock.picoseconds(cycle));
            self.place(t, view, lanes, e);
            self.key("id");
            self.quoted(id(t, e.record));
            if phase == "B" {
                self.key("cname");
                self.string("black");
                self.arguments(t, e, start, end);
            }
            self.end()?;
        }
        match t.record(e.record) {
            Some((r, _)) if e.what == What::Wait && t.selection.position(r.link).is_some() => {
                let Some(set) = t.event(r.link) else { return Ok(()) };
                self.arrow(t, view, lanes, &set, e)
            }
            _ => Ok(()),
        }
    }

    fn arrow(
        &mut self,
        t: &Trace,
        view: View,
        lanes: &Lanes,
        set: &Event,
        wait: &Event,
    ) -> io::Result<()> {
        let category = format!("{}To{}", set.lane.name(), wait.lane.name());
        for (phase, e) in [("s", set), ("t", wait)] {
            self.begin(phase, "flow");
            self.key("cat");
            self.string(&category);
            self.key("id");
            self.quoted(id(t, set.record));
            self.time("ts", t.clock.picoseconds(view.span(e).1));
            self.place(t, view, lanes, e);
            self.end()?;
        }
        Ok(())
    }

    /// Bytes per time of each transfer, a step curve for either direction.
    fn throughput(&mut self, t: &Trace, several: bool) -> io::Result<()> {
        for (pipe, channel) in [(Pipe::Mte2, "GM_TO_UB"), (Pipe::Mte3, "UB_TO_GM")] {
            let name = if several { format!("core{} {channel}", t.core) } else { channel.into() };
            let mut until = None;
            for e in t.events().filter(|e| e.what == What::Work && e.lane == Lane::of(pipe)) {
                let Some((r, _)) = t.record(e.record) else { continue };
                let span = t.clock.micros(e.end - e.start);
                if span <= 0.0 {
                    continue;
                }
                if let Some(u) = until.filter(|&u| u < e.start) {
                    self.sample(t, &name, u, 0.0)?;
                }
                self.sample(t, &name, e.start, t.stream.bytes(r) as f64 / span)?;
                until = Some(e.end);
            }
            if let Some(u) = until {
                self.sample(t, &name, u, 0.0)?;
            }
        }
        Ok(())
    }

    /// A sample of a curve; viewers drop one at time 0, so it moves to cycle 1.
    fn sample(&mut self, t: &Trace, name: &str, cycle: u64, rate: f64) -> io::Result<()> {
        self.begin("C", name);
        self.time("ts", t.clock.picoseconds(cycle.max(1)));
        self.raw(",\"pid\":\"MTE Throughput\",\"tid\":0,\"args\":{\"throughput(MB/s)\":");
        self.raw(&format!("{rate:.3}"));
        self.raw("}");
        self.end()
    }
}

fn sub_name(track: Track, sub: u16) -> String {
    match sub {
        0 => track.name().to_string(),
        n => format!("{}_{}", track.name(), n + 1),
    }
}

/// An id no other record of any core has.
fn id(t: &Trace, record: u32) -> u64 {
    u64::from(t.core) << 32 | u64::from(record)
}
