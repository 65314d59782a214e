//! Vector functions as microcode describes them: loops of micro-ops whose addresses and counts
//! are affine in the loop counters. One description gives values and cycles.

use crate::a5::{Cmp, Dist, Op, Step};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Round;
use smallvec::SmallVec;

/// A number affine in the counters of the enclosing loops, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    /// Value when every counter is 0.
    pub base: i64,
    /// Added per round of each enclosing loop; missing ones are 0.
    pub steps: SmallVec<[i64; 3]>,
}

impl Affine {
    /// The value under counters.
    pub fn at(&self, counters: &[u64]) -> i64 {
        let moved = self.steps.iter().zip(counters);
        moved.fold(self.base, |sum, (s, c)| sum.wrapping_add(s.wrapping_mul(*c as i64)))
    }

    /// The same, further by `n`.
    pub fn plus(&self, n: u64) -> Affine {
        Affine { base: self.base.wrapping_add_unsigned(n), steps: self.steps.clone() }
    }
}

/// `base` and the steps per round of each enclosing loop, outermost first.
pub fn affine(base: u64, steps: &[i64]) -> Affine {
    Affine { base: base as i64, steps: SmallVec::from_slice(steps) }
}

/// A vector register of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct V(pub u16);
/// A predicate register of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct M(pub u16);

/// A micro-op with its registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Micro {
    /// Instruction, element types, modes.
    pub step: Step,
    /// Vector operands.
    pub v: SmallVec<[V; 3]>,
    /// Predicate operands.
    pub m: SmallVec<[M; 3]>,
    /// Scalar operand, as bits.
    pub s: u64,
    /// Integer operand.
    pub n: Option<Affine>,
    /// UB address, in bytes.
    pub p: Option<Affine>,
    /// Vector results.
    pub dst: SmallVec<[V; 2]>,
    /// Predicate results.
    pub masks: SmallVec<[M; 2]>,
    /// Inactive lanes keep the old result instead of becoming 0.
    pub merge: bool,
}

/// A micro-op or a loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A micro-op.
    Op(Box<Micro>),
    /// A hardware loop.
    Loop(u64, Vec<Node>),
}

/// A vector function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its statements.
    pub body: Vec<Node>,
    /// Vector registers it names.
    pub vectors: u16,
    /// Predicate registers it names.
    pub masks: u16,
    /// Element type it works on, for reports.
    pub dtype: DType,
}

/// Writes a function.
#[derive(Debug)]
pub struct Code {
    open: Vec<Vec<Node>>,
    vectors: u16,
    masks: u16,
    /// Element type of what follows.
    pub t: DType,
    /// Loads advance their address register.
    pub post: bool,
}

impl Code {
    /// An empty function on elements of type `t`.
    pub fn new(t: DType) -> Code {
        Code { open: vec![Vec::new()], vectors: 0, masks: 0, t, post: false }
    }

    /// The finished function.
    pub fn finish(mut self) -> Function {
        let body = self.open.pop().unwrap_or_default();
        Function { body, vectors: self.vectors, masks: self.masks, dtype: self.t }
    }

    /// Bytes of one element.
    pub fn size(&self) -> usize {
        self.t.size()
    }

    /// A loop; a loop of no round is left out.
    pub fn repeat(&mut self, trips: u64, f: impl FnOnce(&mut Code)) {
        self.open.push(Vec::new());
        f(self);
        let body = self.open.pop().unwrap_or_default();
        if trips > 0 {
            self.push(Node::Loop(trips, body));
        }
    }

    fn push(&mut self, n: Node) {
        if let Some(list) = self.open.last_mut() {
            list.push(n);
        }
    }

    /// A new vector register.
    pub fn vector(&mut self) -> V {
        self.vectors += 1;
        V(self.vectors - 1)
    }

    fn mask(&mut self) -> M {
        self.masks += 1;
        M(self.masks - 1)
    }

    fn micro(&self, op: Op) -> Micro {
        let none = SmallVec::new;
        Micro {
            step: Step::new(op, self.t),
            v: none(),
            m: SmallVec::new(),
            s: 0,
            n: None,
            p: None,
            dst: SmallVec::new(),
            masks: SmallVec::new(),
            merge: false,
        }
    }

    /// Adds a micro-op as it stands.
    pub fn put(&mut self, m: Micro) {
        self.push(Node::Op(Box::new(m)));
    }

    /// Lanes of `size` bytes below a count.
    pub fn below(&mut self, size: usize, count: Affine) -> M {
        let op = [Op::plt_b8, Op::plt_b16, Op::plt_b32][(size.min(4).ilog2()) as usize];
        let out = self.mask();
        let m = self.micro(op);
        self.put(Micro { n: Some(count), masks: [out].into_iter().collect(), ..m });
        out
    }

