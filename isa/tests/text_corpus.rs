//! Every `.pto` file under the folders in `PTOEMU_CORPUS` (colon separated) reads without an
//! error, and its canonical text is a fixed point.

use ptoemu_core::diag::SourceFile;
use ptoemu_isa::text::{parse, print};
use std::path::{Path, PathBuf};

fn collect(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "pto") {
            out.push(path);
        }
    }
}

/// First faults of one file, empty when all is well.
fn faults(path: &Path) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return vec![format!("{}: not readable", path.display())];
    };
    let source = SourceFile::new(path.display().to_string(), text);
    let (file, diags) = parse(&source);
    if let Some(d) = diags.first() {
        let at = d.labels.first().map(|l| source.line_col(l.span.start as usize));
        return vec![format!("{} {at:?}: {}", source.name, d.message)];
    }
    let once = print(&file);
    let printed = SourceFile::new("printed", once.clone());
    let (again, diags) = parse(&printed);
    if let Some(d) = diags.first() {
        return vec![format!("{}: canonical text: {} in\n{once}", source.name, d.message)];
    }
    let twice = print(&again);
    match once.lines().zip(twice.lines()).find(|(a, b)| a != b) {
        Some((a, b)) => vec![format!("{}: not a fixed point:\n  {a}\n  {b}", source.name)],
        None if once.len() != twice.len() => vec![format!("{}: lengths differ", source.name)],
        None => Vec::new(),
    }
}

#[test]
fn corpus_reads_and_prints() {
    let Ok(folders) = std::env::var("PTOEMU_CORPUS") else {
        println!("skipped: PTOEMU_CORPUS is not set");
        return;
    };
    let mut files = Vec::new();
    folders.split(':').for_each(|d| collect(Path::new(d), &mut files));
    files.sort();
    assert!(!files.is_empty(), "no .pto file under {folders}");
    let bad: Vec<String> = files.iter().flat_map(|f| faults(f)).collect();
    println!("{} files, {} with faults", files.len(), bad.len());
    assert!(bad.is_empty(), "{}", bad.iter().take(20).cloned().collect::<Vec<_>>().join("\n"));
}
