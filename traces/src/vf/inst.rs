//! Names and operands of the instructions inside vector functions, as the vendor's simulator
//! prints them.

use crate::detail::dtype;
use crate::events::Lane;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::SiteId;
use ptoemu_core::time::vf::{Access, Bar, File, Inst, Kind, Reg, VfProgram};
use std::fmt::Write;

/// One instruction of a function, ready to be printed.
#[derive(Clone, Debug)]
pub struct MicroInst {
    /// Mnemonic of the program.
    pub mnemonic: String,
    /// Name as the vendor's simulator spells it.
    pub name: String,
    /// Where it is drawn.
    pub lane: Lane,
    /// Element type.
    pub dtype: DType,
    /// Operands.
    pub detail: String,
    /// What executes it.
    pub kind: Kind,
    /// Statement it was written as, if it is no microcode.
    pub site: Option<SiteId>,
}

impl MicroInst {
    /// Does it go through the queue of an execution unit?
    pub fn queued(&self) -> bool {
        self.kind == Kind::Compute
    }
}

/// Every instruction of a program.
pub(super) fn describe(p: &VfProgram) -> Vec<MicroInst> {
    p.insts.iter().map(|i| one(p, i)).collect()
}

fn one(p: &VfProgram, i: &Inst) -> MicroInst {
    let class = p.classes.get(usize::from(i.class));
    let mnemonic = class.map_or("unknown", |c| c.name.as_str()).to_string();
    let t = class.and_then(|c| c.dtype).unwrap_or(DType::I8);
    MicroInst {
        name: vendor_name(&mnemonic),
        lane: lane(i.kind),
        dtype: t,
        detail: operands(i, t),
        kind: i.kind,
        site: i.site,
        mnemonic,
    }
}

/// The vendor's simulator has one name for every aligned load, and one for every store.
fn vendor_name(mnemonic: &str) -> String {
    match mnemonic {
        "vlds" | "vld" => "RV_VLDI".into(),
        "vsts" | "vst" => "RV_VSTI".into(),
        other => format!("RV_{}", other.to_ascii_uppercase()),
    }
}

fn lane(k: Kind) -> Lane {
    match k {
        Kind::Load => Lane::RvecLoad,
        Kind::Store => Lane::RvecStore,
        Kind::Compute => Lane::RvecExecute,
        Kind::Predicate | Kind::Scalar | Kind::Bar(_) => Lane::RvecScalar,
    }
}

/// A memory barrier as programs write it.
pub(crate) fn bar_name(b: Bar) -> &'static str {
    match b {
        Bar::LoadStore => "VLD_VST",
        Bar::StoreLoad => "VST_VLD",
        Bar::StoreStore => "VST_VST",
        Bar::All => "VV_ALL",
    }
}

fn operands(i: &Inst, t: DType) -> String {
    let mut out = String::new();
    match i.kind {
        Kind::Bar(b) => {
            out.push_str("Type: ");
            out.push_str(bar_name(b));
        }
        _ => out.push_str(&format!("Dtype: {}", dtype(t))),
    }
    let mut registers = |side: &str, all: &[Reg]| {
        for (n, r) in all.iter().enumerate() {
            let file = match r.file {
                File::Vector => "V",
                File::Mask => "P",
                File::Align => "A",
                File::Scalar => "S",
            };
            let place = match (side, n) {
                ("d", _) => "d",
                (_, 0) => "n",
                (_, 1) => "m",
                _ => "k",
            };
            // Writing to a string does not fail.
            let _ = write!(out, ", {file}{place}[{}]", r.id);
        }
    };
    registers("d", &i.dst);
    registers("s", &i.src);
    if let Some(a) = &i.access {
        access(&mut out, a);
    }
    out
}

/// First address; where the access moves with loops, the bytes a round of each adds.
fn access(out: &mut String, a: &Access) {
    let _ = write!(out, ", ADDR:{:#x}, BYTES:{}", a.base.max(0), a.bytes);
    if a.pieces > 1 {
        let _ = write!(out, ", PIECES:{}, STRIDE:{}", a.pieces, a.stride);
    }
    if a.deltas.iter().any(|d| *d != 0) {
        let steps: Vec<String> = a.deltas.iter().map(i64::to_string).collect();
        let _ = write!(out, ", STEP:{}", steps.join("/"));
    }
}
