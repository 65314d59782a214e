//! Nanoseconds per repeat of the executing machine: values, shadow and checks together.
//! `cargo bench -p ptoemu-isa --bench machine`

use ptoemu_core::dtype::DType::{self, F16, F32};
use ptoemu_core::state::WRITER_NONE;
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::{Backend, Machine, Recorder};
use ptoemu_isa::table::Op;
use std::hint::black_box;
use std::time::Instant;

/// Best of a few rounds of `f`, in nanoseconds, divided by `per`.
fn best(per: u64, mut f: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..30 {
        let t = Instant::now();
        f();
        best = best.min(t.elapsed().as_nanos() as f64);
    }
    best / per as f64
}

fn ready() -> Machine {
    let mut m = Machine::default();
    m.ub.bytes.as_mut_slice().fill(0x3C);
    m.ub.shadow.set(0, 196_608, true, WRITER_NONE);
    m
}

fn measure(name: &str, t: DType, op: Op, args: &[i64], repeats: u64) {
    let i = Instr::new(op, t, args);
    let mut m = ready();
    let ns = best(repeats * 50, || {
        for _ in 0..50 {
            let _ = black_box(m.issue(black_box(&i)));
        }
        m.log.stream.records.clear();
    });
    println!("{name:<24} {:<4} {ns:8.1} ns per repeat", t.name());
}

/// The vector instructions of a softmax over 64 rows of 128: row maximum, broadcast, subtract,
/// exponential, row sum, broadcast, divide.
fn softmax(t: DType) -> Vec<Instr> {
    let (x, tmp, col, row) = (0, 0x8000, 0x10000, 0x11000);
    let wide = t == F32;
    let pitch = if wide { 16 } else { 8 };
    let mut out = Vec::new();
    let mut put = |op: Op, args: &[i64]| out.push(Instr::new(op, t, args));
    for (fold, reduce, apply) in [(Op::vmax, Op::vcmax, Op::vsub), (Op::vadd, Op::vcadd, Op::vdiv)]
    {
        if wide {
            put(fold, &[tmp, x, x + 256, 64, 1, 1, 1, pitch, pitch, pitch]);
        }
        put(reduce, &[col, if wide { tmp } else { x }, 64, 1, 1, pitch, 0]);
        put(Op::vbrcb, &[row, col, 1, 8, 8]);
        for half in 0..pitch / 8 {
            let at = x + 256 * half;
            put(apply, &[at, at, row, 64, 1, 1, 0, pitch, pitch, 1]);
        }
        if apply == Op::vsub {
            put(Op::vexp, &[x, x, pitch * 8, 1, 1, 8, 8]);
        }
    }
    out
}

fn main() {
    for t in [F32, F16] {
        let program = softmax(t);
        let mut m = ready();
        let ns = best(1, || {
            for i in &program {
                m.issue(i).expect("legal");
            }
            m.log.stream.records.clear();
        });
        println!("softmax 64x128 {:<4} {:>8.1} us", t.name(), ns / 1000.0);
    }
    let (a, b, d) = (0, 0x8000, 0x10000);
    for t in [F32, F16] {
        for op in [Op::vadd, Op::vmul, Op::vmax, Op::vdiv] {
            measure(op.mnemonic(), t, op, &[d, a, b, 128, 1, 1, 1, 8, 8, 8], 128);
        }
        measure("vmax rows of 2 repeats", t, Op::vmax, &[d, a, b, 64, 1, 1, 1, 16, 16, 16], 64);
        measure("vsub broadcast", t, Op::vsub, &[d, a, b, 64, 1, 1, 0, 16, 16, 1], 64);
        for op in [Op::vexp, Op::vabs] {
            measure(op.mnemonic(), t, op, &[d, a, 128, 1, 1, 8, 8], 128);
        }
        measure("vadds", t, Op::vadds, &[d, a, 0x3C00, 128, 1, 1, 8, 8], 128);
        measure("vcmax only value", t, Op::vcmax, &[d, a, 64, 1, 1, 8, 0], 64);
        measure("vcmax value index", t, Op::vcmax, &[d, a, 64, 1, 1, 8, 1], 64);
        measure("vcadd", t, Op::vcadd, &[d, a, 64, 1, 1, 8, 0], 64);
        measure("vcgmax", t, Op::vcgmax, &[d, a, 64, 1, 1, 8], 64);
        measure("vbrcb", t, Op::vbrcb, &[d, a, 1, 8, 8], 8);
        measure("vadd, one repeat", t, Op::vadd, &[d, a, b, 1, 1, 1, 1, 8, 8, 8], 1);
    }
    let i = Instr::new(Op::vadd, F32, &[d, a, b, 128, 1, 1, 1, 8, 8, 8]);
    let mut r = Recorder::default();
    let ns = best(1000, || {
        for _ in 0..1000 {
            let _ = black_box(r.issue(black_box(&i)));
        }
        r.log.stream.records.clear();
    });
    println!("{:<24} {:<4} {ns:8.1} ns per instruction", "recorder", "f32");
}
