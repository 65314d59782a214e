//! Instructions inside vector functions: unfolding is exact, every port accounts for every cycle.

#[path = "../../core/tests/vf_support/mod.rs"]
mod vf_support;

use proptest::prelude::*;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{Kind, LanesId, NONE, OpId, Pipe, Record, ShapeId, SiteId, Stream};
use ptoemu_core::target::Target;
use ptoemu_core::time::vf::{Node, Options, VfProgram, VfRecord, time};
use ptoemu_traces::vf::{Functions, ports};
use std::sync::LazyLock;
use vf_support::random::{build, tree};
use vf_support::{Build, body, target};

static TARGET: LazyLock<Target> = LazyLock::new(|| target("950pr"));

/// A stream that launches one function.
fn launch(p: VfProgram) -> Stream {
    let mut s = Stream::default();
    let link = s.functions.intern(p);
    s.push(Record {
        base: [0; 3],
        op: OpId(0),
        dtype: DType::F32,
        pipe: Pipe::V,
        kind: Kind::Function,
        marks: Default::default(),
        repeats: 1,
        shape: ShapeId(0),
        lanes: LanesId(0),
        site: SiteId(0),
        group: NONE,
        link,
        flag: [0; 3],
    });
    s
}

/// Stages alone: what a period was held back by before it was one may be told otherwise.
fn stages(r: &VfRecord) -> [u64; 8] {
    [r.seq, u64::from(r.inst), r.head, r.dispatch, r.rename, r.queue, r.issue, r.done]
}

fn plain(p: &VfProgram) -> Vec<VfRecord> {
    let options = Options { fast_forward: false, records: 1 << 20, ..Options::default() };
    time(p, &*TARGET, options).expect("times").records
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn unfolding_and_accounts(t in tree()) {
        let mut b = Build::f32();
        let body = build(&mut b, &t);
        let p = b.done(body);
        prop_assume!(p.dynamic().is_some_and(|n| (1..20_000).contains(&n)));
        let slow = plain(&p);
        let s = launch(p);
        let all = Functions::new(&s, &TARGET);
        let f = all.get(0).expect("a function");
        prop_assert_eq!(f.shown(), slow.len() as u64);
        for (seq, want) in (0u64..).zip(&slow) {
            let got = f.get(seq).expect("kept");
            prop_assert_eq!(stages(&got), stages(want));
            prop_assert_eq!(got.waits, want.waits);
            let stretches = f.stretches(&got);
            let sum: u64 = stretches.iter().map(|s| s.end - s.start).sum();
            prop_assert_eq!(sum, got.issue - got.head);
        }
        for p in ports(f, &TARGET) {
            prop_assert_eq!(p.total(), f.cycles(), "{:?}", p);
        }
    }
}

#[test]
fn a_million_rounds_take_the_room_of_a_few() {
    let mut b = Build::f32();
    let inner = body(&mut b, "vadd", 2);
    let p = b.done(vec![Node::repeat(1_000_000, inner)]);
    let s = launch(p);
    let all = Functions::within(&s, &TARGET, 10_000);
    let f = all.get(0).expect("a function");
    assert_eq!(f.shown(), f.instructions());
    assert!(f.folded() > 3_990_000, "{}", f.folded());
    let (a, b) = (f.get(2_000_000).expect("kept"), f.get(2_000_000 + 48_000).expect("kept"));
    assert_eq!(a.inst, b.inst);
    assert!(b.issue > a.issue);
    assert_eq!(f.get(f.instructions()), None);
}

#[test]
fn what_does_not_fit_is_said() {
    let mut b = Build::f32();
    let inner = body(&mut b, "vadd", 2);
    let s = launch(b.done(vec![Node::repeat(1_000, inner)]));
    let all = Functions::within(&s, &TARGET, 10);
    let f = all.get(0).expect("a function");
    assert_eq!(f.shown(), 10);
    for p in ports(f, &TARGET) {
        assert_eq!(p.total(), f.cycles(), "{p:?}");
        assert!(p.unknown > 0);
    }
}
