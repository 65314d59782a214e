//! `ptoemu trace` writes what it says, and its files agree with `ptoemu run`.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const INPUTS: [&str; 4] = ["--arg", "x=zeros:f32[64x128]", "--arg", "y=zeros:f32[64x128]"];

fn ptoemu(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptoemu"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(words).output().expect("starts")
}

fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    dir
}

fn json(out: &Output) -> Value {
    let prose = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{prose}");
    serde_json::from_slice(&out.stdout).expect("JSON on stdout")
}

/// Traces softmax on two targets; the folder and the report.
fn softmax(name: &str, more: &[&str]) -> (PathBuf, Value) {
    let dir = folder(name);
    let to = dir.display().to_string();
    let mut words = vec!["trace", "examples/softmax.pto", "-v", "a2,a3", "-o", &to, "--json", "-"];
    words.extend(INPUTS);
    words.extend(more);
    (dir, json(&ptoemu(&words)))
}

#[test]
fn files_agree_with_the_run() {
    let (dir, report) = softmax("trace_all", &[]);
    let mut words = vec!["run", "examples/softmax.pto", "-v", "a2,a3", "--json", "-"];
    words.extend(INPUTS);
    let run = json(&ptoemu(&words));
    for (i, target) in ["a2", "a3"].into_iter().enumerate() {
        assert_eq!(report[i]["cycles"], run[i]["cycles"]);
        let files = report[i]["files"].as_array().expect("files");
        assert_eq!(files.len(), 14);
        for f in files {
            let path = dir.join(target).join(f.as_str().expect("path"));
            assert!(fs::metadata(&path).expect("written").len() > 0, "{}", path.display());
        }
        let log = fs::read_to_string(dir.join(target).join("dump/core0_summary_log")).expect("log");
        let busy = &run[i]["pipes"]["V"]["busy"];
        assert!(
            log.contains(&format!("vec_veccore0_su_busy_cycle            | {busy}\n")),
            "{log}"
        );
    }
}

#[test]
fn both_families_and_a_run_that_traces() {
    let dir = folder("trace_run");
    let to = dir.display().to_string();
    let mut words = vec!["run", "examples/softmax.pto", "-v", "a3,950pr", "--trace", &to];
    words.extend(INPUTS);
    words.extend(["--json", "-"]);
    let run = json(&ptoemu(&words));
    assert!(dir.join("report.html").exists());
    for (i, target) in ["a3", "950pr"].into_iter().enumerate() {
        let log = fs::read_to_string(dir.join(target).join("dump/core0_summary_log")).expect("log");
        let ticks = format!("kernal total ticks : {}\n", run[i]["cycles"]);
        assert!(log.starts_with(&ticks), "{log}");
        assert!(dir.join(target).join("run.pftrace").exists());
        let report = fs::read_to_string(dir.join(target).join("timeline.txt")).expect("report");
        assert_eq!(report.contains("Ports of trowmax"), target == "950pr");
    }
}

#[test]
fn the_same_bytes_twice() {
    let ((one, report), (two, _)) = (softmax("trace_one", &[]), softmax("trace_two", &[]));
    for f in report[1]["files"].as_array().expect("files") {
        let read =
            |dir: &Path| fs::read(dir.join("a3").join(f.as_str().expect("path"))).expect("file");
        assert!(read(&one) == read(&two), "{f}");
    }
}

#[test]
fn filters_and_refusals() {
    let (_, report) = softmax("trace_op", &["--op", "trowmax", "--format", "text,kanata"]);
    let number = |key: &str| report[0][key].as_u64().expect("number");
    assert!(number("shown") > 0 && number("shown") < number("records"));
    assert_eq!(report[0]["files"], serde_json::json!(["timeline.txt", "pipeline.kanata"]));
    let (_, named) = softmax("trace_pto", &["--op", "pto.trowmax", "--format", "text"]);
    assert_eq!(named[0]["shown"], report[0]["shown"]);
    for (words, part) in [
        (["--op", "nothing"], "no record passes the filter"),
        (["--window", "9..3"], "holds no cycle"),
        (["--format", "pdf"], "invalid value"),
        (["--json", "no/such/folder"], "cannot write"),
        (["--set", "nothing=1"], "nothing"),
    ] {
        let mut all = vec!["trace", "examples/softmax.pto", "-o", "never"];
        all.extend(INPUTS);
        all.extend(words);
        let out = ptoemu(&all);
        assert_eq!(out.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&out.stderr).contains(part), "{part}");
        assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join("never").exists());
    }
}

