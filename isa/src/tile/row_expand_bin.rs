//! TROWEXPAND{ADD,SUB,MUL,DIV,MAX,MIN,EXPDIF}: a full tile against one value or block per row.

use super::asm::{Asm, MAX_REPEAT, MAX_STRIDE, SCRATCH, rounds, rounds_and_rest};
use super::call::{Call, OperandOrder};
use super::check::Checker;
use super::meaning::{Mem, combine};
use super::op::Operator;
use super::quirks::Quirk;
use super::{Layout, Tile};
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::diag::Diagnostic;

type Done = Result<(), Stop>;

/// Broadcast repeats of one round: 240 rows.
const ROUND: u64 = 30;

/// Which operand is full, and which expanded.
pub(super) struct Roles<'c> {
    /// Same valid shape as the destination.
    pub full: &'c Tile,
    /// One value or block per row.
    pub exp: &'c Tile,
    /// The expanded operand is src0.
    pub swapped: bool,
    /// Its values are broadcast to blocks first: one value per row.
    pub broadcast: bool,
}

impl Call {
    /// Roles of the two sources.
    pub(super) fn roles(&self) -> Roles<'_> {
        let (s0, s1) = (self.source(0), self.source(1));
        let matches = |t: &Tile| t.valid() == self.dst.valid();
        let swapped = match (matches(s0), matches(s1)) {
            // Both match: without tmp the wider row stride wins [D2].
            (true, true) => self.tmp.is_none() && s0.row_stride() < s1.row_stride(),
            (first, _) => !first,
        };
        let (full, exp) = if swapped { (s1, s0) } else { (s0, s1) };
        // Shipped code with tmp broadcasts whatever src1 is where both are full [D2].
        let broadcast = exp.layout == Layout::ColMajor || self.two_full() && self.tmp.is_some();
        Roles { full, exp, swapped, broadcast }
    }

    /// Have both sources the valid shape of the destination?
    pub(super) fn two_full(&self) -> bool {
        let of = |i: usize| self.source(i).valid() == self.dst.valid();
        of(0) && of(1)
    }
}

impl Call {
    /// Roles by what the operation means: where both sources are full, one as wide as the other,
    /// src0 is taken against src1 whatever a tie-break of the microcode says.
    fn meant(&self) -> Roles<'_> {
        let (full, exp) = (self.source(0), self.source(1));
        match self.two_full() {
            true => Roles { full, exp, swapped: false, broadcast: false },
            false => self.roles(),
        }
    }
}

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Result<(), Box<Diagnostic>> {
    c.row_expand_bin(call)
}

/// dst\[i, j\] = full\[i, j\] op expanded\[i, j mod width\].
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (rows, cols) = call.dst.valid();
    let Roles { full, exp, swapped, .. } = call.meant();
    let vendor = swapped && call.operand_order == OperandOrder::Vendor;
    let width = if exp.layout == Layout::ColMajor { 1 } else { exp.per_block() };
    let mut out = Vec::new();
    for r in 0..rows {
        for c in 0..cols {
            let (f, x) = (mem.read(full, r, c)?, mem.read(exp, r, c % width)?);
            let (x, y) = if vendor { (x, f) } else { (f, x) };
            out.push(combine(call.op.operator, call.dst.dtype, x, y));
        }
    }
    mem.write_valid(&call.dst, &out)
}

