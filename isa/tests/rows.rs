//! Every row of the table has semantics, a cost class, a line of documentation and runs.

use ptoemu_core::dtype::DType;
use ptoemu_core::state::{Buffer, Memory, WRITER_NONE};
use ptoemu_core::stream::{Kind, Pipe};
use ptoemu_isa::families::Sem;
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::{Backend, Lister, Machine, Recorder};
use ptoemu_isa::table::{Form, Op, What, catalogue, explain};

const DST: i64 = 0x10000;

/// A machine whose UB holds distinct defined values, and the addresses of two GM buffers.
fn ready() -> (Machine, [i64; 2]) {
    let mut m = Machine::default();
    for (i, b) in m.ub.bytes.as_mut_slice().iter_mut().enumerate() {
        // Small positive numbers as f32, f16 and integers alike.
        *b = [0x10, 0x3C, 0x20, 0x40][i % 4] + (i / 4 % 11) as u8;
    }
    m.ub.shadow.set(0, 0x30000, true, WRITER_NONE);
    let mut buffer = |fill| {
        let mut mem = Memory::new(8192, fill);
        mem.shadow.set(0, 8192, true, WRITER_NONE);
        m.gm.add(Buffer { name: format!("b{fill}"), dtype: DType::F32, mem }) as i64
    };
    let gm = [buffer(7), buffer(9)];
    (m, gm)
}

/// Offsets that lead into UB, where an instruction takes some, and rows of address registers.
fn prepare(m: &mut Machine, op: Op) {
    match op.form() {
        Form::Gather | Form::GatherB => {
            for k in 0..512 {
                let offset = (k % 16 * 32u32).to_le_bytes();
                let at = 0x1000 + 4 * u64::from(k);
                m.ub.bytes.get_mut(at, 4).expect("in UB").copy_from_slice(&offset);
            }
        }
        Form::Vnchw | Form::VnchwHalf => {
            for va in 0..4 {
                let rows = (0..8).map(|k| (va / 2 * 0x8000 + (va % 2 * 8 + k) * 0x100) as i64);
                let args: Vec<i64> = std::iter::once(va as i64).chain(rows).collect();
                m.issue(&Instr::new(Op::set_va_reg_sb, DType::F32, &args)).expect("rows");
            }
        }
        _ => {}
    }
}

/// A plausible instruction of a row with the types of its `n`-th pair.
fn sample(op: Op, pair: (DType, DType), gm: [i64; 2]) -> Instr {
    let mut args = Vec::new();
    for p in op.form().params() {
        args.push(match (p.what, p.name) {
            (What::Addr(0), _) => match op.form() {
                Form::CopyOut | Form::AlignOut => gm[1],
                _ => DST,
            },
            (What::Addr(n), _) => match op.form() {
                Form::CopyIn | Form::AlignIn => gm[0],
                _ => i64::from(n) * 0x1000,
            },
            (What::Repeat, _) => 2,
            (What::Blk(_), _) => 1,
            (What::Rep(_), _) => 8,
            (What::Scalar, _) => match pair.1 {
                DType::F32 => i64::from(2f32.to_bits()),
                DType::F16 | DType::BF16 => 0x4000,
                _ => 3,
            },
            (What::Order, _) => 1,
            (What::Pipe, name) => (if name == "dst_pipe" { Pipe::Mte3 } else { Pipe::V }) as i64,
            (_, "lenBurst") => 64,
            (_, "mask1_hi" | "mask0_lo_or_count") => 0xFF,
            (_, "value") => 0x3C00,
            // Lists of one record are in order.
            (_, "lens") => 0x0001_0001_0001_0001,
            (_, "config") => 0xF01,
            (_, "src_va") => 2,
            _ => 0,
        });
    }
    Instr::new(op, pair.0, &args).from_dtype(pair.1)
}

fn pairs(op: Op) -> Vec<(DType, DType)> {
    match op.row().types {
        [] => vec![(DType::F32, DType::F32)],
        types => types.to_vec(),
    }
}

