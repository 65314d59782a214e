//! `ptoemu calibrate`: planted figures are found, what cannot be known is refused.

use ptoemu::calibrate::samples::{Exe, Options, read};
use ptoemu::calibrate::{Calibration, Loss, Request, calibrate};
use ptoemu::measured::{LINE_ROWS, Measured, line_works, records};
use ptoemu::session::Refusal;
use ptoemu::targets::with_overrides;
use ptoemu_core::target::{Family, Target};
use ptoemu_isa::tile::Quirks;
use std::path::{Path, PathBuf};
use std::process::Command;

fn target(sets: &[&str]) -> Target {
    let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    with_overrides("a3", &sets).unwrap_or_else(|e| panic!("{e:?}"))
}

fn lines(at: &[u32]) -> Vec<Measured> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/measured/a2a3_measured_lines.csv");
    let text = std::fs::read_to_string(path).expect("the table");
    let rows = records(&text).expect("CSV");
    line_works(&rows, Family::A2A3, Quirks::vendor(), at).unwrap_or_else(|e| panic!("{e:?}"))
}

/// The operations of the lines as `target` times them, with a relative noise of about `noise`.
fn planted(at: &[u32], truth: &Target, noise: f64, seed: u64) -> Vec<Measured> {
    let mut state = seed;
    let mut normal = || {
        // The sum of twelve even draws is nearly normal.
        let draws = (0..12).map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        });
        draws.sum::<f64>() - 6.0
    };
    let mut all = lines(at);
    for m in &mut all {
        let cycles = m.work.as_ref().expect("work").cycles(truth).expect("cycles");
        m.measured = cycles * (1.0 + noise * normal());
    }
    all
}

fn request(fit: &[&str], folds: usize) -> Request {
    let fit = fit.iter().map(|s| s.to_string()).collect();
    Request { fit, loss: Loss::Relative, folds }
}

fn fitted(t: Target, rows: Vec<Measured>, r: &Request) -> Calibration {
    calibrate(t, rows, r).unwrap_or_else(|e| panic!("{e:?}"))
}

fn refused(t: Target, rows: Vec<Measured>, fit: &[&str]) -> String {
    match calibrate(t, rows, &request(fit, 0)) {
        Err(Refusal::Program(d)) => {
            format!(
                "{} | {} | {}",
                d[0].message,
                d[0].notes.join(" "),
                d[0].help.clone().unwrap_or_default()
            )
        }
        Err(Refusal::Usage(e)) => format!("{e:#}"),
        Ok(c) => panic!("{fit:?} was fitted: {:?}", c.figures),
    }
}

/// What the fits of synthetic data look for: latencies, rates, a mask figure.
const PLANTED: [(&str, f64); 8] = [
    ("drain", 9.0),
    ("end", 11.0),
    ("mask.first", 8.0),
    ("vadds.startup", 9.0),
    ("vdiv.f16.per_repeat", 6.5),
    ("vdiv.f32.startup", 21.0),
    ("vcmax.f32.per_repeat", 5.0),
    ("vcadd.f16.startup", 14.0),
];

