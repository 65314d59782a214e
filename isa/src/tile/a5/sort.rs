//! TSORT32: sort instructions outside any vector function, 255 groups at a time.

use super::super::Tile;
use super::super::call::Call;
use super::super::quirks::Quirk;
use super::super::sort::{GROUP, RECORD};
use super::code::Code;
use super::function::affine;
use super::run::Single;
use super::{Done, Issue, M};
use crate::a5::{Dist, Op, VL};
use ptoemu_core::dtype::DType::F16;

/// Most groups of one instruction.
const MOST: u64 = 255;

/// TSORT32.
pub fn sort(call: &Call, to: &mut dyn Issue) -> Done {
    let (src, idx) = (call.source(0), call.source(1));
    let (rows, cols) = src.valid();
    let groups = cols.div_ceil(GROUP);
    for r in 0..rows {
        let index_row = if idx.valid_rows == 1 { 0 } else { r };
        let from = match call.tmp.as_ref().filter(|_| !cols.is_multiple_of(GROUP)) {
            Some(tmp) => padded(call, to, tmp, r)?,
            None => src.row(r),
        };
        let at = [call.dst.row(r), from, idx.row(index_row)];
        instructions(call, to, at, groups)?;
    }
    Ok(())
}

/// Sorts `groups` groups of a row.
fn instructions(call: &Call, to: &mut dyn Issue, [d, s, i]: [u64; 3], groups: u64) -> Done {
    let size = call.source(0).size();
    // Shipped code gives the last instruction the rest, which is 0 for a multiple of 255.
    let shipped = call.quirks.has(Quirk::R29) && groups > MOST && groups.is_multiple_of(MOST);
    let mut done = 0;
    while done < groups {
        let n = MOST.min(groups - done);
        let last = done + n == groups;
        let p = [d + done * GROUP * RECORD, s + done * GROUP * size, i + done * GROUP * 4];
        let n = if shipped && last { 0 } else { n };
        to.single(&Single::new(Op::vbitsort, call.source(0).dtype, &p, [n as i64, 0]))?;
        done += MOST;
    }
    Ok(())
}

/// The row copied to tmp, its last group filled up with -NaN, which sorts behind everything.
fn padded(
    call: &Call,
    to: &mut dyn Issue,
    tmp: &Tile,
    r: u64,
) -> Result<u64, crate::machine::Stop> {
    let src = call.source(0);
    let cols = u64::from(src.valid_cols);
    let mut c = Code::new(src.dtype);
    let e = VL / c.size();
    c.repeat(cols.div_ceil(e as u64), |c| {
        let m = c.below(c.size(), affine(cols, &[super::down(e)]));
        let x = c.load(Dist::Norm, affine(src.row(r), &[VL as i64]));
        c.store(Dist::Norm, x, affine(tmp.addr, &[VL as i64]), m);
    });
    // Lanes of the last group behind the valid ones: all but the first `cols % 32`.
    let group = c.below(c.size(), affine(GROUP, &[]));
    let valid = c.below(c.size(), affine(cols % GROUP, &[]));
    let rest: M = c.predicate(Op::pnot, &[valid, group], 1)[0];
    let nan = if c.t == F16 { 0xFFFF } else { 0xFFFF_FFFF };
    let fill = c.fill(nan, group);
    c.store(Dist::Norm, fill, affine(tmp.addr + cols / GROUP * GROUP * src.size(), &[]), rest);
    to.function(&c.finish())?;
    Ok(tmp.addr)
}
