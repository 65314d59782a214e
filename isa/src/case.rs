//! One tile operation on generated data: built from a short description, executed on the machine
//! and compared with its meaning.

mod text;

pub(crate) use text::{element, tile_type};
pub use text::{to_pto, to_replay};

use crate::hazards;
use crate::machine::{Backend, Machine, Settings, Stop};
use crate::tile::{
    self, Call, Family, Layout, Limits, Mem, OperandOrder, Operator, Quirks, Scalar, Tile, TileOp,
    Tmp,
};
use crate::verify::{BuiltIn, Subject, example};
use ptoemu_core::check::Finding;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Dist;
use ptoemu_core::state::WRITER_NONE;
use ptoemu_core::stream::{Site, SiteId, Stream};

/// Where the tiles of a case lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// One after the other from UB address 0, each aligned.
    Packed {
        /// Alignment in bytes.
        align: u64,
    },
    /// Far apart, beyond any real UB, each in a 64 KB bank layer of its own: for timing alone.
    Virtual,
}

/// Scratch tile of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scratch {
    /// Given where the operation takes one, in the shape that always suffices.
    #[default]
    Default,
    /// Left out.
    None,
    /// Rows and columns.
    Shape(u32, u32),
}

/// Description of a case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Operation.
    pub op: &'static TileOp,
    /// Element type of the sources.
    pub dtype: DType,
    /// Element type of the destination of a conversion.
    pub to: Option<DType>,
    /// Physical rows and columns of the full tiles.
    pub shape: (u32, u32),
    /// Valid rows and columns.
    pub valid: (u32, u32),
    /// Row-expand operations: 1 (one scalar per row) or 2 (one block per row).
    pub mode: u8,
    /// The expanded operand comes first.
    pub swap: bool,
    /// Scratch tile.
    pub tmp: Scratch,
    /// One-column results and sources lie column-major.
    pub dn: bool,
    /// Physical columns of the destination, if other than the shape says.
    pub dst_cols: Option<u32>,
    /// Valid sizes are run-time values.
    pub dynamic: bool,
    /// Microcode variant.
    pub quirks: Quirks,
    /// Operand order of swapped row-expand operations.
    pub order: OperandOrder,
}

impl Case {
    /// A case with all elements valid and every choice at its default.
    pub fn new(op: &'static TileOp, dtype: DType, rows: u32, cols: u32) -> Case {
        Case {
            op,
            dtype,
            to: None,
            shape: (rows, cols),
            valid: (rows, cols),
            mode: 1,
            swap: false,
            tmp: Scratch::Default,
            dn: true,
            dst_cols: None,
            dynamic: false,
            quirks: Quirks::corrected(),
            order: OperandOrder::Seed,
        }
    }

    /// The call, its tiles placed.
    pub fn call(&self, placement: Placement) -> Call {
        let dtype = self.to.unwrap_or(self.dtype);
        let mut call = example(self.op, (self.dtype, dtype), self.valid)
            .unwrap_or_else(|| Call::new(self.op, self.destination(dtype), self.sources()));
        if self.op.operator == Operator::Trans {
            let turned = |(a, b): (u32, u32)| (b, a.next_multiple_of(32 / dtype.size() as u32));
            let valid = (self.valid.1, self.valid.0);
            call.dst = self.tile("dst", dtype, turned(self.shape), valid);
        }
        // What A2/A3 needs, the 950 accepts.
        call.tmp = match (call.least_tmp(), self.tmp) {
            (Some((t, r, c)), Scratch::Default) => Some(self.needed(t, (r, c))),
            _ => self.scratch(),
        };
        if self.op.operator == Operator::Tri {
            call.scalar = Some(Scalar { dtype: DType::I32, bits: 0 });
        } else if self.op.sig.scalar {
            let mut bits = [0u8; 8];
            Dist::Unit.fill(self.dtype, 0x5CA1A8, 7, &mut bits[..self.dtype.size()]);
            if !self.dtype.is_float() {
                bits = 3u64.to_le_bytes();
            }
            call.scalar = Some(Scalar { dtype: self.dtype, bits: u64::from_le_bytes(bits) });
        }
        call.quirks = self.quirks;
        call.operand_order = self.order;
        place(&mut call, placement);
        call
    }

