//! Every example runs through the command on A2 and A3 and gives what `examples/make_data.py`
//! computed without us.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// A run of one example.
struct Example {
    file: &'static str,
    /// Argument and its value; `@` and a name stand for that file under `examples/data`.
    args: &'static [(&'static str, &'static str)],
    /// Argument and the file under `examples/data` it is compared with.
    golden: &'static [(&'static str, &'static str)],
    /// Absolute and relative tolerance.
    eps: &'static str,
    /// Largest absolute error seen, rounded up: a closer bound than `eps` where values are small.
    max_abs: f64,
}

const X_TO_Y: (&str, &str) = ("y", "softmax_y");

const EXAMPLES: &[Example] = &[
    Example {
        file: "softmax",
        args: &[("x", "@softmax_x")],
        golden: &[X_TO_Y],
        eps: "1e-5",
        max_abs: 1e-8,
    },
    Example {
        file: "softmax_manual",
        args: &[("x", "@softmax_x")],
        golden: &[X_TO_Y],
        eps: "1e-5",
        max_abs: 1e-8,
    },
    Example {
        file: "listing",
        args: &[("x", "@softmax_x")],
        golden: &[X_TO_Y],
        eps: "1e-5",
        max_abs: 1e-8,
    },
    Example {
        file: "softmax_f16",
        args: &[("x", "@softmax_f16_x")],
        golden: &[("y", "softmax_f16_y")],
        eps: "1e-3",
        max_abs: 7e-5,
    },
    Example {
        file: "rmsnorm",
        args: &[("x", "@rmsnorm_x")],
        golden: &[("y", "rmsnorm_y")],
        eps: "1e-5",
        max_abs: 3e-7,
    },
    Example {
        file: "rowmax_a3",
        args: &[("x", "@softmax_x"), ("y", "zeros:f32[64]")],
        golden: &[("y", "rowmax_y")],
        eps: "0",
        max_abs: 0.0,
    },
    Example {
        file: "online_softmax",
        args: &[
            ("s", "@online_softmax_s"),
            ("pv", "@online_softmax_pv"),
            ("m", "@online_softmax_m"),
            ("l", "@online_softmax_l"),
            ("o", "@online_softmax_o"),
        ],
        golden: &[
            ("p", "online_softmax_p"),
            ("m_out", "online_softmax_m_out"),
            ("l_out", "online_softmax_l_out"),
            ("o_out", "online_softmax_o_out"),
        ],
        eps: "1e-5",
        max_abs: 4e-6,
    },
];

fn run(args: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ptoemu"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .output()
        .expect("the command starts")
}

fn command(e: &Example, target: &str) -> Vec<String> {
    let mut words =
        vec!["run".into(), format!("examples/{}.pto", e.file), "-v".into(), target.into()];
    for (name, value) in e.args {
        let value = match value.strip_prefix('@') {
            Some(file) => format!("@examples/data/{file}.npy"),
            None => value.to_string(),
        };
        words.extend(["--arg".into(), format!("{name}={value}")]);
    }
    for (name, file) in e.golden {
        words.extend(["--golden".into(), format!("{name}=examples/data/{file}.npy")]);
    }
    words.extend(["--eps", e.eps, "--json", "-"].map(String::from));
    words
}

/// Runs an example; it must end well. Its JSON report.
fn report(e: &Example, target: &str) -> Value {
    let out = run(&command(e, target));
    let prose = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{} on {target}:\n{prose}", e.file);
    serde_json::from_slice(&out.stdout).unwrap_or_else(|err| panic!("{}: {err}\n{prose}", e.file))
}

#[test]
fn every_example_matches_its_golden_files() {
    for e in EXAMPLES {
        // Instructions belong to their family; tile operations run on both.
        let written_for_a3 = e.file == "rowmax_a3";
        for target in ["a2", "a3", "950pr"] {
            if target == "950pr" && written_for_a3 {
                continue;
            }
            let report = report(e, target);
            let results = report["golden"].as_array().expect("golden comparisons");
            assert_eq!(results.len(), e.golden.len(), "{} on {target}", e.file);
            for r in results {
                assert_eq!(r["pass"], true, "{} on {target}: {r}", e.file);
                let error = r["max_abs"].as_f64().unwrap_or(f64::INFINITY);
                assert!(error <= e.max_abs, "{} on {target}: {r}", e.file);
            }
            let faults = report["findings"].as_array().expect("findings");
            let bad: Vec<_> = faults.iter().filter(|f| f["level"] != "note").collect();
            assert!(bad.is_empty(), "{} on {target}: {bad:?}", e.file);
            assert!(report["cycles"].as_u64() > Some(0), "{} on {target}", e.file);
        }
    }
}

#[test]
fn families_are_shown_beside_each_other() {
    let both = "a3,950pr";
    for e in EXAMPLES.iter().filter(|e| e.file != "rowmax_a3") {
        let mut words = command(e, both);
        words.truncate(words.len() - 2);
        let out = run(&words);
        let text = String::from_utf8_lossy(&out.stdout);
        assert_eq!(out.status.code(), Some(0), "{}: {text}", e.file);
        let last: Vec<&str> = text.lines().rev().take(3).collect();
        assert!(last[2].starts_with("target ") && last[2].ends_with("golden"), "{text}");
        for (line, target) in [(last[1], "a3 "), (last[0], "950pr ")] {
            assert!(line.starts_with(target) && line.ends_with("close"), "{}: {text}", e.file);
        }
    }
}

#[test]
fn instructions_of_the_other_family_are_refused() {
    let e = EXAMPLES.iter().find(|e| e.file == "rowmax_a3").expect("in the table");
    let out = run(&command(e, "a3,950pr"));
    let text = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{text}");
    assert!(text.contains("does not exist on the 950") && text.contains("-v a3"), "{text}");
}

#[test]
fn a_wrong_golden_file_fails_the_run() {
    let e = &EXAMPLES[0];
    let mut words = command(e, "a3");
    for w in &mut words {
        *w = w.replace("y=examples/data/softmax_y", "y=examples/data/rmsnorm_y");
    }
    let out = run(&words);
    assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn written_and_inserted_synchronisation_cost_the_same() {
    let cycles = |name: &str| {
        let e = EXAMPLES.iter().find(|e| e.file == name).expect("in the table");
        report(e, "a3")["cycles"].as_u64()
    };
    assert_eq!(cycles("softmax"), cycles("softmax_manual"));
}

#[test]
fn every_example_is_tested() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut there: BTreeSet<String> = std::fs::read_dir(dir)
        .expect("examples")
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "pto"))
        .filter_map(|p| Some(p.file_stem()?.to_str()?.to_string()))
        .collect();
    // Stands for a tile operation and runs under `verify`: tests/verify.rs.
    assert!(there.remove("rowmax_own"));
    let tested: BTreeSet<String> = EXAMPLES.iter().map(|e| e.file.to_string()).collect();
    assert_eq!(there, tested);
}
