//! Skipping periods of loops must not change one cycle.

mod vf_support;

use proptest::prelude::*;
use ptoemu_core::dtype::DType;
use ptoemu_core::time::vf::*;
use std::sync::LazyLock;
use vf_support::random::*;
use vf_support::*;

static TARGET: LazyLock<ptoemu_core::target::Target> = LazyLock::new(|| target("950pr"));

fn fast() -> Options {
    Options { fast_forward: true, ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]
    #[test]
    fn skipping_changes_nothing(t in tree(), half in any::<bool>(), tight in 0..SETTINGS) {
        let mut b = Build { dtype: Some(if half { DType::F16 } else { DType::F32 }), ..Build::default() };
        let body = build(&mut b, &t);
        let p = b.done(body);
        prop_assume!(p.dynamic().is_some_and(|n| n < 60_000));
        let mut params = VfParams::read(&*TARGET).unwrap();
        tighten(&mut params, tight);
        let slow = time_with(&p, &params, &*TARGET, plain()).unwrap();
        let skip = time_with(&p, &params, &*TARGET, fast()).unwrap();
        prop_assert_eq!(slow.cycles, skip.cycles);
        prop_assert_eq!(slow.last_done, skip.last_done);
        prop_assert_eq!(slow.instructions, p.dynamic().unwrap());
        prop_assert_eq!(skip.instructions, slow.instructions);
        prop_assert_eq!(slow.waits, skip.waits);
        let skipped: u64 = skip.skips.iter().map(|s| s.instructions).sum();
        prop_assert_eq!(skip.simulated + skipped, skip.instructions);
    }
}

#[test]
fn nested_loops_of_ten_million_iterations_are_skipped() {
    let mut b = Build::f32();
    let inner = body(&mut b, "vadd", 2);
    let p =
        b.done(vec![Node::repeat(10, vec![Node::repeat(1000, vec![Node::repeat(1000, inner)])])]);
    let r = time(&p, &*TARGET, fast()).unwrap();
    assert_eq!(r.instructions, 40_000_000);
    assert!(r.simulated < 200_000, "{}", r.simulated);
    // Two loads and a store share the banks: between 1.5 and 2 cycles an iteration.
    assert!((15_000_000..20_400_000).contains(&r.cycles), "{}", r.cycles);
}

/// A load, an operation of each kind of queue and a store, at addresses of their own.
fn two_queues(rows: u64, vectors: u64) -> VfProgram {
    let mut b = Build::f32();
    let load = b.load(0);
    let load = b.at(load, Access::contiguous(UB, 0, &[0, 256], 256));
    let add = b.op("vadd", 8, &[0]);
    let exp = b.op("vexp", 8, &[8]);
    let store = b.store(8);
    let store = b.at(store, Access::contiguous(UB, 1 << 28, &[0, 256], 256));
    let inner = vec![load, add, exp, store];
    b.done(vec![Node::repeat(rows, vec![Node::repeat(vectors, inner)])])
}

#[test]
fn starts_foreseen_ahead_of_the_clock_do_not_hide_a_period() {
    for (rows, vectors) in [(400, 16), (150, 33), (40, 200)] {
        let mut p = two_queues(rows, vectors);
        // What comes behind the loop meets the units as they are then.
        let tail = two_queues(5, 7);
        let first = p.insts.len() as u32;
        p.insts.extend(tail.insts);
        p.body.push(Node::repeat(9, (first..first + 4).map(Node::Inst).collect()));
        let (slow, skip) =
            (time(&p, &*TARGET, plain()).unwrap(), time(&p, &*TARGET, fast()).unwrap());
        assert!(skip.simulated < slow.simulated, "{rows} x {vectors}");
        assert_eq!((slow.cycles, slow.waits), (skip.cycles, skip.waits), "{rows} x {vectors}");
    }
    let r = time(&two_queues(78_125, 16), &*TARGET, fast()).unwrap();
    assert!(r.simulated < 5000, "{}", r.simulated);
}

#[test]
fn a_loop_shows_its_period() {
    let mut b = Build::f32();
    let inner = body(&mut b, "vexp", 1);
    let p = b.done(vec![Node::repeat(60_000, inner)]);
    let r = time(&p, &*TARGET, fast()).unwrap();
    let s = r.skips[0];
    assert_eq!(s.period_cycles, 2 * s.period_iterations, "two units, 4 cycles each");
    assert_eq!(r.cycles, time(&p, &*TARGET, plain()).unwrap().cycles);
}

#[test]
fn loads_that_meet_a_moving_store_stop_the_search() {
    // The store stands still, the loads pass over it once in a thousand iterations.
    let mut b = Build::f32();
    let load = b.load(0);
    let load = b.at(load, Access::contiguous(UB, 0, &[256], 256));
    let store = b.store(0);
    let store = b.at(store, Access::contiguous(UB, 100_000, &[0], 256));
    let p = b.done(vec![Node::repeat(1000, vec![load, store])]);
    let (slow, skip) = (time(&p, &*TARGET, plain()).unwrap(), time(&p, &*TARGET, fast()).unwrap());
    assert!(skip.skips.is_empty(), "{:?}", skip.skips);
    assert_eq!(slow.cycles, skip.cycles);
}

#[test]
fn stores_before_and_behind_a_loop_do_not_stop_its_search() {
    let mut b = Build::f32();
    let stores: Vec<Node> = (0..2)
        .map(|i| {
            let store = b.store(9);
            b.at(store, Access::contiguous(UB, 256 * i, &[], 256))
        })
        .collect();
    let load = b.load(0);
    let load = b.at(load, Access::contiguous(UB, 0, &[0, 256], 256));
    let inner = vec![load, b.op("vadd", 2, &[2, 0])];
    let rounds = Node::repeat(20, vec![Node::repeat(300, inner)]);
    let p = b.done(vec![stores[0].clone(), rounds, stores[1].clone()]);
    let (slow, skip) = (time(&p, &*TARGET, plain()).unwrap(), time(&p, &*TARGET, fast()).unwrap());
    assert_eq!((slow.cycles, slow.waits), (skip.cycles, skip.waits));
    // Not even the first round of the outer loop is simulated in full.
    assert!(skip.skips[0].seq < 600, "{:?}", skip.skips);
}
