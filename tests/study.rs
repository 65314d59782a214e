//! `ptoemu sensitivity` and `ptoemu shapes`: every number is an exact re-timing, and the files hold
//! what the screen says.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn ptoemu(line: &str) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_ptoemu"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(line.split_whitespace())
        .output()
        .expect("the command starts");
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

fn json(line: &str) -> Value {
    let (status, out, err) = ptoemu(&format!("{line} --json -"));
    assert_eq!(status, 0, "{line}: {err}");
    serde_json::from_str(&out).expect("JSON")
}

fn cycles(line: &str) -> f64 {
    let v = json(line);
    let found = v["cycles"].as_f64().or_else(|| v["results"][0]["cycles"].as_f64());
    found.expect("cycles")
}

const SOFTMAX: &str = "examples/softmax.pto --arg x=@examples/data/softmax_x.npy";

fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    dir
}

#[test]
fn swings_are_what_a_run_with_the_figure_set_takes() {
    let v = json(&format!("sensitivity {SOFTMAX} -v a3 --draws 20"));
    assert_eq!(v["cycles"].as_f64(), Some(cycles(&format!("run {SOFTMAX} -v a3"))));
    let swings = v["swings"].as_array().expect("swings");
    assert!(swings.len() > 10);
    let widths: Vec<f64> = swings
        .iter()
        .map(|s| (s["cycles_high"].as_f64().unwrap() - s["cycles_low"].as_f64().unwrap()).abs())
        .collect();
    assert!(widths.is_sorted_by(|a, b| a >= b), "{widths:?}");
    for s in swings.iter().take(4) {
        for end in ["low", "high"] {
            let (path, value) = (s["path"].as_str().unwrap(), &s[end]);
            let set = cycles(&format!("run {SOFTMAX} -v a3 --set {path}={value}"));
            assert_eq!(s[format!("cycles_{end}")].as_f64(), Some(set), "{path}={value}");
        }
    }
    // Both together, too.
    let pair = &v["interactions"][0];
    let high = |name: &str| {
        let found = swings.iter().find(|s| s["path"] == pair[name]).expect("one of the widest");
        format!("--set {}={}", found["path"].as_str().unwrap(), found["high"])
    };
    let both = cycles(&format!("run {SOFTMAX} -v a3 {} {}", high("a"), high("b")));
    let base = v["cycles"].as_f64().unwrap();
    assert_eq!(pair["together"].as_f64(), Some(both - base));
}

#[test]
fn regimes_and_crossings_hold_where_they_are_said() {
    let v = json("sensitivity trowmax f32 64x128 -v a3 --draws 20 --against dynamic");
    let regimes = v["regimes"].as_array().expect("regimes");
    assert!(!regimes.is_empty());
    for r in regimes {
        assert_ne!(r["bound"], v["bound"], "{r}");
        let set = format!(
            "op trowmax f32 64x128 -v a3 --set {}={}",
            r["path"].as_str().unwrap(),
            r["at"]
        );
        assert_eq!(r["cycles"].as_f64(), Some(cycles(&set)), "{r}");
    }
    let even = &v["break_even"];
    assert!(even["ours"].as_f64() < even["theirs"].as_f64(), "the tree is the faster path");
    let crossings = even["crossings"].as_array().expect("crossings");
    assert!(!crossings.is_empty());
    for c in crossings {
        assert!(c["ours"].as_f64() >= c["theirs"].as_f64(), "{c}");
        let set = format!("--set {}={}", c["path"].as_str().unwrap(), c["at"]);
        let ours = cycles(&format!("op trowmax f32 64x128 -v a3 {set}"));
        let theirs = cycles(&format!("op trowmax f32 64x128 -v a3 --dynamic {set}"));
        assert_eq!((c["ours"].as_f64(), c["theirs"].as_f64()), (Some(ours), Some(theirs)), "{c}");
    }
}