    fn tile(&self, name: &str, dtype: DType, shape: (u32, u32), valid: (u32, u32)) -> Tile {
        Tile {
            static_rows: !self.dynamic,
            static_cols: !self.dynamic,
            ..Tile::plain(name, dtype, shape, valid)
        }
    }

    fn full(&self, name: &str, dtype: DType) -> Tile {
        self.tile(name, dtype, self.shape, self.valid)
    }

    /// One element per row: a column-major column (rows rounded up to whole blocks), or the first
    /// column of a row-major tile of one block per row.
    fn column(&self, name: &str, dtype: DType, dn: bool, valid_cols: u32) -> Tile {
        let block = 32 / dtype.size() as u32;
        if dn {
            let rows = self.shape.0.next_multiple_of(block);
            let t = self.tile(name, dtype, (rows, 1), (self.valid.0, 1));
            Tile { layout: Layout::ColMajor, static_cols: true, ..t }
        } else {
            self.tile(name, dtype, (self.shape.0, block), (self.valid.0, valid_cols))
        }
    }

    /// One packed bit for every element.
    fn bits(&self, name: &str) -> Tile {
        let shape = (self.shape.0, self.shape.1.div_ceil(8).next_multiple_of(32));
        self.tile(name, DType::U8, shape, (self.valid.0, shape.1))
    }

    fn one_row(&self, name: &str, dtype: DType) -> Tile {
        self.tile(name, dtype, (1, self.shape.1), (1, self.valid.1))
    }

    fn destination(&self, dtype: DType) -> Tile {
        let places = matches!(self.op.operator, Operator::ArgMax | Operator::ArgMin);
        let dtype = if places { DType::U32 } else { dtype };
        let mut t = match self.op.operator {
            _ if self.op.reduces_rows() => self.column("dst", dtype, self.dn, 1),
            _ if self.op.reduces_cols() => self.one_row("dst", dtype),
            Operator::Compare => self.bits("dst"),
            Operator::Sort => {
                let line = self.shape.1.next_multiple_of(32) * 8 / dtype.size() as u32;
                self.tile("dst", dtype, (self.shape.0, line), (self.valid.0, line))
            }
            _ => self.full("dst", dtype),
        };
        if self.op.name.starts_with("tfillpad") {
            (t.valid_rows, t.valid_cols, t.pad) = (t.rows, t.cols, 1);
        }
        if let Some(c) = self.dst_cols {
            t.cols = c;
        }
        t
    }

    fn sources(&self) -> Vec<Tile> {
        let t = self.dtype;
        let block = 32 / t.size() as u32;
        if self.op.expands_rows() {
            let valid = if self.mode == 2 { block } else { 1 };
            if self.op.sig.srcs == 1 {
                return vec![self.column("src", t, self.dn, 1)];
            }
            let full = self.full(if self.swap { "src1" } else { "src0" }, t);
            let name = if self.swap { "src0" } else { "src1" };
            let exp = self.column(name, t, self.mode != 2, valid);
            return if self.swap { vec![exp, full] } else { vec![full, exp] };
        }
        let row_expands = self.op.name.starts_with("tcolexpand");
        let names = self.op.sources().iter().enumerate();
        let tiles = names.map(|(i, name)| match (*name, i) {
            ("mask", _) => self.bits(name),
            ("idx", _) => self.full(name, DType::U32),
            ("src", _) | (_, 1) if row_expands => self.one_row(name, t),
            _ => self.full(name, t),
        });
        tiles.collect()
    }

    fn needed(&self, t: DType, (rows, cols): (u32, u32)) -> Tile {
        let shape = (rows, cols.next_multiple_of(32 / t.size() as u32));
        let tile = self.tile("tmp", t, shape, shape);
        Tile { static_rows: true, static_cols: true, ..tile }
    }

