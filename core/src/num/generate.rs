//! Deterministic tensor contents: a splitmix64 stream and the named distributions.
//!
//! Tensor `k` of a case draws one value per element, in address order over the physical tile, so
//! two tools that agree on seed, type and distribution agree on every byte.

use std::fmt;
use std::str::FromStr;

use super::{bf16, f16};
use crate::dtype::DType;

/// The splitmix64 generator.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A stream that starts from this state.
    pub const fn new(state: u64) -> Self {
        SplitMix64(state)
    }

    /// The stream of tensor number `k` (0: source or full operand, 1: expanded operand).
    pub const fn tensor(seed: u64, k: u64) -> Self {
        SplitMix64(seed ^ k.wrapping_add(1).wrapping_mul(0xD1B5_4A32_D192_ED03))
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
}

/// A named distribution of element values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dist {
    /// Integers: every bit random.
    Full,
    /// Integers: -8..=8 signed, 0..=16 unsigned.
    Small,
    /// Integers: as small, 0 replaced by 1.
    Nz,
    /// Integers: one of min, max, 0, 1, all ones.
    MinMax,
    /// Floats: exact fractions around zero.
    Unit,
    /// Floats: absolute value of unit, 0 replaced by 1.
    Pos,
    /// Floats: unit mixed with NaN, infinities, zeros, subnormals and the largest values.
    Special,
    /// Floats: as special, without NaN.
    SpecialNonan,
}

impl Dist {
    /// Every distribution with its name.
    pub const ALL: [(&'static str, Dist); 8] = [
        ("full", Dist::Full),
        ("small", Dist::Small),
        ("nz", Dist::Nz),
        ("minmax", Dist::MinMax),
        ("unit", Dist::Unit),
        ("pos", Dist::Pos),
        ("special", Dist::Special),
        ("special_nonan", Dist::SpecialNonan),
    ];

    /// True when the distribution is defined for the element type.
    pub const fn fits(self, dtype: DType) -> bool {
        let for_floats =
            matches!(self, Dist::Unit | Dist::Pos | Dist::Special | Dist::SpecialNonan);
        for_floats == dtype.is_float()
    }

    /// Bit pattern of the element made from draw `u`; `None` when the type does not fit.
    pub fn element(self, dtype: DType, u: u64) -> Option<u64> {
        if !self.fits(dtype) {
            return None;
        }
        Some(match self {
            Dist::Full => (u >> 32) & mask(dtype),
            Dist::Small => small(dtype, u),
            Dist::Nz => match small(dtype, u) {
                0 => 1,
                v => v,
            },
            Dist::MinMax => minmax(dtype, u),
            Dist::Unit => unit(dtype, u, false),
            Dist::Pos => unit(dtype, u, true),
            Dist::Special => special(dtype, u, true),
            Dist::SpecialNonan => special(dtype, u, false),
        })
    }

    /// Fills `dst` with whole little-endian elements of tensor `k`; `None` when the type does
    /// not fit. A rest shorter than one element is left alone.
    pub fn fill(self, dtype: DType, seed: u64, k: u64, dst: &mut [u8]) -> Option<()> {
        let mut stream = SplitMix64::tensor(seed, k);
        let size = dtype.size();
        for cell in dst.chunks_exact_mut(size) {
            let bits = self.element(dtype, stream.next_u64())?;
            cell.copy_from_slice(&bits.to_le_bytes()[..size]);
        }
        Some(())
    }
}

/// The text is no distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDist(pub String);

impl fmt::Display for UnknownDist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Dist::ALL.map(|(name, _)| name).join(" ");
        write!(f, "unknown distribution `{}`; one of {names}", self.0)
    }
}

impl std::error::Error for UnknownDist {}

impl FromStr for Dist {
    type Err = UnknownDist;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let found = Dist::ALL.iter().find(|(name, _)| *name == s);
        found.map(|&(_, d)| d).ok_or_else(|| UnknownDist(s.to_string()))
    }
}

