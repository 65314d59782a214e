//! Arguments, clauses, attribute values and dictionaries.

use super::*;
use crate::text::lexer::collapse;
use crate::text::types::TypeKind;

/// Where an argument stands decides how far it reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Among the arguments of an op: `:` begins the signature.
    Op,
    /// First argument of a loop: `%i = %lb`.
    Binder,
    /// Inside `name(..)`: `:` begins the types of the clause.
    Call,
    /// A dictionary value or list element: `1 : i64` is one value.
    Dict,
}

impl<'a> Parser<'a> {
    pub(super) fn arg(&mut self, place: Place) -> Parsed<Arg> {
        let start = self.tok;
        let mut kind = self.nested(|p| p.arg_kind(place))?;
        if place == Place::Dict && self.at(b':') {
            self.bump();
            let value = Box::new(Arg { kind, comma: false, span: self.since(start) });
            kind = ArgKind::Typed { value, ty: Box::new(self.ty()?) };
        }
        Ok(Arg { kind, comma: false, span: self.since(start) })
    }

    fn arg_kind(&mut self, place: Place) -> Parsed<ArgKind> {
        match self.tok.kind {
            Tok::Value => self.value(place),
            Tok::Int => self.int(),
            Tok::Float => {
                let t = self.bump();
                let text = self.slice(t);
                match text.parse() {
                    Ok(value) => Ok(ArgKind::Float { value, text: self.intern(text) }),
                    Err(_) => Err(self.fault(span(t), "not a number", "")),
                }
            }
            Tok::Str => {
                let t = self.bump();
                let text = self.slice(t);
                let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
                Ok(ArgKind::Str(self.intern(inner)))
            }
            Tok::Ident => self.word(place),
            Tok::Symbol => self.symbol_arg(),
            Tok::Block => {
                let t = self.bump();
                let text = self.slice(t).trim_start_matches('^');
                Ok(ArgKind::Block(self.intern(text)))
            }
            Tok::Hash if self.peek().kind == Tok::Punct(b'=') => self.modifier('#'),
            Tok::Bang if self.peek().kind == Tok::Punct(b'=') => self.modifier('!'),
            Tok::Hash => self.attr(),
            Tok::Bang => Ok(ArgKind::Type(Box::new(self.ty()?))),
            Tok::Punct(b'<') if self.peek().kind == Tok::Punct(b'{') => {
                self.bump();
                let dict = self.dict()?;
                self.expect(b'>', "`>`")?;
                Ok(ArgKind::Props(dict))
            }
            Tok::Punct(b'<') => {
                let body = self.angle_body()?;
                Ok(ArgKind::Attr(AttrRef { path: None, body: Some(body) }))
            }
            Tok::Punct(b'[') => Ok(ArgKind::List(self.list()?)),
            Tok::Punct(b'(') => self.call(None),
            Tok::Punct(b'{') => Ok(ArgKind::Dict(self.dict()?)),
            Tok::Punct(b'?') => {
                self.bump();
                Ok(ArgKind::Word(self.intern("?")))
            }
            _ => Err(self.expected(match place {
                Place::Dict => "a value",
                _ => "an operand",
            })),
        }
    }

    /// The value in hand, as a use.
    fn value_ref(&mut self) -> Parsed<ValueRef> {
        let t = self.bump();
        let text = self.slice(t).trim_start_matches('%');
        let (name, index) = match text.split_once('#') {
            None => (text, None),
            Some((name, digits)) => match digits.parse() {
                Ok(n) => (name, Some(n)),
                Err(_) => return Err(self.fault(span(t), "the result number is too large", "")),
            },
        };
        Ok(ValueRef { name: self.intern(name), index, span: span(t) })
    }

    fn value(&mut self, place: Place) -> Parsed<ArgKind> {
        let value = self.value_ref()?;
        if self.at(b'[') {
            return Ok(ArgKind::Index { base: value, indices: self.list()? });
        }
        if self.at(b'=') && matches!(place, Place::Binder | Place::Call) {
            self.bump();
            let bound = Box::new(self.arg(Place::Call)?);
            return Ok(ArgKind::Bind { name: value, value: bound });
        }
        Ok(ArgKind::Value(value))
    }

