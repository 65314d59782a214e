//! `ptoemu targets new`: a file of one's own on top of a target.

use crate::session::Refusal;
use crate::targets::{find, load_file, with_overrides};
use anyhow::anyhow;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::target::Target;
use std::collections::BTreeMap;
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
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        return Err(anyhow!("`{name}` is no name: letters, digits, `-`, `_` and `.`").into());
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
    let (mut figures, mut costs) = (Tree::default(), Tree::default());
    for d in base.diff(changed) {
        let Some(f) = d.b else { continue };
        let fixed = ptoemu_core::target::schema::fields(base.family).any(|x| x.path == d.path);
        let tree = if fixed { &mut figures } else { &mut costs };
        tree.insert(&d.path, f.value);
    }
    figures.write(4, false, &mut out);
    if !costs.0.is_empty() {
        out.push_str("    costs: {\n");
        costs.write(8, true, &mut out);
        out.push_str("    },\n");
    }
    if figures.0.is_empty() && costs.0.is_empty() {
        out.push_str("    // for example\n");
        let drain = base.paths().find(|(p, _)| !p.contains('.')).map_or("clock_mhz", |(p, _)| p);
        let value = base.value(drain).unwrap_or(1.0);
        let _ = writeln!(out, "    // {drain}: ({value}, src: \"{SOURCE}\", conf: Measured),");
    }
    out.push_str(")\n");
    out
}

fn escaped(s: &str) -> String {
    s.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Figures by the parts of their paths.
#[derive(Default)]
struct Tree(BTreeMap<String, Branch>);

enum Branch {
    Figure(f64),
    Group(Tree),
}

impl Tree {
    fn insert(&mut self, path: &str, value: f64) {
        match path.split_once('.') {
            None => drop(self.0.insert(path.to_string(), Branch::Figure(value))),
            Some((head, rest)) => {
                let group =
                    self.0.entry(head.to_string()).or_insert_with(|| Branch::Group(Tree::default()));
                if let Branch::Group(tree) = group {
                    tree.insert(rest, value);
                }
            }
        }
    }

    /// Names of instructions are quoted, those of fields are not.
    fn write(&self, indent: usize, quoted: bool, out: &mut String) {
        let pad = " ".repeat(indent);
        for (name, branch) in &self.0 {
            let name = if quoted { format!("\"{name}\"") } else { name.clone() };
            let _ = match branch {
                Branch::Figure(v) => {
                    writeln!(out, "{pad}{name}: ({v}, src: \"{SOURCE}\", conf: Assumed),")
                }
                Branch::Group(tree) => {
                    let _ = writeln!(out, "{pad}{name}: (");
                    tree.write(indent + 4, false, out);
                    writeln!(out, "{pad}),")
                }
            };
        }
    }
}
