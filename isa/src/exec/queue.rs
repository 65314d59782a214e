//! Pipes that stand at a flag whose `set_flag` comes later in program order.
//!
//! S hands records over in program order and runs ahead; a pipe takes them in order. So a pipe may
//! well wait for a flag that another pipe sets by a later statement: what is handed to it in the
//! meantime is held back here, and runs, and is recorded, when the set has run. Only S itself, and
//! pipes that wait for each other in a ring, wait forever.

use super::a5::MoveStmt;
use super::frame::Frame;
use super::program::Stmt;
use super::run::Exec;
use crate::instr::Instr;
use crate::machine::{Backend, Stop, pipe_named};
use crate::table::{Form, Op};
use crate::tile::{self, Call};
use ptoemu_core::diag::Span;
use ptoemu_core::stream::{Kind, Pipe, SiteId};
use std::collections::VecDeque;

/// Most records held back; a pipe that has not gone on by then never will.
const MOST: usize = 1 << 16;

/// Work of a pipe, complete with what it needs to run later.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// An instruction.
    Instr(Instr),
    /// A tile operation of the 950.
    Tile(Box<Call>),
    /// The check of the positions that the data of a tile operation names.
    Positions(Box<Call>),
    /// A transfer of the 950, with its loop registers and pad value.
    Transfer(Frame, Box<MoveStmt>, [[[i64; 3]; 2]; 2], u64),
    /// A vecscope.
    Scope(Frame, Vec<Stmt>),
    /// `get_buf`, and the releases it waits for.
    Acquire(u8, Vec<u32>),
    /// `rls_buf`, and its number.
    Release(u8, u32),
}

/// Held work and where it comes from.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub what: Held,
    pub span: Span,
    site: SiteId,
    group: u32,
}

/// What stands behind the waits of each pipe; the wait itself is the first item.
#[derive(Clone, Debug, Default)]
pub(super) struct Queues {
    pub held: [VecDeque<Item>; Pipe::ALL.len()],
    count: usize,
}

impl Queues {
    /// Does the pipe stand at a wait?
    pub fn blocked(&self, pipe: Pipe) -> bool {
        self.count > 0 && !self.held[pipe as usize].is_empty()
    }

    /// Does any pipe?
    pub fn any(&self) -> bool {
        self.count > 0
    }
}

/// The pipe whose queue an instruction goes through.
fn queue_of(i: &Instr) -> Pipe {
    let named = |what| pipe_named(i, what).unwrap_or(Pipe::S);
    match i.op.row().kind() {
        Kind::Barrier => named("pipe"),
        Kind::SetFlag => named("src_pipe"),
        Kind::WaitFlag => named("dst_pipe"),
        // Modes are handed down in order with what they apply to.
        Kind::CtrlWrite => match i.op {
            Op::set_mov_pad_val => Pipe::Mte2,
            op if op.mnemonic().starts_with("set_atomic") => Pipe::Mte3,
            op if op.mnemonic().starts_with("set_") => Pipe::V,
            _ => Pipe::S,
        },
        _ => i.op.row().pipe(),
    }
}

impl Exec<'_> {
    /// Hands an instruction to its pipe.
    pub(super) fn dispatch(&mut self, i: &Instr) -> Result<u64, Stop> {
        let kind = i.op.row().kind();
        if !self.queues.any() && !matches!(kind, Kind::WaitFlag | Kind::SetFlag) {
            return self.machine.issue(i);
        }
        let pipe = queue_of(i);
        if self.queues.blocked(pipe) {
            return self.hold(pipe, Held::Instr(*i)).map(|()| 0);
        }
        if !self.ready(&Held::Instr(*i)) {
            return match pipe {
                Pipe::S => Err(self.stuck(Some(i))),
                _ => self.hold(pipe, Held::Instr(*i)).map(|()| 0),
            };
        }
        if self.queues.any() && kind == Kind::Barrier && pipe == Pipe::All {
            return Err(self.stuck(Some(i)));
        }
        let bits = self.machine.issue(i)?;
        if kind == Kind::SetFlag {
            self.resume()?;
        }
        Ok(bits)
    }

    /// Puts work behind the wait its pipe stands at, or puts that wait first.
    pub(super) fn hold(&mut self, pipe: Pipe, what: Held) -> Result<(), Stop> {
        let (site, group) = (self.machine.log.site, self.machine.log.group);
        self.queues.held[pipe as usize].push_back(Item { what, span: self.span(), site, group });
        self.queues.count += 1;
        if self.queues.count > MOST {
            return Err(self.stuck(None));
        }
        Ok(())
    }

    /// Can it run now?
    fn ready(&self, what: &Held) -> bool {
        match what {
            Held::Instr(i) if i.form() == Form::Flag => match i.op.row().kind() {
                Kind::WaitFlag => self.machine.log.pending(i) != Some(false),
                // A set of a flag whose wait is held back stands until that wait has run.
                _ => self.machine.log.pending(i) != Some(true) || !self.awaited(i),
            },
            Held::Acquire(_, releases) => releases.iter().all(|n| self.buffers.done(*n)),
            _ => true,
        }
    }

    /// Is a wait for this flag held back?
    fn awaited(&self, set: &Instr) -> bool {
        let waits = |item: &Item| match &item.what {
            Held::Instr(i) => i.op.row().kind() == Kind::WaitFlag && i.args[..3] == set.args[..3],
            _ => false,
        };
        self.queues.any() && self.queues.held.iter().flatten().any(waits)
    }

    /// Runs what no longer waits, until nothing moves.
    pub(super) fn resume(&mut self) -> Result<(), Stop> {
        while self.queues.any() {
            let ready = |q: &VecDeque<Item>| q.front().is_some_and(|i| self.ready(&i.what));
            let Some(pipe) = self.queues.held.iter().position(ready) else { break };
            let Some(item) = self.queues.held[pipe].pop_front() else { break };
            self.queues.count -= 1;
            let (site, group, span) = (self.machine.log.site, self.machine.log.group, self.span());
            self.machine.at(item.site, item.group);
            self.set_span(item.span);
            let pipe = Pipe::ALL[pipe];
            if let Err(stop) = self.released(pipe, item.what) {
                return Err(self.located(stop, item.span));
            }
            self.machine.at(site, group);
            self.set_span(span);
        }
        Ok(())
    }

    fn released(&mut self, pipe: Pipe, what: Held) -> Result<(), Stop> {
        match what {
            Held::Instr(i) => self.machine.issue(&i).map(drop),
            Held::Tile(call) => {
                let (machine, core) = (&mut self.machine, &mut self.a5.core);
                tile::a5(&call, &mut tile::a5::Values { machine, core })
            }
            Held::Positions(call) => tile::positions(&call, self.machine.ub.bytes.as_slice()),
            Held::Transfer(frame, s, loops, pad) => {
                let now = (self.a5.loops, self.a5.pad);
                (self.a5.loops, self.a5.pad) = (loops, pad);
                let done = self.transfer_now(&frame, &s);
                (self.a5.loops, self.a5.pad) = now;
                done
            }
            Held::Scope(mut frame, body) => self.vecscope_now(&mut frame, &body).map(drop),
            Held::Acquire(id, releases) => {
                self.acquired(pipe, id, &releases);
                Ok(())
            }
            Held::Release(id, number) => {
                self.released_buffer(pipe, id, number);
                Ok(())
            }
        }
    }
}

impl Backend for Exec<'_> {
    fn issue(&mut self, i: &Instr) -> Result<u64, Stop> {
        self.dispatch(i)
    }
}