/// Between targets a figure that both have moves in both.
#[test]
fn crossings_of_two_targets_turn_what_both_have() {
    let v = json("sensitivity trowmax f32 64x128 -v a3 --draws 20 --against a2");
    let even = &v["break_even"];
    let faster = even["ours"].as_f64() < even["theirs"].as_f64();
    for c in even["crossings"].as_array().expect("crossings") {
        let us = |on: &str, at: &Value| {
            let set = format!("--set {}={at}", c["path"].as_str().unwrap());
            json(&format!("whatif op trowmax f32 --shape 64x128 -v {on} {set}"))["results"][0]
                ["least"]["cycles"]
                .as_f64()
                .expect("cycles")
        };
        let (ours, theirs) = (us("a3", &c["at"]), us("a2", &c["at_rival"]));
        let time = |name: &str, cycles: f64| {
            let mhz = ptoemu::targets::find(name).expect("target").value("clock_mhz");
            cycles / mhz.expect("a clock")
        };
        let (ours, theirs) = (time("a3", ours), time("a2", theirs));
        assert_ne!(ours < theirs, faster, "{c}");
        assert!((c["theirs"].as_f64().unwrap() - theirs).abs() < 1e-9, "{c}");
    }
    // What only one of them has moves there alone.
    let v = json("sensitivity tadd f32 64x128 -v a3 --draws 20 --against 950pr");
    let all = v["break_even"]["crossings"].as_array().expect("crossings");
    let of = |path: &str| all.iter().find(|c| c["path"].as_str().unwrap().starts_with(path));
    let alone = of("vadd.").expect("a crossing by the rate of the instruction");
    assert!(alone["at_rival"].is_null(), "{alone}");
}

#[test]
fn what_is_certain_leaves_nothing_open() {
    let none = "--range Measured=0% --range Derived=0% --range Documented=0% --range Assumed=0%";
    let v = json(&format!("sensitivity {SOFTMAX} -v a3 --draws 50 {none}"));
    assert_eq!(v["uncertainty"]["deviation"].as_f64(), Some(0.0));
    assert_eq!(v["uncertainty"]["p05"], v["uncertainty"]["p95"]);
    let only =
        "--range Measured=0% --range Derived=0% --range Documented=0% --range Assumed=100%+20";
    let v = json(&format!("sensitivity {SOFTMAX} -v a3 --draws 200 {only}"));
    let u = &v["uncertainty"];
    assert!(u["deviation"].as_f64() > Some(10.0), "{u}");
    assert!(u["figures"].as_array().unwrap().iter().all(|f| f["conf"] == "Assumed"));
    let counted: f64 =
        u["histogram"].as_array().unwrap().iter().filter_map(|b| b[1].as_f64()).sum();
    assert_eq!(counted, 200.0);
    // The same draws every time.
    assert_eq!(v, json(&format!("sensitivity {SOFTMAX} -v a3 --draws 200 {only}")));
}

#[test]
fn shapes_are_what_op_takes_and_the_best_one_fits() {
    let v = json("shapes trowmax f32 --rows 8..64:x2 --cols 64,128 -v a3,950pr --ub 40000");
    let points = v["points"].as_array().expect("points");
    assert_eq!(points.len(), 4 * 2 * 2);
    for p in points {
        let (on, rows, cols) = (p["contender"].as_str().unwrap(), &p["rows"], &p["cols"]);
        let line = format!("op trowmax f32 {rows}x{cols} -v {on}");
        assert_eq!(p["cycles"].as_f64(), Some(cycles(&line)), "{line}");
    }
    for best in v["best"].as_array().expect("best") {
        assert!(best["ub_bytes"].as_f64() <= Some(40000.0), "{best}");
        let better = points.iter().filter(|p| {
            p["contender"] == best["contender"]
                && p["per_cycle"].as_f64() > best["per_cycle"].as_f64()
                && p["ub_bytes"].as_f64() <= Some(40000.0)
        });
        assert_eq!(better.count(), 0);
    }
    for c in v["crossovers"].as_array().expect("crossovers") {
        let faster_is_b = c["faster"] == c["b"];
        assert_eq!(c["ratio"].as_f64() < Some(1.0), faster_is_b, "{c}");
    }
}

