//! What a dump of the 950 tells: its vector functions run out of order, but every instruction of
//! them says when it started and when it was done.
//!
//! A latency is the same in every call, so it can be read off; where accesses of the Unified Buffer
//! wait for each other, most calls still have their own latency, so the most frequent one is taken.
//! Loops are not in a dump, and with them goes the pipeline around the instructions.

use super::dump::{Line, dtype_of, measured};
use crate::measured::Measured;
use crate::work::{Part, Work};
use indexmap::IndexMap;
use ptoemu_core::target::Target;
use ptoemu_core::time::vf::{Access, Inst, Kind, Options, VfProgram, mreg, time, vreg};
use ptoemu_isa::a5::Op;
use std::collections::BTreeMap;

/// What cannot be told from a dump, and what can.
pub const NOTE: &str = "of a 950 a dump tells latencies of instructions and transfers, and vf.drain; \
                        loops, queues and intervals show in whole kernels: kernel,args,measured_cycles";

/// Times by how often they were seen.
#[derive(Default)]
struct Seen(BTreeMap<u64, u64>);

impl Seen {
    fn add(&mut self, cycles: u64) {
        *self.0.entry(cycles).or_default() += 1;
    }

    /// The most frequent one, the least of equals.
    fn most(&self) -> f64 {
        let most = self.0.values().copied().max().unwrap_or(0);
        self.0.iter().find(|(_, n)| **n == most).map_or(0.0, |(c, _)| *c as f64)
    }
}

/// Instructions of vector functions, and the ends of the functions. Lines of one id belong together.
pub fn functions(issued: &[Line], ended: &[Line], target: &Target) -> Vec<Measured> {
    let ends: BTreeMap<u64, u64> = ended.iter().filter_map(|l| Some((l.id?, l.tick))).collect();
    let mut all: Vec<&Line> = issued.iter().filter(|l| l.id.is_some()).collect();
    all.sort_by_key(|l| l.id);
    let mut latencies: IndexMap<(&str, &str, &str), Seen> = IndexMap::new();
    let mut functions: Vec<Function> = Vec::new();
    for l in all {
        let Some(end) = l.id.and_then(|id| ends.get(&id)).copied().filter(|e| *e >= l.tick) else {
            continue;
        };
        if l.pipe == "PUSHQ" {
            functions.push(Function { end, promised: promised(l.detail), last: None, seen: 0 });
        }
        if !l.name.starts_with("RV_") {
            continue;
        }
        latencies.entry((l.pipe, l.name, type_text(l.detail))).or_default().add(end - l.tick);
        if let Some(f) = functions.last_mut() {
            f.seen += 1;
            f.last = f.last.max(Some(end));
        }
    }
    let mut drains = Seen::default();
    functions.iter().filter_map(Function::drain).for_each(|d| drains.add(d));
    let mut out: Vec<Measured> = latencies
        .iter()
        .map(|((pipe, name, t), seen)| {
            measured("dump", name, t, seen.most(), lone(pipe, name, t, target, Part::First))
        })
        .collect();
    let any = latencies.keys().find_map(|(p, n, t)| lone(p, n, t, target, Part::Drain).ok());
    if let (Some(work), false) = (any, drains.0.is_empty()) {
        out.push(measured("dump", "VF", "last result until its end", drains.most(), Ok(work)));
    }
    out
}

/// One launch.
struct Function {
    end: u64,
    promised: Option<u64>,
    last: Option<u64>,
    seen: u64,
}

impl Function {
    /// Last completion until its end; nothing if some of its instructions are not there.
    fn drain(&self) -> Option<u64> {
        let whole = self.promised.is_none_or(|n| n == self.seen);
        self.last.filter(|_| whole).and_then(|last| self.end.checked_sub(last))
    }
}

/// Instructions a launch says it runs.
fn promised(detail: &str) -> Option<u64> {
    let rest = detail.split_once("instr_num:")?.1.trim_start();
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The element type of a line, as written.
pub fn type_text(detail: &str) -> &str {
    let named = detail.split_once("Dtype:").map_or("", |d| d.1.trim_start());
    named.split([',', ' ']).next().unwrap_or("")
}

/// A function of one instruction, of which a part is read.
pub fn lone(
    pipe: &str,
    name: &str,
    dtype: &str,
    target: &Target,
    part: Part,
) -> Result<Work, String> {
    let kind = match pipe {
        "RVECLD" => Kind::Load,
        "RVECST" => Kind::Store,
        "RVECEX" => Kind::Compute,
        "RVECSU" => Kind::Predicate,
        _ => return Err("no latency of its own".into()),
    };
    // The vendor's simulator has one name for every aligned load, and one for every store.
    let mnemonic = match name {
        "RV_VLDI" => "vlds".to_string(),
        "RV_VSTI" => "vsts".to_string(),
        other => other.trim_start_matches("RV_").to_ascii_lowercase(),
    };
    let fallback = Op::find(&mnemonic).map(|op| op.row().cost.to_string());
    let mut p = VfProgram::default();
    let class = p.class_of(ptoemu_core::time::vf::Class {
        name: mnemonic,
        fallback,
        dtype: dtype_of(dtype),
    });
    let mut inst = Inst::new(class, kind);
    match kind {
        Kind::Predicate => inst.dst.push(mreg(0)),
        Kind::Store => inst.src.push(vreg(0)),
        _ => inst.dst.push(vreg(0)),
    }
    if matches!(kind, Kind::Load | Kind::Store) {
        inst.access = Some(Access::contiguous(ptoemu_core::time::vf::UB, 0, &[], 256));
    }
    let node = p.add(inst);
    p.body.push(node);
    time(&p, target, Options::default()).map_err(|d| d.message)?;
    Ok(Work::Function(Box::new(p), part))
}
