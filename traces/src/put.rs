//! Numbers into a line under construction, without an allocation each.

/// Appends a number in decimal.
pub(crate) fn dec(out: &mut Vec<u8>, mut v: u64) {
    let mut digits = [0u8; 20];
    let mut n = digits.len();
    loop {
        n -= 1;
        digits[n] = b'0' + (v % 10) as u8;
        v /= 10;
        if v == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[n..]);
}

/// Appends a number in decimal with at least `width` digits.
pub(crate) fn dec_padded(out: &mut Vec<u8>, v: u64, width: usize) {
    let mut least = 1u64;
    for _ in 1..width {
        least = least.saturating_mul(10);
        if v < least {
            out.push(b'0');
        }
    }
    dec(out, v);
}

/// Appends a number as `0x...` in lower-case hexadecimal.
pub(crate) fn hex(out: &mut Vec<u8>, v: u64) {
    out.extend_from_slice(b"0x");
    let digits = (64 - v.leading_zeros()).div_ceil(4).max(1);
    for d in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(v >> (4 * d) & 15) as usize]);
    }
}

/// Appends millionths as a decimal fraction with six places.
pub(crate) fn millionths(out: &mut Vec<u8>, v: u64) {
    dec(out, v / 1_000_000);
    out.push(b'.');
    dec_padded(out, v % 1_000_000, 6);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(f: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        f(&mut out);
        String::from_utf8(out).expect("ascii")
    }

    #[test]
    fn numbers() {
        for v in [0, 7, 10, 99, 100, 12_345_678, u64::MAX] {
            assert_eq!(text(|o| dec(o, v)), v.to_string());
            assert_eq!(text(|o| hex(o, v)), format!("{v:#x}"));
            assert_eq!(text(|o| dec_padded(o, v, 8)), format!("{v:08}"));
        }
        assert_eq!(text(|o| millionths(o, 1_000_540)), "1.000540");
    }
}
