//! Properties of the A2/A3 model over random streams.

mod support;

use proptest::prelude::*;
use ptoemu_core::access::Space;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{Kind, Marks, Pipe, Stream};
use ptoemu_core::time::{Prepared, account, time};
use support::*;

/// One step of a random program.
#[derive(Clone, Debug)]
enum Step {
    Vector(usize, bool, u32, [u64; 3], [i64; 3]),
    Copy(u32, u32),
    Dma(bool, u32, u32),
    Scalar(bool, bool),
    Mode(bool),
    Mask(u64, u64, bool),
    Barrier(usize),
    Flag(usize, usize),
}

const PIPES: [Pipe; 4] = [Pipe::S, Pipe::V, Pipe::Mte2, Pipe::Mte3];
const NAMES: [(&str, usize); 7] = [
    ("vadd", 3),
    ("vmul", 3),
    ("vdiv", 3),
    ("vmax", 3),
    ("vrsqrt", 2),
    ("vadds", 2),
    ("vector_dup", 1),
];

fn step() -> impl Strategy<Value = Step> {
    let base = || (0u64..6144).prop_map(|b| b * 32);
    let vector = (
        0..NAMES.len(),
        any::<bool>(),
        0u32..80,
        [base(), base(), base()],
        prop::array::uniform3(0i64..20),
    )
        .prop_map(|(n, half, r, b, s)| Step::Vector(n, half, r, b, s));
    prop_oneof![
        6 => vector,
        1 => (0u32..40, 1u32..20).prop_map(|(n, l)| Step::Copy(n, l)),
        1 => (any::<bool>(), 0u32..9, 1u32..2000).prop_map(|(d, n, b)| Step::Dma(d, n, b)),
        2 => (any::<bool>(), any::<bool>()).prop_map(|(l, g)| Step::Scalar(l, g)),
        1 => any::<bool>().prop_map(Step::Mode),
        2 => (any::<u64>(), 0u64..5000, any::<bool>()).prop_map(|(h, l, c)| Step::Mask(h, l, c)),
        3 => (0usize..5).prop_map(Step::Barrier),
        3 => (0usize..4, 0usize..4).prop_map(|(a, b)| Step::Flag(a, b)),
    ]
}

fn build(steps: &[Step]) -> Stream {
    let mut b = Builder::default();
    for s in steps {
        match *s {
            Step::Vector(n, half, repeats, bases, strides) => {
                let (name, operands) = NAMES[n];
                let dtype = if half { DType::F16 } else { DType::F32 };
                let all: Vec<Operand> =
                    bases.iter().zip(strides).map(|(&b, s)| (b, 1, s)).take(operands).collect();
                b.vector(name, dtype, repeats, &all);
            }
            Step::Copy(n, len) => {
                b.copy(0, 0x8000, n, len, (0, 0));
            }
            Step::Dma(load, n, bytes) => {
                b.dma(if load { Pipe::Mte2 } else { Pipe::Mte3 }, n, bytes);
            }
            Step::Scalar(load, gm) => {
                let kind = if load { Kind::ScalarLoad } else { Kind::ScalarStore };
                b.scalar(kind, if gm { Space::Gm } else { Space::Ub });
            }
            Step::Mode(count) => {
                b.mode(count);
            }
            Step::Mask(hi, lo, computed) => {
                let marks = if computed { Marks::COMPUTED } else { Marks::default() };
                b.mask_marked(hi, lo, marks);
            }
            Step::Barrier(p) => {
                b.barrier(PIPES.get(p).copied().unwrap_or(Pipe::All));
            }
            Step::Flag(src, dst) => {
                b.set_flag(PIPES[src], PIPES[dst]);
                b.wait_flag(PIPES[src], PIPES[dst]);
            }
        }
    }
    b.stream
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_cycle_of_every_pipe_is_accounted_for(steps in prop::collection::vec(step(), 0..40)) {
        let stream = build(&steps);
        let t = time(&stream, &target("a3"));
        prop_assert_eq!(t.entries.len(), stream.records.len());
        for (i, p) in t.pipes.iter().enumerate() {
            prop_assert_eq!(p.total(), t.cycles, "pipe {}: {:?}", i, p);
        }
        let p = account::provenance(&stream, &target("a3"), &t);
        prop_assert_eq!(p.figures.values().sum::<u64>(), t.cycles);
        prop_assert_eq!(p.by_conf.iter().sum::<u64>(), t.cycles);
        prop_assert!(t.stalls.iter().all(|s| s.cycles > 0));
        prop_assert!(t.entries.iter().all(|e| e.issue <= e.done && e.done <= t.cycles));
    }

    #[test]
    fn pipes_run_in_order_without_overlap(steps in prop::collection::vec(step(), 0..40)) {
        let stream = build(&steps);
        let t = time(&stream, &target("a3"));
        let mut free = [0u64; 8];
        for (r, e) in stream.records.iter().zip(&t.entries) {
            let runs = matches!(
                r.kind,
                Kind::Vector | Kind::Copy | Kind::Dma | Kind::ScalarLoad | Kind::ScalarStore
            );
            if runs {
                let f = &mut free[r.pipe as usize];
                prop_assert!(e.issue >= *f);
                *f = e.issue + u64::from(e.busy);
            }
        }
    }

    #[test]
    fn a_prepared_stream_is_timed_as_if_anew(
        steps in prop::collection::vec(step(), 0..25),
        startup in 0u32..30,
        drain in 0u32..30,
    ) {
        let stream = build(&steps);
        let base = target("a3");
        let prepared = Prepared::new(&stream, &base);
        let mut t = base.clone();
        for (path, value) in [("vadd.startup", startup), ("drain", drain)] {
            t.set(path, f64::from(value)).unwrap();
        }
        prop_assert_eq!(prepared.time(&base), time(&stream, &base));
        prop_assert_eq!(prepared.time(&t), time(&stream, &t));
    }

    #[test]
    fn adding_a_barrier_never_makes_a_program_faster(
        steps in prop::collection::vec(step(), 1..25),
        at in any::<prop::sample::Index>(),
    ) {
        // Mask restores complete with a barrier behind them, so leave them out.
        let steps: Vec<Step> =
            steps.into_iter().filter(|s| !matches!(s, Step::Mask(..) | Step::Mode(_))).collect();
        let mut more = steps.clone();
        more.insert(at.index(steps.len() + 1), Step::Barrier(1));
        let t = target("a3");
        prop_assert!(time(&build(&more), &t).cycles >= time(&build(&steps), &t).cycles);
    }
}
