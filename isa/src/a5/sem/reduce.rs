//! Reductions over a register, over its 32-byte groups and over neighbours.

use super::super::core::{Done, Run};
use super::super::reg::{VReg, byte_mask, lane_mask};
use ptoemu_core::dtype::DType::{self, F16, F32};
use ptoemu_core::num::{Overflow, f16};
use std::cmp::Ordering;

/// `a + b` at a type, wrapping.
fn add(t: DType, a: u64, b: u64) -> u64 {
    match t {
        F32 => {
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            u64::from(ptoemu_core::num::arith::add1_f32(x, y).to_bits())
        }
        F16 => u64::from(ptoemu_core::num::arith::add1_f16(a as u16, b as u16, Overflow::Keep)),
        _ => a.wrapping_add(b),
    }
}

/// Type a sum has: integers below 32 bits double their width `[D: ASC Reduce]`.
pub fn sum_type(t: DType) -> DType {
    match t {
        DType::I8 => DType::I16,
        DType::U8 => DType::U16,
        DType::I16 => DType::I32,
        DType::U16 => DType::U32,
        t => t,
    }
}

/// A lane as a 64-bit number: sign-extended for signed types.
fn number(t: DType, bits: u64) -> u64 {
    let shift = 64 - 8 * t.size() as u32;
    if t.is_signed() { ((bits << shift) as i64 >> shift) as u64 } else { bits }
}

/// Sum of lanes as a tree of neighbours; inactive lanes are 0.
fn tree(t: DType, lanes: &mut [u64]) -> u64 {
    let mut n = lanes.len();
    while n > 1 {
        n /= 2;
        for i in 0..n {
            lanes[i] = add(t, lanes[2 * i], lanes[2 * i + 1]);
        }
    }
    lanes.first().copied().unwrap_or(0)
}

/// The source with inactive lanes 0, as numbers; reports undefined active lanes.
fn active_lanes(r: &mut Run<'_, '_>) -> ([u64; 256], usize, ptoemu_core::mask::Mask) {
    let t = r.step.st;
    let (size, mask, a) = (t.size(), r.mask(), r.args.v[0]);
    let mut lanes = [0u64; 256];
    for (i, lane) in lanes.iter_mut().enumerate().take(256 / size) {
        if mask.get(i * size) {
            *lane = number(t, a.get(i, size));
        }
    }
    let undef = a.undef.and(&byte_mask(&mask, size));
    r.must_be_defined("a reduced register", &undef);
    (lanes, 256 / size, undef)
}

/// Lane 0 = sum of the active lanes.
pub fn sum(r: &mut Run<'_, '_>) -> Done {
    let t = r.step.st;
    let (mut lanes, n, undef) = active_lanes(r);
    let mut d = VReg::ZERO;
    let size = sum_type(t).size();
    d.set(0, size, tree(t, &mut lanes[..n]));
    if !undef.is_empty() {
        (0..size).for_each(|i| d.undef.set(i, true));
    }
    r.outs.v[0] = d;
    Ok(())
}

/// Does `a` beat `b`? +0 beats -0 as a maximum, and loses as a minimum.
fn better(t: DType, a: u64, b: u64, want: Ordering) -> bool {
    let order = match t {
        F32 => f32::from_bits(a as u32).total_cmp(&f32::from_bits(b as u32)),
        F16 => f16::to_f32(a as u16).total_cmp(&f16::to_f32(b as u16)),
        _ if t.is_signed() => (a as i64).cmp(&(b as i64)),
        _ => a.cmp(&b),
    };
    order == want
}

fn is_nan(t: DType, bits: u64) -> bool {
    match t {
        F32 => f32::from_bits(bits as u32).is_nan(),
        F16 => f16::is_nan(bits as u16),
        _ => false,
    }
}

/// Identity: -INF or the smallest integer of a maximum, the opposite of a minimum `[U]`.
fn identity(t: DType, want: Ordering) -> u64 {
    let greatest = want == Ordering::Less;
    match (t, greatest) {
        (F32, false) => 0xFF80_0000,
        (F32, true) => 0x7F80_0000,
        (F16, false) => 0xFC00,
        (F16, true) => 0x7C00,
        (t, greatest) => {
            let bits = 8 * t.size() as u32;
            let top = if t.is_signed() { u64::MAX >> (65 - bits) } else { u64::MAX >> (64 - bits) };
            if greatest {
                top
            } else if t.is_signed() {
                !top
            } else {
                0
            }
        }
    }
}

