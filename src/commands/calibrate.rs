//! `ptoemu calibrate`: figures of a target from measurements.

use super::output::{percent, table};
use super::places::Places;
use super::run::{Microcode, built_in};
use super::{TargetArgs, print, say, write_json};
use crate::calibrate::samples::{self, Exe, Options};
use crate::calibrate::{self, Calibration, Loss, Request, number, overridden, target_file};
use crate::session::Refusal;
use crate::study::{files, pages};
use anyhow::anyhow;
use clap::Args;
use ptoemu_core::target::Target;
use std::path::{Path, PathBuf};

/// Arguments of `calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArgs {
    /// Tables of measurements, or folders of instruction dumps.
    #[arg(required = true, value_name = "MEASURED")]
    measured: Vec<PathBuf>,
    #[command(flatten)]
    target: TargetArgs,
    /// Figures to fit: paths, or all under a prefix, for example vcmax,drain,mask.
    #[arg(long, value_delimiter = ',', required = true, value_name = "FIGURES")]
    fit: Vec<String>,
    /// Write a target with the fitted figures on top of the one given.
    #[arg(short = 'o', value_name = "NEW.ron")]
    out: Option<PathBuf>,
    /// Compare residuals relative to the measurement, or in cycles.
    #[arg(long, value_enum, default_value = "relative")]
    loss: Loss,
    /// Parts of the cross-validation; 0 for none.
    #[arg(long, default_value_t = 5, value_name = "K")]
    folds: usize,
    /// Microcode the rows are run on: vendor (as shipped, which is what was measured) or corrected.
    #[arg(long, default_value = "vendor", value_name = "corrected|vendor")]
    microcode: Microcode,
    /// Numbers of rows at which fitted lines are read: several tell a figure paid once from one
    /// paid for every repeat.
    #[arg(long, value_delimiter = ',', default_value = "64", value_name = "ROWS",
          value_parser = clap::value_parser!(u32).range(1..=65536))]
    line_rows: Vec<u32>,
    /// What the cycles of an instr_exe.csv are.
    #[arg(long, value_enum, default_value = "latency")]
    exe: Exe,
    /// Only the summary, not every row.
    #[arg(long)]
    summary: bool,
    /// Write a page into a folder: study.html, its picture, and study.csv with every row.
    #[arg(long, value_name = "DIR")]
    page: Option<PathBuf>,
    /// Write the fit as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Fits and reports.
pub fn calibrate(args: &CalibrateArgs) -> Result<u8, Refusal> {
    let target = args.target.one()?;
    let named = args.target.target.first().map_or("", String::as_str);
    let base = args.out.as_deref().map(|out| base_of(named, out, &target)).transpose()?;
    Places::default()
        .target(&args.target)
        .reads(&args.measured)
        .page("--page", &args.page, &files::FIXED)
        .writes("-o", &args.out)
        .writes("--json", &args.json)
        .check_writable()?;
    let options =
        Options { quirks: built_in(&args.microcode)?, exe: args.exe, line_rows: &args.line_rows };
    let mut rows = Vec::new();
    for path in &args.measured {
        rows.extend(samples::read(path, &target, options)?);
    }
    let request = Request { fit: args.fit.clone(), loss: args.loss, folds: args.folds };
    let fit = calibrate::calibrate(target.clone(), rows, &request)?;
    if let (Some(path), Some(base)) = (&args.out, &base) {
        write_target(args, &fit, &target, base, path)?;
    }
    if let Some(dir) = &args.page {
        let (html, plots) = pages::calibration(&fit, &files::command());
        let names = files::write(dir, &html, &plots, &fit.rows)?;
        names.iter().for_each(|n| say(&format!("wrote {}", dir.join(n).display())));
    }
    write_json(&args.json, &fit)?;
    if args.json.is_none() {
        show(&fit, args.summary);
        if let Some(path) = &args.out {
            say(&format!("wrote {}", path.display()));
        }
    }
    Ok(0)
}

/// Name a new file finds its base under.
fn base_of(named: &str, out: &Path, target: &Target) -> Result<String, Refusal> {
    if out.extension().is_none_or(|e| e != "ron") {
        return Err(anyhow!("{}: a target file ends in .ron", out.display()).into());
    }
    if !named.ends_with(".ron") {
        return Ok(target.name.clone());
    }
    let from = Path::new(named);
    let folder = |p: &Path| p.parent().map(Path::to_path_buf).unwrap_or_default();
    if folder(from) != folder(out) {
        let message =
            "a target finds its base beside itself: write the new file into the same folder";
        return Err(anyhow!("{named}: {message}").into());
    }
    if from.file_stem() == out.file_stem() {
        return Err(anyhow!("{named} cannot be its own base: give -o another name").into());
    }
    Ok(from.file_stem().unwrap_or_default().to_string_lossy().into_owned())
}

