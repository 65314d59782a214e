//! Order by brute force: a graph of everything that happens, sets of bytes, values followed byte by
//! byte. Nothing of it is taken from the checks.

use super::program::{BARS, MASKS, Micro, Step};
use ptoemu_core::stream::Pipe;
use std::collections::BTreeSet;

type Set = BTreeSet<(bool, u64)>;

/// Reachability among events that are added in an order that respects it.
#[derive(Default)]
struct Graph(Vec<BTreeSet<usize>>);

impl Graph {
    fn event(&mut self) -> usize {
        self.0.push(BTreeSet::new());
        self.0.len() - 1
    }

    /// `later` comes after `earlier` and all that it comes after.
    fn after(&mut self, later: usize, earlier: usize) {
        let past = self.0[earlier].clone();
        self.0[later].extend(past);
        self.0[later].insert(earlier);
    }

    fn ordered(&self, earlier: usize, later: usize) -> bool {
        self.0[later].contains(&earlier)
    }
}

/// Accesses inside a vecscope, by class: vector load, vector store, scalar load, scalar store.
struct Access {
    class: usize,
    bytes: BTreeSet<u64>,
    start: usize,
    end: usize,
}

/// A register: for every byte the loads and their bytes it comes from, and all loads that its
/// contents were computed from.
#[derive(Clone, Default)]
struct Register {
    bytes: Vec<BTreeSet<(usize, u64)>>,
    loads: BTreeSet<usize>,
}

impl Register {
    fn empty() -> Register {
        Register { bytes: vec![BTreeSet::new(); 256], loads: BTreeSet::new() }
    }
}

fn lane_on(m: usize, lane: usize, lanes: usize) -> bool {
    match MASKS[m] {
        "PAT_ALL" => true,
        "PAT_VL8" => lane < 8,
        "PAT_VL1" => lane < 1,
        "PAT_H" => lane < lanes / 2,
        _ => lane.is_multiple_of(3),
    }
}

/// Memory byte of byte `i` of a register loaded by a distribution, as an offset.
fn source(dist: usize, size: usize, i: usize) -> Option<usize> {
    let (lane, byte) = (i / size, i % size);
    Some(match (dist, size) {
        (0, _) | (5, 4) => i,
        (1, _) => byte,
        (2, _) => i % 32,
        (3, _) => i / 32 * size + byte,
        (4, 2) => lane / 2 * 2 + byte,
        // Elements of 2 bytes widened to 4.
        (4, _) => return (byte < 2).then_some(lane * 2 + byte),
        _ => lane * 4 + byte,
    })
}

/// A vecscope under way.
struct Inside {
    size: usize,
    g: Graph,
    all: Vec<Access>,
    /// Barriers: kind, and accesses before it.
    bars: Vec<(usize, usize)>,
    r: Vec<Register>,
    /// Loads and bytes that reached memory.
    stored: Vec<(usize, u64)>,
}

impl Inside {
    /// Adds an access that needs what these loads gave.
    fn access(&mut self, class: usize, bytes: BTreeSet<u64>, needs: &BTreeSet<usize>) -> usize {
        let (g, all) = (&mut self.g, &self.all);
        let (start, end) = (g.event(), g.event());
        for (kind, upto) in &self.bars {
            let (_, first, second) = BARS[*kind];
            let before = all.iter().take(*upto).filter(|a| first.contains(&a.class));
            if second.contains(&class) {
                before.for_each(|a| g.after(start, a.end));
            }
        }
        needs.iter().for_each(|n| g.after(start, all[*n].end));
        if class >= 2 {
            // The scalar unit keeps the order of its accesses.
            all.iter().filter(|a| a.class >= 2).for_each(|a| g.after(start, a.end));
        }
        g.after(end, start);
        self.all.push(Access { class, bytes, start, end });
        self.all.len() - 1
    }

    /// A load whose byte `i` is memory byte `from(half, i)`.
    fn load(&mut self, d: usize, halves: usize, from: impl Fn(usize, usize) -> Option<u64>) {
        let n = self.access(0, BTreeSet::new(), &BTreeSet::new());
        for half in 0..halves {
            let mut new = Register::empty();
            (0..256).for_each(|i| new.bytes[i].extend(from(half, i).map(|at| (n, at))));
            new.loads.insert(n);
            self.r[(d + half) % 4] = new;
        }
    }

    /// A result whose byte `i` comes from bytes of two registers.
    fn compute(&self, [a, b]: [usize; 2], from: impl Fn(usize) -> Vec<(usize, usize)>) -> Register {
        let mut new = Register::empty();
        new.loads = &self.r[a].loads | &self.r[b].loads;
        for i in 0..256 {
            let all = from(i).into_iter().flat_map(|(r, i)| self.r[r].bytes[i].iter().copied());
            new.bytes[i] = all.collect();
        }
        new
    }

