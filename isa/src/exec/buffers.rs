//! `get_buf` and `rls_buf` of the 950: buffers handed from pipe to pipe.
//!
//! In mode 0 a pipe that gets a buffer waits for every earlier release of it by any pipe, and a
//! release is done when what its own pipe was given before is `[D: GYM]`. In mode 1 getting does
//! not wait, and releasing waits for the other pipes' releases. In the stream a release is a flag
//! to all pipes, and getting waits for the last one of each other pipe.

use super::frame::{Frame, refuse_with};
use super::program::Num;
use super::queue::Held;
use super::run::Exec;
use crate::machine::Stop;
use ptoemu_core::check::Finding;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::stream::{NONE, OpId, Pipe, SiteId};

/// Buffers there are `[D: GYM]`.
const IDS: usize = 32;
const PIPES: usize = Pipe::ALL.len();

/// Who holds and who released each buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    /// Holders by buffer, one bit a pipe, and where each got it.
    held: [[Option<SiteId>; PIPES]; IDS],
    /// Number of the last release by buffer and pipe, plus one.
    last: [[u32; PIPES]; IDS],
    /// Records of the releases, [`NONE`] while held back.
    records: Vec<u32>,
}

impl Buffers {
    /// Has this release run?
    pub fn done(&self, number: u32) -> bool {
        self.records.get(number as usize).is_none_or(|r| *r != NONE)
    }
}

impl Exec<'_> {
    pub(super) fn buffer(
        &mut self,
        frame: &Frame,
        get: bool,
        p: Pipe,
        nums: [Num; 2],
    ) -> Result<(), Stop> {
        let (id, mode) = (self.num(frame, nums[0])?, self.num(frame, nums[1])?);
        if !(0..IDS as i64).contains(&id) || !(0..=1).contains(&mode) || p == Pipe::All {
            let what = format!("buffer {id}, mode {mode}, {}: out of range", p.name());
            return Err(refuse_with(
                "synccheck.buffer_id",
                what,
                "buffers are 0 to 31, the mode is 0 or 1, the pipe is a single one",
            ));
        }
        let site = self.machine.log.site;
        let slot = &mut self.buffers.held[id as usize][p as usize];
        let wrong = match (get, slot.is_some()) {
            (true, true) => Some("gets a buffer it holds already"),
            (false, false) => Some("releases a buffer it does not hold"),
            _ => None,
        };
        *slot = get.then_some(site);
        if let Some(what) = wrong {
            let text = format!("{} {what}: buffer {id}", p.name());
            let d = Diagnostic::error("synccheck.buffer", text)
                .note("the hardware hangs on buffers that are not got and released in turn")
                .help("pair every get_buf with one rls_buf of the same pipe and buffer");
            self.machine.findings.add(Finding::new(d, NONE, site), OpId(u16::MAX - 3));
        }
        let id = id as u8;
        // In mode 0 getting waits, in mode 1 releasing does.
        if get == (mode == 0) {
            let last = self.buffers.last[usize::from(id)];
            let of = |q: &usize| *q != p as usize && last[*q] > 0;
            let releases: Vec<u32> = (0..PIPES).filter(of).map(|q| last[q] - 1).collect();
            let waits = !releases.iter().all(|n| self.buffers.done(*n));
            if self.queues.blocked(p) || waits {
                if p == Pipe::S {
                    return Err(self.stuck(None));
                }
                self.hold(p, Held::Acquire(id, releases))?;
            } else {
                self.acquired(p, id, &releases);
            }
        }
        if get {
            return Ok(());
        }
        let number = self.buffers.records.len() as u32;
        self.buffers.records.push(NONE);
        self.buffers.last[usize::from(id)][p as usize] = number + 1;
        if self.queues.blocked(p) {
            return self.hold(p, Held::Release(id, number));
        }
        self.released_buffer(p, id, number);
        self.resume()
    }

    /// The pipe waits for these releases, all of which have run.
    pub(super) fn acquired(&mut self, p: Pipe, id: u8, releases: &[u32]) {
        for n in releases {
            let Some(record) = self.buffers.records.get(*n as usize) else { continue };
            self.machine.log.push_acquire(p, id, *record);
        }
    }

    /// The pipe is done with a buffer.
    pub(super) fn released_buffer(&mut self, p: Pipe, id: u8, number: u32) {
        let record = self.machine.log.push_release(p, id);
        if let Some(to) = self.buffers.records.get_mut(number as usize) {
            *to = record;
        }
    }

    /// Buffers nobody released.
    pub(super) fn buffers_left(&mut self) {
        for (id, pipes) in self.buffers.held.clone().iter().enumerate() {
            for (p, site) in Pipe::ALL.iter().zip(pipes) {
                let Some(site) = site else { continue };
                let text = format!("{} still holds buffer {id} at the end of the kernel", p.name());
                let d = Diagnostic::error("synccheck.buffer", text)
                    .note("the hardware hangs on buffers that are not got and released in turn")
                    .help("release it with rls_buf behind its last use");
                let op = OpId(u16::MAX - 4 - id as u16);
                self.machine.findings.add(Finding::new(d, NONE, *site), op);
            }
        }
    }
}
