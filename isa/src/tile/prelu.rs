//! TPRELU on A2/A3: product, comparison with 0, selection.

use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict};
use super::{Tile, find};
use crate::a5::Cmp;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType::U8;

type Done = Result<(), Stop>;

/// Legality on A2/A3: the comparison comes after dst is written.
pub(super) fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.disjoint(("dst", &call.dst), ("src0", call.source(0)))?;
    c.scratch(call)
}

/// dst = src0 * src1, then src0 where it is larger than 0.
pub(super) fn lower(call: &Call, a: &mut Asm) -> Done {
    let (rows, cols) = call.dst.valid();
    let Some(tmp) = call.tmp.as_ref().filter(|_| rows > 0 && cols > 0) else { return Ok(()) };
    let x = call.source(0);
    super::bin::apply(call, a, Op::vmul, [&call.dst, x, call.source(1)])?;
    a.barrier()?;
    let step = u64::from(tmp.cols) * tmp.size();
    let bits = Tile { name: "tmp".into(), addr: tmp.addr, ..mask(step, rows, cols) };
    let (Some(compare), Some(select)) = (find("tcmps"), find("tsel")) else { return Ok(()) };
    let mut above = Call::new(compare, bits.clone(), [x.clone()]);
    above.attrs.cmp = Cmp::Gt;
    above.quirks = call.quirks;
    super::compare::lower(&above, a)?;
    a.barrier()?;
    let mut select = Call::new(select, call.dst.clone(), [bits, x.clone(), call.dst.clone()]);
    select.tmp = Some(tmp.part(U8, rows * step, 32));
    select.quirks = call.quirks;
    super::select::lower(&select, a)
}

/// One packed bit an element.
fn mask(step: u64, rows: u64, cols: u64) -> Tile {
    let n = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
    Tile::plain("tmp", U8, (n(rows), n(step)), (n(rows), n(cols).min(n(step))))
}
