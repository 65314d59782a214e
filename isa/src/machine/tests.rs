//! Worked examples.

use super::*;
use crate::table::{Op, Order};
use ptoemu_core::dtype::DType::{self, F16, F32};
use ptoemu_core::num::f16;

fn op(op: Op, t: DType, args: &[i64]) -> Instr {
    Instr::new(op, t, args)
}

fn put_f32(m: &mut Machine, at: u64, v: &[f32]) {
    put(m, at, &v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
}

fn put_f16(m: &mut Machine, at: u64, v: &[f32]) {
    put(m, at, &v.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect::<Vec<_>>());
}

fn put(m: &mut Machine, at: u64, b: &[u8]) {
    m.ub.bytes.get_mut(at, b.len()).unwrap().copy_from_slice(b);
    m.ub.shadow.set(at, at + b.len() as u64, true, WRITER_NONE);
}

fn f32s(m: &Machine, at: u64, n: usize) -> Vec<f32> {
    let b = m.ub.bytes.get(at, 4 * n).unwrap();
    b.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect()
}

fn f16s(m: &Machine, at: u64, n: usize) -> Vec<f32> {
    let b = m.ub.bytes.get(at, 2 * n).unwrap();
    b.chunks(2).map(|c| f16::to_f32(u16::from_le_bytes(c.try_into().unwrap()))).collect()
}

fn run(m: &mut Machine, op_: Op, t: DType, args: &[i64]) -> u64 {
    m.issue(&op(op_, t, args)).map_err(|s| s.0.message.clone()).unwrap()
}

fn codes(m: &Machine) -> Vec<&'static str> {
    m.findings.items().iter().map(|f| f.diag.code).collect()
}

fn fault(m: &mut Machine, i: &Instr) -> (&'static str, String) {
    let s = m.issue(i).unwrap_err().0;
    (s.code, s.message)
}

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

#[test]
fn half_sum_clamps_at_every_level_in_saturate_mode() {
    let mut m = Machine::default();
    put_f16(&mut m, 0, &[60000.0, 60000.0, -30000.0, 100.0]);
    run(&mut m, Op::set_ctrl, F16, &[0]);
    run(&mut m, Op::set_vector_mask, F16, &[0, 0xF]);
    run(&mut m, Op::vcadd, F16, &[512, 0, 1, 1, 1, 8, 0]);
    // 65504 + f16(-29900): the documented 35604 before the f16 roundings of the last two levels.
    assert_eq!(f16s(&m, 512, 1), [35584.0]);
    assert!(codes(&m).is_empty());
}

#[test]
fn counter_mode_ignores_repeat_and_cuts_the_last_repeat() {
    let mut m = Machine::default();
    put_f32(&mut m, 0, &ramp(128));
    put_f32(&mut m, 1024, &[-1.0; 128]);
    run(&mut m, Op::set_mask_count, F32, &[]);
    run(&mut m, Op::set_vector_mask, F32, &[0, 70]);
    run(&mut m, Op::vadds, F32, &[1024, 0, i64::from(1f32.to_bits()), 0, 1, 1, 8, 8]);
    let out = f32s(&m, 1024, 128);
    assert_eq!(out[69], 70.0);
    assert_eq!(out[70], -1.0);
    assert_eq!(m.stream().records[2].repeats, 2);
    m.leave(&Regs::default().modes(), true);
    assert_eq!(codes(&m), ["state.counter_mode"]);
}

#[test]
fn brcb_fills_one_block_per_element() {
    let mut m = Machine::default();
    put_f32(&mut m, 0, &ramp(16));
    run(&mut m, Op::vbrcb, F32, &[1024, 0, 1, 8, 2]);
    let out = f32s(&m, 1024, 128);
    for (i, x) in out.iter().enumerate() {
        assert_eq!(*x, (i / 8) as f32);
    }
}

#[test]
fn ties_take_the_first_lane_and_nan_wins() {
    let mut m = Machine::default();
    let mut v = ramp(64);
    v[10] = 99.0;
    v[20] = 99.0;
    put_f32(&mut m, 0, &v);
    run(&mut m, Op::vcmax, F32, &[1024, 0, 1, 1, 1, 8, Order::ValueIndex as i64]);
    assert_eq!(f32s(&m, 1024, 1), [99.0]);
    assert_eq!(m.ub.bytes.get(1028, 4).unwrap(), 10u32.to_le_bytes());
    assert_eq!(m.regs.max_min, (99f32.to_bits(), 10));
    put_f32(&mut m, 120, &[f32::NAN]);
    run(&mut m, Op::vcmin, F32, &[1024, 0, 1, 1, 1, 8, Order::IndexValue as i64]);
    assert!(f32s(&m, 1028, 1)[0].is_nan());
    assert_eq!(m.ub.bytes.get(1024, 4).unwrap(), 30u32.to_le_bytes());
}

