//! Tile operations in all their spellings: `ins(..) outs(..)`, `%dst = op %src : T -> T`, and the
//! listing form `op %dst, %src : T`.

use super::memory::scalar_dtype;
use super::{Lower, N};
use crate::exec::program::{Arg, ArgKind, Code, Num, Operand, Place, Slot, TileStmt};
use crate::text::Type;
use crate::text::{self as ast, Arg as Node, ValueRef};
use crate::tile::{self, Layout, Tile, TileOp, Tmp};
use ptoemu_core::similar::similar;

/// Operands of one statement with their types as written.
struct Spelled<'o> {
    ins: Vec<(&'o Node, Option<&'o Type>)>,
    outs: Vec<(&'o Node, Option<&'o Type>)>,
    result: Option<Option<&'o Type>>,
}

impl Lower<'_> {
    pub(super) fn tile_op(&mut self, name: &str, op: &ast::Op) -> Option<Code> {
        let tile_op = tile::find(form_of(name, op))?;
        let spelled = spelled(op);
        self.take_pending(&spelled);
        let ins: Vec<Operand> = spelled.ins.iter().map(|(n, t)| self.operand(n, *t)).collect();
        let outs: Vec<Operand> = spelled.outs.iter().map(|(n, t)| self.operand(n, *t)).collect();
        let tmp = self.missing_tmp(tile_op, &ins, &spelled.ins, op);
        let result = match spelled.result {
            Some(ty) => self.result_tile(tile_op, &ins, ty, op),
            None => None,
        };
        if outs.is_empty() && result.is_none() {
            let message = format!("{} has no destination", op.name.text);
            self.error(
                "lower.operand",
                op.span,
                message,
                Some("write outs(%dst : T), or %dst = ..."),
            );
        }
        self.misspelt_attributes(op);
        let attrs = attributes(op);
        let name = name.to_string();
        Some(Code::Tile(Box::new(TileStmt { name, op: tile_op, ins, outs, result, tmp, attrs })))
    }

    fn operand(&mut self, node: &Node, ty: Option<&Type>) -> Operand {
        let scalar = ty.and_then(scalar_dtype);
        let slot = match (node.as_value(), self.bare) {
            (Some(v), true) if self.lookup(v).is_none() => self.tile_argument(v, ty),
            (Some(v), _) => self.value(v),
            (None, _) => self.literal_operand(node, ty),
        };
        self.agrees(slot, ty);
        Operand { slot, scalar, span: node.span }
    }

    fn literal_operand(&mut self, node: &Node, ty: Option<&Type>) -> Slot {
        let slot = self.fresh();
        match super::scalar::literal_value(&node.kind, ty.and_then(|t| t.as_scalar())) {
            Some(v) => self.literals.push((slot, v, node.span)),
            None => self.error("lower.operand", node.span, "expected a value or a literal", None),
        }
        slot
    }

    /// In a file without functions, a tile used but never defined is an argument of that name.
    fn tile_argument(&mut self, v: &ValueRef, ty: Option<&Type>) -> Slot {
        let slot = self.define(&v.name);
        let Some(tile) = self.tile_of(&v.name, ty) else {
            let message = format!("the shape of %{} is not known", v.name);
            let help = format!(
                "define it with pto.alloc_tile, write its type, or give --arg {}=zeros:f32[16x16]",
                v.name
            );
            self.error("lower.undefined_value", v.span, message, Some(&help));
            return slot;
        };
        let pending = self.pending.iter().position(|(n, _)| **n == *v.name);
        let place = match pending {
            Some(i) => {
                let (_, addr) = self.pending.remove(i);
                self.placer.explicit(addr, tile.bytes());
                Place::At(Num::Lit(addr as i64))
            }
            None => self.placer.auto(&tile, v.span),
        };
        self.shapes.insert(slot, tile.clone());
        let kind = ArgKind::Tile(Box::new(tile), place);
        self.args.push(Arg { name: v.name.to_string(), slot, kind, span: v.span });
        slot
    }

    /// `pto.tassign %arg0, @tile(..)` names operands by position when the name is not used itself.
    fn take_pending(&mut self, spelled: &Spelled<'_>) {
        let names: Vec<String> = spelled
            .ins
            .iter()
            .chain(&spelled.outs)
            .filter_map(|(n, _)| n.as_value().map(|v| v.name.to_string()))
            .collect();
        for (name, _) in &mut self.pending {
            if names.contains(name) {
                continue;
            }
            let index = name.strip_prefix("arg").and_then(|d| d.parse::<usize>().ok());
            if let Some(real) = index.and_then(|i| names.get(i)) {
                *name = real.clone();
            }
        }
    }

    /// The type written at a use must be the type of the definition.
    fn agrees(&mut self, slot: Slot, ty: Option<&Type>) {
        let (Some(ty), Some(def)) = (ty, self.shapes.get(&slot)) else { return };
        let Some(t) = ty.as_tile() else { return };
        let same = t.dtype.dtype() == Some(def.dtype)
            && t.rows == u64::from(def.rows)
            && t.cols == u64::from(def.cols);
        if !same {
            let message = format!(
                "%{} is a {}x{} tile of {}, the type here says {}x{} of {}",
                def.name,
                def.rows,
                def.cols,
                def.dtype,
                t.rows,
                t.cols,
                t.dtype.dtype().map_or("?", |t| t.name())
            );
            self.error("lower.type", ty.span, message, Some("write the type of the definition"));
        }
    }

    /// A scratch tile the program left out although the operation needs one: as large as the source.
    fn missing_tmp(
        &mut self,
        tile_op: &TileOp,
        ins: &[Operand],
        spelled: &[(&Node, Option<&Type>)],
        op: &ast::Op,
    ) -> Option<(Box<Tile>, Place)> {
        let tiles = spelled.iter().filter(|(_, t)| t.and_then(scalar_dtype).is_none()).count();
        if tile_op.sig.tmp != Tmp::Required || tiles > usize::from(tile_op.sig.srcs) {
            return None;
        }
        let mut tile = self.shapes.get(&ins.first()?.slot)?.clone();
        tile.name = format!("{}.tmp", tile_op.name);
        (tile.valid_rows, tile.valid_cols) = (tile.rows, tile.cols);
        let place = self.placer.auto(&tile, op.span);
        Some((Box::new(tile), place))
    }

    /// Storage for the result of the SSA form.
    fn result_tile(
        &mut self,
        tile_op: &TileOp,
        ins: &[Operand],
        ty: Option<&Type>,
        op: &ast::Op,
    ) -> Option<(Slot, Box<Tile>, Place)> {
        let name = op.results.first().map_or("", |r| &r.name).to_string();
        let like = ins.first().and_then(|o| self.shapes.get(&o.slot)).cloned();
        let tile = self.tile_of(&name, ty).or_else(|| like.map(|t| shaped_like(tile_op, t, &name)));
        let pending = self.pending.iter().position(|(n, _)| *n == name);
        let dst = self.result(op);
        let Some(tile) = tile else {
            let message = format!("the shape of %{name} is not known");
            self.error("lower.type", op.span, message, Some("write the type of the result"));
            return None;
        };
        let place = match pending {
            Some(i) => {
                let (_, addr) = self.pending.remove(i);
                self.placer.explicit(addr, tile.bytes());
                Place::At(Num::Lit(addr as i64))
            }
            None => self.placer.auto(&tile, op.span),
        };
        self.shapes.insert(dst, tile.clone());
        Some((dst, Box::new(tile), place))
    }

    /// Attributes that mean nothing here are let pass, but not a misspelt one that would.
    fn misspelt_attributes(&mut self, op: &ast::Op) {
        for e in op.dicts().flat_map(|d| &d.entries) {
            let key = &*e.key.text;
            if MEANINGFUL.contains(&key) {
                continue;
            }
            if let Some(near) = similar(key, MEANINGFUL.iter().copied()) {
                let message = format!("{} has no attribute `{key}`", op.name.text);
                let help = format!("did you mean `{near}`?");
                self.error("lower.operand", e.key.span, message, Some(&help));
            }
        }
    }
}

