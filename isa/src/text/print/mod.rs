//! Canonical text of a tree: one statement a line, two blanks a level, comments gone.
//! Printing what was parsed from printed text gives the same text again.

mod arg;
mod ty;

use super::ast::*;
use super::types::Type;
use std::fmt::Write;

struct Printer {
    out: String,
    level: usize,
}

/// Canonical text of a file.
pub fn print(file: &File) -> String {
    let mut p = Printer { out: String::new(), level: 0 };
    for item in &file.items {
        p.item(item);
    }
    p.out
}

/// Canonical text of one statement, without a line break at its end.
pub fn print_op(op: &Op) -> String {
    let mut p = Printer { out: String::new(), level: 0 };
    p.op(op);
    p.out
}

/// Canonical text of one argument.
pub fn print_arg(arg: &Arg) -> String {
    let mut p = Printer { out: String::new(), level: 0 };
    p.arg(arg);
    p.out
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut p = Printer { out: String::new(), level: 0 };
        p.ty(self);
        f.write_str(&p.out)
    }
}

impl Printer {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writing into a string cannot fail.
    fn fmt(&mut self, args: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(args);
    }

    fn indent(&mut self) {
        for _ in 0..self.level {
            self.push("  ");
        }
    }

    /// Elements with `, ` between them.
    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.push(", ");
            }
            each(self, item);
        }
    }

    fn item(&mut self, item: &Item) {
        self.indent();
        match item {
            Item::Module(m) => self.module(m),
            Item::Func(f) => self.func(f),
            Item::Op(op) => self.op(op),
        }
        self.push("\n");
    }

    fn module(&mut self, m: &Module) {
        self.push("module");
        if let Some(name) = &m.name {
            self.push(" ");
            self.symbol(&name.text);
        }
        self.attributes(m.attrs.as_ref());
        self.push(" {\n");
        self.level += 1;
        for item in &m.items {
            self.item(item);
        }
        self.level -= 1;
        self.indent();
        self.push("}");
    }

    fn attributes(&mut self, attrs: Option<&Dict>) {
        if let Some(d) = attrs {
            self.push(" attributes ");
            self.dict(d);
        }
    }

    /// `@name`, quoted where it must be.
    fn symbol(&mut self, name: &str) {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.');
        let bare = !name.is_empty() && name.split("::@").all(|part| part.bytes().all(plain));
        match bare {
            true => self.fmt(format_args!("@{name}")),
            false => self.fmt(format_args!("@\"{name}\"")),
        }
    }

    fn func(&mut self, f: &Func) {
        self.push("func.func ");
        if let Some(v) = &f.visibility {
            self.fmt(format_args!("{} ", v.text));
        }
        self.symbol(&f.name.text);
        self.push("(");
        self.list(&f.args, Self::func_arg);
        self.push(")");
        match f.results.as_slice() {
            [] => {}
            [one] if one.attrs.is_none() && !is_func(&one.ty) => {
                self.push(" -> ");
                self.ty(&one.ty);
            }
            many => {
                self.push(" -> (");
                self.list(many, Self::func_arg);
                self.push(")");
            }
        }
        self.attributes(f.attrs.as_ref());
        if let Some(body) = &f.body {
            self.push(" ");
            self.region(body);
        }
    }

    fn func_arg(&mut self, arg: &FuncArg) {
        if let Some(name) = &arg.name {
            self.fmt(format_args!("%{}: ", name.text));
        }
        self.ty(&arg.ty);
        if let Some(d) = &arg.attrs {
            self.push(" ");
            self.dict(d);
        }
    }

    fn region(&mut self, region: &Region) {
        self.push("{\n");
        for block in &region.blocks {
            if let Some(label) = &block.label {
                self.indent();
                self.fmt(format_args!("^{}", label.text));
                if !block.args.is_empty() {
                    self.push("(");
                    self.list(&block.args, |p, (name, ty)| {
                        p.fmt(format_args!("%{}: ", name.text));
                        p.ty(ty);
                    });
                    self.push(")");
                }
                self.push(":\n");
            }
            self.level += 1;
            for op in &block.ops {
                self.indent();
                self.op(op);
                self.push("\n");
            }
            self.level -= 1;
        }
        self.indent();
        self.push("}");
    }

    fn op(&mut self, op: &Op) {
        self.list(&op.results, |p, r| {
            p.fmt(format_args!("%{}", r.name));
            if let Some(n) = r.pack {
                p.fmt(format_args!(":{n}"));
            }
        });
        if !op.results.is_empty() {
            self.push(" = ");
        }
        match op.form {
            Form::Generic => self.generic(op),
            Form::Custom => self.custom(op),
        }
    }

    fn custom(&mut self, op: &Op) {
        let name = &*op.name.text;
        if op.results.is_empty() && !name.contains('.') && !matches!(name, "return" | "call") {
            // A bare word at the start of a line may be taken for a clause of the line before.
            self.push(&op.canonical());
        } else {
            self.push(name);
        }
        for (i, arg) in op.args.iter().enumerate() {
            match arg.kind {
                // `pto.set_flag["PIPE_V", ..]`
                ArgKind::List(_) if i == 0 => self.arg(arg),
                _ => self.spaced_arg(arg),
            }
        }
        let (before, after) = match name.ends_with("strict_vecscope") {
            true => (None, op.types.as_ref()),
            false => (op.types.as_ref(), None),
        };
        if let Some(sig) = before {
            self.signature(sig);
        }
        for region in &op.regions {
            self.push(" ");
            if let Some(k) = &region.keyword {
                self.fmt(format_args!("{} ", k.text));
            }
            self.region(region);
        }
        if let Some(sig) = after {
            self.signature(sig);
        }
    }

    fn generic(&mut self, op: &Op) {
        // Everything but operands has its own place behind the parentheses.
        let outside = |a: &&Arg| !matches!(a.kind, ArgKind::Value(_) | ArgKind::Index { .. });
        self.fmt(format_args!("\"{}\"(", op.name.text));
        let inside: Vec<&Arg> = op.args.iter().filter(|a| !outside(a)).collect();
        self.list(&inside, |p, a| p.arg(a));
        self.push(")");
        let mut dicts = Vec::new();
        for arg in op.args.iter().filter(outside) {
            match arg.kind {
                ArgKind::Dict(_) => dicts.push(arg),
                _ => self.spaced_arg(arg),
            }
        }
        if !op.regions.is_empty() {
            self.push(" (");
            self.list(&op.regions, Self::region);
            self.push(")");
        }
        for d in dicts {
            self.spaced_arg(d);
        }
        if let Some(sig) = &op.types {
            self.signature(sig);
        }
    }
}

fn is_func(ty: &Type) -> bool {
    matches!(ty.kind, super::types::TypeKind::Func { .. })
}
