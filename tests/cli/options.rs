//! Options, statuses, reports.

use super::*;

#[test]
fn statuses() {
    softmax(&[], 0);
    softmax(&strings(&["--golden", "y=examples/data/softmax_x.npy"]), 1);
    softmax(&strings(&["--golden", "y=examples/data/softmax_y.npy", "--eps", "1e-6"]), 0);
    for usage in [
        "",
        "walk",
        "run",
        "run examples/softmax.pto --nonsense",
        "run examples/none.pto",
        "run examples/softmax.pto --eps -1",
        "run examples/softmax.pto --poison 256",
        "run examples/softmax.pto --align 33",
        "run examples/softmax.pto --checks memchek",
        "run examples/softmax.pto --blocks 0",
        "run examples/softmax.pto --entry nix",
        "run examples/softmax.pto --set vcmax.f32.startup=fast",
        "run examples/softmax.pto --set nix.startup=1",
        "op tadd f32 8x64 -v a3 --set drain=1 --set drain=9",
        "targets show a3 --set drain=1 --set drain=1",
        "op tadd f32 8x64 -v a3 --set ub.block=48",
        "run examples/softmax.pto --microcode mine.pto",
        "run examples/softmax.pto --sync maybe",
        "op trowmax f32 64",
        "op trowmax f64 64x64",
        "op trowmix f32 64x64",
        "op tload f32 64x64",
        "op trowmax bf16 64x64",
        "op trowmax f32 64x64 --mode 3",
        "op trowmax f32 64x64 --tmp 1x1 --no-tmp",
        "op tadd f32 64x64 --microcode mine.pto",
        "parse examples/none.pto",
        "parse examples/softmax.pto --print --json -",
        "accuracy -v a3",
        "accuracy -v a3 --measured examples/none.csv",
        "accuracy -v a2,a3 --lines tests/data/measured/a2a3_measured_lines.csv",
        "targets show nix",
        "targets show none.ron",
        "explain vnix",
    ] {
        let out = words(usage, 2);
        assert!(!out.stderr.is_empty(), "{usage}: no word on stderr");
        assert!(out.stdout.is_empty(), "{usage}: data on stdout");
    }
}

#[test]
fn targets_go_by_many_names() {
    let aliases = [
        ("a2", &["a2", "910b", "Ascend910B1", "ascend910b4"][..]),
        ("a3", &["a3", "a2a3", "910c", "Ascend910_93"]),
    ];
    for (name, all) in aliases {
        for alias in all {
            let out = words(&format!("op tadd f32 8x64 -v {alias} --json -"), 0);
            assert_eq!(json(&out)["results"][0]["target"], name, "{alias}");
        }
    }
    let both = json(&words("op tadd f32 8x64 -v a2,a3 --json -", 0));
    assert_eq!(both["results"].as_array().map(Vec::len), Some(2));
    let report = json(&softmax(&strings(&["--target", "a2,a3", "--json", "-"]), 0));
    assert_eq!((&report[0]["target"], &report[1]["target"]), (&"a2".into(), &"a3".into()));
    let slow = json(&words("op tadd f32 8x64 -v a3 --set drain=1000 --json -", 0));
    assert!(slow["results"][0]["cycles"].as_u64() > both["results"][1]["cycles"].as_u64());
    let dir = scratch();
    let file = dir.join("mine.ron");
    let text = include_str!("../../targets/a3.ron").replace("\"a3\"", "\"mine\"");
    let own: Vec<&str> = text.lines().filter(|l| !l.trim().starts_with("aliases:")).collect();
    fs::write(&file, own.join("\n")).unwrap();
    let mine = json(&words(&format!("op tadd f32 8x64 -v {} --json -", file.display()), 0));
    assert_eq!(mine["results"][0]["target"], "mine");
    assert_eq!(mine["results"][0]["cycles"], both["results"][1]["cycles"]);
}

#[test]
fn warnings_count_only_when_denied() {
    let left = "run tests/fail/flag_left.pto -v a3";
    let levels = |line: &str, status| json(&words(line, status))["findings"][0]["level"].clone();
    assert_eq!(levels(&format!("{left} --json -"), 0), "warning");
    assert_eq!(levels(&format!("{left} --deny warnings --json -"), 1), "error");
    words(&format!("{left} --deny warnings --checks none"), 0);
    words(&format!("{left} --deny warnings --checks memcheck,initcheck"), 0);
    words(&format!("{left} --deny warnings --checks synccheck"), 1);
    // Legality remarks are warnings like any other.
    let vendor = "run tests/fail/vendor_warns.pto -v a3 --microcode vendor";
    assert_eq!(levels(&format!("{vendor} --json -"), 0), "warning");
    words(&format!("{vendor} --deny warnings"), 1);
    words("run tests/fail/vendor_warns.pto -v a3", 2);
    words("op trowexpand f32 16x64 --deny warnings", 0);
}

