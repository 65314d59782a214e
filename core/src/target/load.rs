//! From the tree of a target file to a validated [`Target`].

use super::figure::{Conf, Figure, Place, Source};
use super::read::{Field as Entry, Node, Value, read};
use super::schema::{self, Family, Field, Range, Step};
use super::{NAME, Target, is_name, suggest};
use crate::catalogue::Catalogue;
use crate::diag::{Diagnostic, SourceFile, Span};
use indexmap::IndexMap;
use std::collections::HashSet;
use std::sync::Arc;

/// Version of the file format.
const SCHEMA: f64 = 1.0;
/// Longest chain of base files.
const CHAIN: usize = 8;
/// Fields that are no figures.
const HEADER: [&str; 9] =
    ["schema", "name", "base", "family", "aliases", "shared", "note", "sources", "costs"];

/// A way out of a file that has another form.
const FORM: &str = "`ptoemu targets new` writes a file of the right form";

/// Finds a base file by the name another file gives it.
pub type Resolve<'a> = &'a dyn Fn(&str) -> Option<Arc<SourceFile>>;

/// Loads a target file with the base files it names.
pub(super) fn load(
    file: &Arc<SourceFile>,
    resolve: Resolve,
    catalogue: Arc<Catalogue>,
) -> Result<Target, Vec<Diagnostic>> {
    let mut loader = Loader { errors: Vec::new(), resolve };
    let mut target = Target::empty(catalogue);
    loader.file(file, &mut target, CHAIN);
    if loader.errors.is_empty() {
        let opening = Span::new(0, 1.min(file.text.len()));
        let at_file = |d: Diagnostic| d.at(file, opening, "");
        loader.errors.extend(target.check().into_iter().map(at_file));
    }
    if loader.errors.is_empty() { Ok(target) } else { Err(loader.errors) }
}

struct Loader<'a> {
    errors: Vec<Diagnostic>,
    resolve: Resolve<'a>,
}

