//! Replays a corpus and prints every instrumented edge with its state: `1 ADDRESS` or `0 ADDRESS`.
//! `coverage.sh` builds it with the flags it needs and adds the source files.

use ptoemu_fuzz::harness;
use std::path::PathBuf;
use std::sync::Mutex;

/// Start and length of a table the compiler emitted.
static COUNTERS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
static PCS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

fn note(tables: &Mutex<Vec<(usize, usize)>>, start: usize, end: usize) {
    if let (Ok(mut t), Some(n)) = (tables.lock(), end.checked_sub(start)) {
        t.push((start, n));
    }
}

/// Called at start-up with the counters of a module, one byte an edge.
#[unsafe(no_mangle)]
pub extern "C" fn __sanitizer_cov_8bit_counters_init(start: usize, end: usize) {
    note(&COUNTERS, start, end);
}

/// Called at start-up with the addresses of the same edges, two words each.
#[unsafe(no_mangle)]
pub extern "C" fn __sanitizer_cov_pcs_init(start: usize, end: usize) {
    note(&PCS, start, end);
}

fn files(paths: impl Iterator<Item = String>) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for path in paths.map(PathBuf::from) {
        match std::fs::read_dir(&path) {
            Ok(entries) => out.extend(entries.flatten().map(|e| e.path())),
            Err(_) => out.push(path),
        }
    }
    out
}

fn main() {
    let mut args = std::env::args().skip(1);
    let run = match args.next().as_deref() {
        Some("parser") => harness::parser,
        Some("executor") => harness::executor,
        Some("instructions") => harness::instructions,
        Some("target") => harness::target,
        _ => return eprintln!("usage: coverage parser|executor|instructions|target PATH.."),
    };
    for path in files(args) {
        if let Ok(data) = std::fs::read(&path) {
            run(&data);
        }
    }
    let (Ok(counters), Ok(pcs)) = (COUNTERS.lock(), PCS.lock()) else { return };
    let mut out = String::new();
    for (&(c, n), &(p, _)) in counters.iter().zip(pcs.iter()) {
        for i in 0..n {
            // SAFETY: the compiler emits both tables for the life of the program, n bytes and
            // 2 n words long.
            let (hit, pc) = unsafe {
                let hit = std::ptr::read_volatile((c as *const u8).add(i));
                (hit > 0, *(p as *const usize).add(2 * i))
            };
            out.push_str(&format!("{} {pc:#x}\n", u8::from(hit)));
        }
    }
    print!("{out}");
}
