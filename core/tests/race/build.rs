//! Streams written by hand.

use ptoemu_core::access::{Lanes, Role, Space, Walk};
use ptoemu_core::catalogue::{Catalogue, Entry};
use ptoemu_core::check::Finding;
use ptoemu_core::check::race::{Options, RegisterUse, check};
use ptoemu_core::diag::Span;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{
    Group, Kind, LanesId, Marks, NONE, OPERANDS, OpId, Pipe, Record, Shape, ShapeId, Site, SiteId,
    Stream,
};

/// One operand: first byte and walk.
pub type Operand = (u64, Walk);

/// A step of a program.
#[derive(Clone, Debug)]
pub enum Step {
    /// An access of instruction `op`.
    Access { pipe: Pipe, op: u16, operands: Vec<Operand>, lanes: Lanes, repeats: u32 },
    /// `pipe_barrier`.
    Barrier(Pipe),
    /// `set_flag`.
    Set(Pipe, Pipe, u8),
    /// `wait_flag`, answered by the last set of its kind.
    Wait(Pipe, Pipe, u8),
}

/// `bytes` bytes from `at`.
pub fn span(space: Space, role: Role, at: u64, bytes: u32) -> Operand {
    (at, Walk { space, role, elem: 0, blocks: 1, unit: bytes, blk: 0, rep: 0 })
}

/// An access of whole spans.
pub fn access(pipe: Pipe, op: u16, operands: &[Operand]) -> Step {
    Step::Access { pipe, op, operands: operands.to_vec(), lanes: Lanes::All, repeats: 1 }
}

fn kind(pipe: Pipe, operands: &[Operand]) -> Kind {
    match pipe {
        Pipe::V => Kind::Vector,
        Pipe::S if operands.iter().any(|(_, w)| w.role == Role::Read) => Kind::ScalarLoad,
        Pipe::S => Kind::ScalarStore,
        _ => Kind::Dma,
    }
}

/// The stream of a program; every step has a site of its own.
pub fn stream(steps: &[Step]) -> Stream {
    let mut s = Stream::default();
    s.groups.push(Group { name: "top", site: SiteId(0), rows: 1, cols: 1, dtype: DType::F32 });
    let mut sets: Vec<((Pipe, Pipe, u8), u32)> = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        let site = SiteId(s.sites.intern(Site { span: Span::new(i, i + 1), file: 0 }));
        let mut r = Record {
            base: [0; OPERANDS],
            op: OpId(0),
            dtype: DType::F32,
            pipe: Pipe::All,
            kind: Kind::Barrier,
            marks: Marks::default(),
            repeats: 1,
            shape: ShapeId(0),
            lanes: LanesId(0),
            site,
            group: NONE,
            link: 0,
            flag: [0; 3],
        };
        let mut shape = Shape::default();
        let mut active = Lanes::All;
        match step {
            Step::Barrier(p) => r.pipe = *p,
            Step::Set(a, b, id) | Step::Wait(a, b, id) => {
                let name = (*a, *b, *id);
                r.flag = [*a as u8, *b as u8, *id];
                if matches!(step, Step::Set(..)) {
                    (r.kind, r.pipe) = (Kind::SetFlag, *a);
                    sets.push((name, i as u32));
                } else {
                    (r.kind, r.pipe) = (Kind::WaitFlag, *b);
                    r.link = sets.iter().rev().find(|s| s.0 == name).unwrap().1;
                }
            }
            Step::Access { pipe, op, operands, lanes, repeats } => {
                (r.pipe, r.op, r.repeats) = (*pipe, OpId(*op), *repeats);
                r.kind = kind(*pipe, operands);
                active = *lanes;
                for (n, (base, walk)) in operands.iter().enumerate() {
                    (r.base[n], shape.0[n]) = (*base, Some(*walk));
                }
            }
        }
        r.shape = ShapeId(s.shapes.intern(shape));
        r.lanes = LanesId(s.lanes.intern(active));
        s.push(r);
    }
    s
}

/// Instructions 0 and 1 of different latency, 2 reads and 3 writes the first register.
pub fn catalogue() -> Catalogue {
    let entry = |(mnemonic, cost_class)| Entry {
        mnemonic,
        dtypes: vec![DType::F32],
        pipe: Pipe::V,
        kind: Kind::Vector,
        cost_class,
    };
    Catalogue([("quick", "a"), ("slow", "b"), ("uses", "c"), ("makes", "d")].map(entry).to_vec())
}

/// Findings of a stream.
pub fn hazards_of(s: &Stream, strict: bool) -> Vec<Finding> {
    let registers =
        [(0, 0), (0, 0), (1, 0), (0, 1)].map(|(reads, writes)| RegisterUse { reads, writes });
    let catalogue = catalogue();
    check(s, &Options { catalogue: &catalogue, registers: &registers, core: 0, strict })
}

/// Findings of a program.
pub fn hazards(steps: &[Step]) -> Vec<Finding> {
    hazards_of(&stream(steps), false)
}
