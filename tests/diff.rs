//! `ptoemu diff`: every kind of input, and inputs that cannot be read.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SOFTMAX: &str = "examples/softmax.pto";

fn ptoemu(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptoemu"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(words).output().expect("starts")
}

/// Words that end with status 0; what they print.
fn printed(words: &[&str]) -> String {
    let out = ptoemu(words);
    let prose = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(0), "{words:?}\n{prose}");
    String::from_utf8(out.stdout).expect("UTF-8")
}

fn json(words: &[&str]) -> Value {
    let text = printed(&[words, &["--json", "-"]].concat());
    serde_json::from_str(&text).expect("JSON")
}

/// A fresh folder.
fn folder(name: &str) -> String {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("folder");
    dir.display().to_string()
}

const ARG: [&str; 2] = ["--arg", "x=zeros:f32[64x128]"];

/// Traces of softmax; `more` are words that change it.
fn traced(name: &str, more: &[&str]) -> String {
    let dir = folder(name);
    let words = ["trace", SOFTMAX, "-v", "a3", "-o", &dir, "--format", "csv,camodel"];
    printed(&[&words, &ARG[..], more].concat());
    dir
}

/// Only the dumps of a trace, as a user of the vendor's simulator has them.
fn dumps_of(traces: &str, name: &str) -> String {
    let dir = folder(name);
    for entry in fs::read_dir(Path::new(traces).join("dump")).expect("dumps").flatten() {
        fs::copy(entry.path(), Path::new(&dir).join(entry.file_name())).expect("copy");
    }
    dir
}

/// Of every pipe, the changes of busy and of all causes add up to the change of the run.
fn accounts(d: &Value) {
    let delta = |p: &Value| p["delta"].as_i64().expect("delta");
    for pipe in d["pipes"].as_array().expect("pipes") {
        let stalls: i64 =
            pipe["stalls"].as_array().into_iter().flatten().map(|c| delta(&c["cycles"])).sum();
        assert_eq!(delta(&pipe["busy"]) + stalls, delta(&d["cycles"]), "{pipe}");
    }
}

#[test]
fn one_program_on_two_targets() {
    let d = json(&[&["diff", SOFTMAX, "-v", "a2,a3"], &ARG[..]].concat());
    accounts(&d);
    assert_eq!(d["records"]["only_a"], 0);
    let d = json(&[&["diff", SOFTMAX, "-v", "a3,950pr"], &ARG[..]].concat());
    accounts(&d);
    let run = |target: &str| json(&[&["run", SOFTMAX, "-v", target], &ARG[..]].concat());
    assert_eq!(d["cycles"]["a"], run("a3")["cycles"]);
    assert_eq!(d["cycles"]["b"], run("950pr")["cycles"]);
    let ops: Vec<&str> =
        d["ops"].as_array().into_iter().flatten().filter_map(|o| o["name"].as_str()).collect();
    assert!(ops.contains(&"trowmax f32 64x128") && ops.len() == 7, "{ops:?}");
}

#[test]
fn folders_of_traces() {
    let plain = traced("diff_plain", &[]);
    let same = traced("diff_same", &[]);
    let d = json(&["diff", &plain, &same]);
    assert_eq!(
        (&d["cycles"]["delta"], &d["first"], &d["records"]["moved"]),
        (&0.into(), &Value::Null, &0.into())
    );
    assert!(
        printed(&["diff", &plain, &same])
            .contains("Every record starts and ends at the same cycle")
    );
    // A slower drain: later results, first seen at the first vector instruction.
    let slow = traced("diff_slow", &["--set", "drain=30"]);
    let d = json(&["diff", &plain, &slow]);
    accounts(&d);
    assert!(d["cycles"]["delta"].as_i64().expect("delta") > 0);
    assert_eq!(
        (&d["first"]["lane"], &d["first"]["how"]),
        (&"VECTOR".into(), &"length".into()),
        "{}",
        d["first"]
    );
    let stalls = d["pipes"].as_array().into_iter().flatten().find(|p| p["pipe"] == "VECTOR");
    let stalls = stalls.and_then(|p| p["stalls"].as_array()).expect("causes");
    let barrier = stalls.iter().find(|c| c["cause"] == "barrier").expect("barriers");
    assert!(barrier["cycles"]["delta"].as_i64().expect("delta") > 0);
}

