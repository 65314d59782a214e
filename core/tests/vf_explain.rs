//! Every cycle of a function is explained by one figure, the one that decides it.

mod vf_support;

use proptest::prelude::*;
use ptoemu_core::time::vf::*;
use std::sync::LazyLock;
use vf_support::random::*;
use vf_support::*;

static TARGET: LazyLock<ptoemu_core::target::Target> = LazyLock::new(|| target("950pr"));

/// Share of the figures whose path begins so.
fn share(p: &VfProgram, path: &str) -> f64 {
    let figures = explain(p, &TARGET).unwrap();
    let of = |all: bool| -> u64 {
        figures.iter().filter(|(k, _)| all || k.starts_with(path)).map(|(_, n)| n).sum()
    };
    println!("{figures:?}");
    of(false) as f64 / of(true) as f64
}

#[test]
fn what_bounds_a_loop_explains_it() {
    let looped = |trips: &[u64], make: &dyn Fn(&mut Build) -> Vec<Node>| {
        let mut b = Build::f32();
        let body = make(&mut b);
        let nest = trips.iter().rev().fold(body, |body, &n| vec![Node::repeat(n, body)]);
        b.done(nest)
    };
    let exp = |b: &mut Build| body(b, "vexp", 1);
    let chain = |b: &mut Build| {
        let mut body = vec![b.load(0)];
        body.extend((0..20).map(|_| b.op("vadds", 1, &[1])));
        body
    };
    let stores = |b: &mut Build| vec![b.store(0), b.store(0), b.store(0)];
    for trips in [vec![500], vec![60_000], vec![40, 30], vec![9, 400, 300]] {
        assert!(share(&looped(&trips, &exp), "vexp") > 0.8, "{trips:?}: the iterative unit");
        assert!(share(&looped(&trips, &chain), "vadds.latency") > 0.9, "{trips:?}: the chain");
        assert!(share(&looped(&trips, &stores), "vf.store_ports") > 0.8, "{trips:?}: the port");
    }
    let rows = |b: &mut Build| body(b, "vmins", 1);
    assert!(share(&looped(&[300, 2], &rows), "vf.rearm") > 0.7, "short rows");
    let bars = |b: &mut Build| vec![b.load(0), b.bar(Bar::LoadStore), b.store(0)];
    assert!(share(&looped(&[50], &bars), "vf.bar") > 0.5, "barriers");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]
    #[test]
    fn figures_add_up_to_the_cycles(t in tree()) {
        let mut b = Build::f32();
        let body = build(&mut b, &t);
        let p = b.done(body);
        prop_assume!(p.dynamic().is_some_and(|n| n < 1_000_000));
        let figures = explain(&p, &TARGET).unwrap();
        let cycles = time(&p, &*TARGET, Options::default()).unwrap().cycles;
        prop_assert_eq!(figures.values().sum::<u64>(), cycles);
        for path in figures.keys() {
            prop_assert!(TARGET.get(path).is_ok(), "{} is no figure", path);
        }
    }
}
