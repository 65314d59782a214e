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
