//! Compares: one bit per element, to UB or to CMPMASK.

use super::{Ctx, Repeat, splat, view};
use crate::instr::Instr;
use crate::machine::{
    Active, Machine, MaskedCompare, Plan, active, gather_repeat, undefined_lanes,
};
use crate::table::Form;
use ptoemu_core::dtype::DType;
use ptoemu_core::mask::Mask;
use ptoemu_core::num::f16;

/// A relation between two elements.
#[derive(Clone, Copy)]
enum Rel {
    Eq,
    Lt,
    Gt,
    Le,
    Ge,
}

impl Rel {
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Rel::Eq => a == b,
            Rel::Lt => a < b,
            Rel::Gt => a > b,
            Rel::Le => a <= b,
            Rel::Ge => a >= b,
        }
    }
}

macro_rules! relations {
    ($($name:ident $rel:ident;)*) => {$(
        /// The relation of its name; false if an operand is NaN.
        pub fn $name(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
            run(m, i, p, rec, Rel::$rel)
        }
    )*};
}

relations! { eq Eq; lt Lt; gt Gt; le Le; ge Ge; }

fn run(m: &mut Machine, i: &Instr, p: &Plan, rec: u32, rel: Rel) -> u64 {
    let c = Ctx::new(i, &m.regs, &m.settings);
    let (a, b) = (p.or_empty(1), p.or_empty(2));
    let (mut va, mut vb) = (Repeat([0; 256]), Repeat([0; 256]));
    for r in 0..u64::from(p.repeats) {
        let act = active(p, r);
        gather_repeat(&m.ub, a, r, &act, &mut va.0);
        let mut bad = undefined_lanes(&m.ub.shadow, (a.0, &a.1), r, &act);
        if i.form() == Form::CmpS {
            splat(&mut vb.0, c.dtype.size(), c.scalar);
        } else {
            gather_repeat(&m.ub, b, r, &act, &mut vb.0);
            let also = undefined_lanes(&m.ub.shadow, (b.0, &b.1), r, &act);
            bad = or(&bad, &also);
        }
        let bits = compare(c.dtype, rel, &va.0, &vb.0).and(&act.mask());
        if i.form() == Form::CmpReg {
            to_register(m, p, &bits, &bad, &act);
        } else {
            to_memory(m, p, r, &bits, &bad, &act, rec);
        }
    }
    0
}

fn or(a: &Mask, b: &Mask) -> Mask {
    let (a, b) = (a.words(), b.words());
    Mask::from_words(std::array::from_fn(|i| a[i] | b[i]))
}

fn not(a: &Mask) -> Mask {
    Mask::from_words(a.words().map(|w| !w))
}

fn compare(t: DType, rel: Rel, a: &[u8], b: &[u8]) -> Mask {
    match t {
        DType::F32 => pack(view::<f32>(a), view::<f32>(b), |a, b| rel.holds(a, b)),
        DType::F16 => {
            pack(view::<u16>(a), view::<u16>(b), |a, b| rel.holds(f16::to_f32(*a), f16::to_f32(*b)))
        }
        _ => pack(view::<i32>(a), view::<i32>(b), |a, b| rel.holds(a, b)),
    }
}

fn pack<T>(a: &[T], b: &[T], f: impl Fn(&T, &T) -> bool) -> Mask {
    let mut words = [0u64; 4];
    for ((a, b), w) in a.chunks(64).zip(b.chunks(64)).zip(&mut words) {
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            *w |= u64::from(f(a, b)) << i;
        }
    }
    Mask::from_words(words)
}

/// Bits of the repeat with masked-off lanes as the setting says.
fn settle(m: &Machine, old: &Mask, bits: &Mask, act: &Active) -> Mask {
    match m.settings.masked_compare {
        MaskedCompare::WriteZero => *bits,
        MaskedCompare::Keep => or(bits, &old.and(&not(&act.mask()))),
    }
}

fn to_register(m: &mut Machine, p: &Plan, bits: &Mask, bad: &Mask, act: &Active) {
    let [lo, hi] = m.regs.cmpmask;
    let words = settle(m, &Mask::from_hi_lo(hi, lo), bits, act).words();
    let bytes = p.per_repeat / 8;
    m.regs.cmpmask[0] = words[0];
    if bytes > 8 {
        m.regs.cmpmask[1] = words[1];
    }
    for byte in 0..bytes.min(16) {
        let ok = bad.bits(8 * byte, 8) == 0;
        m.regs.cmpmask_defined = m.regs.cmpmask_defined & !(1 << byte) | u16::from(ok) << byte;
    }
}

fn to_memory(m: &mut Machine, p: &Plan, r: u64, bits: &Mask, bad: &Mask, act: &Active, rec: u32) {
    let (dst, w) = p.or_empty(0);
    let Some(at) = w.addr(dst, r, 0) else { return };
    let n = (w.unit as usize).min(16);
    let mut old = [0u8; 16];
    if let Some(bytes) = m.ub.bytes.get(at, n) {
        old[..n].copy_from_slice(bytes);
    }
    let words = u128::from_le_bytes(old);
    let old = Mask::from_hi_lo((words >> 64) as u64, words as u64);
    let [lo, hi, ..] = settle(m, &old, bits, act).words();
    let out = (u128::from(hi) << 64 | u128::from(lo)).to_le_bytes();
    if let Some(to) = m.ub.bytes.get_mut(at, n) {
        to.copy_from_slice(&out[..n]);
    }
    for byte in 0..n {
        let (first, here) = (at + byte as u64, at + byte as u64 + 1);
        m.ub.shadow.set(first, here, bad.bits(8 * byte, 8) == 0, rec);
    }
}
