//! TROWMAX, TROWMIN, TROWSUM: one value per row, along a tree for floats.
//!
//! Floats fold the repeats of a row into tmp and reduce each row's last repeat with one
//! instruction; integers go block by block (`row_reduce_scalar`).

use super::asm::{Asm, MAX_REPEAT, MAX_STRIDE, rounds_and_rest};
use super::call::Call;
use super::check::Checker;
use super::meaning::Mem;
use super::op::Operator;
use super::quirks::Quirk;
use super::{Layout, Tile, meaning, row_reduce_scalar};
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::Marks;

type Done = Result<(), Stop>;

/// Largest destination step of the reductions, in elements (16-bit field).
const MAX_STEP: u64 = 65535;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Result<(), Box<Diagnostic>> {
    c.row_reduce(call, tmp_cols(call))
}

/// dst\[i, 0\] = the fold of row i.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    meaning::row_fold(call, mem)
}

/// Columns of tmp the float tree writes per row; 0 where it needs none.
fn tmp_cols(call: &Call) -> u64 {
    let src = call.source(0);
    let e = super::asm::REPEAT_BYTES / src.size();
    let repeats = u64::from(src.valid_cols) / e;
    if u64::from(src.valid_cols) <= e {
        0
    } else if call.op.operator == Operator::Add {
        e * (repeats / 2).max(1)
    } else {
        e
    }
}

struct Reduce<'c> {
    call: &'c Call,
    src: &'c Tile,
    tmp: &'c Tile,
    /// Two-source fold, whole-repeat reduction, per-block reduction.
    ops: [Op; 3],
    /// Valid rows and columns.
    r: u64,
    c: u64,
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    if !call.dst.dtype.is_float() {
        return row_reduce_scalar::lower(call, a);
    }
    let src = call.source(0);
    let ops = match call.op.operator {
        Operator::Add => [Op::vadd, Op::vcadd, Op::vcgadd],
        Operator::Min => [Op::vmin, Op::vcmin, Op::vcgmin],
        _ => [Op::vmax, Op::vcmax, Op::vcgmax],
    };
    let (r, c) = src.valid();
    let tmp = call.tmp.as_ref().unwrap_or(src);
    let plan = Reduce { call, src, tmp, ops, r, c };
    if plan.fast(a)? {
        return Ok(());
    }
    let e = a.e();
    if c <= e {
        return plan.one_repeat(a);
    }
    if c < 2 * e {
        if call.quirks.has(Quirk::D13) && (src.stride_blocks() < 8 || tmp.stride_blocks() < 8) {
            return Ok(());
        }
        let gaps = [src.stride_blocks() - 8, tmp.stride_blocks().saturating_sub(8)];
        a.copy(tmp.addr, src.addr, r, 8, gaps)?;
        a.barrier()?;
    } else {
        plan.fill(a)?;
    }
    plan.tail(a)?;
    plan.middle(a)?;
    a.count(r * e)?;
    plan.reduce_rows(a, tmp, None)
}

