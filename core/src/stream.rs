//! The recorded issue stream: what was issued, in program order, and which bytes it touched.
//!
//! One run records one stream; every target is timed from it and every check reads it. Records
//! are small and flat; walks, masks and source sites are interned beside them.

use crate::access::{Lanes, Role, Walk};
use crate::diag::Span;
use crate::dtype::DType;
use crate::footprint::Footprints;
use crate::time::vf::VfProgram;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::Arc;

/// An execution pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Pipe {
    S,
    V,
    Mte2,
    Mte3,
    M,
    Mte1,
    Fix,
    /// Every pipe (barriers only).
    All,
}

impl Pipe {
    /// Pipes in display order.
    pub const ALL: [Pipe; 8] =
        [Pipe::S, Pipe::V, Pipe::Mte2, Pipe::Mte3, Pipe::M, Pipe::Mte1, Pipe::Fix, Pipe::All];

    /// Name as written in programs, `PIPE_V`.
    pub const fn name(self) -> &'static str {
        match self {
            Pipe::S => "PIPE_S",
            Pipe::V => "PIPE_V",
            Pipe::Mte2 => "PIPE_MTE2",
            Pipe::Mte3 => "PIPE_MTE3",
            Pipe::M => "PIPE_M",
            Pipe::Mte1 => "PIPE_MTE1",
            Pipe::Fix => "PIPE_FIX",
            Pipe::All => "PIPE_ALL",
        }
    }

    /// Name without the prefix, `V`.
    pub fn short(self) -> &'static str {
        &self.name()[5..]
    }

    /// Parses `PIPE_V`.
    pub fn parse(s: &str) -> Option<Pipe> {
        Pipe::ALL.into_iter().find(|p| p.name() == s)
    }
}

/// Index of an instruction in the catalogue of its family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u16);

/// What a record is to the timing model and to the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A vector instruction of repeats.
    Vector,
    /// UB to UB burst copy on V: repeats are bursts.
    Copy,
    /// GM to UB or UB to GM transfer: repeats are bursts.
    Dma,
    /// Scalar load from UB or GM, on S.
    ScalarLoad,
    /// Scalar store to UB or GM, on S.
    ScalarStore,
    /// Write of the MASK register (one MOVEMASK per 64-bit half).
    MaskWrite,
    /// Write of CTRL or another special register by the scalar unit.
    CtrlWrite,
    /// `pipe_barrier` of `pipe`.
    Barrier,
    /// `set_flag`: `pipe` is the source pipe; see [`Record::flag`].
    SetFlag,
    /// `wait_flag`: `pipe` is the waiting pipe; `link` is the record index of its set.
    WaitFlag,
    /// A vector function: `link` is its number in [`Stream::functions`].
    Function,
}

/// A flag: which pipe signals which, and the event id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flag {
    /// Pipe that sets.
    pub src: Pipe,
    /// Pipe that waits.
    pub dst: Pipe,
    /// Event id.
    pub id: u8,
}

/// Properties of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marks(pub u8);

impl Marks {
    /// Inserted by the executor (auto sync), not written in the program.
    pub const AUTO: Marks = Marks(1);
    /// The written mask was computed at run time rather than a compile-time constant.
    pub const COMPUTED: Marks = Marks(2);
    /// A mask write that restores the all-ones norm mask.
    pub const RESTORE: Marks = Marks(4);
    /// The pair of an immediate `set_flag; wait_flag` around a scalar access.
    pub const PAIRED: Marks = Marks(8);
    /// A scalar access inside a vector function, whose footprint holds its bytes.
    pub const INSIDE: Marks = Marks(16);

