//! How close the elementary functions are to correctly rounded ones.

use super::elementary::{Elementary, elementary_f16, elementary_f32};
use super::float::{F32, F64, Num, pack, unpack};
use super::mode::{NumMode, Overflow, Precision, Reciprocal};
use super::reference::{self, Dd};
use super::round::Round;
use super::table16::real;
use super::{exp, f16, ln, root};

/// Correct rounding of a double-double to f32: sticky bit from the low part, then once.
fn round_f32(d: Dd) -> f32 {
    // One step of 2^-53 relative toward or away from zero never crosses an f32 midpoint
    // unless hi is one; then lo decides.
    let toward = (d.1 < 0.0) != (d.0 < 0.0);
    let Num::Finite { neg, m, e } = unpack(F64, d.0.to_bits()) else { return d.0 as f32 };
    let m = match d.1 {
        0.0 => m << 2,
        _ if toward => (m << 2) - 1,
        _ => (m << 2) + 1,
    };
    let n = Num::Finite { neg, m, e: e - 2 };
    f32::from_bits(pack(F32, n, Round::NearestEven, Overflow::Keep) as u32)
}

/// Distance of an f64 from the nearest f32 rounding boundary, in f32 ulps (normal results).
fn margin(y: f64) -> f64 {
    let low = (y.to_bits() & 0x1FFF_FFFF) as f64 - (1u64 << 28) as f64;
    low.abs() / (1u64 << 29) as f64
}

struct Outcome {
    checked: u64,
    wrong: Vec<u32>,
    worst_kernel: f64,
}

/// Compares kernel and reference on patterns `start, start + step, ..`. The reference is consulted
/// where the kernel is within `close` ulp of a boundary, and for every subnormal result.
fn sweep(
    range: std::ops::Range<u32>,
    step: usize,
    close: f64,
    f: impl Fn(&[f32], &mut [f32]),
    kernel: impl Fn(f64) -> f64,
    truth: impl Fn(f64) -> Dd,
) -> Outcome {
    let mut out = Outcome { checked: 0, wrong: Vec::new(), worst_kernel: 0.0 };
    let (mut src, mut dst) = (Vec::new(), vec![0f32; 4096]);
    let mut it = range.step_by(step).peekable();
    while it.peek().is_some() {
        src.clear();
        src.extend(it.by_ref().take(4096).map(f32::from_bits));
        f(&src, &mut dst);
        for (&x, &got) in src.iter().zip(&dst) {
            out.checked += 1;
            let y = kernel(x as f64);
            let subnormal = y.abs() < f32::MIN_POSITIVE as f64;
            if margin(y) > close && !subnormal {
                continue;
            }
            let t = truth(x as f64);
            out.worst_kernel = out.worst_kernel.max((((y - t.0) - t.1) / t.0).abs());
            if got.to_bits() != round_f32(t).to_bits() {
                out.wrong.push(x.to_bits());
            }
        }
    }
    out
}

fn exp_truth(x: f64) -> Dd {
    reference::exp(Dd(x, 0.0))
}

// Finite results of exp on either side of zero; ln over all positive finite patterns.
const EXP_POSITIVE: std::ops::Range<u32> = 0x3300_0000..0x42B1_7218;
const EXP_NEGATIVE: std::ops::Range<u32> = 0xB300_0000..0xC2CF_F1B5;
const LN_ALL: std::ops::Range<u32> = 1..0x7F80_0000;

#[test]
fn sampled_exp_and_ln_are_correctly_rounded() {
    for range in [EXP_POSITIVE, EXP_NEGATIVE] {
        let o = sweep(range, 2503, 1.0, exp::exp_f32, exp::kernel, exp_truth);
        assert!(o.checked > 100_000 && o.wrong.is_empty(), "{:x?}", o.wrong);
        assert!(o.worst_kernel < 2f64.powi(-51), "{:e}", o.worst_kernel);
    }
    let o = sweep(LN_ALL, 10007, 1.0, ln::ln_f32, ln::kernel, reference::ln);
    assert!(o.checked > 200_000 && o.wrong.is_empty(), "{:x?}", o.wrong);
    assert!(o.worst_kernel < 2f64.powi(-50), "{:e}", o.worst_kernel);
}

/// Every f32 pattern; the figures in the documentation of `exp_f32` and `ln_f32` are asserted here.
#[test]
#[ignore = "sweeps all f32 patterns: half a minute with --release"]
fn exhaustive_exp_and_ln() {
    // A kernel off by 2^-50 moves a result by less than 1e-7 ulp, so 1e-6 misses no candidate.
    for range in [EXP_POSITIVE, EXP_NEGATIVE] {
        let o = sweep(range, 1, 1e-6, exp::exp_f32, exp::kernel, exp_truth);
        assert!(o.wrong.is_empty(), "{:x?}", o.wrong);
        assert!(o.worst_kernel < 1.6e-16, "{:e}", o.worst_kernel);
    }
    let o = sweep(LN_ALL, 1, 1e-6, ln::ln_f32, ln::kernel, reference::ln);
    assert!(o.wrong.len() <= 5, "{:x?}", o.wrong);
    assert!(o.worst_kernel < 1.4e-16, "{:e}", o.worst_kernel);
}

