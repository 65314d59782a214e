//! Moves that follow data or patterns: gathers by offset, compaction, transposition.

use crate::instr::Instr;
use crate::machine::{Machine, Plan, Va, active, kept, lane_addr, named, reduce_elements};
use crate::table::{Op, What};
use ptoemu_core::access::{Role, Space};
use ptoemu_core::footprint::Collector;

/// An element and whether it is defined.
#[derive(Clone, Copy, Default)]
pub(super) struct Cell {
    bytes: [u8; 32],
    defined: bool,
}

impl Cell {
    /// Little-endian number of `n` bytes, at most four, from byte `at` on.
    pub(super) fn word(&self, at: usize, n: usize) -> u32 {
        let bytes = self.bytes.get(at..at + n).unwrap_or(&[]);
        bytes.iter().rev().fold(0, |acc, b| acc << 8 | u32::from(*b))
    }

    /// A score of `size` bytes and an index as a record.
    pub(super) fn join(score: &Cell, size: usize, index: &Cell) -> Cell {
        let mut bytes = [0; 32];
        bytes[..size].copy_from_slice(&score.bytes[..size]);
        bytes[4..8].copy_from_slice(&index.bytes[..4]);
        Cell { bytes, defined: score.defined && index.defined }
    }

    /// Are its bytes defined?
    pub(super) fn known(&self) -> bool {
        self.defined
    }
}

/// Reads `n` bytes, at most 32.
pub(super) fn take(m: &Machine, c: &mut Collector, at: u64, n: usize) -> Cell {
    c.touch(Space::Ub, Role::Read, at, at.saturating_add(n as u64));
    let mut out = Cell::default();
    if let Some(from) = m.ub.bytes.get(at, n) {
        out.bytes[..n].copy_from_slice(from);
        out.defined = m.ub.shadow.is_defined(at, at + n as u64);
    }
    out
}

/// Writes `n` bytes, at most 32.
pub(super) fn put(m: &mut Machine, c: &mut Collector, at: u64, n: usize, cell: &Cell, rec: u32) {
    let end = at.saturating_add(n as u64);
    c.touch(Space::Ub, Role::Write, at, end);
    if let Some(to) = m.ub.bytes.get_mut(at, n) {
        to.copy_from_slice(&cell.bytes[..n]);
        m.ub.shadow.set(at, end, cell.defined, rec);
    }
}

fn word(cell: &Cell) -> u64 {
    cell.word(0, 4).into()
}

pub(super) fn keep(m: &mut Machine, rec: u32, mut touched: Collector) -> u64 {
    m.log.stream.footprints.keep(rec, touched.take());
    0
}

/// Lane i = the element at base + offset i; the offsets of a repeat are read first.
pub fn gather(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let ((dst, dw), (off, ow)) = (p.or_empty(0), p.or_empty(1));
    let (base, n) = (i.get(What::Addr(3)).unwrap_or(0) as u64, i.dtype.size());
    let mut c = Collector::default();
    for r in 0..u64::from(p.repeats) {
        let lanes: Vec<(usize, Cell)> = active(p, r)
            .mask()
            .iter()
            .map(|lane| {
                let offset = take(m, &mut c, lane_addr(&ow, off, r, lane), 4);
                let mut cell = take(m, &mut c, base.saturating_add(word(&offset)), n);
                cell.defined &= offset.defined;
                (lane, cell)
            })
            .collect();
        for (lane, cell) in lanes {
            put(m, &mut c, lane_addr(&dw, dst, r, lane), n, &cell, rec);
        }
    }
    keep(m, rec, c)
}

