//! Each rule of the pipeline from both sides: what it holds back starts at the stated cycle, not
//! one later and not one earlier.

mod vf_support;

use ptoemu_core::time::vf::*;
use vf_support::*;

fn run(p: &VfProgram, set: &[(&str, f64)]) -> Vec<VfRecord> {
    let mut t = target("950pr");
    for (path, v) in set {
        t.set(path, *v).unwrap();
    }
    time(p, &t, recorded()).unwrap().records
}

fn issues(r: &[VfRecord]) -> Vec<u64> {
    r.iter().map(|r| r.issue).collect()
}

fn waited(r: &VfRecord, cause: Cause) -> u64 {
    r.front[cause as usize] + r.waits[cause as usize]
}

#[test]
fn launch_opens_dispatch_at_21_and_execution_at_23() {
    let mut b = Build::f32();
    let body = vec![b.load(0), b.inst("pset", Kind::Predicate, &[mreg(0)], &[])];
    let r = run(&b.done(body), &[]);
    assert_eq!((r[0].dispatch, r[0].rename, r[0].issue), (21, 22, 23));
    assert_eq!(waited(&r[0], Cause::Launch), 21);
    assert_eq!(r[1].issue, 23);
}

#[test]
fn five_instructions_dispatch_in_a_cycle() {
    let mut b = Build::f32();
    let body = (0..6).map(|i| b.load(i)).collect();
    let r = run(&b.done(body), &[]);
    assert_eq!(r.iter().map(|r| r.dispatch).collect::<Vec<_>>(), [21, 21, 21, 21, 21, 22]);
    assert_eq!(issues(&r), [23, 23, 24, 24, 25, 25], "two load ports");
    assert_eq!(waited(&r[2], Cause::Port), 1);
}

#[test]
fn inner_loops_open_later_and_rearm() {
    let mut b = Build::f32();
    let inner = b.load(0);
    let p = b.done(vec![Node::repeat(2, vec![Node::repeat(3, vec![inner])])]);
    let r = run(&p, &[]);
    // Block 19, inner loop one later, open two later; iterations one a cycle; then 4 + 2 after
    // the last dispatch.
    let at: Vec<u64> = r.iter().map(|r| r.dispatch).collect();
    assert_eq!(at, [22, 23, 24, 30, 31, 32]);
    assert_eq!(waited(&r[3], Cause::Rearm), 6, "free to go at 24 but for the loop");
}

#[test]
fn the_next_block_starts_with_the_last_dispatch() {
    let mut b = Build::f32();
    let (x, y) = (b.load(0), b.load(1));
    let r = run(&b.done(vec![Node::repeat(2, vec![x]), Node::repeat(2, vec![y])]), &[]);
    assert_eq!(r.iter().map(|r| r.dispatch).collect::<Vec<_>>(), [21, 22, 24, 25]);
}

#[test]
fn one_trip_loops_cost_nothing_unless_their_count_is_dynamic() {
    let build = |dynamic| {
        let mut b = Build::f32();
        let body = vec![b.load(0)];
        let inner = Node::Loop(Loop { trips: 1, body, hardware: true, dynamic });
        b.done(vec![Node::repeat(3, vec![inner])])
    };
    let at = |r: Vec<VfRecord>| r.iter().map(|r| r.dispatch).collect::<Vec<_>>();
    assert_eq!(at(run(&build(false), &[])), [21, 22, 23]);
    assert_eq!(at(run(&build(true), &[])), [22, 28, 34], "rows of one iteration: 6 cycles");
}

#[test]
fn software_loops_are_a_setting() {
    let mut b = Build::f32();
    let body = vec![b.load(0)];
    let p = b.done(vec![Node::Loop(Loop { trips: 3, body, hardware: false, dynamic: true })]);
    let at = |r: Vec<VfRecord>| r.iter().map(|r| r.dispatch).collect::<Vec<_>>();
    assert_eq!(at(run(&p, &[])), [21, 22, 23]);
    assert_eq!(at(run(&p, &[("vf.software_loop", 83.0)])), [21, 104, 187]);
}

#[test]
fn a_register_is_free_when_overwritten_and_released() {
    let mut b = Build::f32();
    let body = vec![b.load(0), b.op("vadds", 0, &[0]), b.load(1), b.load(2)];
    let r = run(&b.done(body), &[("vf.registers", 3.0)]);
    // The first version of v0 is overwritten at 22; its reader starts at 29, releases at 33, and
    // the cycle after that the fourth instruction dispatches.
    assert_eq!((r[1].issue, r[3].dispatch), (29, 34));
    assert_eq!(waited(&r[3], Cause::Register), 13);
}

#[test]
fn a_credit_comes_back_one_cycle_after_the_queue() {
    let mut b = Build::f32();
    let body = vec![b.op("vadds", 0, &[0]), b.op("vadds", 1, &[1]), b.op("vadds", 2, &[2])];
    let r = run(&b.done(body), &[("vf.credits", 2.0)]);
    // Renamed 22, in the queue 23, out 23; credit 24, seen by the dispatch of 25.
    assert_eq!((r[0].queue, r[2].dispatch), (24, 25));
    assert_eq!(waited(&r[2], Cause::Credit), 4);
}

