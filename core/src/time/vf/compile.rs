//! A program turned into flat code: what the front end walks and what every instruction needs.

use super::params::VfParams;
use super::program::{Access, File, Inst, Kind, Loop, Node, Reg, UB, VfProgram};
use super::tables::Unit;
use crate::diag::Diagnostic;

/// Most source registers of an instruction.
pub(crate) const SRC: usize = 6;
/// Most destination registers.
pub(crate) const DST: usize = 3;
/// No index.
pub(crate) const NONE: u32 = u32::MAX;
/// Most dynamic instructions of one program.
const DYNAMIC: u64 = 1 << 48;
/// Most pairs of a static load and a static store that are compared.
const PAIRS: usize = 1 << 22;
/// Most loops around an instruction; the hardware has 4.
const DEPTH: usize = 16;

/// A step of the front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Instruction of [`Code::ops`].
    Op(u32),
    /// Start of a loop.
    Enter(u32),
    /// End of an iteration.
    Next(u32),
}

/// Bytes of a load or store in flat code.
#[derive(Clone, Debug)]
pub(crate) struct Mem {
    pub region: u32,
    pub base: i64,
    /// Loop and bytes per iteration.
    pub deltas: Vec<(u32, i64)>,
    pub bytes: u32,
    pub pieces: u16,
    pub stride: i32,
    /// Relative first byte and end.
    pub extent: (i64, i64),
    /// Everything the instruction ever touches.
    hull: (i128, i128),
}

impl Mem {
    pub fn known(&self) -> bool {
        self.region == UB
    }

    fn overlaps(&self, o: &Mem) -> bool {
        self.region == o.region && self.hull.0 < o.hull.1 && o.hull.0 < self.hull.1
    }

    pub fn delta(&self, l: u32) -> i64 {
        self.deltas.iter().find(|d| d.0 == l).map_or(0, |d| d.1)
    }
}

/// An instruction at one place of the flat code.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub inst: u32,
    pub class: u16,
    pub unit: Unit,
    pub kind: Kind,
    pub nsrc: u8,
    pub ndst: u8,
    /// Destinations that need a physical vector register.
    pub nvec: u8,
    /// Takes a credit of the shared queue.
    pub credit: bool,
    pub src: [u16; SRC],
    pub dst: [u16; DST],
    /// Innermost loop, or [`NONE`].
    pub inner: u32,
    pub mem: Option<Mem>,
    /// A load that may meet the bytes of a store.
    pub may_alias: bool,
}

/// A loop of the flat code.
#[derive(Clone, Debug)]
pub(crate) struct LoopInfo {
    pub trips: u64,
    /// First step of the body.
    pub body: u32,
    /// Enclosing loop, or [`NONE`].
    pub parent: u32,
    pub depth: u32,
    /// Has inner loops.
    pub nested: bool,
    /// A hardware loop.
    hardware: bool,
    /// Post-updated load streams of a whole nest, at its outermost loop, and whether a body of it
    /// has two loads.
    post: u32,
    pair: bool,
    /// Steps of the loop, from its first body step to its `Next`.
    pub steps: (u32, u32),
    /// Loads and stores inside move against each other: no period can be trusted.
    pub alias_moves: bool,
}

/// Flat code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub steps: Vec<Step>,
    pub ops: Vec<Op>,
    pub loops: Vec<LoopInfo>,
    /// Register files of the flat register numbers.
    pub files: Vec<File>,
    /// Most vector results of one instruction.
    pub results: u32,
}

impl LoopInfo {
    /// Cycles between iterations at least.
    pub fn stride(&self, p: &VfParams) -> i64 {
        let soft = !self.hardware && p.software_loop > 0;
        i64::from(if soft { p.software_loop } else { p.iteration })
    }

    /// Cycles a nest pays once, when it opens: post-updated load streams, bodies of two loads.
    pub fn one_off(&self, p: &VfParams) -> i64 {
        i64::from(self.post) * i64::from(p.post_update)
            + i64::from(self.pair) * i64::from(p.two_loads)
    }
}

