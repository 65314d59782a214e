//! Every figure of the shipped targets matters: change it and some result moves.

mod support;

use ptoemu_core::access::{Role, Space, Walk};
use ptoemu_core::catalogue::{Catalogue, Entry};
use ptoemu_core::dtype::DType::{self, F16, F32, I32, U8};
use ptoemu_core::stream::{Kind, Marks, OpId, Pipe, Stream};
use ptoemu_core::target::{Target, schema};
use ptoemu_core::time::time;
use std::sync::Arc;
use support::*;

fn done(_record: u32) {}

/// What orders nothing: figures of execution, and the clock.
const NO_CYCLES: [&str; 3] = ["clock_mhz", "ub.reserved_start", "ub.reserved_size"];

/// Small programs that between them meet every rule.
fn programs() -> Vec<Stream> {
    let mut out = Vec::new();
    let mut add = |build: &dyn Fn(&mut Builder)| {
        let mut b = Builder::default();
        build(&mut b);
        out.push(b.stream);
    };
    for (src, dst) in [
        (Pipe::V, Pipe::S),
        (Pipe::S, Pipe::V),
        (Pipe::V, Pipe::Mte3),
        (Pipe::Mte2, Pipe::V),
        (Pipe::S, Pipe::Mte3),
        (Pipe::Mte2, Pipe::S),
        (Pipe::Mte2, Pipe::Mte3),
        (Pipe::M, Pipe::V),
    ] {
        add(&|b| {
            b.set_flag(src, dst);
            b.wait_flag(src, dst);
            b.scalar(Kind::ScalarLoad, Space::Ub);
            b.dma(Pipe::Mte3, 3, 4);
            b.dma(Pipe::Mte3, 1, 4096);
            b.dense("vadd", F32, 4, &[0, 0x4000, 0x8000]);
        });
    }
    add(&|b| {
        b.mask_marked(0, 0xff, Marks::COMPUTED);
        b.dense("vadd", F32, 64, &[0, 0x4000, 0x8000]);
        b.barrier(Pipe::V);
        b.set_mask(0, 0x7);
        b.dense("vmax", F32, 3, &[0, 0x4000, 0x8000]);
        b.set_mask(!0, !0);
    });
    add(&|b| {
        b.set_mask(0, !0);
        b.dense("vadd", F32, 64, &[0, 0x4000, 0x8000]);
        b.dense("vmul", F32, 64, &[0x10000, 0x4000, 0x8000]);
        b.dense("vadd", F16, 200, &[0x10000, 0x0020, 0x4120]);
        b.dense("vabs", F32, 64, &[0x4000, 0xf000]);
    });
    add(&|b| {
        b.vector("vabs", F32, 4, &[(0x10000, 1, 8), (0, 16, 8)]);
    });
    add(&|b| {
        b.scalar(Kind::ScalarLoad, Space::Ub);
        b.scalar(Kind::ScalarLoad, Space::Ub);
        b.scalar(Kind::ScalarStore, Space::Ub);
        b.scalar(Kind::ScalarStore, Space::Gm);
        b.scalar(Kind::ScalarLoad, Space::Gm);
        b.dma(Pipe::Mte2, 3, 4);
        b.dma(Pipe::Mte2, 1, 4096);
    });
    out
}

/// Does any program notice?
fn moves(programs: &[Stream], a: &Target, b: &Target) -> bool {
    programs.iter().any(|p| time(p, a) != time(p, b))
}

/// Another value in the range of a figure.
fn changed(path: &str, value: f64) -> f64 {
    match path {
        "ub.size" => 98304.0,
        "ub.block" => 64.0,
        "ub.bank_groups" => 8.0,
        p if p.ends_with("per_burst") => 1000.0,
        _ => value * 2.0 + 3.0,
    }
}

#[test]
fn figures_of_the_machine_move_results() {
    let base = target("a3");
    let programs = programs();
    let fixed: Vec<&str> = schema::fields(base.family).map(|f| f.path).collect();
    for path in fixed.iter().filter(|p| !p.starts_with("default.")) {
        let mut t = base.clone();
        t.set(path, changed(path, base.value(path).unwrap())).unwrap();
        let expected = !NO_CYCLES.contains(path);
        assert_eq!(moves(&programs, &base, &t), expected, "{path}");
    }
}

