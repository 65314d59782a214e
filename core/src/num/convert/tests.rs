use super::*;

fn conv(from: DType, to: DType, round: Round, narrow: Narrow) -> Conversion {
    Conversion { from, to, round, narrow, overflow: Overflow::Keep }
}

/// Rounds in f64 by the standard library; exact for f32 and narrower sources.
fn reference(x: f64, round: Round) -> f64 {
    match round {
        Round::NearestEven => x.round_ties_even(),
        Round::NearestAway => x.round(),
        Round::Floor => x.floor(),
        Round::Ceil => x.ceil(),
        Round::Zero => x.trunc(),
        Round::Odd if x.trunc() == x || x.trunc() % 2.0 != 0.0 => x.trunc(),
        Round::Odd => x.trunc() + x.signum(),
    }
}

#[test]
fn every_f16_to_every_integer_in_every_mode() {
    for to in [DType::I8, DType::U8, DType::I16, DType::U16, DType::I32] {
        let int = Int::of(to);
        let (lo, hi) = if int.signed {
            (-(int.limit(true) as f64), int.limit(false) as f64)
        } else {
            (0.0, int.mask() as f64)
        };
        for round in Round::ALL {
            let clamp = conv(DType::F16, to, round, Narrow::Clamp);
            let low = conv(DType::F16, to, round, Narrow::LowBits);
            for h in 0..=u16::MAX {
                let x = reference(f16::to_f32(h) as f64, round);
                let want = if x.is_nan() { 0.0 } else { x.clamp(lo, hi) };
                let want = want as i64 as u64 & int.mask();
                assert_eq!(clamp.element(h as u64), want, "{to} {round:?} {h:#x}");
                // `as i32` is the clamped 32-bit integer that INF passes through.
                let want = x as i32 as u64 & int.mask();
                assert_eq!(low.element(h as u64), want, "low {to} {round:?} {h:#x}");
            }
        }
    }
}

#[test]
fn f32_to_integers_at_the_edges() {
    let xs = [0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 32767.5, -32768.5, 2147483520.0, -2147483648.0];
    let more = [2147483648.0, 4294967296.0, 1e19, -1e19, 9.2233715e18, 1e38, 1e-45, -1e-45];
    for &x in xs.iter().chain(&more) {
        for round in Round::ALL {
            let r = reference((x as f32) as f64, round);
            let bits = (x as f32).to_bits() as u64;
            for to in [DType::I16, DType::I32, DType::I64] {
                let int = Int::of(to);
                let got = conv(DType::F32, to, round, Narrow::Clamp).element(bits);
                let want = match to {
                    DType::I16 => r as i16 as u64,
                    DType::I32 => r as i32 as u64,
                    _ => r as i64 as u64,
                };
                assert_eq!(got, want & int.mask(), "{x:e} {to} {round:?}");
                // Low bits of the exact integer: |r| < 2^128 fits an i128.
                let got = conv(DType::F32, to, round, Narrow::LowBits).element(bits);
                assert_eq!(got, r as i128 as u64 & int.mask(), "low {x:e} {to} {round:?}");
            }
        }
    }
}

#[test]
fn infinities_and_nan_to_integers() {
    let rows = [
        (DType::I8, Narrow::LowBits, 0xFF, 0),
        (DType::U8, Narrow::LowBits, 0xFF, 0),
        (DType::I16, Narrow::LowBits, 0xFFFF, 0),
        (DType::I32, Narrow::LowBits, 0x7FFF_FFFF, 0x8000_0000),
        (DType::I16, Narrow::Clamp, 0x7FFF, 0x8000),
        (DType::U8, Narrow::Clamp, 0xFF, 0),
        (DType::I64, Narrow::Clamp, i64::MAX as u64, i64::MIN as u64),
    ];
    for (to, narrow, plus, minus) in rows {
        let c = conv(DType::F32, to, Round::NearestEven, narrow);
        assert_eq!(c.element(0x7F80_0000), plus, "{to} {narrow:?}");
        assert_eq!(c.element(0xFF80_0000), minus, "{to} {narrow:?}");
        assert_eq!(c.element(0x7FC0_0000), 0, "{to} {narrow:?}");
    }
}

#[test]
fn integers_to_integers() {
    let c = |from, to, narrow| conv(from, to, Round::NearestEven, narrow);
    let clamp = c(DType::I32, DType::I16, Narrow::Clamp);
    assert_eq!(clamp.element(70000), 0x7FFF);
    assert_eq!(clamp.element(-70000i32 as u32 as u64), 0x8000);
    let low = c(DType::I32, DType::I16, Narrow::LowBits);
    assert_eq!(low.element(70000), 70000 & 0xFFFF);
    assert_eq!(c(DType::I64, DType::I32, Narrow::Clamp).element(i64::MIN as u64), 0x8000_0000);
    assert_eq!(c(DType::I64, DType::I32, Narrow::LowBits).element(i64::MIN as u64 + 5), 5);
    assert_eq!(c(DType::I32, DType::I64, Narrow::Clamp).element(0xFFFF_FFFF), u64::MAX);
    assert_eq!(c(DType::U32, DType::U8, Narrow::Clamp).element(300), 255);
    assert_eq!(c(DType::I16, DType::U8, Narrow::Clamp).element(0xFFFF), 0);
}

