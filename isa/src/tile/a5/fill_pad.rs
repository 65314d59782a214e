//! TFILLPAD: a copy, an unaligned stream behind every row, then whole rows.

use super::super::call::Call;
use super::super::fill_pad::pad_bits;
use super::super::quirks::Quirk;
use super::code::Code;
use super::elementwise::Walk;
use super::function::{V, affine};
use super::{Done, Issue, down};
use crate::a5::{Dist, VL};

/// TFILLPAD, TFILLPAD_INPLACE, TFILLPAD_EXPAND.
pub fn fill_pad(call: &Call, to: &mut dyn Issue) -> Done {
    let (src, dst) = (call.source(0), &call.dst);
    let (rows, cols) = src.valid();
    let mut c = Code::over(dst);
    if !call.in_place() {
        let walk = Walk { dst, src: &[src], post: false };
        walk.rows(&mut c, rows, cols, &mut |_, x, _| x.first().copied().unwrap_or(V(0)));
    }
    let all = c.all(c.size());
    let pad = c.fill(pad_bits(dst), all);
    behind(&mut c, call, pad);
    let below = u64::from(dst.valid_rows.saturating_sub(src.valid_rows));
    // Shipped code subtracts 16-bit counts: fewer rows than the source has wrap around.
    let below = match call.quirks.has(Quirk::R11) && dst.valid_rows < src.valid_rows {
        true => u64::from((dst.valid_rows as u16).wrapping_sub(src.valid_rows as u16)),
        false => below,
    };
    let n = below * u64::from(dst.cols);
    let e = VL / c.size();
    c.repeat(n.div_ceil(e as u64), |c| {
        let m = c.below(c.size(), affine(n, &[down(e)]));
        c.store(Dist::Norm, pad, affine(dst.row(rows), &[VL as i64]), m);
    });
    to.function(&c.finish())
}

/// The columns behind the valid ones, to the end of the tile.
fn behind(c: &mut Code, call: &Call, pad: V) {
    let dst = &call.dst;
    let (rows, cols) = call.source(0).valid();
    let left = u64::from(dst.cols).saturating_sub(cols);
    if left == 0 {
        return;
    }
    let (e, size, step) = ((VL / c.size()) as u64, c.size() as u64, (dst.row(1) - dst.addr) as i64);
    let first = dst.addr + cols * size;
    c.repeat(rows, |c| {
        c.repeat(left / e, |c| c.append(pad, e, affine(first, &[step, VL as i64])));
        if left % e > 0 {
            c.append(pad, left % e, affine(first + left / e * VL as u64, &[step]));
        }
        c.flush(affine(first + left * size, &[step]));
    });
}
