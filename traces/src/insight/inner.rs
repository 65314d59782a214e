//! Slices of the instructions inside vector functions: from their start until the result is there.

use super::look::{Track, colour};
use super::{View, Writer};
use crate::events::Trace;
use crate::lanes::SubLanes;
use crate::put;
use crate::vf::{Function, in_order};
use ptoemu_core::time::vf::VfRecord;
use std::io;

/// One instruction and where it is drawn.
pub(super) struct Inner {
    pub at: VfRecord,
    pub track: Track,
    pub sub: u16,
    /// The record that launched its function.
    launch: u32,
}

/// Every instruction inside functions by its end, on a sub-lane of its own where others run.
pub(super) fn slices<'t>(t: &'t Trace) -> impl Iterator<Item = (&'t Function<'t>, Inner)> {
    let mut lanes: Vec<(Track, SubLanes)> = Vec::new();
    let launches = t.launches().filter_map(|e| Some((e.record, t.micros(&e)?)));
    let begun = launches.flat_map(|(launch, all)| {
        let function = all.function;
        in_order(all, |r| r.dispatch, |r| r.issue).map(move |at| (function, launch, at))
    });
    let placed = begun.filter_map(move |(f, launch, at)| {
        let track = Track::Lane(f.inst(&at)?.lane);
        let known = lanes.iter().position(|(k, _)| *k == track);
        let n = known.unwrap_or_else(|| {
            lanes.push((track, SubLanes::default()));
            lanes.len() - 1
        });
        let sub = lanes.get_mut(n)?.1.place(at.issue, at.done);
        Some((f, Inner { at, track, sub, launch }))
    });
    in_order(placed, |(_, r)| r.at.issue, |(_, r)| r.at.done)
}

impl Writer<'_> {
    pub(super) fn inner(
        &mut self,
        t: &Trace,
        view: View,
        f: &Function,
        r: &Inner,
    ) -> io::Result<()> {
        t.tick();
        let Some(i) = f.inst(&r.at) else { return Ok(()) };
        self.begin("X", &i.name);
        self.key("cname");
        self.string(colour(r.track));
        let (from, to) = (t.clock.picoseconds(r.at.issue), t.clock.picoseconds(r.at.done));
        self.time("ts", from);
        self.time("dur", to.saturating_sub(from));
        self.lane(t, view, r.track, r.sub);
        self.key("args");
        self.raw("{\"pc_addr\":\"");
        let index = t.statics.index(r.launch);
        put::hex(&mut self.line, t.statics.inner_pc(index, r.at.inst));
        self.raw("\",\"code\":");
        self.string(t.statics.inner_code(index, i.site));
        self.raw(",\"detail\":\"");
        self.raw(&i.detail);
        self.raw("\",\"waited_for\":\"");
        self.raw(r.at.after.cause.name());
        self.raw("\"");
        for (name, v) in [
            ("cycle_dispatch", r.at.dispatch),
            ("cycle_queue", r.at.queue),
            ("cycle_start", r.at.issue),
            ("cycle_end", r.at.done),
        ] {
            self.key(name);
            self.quoted(v);
        }
        self.raw("}");
        self.end()
    }
}