    /// Every lane of `size` bytes.
    pub fn all(&mut self, size: usize) -> M {
        let op = [Op::pset_b8, Op::pset_b16, Op::pset_b32][(size.min(4).ilog2()) as usize];
        let out = self.mask();
        let mut m = self.micro(op);
        m.step.mods.pattern = crate::a5::Pattern::All;
        self.put(Micro { masks: [out].into_iter().collect(), ..m });
        out
    }

    /// A predicate from predicates.
    pub fn predicate(&mut self, op: Op, from: &[M], results: usize) -> SmallVec<[M; 2]> {
        let masks: SmallVec<[M; 2]> = (0..results).map(|_| self.mask()).collect();
        let m = self.micro(op);
        self.put(Micro { m: from.iter().copied().collect(), masks: masks.clone(), ..m });
        masks
    }

    /// A predicate from memory.
    pub fn load_mask(&mut self, dist: Dist, at: Affine) -> M {
        let out = self.mask();
        let mut m = self.micro(Op::plds);
        m.step.mods.dist = dist;
        self.put(Micro { p: Some(at), masks: [out].into_iter().collect(), ..m });
        out
    }

    /// A predicate to memory.
    pub fn store_mask(&mut self, dist: Dist, mask: M, at: Affine) {
        let mut m = self.micro(Op::psts);
        m.step.mods.dist = dist;
        self.put(Micro { m: [mask].into_iter().collect(), p: Some(at), ..m });
    }

    /// One register from memory.
    pub fn load(&mut self, dist: Dist, at: Affine) -> V {
        let out = self.vector();
        let mut m = self.micro(Op::vlds);
        (m.step.mods.dist, m.step.mods.post) = (dist, self.post && dist == Dist::Norm);
        self.put(Micro { p: Some(at), dst: [out].into_iter().collect(), ..m });
        out
    }

    /// What `f` writes is on elements of type `t`.
    pub fn typed<R>(&mut self, t: DType, f: impl FnOnce(&mut Code) -> R) -> R {
        let own = std::mem::replace(&mut self.t, t);
        let out = f(self);
        self.t = own;
        out
    }

    /// The same from elements of another type.
    pub fn load_as(&mut self, t: DType, dist: Dist, at: Affine) -> V {
        self.typed(t, |c| c.load(dist, at))
    }

    /// Values rounded to integral ones.
    pub fn truncate(&mut self, x: V, mask: M, how: Convert) -> V {
        let d = self.op(Op::vtrc, &[x], mask);
        if let Some(Node::Op(m)) = self.open.last_mut().and_then(|l| l.last_mut()) {
            m.step.mods.round = how.round;
        }
        d
    }

    /// Even and odd elements of 512 bytes.
    pub fn load_pair(&mut self, dist: Dist, at: Affine) -> [V; 2] {
        let out = [self.vector(), self.vector()];
        let mut m = self.micro(Op::vldsx2);
        m.step.mods.dist = dist;
        self.put(Micro { p: Some(at), dst: out.into_iter().collect(), ..m });
        out
    }

    /// 256 bytes from an address aligned to the element.
    pub fn load_unaligned(&mut self, at: Affine) -> V {
        let prime = self.micro(Op::vldas);
        self.put(Micro { p: Some(at.clone()), ..prime });
        let out = self.vector();
        let m = self.micro(Op::vldus);
        self.put(Micro { p: Some(at), dst: [out].into_iter().collect(), ..m });
        out
    }

    /// A register to memory.
    pub fn store(&mut self, dist: Dist, v: V, at: Affine, mask: M) {
        let mut m = self.micro(Op::vsts);
        m.step.mods.dist = dist;
        self.put(Micro {
            v: [v].into_iter().collect(),
            m: [mask].into_iter().collect(),
            p: Some(at),
            ..m
        });
    }

    /// The first `count` elements of a register behind an unaligned stream.
    pub fn append(&mut self, v: V, count: u64, at: Affine) {
        let m = self.micro(Op::vstus);
        let (v, n) = ([v].into_iter().collect(), Some(affine(count, &[])));
        self.put(Micro { v, n, p: Some(at), ..m });
    }

    /// The end of an unaligned stream.
    pub fn flush(&mut self, at: Affine) {
        let m = self.micro(Op::vstas);
        self.put(Micro { p: Some(at), ..m });
    }

    /// A register from registers, into `d`.
    pub fn into(&mut self, d: V, op: Op, from: &[V], mask: M) {
        let m = self.micro(op);
        self.put(Micro {
            v: from.iter().copied().collect(),
            m: [mask].into_iter().collect(),
            dst: [d].into_iter().collect(),
            ..m
        });
    }

