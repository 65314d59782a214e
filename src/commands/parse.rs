//! `ptoemu parse`.

use super::places::Places;
use super::{print, say, show_all, write_json};
use crate::session::{Refusal, read_source};
use clap::Args;
use ptoemu_core::diag::{Diagnostic, count};
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `parse`.
#[derive(Args, Debug)]
pub struct ParseArgs {
    /// `.pto` files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Print the canonical text of each file instead of the summary.
    #[arg(long)]
    print: bool,
    /// Write the report as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    files: Vec<FileReport>,
    errors: usize,
}

#[derive(Serialize)]
struct FileReport {
    file: String,
    errors: Vec<ErrorReport>,
    summary: ptoemu_isa::text::Summary,
}

#[derive(Serialize)]
struct ErrorReport {
    code: &'static str,
    message: String,
    line: usize,
    column: usize,
}

/// Parses every file; errors go to stderr with carets, and make the status 2.
pub fn parse(args: &ParseArgs) -> Result<u8, Refusal> {
    if args.print && args.json.as_ref().is_some_and(|p| p.as_os_str() == "-") {
        return Err(anyhow::anyhow!("--print and --json - both write to stdout").into());
    }
    let places = Places::default().reads(&args.files);
    places.writes("--json", &args.json).check_writable()?;
    let mut report = Report { files: Vec::new(), errors: 0 };
    for path in &args.files {
        let source = match read_source(path) {
            Ok(source) => source,
            Err(why) => {
                say(&format!("error: {why:#}"));
                report.errors += 1;
                continue;
            }
        };
        let (file, errors) = ptoemu_isa::text::parse(&source);
        show_all(&errors);
        report.errors += errors.len();
        let summary = ptoemu_isa::text::summary(&file);
        if args.print {
            print(ptoemu_isa::text::print(&file).trim_end());
        } else if args.json.is_none() {
            print(&one_line(&source.name, errors.len(), &summary));
        }
        report.files.push(FileReport {
            file: source.name.clone(),
            errors: errors.iter().map(error).collect(),
            summary,
        });
    }
    if args.files.len() > 1 {
        say(&format!("{} files, {}", args.files.len(), count(report.errors as u64, "error")));
    }
    write_json(&args.json, &report)?;
    Ok(if report.errors == 0 { 0 } else { 2 })
}

fn one_line(name: &str, errors: usize, s: &ptoemu_isa::text::Summary) -> String {
    let ops: usize = s.ops.values().sum();
    let state = if errors == 0 { "ok".to_string() } else { count(errors as u64, "error") };
    let functions = count(s.functions.len() as u64, "function");
    let kinds = count(s.ops.len() as u64, "kind");
    format!("{name}: {state}, {functions}, {} of {kinds}", count(ops as u64, "op"))
}

fn error(d: &Diagnostic) -> ErrorReport {
    let (line, column) =
        d.labels.first().map_or((0, 0), |l| l.file.line_col(l.span.start as usize));
    ErrorReport { code: d.code, message: d.message.clone(), line, column }
}
