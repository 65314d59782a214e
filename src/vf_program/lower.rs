//! From names to numbers: registers, memory regions, unrolled lanes.

use super::Tree;
use ptoemu_core::dtype::DType;
use ptoemu_core::time::vf::{
    Access, Bar, Class, Inst, Kind, Loop, Node, Reg, UB, VfProgram, allocate, vreg,
};
use std::collections::HashMap;

/// Bytes of a full access.
const FULL: u32 = 256;
/// Names that stand for a buffer between two loops of one function: the second loop starts behind
/// a barrier.
const BETWEEN: &str = "mem_inter";

/// An instruction as written.
pub(super) struct Named {
    pub op: String,
    pub kind: Kind,
    pub dtype: Option<DType>,
    pub dst: Vec<String>,
    pub src: Vec<String>,
    pub post_update: bool,
    pub address: Option<Address>,
}

/// Bytes in the Unified Buffer, if the file knows them.
#[derive(Clone)]
pub(super) struct Address {
    pub base: i64,
    pub deltas: Vec<i64>,
    pub bytes: u32,
}

/// What executes a mnemonic; none if a barrier has no known mode.
pub(super) fn kind_of(op: &str, mode: Option<&str>) -> Option<Kind> {
    let op = op.to_ascii_lowercase();
    if op == "mem_bar" || op == "membar" {
        return Some(Kind::Bar(match mode?.to_ascii_uppercase().as_str() {
            "VLD_VST" => Bar::LoadStore,
            "VST_VLD" => Bar::StoreLoad,
            "VST_VST" => Bar::StoreStore,
            "VV_ALL" => Bar::All,
            _ => return None,
        }));
    }
    let starts = |list: &[&str]| list.iter().any(|p| op.starts_with(p));
    Some(if starts(&["vld", "vsld", "vgather", "plds"]) {
        Kind::Load
    } else if starts(&["vst", "vsst", "vscatter", "psts", "pstu"]) {
        Kind::Store
    } else if starts(&["p", "mov"]) {
        Kind::Predicate
    } else if starts(&["v", "chist", "dhist"]) {
        Kind::Compute
    } else {
        Kind::Scalar
    })
}

/// The mnemonic under which a target keeps the figures, and their element type.
fn figures_of(op: &str, dtype: Option<DType>) -> Class {
    let mut name = op.to_ascii_lowercase();
    let mut dtype = dtype;
    if let Some((a, b)) = name.strip_prefix("vcvt_").and_then(|t| t.split_once("_to_")) {
        dtype = Some(conversion(a, b));
        name = "vcvt".to_string();
    }
    for (long, short) in [("vcmps_", "vcmps"), ("vcmp_", "vcmp")] {
        if name.starts_with(long) {
            name = short.to_string();
        }
    }
    let fallback = ptoemu_isa::a5::Op::find(&name).map(|op| op.row().cost.to_string());
    Class { name, fallback, dtype }
}

/// The element type that stands for a conversion in target files.
fn conversion(from: &str, to: &str) -> DType {
    let simple = ["f32", "fp32", "f16", "fp16", "bf16"];
    let float = |t: &str| t.contains('f');
    match (float(from), float(to)) {
        (false, false) => DType::I16,
        _ if simple.contains(&from) && simple.contains(&to) => DType::F32,
        _ => DType::I32,
    }
}

/// Numbers handed out so far.
#[derive(Default)]
pub(super) struct Lower {
    program: VfProgram,
    vectors: HashMap<String, u16>,
    regions: HashMap<String, u32>,
}

impl Lower {
    pub fn finish(mut self, body: Vec<Tree>) -> VfProgram {
        let mut out = Vec::new();
        let mut loops = 0;
        for t in &body {
            let between = matches!(t, Tree::Loop { .. }) && loops > 0 && loads_between(t);
            if between {
                let class = self.program.class("mem_bar", None);
                let bar = Inst::new(class, Kind::Bar(Bar::StoreLoad));
                out.push(self.program.add(bar));
            }
            loops += usize::from(matches!(t, Tree::Loop { .. }));
            self.tree(t, &[], &mut out);
        }
        self.program.body = out;
        allocate(&mut self.program);
        self.program
    }

