//! Rules of the A2/A3 model, each from both sides: what waits starts at its moment, no earlier
//! and no later.

mod support;

use ptoemu_core::access::Space;
use ptoemu_core::dtype::DType::{F16, F32, I16, I32};
use ptoemu_core::stream::{Kind, Marks, Pipe};
use ptoemu_core::time::{Cause, Timeline, time};
use support::*;

/// Tiles in different layers: no clash of reads and writes.
const DST: u64 = 0x1000_0000;
const A: u64 = 0x2000_0000;
const B: u64 = 0x3000_0000;

fn run(build: impl FnOnce(&mut Builder)) -> Timeline {
    run_on(&[], build)
}

/// Times a stream with some figures set.
fn run_on(set: &[(&str, f64)], build: impl FnOnce(&mut Builder)) -> Timeline {
    let mut b = Builder::default();
    build(&mut b);
    let mut t = target("a3");
    for &(path, value) in set {
        t.set(path, value).unwrap();
    }
    let timeline = time(&b.stream, &t);
    for p in Pipe::ALL.into_iter().filter(|p| *p != Pipe::All) {
        let totals = timeline.pipe(p);
        assert_eq!(totals.total(), timeline.cycles, "{p:?}: {totals:?}");
    }
    timeline
}

fn done(_record: u32) {}

/// `record` starts exactly at `at`: it is blocked the cycle before, free then.
#[track_caller]
fn starts_at(t: &Timeline, record: usize, at: u64) {
    let e = t.entries[record];
    assert!(e.issue >= at, "record {record} runs at {} and should be blocked until {at}", e.issue);
    assert!(e.issue <= at, "record {record} is ready at {at} and waits until {}", e.issue);
}

#[test]
fn isolated_instructions_are_startup_busy_drain_end() {
    for (name, dtype, repeats, srcs, cycles) in [
        // Measured single cases, all tiles in one layer.
        ("vadd", F32, 64, 2, 160),
        ("vadd", I32, 64, 2, 151),
        ("vadd", F16, 32, 2, 92),
        ("vmul", F32, 64, 2, 168),
        ("vmul", I32, 64, 2, 152),
        ("vmul", F16, 32, 2, 96),
        ("vmax", I32, 64, 2, 151),
        ("vrsqrt", F32, 64, 1, 92),
        ("vrsqrt", F16, 32, 1, 58),
        ("vexp", F32, 64, 1, 159),
        ("vexp", F16, 8, 1, 63),
        ("vsqrt", F16, 32, 1, 160),
        ("vdiv", F32, 64, 2, 288),
        ("vmins", F32, 64, 1, 87),
        ("vadds", F32, 32, 1, 57),
    ] {
        let t = run(|b| {
            let bases = [0x8000, 0, 0x4000];
            b.dense(name, dtype, repeats, &bases[..=srcs]);
        });
        assert_eq!(t.cycles, cycles, "{name} {dtype}");
    }
    let apart = run(|b| done(b.dense("vmuls", F32, 32, &[DST, A])));
    assert_eq!(apart.cycles, 58, "measured; one more with both tiles in one layer");
}

#[test]
fn independent_instructions_follow_when_the_pipe_is_free() {
    let t = run(|b| {
        b.dense("vmax", F32, 10, &[DST, A, B]);
        b.dense("vmax", F32, 10, &[DST, A, B]);
    });
    starts_at(&t, 1, 20);
    assert_eq!(t.cycles, 4 + 40 + 19);
    assert!(t.stalls.iter().all(|s| s.record != 1), "no pause between them");
    assert_eq!((t.entries[1].wait, t.entries[1].conflict), (19, 10));
}

#[test]
fn a_barrier_waits_for_every_earlier_result() {
    let t = run(|b| {
        b.dense("vcadd", F32, 1, &[DST, A]);
        b.dense("vmax", F32, 1, &[DST, A]);
        b.barrier(Pipe::V);
        b.dense("vmax", F32, 1, &[DST, A]);
    });
    // The reduction is last although it was issued first.
    let done = 20 + 7 + 12;
    assert_eq!((t.entries[0].done, t.entries[2].done), (done, done));
    starts_at(&t, 3, done);
    let stall = t.stalls.iter().find(|s| s.record == 3).unwrap();
    assert_eq!((stall.cause, stall.blocker, stall.cycles), (Cause::Barrier, 0, done - 8));
}

#[test]
fn a_barrier_of_an_idle_pipe_is_free() {
    let plain = run(|b| done(b.dense("vmax", F32, 4, &[DST, A])));
    let t = run(|b| {
        b.barrier(Pipe::V);
        b.barrier(Pipe::All);
        b.dense("vmax", F32, 4, &[DST, A]);
    });
    assert_eq!(t.cycles, plain.cycles);
}

