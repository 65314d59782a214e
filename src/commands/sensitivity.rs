//! `ptoemu sensitivity`: which figures the cycles of a program depend on.

use super::output::table;
use super::places::Places;
use super::run::{ProgramArgs, built_in};
use super::subject::{Choice, FormArgs, kernel};
use super::{print, say, show_all, write_json};
use crate::calibrate::number;
use crate::session::Refusal;
use crate::study::{self, Away, BreakEven, Probe, Ranges, Rival, Sensitivity, files, pages, timer};
use crate::whatif::{Recorded, Subject};
use anyhow::anyhow;
use clap::Args;
use ptoemu_core::diag::Level;
use ptoemu_core::target::Target;
use ptoemu_isa::tile::Quirks;
use std::path::PathBuf;

/// Arguments of `sensitivity`.
#[derive(Args, Debug)]
pub struct SensitivityArgs {
    /// KERNEL.pto, or OP TYPE RxC as for `ptoemu op`.
    #[arg(required = true, num_args = 1..=3, value_name = "SUBJECT")]
    subject: Vec<String>,
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    case: FormArgs,
    /// Percent by which each figure is turned down and up; whole figures by 1 at least.
    #[arg(long, default_value_t = 10.0, value_name = "PERCENT", value_parser = step)]
    step: f64,
    /// How far figures of a confidence may be off, for example Assumed=50%+4 (repeatable).
    #[arg(long = "range", value_name = "CONF=SHARE%+CYCLES")]
    ranges: Vec<String>,
    /// Draws of all figures at once.
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    draws: u32,
    /// Find where another choice becomes the faster: vendor, corrected, dynamic, static, or a target.
    #[arg(long, value_name = "CHOICE")]
    against: Option<String>,
    /// Figures shown.
    #[arg(long, default_value_t = 12, value_name = "N")]
    top: usize,
    /// Write study.html, its pictures and study.csv into a folder.
    #[arg(short = 'o', value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the study as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn step(text: &str) -> Result<f64, String> {
    let parsed = text.trim_end_matches('%').parse().ok();
    let good = parsed.filter(|v: &f64| (0.1..=100.0).contains(v));
    good.ok_or_else(|| format!("`{text}` is no share of 0.1 to 100 percent"))
}

/// Runs the study.
pub fn sensitivity(args: &SensitivityArgs) -> Result<u8, Refusal> {
    let target = args.program.target.one()?;
    let ranges = Ranges::default().with(&args.ranges)?;
    let quirks = built_in(&args.program.microcode)?;
    let subject = args.case.subject(&args.subject, &args.program, quirks)?;
    let rival = args.against.as_deref().map(|a| rival(args, a, quirks)).transpose()?;
    Places::default()
        .program(&args.program)
        .reads(kernel(&args.subject))
        .targets(args.against.iter().flat_map(|a| a.split(',').map(str::trim)))
        .page("-o", &args.out, &files::FIXED)
        .writes("--json", &args.json)
        .check_writable()?;
    let recorded = recorded(&subject, &target)?;
    let mut report = study(args, (&subject, &target), &recorded, ranges)?;
    if let Some(other) = rival {
        report.break_even = against(other, &target, &recorded)?;
    }
    if let Some(dir) = &args.out {
        let (html, plots) = pages::sensitivity(&report, &files::command());
        let names = files::write(dir, &html, &plots, &report.swings)?;
        names.iter().for_each(|n| say(&format!("wrote {}", dir.join(n).display())));
    }
    write_json(&args.json, &report)?;
    if args.json.is_none() {
        show(&report, args.top);
    }
    Ok(0)
}

/// What the subject is compared with.
struct Other {
    name: String,
    subject: Subject,
    target: Option<Target>,
}

fn rival(args: &SensitivityArgs, text: &str, quirks: Quirks) -> Result<Other, Refusal> {
    let choice = Choice::parse(text, args.subject.len() == 1)?;
    if choice.gap.is_some() || !choice.sets.is_empty() {
        let message = "sensitivity turns the figures itself; `ptoemu shapes` compares settings";
        return Err(anyhow!("--against {text}: {message}").into());
    }
    let case =
        FormArgs { dynamic: choice.dynamic.unwrap_or(args.case.dynamic), ..args.case.clone() };
    let microcode = choice.quirks.unwrap_or(quirks);
    let subject = case.subject(&args.subject, &args.program, microcode)?;
    Ok(Other { name: text.to_string(), subject, target: choice.target })
}

/// Records a subject; a run that was stopped is no subject of a study.
fn recorded(subject: &Subject, target: &Target) -> Result<Recorded, Refusal> {
    let recorded = subject.record(target)?;
    if recorded.stopped.is_some() {
        return Err(Refusal::Program(recorded.diagnostics));
    }
    if recorded.diagnostics.iter().any(|d| d.level == Level::Error) {
        show_all(&recorded.diagnostics);
    }
    Ok(recorded)
}

