//! TCVT: element types, rounding and saturation.

use super::Family;
use super::asm::{Asm, MAX_REPEAT, rounds};
use super::call::{Call, Sat};
use super::check::{Checker, Verdict, refuse};
use super::meaning::{Mem, one};
use super::quirks::Quirk;
use super::{Tile, convert_off};
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType::{self, BF16, F16, F32, I8, I16, I32, I64, U8};
use ptoemu_core::num::mode::CTRL_LOW_BITS;
use ptoemu_core::num::{Conversion, Narrow, Overflow, Round};

type Done = Result<(), Stop>;

/// The rounding a pair of types has instructions for.
#[derive(Clone, Copy, PartialEq)]
enum Modes {
    /// All five, and the one used for any other request (`None` is the plain instruction).
    Five(Option<Round>),
    /// All five and round to odd.
    Six,
    /// One instruction.
    Plain,
    /// Through the scale register.
    Scaled,
}

/// Instructions for (source, destination), if there are any [D: PTO TCvt].
fn modes(from: DType, to: DType) -> Option<Modes> {
    Some(match (from, to) {
        (F32, F16) => Modes::Six,
        (F32, F32 | BF16) | (I64, F32) => Modes::Five(Some(Round::NearestEven)),
        (F32, I64 | I32 | I16) | (F16, I32 | I16 | I8 | U8) | (BF16, I32) => {
            Modes::Five(Some(Round::Zero))
        }
        (I16, F16) | (I32, F32) => Modes::Five(None),
        (F16 | BF16 | I16, F32) | (U8 | I8, F16) => Modes::Plain,
        (I64, I32) | (I32, I64) | (I32, I16) => Modes::Plain,
        (I32, F16) => Modes::Scaled,
        _ => return None,
    })
}

/// Pairs whose saturation is off unless asked for [D: PTO TCvt].
fn off_by_default(from: DType, to: DType) -> bool {
    matches!((from, to), (F16, U8 | I8 | I16) | (F32, I16) | (I64, I32) | (I32, I16))
}

/// The saturation in force.
pub(super) fn saturation(call: &Call) -> Sat {
    let (from, to) = (call.source(0).dtype, call.dst.dtype);
    let default = if off_by_default(from, to) { Sat::Off } else { Sat::On };
    let ignored = call.quirks.has(Quirk::Q8) && call.tmp.is_none() && !off_by_default(from, to);
    if ignored { Sat::On } else { call.attrs.sat.unwrap_or(default) }
}

/// The rounding in force, `None` for the plain instruction.
fn rounding(call: &Call, modes: Modes) -> Option<Round> {
    match (modes, call.attrs.round) {
        (Modes::Six, None) => Some(Round::NearestEven),
        (Modes::Six, asked) => asked,
        (Modes::Five(other), None | Some(Round::Odd)) => other,
        (Modes::Five(_), asked) => asked,
        (Modes::Plain | Modes::Scaled, _) => None,
    }
}

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.elementwise(call, false)?;
    let (from, to) = (call.source(0).dtype, call.dst.dtype);
    if c.family == Family::A5 {
        return match super::a5::converts(from, to) {
            true => Ok(()),
            false => refuse(
                "legality.type",
                format!("no instruction converts {from} to {to} on the 950"),
                "convert in two steps, for example through f32 or f16",
            ),
        };
    }
    let Some(modes) = modes(from, to) else {
        let verdict = refuse(
            "legality.type",
            format!("no instruction converts {from} to {to} on A2/A3"),
            "convert in two steps, for example through f32",
        );
        return c.unless(Quirk::Q40, verdict);
    };
    if call.attrs.round == Some(Round::Odd) && matches!(modes, Modes::Five(_)) {
        let verdict = refuse(
            "legality.round",
            format!("{from} to {to} has no rounding to odd"),
            "use another rounding mode",
        );
        c.unless(Quirk::Q41, verdict)?;
    }
    let Some(tmp) = convert_off::tmp(call) else { return Ok(()) };
    c.tmp_size(call, convert_off::tmp_bytes(call), "32-bit values of one row")?;
    c.disjoint(("tmp", tmp), ("dst", &call.dst))?;
    c.disjoint(("tmp", tmp), ("src", call.source(0)))
}

/// Rounding on the 950: as asked; odd only from f32 to f16; without a word, to zero from floats to
/// integers and to nearest even else [D: PTO TCvt].
pub(super) fn a5_rounding(call: &Call) -> Option<Round> {
    let (from, to) = (call.source(0).dtype, call.dst.dtype);
    let odd = (from, to) == (F32, F16);
    let other = if from.is_float() && !to.is_float() { Round::Zero } else { Round::NearestEven };
    Some(match call.attrs.round {
        None => other,
        Some(Round::Odd) if !odd => other,
        Some(asked) => asked,
    })
}

/// Saturation on the 950: as asked, else off for the pairs that lose it by default.
pub(super) fn a5_saturation(call: &Call) -> Sat {
    let (from, to) = (call.source(0).dtype, call.dst.dtype);
    let default = if off_by_default(from, to) { Sat::Off } else { Sat::On };
    call.attrs.sat.unwrap_or(default)
}

