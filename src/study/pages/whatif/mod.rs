//! What a program costs over many settings of its target.

mod plots;
mod tables;

use super::{Named, counts, short};
use crate::study::histogram;
use crate::whatif::Study;
use crate::whatif::survey::{Groups, Summary, Survey, share, variance};
use ptoemu_traces::page::{Page, grouped};

/// Programs on targets that are drawn, each with a colour of its own.
const DRAWN: usize = 8;
/// Figures that are drawn.
const PLOTTED: usize = 10;
/// Groups of values along a line.
const ALONG: usize = 64;
/// Groups of values along the sides of a field.
const SIDES: [usize; 2] = [16, 20];
/// Figures whose pairs are looked at.
const PAIRED: usize = 6;
/// How far from the least a setting is still near it.
const NEAR: f64 = 0.01;
/// Bars of a distribution.
const BARS: usize = 24;

/// What a page about a study is made of.
pub struct WhatIf<'a> {
    /// Every result.
    pub survey: &'a Survey<'a>,
    /// Cycles of every program on its target as the target's file says.
    pub as_is: Vec<Option<u64>>,
    /// File that holds all rows.
    pub rows: String,
}

/// A program on a target with what its points say.
struct Series {
    number: usize,
    name: String,
    whole: Summary,
    variance: f64,
    /// Axes that change something, by the share of the variance their values have.
    shares: Vec<(usize, f64)>,
}

/// Page and pictures of a study.
pub fn whatif(w: &WhatIf, command: &str) -> (String, Vec<Named>) {
    let study = w.survey.study();
    let all = study.subjects.len() * study.targets.len();
    let drawn: Vec<Series> = (0..all.min(DRAWN)).map(|n| Series::new(w.survey, n)).collect();
    let mut page = Page::new(&title(study));
    page.lead("Every number is an exact re-timing of one execution with figures changed.");
    facts(&mut page, w, &drawn);
    let mut plots = Vec::new();
    page.section("results", "Results");
    page.table(&tables::results(w));
    if study.grid.len() > 1 {
        along(&mut page, w, &drawn, &mut plots);
        each(&mut page, w, &drawn, &mut plots);
    } else if all > 1 {
        let bars = plots::compared(w, all);
        page.figure(&bars, "");
        plots.push(("results".into(), bars));
    }
    page.section("points", "Settings");
    page.table(&tables::points(w));
    page.section("again", "The same again");
    page.command(command);
    (page.finish(), plots)
}

fn title(study: &Study) -> String {
    let (s, t) = (&study.subjects[..], &study.targets[..]);
    match (s, t) {
        ([one], [on]) => format!("{} {} on {}: what if", one.name, one.shape, on.name),
        ([one], _) => format!("{} {} on {} targets: what if", one.name, one.shape, t.len()),
        (_, [on]) => format!("{} programs on {}: what if", s.len(), on.name),
        _ => format!("{} programs on {} targets: what if", s.len(), t.len()),
    }
    .replace("  ", " ")
}

fn facts(page: &mut Page, w: &WhatIf, drawn: &[Series]) {
    let study = w.survey.study();
    let mut facts = vec![
        ("points", grouped(study.len().unwrap_or(0))),
        ("figures changed", study.grid.paths().len().to_string()),
    ];
    let all = study.subjects.len() * study.targets.len();
    if let ([one], 1) = (drawn, all) {
        let unit = unit(w);
        if let Some(Some(cycles)) = w.as_is.first() {
            facts.push(("cycles as is", grouped(*cycles)));
        }
        facts.push(("least", format!("{} {unit}", short(one.whole.low))));
        facts.push(("most", format!("{} {unit}", short(one.whole.high))));
        if let Some((axis, share)) = one.shares.first() {
            facts
                .push(("widest", format!("{}, {:.0}%", tables::axis(study, *axis), 100.0 * share)));
        }
    }
    let faults: u64 = (0..all).map(|n| w.survey.faults(n)).sum();
    if faults > 0 {
        facts.push(("points without timing", grouped(faults)));
    }
    page.facts(&facts);
}

fn unit(w: &WhatIf) -> &'static str {
    if w.survey.in_cycles { "cycles" } else { "us" }
}

impl Series {
    fn new(survey: &Survey, number: usize) -> Series {
        let study = survey.study();
        let whole = survey.whole(number);
        // Equal results differ in the last bit of their mean.
        let same = whole.low == whole.high;
        let variance = if same { 0.0 } else { variance(&survey.sorted(number)) };
        let axes = study.grid.axes().iter().enumerate().filter(|(_, a)| a.len() > 1);
        let of = |(i, a)| {
            let groups = survey.by(number, &[(i, &Groups::of(a, ALONG))]);
            (i, share(&groups, &whole, variance))
        };
        let mut shares: Vec<(usize, f64)> = axes.map(of).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let name = series_name(study, number);
        Series { number, name, whole, variance, shares }
    }

    fn share(&self, axis: usize) -> f64 {
        self.shares.iter().find(|s| s.0 == axis).map_or(0.0, |s| s.1)
    }

