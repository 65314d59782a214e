//! Text of arguments, clauses and dictionaries.

use super::*;

impl Printer {
    /// An argument with what separates it from the one before.
    pub(super) fn spaced_arg(&mut self, arg: &Arg) {
        if arg.comma {
            self.push(", ");
        } else if !matches!(&arg.kind, ArgKind::Call(Call { name: None, .. })) {
            self.push(" ");
        }
        self.arg(arg);
    }

    pub(super) fn arg(&mut self, arg: &Arg) {
        match &arg.kind {
            ArgKind::Value(v) => self.value(v),
            ArgKind::Int { value, hex: false } => self.fmt(format_args!("{value}")),
            ArgKind::Int { value, hex: true } => {
                let sign = if *value < 0 { "-" } else { "" };
                self.fmt(format_args!("{sign}0x{:X}", value.unsigned_abs()));
            }
            ArgKind::Float { text, .. } => self.push(text),
            ArgKind::Bool(b) => self.fmt(format_args!("{b}")),
            ArgKind::Str(s) => self.fmt(format_args!("\"{s}\"")),
            ArgKind::Attr(a) => self.attr(a),
            ArgKind::Word(w) => self.push(w),
            ArgKind::Symbol(s) => self.symbol(s),
            ArgKind::Block(b) => self.fmt(format_args!("^{b}")),
            ArgKind::Index { base, indices } => {
                self.value(base);
                self.bracketed(indices);
            }
            ArgKind::List(items) => self.bracketed(items),
            ArgKind::Keyed { key, value, colon } => {
                self.push(&key.text);
                self.push(if *colon { ": " } else { " = " });
                self.arg(value);
            }
            ArgKind::Bind { name, value } => {
                self.value(name);
                self.push(" = ");
                self.arg(value);
            }
            ArgKind::Call(c) => self.call(c),
            ArgKind::Dict(d) => self.dict(d),
            ArgKind::Props(d) => {
                self.push("<");
                self.dict(d);
                self.push(">");
            }
            ArgKind::TileAt(a) => self.fmt(format_args!("@tile(0x{a:X})")),
            ArgKind::Opaque { head, body } => self.fmt(format_args!("{head}<{body}>")),
            ArgKind::Modifier { sigil, key, value } => {
                self.fmt(format_args!("{sigil}{}=", key.text));
                self.arg(value);
            }
            ArgKind::Type(t) => self.ty(t),
            ArgKind::Typed { value, ty } => {
                self.arg(value);
                self.push(" : ");
                self.ty(ty);
            }
        }
    }

    fn value(&mut self, v: &ValueRef) {
        self.fmt(format_args!("%{}", v.name));
        if let Some(i) = v.index {
            self.fmt(format_args!("#{i}"));
        }
    }

    pub(super) fn attr(&mut self, a: &AttrRef) {
        if let Some(path) = &a.path {
            self.fmt(format_args!("#{path}"));
        }
        if let Some(body) = &a.body {
            self.fmt(format_args!("<{body}>"));
        }
    }

    fn bracketed(&mut self, items: &[Arg]) {
        self.push("[");
        self.list(items, Self::arg);
        self.push("]");
    }

    fn call(&mut self, c: &Call) {
        if let Some(name) = &c.name {
            self.push(&name.text);
        }
        self.push("(");
        let each = c.each && c.args.len() == c.types.len();
        for (i, arg) in c.args.iter().enumerate() {
            match (i, arg.comma) {
                (0, _) => {}
                (_, true) => self.push(", "),
                (_, false) => self.push(" "),
            }
            self.arg(arg);
            if each && let Some(ty) = c.types.get(i) {
                self.push(" : ");
                self.ty(ty);
            }
        }
        if !each && !c.types.is_empty() {
            self.push(" : ");
            self.list(&c.types, Self::ty);
        }
        self.push(")");
    }

    pub(super) fn dict(&mut self, d: &Dict) {
        self.push("{");
        self.list(&d.entries, |p, e| {
            let key = &*e.key.text;
            let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.');
            let starts_well = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            match starts_well && key.bytes().all(plain) {
                true => p.push(key),
                false => p.fmt(format_args!("\"{key}\"")),
            }
            if let Some(v) = &e.value {
                p.push(" = ");
                p.arg(v);
            }
        });
        self.push("}");
    }
}
