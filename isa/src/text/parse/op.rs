//! Statements: results, name, arguments, signature, regions.

use super::arg::Place;
use super::*;

/// Names on the left of `=` that are looked at to tell a new statement from an operand.
const MAX_RESULTS: usize = 256;

/// Ops whose `{}` and `{word}` are bodies, not dictionaries.
fn takes_region(name: &str) -> bool {
    let tail = name.rsplit('.').next().unwrap_or(name);
    (name.starts_with("scf.") && !matches!(tail, "yield" | "condition"))
        || name.ends_with("scope")
        || name.contains(".section")
        || matches!(tail, "func" | "module" | "execute_region")
}

/// The first argument of a loop defines its induction variable.
fn binds_first(name: &str) -> bool {
    name.ends_with(".for")
}

impl<'a> Parser<'a> {
    /// One statement; `None` for aliases and line labels, which leave nothing behind.
    pub(super) fn statement(&mut self) -> Parsed<Option<Op>> {
        match self.tok.kind {
            Tok::Bang | Tok::Hash if self.peek().kind == Tok::Punct(b'=') => {
                self.alias()?;
                return Ok(None);
            }
            Tok::Hash => {
                let mut fault = self.fault(
                    span(self.tok),
                    "expected a statement, found an attribute",
                    "attributes stand behind an op name",
                );
                fault.0.help = Some("a comment needs a blank after `#`".to_string());
                return Err(fault);
            }
            Tok::Ident if self.at_label() => {
                self.bump();
                self.bump();
                return Ok(None);
            }
            _ => {}
        }
        let start = self.tok;
        if self.at_stray_word() {
            return Err(self.expected("a new line"));
        }
        let results = self.results()?;
        let mut op = match self.tok.kind {
            Tok::Str => self.generic(start)?,
            Tok::Ident => self.custom(start)?,
            _ if results.is_empty() => return Err(self.expected("a statement")),
            _ => return Err(self.expected("an op name")),
        };
        self.skip_loc()?;
        op.results = results;
        op.span = self.since(start);
        Ok(Some(op))
    }

    /// `name:` alone on its line.
    fn at_label(&self) -> bool {
        if self.slice(self.tok).contains('.') {
            return false;
        }
        let mut lex = self.lex;
        lex.next().kind == Tok::Punct(b':') && lex.next().line_start
    }

    /// A bare word behind a finished statement on the same line.
    fn at_stray_word(&self) -> bool {
        let t = self.tok;
        let word = self.slice(t);
        t.kind == Tok::Ident
            && !t.line_start
            && !word.contains('.')
            && !matches!(word, "return" | "call")
            && !matches!(self.prev.kind, Tok::Punct(b'{' | b'}' | b':') | Tok::Eof)
    }

    fn results(&mut self) -> Parsed<Vec<ResultBind>> {
        let mut out = Vec::new();
        while self.tok.kind == Tok::Value {
            let start = self.tok;
            let name = self.value_name()?;
            let pack = match self.eat(b':') {
                true => Some(self.small_int("the number of results")?),
                false => None,
            };
            out.push(ResultBind { name: name.text, pack, span: self.since(start) });
            if !self.eat(b',') {
                self.expect(b'=', "`=`")?;
                return Ok(out);
            }
        }
        if out.is_empty() { Ok(out) } else { Err(self.expected("a `%name`")) }
    }

    fn small_int(&mut self, what: &str) -> Parsed<u32> {
        let number = self.slice(self.tok).parse().ok().filter(|_| self.tok.kind == Tok::Int);
        match number {
            Some(n) => {
                self.bump();
                Ok(n)
            }
            None => Err(self.expected(what)),
        }
    }

    fn custom(&mut self, start: Token) -> Parsed<Op> {
        let name_tok = self.bump();
        let name_text = self.slice(name_tok);
        let name = self.ident_of(name_tok);
        let mut args = self.args(name_text)?;
        let mut types = self.signature()?;
        if self.at(b'{') && self.at_dict(name_text) {
            args.push(self.dict_arg()?);
        }
        let regions = self.regions(name_text)?;
        if self.at(b'{') && self.at_dict(name_text) {
            args.push(self.dict_arg()?);
        }
        // `pto.strict_vecscope(..) {..} : (T) -> ()`
        if types.is_none() && !regions.is_empty() && self.at(b':') {
            types = self.signature()?;
        }
        let span = self.since(start);
        Ok(Op { results: Vec::new(), name, form: Form::Custom, args, types, regions, span })
    }

