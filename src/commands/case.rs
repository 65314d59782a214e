//! What one `run` is about: kernel, arguments, expected arrays, files to write. Everything that can
//! be wrong with them is refused before the program runs.

use super::places::Places;
use super::run::RunArgs;
use super::screen::sync_text;
use crate::args::{self, Given};
use crate::data::{self, Array};
use crate::golden::{Comparison, compare};
use crate::report::{self, OutputReport, Provenance, RunReport};
use crate::session::{Ran, Refusal};
use anyhow::{Result, anyhow};
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;
use ptoemu_core::target::Target;
use ptoemu_core::time::Timeline;
use ptoemu_isa::exec::{Arg, ArgKind, ArgValue, Binding, Output, Program};
use std::path::{Path, PathBuf};

/// An array a buffer is compared with.
struct Golden {
    name: String,
    path: PathBuf,
    array: Array,
}

/// What is run, from the command line and from the case folder.
pub(super) struct Case {
    kernel: PathBuf,
    folder: Option<PathBuf>,
    /// Values of arguments; later ones win.
    pub(super) given: Vec<Given>,
    goldens: Vec<Golden>,
    outs: Vec<(String, PathBuf)>,
    eps: f64,
}

impl Case {
    /// Reads every input and makes sure every output can be written.
    pub(super) fn read(args: &RunArgs) -> Result<Case, Refusal> {
        let folder = args.kernel.is_dir().then(|| args.kernel.clone());
        let mut case = Case {
            kernel: folder.as_ref().map_or(args.kernel.clone(), |d| d.join("kernel.pto")),
            folder,
            given: args.program.given()?,
            goldens: Vec::new(),
            outs: args.outs.iter().map(|o| args::file(o)).collect::<Result<_>>()?,
            eps: args.eps,
        };
        for g in &args.goldens {
            let (name, path) = args::file(g)?;
            case.goldens.push(Golden { array: data::read(&path)?, name, path });
        }
        let inside = case.folder.iter().flat_map(|d| std::fs::read_dir(d).into_iter().flatten());
        let inside = inside.flatten().map(|e| e.path()).filter(|p| is_read(p));
        Places::default()
            .program(&args.program)
            .reads([&case.kernel])
            .reads(inside)
            .reads(case.goldens.iter().map(|g| &g.path))
            .folder("--trace", &args.trace, &crate::trace_files::FIXED)
            .writes("--out", case.outs.iter().map(|(_, p)| p))
            .writes("--emit-sync", &args.emit_sync)
            .writes("--json", &args.json)
            .check()?;
        let written = case.outs.iter().map(|(_, p)| p).chain(&args.emit_sync);
        let mut written = written.chain(args.json.iter().filter(|p| p.as_os_str() != "-"));
        written.try_for_each(|p| data::writable(p))?;
        args.trace.iter().try_for_each(|dir| data::writable_folder(dir))?;
        Ok(case)
    }

    /// The program text.
    pub(super) fn kernel(&self) -> &Path {
        &self.kernel
    }

    /// Adds the files of a case folder, and checks every name and array against the arguments.
    pub(super) fn complete(&mut self, programs: &[Program]) -> Result<(), Refusal> {
        if let (Some(dir), Some(p)) = (self.folder.clone(), programs.first()) {
            self.add_folder(&dir, p)?;
        }
        let faults: Vec<Diagnostic> =
            programs.iter().take(1).flat_map(|p| self.faults(p)).collect();
        if faults.is_empty() { Ok(()) } else { Err(Refusal::Program(faults)) }
    }

    /// `vN.bin` for the arguments in order, `golden_vN.bin` to compare with.
    fn add_folder(&mut self, dir: &Path, p: &Program) -> Result<(), Refusal> {
        let mut found = Vec::new();
        for (i, a) in entry(p).iter().enumerate() {
            let path = dir.join(format!("v{}.bin", i + 1));
            if path.is_file() {
                found.push(folder_value(a, &path)?);
            }
            let path = dir.join(format!("golden_v{}.bin", i + 1));
            if path.is_file() && !self.goldens.iter().any(|g| g.name == a.name) {
                let array = data::read(&path)?;
                self.goldens.push(Golden { name: a.name.clone(), path, array });
            }
        }
        self.given.splice(0..0, found);
        Ok(())
    }