#[test]
fn every_row_runs_and_leaves_its_mark() {
    for &op in Op::ALL {
        for pair in pairs(op) {
            let (mut m, gm) = ready();
            if op == Op::wait_flag {
                m.issue(&sample(Op::set_flag, pair, gm)).expect("set_flag");
            }
            prepare(&mut m, op);
            let before = (m.ub.bytes.clone(), m.gm.buffers()[1].mem.bytes.clone(), m.regs.clone());
            let i = sample(op, pair, gm);
            let name = format!("{} {pair:?}", op.mnemonic());
            let out = m.issue(&i).unwrap_or_else(|s| panic!("{name}: {}", s.0.message));
            let record = *m.stream().records.last().expect("a record");
            assert_eq!((record.op, record.kind), (op.id(), op.row().kind()), "{name}");
            let ub = before.0 != m.ub.bytes;
            let stored = before.1 != m.gm.buffers()[1].mem.bytes;
            let regs = before.2 != m.regs;
            match (op.row().kind(), op.row().sem) {
                (Kind::ScalarLoad, _) => assert_ne!(out, 0, "{name}"),
                (_, Sem::Nothing) => assert!(!ub && !stored && !regs, "{name}"),
                (_, Sem::Control(_)) => assert!(!ub && !stored, "{name}"),
                (Kind::Dma, _) if record.pipe == Pipe::Mte3 => assert!(stored && !ub, "{name}"),
                (_, _) if matches!(op.form(), Form::CmpReg | Form::SetCmpMask) => {
                    assert!(regs && !ub, "{name}");
                }
                _ => assert!(ub && !stored, "{name}"),
            }
            assert!(m.findings.items().is_empty(), "{name}: {:?}", m.findings.items());
        }
    }
}

#[test]
fn every_row_is_documented_and_costed() {
    let all = catalogue();
    for &op in Op::ALL {
        let row = op.row();
        let e = explain(op);
        assert!(row.doc.ends_with('.') && row.doc.len() > 10, "{}", row.mnemonic);
        assert!(!row.cost.is_empty() && all.knows(row.cost), "{}", row.mnemonic);
        assert_eq!(all.find(row.mnemonic), Some(op.id()));
        assert_eq!(all.get(op.id()).map(|e| e.cost_class), Some(row.cost));
        assert_eq!(e.params.len(), op.form().params().len());
        assert!(e.form.starts_with(row.mnemonic));
        let unique = Op::ALL.iter().filter(|o| o.mnemonic() == row.mnemonic).count();
        assert_eq!(unique, 1, "{}", row.mnemonic);
        assert!(op.form().params().len() <= ptoemu_isa::instr::PARAMS);
    }
}

#[test]
fn recorder_and_machine_write_the_same_records() {
    for &op in Op::ALL {
        let (mut m, gm) = ready();
        let (mut r, mut l) = (Recorder::default(), Lister::default());
        let pair = pairs(op)[0];
        let mut issue = |i: &Instr| {
            m.issue(i).expect("machine");
            r.issue(i).expect("recorder");
            l.issue(i).expect("lister");
        };
        if op == Op::wait_flag {
            issue(&sample(Op::set_flag, pair, gm));
        }
        if !matches!(op.form(), Form::Gather | Form::GatherB) {
            issue(&sample(op, pair, gm));
        }
        assert_eq!(m.stream().records, r.log.stream.records, "{}", op.mnemonic());
        assert_eq!(m.stream().shapes.items(), r.log.stream.shapes.items(), "{}", op.mnemonic());
        assert_eq!(m.stream().lanes.items(), r.log.stream.lanes.items(), "{}", op.mnemonic());
        assert_eq!(m.regs.modes(), r.regs.modes(), "{}", op.mnemonic());
        assert_eq!(l.0.len(), r.log.stream.records.len());
    }
}

#[test]
fn writes_stay_inside_the_recorded_footprint() {
    use ptoemu_core::access::{Role, Space};
    for &op in Op::ALL {
        for pair in pairs(op) {
            let (mut m, gm) = ready();
            let mask = Instr::new(Op::set_vector_mask, DType::F32, &[0, 0x00FF_0F31]);
            m.issue(&mask).expect("mask");
            prepare(&mut m, op);
            let before = m.ub.bytes.clone();
            if op == Op::wait_flag || m.issue(&sample(op, pair, gm)).is_err() {
                continue;
            }
            let record = *m.stream().records.last().expect("a record");
            let mut allowed = vec![false; before.len()];
            for (role, space, a, b) in m.stream().footprint(&record) {
                if role != Role::Read && space == Space::Ub {
                    allowed[a as usize..b as usize].fill(true);
                }
            }
            let last = m.stream().records.len() as u32 - 1;
            let own = m.stream().footprints.get(last).into_iter();
            for (a, b) in own.flat_map(|f| f.runs(Space::Ub, true)) {
                allowed[*a as usize..*b as usize].fill(true);
            }
            let pairs = before.as_slice().iter().zip(m.ub.bytes.as_slice()).zip(&allowed);
            for (at, ((old, new), ok)) in pairs.enumerate() {
                assert!(old == new || *ok, "{} wrote {at:#x}", op.mnemonic());
            }
        }
    }
}