    /// The two axes that together explain most, with their groups.
    fn pair(&self, survey: &Survey) -> Option<[(usize, Groups); 2]> {
        let axes = survey.study().grid.axes();
        let groups = |i: usize, side: usize| Some((i, Groups::of(axes.get(i)?, SIDES[side])));
        let top: Vec<usize> = self.shares.iter().take(PAIRED).map(|s| s.0).collect();
        let mut best: Option<(f64, [(usize, Groups); 2])> = None;
        for (n, &a) in top.iter().enumerate() {
            for &b in top.iter().skip(n + 1) {
                let pair = [groups(a.min(b), 0)?, groups(a.max(b), 1)?];
                let by = survey.by(self.number, &pair.each_ref().map(|p| (p.0, &p.1)));
                let s = share(&by, &self.whole, self.variance);
                if s > 0.0 && best.as_ref().is_none_or(|(most, _)| s > *most) {
                    best = Some((s, pair));
                }
            }
        }
        best.map(|b| b.1)
    }
}

/// Name of a series by what tells it apart from the others.
fn series_name(study: &Study, number: usize) -> String {
    let n = study.targets.len().max(1);
    let subject = study
        .subjects
        .get(number / n)
        .map_or(String::new(), |s| format!("{} {}", s.name, s.shape).trim_end().to_string());
    match study.targets.get(number % n) {
        Some(t) if n > 1 => format!("{subject} on {}", t.name),
        _ => subject,
    }
}

/// Along each figure, all series in one picture.
fn along(page: &mut Page, w: &WhatIf, drawn: &[Series], plots: &mut Vec<Named>) {
    let study = w.survey.study();
    page.section("figures", "Along each figure");
    page.text("The line is the median over all other figures, the band reaches from the least to the most.");
    let widest = |a: &usize| drawn.iter().map(|s| s.share(*a)).fold(0.0, f64::max);
    let mut axes: Vec<usize> = (0..study.grid.axes().len()).filter(|a| widest(a) > 0.0).collect();
    axes.sort_by(|a, b| widest(b).total_cmp(&widest(a)).then(a.cmp(b)));
    let named =
        |(n, axis): (usize, &usize)| (format!("figure-{}", n + 1), plots::along(w, drawn, *axis));
    let pictures: Vec<Named> = axes.iter().take(PLOTTED).enumerate().map(named).collect();
    page.gallery(pictures.iter().map(|p| &p.1));
    plots.extend(pictures);
    let all = study.subjects.len() * study.targets.len();
    if all > drawn.len() {
        let rows = &w.rows;
        page.note(&format!("The first {} of {all} are drawn; {rows} has all.", drawn.len()));
    }
    page.table(&tables::figures(w, drawn));
}

/// What is shown for one series at a time.
fn each(page: &mut Page, w: &WhatIf, drawn: &[Series], plots: &mut Vec<Named>) {
    page.section("pair", "Two figures together, and what binds");
    if drawn.len() > 1 {
        let choices: Vec<(String, String)> =
            drawn.iter().map(|s| (s.number.to_string(), s.name.clone())).collect();
        page.switch("series", "Program", &choices);
    }
    in_views(page, drawn, |page, s| pair(page, w, s, plots));
    page.section("spread", "How the settings spread");
    in_views(page, drawn, |page, s| spread(page, w, s, plots));
}

/// A part for each series; only one of them shows.
fn in_views(page: &mut Page, drawn: &[Series], mut part: impl FnMut(&mut Page, &Series)) {
    for s in drawn {
        if drawn.len() > 1 {
            page.view("series", &s.number.to_string());
        }
        if s.whole.points == 0 {
            page.text(&format!("{} has no timing under any of the settings.", s.name));
        } else {
            part(page, s);
        }
        if drawn.len() > 1 {
            page.end_view();
        }
    }
}

fn pair(page: &mut Page, w: &WhatIf, s: &Series, plots: &mut Vec<Named>) {
    if let Some(pair) = s.pair(w.survey) {
        let p = plots::heat(w, s, &pair);
        let caption = "The two figures that explain most: shades are the median over the others, colours \
                       what binds most of the points. The least is framed.";
        page.figure(&p, caption);
        plots.push((format!("pair-{}", s.number + 1), p));
    }
    if let Some(p) = plots::bounds(w, s) {
        page.figure(&p, "");
        plots.push((format!("bounds-{}", s.number + 1), p));
    }
    page.table(&tables::regions(w, s));
}

fn spread(page: &mut Page, w: &WhatIf, s: &Series, plots: &mut Vec<Named>) {
    if s.whole.low == s.whole.high {
        let (low, unit) = (short(s.whole.low), unit(w));
        return page.text(&format!("{}: {low} {unit} under every setting.", s.name));
    }
    let sorted = w.survey.sorted(s.number);
    let least = if w.survey.in_cycles { 1.0 } else { 0.0 };
    let title = format!("{}: points by {}, from", s.name, unit(w));
    let p = counts(&title, "points", &histogram(&sorted, BARS, least));
    page.figure(&p, "");
    plots.push((format!("spread-{}", s.number + 1), p));
    let limit = s.whole.low * (1.0 + NEAR);
    let n = sorted.partition_point(|v| *v <= limit);
    let (n, of, share) = (grouped(n as u64), grouped(s.whole.points), 100.0 * NEAR);
    page.text(&format!("{n} of {of} settings are within {share}% of the least. They have"));
    page.table(&tables::near(w, s, limit));
}