impl Code {
    /// Flattens a program; `class` gives the number of the figures of an instruction, and `flatten`
    /// takes loops of one trip away.
    pub fn build(
        p: &VfProgram,
        class: &mut dyn FnMut(&Inst) -> u16,
        flatten: bool,
    ) -> Result<Code, Diagnostic> {
        if p.dynamic().is_none_or(|n| n > DYNAMIC) {
            return Err(Diagnostic::error("vf.size", "the loops run too many instructions")
                .note("at most 2^48 dynamic instructions can be timed"));
        }
        let (code, path, base) = (Code::default(), Vec::new(), [0; 4]);
        let mut b = Builder { p, class, flatten, code, path, base };
        b.registers();
        b.nodes(&p.body)?;
        let mut code = b.code;
        code.find_aliases();
        Ok(code)
    }

    /// Is the operation in the body of the loop, however deep?
    fn within(&self, op: &Op, l: u32) -> bool {
        let parent = |&l: &u32| self.loops.get(l as usize).map(|info| info.parent);
        std::iter::successors(Some(op.inner), parent).any(|at| at == l)
    }

    /// Marks loads that may meet a store, and loops in which the two move apart.
    fn find_aliases(&mut self) {
        let (mut alias, mut moving) = (Vec::new(), Vec::new());
        let of = |u: Unit| self.ops.iter().enumerate().filter(move |(_, o)| o.unit == u);
        if of(Unit::Load).count().saturating_mul(of(Unit::Store).count()) > PAIRS {
            // Too many to compare here: every load looks at the stores in flight.
            self.ops.iter_mut().for_each(|o| o.may_alias = o.unit == Unit::Load);
            self.loops.iter_mut().for_each(|l| l.alias_moves = true);
            return;
        }
        for (i, load) in of(Unit::Load) {
            let Some(l) = &load.mem else { continue };
            for (_, store) in of(Unit::Store) {
                let Some(s) = &store.mem else { continue };
                if l.overlaps(s) {
                    alias.push(i);
                    // An access outside a loop is never in flight where its periods are sought.
                    let apart = |&&(k, d): &&(u32, i64), o: &Mem| {
                        o.delta(k) != d && self.within(load, k) && self.within(store, k)
                    };
                    moving.extend(l.deltas.iter().filter(|d| apart(d, s)).map(|d| d.0));
                    moving.extend(s.deltas.iter().filter(|d| apart(d, l)).map(|d| d.0));
                }
            }
        }
        alias.into_iter().for_each(|i| self.ops[i].may_alias = true);
        moving.into_iter().for_each(|l| self.loops[l as usize].alias_moves = true);
    }
}

struct Builder<'a> {
    p: &'a VfProgram,
    class: &'a mut dyn FnMut(&Inst) -> u16,
    flatten: bool,
    code: Code,
    /// Enclosing loops of the program; `None` for a flattened one.
    path: Vec<Option<u32>>,
    /// First flat number of each register file.
    base: [u32; 4],
}

