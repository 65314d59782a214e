//! The masked walk against a model that moves one lane at a time.

use proptest::prelude::*;
use ptoemu_core::dtype::DType::{self, F16, F32, I16, I32, U16};
use ptoemu_core::num::f16;
use ptoemu_core::state::WRITER_NONE;
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::{Backend, Machine};
use ptoemu_isa::table::Op;

const SIZE: usize = 0x30000;

/// One operand: base and strides in blocks.
#[derive(Clone, Copy, Debug)]
struct Place {
    base: i64,
    blk: i64,
    rep: i64,
}

fn place(max_blk: i64) -> impl Strategy<Value = Place> {
    (0i64..256, 0..=max_blk, 0i64..20).prop_map(|(b, blk, rep)| Place { base: b * 32, blk, rep })
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    Norm(u64, u64),
    Count(u64),
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![
        any::<(u64, u64)>().prop_map(|(h, l)| Mode::Norm(h, l)),
        (0u32..=64).prop_map(|n| Mode::Norm(0, (1u128 << n).wrapping_sub(1) as u64)),
        Just(Mode::Norm(u64::MAX, u64::MAX)),
        (0u64..700).prop_map(Mode::Count),
    ]
}

/// The operations under test: destination and source types and what one lane computes.
type Lane = fn(u64, u64) -> u64;
const OPS: [(Op, DType, DType, usize, Lane); 6] = [
    (Op::vadd, I32, I32, 2, |a, b| (a as u32).wrapping_add(b as u32).into()),
    (Op::vmul, I16, I16, 2, |a, b| (a as u16).wrapping_mul(b as u16).into()),
    (Op::vand, U16, U16, 2, |a, b| a & b),
    (Op::vabs, F32, F32, 1, |a, _| a & 0x7FFF_FFFF),
    (Op::vconv_f162f32, F32, F16, 1, |a, _| f16::to_f32(a as u16).to_bits().into()),
    (Op::vconv_s322s16, I16, I32, 1, |a, _| (a as i32).clamp(-32768, 32767) as u16 as u64),
];

struct Model {
    bytes: Vec<u8>,
    defined: Vec<bool>,
}

impl Model {
    fn addr(p: Place, size: usize, r: usize, lane: usize) -> usize {
        let e = 32 / size;
        (p.base + p.rep * 32 * r as i64 + p.blk * 32 * (lane / e) as i64) as usize + lane % e * size
    }

    fn read(&self, at: usize, size: usize) -> (u64, bool) {
        let v = (0..size).fold(0, |v, k| v | u64::from(self.bytes[at + k]) << (8 * k));
        (v, (0..size).all(|k| self.defined[at + k]))
    }

    fn run(&mut self, op: usize, p: [Place; 3], repeats: usize, mode: Mode) {
        let (_, dt, st, sources, f) = OPS[op];
        let n = 256 / dt.size().max(st.size());
        let repeats = match mode {
            Mode::Norm(..) => repeats,
            Mode::Count(total) => (total as usize).div_ceil(n),
        };
        for r in 0..repeats {
            let active = |lane: usize| match mode {
                Mode::Norm(h, l) => (if lane < 64 { l >> lane } else { h >> (lane - 64) }) & 1 == 1,
                Mode::Count(total) => r * n + lane < total as usize,
            };
            let mut out = Vec::new();
            for lane in (0..n).filter(|l| active(*l)) {
                let a = self.read(Self::addr(p[1], st.size(), r, lane), st.size());
                let mut b = (0, true);
                if sources == 2 {
                    b = self.read(Self::addr(p[2], st.size(), r, lane), st.size());
                }
                out.push((lane, f(a.0, b.0), a.1 && b.1));
            }
            for (lane, v, ok) in out {
                let at = Self::addr(p[0], dt.size(), r, lane);
                for k in 0..dt.size() {
                    self.bytes[at + k] = (v >> (8 * k)) as u8;
                    self.defined[at + k] = ok;
                }
            }
        }
    }
}

fn machine(seed: u64, holes: &[(u64, u64)]) -> (Machine, Model) {
    let mut m = Machine::default();
    let mut z = seed;
    for b in m.ub.bytes.as_mut_slice()[..0x8000].chunks_mut(8) {
        z = z.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b.copy_from_slice(&(z ^ z >> 31).to_le_bytes());
    }
    m.ub.shadow.set(0, SIZE as u64, true, WRITER_NONE);
    for &(at, n) in holes {
        m.ub.shadow.set(at, at + n, false, WRITER_NONE);
    }
    let defined = (0..SIZE as u64).map(|b| m.ub.shadow.is_defined(b, b + 1)).collect();
    let model = Model { bytes: m.ub.bytes.as_slice().to_vec(), defined };
    (m, model)
}

