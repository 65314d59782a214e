//! Functions flattened once and timed under many targets.

use super::compile::Code;
use super::engine::Engine;
use super::params::{Figures, VfParams};
use super::program::{Class, Inst, VfProgram};
use super::record::{Options, VfTiming};
use super::tables::{Row, Sought, Tables, Unit};
use crate::diag::Diagnostic;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// Classes without figures that are carried along; more are an error at once, because tables grow
/// with the square.
const LACKING: usize = 64;

/// Vector functions made ready for timing under any number of targets: control flow and operands
/// are flat, the paths of all figures in use are written out. What is left for each target is to
/// look the figures up ([`Compiled::bind`]) and to run the pipeline ([`Bound::time`]).
///
/// ```text
/// let compiled = Compiled::new(&programs);
/// for target in targets {
///     let bound = compiled.bind(&target)?;
///     let cycles = bound.time(0, Options::default())?.cycles;
/// }
/// ```
#[derive(Debug, Default)]
pub struct Compiled<'p> {
    functions: Vec<Function<'p>>,
    sought: Vec<Sought>,
    known: FxHashMap<(&'p Class, Unit), u16>,
}

/// One function, with loops of one trip taken away and, once that is asked for, with them.
#[derive(Debug)]
struct Function<'p> {
    program: &'p VfProgram,
    flat: Result<Code, Diagnostic>,
    whole: OnceLock<Result<Code, Diagnostic>>,
    /// Classes in use, by their number in `sought`.
    classes: Vec<u16>,
}

impl<'p> Compiled<'p> {
    /// Compiles functions; they are addressed by their place in this list.
    pub fn new(programs: impl IntoIterator<Item = &'p VfProgram>) -> Compiled<'p> {
        let mut c = Compiled::default();
        for p in programs {
            let flat = Code::build(p, &mut |i| c.class(p, i), true);
            let mut classes: Vec<u16> = p.insts.iter().map(|i| c.class(p, i)).collect();
            classes.sort_unstable();
            classes.dedup();
            c.functions.push(Function { program: p, flat, whole: OnceLock::new(), classes });
        }
        c
    }

    /// Is there no function?
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Number of the class of an instruction among those of all functions.
    fn class(&mut self, p: &'p VfProgram, i: &Inst) -> u16 {
        let Some(class) = p.classes.get(usize::from(i.class)) else { return 0 };
        let unit = Unit::of(i.kind);
        *self.known.entry((class, unit)).or_insert_with(|| {
            self.sought.push(Sought::new(class, unit));
            (self.sought.len() - 1).min(usize::from(u16::MAX)) as u16
        })
    }

    /// Looks the figures of a target up.
    pub fn bind(&self, from: &dyn Figures) -> Result<Bound<'_>, Diagnostic> {
        self.bind_with(VfParams::read(from)?, from)
    }

    /// The same with the pipeline's figures given apart.
    pub fn bind_with(&self, params: VfParams, from: &dyn Figures) -> Result<Bound<'_>, Diagnostic> {
        let (mut found, mut lacking) = (Vec::with_capacity(self.sought.len()), Vec::new());
        for (i, sought) in (0u16..).zip(&self.sought) {
            let row = sought.row(&params, from);
            if let (Err(d), LACKING..) = (&row, lacking.len()) {
                return Err(d.clone());
            }
            found.push(row.unwrap_or_else(|d| {
                lacking.push((i, d));
                Row::default()
            }));
        }
        let tables = Tables::build(found, &params);
        Ok(Bound { compiled: self, params, tables, lacking })
    }
}

/// Compiled functions under the figures of one target.
#[derive(Debug)]
pub struct Bound<'c> {
    compiled: &'c Compiled<'c>,
    params: VfParams,
    tables: Tables,
    /// Classes without figures, and what to say about them.
    lacking: Vec<(u16, Diagnostic)>,
}

/// What the cycles of a function depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    function: usize,
    params: VfParams,
    /// Figures of its classes.
    rows: Vec<Row>,
}

impl Bound<'_> {
    /// What the cycles of a function depend on under this target: equal keys of one compilation,
    /// equal cycles.
    pub fn key(&self, function: usize) -> Key {
        let classes = self.compiled.functions.get(function).map_or(&[][..], |f| &f.classes);
        let rows = classes.iter().filter_map(|&c| self.tables.rows.get(usize::from(c)));
        Key { function, params: self.params.clone(), rows: rows.copied().collect() }
    }

    /// Times a function by its number.
    pub fn time(&self, function: usize, opts: Options) -> Result<VfTiming, Diagnostic> {
        let Some(f) = self.compiled.functions.get(function) else {
            return Err(Diagnostic::error("vf.index", "no function of this number"));
        };
        if let Some((_, d)) = self.lacking.iter().find(|(c, _)| f.classes.contains(c)) {
            return Err(d.clone());
        }
        let code = match self.params.flatten_one_trip {
            1 => &f.flat,
            _ => f.whole.get_or_init(|| {
                let class = |i: &Inst| {
                    let class = f.program.classes.get(usize::from(i.class));
                    let key = class.map(|c| (c, Unit::of(i.kind)));
                    key.and_then(|k| self.compiled.known.get(&k)).copied().unwrap_or(0)
                };
                Code::build(f.program, &mut { class }, false)
            }),
        };
        let code = code.as_ref().map_err(Diagnostic::clone)?;
        if code.results >= self.params.registers {
            return Err(Diagnostic::error("vf.registers", "too few physical vector registers"));
        }
        Engine::new(code, &self.tables, &self.params, opts).run()
    }
}