#[test]
fn results_are_forwarded() {
    let chain = |ops: &[&str]| {
        let mut b = Build::f32();
        let mut body = vec![b.load(0)];
        body.extend(ops.iter().map(|op| b.op(op, 0, &[0])));
        body.push(b.store(0));
        let r = run(&b.done(body), &[]);
        r.windows(2).map(|w| w[1].issue - w[0].issue).collect::<Vec<_>>()
    };
    assert_eq!(chain(&["vadd", "vadd"]), [6, 3, 5], "load, own bypass, store");
    assert_eq!(chain(&["vexp", "vadds"]), [6, 13, 5]);
    assert_eq!(chain(&["vadd", "vexp"]), [6, 4, 14], "a late consumer of a short bypass");
    assert_eq!(chain(&["vdup", "vadd"]), [2, 8, 5]);
    assert_eq!(chain(&["vadd", "vdup"]), [6, 4, 4]);
}

#[test]
fn predicates_reach_selections() {
    let mut b = Build::f32();
    let body = vec![
        b.inst("vcmp", Kind::Compute, &[mreg(0)], &[]),
        b.inst("vsel", Kind::Compute, &[vreg(0)], &[mreg(0)]),
        b.inst("pset", Kind::Predicate, &[mreg(1)], &[]),
        b.inst("vadd", Kind::Compute, &[vreg(1)], &[mreg(1)]),
    ];
    let r = run(&b.done(body), &[]);
    assert_eq!(r[1].issue - r[0].issue, 2);
    assert_eq!(r[3].issue - r[2].issue, 2);
}

#[test]
fn scalars_retire_after_four_cycles_two_a_cycle() {
    let mut b = Build::f32();
    let body = (0..3).map(|_| b.inst("sadd", Kind::Scalar, &[], &[])).collect();
    let r = run(&b.done(body), &[]);
    assert_eq!(issues(&r), [23, 23, 24]);
    assert_eq!(r[0].done - r[0].issue, 4);
}

#[test]
fn units_keep_their_intervals() {
    let two = |a: &str, b_: &str, set: &[(&str, f64)]| {
        let mut b = Build::f32();
        let body = vec![b.op(a, 0, &[8]), b.op(b_, 1, &[9])];
        let r = run(&b.done(body), set);
        (r[1].issue - r[0].issue, r[1].exu)
    };
    let one = &[("vf.exus", 1.0)];
    assert_eq!(two("vexp", "vexp", &[]), (0, 1), "the second unit is free");
    assert_eq!(two("vexp", "vexp", one), (4, 0));
    assert_eq!(two("vexp", "vdiv", one), (6, 0));
    assert_eq!(two("vmul", "vadd", one), (2, 0), "one write-back port");
    assert_eq!(two("vadd", "vmul", one), (1, 0));
    assert_eq!(two("vcmax", "vadd", one), (4, 0));
    assert_eq!(two("vcmax", "vcmax", &[]), (1, 0), "unit 0 only");
}

#[test]
fn a_unit_holds_seven_unfinished() {
    let mut b = Build::f32();
    let body = (0..9).map(|i| b.op("vmul", i, &[20])).collect();
    let r = run(&b.done(body), &[("vf.exus", 1.0)]);
    assert_eq!(issues(&r)[..7], [24, 25, 26, 27, 28, 29, 30]);
    assert_eq!((r[7].issue, r[0].done), (32, 32), "when the first is done, not at 31");
}

#[test]
fn a_full_unit_queue_holds_the_shared_queue() {
    let mut b = Build::f32();
    let body = (0..4).map(|i| b.op("vexp", i, &[20])).collect();
    let r = run(&b.done(body), &[("vf.exus", 1.0), ("vf.exu_queue", 1.0)]);
    // One waits in the queue while the unit is held for 4 cycles.
    assert_eq!(issues(&r), [24, 28, 32, 36]);
    assert_eq!((r[2].issue, r[3].queue), (32, 34), "moves in the cycle after, arrives one later");
    assert_eq!((waited(&r[0], Cause::Queue), waited(&r[3], Cause::Queue)), (0, 10));
}

#[test]
fn the_window_bounds_what_is_in_flight() {
    let mut b = Build::f32();
    let body = (0..9).map(|i| b.load(i)).collect();
    let r = run(&b.done(body), &[("vf.window", 8.0)]);
    // The first two finish at 32; dispatch sees it in the next cycle.
    assert_eq!((r[7].dispatch, r[8].dispatch), (22, 33));
}

#[test]
fn two_loads_keep_a_store_out() {
    let build = |loads: u16| {
        let mut b = Build::f32();
        let mut body = vec![b.store(9)];
        body.extend((0..loads).map(|i| b.load(i)));
        b.done(body)
    };
    let store = |n| run(&build(n), &[])[0].issue;
    assert_eq!((store(0), store(1), store(2)), (23, 23, 24));
    let r = run(&build(2), &[]);
    assert_eq!(waited(&r[0], Cause::Port), 1);
    assert_eq!(run(&build(2), &[("vf.ub_shared", 0.0)])[0].issue, 23);
    let first = run(&build(2), &[("vf.loads_first", 0.0)]);
    assert_eq!(issues(&first), [23, 23, 24], "the store and one load");
}

