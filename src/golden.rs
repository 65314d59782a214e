//! Comparison with expected arrays, as numpy's allclose does it.

use crate::data::{number, show};
use ptoemu_core::dtype::DType;
use serde::Serialize;

/// Result of one comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Argument compared.
    pub name: String,
    /// All elements are close.
    pub pass: bool,
    /// Elements compared.
    pub count: usize,
    /// Elements that are not close.
    pub wrong: usize,
    /// Largest absolute difference of finite elements.
    pub max_abs: f64,
    /// Largest relative difference of finite elements.
    pub max_rel: f64,
    /// The first element that is not close.
    pub first_bad: Option<Bad>,
}

/// An element that is not close.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bad {
    /// Its index in C order.
    pub index: usize,
    /// What the run gave.
    pub got: String,
    /// What was expected.
    pub want: String,
}

/// Compares all of `got` with all of `want`: `|got - want| <= eps + eps * |want|`, NaN equal to NaN.
/// An element that only one of them has is not close.
pub fn compare(name: &str, dtype: DType, got: &[u8], want: &[u8], eps: f64) -> Comparison {
    let both = got.len().min(want.len()) / dtype.size();
    let count = got.len().max(want.len()) / dtype.size();
    let mut out = Comparison {
        name: name.to_string(),
        pass: true,
        count,
        wrong: 0,
        max_abs: 0.0,
        max_rel: 0.0,
        first_bad: None,
    };
    for i in 0..count {
        let (g, w) = (number(dtype, got, i), number(dtype, want, i));
        let there = i < both;
        let diff = (g - w).abs();
        if there && diff.is_finite() {
            out.max_abs = out.max_abs.max(diff);
            out.max_rel = out.max_rel.max(if w == 0.0 { 0.0 } else { diff / w.abs() });
        }
        let close =
            g == w || g.is_nan() && w.is_nan() || w.is_finite() && diff <= eps + eps * w.abs();
        if !(close && there) {
            out.pass = false;
            out.wrong += 1;
            out.first_bad.get_or_insert_with(|| Bad {
                index: i,
                got: show(dtype, got, i),
                want: show(dtype, want, i),
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(v: &[f32]) -> Vec<u8> {
        v.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn as_numpy_allclose() {
        let nan = f32::NAN;
        let want = bytes(&[1.0, nan, 0.0, f32::INFINITY]);
        let c = compare("y", DType::F32, &bytes(&[1.00001, nan, 0.0, f32::INFINITY]), &want, 1e-4);
        assert!(c.pass && c.wrong == 0, "{c:?}");
        let c = compare("y", DType::F32, &bytes(&[1.0, 2.0, 0.0, 5.0]), &want, 1e-4);
        assert_eq!((c.pass, c.wrong, c.first_bad.as_ref().map(|b| b.index)), (false, 2, Some(1)));
        let c = compare("y", DType::F32, &bytes(&[1.0]), &want, 1e-4);
        assert_eq!((c.pass, c.wrong), (false, 3), "missing elements are wrong");
        let c = compare("y", DType::F32, &want, &bytes(&[1.0]), 1e-4);
        assert_eq!((c.pass, c.wrong, c.count), (false, 3, 4), "so are elements nobody expects");
        assert_eq!(c.first_bad.map(|b| (b.index, b.want)), Some((1, "?".into())));
        assert!(!compare("y", DType::F32, &want, &[], 1e-4).pass, "an empty array expects nothing");
    }
}
