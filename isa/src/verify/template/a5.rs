//! Vector functions of the 950 as text: registers that loops change are carried by them.

use super::{Text, pointer};
use crate::a5::{Dist, Form, Pattern};
use crate::case::element;
use crate::tile::a5::{Affine, Function, Item, Listing, M, Micro, Node, V};
use ptoemu_core::dtype::DType;
use std::collections::BTreeSet;

type Done = Result<(), String>;
/// A value and its type, as text.
type Typed = (String, String);

/// What registers hold: value name and element type, by register number.
#[derive(Clone, Default)]
struct Env {
    v: Vec<Option<(String, DType)>>,
    m: Vec<Option<(String, u8)>>,
    align: Option<String>,
}

pub(super) fn write(t: &mut Text) -> Done {
    let mut all = Listing::default();
    crate::tile::a5(t.call, &mut all).map_err(|s| s.0.message)?;
    for item in &all.0 {
        match item {
            Item::Instr(i) => t.instruction(i)?,
            Item::Function(f) => function(t, f)?,
            Item::Single(_) => return Err("it sorts outside any vector function".into()),
        }
    }
    Ok(())
}

fn function(t: &mut Text, f: &Function) -> Done {
    // Pointers stand outside: registers alone live in the scope.
    bases(t, &f.body)?;
    let mut env = Env {
        v: vec![None; usize::from(f.vectors)],
        m: vec![None; usize::from(f.masks)],
        align: None,
    };
    t.line("pto.vecscope {");
    t.indent += 1;
    nodes(t, &f.body, &mut env, &[])?;
    t.indent -= 1;
    t.line("}");
    Ok(())
}

/// The tile an address belongs to: its first byte.
fn base(t: &Text, at: &Affine) -> u64 {
    let addr = at.base as u64;
    let tile = t.call.tiles().find(|(_, t)| (t.addr..t.end()).contains(&addr));
    tile.map_or(addr, |(_, t)| t.addr)
}

fn bases(t: &mut Text, list: &[Node]) -> Done {
    for n in list {
        match n {
            Node::Loop(_, body) => bases(t, body)?,
            Node::Op(m) => {
                if let Some(p) = &m.p {
                    let at = base(t, p);
                    t.pointer(at, m.step.st)?;
                }
            }
        }
    }
    Ok(())
}

fn nodes(t: &mut Text, list: &[Node], env: &mut Env, counters: &[String]) -> Done {
    for n in list {
        match n {
            Node::Op(m) => micro(t, m, env, counters)?,
            Node::Loop(trips, body) => repeat(t, *trips, body, env, counters)?,
        }
    }
    Ok(())
}

/// Vector registers that a body writes.
fn written(list: &[Node], out: &mut BTreeSet<u16>) {
    for n in list {
        match n {
            Node::Op(m) => out.extend(m.dst.iter().map(|v| v.0)),
            Node::Loop(_, body) => written(body, out),
        }
    }
}

fn repeat(t: &mut Text, trips: u64, body: &[Node], env: &mut Env, counters: &[String]) -> Done {
    let mut changed = BTreeSet::new();
    written(body, &mut changed);
    let carried: Vec<(usize, String, DType)> = changed
        .iter()
        .filter_map(|v| {
            let (name, dt) = env.v.get(usize::from(*v))?.clone()?;
            Some((usize::from(*v), name, dt))
        })
        .collect();
    let (lo, hi, one) = (t.number(0), t.number(trips as i64), t.number(1));
    let i = t.name("i");
    let mut inner = env.clone();
    let (mut inits, mut types, mut outs) = (Vec::new(), Vec::new(), Vec::new());
    for (v, init, dt) in &carried {
        let arg = t.name("a");
        inits.push(format!("{arg} = {init}"));
        types.push(register(*dt));
        inner.v[*v] = Some((arg, *dt));
        outs.push(t.name("r"));
    }
    let head = format!("scf.for {i} = {lo} to {hi} step {one}");
    match carried.is_empty() {
        true => t.line(&format!("{head} {{")),
        false => t.line(&format!(
            "{} = {head} iter_args({}) -> ({}) {{",
            outs.join(", "),
            inits.join(", "),
            types.join(", ")
        )),
    }
    t.indent += 1;
    let mut within = counters.to_vec();
    within.push(i);
    nodes(t, body, &mut inner, &within)?;
    if !carried.is_empty() {
        let last: Vec<String> = carried
            .iter()
            .map(|(v, ..)| inner.v[*v].as_ref().map_or("", |x| &x.0).into())
            .collect();
        t.line(&format!("scf.yield {} : {}", last.join(", "), types.join(", ")));
    }
    t.indent -= 1;
    t.line("}");
    for ((v, _, dt), out) in carried.into_iter().zip(outs) {
        env.v[v] = Some((out, dt));
    }
    Ok(())
}

