//! Worked examples of instructions whose operands data and registers name, values written out.

use ptoemu_core::dtype::DType::{self, F32, U16, U32};
use ptoemu_core::state::WRITER_NONE;
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::{Backend, Machine};
use ptoemu_isa::table::Op;

struct Bench(Machine);

impl Bench {
    fn new() -> Bench {
        Bench(Machine::default())
    }

    fn run(&mut self, op: Op, t: DType, args: &[i64]) -> u64 {
        self.0.issue(&Instr::new(op, t, args)).unwrap_or_else(|s| panic!("{}", s.0.message))
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        self.0.ub.bytes.get_mut(at, bytes.len()).expect("in UB").copy_from_slice(bytes);
        self.0.ub.shadow.set(at, at + bytes.len() as u64, true, WRITER_NONE);
    }

    fn put_f32(&mut self, at: u64, v: &[f32]) {
        v.iter().enumerate().for_each(|(i, x)| self.put(at + 4 * i as u64, &x.to_le_bytes()));
    }

    fn put_i32(&mut self, at: u64, v: &[i32]) {
        v.iter().enumerate().for_each(|(i, x)| self.put(at + 4 * i as u64, &x.to_le_bytes()));
    }

    fn put_i16(&mut self, at: u64, v: &[i16]) {
        v.iter().enumerate().for_each(|(i, x)| self.put(at + 2 * i as u64, &x.to_le_bytes()));
    }

    fn bytes(&self, at: u64, n: usize) -> Vec<u8> {
        self.0.ub.bytes.get(at, n).expect("in UB").to_vec()
    }

    fn i32s(&self, at: u64, n: usize) -> Vec<i32> {
        let word = |c: &[u8]| i32::from_le_bytes([c[0], c[1], c[2], c[3]]);
        self.bytes(at, 4 * n).chunks(4).map(word).collect()
    }
}

#[test]
fn gather_takes_elements_by_byte_offset_under_the_mask() {
    let mut b = Bench::new();
    b.put_f32(0, &[10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0]);
    b.put_i32(0x1000, &[28, 0, 4, 4]);
    b.put_i32(0x2000, &[-1; 64]);
    b.run(Op::set_vector_mask, F32, &[0, 0b1011]);
    b.run(Op::vgather, F32, &[0x2000, 0x1000, 0, 8, 1]);
    let bits = |x: f32| x.to_bits() as i32;
    assert_eq!(b.i32s(0x2000, 5), [bits(17.0), bits(10.0), -1, bits(11.0), -1]);
}

#[test]
fn gather_of_blocks_takes_eight_offsets_a_repeat() {
    let mut b = Bench::new();
    b.put_i32(0, &(0..128).collect::<Vec<_>>());
    b.put_i32(0x1000, &[64, 0, 32, 96, 128, 160, 192, 224]);
    b.run(Op::vgatherb, U32, &[0x2000, 0x1000, 0, 8, 1, 1]);
    assert_eq!(b.i32s(0x2000, 2), [16, 17]);
    assert_eq!(b.i32s(0x2020, 2), [0, 1]);
    assert_eq!(b.i32s(0x2060, 1), [24]);
}

#[test]
fn compaction_packs_what_a_pattern_or_bits_keep() {
    let mut b = Bench::new();
    b.put_i32(0, &(0..128).collect::<Vec<_>>());
    b.run(Op::vreducev2, U32, &[0x1000, 0, 0, 2, 1, 2, 8, 0]);
    assert_eq!(b.i32s(0x1000, 3), [1, 3, 5]);
    assert_eq!(b.i32s(0x1000 + 4 * 32, 2), [65, 67]);
    assert_eq!(b.run(Op::get_rsvd_cnt, F32, &[]), 64);
    // Counter mode: ten elements of each of two rows, every fourth from the third on.
    b.run(Op::set_mask_count, F32, &[]);
    b.run(Op::set_vector_mask, F32, &[0, 10]);
    b.run(Op::vreducev2, U32, &[0x1000, 0, 0, 2, 1, 5, 8, 0]);
    assert_eq!(b.i32s(0x1000, 4), [2, 6, 66, 70]);
    b.put(0x3000, &[0b1000_0001, 0b10]);
    b.run(Op::vreducev2, U32, &[0x1000, 0, 0x3000, 1, 1, 0, 8, 0]);
    assert_eq!(b.i32s(0x1000, 3), [0, 7, 9]);
    assert_eq!(b.run(Op::get_rsvd_cnt, F32, &[]), 3);
}

