//! What happened to each record, in the terms viewers use: lanes, slices, waits.

use crate::clock::Clock;
use crate::select::{Filter, Selection, named};
use crate::statics::Statics;
use crate::vf::{Function, Functions, Micros};
use ptoemu_core::catalogue::Catalogue;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::stream::{Kind, Pipe, Record, Stream};
use ptoemu_core::target::Target;
use ptoemu_core::time::{Cause, Entry, Stall, Timeline};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A lane of a viewer, named as the vendor's tools name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Lane {
    Scalar,
    /// Mask and mode writes: handed over by S, they hold no pipe.
    FlowCtrl,
    Mte1,
    Cube,
    Fixp,
    Mte2,
    Vector,
    Mte3,
    All,
    /// Inside vector functions: computations.
    RvecExecute,
    /// Stores.
    RvecStore,
    /// Loads.
    RvecLoad,
    /// Predicates, scalars, barriers.
    RvecScalar,
}

impl Lane {
    /// Every lane, in display order.
    pub const ALL: [Lane; 13] = [
        Lane::Scalar,
        Lane::FlowCtrl,
        Lane::Mte1,
        Lane::Cube,
        Lane::Fixp,
        Lane::Mte2,
        Lane::Vector,
        Lane::Mte3,
        Lane::All,
        Lane::RvecExecute,
        Lane::RvecStore,
        Lane::RvecLoad,
        Lane::RvecScalar,
    ];

    /// Name.
    pub const fn name(self) -> &'static str {
        match self {
            Lane::Scalar => "SCALAR",
            Lane::FlowCtrl => "FLOWCTRL",
            Lane::Mte1 => "MTE1",
            Lane::Cube => "CUBE",
            Lane::Fixp => "FIXP",
            Lane::Mte2 => "MTE2",
            Lane::Vector => "VECTOR",
            Lane::Mte3 => "MTE3",
            Lane::All => "ALL",
            Lane::RvecExecute => "RVECEX",
            Lane::RvecStore => "RVECST",
            Lane::RvecLoad => "RVECLD",
            Lane::RvecScalar => "RVECSU",
        }
    }

    /// The lane of a pipe.
    pub const fn of(pipe: Pipe) -> Lane {
        match pipe {
            Pipe::S => Lane::Scalar,
            Pipe::V => Lane::Vector,
            Pipe::Mte2 => Lane::Mte2,
            Pipe::Mte3 => Lane::Mte3,
            Pipe::M => Lane::Cube,
            Pipe::Mte1 => Lane::Mte1,
            Pipe::Fix => Lane::Fixp,
            Pipe::All => Lane::All,
        }
    }
}

/// What a slice stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An instruction that holds its pipe: the lengths of these add up to the busy cycles.
    Work,
    /// A mask or mode write.
    Control,
    /// A barrier: the cycle before it opens.
    Barrier,
    /// The cycle before a flag can be seen.
    Set,
    /// From the moment the pipe waits for a flag until it sees it.
    Wait,
}

/// A stretch in which a record could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Why.
    pub cause: Cause,
    /// First cycle.
    pub start: u64,
    /// One past the last cycle.
    pub end: u64,
}

/// One record on its lane. `start..end` is what the lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its index in the stream.
    pub record: u32,
    /// What it is.
    pub what: What,
    /// Where it is drawn.
    pub lane: Lane,
    /// Cycle S handed it over.
    pub handed: u64,
    /// First cycle on the lane.
    pub start: u64,
    /// One past the last cycle on the lane.
    pub end: u64,
    /// Cycle its effect is complete.
    pub done: u64,
}

/// One timed stream and everything a writer needs to show it.
#[derive(Debug)]
pub struct Trace<'a> {
    /// What was issued.
    pub stream: &'a Stream,
    /// When it ran.
    pub timeline: &'a Timeline,
    /// What it was timed on.
    pub target: &'a Target,
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Number of the core.
    pub core: u32,
    /// Instructions as they stand in the program.
    pub statics: Statics,
    /// What runs inside vector functions.
    pub functions: Functions<'a>,
    /// The records shown.
    pub selection: Selection,
    /// The filter that chose them.
    pub filter: Filter,
    /// Clock of the target.
    pub clock: Clock,
    /// Counts records as they are written.
    pub written: Option<&'a AtomicU64>,
    /// Cycles S spends on handing a record over.
    hand_over: u64,
    /// When the pipe of a wait began to stand still, where that is later than the hand-over.
    wait_from: FxHashMap<u32, u64>,
    /// First stall of each record.
    stall_from: Vec<u32>,
}