fn register(t: DType) -> String {
    format!("!pto.vreg<{}x{}>", 256 / t.size(), element(t))
}

fn predicate(gran: u8) -> String {
    format!("!pto.mask<b{}>", 8 * gran)
}

/// Name of a value that is affine in the loop counters, in units of `size` bytes from `base`.
fn index(
    t: &mut Text,
    a: &Affine,
    base: i64,
    size: i64,
    counters: &[String],
) -> Result<String, String> {
    let whole = |n: i64| match n % size {
        0 => Ok(n / size),
        _ => Err("an address steps by less than an element".to_string()),
    };
    let first = whole(a.base.wrapping_sub(base))?;
    let mut sum = t.number(first);
    let mut zero = first == 0;
    for (step, i) in a.steps.iter().zip(counters).filter(|(s, _)| **s != 0) {
        let by = whole(*step)?;
        let mut term = i.clone();
        if by != 1 {
            let by = t.number(by);
            term = t.name("x");
            t.line(&format!("{term} = arith.muli {i}, {by} : index"));
        }
        if zero {
            (sum, zero) = (term, false);
            continue;
        }
        let next = t.name("x");
        t.line(&format!("{next} = arith.addi {sum}, {term} : index"));
        sum = next;
    }
    Ok(sum)
}

/// The UB address of a micro-op.
fn address(t: &mut Text, m: &Micro, counters: &[String]) -> Result<Option<Typed>, String> {
    let Some(p) = &m.p else { return Ok(None) };
    let start = base(t, p);
    let ptr = t.pointer(start, m.step.st)?;
    let i = index(t, p, start as i64, m.step.st.size() as i64, counters)?;
    Ok(Some((format!("{ptr}[{i}]"), pointer(m.step.st))))
}

impl Env {
    fn vector(&self, V(v): &V) -> Result<Typed, String> {
        let held = self.v.get(usize::from(*v)).cloned().flatten();
        held.map(|(n, dt)| (n, register(dt))).ok_or_else(|| "an undefined register".into())
    }

    fn mask(&self, M(n): &M) -> Result<Typed, String> {
        let held = self.m.get(usize::from(*n)).cloned().flatten();
        held.map(|(n, gran)| (n, predicate(gran))).ok_or_else(|| "an undefined predicate".into())
    }
}

/// Operands in the order of the form.
fn operands(t: &mut Text, m: &Micro, env: &Env, counters: &[String]) -> Result<Vec<Typed>, String> {
    let vectors = m.v.iter().map(|v| env.vector(v)).collect::<Result<Vec<_>, _>>()?;
    let masks = m.m.iter().map(|x| env.mask(x)).collect::<Result<Vec<_>, _>>()?;
    let at = address(t, m, counters)?;
    let scalar = |t: &mut Text| -> Typed {
        let (name, ty) = (t.name("s"), element(m.step.dt));
        t.line(&format!("{name} = arith.constant {:#x} : {ty}", m.s));
        (name, ty)
    };
    let mut out = vectors;
    match m.step.op.form() {
        Form::Pset => {}
        Form::Plt => {
            let n = m.n.clone().unwrap_or_default();
            let i = index(t, &n, 0, 1, counters)?;
            let name = t.name("n");
            t.line(&format!("{name} = arith.index_cast {i} : index to i32"));
            out.push((name, "i32".into()));
        }
        Form::Load | Form::Prime => out.extend(at),
        Form::LoadU => {
            out.extend(at);
            let align = env.align.clone().ok_or("an unaligned load without its first half")?;
            out.push((align, "!pto.align".into()));
        }
        Form::Store => out.extend(at.into_iter().chain(masks)),
        Form::V1 | Form::V2 | Form::V3 | Form::VPair | Form::Convert => out.extend(masks),
        Form::VS => {
            out.push(scalar(t));
            out.extend(masks);
        }
        Form::Splat => out.push(scalar(t)),
        Form::Dup => {
            if out.is_empty() {
                out.push(scalar(t));
            }
            out.extend(masks);
        }
        _ => return Err(format!("{} has no simple text form", m.step.op.mnemonic())),
    }
    Ok(out)
}

