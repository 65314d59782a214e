//! Worked examples of single instructions, values written out.

use ptoemu_core::dtype::DType::{self, F16, F32, I8, I16, I32, U16, U32};
use ptoemu_core::num::{NanRule, f16};
use ptoemu_core::state::{Buffer, Memory, WRITER_NONE};
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::{Backend, Machine, MaskedCompare};
use ptoemu_isa::table::{Op, Order};

const ALL: i64 = -1;

struct Bench(Machine);

impl Bench {
    fn new() -> Bench {
        Bench(Machine::default())
    }

    fn run(&mut self, op: Op, t: DType, args: &[i64]) -> u64 {
        self.0.issue(&Instr::new(op, t, args)).unwrap_or_else(|s| panic!("{}", s.0.message))
    }

    fn cast(&mut self, op: Op, to: DType, from: DType, args: &[i64]) {
        let i = Instr::new(op, to, args).from_dtype(from);
        self.0.issue(&i).unwrap_or_else(|s| panic!("{}", s.0.message));
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

    fn put_f16(&mut self, at: u64, v: &[f32]) {
        let bits: Vec<i16> = v.iter().map(|x| f16::from_f32(*x) as i16).collect();
        self.put_i16(at, &bits);
    }

    fn bytes(&self, at: u64, n: usize) -> Vec<u8> {
        self.0.ub.bytes.get(at, n).expect("in UB").to_vec()
    }

    fn i32s(&self, at: u64, n: usize) -> Vec<i32> {
        self.bytes(at, 4 * n)
            .chunks(4)
            .map(|c| i32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect()
    }

    fn i16s(&self, at: u64, n: usize) -> Vec<i16> {
        self.bytes(at, 2 * n).chunks(2).map(|c| i16::from_le_bytes([c[0], c[1]])).collect()
    }

    fn f32s(&self, at: u64, n: usize) -> Vec<f32> {
        self.i32s(at, n).into_iter().map(|b| f32::from_bits(b as u32)).collect()
    }

    fn f16s(&self, at: u64, n: usize) -> Vec<f32> {
        self.i16s(at, n).into_iter().map(|b| f16::to_f32(b as u16)).collect()
    }

    fn mask(&mut self, lo: i64) {
        self.run(Op::set_vector_mask, F32, &[0, lo]);
    }

    fn count(&mut self, n: i64) {
        self.run(Op::set_mask_count, F32, &[]);
        self.mask(n);
    }

    fn buffer(&mut self, bytes: &[u8]) -> i64 {
        let mut mem = Memory::new(bytes.len(), 0);
        mem.bytes.as_mut_slice().copy_from_slice(bytes);
        mem.shadow.set(0, bytes.len() as u64, true, WRITER_NONE);
        self.0.gm.add(Buffer { name: "g".into(), dtype: F32, mem }) as i64
    }

    fn gm(&self) -> &[u8] {
        self.0.gm.buffers()[0].mem.bytes.as_slice()
    }
}

const VEC1: [i64; 5] = [1, 1, 1, 8, 8];

fn vec1(dst: i64, src: i64) -> Vec<i64> {
    [&[dst, src][..], &VEC1].concat()
}

fn vec2(dst: i64, a: i64, b: i64) -> [i64; 10] {
    [dst, a, b, 1, 1, 1, 1, 8, 8, 8]
}

#[test]
fn integers_wrap() {
    let mut b = Bench::new();
    b.put_i32(0, &[i32::MAX, i32::MIN, 65_536]);
    b.put_i32(256, &[1, -1, 65_536]);
    b.mask(7);
    b.run(Op::vadd, I32, &vec2(512, 0, 256));
    assert_eq!(b.i32s(512, 3), [i32::MIN, i32::MAX, 131_072]);
    b.run(Op::vmul, I32, &vec2(512, 0, 256));
    assert_eq!(b.i32s(512, 3), [i32::MAX, i32::MIN, 0]);
    b.run(Op::vsub, I32, &vec2(512, 0, 256));
    assert_eq!(b.i32s(512, 2), [i32::MAX - 1, i32::MIN + 1]);
}

#[test]
fn multiply_add_roles() {
    let mut b = Bench::new();
    b.mask(1);
    for (op, want) in [(Op::vmla, 2.0 * 3.0 + 5.0), (Op::vmadd, 2.0 * 5.0 + 3.0)] {
        b.put_f32(0, &[2.0]);
        b.put_f32(256, &[3.0]);
        b.put_f32(512, &[5.0]);
        b.run(op, F32, &vec2(512, 0, 256));
        assert_eq!(b.f32s(512, 1), [want], "{op:?}");
    }
    b.put_f32(0, &[-2.0]);
    b.run(Op::vmaddrelu, F32, &vec2(512, 0, 256));
    assert_eq!(b.f32s(512, 1), [0.0]);
}

#[test]
fn axpy_with_half_source_walks_four_blocks() {
    let mut b = Bench::new();
    let x: Vec<f32> = (0..128).map(|i| i as f32).collect();
    b.put_f16(0, &x);
    b.put_f32(1024, &[1.0; 128]);
    let two = i64::from(f16::from_f32(2.0));
    b.cast(Op::vaxpy, F32, F16, &[1024, 0, two, 2, 1, 1, 8, 4]);
    let want: Vec<f32> = x.iter().map(|x| 2.0 * x + 1.0).collect();
    assert_eq!(b.f32s(1024, 128), want);
}

#[test]
fn nan_rules_of_the_extremes() {
    let mut b = Bench::new();
    b.mask(3);
    b.put_f32(0, &[f32::NAN, -0.0]);
    b.put_f32(256, &[1.0, 0.0]);
    b.run(Op::vmax, F32, &vec2(512, 0, 256));
    let r = b.f32s(512, 2);
    assert!(r[0].is_nan() && r[1].is_sign_positive());
    b.0.settings.num.nan_rule = NanRule::MaxNum;
    b.run(Op::vmax, F32, &vec2(512, 0, 256));
    assert_eq!(b.f32s(512, 1), [1.0]);
    b.run(Op::vrelu, F32, &vec1(512, 0));
    assert!(b.f32s(512, 1)[0].is_nan());
}

#[test]
fn sums_use_the_adjacent_tree() {
    let mut b = Bench::new();
    b.put_f32(0, &[1e8, 1.0, -1e8, 1.0]);
    b.mask(0xF);
    b.run(Op::vcadd, F32, &[512, 0, 1, 1, 1, 8, 0]);
    assert_eq!(b.f32s(512, 1), [0.0], "(1e8 + 1) + (-1e8 + 1), each pair rounded");
    b.run(Op::set_vector_mask, F32, &[ALL, ALL]);
    b.put_f32(0, &(0..64).map(|i| i as f32).collect::<Vec<_>>());
    b.run(Op::vcpadd, F32, &[512, 0, 1, 1, 1, 8]);
    assert_eq!(b.f32s(512, 3), [1.0, 5.0, 9.0]);
    b.run(Op::vcgadd, F32, &[512, 0, 1, 1, 1, 8]);
    assert_eq!(b.f32s(512, 2), [28.0, 92.0]);
    b.run(Op::vcadd, F32, &[512, 0, 1, 1, 1, 8, 1]);
    assert_eq!(f32::from_bits(b.run(Op::get_acc_val, F32, &[]) as u32), 2016.0);
}

#[test]
fn groups_without_active_lane() {
    let mut b = Bench::new();
    b.put_f32(0, &[3.0; 64]);
    b.put_f32(512, &[-7.0; 8]);
    b.mask(0xFF00);
    b.run(Op::vcgmax, F32, &[512, 0, 1, 1, 1, 8]);
    assert_eq!(b.f32s(512, 3), [-7.0, 3.0, -7.0]);
    b.run(Op::vcgadd, F32, &[512, 0, 1, 1, 1, 8]);
    assert_eq!(b.f32s(512, 3), [0.0, 24.0, 0.0]);
}

#[test]
fn extremes_report_lanes_and_the_global_index() {
    let mut b = Bench::new();
    let mut v = vec![1.0; 256];
    (v[130], v[200], v[140]) = (9.0, 9.0, -4.0);
    b.put_f16(0, &v);
    b.run(Op::vcmax, F16, &[1024, 0, 2, 1, 1, 8, Order::ValueIndex as i64]);
    assert_eq!(b.i16s(1024, 4), [0x3C00, 0, f16::from_f32(9.0) as i16, 2]);
    assert_eq!(b.run(Op::get_max_min_cnt, F16, &[]), 130 << 32 | u64::from(f16::from_f32(9.0)));
    b.run(Op::vcmin, F16, &[1024, 0, 2, 1, 1, 8, Order::OnlyIndex as i64]);
    assert_eq!(b.i32s(1024, 2), [0, 12]);
    b.run(Op::vcmax, F16, &[1024, 0, 2, 16, 1, 8, Order::OnlyValue as i64]);
    assert_eq!((b.f16s(1024, 1), b.f16s(1024 + 32, 1)), (vec![1.0], vec![9.0]));
    // Masked-off lanes keep their numbers but do not take part.
    b.run(Op::set_vector_mask, F16, &[0, 0xFF0]);
    b.run(Op::vcmax, F16, &[1024, 256, 1, 1, 1, 8, Order::IndexValue as i64]);
    assert_eq!(b.i16s(1024, 2), [4, 0x3C00]);
}

#[test]
fn conversions_follow_ctrl() {
    let mut b = Bench::new();
    b.mask(0xF);
    b.put_f32(0, &[1e6, -2.5, f32::NAN, 65_519.0]);
    b.cast(Op::vconv_f322f16, F16, F32, &[512, 0, 1, 1, 1, 4, 8]);
    let r = b.f16s(512, 4);
    assert!(r[0].is_infinite() && r[1] == -2.5 && r[2].is_nan() && r[3] == 65_504.0);
    b.cast(Op::vconv_f322s32z, I32, F32, &[512, 0, 1, 1, 1, 8, 8]);
    assert_eq!(b.i32s(512, 3), [1_000_000, -2, 0]);
    b.cast(Op::vconv_f322s32f, I32, F32, &[512, 0, 1, 1, 1, 8, 8]);
    assert_eq!(b.i32s(512, 2), [1_000_000, -3]);
    b.cast(Op::vconv_f322s16r, I16, F32, &[512, 0, 1, 1, 1, 4, 8]);
    assert_eq!(b.i16s(512, 3), [i16::MAX, -2, 0]);
    b.run(Op::set_ctrl, F32, &[1 << 59]);
    b.cast(Op::vconv_f322s16r, I16, F32, &[512, 0, 1, 1, 1, 4, 8]);
    assert_eq!(b.i16s(512, 2), [1_000_000i32 as i16, -2], "low bits are kept");
    b.cast(Op::vconv_f322f16, F16, F32, &[512, 0, 1, 1, 1, 4, 8]);
    assert_eq!(b.f16s(512, 3), [65_504.0, -2.5, 0.0], "saturated");
    b.run(Op::vconv_f322f32a, F32, &vec1(512, 0));
    assert_eq!(b.f32s(512, 2), [1e6, -3.0]);
    b.put_i32(0, &[3, -5]);
    b.run(Op::set_deqscale, F32, &[i64::from(f16::from_f32(0.5))]);
    b.cast(Op::vconv_deq, F16, I32, &[512, 0, 1, 1, 1, 4, 8]);
    assert_eq!(b.f16s(512, 2), [1.5, -2.5]);
}

#[test]
fn widening_in_place_reads_the_repeat_first() {
    // Halves in every other block are widened over themselves.
    let mut b = Bench::new();
    let x: Vec<f32> = (0..64).map(|i| i as f32 - 7.5).collect();
    for (k, part) in x.chunks(16).enumerate() {
        b.put_f16(64 * k as u64, part);
    }
    b.cast(Op::vconv_f162f32, F32, F16, &[0, 0, 1, 1, 2, 8, 16]);
    assert_eq!(b.f32s(0, 64), x);
}

#[test]
fn packed_nibbles() {
    let mut b = Bench::new();
    b.put_f16(0, &[1.0, -1.0, 7.4, -8.0, 9.0, 0.5]);
    b.put(512, &[0xAA; 64]);
    b.mask(0x1F);
    b.cast(Op::vconv_f162s4r, I8, F16, &[512, 0, 1, 1, 1, 2, 8]);
    assert_eq!(b.bytes(512, 4), [0xF1, 0x87, 0xA7, 0xAA], "lane 5 is masked off");
    b.mask(0xF);
    b.cast(Op::vconv_s42f16, F16, I8, &[1024, 512, 1, 1, 1, 8, 2]);
    assert_eq!(b.f16s(1024, 4), [1.0, -1.0, 7.0, -8.0]);
}

#[test]
fn rectified_sums_convert_saturating() {
    let mut b = Bench::new();
    b.mask(7);
    b.put_f32(0, &[6e4, -3.0, 1.25]);
    b.put_f32(256, &[6e4, 1.0, 1.0]);
    let args = |d, a, c| [&[d, a, c][..], &[1, 1, 1, 1, 4, 8, 8, 0]].concat();
    b.cast(Op::vaddreluconv_f322f16, F16, F32, &args(512, 0, 256));
    assert_eq!(b.f16s(512, 3), [65_504.0, 0.0, 2.25]);
    b.put_i16(0, &[100, -5, 3]);
    b.put_i16(256, &[-100, 1, 1]);
    b.cast(Op::vsubreluconv_s162s8, I8, I16, &args(512, 0, 256));
    assert_eq!(b.bytes(512, 3), [127, 0, 2]);
}

#[test]
fn compares_pack_bits_over_repeats() {
    let mut b = Bench::new();
    let x: Vec<f32> = (0..128).map(|i| (i % 3) as f32).collect();
    b.put_f32(0, &x);
    b.put_f32(4, &[f32::NAN]);
    b.put_f32(1024, &[1.0; 128]);
    b.run(Op::vcmpv_lt, F32, &[2048, 0, 1024, 2, 1, 1, 1, 8, 8, 8]);
    let bits = u128::from_le_bytes(b.bytes(2048, 16).try_into().expect("16 bytes"));
    for i in 0..128 {
        assert_eq!(bits >> i & 1 == 1, i % 3 == 0 && i != 1, "bit {i}");
    }
    let one = i64::from(1f32.to_bits());
    b.run(Op::vcmpvs_eq, F32, &[2048, 0, one, 2, 1, 1, 8, 8]);
    let bits = u128::from_le_bytes(b.bytes(2048, 16).try_into().expect("16 bytes"));
    for i in 0..128 {
        assert_eq!(bits >> i & 1 == 1, i % 3 == 1 && i != 1, "bit {i}");
    }
    // Masked-off lanes: 0, or the old bit by setting.
    b.mask(0xF0);
    b.put(2048, &[0xFF; 8]);
    b.run(Op::vcmpvs_ge, F32, &[2048, 0, 0, 1, 1, 1, 8, 8]);
    assert_eq!(b.bytes(2048, 2), [0xF0, 0]);
    b.0.settings.masked_compare = MaskedCompare::Keep;
    b.put(2048, &[0x0F, 0xAA]);
    b.run(Op::vcmpvs_ge, F32, &[2048, 0, 0, 1, 1, 1, 8, 8]);
    assert_eq!(b.bytes(2048, 2), [0xFF, 0xAA]);
}

#[test]
fn selects_in_three_modes() {
    let mut b = Bench::new();
    b.put_f32(0, &[1.0; 64]);
    b.put_f32(256, &[2.0; 64]);
    b.put_f32(512, &[0.5; 64]);
    b.put_f32(512, &[3.0]);
    b.run(Op::vcmp_gt, F32, &vec2(0, 512, 0)[1..]);
    let sel = |mode| [&vec2(1024, 0, 256)[..], &[mode]].concat();
    b.run(Op::vsel, F32, &sel(0));
    assert_eq!(b.f32s(1024, 3), [1.0, 2.0, 2.0]);
    // Mode 2: CMPMASK points to the bits.
    b.put(768, &[0b101; 8]);
    b.put(800, &[0; 16]);
    b.put_i32(800, &[768]);
    b.run(Op::set_cmpmask, F32, &[800]);
    b.run(Op::vsel, F32, &sel(2));
    assert_eq!(b.f32s(1024, 4), [1.0, 2.0, 1.0, 2.0]);
    // Mode 1: CMPMASK holds the scalar, the second source is the bit array.
    b.put_f32(800, &[9.0]);
    b.run(Op::set_cmpmask, F32, &[800]);
    b.run(Op::vsel, F32, &[&vec2(1024, 0, 768)[..], &[1]].concat());
    assert_eq!(b.f32s(1024, 4), [1.0, 9.0, 1.0, 9.0]);
    assert!(b.0.findings.items().is_empty());
}

#[test]
fn shifts() {
    let mut b = Bench::new();
    b.mask(7);
    b.put_i16(0, &[-7, 7, 0x4000]);
    let shr = |n, round| [&[512, 0, n][..], &VEC1, &[round]].concat();
    b.run(Op::vshr, I16, &shr(1, 0));
    assert_eq!(b.i16s(512, 3), [-4, 3, 0x2000]);
    b.run(Op::vshr, I16, &shr(1, 1));
    assert_eq!(b.i16s(512, 3), [-3, 4, 0x2000], "the last bit shifted out is added");
    b.run(Op::vshr, U16, &shr(16, 0));
    assert_eq!(b.i16s(512, 3), [0, 0, 0]);
    b.run(Op::vshr, I16, &shr(16, 0));
    assert_eq!(b.i16s(512, 3), [-1, 0, 0]);
    b.run(Op::vshl, U16, &[&[512, 0, 2][..], &VEC1].concat());
    assert_eq!(b.i16s(512, 3), [-28, 28, 0]);
    b.put_i32(0, &[-1]);
    b.run(Op::vshr, U32, &shr(31, 1));
    assert_eq!(b.i32s(512, 1), [2], "1 plus the last bit shifted out");
}

#[test]
fn block_maximum_of_integers_in_counter_mode() {
    // The row maximum of the shipped integer microcode: block stride 0, one active block.
    let mut b = Bench::new();
    b.put_i32(0, &(0..32).map(|i| if i == 13 { 99 } else { i }).collect::<Vec<_>>());
    b.count(8);
    b.run(Op::vector_dup, I32, &[512, i64::from(i32::MIN), 0, 0, 0, 0, 0]);
    for k in 0..4 {
        b.run(Op::vmax, I32, &[512, 512, 32 * k, 1, 0, 0, 1, 0, 0, 1]);
    }
    assert_eq!(b.i32s(512, 8), [24, 25, 26, 27, 28, 99, 30, 31]);
    assert!(b.0.findings.items().is_empty());
}

#[test]
fn repeats_accumulate_in_order() {
    let mut b = Bench::new();
    b.put_f32(0, &(0..256).map(|i| (i / 64) as f32).collect::<Vec<_>>());
    b.put_f32(2048, &[10.0; 64]);
    b.run(Op::vadd, F32, &[2048, 0, 2048, 4, 1, 1, 1, 0, 8, 0]);
    assert_eq!(b.f32s(2048, 64), [16.0; 64]);
}

#[test]
fn copies_and_broadcasts() {
    let mut b = Bench::new();
    b.put_i16(0, &(0..512).collect::<Vec<i16>>());
    // Two bursts of two blocks, one block apart in the source, adjacent in the destination.
    b.run(Op::copy_ubuf_to_ubuf, I16, &[4096, 0, 0, 2, 2, 1, 0]);
    assert_eq!((b.i16s(4096, 1), b.i16s(4096 + 64, 1)), (vec![0], vec![48]));
    // Counter mode of vcopy counts per repeat and may exceed 256 bytes.
    b.count(140);
    b.put_i16(8192, &[-1; 300]);
    b.run(Op::vcopy, I16, &[8192, 0, 2, 1, 1, 9, 10]);
    let out = b.i16s(8192, 300);
    assert_eq!((out[139], out[140], out[144], out[144 + 139], out[284]), (139, -1, 160, 299, -1));
    assert_eq!(b.0.stream().records.last().map(|r| r.repeats), Some(2));
    // The second group of eight 16-bit elements starts 16 bytes further.
    b.run(Op::vbrcb, U16, &[8192, 0, 1, 8, 2]);
    assert_eq!(b.i16s(8192 + 256 + 32, 16), [9; 16]);
}

#[test]
fn transfers_with_gaps_pads_and_atomics() {
    let mut b = Bench::new();
    let data: Vec<u8> = (0..64u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    let gm = b.buffer(&data);
    b.run(Op::set_mov_pad_val, F32, &[i64::from(7f32.to_bits())]);
    // Two bursts of 20 bytes, 12 bytes apart, one left and two right pads, a block between.
    b.run(Op::copy_gm_to_ubuf_align_b32, F32, &[0, gm, 0, 2, 20, 1, 2, 12, 1]);
    assert_eq!(b.f32s(0, 8), [7.0, 0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 7.0]);
    assert_eq!(b.f32s(64, 3), [7.0, 8.0, 9.0]);
    assert!(!b.0.ub.shadow.is_defined(32, 33));
    // One burst back, adding.
    b.run(Op::set_atomic_f32, F32, &[]);
    b.run(Op::set_atomic_add, F32, &[]);
    b.run(Op::copy_ubuf_to_gm_align_b32, F32, &[gm + 8, 0, 0, 2, 8, 0, 0, 1, 4]);
    let got: Vec<f32> =
        b.gm()[..32].chunks(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    assert_eq!(got, [0.0, 1.0, 2.0 + 7.0, 3.0, 4.0, 5.0 + 7.0, 6.0 + 8.0, 7.0]);
    assert_eq!(b.run(Op::scalar_load, F32, &[gm + 12]), u64::from(3f32.to_bits()));
}

#[test]
fn integer_atomics_keep_the_larger() {
    let mut b = Bench::new();
    let gm = b.buffer(&[5, 0, 0xFB, 0xFF, 9, 0, 0, 0]);
    b.put_i16(0, &[3, 4, -9, 1]);
    b.run(Op::set_atomic_s16, F32, &[]);
    b.run(Op::set_atomic_max, F32, &[]);
    b.run(Op::copy_ubuf_to_gm_align_b16, I16, &[gm, 0, 0, 1, 8, 0, 0, 0, 0]);
    assert_eq!(b.gm(), [5, 0, 4, 0, 9, 0, 1, 0]);
}

#[test]
fn scalars_are_zero_extended() {
    let mut b = Bench::new();
    b.run(Op::scalar_store, I8, &[-1, 33]);
    assert_eq!(b.run(Op::scalar_load, I8, &[33]), 0xFF);
    b.run(Op::scalar_store, DType::I64, &[-2, 40]);
    assert_eq!(b.run(Op::scalar_load, DType::I64, &[40]), -2i64 as u64);
}

#[test]
fn saturating_mode_of_half_arithmetic() {
    let mut b = Bench::new();
    b.mask(3);
    b.put_f16(0, &[60_000.0, f32::NAN]);
    b.run(Op::vadd, F16, &vec2(512, 0, 0));
    assert!(b.f16s(512, 2)[0].is_infinite());
    b.run(Op::set_ctrl, F16, &[0]);
    b.run(Op::vadd, F16, &vec2(512, 0, 0));
    assert_eq!(b.f16s(512, 2), [65_504.0, 0.0]);
}
