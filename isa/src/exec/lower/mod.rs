//! From the tree to the lowered program: names become slots, ops become codes, open addresses
//! become places. Everything that can be refused without running is refused here.

mod entry;
mod flow;
mod instr;
mod memory;
mod memref;
mod micro;
mod mte;
mod names;
mod place;
mod scalar;
mod sync;
mod tiles;

pub use place::Limits;

use super::program::*;
use super::value::Value;
use crate::text::{self as ast, Arg as Node, ArgKind as N, Block, File, Func, Item, Module};
use crate::tile::Tile;
use place::Placer;
use ptoemu_core::diag::{Diagnostic, SourceFile, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Nested calls and regions a program may have.
pub const MAX_DEPTH: usize = 200;

/// What lowering needs to know beside the text.
#[derive(Clone, Debug)]
pub struct Options {
    /// Function to run; the single one, or the one marked `pto.entry`, when not given.
    pub entry: Option<String>,
    /// Where tiles may lie.
    pub limits: Limits,
    /// Shapes of tiles that the text leaves open (`!pto.tile<...>`), by value name.
    pub tiles: Vec<Tile>,
}

/// Lowers a parsed file.
pub fn lower(file: &File, options: &Options) -> Result<Program, Vec<Diagnostic>> {
    let funcs = functions(file);
    let mut cx = Lower::new(&file.source, options, &funcs);
    cx.defined_once(&funcs);
    let mut out = Vec::new();
    for f in &funcs {
        match f {
            Entity::Func(m, func) => {
                cx.is_a5 = m.and_then(arch_of).is_some_and(|(a, _)| is_a5(&a));
                out.push(cx.function(func));
            }
            Entity::Bare(ops) => out.push(cx.bare(ops)),
        }
    }
    let entry = cx.choose_entry(&funcs);
    let placed = cx.placer.assign(entry, &cx.source, &mut cx.diags);
    if cx.diags.is_empty()
        && let Some(entry) = entry
    {
        let arch = match &funcs[entry] {
            Entity::Func(Some(m), _) => arch_of(m),
            _ => None,
        };
        return Ok(Program {
            source: cx.source,
            funcs: out,
            entry,
            arch,
            placed,
            microcode: Vec::new(),
        });
    }
    Err(cx.diags)
}

/// A function, or the bare statements of a file without one.
enum Entity<'a> {
    Func(Option<&'a Module>, &'a Func),
    Bare(Vec<&'a ast::Op>),
}

fn functions(file: &File) -> Vec<Entity<'_>> {
    let mut out: Vec<_> = file
        .funcs()
        .into_iter()
        .filter(|(_, f)| f.body.is_some())
        .map(|(m, f)| Entity::Func(m, f))
        .collect();
    if out.is_empty() {
        out.push(Entity::Bare(bare_ops(&file.items)));
    }
    out
}

fn bare_ops(items: &[Item]) -> Vec<&ast::Op> {
    items
        .iter()
        .flat_map(|i| match i {
            Item::Op(op) => vec![op],
            Item::Module(m) => bare_ops(&m.items),
            Item::Func(_) => vec![],
        })
        .collect()
}

fn arch_of(m: &Module) -> Option<(String, Span)> {
    let attrs = m.attrs.as_ref()?;
    let entry = attrs.entry("pto.target_arch").or_else(|| attrs.entry("pto.device-spec"))?;
    let value = entry.value.as_ref()?;
    Some((value.as_name()?.to_string(), value.span))
}

/// Is it a name of the 950?
fn is_a5(arch: &str) -> bool {
    let a = arch.to_ascii_lowercase();
    a == "a5" || a.contains("950") || a.contains("3510") || a.contains("3101")
}

struct Lower<'a> {
    source: Arc<SourceFile>,
    options: &'a Options,
    names: FxHashMap<String, usize>,
    diags: Vec<Diagnostic>,
    placer: Placer,
    scopes: Vec<FxHashMap<Arc<str>, (Slot, u32)>>,
    slots: u32,
    consts: FxHashMap<Slot, i64>,
    /// Shape of each tile value, where the text determines it.
    shapes: FxHashMap<Slot, Tile>,
    has_sync: bool,
    bare: bool,
    args: Vec<Arg>,
    /// Literal operands of the statement being lowered.
    literals: Vec<(Slot, Value, Span)>,
    /// `pto.tassign %argN, @tile(..)` of the documents: addresses waiting for the next tile op.
    pending: Vec<(String, u64)>,
    depth: usize,
    /// Micro-ops so far.
    micros: u32,
    /// Inside a vector section.
    section: bool,
    /// Inside a vecscope.
    vecscope: bool,
    /// The module is for the 950.
    is_a5: bool,
}

