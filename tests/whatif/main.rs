//! What-if studies: the same cycles as a fresh run on a changed target, rows in order, shards and
//! interrupted runs that make the same file.

mod engine;
mod files;
mod parts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const STUDY: &str = "whatif op trowmax,trowsum f32 --shape 64x128,8x64 -v a3,950pr \
                     --set scalar.issue=0..2 --pair clock_mhz=1000,1600 mte2.latency=100,200";

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
