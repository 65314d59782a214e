//! What a text contains, counted.

use super::ast::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Modules, nested ones included.
    pub modules: usize,
    /// `pto.target_arch` or `pto.device-spec` of each module that names one, in source order.
    pub targets: Vec<String>,
    /// Functions in source order.
    pub functions: Vec<FunctionSummary>,
    /// Statements outside any function.
    pub bare_statements: usize,
    /// Statements of every kind, regions included.
    pub statements: usize,
    /// Statements by canonical op name.
    pub ops: BTreeMap<String, usize>,
    /// Size of the text in bytes.
    pub bytes: usize,
}

/// One function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionSummary {
    /// Name without `@`.
    pub name: String,
    /// Number of arguments.
    pub args: usize,
    /// Statements, regions included.
    pub statements: usize,
    /// Marked `pto.entry`.
    pub entry: bool,
    /// Without a body.
    pub declaration: bool,
}

/// Counts what a file holds.
pub fn summary(file: &File) -> Summary {
    let mut out = Summary { bytes: file.source.text.len(), ..Summary::default() };
    for item in &file.items {
        out.item(item);
    }
    out
}

impl Summary {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Module(m) => {
                self.modules += 1;
                let arch = ["pto.target_arch", "pto.device-spec"];
                let value = arch.iter().find_map(|key| m.attrs.as_ref()?.get(key));
                self.targets.extend(value.and_then(Arg::as_name).map(str::to_string));
                m.items.iter().for_each(|i| self.item(i));
            }
            Item::Func(f) => self.func(f),
            Item::Op(op) => {
                self.bare_statements += 1;
                op.walk(&mut |op| self.op(op));
            }
        }
    }

    fn func(&mut self, f: &Func) {
        let before = self.statements;
        if let Some(body) = &f.body {
            body.walk(&mut |op| self.op(op));
        }
        self.functions.push(FunctionSummary {
            name: f.name.text.to_string(),
            args: f.args.len(),
            statements: self.statements - before,
            entry: f.attrs.as_ref().is_some_and(|d| d.has("pto.entry")),
            declaration: f.body.is_none(),
        });
    }

    fn op(&mut self, op: &Op) {
        self.statements += 1;
        *self.ops.entry(op.canonical().into_owned()).or_default() += 1;
    }
}