    fn dict_arg(&mut self) -> Parsed<Arg> {
        let dict = self.dict()?;
        let span = dict.span;
        Ok(Arg { kind: ArgKind::Dict(dict), comma: false, span })
    }

    fn regions(&mut self, name: &str) -> Parsed<Vec<Region>> {
        let mut out = Vec::new();
        while self.at(b'{') && !self.at_dict(name) {
            if !takes_region(name) && self.opens_with_nothing() {
                self.bump();
                return Err(self.expected("a statement or an attribute"));
            }
            out.push(self.region(None)?);
            while (self.at_word("else") || self.at_word("do"))
                && self.peek().kind == Tok::Punct(b'{')
            {
                let t = self.bump();
                let keyword = self.ident_of(t);
                out.push(self.region(Some(keyword))?);
            }
        }
        Ok(out)
    }

    /// Behind the `{` in hand stands an alias or a line label. They leave nothing in the tree, and
    /// a body that seems to begin with what follows them may look like a dictionary.
    fn opens_with_nothing(&self) -> bool {
        let mut lex = self.lex;
        let first = lex.next();
        let next = lex.next().kind;
        match first.kind {
            Tok::Bang | Tok::Hash => next == Tok::Punct(b'='),
            Tok::Ident => next == Tok::Punct(b':'),
            _ => false,
        }
    }

    /// The `{` in hand opens an attribute dictionary, not a region.
    fn at_dict(&self, op: &str) -> bool {
        let mut lex = self.lex;
        let first = lex.next();
        match (first.kind, lex.next().kind) {
            (Tok::Punct(b'}'), _) => !takes_region(op),
            (Tok::Ident | Tok::Str, Tok::Punct(b'=' | b',')) => true,
            (Tok::Ident | Tok::Str, Tok::Punct(b'}')) => !takes_region(op),
            _ => false,
        }
    }

    /// Arguments up to the signature, a region, or the next statement.
    fn args(&mut self, op: &str) -> Parsed<Vec<Arg>> {
        let mut out: Vec<Arg> = Vec::new();
        loop {
            self.skip_loc()?;
            let comma = self.at(b',') && !out.is_empty();
            if comma {
                self.bump();
                if self.tok.line_start && (self.at_binding(1) || self.at_dotted()) {
                    return Err(self.expected("an operand"));
                }
            } else if self.args_end(op, out.is_empty()) {
                return Ok(out);
            }
            let binder = out.is_empty() && binds_first(op);
            let mut arg = self.arg(if binder { Place::Binder } else { Place::Op })?;
            arg.comma = comma;
            self.check_comma(out.last(), &arg, "`,` or `:`")?;
            out.push(arg);
        }
    }

    /// Two operands side by side want a comma between them.
    pub(super) fn check_comma(&self, last: Option<&Arg>, arg: &Arg, what: &str) -> Parsed<()> {
        let Some(last) = last else { return Ok(()) };
        let type_arg = matches!(arg.kind, ArgKind::Type(_));
        if arg.comma || !is_operand(last) || !(type_arg || is_operand(arg)) {
            return Ok(());
        }
        let message = format!("expected {what} after {}", self.quote_span(last.span));
        Err(self.fault(arg.span, message, format!("found {}", self.quote_span(arg.span))))
    }

    /// No further argument: the statement goes on with its types or body, or is over.
    fn args_end(&self, op: &str, empty: bool) -> bool {
        match self.tok.kind {
            Tok::Eof | Tok::Arrow => true,
            Tok::Punct(b'{') => !self.at_dict(op),
            Tok::Punct(b':' | b'}' | b')' | b']' | b'>' | b'=' | b',') => true,
            Tok::Value => {
                // A list of results begins a line; `%a,` further right is an operand.
                let limit = if self.tok.line_start { MAX_RESULTS } else { 1 };
                !(empty && binds_first(op)) && self.at_binding(limit)
            }
            Tok::Block => !empty || self.tok.line_start,
            Tok::Str => self.tok.line_start && self.peek().kind == Tok::Punct(b'('),
            Tok::Bang | Tok::Hash => self.tok.line_start && self.peek().kind == Tok::Punct(b'='),
            Tok::Ident => self.word_starts_statement(),
            _ => false,
        }
    }

