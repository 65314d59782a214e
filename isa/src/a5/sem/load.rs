//! Aligned loads.

use super::super::core::{Done, Run};
use super::super::mode::Dist;
use super::super::reg::VReg;
use super::Ctx;
use super::shuffle::{unzip, widen, zip_half};
use crate::machine::Stop;

/// A distribution that loads one register: bytes read, alignment, and how they become lanes.
type Shape = (usize, u64, fn(&Ctx, &mut [VReg; 2], [&VReg; 2]));

macro_rules! moves {
    ($n:literal, $align:literal, |$d:ident, $a:ident, $b:ident| $body:expr) => {
        ($n, $align, |_, $d, [$a, $b]| {
            let _ = &$b;
            $body;
        })
    };
}

/// First element of `size` bytes everywhere.
fn broadcast(d: &mut VReg, a: &VReg, size: usize) {
    *d = VReg::splat(a.get(0, size), size);
}

/// Element k fills 32-byte block k.
fn elements_to_blocks(d: &mut VReg, a: &VReg, size: usize) {
    for i in 0..256 / size {
        d.set(i, size, a.get(i * size / 32, size));
    }
}

/// Blocks of 32 bytes of the pair, even (0) or odd (1).
fn split_blocks(d: &mut VReg, a: &VReg, b: &VReg, odd: usize) {
    for (k, to) in d.bytes_mut().chunks_exact_mut(32).enumerate() {
        let from = if k < 4 { a } else { b };
        let at = 32 * (2 * (k % 4) + odd);
        to.copy_from_slice(&from.bytes()[at..at + 32]);
    }
}

fn shape(dist: Dist) -> Option<Shape> {
    Some(match dist {
        Dist::Plain | Dist::Norm => moves!(256, 32, |d, a, b| *d[0].bytes_mut() = *a.bytes()),
        Dist::BrcB8 => moves!(1, 1, |d, a, b| broadcast(&mut d[0], a, 1)),
        Dist::BrcB16 => moves!(2, 2, |d, a, b| broadcast(&mut d[0], a, 2)),
        Dist::BrcB32 => moves!(4, 4, |d, a, b| broadcast(&mut d[0], a, 4)),
        Dist::Blk => moves!(32, 32, |d, a, b| {
            d[0].bytes_mut().chunks_exact_mut(32).for_each(|c| c.copy_from_slice(&a.bytes()[..32]))
        }),
        Dist::E2bB16 => moves!(16, 16, |d, a, b| elements_to_blocks(&mut d[0], a, 2)),
        Dist::E2bB32 => moves!(32, 32, |d, a, b| elements_to_blocks(&mut d[0], a, 4)),
        Dist::UsB8 => moves!(128, 32, |d, a, b| zip_half(&mut d[0], a, a, 1, 0)),
        Dist::UsB16 => moves!(128, 32, |d, a, b| zip_half(&mut d[0], a, a, 2, 0)),
        Dist::DsB8 => moves!(512, 32, |d, a, b| unzip(&mut d[0], a, b, 1, 0)),
        Dist::DsB16 => moves!(512, 32, |d, a, b| unzip(&mut d[0], a, b, 2, 0)),
        Dist::UnpkB8 => moves!(128, 32, |d, a, b| widen(&mut d[0], a, 1, 2, 0)),
        Dist::UnpkB16 => moves!(128, 32, |d, a, b| widen(&mut d[0], a, 2, 4, 0)),
        Dist::UnpkB32 => moves!(128, 32, |d, a, b| widen(&mut d[0], a, 4, 8, 0)),
        Dist::Unpk4 => moves!(64, 32, |d, a, b| widen(&mut d[0], a, 1, 4, 0)),
        _ => return None,
    })
}

