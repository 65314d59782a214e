//! Scalar access to UB and GM.

use crate::instr::Instr;
use crate::machine::{Machine, Plan};
use crate::table::What;
use ptoemu_core::access::Space;
use ptoemu_core::check::uninit::Sink;

/// Loaded bits, zero-extended.
pub fn load(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let (at, w) = p.or_empty(0);
    let n = w.unit as usize;
    let bytes = match w.space {
        Space::Ub => {
            m.require_defined(i, rec, "src0", (at, at + n as u64), Sink::Scalar);
            m.ub.bytes.get(at, n)
        }
        Space::Gm => {
            m.gm.range(at, at.saturating_add(n as u64))
                .and_then(|(b, at)| m.gm.buffers()[b].mem.bytes.get(at, n))
        }
    };
    bytes.map_or(0, |b| b.iter().rev().fold(0, |acc, x| acc << 8 | u64::from(*x)))
}

/// Stores the low bytes of the scalar.
pub fn store(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) -> u64 {
    let (at, w) = p.or_empty(0);
    let n = w.unit as usize;
    let value = (i.get(What::Scalar).unwrap_or(0) as u64).to_le_bytes();
    let (mem, at) = match w.space {
        Space::Ub => (&mut m.ub, at),
        Space::Gm => match m.gm.range(at, at.saturating_add(n as u64)) {
            Some((b, at)) => match m.gm.buffer_mut(b) {
                Some(buffer) => (&mut buffer.mem, at),
                None => return 0,
            },
            None => return 0,
        },
    };
    if let Some(to) = mem.bytes.get_mut(at, n) {
        to.copy_from_slice(&value[..n]);
        mem.shadow.set(at, at + n as u64, true, rec);
    }
    0
}
