//! `ptoemu targets schema`: the form of target files as JSON Schema, from the table the loader
//! checks them against.
//!
//! Target files are RON; the schema speaks of the same fields in JSON, where a group `( ... )` and a
//! map `{ ... }` are objects and a bare word is a string.

use crate::targets::catalogue;
use ptoemu_core::dtype::DType;
use ptoemu_core::target::schema::{self, Field, Range, Step};
use ptoemu_core::target::{Conf, Family};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The schema.
pub(super) fn form() -> Value {
    let families = [Family::A2A3, Family::A5];
    let mut properties = header();
    for f in families.into_iter().flat_map(schema::fields) {
        insert(&mut properties, f.path, figure(f));
    }
    let mut names = BTreeSet::new();
    let mut fields = Map::new();
    for family in families {
        names.extend(catalogue(family).0.iter().flat_map(|e| [e.mnemonic, e.cost_class]));
        fields.extend(schema::cost_fields(family).map(|f| (f.path.into(), figure(f))));
    }
    let typed = object(fields.clone(), "figures of one element type, or of a class of them");
    let keys = DType::ALL.iter().map(|d| d.name()).chain(schema::CLASSES);
    fields.extend(keys.map(|k| (k.to_string(), json!({"$ref": "#/$defs/typed"}))));
    let costs = json!({
        "type": "object",
        "description": "figures of instructions by mnemonic",
        "propertyNames": {"enum": names},
        "additionalProperties": {"$ref": "#/$defs/instruction"},
    });
    properties.insert("costs".into(), costs);
    let whole = object(properties, "a target: figures, each with its source");
    let mut out = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Target files of ptoemu",
        "required": ["schema", "name"],
        "$defs": {
            "typed": typed,
            "instruction": object(fields, "figures of one instruction"),
        },
    });
    if let (Some(out), Value::Object(whole)) = (out.as_object_mut(), whole) {
        out.extend(whole);
    }
    out
}

/// Fields that are no figures.
fn header() -> Map<String, Value> {
    let text = |d: &str| json!({"type": "string", "description": d});
    // What `target::is_name` accepts.
    let name = |d: &str| json!({"type": "string", "pattern": "^[0-9A-Za-z][-0-9A-Za-z_.]*$", "description": d});
    let source = object(
        [
            ("kind".to_string(), text("sort of source, for example Simulator or Board")),
            ("date".to_string(), text("when, as far as known")),
            ("note".to_string(), text("what was measured or read, and what was fitted on it")),
        ]
        .into_iter()
        .collect(),
        "a source figures cite",
    );
    let families = [Family::A2A3, Family::A5].map(Family::name);
    [
        ("schema", json!({"const": 1, "description": "version of the form"})),
        ("name", name("what users type")),
        ("base", text("name of the file this one overrides")),
        ("family", json!({"enum": families, "description": "from the base unless given"})),
        (
            "aliases",
            json!({"type": "array", "items": name("as the name"), "description": "other names"}),
        ),
        ("shared", json!({"type": "boolean", "description": "only a base for others"})),
        ("note", text("one sentence")),
        ("sources", json!({"type": "object", "additionalProperties": source})),
    ]
    .into_iter()
    .map(|(k, v)| (k.to_string(), v))
    .collect()
}

fn object(properties: Map<String, Value>, description: &str) -> Value {
    json!({
        "type": "object", "description": description,
        "properties": properties, "additionalProperties": false,
    })
}

/// One figure: `(value, src: ..., conf: ...)`.
fn figure(f: &Field) -> Value {
    let unit = if f.unit.is_empty() { String::new() } else { format!(", in {}", f.unit) };
    json!({
        "type": "object",
        "description": format!("{}{unit}", f.doc),
        "properties": {
            "value": value(f.range),
            "src": {"type": "string", "description": "id of a source"},
            "conf": {"enum": Conf::ALL.map(Conf::name)},
        },
        "required": ["value", "src", "conf"],
        "additionalProperties": false,
    })
}

/// The numbers of a range.
fn value(r: Range) -> Value {
    let kind = if r.step == Step::Any { "number" } else { "integer" };
    let mut out = json!({"type": kind, "minimum": bare(r.min), "maximum": bare(r.max)});
    if r.step == Step::Power {
        let powers = (0..=52).map(|n| 1i64 << n);
        let inside = |p: &i64| (r.min..=r.max).contains(&(*p as f64));
        out["enum"] = powers.filter(inside).collect();
    }
    out
}

/// A whole number without its fraction.
fn bare(v: f64) -> Value {
    if v.fract() == 0.0 && v.abs() < 9e15 { json!(v as i64) } else { json!(v) }
}

/// Puts a figure under the groups of its path.
fn insert(into: &mut Map<String, Value>, path: &str, value: Value) {
    let Some((head, rest)) = path.split_once('.') else {
        into.insert(path.to_string(), value);
        return;
    };
    let group = into.entry(head).or_insert_with(|| object(Map::new(), "figures of one part"));
    if let Some(Value::Object(inner)) = group.get_mut("properties") {
        insert(inner, rest, value);
    }
}
