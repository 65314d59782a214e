//! Special registers.

use crate::machine::{Machine, Stop};

/// CTRL\[56\] = 0.
pub fn set_mask_norm(m: &mut Machine, _: &[i64]) -> Result<(), Stop> {
    m.regs.counter_mode = false;
    Ok(())
}

/// MASK = hi:lo.
pub fn set_vector_mask(m: &mut Machine, args: &[i64]) -> Result<(), Stop> {
    (m.regs.mask_hi, m.regs.mask_lo) = (args[0] as u64, args[1] as u64);
    Ok(())
}