    fn at_dotted(&self) -> bool {
        self.tok.kind == Tok::Ident && self.slice(self.tok).contains('.')
    }

    /// The value in hand begins `%a, %b:2 = ..`; at most `limit` names are looked at.
    fn at_binding(&self, limit: usize) -> bool {
        let mut lex = self.lex;
        let mut tok = self.tok;
        let mut seen = 0;
        while tok.kind == Tok::Value && seen < limit {
            seen += 1;
            tok = lex.next();
            if tok.kind == Tok::Punct(b':') && lex.next().kind == Tok::Int {
                tok = lex.next();
            }
            match tok.kind {
                Tok::Punct(b'=') => return true,
                Tok::Punct(b',') => tok = lex.next(),
                _ => return false,
            }
        }
        false
    }

    /// The word in hand begins a statement although the one before it might go on.
    fn word_starts_statement(&self) -> bool {
        let word = self.slice(self.tok);
        let next = self.peek();
        if matches!(word, "return" | "module") || (word == "call" && next.kind == Tok::Symbol) {
            return true;
        }
        if word.contains('.') {
            return next.kind != Tok::Punct(b'=');
        }
        if !self.tok.line_start || matches!(word, "to" | "step") {
            return false;
        }
        // A tile op without its prefix: `tadd %d, %a, %b`, `tabs ins(..)`, or alone on its line.
        match next.kind {
            Tok::Value | Tok::Eof | Tok::Punct(b'}') => true,
            Tok::Ident if matches!(self.slice(next), "ins" | "outs") => true,
            Tok::Punct(b':' | b',' | b'{' | b'=' | b'(' | b'[') | Tok::Arrow => false,
            _ => next.line_start,
        }
    }

    /// The token in hand may begin a statement; used after an error.
    pub(super) fn starts_statement(&self) -> bool {
        match self.tok.kind {
            Tok::Value => self.at_binding(MAX_RESULTS),
            Tok::Ident => self.word_starts_statement(),
            Tok::Block => true,
            Tok::Str => self.peek().kind == Tok::Punct(b'('),
            _ => false,
        }
    }

    /// `"dialect.op"(%a) <{..}> ({..}) {..} : (T) -> U`
    fn generic(&mut self, start: Token) -> Parsed<Op> {
        let name_tok = self.bump();
        let quoted: &'a str = self.slice(name_tok);
        let name = Ident { text: self.intern(quoted.trim_matches('"')), span: span(name_tok) };
        self.expect(b'(', "`(`")?;
        let mut args: Vec<Arg> = Vec::new();
        while !self.at(b')') {
            let comma = !args.is_empty();
            if comma {
                self.expect(b',', "`,` or `)`")?;
            }
            if self.tok.kind != Tok::Value {
                return Err(self.expected("a `%name`"));
            }
            args.push(Arg { comma, ..self.arg(Place::Op)? });
        }
        self.bump();
        if self.at(b'[') || self.at(b'<') {
            args.push(self.arg(Place::Op)?);
        }
        if self.at(b'<') {
            args.push(self.arg(Place::Op)?);
        }
        let mut regions = Vec::new();
        if self.eat(b'(') {
            while !self.at(b')') {
                if !regions.is_empty() {
                    self.expect(b',', "`,` or `)`")?;
                }
                regions.push(self.region(None)?);
            }
            self.bump();
        }
        if self.at(b'{') {
            args.push(self.dict_arg()?);
        }
        let types = self.signature()?;
        let span = self.since(start);
        Ok(Op { results: Vec::new(), name, form: Form::Generic, args, types, regions, span })
    }
}

fn is_operand(arg: &Arg) -> bool {
    matches!(
        arg.kind,
        ArgKind::Value(_)
            | ArgKind::Index { .. }
            | ArgKind::Int { .. }
            | ArgKind::Float { .. }
            | ArgKind::Bool(_)
            | ArgKind::Str(_)
            | ArgKind::Attr(_)
    )
}
