//! bfloat16 as `u16` patterns: the upper half of an f32.

/// The NaN an operation generates `[U: sign and payload are not documented]`.
pub const NAN: u16 = 0x7FC0;
/// +INF; also the threshold above which a magnitude is a NaN.
pub const INF: u16 = 0x7F80;
/// Largest finite value.
pub const MAX: u16 = 0x7F7F;

/// Exact value; NaN is quieted and keeps sign and payload.
#[inline(always)]
pub fn to_f32(h: u16) -> f32 {
    let quiet = if is_nan(h) { 0x40 } else { 0 };
    f32::from_bits(((h | quiet) as u32) << 16)
}

/// Nearest bfloat16, ties to even; overflow gives INF; NaN is quieted and keeps sign and payload.
#[inline(always)]
pub fn from_f32(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
    let nan = bits >> 16 | 0x40;
    (if bits & 0x7FFF_FFFF > 0x7F80_0000 { nan } else { rounded }) as u16
}

/// [`to_f32`] over a slice.
pub fn widen(src: &[u16], dst: &mut [f32]) {
    for (d, &s) in dst.iter_mut().zip(src) {
        *d = to_f32(s);
    }
}

/// [`from_f32`] over a slice.
pub fn narrow(src: &[f32], dst: &mut [u16]) {
    for (d, &s) in dst.iter_mut().zip(src) {
        *d = from_f32(s);
    }
}

/// True for every NaN pattern.
#[inline(always)]
pub const fn is_nan(h: u16) -> bool {
    h & 0x7FFF > INF
}

/// CTRL[48] = 0: INF to the largest finite value of its sign, NaN to +0.
#[inline(always)]
pub fn saturate(h: u16) -> u16 {
    let mag = h & 0x7FFF;
    let limited = if mag == INF { h - 1 } else { h };
    if mag > INF { 0 } else { limited }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_match_the_reference() {
        for h in 0..=u16::MAX {
            assert_eq!(to_f32(h).to_bits(), half::bf16::from_bits(h).to_f32().to_bits(), "{h:#x}");
            for low in [0u32, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF] {
                let x = f32::from_bits((h as u32) << 16 | low);
                assert_eq!(from_f32(x), half::bf16::from_f32(x).to_bits(), "{h:#x} {low:#x}");
            }
        }
    }

    #[test]
    fn saturation_table() {
        for (h, want) in [(INF, MAX), (0xFF80, 0xFF7F), (NAN, 0), (MAX, MAX), (0x8000, 0x8000)] {
            assert_eq!(saturate(h), want);
        }
    }
}
