//! Timing-only programs: JSON loops of instructions over register names.
//!
//! `{"dtype": "fp32", "params": {"I": 16}, "program": [NODE, ...]}` where a node is
//! `{"type": "inst", "op": "VADD", "dst": ["v2"], "src": ["v0", "v1"]}` or
//! `{"type": "loop", "iters": "I", "unroll": 1, "body": [NODE, ...]}`. A register name that starts
//! with `mem` is memory, with `v` a vector register; other names are scalars given from outside.
//! An instruction may have its own `dtype`, `post_update: true`, and `address: {base, deltas,
//! bytes}` when the bytes in the Unified Buffer are known; a barrier is
//! `{"type": "inst", "op": "MEM_BAR", "mode": "VST_VLD"}`.

mod json;
mod lower;

use json::{Json, Value, parse};
use ptoemu_core::diag::{Diagnostic, Level, SourceFile, Span};
use ptoemu_core::dtype::DType;
use ptoemu_core::time::vf::{Kind, VfProgram};
use std::sync::Arc;

/// Largest count of a hardware loop counter.
const COUNTER: u64 = 0xffff;
/// Most static instructions after unrolling.
const INSTRUCTIONS: usize = 1 << 20;

/// A program read from a file.
#[derive(Clone, Debug)]
pub struct VfFile {
    /// The program.
    pub program: VfProgram,
    /// What the reader has to say about it.
    pub notes: Vec<Diagnostic>,
}

/// Reads a program; every fault has a place in the file.
pub fn read(file: &Arc<SourceFile>) -> Result<VfFile, Diagnostic> {
    let root = parse(file)?;
    let mut r = Reader {
        file,
        params: Vec::new(),
        dtype: None,
        notes: Vec::new(),
        lower: lower::Lower::default(),
    };
    r.dtype = r.dtype_of(&root)?;
    if let Some(p) = root.member("params") {
        r.params = r.read_params(p)?;
    }
    let Some(program) = root.member("program") else {
        return Err(r.fault(root.span, "no `program`: expected a list of nodes"));
    };
    let body = r.nodes(program, 1)?;
    let program = std::mem::take(&mut r.lower).finish(body);
    if program.dynamic().is_none() {
        return Err(r.fault(root.span, "the loops run more instructions than can be counted"));
    }
    Ok(VfFile { program, notes: r.notes })
}

/// Lets every load advance its own address register, as the post-update form of a tile op does.
pub fn post_update_loads(program: &mut VfProgram) {
    for i in program.insts.iter_mut().filter(|i| i.kind == Kind::Load) {
        i.post_update = true;
    }
}

struct Reader<'a> {
    file: &'a Arc<SourceFile>,
    params: Vec<(String, u64)>,
    dtype: Option<DType>,
    notes: Vec<Diagnostic>,
    lower: lower::Lower,
}

/// A node with names.
enum Tree {
    Inst(lower::Named),
    Loop { trips: u64, unroll: u64, hardware: bool, body: Vec<Tree> },
}

