//! The record of every instruction accounts for all of its cycles.

mod vf_support;

use proptest::prelude::*;
use ptoemu_core::time::vf::*;
use std::sync::LazyLock;
use vf_support::random::*;
use vf_support::*;

static TARGET: LazyLock<ptoemu_core::target::Target> = LazyLock::new(|| target("950pr"));

fn records(p: &VfProgram, params: &VfParams, fast_forward: bool) -> VfTiming {
    let opts = Options { fast_forward, records: 1 << 16, ..Options::default() };
    time_with(p, params, &*TARGET, opts).unwrap()
}

fn sum(w: &Waits) -> u64 {
    w.iter().sum()
}

fn stages(r: &VfRecord) -> [u64; 7] {
    [u64::from(r.inst), r.dispatch, r.rename, r.queue, r.issue, r.done, r.latency]
}

/// Stages in order, waits that add up, causes that name an instruction which was there before.
fn accounted(r: &VfRecord, at: &dyn Fn(u64) -> Option<VfRecord>) -> Result<(), TestCaseError> {
    prop_assert!(r.head <= r.dispatch && r.dispatch < r.rename && r.rename < r.queue, "{r:?}");
    prop_assert!(r.queue <= r.issue && r.issue + r.latency <= r.done, "{r:?}");
    prop_assert_eq!(sum(&r.front), r.dispatch - r.head, "{:?}", r);
    prop_assert_eq!(sum(&r.waits), r.done - r.dispatch - r.latency, "{:?}", r);
    for (link, waits, moment) in [(r.held, &r.front, r.dispatch), (r.after, &r.waits, r.issue)] {
        prop_assert!(link.cause == Cause::Stage || waits[link.cause as usize] > 0, "{r:?}");
        let Some(by) = link.seq.and_then(at) else { continue };
        prop_assert!(by.seq != r.seq && by.dispatch <= moment, "{r:?} by {by:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]
    #[test]
    fn waits_add_up(t in tree(), tight in 0..SETTINGS) {
        let mut b = Build::f32();
        let body = build(&mut b, &t);
        let p = b.done(body);
        prop_assume!(p.dynamic().is_some_and(|n| n < 20_000));
        let mut params = VfParams::read(&*TARGET).unwrap();
        tighten(&mut params, tight);
        let slow = records(&p, &params, false);
        let mut head = 0;
        let mut waits = Waits::default();
        for (r, seq) in slow.records.iter().zip(0..) {
            prop_assert_eq!((r.seq, r.head), (seq, head));
            accounted(r, &|seq| slow.records.get(seq as usize).copied())?;
            head = r.dispatch;
            for ((sum, f), w) in waits.iter_mut().zip(&r.front).zip(&r.waits) {
                *sum += f + w;
            }
        }
        prop_assert_eq!(slow.waits, waits);
        // Behind a skip the records are those of the plain run, numbers and cycles included.
        let fast = records(&p, &params, true);
        for r in &fast.records {
            let gap = |s: &Skip| s.seq <= r.seq && r.seq < s.seq + s.instructions;
            prop_assert!(!fast.skips.iter().any(gap));
            let s = &slow.records[r.seq as usize];
            accounted(r, &|_| None)?;
            prop_assert_eq!((stages(r), r.waits, r.after.cause), (stages(s), s.waits, s.after.cause));
            // What was in flight at a skip keeps what it met at the front before.
            let crossed = |k: &Skip| k.seq + k.instructions <= r.seq && r.dispatch <= k.at + k.cycles;
            if !fast.skips.iter().any(crossed) {
                prop_assert_eq!((r.head, r.front, r.held.cause), (s.head, s.front, s.held.cause));
            }
        }
    }
}
