//! What a caller of the program gives, and which function it calls.

use super::{Entity, Lower};
use crate::exec::program::{ArgKind, Slot, template};
use crate::text::{Type, TypeKind};
use ptoemu_core::diag::Diagnostic;

impl Lower<'_> {
    pub(super) fn argument_kind(&mut self, name: &str, ty: &Type, slot: Slot) -> ArgKind {
        let other = ArgKind::Other(self.source.text.get(ty.span.range()).unwrap_or("").to_string());
        match &ty.kind {
            TypeKind::Ptr { elem, .. } => match elem.dtype() {
                Some(t) => ArgKind::Buffer(t),
                None => other,
            },
            TypeKind::Scalar(s) => ArgKind::Scalar(*s),
            TypeKind::Tile(t) => match t.dtype.dtype() {
                Some(d) => {
                    let tile = template(name, t, d);
                    self.shapes.insert(slot, tile.clone());
                    let place = self.placer.auto(&tile, ty.span);
                    ArgKind::Tile(Box::new(tile), place)
                }
                None => other,
            },
            _ => other,
        }
    }

    pub(super) fn choose_entry(&mut self, funcs: &[Entity<'_>]) -> Option<usize> {
        let mut listed = Vec::new();
        let mut marked = Vec::new();
        for (i, f) in funcs.iter().enumerate() {
            let Entity::Func(_, f) = f else { return Some(i) };
            if self.options.entry.as_deref() == Some(&*f.name.text) {
                return Some(i);
            }
            let private = f.visibility.as_ref().is_some_and(|v| &*v.text == "private");
            if !private {
                listed.push((i, f.name.text.to_string()));
            }
            if f.attrs.as_ref().is_some_and(|a| a.has("pto.entry")) {
                marked.push(i);
            }
        }
        if self.options.entry.is_none() {
            if let [one] = marked[..] {
                return Some(one);
            }
            if let [(one, _)] = listed[..] {
                return Some(one);
            }
        }
        let names: Vec<_> = listed.iter().map(|(_, n)| n.as_str()).collect();
        let message = match &self.options.entry {
            Some(e) => format!("no function `{e}` in this file"),
            None => "the file has several functions and none is the only `pto.entry`".to_string(),
        };
        let first = funcs.iter().find_map(|f| match f {
            Entity::Func(_, f) => Some(f.name.span),
            Entity::Bare(_) => None,
        });
        self.diags.push(
            Diagnostic::error("usage.entry", message)
                .at(&self.source, first.unwrap_or_default(), "first function")
                .help(format!("choose one with --entry: {}", names.join(", "))),
        );
        None
    }
}
