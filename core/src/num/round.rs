//! Rounding modes, applied with integer arithmetic so that every mode is exact.

use super::float::{F32, Num, unpack};

/// Rounding mode of a conversion; the suffix letter of `vconv_*` in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Round {
    /// Nearest, ties to even (`r`); also the plain form `[I]`.
    #[default]
    NearestEven,
    /// Nearest, ties away from zero (`a`).
    NearestAway,
    /// Toward minus infinity (`f`).
    Floor,
    /// Toward plus infinity (`c`).
    Ceil,
    /// Toward zero (`z`).
    Zero,
    /// To odd: an inexact result gets an odd last bit (`o`).
    Odd,
}

impl Round {
    /// Every mode, in declaration order.
    pub const ALL: [Round; 6] = [
        Round::NearestEven,
        Round::NearestAway,
        Round::Floor,
        Round::Ceil,
        Round::Zero,
        Round::Odd,
    ];

    /// Suffix letter in a mnemonic.
    pub const fn letter(self) -> char {
        match self {
            Round::NearestEven => 'r',
            Round::NearestAway => 'a',
            Round::Floor => 'f',
            Round::Ceil => 'c',
            Round::Zero => 'z',
            Round::Odd => 'o',
        }
    }

    /// The mode of a suffix letter, upper or lower case.
    pub fn from_letter(c: char) -> Option<Round> {
        Self::ALL.into_iter().find(|r| r.letter() == c.to_ascii_lowercase())
    }
}

/// `m * 2^-shift` rounded to an integer; `neg` is the sign of the value `m` belongs to.
#[inline(always)]
pub fn round_shift(m: u64, shift: u32, neg: bool, mode: Round) -> u64 {
    // Everything shifted out: only "less than a half" is left to know, except at 64 places.
    let (kept, rest, half) = match shift {
        0 => return m,
        1..=63 => (m >> shift, m & ((1 << shift) - 1), 1 << (shift - 1)),
        64 => (0, m, 1 << 63),
        _ => (0, (m != 0) as u64, 2),
    };
    let up = match mode {
        Round::NearestEven => rest > half || (rest == half && kept & 1 == 1),
        Round::NearestAway => rest >= half,
        Round::Floor => neg && rest != 0,
        Round::Ceil => !neg && rest != 0,
        Round::Zero => false,
        Round::Odd => rest != 0 && kept & 1 == 0,
    };
    kept + up as u64
}

/// f32 to the f32 integral value next to it: INF and zero keep their sign, NaN is quieted.
pub fn round_integral_f32(x: f32, mode: Round) -> f32 {
    let Num::Finite { neg, m, e } = unpack(F32, x.to_bits() as u64) else {
        let quiet = if x.is_nan() { 0x0040_0000 } else { 0 };
        return f32::from_bits(x.to_bits() | quiet);
    };
    if e >= 0 {
        return x;
    }
    // m < 2^24, so the rounded integer is an exact f32.
    let mag = round_shift(m, e.unsigned_abs(), neg, mode) as f32;
    f32::from_bits(mag.to_bits() | (neg as u32) << 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_table_of_every_mode() {
        // value in quarters -> r a f c z o
        let rows = [
            (2, [0, 1, 0, 1, 0, 1]),
            (6, [2, 2, 1, 2, 1, 1]),
            (10, [2, 3, 2, 3, 2, 3]),
            (-2, [0, -1, -1, 0, 0, -1]),
            (-6, [-2, -2, -2, -1, -1, -1]),
            (-10, [-2, -3, -3, -2, -2, -3]),
            (1, [0, 0, 0, 1, 0, 1]),
            (7, [2, 2, 1, 2, 1, 1]),
            (-9, [-2, -2, -3, -2, -2, -3]),
            (8, [2, 2, 2, 2, 2, 2]),
        ];
        for (quarters, want) in rows {
            for (mode, want) in Round::ALL.into_iter().zip(want) {
                let got = round_integral_f32(quarters as f32 / 4.0, mode);
                assert_eq!(got, want as f32, "{quarters}/4 {mode:?}");
                assert_eq!(got.is_sign_negative(), quarters < 0, "sign {quarters} {mode:?}");
            }
        }
    }

    #[test]
    fn shift_extremes() {
        assert_eq!(round_shift(u64::MAX, 64, false, Round::NearestEven), 1);
        assert_eq!(round_shift(1 << 63, 64, false, Round::NearestEven), 0);
        assert_eq!(round_shift(1 << 63, 64, false, Round::NearestAway), 1);
        assert_eq!(round_shift(u64::MAX, 65, false, Round::NearestAway), 0);
        assert_eq!(round_shift(u64::MAX, 5000, false, Round::Ceil), 1);
        assert_eq!(round_shift(7, 0, true, Round::Floor), 7);
    }

    #[test]
    fn letters_round_trip() {
        for r in Round::ALL {
            assert_eq!(Round::from_letter(r.letter().to_ascii_uppercase()), Some(r));
        }
        assert_eq!(Round::from_letter('h'), None);
    }

    #[test]
    fn integral_matches_the_standard_library() {
        for i in 0..1u32 << 18 {
            let x = f32::from_bits(i.wrapping_mul(0x9E37_79B9) >> 2 ^ i << 31);
            let want = [x.round_ties_even(), x.round(), x.floor(), x.ceil(), x.trunc()];
            for (mode, want) in Round::ALL.into_iter().zip(want) {
                let got = round_integral_f32(x, mode);
                assert_eq!(got.to_bits(), want.to_bits(), "{x} {mode:?}");
            }
        }
        assert_eq!(round_integral_f32(f32::NEG_INFINITY, Round::Zero), f32::NEG_INFINITY);
        let snan = round_integral_f32(f32::from_bits(0xFF80_0001), Round::Zero);
        assert_eq!(snan.to_bits(), 0xFFC0_0001);
    }
}
