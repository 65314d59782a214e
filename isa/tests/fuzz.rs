//! No argument whatever makes an instruction panic.

use proptest::prelude::*;
use ptoemu_core::dtype::DType;
use ptoemu_core::state::{Buffer, Memory};
use ptoemu_isa::instr::{Instr, PARAMS};
use ptoemu_isa::machine::{Backend, Machine, Recorder};
use ptoemu_isa::table::{Op, What};

/// Numbers of every kind an argument may be.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => 0i64..10,
        3 => (0i64..0x1900).prop_map(|b| b * 32),
        1 => 0i64..0x30100,
        1 => 1i64 << 40..(1 << 40) + 300,
        1 => 0i64..70_000,
        1 => prop_oneof![Just(i64::MAX), Just(i64::MIN), Just(-1), Just(255), Just(256), any::<i64>()],
    ]
}

/// A value that fits a parameter, made from a random number.
fn plausible(what: What, name: &str, raw: u64) -> i64 {
    let below = |n: u64| (raw % n) as i64;
    match what {
        What::Addr(_) if raw.is_multiple_of(16) => (1 << 40) + below(300),
        What::Addr(_) => below(0x1800) * 32,
        What::Repeat => below(6),
        What::Blk(_) | What::Rep(_) => below(9),
        What::Scalar if raw.is_multiple_of(2) => below(17),
        What::Scalar => raw as i64,
        What::Order => below(4),
        What::Pipe => below(7),
        What::Num if name == "lenBurst" => below(90),
        What::Num => below(3),
    }
}

/// An instruction, mostly with element types and parameters its row accepts.
fn instr() -> impl Strategy<Value = Instr> {
    let types = (0..DType::ALL.len(), 0..DType::ALL.len());
    let args = prop::array::uniform11((0..40u8, any::<u64>(), number()));
    (0..Op::ALL.len(), types, any::<prop::sample::Index>(), args, 0..12u8).prop_map(
        |(op, types, pick, values, wild)| {
            let op = Op::ALL[op];
            let accepted = op.row().types;
            let (d, s) = if wild == 0 || accepted.is_empty() {
                (DType::ALL[types.0], DType::ALL[types.1])
            } else {
                accepted[pick.index(accepted.len())]
            };
            let mut args: [i64; PARAMS] = values.map(|v| v.2);
            for (i, p) in op.form().params().iter().enumerate() {
                if values[i].0 > 0 {
                    args[i] = plausible(p.what, p.name, values[i].1);
                }
            }
            Instr::new(op, d, &args).from_dtype(s)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn arbitrary_instructions_never_panic(
        program in prop::collection::vec(instr(), 1..12),
        mask in (any::<u64>(), 0u64..400, any::<bool>()),
    ) {
        let mut m = Machine::default();
        m.gm.add(Buffer { name: "g".into(), dtype: DType::F32, mem: Memory::new(300, 0) });
        let mut r = Recorder::default();
        let (hi, lo, counter) = mask;
        if counter {
            let _ = m.issue(&Instr::new(Op::set_mask_count, DType::F32, &[]));
        }
        let lo = if counter { lo } else { hi.rotate_left(17) };
        let _ = m.issue(&Instr::new(Op::set_vector_mask, DType::F32, &[hi as i64, lo as i64]));
        let entry = m.modes();
        for i in &program {
            let before = m.stream().records.len();
            let done = m.issue(i);
            prop_assert_eq!(m.stream().records.len() > before, done.is_ok());
            let _ = r.issue(i);
        }
        m.leave(&entry, true);
        for f in m.findings.items() {
            prop_assert!(!f.diag.message.is_empty() && f.count > 0);
        }
    }
}
