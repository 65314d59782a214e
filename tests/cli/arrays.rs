//! Arrays in and out, and what is refused about them.

use super::*;

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
    let twice = strings(&["run", "examples/softmax.pto", "--arg", "x=rand:f32[64x128]"]);
    let twice = [twice.clone(), twice[2..].to_vec()].concat();
    refused(&twice, "--arg x is given twice", &dir);
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

/// A golden file of another size expects something else, however well its part fits.
#[test]
fn a_golden_file_covers_the_whole_buffer() {
    let dir = scratch();
    let y = fs::read("examples/data/softmax_y.npy").unwrap();
    for (name, len) in [("half.bin", 16384), ("empty.bin", 0)] {
        fs::write(dir.join(name), &y[y.len() - 32768..][..len]).unwrap();
        let golden = format!("y={}", dir.join(name).display());
        let out = softmax(&["--golden".to_string(), golden], 1);
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(text.contains("of 8192 elements differ"), "{text}");
    }
}

/// `ptoemu ... | head -1`: the reader leaves, the status stays.
#[test]
fn a_closed_pipe_changes_no_status() {
    let line = "run examples/softmax.pto --arg x=@examples/data/softmax_x.npy \
                --golden y=examples/data/rmsnorm_y.npy";
    for more in ["", " --json -"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ptoemu"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(line.split_whitespace().chain(more.split_whitespace()))
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("the command starts");
        drop(child.stdout.take());
        assert_eq!(child.wait().expect("it ends").code(), Some(1), "{more}");
    }
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
/// A link and what it leads to stay what they are.
#[cfg(unix)]
#[test]
fn links_and_devices_are_written_through() {
    use std::os::unix::fs::symlink;
    let dir = scratch();
    let at = |n: &str| dir.join(n).display().to_string();
    symlink("/dev/null", dir.join("null")).unwrap();
    symlink("y.npy", dir.join("link.npy")).unwrap();
    fs::write(dir.join("y.npy"), "old").unwrap();
    let out = |to: &str| ["--out".to_string(), format!("y={}", at(to))];
    let null = strings(&["--json", &at("null")]);
    softmax(&[out("null").to_vec(), null].concat(), 0);
    softmax(&out("link.npy"), 0);
    for name in ["null", "link.npy"] {
        assert!(fs::symlink_metadata(dir.join(name)).unwrap().is_symlink(), "{name}");
    }
    assert!(fs::read(dir.join("y.npy")).unwrap().len() > 8192 * 4);
}

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
    let traces = strings(&["--trace", "examples/softmax.pto/traces"]);
    refused(&with(&[good.clone(), traces].concat()), "cannot write into", &dir);
    let twice = [strings(&["-v", "a3,ascend910c", "--trace"]), vec![at("t")]].concat();
    refused(&with(&[good.clone(), twice].concat()), "two targets are named a3", &dir);
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

/// Undefined bytes of a run without arrays: the message names the arguments to give.
#[test]
fn buffers_without_contents_are_named() {
    let none = words("run examples/softmax.pto", 1);
    assert!(prose(&none).contains("no --arg gives `x`, `y`"), "{}", prose(&none));
    let text = words("run examples/softmax.pto --arg y=zeros:f32[64x128]", 1);
    assert!(prose(&text).contains("no --arg gives `x`: "), "{}", prose(&text));
}
