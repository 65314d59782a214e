//! Targets: named sets of figures, each with its provenance.
//!
//! A target is a RON file, possibly on top of a `base`. Figures are addressed by path, the same in
//! files, in overrides and in reports: `drain`, `mte2.latency`, `vcmax.f32.per_repeat`. Nothing
//! about the machine's timing is known outside these files.

mod figure;
mod load;
mod reach;
pub mod read;
pub mod schema;
mod slot;

pub use figure::{Conf, Figure, Place, Source};
pub use load::Resolve;
pub use reach::Reach;
pub use schema::Family;
pub use slot::Slot;

use crate::catalogue::{Catalogue, Entry};
use crate::diag::{Diagnostic, SourceFile};
use crate::dtype::DType;
use crate::similar::distance;
use crate::stream::Kind;
use indexmap::IndexMap;
use load::Figures;
use std::sync::Arc;

/// Figures a message names at most.
const LISTED: usize = 6;

/// Source id of a figure set by the user.
pub const OVERRIDE: &str = "override";

/// What [`is_name`] asks for, in words.
pub const NAME: &str = "letters, digits, `-`, `_` and `.`, a letter or digit first";

/// May a target have this name? It becomes part of file names, lists and reports.
pub fn is_name(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(inside)
}

/// A validated target.
#[derive(Clone, Debug)]
pub struct Target {
    /// Name, for example `a3`.
    pub name: String,
    /// Processor family.
    pub family: Family,
    /// Other names users type.
    pub aliases: Vec<String>,
    /// Name of the base file.
    pub base: Option<String>,
    /// One sentence about it.
    pub note: String,
    /// Only a base for others, no target of its own?
    pub shared: bool,
    /// Sources by id.
    pub sources: IndexMap<String, Source>,
    figures: Figures,
    catalogue: Arc<Catalogue>,
}

/// A figure in which two targets differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Path of the figure.
    pub path: String,
    /// In the first target.
    pub a: Option<Figure>,
    /// In the second target.
    pub b: Option<Figure>,
}

impl Target {
    fn empty(catalogue: Arc<Catalogue>) -> Target {
        Target {
            name: String::new(),
            family: Family::A2A3,
            aliases: Vec::new(),
            base: None,
            note: String::new(),
            shared: false,
            sources: IndexMap::new(),
            figures: Figures::new(),
            catalogue,
        }
    }

    /// Loads a target file. `resolve` finds base files by name; instructions are checked against
    /// `catalogue` unless it is empty.
    pub fn load(
        file: &Arc<SourceFile>,
        resolve: Resolve,
        catalogue: Arc<Catalogue>,
    ) -> Result<Target, Vec<Diagnostic>> {
        load::load(file, resolve, catalogue)
    }

    /// Is `name` this target's name or an alias of it? Case does not matter.
    pub fn answers_to(&self, name: &str) -> bool {
        let mut names = std::iter::once(&self.name).chain(&self.aliases);
        names.any(|n| n.eq_ignore_ascii_case(name))
    }

    /// The instructions the target was loaded for.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// The same figures for other instructions.
    pub fn with_catalogue(self, catalogue: Arc<Catalogue>) -> Target {
        Target { catalogue, ..self }
    }

    /// The figure at exactly this path, or an error that names close paths.
    pub fn get(&self, path: &str) -> Result<&Figure, Diagnostic> {
        self.figures.get(path).ok_or_else(|| self.no_path(path))
    }

    /// The number at a path of the schema.
    pub fn value(&self, path: &str) -> Option<f64> {
        self.figures.get(path).map(|f| f.value)
    }

    /// Every figure with its path, in file order.
    pub fn paths(&self) -> impl Iterator<Item = (&str, &Figure)> {
        self.figures.iter().map(|(p, f)| (p.as_str(), f))
    }

    /// Paths that `path` stands for: itself, or the same figure of every element type when the
    /// type is left out (`vcmax.per_repeat`).
    pub fn expand(&self, path: &str) -> Result<Vec<String>, Diagnostic> {
        if self.figures.contains_key(path) {
            return Ok(vec![path.to_string()]);
        }
        let Some((head, last)) = path.split_once('.') else { return Err(self.no_path(path)) };
        let typed = |p: &str| {
            p.split('.').count() == 3
                && p.starts_with(&format!("{head}."))
                && p.ends_with(&format!(".{last}"))
        };
        let all: Vec<String> = self.figures.keys().filter(|p| typed(p)).cloned().collect();
        if all.is_empty() { Err(self.no_path(path)) } else { Ok(all) }
    }

    /// Sets a figure for `--set`; returns the paths changed. A path with an element type makes a
    /// figure of its own if the file has one for all types (`vbrcb.f32.startup`).
    pub fn set(&mut self, path: &str, value: f64) -> Result<Vec<String>, Diagnostic> {
        let paths = match self.expand(path) {
            Ok(paths) => paths,
            Err(d) => vec![self.own_copy(path).ok_or(d)?],
        };
        for p in &paths {
            self.accepts(p, value)?;
        }
        for slot in self.slots(path)? {
            self.put(slot, value);
        }
        Ok(paths)
    }

