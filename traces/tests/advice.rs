//! Advice is right: making the change in the text gives the cycles that were promised.

mod common;

use common::{Kernel, kernel};
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
    // The set of the flag stays in the promise: S hands over one record more, a cycle at most.
    assert!(found.cycles.abs_diff(without.timeline.cycles) <= 1, "{found:?}");
    assert!(found.saved > 50);
}
