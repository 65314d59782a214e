//! A protocol-buffer trace for Perfetto, for runs that are too large for JSON.
//!
//! One nanosecond of the trace is one cycle. Every core is a process, every pipe a track; slices
//! that overlap stand on numbered tracks of their own. Names and texts that repeat are written
//! once and referred to by number. A flow leads from every set of a flag to the end of its wait.

mod fields;
mod message;

use crate::detail::detail;
use crate::events::{Event, Lane, Trace, What};
use crate::insight::sort_index;
use crate::lanes::SubLanes;
use crate::vf::{Function, in_order};
use fields::{FRESH, NEEDED, PACKET, event, interned, packet, track};
use message::Message;
use ptoemu_core::stream::{Kind, Pipe};
use ptoemu_core::time::vf::VfRecord;
use rustc_hash::FxHashMap;
use std::io::{self, Write};

/// Writes the trace of all cores.
pub fn write(cores: &[Trace], out: &mut dyn Write) -> io::Result<()> {
    for t in cores {
        let mut w = Writer::new(t, out);
        w.process();
        w.records()?;
        w.functions()?;
        w.throughput(Pipe::Mte2)?;
        w.throughput(Pipe::Mte3)?;
        w.flush(0)?;
    }
    Ok(())
}

/// Texts by number; the new ones are written with the next event.
#[derive(Default)]
struct Texts {
    ids: FxHashMap<String, u64>,
    new: Vec<(u64, String)>,
}

impl Texts {
    fn id(&mut self, text: &str) -> u64 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = self.ids.len() as u64 + 1;
        self.ids.insert(text.to_string(), id);
        self.new.push((id, text.to_string()));
        id
    }
}

/// What is said of a slice.
enum Value<'v> {
    /// A text that repeats.
    Shared(&'v str),
    Text(&'v [u8]),
    Number(u64),
}

/// A slice of a track.
struct Slice<'v> {
    track: u64,
    name: &'v str,
    start: u64,
    end: u64,
    /// A flow that starts here, one that ends here.
    flows: (Option<u64>, Option<u64>),
    said: &'v [(&'static str, Value<'v>)],
}

struct Writer<'t, 'a, 'w> {
    t: &'t Trace<'a>,
    out: &'w mut dyn Write,
    /// Packets not handed on yet.
    done: Message,
    /// Number of the sequence: that of the core, from 1.
    core: u64,
    fresh: bool,
    names: Texts,
    keys: Texts,
    texts: Texts,
    lanes: Vec<SubLanes>,
    /// Tracks described so far, of each lane.
    described: Vec<usize>,
}

impl<'t, 'a, 'w> Writer<'t, 'a, 'w> {
    fn new(t: &'t Trace<'a>, out: &'w mut dyn Write) -> Self {
        Writer {
            t,
            out,
            done: Message::default(),
            core: u64::from(t.core) + 1,
            fresh: true,
            names: Texts::default(),
            keys: Texts::default(),
            texts: Texts::default(),
            lanes: vec![SubLanes::default(); Lane::ALL.len()],
            described: vec![0; Lane::ALL.len()],
        }
    }

    fn flush(&mut self, above: usize) -> io::Result<()> {
        if self.done.0.len() > above {
            self.out.write_all(&self.done.0)?;
            self.done.0.clear();
        }
        Ok(())
    }

    fn packet(&mut self, at: Option<u64>, fill: impl FnOnce(&mut Message)) {
        let (core, fresh) = (self.core, std::mem::take(&mut self.fresh));
        self.done.message(PACKET, |m| {
            if let Some(at) = at {
                m.number(packet::TIMESTAMP, at);
            }
            m.number(packet::SEQUENCE, core);
            m.number(packet::FLAGS, if fresh { FRESH | NEEDED } else { NEEDED });
            fill(m);
        });
    }

    /// Describes the process of the core.
    fn process(&mut self) {
        let t = self.t;
        let name = format!(
            "{} of {} on {}, 1 ns = 1 cycle (clock {} MHz)",
            t.core_name(),
            t.kernel,
            t.target.name,
            t.clock.mhz()
        );
        let name = match t.remark() {
            Some(remark) => format!("{name}; {remark}"),
            None => name,
        };
        let (uuid, pid) = (self.core << 40, self.core);
        self.packet(None, |m| {
            m.message(packet::TRACK, |m| {
                m.number(track::UUID, uuid);
                m.message(track::PROCESS, |m| {
                    m.number(track::PID, pid);
                    m.bytes(track::PROCESS_NAME, name.as_bytes());
                });
                m.number(track::ORDERING, track::EXPLICIT);
            });
        });
    }