#[test]
fn checks_are_chosen() {
    let gm = "run tests/fail/undefined_to_gm.pto --arg x=zeros:f32[8x64] --arg y=zeros:f32[8x64]";
    let codes = |more: &str, status| {
        let report = json(&words(&format!("{gm} {more} --json -"), status));
        report["findings"].as_array().expect("findings").len()
    };
    assert_eq!(codes("", 1), 1);
    assert_eq!(codes("--checks all", 1), 1);
    assert_eq!(codes("--checks initcheck", 1), 1);
    assert_eq!(codes("--checks memcheck", 0), 0);
    assert_eq!(codes("--checks none", 0), 0);
    // A fault is no finding: it stops the run whatever is checked.
    words("run tests/fail/ub_align.pto --checks none", 1);
}

#[test]
fn poison_fills_what_nobody_wrote() {
    let dir = scratch();
    let y = dir.join("y.bin");
    for (poison, byte) in [("", 0xCD), ("--poison 0xA5", 0xA5), ("--poison 7", 7)] {
        let line = format!(
            "run tests/fail/undefined_to_gm.pto --arg x=zeros:f32[8x64] --arg y=zeros:f32[8x64] \
             --checks none --out y={} {poison}",
            y.display()
        );
        words(&line, 0);
        assert_eq!(fs::read(&y).unwrap(), vec![byte; 2048], "{poison}");
    }
}

#[test]
fn synchronisation_is_inserted_or_taken_as_written() {
    let dir = scratch();
    let at = dir.join("sync.pto");
    let emit = |mode: &[&str], status| {
        let mut more = strings(mode);
        more.push(format!("--emit-sync={}", at.display()));
        softmax(&more, status);
        fs::read_to_string(&at).unwrap()
    };
    let auto = emit(&["--sync", "auto"], 0);
    assert!(auto.contains("pto.set_flag[\"PIPE_MTE2\", \"PIPE_V\", \"EVENT_ID0\"]"), "{auto}");
    assert!(auto.contains("pto.pipe_barrier"), "{auto}");
    assert_eq!(emit(&[], 0), auto, "a program without any is ordered by default");
    assert_eq!(emit(&["--sync", "manual"], 1), "", "nothing is ordered, and the races are found");
    let unordered = ["--sync", "manual", "--checks", "memcheck", "--json", "-"];
    let manual = json(&softmax(&strings(&unordered), 0));
    let ordered = json(&softmax(&strings(&["--json", "-"]), 0));
    assert!(manual["cycles"].as_u64() < ordered["cycles"].as_u64());
    let own = "run examples/softmax_manual.pto --arg x=@examples/data/softmax_x.npy --json -";
    let by_hand = json(&words(own, 0));
    let twice = json(&words(&format!("{own} --sync manual"), 0));
    assert_eq!(by_hand["cycles"], twice["cycles"], "its own flags make it manual");
}

/// With `--json -` stdout holds one JSON value and nothing else, on every command.
#[test]
fn json_on_stdout_is_clean() {
    for line in [
        "op trowmax f32 8x64 --list",
        "parse examples/softmax.pto examples/listing.pto",
        "accuracy -v a3 --lines tests/data/measured/a2a3_measured_lines.csv",
        "targets list",
        "targets show a3",
        "targets show a3 --paths",
        "targets check",
        "explain",
        "explain vcmax",
        "explain trowmax",
        "run tests/fail/flag_left.pto",
        "run tests/fail/ub_align.pto",
    ] {
        let out = ptoemu(format!("{line} --json -").split_whitespace());
        let _ = json(&out);
    }
    let dir = scratch();
    let at = dir.join("report.json");
    let line = format!("op trowmax f32 8x64 --json {}", at.display());
    let out = words(&line, 0);
    assert!(out.stdout.is_empty(), "the report went to a file");
    let written: Value = serde_json::from_slice(&fs::read(&at).unwrap()).unwrap();
    assert_eq!(written, json(&words("op trowmax f32 8x64 --json -", 0)));
}

/// A message without a place has no empty line where the source would be.
#[test]
fn op_messages_are_tight() {
    let out = words("op tadd u32 8x64", 2);
    let text = prose(&out);
    assert!(
        text.starts_with("error[legality.type]: tadd does not take element type u32"),
        "{text}"
    );
    assert!(text.lines().all(|l| l.trim() != "|"), "{text}");
}

