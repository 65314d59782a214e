//! Findings: what the checks report, one hazard family a file.
//!
//! The machine knows records and sites; labels are attached when a finding is rendered.

pub mod alias;
pub mod bounds;
pub mod params;
pub mod race;
pub mod state;
pub mod uninit;

use crate::access::Space;
use crate::diag::{Diagnostic, Label, SourceFile};
use crate::stream::{OpId, SiteId, Stream};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Which checks run beside the execution. What makes it impossible (an access outside its memory,
/// an instruction that has no encoding, a deadlock) stops a run whatever is chosen here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// memcheck: operands that overlap, masks, modes, writes into a neighbour.
    pub memory: bool,
    /// initcheck: values nobody wrote.
    pub init: bool,
    /// racecheck: accesses that nothing orders.
    pub race: bool,
    /// synccheck: flags and buffers that are left over.
    pub sync: bool,
}

impl Checks {
    /// Every check.
    pub const ALL: Checks = Checks { memory: true, init: true, race: true, sync: true };
    /// None of them.
    pub const NONE: Checks = Checks { memory: false, init: false, race: false, sync: false };
}

impl Default for Checks {
    fn default() -> Self {
        Checks::ALL
    }
}

/// A named allocation, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Name of the tile or buffer.
    pub name: String,
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

impl<S: Into<String>> From<(S, u64, u64)> for Owner {
    fn from((name, start, end): (S, u64, u64)) -> Self {
        Owner { name: name.into(), start, end }
    }
}

/// One result of a check.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What to tell the user; labels come with [`Finding::render`].
    pub diag: Diagnostic,
    /// Record it is about, or [`crate::stream::NONE`] for the state at the end.
    pub record: u32,
    /// The other end: the record that wrote the bytes, set the flag or left the state.
    pub other: Option<u32>,
    /// Memory of `bytes`.
    pub space: Space,
    /// First byte concerned and one past the last; equal if no bytes are concerned.
    pub bytes: (u64, u64),
    /// Source site.
    pub site: SiteId,
    /// How often it was met at this site.
    pub count: u32,
    /// What the two ends do, for findings about an order.
    pub ends: Option<Box<Ends>>,
}

/// The two ends of a missing order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// What happens at [`Finding::record`], `PIPE_V Read`.
    pub here: String,
    /// What happens at [`Finding::other`].
    pub there: String,
    /// The lines to insert before the record.
    pub fix: String,
    /// Both ends lie in the microcode of this one tile operation.
    pub within: Option<&'static str>,
    /// Statements of the accesses, where they stand in vector functions: of the record, of the
    /// other end.
    pub inside: [Option<SiteId>; 2],
    /// Both ends are accesses of one vector function: their numbers in the run.
    pub accesses: Option<[u32; 2]>,
}

impl Finding {
    /// A finding without bytes.
    pub fn new(diag: Diagnostic, record: u32, site: SiteId) -> Self {
        Finding {
            diag,
            record,
            other: None,
            space: Space::Ub,
            bytes: (0, 0),
            site,
            count: 1,
            ends: None,
        }
    }

    /// The same about bytes `start..end` of `space`.
    pub fn bytes(mut self, space: Space, start: u64, end: u64) -> Self {
        (self.space, self.bytes) = (space, (start, end));
        self
    }

    /// The same with the record at the other end.
    pub fn other(mut self, record: Option<u32>) -> Self {
        self.other = record;
        self
    }

