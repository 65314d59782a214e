use super::*;
use crate::access::Role;
use crate::mask::Mask;

const UB: Geometry = Geometry { groups: 16, layer: 0x10000, block: 32 };

fn walk(role: Role, blk: i32, rep: i64) -> Walk {
    Walk { space: Space::Ub, role, elem: 4, blocks: 8, unit: 32, blk: blk * 32, rep: rep * 32 }
}

fn dense(srcs: &[u64], dst: u64, repeats: u64, depth: u64, interval: u64) -> u64 {
    let reads: Vec<_> = srcs.iter().map(|&b| (b, walk(Role::Read, 1, 8))).collect();
    let writes = [(dst, walk(Role::Write, 1, 8))];
    let access = Access { reads: &reads, writes: &writes, lanes: Lanes::All, repeats };
    busy(&access, UB, Pace { depth, interval })
}

/// Depth of a unit of `startup` cycles behind the read stage of the shipped targets.
fn depth(startup: u64) -> u64 {
    8 + startup + 1
}

#[test]
fn board_layouts_of_an_add() {
    // Eight layouts, 1000 Adds of 64 f32 repeats each: ticks of 50 MHz at 1.8 GHz. 22 cycles of an
    // Add are no work of the arbiter.
    for (stride, src1, dst, ticks) in [
        ((1, 8), 0x10100, 0x20000, 2390),
        ((1, 8), 0x4000, 0x10000, 4167),
        ((1, 8), 0x10000, 0x14100, 4167),
        ((1, 8), 0x10100, 0x4000, 2389),
        ((1, 8), 0x10100, 0x4020, 3751),
        ((1, 8), 0x10100, 0x10100, 2390),
        ((0, 1), 0x10100, 0x10100, 3584),
        ((0, 8), 0x10100, 0x10100, 2389),
    ] {
        let reads = [(0, walk(Role::Read, stride.0, stride.1)), (src1, walk(Role::Read, 1, 8))];
        let writes = [(dst, walk(Role::Write, 1, 8))];
        let access = Access { reads: &reads, writes: &writes, lanes: Lanes::All, repeats: 64 };
        let ours = 22.0 + busy(&access, UB, Pace { depth: depth(6), interval: 1 }) as f64;
        let board = f64::from(ticks) * 0.036;
        assert!((ours - board).abs() <= 0.05, "{src1:#x} {dst:#x}: {ours} {board}");
    }
}

#[test]
fn simulator_layouts_of_two_sources() {
    // Cycles a repeat of add, sub, max, min: 2.000 to 2.125 when all share a layer.
    for startup in [4, 5, 6] {
        let per_repeat = |src1, dst| dense(&[0, src1], dst, 128, depth(startup), 1) as f64 / 128.0;
        assert!((2.0..=2.125).contains(&per_repeat(0x4000, 0x8000)));
        assert_eq!(per_repeat(0x4000, 0x10000), 2.0);
        assert_eq!(per_repeat(0x4080, 0x10000), 2.0);
        if startup == 5 {
            continue; // No instruction of the sweep is that deep; it finds a gap for its writes.
        }
        // All groups of the layer that is written. The first `depth` repeats meet no writes yet.
        let cycles = |r| dense(&[0, 0x4100], 0xc000, r, depth(startup), 1) as f64;
        let (a, b) = (depth(startup), 3 * depth(startup));
        assert_eq!((cycles(b) - cycles(a)) / (b - a) as f64, 2.0);
        assert_eq!(per_repeat(0x4100, 0x10000), 1.0);
    }
}

#[test]
fn block_stride_of_all_groups_serialises_the_blocks() {
    let one = |src, dst| {
        let reads = [(0, walk(Role::Read, src, 8)), (0x10000, walk(Role::Read, 1, 8))];
        let writes = [(0x20000, walk(Role::Write, dst, 8))];
        let access = Access { reads: &reads, writes: &writes, lanes: Lanes::All, repeats: 1 };
        busy(&access, UB, Pace { depth: 15, interval: 1 })
    };
    assert_eq!(one(1, 1), 2);
    assert_eq!(one(1, 16), 9);
    assert_eq!(one(1, 8), 5);
    assert_eq!(one(16, 1), 9, "eight blocks of one group, one of which meets the other source");
}

#[test]
fn masked_blocks_are_not_asked_for() {
    let reads = [(0, walk(Role::Read, 16, 8))];
    let lanes = Lanes::Norm(Mask::first(16));
    let access = Access { reads: &reads, writes: &[], lanes, repeats: 1 };
    assert_eq!(busy(&access, UB, Pace { depth: 15, interval: 1 }), 2);
}

#[test]
fn interval_is_a_lower_bound_of_each_repeat() {
    assert_eq!(dense(&[0], 0x10000, 64, 17, 7), 64 * 7);
    assert_eq!(dense(&[0, 0x10000], 0x20000, 64, 22, 4), 64 * 4, "conflicts hide under it");
    assert_eq!(dense(&[0, 0x10000], 0x20000, 64, 22, 1), 64 * 2);
}

