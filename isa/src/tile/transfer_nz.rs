//! TLOAD and TSTORE of NZ tiles: stripes of 32-byte columns, all rows of a stripe together.

use super::asm::Asm;
use super::call::{Call, GmView};
use super::check::{Checker, Verdict, refuse};
use super::meaning::{Mem, bits_of};
use super::transfer::Burst;
use super::{Layout, Tile};
use crate::machine::Stop;
use ptoemu_core::diag::Level;

type Done = Result<(), Stop>;

impl Tile {
    /// Column-major stripes of row-major 32-byte pieces.
    pub(super) fn is_nz(&self) -> bool {
        self.fractal && self.layout == Layout::ColMajor
    }
}

/// Stripes, and rows of the view.
fn extents(view: &GmView) -> (u64, u64) {
    let [g0, g1, g2, g3, _] = view.shape.map(u64::from);
    (g0.saturating_mul(g1), g2.saturating_mul(g3))
}

/// The view describes stripes of rows that follow each other.
pub(super) fn check(call: &Call, view: &GmView, c: &mut Checker) -> Verdict {
    let tile = &call.dst;
    let block = tile.per_block();
    if !tile.is_nz() {
        let text = format!("tile `{}` has a fractal layout other than NZ", tile.name);
        let help = "use blayout = col_major with slayout = row_major, or slayout = none_box";
        return refuse("legality.layout", text, help);
    }
    let [_, _, t2, t3, t4] = view.strides;
    let [_, _, g2, g3, g4] = view.shape;
    let line = |n: u32, stride: i64, want: u64| n == 1 || stride == want as i64;
    let dense = line(g4, t4, 1) && line(g3, t3, block) && line(g2, t2, block * u64::from(g3));
    if u64::from(g4) != block || !dense {
        let text = format!(
            "an NZ tile of {} moves stripes of {block} columns; the inner dimensions of the view \
             are {g2}x{g3}x{g4} with strides {t2}, {t3}, {t4}",
            tile.dtype
        );
        let help = "give the view the shape stripes x 1 x rows x 1 x elements of a block, dense";
        return refuse("legality.gm_shape", text, help);
    }
    let (stripes, rows) = extents(view);
    let (valid_rows, valid_cols) = tile.valid();
    let fits = rows <= tile.rows.into() && stripes.saturating_mul(block) <= tile.cols.into();
    if !fits {
        let text = format!(
            "the GM view has {rows} rows of {stripes} stripes, tile `{}` holds {}x{}",
            tile.name, tile.rows, tile.cols
        );
        return refuse("legality.gm_shape", text, "make the view no larger than the tile");
    }
    if (rows, stripes * block) != (valid_rows, valid_cols) {
        let text = format!(
            "the GM view has {rows} rows of {} columns, the valid region of `{}` {valid_rows} of \
             {valid_cols}; whole stripes of the rows both have are transferred",
            stripes * block,
            tile.name
        );
        c.remark(Level::Warning, "legality.gm_shape", text);
    }
    Ok(())
}

/// Calls `f(GM address, stripe)` for every stripe of the view.
fn stripes(view: &GmView, size: u64, mut f: impl FnMut(u64, u64) -> Done) -> Done {
    let [g0, g1, ..] = view.shape.map(u64::from);
    let [t0, t1, ..] = view.strides;
    for i in 0..g0 {
        for j in 0..g1 {
            let elements = (i as i64).wrapping_mul(t0).wrapping_add((j as i64).wrapping_mul(t1));
            let bytes = elements.wrapping_mul(size as i64);
            f(view.addr.wrapping_add_signed(bytes), i * g1 + j)?;
        }
    }
    Ok(())
}

/// Every row both sides have, in whole stripes.
pub(super) fn reference(call: &Call, view: &GmView, mem: &mut Mem) -> Done {
    let tile = &call.dst;
    let (size, block) = (tile.size(), tile.per_block());
    let rows = extents(view).1.min(tile.valid_rows.into());
    stripes(view, size, |gm, stripe| {
        for i in 0..rows * block {
            let (r, c) = (i / block, stripe * block + i % block);
            let at = gm.wrapping_add(i * size);
            if call.op.is_store() {
                let bits = mem.read(tile, r, c)?;
                let to = mem.gm_bytes(at, size as usize)?;
                to.copy_from_slice(&bits.to_le_bytes()[..size as usize]);
            } else {
                let bits = bits_of(mem.gm_bytes(at, size as usize)?);
                mem.write(tile, r, c, bits)?;
            }
        }
        Ok(())
    })
}

/// One transfer per outer index; no padding.
pub(super) fn lower(call: &Call, view: &GmView, a: &mut Asm) -> Done {
    let tile = &call.dst;
    let rows = extents(view).1.min(tile.valid_rows.into());
    let len = rows * 32;
    if len == 0 {
        return Ok(());
    }
    let burst =
        Burst { store: call.op.is_store(), len, pad: 0, ub_gap: u64::from(tile.rows) - rows };
    let [_, g1, ..] = view.shape.map(u64::from);
    let stripe = u64::from(tile.rows) * 32;
    let size = tile.size() as i64;
    // The bursts of one outer index are stripes a stride apart; a negative gap cannot be encoded.
    let gap = view.strides[1].saturating_mul(size).saturating_sub(len as i64);
    let together = g1 > 1 && gap >= 0;
    stripes(view, tile.size(), |gm, n| match (together, n % g1.max(1)) {
        (true, 0) => burst.issue(a, tile.addr + n * stripe, gm, g1, gap),
        (true, _) => Ok(()),
        _ => burst.issue(a, tile.addr + n * stripe, gm, 1, 0),
    })
}
