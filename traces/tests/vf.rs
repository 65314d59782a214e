//! Instructions inside vector functions: unfolding is exact, every port accounts for every cycle.

#[path = "../../core/tests/vf_support/mod.rs"]
mod vf_support;

use proptest::prelude::*;
use ptoemu_core::access::{Role, Space, Walk};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{
    Kind, LanesId, NONE, OpId, Pipe, Record, Shape, ShapeId, SiteId, Stream,
};
use ptoemu_core::target::Target;
use ptoemu_core::time::vf::{Node, Options, VfProgram, VfRecord, time};
use ptoemu_traces::vf::{Functions, ports};
use ptoemu_traces::{Trace, camodel, csvs, html, insight, kanata, pftrace};
use std::sync::LazyLock;
use vf_support::random::{Tree, build, tree};
use vf_support::{Build, body, target};

static TARGET: LazyLock<Target> = LazyLock::new(|| target("950pr"));

/// A record without operands.
fn record(kind: Kind, pipe: Pipe, link: u32, flag: [u8; 3]) -> Record {
    Record {
        base: [0; 3],
        op: OpId(0),
        dtype: DType::F32,
        pipe,
        kind,
        marks: Default::default(),
        repeats: 1,
        shape: ShapeId(0),
        lanes: LanesId(0),
        site: SiteId(0),
        group: NONE,
        link,
        flag,
    }
}

/// A stream that launches one function.
fn launch(p: VfProgram) -> Stream {
    let mut s = Stream::default();
    let link = s.functions.intern(p);
    s.push(record(Kind::Function, Pipe::V, link, [0; 3]));
    s
}

const PIPES: [Pipe; 4] = [Pipe::S, Pipe::V, Pipe::Mte2, Pipe::Mte3];

/// A stream of functions, transfers, scalar accesses, flags and barriers.
fn program(functions: &[Vec<Tree>], steps: &[(u8, u8, u8, u32)]) -> Stream {
    let mut s = Stream::default();
    let links: Vec<u32> = functions
        .iter()
        .filter_map(|t| {
            let mut b = Build::f32();
            let body = build(&mut b, t);
            let p = b.done(body);
            p.dynamic().is_some_and(|n| n < 20_000).then(|| s.functions.intern(p))
        })
        .collect();
    for &(kind, a, b, n) in steps {
        let (a, b) = (usize::from(a) % 4, usize::from(b) % 4);
        match kind {
            0..3 if !links.is_empty() => {
                let link = links.get(n as usize % links.len().max(1)).copied().unwrap_or(0);
                s.push(record(Kind::Function, Pipe::V, link, [0; 3]));
            }
            3..5 => {
                let unit = 32 * (n % 64 + 1);
                let (role, space) = (Role::Write, Space::Ub);
                let walk = Walk { space, role, elem: 0, blocks: 1, unit, blk: 0, rep: 0 };
                let shape = ShapeId(s.shapes.intern(Shape([Some(walk), None, None])));
                let pipe = if a < 2 { Pipe::Mte2 } else { Pipe::Mte3 };
                let r = record(Kind::Dma, pipe, 0, [0; 3]);
                s.push(Record { shape, repeats: n % 9 + 1, ..r });
            }
            5 => {
                let kind = if a < 2 { Kind::ScalarLoad } else { Kind::ScalarStore };
                s.push(record(kind, Pipe::S, 0, [0; 3]));
            }
            6 => {
                let pipe = if b == 0 { Pipe::All } else { PIPES[a] };
                s.push(record(Kind::Barrier, pipe, 0, [0; 3]));
            }
            _ if a != b => {
                let flag = [PIPES[a] as u8, PIPES[b] as u8, 0];
                let set = s.push(record(Kind::SetFlag, PIPES[a], 0, flag));
                s.push(record(Kind::WaitFlag, PIPES[b], set, flag));
            }
            _ => {}
        }
    }
    s
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn every_pipe_accounts_for_every_cycle(
        functions in prop::collection::vec(tree(), 1..3),
        steps in prop::collection::vec((0u8..9, any::<u8>(), any::<u8>(), any::<u32>()), 0..40),
    ) {
        let s = program(&functions, &steps);
        let line = ptoemu_core::time::time(&s, &TARGET);
        for pipe in PIPES {
            prop_assert_eq!(line.pipe(pipe).total(), line.cycles, "{:?}", pipe);
        }
        // What runs inside functions runs while V is busy with them, one after the other.
        let t = Trace::new(&s, &line, &TARGET, &[]);
        let mut until = 0;
        for e in t.launches() {
            prop_assert!(until <= e.start);
            for r in t.micros(&e).into_iter().flatten().take(2000) {
                prop_assert!(e.start <= r.head && r.done <= e.end);
            }
            until = e.end;
        }
    }
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

/// Every file that can hold a remark has it, and none has it where everything is shown.
#[test]
fn every_format_says_what_is_not_shown() {
    let mut b = Build::f32();
    let inner = body(&mut b, "vadd", 2);
    let s = launch(b.done(vec![Node::repeat(1_000, inner)]));
    let line = ptoemu_core::time::time(&s, &TARGET);
    for (records, missing) in [(10, 3_990), (1 << 20, 0)] {
        let t = Trace::new(&s, &line, &TARGET, &[]).keeping(records);
        assert_eq!(t.not_shown(), missing);
        let file = |write: &dyn Fn(&mut dyn std::io::Write) -> std::io::Result<()>| {
            let mut out = Vec::new();
            write(&mut out).expect("memory");
            String::from_utf8_lossy(&out).into_owned()
        };
        let one = std::slice::from_ref(&t);
        let remark = "3990 instructions inside vector functions that never became periodic";
        let run = html::Run { traces: one, tiles: &[], sources: &[] };
        for (name, text) in [
            ("all cores", file(&|w| insight::write_all(one, w))),
            ("one core", file(&|w| insight::write_core(&t, w))),
            ("Perfetto", file(&|w| pftrace::write(one, w))),
            ("summary log", file(&|w| camodel::summary(&t, w))),
            ("page", file(&|w| html::write(&[run], "", w))),
        ] {
            assert_eq!(text.contains(remark), missing > 0, "{name}");
            if name.ends_with("cores") {
                let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                assert_eq!(json["otherData"]["core0.veccore0"].is_string(), missing > 0);
            }
        }
        for (name, text) in [
            ("table", file(&|w| csvs::instructions(&t, w))),
            ("rows", file(&|w| kanata::write(&t, kanata::Options::default(), w))),
        ] {
            assert_eq!(text.contains("NOT_SHOWN:3990"), missing > 0, "{name}");
        }
    }
}