    fn faults(&self, p: &Program) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        for g in &self.given {
            let Some(a) = entry(p).iter().find(|a| a.name == g.binding.name) else { continue };
            if let (Some(t), ArgValue::Bytes(bytes)) = (element(a), &g.binding.value) {
                let from = g.file.as_ref().map_or("the value".into(), |f| f.display().to_string());
                out.extend(misfit(p, a, t, &from, bytes.len(), g.shape.as_ref().map(|s| s.0)));
            }
        }
        let expected = self.goldens.iter().map(|g| (&g.name, &g.path, Some(&g.array)));
        for (name, path, array) in expected.chain(self.outs.iter().map(|(n, p)| (n, p, None))) {
            match entry(p).iter().find(|a| a.name == *name).and_then(|a| Some((a, element(a)?))) {
                None => out.push(no_buffer(p, name)),
                Some((a, t)) => {
                    let Some(array) = array else { continue };
                    let said = array.shape.as_ref().map(|s| s.0);
                    let from = path.display().to_string();
                    out.extend(misfit(p, a, t, &from, array.bytes.len(), said));
                }
            }
        }
        out
    }

    /// The report of one target's run.
    pub(super) fn report(&self, ran: &Ran, target: &Target, lines: &[Timeline]) -> RunReport {
        let slowest =
            lines.iter().enumerate().max_by_key(|(i, t)| (t.cycles, std::cmp::Reverse(*i)));
        let empty = Timeline::default();
        let (block, line) = slowest.unwrap_or((0, &empty));
        let stream = ran.outcome.blocks.get(block).map(|b| &b.stream);
        let golden = self.compare(ran);
        RunReport {
            target: target.name.clone(),
            entry: ran.program.funcs[ran.program.entry].name.clone(),
            cycles: line.cycles,
            time_us: report::micros(target, line.cycles),
            pipes: report::pipes(line),
            instructions: ran.outcome.blocks.iter().map(|b| b.stream.records.len() as u64).sum(),
            top: stream.map_or(Vec::new(), |s| report::instructions(s, line, target.catalogue())),
            findings: report::findings(ran),
            notes: report::notes(ran),
            outputs: self.outputs(ran),
            golden,
            provenance: stream.map_or(Provenance::default(), |s| Provenance::of(s, target, line)),
        }
    }

    fn outputs(&self, ran: &Ran) -> Vec<OutputReport> {
        let file = |name: &str| {
            self.outs.iter().find(|(n, _)| n == name).map(|(_, p)| p.display().to_string())
        };
        ran.outcome
            .outputs
            .iter()
            .map(|o| OutputReport {
                name: o.name.clone(),
                dtype: o.dtype.name(),
                shape: ran.output_shape(
                    &self.given,
                    &o.name,
                    (o.bytes.len() / o.dtype.size()) as u64,
                ),
                file: file(&o.name),
            })
            .collect()
    }

    fn compare(&self, ran: &Ran) -> Vec<Comparison> {
        let stopped = ran.outcome.stop.is_some();
        let one = |g: &Golden| {
            let o = output(ran, &g.name)?;
            let got = if stopped { &[] } else { o.bytes.as_slice() };
            Some(compare(&g.name, o.dtype, got, &g.array.bytes, self.eps))
        };
        self.goldens.iter().filter_map(one).collect()
    }

    /// Writes the buffers and the inserted synchronisation.
    pub(super) fn write(&self, ran: &Ran, args: &RunArgs) -> Result<(), Refusal> {
        for (name, path) in &self.outs {
            let Some(o) = output(ran, name) else { continue };
            let n = (o.bytes.len() / o.dtype.size()) as u64;
            let shape = ran.output_shape(&self.given, name, n);
            data::write(path, &o.bytes, o.dtype, &shape)?;
        }
        if let Some(path) = &args.emit_sync {
            data::write_whole(path, sync_text(ran).as_bytes())?;
        }
        Ok(())
    }
}

