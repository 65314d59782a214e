//! The words scripts depend on: options, statuses, where data and prose go, what is written when.

mod arrays;
mod check;
mod options;

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
