//! Does a list of instructions leave two accesses that meet without an order? By comparing all
//! pairs: no clocks, no last accesses.

use super::repeats::Trace;
use crate::instr::Instr;
use crate::machine::{Plan, named, pipe_named};
use crate::table::{Form, Op};
use ptoemu_core::access::{Role, Space};
use ptoemu_core::stream::{Kind, Pipe};
use std::collections::{BTreeMap, BTreeSet};

/// A range of bytes and what is done to them.
type Access = (Space, u64, u64, Role);

/// Bytes an instruction touches, operand by operand, repeat by repeat, and the first lane of each.
pub(super) fn places(p: &Plan) -> Vec<(Access, usize)> {
    let mut out = Vec::new();
    for (base, w) in (0..3).filter_map(|n| p.operand(n)) {
        for r in 0..u64::from(p.repeats) {
            let mask = p.lanes.of_repeat(r);
            w.runs(base, r, &mask, |lane, at, n| {
                out.push(((w.space, at, at + n as u64, w.role), lane));
            });
        }
    }
    out
}

fn bytes(p: &Plan) -> impl Iterator<Item = Access> {
    places(p).into_iter().map(|(a, _)| a)
}

/// The register an instruction reads or writes besides, as bytes no memory has.
fn register(i: &Instr) -> Option<Access> {
    let (role, at) = match i.form() {
        Form::CmpReg | Form::SetCmpMask => (Role::Write, 0),
        Form::Sel => (Role::Read, 0),
        Form::Sum | Form::Extreme => (Role::Write, 1),
        _ if matches!(i.op, Op::get_acc_val | Op::get_max_min_cnt) => (Role::Read, 1),
        _ => return None,
    };
    let base = u64::MAX - 8;
    Some((Space::Ub, base + at, base + at + 1, role))
}

fn clash(a: &Access, b: &Access, same_pipe: bool, same_class: bool) -> bool {
    if a.0 != b.0 || a.1 >= b.2 || b.1 >= a.2 {
        return false;
    }
    let (writes, reads) = (|r: Role| r != Role::Read, |r: Role| r != Role::Write);
    let register = a.1 >= u64::MAX - 8;
    writes(a.3) && reads(b.3)
        || writes(a.3) && writes(b.3) && !same_class && !register
        || reads(a.3) && writes(b.3) && !same_pipe && !register
}

/// Are there two accesses that meet and that nothing orders?
pub(super) fn unordered(list: &Trace) -> bool {
    // What is complete before the next instruction of each pipe starts.
    let mut gates: BTreeMap<Pipe, BTreeSet<usize>> = BTreeMap::new();
    let mut on: BTreeMap<Pipe, BTreeSet<usize>> = BTreeMap::new();
    let mut flags: BTreeMap<[i64; 3], BTreeSet<usize>> = BTreeMap::new();
    let mut done: Vec<BTreeSet<usize>> = Vec::new();
    let touched: Vec<Vec<Access>> =
        list.iter().map(|x| bytes(&x.1).chain(register(&x.0)).collect()).collect();
    for (n, (i, p)) in list.iter().enumerate() {
        let pipe = p.pipe;
        let of = |all: &BTreeMap<Pipe, BTreeSet<usize>>, p: Pipe| {
            all.get(&p).cloned().unwrap_or_default()
        };
        let mut before = of(&gates, pipe);
        before.extend(of(&gates, Pipe::S));
        let key = [i.args[0], i.args[1], named(i, "event")];
        match p.row.kind() {
            Kind::Barrier if pipe == Pipe::All => {
                for p in Pipe::ALL {
                    gates.insert(p, (0..n).collect());
                }
            }
            Kind::Barrier => {
                let mut all = of(&on, pipe);
                all.extend(before.iter().copied());
                gates.insert(pipe, all);
            }
            Kind::SetFlag => {
                let src = pipe_named(i, "src_pipe").unwrap_or(Pipe::S);
                let mut all = of(&on, src);
                all.extend(of(&gates, src));
                all.extend(of(&gates, Pipe::S));
                flags.insert(key, all);
            }
            Kind::WaitFlag => {
                let dst = pipe_named(i, "dst_pipe").unwrap_or(Pipe::S);
                let signal = flags.remove(&key).unwrap_or_default();
                gates.entry(dst).or_default().extend(signal);
            }
            _ => {
                on.entry(pipe).or_default().insert(n);
            }
        }
        done.push(before);
    }
    (0..list.len()).any(|j| {
        (0..j).any(|k| {
            let ((a, p), (b, q)) = (&list[k], &list[j]);
            let both_s = p.pipe == Pipe::S && q.pipe == Pipe::S;
            if touched[k].is_empty() || touched[j].is_empty() || both_s || done[j].contains(&k) {
                return false;
            }
            let same_pipe = p.pipe == q.pipe;
            let same_class = same_pipe
                && q.row.kind() == Kind::Vector
                && (a.op.row().cost, p.wide) == (b.op.row().cost, q.wide);
            touched[k].iter().any(|x| touched[j].iter().any(|y| clash(x, y, same_pipe, same_class)))
        })
    })
}
