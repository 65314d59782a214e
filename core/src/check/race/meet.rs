//! Bytes at which two records meet.

use super::parts;
use crate::access::{Role, Space};
use crate::stream::Stream;

/// Bytes of a space, from the first to one past the last.
pub type Range = (Space, u64, u64);

/// What a record reads (or writes), in order, neighbours joined.
fn touched(stream: &Stream, record: u32, write: bool) -> Vec<Range> {
    let Some(r) = stream.records.get(record as usize) else { return Vec::new() };
    let mut out: Vec<Range> = Vec::new();
    let other = if write { Role::Read } else { Role::Write };
    for part in parts(stream, record, r).iter().filter(|p| p.role != other) {
        part.runs(|a, b| out.push((part.space, a, b)));
    }
    out.sort_unstable();
    out.dedup_by(|next, kept| {
        let joins = next.0 == kept.0 && next.1 <= kept.2;
        kept.2 = if joins { kept.2.max(next.2) } else { kept.2 };
        joins
    });
    out
}

/// Bytes that `a` reads (or writes) and `b` reads (or writes); the flags say which.
pub fn meet(stream: &Stream, a: (u32, bool), b: (u32, bool)) -> Vec<Range> {
    let (x, y) = (touched(stream, a.0, a.1), touched(stream, b.0, b.1));
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while let (Some(p), Some(q)) = (x.get(i), y.get(j)) {
        let (start, end) = (p.1.max(q.1), p.2.min(q.2));
        if p.0 == q.0 && start < end {
            out.push((p.0, start, end));
        }
        if (p.0, p.2) <= (q.0, q.2) { i += 1 } else { j += 1 }
    }
    out
}

/// The bytes of `all` that `record` does not write.
pub fn unwritten(stream: &Stream, all: &[Range], record: u32) -> Vec<Range> {
    let written = touched(stream, record, true);
    let mut out = Vec::new();
    for &(space, from, end) in all {
        let mut start = from;
        for &(_, a, b) in written.iter().filter(|w| w.0 == space && w.1 < end && from < w.2) {
            if start < a {
                out.push((space, start, a));
            }
            start = start.max(b);
        }
        if start < end {
            out.push((space, start, end));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;
    use crate::footprint::Collector;
    use crate::stream::{Kind, LanesId, Marks, NONE, OpId, Pipe, Record, ShapeId, SiteId};

    type Ranges<'r> = &'r [(u64, u64)];

    fn stream(all: &[(Ranges, Ranges)]) -> Stream {
        let mut s = Stream::default();
        for (reads, writes) in all {
            let record = s.push(Record {
                base: [0; 3],
                op: OpId(0),
                dtype: DType::F32,
                pipe: Pipe::V,
                kind: Kind::Function,
                marks: Marks::default(),
                repeats: 1,
                shape: ShapeId(0),
                lanes: LanesId(0),
                site: SiteId(0),
                group: NONE,
                link: 0,
                flag: [0; 3],
            });
            let mut c = Collector::default();
            reads.iter().for_each(|(a, b)| c.touch(Space::Ub, Role::Read, *a, *b));
            writes.iter().for_each(|(a, b)| c.touch(Space::Ub, Role::Write, *a, *b));
            s.footprints.keep(record, c.take());
        }
        s
    }

    #[test]
    fn what_two_records_share() {
        let s = stream(&[
            (&[], &[(0, 64), (96, 160)]),
            (&[(32, 128), (150, 200)], &[(40, 50), (155, 300)]),
        ]);
        let both = meet(&s, (0, true), (1, false));
        let ub = |a, b| (Space::Ub, a, b);
        assert_eq!(both, [ub(32, 64), ub(96, 128), ub(150, 160)]);
        let rest = unwritten(&s, &both, 1);
        assert_eq!(rest, [ub(32, 40), ub(50, 64), ub(96, 128), ub(150, 155)]);
    }
}
