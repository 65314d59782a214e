//! Diagnostics as data: what is wrong, where, which rule says so and the way out.
//!
//! Wording is composed where the fault is known; drawing carets is the command's business.

use std::ops::Range;
use std::sync::Arc;

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing; never changes the exit status.
    Note,
    /// Defined but suspicious; an error under `--deny warnings`.
    Warning,
    /// A fault, a hazard or a refusal.
    Error,
}

impl Level {
    /// Lower-case name as printed and as written to JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// A text that spans point into.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct SourceFile {
    /// Name shown to the user.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// A shared source file.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(SourceFile { name: name.into(), text: text.into() })
    }

    /// 1-based line and column (in characters) of a byte offset.
    pub fn line_col(&self, offset: usize) -> (usize, usize) {
        let upto = self.text.get(..offset).unwrap_or(&self.text);
        let line = upto.matches('\n').count() + 1;
        let start = upto.rfind('\n').map_or(0, |i| i + 1);
        (line, upto[start..].chars().count() + 1)
    }
}

/// A byte range of a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Span of `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start: start as u32, end: end as u32 }
    }

    /// As a range of `usize`.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One place a diagnostic points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The text.
    pub file: Arc<SourceFile>,
    /// The bytes under the caret.
    pub span: Span,
    /// What to say beside the caret; may be empty.
    pub text: String,
}

/// One message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable identifier, for example `memcheck.range` or `syntax`.
    pub code: &'static str,
    /// Severity.
    pub level: Level,
    /// One sentence: what is wrong.
    pub message: String,
    /// Places; the first one is the primary.
    pub labels: Vec<Label>,
    /// Facts that explain it: operand, repeat, bytes, owner, the rule broken.
    pub notes: Vec<String>,
    /// The way out.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without places.
    pub fn new(code: &'static str, level: Level, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            level,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// An error without places.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Level::Error, message)
    }

    /// Adds a place.
    pub fn at(mut self, file: &Arc<SourceFile>, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { file: file.clone(), span, text: text.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Sets the way out.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

/// A number with its noun: `1 error`, `2 errors`.
pub fn count(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
