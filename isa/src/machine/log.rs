//! The record side of issuing: stream, flags, sites.

use super::plan::{self, Plan};
use crate::instr::Instr;
use ptoemu_core::diag::{Diagnostic, Level};
use ptoemu_core::stream::{Kind, LanesId, Marks, NONE, Pipe, Record, ShapeId, SiteId, Stream};

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
    /// Record of the pending set of each (source, destination, id).
    pending: Box<[u32; PIPES * PIPES * EVENTS]>,
}

impl Default for Log {
    fn default() -> Self {
        Log {
            stream: Stream::default(),
            site: SiteId(NONE),
            group: NONE,
            pending: Box::new([NONE; PIPES * PIPES * EVENTS]),
        }
    }
}

impl Log {
    /// Records an instruction and returns the record's index.
    ///
    /// The caller has checked the parameters; a wait without its set and a set of a pending flag
    /// are refused here.
    pub fn push(&mut self, i: &Instr, p: &Plan) -> Result<u32, Diagnostic> {
        let mut record = Record {
            base: p.base,
            op: i.op.id(),
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

    fn resolve(&mut self, i: &Instr, record: &mut Record) -> Result<(), Diagnostic> {
        let (Some(src), Some(dst)) = (plan::pipe(i, "src_pipe"), plan::pipe(i, "dst_pipe")) else {
            return Ok(());
        };
        let id = plan::named(i, "event") as usize % EVENTS;
        record.flag = [src as u8, dst as u8, id as u8];
        let slot = &mut self.pending[(src as usize * PIPES + dst as usize) * EVENTS + id];
        let name = format!("[{}, {}, EVENT_ID{id}]", src.name(), dst.name());
        if record.kind == Kind::SetFlag {
            if *slot != NONE {
                return Err(set_twice(&name, *slot));
            }
            *slot = self.stream.records.len() as u32;
        } else {
            if *slot == NONE {
                return Err(no_set(&name, dst));
            }
            record.link = *slot;
            *slot = NONE;
        }
        Ok(())
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

fn set_twice(flag: &str, earlier: u32) -> Diagnostic {
    Diagnostic::error(
        "synccheck.set_while_pending",
        format!("set_flag {flag}: the flag is already set"),
    )
    .note(format!("record {earlier} set it and nothing has waited for it since"))
    .help("wait for the flag before setting it again, or use another event id")
}

fn no_set(flag: &str, dst: Pipe) -> Diagnostic {
    Diagnostic::error(
        "synccheck.wait_without_set",
        format!(
            "wait_flag {flag}: no set_flag of it is pending, so {} would wait forever",
            dst.name()
        ),
    )
    .help("check the direction (source, destination) and the event id of the pair")
}
