//! The values a figure runs through: `7`, `8,16,32`, `1..8`, `1..16:2`, `1..1024:x2`.

use std::ops::Range;

/// Values of one figure accepted at most.
pub const MOST: usize = 1_000_000;

/// What is wrong with a list of values, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Bytes of the text.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub help: String,
}

fn fault(at: Range<usize>, message: impl Into<String>) -> Fault {
    Fault { at, message: message.into(), help: FORM.into() }
}

/// The way out of most faults.
const FORM: &str = "a number, A..B, A..B:STEP or A..B:xFACTOR; both ends belong to a range";

fn many(at: Range<usize>) -> Fault {
    let help = "a larger step, or a factor: A..B:xF".into();
    Fault { help, ..fault(at, format!("more than {MOST} values")) }
}

/// Reads a list of numbers and ranges separated by commas. Both ends of a range belong to it: `1..8`
/// steps by 1, `1..16:2` by 2, `1..1024:x2` doubles.
pub fn parse(text: &str) -> Result<Vec<f64>, Fault> {
    let (mut out, mut at) = (Vec::new(), 0);
    for part in text.split(',') {
        let trimmed = part.trim();
        let start = at + (part.len() - part.trim_start().len());
        item(trimmed, start, &mut out)?;
        if out.len() > MOST {
            return Err(many(start..start + trimmed.len()));
        }
        at += part.len() + 1;
    }
    Ok(out)
}

fn item(text: &str, at: usize, out: &mut Vec<f64>) -> Result<(), Fault> {
    let Some((from, rest)) = text.split_once("..") else {
        out.push(number(text, at)?);
        return Ok(());
    };
    let (to, step) = match rest.split_once(':') {
        Some((to, step)) => (to, Some(step)),
        None => (rest, None),
    };
    let first = at + from.len() + 2;
    let (a, b) = (number(from, at)?, number(to, first)?);
    if a > b {
        let help = format!("write {to}..{from}");
        return Err(Fault { help, ..fault(at..first + to.len(), format!("{from} exceeds {to}")) });
    }
    match step {
        None => linear(a, b, 1.0, at..at + text.len(), out),
        Some(step) => {
            let span = first + to.len() + 1..at + text.len();
            match step.strip_prefix('x') {
                Some(f) => {
                    let factor = number(f, span.start + 1)?;
                    geometric(a, b, factor, (at, span), out)
                }
                None => match number(step, span.start)? {
                    s if s > 0.0 => linear(a, b, s, at..at + text.len(), out),
                    _ => Err(fault(span, "the step of a range is above 0")),
                },
            }
        }
    }
}

fn linear(a: f64, b: f64, step: f64, at: Range<usize>, out: &mut Vec<f64>) -> Result<(), Fault> {
    // A step that does not divide the range exactly in binary must still reach its end.
    let n = ((b - a) / step + 1e-9).floor();
    if n >= MOST as f64 {
        return Err(many(at));
    }
    out.extend((0..=n as u64).map(|k| tidy(a + k as f64 * step)));
    Ok(())
}

fn geometric(
    a: f64,
    b: f64,
    factor: f64,
    (at, span): (usize, Range<usize>),
    out: &mut Vec<f64>,
) -> Result<(), Fault> {
    if factor <= 1.0 {
        return Err(fault(span, "the factor of a range is above 1"));
    }
    if a <= 0.0 {
        return Err(fault(at..span.end, "a range with a factor starts above 0"));
    }
    let mut v = a;
    // The factor is at least one representable step above 1: bound the count as well.
    for _ in 0..=MOST {
        if v > b * (1.0 + 1e-12) {
            return Ok(());
        }
        out.push(tidy(v));
        v *= factor;
    }
    Err(many(at..span.end))
}

/// Without the noise of binary fractions: 0.1 * 3 is 0.3.
fn tidy(v: f64) -> f64 {
    let scaled = v * 1e9;
    if scaled.abs() < 9e15 { scaled.round() / 1e9 } else { v }
}

fn number(text: &str, at: usize) -> Result<f64, Fault> {
    let span = at..at + text.len();
    if text.is_empty() {
        return Err(fault(span, "expected a number"));
    }
    match text.parse::<f64>() {
        Ok(v) if v.is_finite() => Ok(v),
        Ok(_) => Err(fault(span, format!("`{text}` is not a finite number"))),
        Err(_) => Err(fault(span, format!("`{text}` is no number"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        for (text, want) in [
            ("7", &[7.0][..]),
            ("8,16, 32", &[8.0, 16.0, 32.0]),
            ("1..4", &[1.0, 2.0, 3.0, 4.0]),
            ("0..0.3:0.1", &[0.0, 0.1, 0.2, 0.3]),
            ("1..16:5", &[1.0, 6.0, 11.0, 16.0]),
            ("1..20:x3", &[1.0, 3.0, 9.0]),
            ("1..1000:x10,5", &[1.0, 10.0, 100.0, 1000.0, 5.0]),
            ("3,1..4", &[3.0, 1.0, 2.0, 3.0, 4.0]),
            ("-2..-1", &[-2.0, -1.0]),
        ] {
            assert_eq!(parse(text).unwrap(), want, "{text}");
        }
    }

    #[test]
    fn faults_point_at_their_cause() {
        for (text, under, says) in [
            ("", "", "expected a number"),
            ("1,,2", "", "expected a number"),
            ("1..", "", "expected a number"),
            ("1..8:", "", "expected a number"),
            ("1, two", "two", "no number"),
            ("8..1", "8..1", "exceeds"),
            ("1..8:0", "0", "above 0"),
            ("1..8:x1", "x1", "above 1"),
            ("1..8:xx", "x", "no number"),
            ("0..8:x2", "0..8:x2", "starts above 0"),
            ("5,1..1e9", "1..1e9", "more than"),
            ("0..1:1e-300", "0..1:1e-300", "more than"),
            ("1..2:x1.0000000000000002", "1..2:x1.0000000000000002", "more than"),
            ("1..inf", "inf", "finite"),
            ("NaN", "NaN", "finite"),
        ] {
            let e = parse(text).unwrap_err();
            assert_eq!(&text[e.at.clone()], under, "{text}: {e:?}");
            assert!(e.message.contains(says), "{text}: {e:?}");
        }
    }
}
