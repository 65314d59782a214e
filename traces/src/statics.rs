//! Instructions as they stand in the program: one address each, however often they run.
//!
//! Microcode has no addresses of its own. Records of one statement with the same instruction,
//! types and strides count as one instruction and get one made-up address, four bytes apart in
//! the order they first ran.

use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{Kind, OpId, Pipe, Record, ShapeId, Site, SiteId, Stream};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Address of the first instruction; the vendor's loader also starts above 256 MB.
const FIRST_PC: u64 = 0x1000_0000;

/// A vector function as dumps name it, whatever launches it.
pub(crate) const FUNCTION: &str = "VF";

/// One instruction of the program.
#[derive(Clone, Debug)]
pub struct Static {
    /// A record of it: the first.
    pub first: u32,
    /// Name as the vendor's simulator spells it.
    pub name: String,
    /// `file:line` of its statement; of the tile operation for microcode.
    pub code: String,
    /// Tile operation it belongs to.
    pub tile_op: Option<&'static str>,
    /// Element type.
    pub dtype: DType,
    /// What its records are.
    pub kind: Kind,
}

impl Static {
    /// Its name, with its element type where it computes on elements.
    pub fn label(&self) -> String {
        match self.kind {
            Kind::Vector | Kind::Copy | Kind::ScalarLoad | Kind::ScalarStore => {
                format!("{}.{}", self.name, self.dtype.name())
            }
            _ => self.name.clone(),
        }
    }
}

/// Every instruction of a run, and which one each record is.
#[derive(Clone, Debug)]
pub struct Statics {
    items: Vec<Static>,
    of: Vec<u32>,
    /// Number of the first instruction inside each vector function; 0 for other instructions.
    inside: Vec<u64>,
    /// `file:line` of every site.
    places: Vec<String>,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    site: SiteId,
    op: OpId,
    dtype: DType,
    shape: ShapeId,
    pipe: Pipe,
    flag: [u8; 3],
}

impl Statics {
    /// Of a stream.
    pub fn new(
        stream: &Stream,
        mnemonic: impl Fn(OpId) -> Option<&'static str>,
        sources: &[Arc<SourceFile>],
    ) -> Statics {
        let lines: Vec<Vec<usize>> = sources.iter().map(|f| starts(&f.text)).collect();
        let places = stream.sites.items().iter().map(|s| place(*s, sources, &lines)).collect();
        let mut keys: FxHashMap<Key, u32> = FxHashMap::default();
        let of = Vec::with_capacity(stream.records.len());
        let mut s = Statics { items: Vec::new(), of, inside: Vec::new(), places };
        // Instructions of the longest function at each place.
        let mut longest: Vec<u64> = Vec::new();
        for (i, r) in (0u32..).zip(&stream.records) {
            let key = Key {
                site: r.site,
                op: r.op,
                dtype: r.dtype,
                shape: r.shape,
                pipe: r.pipe,
                flag: r.flag,
            };
            let next = s.items.len() as u32;
            let id = *keys.entry(key).or_insert_with(|| {
                s.items.push(Static {
                    first: i,
                    name: vendor_name(r, mnemonic(r.op).unwrap_or("unknown")),
                    code: s.place(r.site).unwrap_or(UNKNOWN).to_string(),
                    tile_op: stream.groups.get(r.group as usize).map(|g| g.name),
                    dtype: r.dtype,
                    kind: r.kind,
                });
                next
            });
            s.of.push(id);
            longest.resize(s.items.len(), 0);
            let function = stream.functions.get(r.link).filter(|_| r.kind == Kind::Function);
            if let (Some(p), Some(n)) = (function, longest.get_mut(id as usize)) {
                *n = (*n).max(p.insts.len() as u64);
            }
        }
        let mut next = s.items.len() as u64;
        for n in longest {
            s.inside.push(if n == 0 { 0 } else { next });
            next += n;
        }
        s
    }

    /// Every instruction, in the order they first ran.
    pub fn items(&self) -> &[Static] {
        &self.items
    }

    /// Which instruction a record is: index into [`Statics::items`].
    pub fn index(&self, record: u32) -> usize {
        self.of.get(record as usize).map_or(0, |&i| i as usize)
    }

    /// The instruction of a record.
    pub fn of(&self, record: u32) -> Option<&Static> {
        self.items.get(self.index(record))
    }

    /// `file:line` of a site.
    pub fn place(&self, site: SiteId) -> Option<&str> {
        self.places.get(site.0 as usize).map(String::as_str)
    }

    /// `file:line` of an instruction inside the vector function that is static instruction
    /// `index`: its own, or for microcode that of the tile operation.
    pub fn inner_code(&self, index: usize, site: Option<SiteId>) -> &str {
        let whole = self.items.get(index).map_or(UNKNOWN, |s| &s.code);
        site.and_then(|s| self.place(s)).unwrap_or(whole)
    }

    /// Address of an instruction.
    pub fn pc(index: usize) -> u64 {
        FIRST_PC + 4 * (index as u64 + RESERVED)
    }

    /// Address of an instruction inside a vector function: the number of the function in the
    /// static instructions, and of the instruction in the function.
    pub fn inner_pc(&self, index: usize, inst: u32) -> u64 {
        let first = self.inside.get(index).copied().unwrap_or(0);
        FIRST_PC + 4 * (first + u64::from(inst) + RESERVED)
    }

    /// Address of the instructions before the first: the start-up of a core.
    pub fn start_pc(n: u64) -> u64 {
        FIRST_PC + 4 * n.min(RESERVED)
    }
}

/// A place that no file is known for.
const UNKNOWN: &str = "unknown:0";

/// Instructions of the start-up, before the first of the program.
const RESERVED: u64 = 2;

/// First byte of every line.
fn starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect()
}

fn place(site: Site, sources: &[Arc<SourceFile>], lines: &[Vec<usize>]) -> String {
    let file = usize::from(site.file);
    let (Some(source), Some(lines)) = (sources.get(file), lines.get(file)) else {
        return UNKNOWN.to_string();
    };
    let line = lines.partition_point(|&s| s <= site.span.start as usize);
    format!("{}:{line}", source.name)
}

/// Names seen in dumps of the vendor's simulator; other instructions keep their mnemonic in
/// capitals.
fn vendor_name(r: &Record, mnemonic: &str) -> String {
    match r.kind {
        Kind::Function => FUNCTION.to_string(),
        Kind::MaskWrite => "MOVEMASK".to_string(),
        Kind::Barrier => "BAR".to_string(),
        Kind::SetFlag => "SET_FLAG".to_string(),
        Kind::WaitFlag => "WAIT_FLAG".to_string(),
        Kind::Dma if r.pipe == Pipe::Mte2 => "MOV_OUT_TO_UB".to_string(),
        Kind::Dma => "MOV_UB_TO_OUT".to_string(),
        _ => mnemonic.to_ascii_uppercase(),
    }
}
