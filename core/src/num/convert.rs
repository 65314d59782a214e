//! Conversion between element types: exact in every rounding mode, with both saturation rules.

use super::float::{BF16, F16, F32, Format, Num, pack, unpack};
use super::integral::{CHUNK, round_all, to_ints};
use super::mode::{Narrow, NumMode, Overflow};
use super::round::{Round, round_shift};
use super::{bf16, f16};
use crate::dtype::DType;

/// One conversion with all its settings.
///
/// A float type to itself rounds to integral values (`vconv_f322f32*`, `vtrc`); INF, NaN and the
/// sign of zero then survive whatever the overflow policy `[D: GOLD:vtrc]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Source type.
    pub from: DType,
    /// Destination type.
    pub to: DType,
    /// Rounding mode; without effect where the conversion is exact.
    pub round: Round,
    /// CTRL[59]: integer destinations.
    pub narrow: Narrow,
    /// CTRL[48]: float destinations.
    pub overflow: Overflow,
}

/// An integer destination.
#[derive(Clone, Copy)]
struct Int {
    bits: u32,
    signed: bool,
}

impl Int {
    const fn of(t: DType) -> Int {
        Int { bits: 8 * t.size() as u32, signed: t.is_signed() }
    }

    const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// Largest magnitude of this sign.
    const fn limit(self, neg: bool) -> u64 {
        match (self.signed, neg) {
            (true, false) => self.mask() >> 1,
            (true, true) => (self.mask() >> 1) + 1,
            (false, false) => self.mask(),
            (false, true) => 0,
        }
    }

    const fn pattern(self, neg: bool, mag: u64) -> u64 {
        (if neg { mag.wrapping_neg() } else { mag }) & self.mask()
    }
}

const fn format(t: DType) -> Option<Format> {
    match t {
        DType::F16 => Some(F16),
        DType::BF16 => Some(BF16),
        DType::F32 => Some(F32),
        _ => None,
    }
}

/// The number an element pattern stands for.
#[inline(always)]
fn decode(t: DType, bits: u64) -> Num {
    if let Some(f) = format(t) {
        return unpack(f, bits);
    }
    let int = Int::of(t);
    let neg = int.signed && bits >> (int.bits - 1) & 1 == 1;
    let m = if neg { bits.wrapping_neg() } else { bits } & int.mask();
    Num::Finite { neg, m, e: 0 }
}

/// The integer pattern of a number.
///
/// Low-bits rule: a finite value is converted exactly and its low bits are kept; NaN gives 0 and
/// INF passes through the clamped 32-bit integer `[D: PTO-st tcvt goldens]`. A 64-bit
/// destination takes INF as its own limit `[U: no source]`.
#[inline(always)]
fn to_int(int: Int, n: Num, round: Round, narrow: Narrow) -> u64 {
    match (n, narrow) {
        (Num::Nan { .. }, _) => 0,
        (Num::Inf { neg }, Narrow::Clamp) => int.pattern(neg, int.limit(neg)),
        (Num::Inf { neg }, Narrow::LowBits) => {
            let through = Int { bits: int.bits.max(32), signed: true };
            int.pattern(neg, through.limit(neg))
        }
        (Num::Finite { neg, m, e }, _) => {
            let (mag, fits) = whole(neg, m, e, round);
            let limit = int.limit(neg);
            let clamp = narrow == Narrow::Clamp && (!fits || mag > limit);
            int.pattern(neg, if clamp { limit } else { mag })
        }
    }
}

/// Low 64 bits of the rounded magnitude, and whether they are all of it.
#[inline(always)]
fn whole(neg: bool, m: u64, e: i32, round: Round) -> (u64, bool) {
    if e <= 0 {
        return (round_shift(m, e.unsigned_abs(), neg, round), true);
    }
    let shift = e.unsigned_abs();
    (m.checked_shl(shift).unwrap_or(0), m == 0 || shift <= m.leading_zeros())
}

/// A float pattern rounded to an integral value of the same format.
#[inline(always)]
fn integral(f: Format, bits: u64, round: Round) -> u64 {
    let n = match unpack(f, bits) {
        Num::Finite { neg, m, e } if e < 0 => {
            Num::Finite { neg, m: round_shift(m, e.unsigned_abs(), neg, round), e: 0 }
        }
        n => n,
    };
    pack(f, n, Round::Zero, Overflow::Keep)
}

impl Conversion {
    /// A conversion under the mode bits of `mode`.
    pub const fn new(from: DType, to: DType, round: Round, mode: &NumMode) -> Self {
        Conversion { from, to, round, narrow: mode.narrow, overflow: mode.overflow }
    }

    /// Converts one bit pattern.
    #[inline(always)]
    pub fn element(&self, bits: u64) -> u64 {
        match format(self.to) {
            Some(f) if self.from == self.to => integral(f, bits, self.round),
            Some(f) => pack(f, decode(self.from, bits), self.round, self.overflow),
            None => to_int(Int::of(self.to), decode(self.from, bits), self.round, self.narrow),
        }
    }