    /// The diagnostic with its places; `files` is indexed by [`crate::stream::Site::file`].
    pub fn render(&self, stream: &Stream, files: &[Arc<SourceFile>]) -> Diagnostic {
        let mut diag = self.diag.clone();
        let here = self.ends.as_ref().map_or("", |e| e.here.as_str());
        let inside = self.ends.as_ref().map_or([None; 2], |e| e.inside);
        let own = inside[0].unwrap_or(self.site);
        diag.labels.extend(label(stream, files, own, here));
        let site = self.other.and_then(|r| stream.records.get(r as usize)).map(|r| r.site);
        if let Some(site) = inside[1].or(site).filter(|s| *s != own) {
            let text = match (&self.ends, self.diag.code.split('.').next()) {
                (Some(ends), _) => ends.there.as_str(),
                (None, Some("initcheck" | "memcheck")) => "last written here",
                _ => "the other end",
            };
            diag.labels.extend(label(stream, files, site, text));
        }
        if self.count > 1 {
            diag.notes.push(format!("met {} times at this place", self.count));
        }
        if let Some(e) = &self.ends {
            // Nothing that orders pipes may stand inside a vector function.
            let line = label(stream, files, self.site, "")
                .map(|l| l.file.line_col(l.span.start as usize).0);
            diag.help = Some(match (e.within, line) {
                (Some(op), _) => {
                    format!("in the microcode of {op}, before record {}: {}", self.record, e.fix)
                }
                (None, Some(line)) => format!("insert before line {line}: {}", e.fix),
                (None, None) => format!("insert before record {}: {}", self.record, e.fix),
            });
        }
        diag
    }
}

/// The place of a site, if it has one in `files`.
pub fn label(
    stream: &Stream,
    files: &[Arc<SourceFile>],
    site: SiteId,
    text: &str,
) -> Option<Label> {
    let site = stream.sites.items().get(site.0 as usize)?;
    let file = files.get(site.file as usize)?;
    Some(Label { file: file.clone(), span: site.span, text: text.to_string() })
}

/// Findings of a run; the same code at the same site and instruction is kept once and counted.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    items: Vec<Finding>,
    index: FxHashMap<(&'static str, SiteId, OpId), usize>,
}

impl Findings {
    /// Counts a repetition. True if the finding is known and need not be composed again.
    pub fn seen(&mut self, code: &'static str, site: SiteId, op: OpId) -> bool {
        let Some(&i) = self.index.get(&(code, site, op)) else { return false };
        self.items[i].count = self.items[i].count.saturating_add(1);
        true
    }

    /// Adds a finding of instruction `op`, or counts it if its like is known.
    pub fn add(&mut self, finding: Finding, op: OpId) {
        if !self.seen(finding.diag.code, finding.site, op) {
            self.index.insert((finding.diag.code, finding.site, op), self.items.len());
            self.items.push(finding);
        }
    }

    /// In order of first appearance.
    pub fn items(&self) -> &[Finding] {
        &self.items
    }
}

/// Names of the allocations that hold any of `start..end`.
pub fn owners(all: &[Owner], start: u64, end: u64) -> Option<String> {
    let names: Vec<&str> =
        all.iter().filter(|o| o.start < end && start < o.end).map(|o| o.name.as_str()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Span;
    use crate::stream::Site;

    #[test]
    fn repetitions_are_counted_and_places_attached() {
        let mut stream = Stream::default();
        let site = SiteId(stream.sites.intern(Site { span: Span::new(4, 8), file: 0 }));
        let mut all = Findings::default();
        for r in 0..3 {
            let diag = Diagnostic::error("memcheck.range", "out of range");
            all.add(Finding::new(diag, r, site), OpId(1));
        }
        all.add(Finding::new(Diagnostic::error("memcheck.range", "other op"), 3, site), OpId(2));
        assert_eq!(all.items().len(), 2);
        assert_eq!((all.items()[0].count, all.items()[0].record), (3, 0));
        let file = SourceFile::new("k.pto", "abc defg");
        let shown = all.items()[0].render(&stream, &[file]);
        assert_eq!(shown.labels[0].span, Span::new(4, 8));
        assert_eq!(shown.notes, ["met 3 times at this place"]);
    }

    #[test]
    fn owners_of_a_range() {
        let all = [Owner::from(("a", 0, 64)), Owner::from(("b", 64, 128))];
        assert_eq!(owners(&all, 60, 70).as_deref(), Some("a, b"));
        assert_eq!(owners(&all, 64, 70).as_deref(), Some("b"));
        assert_eq!(owners(&all, 128, 130), None);
    }
}
