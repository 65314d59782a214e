//! Runs tile operations on the machine and by their meaning, and compares every byte of UB.
#![allow(dead_code)] // each test takes its part

pub mod draw;
pub mod order;
pub mod shapes;

use ptoemu_core::check::{Finding, Findings};
use ptoemu_core::diag::Level;
use ptoemu_core::dtype::DType;
use ptoemu_core::state::WRITER_NONE;
use ptoemu_isa::hazards;
use ptoemu_isa::machine::{Machine, Settings};
use ptoemu_isa::tile::{
    Call, Family, Layout, Limits, Loc, Mem, SCRATCH, SCRATCH_BYTES, Tile, a2a3, agree, check,
    reference,
};
use std::ops::Range;

/// A static vector tile at address 0, all valid.
pub fn tile(name: &str, dtype: DType, rows: u32, cols: u32, layout: Layout) -> Tile {
    Tile {
        name: name.into(),
        loc: Loc::Vec,
        dtype,
        rows,
        cols,
        valid_rows: rows,
        valid_cols: cols,
        static_rows: true,
        static_cols: true,
        layout,
        fractal: false,
        pad: 0,
        addr: 0,
    }
}

/// The tile with this valid region, known at compile time or not.
pub fn valid(mut t: Tile, rows: u32, cols: u32, fixed: bool) -> Tile {
    (t.valid_rows, t.valid_cols) = (rows, cols);
    (t.static_rows, t.static_cols) = (fixed, fixed);
    t
}

/// Places the tiles of a call one after another at multiples of 512 bytes.
pub fn place(call: &mut Call) {
    let mut at = 0;
    let Call { dst, src, tmp, .. } = call;
    for t in std::iter::once(dst).chain(src.iter_mut()).chain(tmp.iter_mut()) {
        t.addr = at;
        at += t.bytes().next_multiple_of(512);
    }
}

/// Bytes of UB after a run.
pub struct Run {
    /// UB before.
    pub before: Vec<u8>,
    /// UB after the microcode.
    pub after: Vec<u8>,
    /// UB after the meaning.
    pub meant: Vec<u8>,
    /// What the machine reported.
    pub findings: Findings,
    /// An access that is not ordered after one it depends on.
    pub unordered: Option<String>,
    /// What racecheck says.
    pub hazards: Vec<Finding>,
}

fn range(t: &Tile) -> Range<usize> {
    t.addr as usize..t.end() as usize
}

/// Runs a legal call; `contents` are the bytes of the tiles, destination first, then sources.
pub fn run(call: &Call, contents: &[Vec<u8>]) -> Result<Run, String> {
    let family = call.family;
    check(call, family, &Limits::of(family)).map_err(|d| format!("refused: {d:?}"))?;
    let mut m = Machine::new(Settings::of(family));
    for (t, bytes) in std::iter::once(&call.dst).chain(&call.src).zip(contents) {
        m.ub.bytes.get_mut(t.addr, bytes.len()).ok_or("tile outside UB")?.copy_from_slice(bytes);
        m.ub.shadow.set(t.addr, t.end(), true, WRITER_NONE);
    }
    let before = m.ub.bytes.as_slice().to_vec();
    let mut meant = before.clone();
    let mut mem = Mem { ub: &mut meant, gm: None };
    reference(call, &mut mem).map_err(|s| format!("meaning stopped: {:?}", s.0))?;
    let entry = m.modes();
    let done = match family {
        Family::A2A3 => a2a3(call, &mut m),
        Family::A5 => {
            let mut core = ptoemu_isa::a5::Core::default();
            let mut both = ptoemu_isa::tile::a5::Values { machine: &mut m, core: &mut core };
            ptoemu_isa::tile::a5(call, &mut both)
        }
    };
    done.map_err(|s| format!("microcode stopped: {:?}", s.0))?;
    m.leave(&entry, true);
    let unordered = order::unordered(m.stream(), before.len());
    Ok(Run {
        unordered,
        hazards: match family {
            Family::A2A3 => hazards::check(m.stream(), 0, false),
            Family::A5 => Vec::new(),
        },
        before,
        after: m.ub.bytes.as_slice().to_vec(),
        meant,
        findings: m.findings,
    })
}

/// Checks a run against the meaning: values, untouched bytes, findings.
pub fn judge(call: &Call, run: &Run) -> Result<(), String> {
    if let Some(f) = run.findings.items().iter().find(|f| f.diag.level >= Level::Warning) {
        return Err(format!("finding: {:?}", f.diag));
    }
    if let Some(what) = &run.unordered {
        return Err(format!("not ordered: {what}"));
    }
    if let Some(f) = run.hazards.first() {
        return Err(format!("racecheck: {:?}", f.diag));
    }
    let dst = &call.result();
    for r in 0..u64::from(dst.valid_rows) {
        for c in 0..u64::from(dst.valid_cols) {
            let at = dst.at(r, c) as usize;
            let get = |b: &[u8]| bits(&b[at..at + dst.dtype.size()]);
            let (got, want) = (get(&run.after), get(&run.meant));
            if !agree(call, &run.before, (r, c), got, want) {
                return Err(format!("[{r}, {c}] is {got:#x}, the meaning is {want:#x}"));
            }
        }
    }
    stray(call, run).map_or(Ok(()), |at| Err(format!("byte {at:#x} was written")))
}

/// The first byte outside the valid region of dst, tmp and the scratch window that changed.
pub fn stray(call: &Call, run: &Run) -> Option<usize> {
    let mut free = vec![false; run.before.len()];
    free[SCRATCH as usize..(SCRATCH + SCRATCH_BYTES) as usize].fill(true);
    if let Some(t) = &call.tmp {
        free[range(t)].fill(true);
    }
    let dst = &call.result();
    let size = dst.dtype.size();
    let mut taken = |t: &Tile| free[range(t)].fill(false);
    taken(dst);
    call.src.iter().for_each(taken);
    for r in 0..u64::from(dst.valid_rows) {
        for c in 0..u64::from(dst.valid_cols) {
            let at = dst.at(r, c) as usize;
            free[at..at + size].fill(true);
        }
    }
    (0..free.len()).find(|&i| !free[i] && run.before[i] != run.after[i])
}

fn bits(b: &[u8]) -> u64 {
    b.iter().rev().fold(0, |acc, x| acc << 8 | u64::from(*x))
}
