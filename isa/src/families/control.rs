//! Special registers.

use crate::instr::Instr;
use crate::machine::{CTRL_COUNTER, Regs, Settings};

/// CTRL\[56\] = 0.
pub fn set_mask_norm(r: &mut Regs, _: &Instr, _: &Settings) -> u64 {
    r.ctrl &= !(1 << CTRL_COUNTER);
    0
}

/// CTRL\[56\] = 1.
pub fn set_mask_count(r: &mut Regs, _: &Instr, _: &Settings) -> u64 {
    r.ctrl |= 1 << CTRL_COUNTER;
    0
}

/// MASK = hi:lo.
pub fn set_vector_mask(r: &mut Regs, i: &Instr, _: &Settings) -> u64 {
    (r.mask_hi, r.mask_lo) = (i.args[0] as u64, i.args[1] as u64);
    r.mask_written_in_counter = r.counter();
    0
}

/// CTRL = value.
pub fn set_ctrl(r: &mut Regs, i: &Instr, _: &Settings) -> u64 {
    r.ctrl = i.args[0] as u64;
    0
}

/// CTRL.
pub fn get_ctrl(r: &mut Regs, _: &Instr, _: &Settings) -> u64 {
    r.ctrl
}

/// DEQSCALE = value.
pub fn set_deqscale(r: &mut Regs, i: &Instr, _: &Settings) -> u64 {
    r.deqscale = i.args[0] as u16;
    0
}

/// MOV_PAD_VAL = value.
pub fn set_mov_pad_val(r: &mut Regs, i: &Instr, _: &Settings) -> u64 {
    r.mov_pad = i.args[0] as u64;
    0
}

/// MAX_MIN_CNT: value in the low half, index in the high half.
pub fn get_max_min_cnt(r: &mut Regs, _: &Instr, _: &Settings) -> u64 {
    u64::from(r.max_min.1) << 32 | u64::from(r.max_min.0)
}

/// ACC_VAL.
pub fn get_acc_val(r: &mut Regs, _: &Instr, _: &Settings) -> u64 {
    u64::from(r.acc)
}

/// The addresses of an address register.
pub fn set_va(r: &mut Regs, i: &Instr, _: &Settings) -> u64 {
    if let Some(va) = usize::try_from(i.args[0]).ok().and_then(|n| r.va.get_mut(n)) {
        for (slot, at) in va.iter_mut().zip(&i.args[1..9]) {
            *slot = *at as u64;
        }
    }
    0
}

/// RSVD_CNT.
pub fn get_rsvd_cnt(r: &mut Regs, _: &Instr, _: &Settings) -> u64 {
    r.rsvd_cnt
}

/// VMS4_SR.
pub fn get_vms4_sr(r: &mut Regs, _: &Instr, _: &Settings) -> u64 {
    r.vms4
}

/// Number of this core.
pub fn get_block_idx(_: &mut Regs, _: &Instr, s: &Settings) -> u64 {
    u64::from(s.block_idx)
}

/// Number of cores.
pub fn get_block_num(_: &mut Regs, _: &Instr, s: &Settings) -> u64 {
    u64::from(s.block_num)
}

/// Number of this vector core in its group.
pub fn get_subblockid(_: &mut Regs, _: &Instr, s: &Settings) -> u64 {
    u64::from(s.subblock)
}

fn set_bits(r: &mut Regs, at: u32, mask: u64, v: u64) -> u64 {
    r.ctrl = r.ctrl & !(mask << at) | v << at;
    0
}

macro_rules! atomic {
    ($($name:ident $at:literal $mask:literal $code:literal $doc:literal;)*) => {$(
        #[doc = $doc]
        pub fn $name(r: &mut Regs, _: &Instr, _: &Settings) -> u64 {
            set_bits(r, $at, $mask, $code)
        }
    )*};
}

atomic! {
    set_atomic_none 6 7 0 "Stores overwrite.";
    set_atomic_f32 6 7 1 "Stores accumulate f32.";
    set_atomic_f16 6 7 2 "Stores accumulate f16.";
    set_atomic_s16 6 7 3 "Stores accumulate s16.";
    set_atomic_s32 6 7 4 "Stores accumulate s32.";
    set_atomic_s8 6 7 5 "Stores accumulate s8.";
    set_atomic_bf16 6 7 6 "Stores accumulate bf16.";
    set_atomic_add 9 3 0 "Accumulating stores add.";
    set_atomic_max 9 3 1 "Accumulating stores keep the larger.";
    set_atomic_min 9 3 2 "Accumulating stores keep the smaller.";
}
