//! TLOAD and TSTORE: between global memory and a tile, ND and DN (NZ: `transfer_nz`).
//!
//! One transfer per index of the three outer GM dimensions. DN is ND with rows and columns
//! exchanged on both sides.

use super::asm::Asm;
use super::call::{Call, GmLayout, GmView};
use super::check::{Checker, Verdict, refuse};
use super::meaning::{self, Mem};
use super::quirks::Quirk;
use super::{Layout, Tile, transfer_nz};
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::diag::Level;
use ptoemu_core::dtype::DType;

type Done = Result<(), Stop>;

/// Most bursts of one transfer (12-bit field).
const MAX_BURSTS: u64 = 4095;
/// Most rows of a GM view shipped microcode is run for; more would write past UB anyway.
const MAX_ROWS: u64 = 1 << 20;

/// GM side and tile side in storage order: rows of contiguous elements on both.
struct Plan {
    /// Three outer sizes, rows, elements of a row.
    shape: [u64; 5],
    /// Three outer strides and the row stride, in elements.
    strides: [i64; 4],
    addr: u64,
    tile: Tile,
}

impl Plan {
    fn new(view: &GmView, tile: &Tile, dn: bool) -> Plan {
        let [g0, g1, g2, g3, g4] = view.shape.map(u64::from);
        let [t0, t1, t2, t3, t4] = view.strides;
        let (rows, cols, step) = if dn { (g4, g3, t4) } else { (g3, g4, t3) };
        Plan {
            shape: [g0, g1, g2, rows, cols],
            strides: [t0, t1, t2, step],
            addr: view.addr,
            tile: tile.storage_rows(),
        }
    }

    /// Does the shape of the view give each storage row of the tile its row of GM?
    fn of(call: &Call) -> Option<Plan> {
        let view = call.view.as_ref()?;
        let dn = call.dst.layout == Layout::ColMajor;
        Some(Plan::new(view, &call.dst, dn))
    }

    /// Rows of the view in all.
    fn rows(&self) -> u64 {
        self.shape[..4].iter().fold(1, |acc, n| acc.saturating_mul(*n))
    }

    /// GM address of element 0 of row `r` of the outer index.
    fn gm(&self, outer: [u64; 3], r: u64) -> u64 {
        let [t0, t1, t2, t3] = self.strides.map(i128::from);
        let [i, j, k] = outer.map(i128::from);
        let elements = i * t0 + j * t1 + k * t2 + i128::from(r) * t3;
        let bytes = elements * i128::from(self.tile.size());
        self.addr.wrapping_add(bytes as u64)
    }

    /// Calls `f(outer index, first storage row, rows)` for every outer index.
    fn outer(&self, mut f: impl FnMut([u64; 3], u64, u64) -> Done) -> Done {
        let [g0, g1, g2, rows, cols] = self.shape;
        // Empty in any dimension: the other ones may be of any size.
        if self.rows() == 0 || cols == 0 {
            return Ok(());
        }
        let mut first = 0;
        for i in 0..g0 {
            for j in 0..g1 {
                for k in 0..g2 {
                    f([i, j, k], first, rows)?;
                    first += rows;
                }
            }
        }
        Ok(())
    }
}

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let (Some(view), Some(plan)) = (&call.view, Plan::of(call)) else { return Ok(()) };
    if call.attrs.atomic && (!call.op.is_store() || accumulates(call.dst.dtype).is_none()) {
        let text = format!("{} of {} does not add to global memory", call.op.name, call.dst.dtype);
        return refuse("legality.atomic", text, "tstore adds f32 f16 bf16 i32 i16 and i8");
    }
    if view.dtype.size() != call.dst.dtype.size() {
        let text =
            format!("element types differ: GM is {}, tile is {}", view.dtype, call.dst.dtype);
        return refuse("legality.type_mismatch", text, "use the same element type on both sides");
    }
    if call.dst.fractal {
        return transfer_nz::check(call, view, c);
    }
    layouts(call, view, c)?;
    if let Some(bits) = pad_value(&plan.tile).filter(|_| view.dtype.size() == 8) {
        // 8-byte elements are padded as pairs of one 32-bit word.
        if bits >> 32 != bits & 0xFFFF_FFFF {
            let text = format!("tile `{}` cannot be padded with {bits:#x}", plan.tile.name);
            return refuse("legality.pad", text, "pad 8-byte elements with zero");
        }
    }
    extents(&plan, c)
}

