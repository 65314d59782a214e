//! The rows of the A2/A3 vector core (dav-2201).
//!
//! Naming follows the compiler builtins. `h` f16, `f` f32, `s16 s32 u16 u32` integers, `bf` bf16.

use super::Claim::{Documented, Inferred};
use super::{Form, Row};
use crate::families::{Sem, arith, control};
use ptoemu_core::dtype::DType::{self, F16, F32, I16, I32};

/// Same type on both sides.
macro_rules! same {
    ($($t:ident)*) => { &[$(($t, $t)),*] };
}

const HFS: &[(DType, DType)] = same!(F16 F32 I16 I32);
const HF: &[(DType, DType)] = same!(F16 F32);
const ANY: &[(DType, DType)] = &[];

/// Declares every instruction: the `Op` enum and the table it indexes.
macro_rules! instructions {
    ($($name:ident $form:ident $types:ident $sem:expr, $cost:literal, $claim:ident, $doc:literal;)*) => {
        /// An A2/A3 instruction, spelled as its mnemonic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        #[allow(non_camel_case_types)]
        pub enum Op { $(#[doc = $doc] $name),* }

        impl Op {
            /// Every instruction, in table order.
            pub const ALL: &'static [Op] = &[$(Op::$name),*];
        }

        pub(super) static ROWS: &[Row] = &[$(Row {
            mnemonic: stringify!($name),
            form: Form::$form,
            types: $types,
            sem: $sem,
            cost: $cost,
            claim: $claim,
            doc: $doc,
        }),*];
    };
}

#[rustfmt::skip]
instructions! {
    vadd            Vec2    HFS  Sem::Two(arith::add),   "vadd", Documented, "dst = src0 + src1; integers wrap.";
    vabs            Vec1    HF   Sem::One(arith::abs),   "vabs", Documented, "dst = |src|; clears the sign bit, also of NaN.";
    set_mask_norm   Bare    ANY  Sem::Control(control::set_mask_norm), "ctrl", Documented, "Mask bits select lanes of every repeat.";
    pipe_barrier    Barrier ANY  Sem::Nothing,           "pipe_barrier", Documented, "Later instructions of the pipe wait for all earlier ones.";
    set_vector_mask SetMask ANY  Sem::Control(control::set_vector_mask), "set_vector_mask", Inferred, "MASK = hi:lo; the element count in counter mode.";
}