    /// Converts dense little-endian elements; stops at the shorter side.
    pub fn lanes(&self, src: &[u8], dst: &mut [u8]) {
        // The common pairs have loops that vectorise; the rest is exact integer code.
        if !self.lanes_nearest(src, dst) && !self.lanes_staged(src, dst) {
            self.lanes_exact(src, dst);
        }
    }

    /// Pairs that the processor rounds to nearest even or converts exactly.
    fn lanes_nearest(&self, src: &[u8], dst: &mut [u8]) -> bool {
        use DType::{BF16, F16, F32, I8, I16, I32, U8};
        let nearest = self.round == Round::NearestEven;
        let keep = self.overflow == Overflow::Keep;
        let clamp = self.narrow == Narrow::Clamp;
        match (self.from, self.to) {
            (F16, F32) if keep => cells(src, dst, |b| f16::to_f32(half(b)).to_le_bytes()),
            (BF16, F32) if keep => cells(src, dst, |b| bf16::to_f32(half(b)).to_le_bytes()),
            (F32, F16) if nearest && keep => {
                cells(src, dst, |b| f16::from_f32(f32::from_le_bytes(b)).to_le_bytes())
            }
            (F32, BF16) if nearest && keep => {
                cells(src, dst, |b| bf16::from_f32(f32::from_le_bytes(b)).to_le_bytes())
            }
            (I32, F32) if nearest => {
                cells(src, dst, |b| (i32::from_le_bytes(b) as f32).to_le_bytes())
            }
            (F32, I32) if nearest && clamp => {
                cells(src, dst, |b| nearest_i32(f32::from_le_bytes(b)).to_le_bytes())
            }
            (I16, F32) => cells(src, dst, |b| (half(b) as i16 as f32).to_le_bytes()),
            (I16, F16) if nearest => {
                cells(src, dst, |b| f16::from_f32(half(b) as i16 as f32).to_le_bytes())
            }
            (I8, F16) => cells(src, dst, |[b]| f16::from_f32(b as i8 as f32).to_le_bytes()),
            (U8, F16) => cells(src, dst, |[b]| f16::from_f32(b as f32).to_le_bytes()),
            (I32, I16) if clamp => cells(src, dst, |b| clamp_i16(b).to_le_bytes()),
            (I32, I16) => cells(src, dst, |[a, b, _, _]| [a, b]),
            _ => return false,
        }
        true
    }

    /// Pairs with a loop for every rounding mode.
    fn lanes_staged(&self, src: &[u8], dst: &mut [u8]) -> bool {
        use DType::{BF16, F16, F32, I8, I16, I32, U8, U16};
        match (self.from, self.to) {
            (F32, F16) => narrow_float::<10, 5>(src, dst, self.round, self.overflow),
            (F32, BF16) => narrow_float::<7, 8>(src, dst, self.round, self.overflow),
            (F32, F32) => self.lanes_integral(src, dst),
            (F16 | F32, I8 | U8 | I16 | U16) => self.lanes_to_int(src, dst),
            (F16, I32) => self.lanes_to_int(src, dst),
            (F32 | BF16, I32) if self.narrow == Narrow::Clamp => self.lanes_to_int(src, dst),
            _ => return false,
        }
        true
    }

    /// f16 or f32 to integers of at most 32 bits; low bits only to at most 16, or from f16.
    fn lanes_to_int(&self, src: &[u8], dst: &mut [u8]) {
        let (from, to) = (self.from.size(), self.to.size());
        let int = Int::of(self.to);
        let (min, max) = (-(int.limit(true) as i64) as i32, int.limit(false) as i32);
        for (s, d) in src.chunks(CHUNK * from).zip(dst.chunks_mut(CHUNK * to)) {
            let mut xs = load_f64(self.from, s);
            round_all(&mut xs, self.round);
            let ints = to_ints(&xs, self.narrow, min, max);
            let n = s.len() / from;
            match to {
                1 => store(&ints[..n], d, |i| [i as u8]),
                2 => store(&ints[..n], d, |i| (i as u16).to_le_bytes()),
                _ => store(&ints[..n], d, |i| i.to_le_bytes()),
            }
        }
    }

    fn lanes_integral(&self, src: &[u8], dst: &mut [u8]) {
        for (s, d) in src.chunks(CHUNK * 4).zip(dst.chunks_mut(CHUNK * 4)) {
            let mut xs = load_f64(DType::F32, s);
            round_all(&mut xs, self.round);
            let n = s.len() / 4;
            // Back from f64 exactly; the source supplies the pattern of a NaN.
            store(&xs[..n], d, |x| (x as f32).to_le_bytes());
            for (d, s) in d.as_chunks_mut::<4>().0.iter_mut().zip(s.as_chunks::<4>().0) {
                let bits = u32::from_le_bytes(*s);
                if bits & 0x7FFF_FFFF > 0x7F80_0000 {
                    *d = (bits | 0x0040_0000).to_le_bytes();
                }
            }
        }
    }