    /// Does it hold every property of `other`?
    pub fn has(self, other: Marks) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of properties.
    pub fn with(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}

/// Most operands a record can have.
pub const OPERANDS: usize = 3;

/// Handle of an interned [`Shape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShapeId(pub u32);
/// Handle of interned [`Lanes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LanesId(pub u32);
/// Handle of an interned [`Site`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SiteId(pub u32);

/// No record, no group.
pub const NONE: u32 = u32::MAX;

/// One dynamic instruction. At most 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Base byte address of each operand (destination first); unused entries are 0.
    pub base: [u64; OPERANDS],
    /// Instruction.
    pub op: OpId,
    /// Element type that selects the cost: the wider of source and destination.
    pub dtype: DType,
    /// Pipe it runs on (for `SetFlag` the source pipe, for `WaitFlag` the waiting pipe).
    pub pipe: Pipe,
    /// What it is.
    pub kind: Kind,
    /// Properties.
    pub marks: Marks,
    /// Repeats or bursts really executed (counter mode resolved).
    pub repeats: u32,
    /// Walks of the operands.
    pub shape: ShapeId,
    /// Active lanes.
    pub lanes: LanesId,
    /// Where it comes from.
    pub site: SiteId,
    /// Dynamic tile operation it belongs to (index into [`Stream::groups`]), or [`NONE`].
    pub group: u32,
    /// `WaitFlag`: record index of the matching set. `MaskWrite`: halves written. `Function`: its
    /// number. Else 0.
    pub link: u32,
    /// Packed flag: source, destination, id.
    pub flag: [u8; 3],
}

impl Record {
    /// The flag of a `SetFlag` or `WaitFlag`.
    pub fn flag(&self) -> Option<Flag> {
        matches!(self.kind, Kind::SetFlag | Kind::WaitFlag).then(|| Flag {
            src: Pipe::ALL[self.flag[0] as usize % 8],
            dst: Pipe::ALL[self.flag[1] as usize % 8],
            id: self.flag[2],
        })
    }
}

/// Walks of a record's operands, destination first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape(pub [Option<Walk>; OPERANDS]);

/// Where a record comes from in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// Statement in the source text.
    pub span: Span,
    /// Index of the source file.
    pub file: u16,
}

/// One dynamic tile operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Mnemonic of the tile op.
    pub name: &'static str,
    /// Its statement.
    pub site: SiteId,
    /// Rows of the largest valid region among its tiles.
    pub rows: u32,
    /// Columns of it.
    pub cols: u32,
    /// Element type of it.
    pub dtype: DType,
}

/// Interns values under small ids.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    items: Vec<T>,
    /// Ids of all items, once there are more than are quickly looked through.
    ids: FxHashMap<T, u32>,
}

/// Items that are looked through one by one: cheaper than hashing them.
const FEW: usize = 16;

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { items: Vec::new(), ids: FxHashMap::default() }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    /// Id of `item`, new or known.
    pub fn intern(&mut self, item: T) -> u32 {
        let known = match self.items.len() {
            0..=FEW => self.items.iter().rposition(|i| *i == item).map(|i| i as u32),
            _ => self.ids.get(&item).copied(),
        };
        known.unwrap_or_else(|| {
            self.items.push(item);
            if self.items.len() == FEW + 1 {
                self.ids = self.items.iter().copied().zip(0..).collect();
            } else if self.items.len() > FEW {
                self.ids.insert(item, self.items.len() as u32 - 1);
            }
            self.items.len() as u32 - 1
        })
    }

    /// The items in id order.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Forgets every item, and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.ids.clear();
    }
}

/// Vector functions, each kept once.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    items: Vec<Arc<VfProgram>>,
    ids: FxHashMap<Arc<VfProgram>, u32>,
}

impl Functions {
    /// Number of a function, new or known.
    pub fn intern(&mut self, program: VfProgram) -> u32 {
        if let Some(&id) = self.ids.get(&program) {
            return id;
        }
        let (id, program) = (self.items.len() as u32, Arc::new(program));
        self.items.push(program.clone());
        self.ids.insert(program, id);
        id
    }

    /// The functions in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &VfProgram> {
        self.items.iter().map(|p| &**p)
    }

    /// The function of a number.
    pub fn get(&self, id: u32) -> Option<&VfProgram> {
        self.items.get(id as usize).map(|p| &**p)
    }
}