    fn int(&mut self) -> Parsed<ArgKind> {
        let t = self.bump();
        let text = self.slice(t);
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let magnitude = match hex {
            Some(h) => i128::from_str_radix(h, 16),
            None => digits.parse::<i128>(),
        };
        match magnitude {
            Ok(n) => Ok(ArgKind::Int { value: if negative { -n } else { n }, hex: hex.is_some() }),
            Err(_) => Err(self.fault(span(t), "the number does not fit in 128 bits", "")),
        }
    }

    /// A word and what it introduces: `key = ..`, `name(..)`, `dense<..>`, or itself.
    fn word(&mut self, place: Place) -> Parsed<ArgKind> {
        let text = self.slice(self.tok);
        let next = self.peek();
        match next.kind {
            Tok::Punct(b'=') if place != Place::Dict => {
                let t = self.bump();
                self.bump();
                let value =
                    Box::new(self.arg(if place == Place::Call { place } else { Place::Op })?);
                return Ok(ArgKind::Keyed { key: self.ident_of(t), value, colon: false });
            }
            Tok::Punct(b':') if place != Place::Dict && self.colon_list() => {
                let t = self.bump();
                self.bump();
                let value = Box::new(self.arg(Place::Op)?);
                return Ok(ArgKind::Keyed { key: self.ident_of(t), value, colon: true });
            }
            Tok::Punct(b'(') => {
                let t = self.bump();
                let name = self.ident_of(t);
                return self.call(Some(name));
            }
            Tok::Punct(b'<') if next.start == self.tok.end => {
                if ty::is_type_word(text) {
                    return Ok(ArgKind::Type(Box::new(self.ty()?)));
                }
                self.bump();
                let body = self.angle_body()?;
                return Ok(ArgKind::Opaque { head: self.intern(text), body });
            }
            _ => {}
        }
        self.bump();
        Ok(match text {
            "true" => ArgKind::Bool(true),
            "false" => ArgKind::Bool(false),
            _ => ArgKind::Word(self.intern(text)),
        })
    }

    /// `word: [` is a keyed list, `word : T` a word before the signature.
    fn colon_list(&self) -> bool {
        let mut lex = self.lex;
        lex.next();
        lex.next().kind == Tok::Punct(b'[')
    }

    fn symbol_arg(&mut self) -> Parsed<ArgKind> {
        let name = self.symbol()?;
        let is_tile = &*name.text == "tile" && self.at(b'(') && self.peek().kind == Tok::Int;
        if !is_tile {
            return Ok(ArgKind::Symbol(name.text));
        }
        self.bump();
        let start = self.tok;
        let kind = self.int()?;
        let address = match kind {
            ArgKind::Int { value, .. } => u64::try_from(value).ok(),
            _ => None,
        };
        self.expect(b')', "`)`")?;
        match address {
            Some(a) => Ok(ArgKind::TileAt(a)),
            None => Err(self.fault(span(start), "not an address of the unified buffer", "")),
        }
    }

    /// `#atomic=add`, `!loc=vec`
    fn modifier(&mut self, sigil: char) -> Parsed<ArgKind> {
        let t = self.bump();
        let text = self.slice(t).trim_start_matches(sigil);
        let key = Ident { text: self.intern(text), span: span(t) };
        self.bump();
        let value = Box::new(self.arg(Place::Op)?);
        Ok(ArgKind::Modifier { sigil, key, value })
    }

    fn attr(&mut self) -> Parsed<ArgKind> {
        let t = self.bump();
        let full = self.slice(t);
        let path = self.intern(full.trim_start_matches('#'));
        if self.at(b'<') {
            let body = Some(self.angle_body()?);
            return Ok(ArgKind::Attr(AttrRef { path: Some(path), body }));
        }
        match self.attr_aliases.get(full) {
            Some(kind) => Ok(kind.clone()),
            None => Ok(ArgKind::Attr(AttrRef { path: Some(path), body: None })),
        }
    }

    /// Raw text of `<..>`, with `<` in hand.
    pub(super) fn angle_range(&mut self) -> Parsed<(usize, usize)> {
        let open = self.tok;
        let close = Lexer { pos: open.start, ..self.lex }.matching_angle();
        match close {
            Some(end) => {
                self.seek(end + 1);
                Ok((open.end, end))
            }
            None => Err(self.fault(span(open), "`<` is never closed", "")),
        }
    }

