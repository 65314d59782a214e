//! When a result counts as the meaning.

use super::call::Call;
use super::meaning::to_f64;
use super::op::{Operator, Tolerance};
use ptoemu_core::dtype::DType;

/// Does `got` agree with the meaning `want` at row `r`, column `c`? NaN agrees with NaN; sums and
/// products may round once per element and in any order. `before` is UB before the operation.
pub fn agree(call: &Call, before: &[u8], (r, c): (u64, u64), got: u64, want: u64) -> bool {
    let t = call.dst.dtype;
    if got == want || !t.is_float() {
        return got == want;
    }
    let (g, w) = (to_f64(t, got), to_f64(t, want));
    if g.is_nan() && w.is_nan() {
        return true;
    }
    call.op.tolerance == Tolerance::Sum && sum_agrees(call, before, (r, c), g, w)
}

fn sum_agrees(call: &Call, before: &[u8], (r, c): (u64, u64), got: f64, want: f64) -> bool {
    let src = call.source(0);
    let t = src.dtype;
    let along_rows = call.op.reduces_rows();
    let n = u64::from(if along_rows { src.valid_cols } else { src.valid_rows });
    if n == 1 && !along_rows {
        // The only row is copied: its signed zeros too.
        return false;
    }
    let value = |i: u64| {
        let at = if along_rows { src.at(r, i) } else { src.at(i, c) } as usize;
        let bytes = before.get(at..at + t.size()).unwrap_or(&[]);
        to_f64(t, bytes.iter().rev().fold(0, |acc, x| acc << 8 | u64::from(*x)))
    };
    let product = call.op.operator == Operator::Mul;
    let (max, tiny, ulp, exact) = match t {
        DType::F16 => (65504.0, 1e-4, 1.0 / 1024.0, 2048.0),
        DType::BF16 => (f64::from(f32::MAX), 1e-37, 1.0 / 128.0, 256.0),
        _ => (f64::from(f32::MAX), 1e-37, 1e-7, 16_777_216.0),
    };
    let sizes = || (0..n).map(|i| value(i).abs());
    if product && sizes().all(|v| v == 1.0)
        || !product && (0..n).all(|i| value(i).fract() == 0.0) && sizes().sum::<f64>() <= exact
    {
        // No order rounds.
        return got == want;
    }
    let magnitude = match product {
        true => sizes().fold(1.0, |acc: f64, v| acc * v.max(1.0)),
        false => sizes().sum::<f64>(),
    };
    // Infinities, NaN, overflow and underflow depend on the order of a tree.
    let smallest = sizes().fold(1.0, |acc: f64, v| acc * v.min(1.0));
    let error = ulp * (n as f64 + 2.0);
    if magnitude.is_nan() || magnitude * (1.0 + error) > max || product && smallest < tiny {
        return true;
    }
    let scale = if product { want.abs() } else { magnitude };
    (got - want).abs() <= scale * error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::{Quirks, find};
    use crate::verify::{Spec, Unit};
    use ptoemu_core::num::f16;
    use ptoemu_core::target::Family;

    /// 200 x 327.5 is almost the largest f16: a product in another order may round past it.
    #[test]
    fn a_product_may_round_over_the_largest_number() {
        let units = Unit::all(Family::A2A3, find("tcolprod").unwrap());
        let unit = units.into_iter().find(|u| u.from == DType::F16).unwrap();
        let call = Spec { rows: 2, cols: 1, ..Spec::default() }.call(&unit, Quirks::corrected());
        let overflows = |factors: [f32; 2]| {
            let mut before = vec![0u8; 1024];
            for (r, v) in (0u64..).zip(factors) {
                let at = call.source(0).at(r, 0) as usize;
                before[at..at + 2].copy_from_slice(&f16::from_f32(v).to_le_bytes());
            }
            agree(&call, &before, (0, 0), 0x7C00, f16::from_f32(factors[0] * factors[1]).into())
        };
        assert!(overflows([200.0, 327.5]));
        assert!(!overflows([200.0, 320.0]));
    }

    /// 300 ones of either sign: the tolerance of a rounded sum would let dozens of them go missing.
    #[test]
    fn what_no_order_rounds_is_compared_exactly() {
        for (name, missing) in [("trowsum", 1.0f32), ("trowprod", -1.0)] {
            let units = Unit::all(Family::A2A3, find(name).unwrap());
            let unit = units.into_iter().find(|u| u.from == DType::F16).unwrap();
            let call =
                Spec { rows: 1, cols: 300, ..Spec::default() }.call(&unit, Quirks::corrected());
            let mut before = vec![0u8; 1024];
            let (mut sum, mut product) = (0.0, 1.0);
            for c in 0..300 {
                let v = if c % 7 == 0 { -1.0 } else { 1.0 };
                (sum, product) = (sum + v, product * v);
                let at = call.source(0).at(0, c) as usize;
                before[at..at + 2].copy_from_slice(&f16::from_f32(v).to_le_bytes());
            }
            let whole = if name == "trowsum" { sum } else { product };
            let less = if name == "trowsum" { sum - missing } else { product * missing };
            let bits = |v: f32| u64::from(f16::from_f32(v));
            assert!(agree(&call, &before, (0, 0), bits(whole), bits(whole)));
            assert!(!agree(&call, &before, (0, 0), bits(less), bits(whole)), "{name}");
        }
    }
}
