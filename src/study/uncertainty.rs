//! How far the total is open because figures are.

use super::probe::{Changes, many};
use super::sensitivity::both_ends;
use super::{Knob, Probe, Ranges};
use crate::whatif::Timer;
use serde::Serialize;

/// Figures that are fixed one after the other.
const FIXED: usize = 8;
/// Bars of the histogram.
pub const BARS: usize = 24;

/// Spread of the total over the ranges of the figures.
#[derive(Clone, Debug, Serialize)]
pub struct Uncertainty {
    /// The ranges, in words.
    pub ranges: String,
    /// Draws: every figure on its own and evenly over its range.
    pub draws: usize,
    /// Mean of the total.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Nine of ten totals lie above.
    pub p05: f64,
    /// The total half of them exceed.
    pub p50: f64,
    /// Nine of ten lie below.
    pub p95: f64,
    /// Figures whose range moves the total, widest first.
    pub figures: Vec<Shrink>,
    /// Totals by stretches of equal width: start of the stretch and how many.
    pub histogram: Vec<(f64, u64)>,
}

/// What one figure contributes.
#[derive(Clone, Debug, Serialize)]
pub struct Shrink {
    /// Path.
    pub path: String,
    /// Confidence.
    pub conf: &'static str,
    /// Value.
    pub value: f64,
    /// Lower end of its range.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Cycles at the lower end, all else as it is.
    pub cycles_low: f64,
    /// Cycles at the upper end.
    pub cycles_high: f64,
    /// Share by which the deviation shrinks once the figure is known; only for the widest.
    pub shrink: Option<f64>,
}

/// Draws the figures from their ranges and times every draw.
pub fn uncertainty(timer: &Timer, knobs: &[Knob], ranges: &Ranges, draws: usize) -> Uncertainty {
    let mut open = open(timer, knobs, ranges);
    let mut random = Random(0x5DEE_CE66_D1CE_5EED);
    let mut draw = || -> Changes {
        let value = |(k, s): &(usize, Shrink)| {
            (*k, knobs[*k].parameter.accept(s.low + (s.high - s.low) * random.next()))
        };
        open.iter().map(value).collect()
    };
    let all: Vec<Changes> = (0..draws).map(|_| draw()).collect();
    // The other figures keep their numbers when one is held still.
    let totals = |without: Option<usize>| -> Vec<f64> {
        let still = |c: &Changes| c.iter().copied().filter(|(k, _)| Some(*k) != without).collect();
        let changes: Vec<Changes> = all.iter().map(still).collect();
        many(timer, knobs, &changes).into_iter().flatten().collect()
    };
    let mut sorted = totals(None);
    let (mean, deviation) = moments(&sorted);
    let left: Vec<f64> =
        open.iter().take(FIXED).map(|(k, _)| moments(&totals(Some(*k))).1).collect();
    for ((_, figure), left) in open.iter_mut().zip(left) {
        figure.shrink = (deviation > 0.0).then(|| 1.0 - left / deviation);
    }
    sorted.sort_by(f64::total_cmp);
    let at = |q: f64| {
        let i = (q * sorted.len() as f64) as usize;
        sorted.get(i.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
    };
    Uncertainty {
        ranges: ranges.text(),
        draws: sorted.len(),
        mean,
        deviation,
        p05: at(0.05),
        p50: at(0.5),
        p95: at(0.95),
        figures: open.into_iter().map(|(_, s)| s).collect(),
        histogram: histogram(&sorted, BARS, 1.0),
    }
}

/// Figures whose range moves the total.
fn open(timer: &Timer, knobs: &[Knob], ranges: &Ranges) -> Vec<(usize, Shrink)> {
    let Some(base) = Probe::new(timer, knobs).cycles(&[]) else { return Vec::new() };
    let reach = |k: &Knob| {
        let (p, r) = (&k.parameter, ranges.of(k.conf));
        let cycles = if p.unit == "cycles" { r.cycles } else { 0.0 };
        let d = p.start.abs() * r.share + cycles;
        let clamp = |v: f64| v.clamp(p.range.min, p.range.max);
        (clamp(p.start - d), clamp(p.start + d))
    };
    let reaches: Vec<(f64, f64)> = knobs.iter().map(reach).collect();
    let accept = |(k, r): (&Knob, &(f64, f64))| (k.parameter.accept(r.0), k.parameter.accept(r.1));
    let ends: Vec<(f64, f64)> = knobs.iter().zip(&reaches).map(accept).collect();
    let cycles = both_ends(timer, knobs, &ends);
    let mut out: Vec<(usize, Shrink)> = Vec::new();
    for (k, knob) in knobs.iter().enumerate() {
        let (Some((a, b)), (low, high), p) = (cycles[k], reaches[k], &knob.parameter) else {
            continue;
        };
        if (a, b) != (base, base) {
            let (path, conf) = (p.path.clone(), knob.conf.name());
            let (cycles_low, cycles_high, value) = (a, b, p.start);
            let shrink = None;
            out.push((k, Shrink { path, conf, value, low, high, cycles_low, cycles_high, shrink }));
        }
    }
    let width = |s: &Shrink| (s.cycles_high - s.cycles_low).abs();
    out.sort_by(|x, y| width(&y.1).total_cmp(&width(&x.1)).then(x.1.path.cmp(&y.1.path)));
    out
}

fn moments(v: &[f64]) -> (f64, f64) {
    let n = v.len().max(1) as f64;
    let mean = v.iter().sum::<f64>() / n;
    let square = v.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, square.sqrt())
}

/// How many of the sorted numbers lie in each of about `bars` stretches of equal width, at least `least`
/// wide and then a multiple of it: start of the stretch and how many.
pub fn histogram(sorted: &[f64], bars: usize, least: f64) -> Vec<(f64, u64)> {
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let even = (high - low) / bars.max(1) as f64;
    let width = match least > 0.0 {
        true => (even / least).ceil().max(1.0) * least,
        false => even,
    };
    // One number alone has no width.
    if width <= 0.0 {
        return vec![(low, sorted.len() as u64)];
    }
    let last = match least > 0.0 {
        true => ((high - low) / width).floor() as usize,
        false => bars.max(1) - 1,
    };
    let mut out: Vec<(f64, u64)> = (0..=last).map(|i| (low + width * i as f64, 0)).collect();
    for v in sorted {
        if let Some(bar) = out.get_mut((((v - low) / width) as usize).min(last)) {
            bar.1 += 1;
        }
    }
    out
}

/// A small generator: every study draws the same numbers.
struct Random(u64);

impl Random {
    /// A number from 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