fn truth() -> Target {
    let sets: Vec<String> = PLANTED.iter().map(|(p, v)| format!("{p}={v}")).collect();
    target(&sets.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn planted_figures_come_back_exactly_without_noise() {
    let rows = planted(&[LINE_ROWS], &truth(), 0.0, 1);
    let c = fitted(target(&[]), rows, &request(&PLANTED.map(|p| p.0), 0));
    for (f, (path, want)) in c.figures.iter().zip(PLANTED) {
        assert_eq!((f.path.as_str(), f.value), (path, want), "{:?}", c.figures);
        assert!(f.low <= Some(want) && Some(want) <= f.high, "{f:?}");
    }
    assert_eq!(c.errors.fitted.max, 0.0);
    assert!(c.errors.before.mean > 0.02, "the start was already right: {:?}", c.errors.before);
}

#[test]
fn planted_figures_lie_in_their_intervals_with_noise() {
    let truth = truth();
    let (mut inside, mut all) = (0, 0);
    for seed in 1..=3 {
        let rows = planted(&[LINE_ROWS], &truth, 0.01, seed);
        let c = fitted(target(&[]), rows, &request(&PLANTED.map(|p| p.0), 0));
        for (f, (_, want)) in c.figures.iter().zip(PLANTED) {
            let (low, high) = (f.low.expect("low"), f.high.expect("high"));
            all += 1;
            inside += usize::from(low <= want && want <= high);
            // An interval that holds everything would be no answer.
            assert!(high - low < 2.0 * want.max(8.0), "{f:?}");
        }
    }
    assert!(inside * 100 >= all * 90, "{inside} of {all} inside");
}

#[test]
fn half_of_the_lines_predicts_the_other_half() {
    let wrong = target(&[
        "vadds.startup=20",
        "vadd.f32.startup=1",
        "vmul.f16.startup=30",
        "vsub.f16.startup=0",
        "vdiv.f32.per_repeat=1",
        "vdiv.f16.per_repeat=2",
        "vcmax.f32.per_repeat=1",
        "vcadd.f16.per_repeat=12",
        "mask.first=30",
        "mask.restore=0",
        "end=40",
    ]);
    let names = [
        "vadds.startup",
        "vadd.f32.startup",
        "vmul.f16.startup",
        "vsub.f16.startup",
        "vdiv.f32.per_repeat",
        "vdiv.f16.per_repeat",
        "vcmax.f32.per_repeat",
        "vcadd.f16.per_repeat",
        "mask",
        "end",
    ];
    let c = fitted(wrong, lines(&[LINE_ROWS]), &request(&names, 2));
    let held = c.errors.held_out.expect("held out");
    assert_eq!(c.rows.len(), 144);
    assert!(c.rows.iter().all(|r| r.held_out.is_some()), "every row is left out once");
    assert!(c.errors.before.mean > 0.2, "{:?}", c.errors);
    assert!(held.mean <= 0.025, "{:?}", c.errors);
}

#[test]
fn what_the_rows_cannot_say_is_refused() {
    let at = |sets: &[&str], fit: &[&str]| refused(target(sets), lines(&[LINE_ROWS]), fit);
    for (fit, parts) in [
        (
            &["vln.f32.startup"][..],
            &["no measurement depends on `vln.f32.startup`", "leave it out"][..],
        ),
        (&["vln"], &["no measurement depends on any"]),
        (
            &["vcmax.f32.startup", "vcmax.f32.per_repeat"],
            &["cannot tell `vcmax.f32.startup` and `vcmax.f32.per_repeat` apart", "+1.00", "-0.02"],
        ),
        (&["ub.size"], &["`ub.size` is no latency and no rate"]),
        (&["clock_mhz"], &["`clock_mhz` is no latency"]),
        (&["vcmx"], &["no figure `vcmx`", "did you mean `vcmax`"]),
    ] {
        let text = at(&[], fit);
        for part in parts {
            assert!(text.contains(part), "{fit:?}: {text}");
        }
    }
    // Single instructions: what each pays once cannot be told from what all pay.
    let single = |m: &Measured| m.kind == "line TEXP" || m.kind == "line TSQRT";
    let rows: Vec<Measured> = lines(&[32, 64, 128]).into_iter().filter(single).collect();
    let text = refused(target(&[]), rows.clone(), &["drain", "end"]);
    assert!(text.contains("`drain` +1.00, `end` -1.00"), "{text}");
    let text = refused(target(&[]), rows, &["vexp", "vsqrt", "drain"]);
    assert!(text.contains("apart") && text.contains("`drain` -1.00"), "{text}");
}

fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&dir).expect("a folder");
    dir
}

fn ptoemu(args: &[&str]) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_ptoemu"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .output()
        .expect("the command starts");
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