/// Every element converted once.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (from, to) = (call.source(0).dtype, call.dst.dtype);
    if call.family == Family::A5 {
        return a5_reference(call, mem);
    }
    let Some(modes) = modes(from, to) else { return Ok(()) };
    let narrow = if saturation(call) == Sat::On { Narrow::Clamp } else { Narrow::LowBits };
    let round = rounding(call, modes).unwrap_or(Round::NearestEven);
    let step = |from, to, narrow| Conversion { from, to, round, narrow, overflow: Overflow::Keep };
    let direct = step(from, to, narrow);
    let (wide, low) = (step(from, I32, Narrow::Clamp), step(I32, to, Narrow::LowBits));
    let through = convert_off::tmp(call).is_some();
    super::meaning::elementwise(call, mem, |v| match through {
        true => low.element(wide.element(v[0])),
        false => direct.element(v[0]),
    })
}

/// On the 950, unsaturated floats to i16 go through 32-bit values.
fn a5_reference(call: &Call, mem: &mut Mem) -> Done {
    let (from, to) = (call.source(0).dtype, call.dst.dtype);
    let off = a5_saturation(call) == Sat::Off;
    let round = a5_rounding(call).unwrap_or(Round::NearestEven);
    let step = |from, to, off| {
        let (narrow, overflow) = match off {
            true => (Narrow::LowBits, Overflow::Keep),
            false => (Narrow::Clamp, Overflow::Saturate),
        };
        Conversion { from, to, round, narrow, overflow }
    };
    let through = off && from.is_float() && to == I16;
    super::meaning::elementwise(call, mem, |v| match through {
        true => step(I32, to, true).element(step(from, I32, false).element(v[0])),
        false => step(from, to, off).element(v[0]),
    })
}

fn short(t: DType) -> String {
    let name = t.name();
    if t.is_signed() { name.replacen('i', "s", 1) } else { name.to_string() }
}

fn suffix(round: Option<Round>) -> &'static str {
    match round {
        None => "",
        Some(Round::NearestEven) => "r",
        Some(Round::NearestAway) => "a",
        Some(Round::Floor) => "f",
        Some(Round::Ceil) => "c",
        Some(Round::Zero) => "z",
        Some(Round::Odd) => "o",
    }
}

/// The instruction from one type to another under the rounding of the call.
pub(super) fn one_step(call: &Call, from: DType, to: DType) -> Option<Op> {
    let modes = modes(from, to)?;
    if modes == Modes::Scaled {
        return Some(Op::vconv_deq);
    }
    let suffix = suffix(rounding(call, modes));
    Op::find(&format!("vconv_{}2{}{suffix}", short(from), short(to)))
}

/// A2/A3 microcode: row by row, the partial repeats of all rows together.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let (from, to) = (src.dtype, dst.dtype);
    let Some(modes) = modes(from, to) else { return Ok(()) };
    let Some(op) = one_step(call, from, to) else { return Ok(()) };
    let before = a.emit(Op::get_ctrl, &[])?;
    if let Some(tmp) = convert_off::tmp(call) {
        convert_off::lower(call, a, tmp, before)?;
        return a.emit(Op::set_ctrl, &[before as i64]).map(drop);
    }
    let bit = 1 << CTRL_LOW_BITS;
    let off = if saturation(call) == Sat::Off { bit } else { 0 };
    a.emit(Op::set_ctrl, &[(before & !bit | off) as i64])?;
    if modes == Modes::Scaled {
        a.emit(Op::set_deqscale, &[one(F16) as i64])?;
        a.barrier()?;
    }
    if call.quirks.has(Quirk::Q3) {
        walk(a, op, dst, src)?;
    } else {
        walk(a, op, &dst.storage_rows(), &src.storage_rows())?;
    }
    a.emit(Op::set_ctrl, &[before as i64]).map(drop)
}

fn walk(a: &mut Asm, op: Op, dst: &Tile, src: &Tile) -> Done {
    let (rows, cols) = dst.valid();
    let wide = dst.size().max(src.size());
    let e = 256 / wide;
    // Blocks a repeat covers on each side.
    let [db, sb] = [dst.size(), src.size()].map(|s| 8 * s / wide);
    let types = (dst.dtype, src.dtype);
    for r in 0..rows {
        rounds(cols / e, MAX_REPEAT, |at, n| {
            let at = [dst.row(r) + at * db * 32, src.row(r) + at * sb * 32];
            a.convert(op, types, at, n, [db, sb])
        })?;
    }
    let rest = cols % e;
    if rest == 0 {
        return Ok(());
    }
    a.lanes(rest)?;
    let (doff, soff) = (cols / e * db * 32, cols / e * sb * 32);
    let strides = [dst.stride_blocks(), src.stride_blocks()];
    rounds(rows, MAX_REPEAT, |r, n| {
        a.convert(op, types, [dst.row(r) + doff, src.row(r) + soff], n, strides)
    })?;
    a.full()
}
