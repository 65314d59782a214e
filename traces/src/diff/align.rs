//! Records of two runs that stand for each other: lane by lane, in order, the k-th to the k-th; an
//! inserted or missing record is stepped over.

use super::{Matched, Rec, Records};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Records looked ahead for the next that agree.
const AHEAD: usize = 64;
/// Records in a row that must agree after a step.
const AGREE: usize = 2;

/// How two runs part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The record is only in A.
    OnlyA,
    /// The record is only in B.
    OnlyB,
    /// It starts at another cycle.
    Start,
    /// It takes another number of cycles.
    Length,
}

/// The record at which two runs part first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct First {
    /// How.
    pub how: How,
    /// Its name.
    pub name: String,
    /// Its lane.
    pub lane: String,
    /// Dynamic id in A.
    pub id_a: Option<u64>,
    /// Dynamic id in B.
    pub id_b: Option<u64>,
    /// First and last cycle in A, from the start of its records.
    pub at_a: Option<(u64, u64)>,
    /// In B.
    pub at_b: Option<(u64, u64)>,
}

/// One lane of a run: indices of its records.
type Lane = Vec<usize>;

/// Matches the records of two runs.
pub(super) fn align(a: &Records, b: &Records) -> (Matched, Option<First>) {
    let (lanes_a, lanes_b) = (lanes(a), lanes(b));
    let mut found = Found {
        starts: (start(a, &lanes_a), start(b, &lanes_b)),
        a,
        b,
        matched: Matched::default(),
        first: None,
    };
    // Names of B as numbers of A.
    let number = |n: &String| a.names.get_index_of(n.as_str()).map_or(u32::MAX, |i| i as u32);
    let same: Vec<u32> = b.names.iter().map(number).collect();
    let equal = |i: usize, j: usize| {
        let name = |r: &Rec| same.get(r.name as usize).copied();
        a.items.get(i).map(|r| r.name) == b.items.get(j).and_then(name)
    };
    let mut names: Vec<&String> = a.lanes.iter().chain(&b.lanes).collect();
    names.sort();
    names.dedup();
    let none = Lane::new();
    for lane in names {
        let xs = lanes_a.get(lane.as_str()).unwrap_or(&none);
        let ys = lanes_b.get(lane.as_str()).unwrap_or(&none);
        walk(xs, ys, equal).into_iter().for_each(|step| found.note(lane, step));
    }
    (found.matched, found.first.map(|f| f.1))
}

/// What matching has found so far.
struct Found<'r> {
    a: &'r Records,
    b: &'r Records,
    starts: (u64, u64),
    matched: Matched,
    /// The difference at the lowest cycle.
    first: Option<(u64, First)>,
}

impl Found<'_> {
    fn note(&mut self, lane: &str, step: Step) {
        let (i, j) = match step {
            Step::Both(i, j) => (Some(i), Some(j)),
            Step::A(i) => (Some(i), None),
            Step::B(j) => (None, Some(j)),
        };
        let (x, y) = (i.and_then(|i| self.a.items.get(i)), j.and_then(|j| self.b.items.get(j)));
        let at_a = x.map(|r| cycles(r, self.starts.0));
        let at_b = y.map(|r| cycles(r, self.starts.1));
        let m = &mut self.matched;
        let how = match (at_a, at_b) {
            (Some(x), Some(y)) => {
                m.both += 1;
                m.moved += u64::from(x != y);
                if x == y {
                    return;
                }
                if x.0 != y.0 { How::Start } else { How::Length }
            }
            (Some(_), None) => {
                m.only_a += 1;
                How::OnlyA
            }
            _ => {
                m.only_b += 1;
                How::OnlyB
            }
        };
        let at = at_a.into_iter().chain(at_b).map(|c| c.0).min().unwrap_or(0);
        if self.first.as_ref().is_some_and(|(first, _)| *first <= at) {
            return;
        }
        let name = x.map(|r| self.a.name(r)).or_else(|| y.map(|r| self.b.name(r)));
        let (name, lane) = (name.unwrap_or("").to_string(), lane.to_string());
        let (id_a, id_b) = (x.map(|r| r.id), y.map(|r| r.id));
        self.first = Some((at, First { how, name, lane, id_a, id_b, at_a, at_b }));
    }
}

