//! What instructions compute: bodies of one to ten lines over the lanes of one step.
//!
//! A body sees the bytes of typed lanes and nothing else: the walk, the mask, the shadow and the
//! record are the machine's business.

pub mod arith;
pub mod broadcast;
pub mod compare;
pub mod control;
pub mod convert;
pub mod copy;
pub mod dma;
pub mod elementary;
pub mod extreme;
pub mod fused;
pub mod gather;
pub mod logic;
pub mod reduce;
pub mod scalar;
pub mod select;
pub mod sort;

use crate::instr::Instr;
use crate::machine::{Machine, Plan, Regs, Settings};
use crate::table::What;
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::{NumMode, Round};

/// What a body may depend on besides its lanes.
#[derive(Clone, Copy, Debug)]
pub struct Ctx {
    /// Number rules, CTRL applied.
    pub mode: NumMode,
    /// Element type of the destination.
    pub dtype: DType,
    /// Element type of the sources.
    pub src: DType,
    /// Scalar operand, as bits.
    pub scalar: u64,
    /// Rounding of a conversion.
    pub round: Round,
    /// The trailing flag of `vshr` (round).
    pub flag: bool,
    /// DEQSCALE, f16 bits.
    pub deqscale: u16,
}

impl Ctx {
    /// The context of one instruction.
    pub fn new(i: &Instr, regs: &Regs, settings: &Settings) -> Ctx {
        let round = match i.op.row().sem {
            Sem::Convert(r) | Sem::Nibble(r) => r,
            _ => Round::NearestEven,
        };
        Ctx {
            mode: settings.num.with_ctrl(regs.ctrl),
            dtype: i.dtype,
            src: i.src_dtype,
            scalar: i.get(What::Scalar).unwrap_or(0) as u64,
            round,
            flag: i.named("round").is_some_and(|v| v != 0),
            deqscale: regs.deqscale,
        }
    }
}

/// Body that only writes.
pub type Body0 = fn(&Ctx, &mut [u8]);
/// Body with one source.
pub type Body1 = fn(&Ctx, &mut [u8], &[u8]);
/// Body with two sources.
pub type Body2 = fn(&Ctx, &mut [u8], &[u8], &[u8]);

/// The semantics of a row.
#[derive(Clone, Copy)]
pub enum Sem {
    /// Lanes from nothing but the scalar.
    Fill(Body0),
    /// Lane by lane from one source.
    One(Body1),
    /// Lane by lane from two sources.
    Two(Body2),
    /// Lane by lane from one source and the old destination.
    AccOne(Body1),
    /// Lane by lane from two sources and the old destination.
    AccTwo(Body2),
    /// Conversion of element types with this rounding.
    Convert(Round),
    /// Conversion with packed four-bit integers on one side.
    Nibble(Round),
    /// Anything that is not lane by lane; returns loaded bits.
    Special(fn(&mut Machine, &Instr, &Plan, u32) -> u64),
    /// Changes or reads special registers.
    Control(fn(&mut Regs, &Instr, &Settings) -> u64),
    /// Only orders other instructions.
    Nothing,
}

/// Typed view of lanes.
pub(crate) fn view<T: Pod>(b: &[u8]) -> &[T] {
    cast_slice(b)
}

/// Typed writable view of lanes.
pub(crate) fn view_mut<T: Pod>(b: &mut [u8]) -> &mut [T] {
    cast_slice_mut(b)
}

/// `d[i] = f(a[i])`.
pub(crate) fn map1<T: Pod>(d: &mut [u8], a: &[u8], f: impl Fn(T) -> T) {
    for (d, a) in view_mut::<T>(d).iter_mut().zip(view::<T>(a)) {
        *d = f(*a);
    }
}

/// `d[i] = f(a[i], b[i])`.
pub(crate) fn map2<T: Pod>(d: &mut [u8], a: &[u8], b: &[u8], f: impl Fn(T, T) -> T) {
    for ((d, a), b) in view_mut::<T>(d).iter_mut().zip(view::<T>(a)).zip(view::<T>(b)) {
        *d = f(*a, *b);
    }
}

/// Bytes of one repeat, aligned for every element type.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(crate) struct Repeat(pub [u8; 256]);

/// Fills `out` with copies of the low `size` bytes of `bits`.
pub(crate) fn splat(out: &mut [u8], size: usize, bits: u64) {
    match size {
        1 => out.fill(bits as u8),
        2 => view_mut::<u16>(out).fill(bits as u16),
        4 => view_mut::<u32>(out).fill(bits as u32),
        _ => view_mut::<u64>(out).fill(bits),
    }
}

/// Runs a two-source body with the scalar in every lane of the second source.
pub(crate) fn with_scalar(c: &Ctx, d: &mut [u8], a: &[u8], body: Body2) {
    let mut s = Repeat([0; 256]);
    splat(&mut s.0, c.src.size(), c.scalar);
    let n = 256 / c.src.size();
    for (d, a) in d.chunks_mut(n * c.dtype.size()).zip(a.chunks(256)) {
        body(c, d, a, &s.0[..a.len()]);
    }
}
