//! Advice is right: making the change in the text gives the cycles that were promised.

mod common;

use common::{Kernel, kernel, kernel_on};
use ptoemu_core::diag::SourceFile;
use ptoemu_traces::advice::{Advice, Change, advice};

const HEAD: &str = r#"
module attributes {pto.target_arch = "a3", pto.kernel_kind = #pto.kernel_kind<vector>} {
  func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {pto.aicore} {
"#;

/// A kernel of these statements; `address` declares UB pointers.
fn run(addresses: &[(&str, u64)], body: &str) -> Kernel {
    let mut text = HEAD.to_string();
    for (name, at) in addresses {
        text.push_str(&format!("    %at_{name} = arith.constant {at} : i64\n"));
        text.push_str(&format!(
            "    %{name} = pto.castptr %at_{name} : i64 -> !pto.ptr<f32, ub>\n"
        ));
    }
    text.push_str(body);
    text.push_str("    return\n  }\n}\n");
    kernel("k", SourceFile::new("k.pto", text), &[("x", 1 << 16), ("y", 1 << 16)])
}

fn add(dst: &str, src: &str) -> String {
    let t = "!pto.ptr<f32, ub>";
    format!("    pto.vadd %{dst}, %{src}, %{src}, 64, 1, 1, 1, 8, 8, 8 : {t}, {t}, {t}\n")
}

const BARRIER: &str = "    pto.pipe_barrier \"PIPE_V\"\n";

fn flag(from: &str, to: &str, id: u8) -> String {
    let f = format!("\"PIPE_{from}\", \"PIPE_{to}\", \"EVENT_ID{id}\"");
    format!("    pto.set_flag[{f}]\n    pto.wait_flag[{f}]\n")
}

fn load(to: &str) -> String {
    format!(
        "    pto.copy_gm_to_ubuf %{to}, %x, 0, 1, 512, 0, 0 : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>\n"
    )
}

fn find(k: &Kernel, wanted: impl Fn(&Change) -> bool) -> Option<Advice> {
    advice(&k.trace()).expect("short enough").into_iter().find(|a| wanted(&a.change))
}

#[test]
fn a_needless_barrier() {
    let places = [("a", 0), ("b", 0x4000), ("c", 0x8000), ("d", 0xc000)];
    let body = |middle: &str| {
        [&load("a"), &flag("MTE2", "V", 0), &add("b", "a"), middle, &add("d", "c")].concat()
    };
    let with = run(&places, &body(BARRIER));
    let without = run(&places, &body(""));
    let found = find(&with, |c| *c == Change::Barrier).expect("it is needless");
    assert_eq!(found.cycles, without.timeline.cycles);
    assert_eq!(found.saved, with.timeline.cycles - without.timeline.cycles);
    assert!(find(&without, |c| *c == Change::Barrier).is_none());
}

#[test]
fn a_needed_barrier_stays() {
    let places = [("a", 0), ("b", 0x4000), ("c", 0x8000)];
    let body =
        [&load("a"), &flag("MTE2", "V", 0), &add("b", "a"), BARRIER, &add("c", "b")].concat();
    assert!(find(&run(&places, &body), |c| *c == Change::Barrier).is_none());
}

#[test]
fn a_bank_conflict() {
    let t = "!pto.ptr<f32, ub>";
    let body = format!(
        "{}{}    pto.vadd %c, %a, %b, 64, 1, 1, 1, 8, 8, 8 : {t}, {t}, {t}\n",
        load("a"),
        flag("MTE2", "V", 0)
    );
    // Both sources in the same groups of the same layer.
    let at = |b: u64| run(&[("a", 0), ("b", b), ("c", 0x20000)], &body);
    let with = at(0x8000);
    let found = find(&with, |c| matches!(c, Change::Shift { .. })).expect("a shift");
    let Change::Shift { operands, by, free } = &found.change else { unreachable!() };
    assert!(free);
    let places: Vec<(&str, u64)> = [("c", 0x20000), ("a", 0), ("b", 0x8000)]
        .into_iter()
        .enumerate()
        .map(|(n, (name, at))| (name, if operands.contains(&n) { at + by } else { at }))
        .collect();
    let without = run(&places, &body);
    assert_eq!(found.cycles, without.timeline.cycles);
    assert!(found.saved >= 32, "{found:?}");
}

#[test]
fn a_missing_double_buffer() {
    let body = |second: &str, wait: &str| {
        [
            &load("a"),
            &flag("MTE2", "V", 0),
            &add("c", "a"),
            wait,
            &load(second),
            &flag("MTE2", "V", 1),
            &add("d", second),
        ]
        .concat()
    };
    let places = [("a", 0), ("b", 0x4000), ("c", 0x10000), ("d", 0x14000)];
    let with = run(&places, &body("a", &flag("V", "MTE2", 0)));
    let without = run(&places, &body("b", ""));
    let found = find(&with, |c| *c == Change::Buffer).expect("a second buffer");
    assert_eq!(found.cycles, without.timeline.cycles);
    assert!(found.saved > 50);
}

/// A kernel of the 950 of these statements over pointers to UB.
fn run_950(addresses: &[(&str, u64)], body: &str) -> Kernel {
    let mut text = HEAD.replace("\"a3\"", "\"a5\"");
    for n in [0, 64, 1024] {
        text.push_str(&format!("    %c{n} = arith.constant {n} : index\n"));
    }
    for n in [1, 4096] {
        text.push_str(&format!("    %n{n} = arith.constant {n} : i64\n"));
    }
    for (name, at) in addresses {
        text.push_str(&format!("    %at_{name} = arith.constant {at} : i64\n"));
        text.push_str(&format!(
            "    %{name} = pto.castptr %at_{name} : i64 -> !pto.ptr<f32, ub>\n"
        ));
    }
    text.push_str(body);
    text.push_str("    return\n  }\n}\n");
    let source = SourceFile::new("k.pto", text);
    kernel_on("950pr", "k", source, &[("x", 1 << 16), ("y", 1 << 16)])
}

/// A vecscope that adds two arrays of 1024 numbers into a third.
fn sum(a: &str, b: &str, c: &str, bar: &str) -> String {
    let (v, m) = ("!pto.vreg<64xf32>", "!pto.mask<b32>");
    let load = |to: &str, from: &str| {
        format!("        %{to} = pto.vlds %{from}[%i] : !pto.ptr<f32, ub> -> {v}\n")
    };
    format!(
        "    pto.vecscope {{\n      %m = pto.pset_b32 \"PAT_ALL\" : {m}\n      scf.for %i = %c0 to %c1024 step %c64 {{\n{}{}        %s = pto.vadd %l, %r, %m : {v}, {v}, {m} -> {v}\n{bar}        pto.vsts %s, %{c}[%i], %m : {v}, !pto.ptr<f32, ub>, {m}\n      }}\n    }}\n",
        load("l", a),
        load("r", b),
    )
}

fn load_950(to: &str) -> String {
    format!(
        "    pto.mte_gm_ub %x, %{to}, %n4096, %n4096 nburst(%n1, %n4096, %n4096) : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64\n"
    )
}

/// Loads into both tiles.
fn loaded() -> String {
    [load_950("a"), load_950("b"), flag("MTE2", "V", 0)].concat()
}

#[test]
fn a_needless_memory_barrier() {
    let places = [("a", 0), ("b", 0x2000), ("c", 0x4000)];
    let body = |bar: &str| [&loaded(), &sum("a", "b", "c", bar)[..]].concat();
    let with = run_950(&places, &body("        pto.mem_bar \"VST_VLD\"\n"));
    let without = run_950(&places, &body(""));
    let found = find(&with, |c| matches!(c, Change::MemBar { .. })).expect("it is needless");
    let trace = with.trace();
    let lines = with.sources[0].text.lines();
    let line = lines.take_while(|l| !l.contains("mem_bar")).count() + 1;
    assert!(found.place(&trace).ends_with(&format!(":{line}")), "{}", found.place(&trace));
    assert_eq!(found.cycles, without.timeline.cycles);
    assert!(found.saved > 50, "{found:?}");
    // In place it orders the accesses of rounds that may meet.
    let places = [("a", 0), ("b", 0x2000), ("c", 0x80)];
    let kept = run_950(&places, &body("        pto.mem_bar \"VST_VLD\"\n"));
    assert!(find(&kept, |c| matches!(c, Change::MemBar { .. })).is_none());
}

/// A vecscope that copies an array of 1024 numbers.
fn copied(from: &str, to: &str) -> String {
    let (v, m) = ("!pto.vreg<64xf32>", "!pto.mask<b32>");
    format!(
        "    pto.vecscope {{\n      %m = pto.pset_b32 \"PAT_ALL\" : {m}\n      scf.for %i = %c0 to %c1024 step %c64 {{\n        %l = pto.vlds %{from}[%i] : !pto.ptr<f32, ub> -> {v}\n        pto.vsts %l, %{to}[%i], %m : {v}, !pto.ptr<f32, ub>, {m}\n      }}\n    }}\n"
    )
}

#[test]
fn a_tile_in_the_way_of_another() {
    let at = |a: u64, c: u64| {
        let body = [&load_950("a"), &flag("MTE2", "V", 0), &copied("a", "c")[..]].concat();
        run_950(&[("a", a), ("c", c)], &body)
    };
    // Reads and writes of one cycle meet in a bank; a store that waits costs little here.
    let with = at(0, 0x4100);
    let found = find(&with, |c| matches!(c, Change::Tile { .. })).expect("a shift");
    let Change::Tile { at: tile, by, free } = found.change else { unreachable!() };
    assert!(free, "{found:?}");
    let moved = if tile == 0 { at(by, 0x4100) } else { at(0, 0x4100 + by) };
    assert_eq!(found.cycles, moved.timeline.cycles);
    assert_eq!(found.saved, with.timeline.cycles - found.cycles);
}

#[test]
fn a_missing_double_buffer_on_the_950() {
    let body = |second: &str, wait: &str| {
        [
            &load_950("a"),
            &flag("MTE2", "V", 0),
            &sum("a", "a", "c", ""),
            wait,
            &load_950(second),
            &flag("MTE2", "V", 1),
            &sum(second, second, "d", ""),
        ]
        .concat()
    };
    let places = [("a", 0), ("b", 0x2000), ("c", 0x4000), ("d", 0x6000)];
    let with = run_950(&places, &body("a", &flag("V", "MTE2", 0)));
    let without = run_950(&places, &body("b", ""));
    let found = find(&with, |c| *c == Change::Buffer).expect("a second buffer");
    assert_eq!(found.cycles, without.timeline.cycles);
    assert!(found.saved > 50);
}