    /// Micro-ops on registers; false for any other.
    fn registers(&mut self, micro: &Micro) -> bool {
        let size = self.size;
        let lanes = 256 / size;
        match *micro {
            Micro::Add { d, a, b, m } => {
                self.r[d] = self.compute([a, b], |i| {
                    let lane = (i / size * size)..(i / size + 1) * size;
                    let on = lane_on(m, i / size, lanes);
                    lane.filter(|_| on).flat_map(|i| [(a, i), (b, i)]).collect()
                });
            }
            Micro::Select { d, a, b, m } => {
                let pick = |i| if lane_on(m, i / size, lanes) { a } else { b };
                self.r[d] = self.compute([a, b], |i| vec![(pick(i), i)]);
            }
            Micro::Interleave { d, a, b } => {
                let new = [0, 1].map(|half| {
                    self.compute([a, b], |i| {
                        let from = half * lanes / 2 + i / size / 2;
                        vec![([a, b][i / size % 2], from * size + i % size)]
                    })
                });
                for (half, new) in new.into_iter().enumerate() {
                    self.r[(d + half) % 4] = new;
                }
            }
            Micro::Max { d, a, m } => {
                // Every byte of the result counts, also lanes that are always 0.
                let active = |i: &usize| lane_on(m, i / size, lanes);
                let all: Vec<_> = (0..256).filter(active).map(|i| (a, i)).collect();
                let whole = self.compute([a, a], |i| if i == 0 { all.clone() } else { vec![] });
                let first = whole.bytes[0].clone();
                self.r[d] = Register { bytes: vec![first; 256], ..whole };
            }
            _ => return false,
        }
        true
    }

    /// Stores bytes of register `a`: memory byte and byte of the register.
    fn store(&mut self, from: &[(usize, u64, usize)]) {
        let mut needs = BTreeSet::new();
        for (r, _, i) in from {
            self.stored.extend(self.r[*r].bytes[*i].iter().copied());
            needs.extend(self.r[*r].loads.iter().copied());
        }
        self.access(1, from.iter().map(|f| f.1).collect(), &needs);
    }

    fn step(&mut self, micro: &Micro) {
        let size = self.size;
        let lanes = 256 / size;
        let word = |at: u64| (at..at + 4).collect();
        match *micro {
            Micro::Load { d, dist, at } => {
                self.load(d, 1, |_, i| source(dist, size, i).map(|o| at + o as u64));
            }
            Micro::Pair { d, at } => {
                self.load(d, 2, |half, i| {
                    Some(at + ((2 * (i / size) + half) * size + i % size) as u64)
                });
            }
            Micro::Store { a, dist: 1, at, .. } => {
                let all: Vec<_> = (0..size).map(|i| (a, at + i as u64, i)).collect();
                self.store(&all);
            }
            Micro::Store { a, dist, at, m } => {
                let keep = if dist == 2 { size / 2 } else { size };
                let on = (0..lanes).filter(|l| lane_on(m, *l, lanes));
                let byte = |l: usize, k: usize| (a, at + (l * keep + k) as u64, l * size + k);
                let all: Vec<_> = on.flat_map(|l| (0..keep).map(move |k| byte(l, k))).collect();
                self.store(&all);
            }
            Micro::Both { a, b, at } => {
                let from = |i: u64| {
                    let lane = i as usize / size;
                    ([a, b][lane % 2], at + i, lane / 2 * size + i as usize % size)
                };
                let all: Vec<_> = (0..512).map(from).collect();
                self.store(&all);
            }
            Micro::ScalarLoad(at) => drop(self.access(2, word(at), &BTreeSet::new())),
            Micro::ScalarStore(at) => drop(self.access(3, word(at), &BTreeSet::new())),
            Micro::Bar(kind) => self.bars.push((kind, self.all.len())),
            _ => {}
        }
    }
}

/// What a vecscope reads and writes, and whether something inside it is not ordered.
fn scope(size: usize, body: &[Micro]) -> (BTreeSet<u64>, BTreeSet<u64>, bool) {
    let mut s = Inside {
        size,
        g: Graph::default(),
        all: Vec::new(),
        bars: Vec::new(),
        r: vec![Register::empty(); 4],
        stored: Vec::new(),
    };
    for micro in body {
        if !s.registers(micro) {
            s.step(micro);
        }
    }
    let Inside { g, mut all, stored, .. } = s;
    for (n, at) in stored {
        all[n].bytes.insert(at);
    }
    let clash = all.iter().enumerate().any(|(j, b)| {
        all.iter().take(j).any(|a| {
            let writes = a.class % 2 == 1 || b.class % 2 == 1;
            let scalars = a.class >= 2 && b.class >= 2;
            writes && !scalars && !g.ordered(a.end, b.start) && !a.bytes.is_disjoint(&b.bytes)
        })
    });
    let of = |write: usize| {
        let some = all.iter().filter(|a| a.class % 2 == write);
        some.flat_map(|a| a.bytes.iter().copied()).collect()
    };
    (of(0), of(1), clash)
}