    /// Gives `mnemonic.dtype.field` a figure of its own from the one it falls back on.
    fn own_copy(&mut self, path: &str) -> Option<String> {
        let mut parts = path.split('.');
        let (m, key, field) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || !schema::is_dtype_key(key) {
            return None;
        }
        let class = key.parse::<DType>().ok().and_then(schema::class);
        let from = class
            .and_then(|c| self.figures.get(&format!("{m}.{c}.{field}")))
            .or_else(|| self.figures.get(&format!("{m}.{field}")))?;
        let copy = from.clone();
        self.figures.insert(path.to_string(), copy);
        Some(path.to_string())
    }

    /// Numbers that the figure at a path may take.
    pub fn range_of(&self, path: &str) -> Option<schema::Range> {
        schema::find(self.family, path).map(|f| f.range)
    }

    fn no_path(&self, path: &str) -> Diagnostic {
        let d = Diagnostic::error("target.path", format!("no figure `{path}` in {}", self.name));
        let under = format!("{path}.");
        let own: Vec<&str> =
            self.paths().map(|(p, _)| p).filter(|p| p.starts_with(&under)).collect();
        if !own.is_empty() {
            return d.help(format!("its figures are {}", own.join(", ")));
        }
        match suggest(path, self.figures.keys().map(String::as_str)) {
            Some(near) => d.help(near),
            None => d.help("`targets show NAME --paths` lists every figure"),
        }
    }

    /// Path and figure of an instruction: its own for the type, for the class of the type, for
    /// any type; then the same of its cost class.
    pub fn cost(&self, entry: &Entry, dtype: DType, field: &str) -> Option<(String, &Figure)> {
        let keys = [Some(dtype.name()), schema::class(dtype), None];
        [entry.mnemonic, entry.cost_class].into_iter().find_map(|name| {
            keys.iter().enumerate().find_map(|(i, key)| {
                let path = match key {
                    Some(k) => format!("{name}.{k}.{field}"),
                    None if i == 2 => format!("{name}.{field}"),
                    None => return None,
                };
                self.figures.get(&path).map(|f| (path, f))
            })
        })
    }

    /// What is missing: required figures, and figures of vector instructions.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        if self.shared {
            return out;
        }
        let required = schema::fields(self.family).filter(|f| f.required);
        let lacking: Vec<&str> =
            required.map(|f| f.path).filter(|p| !self.figures.contains_key(*p)).collect();
        if let [first @ .., last] = &lacking[..] {
            let list = match first.len() {
                0 => format!("`{last}`"),
                1..=LISTED => format!("`{}` and `{last}`", first.join("`, `")),
                n => format!("`{}` and {} more", first[..LISTED].join("`, `"), n + 1 - LISTED),
            };
            let message = format!("target {} lacks {list}", self.name);
            let help = "a `base` brings every figure of another target";
            out.push(Diagnostic::error("target", message).help(help));
        }
        let required = schema::cost_fields(self.family).filter(|f| f.required);
        for f in required {
            for e in self.catalogue.0.iter().filter(|e| costed(e.kind)) {
                let lacking: Vec<&str> = e
                    .dtypes
                    .iter()
                    .filter(|&&d| self.cost(e, d, f.path).is_none())
                    .map(|d| d.name())
                    .collect();
                if !lacking.is_empty() {
                    let (m, list) = (e.mnemonic, lacking.join(", "));
                    let message = format!("`{m}` has no `{}` for {list}", f.path);
                    out.push(Diagnostic::error("target", message).help(f.doc));
                }
            }
        }
        out
    }

    /// Figures in which two targets differ in value, source or confidence.
    pub fn diff(&self, other: &Target) -> Vec<Difference> {
        let own = self.figures.keys();
        let new = other.figures.keys().filter(|p| !self.figures.contains_key(*p));
        let same = |a: &Figure, b: &Figure| (a.value, &a.src, a.conf) == (b.value, &b.src, b.conf);
        own.chain(new)
            .filter_map(|p| {
                let (a, b) = (self.figures.get(p).cloned(), other.figures.get(p).cloned());
                let equal = matches!((&a, &b), (Some(x), Some(y)) if same(x, y));
                (!equal).then(|| Difference { path: p.clone(), a, b })
            })
            .collect()
    }

    /// Seconds per cycle times 10^6: multiply cycles by it to get microseconds.
    pub fn us_per_cycle(&self) -> f64 {
        self.value("clock_mhz").map_or(0.0, |mhz| 1.0 / mhz)
    }
}

/// Do records of this kind take their time from figures of the instruction?
pub(crate) const fn costed(kind: Kind) -> bool {
    matches!(kind, Kind::Vector | Kind::Copy)
}

/// "did you mean" for a mistyped name: up to three close ones.
pub fn suggest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut near: Vec<(usize, &str)> = known
        .map(|k| (distance(name, k), k))
        .filter(|&(d, k)| d <= name.len().max(k.len()).div_ceil(3))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(3);
    let list: Vec<String> = near.into_iter().map(|(_, k)| format!("`{k}`")).collect();
    (!list.is_empty()).then(|| format!("did you mean {}?", list.join(" or ")))
}

#[cfg(test)]
mod tests;