impl Builder<'_> {
    fn registers(&mut self) {
        let files = [File::Vector, File::Mask, File::Align, File::Scalar];
        for (i, file) in files.into_iter().enumerate() {
            let regs = self.p.insts.iter().flat_map(|i| i.dst.iter().chain(&i.src));
            let used = regs.filter(|r| r.file == file).map(|r| usize::from(r.id) + 1).max();
            self.base[i] = self.code.files.len() as u32;
            self.code.files.extend(std::iter::repeat_n(file, used.unwrap_or(0)));
        }
    }

    fn flat(&self, r: Reg) -> u32 {
        self.base[r.file as usize] + u32::from(r.id)
    }

    fn nodes(&mut self, nodes: &[Node]) -> Result<(), Diagnostic> {
        for n in nodes {
            match n {
                Node::Inst(i) => self.inst(*i)?,
                Node::Loop(l) => self.enter(l)?,
            }
        }
        Ok(())
    }

    fn enter(&mut self, l: &Loop) -> Result<(), Diagnostic> {
        if l.trips == 0 || count_ops(&l.body) == 0 {
            return Ok(());
        }
        if self.path.len() >= DEPTH {
            return Err(Diagnostic::error("vf.depth", "loops nested too deeply")
                .note("the hardware has 4 levels"));
        }
        if l.trips == 1 && !l.dynamic && self.flatten {
            self.path.push(None);
            self.nodes(&l.body)?;
            self.path.pop();
            return Ok(());
        }
        let id = self.code.loops.len() as u32;
        let parent = self.path.iter().rev().find_map(|p| *p).unwrap_or(NONE);
        let depth = self.path.iter().flatten().count() as u32;
        if let Some(p) = self.code.loops.get_mut(parent as usize) {
            p.nested = true;
        }
        let (mut post, mut pair) = (0, false);
        if depth == 0 {
            self.loads(&l.body, &mut post, &mut pair);
        }
        let body = self.code.steps.len() as u32 + 1;
        self.code.loops.push(LoopInfo {
            trips: l.trips,
            body,
            parent,
            depth,
            nested: false,
            hardware: l.hardware,
            post,
            pair,
            steps: (body, body),
            alias_moves: false,
        });
        self.code.steps.push(Step::Enter(id));
        self.path.push(Some(id));
        self.nodes(&l.body)?;
        self.path.pop();
        self.code.steps.push(Step::Next(id));
        self.code.loops[id as usize].steps.1 = self.code.steps.len() as u32;
        Ok(())
    }

    /// Post-updated loads of a nest, and whether a body of it has two loads.
    fn loads(&self, body: &[Node], post: &mut u32, pair: &mut bool) {
        let mut here = 0;
        for n in body {
            match n {
                Node::Loop(l) => self.loads(&l.body, post, pair),
                Node::Inst(i) => {
                    let load = self.p.insts.get(*i as usize).filter(|i| i.kind == Kind::Load);
                    here += u32::from(load.is_some());
                    *post = post.saturating_add(u32::from(load.is_some_and(|i| i.post_update)));
                }
            }
        }
        *pair |= here >= 2;
    }

    fn inst(&mut self, at: u32) -> Result<(), Diagnostic> {
        let Some(i) = self.p.insts.get(at as usize) else {
            return Err(Diagnostic::error("vf.index", "instruction number out of range"));
        };
        if i.src.len() > SRC || i.dst.len() > DST || usize::from(i.class) >= self.p.classes.len() {
            return Err(Diagnostic::error("vf.operands", "an instruction has too many registers")
                .note(format!("at most {SRC} sources and {DST} destinations")));
        }
        let vectors = i.dst.iter().filter(|r| r.file == File::Vector).count();
        self.code.results = self.code.results.max(vectors as u32);
        let (mut src, mut dst) = ([0; SRC], [0; DST]);
        for (to, r) in src.iter_mut().zip(&i.src).chain(dst.iter_mut().zip(&i.dst)) {
            *to = u16::try_from(self.flat(*r))
                .map_err(|_| Diagnostic::error("vf.registers", "too many register names"))?;
        }
        let inner = self.path.iter().rev().find_map(|p| *p).unwrap_or(NONE);
        self.code.steps.push(Step::Op(self.code.ops.len() as u32));
        self.code.ops.push(Op {
            inst: at,
            class: (self.class)(i),
            unit: Unit::of(i.kind),
            kind: i.kind,
            nsrc: i.src.len() as u8,
            ndst: i.dst.len() as u8,
            nvec: vectors as u8,
            credit: matches!(i.kind, Kind::Compute | Kind::Store),
            src,
            dst,
            inner,
            mem: self.mem(i),
            may_alias: false,
        });
        Ok(())
    }

    fn mem(&self, i: &Inst) -> Option<Mem> {
        let a: &Access = i.access.as_ref()?;
        let extent = a.extent();
        let mut hull =
            (i128::from(a.base) + i128::from(extent.0), i128::from(a.base) + i128::from(extent.1));
        let mut deltas = Vec::new();
        for (l, d) in self.path.iter().zip(&a.deltas) {
            if let (Some(l), true) = (l, *d != 0) {
                let trips = self.code.loops[*l as usize].trips;
                let far = i128::from(*d) * i128::from(trips - 1);
                hull = (hull.0 + far.min(0), hull.1 + far.max(0));
                deltas.push((*l, *d));
            }
        }
        let (bytes, pieces, stride) = (a.bytes, a.pieces.max(1), a.stride);
        Some(Mem { region: a.region, base: a.base, deltas, bytes, pieces, stride, extent, hull })
    }
}

fn count_ops(nodes: &[Node]) -> u64 {
    nodes
        .iter()
        .map(|n| match n {
            Node::Inst(_) => 1,
            Node::Loop(l) if l.trips > 0 => count_ops(&l.body),
            Node::Loop(_) => 0,
        })
        .fold(0, u64::saturating_add)
}
