//! What the points of a study say together: along each figure, over two of them, at the ends.

use super::grid::Axis;
use super::study::{Point, Study};
use ptoemu_core::time::account::RESOURCES;
use std::ops::Range;

/// Points of a surveyed study at most: nine bytes each are kept.
pub const MOST: u64 = 10_000_000;

/// A point without timing.
const NONE: u8 = u8::MAX;

/// Result of a point: cycles, and the index of what binds them in [`RESOURCES`]; nothing where there
/// is no timing.
pub type Outcome = Option<(u64, u8)>;

/// Every result of a study, in the order of its points.
pub struct Survey<'s> {
    study: &'s Study,
    cycles: Vec<u64>,
    bound: Vec<u8>,
    clock: Option<usize>,
    /// Results are cycles; else microseconds.
    pub in_cycles: bool,
}

/// Values of an axis put into few groups of neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// First and last value of each group, ascending. Of figures that change together the first one's
    /// values, or the number of the setting where these repeat.
    pub ends: Vec<(f64, f64)>,
    /// Group of each setting of the axis.
    of: Vec<usize>,
}

/// The results of some points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Points with a timing.
    pub points: u64,
    /// Least.
    pub low: f64,
    /// The one half of the points do not exceed.
    pub middle: f64,
    /// Most.
    pub high: f64,
    /// Mean.
    pub mean: f64,
    /// Points by what binds them, in the order of [`RESOURCES`].
    pub bounds: [u64; RESOURCES.len()],
}

impl Summary {
    /// What binds most of the points.
    pub fn bound(&self) -> usize {
        let most = self.bounds.iter().copied().max().unwrap_or(0);
        self.bounds.iter().position(|n| *n == most).unwrap_or(0)
    }

    fn of(mut values: Vec<(f64, u8)>) -> Summary {
        let n = values.len();
        if n == 0 {
            return Summary::default();
        }
        let mut bounds = [0; RESOURCES.len()];
        for (_, b) in &values {
            if let Some(slot) = bounds.get_mut(usize::from(*b)) {
                *slot += 1;
            }
        }
        let mean = values.iter().map(|v| v.0).sum::<f64>() / n as f64;
        let ends = values.iter().fold((f64::INFINITY, 0.0f64), |e, v| (e.0.min(v.0), e.1.max(v.0)));
        let (_, middle, _) = values.select_nth_unstable_by((n - 1) / 2, |a, b| a.0.total_cmp(&b.0));
        Summary { points: n as u64, low: ends.0, middle: middle.0, high: ends.1, mean, bounds }
    }
}

/// Index of a resource.
pub fn resource(name: &str) -> u8 {
    RESOURCES.iter().position(|r| r.0 == name).map_or(0, |i| i as u8)
}

impl<'s> Survey<'s> {
    /// Room for the points of a study; nothing if it has more than [`MOST`].
    pub fn new(study: &'s Study) -> Option<Survey<'s>> {
        study.len().filter(|n| *n <= MOST)?;
        let clock = study.grid.paths().iter().position(|p| *p == "clock_mhz");
        let in_cycles = clock.is_none() && study.targets.len() < 2;
        Some(Survey { study, cycles: Vec::new(), bound: Vec::new(), clock, in_cycles })
    }

    /// Takes the next point in.
    pub fn add(&mut self, outcome: Outcome) {
        self.cycles.push(outcome.map_or(0, |o| o.0));
        self.bound.push(outcome.map_or(NONE, |o| o.1));
    }

    /// The study.
    pub fn study(&self) -> &'s Study {
        self.study
    }

    /// Points of a series: one subject on one target.
    pub fn range(&self, series: usize) -> Range<u64> {
        let n = self.study.grid.len();
        series as u64 * n..(series as u64 + 1) * n
    }

    /// Points of a series without timing.
    pub fn faults(&self, series: usize) -> u64 {
        self.range(series).filter(|&p| self.outcome(p).is_none()).count() as u64
    }

    /// What a point gave.
    pub fn outcome(&self, point: u64) -> Outcome {
        let at = usize::try_from(point).ok()?;
        let bound = self.bound.get(at).copied().filter(|b| *b != NONE)?;
        Some((*self.cycles.get(at)?, bound))
    }

    /// Result of a point that took so many cycles.
    pub fn result(&self, point: &Point, cycles: u64) -> f64 {
        let mhz = self.clock.and_then(|c| point.values.get(c)).copied();
        let us = || self.study.targets.get(point.target).map_or(0.0, |t| t.us_per_cycle());
        match (self.in_cycles, mhz) {
            (true, _) => cycles as f64,
            (_, Some(mhz)) => cycles as f64 / mhz,
            (_, None) => cycles as f64 * us(),
        }
    }

