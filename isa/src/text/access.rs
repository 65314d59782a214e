//! Reading the tree: what consumers ask of ops, arguments and attributes.

use super::ast::*;
use super::types::Type;
use std::borrow::Cow;

impl Arg {
    /// The value used here, if it is a plain one.
    pub fn as_value(&self) -> Option<&ValueRef> {
        match &self.kind {
            ArgKind::Value(v) => Some(v),
            _ => None,
        }
    }

    /// An integer literal; a type behind it does not matter.
    pub fn as_int(&self) -> Option<i128> {
        match &self.kind {
            ArgKind::Int { value, .. } => Some(*value),
            ArgKind::Typed { value, .. } => value.as_int(),
            _ => None,
        }
    }

    /// `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match &self.kind {
            ArgKind::Bool(b) => Some(*b),
            ArgKind::Typed { value, .. } => value.as_bool(),
            _ => None,
        }
    }

    /// The text that names an enumerator, however it is spelled:
    /// `"PIPE_V"`, `#pto.pipe<PIPE_V>`, `<PIPE_V>`, `#pto<pipe PIPE_V>`, `PIPE_V`.
    pub fn as_name(&self) -> Option<&str> {
        match &self.kind {
            ArgKind::Str(s) | ArgKind::Word(s) => Some(s),
            ArgKind::Attr(a) => a.value(),
            _ => None,
        }
    }

    /// The elements of `[..]`.
    pub fn as_list(&self) -> Option<&[Arg]> {
        match &self.kind {
            ArgKind::List(l) => Some(l),
            _ => None,
        }
    }
}

impl AttrRef {
    /// `pipe` of `#pto.pipe<..>`, `cmp` of `#pto<cmp lt>`; `None` when left out.
    pub fn kind(&self) -> Option<&str> {
        let path = self.path.as_deref()?;
        match path.split_once('.') {
            Some((_, kind)) => Some(kind),
            None => self.body.as_deref()?.split_once(' ').map(|(kind, _)| kind),
        }
    }

    /// The payload: `PIPE_V` of `#pto.pipe<PIPE_V>` and of `<PIPE_V>`, `lt` of `#pto<cmp lt>`.
    pub fn value(&self) -> Option<&str> {
        let body = self.body.as_deref()?;
        match self.path.as_deref() {
            Some(path) if !path.contains('.') => {
                Some(body.split_once(' ').map_or(body, |(_, value)| value))
            }
            _ => Some(body),
        }
    }
}

impl Dict {
    /// The entry of that key.
    pub fn entry(&self, key: &str) -> Option<&DictEntry> {
        self.entries.iter().find(|e| &*e.key.text == key)
    }

    /// The value of that key.
    pub fn get(&self, key: &str) -> Option<&Arg> {
        self.entry(key)?.value.as_ref()
    }

    /// The key is there, with or without a value.
    pub fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }
}

impl Call {
    /// The clause has that name.
    pub fn is(&self, name: &str) -> bool {
        self.name.as_ref().is_some_and(|n| &*n.text == name)
    }
}

/// Dialects whose ops are written with their prefix; any other name is a PTO op without it.
const DIALECTS: &[&str] = &[
    "pto",
    "arith",
    "scf",
    "func",
    "memref",
    "cf",
    "vector",
    "builtin",
    "math",
    "index",
    "affine",
    "tensor",
    "tosa",
    "transform",
    "linalg",
    "llvm",
    "hivm",
    "hacc",
    "annotation",
];

impl Op {
    /// Full name: `pto.` in front of a bare tile op, `func.` in front of `return` and `call`.
    pub fn canonical(&self) -> Cow<'_, str> {
        let name = &*self.name.text;
        let head = name.split('.').next().unwrap_or(name);
        match name {
            "return" | "call" => Cow::Owned(format!("func.{name}")),
            _ if head.len() < name.len()
                && (DIALECTS.contains(&head) || !head.starts_with('t')) =>
            {
                Cow::Borrowed(name)
            }
            _ => Cow::Owned(format!("pto.{name}")),
        }
    }

    /// The clause of that name, such as `ins` or `nburst`.
    pub fn call(&self, name: &str) -> Option<&Call> {
        self.args.iter().find_map(|a| match &a.kind {
            ArgKind::Call(c) if c.is(name) => Some(c),
            _ => None,
        })
    }

    /// All clauses of that name in order; `loop` may repeat.
    pub fn calls<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Call> + 'a {
        self.args.iter().filter_map(move |a| match &a.kind {
            ArgKind::Call(c) if c.is(name) => Some(c),
            _ => None,
        })
    }

    /// The value of an attribute, in any dictionary of the op, also inside its clauses.
    pub fn attr(&self, key: &str) -> Option<&Arg> {
        self.dicts().find_map(|d| d.get(key))
    }

    /// All dictionaries of the op: its own first, then those inside clauses.
    pub fn dicts(&self) -> impl Iterator<Item = &Dict> {
        fn dict(a: &Arg) -> Option<&Dict> {
            match &a.kind {
                ArgKind::Dict(d) | ArgKind::Props(d) => Some(d),
                _ => None,
            }
        }
        let inner = self.args.iter().filter_map(|a| match &a.kind {
            ArgKind::Call(c) => Some(&c.args),
            _ => None,
        });
        self.args.iter().filter_map(dict).chain(inner.flatten().filter_map(dict))
    }

    /// The value behind `key =` (or `key:`) among the arguments.
    pub fn keyed(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find_map(|a| match &a.kind {
            ArgKind::Keyed { key, value, .. } if &*key.text == name => Some(&**value),
            _ => None,
        })
    }

    /// The keyword stands among the arguments.
    pub fn has_word(&self, word: &str) -> bool {
        self.args.iter().any(|a| matches!(&a.kind, ArgKind::Word(w) if &**w == word))
    }

    /// Operand types; empty without a signature.
    pub fn operand_types(&self) -> &[Type] {
        self.types.as_ref().map_or(&[], |t| &t.operands)
    }

    /// Result types; empty without a signature.
    pub fn result_types(&self) -> &[Type] {
        self.types.as_ref().map_or(&[], |t| &t.results)
    }
}

impl Op {
    /// Visits this op, then those in its regions, in source order.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Op)) {
        visit(self);
        self.regions.iter().for_each(|r| r.walk(visit));
    }
}

impl Region {
    /// Visits the ops of the region and of the regions inside, in source order.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Op)) {
        for block in &self.blocks {
            block.ops.iter().for_each(|op| op.walk(visit));
        }
    }
}

impl File {
    /// All functions, also those in nested modules, with the innermost module around each.
    pub fn funcs(&self) -> Vec<(Option<&Module>, &Func)> {
        fn collect<'a>(
            items: &'a [Item],
            module: Option<&'a Module>,
            out: &mut Vec<(Option<&'a Module>, &'a Func)>,
        ) {
            for item in items {
                match item {
                    Item::Func(f) => out.push((module, f)),
                    Item::Module(m) => collect(&m.items, Some(m), out),
                    Item::Op(_) => {}
                }
            }
        }
        let mut out = Vec::new();
        collect(&self.items, None, &mut out);
        out
    }
}
