//! Functions compiled once are timed as those compiled for each target.

mod vf_support;

use ptoemu_core::time::vf::*;
use vf_support::*;

#[test]
fn many_targets_of_one_compilation() {
    let mut b = Build::f32();
    let inner = body(&mut b, "vadd", 2);
    b.post_update(&inner[0]);
    let one = Node::repeat(1, vec![b.op("vexp", 5, &[2])]);
    let soft = Node::Loop(Loop { trips: 6, body: vec![one], hardware: false, dynamic: false });
    let first = b.done(vec![Node::repeat(3, vec![Node::repeat(9, inner)]), soft]);
    let mut b = Build::f16();
    let inner = body(&mut b, "vdiv", 2);
    let second = b.done(vec![Node::repeat(20, inner)]);
    let programs = [&first, &second];
    let compiled = Compiled::new(programs);
    let base = target("950pr");
    let mut seen = std::collections::BTreeSet::new();
    for (path, value) in [
        ("clock_mhz", 1000.0),
        ("vexp.f32.latency", 30.0),
        ("vf.flatten_one_trip", 0.0),
        ("vf.software_loop", 83.0),
        ("vf.post_update", 7.0),
        ("vf.two_loads", 5.0),
        ("vf.iteration", 3.0),
        ("vf.exus", 1.0),
        ("vdiv.f16.interval", 12.0),
    ] {
        let mut t = base.clone();
        t.set(path, value).unwrap_or_else(|d| panic!("{}", d.message));
        let bound = compiled.bind(&t).unwrap();
        let many = [0, 1].map(|i| bound.time(i, Options::default()).unwrap());
        let fresh = programs.map(|p| time(p, &t, Options::default()).unwrap());
        assert_eq!(many, fresh, "{path}");
        assert!(seen.insert(many.map(|t| t.cycles)), "{path} is not felt");
    }
}

#[test]
fn a_function_without_figures_fails_alone() {
    let mut b = Build::f32();
    let good = vec![b.load(0), b.store(0)];
    let good = b.done(good);
    let mut b = Build::f32();
    let bad = vec![b.op("vnever", 0, &[1])];
    let bad = b.done(bad);
    let t = target("950pr");
    let compiled = Compiled::new([&bad, &good]);
    let bound = compiled.bind(&t).unwrap();
    assert!(bound.time(0, Options::default()).unwrap_err().message.contains("vnever"));
    assert_eq!(bound.time(1, Options::default()).unwrap().cycles, cycles(&good, &t));
    assert!(bound.time(2, Options::default()).is_err());
}