#[test]
fn a_barrier_of_one_pipe_leaves_the_others_alone() {
    let t = run(|b| {
        b.dma(Pipe::Mte2, 1, 1280);
        b.barrier(Pipe::Mte2);
        b.dense("vmax", F32, 4, &[DST, A]);
        b.dma(Pipe::Mte2, 1, 128);
    });
    starts_at(&t, 2, 1);
    starts_at(&t, 3, 264 + 10);
}

#[test]
fn a_barrier_of_all_pipes_holds_all_of_them() {
    let t = run(|b| {
        b.dma(Pipe::Mte2, 1, 1280);
        b.barrier(Pipe::All);
        b.dense("vmax", F32, 4, &[DST, A]);
        b.dma(Pipe::Mte3, 1, 128);
        b.scalar(Kind::ScalarLoad, Space::Ub);
    });
    starts_at(&t, 2, 274);
    starts_at(&t, 3, 275);
    starts_at(&t, 4, 276);
    assert_eq!(t.pipe(Pipe::V).stalled(Cause::Barrier), 274);
}

#[test]
fn transfers_are_serial_latency_and_bytes() {
    for (n, bursts, bytes, cycles) in
        [(1, 1, 65536, 776), (8, 32, 256, 2624), (32, 1, 512, 8576), (1, 128, 127, 392)]
    {
        let t = run_on(&[("end", 0.0)], |b| {
            for _ in 0..n {
                b.dma(Pipe::Mte2, bursts, bytes);
            }
        });
        assert_eq!(t.cycles, cycles);
    }
    let t = run_on(&[("end", 0.0)], |b| done(b.dma(Pipe::Mte3, 1, 8192)));
    assert_eq!(t.cycles, 295);
}

#[test]
fn a_flag_orders_two_pipes() {
    let t = run(|b| {
        b.dma(Pipe::Mte2, 1, 1280);
        b.set_flag(Pipe::Mte2, Pipe::V);
        b.dense("vmax", F32, 1, &[DST, B]);
        b.wait_flag(Pipe::Mte2, Pipe::V);
        b.dense("vmax", F32, 4, &[DST, A]);
        b.set_flag(Pipe::V, Pipe::Mte3);
        b.wait_flag(Pipe::V, Pipe::Mte3);
        b.dma(Pipe::Mte3, 1, 128);
    });
    starts_at(&t, 2, 2);
    starts_at(&t, 4, 274);
    starts_at(&t, 7, 274 + 4 + 4 + 12);
    let stall = t.stalls.iter().find(|s| s.record == 4).unwrap();
    assert_eq!((stall.cause, stall.blocker), (Cause::Flag, 1));
}

#[test]
fn a_flag_behind_a_wait_is_not_set_before_it() {
    let t = run(|b| {
        b.dma(Pipe::Mte2, 1, 1280);
        b.set_flag(Pipe::Mte2, Pipe::V);
        b.wait_flag(Pipe::Mte2, Pipe::V);
        b.set_flag(Pipe::V, Pipe::Mte3);
        b.wait_flag(Pipe::V, Pipe::Mte3);
        b.dma(Pipe::Mte3, 1, 128);
    });
    starts_at(&t, 5, 274);
}

#[test]
fn flag_load_flag_takes_what_a_drain_takes() {
    // A row of TROWEXPAND: 14 cycles, of which 12 are flag, load and flag.
    let rows = 64;
    let t = run(|b| {
        b.mode(true);
        b.set_mask(0, 64);
        for _ in 0..rows {
            b.set_flag(Pipe::V, Pipe::S);
            b.wait_flag(Pipe::V, Pipe::S);
            b.scalar(Kind::ScalarLoad, Space::Ub);
            b.set_flag(Pipe::S, Pipe::V);
            b.wait_flag(Pipe::S, Pipe::V);
            b.dense("vector_dup", F32, 0, &[DST]);
        }
        b.mode(false);
        b.set_mask(!0, !0);
    });
    starts_at(&t, 2 + 5, 5 + 1 + 12);
    starts_at(&t, 2 + 6 + 5, 5 + 1 + 12 + 14);
    assert_eq!(t.cycles, 933, "measured");
}

#[test]
fn a_first_mask_costs_its_set_up_once() {
    for (set, at) in [(vec![], 5), (vec![("mask.first", 9.0)], 9), (vec![("mask.first", 0.0)], 2)] {
        let t = run_on(&set, |b| {
            b.mode(true);
            b.set_mask(0, 64 * 64);
            b.dense("vcmax", F32, 0, &[DST, A]);
            b.barrier(Pipe::V);
        });
        starts_at(&t, 2, at);
    }
    let t = run(|b| {
        b.mode(true);
        b.set_mask(0, 64 * 64);
        b.dense("vcmax", F32, 0, &[DST, A]);
        b.mode(false);
        b.set_mask(!0, !0);
        b.barrier(Pipe::V);
    });
    assert_eq!(t.cycles, 480, "TROWMAX f32 64x64, measured");
    assert_eq!(t.pipe(Pipe::S).stalled(Cause::Mask), 3);
}