#[test]
fn sort_makes_records_and_merge_joins_them() {
    let mut b = Bench::new();
    let scores: Vec<f32> = (0..32).map(|i| ((i * 7) % 32 / 2) as f32).collect();
    b.put_f32(0, &scores);
    b.put_i32(0x1000, &(100..132).collect::<Vec<_>>());
    b.run(Op::vbitsort, F32, &[0x2000, 0, 0x1000, 1]);
    let bits = |x: f32| x.to_bits() as i32;
    // 30 and 31 of (7 i mod 32) halve to 15, 31 from i = 9 before 30 from i = 18.
    assert_eq!(b.i32s(0x2000, 4), [bits(15.0), 109, bits(15.0), 118]);
    let list = |b: &mut Bench, at: u64, v: &[f32], first: i32| {
        for (k, x) in v.iter().enumerate() {
            b.put_f32(at + 8 * k as u64, &[*x]);
            b.put_i32(at + 8 * k as u64 + 4, &[first + k as i32]);
        }
    };
    list(&mut b, 0, &[9.0, 5.0, f32::NAN], 0);
    list(&mut b, 0x100, &[9.0, 6.0], 10);
    b.run(Op::vmrgsort4, F32, &[0x4000, 0, 0x100, 0, 0, 0x0002_0003, 0x301]);
    let order: Vec<i32> = b.i32s(0x4000, 10).chunks(2).map(|r| r[1]).collect();
    assert_eq!(order, [0, 10, 11, 1, 2], "ties take the lower list, NaN is last");
    assert_eq!(b.run(Op::get_vms4_sr, F32, &[]), 0x0002_0003);
    b.run(Op::vmrgsort4, F32, &[0x4000, 0, 0x100, 0, 0, 0x0002_0003, 0x1301]);
    assert_eq!(b.run(Op::get_vms4_sr, F32, &[]), 0x0002_0001, "stops when a list is exhausted");
}

#[test]
fn rows_named_by_address_registers_are_transposed() {
    let mut b = Bench::new();
    let rows = |b: &mut Bench, va: i64, at: i64, step: i64| {
        for half in 0..2 {
            let mut args = vec![va + half];
            args.extend((0..8).map(|k| at + (8 * half + k) * step));
            b.run(Op::set_va_reg_sb, F32, &args);
        }
    };
    b.put_i16(0, &(0..256).collect::<Vec<_>>());
    rows(&mut b, 2, 0, 32);
    rows(&mut b, 0, 0x1000, 64);
    b.run(Op::scatter_vnchwconv_b16, U16, &[0, 2, 1, 0, 0]);
    assert_eq!(b.bytes(0x1000, 6), [0, 0, 16, 0, 32, 0]);
    assert_eq!(b.bytes(0x1000 + 64, 4), [1, 0, 17, 0]);
    b.put_i32(0, &(0..128).collect::<Vec<_>>());
    rows(&mut b, 0, 0x2000, 32);
    b.run(Op::scatter_vnchwconv_b32, U32, &[0, 2, 1, 0, 0]);
    // Column 1 of 16 rows of eight: two slots of eight.
    assert_eq!(b.i32s(0x2040, 16), (0..16).map(|r| 8 * r + 1).collect::<Vec<i32>>());
}

#[test]
fn what_data_name_is_checked_before_anything_moves() {
    let mut b = Bench::new();
    b.put_i32(0x1000, &[0, 6]);
    b.run(Op::set_vector_mask, F32, &[0, 0b11]);
    let refused = |b: &mut Bench, op, t, args: &[i64]| match b.0.issue(&Instr::new(op, t, args)) {
        Err(stop) => stop.0.code,
        Ok(_) => panic!("{op:?} ran"),
    };
    assert_eq!(refused(&mut b, Op::vgather, F32, &[0x2000, 0x1000, 0, 8, 1]), "memcheck.align");
    b.put_i32(0x1000, &[0, 0x30000]);
    assert_eq!(refused(&mut b, Op::vgather, F32, &[0x2000, 0x1000, 0, 8, 1]), "memcheck.range");
    let merge = [0x4000, 0, 0x100, 0, 0, 1, 0x501];
    assert_eq!(refused(&mut b, Op::vmrgsort4, F32, &merge), "memcheck.param");
    let again = [0x4000, 0, 0x100, 0x200, 0x300, 1, 0xF02];
    assert_eq!(refused(&mut b, Op::vmrgsort4, F32, &again), "memcheck.param");
    assert_eq!(refused(&mut b, Op::scatter_vnchwconv_b16, U16, &[7, 2, 1, 0, 0]), "memcheck.param");
}
