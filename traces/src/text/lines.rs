//! The drawn timeline: a row an instruction, a column a stretch of cycles.

use crate::detail::detail;
use crate::events::{Event, Trace, What};
use ptoemu_core::time::Cause;

/// Rows drawn; a window chooses which.
const ROWS: usize = 64;
/// Columns at most.
const COLUMNS: u64 = 100;

pub(super) const LEGEND: &str = "q in the queue, f waits for a flag, b for a barrier, m for the mask, \
l for a load, i for S, x on its pipe (X its last cycle), w result on its way, | flag set or barrier open";

/// Appends the timeline.
pub(super) fn draw(out: &mut String, t: &Trace) {
    let events: Vec<Event> = t.events().take(ROWS).collect();
    let (Some(first), Some(last)) =
        (events.iter().map(|e| e.handed.min(e.start)).min(), events.iter().map(|e| e.done).max())
    else {
        out.push_str("no instruction\n");
        return;
    };
    let scale = (last + 1 - first).div_ceil(COLUMNS).max(1);
    let columns = (last + 1 - first).div_ceil(scale) as usize;
    let left = t.selection.len() - events.len();
    out.push_str(&format!("one column is {scale} cycle{}, from cycle {first}\n", plural(scale)));
    if left > 0 {
        let shown = events.len();
        out.push_str(&format!("the first {shown} records; {left} more (choose with a window)\n"));
    }
    out.push_str(&format!("{LEGEND}\n\n"));
    ruler(out, first, scale, columns);
    for e in &events {
        let row = row(t, e, first, scale, columns);
        let name = t.statics.of(e.record).map_or("", |s| s.name.as_str());
        let mut operands = Vec::new();
        detail(t, e.record, 0, &mut operands);
        let operands = String::from_utf8_lossy(&operands);
        let line = format!("{:>6} {row} {name} {operands}", e.record);
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

pub(super) fn plural(n: u64) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// Cycle numbers over every tenth column.
fn ruler(out: &mut String, first: u64, scale: u64, columns: usize) {
    let mut line = String::new();
    let mut column = 0;
    while column < columns {
        let number = (first + column as u64 * scale).to_string();
        line.push_str(&format!("{number:<10}"));
        column += 10;
    }
    out.push_str(&format!("       {}\n", line.trim_end()));
}

fn row(t: &Trace, e: &Event, first: u64, scale: u64, columns: usize) -> String {
    // A dot every five columns makes long rows readable.
    let mut cells: Vec<u8> = (0..columns).map(|c| if c % 5 == 0 { b'.' } else { b' ' }).collect();
    let mut fill = |from: u64, to: u64, letter: u8| {
        if from >= to {
            return;
        }
        let a = (from.saturating_sub(first) / scale) as usize;
        let b = ((to - 1).saturating_sub(first) / scale) as usize;
        for c in cells.iter_mut().take(b + 1).skip(a) {
            *c = letter;
        }
    };
    fill(e.handed, e.start, b'q');
    for p in t.phases(e) {
        fill(p.start, p.end, letter(p.cause));
    }
    match e.what {
        What::Work | What::Control => {
            fill(e.end, e.done, b'w');
            fill(e.start, e.end, b'x');
            fill(e.end.saturating_sub(1).max(e.start), e.end, b'X');
        }
        What::Wait => {
            fill(e.start, e.end, b'f');
            fill(e.done.saturating_sub(1), e.done, b'|');
        }
        What::Barrier | What::Set => fill(e.start, e.end, b'|'),
    }
    String::from_utf8_lossy(&cells).into_owned()
}

fn letter(c: Cause) -> u8 {
    match c {
        Cause::Flag => b'f',
        Cause::Barrier => b'b',
        Cause::Mask => b'm',
        Cause::Load => b'l',
        Cause::Issue | Cause::Handover => b'i',
        Cause::Drain | Cause::End | Cause::Idle => b'-',
    }
}
