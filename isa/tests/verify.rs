//! The verifier on the microcode of the emulator: every unit, a few of its uses, nothing found.
//!
//! `PTOEMU_CASES` sets the uses per unit.

use ptoemu_isa::tile::{Family, OPS, Quirks};
use ptoemu_isa::verify::{Bench, BuiltIn, Unit, Uses};

fn sweep(family: Family, default: u64) {
    let n = std::env::var("PTOEMU_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(default);
    let only = std::env::var("PTOEMU_OP").ok();
    let mut bench = Bench::default();
    let mut bad = Vec::new();
    for op in OPS.iter().filter(|o| only.as_deref().is_none_or(|n| n == o.name)) {
        let start = std::time::Instant::now();
        let mut legal = 0;
        let units = Unit::all(family, op);
        for unit in &units {
            let uses = Uses::new(*unit, 1);
            let mut shown = 0;
            for i in 0..n {
                let spec = uses.nth(i);
                let Some(faults) = bench.verify(unit, &spec, Quirks::corrected(), &BuiltIn) else {
                    continue;
                };
                legal += 1;
                if !faults.is_empty() && shown < 2 {
                    shown += 1;
                    bad.push(format!("{} {} {spec:?}\n   {faults:?}", op.name, unit.types()));
                }
            }
        }
        println!(
            "{:20} {:3} units {:6}/{:6} {:?} {:.0}/s",
            op.name,
            units.len(),
            legal,
            n * units.len() as u64,
            start.elapsed(),
            legal as f64 / start.elapsed().as_secs_f64()
        );
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn a2a3() {
    sweep(Family::A2A3, 8);
}

#[test]
fn a5() {
    sweep(Family::A5, 8);
}
