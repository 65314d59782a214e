//! Micro-ops under arbitrary operands: a fault is a message, never a panic.

use proptest::prelude::*;
use ptoemu_core::dtype::DType;
use ptoemu_core::mask::Mask;
use ptoemu_core::num::Round;
use ptoemu_core::state::Memory;
use ptoemu_isa::a5::*;

fn register() -> impl Strategy<Value = VReg> {
    (prop::collection::vec(any::<u8>(), VL), any::<[u64; 4]>(), any::<bool>()).prop_map(
        |(b, u, whole)| {
            let mut v = VReg::from_bytes(&b);
            v.undef = if whole { Mask::NONE } else { Mask::from_words(u) };
            v
        },
    )
}

fn mods() -> impl Strategy<Value = Mods> {
    let dist = prop::sample::select(Dist::NAMES).prop_map(|n| Dist::parse(n).unwrap_or_default());
    let pattern =
        prop::sample::select(Pattern::NAMES).prop_map(|n| Pattern::parse(n).unwrap_or_default());
    let cmp = prop::sample::select(&["eq", "ne", "lt", "le", "gt", "ge"][..])
        .prop_map(|n| Cmp::parse(n).unwrap_or_default());
    let round = prop::option::of(prop::sample::select(&Round::ALL[..]));
    (dist, any::<u8>(), cmp, pattern, round, any::<Option<bool>>(), any::<bool>(), any::<bool>())
        .prop_map(|(dist, part, cmp, pattern, round, sat, post, descending)| Mods {
            dist,
            part,
            cmp,
            pattern,
            round,
            sat,
            post,
            descending,
            bar: Barrier::StoreLoad,
        })
}

fn step() -> impl Strategy<Value = Step> {
    let t = || prop::sample::select(&DType::ALL[..]);
    (prop::sample::select(Op::ALL), t(), t(), any::<u8>(), mods()).prop_map(
        |(op, dt, st, gran, mods)| {
            // Mostly types the row takes, so that bodies are reached.
            let types = op.row().types;
            let st = types.get(gran as usize % types.len().max(1)).copied().unwrap_or(st);
            let same = gran % 4 != 0;
            Step { op, dt: if same { st } else { dt }, st, gran, mods }
        },
    )
}

/// Addresses in UB, at its end, and anywhere.
fn address() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (0u64..0x2000).prop_map(|b| 32 * b),
        1 => UB_BYTES - 600..UB_BYTES + 600,
        1 => any::<u64>(),
    ]
}

fn core_with(ar: u16, ctrl: u64) -> Core {
    let mut core = Core::default();
    (core.ar, core.sqzn, core.ctrl) = (u64::from(ar), u32::from(ar), ctrl);
    core
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn no_operand_panics(
        step in step(),
        v in [register(), register(), register()],
        m in any::<[[u64; 4]; 3]>(),
        n in (any::<i64>(), -3i64..300),
        s in any::<u64>(),
        p in [address(), address(), address(), address(), address()],
        moved in any::<i64>(),
        ar in any::<u16>(),
    ) {
        let mut core = core_with(ar, s);
        let mut ub = Memory::new(UB_BYTES as usize, 0xCD);
        ub.shadow.set(0, UB_BYTES / 2, true, 0);
        let mut outs = Outs::default();
        let args = Args {
            v: [&v[0], &v[1], &v[2]],
            m: m.map(Mask::from_words),
            a: Align { addr: p[1], ..Align::default() },
            n: [n.1, n.0],
            s,
            p,
            step: moved,
        };
        let first = core.exec(&mut ub, &step, &args, &mut outs);
        // The same operands again give the same registers, whatever the results held before.
        let kept = outs;
        let mut again = Outs { v: [v[2]; 2], ..Outs::default() };
        let mut core2 = core_with(ar, s);
        if first.is_ok() && !step.op.form().touches_memory() {
            prop_assert!(core2.exec(&mut ub, &step, &args, &mut again).is_ok());
            let results = step.op.form().results().iter().filter(|k| **k == Kind::V).count();
            for i in 0..results {
                prop_assert_eq!(kept.v[i].bytes(), again.v[i].bytes());
                prop_assert_eq!(kept.v[i].undef, again.v[i].undef);
            }
        }
    }

    /// Zeroing: an inactive lane of a lane-by-lane result is zero and defined.
    #[test]
    fn inactive_lanes_are_zero(a in register(), b in register(), m in any::<[u64; 4]>()) {
        let mut ub = Memory::new(64, 0);
        let mut outs = Outs::default();
        for (op, t) in [(Op::vadd, DType::F16), (Op::vmul, DType::I32), (Op::vmax, DType::U8), (Op::vabs, DType::F32)] {
            let args = Args { v: [&a, &b, &b], m: [Mask::from_words(m); 3], ..Args::default() };
            let done = Core::default().exec(&mut ub, &Step::new(op, t), &args, &mut outs);
            prop_assert!(done.is_ok());
            let size = t.size();
            for lane in 0..VL / size {
                if !Mask::from_words(m).get(lane * size) {
                    prop_assert_eq!(outs.v[0].get(lane, size), 0);
                    prop_assert_eq!(outs.v[0].undef.bits(lane * size, size), 0);
                }
            }
        }
    }
}
