//! A target file that holds what a fit found, on top of the target it began from.

use ptoemu_core::target::{Conf, Figure, Target, schema};
use std::collections::BTreeMap;

/// Id of the source that names the measurements.
pub const SOURCE: &str = "fit";

/// A group of figures, or one.
enum Node {
    Figure(String),
    Group(BTreeMap<String, Node>),
}

/// Text of a target `name` on top of `base`: fitted figures are `Derived` and cite the
/// measurements, figures overridden on the command line keep `Assumed`.
pub fn target_file(
    name: &str,
    base: &str,
    note: &str,
    fitted: &[(String, f64)],
    overrides: &[(String, &Figure)],
) -> String {
    let own = overrides.iter().map(|(p, f)| (p.as_str(), f.value, "override", Conf::Assumed));
    let fitted = fitted.iter().map(|(p, v)| (p.as_str(), *v, SOURCE, Conf::Derived));
    let mut out =
        format!("(\n    schema: 1,\n    name: {},\n    base: {},\n", text(name), text(base));
    out += &format!("    note: {},\n    sources: {{\n", text(&format!("{base}, figures fitted")));
    out += &format!("        {}: (kind: Fit, note: {}),\n", text(SOURCE), text(note));
    if !overrides.is_empty() {
        out +=
            "        \"override\": (kind: Choice, note: \"set on the command line of the fit\"),\n";
    }
    out += "    },\n";
    out + &body(own.chain(fitted)) + ")\n"
}

/// Figures (path, value, source, confidence) as the fields of a target file, a later one of the
/// same path in place of an earlier.
pub fn body<'f>(figures: impl Iterator<Item = (&'f str, f64, &'f str, Conf)>) -> String {
    let (mut fixed, mut costs) = (BTreeMap::new(), BTreeMap::new());
    for (path, value, src, conf) in figures {
        let text = format!("(value: {}, src: {}, conf: {conf})", super::number(value), text(src));
        insert(if is_fixed(path) { &mut fixed } else { &mut costs }, path, text);
    }
    let mut out = String::new();
    for (key, node) in &fixed {
        out += &format!("    {key}: {},\n", show(node, 4));
    }
    if !costs.is_empty() {
        out += "    costs: {\n";
        for (key, node) in &costs {
            out += &format!("        {}: {},\n", text(key), show(node, 8));
        }
        out += "    },\n";
    }
    out
}

/// Figures that a target has but its base has not, or has otherwise.
pub fn overridden<'t>(base: &Target, target: &'t Target) -> Vec<(String, &'t Figure)> {
    let differs = |p: &str, f: &Figure| base.value(p) != Some(f.value);
    target.paths().filter(|(p, f)| differs(p, f)).map(|(p, f)| (p.to_string(), f)).collect()
}

/// Is the figure one of the target, not of an instruction?
fn is_fixed(path: &str) -> bool {
    [schema::Family::A2A3, schema::Family::A5]
        .into_iter()
        .any(|f| schema::fields(f).any(|s| s.path == path))
}

fn insert(into: &mut BTreeMap<String, Node>, path: &str, figure: String) {
    match path.split_once('.') {
        None => {
            into.insert(path.to_string(), Node::Figure(figure));
        }
        Some((head, rest)) => {
            let node = into.entry(head.to_string()).or_insert_with(|| Node::Group(BTreeMap::new()));
            if let Node::Group(inner) = node {
                insert(inner, rest, figure);
            }
        }
    }
}

fn show(node: &Node, indent: usize) -> String {
    match node {
        Node::Figure(f) => f.clone(),
        Node::Group(inner) => {
            let pad = " ".repeat(indent + 4);
            let lines: Vec<String> = inner
                .iter()
                .map(|(k, n)| format!("{pad}{k}: {},\n", show(n, indent + 4)))
                .collect();
            format!("(\n{}{})", lines.concat(), " ".repeat(indent))
        }
    }
}

/// A quoted text.
fn text(s: &str) -> String {
    let plain: String = s
        .chars()
        .map(|c| match c {
            '"' | '\\' => '\'',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    format!("\"{plain}\"")
}
