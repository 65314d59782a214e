//! Order by brute force: a graph of everything that happens, byte sets lane by lane.

use super::build::Step;
use ptoemu_core::access::{Role, Space};
use ptoemu_core::stream::Pipe;
use std::collections::HashSet;

/// What one access touches.
#[derive(Default)]
struct Bytes {
    read: HashSet<(Space, u64)>,
    written: HashSet<(Space, u64)>,
    atomic: bool,
}

fn bytes(step: &Step) -> Option<(Pipe, u16, Bytes)> {
    let Step::Access { pipe, op, operands, lanes, repeats } = step else { return None };
    let mut out = Bytes::default();
    for (base, w) in operands {
        out.atomic |= w.role == Role::Update && w.space == Space::Gm;
        for r in 0..i64::from(*repeats) {
            let active = lanes.of_repeat(r as u64);
            for b in 0..i64::from(w.blocks) {
                for k in 0..i64::from(w.unit) {
                    let lane = if w.elem == 0 {
                        None
                    } else {
                        Some((b * i64::from(w.unit) + k) / i64::from(w.elem))
                    };
                    if lane.is_some_and(|l| !active.get(l as usize)) {
                        continue;
                    }
                    let at = *base as i64 + r * w.rep + b * i64::from(w.blk) + k;
                    let at = (w.space, at as u64);
                    if w.role != Role::Write {
                        out.read.insert(at);
                    }
                    if w.role != Role::Read {
                        out.written.insert(at);
                    }
                }
            }
        }
    }
    Some((*pipe, *op, out))
}

/// `after[n]` holds every node that happens before node `n`. Nodes 3i, 3i+1, 3i+2 of step i are
/// its hand-over by S, its start and its end.
fn graph(steps: &[Step]) -> Vec<Vec<u64>> {
    let words = (3 * steps.len()).div_ceil(64);
    let mut after = vec![vec![0u64; words]; 3 * steps.len()];
    let follow = |after: &mut Vec<Vec<u64>>, node: usize, earlier: usize| {
        let past = after[earlier].clone();
        for (a, b) in after[node].iter_mut().zip(&past) {
            *a |= b;
        }
        after[node][earlier / 64] |= 1 << (earlier % 64);
    };
    let pipe_of = |s: &Step| match s {
        Step::Access { pipe, .. } => *pipe,
        Step::Barrier(p) => *p,
        Step::Set(p, ..) => *p,
        Step::Wait(_, p, _) => *p,
    };
    for (i, step) in steps.iter().enumerate() {
        let (hand, start, end) = (3 * i, 3 * i + 1, 3 * i + 2);
        let pipe = pipe_of(step);
        if let Some(before) = i.checked_sub(1) {
            follow(&mut after, hand, 3 * before);
            // S itself stands at its own waits and at barriers of all pipes.
            let stands =
                matches!(steps[before], Step::Wait(_, Pipe::S, _) | Step::Barrier(Pipe::All));
            if stands {
                follow(&mut after, hand, 3 * before + 2);
            }
        }
        follow(&mut after, start, hand);
        for (j, earlier) in steps.iter().enumerate().take(i) {
            let other = pipe_of(earlier);
            let same = other == pipe;
            let complete = match step {
                Step::Barrier(Pipe::All) => true,
                Step::Barrier(_) | Step::Set(..) => same,
                _ => false,
            };
            // Synchronisation opens its pipe when it is done; accesses only start in order.
            let gate = match earlier {
                Step::Barrier(Pipe::All) => true,
                Step::Barrier(_) | Step::Wait(..) => same,
                _ => false,
            };
            // A set waits beside the pipe and holds nothing up.
            if same && matches!(earlier, Step::Access { .. }) {
                follow(&mut after, start, 3 * j + 1);
            }
            if complete || gate {
                follow(&mut after, start, 3 * j + 2);
            }
        }
        if let Step::Wait(a, b, id) = step {
            let set = (0..i)
                .rev()
                .find(|j| matches!(&steps[*j], Step::Set(x, y, n) if (x, y, n) == (a, b, id)));
            follow(&mut after, start, 3 * set.unwrap() + 2);
        }
        follow(&mut after, end, start);
    }
    after
}

/// Pairs of accesses that conflict and that nothing orders.
pub fn unordered(steps: &[Step]) -> Vec<(usize, usize)> {
    let after = graph(steps);
    let all: Vec<_> = steps.iter().map(bytes).collect();
    let mut out = Vec::new();
    for j in 0..steps.len() {
        let Some((to, late, b)) = &all[j] else { continue };
        for (i, earlier) in all.iter().enumerate().take(j) {
            let Some((from, early, a)) = earlier else { continue };
            let end = 3 * i + 2;
            if after[3 * j + 1][end / 64] >> (end % 64) & 1 == 1
                || (*from, *to) == (Pipe::S, Pipe::S)
            {
                continue;
            }
            let on = |space: Space, x: &HashSet<(Space, u64)>, y: &HashSet<(Space, u64)>| {
                x.iter().any(|at| at.0 == space && y.contains(at))
            };
            let same = from == to;
            let class = same && *to == Pipe::V && early == late;
            let clash = [Space::Ub, Space::Gm].into_iter().any(|s| {
                !(s == Space::Gm && a.atomic && b.atomic)
                    && (on(s, &a.written, &b.read)
                        || !class && on(s, &a.written, &b.written)
                        || !same && on(s, &a.read, &b.written))
            });
            if clash {
                out.push((i, j));
            }
        }
    }
    out
}
