//! What a study is about: a kernel, or one tile operation.

use super::op::{self, Layout};
use super::run::ProgramArgs;
use crate::session::{Refusal, read_source};
use crate::whatif::Subject;
use anyhow::anyhow;
use clap::Args;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::target::Target;
use ptoemu_isa::case::Case;
use ptoemu_isa::tile::{self, Quirks};
use std::path::Path;
use std::sync::Arc;

/// Options of tile operations in studies.
#[derive(Args, Clone, Debug)]
pub struct FormArgs {
    /// Operation: its sizes are run-time values (some fast paths need static ones).
    #[arg(long)]
    pub dynamic: bool,
    /// Row-expand operations: 1, one scalar per row; 2, one 32-byte block per row.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub mode: u8,
    /// Row-expand operations: the expanded operand is src0.
    #[arg(long)]
    pub swap: bool,
    /// Element type of a conversion's result.
    #[arg(long, value_name = "TYPE")]
    pub to: Option<String>,
}

impl FormArgs {
    /// A tile operation by name, type and shape.
    pub fn case(
        &self,
        [op, dtype, shape]: [&str; 3],
        program: &ProgramArgs,
        quirks: Quirks,
    ) -> Result<Case, Refusal> {
        let plain = op::CaseArgs {
            valid: None,
            mode: self.mode,
            swap: self.swap,
            tmp: None,
            no_tmp: false,
            dst: Layout::Dn,
            dst_cols: None,
            src: Layout::Dn,
            to: self.to.clone(),
            dynamic: self.dynamic,
            microcode: program.microcode.clone(),
            operand_order: program.operand_order,
        };
        let case = plain.case(op, dtype, shape)?;
        Ok(Case { quirks, ..case })
    }

    /// `KERNEL.pto`, or `OP TYPE RxC`.
    pub fn subject(
        &self,
        words: &[String],
        program: &ProgramArgs,
        quirks: Quirks,
    ) -> Result<Subject, Refusal> {
        match words {
            [kernel] => {
                let source = kernel_source(kernel, "OP TYPE RxC")?;
                let mut request = program.request(program.given()?)?;
                (request.quirks, request.checks.race) = (quirks, false);
                Ok(Subject::kernel(&source, String::new(), request))
            }
            [op, dtype, shape] => {
                Ok(Subject::op(self.case([op, dtype, shape], program, quirks)?))
            }
            _ => Err(lacking(&words.join(" "), "OP TYPE RxC")),
        }
    }
}

/// The kernel a subject reads: operations are no files.
pub fn kernel(words: &[String]) -> Option<&String> {
    words.first().filter(|_| words.len() == 1)
}

/// Reads a kernel; the name of a tile operation alone is none. `form` is how operations are given.
pub fn kernel_source(name: &str, form: &str) -> Result<Arc<SourceFile>, Refusal> {
    let path = Path::new(name);
    if !path.exists() && tile::find(name.trim_start_matches("pto.")).is_some() {
        return Err(lacking(name, form));
    }
    Ok(read_source(path)?)
}

/// Says what a tile operation is given with.
fn lacking(words: &str, form: &str) -> Refusal {
    let such = if form.ends_with("RxC") { "trowmax f32 64x128" } else { "trowmax f32" };
    anyhow!("`{words}` is not all: give KERNEL.pto, or {form} such as {such}").into()
}

/// A choice to compare with: parts joined by commas, each of which changes one thing.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Microcode.
    pub quirks: Option<Quirks>,
    /// Are sizes known only when it runs?
    pub dynamic: Option<bool>,
    /// Another target.
    pub target: Option<Target>,
    /// Figures, as for `--set`.
    pub sets: Vec<String>,
    /// Bytes by which every tile of an operation lies further behind the one before.
    pub gap: Option<u64>,
}

impl Choice {
    /// Reads `vendor`, `corrected`, `static`, `dynamic`, `gap=BYTES`, `FIGURE=VALUE` or the name of a
    /// target, several separated by commas.
    pub fn parse(text: &str, kernel: bool) -> Result<Choice, Refusal> {
        let mut out = Choice::default();
        for part in text.split(',').map(str::trim) {
            match part {
                "vendor" => out.quirks = Some(Quirks::vendor()),
                "corrected" => out.quirks = Some(Quirks::corrected()),
                "dynamic" | "static" if !kernel => out.dynamic = Some(part == "dynamic"),
                "dynamic" | "static" => {
                    let why = "a kernel says itself which sizes are static";
                    return Err(anyhow!("--against {text}: {why}").into());
                }
                _ => out.more(text, part, kernel)?,
            }
        }
        Ok(out)
    }

    fn more(&mut self, text: &str, part: &str, kernel: bool) -> Result<(), Refusal> {
        match part.split_once('=') {
            Some(("gap", bytes)) => {
                let gap = bytes.parse().ok().filter(|n: &u64| n.is_multiple_of(32) && *n <= 65536);
                let Some(gap) = gap.filter(|_| !kernel) else {
                    let why = "tiles of an operation move by a multiple of 32 up to 65536 bytes";
                    return Err(anyhow!("--against {text}: {why}").into());
                };
                self.gap = Some(gap);
            }
            Some(_) => self.sets.push(part.to_string()),
            None => self.target = Some(crate::targets::find(part)?),
        }
        Ok(())
    }

    /// The target of the choice: its own or the one given, with its figures set.
    pub fn on(&self, target: &Target) -> Result<Target, Refusal> {
        let mut target = self.target.clone().unwrap_or_else(|| target.clone());
        crate::targets::override_all(&mut target, &self.sets)?;
        Ok(target)
    }
}
