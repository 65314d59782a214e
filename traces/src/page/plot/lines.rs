//! Lines over two axes.

use super::axis::Scale;
use super::{Axis, Plot, WIDTH, short};
use std::fmt::Write;

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, in the order they are joined.
    pub points: Vec<(f64, f64)>,
    /// Points only, not joined.
    pub dots: bool,
    /// A stretch of values around the line: where, lower and upper end.
    pub band: Vec<(f64, f64, f64)>,
}

impl Series {
    /// Joined points.
    pub fn new(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.to_string(), points, dots: false, band: Vec::new() }
    }

    /// Single points.
    pub fn dots(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series { dots: true, ..Series::new(name, points) }
    }

    /// The same with a band behind it.
    pub fn within(self, band: Vec<(f64, f64, f64)>) -> Series {
        Series { band, ..self }
    }
}

/// Points of a line up to which each has a mark of its own.
const MARKED: usize = 64;

/// Lines and points.
pub fn lines(title: &str, x: &Axis, y: &Axis, series: &[Series]) -> Plot {
    let mut p = Plot::new(title);
    p.put(title, 0.0, 14.0, "head");
    let names = super::in_order(series.iter().map(|s| s.name.clone()));
    let top = if series.len() > 1 { p.legend(&names, 0.0, 26.0) } else { 26.0 } + 22.0;
    let (left, right, bottom) = (56.0, WIDTH - 16.0, top + 260.0);
    let points = || series.iter().flat_map(|s| &s.points);
    let reach = series.iter().flat_map(|s| &s.band).flat_map(|b| [b.1, b.2]);
    let sx = Scale::new(x, points().map(|q| q.0), left, right);
    let sy = Scale::new(y, points().map(|q| q.1).chain(reach), bottom, top);
    sx.draw_x(&mut p, x, top, bottom);
    sy.draw_y(&mut p, y, left, right);
    for (k, s) in series.iter().enumerate() {
        band(&mut p, s, k, &sx, &sy);
    }
    for (k, s) in series.iter().enumerate() {
        let mut path = String::new();
        let mut pen = 'M';
        for &(px, py) in &s.points {
            match (sx.at(px), sy.at(py)) {
                (Some(at), Some(up)) => {
                    let _ = write!(path, "{pen}{at:.1} {up:.1}");
                    pen = 'L';
                }
                _ => pen = 'M',
            }
        }
        if !s.dots {
            let _ = write!(p.marks, "<path d=\"{path}\" class=\"trace s{}\"/>", k % 8);
        }
        if s.dots || s.points.len() <= MARKED {
            marks(&mut p, s, k, &sx, &sy);
        }
    }
    p.finish(bottom + 40.0)
}

/// The stretch around a line, behind all lines.
fn band(p: &mut Plot, s: &Series, k: usize, sx: &Scale, sy: &Scale) {
    let upper = s.band.iter().map(|b| (b.0, b.2));
    let lower = s.band.iter().rev().map(|b| (b.0, b.1));
    let corners: Vec<String> = upper
        .chain(lower)
        .filter_map(|(x, y)| Some(format!("{:.1} {:.1}", sx.at(x)?, sy.at(y)?)))
        .collect();
    if corners.len() > 3 {
        let _ = write!(p.marks, "<path d=\"M{}Z\" class=\"band f{}\"/>", corners.join("L"), k % 8);
    }
}

fn marks(p: &mut Plot, s: &Series, k: usize, sx: &Scale, sy: &Scale) {
    for &(px, py) in &s.points {
        let (Some(x), Some(y)) = (sx.at(px), sy.at(py)) else { continue };
        let tip = super::escape(&format!("{}: {}, {}", s.name, short(px), short(py)));
        let _ = write!(
            p.marks,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" class=\"f{}\"><title>{tip}</title></circle>",
            k % 8
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_parts_a_line() {
        let s = [Series::new("a", vec![(1.0, 1.0), (2.0, f64::NAN), (3.0, 2.0), (4.0, 4.0)])];
        let p = lines("t", &Axis::new("x"), &Axis::from_zero("y"), &s);
        let path = p.inline().split("class=\"trace").next().expect("path");
        let path = path.rsplit("d=\"").next().expect("d");
        assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 1));
        assert_eq!(p.inline().matches("<circle").count(), 3);
    }
}
