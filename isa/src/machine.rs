//! The A2/A3 machine: executes instructions for values and records what was issued.

use crate::instr::Instr;
use ptoemu_core::diag::Diagnostic;

/// A fault that stops the run (range, alignment, deadlock, illegal instruction).
#[derive(Clone, Debug)]
pub struct Stop(pub Box<Diagnostic>);

/// Whatever takes microcode: the machine, a recorder for timing alone, a listing.
pub trait Backend {
    /// Issues one instruction. Returns the loaded bits for a scalar load, 0 otherwise.
    fn issue(&mut self, instr: &Instr) -> Result<u64, Stop>;
}

/// Special registers vector code can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regs {
    /// CTRL\[56\]: counter mode.
    pub counter_mode: bool,
    /// MASK, lanes 64..127.
    pub mask_hi: u64,
    /// MASK, lanes 0..63, or the element count in counter mode.
    pub mask_lo: u64,
}

impl Default for Regs {
    fn default() -> Self {
        Regs { counter_mode: false, mask_hi: u64::MAX, mask_lo: u64::MAX }
    }
}

/// The machine.
#[derive(Debug, Default)]
pub struct Machine {
    /// Special registers.
    pub regs: Regs,
}
