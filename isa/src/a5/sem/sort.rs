//! Sorting and merging in UB, and byte histograms.

use super::super::core::{Done, Run};
use super::super::reg::VReg;
use ptoemu_core::dtype::DType::F16;
use ptoemu_core::mask::Mask;
use ptoemu_core::num::f16;

/// Bytes of a record: score in the low four, index in the high four.
const RECORD: usize = 8;

/// A score as a sort key: larger first, NaN below everything `[U: shipped padding is -NaN]`.
fn key(x: f32) -> (bool, u32) {
    // -0 and +0 are equal, so that ties keep their order.
    let bits = (x + 0.0).to_bits();
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    (!x.is_nan(), if x.is_nan() { 0 } else { ordered })
}

fn score(r: &Run<'_, '_>, bits: u64) -> f32 {
    if r.step.st == F16 { f16::to_f32(bits as u16) } else { f32::from_bits(bits as u32) }
}

/// Sorts 32 scores a repeat, descending; ties keep their order.
pub fn sort32(r: &mut Run<'_, '_>) -> Done {
    let size = r.step.st.size();
    let [dst, scores, indices, ..] = r.args.p;
    for p in [dst, scores, indices] {
        r.aligned(p, 32)?;
    }
    let repeats = r.args.n[0];
    if !(0..=255).contains(&repeats) {
        return Err(r.fault("params.repeat", format!("repeat {repeats} does not fit 8 bits")));
    }
    for rep in 0..repeats as u64 {
        let s = r.load(scores.saturating_add(rep * 32 * size as u64), 32 * size)?;
        let x = r.load(indices.saturating_add(rep * 128), 128)?;
        r.must_be_defined("the scores", &s.undef);
        let mut order: [usize; 32] = std::array::from_fn(|i| i);
        order.sort_by_key(|&i| std::cmp::Reverse(key(score(r, s.get(i, size)))));
        let mut out = VReg::ZERO;
        for (n, i) in order.into_iter().enumerate() {
            out.set(n, RECORD, s.get(i, size) | x.get(i, 4) << 32);
        }
        r.store(dst.saturating_add(rep * 256), &out, &Mask::first(256))?;
    }
    Ok(())
}

/// Merges up to four descending lists. `config`: repeats, list mask in bits 8..11, bit 12 stops
/// when one list is exhausted.
pub fn merge4(r: &mut Run<'_, '_>) -> Done {
    let [dst, lists @ ..] = r.args.p;
    let [lens, config] = r.args.n;
    r.aligned(dst, 32)?;
    let (repeats, valid, exhaust) = (config & 0xFF, config >> 8 & 0xF, config >> 12 & 1 == 1);
    let n = match valid {
        0b0011 => 2,
        0b0111 => 3,
        0b1111 => 4,
        _ => {
            return Err(r.fault(
                "params.config",
                format!("list mask {valid:#06b}; it must be 0b11, 0b111 or 0b1111"),
            ));
        }
    };
    let len: [u64; 4] =
        std::array::from_fn(|i| if i < n { lens as u64 >> (16 * i) & 0xFFFF } else { 0 });
    if repeats > 1 && (exhaust || n != 4 || len.iter().any(|l| *l != len[0])) {
        return Err(r.fault(
            "params.config",
            "several repeats need four equal lists and no exhausted mode".into(),
        ));
    }
    let span: u64 = len.iter().sum::<u64>() * RECORD as u64;
    for rep in 0..repeats as u64 {
        let at = |list: usize| lists[list].saturating_add(rep * span);
        merge(r, dst.saturating_add(rep * span), std::array::from_fn(at), len, exhaust)?;
    }
    Ok(())
}

fn merge(r: &mut Run<'_, '_>, dst: u64, lists: [u64; 4], len: [u64; 4], exhaust: bool) -> Done {
    let mut taken = [0u64; 4];
    let mut heads: [Option<VReg>; 4] = [None; 4];
    let mut at = dst;
    loop {
        let mut best: Option<(usize, (bool, u32))> = None;
        for i in 0..4 {
            if taken[i] >= len[i] {
                continue;
            }
            let head = match heads[i] {
                Some(h) => h,
                None => r.load(lists[i].saturating_add(taken[i] * RECORD as u64), RECORD)?,
            };
            heads[i] = Some(head);
            let k = key(score(r, head.get(0, 4)));
            if best.is_none_or(|(_, b)| k > b) {
                best = Some((i, k));
            }
        }
        let Some((i, _)) = best else { break };
        if let Some(head) = heads[i].take() {
            r.store(at, &head, &Mask::first(RECORD))?;
        }
        at = at.saturating_add(RECORD as u64);
        taken[i] += 1;
        if exhaust && taken[i] == len[i] {
            break;
        }
    }
    r.core.vms4 = taken.map(|t| t as u16);
    Ok(())
}

/// VMS4_SR.
pub fn read_vms4(r: &mut Run<'_, '_>) -> Done {
    r.outs.n = r.core.vms4.map(|c| i64::from(c as i16));
    Ok(())
}

fn bins(r: &mut Run<'_, '_>, counts: impl Fn(u8, u8) -> bool) -> Done {
    let (mask, [acc, src, _]) = (r.mask(), r.args.v);
    let first = 128 * usize::from(r.step.mods.part & 1);
    let mut d = *acc;
    for i in mask.iter() {
        let value = src.bytes()[i];
        for (k, bin) in d.lanes_mut::<u16>().iter_mut().enumerate() {
            *bin = bin.wrapping_add(u16::from(counts(value, (first + k) as u8)));
        }
    }
    r.outs.v[0] = d;
    let undef = src.undef.and(&mask);
    r.must_be_defined("the counted register", &undef);
    Ok(())
}

/// Adds the number of active bytes equal to every bin.
pub fn histogram(r: &mut Run<'_, '_>) -> Done {
    bins(r, |value, bin| value == bin)
}

/// Adds the number of active bytes at most every bin.
pub fn cumulative(r: &mut Run<'_, '_>) -> Done {
    bins(r, |value, bin| value <= bin)
}
