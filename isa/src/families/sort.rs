//! Sorting and merging of records: a score in the low four bytes, an index in the high four.

use super::gather::{Cell, keep, put, take};
use crate::instr::Instr;
use crate::machine::{Lists, Machine, Plan};
use ptoemu_core::check::uninit::Sink;
use ptoemu_core::diag::{Diagnostic, Level};
use ptoemu_core::dtype::DType;
use ptoemu_core::footprint::Collector;
use ptoemu_core::num::f16;
use std::cmp::Reverse;

/// Bytes of a record.
pub(crate) const RECORD: u64 = 8;

/// A score as a sort key: larger first, NaN below everything `[U: shipped padding is -NaN]`, zeros of
/// either sign equal.
pub(crate) fn key(t: DType, bits: u32) -> (bool, u32) {
    let x = if t == DType::F16 { f16::to_f32(bits as u16) } else { f32::from_bits(bits) };
    let bits = (x + 0.0).to_bits();
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    (!x.is_nan(), if x.is_nan() { 0 } else { ordered })
}

fn score(t: DType, cell: &Cell) -> (bool, u32) {
    key(t, cell.word(0, t.size().min(4)))
}

/// 32 scores a repeat, descending, ties in their order, each with its index.
pub fn sort32(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let (t, size) = (i.dtype, i.dtype.size());
    let (dst, scores, indices) = (p.or_empty(0), p.or_empty(1), p.or_empty(2));
    let mut c = Collector::default();
    for r in 0..u64::from(p.repeats) {
        let at = |(base, w): (u64, ptoemu_core::access::Walk)| w.addr(base, r, 0).unwrap_or(0);
        let (d, s, x) = (at(dst), at(scores), at(indices));
        m.require_defined(i, rec, "score", (s, s + 32 * size as u64), Sink::Reduction);
        let mut all: Vec<(Cell, Cell)> = (0..32)
            .map(|k| {
                let value = take(m, &mut c, s + k * size as u64, size);
                (value, take(m, &mut c, x + 4 * k, 4))
            })
            .collect();
        all.sort_by_key(|(value, _)| Reverse(score(t, value)));
        for (k, (value, index)) in (0u64..).zip(&all) {
            // The upper half of a 16-bit score's word is unspecified; 0 here [U].
            let record = Cell::join(value, size, index);
            put(m, &mut c, d + k * RECORD, RECORD as usize, &record, rec);
        }
    }
    keep(m, rec, c)
}

/// Up to four descending lists merged; VMS4_SR says how many records of each were taken.
pub fn merge4(m: &mut Machine, i: &Instr, _: &Plan, rec: u32) -> u64 {
    let Some(lists) = Lists::of(i) else { return 0 };
    let mut c = Collector::default();
    for r in 0..lists.repeats {
        merge(m, i, &lists, r, (&mut c, rec));
    }
    keep(m, rec, c)
}

fn merge(m: &mut Machine, i: &Instr, lists: &Lists, r: u64, (c, rec): (&mut Collector, u32)) {
    let t = i.dtype;
    let shift = r * lists.span();
    let read = |m: &Machine, c: &mut Collector, list: usize, n: u64| {
        take(m, c, lists.at[list] + shift + n * RECORD, RECORD as usize)
    };
    let mut taken = [0u64; 4];
    let mut heads: [Option<Cell>; 4] =
        std::array::from_fn(|l| (lists.len[l] > 0).then(|| read(m, c, l, 0)));
    let mut out = Vec::new();
    // Ties go to the lower list.
    while let Some(best) = (0..4)
        .filter(|l| heads[*l].is_some())
        .max_by_key(|l| (heads[*l].map(|h| score(t, &h)), Reverse(*l)))
    {
        let Some(head) = heads[best] else { break };
        out.push(head);
        taken[best] += 1;
        heads[best] = (taken[best] < lists.len[best]).then(|| read(m, c, best, taken[best]));
        if let Some(next) = heads[best].filter(|n| score(t, n) > score(t, &head)) {
            let at = lists.at[best] + shift + taken[best] * RECORD;
            unsorted(m, i, rec, at, best, &next);
        }
        if lists.exhaust && heads[best].is_none() {
            break;
        }
    }
    for (k, record) in (0u64..).zip(&out) {
        put(m, c, lists.dst + shift + k * RECORD, RECORD as usize, record, rec);
    }
    m.regs.vms4 = taken.iter().rev().fold(0, |acc, n| acc << 16 | n & 0xFFFF);
}

fn unsorted(m: &mut Machine, i: &Instr, rec: u32, at: u64, list: usize, next: &Cell) {
    const CODE: &str = "memcheck.unsorted";
    if m.findings.seen(CODE, m.log.site, i.op.id()) || !next.known() {
        return;
    }
    let text = format!("vmrgsort4: list {list} is not in descending order at {at:#x}");
    let d = Diagnostic::new(CODE, Level::Warning, text).help("sort every list before merging");
    m.report(i, rec, d, (at, at + RECORD), None);
}