#[test]
fn a_computed_mask_takes_longer_unless_hidden() {
    let build = |b: &mut Builder, marks| {
        b.mask_marked(0, 0xff, marks);
        b.dense("vmax", F32, 1, &[DST, A]);
    };
    starts_at(&run(|b| build(b, Marks::COMPUTED)), 1, 6);
    starts_at(&run(|b| build(b, Marks::default())), 1, 5);
    let t = run(|b| {
        b.copy(DST, A, 64, 8, (0, 0));
        b.barrier(Pipe::V);
        build(b, Marks::COMPUTED);
    });
    starts_at(&t, 3, 5 + 64 + 12 + 4);
}

#[test]
fn a_restore_with_nothing_after_it_completes_late() {
    let plain = run(|b| done(b.dense("vmax", F32, 4, &[DST, A])));
    let with = |tail: fn(&mut Builder)| {
        run(|b| {
            b.dense("vmax", F32, 4, &[DST, A]);
            b.set_mask(!0, !0);
            tail(b);
        })
    };
    let last = with(|_| {});
    assert_eq!(last.cycles, plain.cycles + 12);
    assert_eq!(last.entries[1].done, plain.entries[0].done + 12);
    assert_eq!(with(|b| done(b.barrier(Pipe::V))).cycles, plain.cycles);
    let followed = with(|b| done(b.dense("vmax", F32, 4, &[DST, A])));
    starts_at(&followed, 2, 4);
}

#[test]
fn a_mask_behind_a_barrier_costs_a_little_more() {
    for (extra, at) in [(0.0, 20), (4.0, 24), (9.0, 29)] {
        let t = run_on(&[("mask.behind_barrier", extra)], |b| {
            b.dense("vmax", F32, 4, &[DST, A]);
            b.barrier(Pipe::V);
            b.set_mask(0, !0);
            b.dense("vmax", F32, 4, &[DST, A]);
        });
        starts_at(&t, 3, at);
        assert_eq!(t.pipe(Pipe::V).stalled(Cause::Mask), extra as u64);
        assert_eq!(t.pipe(Pipe::V).stalled(Cause::Barrier), 16);
    }
}

#[test]
fn a_board_loop_of_mask_add_barrier() {
    // Cycles an Add, 64 repeats without a clash: 86.04 on a board. Issue to retirement is the same.
    let n = 100;
    let t = run(|b| {
        for _ in 0..n {
            b.set_mask(0, !0);
            b.dense("vadd", F32, 64, &[0x20000, 0, 0x10100]);
            b.barrier(Pipe::V);
        }
    });
    for i in 1..n {
        starts_at(&t, 3 * i + 1, 5 + 86 * i as u64);
    }
    assert_eq!(t.retired(1), Some(5 + 86));
}

#[test]
fn a_store_waits_for_loads_and_loads_follow_each_other() {
    let t = run(|b| {
        b.scalar(Kind::ScalarLoad, Space::Ub);
        b.scalar(Kind::ScalarLoad, Space::Ub);
        b.scalar(Kind::ScalarStore, Space::Ub);
        b.scalar(Kind::ScalarStore, Space::Gm);
    });
    starts_at(&t, 1, 7);
    starts_at(&t, 2, 19);
    starts_at(&t, 3, 27);
    assert_eq!(t.pipe(Pipe::S).stalled(Cause::Load), 5);
}

#[test]
fn a_copy_moves_a_repeat_a_cycle() {
    for (bursts, blocks, busy) in [(64, 8, 64), (64, 1, 64), (1, 96, 12), (3, 9, 6)] {
        let t = run(|b| done(b.copy(DST, A, bursts, blocks, (8, 8))));
        assert_eq!(t.entries[0].busy, busy);
        assert_eq!(t.cycles, 5 + u64::from(busy) + 19);
    }
}

#[test]
fn dependent_accumulation_pays_the_period_of_a_row() {
    // TCOLMAX: startup + busy + drain a row, busy 1 or 2 as row and accumulator share groups.
    let t = run(|b| {
        for row in 1..=4 {
            b.vector("vmax", F32, 1, &[(DST, 1, 8), (DST, 1, 8), (A + row * 256, 1, 8)]);
            b.barrier(Pipe::V);
        }
    });
    starts_at(&t, 2, 4 + 1 + 12);
    starts_at(&t, 4, 4 + 1 + 12 + 4 + 2 + 12);
}

#[test]
fn an_empty_stream_takes_no_time() {
    assert_eq!(run(|_| {}).cycles, 0);
    assert_eq!(run(|b| done(b.dense("vmax", I16, 0, &[DST, A]))).cycles, 4 + 12 + 7);
}
