//! Types. What stands between angle brackets is read character by character, because
//! `0x4xf32` and `127x64xf32` are dimension lists there, not numbers.

use super::*;
use crate::text::lexer::collapse;
use crate::text::types::*;

/// Words that begin a type without `!`.
pub(super) fn is_type_word(word: &str) -> bool {
    matches!(word, "memref" | "vector" | "tensor" | "tuple" | "complex" | "none")
        || Scalar::from_name(word).is_some()
}

impl<'a> Parser<'a> {
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        let start = self.tok;
        let (kind, elided) = self.nested(Self::type_kind)?;
        Ok(Type { kind, elided, span: self.since(start) })
    }

    fn type_kind(&mut self) -> Parsed<(TypeKind, bool)> {
        let t = self.tok;
        let text = self.slice(t);
        match t.kind {
            Tok::Punct(b'(') => return Ok((self.func_type()?, false)),
            Tok::Punct(b'<') => return Ok((self.elided()?, true)),
            Tok::Bang => {}
            Tok::Ident => {
                if let Some(s) = Scalar::from_name(text) {
                    self.bump();
                    return Ok((TypeKind::Scalar(s), false));
                }
                if !is_type_word(text) {
                    return Err(self.expected("a type"));
                }
            }
            _ => return Err(self.expected("a type")),
        }
        self.bump();
        if !self.at(b'<') {
            return Ok((self.plain_type(text), false));
        }
        let (start, end) = self.angle_range()?;
        let mut body = Body { text: self.text, pos: start, end };
        let kind = match text {
            "!pto.ptr" => self.ptr(&mut body)?,
            "!pto.tensor_view" => self.view(&mut body, ViewKind::Tensor)?,
            "!pto.partition_tensor_view" => self.view(&mut body, ViewKind::Partition)?,
            "!pto.tile_view" => self.view(&mut body, ViewKind::Tile)?,
            "!pto.tile_buf" => self.tile(&mut body, true)?,
            "!pto.tile" => self.tile(&mut body, false)?,
            "!pto.vreg" => self.vreg(&mut body)?,
            "!pto.mask" => self.mask(&mut body)?,
            "memref" => self.memref(&mut body),
            "vector" => self.vector(&mut body),
            _ => None,
        };
        Ok((kind.unwrap_or_else(|| self.other(text, start, end)), false))
    }

    fn other(&mut self, name: &'a str, start: usize, end: usize) -> TypeKind {
        TypeKind::Other { name: self.intern(name), body: Some(self.raw(start, end)) }
    }

    /// A type without angle brackets.
    fn plain_type(&mut self, text: &'a str) -> TypeKind {
        if text == "!pto.align" {
            return TypeKind::Align;
        }
        match self.type_aliases.get(text) {
            Some(ty) => ty.kind.clone(),
            None => TypeKind::Other { name: self.intern(text), body: None },
        }
    }

    fn func_type(&mut self) -> Parsed<TypeKind> {
        let (mut operands, mut results) = (Vec::new(), Vec::new());
        self.paren_types(&mut operands)?;
        if self.tok.kind != Tok::Arrow {
            return Err(self.expected("`->`"));
        }
        self.bump();
        match self.at(b'(') {
            true => self.paren_types(&mut results)?,
            false => results.push(self.ty()?),
        }
        Ok(TypeKind::Func { operands, results })
    }

    /// `<..>` where the op implies the name: a pointer or a tile.
    fn elided(&mut self) -> Parsed<TypeKind> {
        let (start, end) = self.angle_range()?;
        let mut body = Body { text: self.text, pos: start, end };
        body.blank();
        let mut ahead = body;
        let kind = match ahead.word().map(Scalar::from_name) {
            Some(Some(_)) => self.ptr(&mut body)?,
            _ => self.tile(&mut body, true)?,
        };
        kind.ok_or_else(|| self.fault(Span::new(start, end), "expected a pointer or tile type", ""))
    }

    pub(super) fn body_fault(&self, body: &Body<'a>, what: &str) -> Fault {
        let mut ahead = *body;
        ahead.blank();
        let start = ahead.pos;
        if ahead.word().is_none() {
            ahead.pos += ahead.rest().chars().next().map_or(0, char::len_utf8);
        }
        let found = match self.text.get(start..ahead.pos) {
            Some(text) if !text.is_empty() => format!("found `{text}`"),
            _ => "the type ends here".to_string(),
        };
        self.fault(Span::new(start, ahead.pos), format!("expected {what}"), found)
    }

    pub(super) fn elem(&self, body: &mut Body<'a>) -> Parsed<Scalar> {
        body.blank();
        let at = body.pos;
        let word = body.word().unwrap_or("");
        Scalar::from_name(word).ok_or_else(|| match word {
            "" => self.body_fault(body, "an element type"),
            _ => {
                let at = Span::new(at, at + word.len());
                let label = match spelt_elsewhere(word) {
                    Some(here) => format!("`.pto` text spells it `{here}`"),
                    None => String::new(),
                };
                self.fault(at, format!("unknown element type `{word}`"), label)
            }
        })
    }

    pub(super) fn body_end(&self, body: &mut Body<'a>) -> Parsed<()> {
        body.blank();
        if body.rest().is_empty() { Ok(()) } else { Err(self.body_fault(body, "`>`")) }
    }

    fn ptr(&mut self, body: &mut Body<'a>) -> Parsed<Option<TypeKind>> {
        if body.peek() == b'!' {
            return Ok(None);
        }
        let elem = self.elem(body)?;
        let mut space = None;
        if body.eat(b',') {
            space = Some(self.space(body)?);
        }
        self.body_end(body)?;
        Ok(Some(TypeKind::Ptr { elem, space }))
    }

    /// `ub`, `#pto.address_space<ub>`
    pub(super) fn space(&self, body: &mut Body<'a>) -> Parsed<Space> {
        body.blank();
        let at = body.pos;
        let raw = body.item();
        let name = raw
            .strip_prefix("#pto.address_space<")
            .and_then(|r| r.strip_suffix('>'))
            .unwrap_or(raw)
            .trim();
        Space::from_name(name).ok_or_else(|| {
            let message = format!("unknown address space `{}`", collapse(name));
            self.fault(Span::new(at, at + raw.len()), message, "")
        })
    }

    fn view(&mut self, body: &mut Body<'a>, kind: ViewKind) -> Parsed<Option<TypeKind>> {
        let (dims, elem) = self.shape(body)?;
        self.body_end(body)?;
        Ok(Some(TypeKind::View { kind, dims, elem }))
    }

    /// `16x?xf32`
    pub(super) fn shape(&self, body: &mut Body<'a>) -> Parsed<(Vec<Dim>, Scalar)> {
        let mut dims = Vec::new();
        while let Some(dim) = body.dim() {
            dims.push(dim.map_err(|at| self.fault(at, "the size is too large", ""))?);
            if !body.eat(b'x') {
                return Err(self.body_fault(body, "`x`"));
            }
        }
        Ok((dims, self.elem(body)?))
    }

    fn vreg(&mut self, body: &mut Body<'a>) -> Parsed<Option<TypeKind>> {
        let at = body.pos;
        let (dims, elem) = self.shape(body)?;
        self.body_end(body)?;
        let lanes = match dims.as_slice() {
            [Dim::Static(n)] => u32::try_from(*n).ok(),
            _ => None,
        };
        match lanes {
            Some(lanes) => Ok(Some(TypeKind::Vreg { lanes, elem })),
            None => {
                let at = Span::new(at, body.pos);
                Err(self.fault(at, "a vector register has one fixed size", "as in `64xf32`"))
            }
        }
    }

    fn mask(&mut self, body: &mut Body<'a>) -> Parsed<Option<TypeKind>> {
        body.blank();
        let at = body.pos;
        let bits = match body.word() {
            Some("b8") => Some(8),
            Some("b16") => Some(16),
            Some("b32") => Some(32),
            Some("G") => None,
            _ => {
                body.pos = at;
                return Err(self.body_fault(body, "`b8`, `b16` or `b32`"));
            }
        };
        self.body_end(body)?;
        Ok(Some(TypeKind::Mask { bits }))
    }

    /// `None` when the text is beyond what this reader takes apart; it is kept as it is.
    fn memref(&mut self, body: &mut Body<'a>) -> Option<TypeKind> {
        let (dims, elem) = self.shape(body).ok()?;
        let (mut layout, mut space) = (None, None);
        while body.eat(b',') {
            body.blank();
            let item = body.item().trim_end();
            let attr = self.attr_of(item);
            match attr {
                Some(a) if space.is_none() => space = Some(a),
                None if layout.is_none() && space.is_none() && !item.is_empty() => {
                    layout = Some(Arc::from(collapse(item)));
                }
                _ => return None,
            }
        }
        body.blank();
        body.rest().is_empty().then_some(TypeKind::MemRef { dims, elem, layout, space })
    }

    /// `#name<..>` or an alias of one.
    pub(super) fn attr_of(&self, item: &str) -> Option<AttrRef> {
        if let Some(ArgKind::Attr(a)) = self.attr_aliases.get(item) {
            return Some(a.clone());
        }
        let inner = item.strip_prefix('#')?;
        let (path, body) = match inner.split_once('<') {
            Some((path, rest)) => (path, Some(Arc::from(collapse(rest.strip_suffix('>')?)))),
            None => (inner, None),
        };
        Some(AttrRef { path: Some(Arc::from(path.trim_end())), body })
    }

    fn vector(&mut self, body: &mut Body<'a>) -> Option<TypeKind> {
        let (dims, elem) = self.shape(body).ok()?;
        body.blank();
        body.rest().is_empty().then_some(TypeKind::Vector { dims, elem })
    }
}

