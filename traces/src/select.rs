//! Which records a trace shows: all, those of a stretch of cycles, those of one operation.

use ptoemu_core::catalogue::Catalogue;
use ptoemu_core::stream::{Kind, Record, Stream};
use ptoemu_core::time::Timeline;
use std::ops::Range;

/// What to keep of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Records alive in these cycles.
    pub window: Option<Range<u64>>,
    /// Records of this instruction or tile operation; instructions of it inside vector functions.
    pub op: Option<String>,
}

impl Filter {
    fn keeps(&self, s: &Stream, t: &Timeline, c: &Catalogue, i: usize, r: &Record) -> bool {
        let alive = |w: &Range<u64>| {
            t.entries.get(i).is_some_and(|e| {
                let handed = e.issue.saturating_sub(u64::from(e.wait));
                handed < w.end && e.done.max(e.issue + u64::from(e.busy)) >= w.start
            })
        };
        let named = |name: &String| named(s, c, r, name) || inside(s, r, name);
        self.window.as_ref().is_none_or(alive) && self.op.as_ref().is_none_or(named)
    }
}

/// Is this the name of a record's instruction or of its tile operation?
pub(crate) fn named(s: &Stream, c: &Catalogue, r: &Record, name: &str) -> bool {
    let group = s.groups.get(r.group as usize).map(|g| g.name);
    let own = c.get(r.op).map(|e| e.mnemonic);
    [group, own].into_iter().flatten().any(|n| n.eq_ignore_ascii_case(name))
}

/// Is it the name of an instruction inside a vector function?
fn inside(s: &Stream, r: &Record, name: &str) -> bool {
    let program = s.functions.get(r.link).filter(|_| r.kind == Kind::Function);
    program.is_some_and(|p| p.classes.iter().any(|c| c.name.eq_ignore_ascii_case(name)))
}

/// The records a trace shows, in program order.
#[derive(Clone, Debug)]
pub enum Selection {
    /// The first `n`: all of a stream.
    All(u32),
    /// These, ascending.
    Some(Vec<u32>),
}

impl Selection {
    /// Applies a filter.
    pub fn new(s: &Stream, t: &Timeline, c: &Catalogue, filter: &Filter) -> Selection {
        let n = s.records.len().min(t.entries.len());
        if *filter == Filter::default() {
            return Selection::All(n as u32);
        }
        let kept = s.records[..n].iter().enumerate();
        let kept = kept.filter(|(i, r)| filter.keeps(s, t, c, *i, r)).map(|(i, _)| i as u32);
        Selection::Some(kept.collect())
    }

    /// How many records.
    pub fn len(&self) -> usize {
        match self {
            Selection::All(n) => *n as usize,
            Selection::Some(v) => v.len(),
        }
    }

    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `n`-th record.
    pub fn get(&self, n: usize) -> Option<u32> {
        match self {
            Selection::All(all) => u32::try_from(n).ok().filter(|i| i < all),
            Selection::Some(v) => v.get(n).copied(),
        }
    }

    /// Place of a record among those shown.
    pub fn position(&self, record: u32) -> Option<u32> {
        match self {
            Selection::All(n) => (record < *n).then_some(record),
            Selection::Some(v) => v.binary_search(&record).ok().map(|i| i as u32),
        }
    }

    /// The records in program order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).filter_map(|n| self.get(n))
    }
}
