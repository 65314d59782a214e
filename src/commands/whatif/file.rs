//! Study files: what is too long for a command line.

mod grid;

use crate::commands::op::{self, CaseArgs};
use crate::commands::run::{Named, ProgramArgs};
use crate::session::{Refusal, read_source};
use crate::targets;
use crate::whatif::{Axis, Grid, Study, Subject, alternatives};
use clap::Parser;
use ptoemu_core::diag::{Diagnostic, SourceFile, Span};
use ptoemu_core::target::read::{Field, Node, Value, read};
use ptoemu_core::target::{Target, suggest};
use std::path::Path;
use std::sync::Arc;

/// Version of the file format.
const SCHEMA: f64 = 1.0;
const FIELDS: [&str; 9] =
    ["schema", "note", "kernels", "ops", "targets", "set", "pair", "output", "page"];
const KERNEL: [&str; 4] = ["file", "args", "label", "options"];
const OP: [&str; 5] = ["op", "dtype", "shapes", "label", "options"];

const ARGUMENT: &str = "NAME=@FILE, VALUE:TYPE, zeros:TYPE[RxC] or rand(SEED):TYPE[RxC]";
const OPERATION: &str = "`ptoemu explain NAME` shows operations and their types";

/// Options a kernel of a study file may have, as on the command line.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct KernelOptions {
    // Before the options it looks at: reading those takes them away.
    #[command(flatten)]
    named: Named,
    #[command(flatten)]
    program: ProgramArgs,
}

/// Options a tile operation of a study file may have.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct OpOptions {
    #[command(flatten)]
    case: CaseArgs,
}

/// What a study file says.
pub(super) struct Plan {
    /// Subjects, targets, settings.
    pub study: Study,
    /// File the rows go to unless the command line names one; beside the study file.
    pub output: Option<std::path::PathBuf>,
    /// Folder of its page, likewise.
    pub page: Option<std::path::PathBuf>,
    /// Files it was read from besides itself: kernels, arrays, microcode, targets.
    pub files: Vec<std::path::PathBuf>,
}

/// Reads a study file; paths in it are relative to it.
pub(super) fn load(path: &Path) -> Result<Plan, Refusal> {
    let file = read_source(path)?;
    let mut r = Reader {
        file,
        dir: path.parent().unwrap_or(Path::new("")),
        faults: Vec::new(),
        files: Vec::new(),
    };
    let plan = r.study();
    if r.faults.is_empty() { Ok(plan) } else { Err(Refusal::Program(r.faults)) }
}

struct Reader<'p> {
    file: Arc<SourceFile>,
    dir: &'p Path,
    faults: Vec<Diagnostic>,
    /// Files of targets.
    files: Vec<std::path::PathBuf>,
}