#[test]
fn the_new_target_loads_and_says_where_its_figures_are_from() {
    let dir = scratch("calibrate_write");
    let table = dir.join("mine.csv");
    let mut text = "op,dtype,rows,cols,measured_cycles\n".to_string();
    let truth = target(&["vexp.f32.startup=20", "vexp.f32.per_repeat=3"]);
    for rows in [8, 16, 32, 64] {
        let case = format!("texp,f32,{rows},64,");
        let csv = format!("op,dtype,rows,cols,measured_cycles\n{case}1\n");
        let path = dir.join("one.csv");
        std::fs::write(&path, csv).expect("written");
        let options = Options { quirks: Quirks::vendor(), exe: Exe::Latency, line_rows: &[] };
        let m = read(&path, &truth, options).unwrap_or_else(|e| panic!("{e:?}"));
        let cycles = m[0].work.as_ref().expect("work").cycles(&truth).expect("cycles");
        text += &format!("{case}{cycles}\n");
    }
    std::fs::write(&table, text).expect("written");
    let (table, new) = (table.display().to_string(), dir.join("fitted.ron").display().to_string());
    let (status, out, err) =
        ptoemu(&["calibrate", &table, "--fit", "vexp", "--set", "drain=13", "-o", &new]);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("vexp.f32.per_repeat"), "{out}");
    let t = ptoemu::targets::find(&new).unwrap_or_else(|e| panic!("{e:?}"));
    let figure = t.get("vexp.f32.per_repeat").expect("the figure");
    assert_eq!((figure.value, figure.conf.name()), (3.0, "Derived"));
    // One cycle of drain more was given, so one cycle of startup less is found.
    assert_eq!((t.value("vexp.f32.startup"), t.value("drain")), (Some(19.0), Some(13.0)));
    assert!(t.sources["fit"].note.contains("4 rows of mine.csv"), "{:?}", t.sources["fit"]);
}

#[test]
fn dumps_and_profiles_are_measurements() {
    let dir = scratch("calibrate_dump");
    let out = dir.join("t");
    let out = out.to_str().expect("UTF-8");
    let (status, _, err) = ptoemu(&[
        "trace",
        "examples/softmax.pto",
        "--arg",
        "x=@examples/data/softmax_x.npy",
        "-o",
        out,
        "--set",
        "vcgmax.f32.startup=11",
        "--set",
        "vsub.f32.startup=9",
    ]);
    assert_eq!(status, 0, "{err}");
    let fit = ["--fit", "vcgmax.f32.startup,vsub.f32.startup", "--folds", "0"];
    for (path, want) in [(out.to_string(), 0), (format!("{out}/dump"), 0)] {
        let (status, text, err) = ptoemu(&[&["calibrate", &path], &fit[..]].concat());
        assert_eq!(status, want, "{err}");
        assert!(text.contains("fitted: mean error 0.00%"), "{text}");
        assert!(text.contains("11 .. 11") && text.contains("9 .. 9"), "{text}");
    }
    let profile = format!("{out}/simulator/core0.veccore0/core0.veccore0_instr_exe.csv");
    let busy = ["--exe", "busy", "--set", "vexp.f32.per_repeat=5", "--fit", "vexp.f32.per_repeat"];
    let (status, text, err) =
        ptoemu(&[&["calibrate", &profile, "--folds", "0"], &busy[..]].concat());
    assert_eq!(status, 0, "{err}");
    assert!(text.contains("vexp.f32.per_repeat       5       2"), "{text}");
}

/// Our own dump of a run on a 950 with other figures says what they were.
#[test]
fn a_dump_of_the_950_tells_what_a_dump_can() {
    let dir = scratch("calibrate_950");
    let out = dir.join("t").display().to_string();
    let planted = [
        ("vadd.latency", "9"),
        ("vcmax.latency", "20"),
        ("vexp.latency", "13"),
        ("vlds.latency", "11"),
        ("plt.latency", "5"),
        ("vf.drain", "15"),
        ("mte2.latency", "900"),
    ];
    let sets: Vec<String> = planted.iter().map(|(p, v)| format!("{p}={v}")).collect();
    let set: Vec<&str> = sets.iter().flat_map(|s| ["--set", s]).collect();
    let x = ["--arg", "x=@examples/data/softmax_x.npy"];
    let trace = ["trace", "examples/softmax.pto", "-v", "950pr", "-o", &out];
    let (status, _, err) = ptoemu(&[&trace[..], &x, &set].concat());
    assert_eq!(status, 0, "{err}");
    let names: Vec<&str> = planted.iter().map(|p| p.0).collect();
    let fit = |path: &str, names: &str| {
        ptoemu(&["calibrate", path, "-v", "950pr", "--fit", names, "--folds", "0"])
    };
    let profile = format!("{out}/simulator/core0.veccore0/core0.veccore0_instr_exe.csv");
    // A profile has no line for the end of a function.
    for (path, names) in [(&out, names.clone()), (&profile, [&names[..5], &names[6..]].concat())] {
        let (status, text, err) = fit(path, &names.join(","));
        assert_eq!(status, 0, "{err}");
        assert!(text.contains("fitted: mean error 0.00%, largest 0.00%"), "{text}");
        for (p, v) in planted.iter().filter(|p| names.contains(&p.0)) {
            let line = text.lines().find(|l| l.starts_with(p)).expect("the figure");
            assert!(line.contains(&format!("  {v}  {v} .. {v}")), "{line}");
        }
    }
    for (names, part) in [
        ("vf.startup", "no measurement depends on `vf.startup`"),
        ("vexp.interval", "no measurement depends on `vexp.interval`"),
        (
            "vadd.latency,mte2.latency,mte2.bytes_per_cycle",
            "1 row cannot say what 2 figures are: `mte2.latency`, `mte2.bytes_per_cycle`",
        ),
    ] {
        let (status, _, err) = fit(&out, names);
        assert_eq!(status, 2, "{err}");
        assert!(err.contains(part) && err.contains("a dump tells latencies"), "{err}");
    }
}

