//! Timing-only programs of our own, from the file to the cycle.

use ptoemu::vf_program::{VfFile, read};
use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType;
use ptoemu_core::target::Target;
use ptoemu_core::time::vf::{Cause, Figures, Options, VfTiming, time};

fn target() -> Target {
    ptoemu::targets::find("950pr").unwrap_or_else(|e| panic!("{e:?}"))
}

fn file(name: &str) -> VfFile {
    let path = format!("{}/tests/data/vf/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    read(&SourceFile::new(name, text)).unwrap()
}

fn run(name: &str, set: &[(&str, f64)]) -> VfTiming {
    let mut t = target();
    for (path, v) in set {
        t.set(path, *v).unwrap();
    }
    let p = file(name).program;
    let slow = Options { fast_forward: false, ..Options::default() };
    let fast = time(&p, &t, Options::default()).unwrap();
    if fast.instructions < 1_000_000 {
        assert_eq!(time(&p, &t, slow).unwrap().cycles, fast.cycles);
    }
    fast
}

#[test]
fn rows_of_products() {
    // 23 + 6 + 6 + 21, one later for the nest, rows of 6 + 5, 5 more iterations in the last.
    assert_eq!(run("scale", &[]).cycles, 56 + 1 + 23 * 11 + 5);
}

#[test]
fn a_running_maximum_keeps_its_chain() {
    let r = run("running_max", &[]);
    // Load at 24 (post-update), first maximum at 30, a dependent one every 2 cycles, then the
    // reduction, the store and the end.
    assert_eq!(r.cycles, 30 + 49 * 2 + 2 + 14 + 9 + 12);
    assert!(r.waits[Cause::Operand as usize] > 0);
    let slower = run("running_max", &[("vmax.latency", 7.0)]);
    assert_eq!(slower.cycles - r.cycles, 50, "each link is one longer");
}

#[test]
fn a_second_pass_waits_for_the_first() {
    let r = run("two_passes", &[]);
    assert!(r.waits[Cause::Bar as usize] > 0);
    let cheap = run("two_passes", &[("vf.bar.store_load", 0.0)]);
    assert_eq!(r.cycles - cheap.cycles, 7);
}

#[test]
fn one_bank_halves_the_rate() {
    let r = run("same_bank", &[]);
    let shared = run("same_bank", &[("vf.ub_shared", 0.0)]);
    assert!(r.cycles > 2 * 390 && shared.cycles < 460, "{} {}", r.cycles, shared.cycles);
}

#[test]
fn long_loops_are_noted_and_skipped() {
    assert_eq!(file("long").notes.len(), 1);
    let r = run("long", &[]);
    assert_eq!(r.instructions, 210_000_000);
    assert!(r.simulated < 1_000_000, "{}", r.simulated);
    assert!((140_000_000..140_100_000).contains(&r.cycles), "{}", r.cycles);
}

#[test]
fn every_micro_op_of_a_function_has_figures() {
    let t = target();
    // No instruction, the scalar unit, barriers, and sorting, which runs outside a function.
    let free = ["none", "scalar", "mem_bar", "vbitsort", "vmrgsort4"];
    let ops = ptoemu_isa::a5::Op::ALL.iter().map(|op| op.row());
    for row in ops.filter(|r| !free.contains(&r.cost)) {
        for dtype in DType::ALL.into_iter().filter(|d| row.accepts(*d)) {
            let of = |name| t.of_op(name, Some(dtype), "latency");
            assert!(of(row.mnemonic).or(of(row.cost)).is_some(), "{} {dtype}", row.mnemonic);
        }
    }
}

#[test]
fn damaged_files_are_refused_not_fatal() {
    let good = include_str!("data/vf/same_bank.json");
    for at in (0..good.len()).filter(|&i| good.is_char_boundary(i)) {
        let _ = read(&SourceFile::new("cut", &good[..at]));
        for by in ["}", "\"", "-9223372036854775808", "[", "\\u12", "é"] {
            let text = format!("{}{by}{}", &good[..at], &good[at + 1..]);
            let Ok(f) = read(&SourceFile::new("hurt", text)) else { continue };
            let _ = time(&f.program, target_once(), Options { most: 10_000, ..Options::default() });
        }
    }
}

fn target_once() -> &'static Target {
    static T: std::sync::LazyLock<Target> = std::sync::LazyLock::new(target);
    &T
}