    /// Results of a series with their number and bound.
    fn results(&self, series: usize) -> impl Iterator<Item = (u64, f64, u8)> {
        let range = self.range(series);
        let first = self.study.point(range.start);
        let turn = self.clock.map(|_| self.clock_axis());
        range.clone().filter_map(move |p| {
            let (cycles, bound) = self.outcome(p)?;
            let value = match &turn {
                // The clock changes from point to point.
                Some((axis, mhz)) => {
                    cycles as f64 / mhz.get(self.setting(p - range.start, *axis)).unwrap_or(&1.0)
                }
                None => self.result(&first, cycles),
            };
            Some((p, value, bound))
        })
    }

    fn clock_axis(&self) -> (usize, &'s [f64]) {
        let axes = self.study.grid.axes().iter().enumerate();
        let sweeps = axes.flat_map(|(i, a)| a.sweeps().iter().map(move |s| (i, s)));
        let mut clock = sweeps.filter(|(_, s)| s.path == "clock_mhz");
        clock.next().map_or((0, &[][..]), |(i, s)| (i, &s.values[..]))
    }

    /// Which setting of an axis a point of a series has.
    fn setting(&self, rest: u64, axis: usize) -> usize {
        let axes = self.study.grid.axes();
        let below: u64 = axes.iter().skip(axis + 1).map(Axis::len).product();
        let len = axes.get(axis).map_or(1, Axis::len).max(1);
        (rest / below.max(1) % len) as usize
    }

    /// A series as a whole.
    pub fn whole(&self, series: usize) -> Summary {
        Summary::of(self.results(series).map(|(_, v, b)| (v, b)).collect())
    }

    /// A series by groups of one or two axes, the last changing fastest.
    pub fn by(&self, series: usize, axes: &[(usize, &Groups)]) -> Vec<Summary> {
        let n: usize = axes.iter().map(|(_, g)| g.ends.len()).product();
        let mut all: Vec<Vec<(f64, u8)>> = vec![Vec::new(); n];
        let start = self.range(series).start;
        for (p, value, bound) in self.results(series) {
            let place = |at: usize, (axis, groups): &(usize, &Groups)| {
                let setting = self.setting(p - start, *axis);
                at * groups.ends.len() + groups.of.get(setting).copied().unwrap_or(0)
            };
            if let Some(list) = all.get_mut(axes.iter().fold(0, place)) {
                list.push((value, bound));
            }
        }
        all.into_iter().map(Summary::of).collect()
    }

    /// Results of a series, ascending.
    pub fn sorted(&self, series: usize) -> Vec<f64> {
        let mut all: Vec<f64> = self.results(series).map(|r| r.1).collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    }

    /// Numbers of the points of a series with the least results, least first, and with the most,
    /// most first; of equals the first ones.
    pub fn ends(&self, series: usize, least: usize, most: usize) -> (Vec<u64>, Vec<u64>) {
        let mut all: Vec<(u64, f64)> = self.results(series).map(|r| (r.0, r.1)).collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        let low: Vec<u64> = all.iter().take(least).map(|p| p.0).collect();
        let most = most.min(all.len() - low.len());
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        (low, all.iter().take(most).map(|p| p.0).collect())
    }

    /// Smallest and largest value that every figure has among some points of a series.
    pub fn spans(&self, series: usize, wanted: impl Fn(f64, u8) -> bool) -> Vec<(f64, f64)> {
        let mut spans = vec![(f64::INFINITY, f64::NEG_INFINITY); self.study.grid.paths().len()];
        let (start, mut values) = (self.range(series).start, Vec::new());
        for (p, value, bound) in self.results(series) {
            if wanted(value, bound) {
                self.study.grid.values(p - start, &mut values);
                for (s, v) in spans.iter_mut().zip(&values) {
                    *s = (s.0.min(*v), s.1.max(*v));
                }
            }
        }
        spans
    }
}

/// Share of the variance of all results that the means of groups have.
pub fn share(groups: &[Summary], whole: &Summary, variance: f64) -> f64 {
    let of = |g: &Summary| g.points as f64 * (g.mean - whole.mean).powi(2);
    let between: f64 = groups.iter().filter(|g| g.points > 0).map(of).sum();
    if variance > 0.0 { between / whole.points.max(1) as f64 / variance } else { 0.0 }
}