    fn scratch(&self) -> Option<Tile> {
        let t = self.dtype;
        let shape = match (self.tmp, self.op.sig.tmp) {
            (Scratch::Shape(r, c), _) => (r, c),
            (Scratch::None, _) | (_, Tmp::None) => return None,
            (Scratch::Default, Tmp::Required) => self.shape,
            (Scratch::Default, Tmp::Optional) if self.op.expands_rows() && self.mode == 2 => {
                return None;
            }
            (Scratch::Default, Tmp::Optional) if self.op.expands_rows() => {
                // ceil(R/8) repeats of 256 bytes, at most 30 of them [D: seed].
                let rows = self.valid.0.div_ceil(8).min(30) * 8;
                (rows.max(8), 32 / t.size() as u32)
            }
            (Scratch::Default, Tmp::Optional) => return None,
        };
        let mut tile = self.tile("tmp", t, shape, shape);
        (tile.static_rows, tile.static_cols) = (true, true);
        Some(tile)
    }
}

fn place(call: &mut Call, placement: Placement) {
    match placement {
        Placement::Packed { align } => {
            let mut at = 0u64;
            let mut next = |t: &mut Tile| {
                t.addr = at;
                at = t.end().next_multiple_of(align.max(1));
            };
            call.src.iter_mut().for_each(&mut next);
            next(&mut call.dst);
            call.tmp.iter_mut().for_each(&mut next);
        }
        Placement::Virtual => {
            call.dst.addr = 0x1000_0000;
            for (i, t) in call.src.iter_mut().enumerate() {
                t.addr = 0x2000_0000 + 0x1000_0000 * i as u64;
            }
            if let Some(t) = &mut call.tmp {
                t.addr = 0x4000_0000;
            }
        }
    }
}

/// How values compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Row and column in the destination.
    pub at: (u64, u64),
    /// Bits of the run.
    pub got: u64,
    /// Bits of the meaning.
    pub want: u64,
    /// Elements that differ.
    pub count: u64,
}

/// A case after its run.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Legality notes and warnings.
    pub notes: Vec<Diagnostic>,
    /// What was issued.
    pub stream: Stream,
    /// What the checks found.
    pub findings: Vec<Finding>,
    /// The first wrong element, if any.
    pub mismatch: Option<Mismatch>,
    /// First byte written outside the valid region, scratch and reserved window, and how many.
    pub stray: Option<(u64, u64)>,
}

/// Executes a call on generated data and compares it with its meaning.
///
/// Sources are filled whole, padding included, so that reads beyond the valid region show.
pub fn execute(call: &Call, limits: &Limits, settings: Settings, seed: u64) -> Result<Trial, Stop> {
    execute_by(&BuiltIn, call, limits, settings, seed)
}

/// The same with the microcode of `subject`.
pub fn execute_by(
    subject: &dyn Subject,
    call: &Call,
    limits: &Limits,
    settings: Settings,
    seed: u64,
) -> Result<Trial, Stop> {
    let call = &Call { family: settings.family, ..call.clone() };
    let notes = tile::check(call, settings.family, limits).map_err(Stop)?;
    let family = settings.family;
    let mut m = Machine::new(settings);
    fill(&mut m, call, seed);
    let before = m.ub.bytes.as_slice().to_vec();
    let mut want = before.clone();
    let entry = m.modes();
    let site = SiteId(m.log.stream.sites.intern(Site { span: Default::default(), file: 0 }));
    m.log.stream.groups.push(call.group(site));
    m.at(site, 0);
    tile::reference(call, &mut Mem { ub: &mut want, gm: None })?;
    subject.issue(call, &mut m, &mut crate::a5::Core::default())?;
    m.leave(&entry, true);
    let after = m.ub.bytes.as_slice();
    let mut findings = m.findings.items().to_vec();
    findings.extend(hazards::check_of(family, &m.log.stream, 0, false));
    Ok(Trial {
        mismatch: compare(call, &before, after, &want),
        stray: stray(call, limits, &before, after),
        notes,
        findings,
        stream: m.log.stream,
    })
}

/// Distribution of the generated data of an element type.
pub fn dist(t: DType) -> Dist {
    if t.is_float() { Dist::Unit } else { Dist::Small }
}