/// The row of an operation whose forms differ by their operands.
fn form_of<'n>(name: &'n str, op: &ast::Op) -> &'n str {
    let has =
        |keys: [&str; 2]| op.dicts().flat_map(|d| &d.entries).any(|e| keys.contains(&&*e.key.text));
    let number = |t: &Type| scalar_dtype(t).is_some();
    match name {
        "tgather" if has(["maskPattern", "mask_pattern"]) => "tgather_mask",
        "tmrgsort" if spelled(op).ins.iter().any(|(_, t)| t.is_some_and(number)) => {
            "tmrgsort_block"
        }
        _ => name,
    }
}

/// Attributes that change what a tile operation computes, in all their spellings.
const MEANINGFUL: [&str; 22] = [
    "atomicType",
    "atomic_type",
    "atomic",
    "descending",
    "upperOrLower",
    "upper",
    "maskPattern",
    "mask_pattern",
    "exhausted",
    "rmode",
    "round_mode",
    "rnd",
    "sat_mode",
    "satmode",
    "sat",
    "saturation_mode",
    "isBinary",
    "is_binary",
    "binary",
    "cmpMode",
    "cmp_mode",
    "cmp",
];

/// A result whose type the text leaves open: like the source, one column for a row reduction.
fn shaped_like(op: &TileOp, mut t: Tile, name: &str) -> Tile {
    t.name = name.to_string();
    if op.reduces_rows() {
        t.layout = Layout::ColMajor;
        (t.cols, t.valid_cols, t.static_cols) = (1, 1, true);
    }
    t
}

