//! TCONCAT, TEXTRACT, TINSERT: rectangles of elements moved between row-major tiles.

use super::Tile;
use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict, extent, refuse};
use super::copy::Rows;
use super::meaning::Mem;
use super::op::Operator;
use super::quirks::Quirk;
use crate::machine::Stop;

type Done = Result<(), Stop>;

/// A rectangle: rows, columns, where it is read and where it is written.
pub(super) struct Part<'c> {
    src: &'c Tile,
    size: (u64, u64),
    from: (u64, u64),
    to: (u64, u64),
}

impl Part<'_> {
    /// Its two sides as tiles of their own.
    pub fn tiles(&self, dst: &Tile) -> (Tile, Tile) {
        let side = |t: &Tile, (r, c): (u64, u64)| Tile {
            addr: t.at(r, c),
            valid_rows: self.size.0 as u32,
            valid_cols: self.size.1 as u32,
            static_cols: false,
            ..t.clone()
        };
        (side(dst, self.to), side(self.src, self.from))
    }
}

/// The rectangles an operation moves.
pub(super) fn parts(call: &Call) -> Vec<Part<'_>> {
    let (dst, src) = (&call.dst, call.source(0));
    match call.op.operator {
        Operator::Extract => vec![Part { src, size: dst.valid(), from: call.attrs.at, to: (0, 0) }],
        Operator::Insert => vec![Part { src, size: src.valid(), from: (0, 0), to: call.attrs.at }],
        _ => {
            let (rows, first) = src.valid();
            let second = call.source(1);
            vec![
                Part { src, size: (rows, first), from: (0, 0), to: (0, 0) },
                Part { src: second, size: second.valid(), from: (0, 0), to: (0, first) },
            ]
        }
    }
}

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    let dst = &call.dst;
    for (role, t) in call.tiles() {
        c.row_major(role, t)?;
        c.not_empty(role, t)?;
        if !std::ptr::eq(t, dst) {
            c.disjoint(("dst", dst), (role, t))?;
        }
    }
    if call.op.operator == Operator::Concat {
        let (s0, s1) = (call.source(0), call.source(1));
        let cols = u64::from(s0.valid_cols) + u64::from(s1.valid_cols);
        let alike = [s0, s1].iter().all(|t| t.valid_rows == dst.valid_rows);
        if !alike || cols != u64::from(dst.valid_cols) {
            let text =
                format!("src0 {}, src1 {}, dst {} (valid)", extent(s0), extent(s1), extent(dst));
            return refuse("legality.shape", text, "dst has the columns of both side by side");
        }
        return Ok(());
    }
    let (whole, name) = match call.op.operator {
        Operator::Extract => (call.source(0), "src"),
        _ => (dst, "dst"),
    };
    let (rows, cols) = if name == "src" { dst.valid() } else { call.source(0).valid() };
    let (r, k) = call.attrs.at;
    let fits = |at: u64, n: u64, of: u32| at.checked_add(n).is_some_and(|e| e <= of.into());
    if !fits(r, rows, whole.rows) || !fits(k, cols, whole.cols) {
        let text = format!(
            "{rows}x{cols} elements at ({r}, {k}) do not lie in {name} `{}` of {}x{}",
            whole.name, whole.rows, whole.cols
        );
        return refuse("legality.range", text, "check the row and column the operation is given");
    }
    if !k.is_multiple_of(whole.per_block()) {
        let text = format!("column {k} of {name} `{}` is inside a block", whole.name);
        let help = format!("use a multiple of {} columns", whole.per_block());
        return refuse("legality.alignment", text, help);
    }
    Ok(())
}

/// The rectangles, element by element.
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    for p in parts(call) {
        for r in 0..p.size.0 {
            for c in 0..p.size.1 {
                let bits = mem.read(p.src, p.from.0 + r, p.from.1 + c)?;
                mem.write(&call.dst, p.to.0 + r, p.to.1 + c, bits)?;
            }
        }
    }
    Ok(())
}

/// A2/A3 microcode: bursts of blocks and a masked rest; element by element where a rectangle starts
/// inside a block of dst.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let all = parts(call);
    for (n, p) in all.iter().enumerate() {
        let (dst, src) = (call.dst.at(p.to.0, p.to.1), p.src.at(p.from.0, p.from.1));
        if !dst.is_multiple_of(32) {
            scalar(call, a, p)?;
            continue;
        }
        let bytes = p.size.1 * call.dst.size();
        let step = |t: &Tile| t.row(1) - t.addr;
        let rows = Rows {
            dst,
            src,
            rows: p.size.0,
            bytes,
            dst_step: step(&call.dst),
            src_step: step(p.src),
        };
        let last = n + 1 == all.len();
        // What spills over the first rectangle the second one writes.
        if call.quirks.has(Quirk::D14) && (last || bytes.is_multiple_of(32)) {
            rows.blocks(a)?;
        } else {
            rows.exact(a)?;
        }
    }
    Ok(())
}

pub(super) fn scalar(call: &Call, a: &mut Asm, p: &Part) -> Done {
    a.v_to_s()?;
    for r in 0..p.size.0 {
        for c in 0..p.size.1 {
            let bits = a.load(p.src.at(p.from.0 + r, p.from.1 + c))?;
            a.store(call.dst.at(p.to.0 + r, p.to.1 + c), bits)?;
        }
    }
    a.s_to_v()
}
