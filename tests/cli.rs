//! The words scripts depend on: options, statuses, where data and prose go, what is written when.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

const SOFTMAX: [&str; 3] = ["examples/softmax.pto", "--arg", "x=@examples/data/softmax_x.npy"];

/// A folder of its own for a test.
fn scratch() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let dir =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{}-{n}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("folder");
    dir
}

fn ptoemu<S: AsRef<str>>(args: impl IntoIterator<Item = S>) -> Output {
    let args: Vec<String> = args.into_iter().map(|s| s.as_ref().to_string()).collect();
    Command::new(env!("CARGO_BIN_EXE_ptoemu"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .output()
        .expect("the command starts")
}

fn prose(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

/// Runs a line of words; the status must be `status`.
fn words(line: &str, status: i32) -> Output {
    let out = ptoemu(line.split_whitespace());
    assert_eq!(out.status.code(), Some(status), "{line}\n{}", prose(&out));
    out
}

/// Runs `run` with these words after those of softmax.
fn softmax(more: &[String], status: i32) -> Output {
    let all = ["run"].iter().chain(&SOFTMAX).map(|s| s.to_string()).chain(more.iter().cloned());
    let out = ptoemu(all);
    assert_eq!(out.status.code(), Some(status), "{more:?}\n{}", prose(&out));
    out
}

/// Refused: status 2, a word of `why` on stderr, nothing on stdout, nothing new in `dir`.
fn refused(args: &[String], why: &str, dir: &Path) {
    let before = files(dir);
    let out = ptoemu(args);
    let text = prose(&out);
    assert_eq!(out.status.code(), Some(2), "{args:?}\n{text}");
    assert!(text.contains(why), "`{why}` is not in:\n{text}");
    assert!(out.stdout.is_empty(), "{args:?} printed data");
    assert_eq!(files(dir), before, "{args:?} left something behind");
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> =
        fs::read_dir(dir).expect("folder").flatten().map(|e| e.path()).collect();
    out.sort();
    out
}

fn strings(args: &[&str]) -> Vec<String> {
    args.iter().map(|s| s.to_string()).collect()
}

fn json(o: &Output) -> Value {
    serde_json::from_slice(&o.stdout).unwrap_or_else(|e| panic!("{e}\n{}", prose(o)))
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// `y = 2 x` for 8 rows of 64 f32.
const DOUBLE: &str = "func.func @double(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = arith.constant 8 : index
  %c = arith.constant 64 : index
  %xv = pto.make_tensor_view %x, shape = [%r, %c], strides = [%c, %c1] : !pto.tensor_view<8x64xf32>
  %yv = pto.make_tensor_view %y, shape = [%r, %c], strides = [%c, %c1] : !pto.tensor_view<8x64xf32>
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%r, %c] : !pto.tensor_view<8x64xf32> -> !pto.partition_tensor_view<8x64xf32>
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%r, %c] : !pto.tensor_view<8x64xf32> -> !pto.partition_tensor_view<8x64xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>
  pto.tload ins(%xp : !pto.partition_tensor_view<8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
  pto.tadd ins(%t, %t : !pto.tile_buf<vec, 8x64xf32>, !pto.tile_buf<vec, 8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 8x64xf32>) outs(%yp : !pto.partition_tensor_view<8x64xf32>)
  return
}
";

#[test]
fn arrays_in_and_out() {
    let dir = scratch();
    let (kernel, x, y) = (dir.join("k.pto"), dir.join("x.bin"), dir.join("y.bin"));
    let values: Vec<f32> = (0..512).map(|i| i as f32).collect();
    fs::write(&kernel, DOUBLE).unwrap();
    fs::write(&x, bytes(&values)).unwrap();
    let args = [
        "run".to_string(),
        kernel.display().to_string(),
        "--arg".into(),
        format!("x=@{}", x.display()),
        "--out".into(),
        format!("y={}", y.display()),
        "--out".into(),
        format!("%x={}", dir.join("x.npy").display()),
    ];
    let out = ptoemu(&args);
    assert_eq!(out.status.code(), Some(0), "{}", prose(&out));
    let twice: Vec<f32> = values.iter().map(|v| 2.0 * v).collect();
    assert_eq!(fs::read(&y).unwrap(), bytes(&twice));
    let npy = ptoemu::data::read(&dir.join("x.npy")).unwrap();
    assert_eq!(npy.bytes, bytes(&values));
    assert_eq!(npy.shape.map(|s| s.1), Some(vec![8, 64]), "the shape its view says");
    assert_eq!(files(&dir).len(), 4, "no other file");
}

#[test]
fn a_case_folder_brings_its_arguments_and_golden_files() {
    let dir = scratch();
    let values: Vec<f32> = (0..512).map(|i| i as f32).collect();
    let twice: Vec<f32> = values.iter().map(|v| 2.0 * v).collect();
    fs::write(dir.join("kernel.pto"), DOUBLE).unwrap();
    fs::write(dir.join("v1.bin"), bytes(&values)).unwrap();
    fs::write(dir.join("golden_v2.bin"), bytes(&twice)).unwrap();
    let line = format!("run {} --json -", dir.display());
    let report = json(&words(&line, 0));
    assert_eq!(report["golden"][0]["name"], "y");
    assert_eq!(report["golden"][0]["pass"], true);
    fs::write(dir.join("golden_v2.bin"), bytes(&values)).unwrap();
    let report = json(&words(&line, 1));
    let golden = &report["golden"][0];
    assert_eq!(
        (&golden["wrong"], &golden["first_bad"]["index"]),
        (&Value::from(511), &Value::from(1))
    );
    assert_eq!(golden["first_bad"]["got"], "2");
    assert_eq!(golden["first_bad"]["want"], "1");
}

/// A file without a function: its tiles are the arguments.
#[test]
fn tiles_of_a_bare_list_are_arguments() {
    let dir = scratch();
    let y = dir.join("y.npy");
    let line = format!(
        "run examples/listing.pto --arg x=@examples/data/softmax_x.npy \
         --golden y=examples/data/softmax_y.npy --out y={} --json -",
        y.display()
    );
    let report = json(&words(&line, 0));
    assert_eq!(report["golden"][0]["pass"], true);
    assert_eq!(ptoemu::data::read(&y).unwrap().shape.map(|s| s.1), Some(vec![64, 128]));
    let wrong = "run examples/listing.pto --arg x=zeros:f16[64x128]";
    assert!(prose(&words(wrong, 2)).contains("elements of f16"));
    let short = "run examples/listing.pto --arg x=zeros:f32[8x128]";
    assert!(prose(&words(short, 2)).contains("bytes"));
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let dir = scratch();
    let at = |n: &str| dir.join(n).display().to_string();
    fs::write(dir.join("odd.bin"), [0u8; 7]).unwrap();
    let f16 =
        ptoemu::data::write(&dir.join("x16.npy"), &[0; 64], ptoemu_core::dtype::DType::F16, &[32]);
    f16.unwrap();
    let run = |arg: String| strings(&["run", "examples/softmax.pto", "--arg", &arg]);
    refused(&run(format!("x=@{}", at("odd.bin"))), "7 bytes", &dir);
    refused(&run(format!("x=@{}", at("x16.npy"))), "elements of f16", &dir);
    refused(&run(format!("x=@{}", at("none.bin"))), "cannot read", &dir);
    refused(&run("x=zeros:i32[64x128]".into()), "elements of i32", &dir);
    refused(&run("x=1.0:f32".into()), "a scalar was given", &dir);
    refused(&run("q=1.0:f32".into()), "no argument `q`", &dir);
    let golden = |g: String| {
        let mut all = strings(&["run"]);
        all.extend(strings(&SOFTMAX));
        all.extend(["--golden".to_string(), g]);
        all
    };
    refused(&golden(format!("y={}", at("x16.npy"))), "elements of f16", &dir);
    refused(&golden(format!("y={}", at("odd.bin"))), "7 bytes", &dir);
    refused(&golden(format!("y={}", at("none.npy"))), "cannot read", &dir);
    refused(&golden("q=examples/data/softmax_y.npy".into()), "no buffer `q`", &dir);
}

/// bf16 travels as uint16 in `.npy`.
#[test]
fn bf16_is_uint16_in_npy() {
    let dir = scratch();
    let kernel = dir.join("k.pto");
    let text = DOUBLE.replace("pto.tadd ins(%t, %t : !pto.tile_buf<vec, 8x64xf32>, !pto.tile_buf<vec, 8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)\n", "\n");
    fs::write(&kernel, text.replace("f32", "bf16")).unwrap();
    let x = dir.join("x.npy");
    let data: Vec<u8> = (0..1024u32).map(|i| i as u8).collect();
    ptoemu::data::write(&x, &data, ptoemu_core::dtype::DType::BF16, &[8, 64]).unwrap();
    let y = dir.join("y.npy");
    let (k, x, out) = (kernel.display(), x.display(), y.display());
    words(&format!("run {k} --arg x=@{x} --out y={out}"), 0);
    let back = ptoemu::data::read(&y).unwrap();
    assert_eq!(back.bytes, data);
    assert_eq!(back.shape.map(|s| s.0), Some(ptoemu_core::dtype::DType::U16));
}

/// What cannot be written is refused before the run, and then nothing is written at all.
#[test]
fn nothing_is_half_written() {
    let dir = scratch();
    let at = |n: &str| dir.join(n).display().to_string();
    let with = |more: &[String]| {
        let mut all = strings(&["run"]);
        all.extend(strings(&SOFTMAX));
        all.extend(more.iter().cloned());
        all
    };
    let out = |s: String| vec!["--out".to_string(), s];
    let (good, json_at) = (out(format!("y={}", at("y.npy"))), format!("--json={}", at("r.json")));
    refused(
        &with(&[out(format!("nix={}", at("n.npy"))), good.clone()].concat()),
        "no buffer `nix`",
        &dir,
    );
    refused(&with(&[good.clone(), good.clone()].concat()), "written twice", &dir);
    refused(
        &with(&[good.clone(), out(format!("x={}", at("./y.npy")))].concat()),
        "written twice",
        &dir,
    );
    refused(
        &with(&[good.clone(), vec![format!("--emit-sync={}", at("y.npy"))]].concat()),
        "written twice",
        &dir,
    );
    refused(
        &with(&[good.clone(), out(format!("x={}", at("no/such/x.npy")))].concat()),
        "cannot write",
        &dir,
    );
    refused(&with(&[good.clone(), out(format!("x={}", dir.display()))].concat()), "folder", &dir);
    refused(
        &with(&[vec![format!("--json={}", at("no/r.json"))], good.clone()].concat()),
        "cannot write",
        &dir,
    );
    refused(&with(&[good.clone(), strings(&["-v", "a3,nix"])].concat()), "no target `nix`", &dir);
    // A fault stops the run: no outputs, but a report.
    let fault = format!(
        "run tests/fail/gm_range_view.pto --arg x=rand(1):f32[7x64] --out y={} {json_at}",
        at("y.npy")
    );
    words(&fault, 1);
    assert_eq!(files(&dir), [dir.join("r.json")]);
    fs::remove_file(dir.join("r.json")).unwrap();
    // A refusal met while running leaves nothing.
    let refusal = "run tests/fail/legality_gm_shape.pto --arg x=rand(1):f32[8x64]".to_string();
    let refusal: Vec<String> = refusal.split(' ').map(String::from).collect();
    refused(&[refusal, good.clone(), vec![json_at]].concat(), "legality.gm_shape", &dir);
    // A finding does not: the values are there to look at.
    let finding = format!("run examples/softmax.pto --out y={}", at("y.npy"));
    words(&finding, 1);
    assert_eq!(files(&dir), [dir.join("y.npy")]);
}

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
    fs::write(&file, include_str!("../targets/a3.ron").replace("\"a3\"", "\"mine\"")).unwrap();
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
    let emit = |mode: &[&str]| {
        let mut more = strings(mode);
        more.push(format!("--emit-sync={}", at.display()));
        softmax(&more, 0);
        fs::read_to_string(&at).unwrap()
    };
    let auto = emit(&["--sync", "auto"]);
    assert!(auto.contains("pto.set_flag[\"PIPE_MTE2\", \"PIPE_V\", \"EVENT_ID0\"]"), "{auto}");
    assert!(auto.contains("pto.pipe_barrier"), "{auto}");
    assert_eq!(emit(&[]), auto, "a program without any is ordered by default");
    assert_eq!(emit(&["--sync", "manual"]), "");
    let manual = json(&softmax(&strings(&["--sync", "manual", "--json", "-"]), 0));
    let ordered = json(&softmax(&strings(&["--json", "-"]), 0));
    assert!(manual["cycles"].as_u64() < ordered["cycles"].as_u64());
    let own = "run examples/softmax_manual.pto --arg x=@examples/data/softmax_x.npy --json -";
    let by_hand = json(&words(own, 0));
    let twice = json(&words(&format!("{own} --sync manual"), 0));
    assert_eq!(by_hand["cycles"], twice["cycles"], "its own flags make it manual");
}

#[test]
fn blocks_share_global_memory_and_run_in_order() {
    let dir = scratch();
    let kernel = dir.join("k.pto");
    let text = DOUBLE
        .replace("%c0 = arith.constant 0 : index", "%c0 = arith.constant 0 : index\n  %b64 = pto.get_block_idx\n  %b = arith.index_cast %b64 : i64 to index\n  %c2 = arith.constant 2 : index\n  %first = arith.muli %b, %c2 : index")
        .replace("%r = arith.constant 8 : index", "%r = arith.constant 8 : index\n  %two = arith.constant 2 : index")
        .replace("offsets = [%c0, %c0], sizes = [%r, %c]", "offsets = [%first, %c0], sizes = [%two, %c]")
        .replace("partition_tensor_view<8x64", "partition_tensor_view<2x64")
        .replace("tile_buf<vec, 8x64", "tile_buf<vec, 2x64");
    fs::write(&kernel, text).unwrap();
    let y = dir.join("y.bin");
    let x: Vec<f32> = (0..512).map(|i| i as f32).collect();
    fs::write(dir.join("x.bin"), bytes(&x)).unwrap();
    let run = |blocks: &str| {
        let line = format!(
            "run {} --arg x=@{} --arg y=zeros:f32[8x64] --out y={} --json - {blocks}",
            kernel.display(),
            dir.join("x.bin").display(),
            y.display()
        );
        let report = json(&words(&line, 0));
        (report["cycles"].as_u64(), report["instructions"].as_u64(), fs::read(&y).unwrap())
    };
    let (one, few, part) = run("");
    let (four, many, whole) = run("--blocks 4");
    let twice: Vec<f32> = x.iter().map(|v| 2.0 * v).collect();
    assert_eq!(whole, bytes(&twice));
    assert_eq!(part[..512], whole[..512]);
    assert_eq!(part[512..], vec![0; 1536]);
    assert_eq!(one, four, "the slowest block counts");
    assert_eq!(few.map(|n| 4 * n), many);
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
