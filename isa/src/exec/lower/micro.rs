//! Micro-ops of the 950 as text: operands by kind, modes as strings or attributes.

use super::{Lower, N};
use crate::a5::{Barrier, Cmp, Dist, Form, Kind, Mode, Mods, Op, Pattern, Step, parse_part};
use crate::exec::a5::{Address, MicroStmt};
use crate::exec::program::{Code, Num, Stmt};
use crate::text::{self as ast, Arg as Node, Type, TypeKind};
use crate::tile::{Family, Limits};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Round;

use smallvec::SmallVec;

impl Lower<'_> {
    /// A micro-op, if the op is one: it names registers, or stands in a vecscope, or exists on the
    /// 950 alone.
    pub(super) fn micro(&mut self, name: &str, op: &ast::Op) -> Option<Code> {
        match name {
            "vecscope" => return Some(self.vecscope(op, |l, r| l.scoped(&r.blocks, &[]))),
            "strict_vecscope" => return Some(self.vecscope(op, |l, r| l.isolated(op, r))),
            _ => {}
        }
        let (micro, cmp) = find(name)?;
        let registers = op.operand_types().iter().chain(op.result_types()).any(is_register);
        // Sorting is spelled alike on both families; only the 950 has so much UB.
        let sorts = matches!(micro.form(), Form::Sort | Form::Merge | Form::ReadVms);
        let a5 =
            self.is_a5 || sorts && self.options.limits.auto_end > Limits::of(Family::A2A3).ub_bytes;
        if !registers && !self.vecscope && !a5 && crate::table::Op::find(name).is_some() {
            return None;
        }
        let form = micro.form();
        self.check_scope(form, op);
        let (names, nodes): (Vec<&Node>, Vec<&Node>) = op
            .args
            .iter()
            .filter(|a| !matches!(a.kind, N::Dict(_) | N::Props(_)))
            .partition(|a| Self::is_name(a));
        let mut step = self.types(micro, op);
        step.mods.cmp = cmp.unwrap_or_default();
        self.modes(form, op, &names, &mut step.mods);
        if form == Form::Dup && op.operand_types().first().is_some_and(is_vreg) {
            step.mods.dist = Dist::Norm;
        }
        let id = self.micros;
        self.micros += 1;
        let mut stmt = MicroStmt {
            id,
            step,
            v: SmallVec::new(),
            m: SmallVec::new(),
            a: None,
            s: None,
            n: SmallVec::new(),
            p: SmallVec::new(),
            results: SmallVec::new(),
        };
        if !form.operands().is_empty() || !nodes.is_empty() {
            self.micro_operands(op, &nodes, &mut stmt);
        }
        self.micro_results(op, &mut stmt);
        Some(Code::Micro(Box::new(stmt)))
    }

    /// Registers live in a vecscope; sorting runs outside.
    fn check_scope(&mut self, form: Form, op: &ast::Op) {
        let anywhere = matches!(form, Form::Sort | Form::Merge | Form::ReadVms);
        if !(self.vecscope || self.section || self.bare || anywhere) {
            let message = format!("{} outside a vecscope", op.name.text);
            let help = "wrap it in pto.vecscope { .. }; registers live in one vecscope";
            self.error("lower.vecscope", op.span, message, Some(help));
        }
    }

    fn vecscope(
        &mut self,
        op: &ast::Op,
        body: impl FnOnce(&mut Self, &ast::Region) -> Vec<Stmt>,
    ) -> Code {
        if self.vecscope {
            self.error(
                "lower.vecscope",
                op.span,
                "a vecscope inside a vecscope",
                Some("end the outer one first"),
            );
        }
        let outer = std::mem::replace(&mut self.vecscope, true);
        let body = op.regions.first().map_or(Vec::new(), |r| body(self, r));
        self.vecscope = outer;
        Code::Vecscope(body)
    }

    /// A region that sees its block arguments and nothing else.
    fn isolated(&mut self, op: &ast::Op, r: &ast::Region) -> Vec<Stmt> {
        let given = self.values(&op.args);
        let args = r.blocks.first().map_or(&[][..], |b| &b.args);
        if given.len() != args.len() {
            let message = format!("{} values for {} block arguments", given.len(), args.len());
            self.error("lower.operand", op.span, message, None);
        }
        let mut names = Vec::new();
        let mut out = Vec::new();
        for ((name, _), from) in args.iter().zip(given) {
            let slot = self.fresh();
            out.push(Stmt { span: name.span, code: Code::Copy(slot, from) });
            names.push((name.text.clone(), slot));
        }
        let outer = std::mem::take(&mut self.scopes);
        out.extend(self.scoped(&r.blocks, &names));
        self.scopes = outer;
        out
    }

    fn micro_operands(&mut self, op: &ast::Op, nodes: &[&Node], stmt: &mut MicroStmt) {
        let kinds = stmt.step.op.form().operands();
        if nodes.len() != kinds.len() {
            let message =
                format!("{} takes {} operands, {} given", op.name.text, kinds.len(), nodes.len());
            let names: Vec<_> = kinds.iter().map(|k| kind_name(*k)).collect();
            let help = format!("in order: {}", names.join(", "));
            self.error("lower.operand", op.span, message, Some(&help));
            return;
        }
        let vector_dup = stmt.step.mods.dist == Dist::Norm;
        for (k, node) in kinds.iter().zip(nodes) {
            match k {
                Kind::V => stmt.v.push(self.slot(node)),
                Kind::SV if vector_dup => stmt.v.push(self.slot(node)),
                Kind::M => stmt.m.push(self.slot(node)),
                Kind::A => stmt.a = Some(self.slot(node)),
                Kind::S | Kind::SV => stmt.s = Some(self.micro_scalar(node, stmt.step.dt)),
                Kind::I => {
                    let n = self.num(node);
                    stmt.n.push(n);
                }
                Kind::P => {
                    let a = self.address(node);
                    stmt.p.push(a);
                }
            }
        }
    }

    fn micro_scalar(&mut self, node: &Node, t: DType) -> u32 {
        if node.as_value().is_some() {
            return self.slot(node);
        }
        let slot = self.fresh();
        let ty = crate::text::Scalar::from_name(t.name());
        match super::scalar::literal_value(&node.kind, ty) {
            Some(v) => self.literals.push((slot, v, node.span)),
            None => self.error("lower.operand", node.span, "expected a scalar", None),
        }
        slot
    }

    fn address(&mut self, node: &Node) -> Address {
        match &node.kind {
            N::Index { base, indices } => {
                let ptr = self.value(base);
                let index = indices.first().map_or(Num::Lit(0), |i| self.num(i));
                Address { ptr, index }
            }
            _ => Address { ptr: self.slot(node), index: Num::Lit(0) },
        }
    }

    fn micro_results(&mut self, op: &ast::Op, stmt: &mut MicroStmt) {
        let kinds = stmt.step.op.form().results();
        let slots = self.results(op, kinds.len());
        let based = slots.len() == kinds.len() + 1 && stmt.step.mods.post;
        if slots.len() != kinds.len() && !based {
            let message =
                format!("{} has {} results, {} bound", op.name.text, kinds.len(), slots.len());
            self.error("lower.operand", op.span, message, None);
        }
        let kinds = kinds.iter().copied().chain(based.then_some(Kind::P));
        stmt.results = kinds.zip(slots).collect();
    }

    /// Element types and predicate granularity, from the registers and pointers of the signature.
    fn types(&mut self, micro: Op, op: &ast::Op) -> Step {
        let pick = |types: &[Type], f: fn(&TypeKind) -> Option<DType>| -> Vec<DType> {
            types.iter().filter_map(|t| f(&t.kind)).collect()
        };
        let vreg = |k: &TypeKind| match k {
            TypeKind::Vreg { elem, .. } => elem.dtype(),
            _ => None,
        };
        let ptr = |k: &TypeKind| match k {
            TypeKind::Ptr { elem, .. } | TypeKind::MemRef { elem, .. } => elem.dtype(),
            _ => None,
        };
        self.check_vregs(op);
        let (ins, outs) = (pick(op.operand_types(), vreg), pick(op.result_types(), vreg));
        let ptrs = pick(op.operand_types(), ptr);
        let form = micro.form();
        // The type that decides: memory for indexed loads, the counted bytes of a histogram, the
        // scores of a sort.
        let st = match form {
            Form::Gather | Form::Load | Form::Load2 | Form::LoadB => ptrs.first().copied(),
            Form::Histogram => ins.get(1).copied(),
            Form::Sort | Form::Merge => ptrs.get(1).copied(),
            _ => ins.first().copied(),
        };
        let st = st.or(outs.first().copied()).or(ptrs.first().copied());
        let dt = outs.first().copied().or(st).unwrap_or(DType::I8);
        let st = st.unwrap_or(dt);
        let mask =
            op.operand_types().iter().rev().chain(op.result_types()).find_map(|t| match t.kind {
                TypeKind::Mask { bits } => bits.map(|b| b / 8),
                _ => None,
            });
        let gran = micro.gran().or(mask).unwrap_or(st.size().min(4) as u8);
        self.check_types(micro, op, st, dt);
        Step { op: micro, dt, st, gran, mods: Mods::default() }
    }

    fn check_types(&mut self, micro: Op, op: &ast::Op, st: DType, dt: DType) {
        if !micro.row().accepts(st) {
            let names: Vec<_> = micro.row().types.iter().map(|t| t.name()).collect();
            let message = format!("{} does not take {st} on the 950", op.name.text);
            self.error(
                "params.dtype",
                op.span,
                message,
                Some(&format!("it takes {}", names.join(", "))),
            );
        }
        if micro.row().lanewise() && dt.size() != st.size() {
            let message = format!("{} of {st} cannot give {dt}", op.name.text);
            self.error("lower.type", op.span, message, Some("result and sources have one width"));
        }
    }

    /// A vector register type must have an element the emulator has and 256 bytes.
    fn check_vregs(&mut self, op: &ast::Op) {
        for t in op.operand_types().iter().chain(op.result_types()) {
            let TypeKind::Vreg { lanes, elem } = &t.kind else { continue };
            match elem.dtype() {
                None => self.error(
                    "unsupported",
                    t.span,
                    "registers of this element type are not executed",
                    None,
                ),
                Some(d) if u64::from(*lanes) * d.size() as u64 != 256 => {
                    let help = format!("write {}x{}", 256 / d.size(), d);
                    self.error(
                        "lower.type",
                        t.span,
                        "a vector register has 256 bytes",
                        Some(&help),
                    );
                }
                Some(_) => {}
            }
        }
    }

    fn modes(&mut self, form: Form, op: &ast::Op, names: &[&Node], mods: &mut Mods) {
        let keys = [
            "dist",
            "part",
            "position",
            "pos",
            "bin",
            "order",
            "cmp",
            "rnd",
            "round_mode",
            "sat",
            "mode",
            "pattern",
        ];
        let attrs: Vec<(&str, &Node)> =
            keys.iter().filter_map(|k| op.attr(k).map(|v| (*k, v))).collect();
        for e in op.dicts().flat_map(|d| &d.entries) {
            if !keys.contains(&&*e.key.text) {
                let message = format!("{} has no attribute `{}`", op.name.text, e.key.text);
                self.error("lower.operand", e.key.span, message, None);
            }
        }
        for (key, node) in attrs.into_iter().chain(names.iter().map(|n| ("", *n))) {
            let text = node.as_name().unwrap_or("");
            if !set_mode(form.mode(), key, text, mods) {
                let message = format!("`{text}` is no mode of {}", op.name.text);
                let help = mode_help(form.mode());
                self.error("lower.operand", node.span, message, Some(&help));
            }
        }
    }
}