#[test]
fn a_kernel_takes_every_shape_and_choices_differ() {
    let line =
        "shapes docs/studies/softmax.pto --arg x=zeros:f32[ROWSxCOLS] --rows 8,64 --cols 128";
    let v = json(&format!("{line} -v a3 --against drain=0"));
    let at = |n: usize| v["points"][n]["cycles"].as_f64();
    assert_eq!(at(1), Some(cycles(&format!("run {SOFTMAX} -v a3"))));
    assert_eq!(at(3), Some(cycles(&format!("run {SOFTMAX} -v a3 --set drain=0"))));
    let v = json(
        "shapes trowexpandmul f32 --rows 32 --cols 128 -v a3 --against gap=128 --against ub.bank_groups=8",
    );
    let all: Vec<_> = (0..3).map(|n| v["points"][n]["cycles"].as_u64()).collect();
    assert!(all[1] < all[0] && all[0] < all[2], "{all:?}");
}

#[test]
fn a_folder_holds_page_pictures_and_rows() {
    let dir = scratch("study_files");
    let at = dir.display();
    for (line, files) in [
        (
            format!("sensitivity tadd f32 16x64 -v a3 --draws 20 --against 950pr -o {at}"),
            &["study.html", "study.csv", "tornado.svg", "uncertainty.svg"][..],
        ),
        (
            format!("shapes tadd f32 --rows 8,16 --cols 64 -v a3,950pr -o {at}"),
            &["study.html", "study.csv", "rate-1.svg", "rate-2.svg", "ratio-1.svg", "time.svg"],
        ),
        (
            format!(
                "calibrate tests/data/measured/a2a3_measured_lines.csv --fit drain,end --page {at}"
            ),
            &["study.html", "study.csv", "residuals.svg"],
        ),
    ] {
        let _ = std::fs::remove_dir_all(&dir);
        let (status, _, err) = ptoemu(&line);
        assert_eq!(status, 0, "{err}");
        let read = |f: &str| std::fs::read_to_string(dir.join(f)).expect("the file");
        for f in files {
            assert!(err.contains(f), "{f} is not named: {err}");
            assert!(f.ends_with("csv") || read(f).contains("<svg"), "{f} holds no picture");
        }
        let page = read("study.html");
        assert!(
            page.contains(&line) && !page.contains("src=") && !page.contains("<link"),
            "{line}"
        );
        let rows = read("study.csv");
        assert!(rows.lines().count() > 2, "{rows}");
        let first = page.clone();
        ptoemu(&line);
        assert_eq!(first, read("study.html"), "the same bytes every time");
    }
}

/// Two operations on two targets: 2 x 2 x 4 x 3 points.
const WHATIF: &str = "whatif op trowmax,tadd f32 --shape 64x128 -v a3,a2 \
                      --set ub.bank_groups=4..32:x2 --set drain=0,6,12";

#[test]
fn a_page_of_settings_says_what_the_rows_say() {
    let dir = scratch("whatif_page");
    let at = dir.display();
    let (status, _, err) = ptoemu(&format!("{WHATIF} --page {at}"));
    assert_eq!(status, 0, "{err}");
    let read = |f: &str| std::fs::read_to_string(dir.join(f)).expect("the file");
    let page = read("study.html");
    for f in ["study.html", "figure-1.svg", "pair-1.svg", "bounds-1.svg", "spread-4.svg"] {
        assert!(err.contains(f) && read(f).contains("<svg"), "{f}: {err}");
    }
    assert!(page.contains(&format!("--page {at}")) && !page.contains("src="));
    // Every row is on the page: a small study has all.
    let rows = read("study.csv");
    let cells: Vec<Vec<&str>> = rows.lines().skip(1).map(|l| l.split(',').collect()).collect();
    assert_eq!(cells.len(), 48);
    let body = page.split("<table class=\"sorts\" id=\"settings\">").nth(1).expect("the table");
    for c in &cells {
        let start = format!("<tr><td>{}</td><td>{}</td><td>{}</td>", c[1], c[2], c[3]);
        let values = format!("data-v=\"{}\">{}</td>", c[6], c[6]);
        assert!(body.contains(&start) && body.contains(&values), "{c:?}");
    }
    // The least of each series, in microseconds since there are two clocks.
    let us = |c: &Vec<&str>| c[7].parse::<f64>().expect("time");
    for (op, on) in [("trowmax f32", "a3"), ("tadd f32", "a2")] {
        let mine = cells.iter().filter(|c| c[1] == op && c[3] == on);
        let least = mine.map(us).fold(f64::INFINITY, f64::min);
        let cell = format!("{}</td><td><code>", (least * 1e4).round() / 1e4);
        assert!(page.contains(&cell), "{op} on {on}: {cell}");
    }
    // Gone on with, it is the same page.
    std::fs::write(dir.join("study.csv"), &rows[..rows.len() / 2]).expect("written");
    let (status, _, err) = ptoemu(&format!("{WHATIF} --page {at} --resume"));
    assert_eq!(status, 0, "{err}");
    assert!(page == read("study.html") && rows == read("study.csv"));
}

