//! Targets as data: which figures move what, the exported form, and files of one's own.

use ptoemu::targets::all;
use ptoemu_core::target::Reach;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Figures of the shipped files that move nothing, and why they stay.
const IDLE: &[(&str, &str)] = &[
    ("default.startup", "every instruction has figures of its own; for one a file leaves out"),
    ("default.per_repeat", "the same"),
    ("vcmpv_gt.int.startup", "published with the others of its sweep; it takes floats only"),
    ("vcmpv_gt.int.per_repeat", "the same"),
    ("vcmpv_lt.int.startup", "the same"),
    ("vcmpv_lt.int.per_repeat", "the same"),
];

/// That figures with a reach really move a result is tested where timing is tested
/// (`core/tests/time_figures.rs`, `core/tests/vf_figures.rs`).
#[test]
fn every_figure_is_read_or_listed() {
    for target in all().expect("the shipped files are sound") {
        let idle: Vec<&str> =
            target.paths().map(|(p, _)| p).filter(|p| target.reach(p) == Reach::Nothing).collect();
        let listed: Vec<&str> =
            IDLE.iter().map(|(p, _)| *p).filter(|p| target.get(p).is_ok()).collect();
        assert_eq!(idle, listed, "{}", target.name);
    }
}

fn printed(line: &str) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_ptoemu"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(line.split_whitespace())
        .output()
        .expect("the command starts");
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("UTF-8")
}

/// `PTOEMU_BLESS=1` writes the file anew.
#[test]
fn the_exported_form_is_the_one_in_the_documents() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/target.schema.json");
    let now = printed("targets schema");
    if std::env::var_os("PTOEMU_BLESS").is_some() {
        std::fs::write(&path, &now).expect("written");
    }
    let known = std::fs::read_to_string(&path).expect("the file");
    assert!(known == now, "PTOEMU_BLESS=1 cargo test --test targets renews {}", path.display());
}

/// The part of the form a figure is described by; groups are entered by name, instructions by the
/// form they share.
fn described<'s>(form: &'s Value, path: &str) -> Option<&'s Value> {
    let mut at = form;
    for (i, part) in path.split('.').enumerate() {
        let own = &at["properties"][part];
        at = match (own.is_null(), i) {
            (true, 0) => {
                let names = form["properties"]["costs"]["propertyNames"]["enum"].as_array()?;
                names.iter().find(|n| *n == part)?;
                &form["$defs"]["instruction"]
            }
            (true, _) => return None,
            (false, _) if own.get("$ref").is_some() => &form["$defs"]["typed"],
            (false, _) => own,
        };
    }
    Some(at)
}

#[test]
fn every_figure_of_every_target_has_the_exported_form() {
    let form: Value = serde_json::from_str(&printed("targets schema")).expect("JSON");
    let mut seen = 0;
    for target in all().expect("sound") {
        for (path, figure) in target.paths() {
            let value =
                &described(&form, path).unwrap_or_else(|| panic!("{path}"))["properties"]["value"];
            let bound = |key: &str| value[key].as_f64().unwrap_or_else(|| panic!("{path} {key}"));
            assert!((bound("minimum")..=bound("maximum")).contains(&figure.value), "{path}");
            assert!(value["type"] == "number" || figure.value.fract() == 0.0, "{path}");
            seen += 1;
        }
    }
    assert!(seen > 500, "{seen}");
}
