//! The record side of issuing: stream, flags, sites.

use super::plan::{self, Plan};
use crate::a5;
use crate::instr::Instr;
use crate::table::Op;
use ptoemu_core::access::{Lanes, Walk};
use ptoemu_core::diag::{Diagnostic, Level};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{
    Kind, LanesId, Marks, NONE, OpId, Pipe, Record, Shape, ShapeId, SiteId, Stream,
};
use ptoemu_core::target::Family;
use ptoemu_core::time::vf::VfProgram;

/// Event ids of an ordered pipe pair.
const EVENTS: usize = 8;
const PIPES: usize = Pipe::ALL.len();

/// The stream under construction and what belongs to it.
#[derive(Clone, Debug)]
pub struct Log {
    /// Records so far.
    pub stream: Stream,
    /// Site of the records to come; [`NONE`] if unknown.
    pub site: SiteId,
    /// Tile operation of the records to come; [`NONE`] outside one.
    pub group: u32,
    /// Whose catalogue the records refer to.
    pub family: Family,
    /// Record of the pending set of each (source, destination, id).
    pending: Box<[u32; PIPES * PIPES * EVENTS]>,
}

impl Default for Log {
    fn default() -> Self {
        Log {
            stream: Stream::default(),
            site: SiteId(NONE),
            group: NONE,
            family: Family::A2A3,
            pending: Box::new([NONE; PIPES * PIPES * EVENTS]),
        }
    }
}

impl Log {
    /// An empty log of a family.
    pub fn of(family: Family) -> Log {
        Log { family, ..Log::default() }
    }

    /// Back to an empty log of the same family, keeping the memory.
    pub fn clear(&mut self) {
        self.stream.clear();
        (self.site, self.group) = (SiteId(NONE), NONE);
        self.pending.fill(NONE);
    }

    /// Records an instruction and returns the record's index.
    ///
    /// The caller has checked the parameters; a wait without its set and a set of a pending flag
    /// are refused here.
    /// The error carries the record of the other end, where there is one.
    pub fn push(&mut self, i: &Instr, p: &Plan) -> Result<u32, Fault> {
        let mut record = Record {
            base: p.base,
            op: self.id(i.op),
            dtype: p.wide,
            pipe: p.pipe,
            kind: p.row.kind(),
            marks: i.marks,
            repeats: p.repeats,
            shape: ShapeId(self.stream.shapes.intern(p.shape)),
            lanes: LanesId(self.stream.lanes.intern(p.lanes)),
            site: self.site,
            group: self.group,
            link: 0,
            flag: [0; 3],
        };
        match record.kind {
            Kind::MaskWrite => {
                // One MOVEMASK per half.
                record.link = 2;
                if i.args[0] == -1 && i.args[1] == -1 {
                    record.marks = record.marks.with(Marks::RESTORE);
                }
            }
            Kind::SetFlag | Kind::WaitFlag => self.resolve(i, &mut record)?,
            _ => {}
        }
        Ok(self.stream.push(record))
    }

    /// Number of an instruction in the catalogue of the family.
    pub fn id(&self, op: Op) -> OpId {
        match self.family {
            Family::A2A3 => op.id(),
            Family::A5 => a5::catalogue::shared(op),
        }
    }

    /// Records the launch of a vector function and returns the record's index.
    pub fn push_function(&mut self, program: VfProgram, dtype: DType) -> u32 {
        let record = self.bare(a5::catalogue::function(), dtype, Pipe::V, Kind::Function);
        let link = self.stream.functions.intern(program);
        self.stream.push(Record { link, ..record })
    }

    /// Records an instruction of the vector pipe outside any function and returns the record's
    /// index.
    pub fn push_single(&mut self, op: OpId, dtype: DType, repeats: u32) -> u32 {
        let record = self.bare(op, dtype, Pipe::V, Kind::Vector);
        self.stream.push(Record { repeats, ..record })
    }

