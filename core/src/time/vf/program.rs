//! The timing-only form of a vector function: nested loops of instructions over register names.
//!
//! Both the reader of timing-only files and the executor of real programs produce this form;
//! names have become numbers, addresses are affine in the loop counters.

use crate::dtype::DType;
use crate::stream::SiteId;
use smallvec::SmallVec;

/// Register files of the vector core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum File {
    /// 256-byte vector registers: the only file with a bounded pool of physical registers.
    Vector,
    /// Predicates.
    Mask,
    /// Align registers of unaligned accesses.
    Align,
    /// Scalars computed inside the function.
    Scalar,
}

/// An architectural register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg {
    /// Register file.
    pub file: File,
    /// Number within the file, dense from 0.
    pub id: u16,
}

/// A vector register.
pub const fn vreg(id: u16) -> Reg {
    Reg { file: File::Vector, id }
}

/// A predicate register.
pub const fn mreg(id: u16) -> Reg {
    Reg { file: File::Mask, id }
}

/// Which younger accesses a memory barrier holds back, and behind which older ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Bar {
    /// Younger stores behind older loads.
    LoadStore,
    /// Younger loads behind older stores.
    StoreLoad,
    /// Younger stores behind older stores.
    StoreStore,
    /// Everything behind everything.
    All,
}

/// What executes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Load port.
    Load,
    /// Store port.
    Store,
    /// Execution unit.
    Compute,
    /// Predicate generation and predicate logic.
    Predicate,
    /// Scalar work inside the function.
    Scalar,
    /// Memory barrier.
    Bar(Bar),
}

/// Region number of the Unified Buffer; other numbers are names without a known address, which
/// order accesses but say nothing about banks.
pub const UB: u32 = 0;

/// The bytes a load or store touches, affine in the counters of the enclosing loops.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// [`UB`] or a named region.
    pub region: u32,
    /// First byte when every counter is 0.
    pub base: i64,
    /// Bytes added per iteration of each enclosing loop, outermost first; missing ones are 0.
    pub deltas: SmallVec<[i64; 3]>,
    /// Contiguous bytes of one piece.
    pub bytes: u32,
    /// Pieces (at least 1), for block-strided accesses.
    pub pieces: u16,
    /// Bytes between the starts of two pieces.
    pub stride: i32,
}

impl Access {
    /// `bytes` contiguous bytes of a region at `base`, moving by `deltas`.
    pub fn contiguous(region: u32, base: i64, deltas: &[i64], bytes: u32) -> Access {
        Access { region, base, deltas: SmallVec::from_slice(deltas), bytes, pieces: 1, stride: 0 }
    }

    /// First byte and one past the last, relative to the address.
    pub fn extent(&self) -> (i64, i64) {
        let last = i64::from(self.stride) * i64::from(self.pieces.max(1) - 1);
        (last.min(0), last.max(0) + i64::from(self.bytes))
    }
}

/// One static instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// Index into [`VfProgram::classes`].
    pub class: u16,
    /// What executes it.
    pub kind: Kind,
    /// Destination registers.
    pub dst: SmallVec<[Reg; 2]>,
    /// Source registers, the stored value first in a store.
    pub src: SmallVec<[Reg; 4]>,
    /// Bytes touched, when known.
    pub access: Option<Access>,
    /// The address register is advanced by the access itself.
    pub post_update: bool,
    /// Statement it was written as. None in the microcode of a tile operation, which stands where
    /// the record of the function says.
    pub site: Option<SiteId>,
}

/// Which figures an instruction uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    /// Mnemonic as target files spell it.
    pub name: String,
    /// Mnemonic to use when the target has no figures under `name`.
    pub fallback: Option<String>,
    /// Element type.
    pub dtype: Option<DType>,
}

/// One loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loop {
    /// Iterations; a hardware loop counter has 16 bits, the model takes more.
    pub trips: u64,
    /// Its body.
    pub body: Vec<Node>,
    /// False for bodies that cannot become a hardware loop (data-dependent control).
    pub hardware: bool,
    /// The trip count is known only when the loop runs: never flattened, even at one trip.
    pub dynamic: bool,
}

/// Instruction or loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Index into [`VfProgram::insts`].
    Inst(u32),
    /// A nested loop.
    Loop(Loop),
}

/// A whole vector function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VfProgram {
    /// Figures in use.
    pub classes: Vec<Class>,
    /// Static instructions.
    pub insts: Vec<Inst>,
    /// The function.
    pub body: Vec<Node>,
}

impl VfProgram {
    /// Id of the class of a mnemonic, new or known.
    pub fn class(&mut self, name: &str, dtype: Option<DType>) -> u16 {
        self.class_of(Class { name: name.to_string(), fallback: None, dtype })
    }

    /// Id of a class, new or known.
    pub fn class_of(&mut self, class: Class) -> u16 {
        let at = self.classes.iter().position(|c| *c == class).unwrap_or_else(|| {
            self.classes.push(class);
            self.classes.len() - 1
        });
        at.min(usize::from(u16::MAX)) as u16
    }

    /// Adds an instruction and returns its node.
    pub fn add(&mut self, inst: Inst) -> Node {
        self.insts.push(inst);
        Node::Inst((self.insts.len() - 1) as u32)
    }

    /// Dynamic instructions of one run; `None` if they do not fit 64 bits.
    pub fn dynamic(&self) -> Option<u64> {
        count(&self.body)
    }
}

fn count(nodes: &[Node]) -> Option<u64> {
    nodes.iter().try_fold(0u64, |sum, n| {
        sum.checked_add(match n {
            Node::Inst(_) => 1,
            Node::Loop(l) => count(&l.body)?.checked_mul(l.trips)?,
        })
    })
}

impl Inst {
    /// An instruction without operands.
    pub fn new(class: u16, kind: Kind) -> Inst {
        Inst {
            class,
            kind,
            dst: SmallVec::new(),
            src: SmallVec::new(),
            access: None,
            post_update: false,
            site: None,
        }
    }

    /// Sets the destinations.
    pub fn to(mut self, regs: &[Reg]) -> Inst {
        self.dst = SmallVec::from_slice(regs);
        self
    }

    /// Sets the sources.
    pub fn from(mut self, regs: &[Reg]) -> Inst {
        self.src = SmallVec::from_slice(regs);
        self
    }

    /// Sets the bytes touched.
    pub fn touching(mut self, access: Access) -> Inst {
        self.access = Some(access);
        self
    }
}

impl Node {
    /// A hardware loop of known trip count.
    pub fn repeat(trips: u64, body: Vec<Node>) -> Node {
        Node::Loop(Loop { trips, body, hardware: true, dynamic: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dynamic_count_refuses_overflow() {
        let mut p = VfProgram::default();
        let c = p.class("nop", None);
        let i = p.add(Inst::new(c, Kind::Scalar));
        p.body = vec![Node::repeat(1 << 40, vec![i.clone(), Node::repeat(3, vec![i])])];
        assert_eq!(p.dynamic(), Some((1 << 40) * 4));
        let Some(Node::Loop(l)) = p.body.first().cloned() else { panic!() };
        p.body = vec![Node::repeat(1 << 40, vec![Node::Loop(l)])];
        assert_eq!(p.dynamic(), None);
    }

    #[test]
    fn extent_of_strided_pieces() {
        let mut a = Access::contiguous(UB, 0, &[], 32);
        a.pieces = 8;
        a.stride = -64;
        assert_eq!(a.extent(), (-448, 32));
    }
}
