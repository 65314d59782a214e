//! The `arith` dialect.

use super::{Lower, N};
use crate::exec::arith;
use crate::exec::ops::{Bin, Cast};
use crate::exec::program::{Code, Stmt};
use crate::exec::value::Value;
use crate::text as ast;
use crate::text::Scalar;
use ptoemu_core::dtype::DType;

fn binary(name: &str) -> Option<Bin> {
    Some(match name {
        "addi" => Bin::AddI,
        "subi" => Bin::SubI,
        "muli" => Bin::MulI,
        "divsi" => Bin::DivSI,
        "divui" => Bin::DivUI,
        "ceildivsi" => Bin::CeilDivSI,
        "ceildivui" => Bin::CeilDivUI,
        "floordivsi" => Bin::FloorDivSI,
        "remsi" => Bin::RemSI,
        "remui" => Bin::RemUI,
        "andi" => Bin::AndI,
        "ori" => Bin::OrI,
        "xori" => Bin::XorI,
        "shli" => Bin::ShlI,
        "shrsi" => Bin::ShrSI,
        "shrui" => Bin::ShrUI,
        "minsi" => Bin::MinSI,
        "maxsi" => Bin::MaxSI,
        "minui" => Bin::MinUI,
        "maxui" => Bin::MaxUI,
        "addf" => Bin::AddF,
        "subf" => Bin::SubF,
        "mulf" => Bin::MulF,
        "divf" => Bin::DivF,
        "maximumf" => Bin::MaximumF,
        "minimumf" => Bin::MinimumF,
        "maxnumf" => Bin::MaxNumF,
        "minnumf" => Bin::MinNumF,
        _ => return None,
    })
}

fn conversion(name: &str) -> Option<Cast> {
    Some(match name {
        "extsi" | "index_cast" => Cast::SignExtend,
        "extui" | "index_castui" => Cast::ZeroExtend,
        "trunci" => Cast::Truncate,
        "bitcast" => Cast::Bits,
        "sitofp" => Cast::IntToFloat,
        "uitofp" => Cast::UIntToFloat,
        "fptosi" => Cast::FloatToInt,
        "fptoui" => Cast::FloatToUInt,
        "extf" | "truncf" => Cast::Float,
        _ => return None,
    })
}