/// Mean square of the distance from the mean.
pub fn variance(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n
}

impl Groups {
    /// The values of an axis in at most `most` groups.
    pub fn of(axis: &Axis, most: usize) -> Groups {
        let values: &[f64] = axis.sweeps().first().map_or(&[], |s| &s.values);
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.dedup();
        let numbered = sorted.len() < values.len() && axis.sweeps().len() > 1;
        let key = |k: usize| if numbered { (k + 1) as f64 } else { values[k] };
        if numbered {
            sorted = (0..values.len()).map(key).collect();
        }
        let n = sorted.len().min(most.max(1));
        let group = |i: usize| i * n / sorted.len().max(1);
        let mut ends: Vec<(f64, f64)> = Vec::new();
        for (i, v) in sorted.iter().enumerate() {
            match ends.get_mut(group(i)) {
                Some(e) => e.1 = *v,
                None => ends.push((*v, *v)),
            }
        }
        let place = |v: f64| sorted.partition_point(|s| s.total_cmp(&v).is_lt());
        let of = (0..values.len()).map(|k| group(place(key(k)))).collect();
        Groups { ends, of }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Grid, Subject, Sweep};
    use super::*;
    use ptoemu_core::dtype::DType;
    use ptoemu_isa::{case::Case, tile};

    fn axis(text: &str) -> Axis {
        Axis::one(Sweep::parse("--set", text).unwrap())
    }

    #[test]
    fn groups_are_neighbours_in_the_order_of_their_values() {
        let g = Groups::of(&axis("drain=3,1..4,3"), 9);
        assert_eq!(g.ends, [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)]);
        assert_eq!(g.of, [2, 0, 1, 2, 3, 2]);
        let g = Groups::of(&axis("drain=0..99"), 8);
        assert_eq!((g.ends.len(), g.ends[0].0, g.ends[7].1), (8, 0.0, 99.0));
        assert!(g.ends.windows(2).all(|w| w[0].1 + 1.0 == w[1].0), "{:?}", g.ends);
        let pair = Axis::parse_pair("drain=5,5,1 end=1,2,3").unwrap();
        let g = Groups::of(&pair, 9);
        assert_eq!((g.ends.len(), g.of), (3, vec![0, 1, 2]), "settings by number");
    }

    /// Results that are a sum of two figures: shares add up, and everything is found by hand.
    #[test]
    fn a_sum_of_two_figures_is_taken_apart() {
        let op = tile::find("tadd").unwrap();
        let target = crate::targets::find("a3").unwrap();
        let grid = Grid::new(vec![axis("drain=0..9"), axis("end=0,100,200")]).unwrap();
        let subjects = vec![Subject::op(Case::new(op, DType::F32, 8, 64))];
        let study = Study { subjects, targets: vec![target], grid };
        let mut s = Survey::new(&study).unwrap();
        for p in 0..30 {
            let v = study.point(p).values;
            let bound = if v[1] > 150.0 { resource("drain") } else { resource("V") };
            s.add(Some((1000 + v[0] as u64 + v[1] as u64, bound)).filter(|_| p != 7));
        }
        assert!(s.in_cycles && s.faults(0) == 1 && s.outcome(7).is_none());
        let whole = s.whole(0);
        assert_eq!((whole.points, whole.low, whole.high), (29, 1000.0, 1209.0));
        let groups = [0, 1].map(|a| Groups::of(&study.grid.axes()[a], 64));
        let end = s.by(0, &[(1, &groups[1])]);
        assert_eq!((end[0].low, end[0].high, end[2].middle), (1000.0, 1009.0, 1204.0));
        assert_eq!((end[2].bound(), end[0].bound()), (3, 0));
        let v = variance(&s.sorted(0));
        let both = s.by(0, &[(0, &groups[0]), (1, &groups[1])]);
        assert_eq!((both.len(), both[4].low, both[7].points), (30, 1101.0, 0));
        let [a, b] = [0, 1].map(|a| share(&s.by(0, &[(a, &groups[a])]), &whole, v));
        assert!(b > 0.9 && a < 0.1, "{a} {b}");
        assert!((share(&both, &whole, v) - 1.0).abs() < 1e-9);
        assert_eq!(s.ends(0, 2, 1), (vec![0, 3], vec![29]));
        assert_eq!(s.spans(0, |_, b| b == 3), [(0.0, 9.0), (200.0, 200.0)]);
    }
}