    fn angle_body(&mut self) -> Parsed<Arc<str>> {
        let (start, end) = self.angle_range()?;
        Ok(self.raw(start, end))
    }

    pub(super) fn raw(&mut self, start: usize, end: usize) -> Arc<str> {
        let text: &'a str = self.text.get(start..end).unwrap_or("");
        let collapsed = collapse(text);
        if collapsed == text { self.intern(text) } else { Arc::from(collapsed) }
    }

    fn list(&mut self) -> Parsed<Vec<Arg>> {
        self.expect(b'[', "`[`")?;
        let mut out = Vec::new();
        while !self.at(b']') {
            if !out.is_empty() {
                self.expect(b',', "`,` or `]`")?;
            }
            out.push(self.arg(Place::Dict)?);
        }
        self.bump();
        Ok(out)
    }

    pub(super) fn dict(&mut self) -> Parsed<Dict> {
        let start = self.expect(b'{', "`{`")?;
        let mut entries: Vec<DictEntry> = Vec::new();
        while !self.at(b'}') {
            if !entries.is_empty() {
                self.expect(b',', "`,` or `}`")?;
            }
            let key = match self.tok.kind {
                Tok::Ident => {
                    let t = self.bump();
                    self.ident_of(t)
                }
                Tok::Str => {
                    let t = self.bump();
                    let text = self.slice(t).trim_matches('"');
                    Ident { text: self.intern(text), span: span(t) }
                }
                _ => return Err(self.expected("an attribute name")),
            };
            let value = match self.eat(b'=') {
                true => Some(self.arg(Place::Dict)?),
                false => None,
            };
            entries.push(DictEntry { key, value });
        }
        self.bump();
        Ok(Dict { entries, span: self.since(start) })
    }

    /// `(args : types)`, or `(arg : type, arg : type)`.
    fn call(&mut self, name: Option<Ident>) -> Parsed<ArgKind> {
        self.expect(b'(', "`(`")?;
        let mut call = Call { name, args: Vec::new(), types: Vec::new(), each: true };
        let mut segments = 0usize;
        while !self.at(b')') {
            let (args, types) = (call.args.len(), call.types.len());
            self.call_args(&mut call.args)?;
            if self.eat(b':') {
                self.call_types(&mut call.types)?;
            }
            segments += 1;
            call.each &= call.args.len() == args + 1 && call.types.len() == types + 1;
        }
        self.bump();
        call.each &= segments > 1;
        Ok(ArgKind::Call(call))
    }

    fn call_args(&mut self, out: &mut Vec<Arg>) -> Parsed<()> {
        let mut first = true;
        loop {
            let comma = !first && self.eat(b',');
            if !comma && !first && (self.at(b':') || self.at(b')')) {
                return Ok(());
            }
            let mut arg = self.arg(Place::Call)?;
            arg.comma = comma || (first && !out.is_empty());
            let last = if first { None } else { out.last() };
            self.check_comma(last, &arg, "`,`, `:` or `)`")?;
            out.push(arg);
            first = false;
        }
    }

    /// Types up to `)`, or up to a comma behind which operands go on (the comma is consumed).
    fn call_types(&mut self, out: &mut Vec<Type>) -> Parsed<()> {
        loop {
            match self.unknown_word() {
                // A dtype spelled out: `ins(%t, %a : T, dtype)`.
                Some(name) => {
                    let t = self.bump();
                    let kind = TypeKind::Other { name, body: None };
                    out.push(Type { kind, elided: false, span: span(t) });
                }
                None => out.push(self.ty()?),
            }
            if self.at(b')') {
                return Ok(());
            }
            self.expect(b',', "`,` or `)`")?;
            let next = self.peek().kind;
            match self.tok.kind {
                Tok::Bang | Tok::Punct(b'<' | b'(') => {}
                Tok::Ident if matches!(next, Tok::Punct(b',' | b')')) => {}
                Tok::Ident if ty::is_type_word(self.slice(self.tok)) => {}
                Tok::Punct(b')') => return Err(self.expected("a type")),
                _ => return Ok(()),
            }
        }
    }

    /// The word in hand, if it is no type.
    pub(super) fn unknown_word(&mut self) -> Option<Arc<str>> {
        let text = self.slice(self.tok);
        let word = self.tok.kind == Tok::Ident && !ty::is_type_word(text);
        word.then(|| self.intern(text))
    }
}
