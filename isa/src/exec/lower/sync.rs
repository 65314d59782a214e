//! Flags and barriers.

use super::{Lower, N};
use crate::exec::program::{Code, Num};
use crate::text::{self as ast, Arg as Node};
use ptoemu_core::stream::Pipe;

impl Lower<'_> {
    pub(super) fn sync(&mut self, name: &str, op: &ast::Op) -> Option<Code> {
        let code = match name {
            "set_flag" | "set_flag_dyn" => self.flag(true, op),
            "wait_flag" | "wait_flag_dyn" => self.flag(false, op),
            "record_event" => self.event(true, op),
            "wait_event" => self.event(false, op),
            "barrier" | "pipe_barrier" => {
                let node = op.args.first();
                match node.and_then(|a| a.as_name()).and_then(Pipe::parse) {
                    Some(p) => Code::Barrier(p),
                    None => self.bad_pipe(node, op),
                }
            }
            "section.vector" | "section.aiv" => {
                let outer = std::mem::replace(&mut self.section, true);
                let body = op.regions.first().map_or(Vec::new(), |r| self.scoped(&r.blocks, &[]));
                self.section = outer;
                return Some(Code::Section(body));
            }
            "section.cube" => return Some(Code::Nothing),
            "get_buf" => self.buffer(true, op),
            "rls_buf" => self.buffer(false, op),
            "tprint" | "tfree" | "print" | "tprefetch" => return Some(Code::Nothing),
            _ => return None,
        };
        self.has_sync = true;
        Some(code)
    }

    fn bad_pipe(&mut self, node: Option<&Node>, op: &ast::Op) -> Code {
        let span = node.map_or(op.span, |n| n.span);
        self.error(
            "lower.operand",
            span,
            "expected a pipe",
            Some("one of PIPE_S PIPE_V PIPE_MTE1 PIPE_MTE2 PIPE_MTE3 PIPE_M PIPE_FIX PIPE_ALL"),
        );
        Code::Nothing
    }

    /// `"PIPE_V", 0, 0`: pipe, buffer and mode; or `[operation kind, buffer]`.
    fn buffer(&mut self, get: bool, op: &ast::Op) -> Code {
        let nodes = op.args.iter().find_map(|a| a.as_list()).unwrap_or(&op.args);
        let [who, id, mode @ ..] = nodes else {
            self.error("lower.operand", op.span, "expected a pipe, a buffer and a mode", None);
            return Code::Nothing;
        };
        let name = who.as_name();
        let Some(pipe) = name.and_then(|n| Pipe::parse(n).or_else(|| op_pipe(n))) else {
            return self.bad_pipe(Some(who), op);
        };
        let id = self.num(id);
        let mode = mode.first().map_or(Num::Lit(0), |m| self.num(m));
        Code::Buffer(get, pipe, [id, mode])
    }

    /// `["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]`, in brackets or as plain arguments.
    fn flag(&mut self, set: bool, op: &ast::Op) -> Code {
        let nodes = op.args.iter().find_map(|a| a.as_list()).unwrap_or(&op.args);
        let [src, dst, id] = nodes else {
            self.error(
                "lower.operand",
                op.span,
                "expected [source pipe, target pipe, event]",
                None,
            );
            return Code::Nothing;
        };
        let pipe = |n: &Node| n.as_name().and_then(Pipe::parse);
        let (Some(s), Some(d)) = (pipe(src), pipe(dst)) else {
            let wrong = if pipe(src).is_none() { src } else { dst };
            return self.bad_pipe(Some(wrong), op);
        };
        let id = self.event_id(id);
        Code::Flag(set, s, d, id)
    }

    fn event_id(&mut self, node: &Node) -> Num {
        let name = node.as_name().and_then(|n| n.strip_prefix("EVENT_ID")).map(str::to_string);
        match name {
            Some(digits) => match digits.parse() {
                Ok(n) => Num::Lit(n),
                Err(_) => {
                    self.error("lower.operand", node.span, "expected EVENT_ID0 to EVENT_ID7", None);
                    Num::Lit(0)
                }
            },
            None => self.num(node),
        }
    }

    /// `record_event` and `wait_event` name the pipes by the operations that run on them.
    fn event(&mut self, set: bool, op: &ast::Op) -> Code {
        let nodes = op.args.iter().find_map(|a| a.as_list()).unwrap_or(&[]);
        let [src, dst, id] = nodes else {
            self.error("lower.operand", op.span, "expected [source op, target op, event]", None);
            return Code::Nothing;
        };
        let pipe = |n: &Node| n.as_name().and_then(op_pipe);
        let (Some(s), Some(d)) = (pipe(src), pipe(dst)) else {
            let wrong = if pipe(src).is_none() { src } else { dst };
            self.error(
                "lower.operand",
                wrong.span,
                "expected an operation kind such as TLOAD or TVEC",
                None,
            );
            return Code::Nothing;
        };
        let id = self.event_id(id);
        Code::Flag(set, s, d, id)
    }

    /// True if the argument is an attribute or a string rather than a value.
    pub(super) fn is_name(node: &Node) -> bool {
        matches!(node.kind, N::Str(_) | N::Attr(_) | N::Word(_))
    }
}

/// Pipe an operation kind of `#pto.sync_op_type` runs on.
fn op_pipe(kind: &str) -> Option<Pipe> {
    Some(match kind {
        "TLOAD" => Pipe::Mte2,
        "TSTORE_VEC" | "TSTORE" => Pipe::Mte3,
        "TSTORE_ACC" => Pipe::Fix,
        "TMOV_M2L" | "TMOV_M2S" | "TMOV_M2B" => Pipe::Mte1,
        "TMATMUL" => Pipe::M,
        "TVEC" | "TVECWAIT_EVENT" | "TMOV_V2M" | "TMOV_M2V" => Pipe::V,
        _ => return None,
    })
}
