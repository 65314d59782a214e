//! Axes: ranges, ticks, the way from a value to a pixel.

use super::{Plot, short, width};

/// An axis of a plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// Logarithmic.
    pub log: bool,
    /// Starts at 0 whatever the values are.
    pub zero: bool,
}

impl Axis {
    /// A linear axis that fits the values.
    pub fn new(label: &str) -> Axis {
        Axis { label: label.to_string(), log: false, zero: false }
    }

    /// A logarithmic axis; values that are not above 0 are not drawn.
    pub fn log(label: &str) -> Axis {
        Axis { log: true, ..Axis::new(label) }
    }

    /// A linear axis from 0 on.
    pub fn from_zero(label: &str) -> Axis {
        Axis { zero: true, ..Axis::new(label) }
    }
}

/// An axis with its range and its pixels.
pub(super) struct Scale {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Over the values that can be drawn; pixels run from `from` to `to`.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let fit = values.filter(|v| v.is_finite() && (!axis.log || *v > 0.0));
        let (mut low, mut high) =
            fit.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            (low, high) = if axis.log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        if axis.zero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if low == high {
            (low, high) = match (axis.log, low == 0.0) {
                (true, _) => (low / 2.0, high * 2.0),
                (_, true) => (0.0, 1.0),
                _ => (low - low.abs() / 2.0, high + high.abs() / 2.0),
            };
        }
        Scale { log: axis.log, low, high, from, to }
    }

    /// Pixel of a value.
    pub fn at(&self, v: f64) -> Option<f64> {
        if !v.is_finite() || (self.log && v <= 0.0) {
            return None;
        }
        let f = |v: f64| if self.log { v.ln() } else { v };
        let share = (f(v) - f(self.low)) / (f(self.high) - f(self.low));
        Some(self.from + share * (self.to - self.from)).filter(|p| p.is_finite())
    }

    /// Values worth a tick: about `most` round ones.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        if self.log {
            return self.log_ticks(most);
        }
        let rough = (self.high - self.low) / most.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|k| k * power).into_iter().find(|s| *s >= rough);
        let step = step.unwrap_or(rough);
        if !(step.is_finite() && step > 0.0) {
            return vec![self.low];
        }
        let first = (self.low / step).ceil();
        let ticks = (0..=2 * most).map(|i| (first + i as f64) * step);
        // A tick next to 0 that is only rounding is 0.
        let ticks = ticks.map(|t| if t.abs() < step / 1e6 { 0.0 } else { t });
        ticks.take_while(|t| *t <= self.high + step / 1e6).collect()
    }

    /// Powers of two or of ten, whichever gives a fitting number.
    fn log_ticks(&self, most: usize) -> Vec<f64> {
        let twos = (self.high / self.low).log2();
        let base: f64 = if twos <= most as f64 { 2.0 } else { 10.0 };
        let first = (self.low.ln() / base.ln() - 1e-9).ceil();
        let every = ((self.high / self.low).ln() / base.ln() / most.max(1) as f64).ceil().max(1.0);
        let ticks = (0..=most).map(|i| base.powf(first + every * i as f64));
        ticks.take_while(|t| *t <= self.high * (1.0 + 1e-9)).collect()
    }

    /// Draws a horizontal axis below `bottom` with its grid up to `top`.
    pub fn draw_x(&self, plot: &mut Plot, axis: &Axis, top: f64, bottom: f64) {
        for t in self.ticks(8) {
            let Some(x) = self.at(t) else { continue };
            plot.line((x, top), (x, bottom), "grid");
            plot.put(&short(t), x, bottom + 15.0, "soft mid");
        }
        plot.put(&axis.label, (self.from + self.to) / 2.0, bottom + 32.0, "soft mid");
    }

    /// Draws a vertical axis left of `left` with its grid up to `right`; its label stands above.
    pub fn draw_y(&self, plot: &mut Plot, axis: &Axis, left: f64, right: f64) {
        for t in self.ticks(6) {
            let Some(y) = self.at(t) else { continue };
            plot.line((left, y), (right, y), "grid");
            plot.put(&short(t), left - 6.0, y + 4.0, "soft end");
        }
        let x = (left - width(&axis.label)).max(0.0).min(left - 40.0);
        plot.put(&axis.label, x.max(0.0), self.to - 10.0, "soft");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        for (low, high) in [(0.0, 1.0), (3.0, 977.0), (-5.0, 5.0), (1e-9, 2e-9), (5.0, 5.0)] {
            let s = Scale::new(&Axis::new("x"), [low, high].into_iter(), 0.0, 100.0);
            let ticks = s.ticks(6);
            assert!((2..=13).contains(&ticks.len()), "{low}..{high}: {ticks:?}");
            assert!(ticks.iter().all(|t| s.at(*t).is_some_and(|p| (-0.1..=100.1).contains(&p))));
        }
        let s = Scale::new(&Axis::log("x"), [1.0, 64.0].into_iter(), 0.0, 60.0);
        assert_eq!(s.ticks(8), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
        assert_eq!(s.at(0.0), None);
    }

    #[test]
    fn nothing_to_draw_is_no_fault() {
        let s = Scale::new(&Axis::new("x"), [f64::NAN, f64::INFINITY].into_iter(), 0.0, 10.0);
        assert!(!s.ticks(5).is_empty() && s.at(f64::NAN).is_none());
    }
}