/// The ordered records of one run.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// Records in program order.
    pub records: Vec<Record>,
    /// Operand walks.
    pub shapes: Interner<Shape>,
    /// Active lanes.
    pub lanes: Interner<Lanes>,
    /// Source sites.
    pub sites: Interner<Site>,
    /// Dynamic tile operations.
    pub groups: Vec<Group>,
    /// Vector functions.
    pub functions: Functions,
    /// Exact bytes of the records whose walks do not say them.
    pub footprints: Footprints,
}

impl Stream {
    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.shapes.clear();
        self.lanes.clear();
        self.sites.clear();
        self.groups.clear();
        self.functions = Functions::default();
        self.footprints = Footprints::default();
    }

    /// Adds a record and returns its index.
    pub fn push(&mut self, record: Record) -> u32 {
        self.records.push(record);
        (self.records.len() - 1) as u32
    }

    /// The stream without the records `gone` marks; waits keep their sets, and one whose set is
    /// gone keeps its number.
    pub fn without(&self, gone: &[bool]) -> Stream {
        let mut out = Stream { records: Vec::new(), ..self.clone() };
        let mut place = vec![None; self.records.len()];
        for (i, r) in self.records.iter().enumerate() {
            if gone.get(i).copied().unwrap_or(false) {
                continue;
            }
            let mut r = *r;
            if r.kind == Kind::WaitFlag {
                r.link = place.get(r.link as usize).copied().flatten().unwrap_or(r.link);
            }
            place[i] = Some(out.push(r));
        }
        out.footprints = self.footprints.moved(&place);
        out
    }

    /// Walks of a record's operands.
    pub fn shape(&self, r: &Record) -> Shape {
        self.shapes.items().get(r.shape.0 as usize).copied().unwrap_or_default()
    }

    /// Active lanes of a record.
    pub fn lanes(&self, r: &Record) -> Lanes {
        self.lanes.items().get(r.lanes.0 as usize).copied().unwrap_or(Lanes::All)
    }

    /// Source site of a record.
    pub fn site(&self, r: &Record) -> Option<Site> {
        self.sites.items().get(r.site.0 as usize).copied()
    }

    /// Bytes a transfer or a scalar access moves: the pieces of its GM side, or else of its first
    /// operand (the UB side of a padded load is rounded up to blocks).
    pub fn bytes(&self, r: &Record) -> u64 {
        let mut walks = self.operands(r).map(|(_, w)| w);
        let first = walks.next();
        let gm = first.into_iter().chain(walks).find(|w| w.space == crate::access::Space::Gm);
        gm.or(first).map_or(0, |w| u64::from(r.repeats) * u64::from(w.blocks) * u64::from(w.unit))
    }

    /// Operands of a record: base address and walk.
    pub fn operands(&self, r: &Record) -> impl Iterator<Item = (u64, Walk)> + use<> {
        let (base, shape) = (r.base, self.shape(r));
        (0..OPERANDS).filter_map(move |i| shape.0[i].map(|w| (base[i], w)))
    }

    /// Every byte range a record touches: role, space, first byte, one past the last.
    pub fn footprint<'a>(
        &'a self,
        r: &'a Record,
    ) -> impl Iterator<Item = (Role, crate::access::Space, u64, u64)> + 'a {
        let lanes = self.lanes(r);
        self.operands(r).flat_map(move |(base, walk)| {
            (0..u64::from(r.repeats)).flat_map(move |rep| {
                walk.pieces(base, rep, lanes.of_repeat(rep))
                    .map(move |(_, a, b)| (walk.role, walk.space, a, b))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_stay_small() {
        assert!(size_of::<Record>() <= 64, "{}", size_of::<Record>());
    }

    #[test]
    fn interned_values_keep_their_ids() {
        let mut all = Interner::default();
        for round in 0..2 {
            for v in 0..50u32 {
                assert_eq!(all.intern(v * 7), v, "round {round}");
            }
        }
        assert_eq!(all.items().len(), 50);
    }

    #[test]
    fn pipes_round_trip_by_name() {
        for p in Pipe::ALL {
            assert_eq!(Pipe::parse(p.name()), Some(p));
        }
        assert_eq!(Pipe::V.short(), "V");
    }
}
