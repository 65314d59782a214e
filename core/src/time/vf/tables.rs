//! Distances between instructions, computed once from the figures of the classes in use.
//!
//! A handful of rules replaces tables of every pair [spec: compressed tables, 98.9 % of the
//! forwarding rows and 94.8 % of the interval rows exact].

use super::params::{Figures, OpFigures, OpPaths, VfParams};
use super::program::{Class, Kind};
use crate::diag::Diagnostic;

/// What executes an instruction, as the engine dispatches on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Unit {
    #[default]
    Exu,
    Load,
    Store,
    Predicate,
    Scalar,
    Bar,
}

impl Unit {
    pub fn of(kind: Kind) -> Unit {
        match kind {
            Kind::Load => Unit::Load,
            Kind::Store => Unit::Store,
            Kind::Compute => Unit::Exu,
            Kind::Predicate => Unit::Predicate,
            Kind::Scalar => Unit::Scalar,
            Kind::Bar(_) => Unit::Bar,
        }
    }
}

/// A class of the program on the unit it runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    pub unit: Unit,
    pub figures: OpFigures,
    pub latency: u32,
}

/// Pairwise distances, indexed `producer * classes + consumer`.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub rows: Vec<Row>,
    data: Vec<u16>,
    mask: Vec<u16>,
    interval: Vec<u16>,
    /// Largest distance of any kind: anything older no longer matters.
    pub horizon: i64,
}

impl Tables {
    /// Tables of every pair of rows.
    pub fn build(rows: Vec<Row>, params: &VfParams) -> Tables {
        let n = rows.len();
        let square = |f: &dyn Fn(usize, usize) -> u32| -> Vec<u16> {
            (0..n * n).map(|i| short(f(i / n, i % n))).collect()
        };
        let data = square(&|a, b| data(&rows[a], &rows[b], params));
        let mask = square(&|a, b| mask(&rows[a], &rows[b], params));
        let interval = square(&|a, b| interval(&rows[a].figures, &rows[b].figures, a == b));
        let most = data.iter().chain(&mask).chain(&interval).copied().max().unwrap_or(0);
        let latency = rows.iter().map(|r| r.latency).max().unwrap_or(0);
        let horizon = i64::from(most).max(i64::from(latency.max(params.release))) + 1;
        Tables { rows, data, mask, interval, horizon }
    }

    /// Start of the producer until the consumer may start on a vector result.
    pub fn data(&self, producer: u16, consumer: u16) -> i64 {
        i64::from(self.data[self.at(producer, consumer)])
    }

    /// The same for a predicate.
    pub fn mask(&self, producer: u16, consumer: u16) -> i64 {
        i64::from(self.mask[self.at(producer, consumer)])
    }

    /// Start of an instruction until the next may start on the same execution unit.
    pub fn interval(&self, before: u16, after: u16) -> i64 {
        i64::from(self.interval[self.at(before, after)])
    }

    fn at(&self, a: u16, b: u16) -> usize {
        usize::from(a) * self.rows.len() + usize::from(b)
    }
}

fn short(v: u32) -> u16 {
    v.min(u32::from(u16::MAX)) as u16
}

/// A class on a unit, with the paths of its figures written out.
#[derive(Clone, Debug)]
pub(crate) struct Sought {
    pub class: Class,
    pub unit: Unit,
    own: OpPaths,
    fallback: Option<OpPaths>,
}

impl Sought {
    pub fn new(class: &Class, unit: Unit) -> Sought {
        let own = OpPaths::new(&class.name, class.dtype);
        let fallback = class.fallback.as_ref().map(|f| OpPaths::new(f, class.dtype));
        Sought { class: class.clone(), unit, own, fallback }
    }

    /// Its figures under a target.
    pub fn row(&self, params: &VfParams, from: &dyn Figures) -> Result<Row, Diagnostic> {
        let mut figures = OpFigures::read_at(from, &self.own)?;
        if let (None, Some(f)) = (figures.latency, &self.fallback) {
            figures = OpFigures::read_at(from, f)?;
        }
        let latency = match (figures.latency, self.unit) {
            (Some(l), _) => l.max(1),
            (None, Unit::Scalar) => params.scalar_latency,
            (None, Unit::Bar) => 1,
            (None, _) => return Err(unknown(&self.class)),
        };
        Ok(Row { unit: self.unit, figures, latency })
    }
}

fn unknown(class: &Class) -> Diagnostic {
    let of = class.dtype.map_or(String::new(), |d| format!(" on {d}"));
    Diagnostic::error("target.unknown_op", format!("no figures for `{}`{of}", class.name))
        .help(format!("add `{}.latency` to the target, or use a mnemonic it has", class.name))
}

