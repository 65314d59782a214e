//! Names to slots: scopes, results, constants.

use super::{Lower, N, Node};
use crate::exec::program::{Code, Num, Slot, Stmt};
use crate::exec::value::Value;
use crate::text::{self as ast, ValueRef};
use ptoemu_core::diag::Span;
use ptoemu_core::similar::similar;
use std::sync::Arc;

impl Lower<'_> {
    pub(super) fn fresh(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }

    pub(super) fn bind(&mut self, name: &Arc<str>, slot: Slot, count: u32) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.clone(), (slot, count));
        }
    }

    pub(super) fn define(&mut self, name: &Arc<str>) -> Slot {
        let slot = self.fresh();
        self.bind(name, slot, 1);
        slot
    }

    pub(super) fn lookup(&self, v: &ValueRef) -> Option<Slot> {
        let (slot, count) = self.scopes.iter().rev().find_map(|s| s.get(&v.name))?;
        let index = v.index.unwrap_or(0);
        (index < *count).then_some(slot + index)
    }

    /// Slot of a used value; an undefined one is an error.
    pub(super) fn value(&mut self, v: &ValueRef) -> Slot {
        if let Some(slot) = self.lookup(v) {
            return slot;
        }
        let message = format!("use of undefined value %{}", v.name);
        let names: Vec<Arc<str>> = self.scopes.iter().flat_map(|s| s.keys().cloned()).collect();
        let near = similar(&v.name, names.iter().map(|n| &**n));
        let help = match near {
            Some(near) => format!("did you mean %{near}?"),
            None => "define it above, in this region or one around it".to_string(),
        };
        self.error("lower.undefined_value", v.span, message, Some(&help));
        self.fresh()
    }

    /// Slot of an argument that must be a value.
    pub(super) fn slot(&mut self, node: &Node) -> Slot {
        match &node.kind {
            N::Value(v) => self.value(v),
            N::Typed { value, .. } => self.slot(value),
            _ => {
                self.error("lower.operand", node.span, "expected a value here", None);
                self.fresh()
            }
        }
    }

    /// A literal, or a value (folded when it is a constant).
    pub(super) fn num(&mut self, node: &Node) -> Num {
        if let Some(v) = node.as_int() {
            return Num::Lit(v as i64);
        }
        if let Some(b) = node.as_bool() {
            return Num::Lit(i64::from(b));
        }
        let slot = self.slot(node);
        self.consts.get(&slot).map_or(Num::Slot(slot), |v| Num::Lit(*v))
    }

    /// Slots of the results, one per result the op binds; missing ones get unnamed slots.
    pub(super) fn results(&mut self, op: &ast::Op, count: usize) -> Vec<Slot> {
        let mut out = Vec::new();
        for r in &op.results {
            let n = r.pack.unwrap_or(1).min(64);
            let taken = self.scopes.last().is_some_and(|s| s.contains_key(&r.name));
            // `%_` discards a result; a bare list may compute a tile again.
            if taken && !self.bare && !r.name.starts_with('_') {
                let message = format!("%{} is defined twice", r.name);
                self.error("lower.redefinition", r.span, message, Some("give it another name"));
            }
            let first = self.slots;
            self.slots += n;
            self.bind(&r.name, first, n);
            out.extend(first..first + n);
        }
        while out.len() < count {
            out.push(self.fresh());
        }
        out
    }

    pub(super) fn result(&mut self, op: &ast::Op) -> Slot {
        self.results(op, 1)[0]
    }

    pub(super) fn constant(&mut self, slot: Slot, value: Value, span: Span, out: &mut Vec<Stmt>) {
        if let Value::Int(v) = value {
            self.consts.insert(slot, v);
        }
        out.push(Stmt { span, code: Code::Const(slot, value) });
    }

    /// Slot of the first plain value among the arguments.
    pub(super) fn first(&mut self, op: &ast::Op) -> Option<Slot> {
        let node = op.args.iter().find(|a| a.as_value().is_some())?;
        Some(self.slot(node))
    }
}