/// The spelling here of types named as in C, numpy or the command line.
fn spelt_elsewhere(word: &str) -> Option<&'static str> {
    Some(match word {
        "u8" | "uint8" | "uint8_t" => "ui8",
        "u16" | "uint16" | "uint16_t" => "ui16",
        "u32" | "uint32" | "uint32_t" => "ui32",
        "u64" | "uint64" | "uint64_t" => "ui64",
        "s8" | "int8" | "int8_t" => "i8",
        "s16" | "int16" | "int16_t" => "i16",
        "s32" | "int32" | "int32_t" | "int" => "i32",
        "s64" | "int64" | "int64_t" => "i64",
        "half" | "float16" => "f16",
        "float" | "float32" => "f32",
        "bfloat16" | "bfloat16_t" => "bf16",
        _ => return None,
    })
}

/// A cursor inside `<..>`.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub text: &'a str,
    pub pos: usize,
    pub end: usize,
}

impl<'a> Body<'a> {
    pub fn rest(&self) -> &'a str {
        self.text.get(self.pos..self.end).unwrap_or("")
    }

    /// Skips white space and comments.
    pub fn blank(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.pos += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.pos += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    /// The next byte that is not blank; 0 at the end.
    pub fn peek(&mut self) -> u8 {
        self.blank();
        self.rest().bytes().next().unwrap_or(0)
    }

    pub fn eat(&mut self, b: u8) -> bool {
        let there = self.peek() == b;
        self.pos += usize::from(there);
        there
    }

    /// A run of letters, digits, `_` and `.`.
    pub fn word(&mut self) -> Option<&'a str> {
        self.blank();
        let rest = self.rest();
        let len = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(rest.len());
        self.pos += len;
        rest.get(..len).filter(|w| !w.is_empty())
    }

    /// Decimal digits as a size.
    pub fn number(&mut self) -> Option<Result<u64, Span>> {
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest.get(..len).filter(|d| !d.is_empty())?;
        let at = Span::new(self.pos, self.pos + len);
        self.pos += len;
        Some(digits.parse().map_err(|_| at))
    }

    /// `16`, `?` or `-1`.
    pub fn dim(&mut self) -> Option<Result<Dim, Span>> {
        self.blank();
        if self.eat(b'?') {
            return Some(Ok(Dim::Dynamic));
        }
        if self.rest().starts_with("-1") {
            self.pos += 2;
            return Some(Ok(Dim::Dynamic));
        }
        Some(self.number()?.map(Dim::Static))
    }

    /// Text up to the next comma outside brackets.
    pub fn item(&mut self) -> &'a str {
        let rest = self.rest();
        let mut depth = 0i64;
        let mut len = rest.len();
        let mut before = 0;
        for (i, b) in rest.bytes().enumerate() {
            match b {
                b'<' | b'[' | b'(' | b'{' => depth += 1,
                b'>' if before == b'-' => {}
                b'>' | b']' | b')' | b'}' => depth -= 1,
                b',' if depth <= 0 => {
                    len = i;
                    break;
                }
                _ => {}
            }
            before = b;
        }
        self.pos += len;
        rest.get(..len).unwrap_or("")
    }
}