    /// Describes a track of the process; a counter, if it has a unit.
    fn track(&mut self, uuid: u64, name: &str, rank: u64, unit: Option<&str>) {
        let parent = self.core << 40;
        self.packet(None, |m| {
            m.message(packet::TRACK, |m| {
                m.number(track::UUID, uuid);
                m.number(track::PARENT, parent);
                m.bytes(track::NAME, name.as_bytes());
                m.number(track::RANK, rank);
                if let Some(unit) = unit {
                    let unit = unit.as_bytes();
                    m.message(track::COUNTER, |m| m.bytes(track::UNIT_NAME, unit));
                }
            });
        });
    }

    /// The track of a lane that is free from `start` on; taken until `end`.
    fn place(&mut self, lane: Lane, start: u64, end: u64) -> u64 {
        let n = lane as usize;
        let Some(lanes) = self.lanes.get_mut(n) else { return self.core << 40 };
        let sub = usize::from(lanes.place(start, end));
        for s in self.described.get(n).copied().unwrap_or(0)..sub + 1 {
            let name = match s {
                0 => lane.name().to_string(),
                s => format!("{}_{}", lane.name(), s + 1),
            };
            self.track(uuid_of(self.core, n, s), &name, sort_index(lane) * 1000 + s as u64, None);
        }
        if let Some(d) = self.described.get_mut(n) {
            *d = (*d).max(sub + 1);
        }
        uuid_of(self.core, n, sub)
    }

    fn slice(&mut self, s: &Slice) -> io::Result<()> {
        let name = self.names.id(s.name);
        let mut said: Vec<(u64, Result<u64, &Value>)> = Vec::with_capacity(s.said.len());
        for (key, value) in s.said {
            let value = match value {
                Value::Shared(text) => Ok(self.texts.id(text)),
                other => Err(other),
            };
            said.push((self.keys.id(key), value));
        }
        let new = [
            (interned::NAMES, std::mem::take(&mut self.names.new)),
            (interned::KEYS, std::mem::take(&mut self.keys.new)),
            (interned::TEXTS, std::mem::take(&mut self.texts.new)),
        ];
        self.packet(Some(s.start), |m| {
            if new.iter().any(|(_, list)| !list.is_empty()) {
                m.message(packet::INTERNED, |m| new.iter().for_each(|n| texts(m, n)));
            }
            m.message(packet::EVENT, |m| {
                m.number(event::TYPE, event::BEGIN);
                m.number(event::TRACK, s.track);
                m.number(event::NAME, name);
                s.flows.0.into_iter().for_each(|id| m.fixed(event::FLOW, id));
                said.iter().for_each(|s| annotation(m, s));
            });
        });
        self.packet(Some(s.end), |m| {
            m.message(packet::EVENT, |m| {
                m.number(event::TYPE, event::END);
                m.number(event::TRACK, s.track);
                s.flows.1.into_iter().for_each(|id| m.fixed(event::FLOW_END, id));
            });
        });
        self.t.tick();
        self.flush(1 << 15)
    }

    /// Every record shown, by its start.
    fn records(&mut self) -> io::Result<()> {
        let t = self.t;
        for (_, _, i) in t.ordered(|e| (e.start, 0)) {
            if let Some(e) = t.event(i) {
                self.record(&e)?;
            }
        }
        Ok(())
    }

