//! What a figure can change.

use super::{Family, Target, schema};
use crate::dtype::DType;
use crate::stream::Kind;

/// What a figure can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// When instructions start and end.
    Cycles,
    /// What a cycle is in seconds.
    Time,
    /// What a program computes, or whether it is legal.
    Execution,
    /// What reports say, not the cycles.
    Report,
    /// Nothing: no instruction looks it up.
    Nothing,
}

impl Reach {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Reach::Cycles => "cycles",
            Reach::Time => "time",
            Reach::Execution => "execution",
            Reach::Report => "report",
            Reach::Nothing => "nothing",
        }
    }
}

impl Target {
    /// What the figure at a path can change, given the instructions of the catalogue.
    pub fn reach(&self, path: &str) -> Reach {
        match path {
            "clock_mhz" => Reach::Time,
            "retire" => Reach::Report,
            _ if schema::changes_execution(path) => Reach::Execution,
            _ if self.looked_up(path) => Reach::Cycles,
            _ => Reach::Nothing,
        }
    }

    fn looked_up(&self, path: &str) -> bool {
        let field = path.rsplit('.').next().unwrap_or(path);
        if path.starts_with("default.") {
            return self.uses().any(|(kind, name, class, d)| {
                self.reads(kind, field) && self.lookup(&[name, class], d, field).is_none()
            });
        }
        if schema::fields(self.family).any(|f| f.path == path) {
            return true;
        }
        self.uses().any(|(kind, name, class, d)| {
            let found = match (self.family, kind) {
                // Micro-ops take all their figures from one name: the first that has a latency.
                (Family::A5, Kind::Vector) => {
                    let own = self.lookup(&[name], d, "latency").is_some();
                    self.lookup(&[if own { name } else { class }], d, field)
                }
                _ => self.lookup(&[name, class], d, field),
            };
            self.reads(kind, field) && found.as_deref() == Some(path)
        })
    }

    /// Kind, name, cost class and element type of every use of an instruction.
    fn uses(&self) -> impl Iterator<Item = (Kind, &'static str, &'static str, DType)> {
        let entries = self.catalogue.0.iter();
        entries.flat_map(|e| e.dtypes.iter().map(|d| (e.kind, e.mnemonic, e.cost_class, *d)))
    }

    /// Path of the figure found under the first of some names.
    fn lookup(&self, names: &[&str], d: DType, field: &str) -> Option<String> {
        let keys = [Some(d.name()), schema::class(d)];
        names.iter().find_map(|name| {
            let typed = keys.iter().flatten().map(|k| format!("{name}.{k}.{field}"));
            typed.chain([format!("{name}.{field}")]).find(|p| self.figures.contains_key(p))
        })
    }

    /// Do records of this kind take that figure of their instruction?
    fn reads(&self, kind: Kind, field: &str) -> bool {
        match (self.family, kind) {
            (Family::A2A3, Kind::Vector) => matches!(field, "startup" | "per_repeat"),
            (_, Kind::Copy) => matches!(field, "startup" | "per_burst" | "bytes_per_cycle"),
            (Family::A5, Kind::Vector) => true,
            _ => false,
        }
    }
}