/// Records by lane; those of the scalar unit and its register moves are left to the sums: dumps and
/// models do not agree on what they show of them.
fn lanes(r: &Records) -> FxHashMap<&str, Lane> {
    let mut out: FxHashMap<&str, Lane> = FxHashMap::default();
    for (i, x) in r.items.iter().enumerate() {
        let lane = r.lane(x);
        if !matches!(lane, "SCALAR" | "FLOWCTRL" | "SCALARLDST" | "CACHEMISS" | "EVENT") {
            out.entry(lane).or_default().push(i);
        }
    }
    out
}

/// First cycle of what is compared: dumps of real kernels start late.
fn start(r: &Records, lanes: &FxHashMap<&str, Lane>) -> u64 {
    let all = lanes.values().flatten().filter_map(|&i| r.items.get(i));
    all.map(|x| x.start).min().unwrap_or(0)
}

fn cycles(r: &Rec, start: u64) -> (u64, u64) {
    (r.start.saturating_sub(start), r.end.saturating_sub(start))
}

/// A step through both lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Both(usize, usize),
    A(usize),
    B(usize),
}

fn walk(xs: &[usize], ys: &[usize], equal: impl Fn(usize, usize) -> bool) -> Vec<Step> {
    let mut out = Vec::with_capacity(xs.len().max(ys.len()));
    let (mut i, mut j) = (0, 0);
    while let (Some(&x), Some(&y)) = (xs.get(i), ys.get(j)) {
        if equal(x, y) {
            out.push(Step::Both(x, y));
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (skip_a, skip_b) = skip(&xs[i..], &ys[j..], &equal);
        out.extend(xs[i..i + skip_a].iter().map(|&x| Step::A(x)));
        out.extend(ys[j..j + skip_b].iter().map(|&y| Step::B(y)));
        (i, j) = (i + skip_a, j + skip_b);
    }
    out.extend(xs[i..].iter().map(|&x| Step::A(x)));
    out.extend(ys[j..].iter().map(|&y| Step::B(y)));
    out
}

/// Fewest records to leave out of both until some in a row agree; one of each if none do.
fn skip(xs: &[usize], ys: &[usize], equal: &impl Fn(usize, usize) -> bool) -> (usize, usize) {
    let agree = |a: usize, b: usize| {
        let row = xs[a..].iter().zip(&ys[b..]).take(AGREE);
        row.clone().count() > 0 && row.clone().all(|(x, y)| equal(*x, *y))
    };
    let (most_a, most_b) = (xs.len().min(AHEAD), ys.len().min(AHEAD));
    for sum in 1..=most_a + most_b {
        for a in sum.saturating_sub(most_b)..=sum.min(most_a) {
            let b = sum - a;
            if a < xs.len() && b < ys.len() && agree(a, b) {
                return (a, b);
            }
        }
    }
    (1, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(names: &[&str]) -> Records {
        let mut r = Records::default();
        for (i, n) in names.iter().enumerate() {
            r.push(i as u64, (n, "VECTOR"), 10 * i as u64, 10 * i as u64 + 5);
        }
        r
    }

    #[test]
    fn inserted_and_missing_records_are_stepped_over() {
        let a = records(&["a", "b", "c", "d", "e"]);
        let b = records(&["a", "x", "b", "c", "e"]);
        let (m, first) = align(&a, &b);
        assert_eq!((m.both, m.only_a, m.only_b), (4, 1, 1));
        let first = first.expect("they part");
        assert_eq!((first.how, first.name.as_str()), (How::OnlyB, "x"));
    }

    #[test]
    fn a_later_start_of_everything_is_no_difference() {
        let a = records(&["a", "b"]);
        let mut b = a.clone();
        b.items.iter_mut().for_each(|r| (r.start, r.end) = (r.start + 1000, r.end + 1000));
        assert_eq!(align(&a, &b), (Matched { both: 2, ..Matched::default() }, None));
        b.items[1].end += 3;
        let (m, first) = align(&a, &b);
        assert_eq!((m.moved, first.map(|f| (f.how, f.id_b))), (1, Some((How::Length, Some(1)))));
    }

    #[test]
    fn nothing_in_common() {
        let (m, _) = align(&records(&["a", "a", "a"]), &records(&["b", "b"]));
        assert_eq!((m.both, m.only_a, m.only_b), (0, 3, 2));
        assert_eq!(align(&Records::default(), &Records::default()).0, Matched::default());
    }
}