/// The view fits the tile; what only one side has stays where it is.
fn extents(plan: &Plan, c: &mut Checker) -> Verdict {
    let (rows, cols) = plan.tile.valid();
    let (have, width) = (plan.rows(), plan.shape[4]);
    let fits = have <= u64::from(plan.tile.rows) && width <= u64::from(plan.tile.cols);
    if have > MAX_ROWS || !fits {
        let verdict = refuse(
            "legality.gm_shape",
            format!(
                "the GM view has {have} rows of {width}, tile `{}` holds {} of {}",
                plan.tile.name, plan.tile.rows, plan.tile.cols
            ),
            "make the view no larger than the tile",
        );
        if have > MAX_ROWS {
            return verdict;
        }
        c.unless(Quirk::Q6, verdict)?;
    }
    if (have, width) != (rows, cols) {
        let text = format!(
            "the GM view has {have} rows of {width}, the valid region of `{}` {rows} of {cols}; \
             only what both have is transferred",
            plan.tile.name
        );
        c.remark(Level::Warning, "legality.gm_shape", text);
    }
    Ok(())
}

/// Both sides in the same order, or a line that is contiguous either way.
fn layouts(call: &Call, view: &GmView, c: &mut Checker) -> Verdict {
    let tile = &call.dst;
    let same = (view.layout == GmLayout::Dn) == (tile.layout == Layout::ColMajor);
    if same {
        let inner = if view.layout == GmLayout::Nd { 4 } else { 3 };
        return contiguous(view, inner, c);
    }
    let text = format!("GM is {:?}, tile `{}` is {:?}", view.layout, tile.name, tile.layout);
    let verdict = refuse("legality.layout", text, "give both sides the same layout");
    let line = tile.rows == 1 || tile.cols == 1;
    let step = if view.layout == GmLayout::Nd { view.strides[3] } else { view.strides[4] };
    match (line, step == 1, call.op.is_store()) {
        (true, true, _) => Ok(()),
        (true, false, true) => c.unless(Quirk::Q5, verdict),
        _ => verdict,
    }
}

/// Elements along the contiguous dimension of the layout follow each other in GM.
fn contiguous(view: &GmView, inner: usize, c: &mut Checker) -> Verdict {
    let (size, stride) = (view.shape[inner], view.strides[inner]);
    if size <= 1 || stride == 1 {
        return Ok(());
    }
    let text = format!(
        "dimension {inner} of the {:?} view `{}` has stride {stride}",
        view.layout, view.name
    );
    let verdict = refuse("legality.gm_shape", text, "transfers need contiguous rows: stride 1");
    c.unless(Quirk::Q6, verdict)
}

/// Moves every element both sides have; a load pads rows to their last block.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    if let Some(view) = call.view.as_ref().filter(|_| call.dst.fractal) {
        return transfer_nz::reference(call, view, mem);
    }
    let Some(plan) = Plan::of(call) else { return Ok(()) };
    let (rows, cols) = plan.tile.valid();
    let n = cols.min(plan.shape[4]);
    let size = plan.tile.dtype.size();
    let per_block = plan.tile.per_block();
    let pad = (!call.op.is_store()).then(|| pad_value(&plan.tile)).flatten();
    plan.outer(|outer, first, count| {
        for r in 0..count.min(rows.saturating_sub(first)) {
            for col in 0..n {
                let at = plan.gm(outer, r).wrapping_add(col * size as u64);
                if call.op.is_store() {
                    let mut bits = mem.read(&plan.tile, first + r, col)?;
                    if call.attrs.atomic {
                        let old = meaning::bits_of(mem.gm_bytes(at, size)?);
                        let t = plan.tile.dtype;
                        bits = meaning::combine(super::Operator::Add, t, old, bits);
                    }
                    mem.gm_bytes(at, size)?.copy_from_slice(&bits.to_le_bytes()[..size]);
                } else {
                    let bits = meaning::bits_of(mem.gm_bytes(at, size)?);
                    mem.write(&plan.tile, first + r, col, bits)?;
                }
            }
            if let Some(bits) = pad {
                (n..n.next_multiple_of(per_block))
                    .try_for_each(|col| mem.write(&plan.tile, first + r, col, bits))?;
            }
        }
        Ok(())
    })
}

/// Bits the tile asks to be padded with.
pub(super) fn pad_value(t: &Tile) -> Option<u64> {
    let sign = 1u64 << (8 * t.size() - 1);
    let inf = match t.dtype {
        DType::F16 => 0x7C00,
        DType::BF16 => 0x7F80,
        DType::F32 => 0x7F80_0000,
        _ => sign - 1,
    };
    match (t.pad, t.dtype.is_float(), t.dtype.is_signed()) {
        (1, ..) => Some(0),
        (2, true, _) | (2, _, true) => Some(inf),
        (2, ..) => Some(meaning::cut(t.dtype, u64::MAX)),
        (3, true, _) => Some(inf | sign),
        (3, _, true) => Some(sign),
        (3, ..) => Some(0),
        _ => None,
    }
}

