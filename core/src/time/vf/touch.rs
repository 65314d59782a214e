//! Which instruction of a function touches given bytes.

use super::program::{Access, Inst, Kind, Node, UB, VfProgram};
use std::ops::Range;

/// Places looked at of one access; beyond that, the bytes between its first and last count as its.
const PLACES: u32 = 1 << 14;

impl VfProgram {
    /// The first instruction in program order that reads (or writes) some of these bytes of UB, if
    /// its addresses are known.
    pub fn touching(&self, bytes: Range<u64>, write: bool) -> Option<&Inst> {
        let range = i64::try_from(bytes.start).ok()?..i64::try_from(bytes.end).ok()?;
        let kind = if write { Kind::Store } else { Kind::Load };
        self.search(&self.body, &mut Vec::new(), kind, &range)
    }

    fn search(
        &self,
        nodes: &[Node],
        trips: &mut Vec<u64>,
        kind: Kind,
        range: &Range<i64>,
    ) -> Option<&Inst> {
        nodes.iter().find_map(|n| match n {
            Node::Inst(i) => {
                let inst = self.insts.get(*i as usize).filter(|i| i.kind == kind)?;
                let a = inst.access.as_ref().filter(|a| a.region == UB)?;
                meets(a, trips, range).then_some(inst)
            }
            Node::Loop(l) => {
                trips.push(l.trips);
                let found = self.search(&l.body, trips, kind, range);
                trips.pop();
                found
            }
        })
    }
}

/// Does an access inside loops of so many trips touch the range?
fn meets(a: &Access, trips: &[u64], range: &Range<i64>) -> bool {
    let loops = a.deltas.iter().zip(trips).map(|(d, n)| (*n, *d));
    let mut levels: Vec<(u64, i64)> = loops.filter(|l| l.1 != 0).collect();
    levels.push((u64::from(a.pieces.max(1)), i64::from(a.stride)));
    if levels.iter().any(|l| l.0 == 0) || trips.contains(&0) {
        return false;
    }
    // The widest steps first: what is left then spans little, and few rounds reach the range.
    levels.sort_by_key(|l| std::cmp::Reverse(l.1.unsigned_abs()));
    let wanted = i128::from(range.start)..i128::from(range.end);
    let mut budget = PLACES;
    reach(&levels, i128::from(a.base), i128::from(a.bytes), &wanted, &mut budget)
}

fn reach(
    levels: &[(u64, i64)],
    at: i128,
    unit: i128,
    range: &Range<i128>,
    budget: &mut u32,
) -> bool {
    let Some((&(n, step), rest)) = levels.split_first() else {
        return at < range.end && range.start < at + unit;
    };
    // Bytes the inner levels span, relative to where this one stands.
    let (mut low, mut high) = (0i128, unit);
    for &(n, d) in rest {
        let far = i128::from(n - 1) * i128::from(d);
        (low, high) = (low + far.min(0), high + far.max(0));
    }
    let (last, d) = (i128::from(n - 1), i128::from(step));
    let (mut k, mut to) = (0, last);
    if d != 0 {
        // Rounds whose span [at + k d + low, at + k d + high) overlaps the range.
        let (first, end) = (range.start - high - at + 1, range.end - low - at - 1);
        let (a, b) = if d > 0 { (first, end) } else { (-end, -first) };
        let d = d.abs();
        (k, to) = (k.max(-(-a).div_euclid(d)), to.min(b.div_euclid(d)));
    } else {
        to = 0;
    }
    while k <= to {
        if *budget == 0 {
            return true;
        }
        *budget -= 1;
        if reach(rest, at + k * d, unit, range, budget) {
            return true;
        }
        k += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::program::{Access, vreg};
    use super::*;

    /// Rows of chunks, as far as a plain look at every place says.
    fn plainly(a: &Access, trips: &[u64], range: &Range<i64>) -> bool {
        let places = (0..trips[0]).flat_map(|i| (0..trips[1]).map(move |j| (i, j)));
        places.flat_map(|(i, j)| (0..i64::from(a.pieces)).map(move |p| (i, j, p))).any(
            |(i, j, p)| {
                let at = a.base + i as i64 * a.deltas[0] + j as i64 * a.deltas[1];
                let at = at + p * i64::from(a.stride);
                at < range.end && range.start < at + i64::from(a.bytes)
            },
        )
    }

    #[test]
    fn as_a_look_at_every_place() {
        let mut seed = 1u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        let mut met = [0, 0];
        for _ in 0..4000 {
            let mut a = Access::contiguous(UB, next(2000) as i64, &[], 1 + next(64) as u32);
            a.deltas = [next(600) as i64 - 300, next(200) as i64 - 100].into_iter().collect();
            (a.pieces, a.stride) = (1 + next(4) as u16, next(200) as i32 - 100);
            let trips = [next(6), next(6)];
            let from = next(3000) as i64;
            let range = from..from + 1 + next(100) as i64;
            let expected = plainly(&a, &trips, &range);
            met[usize::from(expected)] += 1;
            assert_eq!(meets(&a, &trips, &range), expected, "{a:?} {trips:?} {range:?}");
        }
        assert!(met.iter().all(|n| *n > 300), "{met:?}");
    }

    #[test]
    fn the_first_of_the_kind_is_named() {
        let mut p = VfProgram::default();
        let c = p.class("x", None);
        let at = |base: i64| Access::contiguous(UB, base, &[256], 256);
        let load = |base| Inst::new(c, Kind::Load).to(&[vreg(0)]).touching(at(base));
        let body = vec![p.add(load(0)), p.add(load(4096)), {
            p.add(Inst::new(c, Kind::Store).from(&[vreg(0)]).touching(at(8192)))
        }];
        p.body = vec![Node::repeat(4, body)];
        let first =
            |from: u64, write| p.touching(from..from + 32, write)?.access.as_ref().map(|a| a.base);
        assert_eq!(first(4096 + 3 * 256, false), Some(4096));
        assert_eq!(first(4096 + 4 * 256, false), None);
        assert_eq!(first(8192, true), Some(8192));
        assert_eq!(first(8192, false), None);
    }
}