    /// Records a transfer of `bursts` and returns the record's index.
    pub fn push_transfer(
        &mut self,
        op: OpId,
        dtype: DType,
        pipe: Pipe,
        sides: [(u64, Walk); 2],
        bursts: u32,
    ) -> u32 {
        // Inside UB the vector pipe moves the blocks itself.
        let kind = if pipe == Pipe::V { Kind::Copy } else { Kind::Dma };
        let mut record = self.bare(op, dtype, pipe, kind);
        let [dst, src] = sides;
        (record.base[0], record.base[1]) = (dst.0, src.0);
        let shape = Shape([Some(dst.1), Some(src.1), None]);
        record.shape = ShapeId(self.stream.shapes.intern(shape));
        record.repeats = bursts;
        self.stream.push(record)
    }

    fn bare(&mut self, op: OpId, dtype: DType, pipe: Pipe, kind: Kind) -> Record {
        Record {
            base: [0; 3],
            op,
            dtype,
            pipe,
            kind,
            marks: Marks::default(),
            repeats: 1,
            shape: ShapeId(self.stream.shapes.intern(Shape::default())),
            lanes: LanesId(self.stream.lanes.intern(Lanes::All)),
            site: self.site,
            group: self.group,
            link: 0,
            flag: [0; 3],
        }
    }

    /// Records that a pipe is done with a buffer: a flag to all pipes.
    pub fn push_release(&mut self, pipe: Pipe, id: u8) -> u32 {
        let record = self.bare(self.id(Op::set_flag), DType::I8, pipe, Kind::SetFlag);
        let flag = [pipe as u8, Pipe::All as u8, id];
        self.stream.push(Record { flag, ..record })
    }

    /// Records that a pipe waits for a release of a buffer.
    pub fn push_acquire(&mut self, pipe: Pipe, id: u8, release: u32) -> u32 {
        let record = self.bare(self.id(Op::wait_flag), DType::I8, pipe, Kind::WaitFlag);
        let from = self.stream.records.get(release as usize).map_or(Pipe::S, |r| r.pipe);
        let flag = [from as u8, pipe as u8, id];
        self.stream.push(Record { flag, link: release, ..record })
    }

    /// Is the flag of a `set_flag` or `wait_flag` set? `None` if there is no such flag.
    pub fn pending(&self, i: &Instr) -> Option<bool> {
        let (src, dst) = (plan::pipe(i, "src_pipe")?, plan::pipe(i, "dst_pipe")?);
        let id = usize::try_from(i.args[2]).ok().filter(|n| *n < EVENTS)?;
        let real = src != dst && src != Pipe::All && dst != Pipe::All;
        real.then(|| self.pending[slot(src, dst, id)] != NONE)
    }

    /// What to say of a `wait_flag` that nothing answers.
    pub fn unanswered(&self, wait: &Instr) -> (Diagnostic, Option<u32>) {
        let pipe = |what| plan::pipe(wait, what).unwrap_or(Pipe::S);
        let (src, dst) = (pipe("src_pipe"), pipe("dst_pipe"));
        let id = plan::named(wait, "event") as usize % EVENTS;
        let name = format!("[{}, {}, EVENT_ID{id}]", src.name(), dst.name());
        let (d, other) = self.no_set(&name, src, dst, id);
        (*d, other)
    }

    fn resolve(&mut self, i: &Instr, record: &mut Record) -> Result<(), Fault> {
        let (Some(src), Some(dst)) = (plan::pipe(i, "src_pipe"), plan::pipe(i, "dst_pipe")) else {
            return Ok(());
        };
        let id = plan::named(i, "event") as usize % EVENTS;
        record.flag = [src as u8, dst as u8, id as u8];
        let slot = &mut self.pending[slot(src, dst, id)];
        let name = format!("[{}, {}, EVENT_ID{id}]", src.name(), dst.name());
        if record.kind == Kind::SetFlag {
            if *slot != NONE {
                return Err((Box::new(set_twice(&name)), Some(*slot)));
            }
            *slot = self.stream.records.len() as u32;
        } else {
            if *slot == NONE {
                return Err(self.no_set(&name, src, dst, id));
            }
            record.link = *slot;
            *slot = NONE;
        }
        Ok(())
    }

