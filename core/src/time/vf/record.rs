//! What one run of a vector function tells.
//!
//! [`VfTiming::records`] holds one [`VfRecord`] a dynamic instruction, in program order, with the
//! cycle of every stage counted from the launch:
//!
//! ```text
//! head ──front──▶ dispatch ─▶ rename ─▶ queue ─▶ issue ──latency──▶ done
//!                    └───────────── waits ─────────┘
//! ```
//!
//! * `front` says, by cause, why the instruction at the head of the front end was not dispatched:
//!   it adds up to `dispatch - head`.
//! * `waits` says the same from dispatch on, the fixed way from stage to stage
//!   ([`Cause::Stage`]) included: it adds up to `done - dispatch - latency`.
//! * `held` and `after` name the last thing that dispatch and issue waited for, and the
//!   instruction behind it.
//!
//! Where whole periods of a loop were skipped ([`VfTiming::skips`]), records go on behind the gap:
//! those below [`Skip::seq`] lie before it, the others have their numbers and cycles after it.
//! A link may name an instruction in the gap, and `front` of what was in flight across the gap
//! tells what it met before.

/// Why an instruction waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// Launch of the function.
    Launch,
    /// A loop was starting, re-arming or pacing its iterations.
    Rearm,
    /// As many instructions as fit had been dispatched in this cycle.
    Width,
    /// No free physical vector register.
    Register,
    /// No credit of the shared queue.
    Credit,
    /// On its way from stage to stage, which every instruction pays.
    Stage,
    /// A source register was not there yet.
    Operand,
    /// The queue of the execution unit, or the window of instructions in flight, was full.
    Queue,
    /// The port, the unit or the bank was busy.
    Port,
    /// A memory barrier.
    Bar,
    /// An older store to the same bytes.
    Order,
}

impl Cause {
    /// Every cause, in pipeline order.
    pub const ALL: [Cause; 11] = [
        Cause::Launch,
        Cause::Rearm,
        Cause::Width,
        Cause::Register,
        Cause::Credit,
        Cause::Stage,
        Cause::Operand,
        Cause::Queue,
        Cause::Port,
        Cause::Bar,
        Cause::Order,
    ];

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Launch => "launch",
            Cause::Rearm => "loop re-arm",
            Cause::Width => "dispatch width",
            Cause::Register => "register",
            Cause::Credit => "credit",
            Cause::Stage => "stages",
            Cause::Operand => "operand",
            Cause::Queue => "queue",
            Cause::Port => "port",
            Cause::Bar => "bar",
            Cause::Order => "store order",
        }
    }
}

/// Cycles waited, by cause in the order of [`Cause::ALL`].
pub type Waits = [u64; Cause::ALL.len()];

/// What an instruction waited for last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Why; [`Cause::Stage`] if nothing held it.
    pub cause: Cause,
    /// The instruction behind the cause, by [`VfRecord::seq`], where there is one.
    pub seq: Option<u64>,
}

/// One dynamic instruction: when it reached each stage. Cycles count from the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VfRecord {
    /// Number in program order.
    pub seq: u64,
    /// Index into the program's instructions.
    pub inst: u32,
    /// Reached the head of the front end: the one before was dispatched.
    pub head: u64,
    /// Left the front end.
    pub dispatch: u64,
    /// Registers renamed.
    pub rename: u64,
    /// Eligible in the queue of its port or unit.
    pub queue: u64,
    /// Started.
    pub issue: u64,
    /// Result written, or access finished.
    pub done: u64,
    /// Its own cycles, from start to done.
    pub latency: u64,
    /// Execution unit, for computations.
    pub exu: u8,
    /// Cycles at the head of the front end, by cause; `dispatch - head` in all.
    pub front: Waits,
    /// Cycles since dispatch that are not its own, by cause; `done - dispatch - latency` in all.
    pub waits: Waits,
    /// What its dispatch waited for.
    pub held: Link,
    /// What its start waited for.
    pub after: Link,
    /// What leaving the shared queue waited for; `after` where there is none.
    pub moved: Link,
}

/// Whole periods that were skipped. What was in flight is numbered and timed as it is behind the
/// gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skip {
    /// First instruction number that has no record.
    pub seq: u64,
    /// Instructions skipped.
    pub instructions: u64,
    /// Cycle of the skip.
    pub at: u64,
    /// Cycles skipped.
    pub cycles: u64,
    /// Iterations of one period.
    pub period_iterations: u64,
    /// Cycles of one period.
    pub period_cycles: u64,
}

/// How to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Skip whole periods of loops; the cycles come out the same.
    pub fast_forward: bool,
    /// Keep at most this many [`VfRecord`]s.
    pub records: usize,
    /// Give up after simulating this many instructions.
    pub most: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { fast_forward: true, records: 0, most: 1 << 32 }
    }
}

/// The result of timing one vector function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VfTiming {
    /// Launch until the function has drained.
    pub cycles: u64,
    /// Completion of the last instruction.
    pub last_done: u64,
    /// Dynamic instructions.
    pub instructions: u64,
    /// Those really simulated; the rest was skipped period by period.
    pub simulated: u64,
    /// Cycles waited, by cause in the order of [`Cause::ALL`]; waits of different instructions
    /// overlap, so the sum exceeds the run.
    pub waits: Waits,
    /// The first records, in program order.
    pub records: Vec<VfRecord>,
    /// What was skipped.
    pub skips: Vec<Skip>,
}
