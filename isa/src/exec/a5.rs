//! Lowered statements of 950 programs: micro-ops and transfers.

use super::program::{Num, Slot};
use crate::a5::record::ScopeRecorder;
use crate::a5::{Core, Kind, MicroSink, Outs, Step};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::Pipe;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A UB address: pointer and index in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The pointer.
    pub ptr: Slot,
    /// Elements beyond it.
    pub index: Num,
}

/// A micro-op with its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct MicroStmt {
    /// Number of the statement, unique in the program.
    pub id: u32,
    /// What is known before it runs.
    pub step: Step,
    /// Vector operands.
    pub v: SmallVec<[Slot; 3]>,
    /// Predicate operands.
    pub m: SmallVec<[Slot; 3]>,
    /// Align operand.
    pub a: Option<Slot>,
    /// Scalar operand.
    pub s: Option<Slot>,
    /// Integer operands.
    pub n: SmallVec<[Num; 2]>,
    /// Addresses.
    pub p: SmallVec<[Address; 1]>,
    /// Results in text order.
    pub results: SmallVec<[(Kind, Slot); 2]>,
}

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// GM to UB, on MTE2.
    In,
    /// UB to GM, on MTE3.
    Out,
    /// UB to UB, on V.
    Within,
}

impl Way {
    /// The pipe that moves this way.
    pub fn pipe(self) -> Pipe {
        match self {
            Way::In => Pipe::Mte2,
            Way::Out => Pipe::Mte3,
            Way::Within => Pipe::V,
        }
    }
}

/// Bursts: count, source stride and destination stride, start to start.
pub type Bursts = [Num; 3];

/// A transfer of the 950.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveStmt {
    /// Direction.
    pub way: Way,
    /// Source pointer.
    pub src: Slot,
    /// Destination pointer.
    pub dst: Slot,
    /// Bytes (UB to UB: blocks) of a burst.
    pub len: Num,
    /// The innermost bursts. UB to UB: count and gaps in blocks.
    pub bursts: Bursts,
    /// Outer loops, innermost first.
    pub loops: SmallVec<[Bursts; 2]>,
    /// The loop registers wrap it too.
    pub registers: bool,
    /// Padding, where it is on.
    pub pad: Option<Padding>,
    /// Element type of the pointers.
    pub elem: DType,
}

/// Padding of a burst in UB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding {
    /// On or off at run time.
    pub on: Num,
    /// Value; the pad register where none is given.
    pub value: Option<Slot>,
    /// Elements before the burst.
    pub left: Num,
    /// Elements behind it.
    pub right: Num,
}

/// Registers that wrap plain transfers in loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopReg {
    /// `set_loop_size_*`: counts of loop 1 and loop 2.
    Size,
    /// `set_loop1_stride_*`: source and destination stride in bytes.
    Stride1,
    /// `set_loop2_stride_*`.
    Stride2,
    /// `set_mov_pad_val`.
    Pad,
}

/// Run-time state of the 950 beside the machine.
pub(super) struct State<'p> {
    pub core: Core,
    pub sink: Option<&'p mut dyn MicroSink>,
    /// Builds what the timing model takes of a vecscope, on targets that have them.
    pub recorder: Option<ScopeRecorder>,
    pub in_scope: bool,
    /// Loads that the predicates of the vecscope were computed from.
    pub made_of: FxHashMap<Slot, u64>,
    pub outs: Box<Outs>,
    /// Counts and strides of loops 1 and 2: [size, source stride, destination stride], in and out.
    pub loops: [[[i64; 3]; 2]; 2],
    pub pad: u64,
}

impl State<'_> {
    /// Everybody who listens to the vecscope.
    pub fn listeners(&mut self) -> impl Iterator<Item = &mut dyn MicroSink> {
        let own = self.recorder.as_mut().map(|r| r as &mut dyn MicroSink);
        let given = self.sink.as_mut().map(|s| &mut **s as &mut dyn MicroSink);
        own.into_iter().chain(given)
    }
}

impl Default for State<'_> {
    fn default() -> Self {
        let one = [[1, 0, 0]; 2];
        State {
            core: Core::default(),
            sink: None,
            recorder: None,
            in_scope: false,
            made_of: FxHashMap::default(),
            outs: Box::default(),
            loops: [one; 2],
            pad: 0,
        }
    }
}
