//! Horizontal bars: stacked parts, and swings around a base.

use super::axis::Scale;
use super::{Axis, Plot, WIDTH, fitted, short, width};

/// Height of a row.
const ROW: f64 = 24.0;

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// Its parts, one a key.
    pub parts: Vec<f64>,
}

/// Stacked bars; `keys` names the parts. With one key there is no legend.
pub fn bars(title: &str, axis: &Axis, keys: &[&str], bars: &[Bar]) -> Plot {
    let keys: Vec<(&str, u8)> = keys.iter().copied().zip((0..8).cycle()).collect();
    coloured(title, axis, &keys, bars)
}

/// The same with the colour of each part: 0 to 7, and 8 for what is of no interest.
pub fn coloured(title: &str, axis: &Axis, keys: &[(&str, u8)], bars: &[Bar]) -> Plot {
    let mut p = Plot::new(title);
    p.put(title, 0.0, 14.0, "head");
    let names: Vec<(String, u8)> = keys.iter().map(|(k, c)| (k.to_string(), *c)).collect();
    let top = match keys.len() {
        0 | 1 => 26.0,
        _ => p.legend(&names, 0.0, 26.0) + 4.0,
    };
    let finite = |v: &f64| v.is_finite() && *v > 0.0;
    let total = |b: &Bar| b.parts.iter().filter(|v| finite(v)).sum::<f64>();
    let left = labels(bars.iter().map(|b| &b.label));
    let x = Scale::new(
        &Axis { zero: true, ..axis.clone() },
        bars.iter().map(total),
        left,
        WIDTH - 60.0,
    );
    let bottom = top + ROW * bars.len() as f64 + 4.0;
    x.draw_x(&mut p, axis, top, bottom);
    for (i, b) in bars.iter().enumerate() {
        let y = top + ROW * i as f64 + 4.0;
        p.put(&fitted(&b.label, left - 10.0), left - 8.0, y + 12.0, "end");
        let mut sum = 0.0;
        for (k, v) in b.parts.iter().enumerate().filter(|(_, v)| finite(v)) {
            let (Some(from), Some(to)) = (x.at(sum), x.at(sum + v)) else { continue };
            sum += v;
            let (key, colour) = keys.get(k).copied().unwrap_or_default();
            let tip = format!("{}: {key} {}", b.label, short(*v));
            p.rect([from, y, (to - from).max(0.5), ROW - 8.0], &format!("f{colour}"), "", &tip);
        }
        let end = x.at(sum).unwrap_or(left);
        p.put(&short(sum), end + 6.0, y + 12.0, "soft");
    }
    p.finish(bottom + 40.0)
}

/// Room for names at the left.
fn labels<'a>(names: impl Iterator<Item = &'a String>) -> f64 {
    names.map(|n| width(n) + 12.0).fold(60.0, f64::max).min(WIDTH * 0.4)
}

/// A row of a tornado: where the result goes when one thing is low and when it is high.
#[derive(Clone, Debug, PartialEq)]
pub struct Swing {
    /// What is varied.
    pub label: String,
    /// Result with the low value.
    pub low: f64,
    /// Result with the high value.
    pub high: f64,
    /// The two values, for the tip.
    pub tip: String,
}

/// A tornado: swings around a base, drawn in the order given (widest first by habit).
pub fn tornado(title: &str, axis: &Axis, base: f64, swings: &[Swing]) -> Plot {
    let mut p = Plot::new(title);
    p.put(title, 0.0, 14.0, "head");
    let top = p.legend(&[("low value".into(), 0), ("high value".into(), 1)], 0.0, 26.0) + 4.0;
    let left = labels(swings.iter().map(|s| &s.label));
    let ends = swings.iter().flat_map(|s| [s.low, s.high]).chain([base]);
    let x = Scale::new(axis, ends, left + 46.0, WIDTH - 60.0);
    let bottom = top + ROW * swings.len() as f64 + 4.0;
    x.draw_x(&mut p, axis, top, bottom);
    for (i, s) in swings.iter().enumerate() {
        let y = top + ROW * i as f64 + 4.0;
        p.put(&fitted(&s.label, left - 10.0), left - 8.0, y + 12.0, "end");
        let Some(zero) = x.at(base) else { continue };
        for (k, v) in [s.low, s.high].into_iter().enumerate() {
            let Some(at) = x.at(v) else { continue };
            let tip = format!("{}: {} ({})", s.label, short(v), s.tip);
            let span = [zero.min(at), y, (zero - at).abs().max(0.5), ROW - 8.0];
            // Both on one side: the second is drawn thinner, so that neither hides the other.
            let both = k == 1 && (s.low - base) * (s.high - base) > 0.0;
            let span = if both { [span[0], y + 4.0, span[2], ROW - 16.0] } else { span };
            p.rect(span, &format!("f{k}"), "", &tip);
        }
        let spread = [s.low, s.high, base].into_iter().filter_map(|v| x.at(v).map(|at| (at, v)));
        let mut spread: Vec<(f64, f64)> = spread.collect();
        spread.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let (Some(a), Some(b)) = (spread.first(), spread.last()) {
            p.put(&short(a.1), a.0 - 5.0, y + 12.0, "soft end");
            p.put(&short(b.1), b.0 + 5.0, y + 12.0, "soft");
        }
    }
    if let Some(zero) = x.at(base) {
        p.line((zero, top), (zero, bottom), "axis");
    }
    p.finish(bottom + 40.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_parts() {
        let rows = [
            Bar { label: "a".into(), parts: vec![1.0, 3.0] },
            Bar { label: "b".into(), parts: vec![f64::NAN, 2.0] },
        ];
        let p = bars("t", &Axis::new("cycles"), &["x", "y"], &rows);
        let wide = |tip: &str| {
            let at = p.inline().find(&format!("<title>{tip}</title>")).expect("drawn");
            let rect = &p.inline()[p.inline()[..at].rfind("<rect").expect("rect")..at];
            rect.split("width=\"")
                .nth(1)
                .and_then(|w| w.split('"').next())
                .expect("w")
                .parse::<f64>()
        };
        let (one, three) = (wide("a: x 1").expect("number"), wide("a: y 3").expect("number"));
        assert!((three - 3.0 * one).abs() < 0.3, "{one} {three}");
        assert_eq!(p.inline().matches("<title>b:").count(), 1);
    }

    #[test]
    fn a_tornado_shows_both_ends() {
        let swing = Swing { label: "drain".into(), low: 90.0, high: 130.0, tip: "0 to 12".into() };
        let p = tornado("t", &Axis::new("cycles"), 100.0, &[swing]);
        assert!(p.inline().contains("drain: 90") && p.inline().contains("drain: 130"));
        assert!(p.standalone().starts_with("<svg") && p.standalone().contains("xmlns"));
    }
}