#[test]
fn dumps_without_anything_else() {
    let plain = traced("diff_whole", &[]);
    let dumps = dumps_of(&plain, "diff_dumps");
    let d = json(&["diff", &plain, &dumps]);
    assert_eq!((&d["cycles"]["delta"], &d["first"]), (&0.into(), &Value::Null));
    assert_eq!(d["measure"], "from issue to end");
    for i in d["instructions"].as_array().expect("instructions") {
        assert_eq!((&i["cycles"]["delta"], &i["count"]["delta"]), (&0.into(), &0.into()), "{i}");
    }
    for p in d["pipes"].as_array().expect("pipes") {
        assert_eq!(p["busy"]["delta"], 0, "{p}");
    }
    assert!(d["notes"].to_string().contains("causes are not compared"));
    // A program against the dumps of its own run.
    let d = json(&[&["diff", SOFTMAX, &dumps, "-v", "a3"], &ARG[..]].concat());
    assert_eq!((&d["records"]["moved"], &d["records"]["only_b"]), (&0.into(), &0.into()), "{d}");
}

#[test]
fn reports_of_run() {
    let dir = folder("diff_reports");
    let report = |name: &str, more: &[&str]| {
        let path = format!("{dir}/{name}.json");
        printed(&[&["run", SOFTMAX, "-v", "a3", "--json", &path], &ARG[..], more].concat());
        path
    };
    let (a, b) = (report("a", &[]), report("b", &["--set", "vexp.f32.per_repeat=4"]));
    let d = json(&["diff", &a, &b]);
    accounts(&d);
    assert_eq!(d["instructions"][0]["name"], "VEXP.f32", "{}", d["instructions"]);
    assert_eq!(d["records"], Value::Null);
    let text = printed(&["diff", &a, &b]);
    assert!(text.contains("records are not compared"), "{text}");
}

/// A report and a folder of the same run name everything alike, and every difference is 0.
#[test]
fn a_report_against_the_traces_of_its_run() {
    for target in ["a3", "950pr"] {
        let dir = folder("diff_alike");
        let words = ["trace", SOFTMAX, "-v", target, "-o", &dir, "--format", "csv,camodel"];
        printed(&[&words, &ARG[..]].concat());
        let report = format!("{dir}/report.json");
        printed(&[&["run", SOFTMAX, "-v", target, "--json", &report], &ARG[..]].concat());
        for sides in [[&report, &dir], [&dir, &report]] {
            let d = json(&["diff", sides[0], sides[1]]);
            accounts(&d);
            let zero = |v: &Value| assert_eq!(v["delta"], 0, "{target}: {d}");
            zero(&d["cycles"]);
            let instructions = d["instructions"].as_array().expect("instructions");
            assert!(instructions.len() >= 3);
            instructions
                .iter()
                .for_each(|i| [&i["cycles"], &i["count"]].into_iter().for_each(zero));
            let pipes = d["pipes"].as_array().expect("pipes");
            assert!(pipes.len() >= 3);
            for p in pipes {
                zero(&p["busy"]);
                p["stalls"].as_array().into_iter().flatten().for_each(|c| zero(&c["cycles"]));
            }
        }
    }
}

#[test]
fn dumps_that_were_cut_off() {
    let plain = traced("diff_uncut", &[]);
    let cut = traced("diff_cut_off", &[]);
    let path = format!("{cut}/dump/core0.veccore0.instr_log.dump");
    let text = fs::read_to_string(&path).expect("dump");
    fs::write(&path, &text[..text.len() - 40]).expect("written");
    let lines = text.lines().count();
    let said = printed(&["diff", &plain, &cut]);
    assert!(
        said.contains(&format!("note: B: instr_log is cut off: line {lines} has no end")),
        "{said}"
    );
    // At the end of a line in both, so that nothing is unpaired: the profile knows better.
    for kind in ["instr_popped_log", "instr_log"] {
        let path = format!("{cut}/dump/core0.veccore0.{kind}.dump");
        let text = fs::read_to_string(&path).expect("dump");
        let kept: String = text.lines().take(3).map(|l| format!("{l}\n")).collect();
        fs::write(&path, kept).expect("written");
    }
    let said = printed(&["diff", &plain, &cut]);
    assert!(said.contains("note: B: the dumps are cut off: they hold"), "{said}");
}