impl fmt::Display for Dist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Dist::ALL.iter().find(|(_, d)| d == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

fn bits_of(dtype: DType) -> u32 {
    8 * dtype.size() as u32
}

fn mask(dtype: DType) -> u64 {
    u64::MAX >> (64 - bits_of(dtype))
}

fn small(dtype: DType, u: u64) -> u64 {
    let v = (u >> 40) % 17;
    if dtype.is_signed() { v.wrapping_sub(8) & mask(dtype) } else { v }
}

fn minmax(dtype: DType, u: u64) -> u64 {
    let all = mask(dtype);
    let (min, max) = if dtype.is_signed() { (all / 2 + 1, all / 2) } else { (0, all) };
    match (u >> 33) % 5 {
        0 => min,
        1 => max,
        2 => 0,
        3 => 1,
        _ => all,
    }
}

/// A fraction that is exact in the type; `pos` takes the absolute value and avoids 0.
fn unit(dtype: DType, u: u64, pos: bool) -> u64 {
    let (n, scale) = match dtype {
        DType::F16 => ((u >> 53) as i32 - 1024, 16.0),
        DType::BF16 => ((u >> 56) as i32 - 128, 4.0),
        _ => ((u >> 40) as i32 - (1 << 23), 65536.0),
    };
    let x = match n as f32 / scale {
        x if !pos => x,
        0.0 => 1.0,
        x => x.abs(),
    };
    match dtype {
        DType::F16 => f16::from_f32(x) as u64,
        DType::BF16 => bf16::from_f32(x) as u64,
        _ => x.to_bits() as u64,
    }
}

fn special(dtype: DType, u: u64, nan: bool) -> u64 {
    let (width, fraction) = match dtype {
        DType::F16 => (16, 10),
        DType::BF16 => (16, 7),
        _ => (32, 23),
    };
    let sign = 1u64 << (width - 1);
    let inf = sign - (1 << fraction);
    match u & 31 {
        0 if nan => inf | 1 << (fraction - 1),
        1 => inf,
        2 => sign | inf,
        3 => sign,
        4 => 0,
        5 => 1,
        6 => (1 << fraction) - 1,
        7 => inf - 1,
        8 => sign | (inf - 1),
        _ => unit(dtype, u, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_stream() {
        let mut s = SplitMix64::new(1234567);
        let want = [6457827717110365317, 3203168211198807973, 9817491932198370423];
        assert_eq!(want.map(|_| s.next_u64()), want);
    }

    #[test]
    fn names_and_types() {
        for (name, d) in Dist::ALL {
            assert_eq!(name.parse(), Ok(d));
            assert_eq!(d.to_string(), name);
            for t in DType::ALL {
                assert_eq!(d.element(t, 5).is_some(), d.fits(t));
            }
        }
        assert!("gauss".parse::<Dist>().is_err());
    }

    #[test]
    fn special_patterns() {
        let at = |t, sel| Dist::Special.element(t, sel);
        let f16: Vec<_> = (0..9).map(|s| at(DType::F16, s).unwrap()).collect();
        assert_eq!(f16, [0x7E00, 0x7C00, 0xFC00, 0x8000, 0, 1, 0x3FF, 0x7BFF, 0xFBFF]);
        assert_eq!(at(DType::BF16, 0), Some(0x7FC0));
        assert_eq!(at(DType::F32, 0), Some(0x7FC0_0000));
        assert_eq!(at(DType::F32, 8), Some(0xFF7F_FFFF));
        assert_eq!(at(DType::F32, 6), Some(0x007F_FFFF));
        let nonan = Dist::SpecialNonan.element(DType::F32, 0);
        assert_eq!(nonan, Some((-128f32).to_bits() as u64));
    }

    #[test]
    fn integer_ranges() {
        let mut s = SplitMix64::new(3);
        for _ in 0..2000 {
            let u = s.next_u64();
            let v = Dist::Small.element(DType::I8, u).unwrap() as u8 as i8;
            assert!((-8..=8).contains(&v));
            assert!(Dist::Small.element(DType::U16, u).unwrap() <= 16);
            assert_ne!(Dist::Nz.element(DType::I32, u), Some(0));
            let p = Dist::Pos.element(DType::F16, u).unwrap() as u16;
            assert!(f16::to_f32(p) > 0.0);
        }
        assert_eq!(Dist::MinMax.element(DType::I16, 0), Some(0x8000));
        assert_eq!(Dist::MinMax.element(DType::U16, 1 << 33), Some(0xFFFF));
    }

    #[test]
    fn fill_reproduces_a_known_row_maximum() {
        // An i8 tile of 8 x 512, full distribution: the maxima of its first four rows.
        let mut tile = vec![0u8; 8 * 512];
        Dist::Full.fill(DType::I8, 0xc0ff_ee02_8c7e_e5d9, 0, &mut tile).unwrap();
        let max = |r: usize| tile[r * 512..][..512].iter().map(|&b| b as i8).max().unwrap();
        assert_eq!([0, 1, 2, 3].map(max), [0x7F, 0x7F, 0x7E, 0x7F]);
    }
}
