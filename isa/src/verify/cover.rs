//! What was exercised: which instructions, under which masks, with how much of a last repeat.

use super::spec::Spec;
use super::unit::Unit;
use ptoemu_core::access::Lanes;
use ptoemu_core::stream::{Kind, Stream};
use ptoemu_core::target::Family;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// How the valid columns fill blocks and repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // the names of `Tail::name` say it
pub enum Tail {
    UnderBlock,
    Blocks,
    Ragged,
    Repeat,
    UnderTwo,
    Repeats,
    RepeatsAndRest,
}

impl Tail {
    /// Every class.
    pub const ALL: [Tail; 7] = [
        Tail::UnderBlock,
        Tail::Blocks,
        Tail::Ragged,
        Tail::Repeat,
        Tail::UnderTwo,
        Tail::Repeats,
        Tail::RepeatsAndRest,
    ];

    /// What it is called in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Tail::UnderBlock => "<block",
            Tail::Blocks => "blocks",
            Tail::Ragged => "<repeat",
            Tail::Repeat => "repeat",
            Tail::UnderTwo => "<2 repeats",
            Tail::Repeats => "repeats",
            Tail::RepeatsAndRest => "repeats+rest",
        }
    }

    fn of(unit: &Unit, cols: u32) -> Tail {
        let (block, repeat) = (32 / unit.from.size() as u32, unit.repeat());
        match cols {
            c if c < block => Tail::UnderBlock,
            c if c < repeat && c % block == 0 => Tail::Blocks,
            c if c < repeat => Tail::Ragged,
            c if c == repeat => Tail::Repeat,
            c if c < 2 * repeat => Tail::UnderTwo,
            c if c % repeat == 0 => Tail::Repeats,
            _ => Tail::RepeatsAndRest,
        }
    }
}

/// Bits of the mask modes vector instructions ran in.
const FULL: u8 = 1;
const PART: u8 = 2;
const COUNT: u8 = 4;

/// One cell of the grid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// Instructions in order of first use.
    pub path: String,
    /// Mask modes: `full`, `part` (norm mode), `count`; predicates on the 950.
    pub mask: String,
    /// Class of the valid columns.
    pub tail: Tail,
}

/// Counts uses by cell while they run.
#[derive(Debug, Default)]
pub struct Cover {
    names: Vec<&'static str>,
    owned: Vec<String>,
    cells: FxHashMap<(SmallVec<[u16; 16]>, u8, Tail), u64>,
}

impl Cover {
    /// Counts a use by what it issued.
    pub fn count(&mut self, unit: &Unit, spec: &Spec, stream: &Stream) {
        let mut path: SmallVec<[u16; 16]> = SmallVec::new();
        let mut mask = 0;
        for r in &stream.records {
            match r.kind {
                Kind::Vector | Kind::Copy | Kind::ScalarLoad | Kind::ScalarStore => {
                    let id = r.op.0;
                    if !path.contains(&id) {
                        path.push(id);
                    }
                    if r.kind == Kind::Vector {
                        mask |= mode(&stream.lanes(r));
                    }
                }
                Kind::Function => {
                    let Some(f) = stream.functions.get(r.link) else { continue };
                    for class in &f.classes {
                        let id = self.named(&class.name);
                        if !path.contains(&id) {
                            path.push(id);
                        }
                        mask |= match class.name.as_str() {
                            n if n.starts_with("plt") => PART,
                            n if n.starts_with("pset") || n.starts_with("pge") => FULL,
                            _ => 0,
                        };
                    }
                }
                _ => {}
            }
        }
        *self.cells.entry((path, mask, Tail::of(unit, spec.cols))).or_default() += 1;
    }

    /// Number of a micro-op by name, apart from the numbers of A2/A3 instructions.
    fn named(&mut self, name: &str) -> u16 {
        let at = self.owned.iter().position(|n| n == name).unwrap_or_else(|| {
            self.owned.push(name.to_string());
            self.owned.len() - 1
        });
        MICRO + at as u16
    }

    /// The cells with their counts, in order.
    pub fn cells(mut self, family: Family) -> BTreeMap<Cell, u64> {
        self.names = match family {
            Family::A2A3 => crate::table::Op::ALL.iter().map(|o| o.mnemonic()).collect(),
            Family::A5 => crate::a5::catalogue::catalogue().0.iter().map(|e| e.mnemonic).collect(),
        };
        let mut out = BTreeMap::new();
        for ((path, mask, tail), n) in &self.cells {
            let names: Vec<&str> = path.iter().map(|id| self.name(*id)).collect();
            let path = if names.is_empty() { "nothing".into() } else { names.join(" ") };
            *out.entry(Cell { path, mask: mask_name(*mask, family), tail: *tail }).or_default() +=
                n;
        }
        out
    }

    fn name(&self, id: u16) -> &str {
        match id.checked_sub(MICRO) {
            Some(at) => self.owned.get(usize::from(at)).map_or("?", String::as_str),
            None => self.names.get(usize::from(id)).copied().unwrap_or("?"),
        }
    }
}

/// Numbers of micro-ops by name start here; no catalogue is that long.
const MICRO: u16 = 0x8000;

fn mode(lanes: &Lanes) -> u8 {
    match lanes {
        Lanes::All => 0,
        Lanes::Norm(m) if m.covers(64) => FULL,
        Lanes::Norm(_) => PART,
        Lanes::Count { .. } => COUNT,
    }
}

fn mask_name(bits: u8, family: Family) -> String {
    let names = match family {
        Family::A2A3 => ["full", "part", "count"],
        Family::A5 => ["pset", "plt", "count"],
    };
    let on: Vec<&str> =
        names.into_iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|n| n.1).collect();
    if on.is_empty() { "none".into() } else { on.join("+") }
}
