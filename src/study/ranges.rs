//! How far a figure may be off, by how well it is known.

use anyhow::{Result, anyhow, bail};
use ptoemu_core::target::Conf;

/// Reach of a figure around its value: a share of it, and cycles on top for figures in cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Share of the value.
    pub share: f64,
    /// Cycles added.
    pub cycles: f64,
}

/// A reach for every confidence.
///
/// The defaults are a choice: a measured figure is off by its rounding, a derived one by the error
/// of the fit, a documented one by what documents leave out, an assumed one by half and four cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranges([Reach; Conf::ALL.len()]);

impl Default for Ranges {
    fn default() -> Self {
        let reach = |share, cycles| Reach { share, cycles };
        Ranges([reach(0.02, 0.0), reach(0.1, 1.0), reach(0.05, 0.0), reach(0.5, 4.0)])
    }
}

impl Ranges {
    /// The defaults with `CONF=SHARE%` or `CONF=SHARE%+CYCLES` applied.
    pub fn with(mut self, texts: &[String]) -> Result<Ranges> {
        for text in texts {
            let (conf, reach) = one(text)?;
            self.0[conf as usize] = reach;
        }
        Ok(self)
    }

    /// The reach of a confidence.
    pub fn of(&self, conf: Conf) -> Reach {
        self.0[conf as usize]
    }

    /// As one line.
    pub fn text(&self) -> String {
        let one = |c: Conf| {
            let r = self.of(c);
            let cycles =
                if r.cycles > 0.0 { format!(" and {} cycles", r.cycles) } else { String::new() };
            format!("{c} {}%{cycles}", 100.0 * r.share)
        };
        Conf::ALL.map(one).join(", ")
    }
}

fn one(text: &str) -> Result<(Conf, Reach)> {
    let form =
        || anyhow!("`{text}` is not CONF=SHARE% or CONF=SHARE%+CYCLES, for example Assumed=50%+4");
    let (name, rest) = text.split_once('=').ok_or_else(form)?;
    let conf = Conf::ALL.into_iter().find(|c| c.name().eq_ignore_ascii_case(name.trim()));
    let Some(conf) = conf else {
        bail!("`{name}` is no confidence: Measured, Derived, Documented or Assumed");
    };
    let (share, cycles) = rest.split_once('+').unwrap_or((rest, "0"));
    let share = share.trim().strip_suffix('%').ok_or_else(form)?;
    let number = |s: &str| s.trim().parse::<f64>().map_err(|_| form());
    let (share, cycles) = (number(share)? / 100.0, number(cycles)?);
    if !(0.0..=10.0).contains(&share) || !(0.0..=10_000.0).contains(&cycles) {
        bail!("`{text}`: a share of 0 to 1000% and 0 to 10000 cycles");
    }
    Ok((conf, Reach { share, cycles }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaches_are_read_and_refused() {
        let r = Ranges::default().with(&["assumed=100%+8".into(), "Measured=0%".into()]).unwrap();
        assert_eq!(r.of(Conf::Assumed), Reach { share: 1.0, cycles: 8.0 });
        assert_eq!(r.of(Conf::Measured), Reach { share: 0.0, cycles: 0.0 });
        assert_eq!(r.of(Conf::Derived), Ranges::default().of(Conf::Derived));
        for (text, part) in [
            ("Assumed", "is not CONF=SHARE%"),
            ("Sure=3%", "is no confidence"),
            ("Assumed=3", "is not CONF=SHARE%"),
            ("Assumed=x%", "is not CONF=SHARE%"),
            ("Assumed=-3%", "0 to 1000%"),
            ("Assumed=5%+NaN", "0 to 1000%"),
        ] {
            let e = Ranges::default().with(&[text.to_string()]).unwrap_err().to_string();
            assert!(e.contains(part), "{text}: {e}");
        }
    }
}
