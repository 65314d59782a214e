//! What micro-ops compute: bodies of one to ten lines over the lanes of registers.
//!
//! A lane-by-lane body fills every lane; masking and the shadow are the engine's business. Bodies
//! that only move bytes run a second time on the image of undefined bytes.

pub mod arith;
pub mod bits;
pub mod compare;
pub mod convert;
pub mod gather;
pub mod load;
pub mod predicate;
pub mod reduce;
pub mod shuffle;
pub mod sort;
pub mod store;
pub mod stream;

use super::core::{CTRL_GLOBAL, Core, Done, Run, Step};
use super::mode::Mods;
use super::reg::VReg;
use bytemuck::Pod;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::NumMode;

/// What a body may depend on beside its lanes.
#[derive(Clone, Copy, Debug)]
pub struct Ctx {
    /// Element type of the result.
    pub dt: DType,
    /// Element type of the first source.
    pub st: DType,
    /// Bytes a predicate lane stands for.
    pub gran: usize,
    /// Modes.
    pub mods: Mods,
    /// Number rules of arithmetic: INF and NaN are kept, the only mode of the 950 `[D: HIA]`.
    pub num: NumMode,
    /// CTRL decides over saturation instead of the instruction.
    pub ctrl_saturation: Option<NumMode>,
    /// Integer operands.
    pub n: [i64; 2],
}

impl Ctx {
    /// The context of a micro-op.
    pub fn new(step: &Step, core: &Core, n: [i64; 2]) -> Ctx {
        let global = core.ctrl >> CTRL_GLOBAL & 1 == 1;
        Ctx {
            dt: step.dt,
            st: step.st,
            gran: usize::from(step.gran.clamp(1, 4)),
            mods: step.mods,
            num: core.num,
            ctrl_saturation: global.then(|| core.num.with_ctrl(core.ctrl)),
            n,
        }
    }
}

/// Lane by lane from one source.
pub type Body1 = fn(&Ctx, &mut VReg, &VReg);
/// Lane by lane from two sources.
pub type Body2 = fn(&Ctx, &mut VReg, &VReg, &VReg);
/// Lane by lane from three sources.
pub type Body3 = fn(&Ctx, &mut VReg, [&VReg; 3]);
/// Bytes moved from two sources to two results.
pub type BodyMove = fn(&Ctx, &mut [VReg; 2], [&VReg; 2]);

/// The semantics of a row.
#[derive(Clone, Copy)]
pub enum Sem {
    /// Lane by lane from one source.
    One(Body1),
    /// Lane by lane from two sources; a scalar operand is the second, repeated.
    Two(Body2),
    /// Lane by lane from three sources; a scalar operand is the third, repeated.
    Three(Body3),
    /// Moves bytes; unmasked.
    Move(BodyMove),
    /// Anything else.
    Any(fn(&mut Run<'_, '_>) -> Done),
    /// Spelled in manuals, absent from the machine: why, and the way out.
    Refused(&'static str),
    /// Only orders other instructions.
    Nothing,
}

/// `d[i] = f(a[i])`.
pub(super) fn map1<T: Pod>(d: &mut VReg, a: &VReg, f: impl Fn(T) -> T) {
    for (d, a) in d.lanes_mut::<T>().iter_mut().zip(a.lanes::<T>()) {
        *d = f(*a);
    }
}

/// `d[i] = f(a[i], b[i])`.
pub(super) fn map2<T: Pod>(d: &mut VReg, a: &VReg, b: &VReg, f: impl Fn(T, T) -> T) {
    for ((d, a), b) in d.lanes_mut::<T>().iter_mut().zip(a.lanes::<T>()).zip(b.lanes::<T>()) {
        *d = f(*a, *b);
    }
}

/// Evaluates `$body` with `$T` bound to the integer type of `$t`; floats use their bits' type.
macro_rules! by_int {
    ($t:expr, $T:ident => $body:expr) => {{
        use ptoemu_core::dtype::DType as D;
        match $t {
            D::I8 => {
                type $T = i8;
                $body
            }
            D::U8 => {
                type $T = u8;
                $body
            }
            D::I16 => {
                type $T = i16;
                $body
            }
            D::U16 | D::F16 | D::BF16 => {
                type $T = u16;
                $body
            }
            D::I32 => {
                type $T = i32;
                $body
            }
            D::U32 | D::F32 => {
                type $T = u32;
                $body
            }
            D::I64 => {
                type $T = i64;
                $body
            }
            D::U64 => {
                type $T = u64;
                $body
            }
        }
    }};
}

/// Evaluates `$body` with `$T` bound to the unsigned type of `$n` bytes.
macro_rules! by_size {
    ($n:expr, $T:ident => $body:expr) => {
        match $n {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            _ => {
                type $T = u64;
                $body
            }
        }
    };
}

pub(super) use {by_int, by_size};
