//! Study files, targets of one's own, and what is written where.

use super::*;

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