impl<'a> Trace<'a> {
    /// Joins a stream with its timeline.
    pub fn new(
        stream: &'a Stream,
        timeline: &'a Timeline,
        target: &'a Target,
        sources: &[Arc<SourceFile>],
    ) -> Trace<'a> {
        let name = |op| target.catalogue().get(op).map(|e| e.mnemonic);
        let hand_over = target.value("scalar.issue").map_or(0, |v| (v + 0.5).floor() as u64);
        let n = stream.records.len().min(timeline.entries.len()) as u32;
        Trace {
            stream,
            timeline,
            target,
            kernel: "kernel",
            core: 0,
            statics: Statics::new(stream, name, sources),
            functions: Functions::new(stream, target),
            selection: Selection::All(n),
            filter: Filter::default(),
            clock: Clock::of(target),
            written: None,
            hand_over,
            wait_from: waits(stream, timeline),
            stall_from: first_stalls(n, &timeline.stalls),
        }
    }

    /// The same of one core of a kernel.
    pub fn named(mut self, kernel: &'a str, core: u32) -> Self {
        (self.kernel, self.core) = (kernel, core);
        self
    }

    /// The same with only some of the records.
    pub fn filtered(mut self, filter: Filter) -> Self {
        self.selection =
            Selection::new(self.stream, self.timeline, self.target.catalogue(), &filter);
        self.filter = filter;
        self
    }

    /// The same with room for so many records of instructions inside vector functions.
    pub fn keeping(mut self, records: usize) -> Self {
        self.functions = Functions::within(self.stream, self.target, records);
        self
    }

    /// Instructions inside the functions launched by the records shown that were too many to keep,
    /// and are in no file.
    pub fn not_shown(&self) -> u64 {
        let functions = self.launches().filter_map(|e| self.function(&e));
        functions.map(|f| f.instructions() - f.shown()).sum()
    }

    /// What a file should say about them; nothing if there are none.
    pub fn remark(&self) -> Option<String> {
        let n = Some(self.not_shown()).filter(|n| *n > 0)?;
        Some(format!(
            "{n} instructions inside vector functions that never became periodic are too many to \
             keep and are not shown; sums of cycles cover them"
        ))
    }

    /// The same, counting the records that were written.
    pub fn counted(mut self, written: &'a AtomicU64) -> Self {
        self.written = Some(written);
        self
    }

    /// Name of the core as the vendor's tools write it.
    pub fn core_name(&self) -> String {
        format!("core{}.veccore0", self.core)
    }

    /// The instructions of the target's family.
    pub fn catalogue(&self) -> &Catalogue {
        self.target.catalogue()
    }

    /// A record with its entry.
    pub fn record(&self, i: u32) -> Option<(&'a Record, &'a Entry)> {
        Some((self.stream.records.get(i as usize)?, self.timeline.entries.get(i as usize)?))
    }

    /// What happened to a record.
    pub fn event(&self, i: u32) -> Option<Event> {
        let (r, e) = self.record(i)?;
        let handed = e.issue.saturating_sub(u64::from(e.wait));
        let mut event = Event {
            record: i,
            what: What::Work,
            lane: Lane::of(r.pipe),
            handed,
            start: e.issue,
            end: e.issue + u64::from(e.busy),
            done: e.done.max(e.issue + u64::from(e.busy)),
        };
        match r.kind {
            Kind::Vector
            | Kind::Function
            | Kind::Copy
            | Kind::Dma
            | Kind::ScalarLoad
            | Kind::ScalarStore => {}
            Kind::MaskWrite | Kind::CtrlWrite => {
                (event.what, event.lane) = (What::Control, Lane::FlowCtrl);
                event.end = e.issue + self.hand_over;
                event.done = event.done.max(event.end);
            }
            Kind::Barrier => {
                event.what = What::Barrier;
                (event.start, event.end) = last_cycle(e.done);
            }
            Kind::SetFlag => {
                event.what = What::Set;
                (event.start, event.end) = last_cycle(e.done);
            }
            Kind::WaitFlag => {
                event.what = What::Wait;
                let from = self.wait_from.get(&i).copied().unwrap_or(e.issue);
                (event.start, event.end) = (from.min(e.done), e.done);
            }
        }
        event.done = event.done.max(event.end);
        Some(event)
    }

    /// The vector function an event launches.
    pub fn function(&self, e: &Event) -> Option<&Function<'a>> {
        let (r, _) = self.record(e.record)?;
        if r.kind == Kind::Function { self.functions.get(r.link) } else { None }
    }

    /// The instructions shown of the function an event launches, in program order.
    pub fn micros(&self, e: &Event) -> Option<Micros<'_, 'a>> {
        let function = self.function(e)?;
        let (r, _) = self.record(e.record)?;
        // A filter that names the function or its tile operation shows all of it.
        let whole = |name: &&String| !named(self.stream, self.catalogue(), r, name);
        let op = self.filter.op.as_ref().filter(whole).map(String::as_str);
        let launch = (self.statics.index(e.record), e.start);
        Some(Micros::new(function, launch, self.filter.window.clone(), op))
    }

    /// Launches of vector functions shown, in order.
    pub fn launches(&self) -> impl Iterator<Item = Event> + '_ {
        let any = !self.functions.is_empty();
        let shown = self.selection.iter().take(if any { usize::MAX } else { 0 });
        let events = shown.filter_map(|i| self.event(i));
        events.filter(|e| self.function(e).is_some())
    }

    /// The events shown, in program order.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.selection.iter().filter_map(|i| self.event(i))
    }

    /// Stalls of a record.
    pub fn stalls(&self, i: u32) -> &'a [Stall] {
        let all = &self.timeline.stalls;
        let at = |i: usize| self.stall_from.get(i).map_or(all.len(), |&n| n as usize);
        all.get(at(i as usize)..at(i as usize + 1)).unwrap_or_default()
    }

    /// The same as stretches of time, cut to what lies behind the hand-over of the record.
    pub fn phases(&self, event: &Event) -> SmallVec<[Phase; 3]> {
        let mut out = SmallVec::new();
        let stalls = self.stalls(event.record);
        let Some((r, e)) = self.record(event.record) else { return out };
        let total: u64 = stalls.iter().map(|s| s.cycles).sum();
        // What holds a pipe ends at the issue; a control record holds S after it.
        let mut at = match event.what {
            What::Work => e.issue.saturating_sub(total),
            What::Control => e.issue + self.hand_over,
            _ => e.done.saturating_sub(total).max(e.issue),
        };
        for s in stalls.iter().filter(|s| s.pipe == r.pipe || s.pipe == Pipe::S) {
            let (start, end) = (at.max(event.handed), at + s.cycles);
            if start < end {
                out.push(Phase { cause: s.cause, start, end });
            }
            at = end;
        }
        out
    }

    /// Cycles S spends on handing a record over.
    pub(crate) fn hand_over(&self) -> u64 {
        self.hand_over
    }

    /// Counts a record as written.
    pub(crate) fn tick(&self) {
        if let Some(n) = self.written {
            n.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The records shown, ordered by a cycle and a number, then as in the program.
    pub(crate) fn ordered(&self, key: impl Fn(&Event) -> (u64, u32)) -> Vec<(u64, u32, u32)> {
        let mut order = Vec::with_capacity(self.selection.len());
        order.extend(self.events().map(|e| {
            let (cycle, number) = key(&e);
            (cycle, number, e.record)
        }));
        order.sort_unstable();
        order
    }
}

fn last_cycle(done: u64) -> (u64, u64) {
    let end = done.max(1);
    (end - 1, end)
}

/// Index of the first stall of each record, or of a later one if it has none.
fn first_stalls(records: u32, stalls: &[Stall]) -> Vec<u32> {
    let mut next = 0usize;
    (0..records)
        .map(|i| {
            while stalls.get(next).is_some_and(|s| s.record < i) {
                next += 1;
            }
            next as u32
        })
        .collect()
}

/// For every wait of another pipe than S: when that pipe had finished what stood before.
fn waits(stream: &Stream, timeline: &Timeline) -> FxHashMap<u32, u64> {
    let mut free = [0u64; 8];
    let mut out = FxHashMap::default();
    for ((i, r), e) in (0u32..).zip(&stream.records).zip(&timeline.entries) {
        match r.kind {
            Kind::WaitFlag if free[r.pipe as usize] > e.issue => {
                out.insert(i, free[r.pipe as usize]);
            }
            Kind::Vector | Kind::Copy | Kind::Dma | Kind::Function => {
                free[r.pipe as usize] = e.issue + u64::from(e.busy);
            }
            _ => {}
        }
    }
    out
}
