//! Parser: recursive descent with one token in hand, statement-level recovery.

mod arg;
mod item;
mod op;
mod sig;
mod tile;
mod ty;

use super::ast::*;
use super::lexer::{Lexer, Tok, Token};
use super::types::Type;
use ptoemu_core::diag::{Diagnostic, SourceFile, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Errors reported before the parser gives up.
const MAX_ERRORS: usize = 20;
/// Nesting of regions, lists and types; deeper texts are refused, not overflowed on.
const MAX_DEPTH: u32 = 96;
/// Characters of the source repeated in a message.
const MAX_QUOTE: usize = 40;

/// A statement that could not be read.
struct Fault(Box<Diagnostic>);

type Parsed<T> = Result<T, Fault>;

struct Parser<'a> {
    source: &'a Arc<SourceFile>,
    text: &'a str,
    lex: Lexer<'a>,
    /// The token in hand.
    tok: Token,
    /// The token before it.
    prev: Token,
    /// Braces open before the token in hand.
    braces: usize,
    depth: u32,
    diags: Vec<Diagnostic>,
    names: FxHashMap<&'a str, Arc<str>>,
    type_aliases: FxHashMap<&'a str, Type>,
    attr_aliases: FxHashMap<&'a str, ArgKind>,
}

/// Reads a text. The file holds every statement that could be read; each that could not is an
/// error among the diagnostics.
pub fn parse(source: &Arc<SourceFile>) -> (File, Vec<Diagnostic>) {
    if u32::try_from(source.text.len()).is_err() {
        let fault = Diagnostic::error("syntax", "the text is longer than 4 GiB");
        return (File { items: Vec::new(), source: source.clone() }, vec![fault]);
    }
    let start = Token { kind: Tok::Eof, start: 0, end: 0, line_start: true };
    let mut p = Parser {
        source,
        text: &source.text,
        lex: Lexer::new(&source.text),
        tok: start,
        prev: start,
        braces: 0,
        depth: 0,
        diags: Vec::new(),
        names: FxHashMap::default(),
        type_aliases: FxHashMap::default(),
        attr_aliases: FxHashMap::default(),
    };
    p.tok = p.lex.next();
    let items = p.items(false);
    (File { items, source: source.clone() }, p.diags)
}

impl<'a> Parser<'a> {
    // Tokens.

    fn bump(&mut self) -> Token {
        match self.tok.kind {
            Tok::Punct(b'{') => self.braces += 1,
            Tok::Punct(b'}') => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
        self.prev = self.tok;
        self.tok = self.lex.next();
        self.prev
    }

    /// The token behind the one in hand.
    fn peek(&self) -> Token {
        Lexer { ..self.lex }.next()
    }

    fn slice(&self, t: Token) -> &'a str {
        self.text.get(t.start..t.end).unwrap_or("")
    }

    fn at(&self, b: u8) -> bool {
        self.tok.kind == Tok::Punct(b)
    }

    fn at_word(&self, word: &str) -> bool {
        self.tok.kind == Tok::Ident && self.slice(self.tok) == word
    }

    fn eat(&mut self, b: u8) -> bool {
        let there = self.at(b);
        if there {
            self.bump();
        }
        there
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let there = self.at_word(word);
        if there {
            self.bump();
        }
        there
    }

    fn expect(&mut self, b: u8, what: &str) -> Parsed<Token> {
        if self.at(b) { Ok(self.bump()) } else { Err(self.expected(what)) }
    }

    /// Moves on to a byte position, as after reading raw text.
    fn seek(&mut self, pos: usize) {
        self.prev = Token { kind: Tok::Unknown, start: self.tok.start, end: pos, ..self.tok };
        self.lex.pos = pos;
        self.tok = self.lex.next();
    }

    /// One shared string per distinct name.
    fn intern(&mut self, name: &'a str) -> Arc<str> {
        self.names.entry(name).or_insert_with(|| Arc::from(name)).clone()
    }

    fn ident_of(&mut self, t: Token) -> Ident {
        let text = self.slice(t);
        Ident { text: self.intern(text), span: span(t) }
    }

    /// Span from a token to the last one consumed.
    fn since(&self, start: Token) -> Span {
        Span::new(start.start, self.prev.end.max(start.start))
    }

    // Faults.

    fn quote(&self, t: Token) -> String {
        if t.kind == Tok::Eof && t.end > 0 {
            return "the end of the file".to_string();
        }
        self.quote_span(span(t))
    }

    fn quote_span(&self, at: Span) -> String {
        let text = super::lexer::collapse(self.text.get(at.range()).unwrap_or(""));
        match text.char_indices().nth(MAX_QUOTE) {
            Some((cut, _)) => format!("`{}...`", &text[..cut]),
            None => format!("`{text}`"),
        }
    }

    /// `expected WHAT after PREV`, with a caret at the token in hand.
    fn expected(&self, what: &str) -> Fault {
        if self.tok.kind == Tok::OpenStr {
            return self.fault(span(self.tok), "the line ends inside a string", "no closing quote");
        }
        let message = match self.prev.end {
            0 => format!("expected {what}"),
            _ => format!("expected {what} after {}", self.quote(self.prev)),
        };
        self.fault(span(self.tok), message, format!("found {}", self.quote(self.tok)))
    }

    fn fault(&self, at: Span, message: impl Into<String>, label: impl Into<String>) -> Fault {
        Fault(Box::new(Diagnostic::error("syntax", message).at(self.source, at, label)))
    }

    fn report(&mut self, fault: Fault) {
        self.diags.push(*fault.0);
        if self.diags.len() >= MAX_ERRORS {
            self.stop();
            let message = format!("gave up after {MAX_ERRORS} errors");
            self.diags.push(Diagnostic::new("syntax", ptoemu_core::diag::Level::Note, message));
        }
    }

    fn stopped(&self) -> bool {
        self.tok.kind == Tok::Eof
    }

    /// Nothing more is read.
    fn stop(&mut self) {
        self.lex.pos = self.text.len();
        self.tok = self.lex.next();
    }

    /// Goes to the next statement of the block whose body is `braces` deep.
    fn recover(&mut self, from: usize, braces: usize) {
        if self.tok.start == from && !self.at(b'}') {
            self.bump();
        }
        while !self.stopped() {
            if self.at(b'}') && self.braces <= braces {
                return;
            }
            if self.braces <= braces && self.tok.line_start && self.starts_statement() {
                return;
            }
            self.bump();
        }
    }

    /// Runs `f` one level deeper.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(self.fault(span(self.tok), message, ""));
        }
        self.depth += 1;
        let out = f(self);
        self.depth -= 1;
        out
    }

    /// Skips `loc(...)` where printers put source locations.
    fn skip_loc(&mut self) -> Parsed<()> {
        while self.at_word("loc") && self.peek().kind == Tok::Punct(b'(') {
            let open = self.bump();
            let mut depth = 0usize;
            loop {
                match self.tok.kind {
                    Tok::Punct(b'(') => depth += 1,
                    Tok::Punct(b')') => depth = depth.saturating_sub(1),
                    Tok::Eof => return Err(self.fault(span(open), "`loc(` is never closed", "")),
                    _ => {}
                }
                self.bump();
                if depth == 0 {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn span(t: Token) -> Span {
    Span::new(t.start, t.end)
}
