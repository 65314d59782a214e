//! Addresses for tiles whose program leaves them open: one per statement, in order, aligned,
//! skipping the ranges that explicit addresses take.

use crate::exec::program::Placed;
use crate::tile::Tile;
use ptoemu_core::diag::{Diagnostic, SourceFile, Span};
use std::ops::Range;
use std::sync::Arc;

/// Where tiles may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Alignment of automatic addresses in bytes.
    pub align: u64,
    /// First byte automatic addresses must not reach (the reserved window begins here).
    pub auto_end: u64,
}

pub(super) struct Placer {
    limits: Limits,
    explicit: Vec<(u64, u64)>,
    open: Vec<Placed>,
    /// First asker of each function.
    functions: Vec<usize>,
    /// A function calls another: their tiles are live together.
    pub(super) calls: bool,
}

impl Placer {
    pub(super) fn new(limits: Limits) -> Self {
        let (explicit, open, functions) = (Vec::new(), Vec::new(), Vec::new());
        Placer { limits, explicit, open, functions, calls: false }
    }

    /// A function begins.
    pub(super) fn function(&mut self) {
        self.functions.push(self.open.len());
    }

    /// A range some statement names itself.
    pub(super) fn explicit(&mut self, addr: u64, bytes: u64) {
        if bytes > 0 {
            self.explicit.push((addr, addr.saturating_add(bytes)));
        }
    }

    /// Asks for a place for `tile`.
    pub(super) fn auto(&mut self, tile: &Tile, span: Span) -> crate::exec::program::Place {
        self.open.push(Placed { name: tile.name.clone(), addr: 0, bytes: tile.bytes(), span });
        crate::exec::program::Place::Auto((self.open.len() - 1) as u32)
    }

    /// Askers of the function that runs; of all, where functions call each other.
    fn live(&self, entry: Option<usize>) -> Range<usize> {
        let end = self.open.len();
        let first = |f: usize| self.functions.get(f).copied().unwrap_or(end);
        match entry.filter(|_| !self.calls) {
            Some(f) => first(f)..first(f.saturating_add(1)),
            None => 0..end,
        }
    }

    /// Gives every asker an address, or says which tiles of the program's run do not fit.
    pub(super) fn assign(
        &mut self,
        entry: Option<usize>,
        source: &Arc<SourceFile>,
        diags: &mut Vec<Diagnostic>,
    ) -> Vec<Placed> {
        let align = self.limits.align.max(1);
        self.explicit.sort_unstable();
        let mut at = 0u64;
        let mut overflow = None;
        let live = self.live(entry);
        for (i, p) in self.open.iter_mut().enumerate() {
            if !self.calls && self.functions.binary_search(&i).is_ok() {
                // One function runs; those that do not call each other share the space.
                at = 0;
            }
            at = skip(&self.explicit, at.next_multiple_of(align), p.bytes, align);
            p.addr = at;
            at = at.saturating_add(p.bytes).min(1 << 50);
            if at > self.limits.auto_end && overflow.is_none() && live.contains(&i) {
                overflow = Some(i);
            }
        }
        let open = std::mem::take(&mut self.open);
        if let Some(i) = overflow {
            diags.push(overflow_message(&open, live, i, self.limits, source));
        }
        open
    }
}

/// First aligned address from `at` whose `bytes` meet no taken range.
fn skip(taken: &[(u64, u64)], mut at: u64, bytes: u64, align: u64) -> u64 {
    for &(start, end) in taken {
        if at < end && start < at.saturating_add(bytes) {
            at = end.min(1 << 50).next_multiple_of(align);
        }
    }
    at
}

fn overflow_message(
    open: &[Placed],
    live: Range<usize>,
    first: usize,
    limits: Limits,
    source: &Arc<SourceFile>,
) -> Diagnostic {
    let tiles = open.get(live).unwrap_or_default();
    let total: u64 = tiles.iter().map(|p| p.bytes).fold(0, u64::saturating_add);
    let mut d = Diagnostic::error(
        "legality.ub_overflow",
        format!("the tiles do not fit into the {} bytes of UB a program may use", limits.auto_end),
    )
    .at(source, open[first].span, "the first tile that does not fit");
    for p in tiles.iter().take(40) {
        d = d.note(format!("%{}: {} bytes at {:#x}", p.name, p.bytes, p.addr));
    }
    d.note(format!("{total} bytes in all"))
        .help("make the tiles smaller, or let tiles that are not live together share an address")
}
