//! Listings of 950 microcode: the micro-ops of vector functions with the loops around them.

use super::op::{listed as instruction, place};
use ptoemu_isa::tile::Call;
use ptoemu_isa::tile::a5::{Affine, Item, Micro, Node, Single};
use serde_json::{Map, Value, json};

/// Every micro-op and instruction in order; `loops` are the trip counts around it, outermost first.
pub(super) fn listed(call: &Call, items: &[Item]) -> Vec<Value> {
    let mut out = Vec::new();
    let mut number = 0;
    for item in items {
        match item {
            Item::Instr(i) => out.push(instruction(call, i)),
            Item::Single(s) => out.push(single(call, s)),
            Item::Function(f) => {
                nodes(call, &f.body, &mut Vec::new(), number, &mut out);
                number += 1;
            }
        }
    }
    out
}

fn nodes(call: &Call, list: &[Node], loops: &mut Vec<u64>, function: u32, out: &mut Vec<Value>) {
    for n in list {
        match n {
            Node::Loop(trips, body) => {
                loops.push(*trips);
                nodes(call, body, loops, function, out);
                loops.pop();
            }
            Node::Op(m) => out.push(micro(call, m, loops, function)),
        }
    }
}

/// An instruction of the vector pipe outside the functions.
fn single(call: &Call, s: &Single) -> Value {
    let at: Vec<Value> = s.p.iter().map(|p| place(call, *p)).collect();
    json!({
        "op": s.step.op.mnemonic(),
        "dtype": s.step.dt.name(),
        "repeat": s.repeats(),
        "addr": at,
    })
}

fn micro(call: &Call, m: &Micro, loops: &[u64], function: u32) -> Value {
    let mut o = Map::new();
    let registers = |v: &mut dyn Iterator<Item = String>| json!(v.collect::<Vec<_>>().join(" "));
    o.insert("op".into(), json!(m.step.op.mnemonic()));
    o.insert("dtype".into(), json!(m.step.dt.name()));
    o.insert("function".into(), json!(function));
    o.insert("loops".into(), json!(loops.iter().map(u64::to_string).collect::<Vec<_>>().join("x")));
    let dst = m.dst.iter().map(|v| format!("v{}", v.0));
    o.insert("dst".into(), registers(&mut dst.chain(m.masks.iter().map(|p| format!("p{}", p.0)))));
    let src = m.v.iter().map(|v| format!("v{}", v.0));
    o.insert("src".into(), registers(&mut src.chain(m.m.iter().map(|p| format!("p{}", p.0)))));
    if m.step.mods.dist != ptoemu_isa::a5::Dist::Plain {
        o.insert("dist".into(), json!(format!("{:?}", m.step.mods.dist)));
    }
    let mut affine = |name: &str, a: &Affine, base: Value| {
        o.insert(name.into(), base);
        if a.steps.iter().any(|s| *s != 0) {
            o.insert(format!("{name}_steps"), json!(a.steps.as_slice()));
        }
    };
    if let Some(p) = &m.p {
        affine("addr", p, place(call, p.base as u64));
    }
    if let Some(n) = &m.n {
        affine("count", n, json!(n.base));
    }
    Value::Object(o)
}
