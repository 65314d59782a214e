//! `memref` types of lowered files: views of global memory, tiles in UB.

use super::Lower;
use crate::exec::program::{Code, Num, ViewExpr};
use crate::text::{self as ast, Dim, Type, TypeKind};
use crate::tile::Tile;
use ptoemu_core::dtype::DType;

/// Sizes, element and address space, if every size is known.
fn known(ty: &Type) -> Option<(Vec<u64>, DType, &str)> {
    let TypeKind::MemRef { dims, elem, space, .. } = &ty.kind else { return None };
    let sizes: Option<Vec<u64>> = dims.iter().map(|d| Dim::size(*d)).collect();
    let space = space.as_ref().and_then(|s| s.body.as_deref()).unwrap_or("gm");
    Some((sizes.filter(|s| !s.is_empty())?, elem.dtype()?, space))
}

/// The element and the view of a buffer in global memory, row by row.
pub(super) fn buffer(ty: &Type) -> Option<(DType, ViewExpr)> {
    let (sizes, elem, space) = known(ty)?;
    if space != "gm" {
        return None;
    }
    let mut steps = vec![Num::Lit(1); sizes.len()];
    let mut step = 1u64;
    for (at, n) in steps.iter_mut().zip(&sizes).rev() {
        *at = Num::Lit(i64::try_from(step).ok()?);
        step = step.checked_mul(*n)?;
    }
    let sizes =
        sizes.iter().map(|n| i64::try_from(*n).ok().map(Num::Lit)).collect::<Option<_>>()?;
    Some((elem, ViewExpr { sizes, steps, dn: false, offset: None }))
}

/// The tile of a buffer in UB: the leading sizes are its rows.
pub(super) fn tile(name: &str, ty: &Type) -> Option<Tile> {
    let (sizes, elem, space) = known(ty)?;
    let (cols, rows) = sizes.split_last()?;
    let rows = rows.iter().try_fold(1u64, |n, d| n.checked_mul(*d))?;
    let limit = |n: u64| u32::try_from(n).ok().filter(|n| *n <= 1 << 24);
    let size = (limit(rows)?, limit(*cols)?);
    matches!(space, "vec" | "ub").then(|| Tile::plain(name, elem, size, size))
}

impl Lower<'_> {
    /// `memref.reinterpret_cast %p to offset: [..], sizes: [..], strides: [..]`.
    pub(super) fn reinterpret(&mut self, op: &ast::Op) -> Option<Code> {
        let src = self.first(op)?;
        let mut expr = self.view_expr(op, "sizes", "strides");
        let offset = op.keyed("offset").and_then(|a| a.as_list()).and_then(|l| l.first());
        expr.offset = offset.map(|n| self.num(n));
        Some(Code::View(self.result(op), src, expr))
    }
}