#[test]
fn a_store_waits_for_the_bank_of_a_load() {
    let at = |store: i64, bytes: u32| {
        let mut b = Build::f32();
        let (s, l) = (b.store(9), b.load(0));
        let s = b.at(s, Access::contiguous(UB, store, &[], bytes));
        let l = b.at(l, Access::contiguous(UB, 0, &[], 256));
        let r = run(&b.done(vec![s, l]), &[]);
        (r[0].issue, r[0].done)
    };
    assert_eq!(at(4096 + 256, 256), (23, 32), "other bank");
    assert_eq!(at(4096, 256), (24, 33), "same bank");
    assert_eq!(at(4096 + 128, 256), (23, 33), "half of it: the rest is written a cycle later");
}

#[test]
fn blocks_in_one_group_take_turns() {
    let run_with = |stride: i32| {
        let mut b = Build::f32();
        let (x, y) = (b.load(0), b.load(1));
        let mut a = Access::contiguous(UB, 0, &[], 32);
        a.pieces = 8;
        a.stride = stride;
        let x = b.at(x, a);
        let y = b.at(y, Access::contiguous(UB, 1 << 16, &[], 256));
        issues(&run(&b.done(vec![x, y]), &[]))
    };
    assert_eq!(run_with(32), [23, 23]);
    assert_eq!(run_with(256), [23, 27], "eight blocks, two a cycle");
}

#[test]
fn a_load_waits_for_the_store_of_its_bytes() {
    let at = |load: i64, set: &[(&str, f64)]| {
        let mut b = Build::f32();
        let (s, l) = (b.store(9), b.load(0));
        let s = b.at(s, Access::contiguous(UB, 256, &[], 256));
        let l = b.at(l, Access::contiguous(UB, load, &[], 256));
        let r = run(&b.done(vec![s, l]), set);
        (r[1].issue, waited(&r[1], Cause::Order))
    };
    assert_eq!(at(0, &[]), (23, 0), "ends where the store begins");
    assert_eq!(at(1, &[]), (32, 9), "one byte in common: when the store is done");
    assert_eq!(at(511, &[]).0, 32);
    assert_eq!(at(512, &[]).0, 23);
    assert_eq!(at(1, &[("vf.same_address_order", 0.0)]).0, 23);
}

#[test]
fn barriers_release_when_calibrated() {
    let after = |bar: Bar, set: &[(&str, f64)]| {
        let mut b = Build::f32();
        let body = vec![b.load(0), b.store(9), b.bar(bar), b.load(1), b.store(8)];
        let r = run(&b.done(body), set);
        let done = r[0].done.max(r[1].done);
        (r[3].issue as i64 - done as i64, r[4].issue as i64 - done as i64)
    };
    // The barrier starts one cycle after the last older access is done.
    let (load, store) = after(Bar::LoadStore, &[]);
    // The younger load starts with the older one; the older store then one later.
    assert_eq!((load, store), (-10, 1 + 18 + 4), "loads pass");
    let (load, store) = after(Bar::StoreLoad, &[]);
    assert_eq!((load, store), (1 + 7 + 1, -8), "stores pass");
    assert_eq!(after(Bar::All, &[]), (9, 23));
    assert_eq!(after(Bar::StoreStore, &[]), (-10, -8), "off");
    assert_eq!(after(Bar::StoreStore, &[("vf.bar.store_store", 3.0)]), (-10, 3));
    let mut b = Build::f32();
    let body = vec![b.load(0), b.bar(Bar::LoadStore), b.store(8)];
    let r = run(&b.done(body), &[]);
    assert_eq!(waited(&r[2], Cause::Bar), r[2].issue - (r[2].rename + 1));
    assert_eq!(r[1].done - r[1].issue, 20);
}

#[test]
fn stores_behind_store_barriers_come_every_twelve_cycles() {
    let mut b = Build::f32();
    let body = vec![b.load(0), b.op("vadd", 1, &[0]), b.bar(Bar::StoreStore), b.store(1)];
    let p = b.done(vec![Node::repeat(10, body)]);
    let r = run(&p, &[("vf.bar.store_store", 3.0)]);
    let stores: Vec<u64> = r.iter().skip(3).step_by(4).map(|r| r.issue).collect();
    assert!(stores.windows(2).skip(1).all(|w| w[1] - w[0] == 12), "{stores:?}");
}

#[test]
fn align_registers_chain_accesses() {
    let mut b = Build::f32();
    let align = Reg { file: File::Align, id: 0 };
    let body = vec![
        b.inst("vldas", Kind::Load, &[align], &[]),
        b.inst("vldus", Kind::Load, &[vreg(0), align], &[align]),
        b.inst("vldus", Kind::Load, &[vreg(1), align], &[align]),
    ];
    assert_eq!(issues(&run(&b.done(body), &[])), [23, 24, 25]);
}
