//! Files, modules, functions, regions, aliases.

use super::*;

impl Parser<'_> {
    /// Items up to the end of the text or, inside a module, up to its `}`.
    pub(super) fn items(&mut self, in_module: bool) -> Vec<Item> {
        let mut out = Vec::new();
        loop {
            if self.stopped() || (in_module && self.at(b'}')) {
                return out;
            }
            let (from, braces) = (self.tok.start, self.braces);
            match self.item() {
                Ok(Some(item)) => out.push(item),
                Ok(None) => {}
                Err(fault) => {
                    self.report(fault);
                    self.recover(from, braces);
                    if self.at(b'}') && !in_module {
                        self.bump();
                    }
                }
            }
        }
    }

    fn item(&mut self) -> Parsed<Option<Item>> {
        if self.tok.kind == Tok::Ident {
            match self.slice(self.tok) {
                "module" | "builtin.module" => {
                    return self.nested(Self::module).map(|m| Some(Item::Module(m)));
                }
                "func.func" => return self.func().map(|f| Some(Item::Func(f))),
                _ => {}
            }
        }
        Ok(self.statement()?.map(Item::Op))
    }

    fn module(&mut self) -> Parsed<Module> {
        let start = self.bump();
        let name = match self.tok.kind {
            Tok::Symbol => Some(self.symbol()?),
            _ => None,
        };
        let attrs = match self.eat_word("attributes") {
            true => Some(self.dict()?),
            false => None,
        };
        let open = self.expect(b'{', "`{`")?;
        let items = self.items(true);
        self.close_brace(open)?;
        self.skip_loc()?;
        Ok(Module { name, attrs, items, span: self.since(start) })
    }

    /// The `}` of `open`; when the text ends instead, one error is enough.
    fn close_brace(&mut self, open: Token) -> Parsed<()> {
        if self.eat(b'}') {
            return Ok(());
        }
        let mut fault = self.expected("`}`");
        if self.stopped() {
            if !self.diags.is_empty() {
                return Ok(());
            }
            fault.0.labels.push(ptoemu_core::diag::Label {
                file: self.source.clone(),
                span: span(open),
                text: "to close this".to_string(),
            });
        }
        Err(fault)
    }

    /// `@name` or `@"name"`, without the decoration.
    pub(super) fn symbol(&mut self) -> Parsed<Ident> {
        if self.tok.kind != Tok::Symbol {
            return Err(self.expected("`@name`"));
        }
        let t = self.bump();
        let text = self.slice(t).trim_start_matches('@').trim_matches('"');
        Ok(Ident { text: self.intern(text), span: span(t) })
    }

    /// `%name` where a value is defined.
    pub(super) fn value_name(&mut self) -> Parsed<Ident> {
        if self.tok.kind != Tok::Value {
            return Err(self.expected("a `%name`"));
        }
        let t = self.bump();
        let text = self.slice(t).trim_start_matches('%');
        Ok(Ident { text: self.intern(text), span: span(t) })
    }

    fn func(&mut self) -> Parsed<Func> {
        let start = self.bump();
        let visibility = match self.tok.kind {
            Tok::Ident if ["private", "public", "nested"].contains(&self.slice(self.tok)) => {
                let t = self.bump();
                Some(self.ident_of(t))
            }
            _ => None,
        };
        let name = self.symbol()?;
        let args = self.func_args(true)?;
        let results = match self.tok.kind {
            Tok::Arrow => {
                self.bump();
                match self.at(b'(') {
                    true => self.func_args(false)?,
                    false => vec![FuncArg { name: None, ty: self.ty()?, attrs: None }],
                }
            }
            _ => Vec::new(),
        };
        let attrs = match self.eat_word("attributes") {
            true => Some(self.dict()?),
            false => None,
        };
        let body = match self.at(b'{') {
            true => Some(self.region(None)?),
            false => None,
        };
        self.skip_loc()?;
        Ok(Func { name, visibility, args, results, attrs, body, span: self.since(start) })
    }

    fn func_args(&mut self, named: bool) -> Parsed<Vec<FuncArg>> {
        self.expect(b'(', "`(`")?;
        let mut out = Vec::new();
        while !self.at(b')') {
            if !out.is_empty() {
                self.expect(b',', "`,` or `)`")?;
            }
            let name = match self.tok.kind {
                Tok::Value if named => {
                    let name = self.value_name()?;
                    self.expect(b':', "`:`")?;
                    Some(name)
                }
                _ => None,
            };
            let ty = self.ty()?;
            let attrs = match self.at(b'{') {
                true => Some(self.dict()?),
                false => None,
            };
            self.skip_loc()?;
            out.push(FuncArg { name, ty, attrs });
        }
        self.bump();
        Ok(out)
    }

    pub(super) fn region(&mut self, keyword: Option<Ident>) -> Parsed<Region> {
        self.nested(|p| {
            let start = p.expect(b'{', "`{`")?;
            let mut blocks = Vec::new();
            if p.tok.kind != Tok::Block {
                blocks.push(p.block(None, Vec::new()));
            }
            while p.tok.kind == Tok::Block {
                match p.block_header() {
                    Ok((label, args)) => blocks.push(p.block(Some(label), args)),
                    Err(fault) => {
                        let (from, braces) = (p.tok.start, p.braces);
                        p.report(fault);
                        p.recover(from, braces);
                        blocks.push(p.block(None, Vec::new()));
                    }
                }
            }
            p.close_brace(start)?;
            Ok(Region { keyword, blocks, span: p.since(start) })
        })
    }

    /// Statements up to `}`, the next label, or the end of the text.
    fn block(&mut self, label: Option<Ident>, args: Vec<(Ident, Type)>) -> Block {
        let mut ops = Vec::new();
        while !self.stopped() && !self.at(b'}') && self.tok.kind != Tok::Block {
            let (from, braces) = (self.tok.start, self.braces);
            match self.statement() {
                Ok(op) => ops.extend(op),
                Err(fault) => {
                    self.report(fault);
                    self.recover(from, braces);
                }
            }
        }
        Block { label, args, ops }
    }

    /// `^name(%a: T, ..):`
    fn block_header(&mut self) -> Parsed<(Ident, Vec<(Ident, Type)>)> {
        let t = self.bump();
        let text = self.slice(t).trim_start_matches('^');
        let label = Ident { text: self.intern(text), span: span(t) };
        let mut args = Vec::new();
        if self.eat(b'(') {
            while !self.at(b')') {
                if !args.is_empty() {
                    self.expect(b',', "`,` or `)`")?;
                }
                let name = self.value_name()?;
                self.expect(b':', "`:`")?;
                args.push((name, self.ty()?));
                self.skip_loc()?;
            }
            self.bump();
        }
        self.expect(b':', "`:`")?;
        Ok((label, args))
    }

    /// `!name = type` or `#name = attribute`, with the token in hand at the name.
    pub(super) fn alias(&mut self) -> Parsed<()> {
        let t = self.bump();
        let name = self.slice(t);
        self.expect(b'=', "`=`")?;
        if t.kind == Tok::Bang {
            let ty = self.ty()?;
            if matches!(ty.kind, crate::text::types::TypeKind::Func { .. }) {
                return Err(self.fault(ty.span, "a function type cannot have an alias", ""));
            }
            self.type_aliases.insert(name, ty);
        } else if self.at_word("loc") {
            self.skip_loc()?;
        } else {
            let value = self.arg(arg::Place::Dict)?;
            if matches!(value.kind, ArgKind::List(_) | ArgKind::Dict(_)) {
                return Err(self.fault(value.span, "a list cannot have an alias", ""));
            }
            self.attr_aliases.insert(name, value.kind);
        }
        Ok(())
    }
}