/// Cycles of the records of the only operation of a program that is no transfer, alone on a3.
fn cycles_of_op(kernel: &Path, args: &str) -> u64 {
    use ptoemu::session::{Request, execute, read_source};
    let target = ptoemu::targets::find("a3").unwrap();
    let values = args.split_whitespace().skip_while(|w| *w != "--arg");
    let given = values.filter(|w| *w != "--arg").map(|w| ptoemu::args::arg(w).unwrap()).collect();
    let req = Request { args: given, ..Request::default() };
    let ran = execute(&read_source(kernel).unwrap(), &target, &req).unwrap();
    let mut stream = ran.outcome.blocks[0].stream.clone();
    let op = stream.groups.iter().position(|g| !["tload", "tstore"].contains(&g.name)).unwrap();
    let auto = ptoemu_core::stream::Marks::AUTO;
    stream.records.retain(|r| r.group as usize == op && !r.marks.has(auto));
    ptoemu_core::time::time(&stream, &target).cycles
}

/// `op --emit-pto` writes the operation as a program: the same instructions, the same cycles.
#[test]
fn an_op_written_as_a_program_runs() {
    let dir = scratch();
    let at = dir.join("op.pto");
    for op in [
        "trowmax f32 64x128",
        "trowexpandsub f16 16x32 --valid 15x30 --swap --dynamic",
        "tcvt f32 8x64 --to i32",
    ] {
        let out = words(&format!("op {op} --emit-pto {} --json -", at.display()), 0);
        let alone = json(&out)["results"][0].clone();
        let text = fs::read_to_string(&at).unwrap();
        let args = text.lines().find_map(|l| l.strip_prefix("// run: ")).expect("its command line");
        let report = json(&words(&format!("run {} {args} --json -", at.display()), 0));
        assert_eq!(report["findings"].as_array().map(Vec::len), Some(0), "{text}");
        assert_eq!(Some(cycles_of_op(&at, args)), alone["cycles"].as_u64(), "{op}");
    }
}

/// A loop without an end is given up before it fills the memory.
#[test]
fn endless_loops_are_given_up() {
    let file = scratch().join("endless.pto");
    let text = "func.func @k(%n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 : i64 {
  }
  return
}
";
    fs::write(&file, text).unwrap();
    let out = words(&format!("run {} --arg n=9223372036854775807:i64", file.display()), 2);
    assert!(prose(&out).contains("gave up after 50000000 statements"), "{}", prose(&out));
}

/// What is shown of an operation can be written, and the types listed are accepted.
#[test]
fn an_operation_is_explained_by_its_row() {
    let shown = |name: &str| words(&format!("explain {name}"), 0).stdout;
    for (name, form) in [
        ("textract", "pto.textract ins(src, row, col) outs(dst)"),
        ("tinsert", "pto.tinsert ins(src, row, col) outs(dst)"),
        ("tgather_mask", "pto.tgather ins(src {maskPattern = #pto.mask_pattern<P0101>}) outs(dst)"),
        ("tmrgsort_block", "pto.tmrgsort ins(src, blockLen) outs(dst)"),
        ("tmrgsort", "ins(src0, src1, [src2], [src3], [tmp] [{exhausted = true}]) outs(dst)"),
        ("tgather", "scratch tile  optional, on A2/A3 required for f16"),
        ("tdequant", "A2/A3 types   i8 i16\n"),
    ] {
        let text = String::from_utf8(shown(name)).expect("UTF-8");
        assert!(text.contains(form), "{name}:\n{text}");
    }
    for op in ["tdequant", "tgather", "tsel", "tcmp", "tgatherb"] {
        let report = json(&words(&format!("explain {op} --json -"), 0));
        for t in report["types_a2a3"].as_array().expect("types") {
            let t = t.as_str().expect("a name");
            words(&format!("op {op} {t} 16x64 -v a3"), 0);
        }
    }
    // The line it ends with runs.
    for op in ["tcvt", "taddreluconv", "tdequant"] {
        let text = String::from_utf8(shown(op)).expect("UTF-8");
        let line = text.lines().last().and_then(|l| l.split('`').nth(1)).expect("a line");
        words(line.trim_start_matches("ptoemu "), 0);
    }
    for line in ["explain tpow", "op tmatmul f32 16x64", "verify pto.tgemv_acc"] {
        let out = words(line, 2);
        let text = String::from_utf8_lossy(&out.stderr);
        assert!(text.contains(" is not built: it "), "{line}: {text}");
    }
}

#[test]
fn a_pipe_that_never_stood_still_has_no_line_for_it() {
    let text = words("op tadd f32 64x128 -v 950pr", 0).stdout;
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(text.contains("cycles") && !text.contains("stood still"), "{text}");
}