#[test]
fn a_page_of_many_settings_stays_small() {
    let dir = scratch("whatif_many");
    let line = format!("{} --set end=0..99 --page {}", WHATIF.replace(",tadd", ""), dir.display());
    let (status, _, err) = ptoemu(&line);
    assert_eq!(status, 0, "{err}");
    let page = std::fs::read_to_string(dir.join("study.html")).expect("the page");
    assert!(page.len() < 300_000, "{} bytes", page.len());
    assert!(page.contains("study.csv has all 2,400 points"));
    let rows = std::fs::read_to_string(dir.join("study.csv")).expect("rows");
    assert_eq!(rows.lines().count(), 2401);
}

/// Parts of a study have no page; what they are joined to has the page of one run.
#[test]
fn parts_get_their_page_once_they_are_joined() {
    let dir = scratch("whatif_parts");
    std::fs::create_dir_all(&dir).expect("folder");
    let study = dir.join("study.ron");
    let text = r#"(schema: 1, targets: ["a3"], ops: [(op: "tadd", dtype: "f32", shapes: ["8x64"])],
        set: {"drain": "0..40", "end": [0, 7]}, page: "page")"#;
    std::fs::write(&study, text).expect("written");
    let (s, at) = (study.display(), dir.display());
    assert_eq!(ptoemu(&format!("whatif {s}")).0, 0);
    let read = |f: &str| std::fs::read_to_string(dir.join(f)).expect("the file");
    let one = read("page/study.html");
    let refused =
        format!("whatif op tadd f32 --shape 8x64 --shard 0/2 -o {at}/0.csv --page {at}/p");
    let (status, _, err) = ptoemu(&refused);
    assert_eq!(status, 2);
    assert!(err.contains("whatif merge PARTS -o whole.csv") && err.contains("--resume"), "{err}");
    assert!(!dir.join("0.csv").exists());
    std::fs::remove_dir_all(dir.join("page")).expect("removed");
    for i in 0..2 {
        assert_eq!(ptoemu(&format!("whatif {s} --shard {i}/2 -o {at}/{i}.csv")).0, 0);
    }
    assert_eq!(ptoemu(&format!("whatif merge {at}/0.csv {at}/1.csv -o {at}/whole.csv")).0, 0);
    let (status, _, err) =
        ptoemu(&format!("whatif {s} -o {at}/whole.csv --resume --page {at}/two"));
    assert_eq!(status, 0, "{err}");
    // Up to what was typed and the name of the rows.
    let body = |page: &str| {
        let end = page.find("id=\"again\"").expect("the command");
        page[..end].replace("whole.csv", "study.csv")
    };
    assert_eq!(body(&one), body(&read("two/study.html")));
}

