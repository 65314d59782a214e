//! What was found as folders that `ptoemu run` replays: the program, its input, and the bytes its
//! operation should leave.

use super::report::Report;
use super::sweep::{Found, Sweep};
use crate::data::write_whole;
use anyhow::{Context, Result};
use ptoemu_isa::case::to_replay;
use ptoemu_isa::tile::{self, Call};
use ptoemu_isa::verify::{Bench, STRAY};
use std::fmt::Write as _;
use std::path::Path;

/// Blocks of a stretch outside the operands that a replay looks at.
const BLOCKS: u64 = 64;

/// Writes a folder for each finding and says how many.
pub(super) fn write(
    dir: &Path,
    sweep: &Sweep,
    findings: &[Found],
    report: &Report,
) -> Result<usize> {
    for (found, shown) in findings.iter().zip(&report.findings) {
        let folder = dir.join(&shown.name);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let mut bench = Bench::default();
        let catch = &found.catch;
        let call = catch.spec.call(&catch.unit, sweep.quirks);
        let _ = bench.judge(&call, &catch.spec, sweep.subject(&catch.unit));
        let outside = outside(&call, found);
        let Some(text) = to_replay(&call, outside, &comment(found, shown)) else { continue };
        write_whole(&folder.join("kernel.pto"), text.as_bytes())?;
        for (i, bytes) in buffers(&bench, &call, outside).into_iter().enumerate() {
            let (before, after) = bytes;
            write_whole(&folder.join(format!("v{}.bin", i + 1)), &before)?;
            if let Some(after) = after {
                write_whole(&folder.join(format!("golden_v{}.bin", i + 1)), &after)?;
            }
        }
    }
    Ok(findings.len())
}

fn comment(found: &Found, shown: &super::report::Finding) -> String {
    let mut out = format!("// {}\n", shown.title());
    for f in &found.catch.faults {
        let _ = writeln!(out, "// {}: {}", f.code, f.message);
    }
    if let Some(quirk) = &shown.quirk {
        let _ = writeln!(out, "// {}: {}", quirk.name, quirk.about);
    }
    let _ = writeln!(out, "// replay: {}", shown.replay);
    out
}

/// The blocks from the first stray byte on, if they belong to no operand that is stored anyway.
fn outside(call: &Call, found: &Found) -> Option<(u64, u64)> {
    let stray = found.catch.faults.iter().find(|f| f.code == STRAY)?;
    let start = stray.bytes.0 & !31;
    let dst = call.dst.addr..call.dst.end();
    if dst.contains(&start) {
        return None;
    }
    let limit = tile::Limits::of(call.family).ub_bytes;
    let next = call.tiles().map(|(_, t)| t.addr).filter(|a| *a > start).min().unwrap_or(limit);
    Some((start, next.min(start + 32 * BLOCKS).max(start + 32)))
}

type Buffer = (Vec<u8>, Option<Vec<u8>>);

/// Bytes of the arguments before the operation, and after it where they are compared.
fn buffers(bench: &Bench, call: &Call, outside: Option<(u64, u64)>) -> Vec<Buffer> {
    let (before, want, after) = bench.memory();
    let cut = |mem: &[u8], start: u64, end: u64| -> Vec<u8> {
        mem.get(start as usize..end as usize).unwrap_or(&[]).to_vec()
    };
    let mut golden = want.to_vec();
    let (t, n) = (&call.dst, call.dst.dtype.size());
    for r in 0..u64::from(t.valid_rows) {
        for c in 0..u64::from(t.valid_cols) {
            let at = t.at(r, c) as usize;
            let bits = |mem: &[u8]| {
                let bytes = mem.get(at..at + n).unwrap_or(&[]);
                bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
            };
            // What counts as right is right bit by bit: NaN, sums in another order.
            if tile::agree(call, before, (r, c), bits(after), bits(want))
                && let (Some(to), Some(from)) = (golden.get_mut(at..at + n), after.get(at..at + n))
            {
                to.copy_from_slice(from);
            }
        }
    }
    let whole = |t: &tile::Tile| cut(before, t.addr, t.end());
    let mut out = vec![(whole(t), Some(cut(&golden, t.addr, t.end())))];
    out.extend(call.src.iter().map(|t| (whole(t), None)));
    out.extend(outside.map(|(a, b)| (cut(before, a, b), Some(cut(before, a, b)))));
    out
}
