//! `--arg NAME=...`, `--out NAME=FILE`, `--golden NAME=FILE` and friends.

use crate::data::{self, Array};
use anyhow::{Context, Result, anyhow, bail};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::{Dist, float};
use ptoemu_isa::exec::{ArgValue, Binding};
use std::path::{Path, PathBuf};

/// Largest array an argument may make up.
const MOST_BYTES: u64 = 1 << 32;

/// An argument with what is known of its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// Name and value.
    pub binding: Binding,
    /// Element type and shape, where they were said.
    pub shape: Option<(DType, Vec<u64>)>,
    /// The file it was read from.
    pub file: Option<PathBuf>,
}

/// Splits `NAME=REST`.
pub fn named(text: &str) -> Result<(&str, &str)> {
    let (name, rest) = text.split_once('=').ok_or_else(|| anyhow!("`{text}` is not NAME=VALUE"))?;
    let name = name.trim_start_matches('%');
    if name.is_empty() {
        bail!("`{text}` has no name before `=`");
    }
    Ok((name, rest))
}

/// `NAME=FILE`.
pub fn file(text: &str) -> Result<(String, PathBuf)> {
    let (name, rest) = named(text)?;
    Ok((name.to_string(), PathBuf::from(rest.trim_start_matches('@'))))
}

/// `@FILE`, `VALUE:TYPE`, `zeros:TYPE[RxC]`, `rand(SEED):TYPE[RxC]`.
pub fn arg(text: &str) -> Result<Given> {
    let (name, rest) = named(text)?;
    let given = |value, shape| Given {
        binding: Binding { name: name.to_string(), value },
        shape,
        file: None,
    };
    if let Some(path) = rest.strip_prefix('@') {
        let Array { bytes, shape } = data::read(Path::new(path))?;
        let file = Some(PathBuf::from(path));
        return Ok(Given { file, ..given(ArgValue::Bytes(bytes), shape) });
    }
    let (what, ty) = rest.rsplit_once(':').ok_or_else(|| {
        anyhow!("`{rest}` is not @FILE, VALUE:TYPE, zeros:TYPE[RxC] or rand(SEED):TYPE[RxC]")
    })?;
    if let Some((t, dims)) = shaped(ty)? {
        let bytes = fill(what, t, &dims)?;
        return Ok(given(ArgValue::Bytes(bytes), Some((t, dims))));
    }
    if what == "zeros" || what.starts_with("rand") {
        bail!("`{rest}` names no size: write `{what}:{ty}[RxC]`");
    }
    let t = scalar_type(ty)?;
    Ok(given(ArgValue::Scalar(t, scalar(what, t)?), None))
}

/// An element type, or `index`, which is 64 bits wide.
fn scalar_type(text: &str) -> Result<DType> {
    match text {
        "index" => Ok(DType::I64),
        t => t.parse().map_err(|e| anyhow!("{e}")),
    }
}

/// `f32[64x128]`, or `None` if there are no brackets.
fn shaped(ty: &str) -> Result<Option<(DType, Vec<u64>)>> {
    let Some((t, dims)) = ty.split_once('[') else { return Ok(None) };
    let dims = dims.strip_suffix(']').ok_or_else(|| anyhow!("`{ty}` lacks its closing `]`"))?;
    let t: DType = t.parse().map_err(|e| anyhow!("{e}"))?;
    let dims = dims
        .split(['x', ','])
        .map(|d| d.trim().parse::<u64>().with_context(|| format!("`{d}` is no size")))
        .collect::<Result<Vec<_>>>()?;
    let bytes = dims.iter().try_fold(t.size() as u64, |n, d| n.checked_mul(*d));
    if bytes.is_none_or(|n| n > MOST_BYTES) {
        bail!("`{ty}` is larger than 4 GiB");
    }
    Ok(Some((t, dims)))
}

