//! Special registers and the choices the documentation leaves open.

use super::stale::Stale;
use ptoemu_core::check::Checks;
use ptoemu_core::check::state::Modes;
use ptoemu_core::num::NumMode;
use ptoemu_core::target::Family;
use std::sync::Arc;

/// CTRL bit: mask mode, 0 norm, 1 counter.
pub const CTRL_COUNTER: u32 = 56;
/// CTRL bit: integer saturation, not supported on this target.
pub const CTRL_INT_SATURATE: u32 = 53;

/// Special registers vector code can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regs {
    /// CTRL; power-on value keeps INF and NaN (bit 48) `[I]`.
    pub ctrl: u64,
    /// MASK, lanes 64..127.
    pub mask_hi: u64,
    /// MASK, lanes 0..63, or the element count in counter mode.
    pub mask_lo: u64,
    /// Counter mode was on at the last `set_vector_mask`.
    pub mask_written_in_counter: bool,
    /// CMPMASK, low word first.
    pub cmpmask: [u64; 2],
    /// Bytes of CMPMASK that hold defined bits, bit i for byte i.
    pub cmpmask_defined: u16,
    /// DEQSCALE, f16 bits.
    pub deqscale: u16,
    /// MOV_PAD_VAL.
    pub mov_pad: u64,
    /// MAX_MIN_CNT: value bits and global index.
    pub max_min: (u32, u32),
    /// ACC_VAL: element bits.
    pub acc: u32,
    /// RSVD_CNT: elements the last compaction kept.
    pub rsvd_cnt: u64,
    /// VMS4_SR: records the last merge took of each list, 16 bits each.
    pub vms4: u64,
    /// VA0..VA7: addresses of eight rows each.
    pub va: [[u64; 8]; 8],
}

impl Default for Regs {
    fn default() -> Self {
        Regs {
            ctrl: 1 << 48,
            mask_hi: u64::MAX,
            mask_lo: u64::MAX,
            mask_written_in_counter: false,
            cmpmask: [0; 2],
            cmpmask_defined: 0,
            deqscale: 0x3C00,
            mov_pad: 0,
            max_min: (0, 0),
            acc: 0,
            rsvd_cnt: 0,
            vms4: 0,
            va: [[0; 8]; 8],
        }
    }
}

impl Settings {
    /// The settings of a family, its UB size included.
    pub fn of(family: Family) -> Settings {
        let ub_bytes = match family {
            Family::A2A3 => 192 * 1024,
            Family::A5 => 256 * 1024,
        };
        Settings { family, ub_bytes, ..Settings::default() }
    }
}

impl Regs {
    /// Is the mask mode counter?
    pub fn counter(&self) -> bool {
        self.ctrl >> CTRL_COUNTER & 1 == 1
    }

    /// Element count of counter mode, MASK\[31:0\].
    pub fn count(&self) -> u64 {
        self.mask_lo & 0xFFFF_FFFF
    }

    /// Atomic store: type code CTRL\[8:6\] and operation CTRL\[10:9\].
    pub fn atomic(&self) -> (u8, u8) {
        ((self.ctrl >> 6 & 7) as u8, (self.ctrl >> 9 & 3) as u8)
    }

    /// What the state checks compare.
    pub fn modes(&self) -> Modes {
        Modes { counter: self.counter(), mask: (self.mask_hi, self.mask_lo), ctrl: self.ctrl }
    }
}

/// What compares do with the result bits of masked-off lanes `[U]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaskedCompare {
    /// Their bits become 0.
    #[default]
    WriteZero,
    /// Their bits keep their value.
    Keep,
}

/// Settings of a run that change values or limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whose instructions the machine executes.
    pub family: Family,
    /// Number rules; the two CTRL bits in it are overridden by the register.
    pub num: NumMode,
    /// Bits of masked-off lanes in compares.
    pub masked_compare: MaskedCompare,
    /// Bytes of UB.
    pub ub_bytes: u64,
    /// Byte an unwritten UB byte reads as.
    pub poison: u8,
    /// `get_block_idx`.
    pub block_idx: u32,
    /// `get_block_num`.
    pub block_num: u32,
    /// `get_subblockid`.
    pub subblock: u32,
    /// Most bytes of all buffers made up for arguments that nobody gave.
    pub inferred_bytes: u64,
    /// Checks that run.
    pub checks: Checks,
    /// Two records that change places.
    pub stale: Option<Arc<Stale>>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            family: Family::A2A3,
            num: NumMode::default(),
            masked_compare: MaskedCompare::default(),
            ub_bytes: 192 * 1024,
            poison: 0xCD,
            block_idx: 0,
            block_num: 1,
            subblock: 0,
            inferred_bytes: 1 << 30,
            checks: Checks::ALL,
            stale: None,
        }
    }
}