    fn tree(&mut self, t: &Tree, trips: &[u64], out: &mut Vec<Node>) {
        match t {
            Tree::Inst(i) => out.push(self.inst(i, trips, None, &[])),
            Tree::Loop { trips: n, unroll, hardware, body } => {
                let turns = n / unroll;
                let inner: Vec<u64> = trips.iter().copied().chain([turns]).collect();
                let mut nodes = Vec::new();
                if *unroll == 1 {
                    body.iter().for_each(|t| self.tree(t, &inner, &mut nodes));
                } else {
                    self.lanes(body, *unroll, &inner, &mut nodes);
                }
                let (hardware, dynamic) = (*hardware, false);
                out.push(Node::Loop(Loop { trips: turns, body: nodes, hardware, dynamic }));
            }
        }
    }

    /// All lanes of an instruction, then the next; names defined in the body are one per lane.
    fn lanes(&mut self, body: &[Tree], unroll: u64, trips: &[u64], out: &mut Vec<Node>) {
        let insts = || {
            body.iter().filter_map(|t| match t {
                Tree::Inst(i) => Some(i),
                Tree::Loop { .. } => None,
            })
        };
        let own: Vec<&str> = insts().flat_map(|i| i.dst.iter().map(String::as_str)).collect();
        for i in insts() {
            for lane in 0..unroll {
                out.push(self.inst(i, trips, Some((lane, unroll)), &own));
            }
        }
    }

    fn inst(&mut self, i: &Named, trips: &[u64], lane: Option<(u64, u64)>, own: &[&str]) -> Node {
        let class = self.program.class_of(figures_of(&i.op, i.dtype));
        let mut inst = Inst::new(class, i.kind);
        inst.post_update = i.post_update;
        inst.dst = i.dst.iter().filter_map(|n| self.register(n, lane, own)).collect();
        inst.src = i.src.iter().filter_map(|n| self.register(n, lane, own)).collect();
        let named = i.dst.iter().chain(&i.src).find(|n| is_memory(n));
        inst.access = match (&i.address, named) {
            (Some(a), _) => Some(Access::contiguous(UB, a.base, &a.deltas, a.bytes)),
            (None, Some(n)) => Some(self.region(n, trips, lane)),
            (None, None) => None,
        };
        self.program.add(inst)
    }

    fn register(&mut self, name: &str, lane: Option<(u64, u64)>, own: &[&str]) -> Option<Reg> {
        let lower = name.to_ascii_lowercase();
        if !lower.starts_with('v') {
            return None;
        }
        let key = match lane {
            Some((lane, _)) if own.contains(&name) => format!("{name} lane {lane}"),
            _ => name.to_string(),
        };
        let next = u16::try_from(self.vectors.len()).ok()?;
        Some(vreg(*self.vectors.entry(key).or_insert(next)))
    }

    /// A named buffer: one full access per iteration, in order.
    fn region(&mut self, name: &str, trips: &[u64], lane: Option<(u64, u64)>) -> Access {
        let next = self.regions.len() as u32 + 1;
        let region = *self.regions.entry(name.to_string()).or_insert(next);
        let (lane, lanes) = lane.unwrap_or((0, 1));
        let step = |inner: &[u64]| {
            inner.iter().fold(i64::from(FULL).saturating_mul(lanes as i64), |s, &n| {
                s.saturating_mul(i64::try_from(n).unwrap_or(i64::MAX))
            })
        };
        let deltas: Vec<i64> = (0..trips.len()).map(|d| step(&trips[d + 1..])).collect();
        let base = i64::from(FULL).saturating_mul(lane as i64);
        Access::contiguous(region, base, &deltas, FULL)
    }
}

fn is_memory(name: &str) -> bool {
    name.to_ascii_lowercase().starts_with("mem")
}

fn loads_between(t: &Tree) -> bool {
    match t {
        Tree::Inst(i) => i.kind == Kind::Load && i.src.iter().any(|n| n.starts_with(BETWEEN)),
        Tree::Loop { body, .. } => body.iter().any(loads_between),
    }
}
