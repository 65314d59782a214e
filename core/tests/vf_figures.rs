//! Figures of the 950 targets: complete, with provenance, and none without effect.

mod vf_support;

use ptoemu_core::dtype::DType;
use ptoemu_core::target::{Conf, Target, schema};
use ptoemu_core::time::vf::*;
use std::collections::BTreeSet;
use vf_support::*;

/// Programs that between them meet every rule.
fn zoo() -> Vec<VfProgram> {
    let mut out = Vec::new();
    // Rows of two post-updated loads, long enough to fill every queue.
    let mut b = Build::f32();
    let inner = body(&mut b, "vadd", 2);
    b.post_update(&inner[0]);
    out.push(b.done(vec![Node::repeat(3, vec![Node::repeat(60, inner)])]));
    // At addresses, through the banks; the load follows the store.
    let mut b = Build::f32();
    let (l, s) = (b.load(0), b.store(0));
    let l = b.at(l, Access::contiguous(UB, 0, &[256], 192));
    let s = b.at(s, Access::contiguous(UB, 64, &[256], 256));
    out.push(b.done(vec![Node::repeat(40, vec![l, s])]));
    // Iterative work, chains, many registers.
    let mut b = Build::f32();
    let mut body_ = vec![b.load(0)];
    for i in 1..40 {
        body_.push(b.op(if i % 3 == 0 { "vexp" } else { "vmul" }, i, &[i - 1, 0]));
    }
    body_.push(b.store(39));
    let body_ = vec![Node::repeat(12, body_)];
    out.push(b.done(body_));
    // Independent short operations: units and moves.
    let mut b = Build::f32();
    let ops = (0..12).map(|i| b.op("vmul", i, &[])).collect();
    out.push(b.done(vec![Node::repeat(30, ops)]));
    // Loops of all sorts.
    let mut b = Build::f32();
    let (x, y) = (b.load(0), b.load(1));
    let one = Node::repeat(1, vec![x]);
    let soft = Node::Loop(Loop { trips: 4, body: vec![y], hardware: false, dynamic: false });
    out.push(b.done(vec![Node::repeat(4, vec![one]), soft]));
    // Two narrow stores that need different groups.
    let mut b = Build::f32();
    let nodes = (0..6)
        .map(|i| {
            let s = b.store(0);
            b.at(s, Access::contiguous(UB, 32 * i, &[], 32))
        })
        .collect();
    out.push(b.done(nodes));
    out.push(b_scalars());
    out.extend([Bar::LoadStore, Bar::StoreLoad, Bar::StoreStore, Bar::All].map(bars));
    out
}

fn b_scalars() -> VfProgram {
    let mut b = Build::f32();
    let s = Reg { file: File::Scalar, id: 0 };
    let a = Reg { file: File::Align, id: 0 };
    let mut out = Vec::new();
    for i in 0..6 {
        out.push(b.inst("pset", Kind::Predicate, &[mreg(i)], &[]));
        out.push(b.inst("sadd", Kind::Scalar, &[s], &[s]));
        out.push(b.inst("vldus", Kind::Load, &[vreg(i), a], &[a, s]));
        out.push(b.inst("vsel", Kind::Compute, &[vreg(i)], &[vreg(i), mreg(i)]));
    }
    out.extend((0..8).map(|i| b.inst("pset", Kind::Predicate, &[mreg(i)], &[])));
    out.extend((0..8).map(|_| b.inst("sadd", Kind::Scalar, &[], &[])));
    let mut b = Build { p: b.p, dtype: b.dtype };
    let align = vec![b.inst("vldas", Kind::Load, &[a], &[])];
    out.splice(0..0, align);
    b.done(out)
}

fn bars(bar: Bar) -> VfProgram {
    let mut b = Build::f32();
    let mut out = Vec::new();
    for i in 0..3 {
        out.extend([b.load(i), b.store(20), b.bar(bar), b.bar(bar), b.load(i + 8), b.store(21)]);
    }
    b.done(out)
}

fn all(programs: &[VfProgram], t: &Target) -> Vec<(u64, Vec<VfRecord>)> {
    let run = |p: &VfProgram| {
        let r = time(p, t, recorded()).unwrap_or_else(|e| panic!("{e:?}"));
        (r.cycles, r.records)
    };
    programs.iter().map(run).collect()
}

#[test]
fn every_figure_of_the_pipeline_moves_a_result() {
    let base = target("950pr");
    let programs = zoo();
    let before = all(&programs, &base);
    for field in PARAMS {
        let now = base.value(field.path).unwrap();
        let moved = [now + 1.0, now - 1.0, field.range.min, now + 10.0]
            .into_iter()
            .filter(|v| *v != now && *v >= field.range.min && *v <= field.range.max)
            .any(|v| {
                let mut t = base.clone();
                t.set(field.path, v).unwrap();
                all(&programs, &t) != before
            });
        assert!(moved, "{} has no effect", field.path);
    }
}

#[test]
fn every_figure_of_the_banks_moves_a_result() {
    let base = target("950pr");
    let mut b = Build::f32();
    let mut pair = Vec::new();
    for i in 0..2 {
        let load = b.load(i);
        pair.push(b.at(load, Access::contiguous(UB, 0x1000 * i64::from(i), &[256], 256)));
    }
    let loads = b.done(vec![Node::repeat(40, pair)]);
    // A load and a store that never meet in a bank.
    let mut b = Build::f32();
    let (l, s) = (b.load(0), b.store(1));
    let l = b.at(l, Access::contiguous(UB, 0, &[512], 256));
    let s = b.at(s, Access::contiguous(UB, 0x10100, &[512], 256));
    let apart = b.done(vec![Node::repeat(40, vec![l, s])]);
    let programs: Vec<VfProgram> = zoo().into_iter().chain([loads, apart]).collect();
    let before = all(&programs, &base);
    for (path, value) in [("ub.block", 8.0), ("ub.bank_groups", 2.0), ("ub.banks_per_group", 1.0)] {
        let mut t = base.clone();
        t.set(path, value).unwrap();
        assert!(all(&programs, &t) != before, "{path} has no effect");
    }
}