fn write_target(
    args: &CalibrateArgs,
    fit: &Calibration,
    target: &Target,
    base: &str,
    path: &Path,
) -> Result<(), Refusal> {
    let names: Vec<String> = args
        .measured
        .iter()
        .map(|p| p.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    let note = format!(
        "fitted on {} rows of {}: mean error {:.2}%, largest {:.2}%{}",
        fit.rows.len(),
        names.join(", "),
        100.0 * fit.errors.fitted.mean,
        100.0 * fit.errors.fitted.max,
        fit.errors.held_out.map_or(String::new(), |h| {
            format!(", held out {:.2}% in {} parts", 100.0 * h.mean, fit.folds)
        }),
    );
    let fitted: Vec<(String, f64)> =
        fit.figures.iter().map(|f| (f.path.clone(), f.value)).collect();
    let named = args.target.target.first().map_or("", String::as_str);
    let plain = crate::targets::find(named)?;
    let overrides: Vec<_> = overridden(&plain, target)
        .into_iter()
        .filter(|(p, _)| fitted.iter().all(|(q, _)| q != p))
        .collect();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let text = target_file(&stem, base, &note, &fitted, &overrides);
    crate::data::write_whole(path, text.as_bytes()).map_err(Refusal::Usage)
}

fn error(v: f64) -> String {
    format!("{:.2}%", 100.0 * v)
}

fn show(fit: &Calibration, summary: bool) {
    if !summary {
        let row = |r: &calibrate::RowReport| {
            let held = r.held_out.map_or(String::new(), |h| error((h - r.measured) / r.measured));
            let cells = [r.measured, r.before, r.fitted].map(number);
            let [measured, before, fitted] = cells;
            vec![r.case.clone(), measured, before, fitted, error(r.rel_error), held]
        };
        let rows: Vec<Vec<String>> = fit.rows.iter().map(row).collect();
        let head = ["case", "measured", "before", "fitted", "error", "held out"];
        print(&table(&head, &rows));
        print("");
    }
    let figure = |f: &calibrate::FigureReport| {
        let range = match (f.low, f.high) {
            (Some(a), Some(b)) => format!("{} .. {}", number(a), number(b)),
            _ => "unknown: as many figures as rows".to_string(),
        };
        let (before, value) = (number(f.before), number(f.value));
        vec![f.path.clone(), before, value, range, f.unit.to_string(), f.rows.to_string()]
    };
    let rows: Vec<Vec<String>> = fit.figures.iter().map(figure).collect();
    print(&table(&["figure", "before", "fitted", "95% interval", "unit", "rows"], &rows));
    print("");
    let errors = [
        ("before", Some(fit.errors.before)),
        ("fitted", Some(fit.errors.fitted)),
        ("held out", fit.errors.held_out),
    ];
    for (name, e) in errors.into_iter().filter_map(|(n, e)| Some((n, e?))) {
        let parts =
            if name == "held out" { format!(", {} parts", fit.folds) } else { String::new() };
        print(&format!("{name}: mean error {}, largest {}{parts}", error(e.mean), error(e.max)));
    }
    for c in fit.correlations.iter().filter(|c| c.value.abs() >= 0.9).take(5) {
        print(&format!("{} and {} trade off: correlation {:+.2}", c.a, c.b, c.value));
    }
    if !fit.left.is_empty() {
        print(&format!("left as they were, no row depends on them: {}", fit.left.join(", ")));
    }
    skipped(fit);
}

/// Reasons for skipped rows, each with its count.
fn skipped(fit: &Calibration) {
    let mut reasons: indexmap::IndexMap<&str, usize> = indexmap::IndexMap::new();
    fit.skipped.iter().for_each(|s| *reasons.entry(&s.why).or_default() += 1);
    let all = fit.skipped.len() + fit.rows.len();
    if !reasons.is_empty() {
        let share = percent(fit.skipped.len() as f64, all as f64);
        print(&format!("skipped {} of {all} rows ({share}):", fit.skipped.len()));
    }
    for (why, n) in reasons.iter().take(6) {
        print(&format!("  {n} {why}"));
    }
}