fn fill(what: &str, t: DType, dims: &[u64]) -> Result<Vec<u8>> {
    let n = dims.iter().product::<u64>() as usize;
    let mut bytes = vec![0u8; n * t.size()];
    let (name, inner) = match what.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')').unwrap_or(rest)),
        None => (what, ""),
    };
    match name {
        "zeros" => {}
        "rand" => {
            let mut parts = inner.split(',').map(str::trim);
            let seed = number(parts.next().filter(|s| !s.is_empty()).unwrap_or("0"))? as u64;
            let dist = match parts.next() {
                Some(d) => d.parse::<Dist>().map_err(|e| anyhow!("{e}"))?,
                None if t.is_float() => Dist::Unit,
                None => Dist::Small,
            };
            if !dist.fits(t) {
                bail!("that distribution has no {t} values");
            }
            // Arrays of one seed differ by their number.
            let tensor = number(parts.next().unwrap_or("0"))? as u64;
            dist.fill(t, seed, tensor, &mut bytes);
        }
        _ => {
            let bits = scalar(what, t)?.to_le_bytes();
            for c in bytes.chunks_exact_mut(t.size()) {
                c.copy_from_slice(&bits[..t.size()]);
            }
        }
    }
    Ok(bytes)
}

fn number(text: &str) -> Result<i128> {
    let (neg, digits) = match text.strip_prefix('-') {
        Some(d) => (true, d),
        None => (false, text),
    };
    let v = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let v = v.with_context(|| format!("`{text}` is no integer"))?;
    Ok(if neg { -v } else { v })
}

/// Bits of `VALUE` at a type; a hexadecimal value is the bits themselves.
pub fn scalar(text: &str, t: DType) -> Result<u64> {
    let n = 8 * t.size() as u32;
    if t.is_float() && !text.starts_with("0x") {
        return Ok(match t {
            DType::F32 => u64::from(text.parse::<f32>().with_context(|| bad(text, t))?.to_bits()),
            DType::F16 => {
                u64::from(float::f16_from_f64(text.parse().with_context(|| bad(text, t))?))
            }
            _ => u64::from(float::bf16_from_f64(text.parse().with_context(|| bad(text, t))?)),
        });
    }
    let v = number(text)?;
    let (lo, hi) = if t.is_signed() { (-(1i128 << (n - 1)), 1i128 << n) } else { (0, 1i128 << n) };
    if v < lo || v >= hi {
        bail!("`{text}` does not fit {t}");
    }
    Ok(v as u64 & if n == 64 { u64::MAX } else { (1 << n) - 1 })
}

fn bad(text: &str, t: DType) -> String {
    format!("`{text}` is no {t} number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_and_arrays() {
        assert_eq!(
            arg("n=-5:i32").unwrap().binding.value,
            ArgValue::Scalar(DType::I32, 0xFFFF_FFFB)
        );
        assert_eq!(arg("s=3.0:f16").unwrap().binding.value, ArgValue::Scalar(DType::F16, 0x4200));
        assert_eq!(
            arg("s=0x7fc0:bf16").unwrap().binding.value,
            ArgValue::Scalar(DType::BF16, 0x7fc0)
        );
        assert_eq!(arg("n=10:index").unwrap().binding.value, ArgValue::Scalar(DType::I64, 10));
        let z = arg("%x=zeros:f32[2x3]").unwrap();
        assert_eq!(z.binding, Binding { name: "x".into(), value: ArgValue::Bytes(vec![0; 24]) });
        assert_eq!(z.shape, Some((DType::F32, vec![2, 3])));
        let a = arg("x=rand(7):f32[16]").unwrap();
        assert_eq!(a, arg("x=rand(7):f32[16]").unwrap());
        assert_ne!(a, arg("x=rand(8):f32[16]").unwrap());
        assert_eq!(a, arg("x=rand(7,unit,0):f32[16]").unwrap());
        assert_ne!(a, arg("x=rand(7,unit,1):f32[16]").unwrap());
    }

    #[test]
    fn wrong_ones_say_why() {
        for (text, part) in [
            ("x", "NAME=VALUE"),
            ("x=3.0", "VALUE:TYPE"),
            ("x=3.0:f64", "unknown element type"),
            ("x=300:i8", "does not fit"),
            ("x=zeros:f32[2x", "closing"),
            ("x=zeros:f32[99999999999x99999999999]", "larger than"),
            ("x=abc:f32", "no f32 number"),
            ("x=zeros:f32", "write `zeros:f32[RxC]`"),
            ("x=rand(1):f32", "write `rand(1):f32[RxC]`"),
            ("x=@/nonexistent.bin", "cannot read"),
        ] {
            let e = format!("{:#}", arg(text).unwrap_err());
            assert!(e.contains(part), "{text}: {e}");
        }
    }
}
