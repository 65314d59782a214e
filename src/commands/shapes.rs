//! `ptoemu shapes`: a program over rows and columns.

use super::output::table;
use super::places::Places;
use super::run::{ProgramArgs, built_in};
use super::subject::{Choice, FormArgs, kernel, kernel_source};
use super::{print, say, write_json};
use crate::calibrate::number;
use crate::session::Refusal;
use crate::study::shapes::{Contender, Family, ShapePoint, Shapes, WORDS};
use crate::study::{self, files, pages};
use crate::whatif::values;
use anyhow::anyhow;
use clap::Args;
use ptoemu_isa::tile::Quirks;
use std::path::{Path, PathBuf};

/// Arguments of `shapes`.
#[derive(Args, Debug)]
pub struct ShapesArgs {
    /// OP TYPE, or a kernel whose text says ROWS and COLS where the sizes stand.
    #[arg(required = true, num_args = 1..=2, value_name = "SUBJECT")]
    subject: Vec<String>,
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    case: FormArgs,
    /// Rows: 8,16,32 or 8..64 or 8..64:8 or 8..256:x2.
    #[arg(long, value_name = "ROWS")]
    rows: String,
    /// Columns, likewise.
    #[arg(long, value_name = "COLS")]
    cols: String,
    /// Compare with vendor, corrected, dynamic, static, gap=BYTES between tiles, FIGURE=VALUE or a
    /// target; several at once with commas (repeatable).
    #[arg(long, value_name = "CHOICE")]
    against: Vec<String>,
    /// Bytes of the Unified Buffer the best tile may take.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    ub: Option<u64>,
    /// Write study.html, its pictures and study.csv into a folder.
    #[arg(short = 'o', value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the study as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the study.
pub fn shapes(args: &ShapesArgs) -> Result<u8, Refusal> {
    let (rows, cols) = (sizes("--rows", &args.rows)?, sizes("--cols", &args.cols)?);
    let quirks = built_in(&args.program.microcode)?;
    let contenders = contenders(args, quirks)?;
    let (name, family) = family(args, quirks)?;
    Places::default()
        .program(&args.program)
        .reads(kernel(&args.subject))
        .targets(args.against.iter().flat_map(|a| a.split(',').map(str::trim)))
        .page("-o", &args.out, &files::FIXED)
        .writes("--json", &args.json)
        .check_writable()?;
    let report = study::shapes::shapes(&name, &family, &contenders, (&rows, &cols), args.ub)?;
    if let Some(dir) = &args.out {
        let (html, plots) = pages::shapes(&report, &files::command());
        let names = files::write(dir, &html, &plots, &report.points)?;
        names.iter().for_each(|n| say(&format!("wrote {}", dir.join(n).display())));
    }
    write_json(&args.json, &report)?;
    if args.json.is_none() {
        show(&report);
    }
    Ok(0)
}

fn sizes(option: &str, text: &str) -> Result<Vec<u32>, Refusal> {
    let all = values::parse(text).map_err(|f| {
        let help = if f.help.is_empty() { String::new() } else { format!("; {}", f.help) };
        anyhow!("{option} {text}: {}{help}", f.message)
    })?;
    let whole = |v: &f64| *v >= 1.0 && *v <= 1e6 && v.fract() == 0.0;
    if let Some(bad) = all.iter().find(|v| !whole(v)) {
        return Err(anyhow!("{option} {text}: {bad} is no size of 1 to 1000000").into());
    }
    let mut sizes: Vec<u32> = all.into_iter().map(|v| v as u32).collect();
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

fn contenders(args: &ShapesArgs, quirks: Quirks) -> Result<Vec<Contender>, Refusal> {
    let targets = args.program.target.load()?;
    let (dynamic, gap) = (args.case.dynamic, 0);
    let mut out: Vec<Contender> = targets
        .into_iter()
        .map(|target| Contender { name: target.name.clone(), target, quirks, dynamic, gap })
        .collect();
    let Some(first) = out.first().cloned() else { return Err(anyhow!("no target").into()) };
    for text in &args.against {
        let choice = Choice::parse(text, args.subject.len() == 1)?;
        let target = choice.on(&first.target)?;
        let name = match choice.target {
            Some(_) => text.clone(),
            None => format!("{} {text}", first.name),
        };
        if out.iter().any(|c| c.name == name) {
            return Err(anyhow!("--against {text}: {name} is compared already").into());
        }
        out.push(Contender {
            name,
            target,
            quirks: choice.quirks.unwrap_or(quirks),
            dynamic: choice.dynamic.unwrap_or(dynamic),
            gap: choice.gap.unwrap_or(0),
        });
    }
    Ok(out)
}

fn family(args: &ShapesArgs, quirks: Quirks) -> Result<(String, Family), Refusal> {
    match &args.subject[..] {
        [kernel] => {
            let source = kernel_source(kernel, "OP TYPE")?;
            if !WORDS.iter().all(|w| source.text.contains(w)) {
                let message = anyhow!(
                    "{kernel} has one shape: write ROWS and COLS where its sizes stand, or give OP TYPE"
                );
                return Err(message.into());
            }
            let mut request = args.program.request(Vec::new())?;
            (request.quirks, request.checks.race) = (quirks, false);
            let name = Path::new(kernel).file_stem().unwrap_or_default().to_string_lossy();
            let args = args.program.args.clone();
            Ok((name.into_owned(), Family::Kernel { source, args, request: Box::new(request) }))
        }
        [op, dtype] => {
            let case = args.case.case([op, dtype, "1x1"], &args.program, quirks)?;
            let name = format!("{} {}", case.op.name, case.dtype);
            Ok((name, Family::Op(Box::new(case))))
        }
        _ => Err(anyhow!("give OP TYPE such as trowmax f32, or KERNEL.pto").into()),
    }
}

fn show(s: &Shapes) {
    for (n, name) in s.contenders.iter().enumerate() {
        print(&format!("{} on {name}: elements a cycle", s.subject));
        let cell = |r: usize, c: usize| {
            let p = s.at(n, r, c)?;
            Some(format!("{:.1} {}", p.per_cycle?, p.bound.as_deref().unwrap_or("")))
        };
        let row = |(r, rows): (usize, &u32)| {
            let cells = (0..s.cols.len()).map(|c| cell(r, c).unwrap_or_else(|| "-".into()));
            std::iter::once(rows.to_string()).chain(cells).collect::<Vec<_>>()
        };
        let head: Vec<String> =
            std::iter::once("rows".to_string()).chain(s.cols.iter().map(u32::to_string)).collect();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        print(&table(&head, &s.rows.iter().enumerate().map(row).collect::<Vec<_>>()));
        match s.best.get(n).and_then(Option::as_ref) {
            Some(best) => print(&best_line(best, s.budget)),
            None => print(&none_fits(s, n)),
        }
        print("");
    }
    for c in &s.crossovers {
        print(&format!(
            "{} columns: {} is the faster from {} rows on (time of {} over {}: {:.3})",
            c.cols, c.faster, c.rows, c.b, c.a, c.ratio
        ));
    }
    refusals(s);
}

fn best_line(p: &ShapePoint, budget: Option<u64>) -> String {
    let within = budget.map_or(String::new(), |b| format!(" within {b} bytes"));
    let bytes = p.ub_bytes.map_or(String::new(), |b| format!(", {b} bytes of UB"));
    format!(
        "most{within}: {}x{}, {} elements a cycle, {} cycles{bytes}",
        p.rows,
        p.cols,
        number((p.per_cycle.unwrap_or(0.0) * 100.0).round() / 100.0),
        p.cycles.unwrap_or(0),
    )
}

/// Why there is no best shape: all are refused, or none fits.
fn none_fits(s: &Shapes, contender: usize) -> String {
    let mine = s.points.chunks((s.rows.len() * s.cols.len()).max(1)).nth(contender);
    match (s.budget, mine.into_iter().flatten().filter_map(|p| p.ub_bytes).min()) {
        (Some(b), Some(least)) => {
            format!("none fits {b} bytes of UB: the smallest takes {least}")
        }
        _ => "every shape is refused".to_string(),
    }
}

fn refusals(s: &Shapes) {
    let all: Vec<&ShapePoint> = s.points.iter().filter(|p| p.refused.is_some()).collect();
    if let Some(first) = all.first() {
        let why = first.refused.as_deref().unwrap_or("");
        say(&format!("{} shapes are refused; {}x{}: {why}", all.len(), first.rows, first.cols));
    }
}
