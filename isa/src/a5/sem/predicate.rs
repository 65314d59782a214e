//! Predicate registers: one bit per byte of a vector register.

use super::super::core::{Done, Run};
use super::super::mode::Dist;
use super::super::reg::{VReg, lanes_where};
use ptoemu_core::mask::Mask;

fn zip(a: &Mask, b: &Mask, f: impl Fn(u64, u64) -> u64) -> Mask {
    let (a, b) = (a.words(), b.words());
    Mask::from_words(std::array::from_fn(|i| f(a[i], b[i])))
}

/// Bits of a predicate whose value at position `i` is bit `from(i)` of `m`, if there is one.
fn gather(m: &Mask, from: impl Fn(usize) -> Option<usize>) -> Mask {
    let mut out = Mask::NONE;
    for i in 0..256 {
        if from(i).is_some_and(|j| m.get(j)) {
            out.set(i, true);
        }
    }
    out
}

fn gran(r: &Run<'_, '_>) -> usize {
    usize::from(r.step.gran.clamp(1, 4))
}

/// A predicate from a pattern.
pub fn pset(r: &mut Run<'_, '_>) -> Done {
    let (g, p) = (gran(r), r.step.mods.pattern);
    r.outs.m[0] = lanes_where(g, |i| p.sets(i, 256 / g));
    Ok(())
}

/// Lanes below a count, and what is left of the count.
pub fn plt(r: &mut Run<'_, '_>) -> Done {
    let g = gran(r);
    let (n, lanes) = (r.args.n[0].max(0), (256 / g) as i64);
    r.outs.m[0] = lanes_where(g, |i| (i as i64) < n);
    r.outs.n[0] = (n - lanes).max(0);
    Ok(())
}

/// a & b under the governing predicate.
pub fn and(r: &mut Run<'_, '_>) -> Done {
    r.outs.m[0] = zip(&r.args.m[0], &r.args.m[1], |a, b| a & b).and(&r.args.m[2]);
    Ok(())
}

/// a | b under the governing predicate.
pub fn or(r: &mut Run<'_, '_>) -> Done {
    r.outs.m[0] = zip(&r.args.m[0], &r.args.m[1], |a, b| a | b).and(&r.args.m[2]);
    Ok(())
}

/// a ^ b under the governing predicate.
pub fn xor(r: &mut Run<'_, '_>) -> Done {
    r.outs.m[0] = zip(&r.args.m[0], &r.args.m[1], |a, b| a ^ b).and(&r.args.m[2]);
    Ok(())
}

/// !a under the governing predicate.
pub fn not(r: &mut Run<'_, '_>) -> Done {
    r.outs.m[0] = zip(&r.args.m[0], &r.args.m[1], |a, g| !a & g);
    Ok(())
}

/// sel ? a : b, bit by bit.
pub fn select(r: &mut Run<'_, '_>) -> Done {
    let [a, b, s] = r.args.m;
    r.outs.m[0] = zip(&a.and(&s), &zip(&b, &s, |b, s| b & !s), |x, y| x | y);
    Ok(())
}

/// The same bits.
pub fn copy(r: &mut Run<'_, '_>) -> Done {
    r.outs.m[0] = r.args.m[0];
    Ok(())
}

/// Even bits into one half.
pub fn pack(r: &mut Run<'_, '_>) -> Done {
    let base = 128 * usize::from(r.step.mods.part & 1);
    r.outs.m[0] = gather(&r.args.m[0], |i| i.checked_sub(base).filter(|j| *j < 128).map(|j| 2 * j));
    Ok(())
}

/// One half to even bits.
pub fn unpack(r: &mut Run<'_, '_>) -> Done {
    let base = 128 * usize::from(r.step.mods.part & 1);
    r.outs.m[0] = gather(&r.args.m[0], |i| i.is_multiple_of(2).then_some(base + i / 2));
    Ok(())
}

/// Lanes alternately: lower halves first, upper halves second.
pub fn interleave(r: &mut Run<'_, '_>) -> Done {
    let g = gran(r);
    let [a, b, _] = r.args.m;
    for (half, out) in r.outs.m.iter_mut().enumerate() {
        let from = |i: usize, odd: usize| {
            let lane = i / g;
            (lane % 2 == odd).then_some(128 * half + lane / 2 * g + i % g)
        };
        *out = zip(&gather(&a, |i| from(i, 0)), &gather(&b, |i| from(i, 1)), |x, y| x | y);
    }
    Ok(())
}

/// Even lanes of a and b, then odd lanes.
pub fn deinterleave(r: &mut Run<'_, '_>) -> Done {
    let g = gran(r);
    let [a, b, _] = r.args.m;
    for (odd, out) in r.outs.m.iter_mut().enumerate() {
        let from = |i: usize| 2 * (i / g) * g + odd * g + i % g;
        let low = gather(&a, |i| Some(from(i)).filter(|_| i < 128));
        let high = gather(&b, |i| i.checked_sub(128).map(from));
        *out = zip(&low, &high, |x, y| x | y);
    }
    Ok(())
}

/// A register image's bits as a predicate.
fn bits_of(v: &VReg, at: usize) -> Mask {
    Mask::from_words(std::array::from_fn(|i| v.get(at + i, 8)))
}

/// Loads packed bits.
pub fn load(r: &mut Run<'_, '_>) -> Done {
    let (n, align) = match r.step.mods.dist {
        // GOLD:psti-pk-pldi-us uses 8-byte addresses.
        Dist::Us => (16, 8),
        Dist::Ds => (64, 32),
        _ => (32, 32),
    };
    let addr = r.args.p[0];
    r.aligned(addr, align)?;
    let v = r.load(addr, n)?;
    r.must_be_defined("a predicate in UB", &v.undef);
    let (low, high) = (bits_of(&v, 0), bits_of(&v, 4));
    r.outs.m[0] = match r.step.mods.dist {
        Dist::Us => gather(&low, |i| Some(i / 2)),
        Dist::Ds => zip(
            &gather(&low, |i| Some(2 * i)),
            &gather(&high, |i| (2 * i).checked_sub(256)),
            |x, y| x | y,
        ),
        _ => low,
    };
    Ok(())
}

/// Stores packed bits.
pub fn store(r: &mut Run<'_, '_>) -> Done {
    let pk = r.step.mods.dist == Dist::Pk;
    let (m, addr) = (r.args.m[0], r.args.p[0]);
    r.aligned(addr, if pk { 8 } else { 32 })?;
    let bits = if pk { gather(&m, |i| Some(2 * i)) } else { m };
    let n = if pk { 16 } else { 32 };
    r.store(addr, &VReg::from_lanes(&bits.words()), &Mask::first(n))
}