/// The instruction after which stores of a type accumulate.
fn accumulates(t: DType) -> Option<Op> {
    Some(match t {
        DType::F32 => Op::set_atomic_f32,
        DType::F16 => Op::set_atomic_f16,
        DType::BF16 => Op::set_atomic_bf16,
        DType::I32 => Op::set_atomic_s32,
        DType::I16 => Op::set_atomic_s16,
        DType::I8 => Op::set_atomic_s8,
        _ => return None,
    })
}

/// A2/A3 microcode. Stores that add are bracketed by the setting, without a barrier: it is queued
/// with them.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let Some(op) = accumulates(call.dst.dtype).filter(|_| call.attrs.atomic) else {
        return moves(call, a);
    };
    a.emit(op, &[])?;
    a.emit(Op::set_atomic_add, &[])?;
    moves(call, a)?;
    a.emit(Op::set_atomic_none, &[]).map(drop)
}

fn moves(call: &Call, a: &mut Asm) -> Done {
    if let Some(view) = call.view.as_ref().filter(|_| call.dst.fractal) {
        return transfer_nz::lower(call, view, a);
    }
    let Some(plan) = Plan::of(call) else { return Ok(()) };
    let (rows, cols) = plan.tile.valid();
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    let trusting = call.quirks.has(Quirk::Q6);
    let bytes = plan.tile.size();
    let n = if trusting { cols } else { cols.min(plan.shape[4]) };
    let pad = if call.op.is_store() { None } else { pad_value(&plan.tile) };
    if let Some(bits) = pad {
        a.emit(Op::set_mov_pad_val, &[bits as i64])?;
    }
    let burst = Burst {
        store: call.op.is_store(),
        len: n * bytes,
        pad: pad.map_or(0, |_| n.next_multiple_of(plan.tile.per_block()) - n),
        ub_gap: (u64::from(plan.tile.cols) - n.min(plan.tile.cols.into())) * bytes / 32,
    };
    plan.outer(|outer, first, count| {
        let ub = plan.tile.row(first);
        let at = plan.gm(outer, 0);
        if trusting {
            let gap = plan.strides[3].wrapping_sub(plan.shape[4] as i64);
            return burst.issue(a, ub, at, count, gap.wrapping_mul(bytes as i64));
        }
        let count = count.min(rows.saturating_sub(first));
        let gap = plan.strides[3].saturating_sub(n as i64);
        if gap < 0 {
            // Rows that overlap in GM: the gap field is unsigned.
            return (0..count).try_for_each(|r| {
                burst.issue(a, plan.tile.row(first + r), plan.gm(outer, r), 1, 0)
            });
        }
        super::asm::rounds(count, MAX_BURSTS, |r, n| {
            let gap = gap.saturating_mul(bytes as i64);
            burst.issue(a, plan.tile.row(first + r), plan.gm(outer, r), n, gap)
        })
    })
}

/// What the transfers of one call share.
pub(super) struct Burst {
    pub store: bool,
    /// Bytes of a row.
    pub len: u64,
    /// Elements of padding after it.
    pub pad: u64,
    /// Blocks from the end of one row to the start of the next in UB.
    pub ub_gap: u64,
}

impl Burst {
    pub fn issue(&self, a: &mut Asm, ub: u64, gm: u64, rows: u64, gm_gap: i64) -> Done {
        let t = a.t;
        let op = match (self.store, t.size()) {
            (false, 1) => Op::copy_gm_to_ubuf_align_b8,
            (false, 2) => Op::copy_gm_to_ubuf_align_b16,
            (false, _) => Op::copy_gm_to_ubuf_align_b32,
            (true, 1) => Op::copy_ubuf_to_gm_align_b8,
            (true, 2) => Op::copy_ubuf_to_gm_align_b16,
            (true, _) => Op::copy_ubuf_to_gm_align_b32,
        };
        // 8-byte elements travel as pairs of words.
        let pad = if t.size() == 8 { 2 * self.pad } else { self.pad };
        if t.size() == 8 {
            a.t = DType::U32;
        }
        let (dst, src) = if self.store { (gm, ub) } else { (ub, gm) };
        let ub_gap = self.ub_gap as i64;
        let (sgap, dgap) = if self.store { (ub_gap, gm_gap) } else { (gm_gap, ub_gap) };
        let (rows, len, pad) = (rows as i64, self.len as i64, pad as i64);
        let args = [dst as i64, src as i64, 0, rows, len, 0, pad, sgap, dgap];
        let done = a.emit(op, &args);
        a.t = t;
        done.map(drop)
    }
}
