//! `ptoemu verify`: findings and their replays, microcode of the user, templates, reports.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for a test.
fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("verify-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("folder");
    dir
}

/// Runs a line of words in a folder; the status must be `status`.
fn words(dir: &Path, line: &str, status: i32) -> Output {
    let out = Command::new(env!("CARGO_BIN_EXE_ptoemu"))
        .current_dir(dir)
        .args(line.split_whitespace())
        .output()
        .expect("the command starts");
    let (data, prose) = (stdout(&out), String::from_utf8_lossy(&out.stderr).into_owned());
    assert_eq!(out.status.code(), Some(status), "{line}\n{data}\n{prose}");
    out
}

fn stdout(o: &Output) -> String {
    String::from_utf8_lossy(&o.stdout).into_owned()
}

fn json(o: &Output) -> Value {
    serde_json::from_slice(&o.stdout).expect("JSON")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn corrected_microcode_is_clean_and_families_count_once() {
    let line = "verify trowmax,tadd -v a2,a3,950pr --types f32 --cases 48 --json -";
    let report = json(&words(root(), line, 0));
    let ops = report["ops"].as_array().unwrap();
    assert_eq!(ops.len(), 4, "two operations on two families");
    assert!(report["cases"].as_u64().unwrap() > 150, "{report}");
    assert_eq!(report["findings"].as_array().unwrap().len(), 0);
    assert_eq!(report, json(&words(root(), line, 0)), "the same twice");
}

#[test]
fn findings_are_written_and_replay() {
    let dir = scratch("vendor");
    let line = "verify trowexpandmax,trowmax,texp -v a3,950pr --types f32,i8 --microcode vendor \
                --cases 320 --rows 1..16 --cols 1..140 -o found --json report.json";
    words(&dir, line, 1);
    let report: Value =
        serde_json::from_str(&fs::read_to_string(dir.join("report.json")).unwrap()).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let named = |quirk: &str| findings.iter().any(|f| f["quirk"]["name"] == quirk);
    for quirk in ["D2", "D4", "D5", "D6", "D13", "D18"] {
        assert!(named(quirk), "{quirk} is not found");
    }
    for f in findings {
        let replay = f["replay"].as_str().unwrap();
        words(&dir, replay.trim_start_matches("ptoemu "), 1);
        let name = f["name"].as_str().unwrap();
        let text = fs::read_to_string(dir.join("found").join(name).join("kernel.pto")).unwrap();
        assert!(text.contains(f["quirk"]["name"].as_str().unwrap()), "{text}");
    }
}

/// The example with one piece of its text replaced.
fn broken(dir: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(root().join("examples/rowmax_own.pto")).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(dir.join("own.pto"), text.replacen(from, to, 1)).unwrap();
}

const OWN: &str = "verify trowmax --microcode own.pto -v a3 --cols 1..128";

#[test]
fn own_microcode_that_is_right_is_clean() {
    let dir = scratch("right");
    broken(&dir, "%zero", "%zero");
    words(&dir, &format!("{OWN} --cases 150"), 0);
    let out =
        stdout(&words(&dir, "op trowmax f32 16x104 --valid 16x100 -v a3 --microcode own.pto", 0));
    assert!(out.contains("values as meant"), "{out}");
}

#[test]
fn a_missing_barrier_is_found_with_its_line() {
    let dir = scratch("barrier");
    broken(&dir, "        pto.pipe_barrier \"PIPE_V\"\n        %second", "        %second");
    let report = json(&words(&dir, &format!("{OWN} --cases 100 --json -"), 1));
    let finding = &report["findings"][0];
    let fault = &finding["faults"][0];
    assert!(fault["code"].as_str().unwrap().starts_with("racecheck."), "{finding}");
    assert!(fault["line"].as_u64().unwrap() > 30, "{finding}");
    assert!(fault["help"].as_str().unwrap().contains("pipe_barrier"), "{finding}");
    // Shrunk: one row, one column more than a repeat.
    let operands = finding["operands"].to_string();
    assert!(operands.contains("valid 1x65"), "{operands}");
}

#[test]
fn a_wrong_repeat_count_is_found_and_shrunk() {
    let dir = scratch("repeat");
    broken(&dir, "pto.vcmax %d, %s, %n,", "pto.vcmax %d, %s, 1,");
    let out = stdout(&words(&dir, &format!("{OWN} --cases 100 -o found"), 1));
    assert!(out.contains("valid 2x1"), "two rows of one column: {out}");
    let replay = out.lines().find_map(|l| l.split_once("replay: ")).expect("a replay").1;
    assert!(replay.starts_with("ptoemu run found/a2a3_trowmax_verify_"), "{replay}");
    words(&dir, replay.trim_start_matches("ptoemu "), 1);
}

#[test]
fn what_verifies_nothing_is_refused() {
    let dir = scratch("nothing");
    for line in [
        "verify trowmax --cases 0",
        "verify trowmax --types f32 --cols 100000000 --cases 20 -o found --junit j.xml",
        "verify trowmax --types f32 --mutate --microcode vendor",
        "verify trowmax --types f32 --mutate --junit j.xml",
    ] {
        words(&dir, line, 2);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "{line} wrote something");
    }
}

