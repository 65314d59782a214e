//! A2/A3 instructions as text: `pto.` before the builtin's name, operands in its order, or the
//! named form `{repeat = 8, dst_blk = 1}`.

use super::{Lower, N};
use crate::exec::arith;
use crate::exec::program::{Code, Num};
use crate::table::{Form, Op, Param, What};
use crate::text::{self as ast, Arg as Node};
use crate::text::{Type, TypeKind};
use ptoemu_core::dtype::DType;
use ptoemu_core::similar::similar;

impl Lower<'_> {
    pub(super) fn instruction(&mut self, name: &str, op: &ast::Op) -> Option<Code> {
        let instr = Op::find(name)?;
        // The 950 spells some instructions alike; those return registers.
        if !op.results.is_empty() {
            return None;
        }
        let types = element_types(instr.form(), op.operand_types());
        let scalar = if instr.form() == Form::CmpS { types[1] } else { types[0] };
        let nums = self.parameters(instr.form(), scalar, op)?;
        if matches!(instr.form(), Form::Flag | Form::Barrier) {
            self.has_sync = true;
        }
        Some(Code::Instr(instr, types, nums))
    }

    fn parameters(&mut self, form: Form, scalar: DType, op: &ast::Op) -> Option<Vec<Num>> {
        let params = form.params();
        let positional: Vec<&Node> =
            op.args.iter().filter(|a| !matches!(a.kind, N::Dict(_) | N::Props(_))).collect();
        let named = op.dicts().next().is_some();
        if positional.len() > params.len() {
            let message = format!(
                "{} takes {} parameters, {} given",
                op.name.text,
                params.len(),
                positional.len()
            );
            self.error("lower.operand", op.span, message, Some(&signature(form)));
            return Some(vec![Num::Lit(0); params.len()]);
        }
        if self.unknown_keys(params, op) {
            return Some(vec![Num::Lit(0); params.len()]);
        }
        let mut out = Vec::with_capacity(params.len());
        for (i, p) in params.iter().enumerate() {
            let given = positional.get(i).copied().into_iter().chain(keyed(op, p));
            let nodes: Vec<&Node> = given.collect();
            if let [_, again, ..] = nodes[..] {
                let message = format!("{} is given `{}` twice", op.name.text, p.key);
                self.error("lower.operand", again.span, message, Some("give it once"));
            }
            out.push(match (nodes.first(), p.default) {
                (Some(n), _) => self.parameter(p, scalar, n),
                (None, Some(d)) if named => Num::Lit(d),
                (None, _) => {
                    let message = format!("{} lacks its parameter `{}`", op.name.text, p.key);
                    self.error("lower.operand", op.span, message, Some(&signature(form)));
                    return Some(vec![Num::Lit(0); params.len()]);
                }
            });
        }
        Some(out)
    }

    /// Reports keys that name no parameter; true if there is one.
    fn unknown_keys(&mut self, params: &[Param], op: &ast::Op) -> bool {
        let before = self.diags.len();
        for e in op.dicts().flat_map(|d| &d.entries) {
            let key = &*e.key.text;
            if !params.iter().any(|p| p.key == key || p.name == key) {
                let keys: Vec<_> = params.iter().map(|p| p.key).collect();
                let help = match similar(key, keys.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("its parameters are {}", keys.join(", ")),
                };
                let message = format!("{} has no parameter `{key}`", op.name.text);
                self.error("lower.operand", e.key.span, message, Some(&help));
            }
        }
        self.diags.len() > before
    }

    fn parameter(&mut self, p: &Param, scalar: DType, node: &Node) -> Num {
        if p.what == What::Scalar {
            return self.scalar(scalar, node);
        }
        if Self::is_name(node) {
            let name = node.as_name().unwrap_or("");
            let value = match p.what {
                What::Order => crate::table::order_code(name),
                What::Pipe => ptoemu_core::stream::Pipe::parse(name).map(|p| p as i64),
                _ => name.strip_prefix("EVENT_ID").and_then(|d| d.parse().ok()),
            };
            return match value {
                Some(v) => Num::Lit(v),
                None => {
                    let message = format!("`{name}` is no value of `{}`", p.key);
                    self.error("lower.operand", node.span, message, None);
                    Num::Lit(0)
                }
            };
        }
        if let N::Float { .. } = node.kind {
            self.error(
                "lower.operand",
                node.span,
                "give a float scalar as an arith.constant",
                None,
            );
            return Num::Lit(0);
        }
        self.num(node)
    }

    /// The scalar operand: a value, or a literal at the element type (bits in hexadecimal).
    fn scalar(&mut self, t: DType, node: &Node) -> Num {
        match &node.kind {
            N::Int { value, hex: false } if t.is_float() => {
                Num::Lit(arith::from_f64(t, *value as f64) as i64)
            }
            N::Float { .. } => {
                let message = "give a float scalar as an arith.constant";
                self.error("lower.operand", node.span, message, None);
                Num::Lit(0)
            }
            N::Value(v) => Num::Slot(self.value(v)),
            _ => self.num(node),
        }
    }
}

/// Every value the dictionaries give a parameter, under either of its names.
fn keyed<'o>(op: &'o ast::Op, p: &'o Param) -> impl Iterator<Item = &'o Node> {
    let entries = op.dicts().flat_map(|d| &d.entries);
    entries
        .filter(|e| *e.key.text == *p.key || *e.key.text == *p.name)
        .filter_map(|e| e.value.as_ref())
}

fn signature(form: Form) -> String {
    let keys: Vec<_> = form.params().iter().map(|p| p.key).collect();
    format!("parameters in order: {}", keys.join(", "))
}

/// Element types of destination and first source, read off the pointer types.
fn element_types(form: Form, types: &[Type]) -> [DType; 2] {
    let mut pointers = types.iter().filter_map(|t| match &t.kind {
        TypeKind::Ptr { elem, .. } => elem.dtype(),
        _ => None,
    });
    let dst = pointers.next().unwrap_or(DType::F32);
    let src = pointers.next().unwrap_or(dst);
    match form {
        // The destination of a compare holds bits; the elements compared decide.
        Form::Cmp2 | Form::CmpS | Form::Sort => [src, src],
        // Offsets, bits and addresses have types of their own.
        Form::Gather | Form::GatherB | Form::Reduce | Form::Merge => [dst, dst],
        _ => [dst, src],
    }
}