#[test]
fn integers_to_floats() {
    let c = |from, to, round| conv(from, to, round, Narrow::Clamp);
    let x = (1u64 << 24) + 1;
    let want = [16777216.0f32, 16777218.0, 16777216.0, 16777218.0, 16777216.0, 16777216.0];
    for (round, want) in Round::ALL.into_iter().zip(want) {
        // The odd neighbour of a tie is the one above for 2^24 + 1: its last bit is set.
        let want = if round == Round::Odd { 16777218.0 } else { want };
        assert_eq!(c(DType::I32, DType::F32, round).element(x), want.to_bits() as u64, "{round:?}");
    }
    let min = c(DType::I64, DType::F32, Round::NearestEven).element(i64::MIN as u64);
    assert_eq!(f32::from_bits(min as u32), -9223372036854775808.0);
    assert_eq!(c(DType::I16, DType::F16, Round::NearestEven).element(2049), 0x6800);
    assert_eq!(c(DType::I16, DType::F16, Round::Ceil).element(2049), 0x6801);
    assert_eq!(c(DType::U8, DType::F16, Round::NearestEven).element(255), 0x5BF8);
    assert_eq!(c(DType::I8, DType::F16, Round::NearestEven).element(0x80), 0xD800);
}

#[test]
fn float_to_itself_is_integral() {
    let c = Conversion {
        overflow: Overflow::Saturate,
        ..conv(DType::F32, DType::F32, Round::Floor, Narrow::Clamp)
    };
    for (x, want) in [(-0.5f32, -1.0f32), (0.5, 0.0), (-0.0, -0.0), (f32::INFINITY, f32::INFINITY)]
    {
        assert_eq!(c.element(x.to_bits() as u64), want.to_bits() as u64, "{x}");
    }
    let h = conv(DType::F16, DType::F16, Round::NearestEven, Narrow::Clamp);
    assert_eq!(h.element(0x4100), 0x4000);
}

#[test]
fn fast_loops_agree_with_the_exact_path() {
    let types = [
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::I32,
        DType::I16,
        DType::I8,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::I64,
    ];
    let mut rng = crate::num::generate::SplitMix64::new(11);
    let mut src = Vec::new();
    for special in
        [0u32, 0x8000_0000, 0x7F80_0000, 0xFF80_0001, 0x4EFF_FFFF, 0x4F00_0000, 0xCF00_0000]
    {
        src.extend(special.to_le_bytes());
    }
    for i in 0..3000u32 {
        // Exponents around the integers as well as anywhere.
        let u = rng.next_u64() as u32;
        let near = u & 0x807F_FFFF | (120 + i % 40) << 23;
        src.extend((if i % 2 == 0 { u } else { near }).to_le_bytes());
    }
    for from in types {
        for to in types {
            for round in Round::ALL {
                for narrow in [Narrow::Clamp, Narrow::LowBits] {
                    let c = conv(from, to, round, narrow);
                    let n = src.len() / from.size();
                    let (mut fast, mut exact) = (vec![0; n * to.size()], vec![0; n * to.size()]);
                    c.lanes(&src, &mut fast);
                    c.lanes_exact(&src, &mut exact);
                    let same = fast.chunks(to.size()).zip(exact.chunks(to.size()));
                    let bad = same.into_iter().position(|(a, b)| a != b);
                    assert_eq!(bad, None, "{from} -> {to} {round:?} {narrow:?}");
                }
            }
        }
    }
}

#[test]
fn four_bit_integers() {
    let src = [0x3C00, 0xC000, 0x4A00, 0xCA00, 0x7C00]; // 1 -2 12 -12 INF
    let mut d = [0u8; 3];
    s4_from_f16(&src, &mut d, Round::NearestEven, Narrow::Clamp);
    assert_eq!(d, [0xE1, 0x87, 0x07]);
    s4_from_f16(&src, &mut d, Round::NearestEven, Narrow::LowBits);
    assert_eq!(d, [0xE1, 0x4C, 0x0F]);
    let mut back = [0u16; 4];
    s4_to_f16(&[0xE1, 0x87], &mut back);
    assert_eq!(back.map(f16::to_f32), [1.0, -2.0, 7.0, -8.0]);
}
