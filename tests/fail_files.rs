//! Messages about broken files: every `tests/fail_targets/*.ron` is a target file and every
//! `tests/fail_studies/*.ron` a study file with one fault. Reading it ends with status 2 and
//! prints the `.stderr` beside it, word by word.
//!
//! `PTOEMU_BLESS=1` rewrites the `.stderr` files; review them as a diff.

use std::fs;
use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Names of the files of a folder with that ending, without ending, sorted.
fn names(folder: &str, ending: &str) -> Vec<String> {
    let dir = fs::read_dir(root().join("tests").join(folder)).expect("folder");
    let paths = dir.flatten().map(|e| e.path());
    let own = paths.filter(|p| p.extension().is_some_and(|e| e == ending));
    let mut names: Vec<String> =
        own.filter_map(|p| Some(p.file_stem()?.to_str()?.to_string())).collect();
    names.sort();
    names
}

/// Every file of a folder under a command that reads it.
fn refused(folder: &str, command: &[&str]) {
    let bless = std::env::var_os("PTOEMU_BLESS").is_some();
    let mut wrong = Vec::new();
    for name in names(folder, "ron") {
        let path = format!("tests/{folder}/{name}.ron");
        let out = Command::new(env!("CARGO_BIN_EXE_ptoemu"))
            .current_dir(root())
            .args(command)
            .arg(&path)
            .output()
            .expect("the command starts");
        let prose = String::from_utf8(out.stderr).expect("UTF-8");
        assert_eq!(out.status.code(), Some(2), "{path}:\n{prose}");
        assert!(out.stdout.is_empty(), "{path} is refused, yet data went to stdout");
        assert!(prose.starts_with("error"), "{path}:\n{prose}");
        let known_at = root().join(format!("tests/{folder}/{name}.stderr"));
        if bless {
            fs::write(&known_at, &prose).expect("written");
            continue;
        }
        let known = fs::read_to_string(&known_at).unwrap_or_default();
        if known != prose {
            wrong.push(format!("--- {path}, expected\n{known}--- now\n{prose}"));
        }
        let syntax = prose.contains(".syntax]");
        assert!(prose.contains('^'), "{path} points at nothing:\n{prose}");
        assert!(syntax || prose.contains("= help: "), "{path} shows no way out:\n{prose}");
    }
    assert!(wrong.is_empty(), "run with PTOEMU_BLESS=1 and review:\n{}", wrong.join("\n"));
    assert_eq!(names(folder, "ron"), names(folder, "stderr"));
    assert!(names(folder, "ron").len() >= 30, "{folder}");
}

#[test]
fn broken_target_files_are_refused_under_the_fault() {
    refused("fail_targets", &["targets", "check"]);
}

#[test]
fn broken_study_files_are_refused_under_the_fault() {
    refused("fail_studies", &["whatif"]);
}