/// The pipes beside V are those of both families; on the 950 their figures are its own.
#[test]
fn figures_of_the_other_pipes_move_results_on_the_950() {
    for name in ["950pr", "950dt"] {
        let file = source(name).unwrap();
        let base = Target::load(&file, &source, Arc::default()).unwrap();
        let programs = programs();
        let pipes = schema::fields(base.family).map(|f| f.path);
        let parts = ["scalar.", "flag.", "mte2.", "mte3."];
        let paths: Vec<&str> = pipes.filter(|p| parts.iter().any(|g| p.starts_with(g))).collect();
        assert!(paths.len() > 20, "{paths:?}");
        for path in paths {
            let mut t = base.clone();
            t.set(path, changed(path, base.value(path).unwrap())).unwrap();
            assert!(moves(&programs, &base, &t), "{path} of {name}");
        }
    }
}

/// A catalogue of every instruction a target has figures for, and one it has none for.
fn everything(t: &Target) -> Catalogue {
    let mut names: Vec<String> = t
        .paths()
        .filter(|(p, _)| schema::fields(t.family).all(|f| f.path != *p))
        .filter_map(|(p, _)| p.split('.').next().map(str::to_string))
        .collect();
    names.dedup();
    names.push("no_figures".to_string());
    let entry = |n: String| {
        let mnemonic: &'static str = n.leak();
        let kind = if mnemonic.starts_with("copy_") { Kind::Copy } else { Kind::Vector };
        Entry { mnemonic, dtypes: Vec::new(), pipe: Pipe::V, kind, cost_class: mnemonic }
    };
    Catalogue(names.into_iter().map(entry).collect())
}

/// One instruction alone: a copy of short and long bursts, or repeats over one source.
fn alone(op: OpId, dtype: DType, kind: Kind) -> Vec<Stream> {
    let one = |build: &dyn Fn(&mut Builder)| {
        let mut b = Builder::default();
        build(&mut b);
        b.stream.records[0].op = op;
        b.stream
    };
    if kind == Kind::Copy {
        return vec![
            one(&|b| done(b.copy(0, 0x10000, 4, 1, (0, 0)))),
            one(&|b| done(b.copy(0, 0x10000, 1, 96, (0, 0)))),
        ];
    }
    let walk =
        |role| Walk { space: Space::Ub, role, elem: 0, blocks: 8, unit: 32, blk: 32, rep: 256 };
    let operands = [(0x10000, walk(Role::Write)), (0, walk(Role::Read))];
    let lanes = ptoemu_core::access::Lanes::All;
    vec![one(&|b| done(b.walks("vabs", dtype, 10, lanes, &operands)))]
}

#[test]
fn figures_of_instructions_move_results() {
    let base = target("a3");
    let catalogue = Arc::new(everything(&base));
    let base = base.with_catalogue(catalogue.clone());
    let paths: Vec<String> = base.paths().map(|(p, _)| p.to_string()).collect();
    let mut seen = 0;
    for path in paths {
        let parts: Vec<&str> = path.split('.').collect();
        let name = if parts[0] == "default" { "no_figures" } else { parts[0] };
        let Some(op) = catalogue.find(name) else { continue };
        let dtype = match parts[..] {
            [_, "int", _] => I32,
            [_, key, _] => key.parse().unwrap(),
            // A figure for any type: one that has no figure of its own.
            [m, field] => *[F32, F16, I32, U8]
                .iter()
                .find(|d| {
                    let keys = [Some(d.name()), schema::class(**d)];
                    keys.iter().flatten().all(|k| base.get(&format!("{m}.{k}.{field}")).is_err())
                })
                .unwrap_or(&F32),
            _ => continue,
        };
        let mut t = base.clone();
        t.set(&path, changed(&path, base.value(&path).unwrap())).unwrap();
        let kind = catalogue.get(op).unwrap().kind;
        assert!(moves(&alone(op, dtype, kind), &base, &t), "{path} on {dtype}");
        seen += 1;
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn shipped_targets_are_sound() {
    for name in ["a2", "a3"] {
        let t = target(name);
        assert_eq!(t.name, name);
        assert!(t.value("clock_mhz").is_some());
        let used = |id: &String| t.paths().any(|(_, f)| f.src == *id);
        let idle: Vec<_> = t.sources.keys().filter(|id| !used(id)).collect();
        assert!(idle.is_empty(), "sources nobody cites: {idle:?}");
    }
    let differ: Vec<_> = target("a2").diff(&target("a3")).into_iter().map(|d| d.path).collect();
    assert_eq!(differ, ["clock_mhz"], "two names of one core");
    for (alias, name) in [("A2A3", "a3"), ("ascend910b1", "a2"), ("dav-2201", "a2")] {
        assert!(target(name).answers_to(alias), "{alias}");
    }
}

#[test]
fn shipped_files_are_ron() {
    for name in ["a2", "a3", "dav-2201"] {
        let text = &source(name).unwrap().text;
        let value: Result<ron::Value, _> = ron::from_str(text);
        assert!(value.is_ok(), "{name}: {value:?}");
    }
}
