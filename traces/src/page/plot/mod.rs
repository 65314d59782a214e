//! Plots as SVG: bars, lines, heat maps, tornados.
//!
//! Every plot has a title that is read out, and every mark one that shows under the pointer. What
//! is not finite is not drawn.

mod axis;
mod bars;
mod gantt;
mod heat;
mod lines;

pub use axis::Axis;
pub use bars::{Bar, Swing, bars, coloured, tornado};
pub use gantt::{Stretch, gantt};
pub use heat::{HeatCell, heat, parted};
pub use lines::{Series, lines};

use super::{PLOT_CSS, escape};
use std::fmt::Write;

/// Width of every plot in pixels.
const WIDTH: f64 = 680.0;

/// Light colours for files that stand alone.
const VARIABLES: &str = "svg{--bg:#fcfcfb;--fg:#1b1b1a;--soft:#5c5b57;--line:#d6d5d0;\
    --c0:#2a78d6;--c1:#e07a1f;--c2:#1a9a6b;--c3:#c8921a;--c4:#6a55c4;--c5:#d64545;--c6:#d0628f;\
    --c7:#7a8793;background:var(--bg)}\n\
    @media(prefers-color-scheme:dark){svg{--bg:#17181a;--fg:#e9e8e5;--soft:#a9a8a3;--line:#3c3f44;\
    --c0:#4a92ea;--c1:#e58a3c;--c2:#2cae80;--c3:#cf9f33;--c4:#9a8cec;--c5:#e66767;--c6:#dc7ba5;\
    --c7:#8d99a5}}\n";

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    title: String,
    height: f64,
    marks: String,
    svg: String,
}

impl Plot {
    fn new(title: &str) -> Plot {
        Plot { title: title.to_string(), height: 0.0, marks: String::new(), svg: String::new() }
    }

    fn finish(mut self, height: f64) -> Plot {
        self.height = height.ceil();
        self.svg = self.element("");
        self
    }

    fn element(&self, more: &str) -> String {
        let (title, h) = (escape(&self.title), self.height);
        format!(
            "<svg class=\"plot\"{more} width=\"{WIDTH}\" height=\"{h}\" viewBox=\"0 0 {WIDTH} {h}\" \
             role=\"img\" aria-label=\"{title}\">{}</svg>",
            self.marks
        )
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The element, for a page.
    pub fn inline(&self) -> &str {
        &self.svg
    }

    /// The picture as a file of its own.
    pub fn standalone(&self) -> String {
        let style = format!("<style>\n{VARIABLES}{PLOT_CSS}</style>");
        let svg = self.element(" xmlns=\"http://www.w3.org/2000/svg\"");
        let at = svg.find('>').map_or(0, |i| i + 1);
        format!("{}{style}{}\n", &svg[..at], &svg[at..])
    }

    fn put(&mut self, text: &str, x: f64, y: f64, class: &str) {
        let text = escape(text);
        let _ =
            write!(self.marks, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{text}</text>");
    }

    /// A filled rectangle; `tip` shows under the pointer.
    fn rect(&mut self, at: [f64; 4], class: &str, more: &str, tip: &str) {
        let [x, y, w, h] = at;
        let tip = escape(tip);
        let _ = write!(
            self.marks,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" class=\"{class}\"{more}>\
             <title>{tip}</title></rect>"
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ =
            write!(self.marks, "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" class=\"{class}\"/>");
    }

    /// Names of series in a row, new rows as needed, from `y` on; returns where the next thing goes.
    fn legend(&mut self, names: &[(String, u8)], x: f64, mut y: f64) -> f64 {
        if names.is_empty() {
            return y;
        }
        let mut at = x;
        for (name, colour) in names {
            let w = 32.0 + 1.1 * width(name);
            if at > x && at + w > WIDTH {
                (at, y) = (x, y + 18.0);
            }
            self.rect([at, y, 11.0, 11.0], &format!("f{colour}"), "", name);
            self.put(name, at + 16.0, y + 10.0, "");
            at += w;
        }
        y + 22.0
    }
}

/// Names with the colours in their order.
fn in_order(names: impl IntoIterator<Item = String>) -> Vec<(String, u8)> {
    names.into_iter().zip((0..8).cycle()).collect()
}

/// Rough width of a text of 12 pixels.
fn width(text: &str) -> f64 {
    text.chars().count() as f64 * 6.7
}

/// A text that fits so many pixels.
fn fitted(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_string();
    }
    let keep = (room / 6.7 - 1.0).max(1.0) as usize;
    text.chars().take(keep).chain(['\u{2026}']).collect()
}

/// A number in at most about six characters.
fn short(v: f64) -> String {
    let digits = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    };
    let a = v.abs();
    match a {
        0.0 => "0".into(),
        1e9.. => format!("{}G", digits(format!("{:.2}", v / 1e9))),
        1e6.. => format!("{}M", digits(format!("{:.2}", v / 1e6))),
        1e5.. => format!("{}k", digits(format!("{:.1}", v / 1e3))),
        100.0.. => digits(format!("{v:.0}")),
        1.0.. => digits(format!("{v:.2}")),
        1e-3.. => digits(format!("{v:.4}")),
        _ => format!("{v:.1e}"),
    }
}
