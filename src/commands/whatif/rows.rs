//! Times the points of a study and hands their rows on: to a file, the screen, a page.

use super::StudyArgs;
use super::summary::Summary;
use crate::commands::output::table;
use crate::commands::places::Places;
use crate::commands::{print, say, show_all, write_json};
use crate::progress::Progress;
use crate::session::Refusal;
use crate::study::{files, pages};
use crate::whatif::rows::{Format, PIPES, Rows};
use crate::whatif::shard::{self, Present, Shard};
use crate::whatif::survey::{self, Outcome, Survey};
use crate::whatif::{Cell, Measured, Point, Study};
use anyhow::{Context, anyhow};
use ptoemu_core::diag::{Diagnostic, Level};
use std::io::Write;
use std::path::{Path, PathBuf};
use tracing::info_span;

/// Rows shown on the screen at most.
const SHOWN: u64 = 60;

/// Where rows go.
enum Sink {
    File(std::io::BufWriter<std::fs::File>),
    Stdout,
    Screen(Vec<Vec<String>>),
    Nowhere,
}

/// Times a study and writes what was asked for.
pub(super) fn run(
    study: &Study,
    args: &StudyArgs,
    places: Places,
    wants: &dyn Fn(&str) -> bool,
    deny: bool,
) -> Result<u8, Refusal> {
    study.check()?;
    let mut survey = survey_of(study, args)?;
    let out = Outputs::of(args, places)?;
    let range = args.shard.range(study.len().unwrap_or(0));
    let rows = Rows::new(study, out.format, args.shard);
    let mut summary = Summary::new(study);
    let mut take = |p: &Point, outcome: Outcome| {
        summary.add(p, outcome.map(|o| o.0));
        survey.iter_mut().for_each(|s| s.add(outcome));
    };
    let mut present = Present::default();
    if let (Some(path), true) = (&out.rows, args.resume) {
        present = shard::present(path, study, &rows, &range, &mut take)?;
    }
    let cells = info_span!("record").in_scope(|| study.record(&range))?;
    let (status, stopped) = report(&cells, wants, deny);
    if stopped {
        return Ok(status);
    }
    let left = range.start + present.rows..range.end;
    let mut sink = open(args, &out, &rows, present, left.end - left.start)?;
    let progress = Progress::of("timing", "points", left.end - left.start);
    info_span!("points").in_scope(|| {
        study.run(left, &cells, &progress.counter(), &mut |point, measured| {
            let outcome = (measured.cycles, survey::resource(measured.bound));
            take(point, Some(outcome).filter(|_| measured.fault.is_none()));
            sink.put(study, &rows, point, measured)
        })
    })?;
    drop(progress);
    let on_screen = sink.close(study)?;
    summary.as_is(&cells);
    if let (Some(survey), Some(dir)) = (&survey, &args.page) {
        let named = out.rows.as_ref().map_or("the rows on stdout".into(), |p| file_name(p));
        let page = pages::WhatIf { survey, as_is: summary.cycles_as_is(), rows: named };
        let (html, plots) = pages::whatif(&page, &files::command());
        let names = files::page(dir, &html, &plots)?;
        names.iter().for_each(|n| say(&format!("wrote {}", dir.join(n).display())));
    }
    finish(args, out.rows.as_deref(), on_screen, &summary)?;
    Ok(status)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Room for the results of a study that gets a page.
fn survey_of<'s>(study: &'s Study, args: &StudyArgs) -> Result<Option<Survey<'s>>, Refusal> {
    let Some(dir) = &args.page else { return Ok(None) };
    if args.shard != Shard::ALL {
        let dir = dir.display();
        return Err(anyhow!(
            "--page shows a whole study and --shard times a part of it; join the parts with `ptoemu \
             whatif merge PARTS -o whole.csv`, then run the study without --shard and with `-o whole.csv \
             --resume --page {dir}`, which times nothing again"
        )
        .into());
    }
    match Survey::new(study) {
        Some(survey) => Ok(Some(survey)),
        None => Err(anyhow!(
            "--page shows {} points at most, and the study has {}: fewer values, or rows alone with -o",
            survey::MOST,
            study.len().unwrap_or(u64::MAX)
        )
        .into()),
    }
}

/// Where everything goes; checked before anything is computed.
struct Outputs {
    /// File of the rows.
    rows: Option<PathBuf>,
    format: Format,
}

