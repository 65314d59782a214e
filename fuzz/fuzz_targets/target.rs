#![no_main]

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};
use ptoemu_fuzz::{harness, mutate, tally};

fuzz_target!(|data: &[u8]| tally::count(harness::target(data)));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(32) {
        return fuzzer_mutate(data, size, max_size);
    }
    mutate::in_place(data, size, max_size, seed)
});

fuzz_crossover!(|a: &[u8], b: &[u8], out: &mut [u8], seed: u32| { mutate::cross(a, b, out, seed) });