/// A micro-op by name; `vcmp_eq` is `vcmp` with its comparison.
fn find(name: &str) -> Option<(Op, Option<Cmp>)> {
    if let Some(op) = Op::find(name) {
        return Some((op, None));
    }
    let (base, cmp) = name.rsplit_once('_')?;
    let op = Op::find(base).filter(|o| o.form().mode() == Mode::Cmp)?;
    Some((op, Some(Cmp::parse(cmp)?)))
}

fn is_register(t: &Type) -> bool {
    matches!(t.kind, TypeKind::Vreg { .. } | TypeKind::Mask { .. } | TypeKind::Align)
}

fn is_vreg(t: &Type) -> bool {
    matches!(t.kind, TypeKind::Vreg { .. })
}

fn kind_name(k: Kind) -> &'static str {
    match k {
        Kind::V => "a vector register",
        Kind::M => "a predicate",
        Kind::A => "an align register",
        Kind::S => "a scalar",
        Kind::SV => "a scalar or a vector register",
        Kind::I => "an integer",
        Kind::P => "a UB pointer",
    }
}

fn set_mode(mode: Mode, key: &str, text: &str, mods: &mut Mods) -> bool {
    match text {
        "POST_UPDATE" => {
            mods.post = true;
            return true;
        }
        "NO_POST_UPDATE" | "MODE_ZEROING" => return true,
        _ => {}
    }
    fn put<T>(slot: &mut T, v: Option<T>) -> bool {
        v.map(|v| *slot = v).is_some()
    }
    match (mode, key) {
        (Mode::Dist, _) => put(&mut mods.dist, Dist::parse(text)),
        (Mode::Pattern, _) => put(&mut mods.pattern, Pattern::parse(text)),
        (Mode::Cmp, _) => put(&mut mods.cmp, Cmp::parse(text)),
        (Mode::Part, _) | (Mode::Convert, "part") => put(&mut mods.part, parse_part(text)),
        (Mode::Convert, "sat") => match text {
            "SAT" | "RS_ENABLE" => put(&mut mods.sat, Some(Some(true))),
            "NOSAT" | "RS_DISABLE" => put(&mut mods.sat, Some(Some(false))),
            _ => false,
        },
        (Mode::Convert, "rnd" | "round_mode") | (Mode::Round, _) => {
            put(&mut mods.round, rounding(text).map(Some))
        }
        (Mode::Order, _) => match text {
            "ASC" | "INC" | "INC_ORDER" => put(&mut mods.descending, Some(false)),
            "DESC" | "DEC" | "DEC_ORDER" => put(&mut mods.descending, Some(true)),
            _ => false,
        },
        (Mode::Register, _) => text == "AR",
        (Mode::Barrier, _) => put(&mut mods.bar, Barrier::parse(text)),
        _ => false,
    }
}

