//! Skipping periods of loops must not change one cycle.

mod vf_support;

use proptest::prelude::*;
use ptoemu_core::dtype::DType;
use ptoemu_core::time::vf::*;
use std::sync::LazyLock;
use vf_support::*;

static TARGET: LazyLock<ptoemu_core::target::Target> = LazyLock::new(|| target("950pr"));

/// An instruction to be: mnemonic, registers and address by number.
#[derive(Clone, Debug)]
struct Raw {
    op: u8,
    regs: [u16; 3],
    base: i64,
    deltas: [i64; 3],
    known: bool,
    post: bool,
}

#[derive(Clone, Debug)]
enum Tree {
    Inst(Raw),
    Loop(u64, bool, Vec<Tree>),
}

fn raw() -> impl Strategy<Value = Tree> {
    let delta = prop_oneof![
        3 => Just(256i64), 1 => Just(0i64), 1 => Just(512), 1 => Just(96), 1 => Just(-256), 1 => Just(4)
    ];
    (
        0u8..24,
        [0u16..9, 0u16..9, 0u16..9],
        (0i64..64).prop_map(|b| b * 32),
        [delta.clone(), delta.clone(), delta],
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(op, regs, base, deltas, known, post)| {
            Tree::Inst(Raw { op, regs, base, deltas, known, post })
        })
}

fn trips() -> impl Strategy<Value = u64> {
    prop_oneof![2 => 1u64..8, 2 => 8u64..80, 1 => 80u64..400]
}

/// Up to three levels of loops.
fn tree() -> impl Strategy<Value = Vec<Tree>> {
    let inner = prop::collection::vec(raw(), 1..9);
    let looped = (trips(), any::<bool>(), inner).prop_map(|(n, d, b)| Tree::Loop(n, d, b));
    let two = prop_oneof![2 => raw(), 2 => looped];
    let outer = (1u64..40, any::<bool>(), prop::collection::vec(two, 1..5))
        .prop_map(|(n, d, b)| Tree::Loop(n, d, b));
    let three = prop_oneof![1 => raw(), 3 => outer];
    let top = (1u64..9, any::<bool>(), prop::collection::vec(three.clone(), 1..3))
        .prop_map(|(n, d, b)| Tree::Loop(n, d, b));
    prop::collection::vec(prop_oneof![2 => three, 1 => top], 1..4)
}

fn build(b: &mut Build, t: &[Tree]) -> Vec<Node> {
    t.iter()
        .map(|t| match t {
            Tree::Inst(r) => inst(b, r),
            Tree::Loop(n, dynamic, body) => {
                let body = build(b, body);
                Node::Loop(Loop { trips: *n, body, hardware: true, dynamic: *dynamic })
            }
        })
        .collect()
}

fn inst(b: &mut Build, r: &Raw) -> Node {
    let region = if r.known { UB } else { 1 + u32::from(r.regs[2] % 2) };
    let access = Access::contiguous(region, r.base, &r.deltas, 256);
    let [x, y, z] = r.regs;
    let node = match r.op {
        0..=4 => b.load(x),
        5..=8 => b.store(x),
        9 | 10 => b.op("vadd", x, &[y, z]),
        11 => b.op("vmul", x, &[y, z]),
        12 => b.op("vexp", x, &[y]),
        13 => b.op("vdiv", x, &[y, z]),
        14 => b.op("vcmax", x, &[y]),
        15 => b.op("vdup", x, &[y]),
        16 => b.op("vmax", x, &[x, y]),
        17 => b.inst("pset", Kind::Predicate, &[mreg(x % 3)], &[]),
        18 => b.inst("vsel", Kind::Compute, &[vreg(x)], &[vreg(y), vreg(z), mreg(x % 3)]),
        19 => b.inst("vcmp", Kind::Compute, &[mreg(x % 3)], &[vreg(y), vreg(z)]),
        20 => b.inst("sadd", Kind::Scalar, &[], &[]),
        21 => b.bar(Bar::StoreLoad),
        22 => b.bar(Bar::LoadStore),
        _ => b.bar(if x > 4 { Bar::All } else { Bar::StoreStore }),
    };
    if r.op < 9 {
        let node = b.at(node, access);
        if r.post {
            b.post_update(&node);
        }
        return node;
    }
    node
}

fn fast() -> Options {
    Options { fast_forward: true, ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn skipping_changes_nothing(t in tree(), half in any::<bool>(), tight in 0u8..4) {
        let mut b = Build { dtype: Some(if half { DType::F16 } else { DType::F32 }), ..Build::default() };
        let body = build(&mut b, &t);
        let p = b.done(body);
        prop_assume!(p.dynamic().is_some_and(|n| n < 60_000));
        let mut params = VfParams::read(&*TARGET).unwrap();
        match tight {
            1 => { params.set("vf.registers", 12); }
            2 => { params.set("vf.credits", 5); params.set("vf.bar.store_store", 3); }
            3 => { params.set("vf.loads_first", 0); params.set("vf.exu_queue", 2); }
            _ => {}
        }
        let slow = time_with(&p, &params, &*TARGET, plain()).unwrap();
        let skip = time_with(&p, &params, &*TARGET, fast()).unwrap();
        prop_assert_eq!(slow.cycles, skip.cycles);
        prop_assert_eq!(slow.last_done, skip.last_done);
        prop_assert_eq!(slow.instructions, p.dynamic().unwrap());
        prop_assert_eq!(skip.instructions, slow.instructions);
        prop_assert_eq!(slow.waits, skip.waits);
        prop_assert_eq!(skip.simulated + skip.skips.iter().map(|s| s.instructions).sum::<u64>() >= skip.instructions, true);
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