/// Block b of a repeat = the block at base + offset; eight offsets a repeat, read first.
pub fn gather_blocks(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let ((dst, dw), (off, ow)) = (p.or_empty(0), p.or_empty(1));
    let base = i.get(What::Addr(3)).unwrap_or(0) as u64;
    let mut c = Collector::default();
    for r in 0..u64::from(p.repeats) {
        let blocks: [Cell; 8] = std::array::from_fn(|b| {
            let at = ow.addr(off, r, 0).unwrap_or(0).saturating_add(4 * b as u64);
            let offset = take(m, &mut c, at, 4);
            let mut cell = take(m, &mut c, base.saturating_add(word(&offset)), 32);
            cell.defined &= offset.defined;
            cell
        });
        for (b, cell) in blocks.iter().enumerate() {
            let Some(at) = dw.addr(dst, r, b) else { continue };
            put(m, &mut c, at, 32, cell, rec);
        }
    }
    keep(m, rec, c)
}

/// Keeps the elements a pattern or bits name, packed over all repeats; RSVD_CNT counts them.
pub fn reduce(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    // Where data decide how much is written, the plan has no walk of it.
    let (dst, (src, sw)) = (p.base[0], p.or_empty(1));
    let size = i.dtype.size();
    let n = reduce_elements(i, &m.regs);
    let mut c = Collector::default();
    let mut count = 0u64;
    for r in 0..u64::from(p.repeats) {
        let mut moved = Vec::new();
        for e in 0..n {
            let (chosen, known) = kept(i, p, &m.ub, r, e);
            if !chosen {
                continue;
            }
            let at = sw.addr(src, r, (e * size as u64 / 32) as usize).unwrap_or(0);
            let mut cell = take(m, &mut c, at.saturating_add(e * size as u64 % 32), size);
            cell.defined &= known;
            moved.push(cell);
        }
        if named(i, "mode") == 0 {
            let (bits, w) = p.or_empty(2);
            let at = w.addr(bits, r, 0).unwrap_or(0);
            c.touch(Space::Ub, Role::Read, at, at.saturating_add(n.div_ceil(8)));
        }
        for cell in moved {
            put(m, &mut c, dst.saturating_add(count * size as u64), size, &cell, rec);
            count += 1;
        }
    }
    m.regs.rsvd_cnt = count;
    keep(m, rec, c)
}

/// Rows of 32 bytes named by address registers, transposed.
pub fn transpose_rows(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let va = Va::of(i, &m.regs);
    let mut c = Collector::default();
    for r in 0..u64::from(p.repeats) {
        transpose_once(m, i, &va, r, (&mut c, rec));
    }
    keep(m, rec, c)
}

fn transpose_once(m: &mut Machine, i: &Instr, va: &Va, r: u64, (c, rec): (&mut Collector, u32)) {
    let size = if i.op == Op::scatter_vnchwconv_b8 { 1 } else { i.dtype.size() };
    let cols = if size == 4 { 8 } else { 16 };
    let (from, to) = (named(i, "src_high") as u64 * 16, named(i, "dst_high") as u64 * 16);
    let mut cells = Vec::with_capacity(16 * cols as usize);
    for row in 0..16 {
        for col in 0..cols {
            let at = va.src(row, r).saturating_add(from + col * size as u64);
            cells.push(take(m, c, at, size));
        }
    }
    for (k, cell) in (0u64..).zip(&cells) {
        let (row, col) = (k / cols, k % cols);
        // 32-bit: a row of 16 results lies in two slots of eight.
        let (slot, place) = match size {
            4 => (2 * col + row / 8, row % 8),
            _ => (col, row),
        };
        let at = va.dst(slot as usize, r).saturating_add(to + place * size as u64);
        put(m, c, at, size, cell, rec);
    }
}

/// 16x16 elements of 16 bits, transposed.
pub fn transpose_square(m: &mut Machine, _: &Instr, p: &Plan, rec: u32) -> u64 {
    let ((dst, _), (src, _)) = (p.or_empty(0), p.or_empty(1));
    let mut c = Collector::default();
    let cells: Vec<Cell> = (0..256).map(|k| take(m, &mut c, src + 2 * k, 2)).collect();
    for (k, cell) in (0u64..).zip(&cells) {
        put(m, &mut c, dst + 2 * (k % 16 * 16 + k / 16), 2, cell, rec);
    }
    0
}