impl Loader<'_> {
    fn error(&mut self, file: &Arc<SourceFile>, span: Span, message: String, help: Option<String>) {
        let mut d = Diagnostic::error("target", message).at(file, span, "");
        d.help = help;
        self.errors.push(d);
    }

    /// Reads `file` over what `target` holds already; its base first.
    fn file(&mut self, file: &Arc<SourceFile>, target: &mut Target, chain: usize) {
        let root = match read(file) {
            Ok(node) => node,
            Err(d) => return self.errors.push(d),
        };
        let Value::Fields(fields) = &root.value else {
            let message = "a target file is one group `( ... )`".into();
            return self.error(file, root.span, message, Some(FORM.into()));
        };
        self.repeated(file, &root);
        if let Some(base) = fields.iter().find(|f| f.name == "base") {
            self.base(file, base, target, chain);
        }
        target.aliases.clear();
        target.shared = false;
        let headers = fields.iter().filter(|f| HEADER.contains(&f.name.as_str()));
        let (costs, headers): (Vec<_>, Vec<_>) = headers.partition(|f| f.name == "costs");
        for f in headers {
            self.header(file, f, target);
        }
        for name in ["schema", "name"] {
            if !fields.iter().any(|f| f.name == name) {
                let span = Span { start: root.span.start, end: root.span.start + 1 };
                let help = if name == "schema" { "schema: 1," } else { "name: \"...\"," };
                self.error(file, span, format!("the target has no `{name}`"), Some(help.into()));
            }
        }
        for f in fields.iter().filter(|f| !HEADER.contains(&f.name.as_str())) {
            self.fixed(file, f, &f.name, target);
        }
        for f in costs {
            for inner in self.fields_of(file, &f.node) {
                self.cost(file, &inner, target);
            }
        }
    }

    /// Refuses names given twice in one group, at any depth.
    fn repeated(&mut self, file: &Arc<SourceFile>, node: &Node) {
        let fields = match &node.value {
            Value::Fields(fields) | Value::Figure(_, fields) => fields,
            _ => return,
        };
        let mut names = HashSet::new();
        for f in fields {
            if !names.insert(&f.name) {
                let help = Some("leave one of them out".into());
                self.error(file, f.span, format!("`{}` is given twice", f.name), help);
            }
            self.repeated(file, &f.node);
        }
    }

    fn base(&mut self, file: &Arc<SourceFile>, f: &Entry, target: &mut Target, chain: usize) {
        let Some(name) = self.text(file, &f.node) else { return };
        let Some(base) = (self.resolve)(&name) else {
            let message = format!("no base target `{name}`");
            let help = Some("a built-in target, or a file NAME.ron beside this one".into());
            return self.error(file, f.node.span, message, help);
        };
        if chain == 0 {
            let message = format!("`{name}` is reached through more than {CHAIN} bases");
            let help = Some("a target must not be its own base".into());
            return self.error(file, f.node.span, message, help);
        }
        self.file(&base, target, chain - 1);
        target.base = Some(name);
    }

    fn header(&mut self, file: &Arc<SourceFile>, f: &Entry, target: &mut Target) {
        match f.name.as_str() {
            "schema" if f.node.value == Value::Number(SCHEMA) => {}
            "schema" => {
                let message = format!("this program reads schema {SCHEMA}");
                self.error(file, f.node.span, message, Some("schema: 1,".into()));
            }
            "name" => target.name = self.name(file, &f.node).unwrap_or_default(),
            "note" => target.note = self.text(file, &f.node).unwrap_or_default(),
            "family" => self.family(file, &f.node, target),
            "shared" => match &f.node.value {
                Value::Word(w) if w == "true" || w == "false" => target.shared = w == "true",
                _ => self.expected(file, &f.node, "`true` or `false`"),
            },
            "aliases" => match &f.node.value {
                Value::List(items) => {
                    target.aliases = items.iter().filter_map(|n| self.name(file, n)).collect();
                }
                _ => self.expected(file, &f.node, "a list of texts"),
            },
            "sources" => self.sources(file, &f.node, target),
            _ => {}
        }
    }

    fn family(&mut self, file: &Arc<SourceFile>, node: &Node, target: &mut Target) {
        match &node.value {
            Value::Word(w) if Family::parse(w).is_some() => {
                target.family = Family::parse(w).unwrap_or(target.family);
            }
            _ => self.expected(file, node, "`A2A3` or `A5`"),
        }
    }

    fn sources(&mut self, file: &Arc<SourceFile>, node: &Node, target: &mut Target) {
        for f in self.fields_of(file, node) {
            let mut source =
                Source { note: String::new(), kind: String::new(), date: String::new() };
            for part in self.fields_of(file, &f.node) {
                match (part.name.as_str(), &part.node.value) {
                    ("note", Value::Text(t)) => source.note = t.clone(),
                    ("date", Value::Text(t)) => source.date = t.clone(),
                    ("kind", Value::Word(t) | Value::Text(t)) => source.kind = t.clone(),
                    ("note" | "date" | "kind", _) => self.expected(file, &part.node, "a text"),
                    _ => self.unknown(file, &part, ["note", "kind", "date"].into_iter()),
                }
            }
            if source.note.is_empty() {
                let help = Some("note: \"what was measured or read, and where\"".into());
                self.error(file, f.span, format!("source `{}` has no note", f.name), help);
            }
            target.sources.insert(f.name, source);
        }
    }

    /// A figure or group outside `costs`; `path` is its full path.
    fn fixed(&mut self, file: &Arc<SourceFile>, f: &Entry, path: &str, target: &mut Target) {
        if let Some(field) = schema::fields(target.family).find(|s| s.path == path) {
            return self.figure(file, f, path, field, target);
        }
        let group = format!("{path}.");
        if !schema::fields(target.family).any(|s| s.path.starts_with(&group)) {
            let known: Vec<&str> = schema::fields(target.family).map(|s| s.path).collect();
            let near = suggest(path, known.into_iter().chain(HEADER));
            let of_other = |&other: &Family| {
                schema::fields(other).any(|s| s.path == path || s.path.starts_with(&group))
            };
            let message = match [Family::A2A3, Family::A5].iter().find(|f| of_other(f)) {
                Some(other) => {
                    let (own, other) = (target.family.name(), other.name());
                    format!("`{path}` is a figure of family {other}; this target is of {own}")
                }
                None => format!("unknown figure `{path}`"),
            };
            let help =
                near.or_else(|| Some("`ptoemu targets show a3 --paths` lists figures".into()));
            return self.error(file, f.span, message, help);
        }
        let parts = self.fields_of(file, &f.node);
        for part in parts {
            self.fixed(file, &part, &format!("{path}.{}", part.name), target);
        }
    }

    /// The figures of one instruction.
    fn cost(&mut self, file: &Arc<SourceFile>, f: &Entry, target: &mut Target) {
        let catalogue = target.catalogue.clone();
        if !catalogue.0.is_empty() && !catalogue.knows(&f.name) {
            let names = catalogue.0.iter().flat_map(|e| [e.mnemonic, e.cost_class]);
            let near = suggest(&f.name, names);
            let message = format!("no instruction or cost class `{}`", f.name);
            return self.error(file, f.span, message, near);
        }
        let parts = self.fields_of(file, &f.node);
        for part in parts {
            if schema::is_dtype_key(&part.name) {
                for inner in self.fields_of(file, &part.node) {
                    let path = format!("{}.{}.{}", f.name, part.name, inner.name);
                    self.cost_figure(file, &inner, &path, target);
                }
            } else {
                let path = format!("{}.{}", f.name, part.name);
                self.cost_figure(file, &part, &path, target);
            }
        }
    }

    fn cost_figure(&mut self, file: &Arc<SourceFile>, f: &Entry, path: &str, target: &mut Target) {
        let fields = schema::cost_fields(target.family);
        match fields.clone().find(|s| s.path == f.name) {
            Some(field) => self.figure(file, f, path, field, target),
            None => {
                let names = fields.map(|s| s.path);
                self.unknown(file, f, names.chain(crate::dtype::DType::ALL.map(|d| d.name())));
            }
        }
    }

    fn figure(
        &mut self,
        file: &Arc<SourceFile>,
        f: &Entry,
        path: &str,
        field: &'static Field,
        target: &mut Target,
    ) {
        let (first, parts) = match &f.node.value {
            Value::Figure(number, parts) => (Some(&**number), parts),
            Value::Fields(parts) => (None, parts),
            _ => {
                let what = "a figure `(value: ..., src: \"...\", conf: ...)`";
                return self.expected(file, &f.node, what);
            }
        };
        let named = parts.iter().find(|p| p.name == "value").map(|p| &p.node);
        let Some(number) = first.or(named) else {
            let help = Some("(NUMBER, src: \"...\", conf: Measured)".into());
            return self.error(file, f.node.span, format!("`{path}` has no value"), help);
        };
        let Value::Number(value) = number.value else {
            return self.expected(file, number, "a number");
        };
        if let Err(why) = accept(value, field.range) {
            self.error(file, number.span, format!("`{path}` {why}"), Some(field.doc.into()));
        }
        let (mut src, mut conf) = (None, None);
        let faults = self.errors.len();
        for part in parts {
            match (part.name.as_str(), &part.node.value) {
                ("src", Value::Text(t)) => src = Some((t.clone(), part.node.span)),
                ("src", _) => self.expected(file, &part.node, "the id of a source"),
                ("conf", Value::Word(w)) if Conf::parse(w).is_some() => conf = Conf::parse(w),
                ("conf", _) => {
                    self.expected(file, &part.node, "Measured, Derived, Documented or Assumed");
                }
                ("value", _) if first.is_none() => {}
                _ => self.unknown(file, part, ["value", "src", "conf"].into_iter()),
            }
        }
        let (Some((src, at)), Some(conf)) = (src, conf) else {
            if self.errors.len() > faults {
                return;
            }
            let message = format!("`{path}` needs both `src` and `conf`");
            let help = Some("every figure says where it comes from".into());
            return self.error(file, f.node.span, message, help);
        };
        if !target.sources.contains_key(&src) {
            let near = suggest(&src, target.sources.keys().map(String::as_str));
            self.error(file, at, format!("no source `{src}`"), near);
        }
        let place = Some(Place { file: file.clone(), span: number.span });
        let figure = Figure { value, unit: field.unit, src, conf, place };
        target.figures.insert(path.to_string(), figure);
    }

    fn fields_of(&mut self, file: &Arc<SourceFile>, node: &Node) -> Vec<Entry> {
        match &node.value {
            Value::Fields(fields) => fields.clone(),
            _ => {
                self.expected(file, node, "a group of fields");
                Vec::new()
            }
        }
    }

    fn text(&mut self, file: &Arc<SourceFile>, node: &Node) -> Option<String> {
        match &node.value {
            Value::Text(t) => Some(t.clone()),
            _ => {
                self.expected(file, node, "a text");
                None
            }
        }
    }

    /// A name of the target: it becomes part of file names, lists and reports.
    fn name(&mut self, file: &Arc<SourceFile>, node: &Node) -> Option<String> {
        let name = self.text(file, node)?;
        if !is_name(&name) {
            let message = format!("`{name}` is no name of a target");
            self.error(file, node.span, message, Some(NAME.into()));
        }
        Some(name)
    }

    fn expected(&mut self, file: &Arc<SourceFile>, node: &Node, want: &str) {
        let message = format!("expected {want}, found {}", node.value.what());
        self.error(file, node.span, message, Some(FORM.into()));
    }

    fn unknown<'n>(
        &mut self,
        file: &Arc<SourceFile>,
        f: &Entry,
        known: impl Iterator<Item = &'n str>,
    ) {
        let near = suggest(&f.name, known);
        self.error(file, f.span, format!("unknown field `{}`", f.name), near);
    }
}

/// Is `value` in the range of a figure? Else why not.
pub(super) fn accept(value: f64, range: Range) -> Result<(), String> {
    if !value.is_finite() {
        return Err(format!("is {value}, not a finite number"));
    }
    if value < range.min || value > range.max {
        // Hundreds of digits help nobody.
        let shown = if value.abs() < 1e15 { value.to_string() } else { format!("{value:e}") };
        return Err(format!("is {shown}, outside {}..={}", range.min, range.max));
    }
    match range.step {
        Step::Whole if value.fract() != 0.0 => Err(format!("is {value}, not a whole number")),
        // Ranges of powers end far below 2^53: the number is exact.
        Step::Power if value.fract() != 0.0 || !(value as u64).is_power_of_two() => {
            Err(format!("is {value}, not a power of two"))
        }
        _ => Ok(()),
    }
}

/// Figures by path, in file order.
pub(super) type Figures = IndexMap<String, Figure>;
