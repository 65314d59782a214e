//! Arithmetic lane by lane.

use super::super::core::{Done, Run};
use super::super::reg::{VReg, byte_mask, lanes_where};
use super::{Ctx, by_int, map1, map2};
use ptoemu_core::dtype::DType::{BF16, F16, F32, I32};
use ptoemu_core::num::{
    self, Arith, Elementary, Extreme, Fusion, Overflow, arith_bf16, arith_f16, arith_f32, bf16, f16,
};

fn float2(op: Arith, c: &Ctx, d: &mut VReg, a: &VReg, b: &VReg) -> bool {
    match c.dt {
        F32 => arith_f32(op, a.lanes(), b.lanes(), d.lanes_mut()),
        F16 => arith_f16(op, a.lanes(), b.lanes(), d.lanes_mut(), Overflow::Keep),
        BF16 => arith_bf16(op, a.lanes(), b.lanes(), d.lanes_mut(), Overflow::Keep),
        _ => return false,
    }
    true
}

macro_rules! sum_like {
    ($($(#[$doc:meta])* $name:ident $op:ident $int:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(c: &Ctx, d: &mut VReg, a: &VReg, b: &VReg) {
            if !float2(Arith::$op, c, d, a, b) {
                by_int!(c.dt, T => map2::<T>(d, a, b, T::$int));
            }
        }
    )*};
}

sum_like! {
    /// d = a + b.
    add Add wrapping_add;
    /// d = a - b.
    sub Sub wrapping_sub;
    /// d = a * b.
    mul Mul wrapping_mul;
}

/// d = a / b.
pub fn div(c: &Ctx, d: &mut VReg, a: &VReg, b: &VReg) {
    float2(Arith::Div, c, d, a, b);
}

fn extreme(which: Extreme, c: &Ctx, d: &mut VReg, a: &VReg, b: &VReg) {
    let rule = c.num.nan_rule;
    match c.dt {
        F32 => num::extreme_f32(which, rule, a.lanes(), b.lanes(), d.lanes_mut()),
        F16 => num::extreme_f16(which, rule, a.lanes(), b.lanes(), d.lanes_mut()),
        BF16 => num::extreme_bf16(which, rule, a.lanes(), b.lanes(), d.lanes_mut()),
        _ if which == Extreme::Max => by_int!(c.dt, T => map2::<T>(d, a, b, T::max)),
        _ => by_int!(c.dt, T => map2::<T>(d, a, b, T::min)),
    }
}

/// d = max(a, b).
pub fn max(c: &Ctx, d: &mut VReg, a: &VReg, b: &VReg) {
    extreme(Extreme::Max, c, d, a, b);
}

/// d = min(a, b).
pub fn min(c: &Ctx, d: &mut VReg, a: &VReg, b: &VReg) {
    extreme(Extreme::Min, c, d, a, b);
}

/// d = |a|.
pub fn abs(c: &Ctx, d: &mut VReg, a: &VReg) {
    match c.dt {
        F32 => map1::<u32>(d, a, |x| x & 0x7FFF_FFFF),
        F16 | BF16 => map1::<u16>(d, a, |x| x & 0x7FFF),
        t => by_int!(t, T => map1::<T>(d, a, |x| if x > 0 { x } else { (0 as T).wrapping_sub(x) })),
    }
}

/// d = -a.
pub fn neg(c: &Ctx, d: &mut VReg, a: &VReg) {
    match c.dt {
        F32 => map1::<u32>(d, a, |x| x ^ 0x8000_0000),
        F16 | BF16 => map1::<u16>(d, a, |x| x ^ 0x8000),
        t => by_int!(t, T => map1::<T>(d, a, |x| (0 as T).wrapping_sub(x))),
    }
}

/// d = a >= 0 ? a : 0.
pub fn relu(c: &Ctx, d: &mut VReg, a: &VReg) {
    match c.dt {
        F32 => num::relu_f32(a.lanes(), d.lanes_mut()),
        F16 => num::relu_f16(a.lanes(), d.lanes_mut()),
        _ => map1::<i32>(d, a, |x| x.max(0)),
    }
}

