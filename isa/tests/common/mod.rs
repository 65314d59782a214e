//! Runs tile operations on the machine and by their meaning, and compares every byte of UB.
#![allow(dead_code)] // each test takes its part

use ptoemu_core::check::Findings;
use ptoemu_core::diag::Level;
use ptoemu_core::dtype::DType;
use ptoemu_core::state::WRITER_NONE;
use ptoemu_isa::machine::Machine;
use ptoemu_isa::tile::{
    Call, Family, Layout, Limits, Loc, Mem, SCRATCH, SCRATCH_BYTES, Tile, Tolerance, a2a3, check,
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
}

fn range(t: &Tile) -> Range<usize> {
    t.addr as usize..t.end() as usize
}

/// Runs a legal call; `contents` are the bytes of the tiles, destination first, then sources.
pub fn run(call: &Call, contents: &[Vec<u8>]) -> Result<Run, String> {
    check(call, Family::A2A3, &Limits::of(Family::A2A3)).map_err(|d| format!("refused: {d:?}"))?;
    let mut m = Machine::default();
    for (t, bytes) in std::iter::once(&call.dst).chain(&call.src).zip(contents) {
        m.ub.bytes.get_mut(t.addr, bytes.len()).ok_or("tile outside UB")?.copy_from_slice(bytes);
        m.ub.shadow.set(t.addr, t.end(), true, WRITER_NONE);
    }
    let before = m.ub.bytes.as_slice().to_vec();
    let mut meant = before.clone();
    let mut mem = Mem { ub: &mut meant, gm: None };
    reference(call, &mut mem).map_err(|s| format!("meaning stopped: {:?}", s.0))?;
    let entry = m.modes();
    a2a3(call, &mut m).map_err(|s| format!("microcode stopped: {:?}", s.0))?;
    m.leave(&entry, true);
    Ok(Run { before, after: m.ub.bytes.as_slice().to_vec(), meant, findings: m.findings })
}

/// Checks a run against the meaning: values, untouched bytes, findings.
pub fn judge(call: &Call, run: &Run) -> Result<(), String> {
    if let Some(f) = run.findings.items().iter().find(|f| f.diag.level >= Level::Warning) {
        return Err(format!("finding: {:?}", f.diag));
    }
    let dst = &call.dst;
    for r in 0..u64::from(dst.valid_rows) {
        for c in 0..u64::from(dst.valid_cols) {
            let at = dst.at(r, c) as usize;
            let get = |b: &[u8]| bits(&b[at..at + dst.dtype.size()]);
            let (got, want) = (get(&run.after), get(&run.meant));
            if !close(call, run, r, c, got, want) {
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
    let dst = &call.dst;
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

fn float(t: DType, bits: u64) -> f64 {
    use ptoemu_core::num::{bf16, f16};
    match t {
        DType::F16 => f16::to_f32(bits as u16).into(),
        DType::BF16 => bf16::to_f32(bits as u16).into(),
        _ => f32::from_bits(bits as u32).into(),
    }
}

fn close(call: &Call, run: &Run, r: u64, c: u64, got: u64, want: u64) -> bool {
    let t = call.dst.dtype;
    if got == want {
        return true;
    }
    if !t.is_float() {
        return false;
    }
    let (g, w) = (float(t, got), float(t, want));
    if g.is_nan() && w.is_nan() {
        return true;
    }
    call.op.tolerance == Tolerance::Sum && sum_close(call, run, (r, c), g, w)
}

/// A float sum or product may round once per element, and overflow on the way.
fn sum_close(call: &Call, run: &Run, (r, c): (u64, u64), got: f64, want: f64) -> bool {
    let src = &call.src[0];
    let t = src.dtype;
    let along_rows = call.op.name.starts_with("trow");
    let n = u64::from(if along_rows { src.valid_cols } else { src.valid_rows });
    let value = |i: u64| {
        let at = if along_rows { src.at(r, i) } else { src.at(i, c) } as usize;
        float(t, bits(&run.before[at..at + t.size()]))
    };
    let (max, ulp) =
        if t == DType::F16 { (65504.0, 1.0 / 1024.0) } else { (f32::MAX.into(), 1e-7) };
    let product = call.op.name.ends_with("prod");
    let magnitude = if product {
        (0..n).map(value).fold(1.0, |acc: f64, v| acc * v.abs().max(1.0))
    } else {
        (0..n).map(|i| value(i).abs()).sum::<f64>()
    };
    // Infinities, NaN, overflow and underflow depend on the order of a tree.
    let smallest = (0..n).map(value).fold(1.0, |acc: f64, v| acc * v.abs().min(1.0));
    let tiny = if t == DType::F16 { 1e-4 } else { 1e-37 };
    if magnitude.is_nan() || magnitude > max || product && smallest < tiny {
        return true;
    }
    let scale = if product { want.abs() } else { magnitude };
    (got - want).abs() <= scale * ulp * (n as f64 + 2.0)
}