    /// The same, inactive lanes of `d` kept.
    pub fn merge(&mut self, d: V, op: Op, from: &[V], mask: M) {
        self.into(d, op, from, mask);
        if let Some(Node::Op(m)) = self.open.last_mut().and_then(|l| l.last_mut()) {
            m.merge = true;
        }
    }

    /// A reduction between (source, result) types.
    pub fn reduce(&mut self, d: V, op: Op, x: V, mask: M, types: (DType, DType)) {
        let mut m = self.micro(op);
        (m.step.st, m.step.dt) = types;
        self.put(Micro {
            v: [x].into_iter().collect(),
            m: [mask].into_iter().collect(),
            dst: [d].into_iter().collect(),
            ..m
        });
    }

    /// A register from registers.
    pub fn op(&mut self, op: Op, from: &[V], mask: M) -> V {
        let d = self.vector();
        self.into(d, op, from, mask);
        d
    }

    /// Two registers from two.
    pub fn pair(&mut self, op: Op, from: [V; 2]) -> [V; 2] {
        let out = [self.vector(), self.vector()];
        let m = self.micro(op);
        self.put(Micro { v: from.into_iter().collect(), dst: out.into_iter().collect(), ..m });
        out
    }

    /// A register and a scalar.
    pub fn scalar(&mut self, op: Op, x: V, bits: u64, mask: M) -> V {
        let d = self.vector();
        self.scalar_into(d, op, x, bits, mask);
        d
    }

    /// The same, into `d`.
    pub fn scalar_into(&mut self, d: V, op: Op, x: V, bits: u64, mask: M) {
        let m = self.micro(op);
        self.put(Micro {
            v: [x].into_iter().collect(),
            m: [mask].into_iter().collect(),
            s: bits,
            dst: [d].into_iter().collect(),
            ..m
        });
    }

    /// Lanes of which a comparison with a scalar holds.
    pub fn compare(&mut self, cmp: Cmp, x: V, bits: u64, mask: M) -> M {
        let out = self.mask();
        let mut m = self.micro(Op::vcmps);
        m.step.mods.cmp = cmp;
        self.put(Micro {
            v: [x].into_iter().collect(),
            m: [mask].into_iter().collect(),
            s: bits,
            masks: [out].into_iter().collect(),
            ..m
        });
        out
    }

    /// Lanes of which a comparison of two registers holds.
    pub fn compare_two(&mut self, cmp: Cmp, x: V, y: V, mask: M) -> M {
        let out = self.mask();
        let mut m = self.micro(Op::vcmp);
        m.step.mods.cmp = cmp;
        self.put(Micro {
            v: [x, y].into_iter().collect(),
            m: [mask].into_iter().collect(),
            masks: [out].into_iter().collect(),
            ..m
        });
        out
    }

    /// A scalar in every lane of `d`.
    pub fn splat_into(&mut self, d: V, bits: u64) {
        let m = self.micro(Op::vbr);
        self.put(Micro { s: bits, dst: [d].into_iter().collect(), ..m });
    }

    /// A scalar in every lane.
    pub fn splat(&mut self, bits: u64) -> V {
        let d = self.vector();
        self.splat_into(d, bits);
        d
    }

    /// A scalar in every active lane.
    pub fn fill(&mut self, bits: u64, mask: M) -> V {
        let d = self.vector();
        let m = self.micro(Op::vdup);
        self.put(Micro {
            s: bits,
            m: [mask].into_iter().collect(),
            dst: [d].into_iter().collect(),
            ..m
        });
        d
    }

    /// Lane 0 in every active lane.
    pub fn spread(&mut self, x: V, mask: M) -> V {
        let d = self.vector();
        let mut m = self.micro(Op::vdup);
        m.step.mods.dist = Dist::Norm;
        self.put(Micro {
            v: [x].into_iter().collect(),
            m: [mask].into_iter().collect(),
            dst: [d].into_iter().collect(),
            ..m
        });
        d
    }

    /// A conversion between (source, destination), writing or reading a part.
    pub fn convert(&mut self, types: (DType, DType), x: V, mask: M, how: Convert) -> V {
        let d = self.vector();
        let mut m = self.micro(Op::vcvt);
        (m.step.st, m.step.dt) = types;
        m.step.gran = types.0.size().max(types.1.size()).min(4) as u8;
        m.step.mods.round = how.round;
        (m.step.mods.sat, m.step.mods.part) = (Some(how.saturate), how.part);
        self.put(Micro {
            v: [x].into_iter().collect(),
            m: [mask].into_iter().collect(),
            dst: [d].into_iter().collect(),
            ..m
        });
        d
    }
}

/// Modes of a conversion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Convert {
    /// Rounding, if the pair has any.
    pub round: Option<Round>,
    /// Clamp to the destination's range.
    pub saturate: bool,
    /// Even (0) or odd (1) lanes of the narrower side.
    pub part: u8,
}