/// Best lane of a range: its value and number. The first NaN wins; ties go to the lowest lane,
/// zeros of either sign being equal while the value is the zero that wins `[U]`.
fn best(r: &Run<'_, '_>, range: std::ops::Range<usize>, want: Ordering) -> Option<(u64, usize)> {
    let t = r.step.st;
    let (size, mask, a) = (t.size(), r.mask(), r.args.v[0]);
    let mut found: Option<(u64, usize)> = None;
    for i in range.filter(|i| mask.get(i * size)) {
        let x = number(t, a.get(i, size));
        if is_nan(t, x) {
            return Some((x, i));
        }
        found = match found {
            Some((y, at)) if better(t, x, y, want) => Some((x, if tied(t, x, y) { at } else { i })),
            None => Some((x, i)),
            old => old,
        };
    }
    found
}

/// Two zeros of different sign.
fn tied(t: DType, x: u64, y: u64) -> bool {
    let sign = 1u64 << (8 * t.size() as u32 - 1);
    t.is_float() && (x | y) & (sign - 1) == 0
}

fn extreme(r: &mut Run<'_, '_>, want: Ordering) -> Done {
    let t = r.step.st;
    let (_, n, undef) = active_lanes(r);
    if lane_mask(&r.mask(), t.size()).is_empty() {
        r.warn("params.empty_mask", "no lane is active; the result is the identity", (0, 0));
    }
    let (value, index) = best(r, 0..n, want).unwrap_or((identity(t, want), 0));
    let mut d = VReg::ZERO;
    d.set(0, t.size(), value);
    d.set(1, t.size(), index as u64);
    if !undef.is_empty() {
        (0..2 * t.size()).for_each(|i| d.undef.set(i, true));
    }
    r.outs.v[0] = d;
    Ok(())
}

/// Lane 0 = largest active lane, lane 1 = its number.
pub fn max(r: &mut Run<'_, '_>) -> Done {
    extreme(r, Ordering::Greater)
}

/// Lane 0 = smallest active lane, lane 1 = its number.
pub fn min(r: &mut Run<'_, '_>) -> Done {
    extreme(r, Ordering::Less)
}

/// One result per 32-byte group, contiguous from lane 0 `[D: GOLD:vcg*]`.
fn groups(
    r: &mut Run<'_, '_>,
    size: usize,
    f: impl Fn(&Run<'_, '_>, std::ops::Range<usize>) -> u64,
) -> Done {
    let per = 32 / r.step.st.size();
    let (_, _, undef) = active_lanes(r);
    let mut d = VReg::ZERO;
    for g in 0..8 {
        d.set(g, size, f(r, g * per..(g + 1) * per));
        if undef.bits(32 * g, 32) != 0 {
            (0..size).for_each(|k| d.undef.set(g * size + k, true));
        }
    }
    r.outs.v[0] = d;
    Ok(())
}

/// Sums of the groups; 16-bit integers widen.
pub fn group_sum(r: &mut Run<'_, '_>) -> Done {
    let t = r.step.st;
    let (lanes, ..) = active_lanes(r);
    groups(r, sum_type(t).size(), |_, range| {
        let mut own = lanes;
        tree(t, &mut own[range])
    })
}

fn group_extreme(r: &mut Run<'_, '_>, want: Ordering) -> Done {
    let t = r.step.st;
    groups(r, t.size(), |r, range| best(r, range, want).map_or(identity(t, want), |b| b.0))
}

/// Largest lane of every group.
pub fn group_max(r: &mut Run<'_, '_>) -> Done {
    group_extreme(r, Ordering::Greater)
}

/// Smallest lane of every group.
pub fn group_min(r: &mut Run<'_, '_>) -> Done {
    group_extreme(r, Ordering::Less)
}

/// Lane i = a[2i] + a[2i+1]; the upper half is 0.
pub fn pair_sum(r: &mut Run<'_, '_>) -> Done {
    let t = r.step.st;
    let (lanes, n, undef) = active_lanes(r);
    let size = t.size();
    let mut d = VReg::ZERO;
    for i in 0..n / 2 {
        d.set(i, size, add(t, lanes[2 * i], lanes[2 * i + 1]));
        if undef.bits(2 * i * size, 2 * size) != 0 {
            (0..size).for_each(|k| d.undef.set(i * size + k, true));
        }
    }
    r.outs.v[0] = d;
    Ok(())
}
