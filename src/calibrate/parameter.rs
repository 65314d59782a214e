//! The figures a fit may change.

use super::model::Model;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;
use ptoemu_core::similar::similar;
use ptoemu_core::target::schema::{Range, Step};
use ptoemu_core::target::{Target, schema};

/// Most figures fitted at once: the matrices grow with the square of them.
const MOST: usize = 64;

/// One figure to fit.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Path in the target.
    pub path: String,
    /// Unit.
    pub unit: &'static str,
    /// Value before the fit.
    pub start: f64,
    /// Accepted numbers.
    pub range: Range,
    /// Does the model use whole numbers of it only?
    pub whole: bool,
    /// Was it asked for by its own path, not as part of a group?
    pub named: bool,
}

impl Parameter {
    /// The figure at a path of the target.
    pub fn new(target: &Target, path: &str, named: bool) -> Option<Parameter> {
        let figure = target.get(path).ok()?;
        let range = target.range_of(path)?;
        // Cycles are rounded where they are used; only rates of repeats count in fractions.
        let whole =
            range.step != Step::Any || path.ends_with(".startup") || path.ends_with(".per_burst");
        let (path, unit, start) = (path.to_string(), figure.unit, figure.value);
        Some(Parameter { path, unit, start, range, whole, named })
    }

    /// Is it a choice among a few, not a quantity?
    pub fn is_choice(&self) -> bool {
        self.unit.is_empty() && self.range.min == 0.0 && self.range.max <= 3.0
    }

    /// The nearest value the figure may take.
    pub fn accept(&self, v: f64) -> f64 {
        let v = v.clamp(self.range.min, self.range.max);
        if self.whole { v.round().clamp(self.range.min, self.range.max) } else { v }
    }

    /// Step of a difference quotient: large enough to move whole cycles.
    pub fn step(&self, at: f64) -> f64 {
        let wide = at.abs() / 64.0;
        if self.whole { wide.round().max(1.0) } else { wide.max(0.25) }
    }

    /// Values far from `at`, to see whether the figure matters anywhere.
    pub fn probes(&self, at: f64) -> Vec<f64> {
        let step = self.step(at);
        let far = [at + step, at - step, 2.0 * at + 16.0, at / 2.0, 4.0 * at + 64.0];
        let mut all: Vec<f64> = far.into_iter().map(|v| self.accept(v)).collect();
        all.retain(|v| *v != at);
        all
    }
}

/// The figures that `--fit` names: paths, or whatever lies under a prefix (`vcmax`, `mask`).
pub fn parameters(target: &mut Target, names: &[String]) -> Result<Vec<Parameter>, Diagnostic> {
    let mut out: Vec<Parameter> = Vec::new();
    for name in names {
        for p in named(target, name.trim())? {
            match out.iter_mut().find(|q| q.path == p.path) {
                Some(q) => q.named |= p.named,
                None => out.push(p),
            }
        }
    }
    out.retain(|p| p.named || !p.is_choice());
    if let Some(p) = out.iter().find(|p| fixed(&p.path) || p.is_choice()) {
        let message = format!("`{}` is no latency and no rate: it cannot be fitted", p.path);
        return Err(Diagnostic::error("calibrate.figure", message)
            .help("a study with `whatif` can vary it"));
    }
    if out.len() > MOST {
        let message = format!("{} figures to fit, at most {MOST} are taken", out.len());
        return Err(Diagnostic::error("calibrate.figure", message).help("name fewer with --fit"));
    }
    Ok(out)
}

/// Figures that describe memory, not time.
fn fixed(path: &str) -> bool {
    schema::changes_execution(path)
        || path.starts_with("ub.") && path != "ub.read_stage"
        || path == "clock_mhz"
}

fn named(target: &mut Target, name: &str) -> Result<Vec<Parameter>, Diagnostic> {
    if target.get(name).is_ok() {
        return Ok(Parameter::new(target, name, true).into_iter().collect());
    }
    let under = format!("{name}.");
    let mut paths: Vec<String> = target
        .paths()
        .map(|(p, _)| p.to_string())
        .filter(|p| p.starts_with(&under) && !fixed(p))
        .collect();
    if paths.is_empty() {
        paths = target.expand(name).unwrap_or_default();
    }
    if !paths.is_empty() {
        return Ok(paths.iter().filter_map(|p| Parameter::new(target, p, false)).collect());
    }
    // A type that has no figure of its own yet gets one from what it falls back on.
    let value = fallback(target, name).ok_or_else(|| no_figure(target, name))?;
    target.set(name, value)?;
    Ok(Parameter::new(target, name, true).into_iter().collect())
}

/// Value that `mnemonic.type.field` falls back on.
fn fallback(target: &Target, name: &str) -> Option<f64> {
    let [mnemonic, key, field] = name.split('.').collect::<Vec<_>>()[..] else { return None };
    let class = key.parse::<DType>().ok().map(schema::class)?;
    class
        .and_then(|c| target.value(&format!("{mnemonic}.{c}.{field}")))
        .or_else(|| target.value(&format!("{mnemonic}.{field}")))
}

fn no_figure(target: &Target, name: &str) -> Diagnostic {
    let Err(d) = target.get(name) else {
        return Diagnostic::error("calibrate.figure", format!("`{name}` cannot be fitted"));
    };
    let heads = target.paths().filter_map(|(p, _)| Some(p.split_once('.')?.0));
    match similar(name, heads) {
        Some(near) if !name.contains('.') => d.help(format!("did you mean `{near}`?")),
        _ => d,
    }
}

/// Leaves out the figures of groups that no row depends on; a figure asked for by name is refused.
pub fn touched(model: &mut Model) -> Result<Vec<String>, Diagnostic> {
    let mut left = Vec::new();
    let mut n = 0;
    while let Some(p) = model.parameters.get(n) {
        let rows = model.rows_of(n);
        if !rows.is_empty() {
            model.touches.push(rows);
            n += 1;
            continue;
        }
        if p.named {
            let message = format!("no measurement depends on `{}`", p.path);
            return Err(Diagnostic::error("calibrate.unidentified", message)
                .note("every row keeps its cycles whatever the figure is")
                .help("leave it out of --fit, or measure something that uses it"));
        }
        left.push(p.path.clone());
        model.parameters.remove(n);
    }
    Ok(left)
}
