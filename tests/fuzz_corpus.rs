//! Every input the fuzzer kept or found, and a few mutations of each, on the stable toolchain:
//! errors are fine, panics are not. `docs/fuzzing.md` tells where the files come from.

#[path = "../fuzz/src/harness.rs"]
mod harness;
// The fuzzer uses the rest of it.
#[allow(dead_code)]
#[path = "../fuzz/src/mutate.rs"]
mod mutate;

use harness::Reached;
use std::path::{Path, PathBuf};

/// Mutations tried of each program; the fuzzer itself tries millions.
const MUTATIONS: u64 = 3;

fn files(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz_corpus").join(folder);
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no files in {}", dir.display());
    paths.into_iter().map(|p| (p.clone(), std::fs::read(&p).expect("a readable file"))).collect()
}

/// Runs `f` on every file of the folder and on mutations of it; says which file panics. Returns
/// how many files (not mutations) got how far.
fn sweep(folder: &str, f: fn(&[u8]) -> Reached, mutations: u64) -> [usize; 4] {
    let mut seen = [0; 4];
    for (path, data) in files(folder) {
        let run = |data: &[u8], what: &str| match std::panic::catch_unwind(|| f(data)) {
            Ok(reached) => reached,
            Err(_) => panic!("{} panics{what}", path.display()),
        };
        seen[run(&data, "") as usize] += 1;
        for seed in 0..mutations {
            let mut text = data.clone();
            let mut rng = mutate::Rng::new(seed + data.len() as u64);
            mutate::mutate(&mut text, &mut rng);
            run(&text, &format!(" when mutated with seed {seed}:\n{}", text.escape_ascii()));
        }
    }
    seen
}

#[test]
fn programs_read_and_print() {
    let seen = sweep("programs", harness::parser, MUTATIONS);
    assert!(seen[Reached::Text as usize] > 0 && seen[Reached::Finished as usize] > 0, "{seen:?}");
}

#[test]
fn programs_run() {
    let seen = sweep("programs", harness::executor, MUTATIONS);
    for reached in [Reached::Text, Reached::Refused, Reached::Stopped, Reached::Finished] {
        assert!(seen[reached as usize] > 0, "no {reached:?} in {seen:?}");
    }
}

#[test]
fn instructions_execute() {
    let seen = sweep("instructions", harness::instructions, 0);
    assert!(
        seen[Reached::Stopped as usize] > 0 && seen[Reached::Finished as usize] > 0,
        "{seen:?}"
    );
}

#[test]
fn targets_load() {
    let seen = sweep("targets", harness::target, MUTATIONS);
    assert!(
        seen[Reached::Refused as usize] > 0 && seen[Reached::Finished as usize] > 0,
        "{seen:?}"
    );
}
