//! Reads the RON of a target or study file into a tree that keeps the span of every value.
//!
//! Serde loses positions; a figure needs its own, because a bad one is reported under its digits
//! and a figure taken from a base file points into that file.

use crate::diag::{Diagnostic, SourceFile, Span};
use std::sync::Arc;

/// Deepest nesting accepted; target files use four levels.
const DEPTH: usize = 32;

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The bytes it is written in.
    pub span: Span,
    /// What stands there.
    pub value: Value,
}

/// What target and study files are made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `(name: value, ...)` or `{ "name": value, ... }`.
    Fields(Vec<Field>),
    /// `(value, name: value, ...)`: a figure with its provenance.
    Figure(Box<Node>, Vec<Field>),
    /// `[value, ...]`.
    List(Vec<Node>),
    /// A number.
    Number(f64),
    /// A text in quotes.
    Text(String),
    /// A bare word: an enum variant.
    Word(String),
}

/// A named value.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// The bytes of the name.
    pub span: Span,
    /// Its value.
    pub node: Node,
}

impl Value {
    /// What it is, for messages.
    pub fn what(&self) -> &'static str {
        match self {
            Value::Fields(_) => "a group of fields",
            Value::Figure(..) => "a figure",
            Value::List(_) => "a list",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::Word(_) => "a word",
        }
    }
}

/// Parses a whole file.
pub fn read(file: &Arc<SourceFile>) -> Result<Node, Diagnostic> {
    let mut r = Reader { file, text: &file.text, at: 0 };
    let node = r.value(0)?;
    r.space()?;
    if r.at < r.text.len() {
        return Err(r.error("text after the end of the file's one group"));
    }
    Ok(node)
}

