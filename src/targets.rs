//! Targets: embedded files, files of the user, overrides.

use anyhow::{Result, anyhow, bail};
use ptoemu_core::catalogue::Catalogue;
use ptoemu_core::diag::{Diagnostic, SourceFile, Span};
use ptoemu_core::target::read::{Node, Value, read};
use ptoemu_core::target::{Family, Target};
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The target files of this build: name and text.
pub const EMBEDDED: &[(&str, &str)] = &[
    ("dav-2201", include_str!("../targets/dav-2201.ron")),
    ("a2", include_str!("../targets/a2.ron")),
    ("a3", include_str!("../targets/a3.ron")),
    ("dav-3510", include_str!("../targets/dav-3510.ron")),
    ("950pr", include_str!("../targets/950pr.ron")),
    ("950dt", include_str!("../targets/950dt.ron")),
];

/// Why a target cannot be used.
#[derive(Debug)]
pub enum Refused {
    /// The name or the file cannot be found or read.
    Name(anyhow::Error),
    /// The file is wrong.
    File(Vec<Diagnostic>),
}

/// The catalogue the figures of a family are checked against.
pub fn catalogue(family: Family) -> Arc<Catalogue> {
    Arc::new(match family {
        Family::A2A3 => ptoemu_isa::table::catalogue(),
        Family::A5 => ptoemu_isa::a5::catalogue(),
    })
}

fn embedded(name: &str) -> Option<Arc<SourceFile>> {
    let (name, text) = EMBEDDED.iter().find(|(n, _)| *n == name)?;
    Some(SourceFile::new(format!("targets/{name}.ron"), *text))
}

/// Name and aliases a target file gives itself, with their places.
fn names(file: &Arc<SourceFile>) -> Vec<(String, Span)> {
    let Ok(Node { value: Value::Fields(fields), .. }) = read(file) else { return Vec::new() };
    let mut out = Vec::new();
    for f in fields {
        let nodes = match (f.name.as_str(), f.node.value) {
            ("name", value) => vec![Node { value, span: f.node.span }],
            ("aliases", Value::List(items)) => items,
            _ => continue,
        };
        out.extend(nodes.into_iter().filter_map(|n| match n.value {
            Value::Text(t) => Some((t, n.span)),
            _ => None,
        }));
    }
    out
}

/// Refuses a file of the user that answers to a name of a built-in target.
fn own_names(file: &Arc<SourceFile>) -> Result<(), Vec<Diagnostic>> {
    let built_in = || EMBEDDED.iter().filter_map(|(name, _)| embedded(name));
    if built_in().any(|own| own.text == file.text) {
        return Ok(());
    }
    let taken: Vec<String> = built_in().flat_map(|f| names(&f)).map(|(name, _)| name).collect();
    let faults: Vec<Diagnostic> = names(file)
        .into_iter()
        .filter(|(name, _)| taken.iter().any(|t| t.eq_ignore_ascii_case(name)))
        .map(|(name, span)| {
            Diagnostic::error("target", format!("`{name}` is a name of a built-in target"))
                .at(file, span, "")
                .help("a name of its own tells its results from theirs")
        })
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Loads a target file, bases from the embedded ones or from beside the file.
pub fn load_file(file: &Arc<SourceFile>, dir: Option<&Path>) -> Result<Target, Vec<Diagnostic>> {
    load_with_bases(file, dir).map(|(target, _)| target)
}

/// The same, with the names of the files read: its own and those of bases beside it.
fn load_with_bases(
    file: &Arc<SourceFile>,
    dir: Option<&Path>,
) -> Result<(Target, Vec<String>), Vec<Diagnostic>> {
    let load = |known: Arc<Catalogue>| {
        // A file may have the name of a built-in base: it is not its own base then.
        let passed = RefCell::new(vec![file.name.clone()]);
        let resolve = |name: &str| {
            let beside = dir.map(|d| d.join(format!("{name}.ron")));
            let own = beside.and_then(|p| {
                let shown = p.display().to_string();
                if embedded(name).is_some() && passed.borrow().contains(&shown) {
                    return None;
                }
                let text = std::fs::read_to_string(&p).ok()?;
                passed.borrow_mut().push(shown.clone());
                Some(SourceFile::new(shown, text))
            });
            own.or_else(|| embedded(name))
        };
        let target = Target::load(file, &resolve, known)?;
        Ok((target, passed.into_inner()))
    };
    // The family stands in the file or in its base; until it is known nothing is checked.
    let loose = load(Arc::default())?;
    if dir.is_some() {
        own_names(file)?;
    }
    load(catalogue(loose.0.family))
}

/// All embedded targets that are no mere bases.
pub fn all() -> Result<Vec<Target>, Vec<Diagnostic>> {
    let mut out = Vec::new();
    for (name, _) in EMBEDDED {
        let Some(file) = embedded(name) else { continue };
        let target = load_file(&file, None)?;
        if !target.shared {
            out.push(target);
        }
    }
    Ok(out)
}

/// A target by name, alias or path of a `.ron` file.
pub fn find(name: &str) -> Result<Target, Refused> {
    if name.ends_with(".ron") {
        let path = Path::new(name);
        let text = std::fs::read_to_string(path)
            .map_err(|e| Refused::Name(anyhow!("cannot read {name}: {e}")))?;
        let file = SourceFile::new(name, text);
        return load_file(&file, path.parent()).map_err(Refused::File);
    }
    let all = all().map_err(Refused::File)?;
    if let Some(t) = all.iter().find(|t| t.answers_to(name)) {
        return Ok(t.clone());
    }
    let known: Vec<String> = all
        .iter()
        .map(|t| match t.aliases.is_empty() {
            true => t.name.clone(),
            false => format!("{} ({})", t.name, t.aliases.join(", ")),
        })
        .collect();
    Err(Refused::Name(anyhow!("no target `{name}`; there are {}", known.join("; "))))
}

/// Files that a name of a target stands for: none if it is built in.
pub fn files(name: &str) -> Vec<PathBuf> {
    let path = Path::new(name);
    if !name.ends_with(".ron") {
        return Vec::new();
    }
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let read = load_with_bases(&SourceFile::new(name, text), path.parent());
    read.map_or(vec![path.into()], |(_, names)| names.into_iter().map(PathBuf::from).collect())
}

/// A target with `--set PATH=VALUE` overrides applied.
pub fn with_overrides(name: &str, sets: &[String]) -> Result<Target, Refused> {
    let mut target = find(name)?;
    override_all(&mut target, sets)?;
    Ok(target)
}

/// Applies `PATH=VALUE` overrides.
pub fn override_all(target: &mut Target, sets: &[String]) -> Result<(), Refused> {
    let mut seen = HashSet::new();
    for s in sets {
        let (path, value) = parse_set(s).map_err(Refused::Name)?;
        if !seen.insert(path) {
            let message = anyhow!("`{path}` is set twice: give it one value");
            return Err(Refused::Name(message));
        }
        target.set(path, value).map_err(|d| Refused::File(vec![d]))?;
    }
    Ok(())
}

fn parse_set(text: &str) -> Result<(&str, f64)> {
    let Some((path, value)) = text.split_once('=') else { bail!("`{text}` is not PATH=VALUE") };
    let value = value.trim().parse().map_err(|_| anyhow!("`{value}` is no number"))?;
    Ok((path.trim(), value))
}