/// d = a >= 0 ? a : a * b.
pub fn leaky(c: &Ctx, d: &mut VReg, a: &VReg, b: &VReg) {
    match c.dt {
        F32 => num::leaky_f32(a.lanes(), b.lanes(), d.lanes_mut()),
        _ => num::leaky_f16(a.lanes(), b.lanes(), d.lanes_mut(), Overflow::Keep),
    }
}

/// d = a * b + s; fused whatever the A2/A3 setting: the shipped division needs it `[I]`.
fn fused(c: &Ctx, d: &mut VReg, a: &VReg, b: &VReg, s: &VReg) {
    let (fusion, over) = (Fusion::Fused, Overflow::Keep);
    match c.dt {
        F32 => num::fma_f32(a.lanes(), b.lanes(), s.lanes(), d.lanes_mut(), fusion),
        F16 => num::fma_f16(a.lanes(), b.lanes(), s.lanes(), d.lanes_mut(), fusion, over),
        BF16 => num::fma_bf16(a.lanes(), b.lanes(), s.lanes(), d.lanes_mut(), fusion, over),
        t => by_int!(t, T => {
            map2::<T>(d, a, b, T::wrapping_mul);
            let product = *d;
            map2::<T>(d, &product, s, T::wrapping_add);
        }),
    }
}

/// d = acc + a * b.
pub fn mula(c: &Ctx, d: &mut VReg, [acc, a, b]: [&VReg; 3]) {
    fused(c, d, a, b, acc);
}

/// d = d0 * a + b.
pub fn madd(c: &Ctx, d: &mut VReg, [d0, a, b]: [&VReg; 3]) {
    fused(c, d, d0, a, b);
}

/// d = scalar * a + b.
pub fn axpy(c: &Ctx, d: &mut VReg, [a, b, scalar]: [&VReg; 3]) {
    fused(c, d, scalar, a, b);
}

fn elementary(op: Elementary, c: &Ctx, d: &mut VReg, a: &VReg) {
    match c.dt {
        F32 => num::elementary_f32(op, a.lanes(), d.lanes_mut(), &c.num),
        _ => num::elementary_f16(op, a.lanes(), d.lanes_mut(), &c.num),
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(c: &Ctx, d: &mut VReg, a: &VReg) {
            elementary(Elementary::$op, c, d, a);
        }
    )*};
}

functions! {
    /// d = e^a.
    exp Exp;
    /// d = ln a.
    ln Ln;
    /// d = sqrt a.
    sqrt Sqrt;
    /// d = 1 / a.
    rec Rec;
    /// d = 1 / sqrt a.
    rsqrt Rsqrt;
}

/// d = e^(a - b) as f32, the difference rounded to f32 `[U]`. f16 sources give the lanes of one
/// parity.
pub fn expdif(r: &mut Run<'_, '_>) -> Done {
    let (part, mask) = (usize::from(r.step.mods.part & 1), r.mask());
    let [a, b, _] = r.args.v;
    let narrow = r.step.st == F16;
    let widen = |v: &VReg| -> VReg {
        let mut w = VReg::ZERO;
        for (i, lane) in w.lanes_mut::<f32>().iter_mut().enumerate() {
            *lane = f16::to_f32(v.get(2 * i + part, 2) as u16);
        }
        w
    };
    let (x, y) = if narrow { (widen(a), widen(b)) } else { (*a, *b) };
    let mut diff = VReg::ZERO;
    arith_f32(Arith::Sub, x.lanes(), y.lanes(), diff.lanes_mut());
    let num = r.core.num;
    let d = &mut r.outs.v[0];
    *d = VReg::ZERO;
    num::elementary_f32(Elementary::Exp, diff.lanes(), d.lanes_mut(), &num);
    let size = if narrow { 2 } else { 4 };
    let lane = |i: usize| if narrow { 2 * i + part } else { i };
    let undef = [a, b].map(|v| v.undef);
    let dead = |i: usize| (0..size).any(|k| undef.iter().any(|u| u.get(lane(i) * size + k)));
    d.undef = byte_mask(&lanes_where(4, dead), 4);
    d.keep(&byte_mask(&lanes_where(4, |i| mask.get(lane(i) * size)), 4));
    Ok(())
}