struct Reader<'a> {
    file: &'a Arc<SourceFile>,
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        let width = self.peek().map_or(0, char::len_utf8);
        self.error_at(Span::new(self.at, self.at + width), message)
    }

    fn error_at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("target.syntax", message).at(self.file, span, "")
    }

    /// Skips white space, `//` and `/* */` comments.
    fn space(&mut self) -> Result<(), Diagnostic> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if self.rest().starts_with("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.rest().starts_with("/*") {
                let Some(n) = self.rest().find("*/") else {
                    return Err(self.error("comment without end"));
                };
                self.at += n + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// Takes `c` if it comes next.
    fn take(&mut self, c: char) -> Result<bool, Diagnostic> {
        self.space()?;
        let hit = self.peek() == Some(c);
        if hit {
            self.at += c.len_utf8();
        }
        Ok(hit)
    }

    fn expect(&mut self, c: char) -> Result<(), Diagnostic> {
        if self.take(c)? { Ok(()) } else { Err(self.error(format!("expected `{c}`"))) }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Diagnostic> {
        self.space()?;
        let start = self.at;
        if depth > DEPTH {
            return Err(self.error("nested too deeply"));
        }
        let value = match self.peek() {
            Some('(') => self.group(depth)?,
            Some('{') => self.map(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Value::Text(self.string()?),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number()?,
            Some(c) if c.is_alphabetic() || c == '_' => self.word_or_number(),
            Some(_) | None => return Err(self.error("expected a value")),
        };
        Ok(Node { span: Span::new(start, self.at), value })
    }

    fn group(&mut self, depth: usize) -> Result<Value, Diagnostic> {
        self.expect('(')?;
        let (mut first, mut fields) = (None, Vec::new());
        while !self.take(')')? {
            match self.field_name()? {
                Some((name, span)) => {
                    let node = self.value(depth + 1)?;
                    fields.push(Field { name, span, node });
                }
                None if first.is_none() && fields.is_empty() => {
                    first = Some(self.value(depth + 1)?);
                }
                None => return Err(self.error("expected `name:` or `)`")),
            }
            self.comma(')')?;
        }
        Ok(match first {
            Some(node) => Value::Figure(Box::new(node), fields),
            None => Value::Fields(fields),
        })
    }

    /// `name :` ahead, or nothing consumed.
    fn field_name(&mut self) -> Result<Option<(String, Span)>, Diagnostic> {
        self.space()?;
        let start = self.at;
        let word = self.word();
        let span = Span::new(start, self.at);
        if !word.is_empty() && self.take(':')? {
            return Ok(Some((word, span)));
        }
        self.at = start;
        Ok(None)
    }

    fn map(&mut self, depth: usize) -> Result<Value, Diagnostic> {
        self.expect('{')?;
        let mut fields = Vec::new();
        while !self.take('}')? {
            if self.peek() != Some('"') {
                return Err(self.error("expected a name in quotes or `}`"));
            }
            let start = self.at;
            let name = self.string()?;
            let span = Span::new(start, self.at);
            self.expect(':')?;
            let node = self.value(depth + 1)?;
            fields.push(Field { name, span, node });
            self.comma('}')?;
        }
        Ok(Value::Fields(fields))
    }

    fn list(&mut self, depth: usize) -> Result<Value, Diagnostic> {
        self.expect('[')?;
        let mut items = Vec::new();
        while !self.take(']')? {
            items.push(self.value(depth + 1)?);
            self.comma(']')?;
        }
        Ok(Value::List(items))
    }

    /// A comma, or the closing bracket ahead.
    fn comma(&mut self, close: char) -> Result<(), Diagnostic> {
        if self.take(',')? || self.peek() == Some(close) {
            return Ok(());
        }
        Err(self.error(format!("expected `,` or `{close}`")))
    }

    fn string(&mut self) -> Result<String, Diagnostic> {
        self.space()?;
        let start = self.at;
        self.expect('"')?;
        let mut out = String::new();
        loop {
            let Some(c) = self.peek() else {
                return Err(self.error_at(Span::new(start, self.at), "text without closing quote"));
            };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(out),
                '\\' => match self.peek() {
                    Some(e @ ('"' | '\\')) => {
                        self.at += 1;
                        out.push(e);
                    }
                    _ => return Err(self.error("only `\\\"` and `\\\\` are escapes here")),
                },
                c => out.push(c),
            }
        }
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let n = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let word = rest[..n].to_string();
        self.at += n;
        word
    }

    fn word_or_number(&mut self) -> Value {
        let word = self.word();
        match word.as_str() {
            "NaN" => Value::Number(f64::NAN),
            "inf" => Value::Number(f64::INFINITY),
            _ => Value::Word(word),
        }
    }

    fn number(&mut self) -> Result<Value, Diagnostic> {
        let start = self.at;
        let rest = self.rest();
        let n = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '+' | '.' | '_')))
            .unwrap_or(rest.len());
        let text = rest[..n].replace('_', "");
        self.at += n;
        let parsed = match text.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok().map(f64::from),
            None => text.parse().ok(),
        };
        parsed
            .map(Value::Number)
            .ok_or_else(|| self.error_at(Span::new(start, self.at), "not a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Node, Diagnostic> {
        read(&SourceFile::new("t.ron", text))
    }

    #[test]
    fn keeps_the_span_of_every_value() {
        let text = "(end: (7, src: \"a\"), // tail\n m: {\"x\": [1, B]},)";
        let Value::Fields(fields) = parse(text).unwrap().value else { panic!("no fields") };
        assert_eq!(&text[fields[0].span.range()], "end");
        let Value::Figure(n, rest) = &fields[0].node.value else { panic!("no figure") };
        assert_eq!(&text[n.span.range()], "7");
        assert_eq!(rest[0].name, "src");
        let Value::Fields(m) = &fields[1].node.value else { panic!("no map") };
        assert_eq!(&text[m[0].node.span.range()], "[1, B]");
    }

    #[test]
    fn refuses_what_is_not_ron() {
        for bad in ["(", "(a: )", "(a: 1 b: 2)", "(a: 1) x", "(a: \"x", "/*", "(a: 1x2)", "{a: 1}"]
        {
            assert_eq!(parse(bad).unwrap_err().code, "target.syntax", "{bad}");
        }
        assert!(parse(&"(a:".repeat(10_000)).is_err());
    }
}
