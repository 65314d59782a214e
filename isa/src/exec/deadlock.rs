//! Why nothing goes on: a wait that nothing answers, or pipes that wait for each other in a ring.

use super::queue::{Held, Item};
use super::run::Exec;
use crate::instr::Instr;
use crate::machine::{Stop, pipe_named};
use ptoemu_core::diag::{Diagnostic, Span};
use ptoemu_core::stream::{Kind, Pipe};

/// A pipe that stands, the statement it stands at, and who could let it go on.
struct Stand {
    pipe: Pipe,
    span: Span,
    /// What it waits for, in words.
    what: String,
    /// The pipe that has to go on first, and the statement it has to reach.
    next: Option<(Pipe, Span)>,
    /// The wait itself, if it is one for a flag.
    wait: Option<Instr>,
}

fn flag_name(i: &Instr) -> String {
    let pipe = |what| pipe_named(i, what).map_or("?", Pipe::name);
    format!("[{}, {}, EVENT_ID{}]", pipe("src_pipe"), pipe("dst_pipe"), i.args[2])
}

fn kind(i: &Instr) -> Kind {
    i.op.row().kind()
}

impl Exec<'_> {
    /// The end of the program: whatever still waits does so forever.
    pub(super) fn finish(&mut self) -> Result<(), Stop> {
        if self.queues.any() {
            return Err(self.stuck(None));
        }
        self.buffers_left();
        Ok(())
    }

    /// The fault of a program that cannot go on; `at` is the instruction S stands at, if it does.
    pub(super) fn stuck(&self, at: Option<&Instr>) -> Stop {
        let blocked = Pipe::ALL.into_iter().find(|p| self.queues.blocked(*p));
        let Some(start) = at.map(|_| Pipe::S).or(blocked) else {
            return Stop(Box::new(Diagnostic::error("synccheck.deadlock", "nothing goes on")));
        };
        let mut path: Vec<Stand> = Vec::new();
        let mut pipe = start;
        loop {
            if let Some(from) = path.iter().position(|s| s.pipe == pipe) {
                return Stop(Box::new(self.ring(&path[from..])));
            }
            let stand = match (pipe, at) {
                (Pipe::S, Some(i)) => self.stand_of(Pipe::S, i, self.span()),
                _ => self.front(pipe),
            };
            let Some(stand) = stand else { break };
            let next = stand.next;
            path.push(stand);
            match next {
                Some((p, _)) => pipe = p,
                None => break,
            }
        }
        Stop(Box::new(self.unanswered(&path, at)))
    }

    /// Where a pipe stands.
    fn front(&self, pipe: Pipe) -> Option<Stand> {
        let item = self.queues.held[pipe as usize].front()?;
        match &item.what {
            Held::Instr(i) => self.stand_of(pipe, i, item.span),
            Held::Acquire(id, releases) => {
                let missing = releases.iter().find(|n| !self.buffers.done(**n)).copied();
                let next = self.holder(|i| match i.what {
                    Held::Release(_, n) => Some(n) == missing,
                    _ => false,
                });
                let what = format!("buffer {id}");
                Some(Stand { pipe, span: item.span, what, next, wait: None })
            }
            _ => None,
        }
    }

    fn stand_of(&self, pipe: Pipe, i: &Instr, span: Span) -> Option<Stand> {
        let same = |k: Kind| {
            move |o: &Item| match &o.what {
                Held::Instr(o) => kind(o) == k && o.args[..3] == i.args[..3],
                _ => false,
            }
        };
        let (what, next, wait) = match kind(i) {
            Kind::WaitFlag => {
                (format!("flag {}", flag_name(i)), self.holder(same(Kind::SetFlag)), Some(*i))
            }
            Kind::SetFlag => {
                let what = format!("the wait for flag {}, still set", flag_name(i));
                (what, self.holder(same(Kind::WaitFlag)), None)
            }
            _ => {
                let first = Pipe::ALL.into_iter().find(|p| self.queues.blocked(*p))?;
                let at = self.queues.held[first as usize].front()?.span;
                (format!("all pipes, {} among them", first.name()), Some((first, at)), None)
            }
        };
        Some(Stand { pipe, span, what, next, wait })
    }

    /// The pipe that holds such an item back, and its place.
    fn holder(&self, wanted: impl Fn(&Item) -> bool) -> Option<(Pipe, Span)> {
        Pipe::ALL.into_iter().find_map(|p| {
            let item = self.queues.held[p as usize].iter().find(|i| wanted(i))?;
            Some((p, item.span))
        })
    }

    fn line(&self, span: Span) -> usize {
        self.program.source.line_col(span.start as usize).0
    }

    fn ring(&self, ring: &[Stand]) -> Diagnostic {
        let names: Vec<&str> = ring.iter().map(|s| s.pipe.name()).collect();
        let message = format!("deadlock: {} wait for each other in a ring", names.join(" and "));
        let mut d = Diagnostic::error("synccheck.deadlock", message);
        for s in ring {
            let Some((next, reached)) = s.next else { continue };
            let text = format!("{} waits here for {}", s.pipe.name(), next.name());
            d = d.at(&self.program.source, s.span, text).note(format!(
                "line {}: {} waits for {}; {} answers it on line {}, which it never reaches",
                self.line(s.span),
                s.pipe.name(),
                s.what,
                next.name(),
                self.line(reached)
            ));
        }
        d.help("move one of these set_flag lines before the wait_flag its own pipe stands at")
    }

    /// The last of `path` waits for something nobody does.
    fn unanswered(&self, path: &[Stand], at: Option<&Instr>) -> Diagnostic {
        let Some(last) = path.last() else {
            return Diagnostic::error("synccheck.deadlock", "a pipe waits forever");
        };
        let Some(wait) = &last.wait else {
            let text = format!("{} waits forever for {}", last.pipe.name(), last.what);
            let d = Diagnostic::error("synccheck.deadlock", text);
            return d.at(&self.program.source, last.span, "").help("release it before");
        };
        let (d, other) = self.machine.log.unanswered(wait);
        let mut d = d.at(&self.program.source, last.span, "");
        let stream = &self.machine.log.stream;
        let site = other.and_then(|r| stream.records.get(r as usize)).map(|r| r.site);
        if let Some(s) = site.and_then(|s| stream.sites.items().get(s.0 as usize)) {
            d = d.at(&self.program.source, s.span, "set here");
        }
        let barrier = at.is_some_and(|i| kind(i) == Kind::Barrier);
        for s in path.iter().rev().skip(1) {
            let what = if s.pipe == Pipe::S && barrier { "pipe_barrier" } else { s.pipe.name() };
            let line = self.line(s.span);
            d = d.note(format!("line {line}: {what} waits for {}, which stands here", s.what));
        }
        if at.is_some() {
            let there = if path.len() > 1 { "there" } else { "here" };
            let text =
                format!("PIPE_S stands {there}: a set_flag on a later line is never handed over");
            d = d.note(text);
        }
        d
    }
}
