//! The settings of a study file: figures with their values.

use super::Reader;
use crate::whatif::{Axis, Sweep, values};
use ptoemu_core::diag::Span;
use ptoemu_core::target::read::{Field, Node, Value};

impl Reader<'_> {
    /// `{ "path": values, ... }`: values are a number, a list of numbers or a text.
    pub(super) fn sweeps(&mut self, node: &Node) -> Vec<Sweep> {
        let Value::Fields(fields) = &node.value else {
            self.expected(node, "figures with their values", "{\"drain\": \"0..12\"}");
            return Vec::new();
        };
        fields.iter().filter_map(|f| self.sweep(f)).collect()
    }

    fn sweep(&mut self, f: &Field) -> Option<Sweep> {
        let values = match &f.node.value {
            Value::Number(v) => vec![*v],
            Value::List(items) => {
                let mut out = Vec::new();
                for item in items {
                    match &item.value {
                        Value::Number(v) => out.push(*v),
                        _ => self.expected(item, "a number", "[0, 6, 12], or \"0..12:6\""),
                    }
                }
                if items.is_empty() {
                    self.fault(f.node.span, format!("`{}` has no values", f.name), "[0, 6, 12]");
                }
                out
            }
            Value::Text(text) => match values::parse(text) {
                Ok(values) => values,
                Err(fault) => {
                    let start = f.node.span.start as usize + 1 + fault.at.start;
                    let span = Span::new(start, start + fault.at.len());
                    self.fault(span, fault.message, fault.help);
                    return None;
                }
            },
            _ => {
                self.expected(&f.node, "values", "a number, a list or a text such as \"1..8\"");
                return None;
            }
        };
        let (file, path_span, values_span) = (self.file.clone(), f.span, f.node.span);
        Some(Sweep { path: f.name.clone(), values, file, path_span, values_span })
    }

    pub(super) fn pairs(&mut self, node: &Node) -> Vec<Axis> {
        let Value::List(items) = &node.value else {
            self.expected(node, "a list of pairs", "[{\"drain\": [0, 6], \"end\": [0, 3]}]");
            return Vec::new();
        };
        let mut out = Vec::new();
        for item in items {
            let sweeps = self.sweeps(item);
            if sweeps.len() < 2 {
                let help = "a figure that changes alone stands in `set`";
                self.fault(item.span, "a pair has two figures or more", help);
                continue;
            }
            match Axis::paired(sweeps) {
                Ok(axis) => out.push(axis),
                Err(d) => self.faults.push(d),
            }
        }
        out
    }
}
