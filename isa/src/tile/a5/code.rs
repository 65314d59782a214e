//! Writes vector functions: one method per group of micro-ops.

use super::super::Tile;
use super::function::{Affine, Function, M, Micro, Node, V, affine};
use crate::a5::{Barrier, Cmp, Dist, Op, Step};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Round;
use smallvec::SmallVec;

/// Writes a function.
#[derive(Debug)]
pub struct Code {
    open: Vec<Vec<Node>>,
    vectors: u16,
    masks: u16,
    /// Predicates of all lanes, set once in front of the loops that use them.
    whole: SmallVec<[(Op, M); 2]>,
    /// Element type of what follows.
    pub t: DType,
    /// Loads advance their address register.
    pub post: bool,
    dynamic: bool,
}

impl Code {
    /// An empty function over a tile; sizes given at run time are the trip counts of its loops.
    pub fn over(t: &Tile) -> Code {
        Code { dynamic: !(t.static_rows && t.static_cols), ..Code::new(t.dtype) }
    }

    /// An empty function on elements of type `t`.
    pub fn new(t: DType) -> Code {
        let (open, whole) = (vec![Vec::new()], SmallVec::new());
        Code { open, vectors: 0, masks: 0, whole, t, post: false, dynamic: false }
    }

    /// The finished function.
    pub fn finish(mut self) -> Function {
        let body = self.open.pop().unwrap_or_default();
        let Code { vectors, masks, t: dtype, dynamic, .. } = self;
        Function { body, vectors, masks, dtype, dynamic }
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

    /// Every lane of `size` bytes: the same all through the function, so a compiler sets it outside
    /// the loops.
    pub fn all(&mut self, size: usize) -> M {
        let op = [Op::pset_b8, Op::pset_b16, Op::pset_b32][(size.min(4).ilog2()) as usize];
        if let Some((_, m)) = self.whole.iter().find(|(o, _)| *o == op) {
            return *m;
        }
        let out = self.mask();
        let mut m = self.micro(op);
        m.step.mods.pattern = crate::a5::Pattern::All;
        let set = Micro { masks: [out].into_iter().collect(), ..m };
        if let Some(outside) = self.open.first_mut() {
            outside.push(Node::Op(Box::new(set)));
        }
        self.whole.push((op, out));
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

    /// Lanes of `size` bytes below a count, none from the `most`-th on.
    pub fn below_most(&mut self, size: usize, count: Affine, most: u64) -> M {
        let m = self.below(size, count);
        if most * size as u64 >= crate::a5::VL as u64 {
            return m;
        }
        let cut = self.below(size, affine(most, &[]));
        self.predicate(Op::pand, &[m, cut, cut], 1)[0]
    }

    /// Elements or blocks an index register names.
    pub fn gather(&mut self, op: Op, base: Affine, index: V, mask: M) -> V {
        let out = self.vector();
        let m = self.micro(op);
        self.put(Micro {
            v: [index].into_iter().collect(),
            m: [mask].into_iter().collect(),
            p: Some(base),
            dst: [out].into_iter().collect(),
            ..m
        });
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

    /// Orders accesses of memory.
    pub fn bar(&mut self, what: Barrier) {
        let mut m = self.micro(Op::mem_bar);
        m.step.mods.bar = what;
        self.put(m);
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

    /// Lane numbers from `start` on.
    pub fn count(&mut self, start: u64) -> V {
        let d = self.vector();
        let m = self.micro(Op::vci);
        self.put(Micro { s: start, dst: [d].into_iter().collect(), ..m });
        d
    }

    /// Lanes of `x` that `index` names.
    pub fn pick(&mut self, x: V, index: V) -> V {
        let d = self.vector();
        let m = self.micro(Op::vselr);
        let v = [x, index].into_iter().collect();
        self.put(Micro { v, dst: [d].into_iter().collect(), ..m });
        d
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

    /// Two registers and a scalar.
    pub fn scalar_two(&mut self, op: Op, x: [V; 2], bits: u64, mask: M) -> V {
        let d = self.vector();
        self.scalar_into(d, op, x[0], bits, mask);
        if let Some(Node::Op(m)) = self.open.last_mut().and_then(|l| l.last_mut()) {
            m.v = x.into_iter().collect();
        }
        d
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
