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

/// A target is its file: no name of one stands where programs are executed and timed. (The reader
/// of programs knows the architectures a module may name, and messages name one to try.)
#[test]
fn execution_and_timing_name_no_target() {
    let targets = ptoemu::targets::all().expect("the shipped files are sound");
    let names = targets.iter().flat_map(|t| std::iter::once(&t.name).chain(&t.aliases));
    let mut quoted: Vec<String> = names.map(|n| format!("\"{n}\"")).collect();
    quoted.extend(ptoemu::targets::EMBEDDED.iter().map(|(n, _)| format!("\"{n}\"")));
    let parts = ["machine", "a5", "families"].map(|d| format!("isa/src/{d}"));
    for dir in parts.iter().map(String::as_str).chain(["core/src"]) {
        let found = containing(dir, &quoted);
        assert!(found.is_empty(), "{found:?}");
    }
}

/// Numbers of a source, constants, array lengths and shifts left aside: what could be cycles.
fn numbers(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or("");
    let mut out = Vec::new();
    for line in code.lines().map(|l| l.split("//").next().unwrap_or("")) {
        // Every second piece is inside quotes.
        let line: String = line.split('"').step_by(2).collect();
        if line.contains("const ") {
            continue;
        }
        let mut before = String::new();
        for word in line.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')) {
            let word_only = word.trim_end_matches(|c: char| !c.is_alphanumeric());
            let word_only = word_only.split("..").next().unwrap_or("");
            let place = before.trim_end();
            let shift = place.ends_with("<<") || place.ends_with(">>") || place.ends_with(';');
            let number = word_only.starts_with(|c: char| c.is_ascii_digit());
            let suffix = ["u8", "u16", "u32", "u64", "i64", "usize"];
            let plain = suffix.iter().find_map(|s| word_only.strip_suffix(s)).unwrap_or(word_only);
            let small = ["0", "1", "2", "0.0", "0.5", "1.0"].contains(&plain);
            if number && !small && !shift {
                out.push(word_only.to_string());
            }
            before.push_str(word);
        }
    }
    out
}

/// No latency exists outside the target files: where cycles are made there are no numbers but
/// those explained here.
#[test]
fn timing_has_no_numbers_of_its_own() {
    let known = [
        ("figures.rs", "64"), // bank groups of one turn: bits of a word
        ("tables.rs", "3"),   // a class of followers, as target files number them
        ("engine.rs", "7"),   // source operand within a link
        ("rename.rs", "8"),   // the same
    ];
    let makers = [
        "machine.rs",
        "figures.rs",
        "prepared.rs",
        "tables.rs",
        "engine.rs",
        "issue.rs",
        "memory.rs",
        "rename.rs",
        "retire.rs",
        "walk.rs",
    ];
    let mut seen = 0;
    for (path, text) in sources("core/src/time") {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("").to_string();
        if !makers.contains(&name.as_str()) {
            continue;
        }
        seen += 1;
        let own: Vec<String> =
            numbers(&text).into_iter().filter(|n| !known.contains(&(&name, n))).collect();
        assert!(own.is_empty(), "{name}: {own:?}");
    }
    assert_eq!(seen, makers.len(), "a file was renamed");
    assert_eq!(numbers("let x = a + 12; // 7\nlet y = [0; 9]; const Z: u8 = 5;"), ["12"]);
}
