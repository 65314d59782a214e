//! `ptoemu targets new`: a file of one's own on top of a target.

use crate::calibrate::body;
use crate::session::Refusal;
use crate::targets::{find, load_file, with_overrides};
use anyhow::anyhow;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::target::{Conf, NAME, Target, is_name};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Source of figures given with `--set`.
const SOURCE: &str = "own";

/// Writes the file; what was written where.
pub(super) fn new(
    from: &str,
    name: &str,
    sets: &[String],
    output: &Option<PathBuf>,
) -> Result<PathBuf, Refusal> {
    let base = find(from)?;
    let changed = with_overrides(from, sets)?;
    if !is_name(name) {
        return Err(anyhow!("`{name}` is no name of a target: {NAME}").into());
    }
    if let Ok(other) = find(name) {
        return Err(anyhow!("`{name}` is a name of target {}", other.name).into());
    }
    let path = output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.ron")));
    if path.exists() {
        return Err(anyhow!("{} exists", path.display()).into());
    }
    let base_name = base_of(from, &base, &path)?;
    let text = text(name, &base_name, &base, &changed);
    let file = SourceFile::new(path.display().to_string(), text.as_str());
    load_file(&file, path.parent()).map_err(Refusal::Program)?;
    crate::data::write_whole(&path, text.as_bytes())?;
    Ok(path)
}

/// What the new file calls its base: a built-in name, or the file beside it.
fn base_of(from: &str, base: &Target, path: &Path) -> Result<String, Refusal> {
    if !from.ends_with(".ron") {
        return Ok(base.name.clone());
    }
    let from = Path::new(from);
    let stem = from.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = |p: &Path| p.parent().map(Path::to_path_buf).unwrap_or_default();
    if folder(from) != folder(path) {
        let message = format!("{}: a base file lies beside the file built on it", path.display());
        return Err(anyhow!(message).into());
    }
    Ok(stem)
}

fn text(name: &str, base_name: &str, base: &Target, changed: &Target) -> String {
    let mut out = format!(
        "// What {name} has that {} has not. Every figure names one of the sources and how far it\n\
         // can be trusted: Measured, Derived, Documented or Assumed.\n(\n    schema: 1,\n    \
         name: \"{name}\",\n    base: \"{base_name}\",\n    note: \"{}\",\n    sources: {{\n        \
         \"{SOURCE}\": (kind: Choice, date: \"\", note: \"what was measured or read, where\"),\n    }},\n",
        base.name,
        escaped(&format!("{name}, timed as {} where nothing else is said", base.name)),
    );
    let changes = base.diff(changed);
    let figures = changes.iter().filter_map(|d| {
        let f = d.b.as_ref()?;
        Some((d.path.as_str(), f.value, SOURCE, Conf::Assumed))
    });
    out.push_str(&body(figures));
    if changes.is_empty() {
        let (path, figure) = base.paths().find(|(p, _)| !p.contains('.')).unzip();
        let (path, value) = (path.unwrap_or("clock_mhz"), figure.map_or(1.0, |f| f.value));
        let _ = writeln!(out, "    // {path}: ({value}, src: \"{SOURCE}\", conf: Measured),");
    }
    out.push_str(")\n");
    out
}

fn escaped(s: &str) -> String {
    s.replace('\\', "\\\\").replace('"', "\\\"")
}