fn entry(p: &Program) -> &[Arg] {
    p.funcs.get(p.entry).map_or(&[], |f| &f.args)
}

/// Element type of a buffer or tile argument.
fn element(a: &Arg) -> Option<DType> {
    match &a.kind {
        ArgKind::Buffer(t) => Some(*t),
        ArgKind::Tile(t, _) => Some(t.dtype),
        _ => None,
    }
}

fn output<'r>(ran: &'r Ran, name: &str) -> Option<&'r Output> {
    ran.outcome.outputs.iter().find(|o| o.name == name)
}

/// Contents of `vN.bin` for an argument: all of it for a buffer, the first element for a scalar.
fn folder_value(a: &Arg, path: &Path) -> Result<Given> {
    let Array { bytes, shape } = data::read(path)?;
    let value = match &a.kind {
        ArgKind::Scalar(s) => {
            let t = s.dtype().unwrap_or(DType::I64);
            let mut bits = [0u8; 8];
            let held = bytes.get(..t.size()).filter(|_| bytes.len() <= 8).ok_or_else(|| {
                anyhow!(
                    "{}: `{}` is one {t}, the file has {} bytes",
                    path.display(),
                    a.name,
                    bytes.len()
                )
            })?;
            bits[..held.len()].copy_from_slice(held);
            ArgValue::Scalar(t, u64::from_le_bytes(bits))
        }
        _ => ArgValue::Bytes(bytes),
    };
    let binding = Binding { name: a.name.clone(), value };
    Ok(Given { binding, shape, file: Some(path.to_path_buf()) })
}

/// Is an array of `len` bytes, with elements of type `said` if it says so, one of `t`?
fn misfit(
    p: &Program,
    a: &Arg,
    t: DType,
    from: &str,
    len: usize,
    said: Option<DType>,
) -> Option<Diagnostic> {
    let name = &a.name;
    let fits = |s| s == t || (s, t) == (DType::U16, DType::BF16);
    let (message, help) = match said {
        Some(s) if !fits(s) => {
            let as_numpy = numpy(t);
            let help = if t == DType::BF16 {
                "numpy has no bf16: give the bits as uint16".to_string()
            } else {
                format!("convert it, in numpy with astype({as_numpy}) or view({as_numpy})")
            };
            (format!("{from} holds elements of {s}, `{name}` has elements of {t}"), help)
        }
        _ if !len.is_multiple_of(t.size()) => (
            format!("{from} has {len} bytes, no whole number of {t} elements for `{name}`"),
            format!("a raw file is the whole buffer: a multiple of {} bytes", t.size()),
        ),
        _ => return None,
    };
    Some(Diagnostic::error("usage.array", message).at(&p.source, a.span, "").help(help))
}

fn numpy(t: DType) -> &'static str {
    match t {
        DType::I8 => "int8",
        DType::U8 => "uint8",
        DType::I16 => "int16",
        DType::U16 | DType::BF16 => "uint16",
        DType::I32 => "int32",
        DType::U32 => "uint32",
        DType::I64 => "int64",
        DType::U64 => "uint64",
        DType::F16 => "float16",
        DType::F32 => "float32",
    }
}

fn no_buffer(p: &Program, name: &str) -> Diagnostic {
    let names: Vec<&str> =
        entry(p).iter().filter(|a| element(a).is_some()).map(|a| a.name.as_str()).collect();
    let function = &p.funcs[p.entry];
    Diagnostic::error("usage.arg", format!("`{}` has no buffer `{name}`", function.name))
        .at(&p.source, function.span, "")
        .help(format!("its buffers are {}", names.join(", ")))
}

/// Does a case folder give a file of this name to the run?
fn is_read(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let number = name.trim_start_matches("golden_").strip_prefix('v');
    path.extension().is_some_and(|e| e == "bin")
        && number.is_some_and(|n| n.parse::<usize>().is_ok())
}
