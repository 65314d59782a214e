//! The `scf` and `func` dialects.

use super::{Lower, N};
use crate::exec::program::{Code, Slot};
use crate::text::{self as ast, Arg as Node};
use std::sync::Arc;

impl Lower<'_> {
    pub(super) fn flow(&mut self, name: &str, op: &ast::Op) -> Option<Code> {
        match name {
            "for" => self.for_loop(op),
            "if" => self.branch(op),
            "while" => self.while_loop(op),
            "yield" => Some(Code::Yield(self.values(&op.args))),
            "condition" => {
                let mut slots = self.values(&op.args);
                let cond = if slots.is_empty() { self.missing(op) } else { slots.remove(0) };
                Some(Code::Condition(cond, slots))
            }
            "return" => Some(Code::Return(self.values(&op.args))),
            "call" => self.call(op),
            _ => None,
        }
    }

    fn missing(&mut self, op: &ast::Op) -> Slot {
        self.error("lower.operand", op.span, format!("{} lacks an operand", op.name.text), None);
        self.fresh()
    }

    /// Slots of all plain values, also those inside parentheses.
    pub(super) fn values(&mut self, nodes: &[Node]) -> Vec<Slot> {
        let mut out = Vec::new();
        for n in nodes {
            match &n.kind {
                N::Value(v) => out.push(self.value(v)),
                N::Call(c) => out.extend(self.values(&c.args)),
                _ => {}
            }
        }
        out
    }

    /// `(%a = %x, %b = %y)`: names to bind inside, with the slots of their initial values.
    fn bindings(&mut self, nodes: &[Node]) -> Vec<(Arc<str>, Slot)> {
        let mut out = Vec::new();
        for n in nodes {
            if let N::Bind { name, value } = &n.kind {
                let init = self.slot(value);
                out.push((name.name.clone(), init));
            }
        }
        out
    }

    fn for_loop(&mut self, op: &ast::Op) -> Option<Code> {
        let Some(Node { kind: N::Bind { name, value }, .. }) = op.args.first() else {
            self.error(
                "lower.operand",
                op.span,
                "scf.for needs `%i = %lower to %upper step %s`",
                None,
            );
            return Some(Code::Nothing);
        };
        let lower = self.slot(value);
        let rest: Vec<Slot> = self.values(
            &op.args[1..].iter().filter(|a| a.as_value().is_some()).cloned().collect::<Vec<_>>(),
        );
        let [upper, step] = rest[..] else {
            self.error("lower.operand", op.span, "scf.for needs an upper bound and a step", None);
            return Some(Code::Nothing);
        };
        let inits = op.call("iter_args").map_or(Vec::new(), |c| self.bindings(&c.args));
        let iv = self.fresh();
        let mut names = vec![(name.name.clone(), iv)];
        let mut carried = Vec::new();
        for (name, init) in inits {
            let slot = self.fresh();
            self.inherit(slot, init);
            names.push((name, slot));
            carried.push((slot, init));
        }
        let body = op.regions.first().map_or(Vec::new(), |r| self.scoped(&r.blocks, &names));
        let results = self.results(op, carried.len());
        for (r, (slot, _)) in results.iter().zip(&carried) {
            self.inherit(*r, *slot);
        }
        Some(Code::For { iv, range: [lower, upper, step], carried, results, body })
    }

    /// A carried tile keeps the shape it came with.
    fn inherit(&mut self, slot: Slot, from: Slot) {
        if let Some(t) = self.shapes.get(&from).cloned() {
            self.shapes.insert(slot, t);
        }
    }

    fn branch(&mut self, op: &ast::Op) -> Option<Code> {
        let cond = match self.first(op) {
            Some(c) => c,
            None => self.missing(op),
        };
        let mut bodies = op.regions.iter().map(|r| &r.blocks);
        let then = bodies.next().map_or(Vec::new(), |b| self.scoped(b, &[]));
        let els = bodies.next().map_or(Vec::new(), |b| self.scoped(b, &[]));
        let results = self.results(op, 0);
        Some(Code::If { cond, then, els, results })
    }

    fn while_loop(&mut self, op: &ast::Op) -> Option<Code> {
        let inits = op
            .args
            .iter()
            .find_map(|a| match &a.kind {
                N::Call(c) => Some(c.args.as_slice()),
                _ => None,
            })
            .map_or(Vec::new(), |args| self.bindings(args));
        let [first, second] = &op.regions[..] else {
            self.error("lower.operand", op.span, "scf.while needs two regions", None);
            return Some(Code::Nothing);
        };
        let mut carried = Vec::new();
        let mut names = Vec::new();
        for (name, init) in inits {
            let slot = self.fresh();
            names.push((name, slot));
            carried.push((slot, init));
        }
        let before = self.scoped(&first.blocks, &names);
        let mut after_args = Vec::new();
        let mut names = Vec::new();
        for (name, _) in second.blocks.first().map_or(&[][..], |b| &b.args) {
            let slot = self.fresh();
            names.push((name.text.clone(), slot));
            after_args.push(slot);
        }
        let after = self.scoped(&second.blocks, &names);
        let results = self.results(op, 0);
        Some(Code::While { carried, before, after_args, after, results })
    }

    fn call(&mut self, op: &ast::Op) -> Option<Code> {
        let callee = op.args.iter().find_map(|a| match &a.kind {
            N::Symbol(s) => Some((s.to_string(), a.span)),
            _ => None,
        });
        let (name, span) = callee.unwrap_or_default();
        let Some(&func) = self.names.get(&name) else {
            self.error("lower.call", span, format!("no function @{name} with a body"), None);
            return Some(Code::Nothing);
        };
        let args = self.values(&op.args);
        let results = self.results(op, 0);
        self.placer.calls = true;
        Some(Code::Call { func, args, results })
    }
}
