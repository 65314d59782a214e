//! Figures and where they come from.

use crate::diag::{SourceFile, Span};
use std::fmt;
use std::sync::Arc;

/// How far a figure can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Conf {
    /// Read off silicon or off the vendor's cycle-accurate model.
    Measured,
    /// Fitted to, or computed from, measured cases; the source says which.
    Derived,
    /// Stated by the vendor.
    Documented,
    /// Nobody says; chosen so that the model is complete.
    Assumed,
}

impl Conf {
    /// Every confidence, best first.
    pub const ALL: [Conf; 4] = [Conf::Measured, Conf::Derived, Conf::Documented, Conf::Assumed];

    /// Name as written in target files.
    pub const fn name(self) -> &'static str {
        match self {
            Conf::Measured => "Measured",
            Conf::Derived => "Derived",
            Conf::Documented => "Documented",
            Conf::Assumed => "Assumed",
        }
    }

    /// Parses the name.
    pub fn parse(s: &str) -> Option<Conf> {
        Conf::ALL.into_iter().find(|c| c.name() == s)
    }
}

impl fmt::Display for Conf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A source that figures cite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What was measured or read, and what was fitted on it.
    pub note: String,
    /// Sort of source, for example `Simulator` or `Board`.
    pub kind: String,
    /// When, as far as known.
    pub date: String,
}

/// Where a figure is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: Arc<SourceFile>,
    /// The number in it.
    pub span: Span,
}

/// One number of a target, with its provenance.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// Unit, from the schema.
    pub unit: &'static str,
    /// Id of the source.
    pub src: String,
    /// Confidence.
    pub conf: Conf,
    /// Where it is written; `None` for an override.
    pub place: Option<Place>,
}
