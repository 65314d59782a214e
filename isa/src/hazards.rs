//! racecheck of A2/A3 streams: what `core` needs to know about the instructions.

use crate::table::{Form, Op, catalogue};
use ptoemu_core::catalogue::Catalogue;
use ptoemu_core::check::Finding;
use ptoemu_core::check::race::{self, Options, RegisterUse};
use ptoemu_core::stream::Stream;
use std::sync::LazyLock;

/// Bits of [`race::REGISTERS`].
const CMPMASK: u8 = 1;
const ACCUMULATOR: u8 = 2;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(catalogue);
static REGISTERS: LazyLock<Vec<RegisterUse>> =
    LazyLock::new(|| Op::ALL.iter().map(|op| registers(*op)).collect());

/// Registers an instruction reads and writes on V and S.
fn registers(op: Op) -> RegisterUse {
    let (reads, writes) = match op.form() {
        Form::CmpReg | Form::SetCmpMask => (0, CMPMASK),
        Form::Sel => (CMPMASK, 0),
        Form::Sum | Form::Extreme => (0, ACCUMULATOR),
        _ if matches!(op, Op::get_acc_val | Op::get_max_min_cnt) => (ACCUMULATOR, 0),
        _ => (0, 0),
    };
    RegisterUse { reads, writes }
}

/// Hazards of the stream of one core.
pub fn check(stream: &Stream, core: u32, strict: bool) -> Vec<Finding> {
    let options = Options { catalogue: &CATALOGUE, registers: &REGISTERS, core, strict };
    race::check(stream, &options)
}
