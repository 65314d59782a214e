//! Leaving one barrier or flag out of microcode is noticed by the ordering look of the tests and by
//! racecheck, and by neither where it orders nothing.

mod common;

use common::{order, place, tile};
use ptoemu_core::dtype::DType::{F32, I32};
use ptoemu_core::state::WRITER_NONE;
use ptoemu_isa::hazards;
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::{Backend, Lister, Machine};
use ptoemu_isa::table::Op;
use ptoemu_isa::tile::Layout::{ColMajor, RowMajor};
use ptoemu_isa::tile::{Call, Family, a2a3, find};
use ptoemu_isa::verify::mutate::{Score, mutate, uses};
use ptoemu_isa::verify::{Bench, Unit};

/// Issues a list; says whether some access is unordered.
fn unordered(call: &Call, list: &[Instr]) -> bool {
    let mut m = Machine::default();
    for (_, t) in call.tiles() {
        m.ub.shadow.set(t.addr, t.end(), true, WRITER_NONE);
    }
    for i in list {
        m.issue(i).unwrap();
    }
    let wrong = order::unordered(m.stream(), m.ub.len()).is_some();
    assert_eq!(!hazards::check(m.stream(), 0, false).is_empty(), wrong, "{}", call.op.name);
    wrong
}

/// (Barriers or flag pairs in the list, how many of them are noticed when left out.)
fn dropped(call: &Call) -> (usize, usize) {
    let mut all = Lister::default();
    a2a3(call, &mut all).unwrap();
    assert!(!unordered(call, &all.0), "{}", call.op.name);
    let (mut sites, mut noticed) = (0, 0);
    for (i, instr) in all.0.iter().enumerate() {
        let len = match instr.op {
            Op::pipe_barrier => 1,
            Op::set_flag => 2,
            _ => continue,
        };
        let rest: Vec<Instr> = all.0[..i].iter().chain(&all.0[i + len..]).copied().collect();
        sites += 1;
        noticed += usize::from(unordered(call, &rest));
    }
    (sites, noticed)
}

fn call(
    op: &str,
    cols: u32,
    sources: &[(u32, ptoemu_isa::tile::Layout)],
    t: ptoemu_core::dtype::DType,
) -> Call {
    let src = sources.iter().map(|&(c, layout)| tile("src", t, 32, c, layout));
    let dst = if cols == 1 {
        tile("dst", t, 32, 1, ColMajor)
    } else {
        tile("dst", t, 32, cols, RowMajor)
    };
    let mut call = Call::new(find(op).unwrap(), dst, src);
    if op == "trowmax" {
        call.tmp = Some(tile("tmp", t, 32, 256, RowMajor));
    }
    place(&mut call);
    call
}

#[test]
fn a_missing_barrier_is_noticed() {
    // The last barrier of a reduction orders nothing of its own.
    let tree = call("trowmax", 1, &[(200, RowMajor)], F32);
    assert_eq!(dropped(&tree), (4, 3));
    let sub = call("trowexpandsub", 64, &[(64, RowMajor), (1, ColMajor)], F32);
    assert_eq!(dropped(&sub), (1, 1));
    let dif = call("trowexpandexpdif", 64, &[(64, RowMajor), (1, ColMajor)], F32);
    assert_eq!(dropped(&dif), (2, 2));
    let mut columns = call("tcolmax", 64, &[(64, RowMajor)], F32);
    (columns.dst.rows, columns.dst.valid_rows) = (1, 1);
    // One after the copy, one after each row; the last row's and the final one order nothing.
    assert_eq!(dropped(&columns), (33, 31));
}

#[test]
fn a_missing_flag_pair_is_noticed() {
    // Waiting for V before the first load orders nothing: no vector instruction came before. In
    // place of later rows the loads read what no vector instruction writes.
    let expand = call("trowexpand", 64, &[(8, RowMajor)], F32);
    let (sites, noticed) = dropped(&expand);
    assert_eq!((sites, noticed), (64, 0), "the loaded value travels in a register");
    let ints = call("trowmax", 1, &[(24, RowMajor)], I32);
    let (sites, noticed) = dropped(&ints);
    // Every barrier and pair but the last pair, and the barrier before each wait.
    assert_eq!((sites, noticed), (32 * 6, 32 * 5 - 1));
}

/// The first uses of every type: no mutant is left without a finding or a proof, and proofs and
/// findings are both needed.
#[test]
fn every_mutant_is_reported_or_the_same_program() {
    let mut bench = Bench::default();
    for (family, least) in [(Family::A2A3, 2000), (Family::A5, 2000)] {
        let mut all = Score::default();
        for op in ["trowmax", "trowexpand", "trowexpandmax", "trowexpandsub", "trowexpanddiv"] {
            for unit in Unit::all(family, find(op).unwrap()) {
                for spec in uses(&unit).iter().take(6) {
                    all.add(mutate(&mut bench, &unit, spec).unwrap_or_default());
                }
            }
        }
        assert_eq!((&all.survived, &all.false_alarms), (&Vec::new(), &Vec::new()));
        assert!(all.kills() > least, "{}", all.kills());
        assert_eq!(all.equivalent.len(), 4, "{:?}", all.equivalent);
    }
}