#[test]
fn group_maximum_compacts_in_place() {
    let mut m = Machine::default();
    put_f32(&mut m, 0, &ramp(256));
    run(&mut m, Op::vcgmax, F32, &[0, 0, 4, 1, 1, 8]);
    let want: Vec<f32> = (0..32).map(|b| (8 * b + 7) as f32).collect();
    assert_eq!(f32s(&m, 0, 32), want);
    assert!(codes(&m).is_empty(), "{:?}", codes(&m));
}

#[test]
fn broadcast_operand_with_block_stride_zero() {
    let mut m = Machine::default();
    put_f32(&mut m, 0, &ramp(128));
    put_f32(&mut m, 1024, &[[1.0; 8], [2.0; 8]].concat());
    run(&mut m, Op::vsub, F32, &[2048, 0, 1024, 2, 1, 1, 0, 8, 8, 1]);
    let out = f32s(&m, 2048, 128);
    assert_eq!((out[0], out[63], out[64], out[127]), (-1.0, 62.0, 62.0, 125.0));
    assert!(codes(&m).is_empty());
}

#[test]
fn faults_stop_with_the_words_of_the_device() {
    let mut m = Machine::default();
    m.owners.push(("tmp", 0x2FF00, 0x30000).into());
    let (code, text) = fault(&mut m, &op(Op::vabs, F32, &[0x2FF00, 0, 2, 1, 1, 8, 8]));
    assert_eq!(code, "memcheck.range");
    assert!(text.contains("ub address out of bounds") && text.contains("0x30000"), "{text}");
    let (code, text) = fault(&mut m, &op(Op::vabs, F32, &[4, 0, 1, 1, 1, 8, 8]));
    assert_eq!(code, "memcheck.align");
    assert!(text.contains("UB address accessed by the VEC instruction is not aligned"), "{text}");
    let (code, text) = fault(&mut m, &op(Op::vabs, F32, &[0, 0, 256, 1, 1, 8, 8]));
    assert_eq!(code, "memcheck.param");
    assert!(text.contains("would execute 0"), "{text}");
    let (code, text) = fault(&mut m, &op(Op::vdiv, DType::I32, &[0; 10]));
    assert_eq!((code, text.contains("illegal on dav-2201")), ("memcheck.dtype", true));
    let (code, _) = fault(&mut m, &op(Op::pipe_barrier, F32, &[0]));
    assert_eq!(code, "synccheck.barrier_s");
    let (code, _) = fault(&mut m, &op(Op::wait_flag, F32, &[1, 3, 0]));
    assert_eq!(code, "synccheck.wait_without_set");
    let (code, _) = fault(&mut m, &op(Op::vabs, F32, &[0, 512, 1, 0, 1, 8, 8]));
    assert_eq!(code, "memcheck.dst_stride");
}

#[test]
fn undefined_values_travel_and_are_reported_where_they_matter() {
    let mut m = Machine::default();
    put_f32(&mut m, 0, &ramp(60));
    run(&mut m, Op::vabs, F32, &[256, 0, 1, 1, 1, 8, 8]);
    assert!(codes(&m).is_empty(), "moving undefined lanes is no error");
    assert_eq!(m.ub.shadow.first_undefined(256, 512), Some(256 + 240));
    run(&mut m, Op::vcadd, F32, &[1024, 256, 1, 1, 1, 8, 0]);
    assert_eq!(codes(&m), ["initcheck.undefined"]);
    run(&mut m, Op::set_vector_mask, F32, &[0, (1 << 60) - 1]);
    run(&mut m, Op::vcadd, F32, &[1028, 256, 1, 1, 1, 8, 0]);
    assert_eq!(m.findings.items()[0].count, 1, "masked lanes do not count");
    assert!(m.ub.shadow.is_defined(1028, 1032) && !m.ub.shadow.is_defined(1024, 1028));
}

#[test]
fn flags_link_and_leftovers_show() {
    let mut m = Machine::default();
    run(&mut m, Op::set_flag, F32, &[1, 3, 2]);
    run(&mut m, Op::wait_flag, F32, &[1, 3, 2]);
    assert_eq!(m.stream().records[1].link, 0);
    run(&mut m, Op::set_flag, F32, &[1, 0, 0]);
    let (code, _) = fault(&mut m, &op(Op::set_flag, F32, &[1, 0, 0]));
    assert_eq!(code, "synccheck.set_while_pending");
    m.leave(&Regs::default().modes(), true);
    assert_eq!(codes(&m), ["synccheck.flag_left"]);
}

#[test]
fn without_an_active_lane_operands_may_lie_anywhere() {
    let mut m = Machine::default();
    run(&mut m, Op::set_vector_mask, F32, &[0, 0]);
    run(&mut m, Op::vadd, F32, &[0, 0x40000, 0x60000, 2, 1, 1, 1, 8, 8, 8]);
    assert!(!m.ub.shadow.is_defined(0, 1));
}