#[test]
fn rsqrt_is_correctly_rounded_for_every_significand() {
    let mut dst = vec![0f32; 1 << 12];
    for base in (1f32.to_bits()..4f32.to_bits()).step_by(1 << 12) {
        let src: Vec<f32> = (base..base + (1 << 12)).map(f32::from_bits).collect();
        root::rsqrt_f32(&src, &mut dst);
        for (&x, &r) in src.iter().zip(&dst) {
            let (Num::Finite { m, e, .. }, Num::Finite { m: rm, e: re, .. }) =
                (unpack(F32, x.to_bits() as u64), unpack(F32, r.to_bits() as u64))
            else {
                panic!("{x} {r}")
            };
            // (r -+ half an ulp)^2 * x must enclose 1; everything scaled by 2^(2 - 2 re - e).
            let one = 1u128 << (2 - 2 * re - e) as u32;
            let square = |h: u64| h as u128 * h as u128 * m as u128;
            assert!(square(2 * rm - 1) <= one && one <= square(2 * rm + 1), "{x:e}");
        }
    }
}

#[test]
fn f16_tables_are_correctly_rounded() {
    let src: Vec<u16> = (0..=u16::MAX).collect();
    let mut dst = vec![0u16; src.len()];
    for op in Elementary::ALL {
        elementary_f16(op, &src, &mut dst, &NumMode::default());
        for (&h, &got) in src.iter().zip(&dst) {
            let x = f16::to_f32(h) as f64;
            // The f64 value is within 2^-50; moving it that much must not change the result,
            // except where it is exact.
            let y = real(op, x);
            let exact = match op {
                Elementary::Exp => x == 0.0,
                Elementary::Ln => x == 1.0,
                Elementary::Sqrt => y * y == x,
                Elementary::Rsqrt => y * y * x == 1.0,
                Elementary::Rec => y * x == 1.0,
            };
            if !x.is_nan() && y.is_finite() && y != 0.0 && !exact {
                for slack in [1.0 + 1e-15, 1.0 - 1e-15] {
                    let near = super::float::f16_from_f64(y * slack);
                    assert_eq!(got, near, "{op:?} {h:#x} too close to a boundary");
                }
            }
            let std = match op {
                Elementary::Exp => x.exp(),
                Elementary::Ln => x.ln(),
                Elementary::Sqrt => x.sqrt(),
                Elementary::Rsqrt => 1.0 / x.sqrt(),
                Elementary::Rec => 1.0 / x,
            };
            let want = if std.is_nan() { std } else { super::float::f16_from_f64(std).into() };
            match std.is_nan() {
                true => assert!(f16::is_nan(got), "{op:?} {h:#x}"),
                false => assert_eq!(f64::from(got), want, "{op:?} {h:#x}"),
            }
        }
    }
}

#[test]
fn f32_special_values() {
    let (inf, nan, neg0) = (f32::INFINITY, f32::NAN, -0.0f32);
    let tiny = f32::from_bits(1);
    let rows = [
        (Elementary::Exp, [(-inf, 0.0), (inf, inf), (neg0, 1.0), (-104.0, 0.0), (88.73, inf)]),
        (Elementary::Ln, [(0.0, -inf), (neg0, -inf), (-tiny, nan), (-inf, nan), (inf, inf)]),
        (Elementary::Sqrt, [(neg0, neg0), (-1.0, nan), (inf, inf), (-inf, nan), (4.0, 2.0)]),
        (Elementary::Rsqrt, [(neg0, -inf), (0.0, inf), (inf, 0.0), (-1.0, nan), (4.0, 0.5)]),
        (Elementary::Rec, [(neg0, -inf), (0.0, inf), (inf, 0.0), (-inf, neg0), (tiny, inf)]),
    ];
    let mode = NumMode::default();
    for (op, row) in rows {
        let mut d = [0f32; 6];
        let mut src = [f32::from_bits(0xFF80_0001); 6];
        src[..5].copy_from_slice(&row.map(|(x, _)| x));
        elementary_f32(op, &src, &mut d, &mode);
        for ((x, want), got) in row.iter().zip(d) {
            assert_eq!(got.to_bits(), want.to_bits(), "{op:?} {x}");
        }
        assert_eq!(d[5].to_bits(), 0xFFC0_0001, "{op:?} quiets NaN");
    }
    let mut d = [0f32];
    elementary_f32(Elementary::Exp, &[-103.2], &mut d, &mode);
    assert_eq!(d[0], tiny);
    elementary_f32(Elementary::Ln, &[tiny], &mut d, &mode);
    assert_eq!(d[0], -103.27893);
}

#[test]
fn settings_change_results_as_named() {
    let run = |op, x: f32, mode: &NumMode| {
        let mut d = [0f32];
        elementary_f32(op, &[x], &mut d, mode);
        d[0]
    };
    let saturate = NumMode { overflow: Overflow::Saturate, ..NumMode::default() };
    assert_eq!(run(Elementary::Exp, 100.0, &saturate), f32::MAX);
    assert_eq!(run(Elementary::Sqrt, -1.0, &saturate).to_bits(), 0);
    let approx = NumMode { reciprocal: Reciprocal::Approx12, ..NumMode::default() };
    assert_eq!(run(Elementary::Rec, 3.0, &approx).to_bits(), 0x3EAA_A000);
    assert_eq!(run(Elementary::Rec, 0.0, &approx), f32::INFINITY);
    assert!(run(Elementary::Rec, f32::NAN, &approx).is_nan());
    let hw = NumMode { precision: Precision::HwLike, ..NumMode::default() };
    assert_eq!(run(Elementary::Exp, -100.0, &hw).to_bits(), 0);
    assert_eq!(run(Elementary::Ln, 1e-40, &hw), f32::NEG_INFINITY);
    assert_eq!(run(Elementary::Rec, 1e-38, &hw), 1.0 / 1e-38);
    let mut d = [0u16; 2];
    elementary_f16(Elementary::Exp, &[0x4A00, 0xCC00], &mut d, &saturate);
    assert_eq!(d[0], f16::MAX);
    elementary_f16(Elementary::Sqrt, &[0x0001, 0x8001], &mut d, &hw);
    assert_eq!(d, [0, 0x8000]);
}