impl Outputs {
    fn of(args: &StudyArgs, places: Places) -> Result<Outputs, Refusal> {
        let file = |p: &PathBuf| p.as_os_str() != "-";
        let beside = args.page.as_ref().map(|dir| dir.join(files::ROWS));
        let rows = args.output.clone().or(beside).filter(file);
        if args.resume && rows.is_none() {
            return Err(anyhow!("--resume goes on with a file: give -o FILE, or --page DIR").into());
        }
        let format = rows.as_deref().map_or(Ok(Format::Csv), Format::of)?;
        if let Some(dir) = rows.as_ref().filter(|p| p.is_dir()) {
            let dir = dir.display();
            return Err(
                anyhow!("-o {dir}: rows go to a file; --page {dir} writes a page there").into()
            );
        }
        let stdout = |p: &Option<PathBuf>| p.as_ref().is_some_and(|p| !file(p));
        if stdout(&args.output) && stdout(&args.json) {
            return Err(anyhow!("-o and --json both write to stdout: give two names").into());
        }
        places
            .writes("-o", &rows)
            .writes("--json", &args.json)
            .page("--page", &args.page, &[files::PAGE])
            .check_writable()?;
        Ok(Outputs { rows, format })
    }
}

impl Sink {
    /// Hands a row on.
    fn put(&mut self, study: &Study, rows: &Rows, p: &Point, m: &Measured) -> anyhow::Result<()> {
        let line = || {
            let mut line = String::new();
            rows.row(p, m, &mut line);
            line
        };
        match self {
            Sink::File(f) => f.write_all(line().as_bytes()).context("cannot write the rows")?,
            Sink::Stdout => print(line().trim_end()),
            Sink::Screen(list) => list.push(cells_of(study, p, m)),
            Sink::Nowhere => {}
        }
        Ok(())
    }

    /// Writes what is left; were the rows on the screen?
    fn close(self, study: &Study) -> anyhow::Result<bool> {
        match self {
            Sink::File(mut f) => f.flush().context("cannot write the rows")?,
            Sink::Screen(list) => {
                print(&table(&head(study), &list));
                return Ok(true);
            }
            Sink::Stdout | Sink::Nowhere => {}
        }
        Ok(false)
    }
}

/// Findings of the executions; the status they make, and whether one of them stopped.
fn report(cells: &[Cell], wants: &dyn Fn(&str) -> bool, deny: bool) -> (u8, bool) {
    let mut seen: Vec<Diagnostic> = Vec::new();
    let mut stopped = None;
    for c in cells {
        let recorded = c.recorded();
        let new = recorded.diagnostics.iter().filter(|d| wants(d.code));
        for d in new {
            if !seen.contains(d) {
                seen.push(d.clone());
            }
        }
        stopped = stopped.max(recorded.stopped);
    }
    if deny {
        crate::session::deny(seen.iter_mut());
    }
    show_all(&seen);
    let error = u8::from(seen.iter().any(|d| d.level == Level::Error));
    (stopped.unwrap_or(error), stopped.is_some())
}

fn open(
    args: &StudyArgs,
    out: &Outputs,
    rows: &Rows,
    present: Present,
    left: u64,
) -> Result<Sink, Refusal> {
    if let Some(path) = &out.rows {
        let mut file = shard::append(path, present)?;
        if present.bytes == 0 {
            file.write_all(rows.header().as_bytes()).context("cannot write the rows")?;
        }
        return Ok(Sink::File(file));
    }
    if args.output.is_some() {
        print(rows.header().trim_end());
        return Ok(Sink::Stdout);
    }
    Ok(if left <= SHOWN && args.json.is_none() { Sink::Screen(Vec::new()) } else { Sink::Nowhere })
}

/// Column names of the screen: columns that are the same in every row are left out.
fn head(study: &Study) -> Vec<&str> {
    let mut out = Vec::new();
    if study.subjects.len() > 1 {
        out.extend(["kernel", "shape"]);
    }
    if study.targets.len() > 1 {
        out.push("target");
    }
    out.extend(study.grid.paths());
    out.push("cycles");
    out.extend(PIPES.map(|p| p.short()));
    out.push("bound");
    out
}

fn cells_of(study: &Study, point: &Point, m: &Measured) -> Vec<String> {
    let mut out = Vec::new();
    if let (Some(s), true) = (study.subjects.get(point.subject), study.subjects.len() > 1) {
        out.extend([s.name.clone(), s.shape.clone()]);
    }
    if let (Some(t), true) = (study.targets.get(point.target), study.targets.len() > 1) {
        out.push(t.name.clone());
    }
    out.extend(point.values.iter().map(f64::to_string));
    if let Some(why) = &m.fault {
        out.push(why.clone());
        return out;
    }
    out.push(m.cycles.to_string());
    out.extend(PIPES.map(|p| m.busy[p as usize].to_string()));
    out.push(m.bound.to_string());
    out
}

fn finish(
    args: &StudyArgs,
    output: Option<&Path>,
    on_screen: bool,
    summary: &Summary,
) -> Result<(), Refusal> {
    let stdout = args.json.as_ref().is_some_and(|p| p.as_os_str() == "-")
        || args.output.as_ref().is_some_and(|p| p.as_os_str() == "-");
    if !stdout {
        if on_screen {
            print("");
        }
        print(&summary.screen());
        match output {
            Some(path) => say(&format!("rows: {}", path.display())),
            None if !on_screen => say("-o FILE.csv keeps the rows"),
            None => {}
        }
    }
    write_json(&args.json, &summary.report(output))
}
