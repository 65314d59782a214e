//! Every JSON report has the form `docs/reports.schema.json` says, and no field it does not say.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Faults of `v` under the part of JSON Schema the file uses: type, properties, required,
/// additionalProperties, items, enum, anyOf, references to definitions.
fn faults(schema: &Value, v: &Value, all: &Value, at: &str, out: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/$defs/");
        return faults(&all["$defs"][name], v, all, at, out);
    }
    if let Some(options) = schema["anyOf"].as_array() {
        let fits = |o: &Value| {
            let mut inner = Vec::new();
            faults(o, v, all, at, &mut inner);
            inner
        };
        let tries: Vec<Vec<String>> = options.iter().map(fits).collect();
        if tries.iter().all(|t| !t.is_empty()) {
            out.extend(tries.into_iter().min_by_key(Vec::len).unwrap_or_default());
        }
        return;
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(v)
    {
        out.push(format!("{at}: {v} is none of {words:?}"));
    }
    let typed = match schema["type"].as_str() {
        Some("object") => v.is_object(),
        Some("array") => v.is_array(),
        Some("string") => v.is_string(),
        Some("integer") => v.is_i64() || v.is_u64(),
        Some("number") => v.is_number(),
        Some("boolean") => v.is_boolean(),
        Some("null") => v.is_null(),
        _ => schema["enum"].is_array(),
    };
    if !typed {
        return out.push(format!("{at}: {v} is no {}", schema["type"]));
    }
    for (i, item) in v.as_array().into_iter().flatten().enumerate() {
        faults(&schema["items"], item, all, &format!("{at}[{i}]"), out);
    }
    let Some(object) = v.as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !object.contains_key(name) {
            out.push(format!("{at} lacks {name}"));
        }
    }
    for (key, value) in object {
        let at = format!("{at}.{key}");
        match (&schema["properties"][key], &schema["additionalProperties"]) {
            (Value::Null, Value::Bool(true)) => {}
            (Value::Null, Value::Bool(false)) => out.push(format!("{at} is not in the schema")),
            (Value::Null, extra) => faults(extra, value, all, &at, out),
            (known, _) => faults(known, value, all, &at, out),
        }
    }
}

/// Report of a command, from stdout; the command must end with `status`.
fn report(line: &str, status: i32) -> Value {
    let out = Command::new(env!("CARGO_BIN_EXE_ptoemu"))
        .current_dir(root())
        .args(line.split_whitespace())
        .args(["--json", "-"])
        .output()
        .expect("the command starts");
    let prose = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(status), "{line}\n{prose}");
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{line}: {e}\n{prose}"))
}

#[test]
fn reports_have_the_documented_form() {
    let text = std::fs::read_to_string(root().join("docs/reports.schema.json")).expect("schema");
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    let softmax = "examples/softmax.pto --arg x=@examples/data/softmax_x.npy";
    let wrong = "--golden y=examples/data/rmsnorm_y.npy";
    for (definition, line, status) in [
        ("run", format!("run {softmax} --golden y=examples/data/softmax_y.npy"), 0),
        ("run", format!("run {softmax} {wrong}"), 1),
        ("run", "run examples/softmax.pto".to_string(), 1),
        ("runs", format!("run {softmax} -v a2,a3"), 0),
        (
            "check",
            "check examples/softmax_manual.pto --arg x=@examples/data/softmax_x.npy".into(),
            0,
        ),
        ("check", "check tests/fail/race_gm.pto --stale --arg y=zeros:f32[128]".into(), 1),
        ("checks", format!("check {softmax} -v a3,950pr"), 0),
        ("op", "op trowsum f16 64x128 -v a2,a3".to_string(), 0),
        ("parse", "parse examples/softmax.pto examples/listing.pto".to_string(), 0),
        ("accuracy", measured("--lines", "lines"), 0),
        ("accuracy", measured("--measured", "cases"), 0),
        (
            "calibrate",
            "calibrate tests/data/measured/a2a3_measured_lines.csv --fit drain,end".to_string(),
            0,
        ),
        ("sensitivity", format!("sensitivity {softmax} --draws 20 --against 950pr"), 0),
        ("shapes", "shapes tadd f32 --rows 8,512 --cols 64,128 -v a3,950pr".to_string(), 0),
        ("verify", "verify tcolmax -v a3,950pr --microcode vendor --cases 32".to_string(), 1),
        ("mutation", "verify trowexpandmax -v 950pr --types f16 --mutate".to_string(), 0),
        ("targets_list", "targets list".to_string(), 0),
        ("targets_show", "targets show a3".to_string(), 0),
        ("targets_diff", "targets diff a3 950pr".to_string(), 0),
        (
            "whatif",
            "whatif op tadd f32 --shape 8x64,8x128 -v a2,a3 --set drain=0..3".to_string(),
            0,
        ),
        (
            "whatif",
            "whatif op tadd f32 --shape 64x128 -v 950pr --set vf.registers=2,68".to_string(),
            0,
        ),
        (
            "traces",
            format!(
                "trace {softmax} -v a3,950pr --format text -o {}/schema_trace",
                env!("CARGO_TARGET_TMPDIR")
            ),
            0,
        ),
        ("explain_instruction", "explain vcmax.f32 -v a3".to_string(), 0),
        ("explain_tile", "explain trowmax".to_string(), 0),
        ("explain_list", "explain".to_string(), 0),
        ("targets_check", "targets check".to_string(), 0),
        ("op", "op trowmax f32 8x128 -v a3,950pr".to_string(), 0),
        ("runs", format!("run {softmax} -v a3,950pr"), 0),
        ("diff", "diff examples/softmax.pto -v a2,a3".to_string(), 0),
        ("diff", "diff examples/softmax.pto -v a3,950pr".to_string(), 0),
        ("vf", "vf tests/data/axpy_vf.json -v 950pr,950dt --records 5".to_string(), 0),
        ("targets_check", "targets check tests/data/broken.ron".to_string(), 2),
        ("run", "run tests/fail/wait_without_set.pto -v a3".to_string(), 1),
        ("parse", "parse tests/fail/syntax_character.pto".to_string(), 2),
    ] {
        let mut out = Vec::new();
        faults(&schema["$defs"][definition], &report(&line, status), &schema, "", &mut out);
        out.truncate(10);
        assert!(out.is_empty(), "{line} against {definition}:\n{}", out.join("\n"));
    }
}

fn measured(option: &str, table: &str) -> String {
    format!("accuracy -v a3 {option} tests/data/measured/a2a3_measured_{table}.csv")
}

#[test]
fn the_validator_sees_faults() {
    let schema = serde_json::json!({
        "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
        "additionalProperties": false
    });
    for (value, sound) in [
        (serde_json::json!({"n": 1}), true),
        (serde_json::json!({"n": 1.5}), false),
        (serde_json::json!({}), false),
        (serde_json::json!({"n": 1, "m": 2}), false),
    ] {
        let mut out = Vec::new();
        faults(&schema, &value, &schema, "", &mut out);
        assert_eq!(out.is_empty(), sound, "{value}: {out:?}");
    }
}