impl Reduce<'_> {
    /// Four static shapes have their own trees.
    fn fast(&self, a: &mut Asm) -> Result<bool, Stop> {
        let dst = &self.call.dst;
        let column = dst.layout == Layout::ColMajor && dst.static_cols && dst.valid_cols == 1;
        if !column || a.t != DType::F32 || !self.src.full_static() {
            return Ok(false);
        }
        let [bin, _, grp] = self.ops;
        let (dst, tmp, src) = (dst.addr, self.tmp.addr, self.src.addr);
        // (folds of neighbouring block groups, second group reduction, last repeats)
        let (pairs, groups, last) = match (self.r, self.c) {
            (64, 128) => (8, 0, 8),
            (32, 256) => (8, 0, 4),
            (16, 512) => (0, 16, 2),
            (8, 1024) => (1, 16, 1),
            _ => return Ok(false),
        };
        a.group(grp, tmp, src, 128)?;
        a.barrier()?;
        if groups > 0 {
            a.group(grp, tmp, tmp, groups)?;
            a.barrier()?;
        }
        let mut fold = |n: u64| {
            a.vec2(bin, [tmp, tmp, tmp + 32], n, [1, 2, 2], [8, 16, 16])?;
            a.barrier()
        };
        if pairs > 0 {
            fold(pairs)?;
        }
        if self.c == 256 {
            fold(4)?;
        }
        a.group(grp, dst, tmp, last)?;
        a.barrier()?;
        Ok(true)
    }

    /// Rows of at most one repeat: no tmp.
    fn one_repeat(&self, a: &mut Asm) -> Done {
        if self.c == a.e() {
            a.count(self.r * a.e())?;
            return self.reduce_rows(a, self.src, None);
        }
        computed(a, self.c)?;
        rounds_and_rest(self.r, MAX_REPEAT, &mut |at, n| {
            self.reduce_rows(a, self.src, Some((at, n)))
        })?;
        a.full()
    }

    /// The reduction proper: in counter mode over all rows, or over some rows in norm mode.
    fn reduce_rows(&self, a: &mut Asm, from: &Tile, rows: Option<(u64, u64)>) -> Done {
        let step = u64::from(self.call.dst.row_stride());
        let red = self.ops[1];
        let (at, n) = rows.unwrap_or((0, 0));
        if step > MAX_STEP {
            let (at, n) = rows.unwrap_or((0, self.r));
            if rows.is_none() {
                a.end_count()?;
            }
            for i in at..at + n {
                a.reduce(red, self.call.dst.row(i), from.row(i), 1, 0, 0)?;
            }
            return a.barrier();
        }
        a.reduce(red, self.call.dst.row(at), from.row(at), n, step, from.stride_blocks())?;
        if rows.is_none() {
            a.end_count()?;
        }
        a.barrier()
    }

    /// One fold of whole repeats over all rows: tmp+d = x+p op y+q, offsets in repeats.
    fn fold(&self, a: &mut Asm, d: u64, x: (&Tile, u64), y: (&Tile, u64)) -> Done {
        let off = |t: &Tile, repeat: u64| t.addr + repeat * 256;
        let at = [off(self.tmp, d), off(x.0, x.1), off(y.0, y.1)];
        let tiles = [self.tmp, x.0, y.0];
        if self.wide() {
            self.row_by_row(a, at, tiles)?;
        } else {
            a.count(self.r * a.e())?;
            a.vec2(self.ops[0], at, 0, [1; 3], tiles.map(Tile::stride_blocks))?;
            a.end_count()?;
        }
        a.barrier()
    }

    /// Strides that do not fit the instruction: one single-repeat instruction per row.
    fn row_by_row(&self, a: &mut Asm, at: [u64; 3], tiles: [&Tile; 3]) -> Done {
        for i in 0..self.r {
            let rows: [u64; 3] = std::array::from_fn(|k| at[k] + tiles[k].row(i) - tiles[k].addr);
            a.vec2(self.ops[0], rows, 1, [1; 3], [0; 3])?;
        }
        Ok(())
    }

    fn wide(&self) -> bool {
        self.src.stride_blocks() > MAX_STRIDE || self.tmp.stride_blocks() > MAX_STRIDE
    }

    /// First folds of rows of at least two repeats.
    fn fill(&self, a: &mut Asm) -> Done {
        let (src, tmp) = (self.src, self.tmp);
        if self.call.op.operator != Operator::Add {
            return self.fold(a, 0, (src, 0), (src, 1));
        }
        let n = self.c / a.e();
        for i in 0..n / 2 {
            self.fold(a, i, (src, 2 * i), (src, 2 * i + 1))?;
        }
        if n % 2 == 1 {
            self.fold(a, 0, (tmp, 0), (src, n - 1))?;
        }
        Ok(())
    }

    /// The partial repeat at the end of every row.
    fn tail(&self, a: &mut Asm) -> Done {
        let (rest, at) = (self.c % a.e(), self.c / a.e() * 256);
        if rest == 0 {
            return Ok(());
        }
        let (src, tmp) = (self.src, self.tmp);
        computed(a, rest)?;
        if self.wide() {
            self.row_by_row(a, [tmp.addr, tmp.addr, src.addr + at], [tmp, tmp, src])?;
        } else {
            let strides = [tmp, tmp, src].map(Tile::stride_blocks);
            super::asm::rounds(self.r, MAX_REPEAT, |i, n| {
                let rows = [tmp.row(i), tmp.row(i), src.row(i) + at];
                a.vec2(self.ops[0], rows, n, [1; 3], strides)
            })?;
        }
        a.full()?;
        a.barrier()
    }

    /// Remaining whole repeats.
    fn middle(&self, a: &mut Asm) -> Done {
        let (src, tmp) = (self.src, self.tmp);
        let n = self.c / a.e();
        if self.call.op.operator != Operator::Add {
            return (2..n).try_for_each(|i| self.fold(a, 0, (tmp, 0), (src, i)));
        }
        let mut n = n / 2;
        while n > 1 {
            for i in 0..n / 2 {
                self.fold(a, i, (tmp, 2 * i), (tmp, 2 * i + 1))?;
            }
            if n % 2 == 1 {
                self.fold(a, n / 2 - 1, (tmp, n / 2 - 1), (tmp, n - 1))?;
            }
            n /= 2;
        }
        Ok(())
    }
}

/// A mask whose width is only known at run time costs more [D: timing tables].
fn computed(a: &mut Asm, n: u64) -> Done {
    let marks = std::mem::replace(&mut a.marks, Marks::COMPUTED);
    let done = a.lanes(n);
    a.marks = marks;
    done
}