fn spelled(op: &ast::Op) -> Spelled<'_> {
    if op.call("ins").is_some() || op.call("outs").is_some() {
        let side = |name: &str| {
            op.call(name).map_or(Vec::new(), |c| {
                let nodes = c.args.iter().filter(|a| is_operand(a));
                nodes.enumerate().map(|(i, n)| (n, c.types.get(i))).collect()
            })
        };
        let (ins, outs): (Vec<_>, Vec<_>) = (side("ins"), side("outs"));
        let result = (outs.is_empty() && !op.results.is_empty()).then(|| op.result_types().first());
        return Spelled { ins, outs, result };
    }
    let nodes: Vec<&Node> = op.args.iter().filter(|a| is_operand(a)).collect();
    let types = op.operand_types();
    if op.results.is_empty() {
        // Listing form: the destination comes first, one type for all if only one is written.
        let ty = |i: usize| types.get(i).or_else(|| types.first().filter(|_| types.len() == 1));
        let mut all = nodes.iter().enumerate().map(|(i, n)| (*n, ty(i)));
        let outs = all.next().into_iter().collect();
        return Spelled { outs, ins: all.collect(), result: None };
    }
    let ins = nodes.iter().enumerate().map(|(i, n)| (*n, types.get(i))).collect();
    Spelled { ins, outs: Vec::new(), result: Some(op.result_types().first()) }
}

fn is_operand(node: &Node) -> bool {
    matches!(
        node.kind,
        N::Value(_) | N::Int { .. } | N::Float { .. } | N::Bool(_) | N::Typed { .. }
    )
}

/// Attributes as name and value text.
fn attributes(op: &ast::Op) -> Vec<(String, String)> {
    let text = |a: &Node| match (a.as_name(), a.as_int(), a.as_bool()) {
        (Some(n), _, _) => n.to_string(),
        (_, Some(i), _) => i.to_string(),
        (_, _, Some(b)) => b.to_string(),
        _ => String::new(),
    };
    op.dicts()
        .flat_map(|d| &d.entries)
        .map(|e| (e.key.text.to_string(), e.value.as_ref().map_or("true".into(), text)))
        .collect()
}