impl Reader<'_> {
    fn fault(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("vf.program", message).at(self.file, span, "")
    }

    /// Element type given with an object, if any.
    fn dtype_of(&self, j: &Json) -> Result<Option<DType>, Diagnostic> {
        let Some(d) = j.member("dtype") else { return Ok(None) };
        let Value::Text(name) = &d.value else {
            return Err(self.fault(d.span, "`dtype` is a text, for example \"fp32\""));
        };
        let short = match name.to_ascii_lowercase().as_str() {
            "fp32" | "float" => "f32".to_string(),
            "fp16" | "half" => "f16".to_string(),
            other => other.to_string(),
        };
        let int = short.strip_prefix('s').filter(|b| b.parse::<u8>().is_ok());
        int.map_or(short.clone(), |b| format!("i{b}"))
            .parse()
            .map(Some)
            .map_err(|_| self.fault(d.span, format!("unknown element type `{name}`")))
    }

    fn read_params(&self, j: &Json) -> Result<Vec<(String, u64)>, Diagnostic> {
        let Value::Object(members) = &j.value else {
            return Err(self.fault(j.span, "`params` is an object of numbers"));
        };
        members.iter().map(|(n, _, v)| Ok((n.clone(), self.count(v, &[])?))).collect()
    }

    /// A count: a number, or the name of a parameter.
    fn count(&self, j: &Json, params: &[(String, u64)]) -> Result<u64, Diagnostic> {
        match &j.value {
            Value::Number(n) => n
                .parse()
                .map_err(|_| self.fault(j.span, format!("`{n}` is no count: a whole number"))),
            Value::Text(name) => {
                params.iter().find(|(n, _)| n == name).map(|(_, v)| *v).ok_or_else(|| {
                    let names: Vec<&str> = params.iter().map(|(n, _)| n.as_str()).collect();
                    self.fault(j.span, format!("no parameter `{name}`"))
                        .help(format!("params: {}", names.join(", ")))
                })
            }
            _ => Err(self.fault(j.span, "expected a count or the name of a parameter")),
        }
    }

    fn nodes(&mut self, j: &Json, depth: usize) -> Result<Vec<Tree>, Diagnostic> {
        let Value::List(items) = &j.value else {
            return Err(self.fault(j.span, "expected a list of nodes"));
        };
        items.iter().map(|n| self.node(n, depth)).collect()
    }

    fn node(&mut self, j: &Json, depth: usize) -> Result<Tree, Diagnostic> {
        let kind = j.member("type");
        match kind.map(|k| &k.value) {
            Some(Value::Text(t)) if t == "inst" => self.inst(j).map(Tree::Inst),
            Some(Value::Text(t)) if t == "loop" => self.looped(j, depth),
            _ => {
                let span = kind.map_or(j.span, |k| k.span);
                Err(self.fault(span, "a node has `type` \"inst\" or \"loop\""))
            }
        }
    }

    fn looped(&mut self, j: &Json, depth: usize) -> Result<Tree, Diagnostic> {
        let Some(iters) = j.member("iters") else {
            return Err(self.fault(j.span, "a loop needs `iters`"));
        };
        let trips = self.count(iters, &self.params)?;
        let unroll = match j.member("unroll") {
            Some(u) => self.count(u, &self.params)?,
            None => 1,
        };
        if unroll == 0 || trips % unroll != 0 {
            let span = j.member("unroll").map_or(j.span, |u| u.span);
            let message = format!("{trips} iterations do not divide by an unroll of {unroll}");
            return Err(self.fault(span, message));
        }
        if trips / unroll > COUNTER {
            let message = format!("{} iterations: a hardware counter has 16 bits", trips / unroll);
            let note = Diagnostic::new("vf.counter", Level::Note, message);
            self.notes
                .push(note.at(self.file, iters.span, "").note("timed as one loop all the same"));
        }
        let hardware = match j.member("hardware").map(|h| (&h.value, h.span)) {
            None => true,
            Some((Value::Bool(b), _)) => *b,
            Some((_, span)) => return Err(self.fault(span, "`hardware` is true or false")),
        };
        let Some(body) = j.member("body") else {
            return Err(self.fault(j.span, "a loop needs a `body`"));
        };
        let span = body.span;
        let body = self.nodes(body, depth + 1)?;
        if unroll > 1 && body.iter().any(|t| matches!(t, Tree::Loop { .. })) {
            return Err(self.fault(span, "only innermost loops can be unrolled"));
        }
        if (body.len() as u64).saturating_mul(unroll) > INSTRUCTIONS as u64 {
            return Err(self.fault(span, "unrolled body too long"));
        }
        Ok(Tree::Loop { trips, unroll, hardware, body })
    }

    fn inst(&mut self, j: &Json) -> Result<lower::Named, Diagnostic> {
        let Some(Json { value: Value::Text(op), span }) = j.member("op") else {
            return Err(self.fault(j.span, "an instruction needs `op`, a text"));
        };
        let mode = match j.member("mode").map(|m| &m.value) {
            Some(Value::Text(m)) => Some(m.as_str()),
            _ => None,
        };
        let Some(kind) = lower::kind_of(op, mode) else {
            return Err(self
                .fault(*span, format!("`{op}` needs a `mode`"))
                .help("VLD_VST, VST_VLD, VST_VST or VV_ALL"));
        };
        let post = j.member("post_update").is_some_and(|p| matches!(p.value, Value::Bool(true)));
        Ok(lower::Named {
            op: op.clone(),
            kind,
            dtype: self.dtype_of(j)?.or(self.dtype),
            dst: self.names(j, "dst")?,
            src: self.names(j, "src")?,
            post_update: post,
            address: j.member("address").map(|a| self.address(a)).transpose()?,
        })
    }

    fn names(&self, j: &Json, member: &str) -> Result<Vec<String>, Diagnostic> {
        let Some(list) = j.member(member) else { return Ok(Vec::new()) };
        let Value::List(items) = &list.value else {
            return Err(self.fault(list.span, format!("`{member}` is a list of names")));
        };
        let name = |i: &Json| match &i.value {
            Value::Text(t) if !t.is_empty() => Ok(t.clone()),
            _ => Err(self.fault(i.span, "expected a register name")),
        };
        items.iter().map(name).collect()
    }

    fn address(&self, j: &Json) -> Result<lower::Address, Diagnostic> {
        let number = |v: &Json| match &v.value {
            Value::Number(n) => n.parse::<i64>().ok(),
            _ => None,
        };
        let whole = |v: &Json| number(v).ok_or_else(|| self.fault(v.span, "expected whole bytes"));
        let get = |name: &str, or: i64| j.member(name).map_or(Ok(or), whole);
        let deltas = match j.member("deltas").map(|d| (&d.value, d.span)) {
            None => Vec::new(),
            Some((Value::List(items), _)) => items.iter().map(whole).collect::<Result<_, _>>()?,
            Some((_, span)) => return Err(self.fault(span, "`deltas` is a list of bytes")),
        };
        let bytes = u32::try_from(get("bytes", 256)?)
            .map_err(|_| self.fault(j.span, "`bytes` is out of range"))?;
        Ok(lower::Address { base: get("base", 0)?, deltas, bytes })
    }
}

#[cfg(test)]
mod tests;
