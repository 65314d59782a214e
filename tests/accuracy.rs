//! The cycle model against the published measurements of A2/A3.

use ptoemu::measured::{Row, Scored, lines, points, records};
use ptoemu::targets::find;
use ptoemu_core::target::Target;

fn a3() -> Target {
    find("a3").unwrap_or_else(|e| panic!("{e:?}"))
}

fn table(name: &str) -> String {
    let path = format!("{}/tests/data/measured/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn errors<'r>(rows: impl Iterator<Item = &'r Row>) -> Vec<f64> {
    let mut out: Vec<f64> = rows
        .filter_map(|r| match &r.result {
            Scored::Ran { rel_error, .. } => Some(rel_error.abs()),
            Scored::Skipped { .. } => None,
        })
        .collect();
    out.sort_by(f64::total_cmp);
    out
}

fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len() as f64
}

#[test]
fn fitted_lines() {
    let rows = lines(&records(&table("a2a3_measured_lines.csv")).unwrap(), &a3()).unwrap();
    let all = errors(rows.iter());
    assert_eq!(all.len(), 144, "no line may be skipped");
    assert!(mean(&all) <= 0.008, "mean of all lines {}", mean(&all));
    for kind in ["line TROWMAX", "line TROWSUM"] {
        let e = errors(rows.iter().filter(|r| r.kind == kind));
        assert_eq!(e.len(), 16);
        assert!(mean(&e) <= 0.02 && e[15] <= 0.08, "{kind}: mean {}, max {}", mean(&e), e[15]);
    }
}

#[test]
fn single_cases() {
    let rows = points(&records(&table("a2a3_measured_cases.csv")).unwrap(), &a3()).unwrap();
    let e = errors(rows.iter().filter(|r| r.kind == "case measured, isolated"));
    assert_eq!(e.len(), 25);
    assert!(e[12] <= 0.005 && e[24] <= 0.07, "median {}, max {}", e[12], e[24]);
    let unscored = rows.iter().filter(|r| matches!(r.result, Scored::Skipped { .. }));
    for r in unscored {
        assert!(!r.kind.contains("isolated"), "{} is not scored", r.case);
    }
}

#[test]
fn board_layouts_within_one_cycle() {
    let rows = points(&records(&table("board_and_simulator_points.csv")).unwrap(), &a3()).unwrap();
    let board: Vec<&Row> = rows.iter().filter(|r| r.kind.starts_with("board")).collect();
    assert_eq!(board.len(), 7);
    for r in board {
        let Scored::Ran { ours, .. } = r.result else { panic!("{} did not run", r.case) };
        assert!((ours - r.measured).abs() <= 1.0, "{}: {ours} against {}", r.case, r.measured);
    }
}