struct Plan<'c> {
    call: &'c Call,
    full: &'c Tile,
    op: Op,
    /// Put the expanded operand first.
    exp_first: bool,
    /// Blocks from one row's block to the next in the expanded operand.
    exp_step: u64,
    /// Use counter mode, row by row.
    count: bool,
    cols: u64,
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (rows, cols) = call.dst.valid();
    let Roles { full, exp, swapped, broadcast: column } = call.roles();
    let one_block = column || call.quirks.has(Quirk::D4);
    let exp_step = if one_block { 1 } else { exp.stride_blocks() };
    let over = [call.dst.stride_blocks(), full.stride_blocks(), exp_step];
    let plan = Plan {
        call,
        full,
        op: call.op.operator.vec2(),
        exp_first: swapped
            && !call.op.operator.commutes()
            && call.operand_order == OperandOrder::Vendor,
        exp_step,
        count: over.iter().any(|s| *s > MAX_STRIDE) || cols / a.e() > rows,
        cols,
    };
    if column {
        plan.broadcast(a, exp, rows)?;
    } else if call.dst.rows < 256 || rows < 256 {
        plan.part(a, 0, rows, exp.addr)?;
    } else {
        rounds_and_rest(rows, MAX_REPEAT, &mut |at, n| plan.norm(a, at, n, exp.row(at)))?;
    }
    if call.op.operator == Operator::ExpDif {
        a.barrier()?;
        super::unary::apply(call, a, Op::vexp, &call.dst, &call.dst)?;
    }
    Ok(())
}

impl Plan<'_> {
    /// One value per row: broadcast to blocks first.
    fn broadcast(&self, a: &mut Asm, exp: &Tile, rows: u64) -> Done {
        let block = self.call.tmp.as_ref().map_or(SCRATCH, |t| t.addr);
        let spread = |a: &mut Asm, first: u64, repeats: u64| {
            a.brcb(block, exp.row(first), repeats)?;
            a.barrier()
        };
        let repeats = rows.div_ceil(8);
        if self.call.dst.rows < 256 || rows < 256 {
            spread(a, 0, repeats)?;
            return self.part(a, 0, rows, block);
        }
        rounds(repeats, ROUND, |at, n| {
            let first = at * 8;
            spread(a, first, n)?;
            let all = n == ROUND && self.call.quirks.has(Quirk::D11);
            let left = if all { 8 * ROUND } else { (8 * ROUND).min(rows - first) };
            self.norm(a, first, left, block)?;
            // The next round reuses the block buffer.
            if n == ROUND { a.barrier() } else { Ok(()) }
        })
    }

    fn part(&self, a: &mut Asm, first: u64, rows: u64, block: u64) -> Done {
        if self.count {
            return self.row_by_row(a, rows, block);
        }
        self.norm(a, first, rows, block)
    }

    /// Counter mode, one instruction per row.
    fn row_by_row(&self, a: &mut Asm, rows: u64, block: u64) -> Done {
        a.count(self.cols)?;
        for r in 0..rows {
            let at = [self.call.dst.row(r), self.full.row(r), block + r * self.exp_step * 32];
            self.issue(a, at, 0, [8, 8, 0])?;
        }
        a.end_count()
    }

    /// Norm mode: one instruction per whole repeat of columns, rows as repeats.
    fn norm(&self, a: &mut Asm, first: u64, rows: u64, block: u64) -> Done {
        let (dst, full) = (&self.call.dst, self.full);
        let e = a.e();
        let strides = [dst.stride_blocks(), full.stride_blocks(), self.exp_step];
        let narrow = u64::from(dst.row_stride()) < e || u64::from(full.row_stride()) < e;
        let whole = if narrow { 0 } else { self.cols / e };
        for i in 0..whole {
            let at = [dst.row(first) + i * 256, full.row(first) + i * 256, block];
            self.issue(a, at, rows, strides)?;
        }
        let rest = self.cols - whole * e;
        if rest > 0 {
            a.lanes(rest)?;
            let at = [dst.row(first) + whole * 256, full.row(first) + whole * 256, block];
            self.issue(a, at, rows, strides)?;
            a.full()?;
        }
        Ok(())
    }

    /// dst = full op block, or block op full where the order asks for it.
    fn issue(&self, a: &mut Asm, at: [u64; 3], repeat: u64, rep: [u64; 3]) -> Done {
        let ([d, f, b], [dr, fr, br]) = (at, rep);
        if self.exp_first {
            a.vec2(self.op, [d, b, f], repeat, [1, 0, 1], [dr, br, fr])
        } else {
            a.vec2(self.op, [d, f, b], repeat, [1, 1, 0], [dr, fr, br])
        }
    }
}
