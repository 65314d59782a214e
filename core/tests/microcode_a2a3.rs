//! The instruction lists of the case file against the reference model they were published with.
//!
//! The reference knows no arbiter and one startup less for integers; with its figures the model
//! must agree to the cycle wherever no instruction writes the layer it reads.

#[path = "support/microcode.rs"]
mod microcode;
mod support;

use microcode::{Case, cases};
use ptoemu_core::access::Role;
use ptoemu_core::stream::{Kind, Stream};
use ptoemu_core::target::Target;
use ptoemu_core::time::{Prepared, time};
use support::target;

/// The figures of the reference model.
fn reference_figures() -> Target {
    let mut t = target("a3");
    let ints = ["vadd.int", "vsub.int", "vmul.int", "vmax.int", "vmin.int"];
    for (path, value) in ints.iter().zip([5.0, 5.0, 6.0, 5.0, 5.0]) {
        t.set(&format!("{path}.startup"), value).unwrap();
    }
    // Control costs it nothing but the first mask.
    t.set("mask.behind_barrier", 0.0).unwrap();
    t.set("scalar.issue", 0.0).unwrap();
    t
}

/// Does some vector instruction read the 64 KB layer it writes?
fn clashes(stream: &Stream) -> bool {
    stream.records.iter().filter(|r| r.kind == Kind::Vector).any(|r| {
        let layers = |role: Role| {
            stream.operands(r).filter(move |(_, w)| w.role == role).map(|(base, _)| base >> 16)
        };
        layers(Role::Write).any(|w| layers(Role::Read).any(|x| x == w))
    })
}

#[test]
fn agrees_with_the_reference_where_nothing_clashes() {
    let t = reference_figures();
    let (mut compared, mut clashing) = (0, 0);
    for c in cases() {
        let Some(want) = c.reference else { continue };
        let stream = c.stream();
        let got = time(&stream, &t).cycles as f64;
        if clashes(&stream) {
            // Our arbiter delays reads behind writes; it never makes an instruction faster.
            assert!(got >= want && got <= want * 1.08, "{}: {got}, reference {want}", c.name);
            clashing += 1;
        } else {
            assert_eq!(got, want, "{}", c.name);
            compared += 1;
        }
    }
    assert!(compared > 700 && clashing > 20, "{compared} {clashing}");
}

/// The cases of full tiles of 64 rows that have a measured total.
fn measured(c: &Case) -> Option<f64> {
    let lines = include_str!("../../tests/data/measured/a2a3_measured_lines.csv");
    let dtype = match c.dtype.name() {
        "f32" => "fp32",
        "f16" => "fp16",
        _ => return None,
    };
    let run_time = c.variant.contains("dyn") || c.variant == "src_rowmajor_block";
    if c.rows != 64 || !c.full || !run_time {
        return None;
    }
    lines.lines().find_map(|l| {
        let f: Vec<&str> = l.split(',').collect();
        let hit = f[0] == c.op && f[1] == dtype && f[2].parse() == Ok(c.cols);
        let (slope, bias) = (f[3].parse::<f64>().ok()?, f[4].parse::<f64>().ok()?);
        hit.then_some(slope * 64.0 * c.cols as f64 + bias)
    })
}

#[test]
fn measured_lines_are_met() {
    let t = target("a3");
    let mut n = 0;
    for c in cases() {
        let Some(want) = measured(&c) else { continue };
        let got = time(&c.stream(), &t).cycles as f64;
        assert!((got / want - 1.0).abs() <= 0.01, "{}: {got}, measured {want}", c.name);
        n += 1;
    }
    assert!(n >= 4, "{n}");
}

#[test]
fn retiming_is_the_same_as_timing_anew() {
    let base = target("a3");
    for c in cases().iter().step_by(7) {
        let stream = c.stream();
        let prepared = Prepared::new(&stream, &base);
        for (path, value) in
            [("vmax.per_repeat", 3.0), ("ub.bank_groups", 8.0), ("drain", 2.0), ("end", 0.0)]
        {
            let mut t = base.clone();
            t.set(path, value).unwrap();
            assert_eq!(prepared.time(&t), time(&stream, &t), "{} {path}", c.name);
        }
        assert_eq!(prepared.time(&base), time(&stream, &base), "{}", c.name);
    }
}

#[test]
fn pipes_account_for_every_cycle() {
    let t = target("a3");
    for c in cases() {
        let timeline = time(&c.stream(), &t);
        for (i, p) in timeline.pipes.iter().enumerate() {
            assert_eq!(p.total(), timeline.cycles, "{} pipe {i}: {p:?}", c.name);
        }
    }
}