#[test]
fn long_instructions_take_what_the_short_ones_add_up_to() {
    // The period search must not change the result: compare with the plain simulation.
    for (srcs, dst) in [
        (vec![0u64, 0x4000], 0x8000u64),
        (vec![0, 0x4000], 0x10000),
        (vec![0x100], 0x4000),
        (vec![0, 0x2000], 0x2000),
        (vec![0xff00, 0x1_ff00], 0x2_0040),
    ] {
        for startup in 1..8 {
            for repeats in [41, 255, 600, 1000] {
                let reads: Vec<_> = srcs.iter().map(|&b| (b, walk(Role::Read, 1, 8))).collect();
                let writes = [(dst, walk(Role::Write, 1, 8))];
                let access = Access { reads: &reads, writes: &writes, lanes: Lanes::All, repeats };
                let pace = Pace { depth: depth(startup), interval: 1 };
                let mut plain = Arbiter::new(&access, UB, pace);
                plain.periods = false;
                assert_eq!(plain.run(), busy(&access, UB, pace), "{srcs:x?} {dst:x} {startup}");
            }
        }
    }
}

#[test]
fn a_long_count_costs_no_long_simulation() {
    let reads = [(0, walk(Role::Read, 1, 0)), (0x4000, walk(Role::Read, 1, 0))];
    let writes = [(0x10000, walk(Role::Write, 1, 0))];
    let lanes = Lanes::Count { total: 1 << 40, per_repeat: 64 };
    let access = Access { reads: &reads, writes: &writes, lanes, repeats: 1 << 34 };
    assert_eq!(busy(&access, UB, Pace { depth: 15, interval: 1 }), 1 << 35);
}

#[test]
fn row_chunked_instructions_meet_their_own_writes() {
    // Rows of two repeats: the published factors on the rows are sixteenths.
    for (startup, rows, sixteenths) in [(6, 64, 31), (5, 64, 30), (4, 64, 29), (7, 64, 28)] {
        let reads = [(0, walk(Role::Read, 1, 16))];
        let writes = [(0x8000, walk(Role::Write, 1, 16))];
        let access = Access { reads: &reads, writes: &writes, lanes: Lanes::All, repeats: rows };
        let pace = Pace { depth: depth(startup), interval: 1 };
        assert_eq!(busy(&access, UB, pace) * 16, rows * sixteenths, "{startup}");
    }
}

#[test]
fn broadcast_rows_from_the_reserved_window() {
    // One block of the second source a row: add 1.625, multiply and maximum 1.5 cycles a row.
    for (startup, least, most) in [(6, 1.58, 1.64), (7, 1.49, 1.51), (4, 1.49, 1.51)] {
        let reads = [(0, walk(Role::Read, 1, 8)), (188416, walk(Role::Read, 0, 1))];
        let writes = [(0x8000, walk(Role::Write, 1, 8))];
        let access = Access { reads: &reads, writes: &writes, lanes: Lanes::All, repeats: 64 };
        let rate = busy(&access, UB, Pace { depth: depth(startup), interval: 1 }) as f64 / 64.0;
        assert!((least..=most).contains(&rate), "{startup}: {rate}");
    }
}

proptest::proptest! {
    #[test]
    fn the_short_cut_sees_the_same_blocks(
        base in 0u64..0x300, blk in -2i32..20, rep in -4i64..40, unit in 1u32..40,
        bits in proptest::prelude::any::<u64>(), total in 1u64..400, count in proptest::prelude::any::<bool>(),
        odd in 0u64..3,
    ) {
        let elem = if unit % 2 == 0 { 2 } else { 0 };
        let walk = Walk { unit, elem, ..walk(Role::Read, blk, rep) };
        let lanes = if count {
            Lanes::Count { total, per_repeat: 128 }
        } else {
            Lanes::Norm(Mask::from_hi_lo(bits, !bits))
        };
        let base = 0x1_0000 + base * 32 + odd * 16;
        let reads = [(base, walk)];
        let access = Access { reads: &reads, writes: &[], lanes, repeats: 8 };
        let pace = Pace { depth: 8, interval: 1 };
        let mut general = Arbiter::new(&access, UB, pace);
        let short = general.patterns.clone();
        general.patterns.clear();
        for r in 0..8 {
            let mut want = Planes::new();
            general.planes(0, base, walk, r, &mut want);
            if let Some(got) = short[0].plane(base, walk, r, UB) {
                proptest::prop_assert_eq!(&want[..], &[got][..], "repeat {}", r);
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn moving_all_operands_by_whole_layers_changes_nothing(
        bases in [0u64..0x400, 0u64..0x400, 0u64..0x400], layers in [0u64..3, 0u64..3, 0u64..3],
        strides in [0i64..20, 0i64..20, 0i64..20], repeats in 3u64..90, up in 1u64..5,
    ) {
        let at = |i: usize, by: u64| (layers[i] + by) * 0x1_0000 + bases[i] * 32;
        let access = |by: u64| {
            let walk = |i: usize, role| (at(i, by), walk(role, 1, strides[i]));
            ([walk(0, Role::Read), walk(1, Role::Read)], [walk(2, Role::Write)])
        };
        let pace = Pace { depth: 15, interval: 1 };
        let cycles = |by, f: fn(&Access, Geometry, Pace) -> u64| {
            let (reads, writes) = access(by);
            f(&Access { reads: &reads, writes: &writes, lanes: Lanes::All, repeats }, UB, pace)
        };
        proptest::prop_assert_eq!(cycles(0, busy), cycles(up, busy));
        proptest::prop_assert_eq!(cycles(0, busy), cycles(up, crate::time::memo::remembered));
    }
}
