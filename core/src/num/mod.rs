//! Number semantics of the vector core: rounding, conversion, saturation, NaN rules, elementary
//! functions and the deterministic input generator.
//!
//! 16-bit floats travel as raw `u16` patterns, so that lanes stay integers until they are needed.
//! Slice functions work on the first `min` of the lengths they are given and never allocate; their
//! inner loops have no branches and compile to plain SSE2. All results are bit-identical on every
//! machine: only integer operations and the IEEE `+ - * / sqrt` of f32 and f64 are used.

pub mod arith;
pub mod bf16;
pub mod convert;
pub mod elementary;
pub mod exp;
pub mod extreme;
pub mod f16;
pub mod float;
pub mod fma;
pub mod generate;
mod integral;
pub mod ln;
pub mod mode;
pub mod relu;
pub mod root;
pub mod round;
mod table16;

pub use arith::{Arith, arith_bf16, arith_f16, arith_f32, sum8_f32};
pub use convert::{Conversion, s4_from_f16, s4_to_f16};
pub use elementary::{Elementary, elementary_f16, elementary_f32};
pub use extreme::{Extreme, extreme_bf16, extreme_f16, extreme_f32, extreme8_f32};
pub use fma::{fma_bf16, fma_f16, fma_f32, fma_mixed};
pub use generate::{Dist, SplitMix64};
pub use mode::{Fusion, NanRule, Narrow, NumMode, Overflow, Precision, Reciprocal};
pub use relu::{leaky_f16, leaky_f32, relu_f16, relu_f32};
pub use round::{Round, round_integral_f32};

#[cfg(test)]
mod accuracy;
#[cfg(test)]
mod reference;