fn set_mode(m: &mut Machine, mode: Mode) {
    let (op, hi, lo) = match mode {
        Mode::Norm(h, l) => (Op::set_mask_norm, h, l),
        Mode::Count(n) => (Op::set_mask_count, 0, n),
    };
    m.issue(&Instr::new(op, F32, &[])).expect("mode");
    m.issue(&Instr::new(Op::set_vector_mask, F32, &[hi as i64, lo as i64])).expect("mask");
}

fn instr(op: usize, p: [Place; 3], repeats: i64) -> Instr {
    let (name, dt, st, sources, _) = OPS[op];
    let [d, a, b] = p;
    let args = match sources {
        2 => vec![d.base, a.base, b.base, repeats, d.blk, a.blk, b.blk, d.rep, a.rep, b.rep],
        _ => vec![d.base, a.base, repeats, d.blk, a.blk, d.rep, a.rep],
    };
    Instr::new(name, dt, &args).from_dtype(st)
}

fn agree(m: &Machine, model: &Model) -> Result<(), TestCaseError> {
    if let Some(at) = (0..SIZE).find(|i| m.ub.bytes.as_slice()[*i] != model.bytes[*i]) {
        return Err(TestCaseError::fail(format!("byte {at:#x} differs")));
    }
    let differs = |b: usize| m.ub.shadow.is_defined(b as u64, b as u64 + 1) != model.defined[b];
    match (0..SIZE).find(|b| differs(*b)) {
        Some(at) => Err(TestCaseError::fail(format!("defined bit of {at:#x} differs"))),
        None => Ok(()),
    }
}

/// Runs operation `op` on the machine and the model, and compares every byte and defined bit.
fn check(
    op: usize,
    p: [Place; 3],
    repeats: i64,
    mode: Mode,
    seed: u64,
    holes: &[(u64, u64)],
) -> Result<(), TestCaseError> {
    let (mut m, mut model) = machine(seed, holes);
    set_mode(&mut m, mode);
    m.issue(&instr(op, p, repeats)).map_err(|s| TestCaseError::fail(s.0.message))?;
    model.run(op, p, repeats as usize, mode);
    agree(&m, &model)
}

#[test]
fn undefined_lanes_of_an_overlapped_source_are_read_before_the_write() {
    let at = |base, blk, rep| Place { base, blk, rep };
    let p = [at(3136, 3, 4), at(1216, 3, 18), at(0, 0, 0)];
    let mode = Mode::Norm(0, 8618183658334546);
    check(0, p, 4, mode, 0, &[(3294, 231)]).expect("machine equals model");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn walk_equals_the_lane_model(
        op in 0..OPS.len(),
        d in place(4), a in place(4), b in place(4),
        repeats in 0i64..12,
        mode in mode(),
        seed in any::<u64>(),
        holes in prop::collection::vec((0u64..0x6000, 1u64..300), 0..4),
    ) {
        let d = Place { blk: d.blk.max(1), ..d };
        check(op, [d, a, b], repeats, mode, seed, &holes)?;
    }

    #[test]
    fn dense_in_place_and_shifted(
        op in 0..OPS.len(),
        shift in -3i64..4,
        repeats in 1i64..40,
        full in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let (_, dt, st, _, _) = OPS[op];
        let n = 256 / dt.size().max(st.size());
        let dense = |base, t: DType| Place { base, blk: 1, rep: (n * t.size() / 32) as i64 };
        let (d, s) = (dense(0x2000 + 32 * shift, dt), dense(0x2000, st));
        let count = (repeats as usize * n) as u64;
        let mode = if full { Mode::Norm(u64::MAX, u64::MAX) } else { Mode::Count(count - 3) };
        check(op, [d, s, s], repeats, mode, seed, &[])?;
    }

    #[test]
    fn counter_mode_equals_norm_mode_with_a_tail(
        d in place(3), a in place(3), b in place(3),
        count in 0u64..700,
        seed in any::<u64>(),
    ) {
        let d = Place { base: d.base + 0x8000, blk: d.blk.max(1), ..d };
        let (mut m, _) = machine(seed, &[]);
        let (mut other, _) = machine(seed, &[]);
        set_mode(&mut m, Mode::Count(count));
        m.issue(&instr(0, [d, a, b], 0)).map_err(|s| TestCaseError::fail(s.0.message))?;
        let (whole, tail) = ((count / 64) as i64, count % 64);
        set_mode(&mut other, Mode::Norm(u64::MAX, u64::MAX));
        other.issue(&instr(0, [d, a, b], whole)).map_err(|s| TestCaseError::fail(s.0.message))?;
        set_mode(&mut other, Mode::Norm(0, (1 << tail) - 1));
        let after = |p: Place| Place { base: p.base + p.rep * 32 * whole, ..p };
        other.issue(&instr(0, [after(d), after(a), after(b)], 1)).map_err(|s| TestCaseError::fail(s.0.message))?;
        prop_assert!(m.ub.bytes == other.ub.bytes);
    }
}
