#![no_main]

use libfuzzer_sys::{Corpus, fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};
use ptoemu_fuzz::{harness, mutate, tally};
use std::sync::LazyLock;

/// With this variable set only programs that start to run are kept and mutated further.
static DEEP: LazyLock<bool> = LazyLock::new(|| std::env::var_os("PTOEMU_FUZZ_DEEP").is_some());

fuzz_target!(|data: &[u8]| -> Corpus {
    let reached = harness::executor(data);
    tally::count(reached);
    // Texts with errors are the parser's: mutations of them would not run either.
    match reached {
        harness::Reached::Text => Corpus::Reject,
        harness::Reached::Refused if *DEEP => Corpus::Reject,
        _ => Corpus::Keep,
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(32) {
        return fuzzer_mutate(data, size, max_size);
    }
    mutate::in_place(data, size, max_size, seed)
});

fuzz_crossover!(|a: &[u8], b: &[u8], out: &mut [u8], seed: u32| { mutate::cross(a, b, out, seed) });