fn pair_shape(dist: Dist) -> Option<Shape> {
    fn both(d: &mut [VReg; 2], a: &VReg, b: &VReg, size: usize) {
        for (odd, d) in d.iter_mut().enumerate() {
            unzip(d, a, b, size, odd);
        }
    }
    Some(match dist {
        Dist::DintlvB8 => moves!(512, 32, |d, a, b| both(d, a, b, 1)),
        Dist::DintlvB16 => moves!(512, 32, |d, a, b| both(d, a, b, 2)),
        Dist::DintlvB32 => moves!(512, 32, |d, a, b| both(d, a, b, 4)),
        Dist::Bdintlv => moves!(512, 32, |d, a, b| {
            for (odd, d) in d.iter_mut().enumerate() {
                split_blocks(d, a, b, odd);
            }
        }),
        _ => return None,
    })
}

/// A distribution this op does not have.
pub(super) fn wrong_dist(r: &Run<'_, '_>, help: &str) -> Stop {
    let dist = r.step.mods.dist;
    let message = match dist {
        Dist::Split | Dist::Merge => {
            "channel split and merge are reported unsupported on the 950 [D: GYM]".to_string()
        }
        _ => format!("{dist:?} is no distribution of this instruction"),
    };
    let mut stop = r.fault("params.dist", message);
    stop.0.help = Some(help.to_string());
    stop
}

fn run(r: &mut Run<'_, '_>, (n, align, f): Shape) -> Done {
    let addr = r.args.p[0];
    r.aligned(addr, align)?;
    let low = r.load(addr, n.min(256))?;
    let high = if n > 256 { r.load(addr.saturating_add(256), n - 256)? } else { VReg::ZERO };
    let cx = Ctx::new(&r.step, r.core, r.args.n);
    r.moved(&cx, f, [&low, &high]);
    r.outs.p = r.args.p[0].wrapping_add_signed(r.args.step);
    Ok(())
}

/// One register.
pub fn one(r: &mut Run<'_, '_>) -> Done {
    match shape(r.step.mods.dist) {
        Some(s) => run(r, s),
        None => Err(wrong_dist(
            r,
            "NORM, BRC_Bn, BLK, E2B_Bn, US_Bn, DS_Bn, UNPK_Bn, UNPK4_B8; two registers: vldsx2",
        )),
    }
}

/// Two registers.
pub fn two(r: &mut Run<'_, '_>) -> Done {
    match pair_shape(r.step.mods.dist) {
        Some(s) => run(r, s),
        None => Err(wrong_dist(r, "DINTLV_B8, DINTLV_B16, DINTLV_B32, BDINTLV")),
    }
}

/// Addresses of the eight blocks of a block-strided access, and the base after a post-update.
/// Without one, the repeat stride is added once `[D: GOLD:vsldb]`; with one it moves the base.
pub(super) fn block_addresses(r: &Run<'_, '_>) -> ([u64; 8], u64) {
    let [blk, rep] = r.args.n.map(|n| 32 * (n as u16 as u64));
    let base = r.args.p[0];
    let after = base.wrapping_add(rep);
    let first = if r.step.mods.post { base } else { after };
    (std::array::from_fn(|k| first.wrapping_add(k as u64 * blk)), after)
}

/// The active blocks: the first lane of each decides `[U: one lane per block matters]`.
pub(in crate::a5) fn active_blocks(r: &Run<'_, '_>) -> impl Iterator<Item = usize> + use<> {
    let mask = r.mask();
    (0..8).filter(move |k| mask.get(32 * k))
}

/// Eight blocks a stride apart; masked blocks are zero and are not read.
pub fn blocks(r: &mut Run<'_, '_>) -> Done {
    let (addrs, after) = block_addresses(r);
    let mut d = VReg::ZERO;
    for k in active_blocks(r) {
        let addr = addrs[k];
        r.aligned(addr, 32)?;
        let v = r.load(addr, 32)?;
        d.bytes_mut()[32 * k..32 * k + 32].copy_from_slice(&v.bytes()[..32]);
        for i in v.undef.iter() {
            d.undef.set(32 * k + i, true);
        }
    }
    r.outs.v[0] = d;
    r.outs.p = after;
    Ok(())
}
