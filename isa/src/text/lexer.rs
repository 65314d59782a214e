//! Tokens, produced on demand: the parser may step back, or read a stretch as raw text, since
//! `0x4xf32` is a hexadecimal number in one place and a dimension list in another.

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tok {
    /// End of the text.
    Eof,
    /// `%name`, `%name#1`
    Value,
    /// `@name`, `@"name"`
    Symbol,
    /// `^name`
    Block,
    /// `!name`
    Bang,
    /// `#name`
    Hash,
    /// `"..."`
    Str,
    /// A string that the line ends before its closing quote.
    OpenStr,
    /// `name`, `dialect.name`
    Ident,
    /// `-12`, `0x1F`
    Int,
    /// `1.0e-3`
    Float,
    /// `->`
    Arrow,
    /// One punctuation byte.
    Punct(u8),
    /// Anything else: one character.
    Unknown,
}

/// A token: kind, byte range, and whether it is the first on its line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Tok,
    pub start: usize,
    pub end: usize,
    pub line_start: bool,
}

/// A position in the text; copying it is looking ahead.
#[derive(Clone, Copy)]
pub(super) struct Lexer<'a> {
    pub text: &'a str,
    pub pos: usize,
}

fn id_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.')
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Lexer { text, pos: 0 }
    }

    /// Byte `ahead` positions further on; 0 behind the end.
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        let rest = self.text.as_bytes().get(self.pos..).unwrap_or(&[]);
        self.pos += rest.iter().position(|&b| !keep(b)).unwrap_or(rest.len());
    }

    /// Skips white space and comments; true if a line ended meanwhile.
    fn skip_blank(&mut self) -> bool {
        let mut newline = self.pos == 0;
        loop {
            match self.byte(0) {
                b'\n' => newline = true,
                b' ' | b'\t' | b'\r' => {}
                b'/' if self.byte(1) == b'/' => {
                    self.skip_while(|b| b != b'\n');
                    continue;
                }
                // `#` with a blank behind it begins a comment, otherwise an attribute.
                b'#' if matches!(self.byte(1), b' ' | b'\t' | b'\r' | b'\n' | b'#')
                    || self.pos + 1 == self.text.len() =>
                {
                    self.skip_while(|b| b != b'\n');
                    continue;
                }
                0xEF if self.pos == 0 && self.text.starts_with('\u{feff}') => self.pos += 2,
                _ => return newline,
            }
            self.pos += 1;
        }
    }

    /// The next token; at the end of the text, `Eof` again and again.
    pub fn next(&mut self) -> Token {
        let line_start = self.skip_blank();
        let start = self.pos;
        let kind = if start >= self.text.len() { Tok::Eof } else { self.scan() };
        Token { kind, start, end: self.pos, line_start }
    }

    fn scan(&mut self) -> Tok {
        let b = self.byte(0);
        match b {
            b'%' => self.value(),
            b'@' if self.byte(1) == b'"' => {
                self.pos += 1;
                if self.string() == Tok::Str { Tok::Symbol } else { Tok::OpenStr }
            }
            b'@' => self.prefixed(Tok::Symbol),
            b'^' => self.prefixed(Tok::Block),
            b'!' => self.prefixed(Tok::Bang),
            b'#' => self.prefixed(Tok::Hash),
            b'"' => self.string(),
            b'-' if self.byte(1) == b'>' => {
                self.pos += 2;
                Tok::Arrow
            }
            b'-' if self.byte(1).is_ascii_digit() => self.number(),
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.skip_while(id_byte);
                Tok::Ident
            }
            b if b.is_ascii_graphic() => {
                self.pos += 1;
                Tok::Punct(b)
            }
            _ => {
                let rest = self.text.get(self.pos..).unwrap_or("");
                self.pos += rest.chars().next().map_or(1, char::len_utf8);
                Tok::Unknown
            }
        }
    }

    fn prefixed(&mut self, kind: Tok) -> Tok {
        let sigil = self.byte(0);
        self.pos += 1;
        let start = self.pos;
        self.skip_while(id_byte);
        // Nested symbol references: `@outer::@inner`.
        while kind == Tok::Symbol && self.text[self.pos..].starts_with("::@") {
            self.pos += 3;
            self.skip_while(id_byte);
        }
        if self.pos == start { Tok::Punct(sigil) } else { kind }
    }

    fn value(&mut self) -> Tok {
        self.pos += 1;
        let start = self.pos;
        loop {
            self.skip_while(id_byte);
            // A dash belongs to the name unless an arrow or a number sign follows.
            if self.pos > start && self.byte(0) == b'-' && id_byte(self.byte(1)) {
                self.pos += 1;
            } else {
                break;
            }
        }
        if self.pos == start {
            return Tok::Punct(b'%');
        }
        if self.byte(0) == b'#' && self.byte(1).is_ascii_digit() {
            self.pos += 1;
            self.skip_while(|b| b.is_ascii_digit());
        }
        Tok::Value
    }

    fn string(&mut self) -> Tok {
        self.pos += 1;
        loop {
            self.skip_while(|b| !matches!(b, b'"' | b'\\' | b'\n'));
            match self.byte(0) {
                b'"' => {
                    self.pos += 1;
                    return Tok::Str;
                }
                b'\\' if self.pos + 1 < self.text.len() && self.byte(1) != b'\n' => {
                    let rest = self.text.get(self.pos + 1..).unwrap_or("");
                    self.pos += 1 + rest.chars().next().map_or(0, char::len_utf8);
                }
                b'\\' => self.pos += 1,
                _ => return Tok::OpenStr,
            }
        }
    }

    fn number(&mut self) -> Tok {
        if self.byte(0) == b'-' {
            self.pos += 1;
        }
        if self.byte(0) == b'0'
            && matches!(self.byte(1), b'x' | b'X')
            && self.byte(2).is_ascii_hexdigit()
        {
            self.pos += 2;
            self.skip_while(|b| b.is_ascii_hexdigit());
            return Tok::Int;
        }
        self.skip_while(|b| b.is_ascii_digit());
        let mut kind = Tok::Int;
        if self.byte(0) == b'.' {
            kind = Tok::Float;
            self.pos += 1;
            self.skip_while(|b| b.is_ascii_digit());
        }
        let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if matches!(self.byte(0), b'e' | b'E') && self.byte(1 + sign).is_ascii_digit() {
            kind = Tok::Float;
            self.pos += 1 + sign;
            self.skip_while(|b| b.is_ascii_digit());
        }
        kind
    }

    /// From a `<` at the current position, the position of its `>`; `->` and `>=` do not close.
    pub fn matching_angle(&self) -> Option<usize> {
        let mut lex = *self;
        let mut depth = 0usize;
        loop {
            lex.skip_while(|b| !matches!(b, b'<' | b'>' | b'"' | b'-' | b'/'));
            match lex.byte(0) {
                b'<' => depth += 1,
                b'>' if lex.byte(1) == b'=' => {}
                b'>' if depth <= 1 => return Some(lex.pos),
                b'>' => depth -= 1,
                b'"' if lex.string() == Tok::OpenStr => return None,
                b'"' => continue,
                b'-' if lex.byte(1) == b'>' => lex.pos += 1,
                b'/' if lex.byte(1) == b'/' => lex.skip_while(|b| b != b'\n'),
                _ if lex.pos >= lex.text.len() => return None,
                _ => {}
            }
            lex.pos += 1;
        }
    }
}

