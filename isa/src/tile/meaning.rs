//! What operations mean: plain loops over valid regions, independent of any microcode.

use super::call::Call;
use super::op::Operator;
use super::{Layout, Tile};
use crate::machine::Stop;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::{
    Arith, Elementary, Extreme, NanRule, NumMode, Overflow, arith_bf16, arith_f16, arith_f32, bf16,
    elementary_f16, elementary_f32, extreme_bf16, extreme_f16, extreme_f32, f16,
};
use ptoemu_core::state::Gm;

type Done = Result<(), Stop>;

/// Memory the meaning works on.
pub struct Mem<'a> {
    /// Unified Buffer.
    pub ub: &'a mut [u8],
    /// Global memory, for transfers.
    pub gm: Option<&'a mut Gm>,
}

fn outside(space: &str, at: u64) -> Stop {
    let text = format!("access to {space} byte {at:#x}, which does not exist");
    Stop(Box::new(Diagnostic::error("memcheck.range", text)))
}

impl Mem<'_> {
    /// `n` bytes of UB.
    pub(super) fn bytes(&mut self, at: u64, n: usize) -> Result<&mut [u8], Stop> {
        let start = usize::try_from(at).map_err(|_| outside("UB", at))?;
        let end = start.checked_add(n).ok_or_else(|| outside("UB", at))?;
        self.ub.get_mut(start..end).ok_or_else(|| outside("UB", at))
    }

    /// Bits of the element in row `r`, column `c`, zero-extended.
    pub fn read(&mut self, t: &Tile, r: u64, c: u64) -> Result<u64, Stop> {
        Ok(bits_of(self.bytes(t.at(r, c), t.dtype.size())?))
    }

    /// Writes the low bits as the element in row `r`, column `c`.
    pub fn write(&mut self, t: &Tile, r: u64, c: u64, bits: u64) -> Done {
        let n = t.dtype.size();
        self.bytes(t.at(r, c), n)?.copy_from_slice(&bits.to_le_bytes()[..n]);
        Ok(())
    }

    /// The valid region, row by row.
    pub fn read_valid(&mut self, t: &Tile) -> Result<Vec<u64>, Stop> {
        let (rows, cols) = t.valid();
        let mut out = Vec::new();
        for r in 0..rows {
            for c in 0..cols {
                out.push(self.read(t, r, c)?);
            }
        }
        Ok(out)
    }

    /// Writes the valid region from values given row by row.
    pub fn write_valid(&mut self, t: &Tile, values: &[u64]) -> Done {
        let cols = u64::from(t.valid_cols).max(1);
        for (i, &bits) in (0u64..).zip(values) {
            self.write(t, i / cols, i % cols, bits)?;
        }
        Ok(())
    }

    /// `n` bytes of GM.
    pub fn gm_bytes(&mut self, at: u64, n: usize) -> Result<&mut [u8], Stop> {
        let end = at.checked_add(n as u64).ok_or_else(|| outside("GM", at))?;
        let gm = self.gm.as_deref_mut().ok_or_else(|| outside("GM", at))?;
        let (index, offset) = gm.range(at, end).ok_or_else(|| outside("GM", at))?;
        let buffer = gm.buffer_mut(index).ok_or_else(|| outside("GM", at))?;
        buffer.mem.bytes.get_mut(offset, n).ok_or_else(|| outside("GM", at))
    }
}

/// Little-endian bytes as bits.
pub(super) fn bits_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |acc, b| acc << 8 | u64::from(*b))
}

/// f16 pattern to f32 pattern.
pub(super) fn f16_to_f32(bits: u64) -> u64 {
    f16::to_f32(bits as u16).to_bits().into()
}

/// f32 pattern to f16 pattern, nearest even.
pub(super) fn f32_to_f16(bits: u64) -> u64 {
    f16::from_f32(f32::from_bits(bits as u32)).into()
}

/// `bits` of an integer type as a signed number.
pub(super) fn int_of(t: DType, bits: u64) -> i64 {
    let unused = 64 - 8 * t.size() as u32;
    let high = bits << unused;
    if t.is_signed() { high as i64 >> unused } else { (high >> unused) as i64 }
}

/// The low bits of `v` that an element of type `t` holds.
pub(super) fn cut(t: DType, v: u64) -> u64 {
    v & (u64::MAX >> (64 - 8 * t.size() as u32))
}

