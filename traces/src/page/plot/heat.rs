//! Heat maps.

use super::{Plot, WIDTH, fitted, short, width};

/// A field of a heat map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatCell {
    /// Its value; `None` leaves the field empty.
    pub value: Option<f64>,
    /// What stands in it; nothing if there is no room.
    pub text: String,
    /// Which of the eight colours: for instance the bound resource.
    pub colour: u8,
    /// Has a frame: for instance the best.
    pub best: bool,
}

impl HeatCell {
    /// A field with a value.
    pub fn new(value: f64) -> HeatCell {
        HeatCell { value: Some(value), text: short(value), colour: 0, best: false }
    }
}

/// Rows by columns of fields, darker for larger values. `colours` names colours in a legend, in
/// their order; give none for a single colour.
pub fn heat(
    title: &str,
    x: (&str, &[String]),
    y: (&str, &[String]),
    cells: &[Vec<HeatCell>],
    colours: &[String],
) -> Plot {
    draw(title, x, y, (cells, false), colours)
}

/// The same with a line between fields of two colours: where the order of two things changes.
pub fn parted(
    title: &str,
    x: (&str, &[String]),
    y: (&str, &[String]),
    cells: &[Vec<HeatCell>],
    colours: &[String],
) -> Plot {
    draw(title, x, y, (cells, true), colours)
}

fn draw(
    title: &str,
    (x_label, x): (&str, &[String]),
    (y_label, y): (&str, &[String]),
    (cells, parted): (&[Vec<HeatCell>], bool),
    colours: &[String],
) -> Plot {
    let mut p = Plot::new(title);
    p.put(title, 0.0, 14.0, "head");
    let values = || cells.iter().flatten().filter_map(|c| c.value).filter(|v| v.is_finite());
    let (low, high) =
        values().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let mut top = p.legend(&super::in_order(colours.iter().cloned()), 0.0, 26.0);
    if low <= high {
        p.put(
            &format!("lightest {}, darkest {}", short(low), short(high)),
            0.0,
            top + 10.0,
            "soft",
        );
    }
    top += 20.0;
    p.put(&format!("{y_label} \u{2193}   {x_label} \u{2192}"), 0.0, top + 10.0, "soft");
    top += 18.0;
    let left = y.iter().map(|n| width(n) + 12.0).fold(36.0, f64::max).min(WIDTH * 0.3);
    let w = ((WIDTH - left - 4.0) / x.len().max(1) as f64).min(72.0);
    let h = if w < 14.0 { w.max(4.0) } else { 24.0 };
    let written = h > 13.0 && cells.iter().flatten().all(|c| width(&c.text) + 6.0 < w);
    let every = ((width("00000") + 6.0) / w).ceil().max(1.0) as usize;
    for (i, name) in x.iter().enumerate().step_by(every) {
        let room = w * every as f64 - 2.0;
        p.put(&fitted(name, room), left + w * (i as f64 + 0.5), top + 10.0, "soft mid");
    }
    top += 16.0;
    let rows = (16.0 / h).ceil().max(1.0) as usize;
    for (j, name) in y.iter().enumerate() {
        if j.is_multiple_of(rows) {
            let at = top + h * (j as f64 + 0.5) + 4.0;
            p.put(&fitted(name, left - 10.0), left - 6.0, at, "soft end");
        }
        for (i, c) in cells.get(j).into_iter().flatten().enumerate().take(x.len()) {
            let Some(v) = c.value.filter(|v| v.is_finite()) else { continue };
            let share = if high > low { (v - low) / (high - low) } else { 1.0 };
            let column = x.get(i).map_or("", String::as_str);
            let kind = colours.get(usize::from(c.colour)).map_or("", String::as_str);
            let tip = format!("{x_label} {column}, {y_label} {name}: {} {kind}", short(v));
            field(
                &mut p,
                c,
                [left + w * i as f64, top + h * j as f64, w - 1.0, h - 1.0],
                share,
                &tip,
            );
            if written {
                let middle = (left + w * (i as f64 + 0.5), top + h * (j as f64 + 0.5) + 4.0);
                p.put(&c.text, middle.0, middle.1, "mid");
            }
        }
    }
    if parted {
        borders(&mut p, cells, (left, top), (w, h));
    }
    p.finish(top + h * y.len() as f64 + 6.0)
}

/// Lines between neighbours of two colours.
fn borders(p: &mut Plot, cells: &[Vec<HeatCell>], (left, top): (f64, f64), (w, h): (f64, f64)) {
    let at = |j: usize, i: usize| cells.get(j).and_then(|row| row.get(i));
    let differ = |a: &HeatCell, b: Option<&HeatCell>| {
        let both = a.value.and(b.and_then(|b| b.value)).is_some();
        both && b.is_some_and(|b| b.colour != a.colour)
    };
    for (j, row) in cells.iter().enumerate() {
        for (i, c) in row.iter().enumerate() {
            let (x, y) = (left + w * i as f64 - 0.5, top + h * j as f64 - 0.5);
            if differ(c, at(j, i + 1)) {
                p.line((x + w, y), (x + w, y + h), "border");
            }
            if differ(c, at(j + 1, i)) {
                p.line((x, y + h), (x + w, y + h), "border");
            }
        }
    }
}

/// One field, `share` of the way from the lightest to the darkest.
fn field(p: &mut Plot, c: &HeatCell, at: [f64; 4], share: f64, tip: &str) {
    let opacity = format!(" fill-opacity=\"{:.3}\"", 0.1 + 0.65 * share);
    p.rect(at, &format!("f{}", c.colour % 8), &opacity, tip);
    if c.best {
        p.rect(at, "best", "", tip);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_parts_two_colours() {
        let names = ["1".to_string(), "2".to_string()];
        let of = |colour| HeatCell { colour, ..HeatCell::new(1.0) };
        let cells = [vec![of(0), of(0)], vec![of(0), of(1)], vec![of(1), HeatCell::default()]];
        let lines = |p: &Plot| p.inline().matches("class=\"border\"").count();
        let axis = ("a", &names[..]);
        assert_eq!(lines(&parted("t", axis, axis, &cells, &[])), 3);
        assert_eq!(lines(&heat("t", axis, axis, &cells, &[])), 0);
    }

    #[test]
    fn largest_is_darkest_and_holes_stay_empty() {
        let names = ["1".to_string(), "2".to_string()];
        let cells = [
            vec![HeatCell::new(1.0), HeatCell::default()],
            vec![HeatCell::new(f64::NAN), HeatCell::new(9.0)],
        ];
        let p = heat("t", ("cols", &names), ("rows", &names), &cells, &[]);
        assert_eq!(p.inline().matches("<rect").count(), 2);
        assert!(p.inline().contains("fill-opacity=\"0.100\"") && p.inline().contains("\"0.750\""));
    }
}