    /// A wait nothing answers; a pending set it was probably meant for is the other end.
    fn no_set(&self, flag: &str, src: Pipe, dst: Pipe, id: usize) -> Fault {
        let what = format!(
            "wait_flag {flag}: no set_flag of it is pending, so {} would wait forever",
            dst.name()
        );
        let d = Diagnostic::error("synccheck.wait_without_set", what);
        let pending = |src, dst, id| Some(self.pending[slot(src, dst, id)]).filter(|r| *r != NONE);
        if let Some(other) = pending(dst, src, id) {
            let help =
                "swap the pipes: a flag names the pipe that sets it, then the one that waits";
            let d = d.note("the flag of the opposite direction is set").help(help);
            return (Box::new(d), Some(other));
        }
        if let Some((n, other)) = (0..EVENTS).find_map(|n| Some((n, pending(src, dst, n)?))) {
            let note = format!("between these pipes only EVENT_ID{n} is set");
            let d = d.note(note).help("use the same event id on both sides");
            return (Box::new(d), Some(other));
        }
        let help = "put the set_flag before it, with the same pipes and event id";
        (Box::new(d.help(help)), None)
    }

    /// `vabs.f32 on PIPE_V`: what a record is, for messages.
    pub fn describe(&self, record: u32) -> Option<String> {
        let r = self.stream.records.get(record as usize)?;
        let name = match self.family {
            Family::A2A3 => Op::ALL.get(usize::from(r.op.0))?.mnemonic(),
            Family::A5 => a5::catalogue::catalogue().get(r.op)?.mnemonic,
        };
        Some(format!("{name}.{} on {}", r.dtype, r.pipe.name()))
    }

    /// The last record that changed the state a finding is about.
    pub fn changed_last(&self, code: &str) -> Option<u32> {
        let changes = |op: Op| match code {
            "state.counter_mode" => op == Op::set_mask_count,
            "state.mask" => op == Op::set_vector_mask,
            "state.ctrl" => op == Op::set_ctrl,
            "state.atomic" => op.mnemonic().starts_with("set_atomic"),
            _ => false,
        };
        let at = self
            .stream
            .records
            .iter()
            .rposition(|r| Op::ALL.get(usize::from(r.op.0)).is_some_and(|op| changes(*op)))?;
        Some(at as u32)
    }

    /// Flags set and never waited for: record of the set and what to say.
    pub fn unmatched(&self) -> Vec<(u32, Diagnostic)> {
        let mut sets: Vec<u32> = self.pending.iter().copied().filter(|r| *r != NONE).collect();
        sets.sort_unstable();
        sets.into_iter().filter_map(|r| Some((r, self.left_set(r)?))).collect()
    }

    fn left_set(&self, record: u32) -> Option<Diagnostic> {
        let flag = self.stream.records.get(record as usize)?.flag()?;
        let what = format!(
            "flag [{}, {}, EVENT_ID{}] is still set at the end of the kernel",
            flag.src.name(),
            flag.dst.name(),
            flag.id
        );
        let d = Diagnostic::new("synccheck.flag_left", Level::Warning, what);
        Some(d.help("wait for it: the next kernel would see a stale flag"))
    }
}

/// What is wrong, and the record at the other end.
pub type Fault = (Box<Diagnostic>, Option<u32>);

/// Index of a flag among the pending ones.
fn slot(src: Pipe, dst: Pipe, id: usize) -> usize {
    (src as usize * PIPES + dst as usize) * EVENTS + id % EVENTS
}

fn set_twice(flag: &str) -> Diagnostic {
    Diagnostic::error(
        "synccheck.set_while_pending",
        format!("set_flag {flag}: the flag is already set"),
    )
    .note("nothing has waited for it since it was set")
    .help("wait for the flag before setting it again, or use another event id")
}
