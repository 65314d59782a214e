//! Conversion with parts, rounding and saturation.

use super::super::core::{Done, Run};
use super::super::reg::VReg;
use super::Ctx;
use ptoemu_core::dtype::DType::{self, *};
use ptoemu_core::mask::Mask;
use ptoemu_core::num::{Conversion, Narrow, Overflow, Round};

/// Pairs the 950 converts, source first `[D: PTO-doc TCVT, GYM]`; fp8, hif8 and fp4 are missing.
const PAIRS: &[(DType, &[DType])] = &[
    (F32, &[F16, BF16, I16, I32, I64]),
    (F16, &[F32, I32, I16, I8, U8]),
    (BF16, &[F32, I32, F16]),
    (I16, &[F16, F32, U8, U32, I32]),
    (U16, &[U8, U32]),
    (I32, &[F32, I16, U16, I64, U8]),
    (U32, &[U8, U16, I16]),
    (I64, &[F32, I32]),
    (U8, &[F16, U16, U32]),
    (I8, &[F16, I16, I32]),
];

/// Is there an instruction for this pair?
pub fn legal(from: DType, to: DType) -> bool {
    PAIRS.iter().any(|(f, to_list)| *f == from && to_list.contains(&to))
}

/// The number rules of a conversion: what is written, else CTRL, else no saturation `[I]`.
fn rules(c: &Ctx, from: DType, to: DType) -> Conversion {
    let round = c.mods.round.unwrap_or(Round::NearestEven);
    let mut conv = Conversion::new(from, to, round, &c.num);
    let (narrow, overflow) = match (c.ctrl_saturation, c.mods.sat) {
        (Some(ctrl), _) => (ctrl.narrow, ctrl.overflow),
        (None, Some(true)) => (Narrow::Clamp, Overflow::Saturate),
        (None, _) => (Narrow::LowBits, Overflow::Keep),
    };
    (conv.narrow, conv.overflow) = (narrow, overflow);
    conv
}

/// d = convert(a): narrowing writes part `p` of every wider lane and zeroes the others, widening
/// reads part `p`. A lane of the wider type is governed by its lowest mask bit `[I]`.
pub fn convert(r: &mut Run<'_, '_>) -> Done {
    let (from, to) = (r.step.st, r.step.dt);
    if !legal(from, to) {
        let mut stop = r.fault("params.dtype", format!("the 950 converts no {from} to {to}"));
        let list = PAIRS.iter().find(|(f, _)| *f == from).map_or(&[][..], |p| p.1);
        let names: Vec<_> = list.iter().map(|t| t.name()).collect();
        stop.0.help = Some(match names.is_empty() {
            true => format!("{from} converts to nothing directly"),
            false => format!("{from} converts to {}", names.join(", ")),
        });
        return Err(stop);
    }
    let cx = Ctx::new(&r.step, r.core, r.args.n);
    let conv = rules(&cx, from, to);
    let (ss, ds) = (from.size(), to.size());
    let wide = ss.max(ds);
    let part = usize::from(r.step.mods.part) % (wide / ss.min(ds)).max(1);
    let (mask, a) = (r.mask(), r.args.v[0]);
    let mut d = VReg::ZERO;
    let mut undef = Mask::NONE;
    for i in (0..256 / wide).filter(|i| mask.get(i * wide)) {
        let from_lane = if ss < ds { i * (ds / ss) + part } else { i };
        let to_lane = if ds < ss { i * (ss / ds) + part } else { i };
        d.set(to_lane, ds, conv.element(a.get(from_lane, ss)));
        if !a.undef.is_empty() && a.undef.bits(from_lane * ss, ss) != 0 {
            (0..ds).for_each(|k| undef.set(to_lane * ds + k, true));
        }
    }
    d.undef = undef;
    r.outs.v[0] = d;
    Ok(())
}

/// d = a rounded to an integral value of the same float type.
pub fn round(r: &mut Run<'_, '_>) -> Done {
    let t = r.step.dt;
    let round = r.step.mods.round.unwrap_or(Round::NearestEven);
    let conv = Conversion::new(t, t, round, &r.core.num);
    let a = r.args.v[0];
    r.outs.v[0] = VReg::ZERO;
    conv.lanes(a.bytes(), r.outs.v[0].bytes_mut());
    r.settle(&[a], t.size());
    Ok(())
}