/// Instructions with figures, by path.
fn costs(t: &Target) -> BTreeSet<(String, Option<DType>, String)> {
    let dtype = |k: &str| if k == "int" { Some(DType::I32) } else { k.parse().ok() };
    // Figures of the core itself, its pipes and flags, belong to no instruction.
    let fixed: BTreeSet<&str> = schema::fields(t.family).map(|f| f.path).collect();
    let outside: Vec<String> =
        t.paths().filter_map(|(p, _)| Some(format!("{}.", p.strip_suffix(".startup")?))).collect();
    t.paths()
        .filter(|(p, _)| !fixed.contains(p) && p.contains('.'))
        // Instructions outside functions have the figures of a pipe's instruction.
        .filter(|(p, _)| !outside.iter().any(|name| p.starts_with(name)))
        .map(|(p, _)| {
            let parts: Vec<&str> = p.split('.').collect();
            let d = if parts.len() == 3 { dtype(parts[1]) } else { Some(DType::F32) };
            (parts[0].to_string(), d, p.to_string())
        })
        .collect()
}

fn kind(name: &str) -> Kind {
    let starts = |l: &[&str]| l.iter().any(|p| name.starts_with(p));
    if starts(&["vld", "vsld", "vgather", "plds"]) {
        Kind::Load
    } else if starts(&["vst", "vsst", "vscatter", "psts", "pstu"]) {
        Kind::Store
    } else if starts(&["p", "movvp"]) {
        Kind::Predicate
    } else {
        Kind::Compute
    }
}

/// The instruction between every neighbour that a figure may speak of.
fn around(name: &str, dtype: Option<DType>) -> Vec<VfProgram> {
    let mut out = Vec::new();
    let me = |b: &mut Build, d: u16, s: &[Reg]| match kind(name) {
        Kind::Load => b.inst(name, Kind::Load, &[vreg(d)], &[]),
        Kind::Store => b.inst(name, Kind::Store, &[], s),
        Kind::Predicate => b.inst(name, Kind::Predicate, &[mreg(d)], &[]),
        k => b.inst(name, k, &[vreg(d), mreg(d)], s),
    };
    for other in ["vadd", "vmul", "vmax", "vabs", "vexp", "vdiv", "vcmax", "vsel", "vcmp", name] {
        let pair = |b: &mut Build, first: bool| {
            let x = me(b, 0, &[vreg(20)]);
            let y = b.inst(other, kind(other), &[vreg(1), mreg(1)], &[vreg(21)]);
            if first { vec![x, y] } else { vec![y, x] }
        };
        for first in [true, false] {
            let mut b = Build { dtype, ..Build::default() };
            let nodes = pair(&mut b, first);
            out.push(b.done(nodes));
        }
        let mut b = Build { dtype, ..Build::default() };
        let mut nodes = vec![b.load(20), me(&mut b, 0, &[vreg(20)])];
        nodes.push(b.inst(other, kind(other), &[vreg(2), mreg(2)], &[vreg(0)]));
        nodes.push(me(&mut b, 3, &[vreg(2)]));
        nodes.push(b.inst(other, kind(other), &[vreg(4)], &[mreg(0)]));
        nodes.push(me(&mut b, 5, &[mreg(2)]));
        nodes.push(b.store(3));
        out.push(b.done(nodes));
    }
    let mut b = Build { dtype, ..Build::default() };
    let mut nodes: Vec<Node> = (0..3).map(|i| b.op("vexp", i, &[])).collect();
    nodes.extend((0..3).map(|i| me(&mut b, 4 + i, &[])));
    nodes.push(b.op("vadd", 9, &[]));
    out.push(b.done(nodes));
    // More than a unit holds unfinished.
    let mut b = Build { dtype, ..Build::default() };
    let nodes = (0..20).map(|i| me(&mut b, i, &[])).collect();
    out.push(b.done(nodes));
    out
}

#[test]
fn every_figure_of_an_instruction_moves_a_result() {
    let base = target("950pr");
    let mut one = base.clone();
    one.set("vf.exus", 1.0).unwrap();
    for (name, dtype, path) in costs(&base) {
        let programs = around(&name, dtype);
        let moved = [&base, &one].into_iter().any(|t| {
            let before = all(&programs, t);
            let now = t.value(&path).unwrap();
            [now + 3.0, now - 1.0, now + 6.0, 0.0, 1.0]
                .into_iter()
                .filter(|v| *v != now && *v >= 0.0)
                .any(|v| {
                    let mut other = t.clone();
                    other.set(&path, v).is_ok() && all(&programs, &other) != before
                })
        });
        assert!(moved, "{path} has no effect");
    }
}

#[test]
fn the_950dt_is_a_950pr_where_nothing_is_known() {
    let (pr, dt) = (target("950pr"), target("950dt"));
    let differs: Vec<String> = pr.diff(&dt).into_iter().map(|d| d.path).collect();
    assert_eq!(differs, ["clock_mhz"]);
    assert_eq!(dt.get("clock_mhz").unwrap().conf, Conf::Assumed);
}