impl Reader<'_> {
    fn fault(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.faults.push(Diagnostic::error("study", message).at(&self.file, span, "").help(help));
    }

    /// Something refused for a reason of its own, shown here.
    fn refused(&mut self, span: Span, why: Refusal, help: &str) {
        match why {
            Refusal::Usage(e) => self.fault(span, format!("{e:#}"), help),
            Refusal::Program(list) => self.faults.extend(list),
        }
    }

    fn study(&mut self) -> Plan {
        let mut study = Study { subjects: Vec::new(), targets: Vec::new(), grid: Grid::default() };
        let mut plan = Plan { study: study.clone(), output: None, page: None, files: Vec::new() };
        let root = match read(&self.file) {
            Ok(node) => node,
            Err(d) => {
                self.faults.push(Diagnostic { code: "study.syntax", ..d });
                return plan;
            }
        };
        let Value::Fields(fields) = &root.value else {
            self.fault(
                root.span,
                "a study file is one group `( ... )`",
                "see `ptoemu whatif --help`",
            );
            return plan;
        };
        if let Some(other) =
            fields.iter().find(|f| f.name == "schema" && f.node.value != Value::Number(SCHEMA))
        {
            // What the other fields mean there is not known.
            let message = match other.node.value {
                Value::Number(n) => {
                    format!("schema {n} is not supported: this program reads schema {SCHEMA}")
                }
                _ => format!("this program reads schema {SCHEMA}"),
            };
            self.fault(other.node.span, message, "schema: 1,");
            return plan;
        }
        self.known(fields, &FIELDS);
        self.complete(root.span, fields);
        let mut axes = Vec::new();
        for f in fields {
            match f.name.as_str() {
                "note" => drop(self.text(&f.node)),
                "targets" => study.targets = self.targets(&f.node),
                "kernels" => {
                    let groups = self.groups(&f.node, &KERNEL, &["file"]);
                    study.subjects.extend(groups.iter().flat_map(|g| self.kernel(g)));
                }
                "ops" => {
                    let groups = self.groups(&f.node, &OP, &["op", "dtype", "shapes"]);
                    study.subjects.extend(groups.iter().flat_map(|g| self.op(g)));
                }
                "set" => axes.extend(self.sweeps(&f.node).into_iter().map(Axis::one)),
                "pair" => axes.extend(self.pairs(&f.node)),
                "page" => plan.page = self.text(&f.node).map(|t| self.dir.join(t.0)),
                "output" => plan.output = self.text(&f.node).map(|t| self.dir.join(t.0)),
                _ => {}
            }
        }
        match Grid::new(axes) {
            Ok(grid) => study.grid = grid,
            Err(d) => self.faults.push(d),
        }
        plan.files = study.subjects.iter().flat_map(Subject::files).collect();
        plan.files.append(&mut self.files);
        plan.study = study;
        plan
    }

    /// Refuses a study without what every study has.
    fn complete(&mut self, root: Span, fields: &[Field]) {
        let opening = Span { start: root.start, end: root.start + 1 };
        for (name, way) in [("schema", "schema: 1,"), ("targets", "targets: [\"a3\"],")] {
            if !fields.iter().any(|f| f.name == name) {
                self.fault(opening, format!("the study has no `{name}`"), way);
            }
        }
        if !fields.iter().any(|f| f.name == "kernels" || f.name == "ops") {
            let help = "kernels: [(file: \"softmax.pto\")], or ops: [(op: \"trowmax\", ...)],";
            self.fault(opening, "the study has neither `kernels` nor `ops`", help);
        }
    }

    /// Refuses names that are not `names`, and names given twice.
    fn known(&mut self, fields: &[Field], names: &[&str]) {
        for (i, f) in fields.iter().enumerate() {
            if !names.contains(&f.name.as_str()) {
                let near = suggest(&f.name, names.iter().copied());
                let near = near.unwrap_or_else(|| format!("there are {}", names.join(", ")));
                self.fault(f.span, format!("unknown field `{}`", f.name), near);
            } else if fields[..i].iter().any(|g| g.name == f.name) {
                self.fault(f.span, format!("`{}` is given twice", f.name), "leave one out");
            }
        }
    }

    /// A list of groups with fields of these names.
    fn groups(&mut self, node: &Node, names: &[&str], needed: &[&str]) -> Vec<Vec<Field>> {
        let Value::List(items) = &node.value else {
            self.expected(node, "a list of groups", "[( ... ), ( ... )]");
            return Vec::new();
        };
        let mut out = Vec::new();
        for item in items {
            let Value::Fields(fields) = &item.value else {
                self.expected(item, "a group", "( name: value, ... )");
                continue;
            };
            self.known(fields, names);
            let lacking = needed.iter().find(|n| !fields.iter().any(|f| f.name == **n));
            match lacking {
                Some(name) => {
                    let span = Span { start: item.span.start, end: item.span.start + 1 };
                    let help = format!("an entry needs {}", needed.join(", "));
                    self.fault(span, format!("`{name}` is missing here"), help);
                }
                None => out.push(fields.clone()),
            }
        }
        out
    }

    fn kernel(&mut self, fields: &[Field]) -> Vec<Subject> {
        let Some((name, span)) = self.text_of(fields, "file") else { return Vec::new() };
        let source = match read_source(&self.dir.join(&name)) {
            Ok(s) => s,
            Err(e) => {
                self.refused(span, e.into(), "paths are relative to the study file");
                return Vec::new();
            }
        };
        let (words, at) = self.options(fields, span);
        let parsed = match KernelOptions::try_parse_from(&words) {
            Ok(o) => o,
            Err(e) => return self.bad_option(at, &e),
        };
        let own = ["-v", "--set", "--arg"].map(String::from);
        if parsed.named.0.iter().any(|n| own.contains(n)) {
            let help = "targets: [...], set: {...} and args: [...]";
            self.fault(at, "targets, figures and arguments have fields of their own", help);
            return Vec::new();
        }
        if parsed.program.deny.is_some() {
            let help = "give --deny warnings on the command line: it counts for all of the study";
            self.fault(at, "`--deny` is no option of one kernel", help);
            return Vec::new();
        }
        let parsed = parsed.program;
        let (args, at_args) = self.texts_of(fields, "args", at);
        let args: Vec<String> = args.iter().map(|a| beside(self.dir, a)).collect();
        let label = self.label(fields);
        let made = alternatives(&args).map_err(Refusal::Usage).and_then(|all| {
            let subject = |(shape, given)| {
                let shape = joined(label.as_deref(), shape);
                let mut subject = Subject::kernel(&source, shape, parsed.request(given)?);
                subject.place = Some((self.file.clone(), span));
                Ok(subject)
            };
            all.into_iter().map(subject).collect::<Result<Vec<_>, Refusal>>()
        });
        made.unwrap_or_else(|e| {
            self.refused(at_args, e, ARGUMENT);
            Vec::new()
        })
    }

    fn op(&mut self, fields: &[Field]) -> Vec<Subject> {
        let op = self.text_of(fields, "op");
        let dtype = self.text_of(fields, "dtype");
        let (Some((op, at_op)), Some((dtype, _))) = (op, dtype) else { return Vec::new() };
        let (words, at) = self.options(fields, at_op);
        let parsed = match OpOptions::try_parse_from(&words) {
            Ok(o) => o.case,
            Err(e) => return self.bad_option(at, &e),
        };
        let label = self.label(fields);
        let Some(shapes) = fields.iter().find(|f| f.name == "shapes") else { return Vec::new() };
        let mut out = Vec::new();
        for (shape, span) in self.texts(&shapes.node) {
            let wrong_shape = op::shape(&shape).is_err();
            match parsed.built_in(&op, &dtype, &shape) {
                Ok(case) => {
                    let mut subject = Subject::op(case);
                    subject.shape = joined(label.as_deref(), subject.shape);
                    subject.place = Some((self.file.clone(), span));
                    out.push(subject);
                }
                Err(e) => {
                    let at = if wrong_shape { span } else { at_op };
                    let help = if wrong_shape { "rows and columns: RxC" } else { OPERATION };
                    self.refused(at, e, help);
                    return out;
                }
            }
        }
        out
    }

    /// A label, which is part of a row and so of one line.
    fn label(&mut self, fields: &[Field]) -> Option<String> {
        let (text, span) = self.text_of(fields, "label")?;
        if text.contains(char::is_control) {
            self.fault(
                span,
                "a label has no line breaks or control characters",
                "one line of text",
            );
        }
        Some(text)
    }

    /// The words of the field `options`.
    fn options(&mut self, fields: &[Field], otherwise: Span) -> (Vec<String>, Span) {
        match self.text_of(fields, "options") {
            Some((text, span)) => (text.split_whitespace().map(String::from).collect(), span),
            None => (Vec::new(), otherwise),
        }
    }

    fn bad_option(&mut self, span: Span, e: &clap::Error) -> Vec<Subject> {
        let text = e.to_string();
        let first = text.lines().next().unwrap_or("not understood").trim_start_matches("error: ");
        self.fault(span, first, "options as on the command line of `run` and `op`");
        Vec::new()
    }

    fn targets(&mut self, node: &Node) -> Vec<Target> {
        let mut out: Vec<Target> = Vec::new();
        for (name, span) in self.texts(node) {
            // A file of that name beside the study comes first; all else is a name.
            let own = self.dir.join(&name);
            let name = if name.ends_with(".ron") { own.display().to_string() } else { name };
            self.files.extend(targets::files(&name));
            let found = targets::find(&name);
            match found {
                Ok(t) if out.iter().any(|o: &Target| o.name == t.name) => {
                    let message = format!("target {} is listed twice", t.name);
                    self.fault(span, message, "leave one of its names out");
                }
                Ok(t) => out.push(t),
                Err(e) => self.refused(span, e.into(), "`ptoemu targets list`, or a file .ron"),
            }
        }
        out
    }

    fn text_of(&mut self, fields: &[Field], name: &str) -> Option<(String, Span)> {
        let field = fields.iter().find(|f| f.name == name)?;
        self.text(&field.node)
    }

    fn text(&mut self, node: &Node) -> Option<(String, Span)> {
        match &node.value {
            Value::Text(t) => Some((t.clone(), node.span)),
            _ => {
                self.expected(node, "a text", "\"...\"");
                None
            }
        }
    }

    fn texts_of(&mut self, fields: &[Field], name: &str, otherwise: Span) -> (Vec<String>, Span) {
        match fields.iter().find(|f| f.name == name) {
            Some(f) => (self.texts(&f.node).into_iter().map(|t| t.0).collect(), f.node.span),
            None => (Vec::new(), otherwise),
        }
    }

    fn texts(&mut self, node: &Node) -> Vec<(String, Span)> {
        match &node.value {
            Value::List(items) if items.is_empty() => {
                self.fault(node.span, "an empty list", "[\"...\", ...]");
                Vec::new()
            }
            Value::List(items) => items.iter().filter_map(|n| self.text(n)).collect(),
            _ => {
                self.expected(node, "a list of texts", "[\"...\", ...]");
                Vec::new()
            }
        }
    }

    fn expected(&mut self, node: &Node, want: &str, form: &str) {
        self.fault(node.span, format!("expected {want}, found {}", node.value.what()), form);
    }
}

/// `NAME=@FILE` with the file beside the study.
fn beside(dir: &Path, arg: &str) -> String {
    match arg.split_once("=@") {
        Some((name, path)) => format!("{name}=@{}", dir.join(path).display()),
        None => arg.to_string(),
    }
}

/// A label before what tells the runs of one entry apart.
fn joined(label: Option<&str>, shape: String) -> String {
    match label {
        Some(label) if shape.is_empty() => label.to_string(),
        Some(label) => format!("{label} {shape}"),
        None => shape,
    }
}
