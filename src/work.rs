//! Work whose cycles somebody measured: recorded once, timed under any target of its family.

use ptoemu_core::stream::{Kind, Pipe, Stream};
use ptoemu_core::target::Target;
use ptoemu_core::time::vf::{self, Options, VfProgram};
use ptoemu_core::time::{Prepared, Timeline};

/// What was measured.
#[derive(Clone, Debug)]
pub enum Work {
    /// Instructions, and which cycles of theirs were read.
    Stream(Box<Stream>, Reading),
    /// A vector function of the 950, and which cycles of it were read.
    Function(Box<VfProgram>, Part),
}

/// Which cycles of a vector function a measurement gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Launch to end.
    Whole,
    /// Start of its first instruction until that is done.
    First,
    /// Last completion until the end.
    Drain,
}

/// Which cycles of a stream a measurement gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// All of them, less the figures named.
    Total {
        /// Paths of figures that are no part of the reading.
        less: &'static [&'static str],
    },
    /// Issue to retirement of the last instruction.
    Latency,
    /// Cycles on the pipe of the last instruction.
    Busy {
        /// Calls counted; one over the repeats for cycles a repeat.
        calls: f64,
    },
    /// One round of a loop that sets the mask, issues the instruction and waits.
    Round {
        /// Path of the instruction's startup.
        startup: String,
    },
}

impl Work {
    /// All cycles of a stream.
    pub fn total(stream: Stream) -> Work {
        Work::Stream(Box::new(stream), Reading::Total { less: &[] })
    }

    /// Ready to be timed again and again on targets with the banks of `target`.
    pub fn ready(&self, target: &Target) -> Ready<'_> {
        let prepared = match self {
            Work::Stream(stream, _) => Some(Prepared::new(stream, target)),
            Work::Function(..) => None,
        };
        Ready { work: self, prepared }
    }

    /// Is there nothing to time?
    pub fn is_empty(&self) -> bool {
        match self {
            Work::Stream(stream, _) => stream.records.is_empty(),
            Work::Function(program, _) => program.insts.is_empty(),
        }
    }

    /// Cycles on a target.
    pub fn cycles(&self, target: &Target) -> Result<f64, String> {
        self.ready(target).cycles(target)
    }
}

/// Work with everything computed that no figure changes.
#[derive(Debug)]
pub struct Ready<'w> {
    work: &'w Work,
    prepared: Option<Prepared<'w>>,
}

impl Ready<'_> {
    /// Cycles on a target.
    pub fn cycles(&self, target: &Target) -> Result<f64, String> {
        match (self.work, &self.prepared) {
            (Work::Function(p, part), _) => {
                let records = usize::from(*part == Part::First);
                let options = Options { records, ..Options::default() };
                let timing = vf::time(p, target, options).map_err(|d| d.message)?;
                Ok(match part {
                    Part::Whole => timing.cycles as f64,
                    Part::First => timing.records.first().map_or(0, |r| r.latency) as f64,
                    Part::Drain => timing.cycles.saturating_sub(timing.last_done) as f64,
                })
            }
            (Work::Stream(stream, reading), Some(p)) => {
                let line = p.time(target);
                match line.faults.first() {
                    Some(d) => Err(d.message.clone()),
                    None => reading.of(stream, &line, target),
                }
            }
            (Work::Stream(..), None) => Err("not prepared".into()),
        }
    }
}

impl Reading {
    fn of(&self, stream: &Stream, line: &Timeline, target: &Target) -> Result<f64, String> {
        Ok(match self {
            Reading::Total { less } => {
                line.cycles as f64 - less.iter().filter_map(|p| target.value(p)).sum::<f64>()
            }
            Reading::Latency => {
                let last = stream.records.len().saturating_sub(1) as u32;
                let entry = line.entries.last().ok_or("no instruction")?;
                let vector = stream.records.last().is_some_and(|r| r.kind == Kind::Vector);
                let retired = line.retired(last).filter(|_| vector).unwrap_or(entry.done);
                (retired - entry.issue) as f64
            }
            Reading::Busy { calls } => {
                let busy = line.entries.last().map_or(0, |e| e.busy);
                calls * f64::from(busy)
            }
            Reading::Round { startup } => {
                // Issue to retire of a lone instruction is 15 + execution + busy there, and
                // execution is `startup + 1`.
                let depth = target.value(startup).ok_or_else(|| format!("no figure {startup}"))?;
                15.0 + depth + 1.0 + line.pipe(Pipe::V).busy as f64
            }
        })
    }
}