/// One target has the instruction, the other has not: neither is written.
#[test]
fn several_targets_are_written_or_none() {
    let dir = folder("trace_none");
    let to = dir.display().to_string();
    for (targets, part) in [
        ("a3,950pr", "no record passes the filter on 950pr"),
        ("a3,ascend910c", "two targets are named a3"),
    ] {
        let mut words = vec!["trace", "examples/softmax.pto", "-v", targets, "-o", &to];
        words.extend(INPUTS);
        words.extend(["--op", "vcgmax"]);
        let out = ptoemu(&words);
        assert_eq!(out.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&out.stderr).contains(part), "{part}");
        assert!(!dir.exists());
    }
}

/// A deadlock has no timeline, and the command says so.
#[test]
fn a_run_that_was_stopped_has_no_trace() {
    let dir = folder("trace_stopped");
    let to = dir.display().to_string();
    let kernel = "tests/fail/deadlock_ring.pto";
    let out = ptoemu(&["trace", kernel, "--arg", "x=zeros:f32[128]", "-o", &to]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("no trace; nothing is written"));
    assert!(!dir.exists());
}

/// Instructions of a vecscope stand at their own lines in every format that names lines.
#[test]
fn instructions_of_a_vecscope_have_lines() {
    let dir = folder("trace_lines");
    let to = dir.display().to_string();
    let kernel = "tests/pass/race_950_load.pto";
    let words = ["trace", kernel, "-v", "950pr", "--sync", "manual", "-o", &to];
    let args = ["--arg", "x=zeros:f32[64]", "--arg", "y=zeros:f32[64]"];
    let out = ptoemu(&[&words[..], &args[..]].concat());
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(kernel)).expect("text");
    let read =
        |file: &str| String::from_utf8_lossy(&fs::read(dir.join(file)).expect(file)).into_owned();
    let core = "simulator/core0.veccore0";
    let page = read("report.html");
    for op in ["pset_b32", "vlds", "vadd", "vsts"] {
        let n = text.lines().take_while(|l| !l.contains(&format!("pto.{op} "))).count() + 1;
        let place = format!("race_950_load.pto:{n}");
        for file in ["timeline.txt", "simulator/trace.json", "pipeline.kanata", "run.pftrace"] {
            assert!(read(file).contains(&place), "{op} in {file}");
        }
        assert!(read(&format!("{core}/trace.json")).contains(&place), "{op}");
        let lines = read(&format!("{core}/core0.veccore0_code_exe.csv"));
        assert!(lines.contains(&format!("{place},1,")), "{op}: {lines}");
        let table = read(&format!("{core}/core0.veccore0_instr_exe.csv"));
        assert!(table.contains(&format!("CODE:tests/pass/{place}")), "{op}: {table}");
        let row = page.split(&format!("<tr id=\"L{n}\">")).nth(1).expect("line of the program");
        assert!(row.split("</tr>").next().is_some_and(|r| r.contains("1 × ")), "{op}: {row:.200}");
    }
}

/// Every file below a folder with its contents.
fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(t) if t.is_dir() => out.extend(contents(&path)),
            Ok(t) if t.is_file() => out.push((path.clone(), fs::read(&path).expect("file"))),
            _ => {}
        }
    }
    out.sort();
    out
}

/// What fails when most files are written leaves no file and no folder, and an older trace as it was.
#[cfg(target_os = "linux")]
#[test]
fn a_trace_is_written_whole_or_not_at_all() {
    let old = folder("trace_over");
    let trace = |dir: &Path, more: &[&str]| {
        let to = dir.display().to_string();
        let mut words = vec!["trace", "examples/softmax.pto", "-v", "a3", "-o", &to];
        words.extend(INPUTS);
        words.extend(more);
        ptoemu(&words)
    };
    assert_eq!(trace(&old, &[]).status.code(), Some(0));
    let before = contents(&old);
    fs::remove_file(old.join("report.html")).expect("removed");
    let fresh = folder("trace_full");
    fs::create_dir_all(&fresh).expect("folder");
    for (dir, kept) in [(&old, before.len() - 1), (&fresh, 0)] {
        // The page comes last. First the disk is full, then a folder is in its place.
        std::os::unix::fs::symlink("/dev/full", dir.join("report.html")).expect("link");
        for part in ["No space left on device", "report.html: it is a folder"] {
            let out = trace(dir, &["--set", "drain=30"]);
            assert_eq!(out.status.code(), Some(2));
            let prose = String::from_utf8_lossy(&out.stderr);
            assert!(prose.contains(part), "{prose}");
            let after = contents(dir);
            assert_eq!(after.len(), kept, "{after:?}");
            assert!(after.iter().all(|file| before.contains(file)));
            let _ = fs::remove_file(dir.join("report.html"));
            fs::create_dir_all(dir.join("report.html")).expect("folder");
        }
        assert_eq!(dir.join("simulator").exists(), kept > 0);
    }
}