fn fill(m: &mut Machine, call: &Call, seed: u64) {
    for (k, t) in call.src.iter().enumerate() {
        let Some(bytes) = m.ub.bytes.get_mut(t.addr, t.bytes() as usize) else { continue };
        dist(t.dtype).fill(t.dtype, seed, k as u64, bytes);
        call.tame(k + 1, bytes);
        m.ub.shadow.set(t.addr, t.end(), true, WRITER_NONE);
    }
    if call.reads_dst() {
        if let Some(bytes) = m.ub.bytes.get_mut(call.dst.addr, call.dst.bytes() as usize) {
            dist(call.dst.dtype).fill(call.dst.dtype, seed, 9, bytes);
        }
        m.ub.shadow.set(call.dst.addr, call.dst.end(), true, WRITER_NONE);
    }
    let owned = call.tiles().map(|(role, t)| (role.to_string(), t.addr, t.end()).into());
    m.owners = owned.collect();
}

fn compare(call: &Call, before: &[u8], got: &[u8], want: &[u8]) -> Option<Mismatch> {
    let t = &call.result();
    let n = t.dtype.size();
    let element = |mem: &[u8], at: u64| {
        let mut b = [0u8; 8];
        if let Some(src) = mem.get(at as usize..at as usize + n) {
            b[..n].copy_from_slice(src);
        }
        u64::from_le_bytes(b)
    };
    let mut out: Option<Mismatch> = None;
    for r in 0..u64::from(t.valid_rows) {
        for c in 0..u64::from(t.valid_cols) {
            let (g, w) = (element(got, t.at(r, c)), element(want, t.at(r, c)));
            if g == w || tile::agree(call, before, (r, c), g, w) {
                continue;
            }
            match &mut out {
                Some(m) => m.count += 1,
                None => out = Some(Mismatch { at: (r, c), got: g, want: w, count: 1 }),
            }
        }
    }
    out
}

fn stray(call: &Call, limits: &Limits, before: &[u8], after: &[u8]) -> Option<(u64, u64)> {
    let t = &call.result();
    let n = t.dtype.size() as u64;
    let mut allowed = vec![false; before.len()];
    let mut allow = |start: u64, end: u64| {
        let end = (end as usize).min(allowed.len());
        if let Some(range) = allowed.get_mut((start as usize).min(end)..end) {
            range.fill(true);
        }
    };
    for r in 0..u64::from(t.valid_rows) {
        for c in 0..u64::from(t.valid_cols) {
            allow(t.at(r, c), t.at(r, c) + n);
        }
    }
    match &call.tmp {
        Some(tmp) => allow(tmp.addr, tmp.end()),
        None if call.op.sig.tmp == Tmp::Optional => {
            allow(limits.reserved.start, limits.reserved.end)
        }
        None => {}
    }
    let mut bad = (0..before.len()).filter(|&i| before[i] != after[i] && !allowed[i]);
    let first = bad.next()? as u64;
    Some((first, 1 + bad.count() as u64))
}

/// Lists the microcode of a call without executing it; scalar loads read 0.
pub fn listing(call: &Call) -> Result<Vec<crate::instr::Instr>, Stop> {
    let mut lister = crate::machine::Lister::default();
    tile::a2a3(call, &mut lister)?;
    Ok(lister.0)
}

/// Lists the 950 microcode of a call.
pub fn listing_a5(call: &Call) -> Result<Vec<tile::a5::Item>, Stop> {
    let mut lister = tile::a5::Listing::default();
    tile::a5(call, &mut lister)?;
    Ok(lister.0)
}

/// Records the microcode of a call without values: for timing, at any address.
pub fn record(call: &Call, family: Family) -> Result<Stream, Stop> {
    let mut r = crate::machine::Recorder::of(family);
    match family {
        Family::A2A3 => {
            let backend: &mut dyn Backend = &mut r;
            tile::a2a3(call, backend)?;
        }
        Family::A5 => tile::a5(call, &mut r)?,
    }
    Ok(r.into_stream())
}
