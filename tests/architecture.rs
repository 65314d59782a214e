//! The rules of ARCHITECTURE.md that a reader of the sources can check.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file under a folder of the project with its text.
fn sources(dir: &str) -> Vec<(PathBuf, String)> {
    let mut out = Vec::new();
    let mut open = vec![root().join(dir)];
    while let Some(dir) = open.pop() {
        for path in fs::read_dir(&dir).expect("folder").flatten().map(|e| e.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).expect("source");
                out.push((path, text));
            }
        }
    }
    assert!(out.len() > 5, "{dir} holds {} files", out.len());
    out.sort();
    out
}

/// Files under `dir` that contain any of `words`, with the word.
fn containing(dir: &str, words: &[String]) -> Vec<(PathBuf, String)> {
    let mut out = Vec::new();
    for (path, text) in sources(dir) {
        let found = words.iter().filter(|w| text.contains(w.as_str()));
        out.extend(found.map(|w| (path.clone(), w.clone())));
    }
    out
}

#[test]
fn crates_depend_in_one_direction() {
    for (name, allowed) in
        [("core", &[][..]), ("isa", &["core"][..]), ("traces", &["core", "isa"][..])]
    {
        let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).expect("manifest");
        let used = manifest
            .lines()
            .filter_map(|l| l.strip_prefix("ptoemu-"))
            .map(|l| l.split(['.', ' ']).next().unwrap_or(""));
        for dep in used {
            assert!(allowed.contains(&dep), "{name} depends on {dep}");
        }
    }
}

#[test]
fn core_and_isa_neither_read_nor_print() {
    let words =
        ["std::fs", "std::io", "std::env", "std::net", "std::process", "print!", "println!"];
    let words = words.map(String::from);
    for dir in ["core/src", "isa/src"] {
        let found = containing(dir, &words);
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn core_names_no_instruction() {
    let names: Vec<String> =
        ptoemu_isa::table::catalogue().0.iter().map(|e| format!("\"{}\"", e.mnemonic)).collect();
    let mut found = containing("core/src", &names);
    // Tests of target files need some instruction to talk about.
    found.retain(|(path, _)| path.file_name().is_none_or(|n| n != "tests.rs"));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_reader_knows_no_tables() {
    let words = ["table", "tile", "families", "machine", "exec", "instr", "a5"]
        .map(|m| format!("crate::{m}"));
    let found = containing("isa/src/text", &words);
    assert!(found.is_empty(), "{found:?}");
}