    fn record(&mut self, e: &Event) -> io::Result<()> {
        let t = self.t;
        let (Some(s), Some((r, entry))) = (t.statics.of(e.record), t.record(e.record)) else {
            return Ok(());
        };
        let track = self.place(e.lane, e.start, e.end);
        let mut operands = Vec::new();
        detail(t, e.record, 0, &mut operands);
        let mut said = vec![
            ("code", Value::Shared(&s.code)),
            ("detail", Value::Text(&operands)),
            ("handed_over", Value::Number(e.handed)),
            ("done", Value::Number(e.done)),
        ];
        if let Some(op) = s.tile_op {
            said.push(("tile_op", Value::Shared(op)));
        }
        if entry.conflict > 0 {
            said.push(("conflict_cycles", Value::Number(u64::from(entry.conflict))));
        }
        if let Some(f) = t.function(e) {
            said.push(("instructions", Value::Number(f.instructions())));
        }
        let flow = |record: u32| self.core << 32 | u64::from(record);
        let shown = |r: u32| t.selection.position(r).is_some();
        let flows = match e.what {
            What::Set => (Some(flow(e.record)), None),
            What::Wait => (None, Some(r.link).filter(|&r| shown(r)).map(flow)),
            _ => (None, None),
        };
        self.slice(&Slice { track, name: &s.name, start: e.start, end: e.end, flows, said: &said })
    }

    /// The instructions inside functions.
    fn functions(&mut self) -> io::Result<()> {
        let t = self.t;
        for launch in t.launches() {
            let Some(all) = t.micros(&launch) else { continue };
            let function = all.function;
            let index = t.statics.index(launch.record);
            for r in in_order(all, |r| r.dispatch, |r| r.issue) {
                self.inner(function, &r, index)?;
            }
        }
        Ok(())
    }

    fn inner(&mut self, f: &Function, r: &VfRecord, index: usize) -> io::Result<()> {
        let Some(i) = f.inst(r) else { return Ok(()) };
        let track = self.place(i.lane, r.issue, r.done);
        let said = [
            ("code", Value::Shared(self.t.statics.inner_code(index, i.site))),
            ("detail", Value::Shared(i.detail.as_str())),
            ("number", Value::Number(r.seq)),
            ("dispatched", Value::Number(r.dispatch)),
            ("queued", Value::Number(r.queue)),
            ("waited_for", Value::Shared(r.after.cause.name())),
        ];
        let (start, end) = (r.issue, r.done);
        self.slice(&Slice { track, name: &i.name, start, end, flows: (None, None), said: &said })
    }

    /// Bytes a cycle of a transfer pipe, as a curve.
    fn throughput(&mut self, pipe: Pipe) -> io::Result<()> {
        let t = self.t;
        let uuid = uuid_of(self.core, Lane::ALL.len() + 1, pipe as usize);
        let mut until: Option<u64> = None;
        for e in t.events() {
            let Some((r, _)) = t.record(e.record) else { continue };
            if r.kind != Kind::Dma || r.pipe != pipe || e.end == e.start {
                continue;
            }
            match until {
                None => {
                    let name = format!("{} throughput", pipe.short());
                    self.track(uuid, &name, 100_000 + pipe as u64, Some("bytes/cycle"));
                }
                Some(u) if u < e.start => self.sample(uuid, u, 0.0),
                Some(_) => {}
            }
            self.sample(uuid, e.start, t.stream.bytes(r) as f64 / (e.end - e.start) as f64);
            until = Some(e.end);
            self.flush(1 << 15)?;
        }
        if let Some(u) = until {
            self.sample(uuid, u, 0.0);
        }
        Ok(())
    }

    fn sample(&mut self, uuid: u64, at: u64, value: f64) {
        self.packet(Some(at), |m| {
            m.message(packet::EVENT, |m| {
                m.number(event::TYPE, event::COUNTER);
                m.number(event::TRACK, uuid);
                m.double(event::VALUE, value);
            });
        });
    }
}

/// Number of a track: core, lane, sub-lane.
fn uuid_of(core: u64, lane: usize, sub: usize) -> u64 {
    core << 40 | (lane as u64 + 1) << 20 | sub as u64
}

fn texts(m: &mut Message, (field, list): &(u32, Vec<(u64, String)>)) {
    for (id, text) in list {
        m.message(*field, |m| {
            m.number(interned::NUMBER, *id);
            m.bytes(interned::TEXT, text.as_bytes());
        });
    }
}

fn annotation(m: &mut Message, (key, value): &(u64, Result<u64, &Value>)) {
    m.message(event::ANNOTATION, |m| {
        m.number(event::KEY, *key);
        match value {
            Ok(text) => m.number(event::SHARED_TEXT, *text),
            Err(Value::Text(text)) => m.bytes(event::TEXT, text),
            Err(Value::Number(n)) => m.number(event::UNSIGNED, *n),
            Err(Value::Shared(text)) => m.bytes(event::TEXT, text.as_bytes()),
        }
    });
}
