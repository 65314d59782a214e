//! What is timed: kernels and tile operations, recorded once per family.

use crate::args::{self, Given};
use crate::session::{self, Refusal, Request};
use ptoemu_core::diag::{Diagnostic, SourceFile, Span};
use ptoemu_core::stream::Stream;
use ptoemu_core::target::{Family, Target};
use ptoemu_isa::case::{self, Case, Placement};
use ptoemu_isa::tile;
use std::path::PathBuf;
use std::sync::Arc;

/// A kernel with its arguments, or one tile operation on tiles of one shape.
#[derive(Clone, Debug)]
pub struct Subject {
    /// File name without folder and ending, or name and type of the operation.
    pub name: String,
    /// Shape, or the arguments in which the runs of one kernel differ; may be empty.
    pub shape: String,
    /// Where a study file names it.
    pub place: Option<(Arc<SourceFile>, Span)>,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Kernel { source: Arc<SourceFile>, request: Box<Request> },
    Op(Box<Case>),
}

/// The stream of every block of one execution.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Streams by block.
    pub streams: Vec<Stream>,
    /// What the run reported: findings, and what stopped it.
    pub diagnostics: Vec<Diagnostic>,
    /// Exit status if a fault or a refusal stopped the run.
    pub stopped: Option<u8>,
}

impl Subject {
    /// A kernel under the arguments of `request`.
    pub fn kernel(source: &Arc<SourceFile>, shape: String, request: Request) -> Subject {
        let file = std::path::Path::new(&source.name).file_stem();
        let name = file.map_or_else(|| source.name.clone(), |n| n.to_string_lossy().into_owned());
        let name = request.entry.as_ref().map_or(name.clone(), |e| format!("{name}:{e}"));
        Subject {
            name,
            shape,
            place: None,
            what: What::Kernel { source: source.clone(), request: Box::new(request) },
        }
    }

    /// A tile operation.
    pub fn op(case: Case) -> Subject {
        let ((rows, cols), valid) = (case.shape, case.valid);
        let mut shape = format!("{rows}x{cols}");
        if valid != case.shape {
            shape.push_str(&format!(" valid {}x{}", valid.0, valid.1));
        }
        let to = case.to.map_or(String::new(), |t| format!(" to {t}"));
        let name = format!("{} {}{to}", case.op.name, case.dtype);
        Subject { name, shape, place: None, what: What::Op(Box::new(case)) }
    }

    /// Files it was made from.
    pub fn files(&self) -> Vec<PathBuf> {
        let What::Kernel { source, request } = &self.what else { return Vec::new() };
        let arrays = request.args.iter().filter_map(|a| a.file.clone());
        arrays.chain(request.microcode.clone()).chain([PathBuf::from(&source.name)]).collect()
    }

    /// The operation, if it is one.
    pub fn case(&self) -> Option<&Case> {
        match &self.what {
            What::Op(case) => Some(case),
            What::Kernel { .. } => None,
        }
    }

    /// May it run on a target of this family? Nothing is executed.
    pub fn check(&self, target: &Target) -> Result<(), Refusal> {
        match &self.what {
            What::Kernel { source, request } => {
                session::prepare(source, target, request).map(|_| ())
            }
            What::Op(case) => {
                let call = case.call(Placement::Packed { align: 512 });
                tile::check(&call, target.family, &session::limits(target))
                    .map_err(|d| Refusal::Program(vec![self.named(*d)]))?;
                Ok(())
            }
        }
    }

    /// Says which of many subjects a message is about.
    pub(super) fn named(&self, d: Diagnostic) -> Diagnostic {
        let message = format!("{} {}: {}", self.name, self.shape, d.message);
        let d = Diagnostic { message, ..d };
        match &self.place {
            Some((file, span)) => d.at(file, *span, ""),
            None => d,
        }
    }

    /// Executes it on a target: its family, and figures that change the execution, matter.
    pub fn record(&self, target: &Target) -> Result<Recorded, Refusal> {
        match &self.what {
            What::Kernel { source, request } => {
                let ran = session::execute(source, target, request)?;
                let stopped = ran.outcome.stop.as_ref().map(|_| ran.status().max(1));
                let diagnostics = ran.diagnostics();
                let streams = ran.outcome.blocks.into_iter().map(|b| b.stream).collect();
                Ok(Recorded { streams, diagnostics, stopped })
            }
            What::Op(case) => {
                self.check(target)?;
                let call = case.call(Placement::Packed { align: 512 });
                let stream = case::record(&call, target.family)
                    .map_err(|stop| Refusal::Program(vec![self.named(*stop.0)]))?;
                Ok(Recorded { streams: vec![stream], diagnostics: Vec::new(), stopped: None })
            }
        }
    }
}

/// What one recording can serve: targets of one family that agree on the figures that change the
/// execution.
pub fn kin(target: &Target) -> (Family, Vec<Option<u64>>) {
    let paths = ["ub.size", "ub.block", "ub.reserved_start", "ub.reserved_size"];
    (target.family, paths.map(|p| target.value(p).map(f64::to_bits)).to_vec())
}

/// Every combination of alternative values of arguments: each list holds the values given to one
/// name. With it the text that tells the combinations apart.
pub fn alternatives(texts: &[String]) -> anyhow::Result<Vec<(String, Vec<Given>)>> {
    let mut names: Vec<(&str, Vec<&str>)> = Vec::new();
    for text in texts {
        let (name, _) = args::named(text)?;
        match names.iter_mut().find(|(n, _)| *n == name) {
            Some((_, list)) => list.push(text),
            None => names.push((name, vec![text])),
        }
    }
    let mut out: Vec<(String, Vec<Given>)> = vec![(String::new(), Vec::new())];
    for (_, list) in names {
        let mut next = Vec::new();
        for (shape, given) in &out {
            for text in &list {
                let mut given = given.clone();
                given.push(args::arg(text)?);
                let shape = match (list.len(), shape.is_empty()) {
                    (1, _) => shape.clone(),
                    (_, true) => text.trim_start_matches('%').to_string(),
                    (_, false) => format!("{shape} {}", text.trim_start_matches('%')),
                };
                next.push((shape, given));
            }
            anyhow::ensure!(next.len() <= 100_000, "more than 100000 combinations of arguments");
        }
        out = next;
    }
    Ok(out)
}