/// x op y on elements of type `t`, rounded once; NaN wins in max and min.
pub fn combine(op: Operator, t: DType, x: u64, y: u64) -> u64 {
    if op == Operator::ExpDif {
        let difference = combine(Operator::Sub, t, x, y);
        return single(Operator::Exp, t, difference);
    }
    match op {
        Operator::And => x & y,
        Operator::Or => x | y,
        Operator::Xor => x ^ y,
        Operator::Shl | Operator::Shr => shift(op, t, x, y),
        Operator::Leaky if to_f64(t, x) >= 0.0 => x,
        Operator::Leaky => combine(Operator::Mul, t, x, y),
        _ if t.is_float() => float2(op, t, x, y),
        _ => int2(op, t, x, y),
    }
}

/// Counts at or beyond the width leave 0, or the sign of an arithmetic shift [U: chosen].
fn shift(op: Operator, t: DType, x: u64, count: u64) -> u64 {
    let count = count.min(63) as u32;
    let far = count >= 8 * t.size() as u32;
    cut(
        t,
        match (op, t.is_signed()) {
            (Operator::Shl, _) if far => 0,
            (Operator::Shl, _) => x << count,
            (_, true) => (int_of(t, x) >> count) as u64,
            (_, false) if far => 0,
            (_, false) => x >> count,
        },
    )
}

fn float2(op: Operator, t: DType, x: u64, y: u64) -> u64 {
    let arith = match op {
        Operator::Add => Arith::Add,
        Operator::Sub => Arith::Sub,
        Operator::Mul => Arith::Mul,
        Operator::Div => Arith::Div,
        Operator::Max => return extreme(Extreme::Max, t, x, y),
        Operator::Min => return extreme(Extreme::Min, t, x, y),
        _ => return x,
    };
    let (mut h, mut f) = ([0u16], [0f32]);
    let (xh, yh) = ([x as u16], [y as u16]);
    match t {
        DType::F16 => arith_f16(arith, &xh, &yh, &mut h, Overflow::Keep),
        DType::BF16 => arith_bf16(arith, &xh, &yh, &mut h, Overflow::Keep),
        _ => {
            arith_f32(arith, &[f32::from_bits(x as u32)], &[f32::from_bits(y as u32)], &mut f);
            return f[0].to_bits().into();
        }
    }
    h[0].into()
}

fn extreme(which: Extreme, t: DType, x: u64, y: u64) -> u64 {
    let (mut h, mut f, rule) = ([0u16], [0f32], NanRule::Propagate);
    let (xh, yh) = ([x as u16], [y as u16]);
    match t {
        DType::F16 => extreme_f16(which, rule, &xh, &yh, &mut h),
        DType::BF16 => extreme_bf16(which, rule, &xh, &yh, &mut h),
        _ => {
            let (x, y) = (f32::from_bits(x as u32), f32::from_bits(y as u32));
            extreme_f32(which, rule, &[x], &[y], &mut f);
            return f[0].to_bits().into();
        }
    }
    h[0].into()
}

/// Integers wrap; division truncates toward zero and gives 0 for a zero divisor [U: chosen].
fn int2(op: Operator, t: DType, x: u64, y: u64) -> u64 {
    let (a, b) = (int_of(t, x), int_of(t, y));
    let unsigned = !t.is_signed();
    let v = match op {
        Operator::Add => a.wrapping_add(b) as u64,
        Operator::Sub => a.wrapping_sub(b) as u64,
        Operator::Mul => a.wrapping_mul(b) as u64,
        Operator::Div if b == 0 => 0,
        Operator::Div if unsigned => (a as u64) / (b as u64),
        Operator::Div => a.wrapping_div(b) as u64,
        Operator::Max if unsigned => (a as u64).max(b as u64),
        Operator::Min if unsigned => (a as u64).min(b as u64),
        Operator::Max => a.max(b) as u64,
        Operator::Min => a.min(b) as u64,
        _ => a as u64,
    };
    cut(t, v)
}

/// op(x) on an element of type `t`.
pub fn single(op: Operator, t: DType, x: u64) -> u64 {
    let sign = 1u64 << (8 * t.size() as u32 - 1);
    match op {
        Operator::Exp => elementary(Elementary::Exp, t, x),
        Operator::Log => elementary(Elementary::Ln, t, x),
        Operator::Sqrt => elementary(Elementary::Sqrt, t, x),
        Operator::Rsqrt => elementary(Elementary::Rsqrt, t, x),
        Operator::Recip => combine(Operator::Div, t, one(t), x),
        Operator::Abs if t.is_float() => x & !sign,
        Operator::Abs => cut(t, int_of(t, x).unsigned_abs()),
        Operator::Neg if t.is_float() => combine(Operator::Mul, t, one(t) | sign, x),
        Operator::Neg => cut(t, x.wrapping_neg()),
        Operator::Relu if is_nan(t, x) => x,
        Operator::Relu => {
            if x & sign != 0 {
                0
            } else {
                x
            }
        }
        Operator::Not => cut(t, !x),
        _ => x,
    }
}

