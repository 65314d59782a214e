//! `ptoemu check`: findings without a run's report, what orders nothing, the other order.

use super::*;

#[test]
fn the_status_is_that_of_the_findings() {
    let clean = words("check examples/softmax.pto --arg x=@examples/data/softmax_x.npy", 0);
    assert_eq!(
        String::from_utf8_lossy(&clean.stdout),
        "softmax on a3: 0 errors, 0 warnings, 0 notes\n"
    );
    let race = words("check tests/fail/race_vector.pto --sync manual", 1);
    assert!(prose(&race).contains("Potential RAW hazard detected"), "{}", prose(&race));
    assert!(String::from_utf8_lossy(&race.stdout).contains("1 error,"));
    words("check tests/fail/valid_negative.pto", 2);
    words("check tests/fail/flag_left.pto", 0);
    words("check tests/fail/flag_left.pto --deny warnings", 1);
}

/// Two barriers stand between two instructions that share no byte, one between two that do.
#[test]
fn synchronisation_that_orders_nothing_is_named_with_its_cost() {
    let out = words("check tests/data/idle_sync.pto -v a3 --json -", 0);
    let report = json(&out);
    let idle = report["idle"].as_array().expect("a list");
    let lines: Vec<_> = idle.iter().map(|i| (i["line"].as_u64(), i["what"].as_str())).collect();
    assert_eq!(
        lines,
        [
            (Some(12), Some("pipe_barrier PIPE_V")),
            (Some(17), Some("flag [PIPE_MTE3, PIPE_V, EVENT_ID1]"))
        ]
    );
    // The cost is what the run is shorter without the line.
    let text = fs::read_to_string("tests/data/idle_sync.pto").expect("program");
    let dir = scratch();
    let without = dir.join("without.pto");
    let kept = text.lines().enumerate().filter(|(n, _)| *n != 11).map(|(_, l)| l);
    fs::write(&without, kept.collect::<Vec<_>>().join("\n")).expect("written");
    let cycles = |path: &str| {
        let out = words(&format!("run {path} -v a3 --json -"), 0);
        json(&out)["cycles"].as_u64().expect("cycles")
    };
    let saved = cycles("tests/data/idle_sync.pto") - cycles(&without.display().to_string());
    assert_eq!(idle[0]["cycles"].as_u64(), Some(saved));
    assert!(saved > 0);
}

#[test]
fn the_other_order_shows_whether_values_change() {
    let last = |line: &str| {
        let report = json(&words(line, 1));
        let notes = report["findings"][0]["notes"].as_array().cloned().unwrap_or_default();
        notes.last().and_then(|n| n.as_str()).unwrap_or_default().to_string()
    };
    let changes =
        last("check tests/fail/known_vector_barrier.pto --arg x=zeros:f32[128] --stale --json -");
    assert!(changes.contains("values change: `x` in 128 of 128 elements"), "{changes}");
    let same = last("check tests/fail/race_vector.pto --sync manual --stale --json -");
    assert!(same.contains("no output value changes"), "{same}");
    let write =
        last("run tests/fail/race_store.pto --arg y=zeros:f32[128] --sync manual --stale --json -");
    assert!(write.contains("values change"), "{write}");
    let ahead = last(
        "check tests/fail/race_950_reload.pto -v 950pr --sync manual --arg x=rand(1):f32[64] --arg y=zeros:f32[64] --stale --json -",
    );
    assert!(ahead.contains("no output value changes"), "{ahead}");
}
