//! Unaligned streams: loads through an align register, and stores that leave a tail in one.
//!
//! Stores write memory at once; the align register remembers how many bytes the machine would
//! still hold back, so that a missing or misplaced flush is reported.

use super::super::core::{Done, Run, Touch};
use super::super::mode::Dist;
use super::super::reg::{Align, AlignKind, VReg, lane_mask};
use ptoemu_core::mask::Mask;

/// An align register that holds nothing.
pub fn fresh(r: &mut Run<'_, '_>) -> Done {
    r.outs.a = Align::default();
    Ok(())
}

/// Reads the block that holds the address.
pub fn prime(r: &mut Run<'_, '_>) -> Done {
    let block = r.args.p[0] & !31;
    r.inside(block, 32)?;
    r.core.touched.push(Touch { addr: block, bytes: 32, write: false });
    r.outs.a = Align { addr: block, kind: AlignKind::Load, ..Align::default() };
    r.outs.p = r.args.p[0];
    Ok(())
}

/// 256 bytes at an element-aligned address.
pub fn load(r: &mut Run<'_, '_>) -> Done {
    let (addr, a) = (r.args.p[0], r.args.a);
    r.aligned(addr, r.step.dt.size() as u64)?;
    if a.kind != AlignKind::Load || a.addr != addr & !31 {
        let text = match a.kind {
            AlignKind::Load => format!(
                "the align register holds the block at {:#x}, the load starts in {:#x}",
                a.addr,
                addr & !31
            ),
            _ => "the align register was not primed by vldas".to_string(),
        };
        r.warn("align.prime", &text, (addr & !31, addr & !31));
    }
    // Whole blocks are read: the last one beyond what is returned `[I]`.
    let end = addr.saturating_add(256);
    r.inside(addr & !31, (end.saturating_add(31) & !31).saturating_sub(addr & !31))?;
    r.outs.v[0] = r.load(addr, 256)?;
    r.outs.a = Align { addr: end & !31, kind: AlignKind::Load, ..Align::default() };
    r.outs.p = r.args.p[0].wrapping_add_signed(r.args.step);
    Ok(())
}

/// Appends `n` bytes of an image at `addr` and returns the align register behind them.
fn append(r: &mut Run<'_, '_>, image: &VReg, addr: u64, n: usize) -> Done {
    r.store(addr, image, &Mask::first(n))?;
    let end = addr.saturating_add(n as u64);
    let old = r.args.a;
    let stream = if old.stream == 0 { r.core.new_stream() } else { old.stream };
    r.core.open.retain(|(s, _)| *s != stream);
    r.core.open.push((stream, end));
    r.outs.a = Align { addr: end, pending: (end % 32) as u8, kind: AlignKind::Store, stream };
    r.outs.p = end;
    Ok(())
}

/// Appends the first `count` elements.
pub fn store_count(r: &mut Run<'_, '_>) -> Done {
    let size = r.step.st.size();
    let lanes = 256 / size;
    let asked = r.args.n[0];
    if asked < 0 || asked > lanes as i64 {
        return Err(r.fault("params.count", format!("{asked} elements; a register holds {lanes}")));
    }
    let (image, addr) = (*r.args.v[0], r.args.p[0]);
    r.aligned(addr, size as u64)?;
    append(r, &image, addr, asked as usize * size)
}

/// Appends SQZN bytes at base + AR; POST_UPDATE advances AR.
pub fn store_squeezed(r: &mut Run<'_, '_>) -> Done {
    let n = r.core.sqzn.min(256) as usize;
    let addr = r.args.p[0].wrapping_add(r.core.ar);
    r.aligned(addr, r.step.st.size() as u64)?;
    let image = *r.args.v[0];
    append(r, &image, addr, n)?;
    if r.step.mods.post {
        r.core.ar = r.core.ar.wrapping_add(n as u64);
    }
    Ok(())
}

/// Appends the lanes of a predicate as packed bits; the base moves on.
pub fn predicate(r: &mut Run<'_, '_>) -> Done {
    let g = usize::from(r.step.gran.clamp(1, 4));
    let m = lane_mask(&r.args.m[0], g);
    let mut image = VReg::ZERO;
    for i in (0..256 / g).filter(|i| m.get(i * g)) {
        image.bytes_mut()[i / 8] |= 1 << (i % 8);
    }
    append(r, &image, r.args.p[0], 32 / g)
}

fn flush(r: &mut Run<'_, '_>, at: u64) -> Done {
    let a = r.args.a;
    r.core.open.retain(|(s, _)| *s != a.stream);
    match a.kind {
        AlignKind::Store if a.addr == at => {}
        AlignKind::Store => {
            let text = format!("the stream ends at UB {:#x}, the flush names {at:#x}", a.addr);
            r.warn("align.flush", &text, (a.addr & !31, a.addr));
        }
        _ => r.warn("align.flush", "the align register holds nothing to flush", (0, 0)),
    }
    if a.pending > 0 {
        r.core.touched.push(Touch { addr: a.addr & !31, bytes: u32::from(a.pending), write: true });
    }
    Ok(())
}

/// Flush at base + offset elements.
pub fn flush_at(r: &mut Run<'_, '_>) -> Done {
    let offset = r.args.n[0].wrapping_mul(r.step.st.size() as i64);
    flush(r, r.args.p[0].wrapping_add_signed(offset))
}

/// Flush at base + AR.
pub fn flush_ar(r: &mut Run<'_, '_>) -> Done {
    flush(r, r.args.p[0].wrapping_add(r.core.ar))
}

/// Orders accesses.
pub fn bar(r: &mut Run<'_, '_>) -> Done {
    r.core.order.bar(r.step.mods.bar);
    Ok(())
}

/// AR = 0, the only register `sprclr` clears here.
pub fn clear(r: &mut Run<'_, '_>) -> Done {
    if r.step.mods.dist != Dist::Plain {
        return Err(r.fault("params.register", "only AR can be cleared".into()));
    }
    r.core.ar = 0;
    Ok(())
}