#[test]
fn folders_of_several_traces() {
    let dir = folder("diff_several");
    let words = ["trace", SOFTMAX, "-v", "a2,a3", "-o", &dir, "--format", "csv"];
    printed(&[&words, &ARG[..]].concat());
    let out = ptoemu(&["diff", &dir, &dir]);
    let prose = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2));
    assert!(prose.contains(&format!("give {dir}/a2 or {dir}/a3")), "{prose}");
    json(&["diff", &format!("{dir}/a2"), &format!("{dir}/a3")]);
}

#[test]
fn pages_need_nothing_from_outside() {
    let page = format!("{}/diff.html", folder("diff_page"));
    let words = [&["diff", SOFTMAX, "-v", "a2,a3", "--html", &page], &ARG[..]].concat();
    printed(&words);
    let html = fs::read_to_string(&page).expect("page");
    for part in ["http://", "https://", " src=", "url("] {
        assert!(!html.contains(part), "{part}");
    }
    printed(&words);
    assert_eq!(html, fs::read_to_string(&page).expect("page"));
}

/// A file with a text; its path.
fn file(dir: &str, name: &str, text: &str) -> String {
    let path = PathBuf::from(dir).join(name);
    fs::write(&path, text).expect("written");
    path.display().to_string()
}

#[test]
fn what_cannot_be_read_is_refused() {
    let dir = folder("diff_broken");
    let whole = traced("diff_sound", &[]);
    let empty = folder("diff_empty");
    let junk = file(&dir, "junk.json", "{");
    let other = file(&dir, "other.json", "{\"a\": 1}");
    let many = file(&dir, "many.json", "[{\"target\": \"a2\"}, {\"target\": \"a3\"}]");
    let binary = format!("{dir}/binary.json");
    fs::write(&binary, [0xff, 0xfe, 0]).expect("written");
    let half = dumps_of(&whole, "diff_half");
    fs::remove_file(format!("{half}/core0.veccore0.instr_log.dump")).expect("removed");
    let hollow = dumps_of(&whole, "diff_hollow");
    file(&hollow, "core0.veccore0.instr_log.dump", "");
    let cut = dumps_of(&whole, "diff_cut");
    file(&cut, "core0.veccore0.instr_popped_log.dump", "[info] [00000001] (PC: 0x1000\n");
    let prose = dumps_of(&whole, "diff_prose");
    file(&prose, "core0.veccore0.instr_popped_log.dump", "nothing was simulated\n");
    let worn = traced("diff_worn", &[]);
    file(&worn, "simulator/core0.veccore0/profile.json", "{\"name\": 3}");
    for (words, part) in [
        (vec![whole.as_str(), "nowhere"], "cannot read nowhere"),
        (vec![&whole, &empty], "neither traces of this tool nor dumps"),
        (vec![&whole, &junk], "EOF while parsing"),
        (vec![&whole, &other], "no report of `ptoemu run --json`"),
        (vec![&whole, &many], "several runs (a2, a3)"),
        (vec![&whole, &binary], "cannot read"),
        (vec![&whole, &half], "neither traces of this tool nor dumps"),
        (vec![&whole, &hollow], "instr_log is empty"),
        (vec![&whole, &cut], "line 1: no line of a dump"),
        (vec![&whole, &prose], "line 1: no line of an instruction dump"),
        (vec![&whole, &worn], "profile.json: "),
        (vec![&whole], "1 run given"),
        (vec![SOFTMAX, "-v", "a2"], "1 run given"),
        (vec![SOFTMAX, SOFTMAX, "-v", "a2,a3"], "4 runs given"),
        (vec![SOFTMAX, "-v", "a2,a9"], "no target `a9`"),
        (vec![&whole, &whole, "--core", "3"], "dumps named core3"),
        (vec!["tests/fail/syntax_character.pto", "-v", "a2,a3"], "error"),
    ] {
        let out = ptoemu(&[&["diff"], &words[..]].concat());
        let prose = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{words:?}: {prose}");
        assert!(prose.contains(part), "{words:?}: {prose}");
        assert!(out.stdout.is_empty());
    }
}