#[test]
fn broken_studies_have_messages() {
    let file = scratch("study_file");
    std::fs::write(&file, "").expect("written");
    for (line, part) in [
        ("sensitivity absent.pto".to_string(), "cannot read absent.pto"),
        ("sensitivity tfoo f32 8x64".into(), "no tile operation `tfoo`"),
        ("sensitivity tadd f33 8x64".into(), "unknown element type"),
        ("sensitivity tadd f32 8by64".into(), "is not RxC"),
        ("sensitivity tadd f32".into(), "`tadd f32` is not all: give KERNEL.pto, or OP TYPE RxC"),
        ("sensitivity tadd".into(), "`tadd` is not all: give KERNEL.pto, or OP TYPE RxC"),
        ("shapes tadd --rows 8 --cols 64".into(), "`tadd` is not all: give KERNEL.pto, or OP TYPE"),
        ("shapes tadd f32 --rows 8 --cols 64 --ub 0".into(), "0 is not in 1.."),
        ("sensitivity tadd f32 0x64".into(), "0x64 holds nothing"),
        ("whatif tadd".into(), "use `ptoemu whatif op tadd TYPE --shape RxC`"),
        ("whatif op tadd f32 --shape 8x64 -o x.parquet".into(), "write FILE.csv and convert it"),
        ("whatif op tadd f32 --shape 8x64 -o x.xlsx".into(), "no .xlsx is written"),
        ("whatif merge a.csv -o x.parquet".into(), "write FILE.csv and convert it"),
        ("whatif op tadd f32 --shape 8x64 --resume".into(), "give -o FILE, or --page DIR"),
        ("whatif op tadd f32 --shape 8x64 -o src".into(), "--page src writes a page there"),
        (
            "whatif op tadd f32 --shape 8x64 --set drain=0..9999 --set end=0..9999 --page x".into(),
            "--page shows 10000000 points at most, and the study has 100000000",
        ),
        ("whatif op tadd f32 --shape 8x64 --set drain=1e308".into(), "`drain` is 1e308, outside"),
        ("whatif op tadd f32 --shape 8x64 --set vadd=1".into(), "its figures are vadd.f32.startup"),
        (
            "whatif op tadd f32 --shape 8x64 --set vadd.startup=1 --set vadd.f32.startup=2".into(),
            "`vadd.startup` and `vadd.f32.startup` set the same figure",
        ),
        ("sensitivity tadd f32 99999x99999".into(), "larger than any UB"),
        ("sensitivity tadd f32 512x512".into(), "past the 0x30000 bytes of UB"),
        ("sensitivity tload f32 8x64".into(), "moves global memory"),
        ("sensitivity tadd f32 8x64 --range Sure=1%".into(), "no confidence"),
        ("sensitivity tadd f32 8x64 --range Assumed=1".into(), "is not CONF=SHARE%"),
        ("sensitivity tadd f32 8x64 --step 0".into(), "no share of 0.1 to 100"),
        ("sensitivity tadd f32 8x64 --draws 0".into(), "0 is not in 1..="),
        ("sensitivity tadd f32 8x64 -v a2,a3".into(), "give one target"),
        ("sensitivity tadd f32 8x64 --against a9".into(), "no target `a9`"),
        ("sensitivity tadd f32 8x64 --against drain=3".into(), "turns the figures itself"),
        (format!("sensitivity {SOFTMAX} --against dynamic"), "says itself which sizes"),
        (format!("sensitivity tadd f32 8x64 -o {}", file.display()), "cannot make"),
        ("shapes tadd f32 --rows 8 --cols 0".into(), "0 is no size"),
        ("shapes tadd f32 --rows 64..8 --cols 64".into(), "64 exceeds 8"),
        ("shapes tadd f32 --rows x --cols 64".into(), "--rows x"),
        ("shapes tadd f32 --rows 1..500 --cols 1..500".into(), "give 1 to 10000"),
        // Counted before they are laid out.
        ("shapes tadd f32 --rows 1..1000000 --cols 1..1000000".into(), "1000000000000 shapes"),
        ("shapes tadd f32 --rows 1024 --cols 1024".into(), "every shape is refused"),
        ("shapes tadd f32 --rows 8 --cols 64 --against gap=5".into(), "multiple of 32"),
        ("shapes tadd f32 --rows 8 --cols 64 --against drian=5".into(), "did you mean `drain`"),
        ("shapes tadd f32 --rows 8 --cols 64 --against a3".into(), "is compared already"),
        ("shapes tcvt f32 --rows 8 --cols 64".into(), "tcvt needs --to TYPE"),
        (format!("shapes {SOFTMAX} --rows 8 --cols 64"), "write ROWS and COLS"),
    ] {
        let (status, out, err) = ptoemu(&line);
        assert_eq!(status, 2, "{line}: {out}{err}");
        assert!(err.contains(part), "{line}: {err}");
    }
}
