//! Fill and block broadcast.

use super::{Ctx, splat};
use crate::instr::Instr;
use crate::machine::{Machine, Plan};

/// Every lane becomes the scalar.
pub fn fill(c: &Ctx, d: &mut [u8]) {
    splat(d, c.dtype.size(), c.scalar);
}

/// Block b of repeat r is filled with copies of element 8r+b; the eight elements are read first.
pub fn brcb(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let ((dst, dw), (src, sw)) = (p.or_empty(0), p.or_empty(1));
    let size = i.dtype.size();
    for r in 0..u64::from(p.repeats) {
        let from = src.wrapping_add((sw.rep as u64).wrapping_mul(r));
        let mut eight = [0u8; 32];
        let Some(bytes) = m.ub.bytes.get(from, 8 * size) else { continue };
        eight[..8 * size].copy_from_slice(bytes);
        let whole = m.ub.shadow.is_defined(from, from + 8 * size as u64);
        let known: [bool; 8] = std::array::from_fn(|b| {
            let at = from + (b * size) as u64;
            whole || m.ub.shadow.is_defined(at, at + size as u64)
        });
        for (b, known) in known.into_iter().enumerate() {
            let Some(at) = dw.addr(dst, r, b) else { continue };
            let element = eight[b * size..].iter().take(size).rev();
            let bits = element.fold(0, |acc, x| acc << 8 | u64::from(*x));
            if let Some(to) = m.ub.bytes.get_mut(at, 32) {
                splat(to, size, bits);
            }
            m.ub.shadow.set(at, at + 32, known, rec);
        }
    }
    0
}