/// Sum or difference of 33 bits: value lanes and carries. `b` comes complemented for differences.
fn carry(r: &mut Run<'_, '_>, complement: u32, default_in: bool) -> Done {
    let mask = r.mask();
    let with_in = r.step.op.form().masks() == 2;
    let cin = r.args.m[0];
    let [a, b, _] = r.args.v;
    let mut words = [0u64; 4];
    let mut d = VReg::ZERO;
    for (i, out) in d.lanes_mut::<u32>().iter_mut().enumerate() {
        let one = if with_in { cin.get(4 * i) } else { default_in };
        let (x, y) = (a.lanes::<u32>()[i], b.lanes::<u32>()[i] ^ complement);
        let sum = u64::from(x) + u64::from(y) + u64::from(one);
        *out = sum as u32;
        words[i / 16] |= (sum >> 32) << (4 * i % 64);
    }
    d.undef = union(&[a, b], 4);
    d.keep(&byte_mask(&mask, 4));
    r.outs.v[0] = d;
    r.outs.m[0] = ptoemu_core::mask::Mask::from_words(words).and(&mask);
    Ok(())
}

/// Undefined lanes of any source.
fn union(sources: &[&VReg], size: usize) -> ptoemu_core::mask::Mask {
    super::super::engine::union(sources, size)
}

/// d = a + b (+ carry in) and the carry.
pub fn addc(r: &mut Run<'_, '_>) -> Done {
    carry(r, 0, false)
}

/// d = a - b (- 1 + carry in); carry means nothing was borrowed `[D: GOLD:vsubc]`.
pub fn subc(r: &mut Run<'_, '_>) -> Done {
    carry(r, u32::MAX, true)
}

/// Low and high halves of the product.
pub fn mull(r: &mut Run<'_, '_>) -> Done {
    let keep = byte_mask(&r.mask(), 4);
    let [a, b, _] = r.args.v;
    let signed = r.step.st == I32;
    let undef = union(&[a, b], 4);
    for i in 0..64 {
        let (x, y) = (a.lanes::<u32>()[i], b.lanes::<u32>()[i]);
        let p = if signed {
            (i64::from(x as i32) * i64::from(y as i32)) as u64
        } else {
            u64::from(x) * u64::from(y)
        };
        r.outs.v[0].set(i, 4, p);
        r.outs.v[1].set(i, 4, p >> 32);
    }
    for d in &mut r.outs.v {
        d.undef = undef;
        d.keep(&keep);
    }
    Ok(())
}

/// d = scalar + lane number (or minus it).
pub fn count(r: &mut Run<'_, '_>) -> Done {
    let (t, s, down) = (r.step.dt, r.args.s, r.step.mods.descending);
    let d = &mut r.outs.v[0];
    *d = VReg::ZERO;
    let step = |x: f32, i: usize| if down { x - i as f32 } else { x + i as f32 };
    match t {
        F32 => {
            for (i, x) in d.lanes_mut::<f32>().iter_mut().enumerate() {
                *x = step(f32::from_bits(s as u32), i);
            }
        }
        F16 | BF16 => {
            for (i, x) in d.lanes_mut::<u16>().iter_mut().enumerate() {
                *x = match t {
                    F16 => f16::from_f32(step(f16::to_f32(s as u16), i)),
                    _ => bf16::from_f32(step(bf16::to_f32(s as u16), i)),
                };
            }
        }
        _ => {
            for i in 0..256 / t.size() {
                let n = i as u64;
                d.set(i, t.size(), if down { s.wrapping_sub(n) } else { s.wrapping_add(n) });
            }
        }
    }
    Ok(())
}
