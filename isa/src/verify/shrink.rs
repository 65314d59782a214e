//! From a use that shows a fault to the smallest one found that still does.

use super::spec::Spec;

/// Most uses tried; each step makes a use simpler, so the end is near anyway.
const TRIES: u32 = 4000;

/// The simplest use reached from `spec` in steps that keep `shows` true.
pub fn shrink(spec: Spec, mut shows: impl FnMut(&Spec) -> bool) -> Spec {
    let mut best = spec;
    let mut tries = 0;
    loop {
        let better = simpler(&best).into_iter().find(|s| {
            tries += 1;
            tries <= TRIES && shows(s)
        });
        match better {
            Some(s) => best = s,
            None => return best,
        }
    }
}

/// Uses that differ in one number or setting, the largest steps first.
fn simpler(s: &Spec) -> Vec<Spec> {
    let mut out = Vec::new();
    let mut put = |change: &dyn Fn(&mut Spec)| {
        let mut next = *s;
        change(&mut next);
        if next != *s {
            out.push(next);
        }
    };
    put(&|n| n.shift = [0; 4]);
    put(&|n| n.slack = [0; 4]);
    put(&|n| n.dynamic = [false; 2]);
    put(&|n| n.below = 0);
    for rows in down(s.rows, 1) {
        put(&|n| n.rows = rows);
    }
    for cols in down(s.cols, 1) {
        put(&|n| n.cols = cols);
    }
    put(&|n| n.below = n.below.saturating_sub(1));
    put(&|n| n.turned = false);
    put(&|n| n.blocks = false);
    put(&|n| n.swapped = false);
    put(&|n| n.flat = false);
    put(&|n| n.variant = false);
    put(&|n| n.order = false);
    put(&|n| n.in_place = 0);
    put(&|n| n.tmp = 0);
    put(&|n| n.round = 0);
    put(&|n| n.sat = 0);
    put(&|n| n.columns = 0);
    put(&|n| n.columns = n.columns.min(1));
    put(&|n| n.dist = 0);
    put(&|n| n.seed = 1);
    for i in 0..4 {
        put(&|n| n.shift[i] = 0);
        for slack in down(u32::from(s.slack[i]), 0) {
            put(&|n| n.slack[i] = slack as u16);
        }
        if let Some(on) = s.dynamic.get(i).filter(|on| **on) {
            put(&|n| n.dynamic[i] = !on);
        }
    }
    out
}

/// Smaller numbers, from the smallest to the next one.
fn down(v: u32, least: u32) -> Vec<u32> {
    let mut out = vec![least, 2, v / 2, v - v / 4, v.saturating_sub(8), v.saturating_sub(1)];
    out.retain(|n| (least..v).contains(n));
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaches_the_least_use_that_shows_it() {
        let start = Spec { rows: 599, cols: 77, slack: [1, 2, 3, 4], seed: 9, ..Spec::default() };
        let shown = |s: &Spec| s.rows > 255 && s.rows % 240 > 100 && s.cols >= 2 && s.slack[1] > 0;
        let small = shrink(start, shown);
        let want = Spec { rows: 341, cols: 2, slack: [0, 1, 0, 0], ..Spec::default() };
        assert_eq!(small, want);
    }
}