/// Raw text with comments removed and each run of white space made one blank.
pub(super) fn collapse(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut lex = Lexer::new(raw);
    while lex.pos < raw.len() {
        let start = lex.pos;
        match lex.byte(0) {
            b'"' => {
                lex.string();
                out.push_str(&raw[start..lex.pos]);
            }
            b'/' if lex.byte(1) == b'/' => {
                lex.skip_while(|b| b != b'\n');
                blank(&mut out);
            }
            b if b.is_ascii_whitespace() => {
                lex.skip_while(|b| b.is_ascii_whitespace());
                blank(&mut out);
            }
            _ => {
                lex.pos += 1;
                lex.skip_while(|b| !matches!(b, b'"' | b'/') && !b.is_ascii_whitespace());
                out.push_str(&raw[start..lex.pos]);
            }
        }
    }
    out.truncate(out.trim_end().len());
    out
}

fn blank(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Tok, &str)> {
        let mut lex = Lexer::new(text);
        let mut out = Vec::new();
        loop {
            let t = lex.next();
            if t.kind == Tok::Eof {
                return out;
            }
            out.push((t.kind, &text[t.start..t.end]));
        }
    }

    #[test]
    fn names_keep_their_dots_and_result_numbers() {
        use Tok::*;
        assert_eq!(
            kinds("%4#1 %a-b.c->%c @f ^bb0 pto.tmatmul.acc !pto.align #pto.pipe"),
            [
                (Value, "%4#1"),
                (Value, "%a-b.c"),
                (Arrow, "->"),
                (Value, "%c"),
                (Symbol, "@f"),
                (Block, "^bb0"),
                (Ident, "pto.tmatmul.acc"),
                (Bang, "!pto.align"),
                (Hash, "#pto.pipe"),
            ]
        );
    }

    #[test]
    fn numbers() {
        use Tok::*;
        assert_eq!(
            kinds("-1 0x1F 1.5 -2e3 1. 7e"),
            [
                (Int, "-1"),
                (Int, "0x1F"),
                (Float, "1.5"),
                (Float, "-2e3"),
                (Float, "1."),
                (Int, "7"),
                (Ident, "e"),
            ]
        );
    }

    #[test]
    fn a_number_sign_with_a_blank_is_a_comment() {
        use Tok::*;
        assert_eq!(kinds("# pto.tassign %a\n#\n#x // y\n%b"), [(Hash, "#x"), (Value, "%b")]);
    }

    #[test]
    fn strings_end_with_their_line() {
        use Tok::*;
        let got = kinds("\"a\\\"b\" \"open\n\"\\");
        assert_eq!(got, [(Str, "\"a\\\"b\""), (OpenStr, "\"open"), (OpenStr, "\"\\")]);
    }

    #[test]
    fn angle_brackets_match_around_arrows() {
        let text = "<(d0) -> (d0), <a>, \">\"> tail";
        let end = Lexer::new(text).matching_angle().unwrap();
        assert_eq!(&text[end..], "> tail");
        assert_eq!(Lexer::new("<a<b>").matching_angle(), None);
    }

    #[test]
    fn collapsed_text_is_stable() {
        let once = collapse(" a /  b // note\n\t c \"x  y\" ");
        assert_eq!(once, "a / b c \"x  y\"");
        assert_eq!(collapse(&once), once);
    }
}
