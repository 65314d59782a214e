//! An independent look at ordering: what later instructions may not yet see.

use ptoemu_core::access::{Role, Space};
use ptoemu_core::stream::{Kind, NONE, Pipe, Stream};

/// Per byte of UB: one more than the record that last wrote it, and last read it, on each side.
struct Last {
    vector: [Vec<u32>; 2],
    scalar: [Vec<u32>; 2],
}

const WRITE: usize = 0;
const READ: usize = 1;

/// The first access of a stream that is not ordered after one it depends on: record and byte.
///
/// Vector instructions overlap unless a barrier is between them (reads are at issue, so only
/// values that are not yet written count); scalar and vector accesses need a flag.
pub fn unordered(stream: &Stream, ub_bytes: usize) -> Option<String> {
    let fresh = || [vec![0; ub_bytes], vec![0; ub_bytes]];
    let mut last = Last { vector: fresh(), scalar: fresh() };
    // Records below these are complete for later vector and scalar accesses.
    let (mut barrier, mut seen_by_s, mut seen_by_v) = (0u32, 0u32, 0u32);
    for (i, r) in (0u32..).zip(&stream.records) {
        match r.kind {
            Kind::Barrier => barrier = i + 1,
            Kind::WaitFlag if r.link != NONE => match r.flag().map(|f| (f.src, f.dst)) {
                Some((Pipe::V, Pipe::S)) => seen_by_s = r.link,
                Some((Pipe::S, Pipe::V)) => {
                    seen_by_v = r.link;
                    // What the scalar unit has waited for is complete for V too.
                    barrier = barrier.max(seen_by_s);
                }
                _ => {}
            },
            _ => {}
        }
        let scalar = matches!(r.kind, Kind::ScalarLoad | Kind::ScalarStore);
        let access: Vec<_> = stream.footprint(r).filter(|f| f.1 == Space::Ub).collect();
        for &(role, _, start, end) in &access {
            let writes = role != Role::Read;
            for b in start as usize..end as usize {
                let late = |side: &[Vec<u32>; 2], kind: usize, done: u32| side[kind][b] > done;
                let hazard = if scalar {
                    late(&last.vector, WRITE, seen_by_s)
                        || writes && late(&last.vector, READ, seen_by_s)
                } else {
                    late(&last.vector, WRITE, barrier)
                        || late(&last.scalar, WRITE, seen_by_v)
                        || writes && late(&last.scalar, READ, seen_by_v)
                };
                if hazard {
                    return Some(format!("record {i} {role:?} of byte {b:#x}: {r:?}"));
                }
            }
        }
        for (role, _, start, end) in access {
            let side = if scalar { &mut last.scalar } else { &mut last.vector };
            if role != Role::Write {
                side[READ][start as usize..end as usize].fill(i + 1);
            }
            if role != Role::Read {
                side[WRITE][start as usize..end as usize].fill(i + 1);
            }
        }
    }
    None
}
