//! The files of a study: a page, its pictures, its rows.

use super::pages::Named;
use crate::batch::Batch;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// The page of a study.
pub const PAGE: &str = "study.html";
/// Its rows.
pub const ROWS: &str = "study.csv";

/// Files of a study whose rows stand with its page.
pub const FIXED: [&str; 2] = [PAGE, ROWS];

/// Can the folder be written? Refuses before anything is computed.
pub fn prepare(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    crate::data::writable(&dir.join(PAGE))
}

/// Writes `study.html`, every picture as SVG, and the rows as `study.csv`. Names of the files.
pub fn write<T: Serialize>(
    dir: &Path,
    html: &str,
    plots: &[Named],
    rows: &[T],
) -> Result<Vec<String>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    for r in rows {
        csv.serialize(r)?;
    }
    all(dir, html, plots, Some(csv.into_inner()?))
}

/// Writes `study.html` and every picture as SVG. Names of the files.
pub fn page(dir: &Path, html: &str, plots: &[Named]) -> Result<Vec<String>> {
    all(dir, html, plots, None)
}

fn all(dir: &Path, html: &str, plots: &[Named], rows: Option<Vec<u8>>) -> Result<Vec<String>> {
    let mut files = vec![(PAGE.to_string(), html.as_bytes().to_vec())];
    files.extend(plots.iter().map(|(n, p)| (format!("{n}.svg"), p.standalone().into_bytes())));
    files.extend(rows.map(|r| (ROWS.to_string(), r)));
    let mut batch = Batch::default();
    for (name, bytes) in &files {
        batch.write(&dir.join(name), &|out| out.write_all(bytes))?;
    }
    batch.place()?;
    Ok(files.into_iter().map(|f| f.0).collect())
}

/// The command that was typed, ready to be typed again; from the start, where it went on with a file.
pub fn command() -> String {
    let words = std::env::args().skip(1).filter(|w| w != "--resume");
    let words: Vec<String> = words.map(|w| word(&w)).collect();
    format!("ptoemu {}", words.join(" "))
}

/// A word of a command as a shell reads it.
pub fn word(w: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:@%+[]".contains(c);
    match !w.is_empty() && w.chars().all(plain) {
        true => w.to_string(),
        false => format!("'{}'", w.replace('\'', "'\\''")),
    }
}
