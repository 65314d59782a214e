//! The drawn timeline: a row an instruction, a column a stretch of cycles.

use crate::detail::detail;
use crate::events::{Event, Trace, What};
use ptoemu_core::time::Cause;
use std::ops::Range;

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
    let grid = Grid::new(first, last);
    let left = t.selection.len() - events.len();
    out.push_str(&grid.describe());
    if left > 0 {
        let shown = events.len();
        out.push_str(&format!("the first {shown} records; {left} more (choose with a window)\n"));
    }
    out.push_str(&format!("{LEGEND}\n\n"));
    grid.ruler(out);
    for e in &events {
        let row = row(t, e, &grid);
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

/// Columns of a drawn timeline.
pub(super) struct Grid {
    first: u64,
    scale: u64,
    columns: usize,
}

impl Grid {
    /// From one cycle to another.
    pub fn new(first: u64, last: u64) -> Grid {
        let scale = (last + 1 - first).div_ceil(COLUMNS).max(1);
        Grid { first, scale, columns: (last + 1 - first).div_ceil(scale) as usize }
    }

    pub fn describe(&self) -> String {
        let (scale, first) = (self.scale, self.first);
        format!("one column is {scale} cycle{}, from cycle {first}\n", plural(scale))
    }

    /// Cycle numbers over every tenth column.
    pub fn ruler(&self, out: &mut String) {
        let mut line = String::new();
        for column in (0..self.columns as u64).step_by(10) {
            let number = (self.first + column * self.scale).to_string();
            line.push_str(&format!("{number:<10}"));
        }
        out.push_str(&format!("       {}\n", line.trim_end()));
    }

    /// An empty row: a dot every five columns makes long rows readable.
    pub fn row(&self) -> Vec<u8> {
        (0..self.columns).map(|c| if c % 5 == 0 { b'.' } else { b' ' }).collect()
    }

    /// Writes a letter over a stretch of cycles.
    pub fn fill(&self, cells: &mut [u8], cycles: Range<u64>, letter: u8) {
        if cycles.is_empty() {
            return;
        }
        let column = |cycle: u64| (cycle.saturating_sub(self.first) / self.scale) as usize;
        let (a, b) = (column(cycles.start), column(cycles.end - 1));
        for c in cells.iter_mut().take(b + 1).skip(a) {
            *c = letter;
        }
    }
}

fn row(t: &Trace, e: &Event, grid: &Grid) -> String {
    let mut cells = grid.row();
    let mut fill = |from: u64, to: u64, letter: u8| grid.fill(&mut cells, from..to, letter);
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
