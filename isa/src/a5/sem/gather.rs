//! Indexed loads and stores.

use super::super::core::{Done, Run};
use super::super::reg::{VReg, byte_mask};
use ptoemu_core::mask::Mask;

/// Bytes of an index: 16-bit for elements of 8 and 16 bits, 32-bit otherwise.
pub(in crate::a5) fn index_size(r: &Run<'_, '_>) -> usize {
    usize::from(r.step.gran.clamp(1, 4)).max(r.step.dt.size().clamp(2, 4))
}

fn address(r: &Run<'_, '_>, base: u64, index: u64, size: u64) -> Result<u64, crate::machine::Stop> {
    index.checked_mul(size).and_then(|o| base.checked_add(o)).ok_or_else(|| {
        r.fault("memcheck.range", format!("element {index} is beyond the address space"))
    })
}

/// Active lanes of the index register must be defined: they are addresses.
fn check_indices(r: &mut Run<'_, '_>, idx: &VReg, size: usize, mask: &Mask) {
    let undef = idx.undef.and(&byte_mask(mask, size));
    r.must_be_defined("the index register", &undef);
}

/// Lane i = element idx[i]; inactive lanes are 0.
pub fn elements(r: &mut Run<'_, '_>) -> Done {
    let (size, isize) = (r.step.dt.size(), index_size(r));
    let elem = r.step.st.size();
    let (base, idx, mask) = (r.args.p[0], *r.args.v[0], r.mask());
    let wide = size.max(isize);
    r.aligned(base, elem as u64)?;
    check_indices(r, &idx, isize, &mask);
    let (mut d, mut dead) = (VReg::ZERO, VReg::ZERO);
    for i in (0..256 / wide).filter(|i| mask.get(i * wide)) {
        let at = address(r, base, idx.get(i, isize), elem as u64)?;
        let v = r.load(at, elem)?;
        d.set(i, size, v.get(0, elem));
        dead.set(i, size, v.shadow().get(0, elem));
    }
    d.set_shadow(&dead);
    r.outs.v[0] = d;
    Ok(())
}

/// Block k = 32 bytes at byte offset off[k]; lane k of the b32 predicate governs it.
pub fn blocks(r: &mut Run<'_, '_>) -> Done {
    let (base, off, mask) = (r.args.p[0], *r.args.v[0], r.mask());
    r.aligned(base, 32)?;
    let mut d = VReg::ZERO;
    for k in (0..8).filter(|k| mask.get(4 * k)) {
        if off.undef.bits(4 * k, 4) != 0 {
            r.must_be_defined("the offset register", &off.undef);
        }
        let at = address(r, base, off.get(k, 4), 1)?;
        r.aligned(at, 32)?;
        let v = r.load(at, 32)?;
        d.bytes_mut()[32 * k..32 * k + 32].copy_from_slice(&v.bytes()[..32]);
        for i in v.undef.iter() {
            d.undef.set(32 * k + i, true);
        }
    }
    r.outs.v[0] = d;
    Ok(())
}

/// Element idx[i] = lane i. Of two lanes with one index the higher wins `[U: order undefined]`.
pub fn scatter(r: &mut Run<'_, '_>) -> Done {
    let (size, isize) = (r.step.st.size(), index_size(r));
    let (base, mask) = (r.args.p[0], r.mask());
    let (v, idx) = (*r.args.v[0], *r.args.v[1]);
    let wide = size.max(isize);
    r.aligned(base, size as u64)?;
    check_indices(r, &idx, isize, &mask);
    let mut seen: Vec<u64> = Vec::new();
    for i in (0..256 / wide).filter(|i| mask.get(i * wide)) {
        let at = address(r, base, idx.get(i, isize), size as u64)?;
        let mut image = VReg::ZERO;
        image.set(0, size, v.get(i, size));
        (0..size).for_each(|k| image.undef.set(k, v.undef.get(i * size + k)));
        r.store(at, &image, &Mask::first(size))?;
        seen.push(at);
    }
    seen.sort_unstable();
    if let Some(w) = seen.windows(2).find(|w| w[0] == w[1]) {
        let at = w[0];
        r.warn(
            "race.scatter",
            "two active lanes store to one element; their order is undefined",
            (at, at + size as u64),
        );
    }
    Ok(())
}
