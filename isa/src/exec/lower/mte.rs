//! Transfers of the 950 as text: clauses, and the flat forms with loop registers.

use super::{Lower, N};
use crate::exec::a5::{Bursts, LoopReg, MoveStmt, Padding, Way};
use crate::exec::program::{Code, Num};
use crate::text::{self as ast, Arg as Node, Call, TypeKind};
use ptoemu_core::dtype::DType;
use smallvec::SmallVec;

impl Lower<'_> {
    pub(super) fn mte(&mut self, name: &str, op: &ast::Op) -> Option<Code> {
        let nodes: Vec<&Node> = op
            .args
            .iter()
            .filter(|a| !matches!(a.kind, N::Call(_) | N::Dict(_) | N::Props(_)))
            .collect();
        match (name, nodes.len()) {
            // Source, destination, cache control, length.
            ("mte_gm_ub", 3 | 4) => self.grouped(Way::In, op, &nodes),
            ("mte_ub_gm", 3) => self.grouped(Way::Out, op, &nodes),
            ("mte_ub_ub", 3) => self.grouped(Way::Within, op, &nodes),
            ("mte_gm_ub" | "mte_ub_gm" | "mte_ub_ub", n) => {
                let message = format!("{} does not take {n} operands", op.name.text);
                self.error("lower.operand", op.span, message, Some("source, destination, length, nburst(count, source stride, destination stride)"));
                Some(Code::Nothing)
            }
            ("copy_gm_to_ubuf", 11) => Some(self.flat_in(op, &nodes)),
            ("copy_ubuf_to_gm", 8) => Some(self.flat_out(op, &nodes)),
            ("set_mov_pad_val", 1) if self.is_a5 => {
                Some(self.loop_reg(LoopReg::Pad, false, &nodes))
            }
            _ => {
                let (what, out) = loop_register(name)?;
                Some(self.loop_reg(what, out, &nodes))
            }
        }
    }

    fn loop_reg(&mut self, reg: LoopReg, out: bool, nodes: &[&Node]) -> Code {
        let nums = nodes.iter().map(|n| self.num(n)).collect();
        Code::LoopReg(reg, out, nums)
    }

    fn grouped(&mut self, way: Way, op: &ast::Op, nodes: &[&Node]) -> Option<Code> {
        let [src, dst, .., len] = nodes else { return None };
        let (src, dst, len) = (self.slot(src), self.slot(dst), self.num(len));
        let bursts = op.call("nburst");
        let Some(bursts) = bursts.and_then(|c| self.triple(c)) else {
            self.error(
                "lower.operand",
                op.span,
                "nburst(count, source stride, destination stride) is missing",
                None,
            );
            return Some(Code::Nothing);
        };
        let loops: Vec<&Call> = op.calls("loop").collect();
        let mut dims = SmallVec::new();
        for c in loops {
            match self.triple(c) {
                Some(t) => dims.push(t),
                None => {
                    self.error("lower.operand", op.span, "loop takes a count and two strides", None)
                }
            }
        }
        let pad = op.call("pad").and_then(|c| self.padding(c));
        let elem = elem_of(op);
        Some(Code::Move(Box::new(MoveStmt {
            way,
            src,
            dst,
            len,
            bursts,
            loops: dims,
            registers: false,
            pad,
            elem,
        })))
    }

    fn triple(&mut self, c: &Call) -> Option<Bursts> {
        let nums: Vec<Num> = c.args.iter().map(|a| self.num(a)).collect();
        nums.try_into().ok()
    }

    fn padding(&mut self, c: &Call) -> Option<Padding> {
        let value = self.slot(c.args.first()?);
        let mut side = |i: usize| c.args.get(i).map_or(Num::Lit(0), |a| self.num(a));
        Some(Padding { on: Num::Lit(1), value: Some(value), left: side(1), right: side(2) })
    }

    /// `src, dst, sid, nburst, len, left, right, pad on, cache, source stride, destination stride`.
    fn flat_in(&mut self, op: &ast::Op, nodes: &[&Node]) -> Code {
        let mut n = |i: usize| nodes.get(i).map_or(Num::Lit(0), |a| self.num(a));
        let pad = Padding { on: n(7), value: None, left: n(5), right: n(6) };
        let (len, bursts) = (n(4), [n(3), n(9), n(10)]);
        self.flat(Way::In, op, nodes, len, bursts, Some(pad))
    }

    /// `src, dst, sid, nburst, len, reserved, destination stride, source stride`.
    fn flat_out(&mut self, op: &ast::Op, nodes: &[&Node]) -> Code {
        let mut n = |i: usize| nodes.get(i).map_or(Num::Lit(0), |a| self.num(a));
        let (len, bursts) = (n(4), [n(3), n(7), n(6)]);
        self.flat(Way::Out, op, nodes, len, bursts, None)
    }

    fn flat(
        &mut self,
        way: Way,
        op: &ast::Op,
        nodes: &[&Node],
        len: Num,
        bursts: Bursts,
        pad: Option<Padding>,
    ) -> Code {
        let [src, dst, ..] = nodes else { return Code::Nothing };
        let (src, dst, elem) = (self.slot(src), self.slot(dst), elem_of(op));
        let loops = SmallVec::new();
        Code::Move(Box::new(MoveStmt {
            way,
            src,
            dst,
            len,
            bursts,
            loops,
            registers: true,
            pad,
            elem,
        }))
    }
}

/// Element type of the first pointer.
fn elem_of(op: &ast::Op) -> DType {
    op.operand_types()
        .iter()
        .find_map(|t| match &t.kind {
            TypeKind::Ptr { elem, .. } => elem.dtype(),
            _ => None,
        })
        .unwrap_or(DType::I8)
}

/// `set_loop_size_outtoub` and its relatives; true for the direction out of UB.
fn loop_register(name: &str) -> Option<(LoopReg, bool)> {
    let (what, out) = match name.strip_suffix("_outtoub") {
        Some(w) => (w, false),
        None => (name.strip_suffix("_ubtoout")?, true),
    };
    Some((
        match what {
            "set_loop_size" => LoopReg::Size,
            "set_loop1_stride" => LoopReg::Stride1,
            "set_loop2_stride" => LoopReg::Stride2,
            _ => return None,
        },
        out,
    ))
}
