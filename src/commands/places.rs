//! Files a command reads and writes: it writes none it reads, and none twice.

use super::TargetArgs;
use super::run::{Microcode, ProgramArgs};
use crate::data::{same_file, special, writable};
use crate::session::Refusal;
use crate::study::files;
use crate::targets;
use anyhow::{Result, anyhow};
use std::path::{Path, PathBuf};

/// Files of one command.
#[derive(Default)]
pub(super) struct Places {
    reads: Vec<PathBuf>,
    /// Option, and file.
    writes: Vec<(&'static str, PathBuf)>,
    /// Folders of pages.
    pages: Vec<PathBuf>,
}

impl Places {
    /// Files it reads.
    pub fn reads<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.reads.extend(paths.into_iter().map(|p| p.as_ref().to_path_buf()));
        self
    }

    /// Files of targets, among names of others.
    pub fn targets<S: AsRef<str>>(self, names: impl IntoIterator<Item = S>) -> Self {
        let files: Vec<_> = names.into_iter().flat_map(|n| targets::files(n.as_ref())).collect();
        self.reads(files)
    }

    /// A file of microcode, if it is one.
    pub fn microcode(self, microcode: &Microcode) -> Self {
        match microcode {
            Microcode::File(path) => self.reads([path]),
            _ => self,
        }
    }

    /// What the options of a program name.
    pub fn program(self, args: &ProgramArgs) -> Self {
        let arrays = args.args.iter().filter_map(|a| Some(a.split_once("=@")?.1));
        self.target(&args.target).microcode(&args.microcode).reads(arrays)
    }

    /// What the options of targets name.
    pub fn target(self, args: &TargetArgs) -> Self {
        self.targets(&args.target)
    }

    /// Files an option writes; `-` is none.
    pub fn writes<'p>(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Self {
        let files = paths.into_iter().filter(|p| p.as_os_str() != "-");
        self.writes.extend(files.map(|p| (option, p.clone())));
        self
    }

    /// Files of these names that an option writes into a folder.
    pub fn folder(mut self, option: &'static str, dir: &Option<PathBuf>, names: &[&str]) -> Self {
        let dirs = dir.iter().flat_map(|d| names.iter().map(move |n| (option, d.join(n))));
        self.writes.extend(dirs);
        self
    }

    /// The same for the page of a study, whose folder is made before anything is computed.
    pub fn page(mut self, option: &'static str, dir: &Option<PathBuf>, names: &[&str]) -> Self {
        self.pages.extend(dir.clone());
        self.folder(option, dir, names)
    }

    /// Refuses what would be lost. Devices hold nothing.
    pub fn check(self) -> Result<(), Refusal> {
        let mut files = self.writes.iter().filter(|(_, p)| !special(p));
        let mut seen: Vec<&(&str, PathBuf)> = Vec::new();
        files.try_for_each(|w| {
            let (option, path) = (w.0, w.1.display());
            if self.reads.iter().any(|r| same_file(r, &w.1)) {
                return Err(anyhow!(
                    "{option} would overwrite {path}, which this command reads: give another name"
                ));
            }
            if let Some((other, _)) = seen.iter().find(|s| same_file(&s.1, &w.1)) {
                let who = if *other == option { "" } else { &format!(" and {other}") };
                return Err(anyhow!(
                    "{path} would be written twice, by {option}{who}: give two names"
                ));
            }
            seen.push(w);
            Ok(())
        })?;
        Ok(())
    }

    /// The same, and whether the files written can be. Makes the folders of pages.
    pub fn check_writable(mut self) -> Result<(), Refusal> {
        let pages = std::mem::take(&mut self.pages);
        let all = self.writes.iter().map(|w| w.1.clone());
        let (inside, beside): (Vec<_>, Vec<_>) =
            all.partition(|p| pages.iter().any(|d| p.parent() == Some(d)));
        self.check()?;
        beside.iter().try_for_each(|p| writable(p))?;
        pages.iter().try_for_each(|d| files::prepare(d))?;
        Ok(inside.iter().try_for_each(|p| writable(p))?)
    }
}