/// `R A F C Z O`, alone or behind `ROUND_`; hybrid rounding belongs to fp8.
fn rounding(s: &str) -> Option<Round> {
    let mut chars = s.strip_prefix("ROUND_").unwrap_or(s).chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Round::from_letter(c.to_ascii_lowercase()),
        _ => None,
    }
}

fn mode_help(mode: Mode) -> String {
    let list = |names: &[&str]| format!("one of {}", names.join(" "));
    match mode {
        Mode::Dist => list(Dist::NAMES),
        Mode::Pattern => list(Pattern::NAMES),
        Mode::Cmp => "one of eq ne lt le gt ge".into(),
        Mode::Part => "EVEN ODD, LOWER HIGHER, LOWEST HIGHEST or Bin_N0 Bin_N1, as the instruction has them".into(),
        Mode::Convert => "{rnd = \"R\"|\"A\"|\"F\"|\"C\"|\"Z\"|\"O\", sat = \"SAT\"|\"NOSAT\", part = \"EVEN\"|\"ODD\"|\"P0\"..\"P3\"}".into(),
        Mode::Round => "one of R A F C Z O".into(),
        Mode::Order => "ASC or DESC".into(),
        Mode::Register => "AR".into(),
        Mode::Barrier => list(Barrier::NAMES),
        Mode::Post | Mode::None => "POST_UPDATE, where the instruction has it".into(),
    }
}
