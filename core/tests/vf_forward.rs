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
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(250) })]
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
