//! What-if studies: the same cycles as a fresh run on a changed target, rows in order, shards and
//! interrupted runs that make the same file.

use ptoemu::targets::with_overrides;
use ptoemu::whatif::{Axis, Grid, Recorded, Study, Subject, Sweep, Timer};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::Pipe;
use ptoemu_core::target::Target;
use ptoemu_core::time::time;
use ptoemu_isa::case::{self, Case, Placement};
use ptoemu_isa::machine::Settings;
use ptoemu_isa::tile;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicU64;

fn target(name: &str) -> Target {
    with_overrides(name, &[]).expect("an embedded target")
}

fn op(name: &str, dtype: DType, rows: u32, cols: u32) -> Subject {
    Subject::op(Case::new(tile::find(name).expect("an operation"), dtype, rows, cols))
}

fn recorded(subject: &Subject, target: &Target) -> Recorded {
    subject.record(target).expect("legal")
}

/// Settings that touch every kind of figure of a family, banks among them.
fn grid(family: &str) -> Grid {
    let sets: &[&str] = match family {
        "a3" => &[
            "vcgmax.per_repeat=1..3",
            "vmax.f32.startup=0,9",
            "ub.bank_groups=8,16,32",
            "drain=0,12",
            "ub.read_stage=4,8",
            "clock_mhz=1000,1850",
        ],
        _ => &["vf.startup=20,70", "vmax.latency=4..6", "ub.bank_groups=4,16", "scalar.issue=0,3"],
    };
    let axis = |s: &&str| Axis::one(Sweep::parse("--set", s).expect("a sweep"));
    Grid::new(sets.iter().map(axis).collect()).expect("a grid")
}

#[test]
fn points_are_what_a_fresh_run_on_a_changed_target_says() {
    for name in ["a3", "950pr"] {
        let (base, grid) = (target(name), grid(name));
        for subject in [op("trowmax", DType::F32, 64, 128), op("tadd", DType::F16, 5, 144)] {
            let recorded = recorded(&subject, &base);
            let timer = Timer::new(&recorded, &base, &grid.paths()).expect("known figures");
            let mut worker = timer.worker();
            let mut values = Vec::new();
            // Back and forth, so that nothing of the point before may stay.
            for point in (0..grid.len()).step_by(5).chain((0..grid.len()).rev().step_by(7)) {
                grid.values(point, &mut values);
                let mut fresh = base.clone();
                for (path, v) in grid.paths().iter().zip(&values) {
                    fresh.set(path, *v).expect("in range");
                }
                let line = time(&recorded.streams[0], &fresh);
                let m = worker.time(&values);
                assert_eq!((m.cycles, &m.fault), (line.cycles, &None), "{name} {values:?}");
                assert_eq!(m.busy[Pipe::V as usize], line.pipe(Pipe::V).busy, "{name} {values:?}");
                assert_eq!(m.time_us, line.cycles as f64 * fresh.us_per_cycle());
                assert_eq!(worker.cycles(&values), line.cycles);
            }
        }
    }
}

