//! Exact numbers between two formats: unpack a pattern, pack with any rounding mode.

use super::mode::Overflow;
use super::round::{Round, round_shift};

/// A binary floating-point format of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Stored fraction bits.
    pub fraction: u32,
    /// Exponent bits.
    pub exponent: u32,
}

/// IEEE half.
pub const F16: Format = Format { fraction: 10, exponent: 5 };
/// bfloat16.
pub const BF16: Format = Format { fraction: 7, exponent: 8 };
/// IEEE single.
pub const F32: Format = Format { fraction: 23, exponent: 8 };
/// IEEE double, the working format of the kernels.
pub const F64: Format = Format { fraction: 52, exponent: 11 };

impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Pattern of +INF.
    pub const fn inf(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    const fn sign(self, neg: bool) -> u64 {
        (neg as u64) << (self.fraction + self.exponent)
    }
}

/// A number without a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Num {
    /// Not a number; payload left-aligned in 64 bits, quiet bit first.
    Nan {
        /// Sign bit.
        neg: bool,
        /// Fraction bits, left-aligned.
        payload: u64,
    },
    /// Infinity.
    Inf {
        /// Sign bit.
        neg: bool,
    },
    /// `(-1)^neg * m * 2^e`.
    Finite {
        /// Sign bit, also of zero.
        neg: bool,
        /// Magnitude.
        m: u64,
        /// Binary exponent of the unit of `m`.
        e: i32,
    },
}

/// The number a pattern stands for.
#[inline(always)]
pub fn unpack(f: Format, bits: u64) -> Num {
    let neg = bits >> (f.fraction + f.exponent) & 1 == 1;
    let fraction = bits & ((1 << f.fraction) - 1);
    let exponent = (bits >> f.fraction & ((1 << f.exponent) - 1)) as i32;
    if exponent == (1 << f.exponent) - 1 {
        if fraction == 0 {
            return Num::Inf { neg };
        }
        return Num::Nan { neg, payload: fraction << (64 - f.fraction) };
    }
    let unit = 1 - f.bias() - f.fraction as i32;
    if exponent == 0 {
        Num::Finite { neg, m: fraction, e: unit }
    } else {
        Num::Finite { neg, m: fraction | 1 << f.fraction, e: unit + exponent - 1 }
    }
}

/// The pattern of a number in format `f`, rounded once.
///
/// A magnitude that rounds beyond the largest finite value becomes INF in every rounding mode
/// `[U: the tables say "INF" for all modes]`, or the largest finite value under
/// [`Overflow::Saturate`], where NaN becomes +0.
#[inline(always)]
pub fn pack(f: Format, n: Num, mode: Round, overflow: Overflow) -> u64 {
    let saturate = overflow == Overflow::Saturate;
    let infinite = |neg| f.sign(neg) | (f.inf() - saturate as u64);
    match n {
        Num::Nan { .. } if saturate => 0,
        Num::Nan { neg, payload } => {
            f.sign(neg) | f.inf() | (payload | 1 << 63) >> (64 - f.fraction)
        }
        Num::Inf { neg } => infinite(neg),
        Num::Finite { neg, m: 0, .. } => f.sign(neg),
        Num::Finite { neg, m, e } => {
            let mag = magnitude(f, neg, m, e, mode);
            if mag >= f.inf() { infinite(neg) } else { f.sign(neg) | mag }
        }
    }
}

/// Pattern of `m * 2^e` (m != 0) without sign; at or above `f.inf()` on overflow.
#[inline(always)]
fn magnitude(f: Format, neg: bool, m: u64, e: i32, mode: Round) -> u64 {
    let least = 1 - f.bias();
    let top = (e + 63 - m.leading_zeros() as i32).max(least);
    if top > f.bias() {
        return f.inf();
    }
    // Drop `cut` bits (or append zeros): the last kept bit is worth 2^(top - fraction).
    let cut = top - f.fraction as i32 - e;
    let kept =
        if cut > 0 { round_shift(m, cut as u32, neg, mode) } else { m << cut.unsigned_abs() };
    // The hidden one, and a carry out of rounding, add themselves to the exponent field.
    (((top - least) as u64) << f.fraction) + kept
}

/// f64 to f16 with one rounding to nearest even.
pub fn f16_from_f64(x: f64) -> u16 {
    pack(F16, unpack(F64, x.to_bits()), Round::NearestEven, Overflow::Keep) as u16
}

/// f64 to bf16 with one rounding to nearest even.
pub fn bf16_from_f64(x: f64) -> u16 {
    pack(BF16, unpack(F64, x.to_bits()), Round::NearestEven, Overflow::Keep) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpack_then_pack_is_the_identity() {
        for h in 0..=u16::MAX as u64 {
            for f in [F16, BF16] {
                let fraction = h & ((1 << f.fraction) - 1);
                let nan = h & 0x7FFF > f.inf();
                let want = if nan { h | 1 << (f.fraction - 1) } else { h };
                for mode in Round::ALL {
                    let got = pack(f, unpack(f, h), mode, Overflow::Keep);
                    assert_eq!(got, want, "{f:?} {h:#x} {fraction:#x}");
                }
            }
        }
    }

    #[test]
    fn nearest_even_matches_hardware_narrowing() {
        for i in 0..1u64 << 18 {
            // Exponents from below the f32 subnormals to above its largest value.
            let e = 1023 - 160 + i % 300;
            let bits = e << 52 | i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 12 | (i & 1) << 63;
            let x = f64::from_bits(bits);
            let got = pack(F32, unpack(F64, bits), Round::NearestEven, Overflow::Keep) as u32;
            assert_eq!(got, (x as f32).to_bits(), "{x:e}");
        }
    }

    #[test]
    fn overflow_policies() {
        let big = unpack(F32, 1e6f32.to_bits() as u64);
        let edge = unpack(F32, 65519.0f32.to_bits() as u64);
        for mode in Round::ALL {
            assert_eq!(pack(F16, big, mode, Overflow::Keep), 0x7C00);
            assert_eq!(pack(F16, big, mode, Overflow::Saturate), 0x7BFF);
        }
        assert_eq!(pack(F16, edge, Round::Zero, Overflow::Keep), 0x7BFF);
        assert_eq!(pack(F16, edge, Round::Ceil, Overflow::Keep), 0x7C00);
        let nan = unpack(F32, 0x7FC0_0000);
        assert_eq!(pack(F16, nan, Round::Zero, Overflow::Saturate), 0);
        assert_eq!(pack(F16, nan, Round::Zero, Overflow::Keep), 0x7E00);
        assert_eq!(pack(F16, Num::Inf { neg: true }, Round::Zero, Overflow::Saturate), 0xFBFF);
    }
}