impl<'a> Lower<'a> {
    fn new(source: &Arc<SourceFile>, options: &'a Options, funcs: &[Entity<'_>]) -> Self {
        let names = funcs
            .iter()
            .enumerate()
            .filter_map(|(i, f)| match f {
                Entity::Func(_, f) => Some((f.name.text.to_string(), i)),
                Entity::Bare(_) => None,
            })
            .collect();
        Lower {
            source: source.clone(),
            options,
            names,
            diags: Vec::new(),
            placer: Placer::new(options.limits),
            scopes: Vec::new(),
            slots: 0,
            consts: FxHashMap::default(),
            shapes: FxHashMap::default(),
            has_sync: false,
            bare: false,
            args: Vec::new(),
            literals: Vec::new(),
            pending: Vec::new(),
            depth: 0,
            micros: 0,
            section: false,
            vecscope: false,
            is_a5: false,
        }
    }

    /// Two functions of one name in one module: which one a call means would be a guess.
    fn defined_once(&mut self, funcs: &[Entity<'_>]) {
        let mut seen: FxHashMap<(Option<*const Module>, &str), Span> = FxHashMap::default();
        for f in funcs {
            let Entity::Func(m, f) = f else { continue };
            let key = (m.map(std::ptr::from_ref), &*f.name.text);
            if let Some(first) = seen.insert(key, f.name.span) {
                let message = format!("the function `{}` is defined twice", f.name.text);
                let d = Diagnostic::error("lower.redefined", message)
                    .at(&self.source, f.name.span, "again here")
                    .at(&self.source, first, "first here");
                self.diags.push(d.help("rename one of them"));
            }
        }
    }

    fn reset(&mut self) {
        self.scopes = vec![FxHashMap::default()];
        self.slots = 0;
        self.consts.clear();
        self.shapes.clear();
        self.has_sync = false;
        self.placer.function();
        self.args = Vec::new();
        self.pending.clear();
    }

    fn function(&mut self, f: &Func) -> Function {
        self.reset();
        let mut views = Vec::new();
        for a in &f.args {
            let Some(name) = &a.name else { continue };
            let slot = self.define(&name.text);
            if let Some((elem, expr)) = memref::buffer(&a.ty) {
                // The caller gives a buffer; the name stands for a view of all of it.
                let (raw, span) = (self.fresh(), name.span);
                views.push(Stmt { span, code: Code::View(slot, raw, expr) });
                let (name, kind) = (name.text.to_string(), ArgKind::Buffer(elem));
                self.args.push(Arg { name, slot: raw, kind, span });
                continue;
            }
            let kind = self.argument_kind(&name.text, &a.ty, slot);
            self.args.push(Arg { name: name.text.to_string(), slot, kind, span: name.span });
        }
        let body = f.body.as_ref().map_or(Vec::new(), |r| self.blocks(&r.blocks));
        let body = views.into_iter().chain(body).collect();
        self.finish(f.name.text.to_string(), body, f.name.span)
    }

    fn bare(&mut self, ops: &[&ast::Op]) -> Function {
        self.reset();
        self.bare = true;
        let mut body = Vec::new();
        for op in ops {
            self.statement(op, &mut body);
        }
        self.finish("main".to_string(), body, Span::default())
    }

    fn finish(&mut self, name: String, body: Vec<Stmt>, span: Span) -> Function {
        Function {
            name,
            args: std::mem::take(&mut self.args),
            slots: self.slots,
            body,
            has_sync: self.has_sync,
            span,
        }
    }

    fn blocks(&mut self, blocks: &[Block]) -> Vec<Stmt> {
        let mut body = Vec::new();
        if let [_, second, ..] = blocks {
            let span = second.label.as_ref().map_or(Span::default(), |l| l.span);
            self.error(
                "unsupported",
                span,
                "branches between blocks are not executed",
                Some("use scf.if, scf.for and scf.while"),
            );
        }
        for op in blocks.iter().take(1).flat_map(|b| &b.ops) {
            self.statement(op, &mut body);
        }
        body
    }

    /// Lowers the blocks of a region in a scope of its own.
    fn scoped(&mut self, blocks: &[Block], names: &[(Arc<str>, Slot)]) -> Vec<Stmt> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.depth -= 1;
            let span =
                blocks.first().and_then(|b| b.ops.first()).map_or(Span::default(), |o| o.span);
            self.error("unsupported", span, "regions are nested too deeply", None);
            return Vec::new();
        }
        self.scopes.push(FxHashMap::default());
        for (name, slot) in names {
            self.bind(name, *slot, 1);
        }
        let body = self.blocks(blocks);
        self.scopes.pop();
        self.depth -= 1;
        body
    }

    fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        help: Option<&str>,
    ) {
        let mut d = Diagnostic::error(code, message).at(&self.source, span, "");
        d.help = help.map(str::to_string);
        self.diags.push(d);
    }

    fn statement(&mut self, op: &ast::Op, out: &mut Vec<Stmt>) {
        let name = op.canonical().into_owned();
        let (dialect, rest) = name.split_once('.').unwrap_or(("", &name));
        let code = match dialect {
            "arith" | "math" => self.arith(rest, op, out),
            "scf" | "func" => self.flow(rest, op),
            "memref" | "builtin" => self.foreign(rest, op),
            "pto" => self.pto(rest, op),
            _ => None,
        };
        let code = code.unwrap_or_else(|| {
            self.results(op, 0);
            Code::Unknown(name.clone())
        });
        for (slot, value, span) in std::mem::take(&mut self.literals) {
            out.push(Stmt { span, code: Code::Const(slot, value) });
        }
        out.push(Stmt { span: op.span, code });
    }

    fn foreign(&mut self, name: &str, op: &ast::Op) -> Option<Code> {
        match name {
            "unrealized_conversion_cast" => {
                let src = self.first(op)?;
                let dst = self.result(op);
                Some(Code::Copy(dst, src))
            }
            "dealloc" => Some(Code::Nothing),
            "alloc" | "alloca" => self.alloc(op),
            "reinterpret_cast" => self.reinterpret(op),
            _ => None,
        }
    }

    fn pto(&mut self, name: &str, op: &ast::Op) -> Option<Code> {
        self.memory(name, op)
            .or_else(|| self.sync(name, op))
            .or_else(|| self.tile_op(name, op))
            .or_else(|| self.mte(name, op))
            .or_else(|| self.micro(name, op))
            .or_else(|| self.instruction(name, op))
    }
}