/// Vector result of `p` to `c`.
fn data(p: &Row, c: &Row, params: &VfParams) -> u32 {
    let (f, g) = (&p.figures, &c.figures);
    if c.unit == Unit::Store {
        return p.latency.saturating_sub(params.store_bypass);
    }
    if p.unit == Unit::Load {
        let usual = p.latency.saturating_sub(f.bypass.unwrap_or(params.bypass));
        return g.after_load.unwrap_or(usual);
    }
    if let Some(all) = f.to_any {
        return all;
    }
    let early = p.latency.saturating_sub(f.bypass.unwrap_or(params.bypass));
    let late = if f.bypass.is_some() { g.late_short.unwrap_or(0) } else { 0 };
    early + late.max(g.late.unwrap_or(0))
}

/// Predicate result of `p` to `c`.
fn mask(p: &Row, c: &Row, params: &VfParams) -> u32 {
    let early = p.figures.bypass.unwrap_or(params.bypass);
    let early = early.max(c.figures.mask_early.unwrap_or(0));
    p.latency.saturating_sub(early)
}

/// Least distance of two starts on one unit.
fn interval(p: &OpFigures, c: &OpFigures, same: bool) -> u32 {
    let on = |f: Option<u32>| f.is_some_and(|v| v > 0);
    let own = if same { p.interval.unwrap_or(1).max(1) } else { 1 };
    let extra = if same { 0 } else { c.extra.unwrap_or(0) };
    if on(p.iterative) {
        let both = on(c.iterative);
        let switch = if both && !same && on(c.switch) { p.switch.unwrap_or(0) } else { 0 };
        return if both { p.interval.unwrap_or(1).max(1) + switch } else { 1 };
    }
    if p.hold_add.or(p.hold_max).or(p.hold_reduce).is_some() {
        let hold = match c.group {
            Some(1) => p.hold_add,
            Some(2) => p.hold_max,
            Some(3) => p.hold_reduce,
            _ => None,
        };
        return hold.unwrap_or(1).max(1);
    }
    if on(p.after) {
        return if on(c.after_exempt) { own } else { p.after.unwrap_or(1).max(own) };
    }
    (write_back(p, c) + extra).max(own)
}

/// Two results may not reach the write-back port in the same cycle.
fn write_back(p: &OpFigures, c: &OpFigures) -> u32 {
    let slot = |f: &OpFigures| f.write_slot.or(f.latency).unwrap_or(0);
    let (a, b) = (slot(p), slot(c));
    if a == 0 || b == 0 {
        return 1;
    }
    let (n, m) = (p.write_slots.unwrap_or(1).max(1), c.write_slots.unwrap_or(1).max(1));
    // Slots of the first: (a-n, a]; of the second, d later: (b-m+d, b+d].
    (1..).find(|d| b + d + 1 > a + m || b + d + n < a + 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(latency: u32) -> OpFigures {
        OpFigures { latency: Some(latency), ..OpFigures::default() }
    }

    #[test]
    fn write_back_port_takes_one_result_a_cycle() {
        assert_eq!(interval(&op(8), &op(7), false), 2, "would arrive together at distance 1");
        assert_eq!(interval(&op(7), &op(8), false), 1);
        assert_eq!(interval(&op(8), &op(6), false), 1);
        let two = OpFigures { write_slots: Some(2), ..op(8) };
        assert_eq!(interval(&two, &op(6), false), 3, "both write slots are in the way");
        assert_eq!(interval(&two, &two, false), 2);
        assert_eq!(interval(&op(8), &OpFigures { write_slot: Some(0), ..op(7) }, false), 1);
    }

    #[test]
    fn iterative_units_hold_their_kind_only() {
        let exp = OpFigures { iterative: Some(1), interval: Some(4), switch: Some(2), ..op(16) };
        let div = OpFigures { switch: Some(1), ..exp };
        let sqrt = OpFigures { switch: None, ..exp };
        assert_eq!(interval(&exp, &exp, true), 4);
        assert_eq!(interval(&exp, &div, false), 6);
        assert_eq!(interval(&div, &exp, false), 5);
        assert_eq!(interval(&sqrt, &div, false), 4);
        assert_eq!(interval(&exp, &op(7), false), 1);
    }

    #[test]
    fn reductions_hold_the_adder() {
        let max = OpFigures { hold_add: Some(4), hold_max: Some(5), ..op(16) };
        assert_eq!(interval(&max, &OpFigures { group: Some(1), ..op(7) }, false), 4);
        assert_eq!(interval(&max, &OpFigures { group: Some(2), ..op(6) }, false), 5);
        assert_eq!(interval(&max, &op(8), false), 1);
    }
}
