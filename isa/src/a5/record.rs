//! Turns executed vecscopes into the form the timing model takes: loops stay loops.
//!
//! The first round of a loop is a template; later rounds that do the same join it, and an address
//! that moves by the same step every round is affine. Rounds that differ start another loop, and
//! an address that does not move evenly is left out: its banks are unknown.

use super::form::{Form, Kind};
use super::sink::{Executed, LoopEntry, MicroSink, RegId};
use super::timing;
use ptoemu_core::diag::Span;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::SiteId;
use ptoemu_core::time::vf::{self, Access, File, Inst, Reg, UB, VfProgram};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Most instructions and loops kept of one vecscope.
const MOST: usize = 1 << 20;

#[derive(Clone, Debug)]
enum Item {
    Op(Op),
    Loop(Vec<Part>),
}

/// Rounds that do the same.
#[derive(Clone, Debug)]
struct Part {
    trips: u64,
    items: Vec<Item>,
}

#[derive(Clone, Debug)]
struct Op {
    class: u16,
    kind: vf::Kind,
    dst: SmallVec<[RegId; 2]>,
    src: SmallVec<[RegId; 4]>,
    post: bool,
    place: Option<Place>,
    site: SiteId,
}

#[derive(Clone, Debug)]
struct Place {
    at: i64,
    /// Steps of the loops closed so far, innermost first.
    steps: SmallVec<[i64; 3]>,
    /// Step of the loop that is being joined.
    step: i64,
    bytes: u32,
    pieces: u16,
    stride: i32,
}

/// Builds the program of one vecscope after the other.
#[derive(Debug, Default)]
pub struct ScopeRecorder {
    /// The scope, then every open loop: parts so far and the round under way.
    open: Vec<(Vec<Part>, Vec<Item>)>,
    program: VfProgram,
    /// Registers that are one, by the name they stand for.
    alias: FxHashMap<RegId, RegId>,
    numbers: FxHashMap<RegId, u16>,
    items: usize,
    dtype: Option<DType>,
}

impl ScopeRecorder {
    /// The program of the scope that just ended, and the element type it works on; none if it was
    /// too large to keep.
    pub fn take(&mut self) -> Option<(VfProgram, DType)> {
        let (_, items) = self.open.pop()?;
        let whole = self.items <= MOST;
        let body = self.nodes(items);
        let mut p = std::mem::take(&mut self.program);
        let dtype = self.dtype.unwrap_or(DType::I8);
        *self = ScopeRecorder::default();
        p.body = body;
        vf::allocate(&mut p);
        whole.then_some((p, dtype))
    }

    fn name(&self, r: RegId) -> RegId {
        let mut r = r;
        // Chains are as long as loops are deep; a bound keeps a cycle from hanging.
        for _ in 0..64 {
            match self.alias.get(&r) {
                Some(next) if *next != r => r = *next,
                _ => break,
            }
        }
        r
    }

    fn unite(&mut self, a: RegId, b: RegId) {
        let (a, b) = (self.name(a), self.name(b));
        if a != b {
            self.alias.insert(a, b);
        }
    }

    fn register(&mut self, r: RegId) -> Option<Reg> {
        let file = match r.kind {
            Kind::V => File::Vector,
            Kind::M => File::Mask,
            Kind::A => File::Align,
            _ => return None,
        };
        let r = self.name(r);
        let next = u16::try_from(self.numbers.len()).ok()?;
        Some(Reg { file, id: *self.numbers.entry(r).or_insert(next) })
    }

    fn nodes(&mut self, items: Vec<Item>) -> Vec<vf::Node> {
        let mut out = Vec::new();
        for i in items {
            match i {
                Item::Op(op) => {
                    let inst = self.inst(op);
                    out.push(self.program.add(inst));
                }
                Item::Loop(parts) => {
                    for p in parts {
                        let body = self.nodes(p.items);
                        out.push(vf::Node::repeat(p.trips, body));
                    }
                }
            }
        }
        out
    }

    fn inst(&mut self, op: Op) -> Inst {
        let mut i = Inst::new(op.class, op.kind);
        i.dst = op.dst.iter().filter_map(|r| self.register(*r)).collect();
        i.src = op.src.iter().filter_map(|r| self.register(*r)).collect();
        i.site = Some(op.site);
        i.post_update = op.post && op.kind == vf::Kind::Load;
        i.access = op.place.map(|p| Access {
            region: UB,
            base: p.at,
            deltas: p.steps.iter().rev().copied().collect(),
            bytes: p.bytes,
            pieces: p.pieces,
            stride: p.stride,
        });
        i
    }

    fn close_round(&mut self) {
        let Some((parts, items)) = self.open.last_mut() else { return };
        let items = std::mem::take(items);
        if items.is_empty() {
            return;
        }
        if let Some(last) = parts.last_mut().filter(|p| alike(&p.items, &items)) {
            join(&mut last.items, &items, last.trips);
            last.trips += 1;
            return;
        }
        self.items += items.len();
        parts.push(Part { trips: 1, items });
    }
}