#[test]
fn broken_measurements_have_messages() {
    let dir = scratch("calibrate_bad");
    let file = |name: &str, text: &str| {
        let path = dir.join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let cases = "op,dtype,rows,cols,measured_cycles\n";
    let empty = dir.join("nothing");
    std::fs::create_dir_all(&empty).expect("a folder");
    for (path, more, part) in [
        (dir.join("absent.csv").display().to_string(), &[][..], "cannot read"),
        (file("empty.csv", ""), &[], "has no rows"),
        (file("head.csv", cases), &[], "has no rows"),
        (file("other.csv", "a,b\n1,2\n"), &[], "is no known table: its columns are a,b"),
        (file("ragged.csv", "op,dtype\nx\n"), &[], "ragged.csv"),
        (file("op.csv", &format!("{cases}tfoo,f32,8,64,10\n")), &[], "tfoo is not implemented"),
        (file("type.csv", &format!("{cases}tadd,f33,8,64,10\n")), &[], "unknown element type"),
        (file("shape.csv", &format!("{cases}tadd,f32,8,,10\n")), &[], "no shape"),
        (file("huge.csv", &format!("{cases}tadd,f32,99999999,64,10\n")), &[], "larger than any UB"),
        (
            file("large.csv", &format!("{cases}trowsum,i32,4096,4096,10\n")),
            &[],
            "larger than any UB",
        ),
        (file("nil.csv", &format!("{cases}tadd,f32,0,0,281\n")), &[], "0x0 has no element"),
        (file("no.csv", &format!("{cases}tadd,f32,8,64,\n")), &[], "no measured figure"),
        (file("minus.csv", &format!("{cases}tadd,f32,8,64,-3\n")), &[], "no number of cycles"),
        (file("absurd.csv", &format!("{cases}tadd,f32,8,64,1e300\n")), &[], "no number of cycles"),
        (file("nan.csv", &format!("{cases}tadd,f32,8,64,NaN\n")), &[], "no measured figure"),
        (
            file("line.csv", "op,dtype,cols,slope,bias\ntadd,f32,64,x,3\n"),
            &[],
            "without slope or bias",
        ),
        (file("k.csv", "kernel,args,measured_cycles\nabsent.pto,,10\n"), &[], "cannot read"),
        (file("a.dump", ""), &[], "one file of a dump"),
        (empty.display().to_string(), &[], "holds neither a pair"),
        (
            file("one.csv", &format!("{cases}tadd,f32,8,64,30\n")),
            &["--fit", "drain,end"],
            "1 row cannot say what 2 figures are: `drain`, `end`",
        ),
        (file("two.csv", &format!("{cases}tadd,f32,8,64,30\n")), &["-o", "x.txt"], "ends in .ron"),
    ] {
        let fit = if more.first() == Some(&"--fit") { &[][..] } else { &["--fit", "drain"][..] };
        let (status, out, err) = ptoemu(&[&["calibrate", &path], fit, more].concat());
        assert_eq!(status, 2, "{path}: {out}{err}");
        assert!(err.contains(part), "{path}: {err}");
    }
}
