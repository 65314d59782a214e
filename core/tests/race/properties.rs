//! Random programs, synchronised everywhere, then thinned as far as the oracle allows.

use super::build::{Operand, Step, hazards};
use super::oracle::unordered;
use proptest::prelude::*;
use ptoemu_core::access::{Lanes, Role, Space, Walk};
use ptoemu_core::diag::Level;
use ptoemu_core::mask::Mask;
use ptoemu_core::stream::Pipe;

const PIPES: [Pipe; 4] = [Pipe::S, Pipe::V, Pipe::Mte2, Pipe::Mte3];

/// A vector operand in a UB of 2 KB.
fn lanes_operand(role: Role) -> impl Strategy<Value = Operand> {
    (0u64..24, 1u16..5, 1i32..4, 0i64..9, prop::sample::select(vec![2u8, 4])).prop_map(
        move |(at, blocks, blk, rep, elem)| {
            let w = Walk {
                space: Space::Ub,
                role,
                elem,
                blocks,
                unit: 32,
                blk: 32 * blk,
                rep: 32 * rep,
            };
            (32 * at, w)
        },
    )
}

/// A transfer or scalar operand: `unit` bytes, bursts `rep` apart.
fn burst(space: Space, role: Role, small: bool) -> BoxedStrategy<Operand> {
    if small {
        let at = (0u64..200).prop_map(|n| 4 * n);
        return at
            .prop_map(move |at| {
                (at, Walk { space, role, elem: 0, blocks: 1, unit: 4, blk: 0, rep: 0 })
            })
            .boxed();
    }
    let step = if space == Space::Gm { 4 } else { 32 };
    (0u64..24, 1u32..20, 0i64..12)
        .prop_map(move |(at, unit, gap)| {
            let unit = if space == Space::Gm { 4 * unit } else { 32 * unit.div_ceil(5) };
            let rep = i64::from(unit) + step * gap;
            (32 * at, Walk { space, role, elem: 0, blocks: 1, unit, blk: 0, rep })
        })
        .boxed()
}