/// Operations are recorded without values; that must not show in their cycles.
#[test]
fn operations_take_the_cycles_of_their_execution() {
    let mut seen = 0;
    for name in ["a3", "950pr"] {
        let base = target(name);
        let settings = Settings::of(base.family);
        let limits = ptoemu::session::limits(&base);
        for found in tile::OPS.iter().filter(|o| !o.sig.view) {
            let case = Case::new(found, DType::F32, 16, 64);
            let call = case.call(Placement::Packed { align: 512 });
            let Ok(trial) = case::execute(&call, &limits, settings.clone(), 1) else { continue };
            let recorded = recorded(&Subject::op(case), &base);
            let (a, b) = (time(&recorded.streams[0], &base), time(&trial.stream, &base));
            assert_eq!(a.cycles, b.cycles, "{} on {name}", found.name);
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen} operations");
}

#[test]
fn a_study_gives_its_points_in_order_whatever_the_threads() {
    let study = Study {
        subjects: vec![op("trowmax", DType::F32, 64, 128), op("trowmax", DType::F32, 32, 64)],
        targets: vec![target("a2"), target("a3")],
        grid: grid("a3"),
    };
    study.check().expect("legal");
    let all = 0..study.len().expect("few points");
    let run = |range: std::ops::Range<u64>| {
        let cells = study.record(&range).expect("recorded");
        let mut out = Vec::new();
        let mut sink = |p: &ptoemu::whatif::Point, m: &ptoemu::whatif::Measured| {
            out.push((p.clone(), m.clone()));
            Ok(())
        };
        study.run(range, &cells, &AtomicU64::new(0), &mut sink).expect("timed");
        out
    };
    let whole = run(all.clone());
    assert_eq!(whole.len() as u64, all.end);
    assert!(whole.iter().zip(0..).all(|((p, _), i)| p.number == i));
    let part = run(100..all.end - 31);
    assert_eq!(part[..], whole[100..whole.len() - 31]);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    assert_eq!(one.install(|| run(all)), whole);
}

#[test]
fn a_point_without_timing_says_so() {
    let base = target("950pr");
    let recorded = recorded(&op("tadd", DType::F32, 64, 128), &base);
    let timer = Timer::new(&recorded, &base, &["vf.registers"]).expect("a figure");
    let mut worker = timer.worker();
    let m = worker.time(&[2.0]);
    assert!(m.fault.as_ref().is_some_and(|f| f.contains("register")), "{m:?}");
    assert_eq!((m.cycles, worker.cycles(&[2.0])), (0, 0));
    let usual = base.value("vf.registers").expect("a figure");
    assert_eq!(worker.time(&[usual]).cycles, time(&recorded.streams[0], &base).cycles);
}

#[test]
fn figures_that_change_the_execution_are_refused() {
    let base = target("a3");
    let recorded = recorded(&op("tadd", DType::F32, 8, 64), &base);
    for path in ["ub.size", "ub.reserved_start", "nothing.of.this"] {
        assert!(Timer::new(&recorded, &base, &[path]).is_err(), "{path}");
    }
}

/// A folder of its own for a test.
fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("whatif-{name}"));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("folder");
    dir
}

fn ptoemu(dir: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ptoemu"))
        .current_dir(dir)
        .args(line.split_whitespace())
        .output()
        .expect("the command starts")
}

/// Runs a line of words that must end with `status`; what it said on stderr.
fn words(dir: &Path, line: &str, status: i32) -> String {
    let out = ptoemu(dir, line);
    let prose = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(status), "{line}\n{prose}");
    prose
}

