//! The files of a study: a page, its pictures, its rows.

use super::pages::Named;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// Can the folder be written? Refuses before anything is computed.
pub fn prepare(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    crate::data::writable(&dir.join("study.html"))
}

/// Writes `study.html`, every picture as SVG, and the rows as `study.csv`. Names of the files.
pub fn write<T: Serialize>(
    dir: &Path,
    html: &str,
    plots: &[Named],
    rows: &[T],
) -> Result<Vec<String>> {
    let mut files = vec!["study.html".to_string()];
    crate::data::write_whole(&dir.join("study.html"), html.as_bytes())?;
    for (name, plot) in plots {
        let file = format!("{name}.svg");
        crate::data::write_whole(&dir.join(&file), plot.standalone().as_bytes())?;
        files.push(file);
    }
    let mut csv = csv::Writer::from_writer(Vec::new());
    for r in rows {
        csv.serialize(r)?;
    }
    crate::data::write_whole(&dir.join("study.csv"), &csv.into_inner()?)?;
    files.push("study.csv".into());
    Ok(files)
}

/// The command that was typed, ready to be typed again.
pub fn command() -> String {
    let words: Vec<String> = std::env::args().skip(1).map(|w| word(&w)).collect();
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
