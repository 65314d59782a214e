//! Binds what the caller gives to the arguments of the entry function.

use super::program::*;
use super::value::{Ptr, Value};
use crate::machine::Settings;
use crate::text::Scalar;
use ptoemu_core::access::Space;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;
use ptoemu_core::state::{Buffer, Bytes, Gm, Memory};

/// A value for one argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgValue {
    /// Contents of a buffer or a tile, little endian; all of it defined.
    Bytes(Vec<u8>),
    /// A scalar, as bits of that type.
    Scalar(DType, u64),
}

/// A named value for an argument of the entry function.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Argument name without `%`.
    pub name: String,
    /// What to pass.
    pub value: ArgValue,
}

/// Values of the entry function's arguments, GM filled with its buffers, and the contents of tile
/// arguments: UB address and bytes.
pub(super) struct Bound {
    pub values: Vec<Value>,
    pub gm: Gm,
    pub tiles: Vec<(u64, Vec<u8>)>,
}

/// Binds, or lists everything that is missing or does not fit.
pub(super) fn bind(
    program: &Program,
    given: &[Binding],
    settings: &Settings,
) -> Result<Bound, Vec<Diagnostic>> {
    let f = &program.funcs[program.entry];
    let mut out = Bound { values: Vec::new(), gm: Gm::default(), tiles: Vec::new() };
    let mut diags = Vec::new();
    let mut most = settings.inferred_bytes;
    for b in given {
        if !f.args.iter().any(|a| a.name == b.name) {
            let names: Vec<_> = f.args.iter().map(|a| a.name.as_str()).collect();
            diags.push(
                Diagnostic::error(
                    "usage.arg",
                    format!("`{}` has no argument `{}`", f.name, b.name),
                )
                .at(&program.source, f.span, "")
                .help(match names.is_empty() {
                    true => "it takes none".to_string(),
                    false => format!("its arguments are {}", names.join(", ")),
                }),
            );
        }
    }
    for a in &f.args {
        let value = given.iter().rev().find(|b| b.name == a.name).map(|b| &b.value);
        match one(program, f, a, value, (settings.poison, &mut most), &mut out) {
            Ok(v) => out.values.push(v),
            Err(message) => diags.push(
                Diagnostic::error("usage.arg", message.0)
                    .at(&program.source, a.span, "")
                    .help(message.1),
            ),
        }
    }
    if diags.is_empty() { Ok(out) } else { Err(diags) }
}

type Refusal = (String, String);

fn one(
    program: &Program,
    f: &Function,
    a: &Arg,
    value: Option<&ArgValue>,
    (poison, most): (u8, &mut u64),
    out: &mut Bound,
) -> Result<Value, Refusal> {
    let name = &a.name;
    match (&a.kind, value) {
        (ArgKind::Buffer(t), Some(ArgValue::Bytes(bytes))) => {
            let mut mem = Memory::new(0, 0);
            mem.bytes = Bytes::from_slice(bytes);
            mem.shadow = ptoemu_core::state::Shadow::new(bytes.len());
            mem.shadow.set(0, bytes.len() as u64, true, ptoemu_core::state::WRITER_NONE);
            Ok(add(&mut out.gm, name, *t, mem))
        }
        (ArgKind::Buffer(t), None) => match inferred(f, a.slot, *t, most) {
            Some(n) => Ok(add(&mut out.gm, name, *t, Memory::new(n as usize, poison))),
            None => Err((
                format!(
                    "no value for the buffer `{name}`, and its size is not clear from the views"
                ),
                format!("give --arg {name}=@FILE.bin or --arg {name}=zeros:{t}[64x128]"),
            )),
        },
        (ArgKind::Scalar(s), Some(ArgValue::Scalar(t, bits))) => scalar(name, *s, *t, *bits),
        (ArgKind::Scalar(s), None) => Err((
            format!("no value for the scalar `{name}`"),
            format!("give --arg {name}=VALUE:{}", s.dtype().map_or("i64", DType::name)),
        )),
        (ArgKind::Tile(t, place), value) => {
            let addr = program.address(*place);
            if let Some(ArgValue::Bytes(b)) = value {
                if b.len() as u64 != t.bytes() {
                    return Err((
                        format!("`{name}` is a tile of {} bytes, {} given", t.bytes(), b.len()),
                        format!("give {}x{} elements of {}", t.rows, t.cols, t.dtype),
                    ));
                }
                out.tiles.push((addr, b.clone()));
            }
            let tile = crate::tile::Tile { addr, ..(**t).clone() };
            Ok(Value::Tile(std::sync::Arc::new(tile)))
        }
        (ArgKind::Other(what), _) => Err((
            format!("`{name}` has type `{what}`; it cannot be given from outside"),
            "choose another entry function with --entry".into(),
        )),
        (ArgKind::Buffer(t), Some(_)) => Err((
            format!("`{name}` is a buffer of {t}, a scalar was given"),
            format!("give --arg {name}=@FILE.bin, or zeros:{t}[64x128]"),
        )),
        (ArgKind::Scalar(_), Some(_)) => Err((
            format!("`{name}` is a scalar, a buffer was given"),
            format!("give --arg {name}=VALUE:TYPE"),
        )),
    }
}

fn add(gm: &mut Gm, name: &str, dtype: DType, mem: Memory) -> Value {
    let addr = gm.add(Buffer { name: name.to_string(), dtype, mem });
    Value::Ptr(Ptr { space: Space::Gm, addr, elem: dtype })
}

fn scalar(name: &str, want: Scalar, t: DType, bits: u64) -> Result<Value, Refusal> {
    let value = super::frame::value_of(t, bits);
    let wanted = match want {
        Scalar::Index => Some(DType::I64),
        Scalar::Int { bits: 1, .. } => Some(DType::I8),
        s => s.dtype(),
    };
    match (wanted, &value) {
        (Some(w), Value::Int(v)) if !w.is_float() => Ok(Value::Int(super::arith::wrap(*v, want))),
        (Some(w), Value::Float(f, _)) if w == *f => Ok(value),
        (Some(w), _) => Err((
            format!("`{name}` is {w}, the value given is {t}"),
            format!("write --arg {name}=VALUE:{w}"),
        )),
        (None, _) => Err((
            format!("`{name}` has a type no value can be given for"),
            "choose another entry".into(),
        )),
    }
}

/// Bytes an argument's views reach, when their sizes and strides are literals and that is no more
/// than what is left of `most`.
fn inferred(f: &Function, slot: Slot, t: DType, most: &mut u64) -> Option<u64> {
    let mut bytes = None;
    for s in &f.body {
        let Code::View(_, src, e) = &s.code else { continue };
        if *src != slot {
            continue;
        }
        let mut last = 0i128;
        for (n, step) in e.sizes.iter().zip(&e.steps) {
            let (Num::Lit(n), Num::Lit(step), None) = (n, step, e.offset) else { return None };
            let reach = i128::from((*n).max(1) - 1) * i128::from((*step).max(0));
            last = last.checked_add(reach)?;
        }
        let end = last.checked_add(1)?.checked_mul(t.size() as i128)?;
        bytes = bytes.max(Some(u64::try_from(end).ok()?));
    }
    let bytes = bytes?;
    *most = most.checked_sub(bytes)?;
    Some(bytes)
}
