//! racecheck of streams: what `core` needs to know about the instructions.

use crate::table::{Form, Op, catalogue};
use ptoemu_core::catalogue::Catalogue;
use ptoemu_core::check::Finding;
use ptoemu_core::check::race::{self, Options, RegisterUse};
use ptoemu_core::stream::Stream;
use ptoemu_core::target::Family;
use std::sync::LazyLock;

/// Bits of [`race::REGISTERS`].
const CMPMASK: u8 = 1;
const ACCUMULATOR: u8 = 2;
const COUNTS: u8 = 4;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(catalogue);
static CATALOGUE_A5: LazyLock<Catalogue> = LazyLock::new(crate::a5::catalogue);
static REGISTERS: LazyLock<Vec<RegisterUse>> =
    LazyLock::new(|| Op::ALL.iter().map(|op| registers(*op)).collect());

/// Registers an instruction reads and writes on V and S.
fn registers(op: Op) -> RegisterUse {
    let (reads, writes) = match op.form() {
        Form::CmpReg | Form::SetCmpMask => (0, CMPMASK),
        Form::Sel => (CMPMASK, 0),
        Form::Sum | Form::Extreme => (0, ACCUMULATOR),
        Form::Reduce | Form::Merge => (0, COUNTS),
        _ if matches!(op, Op::get_rsvd_cnt | Op::get_vms4_sr) => (COUNTS, 0),
        _ if matches!(op, Op::get_acc_val | Op::get_max_min_cnt) => (ACCUMULATOR, 0),
        _ => (0, 0),
    };
    RegisterUse { reads, writes }
}

/// Hazards of the stream of one core of A2/A3.
pub fn check(stream: &Stream, core: u32, strict: bool) -> Vec<Finding> {
    check_of(Family::A2A3, stream, core, strict)
}

/// Hazards of the stream of one core of a family.
pub fn check_of(family: Family, stream: &Stream, core: u32, strict: bool) -> Vec<Finding> {
    race::check(stream, &options(family, core, strict))
}

/// What the checks are told of the instructions of a family.
fn options(family: Family, core: u32, strict: bool) -> Options<'static> {
    match family {
        Family::A2A3 => Options { catalogue: &CATALOGUE, registers: &REGISTERS, core, strict },
        Family::A5 => Options { catalogue: &CATALOGUE_A5, registers: &[], core, strict },
    }
}