fn lanes() -> impl Strategy<Value = Lanes> {
    prop_oneof![
        Just(Lanes::Norm(Mask::first(128))),
        any::<u64>().prop_map(|w| Lanes::Norm(Mask::from_words([w, !w, 0, 0]))),
        (1u64..100).prop_map(|total| Lanes::Count { total, per_repeat: 64 }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let vector = (lanes_operand(Role::Write), lanes_operand(Role::Read), any::<bool>(), 0u16..2);
    let vector = (vector, lanes(), 1u32..4).prop_map(|((mut d, s, update, op), lanes, repeats)| {
        if update {
            d.1.role = Role::Update;
        }
        Step::Access { pipe: Pipe::V, op, operands: vec![d, s], lanes, repeats }
    });
    let moved = |pipe, operands, repeats| Step::Access {
        pipe,
        op: 0,
        operands,
        lanes: Lanes::All,
        repeats,
    };
    let load = (burst(Space::Ub, Role::Write, false), burst(Space::Gm, Role::Read, false), 1u32..4)
        .prop_map(move |(d, s, n)| moved(Pipe::Mte2, vec![d, s], n));
    let atomic = prop::sample::select(vec![Role::Write, Role::Update]);
    let store =
        (burst(Space::Gm, Role::Write, false), burst(Space::Ub, Role::Read, false), 1u32..4)
            .prop_flat_map(move |(d, s, n)| {
                atomic.clone().prop_map(move |role| {
                    let mut d = d;
                    d.1.role = role;
                    moved(Pipe::Mte3, vec![d, s], n)
                })
            });
    let scalar = (0u8..4).prop_flat_map(move |n| {
        let space = if n & 1 == 0 { Space::Ub } else { Space::Gm };
        let role = if n & 2 == 0 { Role::Read } else { Role::Write };
        burst(space, role, true).prop_map(move |o| moved(Pipe::S, vec![o], 1))
    });
    prop_oneof![4 => vector, 2 => load, 2 => store, 1 => scalar]
}

/// Every kind of order before every access.
fn everywhere(accesses: &[Step]) -> Vec<Step> {
    let mut out = Vec::new();
    for (i, step) in accesses.iter().enumerate() {
        let Step::Access { pipe, .. } = step else { continue };
        if i % 7 == 3 {
            out.push(Step::Barrier(Pipe::All));
        }
        for from in PIPES.into_iter().filter(|p| p != pipe) {
            let id = (i % 8) as u8;
            out.extend([Step::Set(from, *pipe, id), Step::Wait(from, *pipe, id)]);
        }
        if *pipe != Pipe::S {
            out.push(Step::Barrier(*pipe));
        }
        out.push(step.clone());
    }
    out
}

/// The program without the order at `at`, or `None` if that is an access.
fn without(steps: &[Step], at: usize) -> Option<Vec<Step>> {
    let n = match steps.get(at)? {
        Step::Barrier(_) => 1,
        Step::Set(..) => 2,
        _ => return None,
    };
    Some(steps[..at].iter().chain(&steps[at + n..]).cloned().collect())
}

/// Removes what the oracle says is not needed, in an order that depends on `seed`.
fn thin(mut steps: Vec<Step>, seed: u64) -> Vec<Step> {
    let mut state = seed | 1;
    let mut failed = 0;
    while failed < 40 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let at = (state >> 33) as usize % steps.len().max(1);
        match without(&steps, at) {
            Some(rest) if unordered(&rest).is_empty() => (steps, failed) = (rest, 0),
            _ => failed += 1,
        }
    }
    steps
}

fn errors(steps: &[Step]) -> usize {
    hazards(steps).iter().filter(|f| f.diag.level == Level::Error).count()
}

/// The program with the lines that the findings ask for.
fn repaired(steps: &[Step]) -> Vec<Step> {
    let found = hazards(steps);
    let pipe = |i: u32| match &steps[i as usize] {
        Step::Access { pipe, .. } => *pipe,
        other => panic!("{other:?} is no access"),
    };
    let mut out = Vec::new();
    for (i, step) in (0u32..).zip(steps) {
        for f in found.iter().filter(|f| f.record == i) {
            let (from, to) = (pipe(f.other.unwrap()), pipe(i));
            if from == to {
                out.push(Step::Barrier(to));
            } else {
                out.extend([Step::Set(from, to, 7), Step::Wait(from, to, 7)]);
            }
        }
        out.push(step.clone());
    }
    out
}

proptest! {
    #[test]
    fn thinned_programs_are_clean_and_every_edge_counts(
        accesses in prop::collection::vec(step(), 2..9),
        seed in any::<u64>(),
    ) {
        let full = everywhere(&accesses);
        prop_assert_eq!(unordered(&full), []);
        prop_assert_eq!(errors(&full), 0);
        let thin = thin(full, seed);
        prop_assert_eq!(errors(&thin), 0, "{:?}", thin);
        for at in 0..thin.len() {
            if let Some(rest) = without(&thin, at) {
                let want = unordered(&rest);
                prop_assert_eq!(errors(&rest) > 0, !want.is_empty(), "{:?} in {:#?}", want, rest);
            }
        }
    }

    #[test]
    fn what_findings_ask_for_repairs_the_program(
        accesses in prop::collection::vec(step(), 2..12),
    ) {
        let want = unordered(&accesses);
        let found = hazards(&accesses);
        prop_assert_eq!(found.is_empty(), want.is_empty());
        for f in &found {
            let pair = (f.other.unwrap() as usize, f.record as usize);
            prop_assert!(want.contains(&pair), "{:?} is ordered: {:?}", pair, f.diag);
        }
        let fixed = repaired(&accesses);
        prop_assert_eq!(unordered(&fixed), []);
        prop_assert_eq!(errors(&fixed), 0);
    }
}
