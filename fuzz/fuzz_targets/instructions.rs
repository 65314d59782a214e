#![no_main]

use libfuzzer_sys::fuzz_target;
use ptoemu_fuzz::{harness, tally};

fuzz_target!(|data: &[u8]| tally::count(harness::instructions(data)));
