//! Views, tiles, pointers and scalar accesses.

use super::{Lower, N};
use crate::exec::program::{Code, Num, Place, Slot, ViewExpr, template};
use crate::text as ast;
use crate::text::{Scalar, Type, TypeKind};
use crate::tile::Tile;
use ptoemu_core::dtype::DType;

impl Lower<'_> {
    pub(super) fn memory(&mut self, name: &str, op: &ast::Op) -> Option<Code> {
        Some(match name {
            "make_tensor_view" => {
                let src = self.first(op)?;
                let expr = self.view_expr(op, "shape", "strides");
                Code::View(self.result(op), src, expr)
            }
            "partition_view" | "subview" => {
                let src = self.first(op)?;
                let expr = self.view_expr(op, "sizes", "offsets");
                Code::Partition(self.result(op), src, expr)
            }
            "alloc_tile" => self.alloc(op)?,
            "tassign" => self.assign(op)?,
            "treshape" | "bitcast" => self.reshape(op)?,
            "subset" => self.subset(op)?,
            "set_validshape" => {
                let tile = self.first(op)?;
                let nums: Vec<Num> = op.args.iter().skip(1).map(|a| self.num(a)).collect();
                let [r, c] = nums[..] else {
                    self.error(
                        "lower.operand",
                        op.span,
                        "set_validshape takes a tile, rows and columns",
                        None,
                    );
                    return Some(Code::Nothing);
                };
                Code::SetValid(tile, r, c)
            }
            "tile_buf_addr" => {
                let src = self.first(op)?;
                let elem = self.pointee(op.result_types().first(), op)?;
                Code::TileAddr(self.result(op), src, elem)
            }
            "get_block_idx" => Code::Core(0, self.result(op)),
            "get_block_num" => Code::Core(1, self.result(op)),
            "get_subblock_idx" | "get_subblockid" => Code::Core(2, self.result(op)),
            "get_subblock_num" | "get_subblockdim" => Code::Core(3, self.result(op)),
            "castptr" => {
                let src = self.first(op)?;
                let to = match op.result_types().first().map(|t| &t.kind) {
                    Some(TypeKind::Scalar(_)) => None,
                    _ => Some(self.pointee(op.result_types().first(), op)?),
                };
                let dst = self.result(op);
                Code::CastPtr { dst, src, to }
            }
            "addptr" => {
                let nodes: Vec<_> = op.args.iter().collect();
                let [p, i] = nodes[..] else {
                    self.error(
                        "lower.operand",
                        op.span,
                        "addptr takes a pointer and an offset",
                        None,
                    );
                    return Some(Code::Nothing);
                };
                let (p, i) = (self.slot(p), self.num(i));
                Code::AddPtr(self.result(op), p, i)
            }
            "load_scalar" => {
                let (p, i) = self.indexed(op)?;
                let t = self.pointee(op.operand_types().first(), op)?;
                Code::Load(self.result(op), p, i, t)
            }
            "store_scalar" => {
                let (p, i) = self.indexed(op)?;
                let t = self.pointee(op.operand_types().first(), op)?;
                let v = self.first(op)?;
                Code::Store(v, p, i, t)
            }
            _ => return None,
        })
    }

    /// `%p[%i]` anywhere among the arguments.
    fn indexed(&mut self, op: &ast::Op) -> Option<(Slot, Num)> {
        for a in &op.args {
            if let N::Index { base, indices } = &a.kind {
                let p = self.value(base);
                let i = indices.first().map_or(Num::Lit(0), |i| self.num(i));
                return Some((p, i));
            }
        }
        self.error("lower.operand", op.span, "expected `%pointer[%index]`", None);
        let s = self.fresh();
        Some((s, Num::Lit(0)))
    }

    /// Element type of a pointer type.
    fn pointee(&mut self, ty: Option<&Type>, op: &ast::Op) -> Option<DType> {
        let elem = match ty.map(|t| &t.kind) {
            Some(TypeKind::Ptr { elem, .. }) => elem.dtype(),
            Some(TypeKind::MemRef { elem, .. }) => elem.dtype(),
            _ => None,
        };
        if elem.is_none() {
            let span = ty.map_or(op.span, |t| t.span);
            self.error(
                "lower.type",
                span,
                "expected a pointer to an element the emulator has",
                None,
            );
        }
        Some(elem.unwrap_or(DType::F32))
    }

    pub(super) fn view_expr(&mut self, op: &ast::Op, sizes: &str, steps: &str) -> ViewExpr {
        let mut list = |key: &str| -> Vec<Num> {
            let nodes = op.keyed(key).and_then(|a| a.as_list()).unwrap_or(&[]);
            nodes.iter().map(|n| self.num(n)).collect()
        };
        let (sizes, steps) = (list(sizes), list(steps));
        if sizes.is_empty() || sizes.len() != steps.len() {
            let message = format!("{} sizes and {} strides or offsets", sizes.len(), steps.len());
            self.error("lower.operand", op.span, message, Some("give one of each per dimension"));
        }
        let dn = op.attr("layout").and_then(|a| a.as_name()).is_some_and(|n| n == "dn");
        ViewExpr { sizes, steps, dn, offset: None }
    }

    /// Tile template of a type, named after the op's result.
    pub(super) fn tile_of(&mut self, name: &str, ty: Option<&Type>) -> Option<Tile> {
        let ty = ty?;
        match &ty.kind {
            TypeKind::Tile(t) => {
                let (Some(d), true) = (t.dtype.dtype(), t.rows <= 1 << 24 && t.cols <= 1 << 24)
                else {
                    self.error(
                        "unsupported",
                        ty.span,
                        "tiles of this element type or size are not executed",
                        None,
                    );
                    return None;
                };
                Some(template(name, t, d))
            }
            TypeKind::MemRef { .. } => super::memref::tile(name, ty),
            TypeKind::TileUnknown { .. } => {
                self.options.tiles.iter().find(|t| t.name == name).cloned()
            }
            _ => None,
        }
    }

    pub(super) fn alloc(&mut self, op: &ast::Op) -> Option<Code> {
        let name = op.results.first().map_or("", |r| &r.name).to_string();
        let ty = op.operand_types().first().or_else(|| op.result_types().first());
        let Some(tile) = self.tile_of(&name, ty) else {
            self.error("lower.type", op.span, "alloc_tile needs a tile type with a shape", None);
            self.result(op);
            return Some(Code::Nothing);
        };
        let addr = op.keyed("addr").map(|a| self.num(a));
        let valid = ["valid_row", "valid_col"].map(|k| op.keyed(k).map(|a| self.num(a)));
        let place = match addr {
            Some(n) => {
                if let Num::Lit(a) = n {
                    self.placer.explicit(a as u64, tile.bytes());
                }
                Place::At(n)
            }
            None => self.placer.auto(&tile, op.span),
        };
        let dst = self.result(op);
        self.shapes.insert(dst, tile.clone());
        Some(Code::Alloc(dst, Box::new(tile), place, valid))
    }

    fn assign(&mut self, op: &ast::Op) -> Option<Code> {
        let target = op.args.iter().find_map(|a| match &a.kind {
            N::TileAt(addr) => Some(*addr),
            _ => None,
        });
        let call = op.call("ins").map(|c| c.args.as_slice());
        let nodes = call.unwrap_or(&op.args);
        let first = nodes.first()?;
        let known = first.as_value().and_then(|v| self.lookup(v));
        let at = match target {
            Some(a) => Num::Lit(a as i64),
            None => match nodes.get(1) {
                Some(n) => self.num(n),
                None => {
                    self.error(
                        "lower.operand",
                        op.span,
                        "tassign takes a tile and an address",
                        None,
                    );
                    return Some(Code::Nothing);
                }
            },
        };
        let Some(tile) = known else {
            // The documents' form: %argN names the N-th operand of the statement that follows.
            if let (Some(v), Num::Lit(a)) = (first.as_value(), at) {
                self.pending.push((v.name.to_string(), a as u64));
                return Some(Code::Nothing);
            }
            self.slot(first);
            return Some(Code::Nothing);
        };
        let shape = self.shapes.get(&tile).cloned();
        if let (Num::Lit(a), Some(t)) = (at, &shape) {
            self.placer.explicit(a as u64, t.bytes());
        }
        let dst = (!op.results.is_empty()).then(|| self.result(op));
        if let (Some(d), Some(t)) = (dst, shape) {
            self.shapes.insert(d, t);
        }
        Some(Code::Assign(dst, tile, at))
    }

    fn reshape(&mut self, op: &ast::Op) -> Option<Code> {
        let src = self.first(op)?;
        let name = op.results.first().map_or("", |r| &r.name).to_string();
        let ty = op.result_types().first();
        let tile = self.tile_of(&name, ty)?;
        let dst = self.result(op);
        self.shapes.insert(dst, tile.clone());
        Some(Code::Reshape(dst, src, Box::new(tile)))
    }

    fn subset(&mut self, op: &ast::Op) -> Option<Code> {
        let sizes: Vec<u32> = op
            .keyed("sizes")
            .and_then(|a| a.as_list())
            .or_else(|| op.args.iter().rev().find_map(|a| a.as_list()))?
            .iter()
            .filter_map(|n| n.as_int().and_then(|v| u32::try_from(v).ok()))
            .collect();
        let (base, indices) = op.args.iter().find_map(|a| match &a.kind {
            N::Index { base, indices } => Some((base, indices)),
            _ => None,
        })?;
        let src = self.value(base);
        let nums: Vec<Num> = indices.iter().map(|n| self.num(n)).collect();
        let ([r, c], [rows, cols]) = (&nums[..], &sizes[..]) else { return None };
        Some(Code::Subset(self.result(op), src, [*r, *c], [*rows, *cols]))
    }
}

/// Element type of a scalar operand's type.
pub(super) fn scalar_dtype(ty: &Type) -> Option<DType> {
    match ty.kind {
        TypeKind::Scalar(Scalar::Index) => Some(DType::I64),
        TypeKind::Scalar(s) => s.dtype(),
        _ => None,
    }
}
