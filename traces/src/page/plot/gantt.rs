//! Rows of stretches over one axis.

use super::axis::Scale;
use super::{Axis, Plot, WIDTH, fitted, short, width};

/// A stretch of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// Where it begins and ends.
    pub from: f64,
    /// End.
    pub to: f64,
    /// Its colour: 0 to 7, and 8 for what is of no interest.
    pub colour: u8,
    /// Drawn as a thin line: waiting rather than working.
    pub thin: bool,
    /// What it is.
    pub tip: String,
}

/// Rows of stretches, each with its name; `keys` explains colours.
pub fn gantt(
    title: &str,
    axis: &Axis,
    keys: &[(&str, u8)],
    rows: &[(String, Vec<Stretch>)],
) -> Plot {
    const ROW: f64 = 15.0;
    let mut p = Plot::new(title);
    p.put(title, 0.0, 14.0, "head");
    let names: Vec<(String, u8)> = keys.iter().map(|(k, c)| (k.to_string(), *c)).collect();
    let top = p.legend(&names, 0.0, 26.0) + 4.0;
    let left = rows.iter().map(|r| width(&r.0) + 12.0).fold(60.0, f64::max).min(WIDTH * 0.3);
    let ends = rows.iter().flat_map(|r| &r.1).flat_map(|s| [s.from, s.to]);
    let x = Scale::new(axis, ends, left, WIDTH - 10.0);
    let bottom = top + ROW * rows.len() as f64 + 2.0;
    x.draw_x(&mut p, axis, top, bottom);
    for (i, (name, stretches)) in rows.iter().enumerate() {
        let y = top + ROW * i as f64;
        p.put(&fitted(name, left - 10.0), left - 6.0, y + 11.0, "end");
        for s in stretches {
            let (Some(from), Some(to)) = (x.at(s.from), x.at(s.to)) else { continue };
            let (down, height) = if s.thin { (5.0, 5.0) } else { (2.0, ROW - 4.0) };
            let tip = format!("{name}: {}, {} to {}", s.tip, short(s.from), short(s.to));
            let at = [from, y + down, (to - from).max(0.5), height];
            p.rect(at, &format!("f{}", s.colour), "", &tip);
        }
    }
    p.finish(bottom + 40.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_that_are_not_finite_are_left_out() {
        let one = |to: f64| Stretch { from: 0.0, to, colour: 0, thin: false, tip: "runs".into() };
        let rows = [("a".to_string(), vec![one(4.0), one(f64::NAN)])];
        let p = gantt("t", &Axis::new("cycles"), &[], &rows);
        assert_eq!(p.inline().matches("<rect").count(), 1);
        assert!(p.inline().contains("a: runs, 0 to 4"));
    }
}