    fn lanes_exact(&self, src: &[u8], dst: &mut [u8]) {
        let (from, to) = (self.from.size(), self.to.size());
        for (s, d) in src.chunks_exact(from).zip(dst.chunks_exact_mut(to)) {
            let mut wide = [0u8; 8];
            wide[..from].copy_from_slice(s);
            let bits = self.element(u64::from_le_bytes(wide));
            d.copy_from_slice(&bits.to_le_bytes()[..to]);
        }
    }
}

#[inline(always)]
fn half(b: [u8; 2]) -> u16 {
    u16::from_le_bytes(b)
}

#[inline(always)]
fn clamp_i16(b: [u8; 4]) -> i16 {
    i32::from_le_bytes(b).clamp(i16::MIN as i32, i16::MAX as i32) as i16
}

/// Nearest even, clamped, NaN to 0: the adder of f64 rounds at its unit bit.
#[inline(always)]
fn nearest_i32(x: f32) -> i32 {
    let x = if x.is_nan() { 0.0 } else { x as f64 };
    let low = if x > i32::MIN as f64 { x } else { i32::MIN as f64 };
    let bounded = if low < i32::MAX as f64 { low } else { i32::MAX as f64 };
    (bounded + 6755399441055744.0).to_bits() as i32
}

/// A chunk of float elements as f64, zero behind the last one.
fn load_f64(t: DType, src: &[u8]) -> [f64; CHUNK] {
    let mut xs = [0.0; CHUNK];
    match t {
        DType::F16 => fill(&mut xs, src, |b| f16::to_f32(u16::from_le_bytes(b))),
        DType::BF16 => fill(&mut xs, src, |b| bf16::to_f32(u16::from_le_bytes(b))),
        _ => fill(&mut xs, src, f32::from_le_bytes),
    }
    xs
}

#[inline(always)]
fn fill<const A: usize>(xs: &mut [f64; CHUNK], src: &[u8], f: impl Fn([u8; A]) -> f32) {
    for (x, b) in xs.iter_mut().zip(src.as_chunks::<A>().0) {
        *x = f(*b) as f64;
    }
}

/// f32 to a 16-bit format, one loop per mode.
fn narrow_float<const FRACTION: u32, const EXPONENT: u32>(
    src: &[u8],
    dst: &mut [u8],
    round: Round,
    overflow: Overflow,
) {
    let f = Format { fraction: FRACTION, exponent: EXPONENT };
    let run = |src: &[u8], dst: &mut [u8], round: Round| {
        cells(src, dst, |b: [u8; 4]| {
            let n = unpack(F32, u32::from_le_bytes(b) as u64);
            (pack(f, n, round, overflow) as u16).to_le_bytes()
        })
    };
    match round {
        Round::NearestEven => run(src, dst, Round::NearestEven),
        Round::NearestAway => run(src, dst, Round::NearestAway),
        Round::Floor => run(src, dst, Round::Floor),
        Round::Ceil => run(src, dst, Round::Ceil),
        Round::Zero => run(src, dst, Round::Zero),
        Round::Odd => run(src, dst, Round::Odd),
    }
}

#[inline(always)]
fn store<T: Copy, const B: usize>(src: &[T], dst: &mut [u8], f: impl Fn(T) -> [u8; B]) {
    for (d, &s) in dst.as_chunks_mut::<B>().0.iter_mut().zip(src) {
        *d = f(s);
    }
}

#[inline(always)]
fn cells<const A: usize, const B: usize>(
    src: &[u8],
    dst: &mut [u8],
    f: impl Fn([u8; A]) -> [u8; B],
) {
    for (d, s) in dst.as_chunks_mut::<B>().0.iter_mut().zip(src.as_chunks::<A>().0) {
        *d = f(*s);
    }
}

const S4: Int = Int { bits: 4, signed: true };

/// f16 to signed 4-bit, two per byte, even element in the low nibble `[I]`. An odd last element
/// fills the low nibble and clears the high one.
pub fn s4_from_f16(src: &[u16], dst: &mut [u8], round: Round, narrow: Narrow) {
    let one = |h: u16| to_int(S4, unpack(F16, h as u64), round, narrow) as u8;
    for (d, pair) in dst.iter_mut().zip(src.chunks(2)) {
        *d = one(pair[0]) | pair.get(1).map_or(0, |&h| one(h) << 4);
    }
}

/// Signed 4-bit to f16, exact.
pub fn s4_to_f16(src: &[u8], dst: &mut [u16]) {
    for (pair, &byte) in dst.chunks_mut(2).zip(src) {
        for (d, nibble) in pair.iter_mut().zip([byte << 4, byte]) {
            *d = f16::from_f32((nibble as i8 >> 4) as f32);
        }
    }
}

#[cfg(test)]
mod tests;