fn study(
    args: &SensitivityArgs,
    (subject, target): (&Subject, &Target),
    recorded: &Recorded,
    ranges: Ranges,
) -> Result<Sensitivity, Refusal> {
    let knobs = &study::knobs(target, &[recorded]);
    let timer = &timer(recorded, target, knobs)?;
    let mut probe = Probe::new(timer, knobs);
    let Some(base) = probe.time(&[]).filter(|m| m.cycles > 0) else {
        return Err(anyhow!("{} cannot be timed on {}", subject.name, target.name).into());
    };
    let cycles = base.cycles as f64;
    let swings = study::swings(timer, knobs, args.step / 100.0, cycles);
    let interactions = study::interactions(&mut probe, &swings, cycles);
    let of: Vec<usize> = swings.iter().map(|s| s.0).collect();
    Ok(Sensitivity {
        subject: format!("{} {}", subject.name, subject.shape).trim_end().to_string(),
        target: target.name.clone(),
        cycles: base.cycles,
        bound: base.bound.to_string(),
        step: args.step / 100.0,
        figures: study::movable_figures(target),
        swings: swings.into_iter().map(|s| s.1).collect(),
        interactions,
        regimes: study::regimes(&mut probe, knobs, &of),
        uncertainty: study::uncertainty(timer, knobs, &ranges, args.draws as usize),
        break_even: None,
    })
}

/// Where the other choice becomes the faster one.
fn against(
    other: Other,
    target: &Target,
    recorded: &Recorded,
) -> Result<Option<BreakEven>, Refusal> {
    let theirs = recorded_on(&other, target)?;
    // Figures that only the rival uses count as well.
    let runs = if other.target.is_some() { vec![recorded] } else { vec![recorded, &theirs] };
    let knobs = study::knobs(target, &runs);
    let ours = timer(recorded, target, &knobs)?;
    let mut probe = Probe::new(&ours, &knobs);
    match &other.target {
        Some(t) => {
            let all = study::knobs(t, &[&theirs]);
            let timer = timer(&theirs, t, &all)?;
            let rival = &mut Probe::new(&timer, &all);
            let us = (target.us_per_cycle(), t.us_per_cycle());
            let rival = Rival::Target(Away::new(rival, (&knobs, &all), us));
            Ok(study::break_even(&mut probe, rival, other.name, &knobs))
        }
        None => {
            let timer = timer(&theirs, target, &knobs)?;
            let rival = &mut Probe::new(&timer, &knobs);
            Ok(study::break_even(&mut probe, Rival::Microcode(rival), other.name, &knobs))
        }
    }
}

fn recorded_on(other: &Other, target: &Target) -> Result<Recorded, Refusal> {
    recorded(&other.subject, other.target.as_ref().unwrap_or(target))
}

fn signed(v: f64) -> String {
    if v > 0.0 { format!("+{}", number(v)) } else { number(v) }
}

fn show(s: &Sensitivity, top: usize) {
    let base = s.cycles as f64;
    print(&format!(
        "{} on {}: {} cycles, bound by {}; {} of {} figures move them",
        s.subject,
        s.target,
        s.cycles,
        s.bound,
        s.swings.len(),
        s.figures
    ));
    print("");
    let row = |w: &study::Swing| {
        vec![
            w.path.clone(),
            number(w.value),
            format!("{} .. {}", number(w.low), number(w.high)),
            format!("{} .. {}", signed(w.cycles_low - base), signed(w.cycles_high - base)),
            format!("{:.2}", w.slope),
            w.elasticity.map_or("-".into(), |e| format!("{e:.3}")),
            w.conf.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = s.swings.iter().take(top).map(row).collect();
    let head = ["figure", "value", "turned", "cycles", "per unit", "elasticity", "confidence"];
    print(&table(&head, &rows));
    for i in s.interactions.iter().filter(|i| i.extra != 0.0).take(5) {
        let (both, extra) = (signed(i.together), signed(i.extra));
        print(&format!("{} and {} up together: {both}, {extra} beyond the sum", i.a, i.b));
    }
    for r in s.regimes.iter().take(top) {
        let (at, value) = (number(r.at), number(r.value));
        print(&format!(
            "{} at {at} (is {value}): bound by {}, {} cycles",
            r.path, r.bound, r.cycles
        ));
    }
    open(s);
    if let Some(b) = &s.break_even {
        even(b, top);
    }
}

fn open(s: &Sensitivity) {
    let u = &s.uncertainty;
    let short = |v: f64| number(v.round());
    print("");
    print(&format!("open within {}", u.ranges));
    print(&format!(
        "total of {} draws: {} in the middle, nine of ten from {} to {}, deviation {}",
        u.draws,
        short(u.p50),
        short(u.p05),
        short(u.p95),
        number((u.deviation * 10.0).round() / 10.0)
    ));
    let mut known: Vec<&study::Shrink> =
        u.figures.iter().filter(|f| f.shrink > Some(0.005)).collect();
    known.sort_by(|a, b| b.shrink.unwrap_or(0.0).total_cmp(&a.shrink.unwrap_or(0.0)));
    for f in known.iter().take(3) {
        let share = 100.0 * f.shrink.unwrap_or(0.0);
        print(&format!("measuring {} ({}) shrinks the deviation by {share:.0}%", f.path, f.conf));
    }
}

fn even(b: &BreakEven, top: usize) {
    let short = |v: f64| number((v * 1e4).round() / 1e4);
    print("");
    print(&format!(
        "against {}: {} here, {} there, in {}",
        b.rival,
        short(b.ours),
        short(b.theirs),
        b.unit
    ));
    for c in b.crossings.iter().take(top) {
        let (at, value) = (number(c.at), number(c.value));
        let twin = c.at_rival.map_or(String::new(), |v| format!(", and {} there", number(v)));
        print(&format!(
            "{} at {at}{twin} (is {value}): {} here, {} there",
            c.path,
            short(c.ours),
            short(c.theirs)
        ));
    }
    if b.crossings.is_empty() {
        print("no single figure changes which of the two is faster");
    }
}
