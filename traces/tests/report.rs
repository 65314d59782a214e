//! The report of a small kernel, compared line by line; `PTOEMU_BLESS=1` rewrites it. And filters:
//! what is left of a trace is a whole trace.

mod common;

use common::{example, written};
use proptest::prelude::*;
use ptoemu_traces::{Filter, insight, kanata, text};
use std::path::Path;

#[test]
fn rowmax() {
    let k = example("rowmax_a3", &[("x", 64 * 128 * 4), ("y", 256)]);
    let report = written(|w| text::write(&k.trace(), w));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/rowmax_a3.txt");
    if std::env::var_os("PTOEMU_BLESS").is_some() {
        std::fs::write(&path, &report).expect("golden");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(report == golden, "the report changed; with PTOEMU_BLESS=1 it becomes:\n{report}");
}

#[test]
fn one_operation() {
    let k = common::kernels().swap_remove(0);
    let filter = Filter { op: Some("trowmax".into()), window: None };
    let t = k.trace().filtered(filter);
    assert!(!t.selection.is_empty() && t.selection.len() < k.stream.records.len());
    for i in t.selection.iter() {
        assert_eq!(t.statics.of(i).and_then(|s| s.tile_op), Some("trowmax"));
    }
}

#[test]
fn an_instruction_inside_vector_functions() {
    let k = common::both_families().swap_remove(3);
    let count = |op: &str| {
        let t = k.trace().filtered(Filter { op: Some(op.into()), window: None });
        let log = written(|w| kanata::write(&t, kanata::Options::default(), w));
        let rows = log.lines().filter(|l| l.starts_with("I\t")).count();
        (t.selection.len(), rows, log)
    };
    let (launches, rows, log) = count("vexp");
    assert_eq!((launches, rows), (1, 1 + 128), "softmax of 64x128 f32");
    assert!(!log.contains("RV_VLDI"));
    // The operation by its name: all that runs inside.
    let (launches, rows, log) = count("texp");
    assert!(launches >= 1 && rows > 4 * 128 && log.contains("RV_VLDI"));
}

#[test]
fn windows_cut_vector_functions() {
    let k = common::both_families().swap_remove(3);
    let inside = |window| {
        let t = k.trace().filtered(Filter { window, op: None });
        let all = t.launches().filter_map(|e| t.micros(&e)).flatten();
        all.map(|r| (r.head, r.done)).collect::<Vec<_>>()
    };
    let all = inside(None);
    for window in [0..1600u64, 1700..1710, 2000..2600, 3000..3001, 5000..9000] {
        let alive = |r: &&(u64, u64)| r.0 < window.end && r.1 >= window.start;
        let want: Vec<_> = all.iter().filter(alive).copied().collect();
        assert_eq!(inside(Some(window)), want);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_window_is_a_whole_trace(from in 0u64..4000, length in 1u64..2000, per_repeat: bool) {
        thread_local! {
            static KERNEL: common::Kernel = common::kernels().swap_remove(1);
        }
        KERNEL.with(|k| {
            let t = k.trace().filtered(Filter { window: Some(from..from + length), op: None });
            let log = written(|w| kanata::write(&t, kanata::Options { per_repeat }, w));
            let declared = log.lines().filter(|l| l.starts_with("I\t")).count();
            assert_eq!(declared, log.lines().filter(|l| l.starts_with("R\t")).count());
            assert!(declared >= t.selection.len());
            let json = written(|w| insight::write_core(&t, w));
            let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
            let events = json["traceEvents"].as_array().expect("array");
            let shown = events.iter().filter(|e| e["ph"] == "X" || e["ph"] == "B").count();
            assert_eq!(shown, t.selection.len());
            let report = written(|w| text::write(&t, w));
            assert!(report.contains("Timeline"));
        });
    }
}