/// Bytes read and written by a statement: in global memory or not, and where.
fn bytes(step: &Step) -> Option<(Set, Set)> {
    let burst = |gm: u64, ub: u64, len: u64, n: u64, s: [u64; 2]| -> [Set; 2] {
        let run = |at: u64, step: u64, is_gm: bool| {
            (0..n).flat_map(|k| (0..len).map(move |i| (is_gm, at + k * step + i))).collect()
        };
        [run(gm, s[0], true), run(ub, s[1], false)]
    };
    Some(match step {
        Step::In { ub, gm, len, n, steps } => {
            let [gm, ub] = burst(*gm, *ub, *len, *n, *steps);
            (gm, ub)
        }
        Step::Out { ub, gm, len, n, steps } => {
            let [gm, ub] = burst(*gm, *ub, *len, *n, *steps);
            (ub, gm)
        }
        Step::Scope(size, body) => {
            let (read, written, _) = scope(*size as usize, body);
            let on = |s: BTreeSet<u64>| s.into_iter().map(|a| (false, a)).collect();
            (on(read), on(written))
        }
        Step::ScalarLoad(at) => ((*at..at + 4).map(|a| (false, a)).collect(), Set::new()),
        Step::ScalarStore(at) => (Set::new(), (*at..at + 4).map(|a| (false, a)).collect()),
        _ => return None,
    })
}

/// Is something not ordered?
pub fn unordered(steps: &[Step]) -> bool {
    let inside = |s: &Step| matches!(s, Step::Scope(size, body) if scope(*size as usize, body).2);
    if steps.iter().any(inside) {
        return true;
    }
    let mut g = Graph::default();
    // Hand-over by S, start and end of every statement; a flag has those of its wait, and its set.
    let mut at: Vec<[usize; 3]> = Vec::new();
    let pipe_of = |s: &Step| match s {
        Step::Barrier(p) | Step::Flag(_, p, _) | Step::Get(p, _) | Step::Release(p, _) => *p,
        other => other.pipe().unwrap(),
    };
    let opens = |s: &Step, pipe: Pipe| match s {
        Step::Barrier(Pipe::All) => true,
        Step::Barrier(p) | Step::Flag(_, p, _) | Step::Get(p, _) => *p == pipe,
        _ => false,
    };
    // What `pipe` has to do before statement `i` gives its sign.
    let complete = |g: &mut Graph, at: &[[usize; 3]], node: usize, pipe: Pipe| {
        for (j, earlier) in steps.iter().enumerate().take(at.len()) {
            if pipe == Pipe::All
                || pipe_of(earlier) == pipe && !matches!(earlier, Step::Release(..))
                || opens(earlier, pipe)
            {
                g.after(node, at[j][2]);
            }
        }
    };
    for (i, step) in steps.iter().enumerate() {
        let (hand, start, end) = (g.event(), g.event(), g.event());
        let pipe = pipe_of(step);
        if i > 0 {
            g.after(hand, at[i - 1][0]);
            let stands =
                matches!(steps[i - 1], Step::Flag(_, Pipe::S, _) | Step::Barrier(Pipe::All));
            if stands {
                g.after(hand, at[i - 1][2]);
            }
        }
        g.after(start, hand);
        for (j, earlier) in steps.iter().enumerate().take(i) {
            if opens(earlier, pipe) {
                g.after(start, at[j][2]);
            }
        }
        match step {
            Step::Barrier(p) => complete(&mut g, &at, start, *p),
            Step::Flag(from, ..) => {
                let set = g.event();
                g.after(set, hand);
                complete(&mut g, &at, set, *from);
                g.after(start, set);
            }
            Step::Release(p, _) => complete(&mut g, &at, start, *p),
            Step::Get(p, id) => {
                for (j, earlier) in steps.iter().enumerate().take(i) {
                    if matches!(earlier, Step::Release(q, n) if n == id && q != p) {
                        g.after(start, at[j][2]);
                    }
                }
            }
            _ => {}
        }
        g.after(end, start);
        at.push([hand, start, end]);
    }
    let all: Vec<_> = steps.iter().map(bytes).collect();
    (0..steps.len()).any(|j| {
        (0..j).any(|i| {
            let (Some(a), Some(b)) = (&all[i], &all[j]) else { return false };
            let same = pipe_of(&steps[i]) == pipe_of(&steps[j]);
            // Scalar accesses and vector functions each complete in order.
            if g.ordered(at[i][2], at[j][1])
                || same && matches!(pipe_of(&steps[i]), Pipe::S | Pipe::V)
            {
                return false;
            }
            !a.1.is_disjoint(&b.0) || !a.1.is_disjoint(&b.1) || !same && !a.0.is_disjoint(&b.1)
        })
    })
}