impl Lower<'_> {
    pub(super) fn arith(&mut self, name: &str, op: &ast::Op, out: &mut Vec<Stmt>) -> Option<Code> {
        if name == "constant" {
            return self.literal(op, out);
        }
        if let Some(b) = binary(name) {
            let ty = self.operand_scalar(op)?;
            let [a, c] = self.operands(op)?;
            let dst = self.result(op);
            self.fold(b, ty, dst, [a, c]);
            return Some(Code::Bin(b, ty, dst, [a, c]));
        }
        if let Some(c) = conversion(name) {
            let from = self.operand_scalar(op)?;
            let to = op
                .result_types()
                .first()
                .and_then(|t| t.as_scalar())
                .or_else(|| op.operand_types().get(1).and_then(|t| t.as_scalar()));
            let Some(to) = to else {
                self.error("lower.type", op.span, format!("arith.{name} needs `T to U`"), None);
                return Some(Code::Nothing);
            };
            let [src] = self.operands(op)?;
            let dst = self.result(op);
            if let Some(v) = self.consts.get(&src)
                && let Ok(Value::Int(v)) = arith::cast(c, from, to, &Value::Int(*v))
            {
                self.consts.insert(dst, v);
            }
            return Some(Code::Cast(c, from, to, dst, src));
        }
        match name {
            "negf" => {
                let ty = self.operand_scalar(op)?;
                let [src] = self.operands(op)?;
                Some(Code::NegF(ty, self.result(op), src))
            }
            "select" => {
                let slots = self.operands(op)?;
                Some(Code::Select(self.result(op), slots))
            }
            "cmpi" | "cmpf" => self.comparison(name == "cmpf", op),
            _ => None,
        }
    }

    fn comparison(&mut self, float: bool, op: &ast::Op) -> Option<Code> {
        let word = op.args.first().and_then(|a| a.as_name()).unwrap_or("").to_string();
        let Some(pred) = arith::pred(&word, float) else {
            let span = op.args.first().map_or(op.span, |a| a.span);
            self.error("lower.operand", span, format!("unknown predicate `{word}`"), None);
            return Some(Code::Nothing);
        };
        let ty = self.operand_scalar(op)?;
        let pair = self.operands(op)?;
        Some(Code::Cmp(pred, ty, self.result(op), pair))
    }

    /// Constants make constants: addresses and shapes are often computed from literals.
    fn fold(&mut self, op: Bin, ty: Scalar, dst: u32, args: [u32; 2]) {
        let (Some(a), Some(b)) = (self.consts.get(&args[0]), self.consts.get(&args[1])) else {
            return;
        };
        if let Ok(Value::Int(v)) = arith::bin(op, ty, &Value::Int(*a), &Value::Int(*b)) {
            self.consts.insert(dst, v);
        }
    }

    fn operand_scalar(&mut self, op: &ast::Op) -> Option<Scalar> {
        let ty = op.operand_types().first().and_then(|t| t.as_scalar());
        if ty.is_none() {
            self.error("lower.type", op.span, "expected a scalar type after `:`", None);
        }
        Some(ty.unwrap_or(Scalar::Index))
    }

    /// Exactly `N` value operands.
    pub(super) fn operands<const COUNT: usize>(&mut self, op: &ast::Op) -> Option<[u32; COUNT]> {
        let nodes: Vec<_> = op.args.iter().filter(|a| a.as_value().is_some()).collect();
        if nodes.len() != COUNT {
            let name = &op.name.text;
            let message = format!("{name} takes {COUNT} operands, {} given", nodes.len());
            self.error("lower.operand", op.span, message, None);
        }
        let mut out = [0; COUNT];
        for (o, n) in out.iter_mut().zip(nodes) {
            *o = self.slot(n);
        }
        Some(out)
    }

    fn literal(&mut self, op: &ast::Op, out: &mut Vec<Stmt>) -> Option<Code> {
        let node = op.args.first();
        let (node, inner) = match node.map(|n| (&n.kind, n)) {
            Some((N::Typed { value, ty }, _)) => (Some(&**value), ty.as_scalar()),
            Some((_, n)) => (Some(n), None),
            None => (None, None),
        };
        let ty = inner
            .or_else(|| op.operand_types().first().and_then(|t| t.as_scalar()))
            .or_else(|| op.result_types().first().and_then(|t| t.as_scalar()));
        let value = node.and_then(|n| literal_value(&n.kind, ty));
        let Some(value) = value else {
            self.error("lower.literal", op.span, "not a literal of its type", None);
            self.results(op, 1);
            return Some(Code::Nothing);
        };
        let dst = self.result(op);
        self.constant(dst, value, op.span, out);
        Some(Code::Nothing)
    }
}

/// A literal at its type; a hexadecimal integer of float type gives the bits.
pub(super) fn literal_value(node: &N, ty: Option<Scalar>) -> Option<Value> {
    let float = ty.and_then(Scalar::dtype).filter(|t| t.is_float());
    Some(match (node, float) {
        (N::Bool(b), None) => Value::Int(i64::from(*b)),
        (N::Int { value, hex: true }, Some(t)) => Value::Float(t, *value as u64),
        (N::Int { value, .. }, Some(t)) => Value::Float(t, arith::from_f64(t, *value as f64)),
        (N::Int { value, .. }, None) => {
            Value::Int(arith::wrap(*value as i64, ty.unwrap_or(Scalar::Index)))
        }
        (N::Float { text, value }, Some(t)) => Value::Float(
            t,
            match t {
                DType::F32 => u64::from(text.parse::<f32>().ok()?.to_bits()),
                _ => arith::from_f64(t, *value),
            },
        ),
        _ => return None,
    })
}