fn read(dir: &Path, file: &str) -> String {
    fs::read_to_string(dir.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// A study of two kernels' worth of rows on both families, in words.
const STUDY: &str = "whatif op trowmax,trowsum f32 --shape 64x128,8x64 -v a3,950pr \
                     --set scalar.issue=0..2 --pair clock_mhz=1000,1600 mte2.latency=100,200";

#[test]
fn shards_join_to_the_file_of_one_run() {
    let dir = scratch("shards");
    for ending in ["csv", "jsonl"] {
        words(&dir, &format!("{STUDY} -o all.{ending}"), 0);
        words(&dir, &format!("{STUDY} --shard 0/1 -o same.{ending}"), 0);
        let whole = read(&dir, &format!("all.{ending}"));
        assert_eq!(whole, read(&dir, &format!("same.{ending}")));
        assert_eq!(whole.lines().count(), 2 * 2 * 2 * 3 * 2 + usize::from(ending == "csv"));
        for n in [3, 7] {
            let parts: Vec<String> = (0..n).map(|i| format!("p{i}of{n}.{ending}")).collect();
            for (i, part) in parts.iter().enumerate() {
                words(&dir, &format!("{STUDY} --shard {i}/{n} -o {part}"), 0);
            }
            let mut given = parts.clone();
            given.reverse();
            words(&dir, &format!("whatif merge {} -o joined.{ending}", given.join(" ")), 0);
            assert_eq!(read(&dir, &format!("joined.{ending}")), whole, "{n} shards");
            let out = ptoemu(&dir, &format!("whatif merge {}", parts.join(" ")));
            assert_eq!(String::from_utf8_lossy(&out.stdout), whole);
        }
    }
}

#[test]
fn more_shards_than_points_leave_some_empty() {
    let dir = scratch("empty");
    let study = "whatif op tadd f32 --shape 8x64 --set drain=0,6";
    words(&dir, &format!("{study} -o all.csv"), 0);
    let parts: Vec<String> = (0..5).map(|i| format!("{i}.csv")).collect();
    for (i, part) in parts.iter().enumerate() {
        words(&dir, &format!("{study} --shard {i}/5 -o {part}"), 0);
    }
    words(&dir, &format!("whatif merge {} -o joined.csv", parts.join(" ")), 0);
    assert_eq!(read(&dir, "joined.csv"), read(&dir, "all.csv"));
}

#[test]
fn incomplete_shards_are_not_joined() {
    let dir = scratch("incomplete");
    for i in 0..3 {
        words(&dir, &format!("{STUDY} --shard {i}/3 -o {i}.csv"), 0);
    }
    words(&dir, "whatif op tadd f32 --shape 8x64 --set drain=0..8 --shard 1/3 -o other.csv", 0);
    words(&dir, "whatif op tadd f32 --shape 8x64 --set drain=0..8 -o whole.csv", 0);
    let whole = read(&dir, "2.csv");
    let lines: Vec<&str> = whole.lines().collect();
    let put = |file: &str, text: &str| fs::write(dir.join(file), text).expect("written");
    put("last_row_gone.csv", &(lines[..lines.len() - 1].join("\n") + "\n"));
    put("cut.csv", &whole[..whole.len() - 9]);
    let mut swapped = lines.clone();
    swapped.swap(3, 4);
    put("swapped.csv", &(swapped.join("\n") + "\n"));
    put("head.csv", "point,kernel\n");
    for (parts, why) in [
        ("0.csv 2.csv", "shard 1/3 is missing"),
        ("1.csv 2.csv", "shard 0/3 is missing"),
        ("0.csv 1.csv", "shard 2/3 is missing"),
        ("0.csv 1.csv 1.csv 2.csv", "both shard 1/3"),
        ("0.csv other.csv 2.csv", "parts of two studies"),
        ("whole.csv", "no column `shard`"),
        ("0.csv 1.csv last_row_gone.csv", "has 15 of 16 rows"),
        ("0.csv 1.csv cut.csv", "has 15 of 16 rows"),
        ("0.csv 1.csv swapped.csv", "line 4: not point 34"),
        ("head.csv", "no column `shard`"),
        ("0.csv nothing.csv", "cannot read nothing.csv"),
    ] {
        let prose = words(&dir, &format!("whatif merge {parts} -o joined.csv"), 2);
        assert!(prose.contains(why), "{parts}: {prose}");
        assert!(!dir.join("joined.csv").exists() && !dir.join("joined.part").exists());
    }
}

#[test]
fn an_interrupted_run_is_taken_up_where_it_ended() {
    let dir = scratch("resume");
    for (ending, shard) in [("csv", ""), ("jsonl", ""), ("csv", "--shard 1/3")] {
        let study = format!("{STUDY} {shard}");
        words(&dir, &format!("{study} -o all.{ending}"), 0);
        let whole = read(&dir, &format!("all.{ending}"));
        let rows = whole.len();
        for keep in [7, rows / 2 + 1, rows - 1, rows] {
            let part = dir.join(format!("part.{ending}"));
            fs::write(&part, &whole.as_bytes()[..keep]).expect("written");
            words(&dir, &format!("{study} -o part.{ending} --resume --json s.json"), 0);
            assert_eq!(read(&dir, &format!("part.{ending}")), whole, "{ending} cut at {keep}");
            words(&dir, &format!("{study} -o all.{ending} --json t.json"), 0);
            let summary = |f: &str| read(&dir, f).replace("part.", "all.");
            assert_eq!(summary("s.json"), summary("t.json"), "rows read back count");
        }
    }
}

#[test]
fn rows_of_another_study_are_not_gone_on_with() {
    let dir = scratch("other");
    let study = "whatif op tadd f32 --shape 8x64 -o rows.csv --set";
    words(&dir, &format!("{study} drain=0..9"), 0);
    let before = read(&dir, "rows.csv");
    for (sets, why) in [
        (
            "drain=1..10",
            "line 2: not the row this study has there; it begins `0,tadd f32,8x64,a3,1,",
        ),
        ("end=0..9", "columns are those of another study"),
        ("drain=0..8", "line 11: this study ends on the line before"),
    ] {
        let prose = words(&dir, &format!("{study} {sets} --resume"), 2);
        assert!(prose.contains(why), "{sets}: {prose}");
        assert_eq!(read(&dir, "rows.csv"), before, "{sets}");
    }
    words(&dir, &format!("{study} drain=0..10 --resume"), 0);
    assert!(read(&dir, "rows.csv").starts_with(&before));
    words(&dir, &format!("{study} drain=1..10"), 0);
    assert_eq!(read(&dir, "rows.csv").lines().count(), 11, "without --resume it is written anew");
}

#[test]
fn a_study_file_is_the_command_line_in_a_file() {
    let dir = scratch("file");
    fs::write(
        dir.join("s.ron"),
        r#"(
            schema: 1,
            targets: ["a3", "950pr"],
            ops: [
                (op: "trowmax", dtype: "f32", shapes: ["64x128", "8x64"]),
                (op: "trowsum", dtype: "f32", shapes: ["64x128", "8x64"]),
            ],
            set: {"scalar.issue": "0..2"},
            pair: [{"clock_mhz": [1000, 1600], "mte2.latency": [100, 200]}],
            output: "from_file.csv",
        )"#,
    )
    .expect("written");
    words(&dir, &format!("{STUDY} -o all.csv"), 0);
    words(&dir, "whatif s.ron", 0);
    assert_eq!(read(&dir, "from_file.csv"), read(&dir, "all.csv"));
    for (more, name) in [
        ("--set drain=1", "--set"),
        ("--pair drain=1 end=2", "--pair"),
        ("--arg n=1:i32", "--arg"),
        ("-v a3", "-v"),
        ("--entry nope", "--entry"),
        ("--blocks 1", "--blocks"),
        ("--microcode nofile.pto", "--microcode"),
        ("--sync auto", "--sync"),
        ("--operand-order vendor", "--operand-order"),
        ("--poison 1", "--poison"),
        ("--max-steps 9", "--max-steps"),
        ("--align 64", "--align"),
    ] {
        let prose = words(&dir, &format!("whatif s.ron {more}"), 2);
        assert!(prose.contains(&format!("leave {name} out")), "{prose}");
    }
    words(&dir, "whatif s.ron --deny warnings --checks none", 0);
}

/// A target file beside the study, and one by path.
#[test]
fn own_target_files_work_by_path() {
    let dir = scratch("target");
    words(&dir, "targets new a3 slow --set clock_mhz=1000 --set vcmax.f32.per_repeat=9", 0);
    words(&dir, "targets check slow.ron", 0);
    words(&dir, "whatif op tadd f32 --shape 8x64 -v slow.ron,a3 --set drain=0,6 -o rows.csv", 0);
    assert!(read(&dir, "rows.csv").lines().nth(1).is_some_and(|l| l.contains(",slow,0,")));
    fs::create_dir(dir.join("sub")).expect("folder");
    fs::rename(dir.join("slow.ron"), dir.join("sub/slow.ron")).expect("moved");
    fs::write(
        dir.join("sub/s.ron"),
        r#"(schema: 1, targets: ["slow.ron"], ops: [(op: "tadd", dtype: "f32", shapes: ["8x64"])])"#,
    )
    .expect("written");
    words(&dir, "whatif sub/s.ron -o rows.csv", 0);
    assert!(read(&dir, "rows.csv").contains("tadd f32,8x64,slow,"));
    let diff = ptoemu(&dir, "targets diff a3 sub/slow.ron");
    let text = String::from_utf8_lossy(&diff.stdout).into_owned();
    assert!(text.contains("clock_mhz") && text.contains("vcmax.f32.per_repeat"), "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
}

/// A target file with the name of its built-in base.
#[test]
fn a_file_named_as_its_base_stands_on_the_built_in_one() {
    let dir = scratch("named");
    words(&dir, "targets new a3 mine --set drain=3 -o a3.ron", 0);
    words(&dir, "targets check a3.ron", 0);
    words(&dir, "op tadd f32 8x64 -v a3.ron", 0);
    // What lies beside it stands on it, and it on the built-in one.
    words(&dir, "targets new a3 other -o other.ron", 0);
    words(&dir, "targets check other.ron", 0);
    // Files that stand on each other are still refused.
    fs::write(dir.join("l1.ron"), r#"(schema: 1, name: "l1", base: "l1")"#).expect("written");
    assert!(words(&dir, "targets check l1.ron", 2).contains("its own base"));
}

/// Outputs that would overwrite each other are refused; devices are written to, not replaced.
#[test]
fn outputs_keep_out_of_each_others_way() {
    let dir = scratch("outputs");
    let prose = words(&dir, &format!("{STUDY} -o same.json --json same.json"), 2);
    assert!(prose.contains("give two names"), "{prose}");
    words(&dir, &format!("{STUDY} -o - --json -"), 2);
    words(&dir, &format!("{STUDY} -o - --resume"), 2);
    assert_eq!(fs::read_dir(&dir).expect("folder").count(), 0);
    for part in 0..2 {
        words(&dir, &format!("{STUDY} --shard {part}/2 -o p{part}.csv"), 0);
    }
    let before = read(&dir, "p0.csv");
    let prose = words(&dir, "whatif merge p0.csv p1.csv -o ./p0.csv", 2);
    assert!(prose.contains("which this command reads"), "{prose}");
    assert_eq!(read(&dir, "p0.csv"), before);
    #[cfg(unix)]
    {
        // Through a link of one's own, so that a fault here replaces no device.
        std::os::unix::fs::symlink("/dev/null", dir.join("null")).expect("link");
        words(&dir, &format!("{STUDY} -o null"), 0);
        words(&dir, &format!("{STUDY} --json null"), 0);
        assert!(dir.join("null").symlink_metadata().expect("there").is_symlink());
    }
}

/// What a command reads stays as it is, whichever of its options would write there.
#[test]
fn no_command_overwrites_what_it_reads() {
    let dir = scratch("inputs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copy = |from: &str, to: &str| fs::copy(root.join(from), dir.join(to)).expect("copied");
    for name in ["k.pto", "rows.csv"] {
        copy("examples/softmax.pto", name);
    }
    copy("examples/data/softmax_x.npy", "x.npy");
    copy("tests/data/axpy_vf.json", "vf.json");
    fs::create_dir(dir.join("case")).expect("folder");
    copy("examples/softmax.pto", "case/kernel.pto");
    let write = |name: &str, text: &str| fs::write(dir.join(name), text).expect("written");
    words(&dir, "targets new a3 base -o base.ron", 0);
    words(&dir, "targets new base.ron t -o t.ron", 0);
    write("m.csv", "op,dtype,rows,cols,measured_cycles\ntadd,f32,8,64,40\n");
    fs::copy(dir.join("m.csv"), dir.join("study.csv")).expect("copied");
    let study = |output: &str| {
        format!(
            r#"(schema: 1, targets: ["t.ron"], kernels: [(file: "k.pto", args: ["x=@x.npy"])], {output})"#
        )
    };
    write("study.ron", &study(""));
    write("to_kernel.ron", &study(r#"output: "k.pto""#));
    words(&dir, "run k.pto --arg x=@x.npy --json r.json", 0);
    fs::create_dir(dir.join("sub")).expect("folder");
    let before = bytes_of(&dir);
    let seg = "--arg x=@x.npy";
    for line in [
        "whatif study.ron -o study.ron",
        "whatif study.ron -o sub/../k.pto",
        "whatif study.ron --json x.npy",
        "whatif study.ron -o t.ron",
        "whatif study.ron -o base.ron",
        "whatif to_kernel.ron",
        &format!("whatif k.pto {seg} --set drain=1 -o k.pto"),
        &format!("whatif k.pto {seg} --set drain=1 --json k.pto"),
        &format!("whatif k.pto {seg} --set drain=1 -v t.ron -o t.ron"),
        &format!("whatif k.pto {seg} --set drain=1 -o x.npy"),
        "whatif op tadd f32 --shape 8x64 --set drain=1 -v t.ron -o base.ron",
        &format!("run k.pto {seg} --json k.pto"),
        &format!("run k.pto {seg} --emit-sync k.pto"),
        &format!("run k.pto {seg} --out y=k.pto"),
        &format!("run k.pto {seg} --out y=x.npy"),
        &format!("run k.pto {seg} --golden y=x.npy --json x.npy"),
        &format!("run k.pto {seg} --microcode k.pto --json k.pto"),
        "run case --arg x=rand(1):f32[64x128] --json case/kernel.pto",
        &format!("check k.pto {seg} --json k.pto"),
        &format!("trace k.pto {seg} --json x.npy -o o"),
        &format!("trace k.pto {seg} --json o/report.html -o o"),
        "op tadd f32 8x64 -v t.ron --json t.ron",
        "op tadd f32 8x64 -v t.ron --emit-pto base.ron",
        "op tadd f32 8x64 --emit-pto new.pto --json new.pto",
        &format!("sensitivity k.pto {seg} --json k.pto"),
        "sensitivity tadd f32 8x64 --against t.ron --json t.ron",
        "shapes tadd f32 --rows 8 --cols 64 -v t.ron --json t.ron",
        "shapes tadd f32 --rows 8 --cols 64 -o new --json new/study.csv",
        "calibrate m.csv --fit drain --json m.csv",
        "calibrate study.csv --fit drain --page .",
        "accuracy --measured m.csv --json m.csv",
        "diff r.json r.json --json r.json",
        &format!("diff k.pto -v a2,a3 {seg} --html k.pto"),
        "parse k.pto --json k.pto",
        "vf vf.json -v 950pr --json vf.json",
        "targets show t.ron --json t.ron",
        "targets diff a3 t.ron --json base.ron",
        "targets check t.ron --json t.ron",
        "verify tadd --cases 1 -v t.ron --json t.ron",
        "verify tadd --cases 1 --json new.json --junit new.json",
        "explain vadd -v t.ron --json t.ron",
    ] {
        let prose = words(&dir, line, 2);
        assert!(prose.contains("give another name") || prose.contains("give two names"), "{prose}");
        assert!(bytes_of(&dir) == before, "{line} changed a file");
    }
}

/// Every file of a folder and those below it.
fn bytes_of(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).expect("folder").flatten() {
        match entry.path() {
            p if p.is_dir() => out.extend(bytes_of(&p)),
            p => out.push((p.clone(), fs::read(&p).expect("readable"))),
        }
    }
    out.sort();
    out
}

/// A study with a page is timed in parts all the same; a name of two lines is refused.
#[test]
fn parts_of_a_study_file_leave_its_page_out() {
    let dir = scratch("page_part");
    let study = |more: &str| {
        format!(
            r#"(schema: 1, targets: ["a3"], ops: [(op: "tadd", dtype: "f32", shapes: ["8x64"]{more})],
            set: {{"drain": "0..3"}}, page: "page")"#
        )
    };
    fs::write(dir.join("s.ron"), study("")).expect("written");
    for i in 0..2 {
        words(&dir, &format!("whatif s.ron --shard {i}/2 --resume -o part{i}.csv"), 0);
    }
    assert!(!dir.join("page").exists());
    words(&dir, "whatif merge part0.csv part1.csv -o whole.csv", 0);
    words(&dir, "whatif s.ron -o whole.csv --resume", 0);
    assert!(dir.join("page/study.html").exists());
    assert!(words(&dir, "whatif s.ron --shard 0/2 --page p", 2).contains("--page shows a whole"));
    fs::write(dir.join("two.ron"), study(", label: \"a\nb\"")).expect("written");
    let prose = words(&dir, "whatif two.ron -o two.csv", 2);
    assert!(prose.contains("a label has no line breaks"), "{prose}");
}