/// Do two rounds run the same instructions?
fn alike(a: &[Item], b: &[Item]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|pair| match pair {
            (Item::Op(x), Item::Op(y)) => {
                (x.class, x.kind, x.post) == (y.class, y.kind, y.post)
                    && x.dst == y.dst
                    && x.src == y.src
                    && x.place.is_some() == y.place.is_some()
            }
            (Item::Loop(x), Item::Loop(y)) => {
                x.len() == y.len()
                    && x.iter().zip(y).all(|(x, y)| x.trips == y.trips && alike(&x.items, &y.items))
            }
            _ => false,
        })
}

/// Takes round `k` into its template: addresses must move evenly.
fn join(to: &mut [Item], from: &[Item], k: u64) {
    for pair in to.iter_mut().zip(from) {
        match pair {
            (Item::Op(x), Item::Op(y)) => {
                let (Some(p), Some(q)) = (&mut x.place, &y.place) else { continue };
                let moved = q.at.wrapping_sub(p.at);
                if k == 1 {
                    p.step = moved;
                }
                let even = moved == p.step.wrapping_mul(k as i64);
                let same = (p.bytes, p.pieces, p.stride) == (q.bytes, q.pieces, q.stride);
                if !even || !same || p.steps != q.steps {
                    x.place = None;
                }
            }
            (Item::Loop(x), Item::Loop(y)) => {
                for (x, y) in x.iter_mut().zip(y) {
                    join(&mut x.items, &y.items, k);
                }
            }
            _ => {}
        }
    }
}

/// The step of the loop just closed becomes one of the address.
fn settle(items: &mut [Item]) {
    for i in items {
        match i {
            Item::Op(op) => {
                if let Some(p) = &mut op.place {
                    p.steps.push(std::mem::take(&mut p.step));
                }
            }
            Item::Loop(parts) => parts.iter_mut().for_each(|p| settle(&mut p.items)),
        }
    }
}

impl MicroSink for ScopeRecorder {
    fn enter_scope(&mut self, _: Span) {
        *self = ScopeRecorder::default();
        self.open.push((Vec::new(), Vec::new()));
    }

    fn enter_loop(&mut self, e: &LoopEntry<'_>) {
        // One register for the value of every round; only vectors and predicates are kept.
        for (n, (inside, first)) in e.carried.iter().enumerate() {
            for kind in [Kind::V, Kind::M, Kind::A] {
                let reg = |id: u32| RegId { kind, id };
                if !self.alias.contains_key(&reg(*first)) {
                    self.unite(reg(*first), reg(*inside));
                }
                for other in [e.yields.get(n), e.results.get(n)].into_iter().flatten() {
                    self.unite(reg(*other), reg(*inside));
                }
            }
        }
        self.open.push((Vec::new(), Vec::new()));
    }

    fn round(&mut self, _: i64) {
        self.close_round();
    }

    fn leave_loop(&mut self) {
        self.close_round();
        if self.open.len() < 2 {
            return;
        }
        let Some((mut parts, _)) = self.open.pop() else { return };
        parts.iter_mut().for_each(|p| settle(&mut p.items));
        if let (Some((_, items)), false) = (self.open.last_mut(), parts.is_empty()) {
            items.push(Item::Loop(parts));
        }
    }

    fn micro(&mut self, m: &Executed<'_>) {
        let Some(kind) = timing::kind(m.step.op, &m.step.mods) else {
            // No instruction: the result is the operand under another name.
            if let (Some(to), Some(from)) = (m.writes.first(), m.reads.first()) {
                self.unite(*to, *from);
            }
            return;
        };
        if self.items > MOST {
            return;
        }
        let op = Op {
            class: self.program.class_of(timing::class(m.step)),
            kind,
            dst: m.writes.iter().copied().collect(),
            src: m.reads.iter().copied().collect(),
            post: m.step.mods.post,
            place: place(m),
            site: m.site,
        };
        // Predicates have lanes, but not the type that is worked on.
        if matches!(kind, vf::Kind::Load | vf::Kind::Compute | vf::Kind::Store) {
            self.dtype.get_or_insert(m.step.dt);
        }
        if let Some((_, items)) = self.open.last_mut() {
            items.push(Item::Op(op));
            // Straight code counts as it comes, rounds when they close.
            if items.len() > MOST {
                self.items = MOST + 1;
            }
        }
    }
}

/// Bytes of an access, where they form evenly spaced pieces.
fn place(m: &Executed<'_>) -> Option<Place> {
    let new = |at: u64, bytes: u32| Place {
        at: at as i64,
        steps: SmallVec::new(),
        step: 0,
        bytes,
        pieces: 1,
        stride: 0,
    };
    match m.step.op.form() {
        Form::Gather | Form::Scatter => None,
        Form::LoadB | Form::StoreB => {
            let (first, rest) = m.touched.split_first()?;
            let step = rest.first().map_or(0, |t| t.addr.wrapping_sub(first.addr) as i64);
            let even =
                m.touched.windows(2).all(|w| w[1].addr.wrapping_sub(w[0].addr) as i64 == step);
            let stride = i32::try_from(step).ok().filter(|_| even)?;
            Some(Place { pieces: m.touched.len() as u16, stride, ..new(first.addr, first.bytes) })
        }
        Form::StreamN | Form::StreamR | Form::PStream => {
            m.touched.first().map(|t| new(t.addr, t.bytes))
        }
        _ => m.addresses.first().map(|a| new(*a, timing::bytes(m.step))),
    }
}