#[test]
fn templates_verify_clean() {
    let dir = scratch("template");
    for (op, target, more) in [
        ("trowmax", "a3", ""),
        ("trowsum", "a3", "--types f16 --rows 5 --cols 300"),
        ("trowexpandsub", "a3", "--rows 9 --cols 70"),
        ("trowexpand", "a3", "--rows 3 --cols 16"),
        ("tadds", "a3", "--types i32 --cols 40"),
        ("trowmax", "950pr", "--rows 6 --cols 130"),
        ("trowexpandmax", "950pr", "--rows 4 --cols 64"),
        ("texp", "950pr", "--rows 4 --cols 64"),
    ] {
        let line = format!("verify {op} -v {target} {more} --emit-template");
        let text = stdout(&words(&dir, &line, 0));
        fs::write(dir.join("own.pto"), text).unwrap();
        words(&dir, &format!("verify {op} -v {target} --microcode own.pto --cases 40"), 0);
    }
}

/// Bytes beyond the valid region of dst belong to somebody else, padding too, and a copy of them
/// onto themselves writes them as well.
#[test]
fn stray_writes_of_own_950_microcode_are_found() {
    let dir = scratch("stray");
    let own = |shape: &str, change: &dyn Fn(&str) -> String, place: &str| {
        let line = format!("verify trowexpand -v 950pr --types f32 {shape} --emit-template");
        let text = stdout(&words(&dir, &line, 0));
        let changed = change(&text);
        assert_ne!(text, changed);
        fs::write(dir.join("own.pto"), changed).unwrap();
        let line = "verify trowexpand -v 950pr --microcode own.pto --cases 20 --json -";
        let fault = &json(&words(&dir, line, 1))["findings"][0]["faults"][0];
        assert_eq!(fault["code"], "verify.stray", "{fault}");
        assert!(fault["message"].as_str().unwrap().starts_with(place), "{fault}");
    };
    let far = |text: &str| {
        let store = text.lines().find(|l| l.trim().starts_with("pto.vsts")).expect("a store");
        let (head, tail) = store.split_once("%dst_p[").unwrap();
        let (_, tail) = tail.split_once(']').unwrap();
        let far = "%far = arith.constant 2048 : index";
        text.replace(store, &format!("{store}\n{far}\n{head}%dst_p[%far]{tail}"))
    };
    own("--rows 1 --cols 64", &far, "256 bytes are written outside every operand");
    let padding = |text: &str| text.replace("%c70 = arith.constant 70", "%c70 = arith.constant 72");
    own("--rows 3 --cols 70", &padding, "24 bytes are written in dst outside its valid region");
    let copy = |text: &str| {
        let block = "pto.mte_ub_ub %src_p, %src_p, %c1 nburst(%c1, %c0, %c0) : !pto.ptr<f32, ub>, \
                     !pto.ptr<f32, ub>, i64, i64, i64, i64";
        text.replace("pto.vecscope", &format!("{block}\npto.vecscope"))
    };
    own("--rows 1 --cols 64", &copy, "32 bytes are written in src");
}

#[test]
fn a_kernel_runs_with_own_microcode() {
    let dir = scratch("run");
    broken(&dir, "%zero", "%zero");
    words(&dir, "op trowmax f32 8x104 --valid 8x100 -v a3 --emit-pto k.pto", 0);
    let arg = "--arg src=rand(1):f32[8x104]";
    words(&dir, &format!("run k.pto -v a3 {arg} --out dst=want.bin"), 0);
    let own = "--microcode own.pto --golden dst=want.bin";
    words(&dir, &format!("run k.pto -v a3 {arg} {own}"), 0);
    broken(&dir, "pto.vcmax %d, %tmp, %n,", "pto.vcmin %d, %tmp, %n,");
    words(&dir, &format!("run k.pto -v a3 {arg} {own}"), 1);
}

#[test]
fn junit_names_what_failed() {
    let dir = scratch("junit");
    let line = "verify tcolmax,tadd -v a3 --types f32 --microcode vendor --cases 32 --junit r.xml";
    words(&dir, line, 1);
    let xml = fs::read_to_string(dir.join("r.xml")).unwrap();
    assert!(xml.contains("tests=\"2\" failures=\"1\""), "{xml}");
    assert!(xml.contains("<testcase classname=\"a2a3\" name=\"tadd\"/>"), "{xml}");
    assert!(xml.contains("<failure message=") && xml.trim_end().ends_with("</testsuite>"), "{xml}");
}

#[test]
fn what_cannot_be_verified_is_refused() {
    let dir = scratch("refused");
    fs::write(dir.join("none.pto"), "func.func @other() {\n  return\n}\n").unwrap();
    let odd = "func.func @trowmax(%dst: !pto.ptr<f32, ub>, %width: index) {\n  return\n}\n";
    fs::write(dir.join("odd.pto"), odd).unwrap();
    for (line, why) in [
        ("verify nosuch", "no tile operation"),
        ("verify tload", "global memory"),
        ("verify", "which operation"),
        ("verify trowmax --rows 5..2", "no range of sizes"),
        ("verify trowmax --types u8 -v a3", "no legal use"),
        ("verify trowmax --microcode none.pto", "named after a tile operation"),
        ("verify trowmax --microcode odd.pto", "no operand `width`"),
        ("verify all --emit-template", "one operation"),
        ("verify trowmax --emit-template --cases 5", "cannot be used with"),
        ("verify trowmax --emit-template --mutate", "cannot be used with"),
        ("verify trowmax --emit-template --types f16,f32", "one of --types"),
        ("accuracy --measured x.csv --microcode odd.pto", "no file"),
    ] {
        let out = words(&dir, line, 2);
        let prose = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(prose.contains(why), "{line}: {prose}");
    }
}
