//! Moves inside UB.

use super::{Ctx, logic};
use crate::instr::Instr;
use crate::machine::{Machine, Plan, run_lanes};

/// Masked move; in counter mode the count is per repeat and may exceed one repeat's 256 bytes.
pub fn vcopy(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    if !m.regs.counter() {
        let ctx = Ctx::new(i, &m.regs, &m.settings);
        return run_lanes(m, p, rec, false, &ctx, |c, d, a, _| logic::copy(c, d, a));
    }
    let ((dst, dw), (src, sw)) = (p.or_empty(0), p.or_empty(1));
    let bytes = m.regs.count() * i.dtype.size() as u64;
    for r in 0..u64::from(p.repeats) {
        // Read the whole repeat first.
        let mut moved: Vec<(u64, Vec<u8>, u64)> = Vec::new();
        for b in 0..bytes.div_ceil(32) {
            let n = (bytes - b * 32).min(32);
            let (Some(from), Some(to)) = (sw.addr(src, r, b as usize), dw.addr(dst, r, b as usize))
            else {
                continue;
            };
            if let Some(data) = m.ub.bytes.get(from, n as usize) {
                moved.push((to, data.to_vec(), defined_bits(m, from, n)));
            }
        }
        for (to, data, defined) in moved {
            put(m, to, &data, defined, rec);
        }
    }
    0
}

fn defined_bits(m: &Machine, from: u64, n: u64) -> u64 {
    (0..n).map(|k| u64::from(m.ub.shadow.is_defined(from + k, from + k + 1)) << k).sum()
}

fn put(m: &mut Machine, to: u64, data: &[u8], defined: u64, rec: u32) {
    if let Some(bytes) = m.ub.bytes.get_mut(to, data.len()) {
        bytes.copy_from_slice(data);
    }
    for k in 0..data.len() as u64 {
        m.ub.shadow.set(to + k, to + k + 1, defined >> k & 1 == 1, rec);
    }
}

/// Bursts of blocks, in order; a burst is read before it is written.
pub fn ub_to_ub(m: &mut Machine, _: &Instr, p: &Plan, rec: u32) -> u64 {
    let ((dst, dw), (src, sw)) = (p.or_empty(0), p.or_empty(1));
    let n = u64::from(dw.unit);
    for r in 0..u64::from(p.repeats) {
        let (Some(from), Some(to)) = (sw.addr(src, r, 0), dw.addr(dst, r, 0)) else { continue };
        let (Ok(a), Ok(b)) = (usize::try_from(from), usize::try_from(to)) else { continue };
        let ub = m.ub.bytes.as_mut_slice();
        if a + n as usize <= ub.len() && b + n as usize <= ub.len() {
            ub.copy_within(a..a + n as usize, b);
            m.ub.shadow.copy(from, to, n, rec);
        }
    }
    0
}
