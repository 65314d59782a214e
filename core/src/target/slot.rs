//! Figures by place instead of by path: what studies of many values change.
//!
//! Looking a path up costs as much as timing a short record. A study looks its paths up once; the
//! places it gets hold in every copy of the target, because figures are never removed.

use super::{Conf, OVERRIDE, Target, load, schema};
use crate::diag::Diagnostic;

/// Place of one figure in a target and in every copy made of it afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(usize);

impl Target {
    /// Places of the figures `path` stands for, as [`Target::set`] takes it. They count as
    /// overridden from here on.
    pub fn slots(&mut self, path: &str) -> Result<Vec<Slot>, Diagnostic> {
        let paths = match self.expand(path) {
            Ok(paths) => paths,
            Err(d) => vec![self.own_copy(path).ok_or(d)?],
        };
        let slots = paths.iter().filter_map(|p| self.slot(p)).collect::<Vec<_>>();
        for slot in &slots {
            if let Some((_, f)) = self.figures.get_index_mut(slot.0) {
                (f.src, f.conf, f.place) = (OVERRIDE.to_string(), Conf::Assumed, None);
            }
        }
        Ok(slots)
    }

    /// Place of the figure at exactly this path.
    pub fn slot(&self, path: &str) -> Option<Slot> {
        self.figures.get_index_of(path).map(Slot)
    }

    /// The number at a place.
    pub fn at(&self, slot: Slot) -> f64 {
        self.figures.get_index(slot.0).map_or(0.0, |(_, f)| f.value)
    }

    /// Sets the number at a place. The range is not looked at: see [`Target::accepts`].
    pub fn put(&mut self, slot: Slot, value: f64) {
        if let Some((_, f)) = self.figures.get_index_mut(slot.0) {
            f.value = value;
        }
    }

    /// May the figure at `path` be `value`? The error says why not.
    pub fn accepts(&self, path: &str, value: f64) -> Result<(), Diagnostic> {
        match self.range_of(path).and_then(|r| load::accept(value, r).err()) {
            Some(why) => Err(Diagnostic::error("target.override", format!("`{path}` {why}"))
                .help(self.doc(path).unwrap_or_default())),
            None => Ok(()),
        }
    }

    /// Meaning of the figure at a path, in one line.
    pub fn doc(&self, path: &str) -> Option<&'static str> {
        schema::find(self.family, path).map(|f| f.doc)
    }
}