fn elementary(which: Elementary, t: DType, x: u64) -> u64 {
    let mode = NumMode::default();
    if t == DType::F16 {
        let mut h = [0u16];
        elementary_f16(which, &[x as u16], &mut h, &mode);
        return h[0].into();
    }
    let mut f = [0f32];
    elementary_f32(which, &[f32::from_bits(x as u32)], &mut f, &mode);
    f[0].to_bits().into()
}

/// The pattern of 1.
pub(super) fn one(t: DType) -> u64 {
    match t {
        DType::F32 => 1f32.to_bits().into(),
        DType::F16 => 0x3C00,
        DType::BF16 => 0x3F80,
        _ => 1,
    }
}

/// Is the pattern a NaN?
pub(super) fn is_nan(t: DType, bits: u64) -> bool {
    match t {
        DType::F32 => f32::from_bits(bits as u32).is_nan(),
        DType::F16 => bits & 0x7FFF > 0x7C00,
        DType::BF16 => bits & 0x7FFF > 0x7F80,
        _ => false,
    }
}

/// Fold of every row. Float sums and products go through f64 and are rounded once.
pub(super) fn row_fold(call: &Call, mem: &mut Mem) -> Done {
    let src = call.source(0);
    let cols = src.valid_cols as usize;
    if cols == 0 {
        return Ok(());
    }
    let values = mem.read_valid(src)?;
    let folded: Vec<u64> =
        values.chunks(cols).map(|row| fold(call.op.operator, src.dtype, row)).collect();
    for (r, bits) in (0u64..).zip(folded) {
        mem.write(&call.dst, r, 0, bits)?;
    }
    Ok(())
}

/// Fold of the columns of the valid region, as [`row_fold`].
pub(super) fn col_fold(call: &Call, mem: &mut Mem) -> Done {
    let src = call.source(0);
    let (rows, cols) = src.valid();
    for c in 0..cols {
        let column = (0..rows).map(|r| mem.read(src, r, c)).collect::<Result<Vec<_>, _>>()?;
        mem.write(&call.dst, 0, c, fold(call.op.operator, src.dtype, &column))?;
    }
    Ok(())
}

fn fold(op: Operator, t: DType, values: &[u64]) -> u64 {
    let inexact = matches!(op, Operator::Add | Operator::Mul);
    if !(t.is_float() && inexact) {
        let mut it = values.iter().copied();
        let first = it.next().unwrap_or(0);
        return it.fold(first, |acc, v| combine(op, t, acc, v));
    }
    let wide = values.iter().map(|v| to_f64(t, *v));
    let v = if op == Operator::Add { wide.sum::<f64>() } else { wide.product::<f64>() };
    from_f64(t, v)
}

/// Exact value of a float pattern.
pub(super) fn to_f64(t: DType, bits: u64) -> f64 {
    match t {
        DType::F16 => f16::to_f32(bits as u16).into(),
        DType::BF16 => bf16::to_f32(bits as u16).into(),
        _ => f32::from_bits(bits as u32).into(),
    }
}

/// Nearest float pattern.
pub(super) fn from_f64(t: DType, v: f64) -> u64 {
    match t {
        DType::F16 => ptoemu_core::num::float::f16_from_f64(v).into(),
        DType::BF16 => ptoemu_core::num::float::bf16_from_f64(v).into(),
        _ => (v as f32).to_bits().into(),
    }
}

/// dst = f(elements of the sources), element by element.
pub(super) fn elementwise(call: &Call, mem: &mut Mem, f: impl Fn(&[u64]) -> u64) -> Done {
    let sources = call.src.iter().map(|t| mem.read_valid(t)).collect::<Result<Vec<_>, _>>()?;
    let n = call.dst.valid_rows as usize * call.dst.valid_cols as usize;
    let mut args = vec![0; sources.len()];
    let mut out = Vec::new();
    for i in 0..n {
        for (arg, s) in args.iter_mut().zip(&sources) {
            *arg = s.get(i).copied().unwrap_or(0);
        }
        out.push(f(&args));
    }
    mem.write_valid(&call.dst, &out)
}

/// Is the tile one column of column-major storage?
pub(super) fn is_column(t: &Tile) -> bool {
    t.layout == Layout::ColMajor && t.cols == 1
}
