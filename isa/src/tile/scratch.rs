//! Scratch tiles of A2/A3 microcode: how small they may be, and the rule that says so.

use super::call::Call;
use super::check::{Checker, Verdict, refuse};
use super::op::Operator;
use super::{Family, Tile};
use ptoemu_core::dtype::DType::{self, U8};

/// Smallest scratch tile of a call: element type, rows, columns.
pub(crate) type Need = (DType, u32, u32);

impl Call {
    /// The smallest scratch tile microcode of this call works with on A2/A3; `None` if it needs none
    /// or has a rule of its own.
    pub fn least_tmp(&self) -> Option<Need> {
        if self.family == Family::A5 && self.op.operator != Operator::Merge {
            return None;
        }
        let (dst, src) = (&self.dst, self.source(0));
        match (self.op.name, self.op.operator) {
            ("txor" | "txors", _) => Some((dst.dtype, dst.valid_rows, dst.cols)),
            // The bits of every row, and a row for the address of one of them.
            ("tprelu", _) => Some((U8, dst.valid_rows + 1, super::compare::row_bytes(dst))),
            // One row, and behind it a bit an element.
            (_, Operator::Rem) => {
                let bits = (2 * dst.valid_cols.div_ceil(64)).next_multiple_of(8);
                Some((dst.dtype, 1, dst.cols + bits))
            }
            (_, Operator::Iota) => Some(super::iota::tmp(self)),
            (_, Operator::Trans) => super::transpose::tmp(self),
            (_, Operator::Gather) => super::gather::tmp(self),
            (_, Operator::Merge) => super::merge::tmp(self),
            (_, Operator::Sort) => super::sort::tmp(src),
            (_, Operator::ArgMax | Operator::ArgMin) => super::arg::tmp(self, src),
            _ => None,
        }
    }
}

impl Checker<'_> {
    /// tmp is given where A2/A3 microcode needs it, is large enough and shares no byte.
    pub(super) fn scratch(&mut self, call: &Call) -> Verdict {
        let Some((t, rows, cols)) = call.least_tmp() else { return Ok(()) };
        let need = format!("{rows}x{cols} {t}");
        let Some(tmp) = &call.tmp else {
            let text = format!("{} needs a tmp tile on A2/A3", call.op.name);
            return refuse("legality.operands", text, format!("pass a tmp of {need} or larger"));
        };
        self.row_major("tmp", tmp)?;
        // One row is memory like any other, whatever the shape of the tile.
        let enough = match rows {
            1 => tmp.bytes() >= u64::from(cols) * t.size() as u64,
            _ => tmp.dtype.size() == t.size() && tmp.rows >= rows && tmp.cols >= cols,
        };
        if !enough {
            let text = format!(
                "tmp `{}` is {}x{} {}; {} needs at least {need} here",
                tmp.name, tmp.rows, tmp.cols, tmp.dtype, call.op.name
            );
            return refuse("legality.tmp_too_small", text, format!("give tmp {need}"));
        }
        call.tiles()
            .filter(|(role, _)| *role != "tmp")
            .try_for_each(|tile| self.disjoint(("tmp", tmp), tile))
    }
}

impl Tile {
    /// A part of the tile's memory as one row of `n` elements of another type, at a byte offset.
    pub(super) fn part(&self, dtype: DType, offset: u64, n: u64) -> Tile {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        let addr = self.addr.wrapping_add(offset);
        Tile { addr, ..Tile::plain(&self.name, dtype, (1, n), (1, n)) }
    }
}