fn micro(t: &mut Text, m: &Micro, env: &mut Env, counters: &[String]) -> Done {
    if m.merge {
        return Err("lanes are merged, which the text form has no mode for".into());
    }
    let operands = operands(t, m, env, counters)?;
    let results = results(t, m, env)?;
    let text = statement(m.step.op.mnemonic(), &operands, &mode(m)?, &results);
    t.line(&text);
    Ok(())
}

/// `%r = pto.op %a, %b {mode} : types -> types`.
fn statement(name: &str, operands: &[Typed], mode: &str, results: &[Typed]) -> String {
    let names = |all: &[Typed]| all.iter().map(|o| o.0.as_str()).collect::<Vec<_>>().join(", ");
    let types = |all: &[Typed]| all.iter().map(|o| o.1.as_str()).collect::<Vec<_>>().join(", ");
    let (given, made) = match (operands.is_empty(), results.is_empty()) {
        (false, false) => (format!("{} -> ", types(operands)), types(results)),
        _ => (types(operands), types(results)),
    };
    let bound = if results.is_empty() { String::new() } else { format!("{} = ", names(results)) };
    let list = if operands.is_empty() { String::new() } else { format!(" {}", names(operands)) };
    format!("{bound}pto.{name}{list}{mode} : {given}{made}")
}

/// New names for the results, which the registers hold from here on.
fn results(t: &mut Text, m: &Micro, env: &mut Env) -> Result<Vec<Typed>, String> {
    let mut out = Vec::new();
    for V(v) in &m.dst {
        let name = t.name("v");
        let slot = env.v.get_mut(usize::from(*v)).ok_or("a register too many")?;
        *slot = Some((name.clone(), m.step.dt));
        out.push((name, register(m.step.dt)));
    }
    for M(n) in &m.masks {
        let name = t.name("m");
        let slot = env.m.get_mut(usize::from(*n)).ok_or("a predicate too many")?;
        *slot = Some((name.clone(), m.step.gran));
        out.push((name, predicate(m.step.gran)));
    }
    match m.step.op.form() {
        Form::Plt => out.push((t.name("left"), "i32".into())),
        Form::Prime | Form::LoadU => {
            let name = t.name("align");
            env.align = Some(name.clone());
            out.push((name, "!pto.align".into()));
        }
        _ => {}
    }
    Ok(out)
}

/// The string or dictionary behind the operands.
fn mode(m: &Micro) -> Result<String, String> {
    let mods = &m.step.mods;
    Ok(match m.step.op.form() {
        Form::Pset => {
            let spelt = Pattern::NAMES.iter().find(|n| Pattern::parse(n) == Some(mods.pattern));
            format!(" \"{}\"", spelt.ok_or("a pattern without a name")?)
        }
        Form::Load | Form::Store if mods.dist != Dist::Norm => {
            let spelt = Dist::NAMES.iter().find(|n| Dist::parse(n) == Some(mods.dist));
            format!(" {{dist = \"{}\"}}", spelt.ok_or("a distribution without a name")?)
        }
        Form::Dup if !m.v.is_empty() => " {position = \"LOWEST\"}".into(),
        Form::Convert => {
            let mut all = Vec::new();
            if let Some(r) = mods.round {
                all.push(format!("rnd = \"{}\"", r.letter().to_ascii_uppercase()));
            }
            if let Some(on) = mods.sat {
                all.push(format!("sat = \"{}\"", if on { "SAT" } else { "NOSAT" }));
            }
            let (wide, narrow) =
                (m.step.st.size().max(m.step.dt.size()), m.step.st.size().min(m.step.dt.size()));
            match wide / narrow.max(1) {
                1 => {}
                2 => {
                    all.push(format!("part = \"{}\"", ["EVEN", "ODD"][usize::from(mods.part & 1)]))
                }
                _ => all.push(format!("part = \"P{}\"", mods.part)),
            }
            format!(" {{{}}}", all.join(", "))
        }
        _ => String::new(),
    })
}
