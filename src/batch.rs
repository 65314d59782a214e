//! Several files that appear together or not at all.

use crate::data::special;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Files written beside their places, until [`Batch::place`] moves all of them there. Whatever goes
/// wrong before, a full disk, say, leaves folders as they were.
#[derive(Debug, Default)]
pub struct Batch {
    /// Where a file is now, and where it belongs.
    files: Vec<(PathBuf, PathBuf)>,
    /// Folders made for them, outermost first.
    folders: Vec<PathBuf>,
}

impl Batch {
    /// Writes a file and makes the folders it stands in. What is no regular file, like `/dev/null`,
    /// is written to at once.
    pub fn write(
        &mut self,
        path: &Path,
        job: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let say = || format!("cannot write {}", path.display());
        if path.is_dir() {
            bail!("{}: it is a folder", say());
        }
        let fill = |file: File| {
            let mut out = BufWriter::with_capacity(1 << 18, file);
            job(&mut out)?;
            out.flush()
        };
        if special(path) {
            return File::options().write(true).open(path).and_then(fill).with_context(say);
        }
        self.folder(path.parent().unwrap_or(Path::new(""))).with_context(say)?;
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".part");
        let part = path.with_file_name(name);
        self.files.push((part.clone(), path.clone()));
        File::create(&part).and_then(fill).with_context(say)
    }

    /// Makes a folder and those around it.
    fn folder(&mut self, dir: &Path) -> io::Result<()> {
        let missing = dir.ancestors().take_while(|d| !d.as_os_str().is_empty() && !d.exists());
        let mut missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        missing.reverse();
        for d in missing {
            fs::create_dir(&d)?;
            self.folders.push(d);
        }
        Ok(())
    }

    /// Moves every file to its place.
    pub fn place(mut self) -> Result<()> {
        while let Some((part, path)) = self.files.first() {
            fs::rename(part, path).with_context(|| format!("cannot write {}", path.display()))?;
            self.files.remove(0);
        }
        self.folders.clear();
        Ok(())
    }
}

impl Drop for Batch {
    /// Takes back what was not placed: files, then folders that are empty.
    fn drop(&mut self) {
        for (part, _) in &self.files {
            let _ = fs::remove_file(part);
        }
        for dir in self.folders.iter().rev() {
            let _ = fs::remove_dir(dir);
        }
    }
}
