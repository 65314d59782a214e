//! Messages as their readers see them: every `tests/fail/*.pto` is one misuse, run with the
//! arguments of its `// run:` line; it ends with the status of its `// exit:` line and prints the
//! `.stderr` beside it. Every `tests/pass/*.pto` is a repaired twin: it runs without a word.
//!
//! `PTOEMU_BLESS=1` rewrites the `.stderr` files; review them as a diff.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Names of the files with that ending in a folder of tests, without ending.
fn names(folder: &str, ending: &str) -> BTreeSet<String> {
    let dir = fs::read_dir(root().join("tests").join(folder)).expect("folder");
    dir.flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == ending))
        .filter_map(|p| Some(p.file_stem()?.to_str()?.to_string()))
        .collect()
}

fn file(folder: &str, name: &str, ending: &str) -> PathBuf {
    PathBuf::from(format!("tests/{folder}/{name}.{ending}"))
}

/// Value of a `// key:` line of a program.
fn header(text: &str, key: &str) -> String {
    let prefix = format!("// {key}:");
    let line = text.lines().find_map(|l| l.strip_prefix(&prefix));
    line.unwrap_or_else(|| panic!("no line {prefix}")).trim().to_string()
}

/// Status and prose of a run as its header asks for it.
fn run(folder: &str, name: &str) -> (i32, String) {
    let path = file(folder, name, "pto");
    let text = fs::read_to_string(root().join(&path)).expect("program");
    let out = Command::new(env!("CARGO_BIN_EXE_ptoemu"))
        .current_dir(root())
        .arg("run")
        .arg(&path)
        .args(header(&text, "run").split_whitespace())
        .output()
        .expect("the command starts");
    let status = out.status.code().expect("no signal");
    let wanted: i32 = header(&text, "exit").parse().expect("a status");
    let prose = String::from_utf8(out.stderr).expect("UTF-8");
    assert_eq!(status, wanted, "{folder}/{name}:\n{prose}");
    if status == 2 {
        assert!(out.stdout.is_empty(), "{name} is refused, yet data went to stdout");
    }
    (status, prose)
}

#[test]
fn every_misuse_has_its_message() {
    let bless = std::env::var_os("PTOEMU_BLESS").is_some();
    let mut wrong = Vec::new();
    for name in names("fail", "pto") {
        let (_, prose) = run("fail", &name);
        assert!(prose.contains("error[") || prose.contains("warning["), "{name}: {prose}");
        let path = root().join(file("fail", &name, "stderr"));
        let known = fs::read_to_string(&path).unwrap_or_default();
        if bless {
            fs::write(&path, &prose).expect("written");
        } else if known != prose {
            wrong.push(format!("--- {name}, expected\n{known}--- now\n{prose}"));
        }
    }
    assert!(wrong.is_empty(), "run with PTOEMU_BLESS=1 and review:\n{}", wrong.join("\n"));
}

#[test]
fn no_message_is_left_without_its_program() {
    assert_eq!(names("fail", "pto"), names("fail", "stderr"));
}

/// Besides the place, a message says what is wrong, and how to get out of it.
#[test]
fn every_message_has_a_caret_and_a_way_out() {
    for name in names("fail", "stderr") {
        let text = fs::read_to_string(root().join(file("fail", &name, "stderr"))).expect("text");
        assert!(text.contains('^'), "{name} points at nothing:\n{text}");
        let syntax = text.starts_with("error[syntax]");
        assert!(syntax || text.contains("= help: "), "{name} shows no way out:\n{text}");
    }
}

#[test]
fn repaired_twins_run_without_a_word() {
    let twins = names("pass", "pto");
    assert!(twins.is_subset(&names("fail", "pto")), "a twin without its misuse");
    assert!(twins.len() > 70, "{} twins", twins.len());
    for name in twins {
        let (status, prose) = run("pass", &name);
        assert_eq!((status, prose.as_str()), (0, ""), "{name}");
    }
}
