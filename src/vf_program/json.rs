//! JSON with the place of every value, so that a wrong name is reported where it stands.

use ptoemu_core::diag::{Diagnostic, SourceFile, Span};
use std::sync::Arc;

/// Deepest nesting accepted.
const DEPTH: usize = 64;

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Json {
    /// Its bytes in the file.
    pub span: Span,
    /// What it is.
    pub value: Value,
}

/// What JSON is made of.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Any number, as written.
    Number(String),
    /// A text, escapes resolved.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// Members in file order.
    Object(Vec<(String, Span, Json)>),
}

impl Json {
    /// Member `name` of an object.
    pub fn member(&self, name: &str) -> Option<&Json> {
        match &self.value {
            Value::Object(m) => m.iter().find(|(n, ..)| n == name).map(|(.., v)| v),
            _ => None,
        }
    }
}

/// Parses a whole file.
pub fn parse(file: &Arc<SourceFile>) -> Result<Json, Diagnostic> {
    let mut p = Parser { file, text: file.text.as_bytes(), at: 0 };
    let v = p.value(0)?;
    p.space();
    if p.at < p.text.len() {
        return Err(p.error("text after the end of the JSON value"));
    }
    Ok(v)
}

struct Parser<'a> {
    file: &'a Arc<SourceFile>,
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn error(&self, message: &str) -> Diagnostic {
        let end = (self.at + 1).min(self.text.len());
        Diagnostic::error("syntax", message).at(self.file, Span::new(self.at.min(end), end), "")
    }

    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, c: u8) -> bool {
        self.space();
        let hit = self.text.get(self.at) == Some(&c);
        self.at += usize::from(hit);
        hit
    }

    fn value(&mut self, depth: usize) -> Result<Json, Diagnostic> {
        self.space();
        if depth > DEPTH {
            return Err(self.error("nested too deeply"));
        }
        let start = self.at;
        let value = match self.text.get(self.at) {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'a'..=b'z') => self.word()?,
            Some(_) => return Err(self.error("expected a value")),
            None => return Err(self.error("the file ends in the middle of a value")),
        };
        Ok(Json { span: Span::new(start, self.at), value })
    }

    fn object(&mut self, depth: usize) -> Result<Value, Diagnostic> {
        self.at += 1;
        let mut members = Vec::new();
        if self.take(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.space();
            let start = self.at;
            if self.text.get(self.at) != Some(&b'"') {
                return Err(self.error("expected a member name in quotes"));
            }
            let name = self.string()?;
            let span = Span::new(start, self.at);
            if !self.take(b':') {
                return Err(self.error("expected `:`"));
            }
            members.push((name, span, self.value(depth + 1)?));
            if self.take(b'}') {
                return Ok(Value::Object(members));
            }
            if !self.take(b',') {
                return Err(self.error("expected `,` or `}`"));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Diagnostic> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(b']') {
                return Ok(Value::List(items));
            }
            if !self.take(b',') {
                return Err(self.error("expected `,` or `]`"));
            }
        }
    }

    fn number(&mut self) -> Value {
        let start = self.at;
        let part = |c: &u8| c.is_ascii_digit() || matches!(c, b'-' | b'+' | b'.' | b'e' | b'E');
        while self.text.get(self.at).is_some_and(part) {
            self.at += 1;
        }
        Value::Number(String::from_utf8_lossy(&self.text[start..self.at]).into_owned())
    }

    fn word(&mut self) -> Result<Value, Diagnostic> {
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.error("expected a value"))
    }

    /// A text between quotes; the escapes of names are the simple ones.
    fn string(&mut self) -> Result<String, Diagnostic> {
        let mut out = Vec::new();
        self.at += 1;
        loop {
            let Some(&c) = self.text.get(self.at) else {
                return Err(self.error("text without closing quote"));
            };
            self.at += 1;
            match c {
                b'"' => return Ok(String::from_utf8_lossy(&out).into_owned()),
                b'\\' => {
                    let Some(&e) = self.text.get(self.at) else { continue };
                    self.at += 1;
                    match e {
                        b'"' | b'\\' | b'/' => out.push(e),
                        b'n' => out.push(b'\n'),
                        b't' => out.push(b'\t'),
                        b'r' => out.push(b'\r'),
                        _ => {
                            self.at -= 1;
                            return Err(self.error("escape not supported in names"));
                        }
                    }
                }
                c if c < 0x20 => {
                    self.at -= 1;
                    return Err(self.error("control character in a text"));
                }
                c => out.push(c),
            }
        }
    }
}
