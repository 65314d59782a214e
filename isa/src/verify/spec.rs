//! One use of a unit, made from a few small numbers that can be enumerated, drawn and shrunk.

use super::contents::dist;
use super::unit::{Form, Unit};
use crate::a5::Cmp;
use crate::tile::{
    Call, Family, Layout, OperandOrder, Operator, Quirk, Quirks, Sat, Scalar, Tile, Tmp,
};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Round;

/// One use of a unit; [`Spec::default`] is the simplest of all values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spec {
    /// Valid rows.
    pub rows: u32,
    /// Valid columns.
    pub cols: u32,
    /// Physical rows below the valid ones.
    pub below: u32,
    /// Blocks of a row beyond those that hold valid columns: dst, sources, tmp.
    pub slack: [u16; 4],
    /// Blocks between the end of the tile before and each tile: dst, sources, tmp.
    pub shift: [u8; 4],
    /// Physical columns of a column operand beyond its one.
    pub columns: u8,
    /// Valid rows and columns are run-time values.
    pub dynamic: [bool; 2],
    /// Column-major tiles, or a row-major instead of a column-major column.
    pub turned: bool,
    /// One block per row instead of one value.
    pub blocks: bool,
    /// The expanded operand comes first, or the one valid in part.
    pub swapped: bool,
    /// A one-row source instead of a column, several rows instead of one.
    pub flat: bool,
    /// Form of tmp: 0 as usual, 1 the other usual one, 2 as small as allowed, 3 one block wide.
    pub tmp: u8,
    /// Sources that share the place of dst, one bit each.
    pub in_place: u8,
    /// Scalar first, sums in pairs, or addresses indexed.
    pub variant: bool,
    /// Operand order of the shipped code.
    pub order: bool,
    /// Rounding mode, 0 for none; which comparison; which sides of a source are shorter;
    /// which rows are padded.
    pub round: u8,
    /// Saturation: 0 unsaid, 1 on, 2 off.
    pub sat: u8,
    /// What fills the tiles: four distributions, then peaks, the largest and the smallest.
    pub dist: u8,
    /// Seed of the contents; the column of a peak.
    pub seed: u32,
}

impl Default for Spec {
    fn default() -> Self {
        Spec {
            rows: 1,
            cols: 1,
            below: 0,
            slack: [0; 4],
            shift: [0; 4],
            columns: 0,
            dynamic: [false; 2],
            turned: false,
            blocks: false,
            swapped: false,
            flat: false,
            tmp: 0,
            in_place: 0,
            variant: false,
            order: false,
            round: 0,
            sat: 0,
            dist: 0,
            seed: 1,
        }
    }
}

const DST: usize = 0;
const TMP: usize = 3;

impl Spec {
    /// The call, its tiles placed one after the other.
    pub fn call(&self, u: &Unit, quirks: Quirks) -> Call {
        let mut call = self
            .odd_call(u)
            .unwrap_or_else(|| Call::new(u.op, self.destination(u), self.sources(u)));
        call.family = u.family;
        call.quirks = quirks;
        call.tmp = match call.least_tmp() {
            Some(least) => self.needed(u, least),
            None => self.scratch(u),
        };
        self.attributes(u, &mut call);
        if u.pads() {
            let known = u32::from(u.family == Family::A2A3);
            call.dst.pad = (known + self.seed % (4 - known)) as u8;
            if self.variant || self.seed.is_multiple_of(2) {
                call.src[0].pad = call.dst.pad;
            }
            call.dst.valid_rows = match self.round / 3 {
                0 => call.dst.rows,
                1 => self.rows,
                // Fewer than the source has: shipped headers accept it.
                _ => self.rows.div_ceil(2),
            };
            call.dst.valid_cols = call.dst.cols;
        }
        self.place(&mut call);
        call
    }

    fn attributes(&self, u: &Unit, call: &mut Call) {
        if u.op.operator == Operator::Tri {
            let edge = i64::from(self.seed % (2 * self.rows + self.cols)) - i64::from(self.rows);
            call.scalar = Some(Scalar { dtype: DType::I32, bits: edge as u32 as u64 });
            call.attrs.upper = self.variant;
        } else if u.op.sig.scalar && call.scalar.is_none() {
            let mut bits = [0u8; 8];
            dist(self.dist, u.from).fill(u.from, self.seed.into(), 9, &mut bits[..u.from.size()]);
            let mut bits = u64::from_le_bytes(bits);
            if u.op.operator.shifts() {
                bits %= 8 * u.from.size() as u64;
            }
            call.scalar = Some(Scalar { dtype: u.from, bits });
        }
        call.attrs.reversed = self.variant && u.op.sig.scalar;
        call.attrs.binary = self.variant && call.tmp.is_some();
        call.attrs.indexed = self.variant && u.family == Family::A5;
        call.attrs.round =
            usize::from(self.round).checked_sub(1).map(|i| Round::ALL[i % Round::ALL.len()]);
        if u.op.operator == Operator::Compare {
            call.attrs.cmp = Cmp::ALL[usize::from(self.round) % Cmp::ALL.len()];
        }
        call.attrs.sat = [None, Some(Sat::On), Some(Sat::Off)][usize::from(self.sat) % 3];
        // Code that accepts two full operands knows no other order than the shipped one.
        let shipped = self.order || call.quirks.has(Quirk::D2);
        call.operand_order = if shipped { OperandOrder::Vendor } else { OperandOrder::Seed };
    }

    fn tile(&self, name: &str, dtype: DType, shape: (u32, u32), valid: (u32, u32)) -> Tile {
        Tile {
            static_rows: !self.dynamic[0],
            static_cols: !self.dynamic[1],
            ..Tile::plain(name, dtype, shape, valid)
        }
    }

    /// Physical columns of a row with `cols` valid ones.
    fn line(&self, u: &Unit, cols: u32, which: usize) -> u32 {
        let block = u.block();
        cols.max(1).next_multiple_of(block) + block * u32::from(self.slack[which])
    }

    fn full(&self, u: &Unit, name: &str, t: DType, which: usize) -> Tile {
        let shape = (self.rows + self.below, self.line(u, self.cols, which));
        self.tile(name, t, shape, (self.rows, self.cols))
    }

    /// One element per row: a column-major column, or the first column of a row-major tile.
    fn column(&self, u: &Unit, name: &str, t: DType, which: usize) -> Tile {
        if self.turned {
            let shape = (self.rows + self.below, self.line(u, 1, which));
            return self.tile(name, t, shape, (self.rows, 1));
        }
        let rows = (self.rows + self.below).next_multiple_of(u.block());
        let cols = 1 + u32::from(self.columns);
        let tile = self.tile(name, t, (rows, cols), (self.rows, 1));
        Tile { layout: Layout::ColMajor, static_cols: true, ..tile }
    }

    fn row(&self, u: &Unit, name: &str, t: DType, which: usize) -> Tile {
        self.tile(name, t, (1, self.line(u, self.cols, which)), (1, self.cols))
    }

    /// The column-major tile of the same bytes, where the layout is column-major.
    fn turn(&self, u: &Unit, t: Tile) -> Tile {
        if self.turned && u.form == Form::Elementwise { transposed(t) } else { t }
    }

    fn destination(&self, u: &Unit) -> Tile {
        match u.form {
            Form::RowReduce => self.column(u, "dst", u.to, DST),
            Form::ColReduce => self.row(u, "dst", u.to, DST),
            _ if u.op.operator == Operator::Sort => {
                let line = self.cols.next_multiple_of(32) * 8 / u.to.size() as u32;
                let shape = (self.rows + self.below, line + u.block() * u32::from(self.slack[DST]));
                self.tile("dst", u.to, shape, (self.rows, line))
            }
            Form::Turned => {
                let shape = (self.cols + self.below, self.line(u, self.rows, DST));
                self.tile("dst", u.to, shape, (self.cols, self.rows))
            }
            _ => self.turn(u, self.full(u, "dst", u.to, DST)),
        }
    }

    fn sources(&self, u: &Unit) -> Vec<Tile> {
        let t = u.from;
        match (u.form, u.op.sig.srcs) {
            (_, 0) => Vec::new(),
            (Form::RowExpand, _) if self.flat => {
                let cols = (self.rows + self.below).next_multiple_of(u.block());
                vec![self.tile("src", t, (1, cols), (1, cols))]
            }
            (Form::RowExpand, _) => vec![self.column(u, "src", t, 1)],
            (Form::RowExpandBin, _) => self.expanded(u),
            (Form::ColExpand, 1) if self.flat => vec![self.full(u, "src", t, 1)],
            (Form::ColExpand, 1) => vec![self.row(u, "src", t, 1)],
            (Form::ColExpand, n) => (0..n).map(|i| self.repeated(u, name(n, i), i)).collect(),
            (_, n) => (0..n)
                .map(|i| {
                    if let Some(tile) = self.special(u, u.op.sources()[usize::from(i)]) {
                        return tile;
                    }
                    let shared = self.in_place >> i & 1 == 1;
                    let shared = shared || u.pads() && u.op.name != "tfillpad_expand";
                    let which = if shared { DST } else { (usize::from(i) + 1).min(2) };
                    let mut tile = self.full(u, name(n, i), t, which);
                    if u.op.name == "tfillpad_expand" {
                        tile.rows = self.rows;
                    }
                    if u.partly() && (i == 0) == self.swapped {
                        tile.valid_rows = shorter(self.rows, self.round & 1 == 1);
                        tile.valid_cols = shorter(self.cols, self.round & 2 == 2);
                    }
                    self.turn(u, tile)
                })
                .collect(),
        }
    }

    /// The full operand, or the row for all rows: one row, or the first of several.
    fn repeated(&self, u: &Unit, name: &str, i: u8) -> Tile {
        match (i == 0) == self.swapped {
            false => {
                let shared = self.in_place & 1 == 1;
                self.full(u, name, u.from, if shared { DST } else { 1 })
            }
            true if self.flat => self.full(u, name, u.from, 2),
            true => self.row(u, name, u.from, 2),
        }
    }

    /// A source that has a type of its own.
    fn special(&self, u: &Unit, name: &str) -> Option<Tile> {
        let rows = self.rows + self.below;
        let slack = u32::from(self.slack[2]);
        Some(match name {
            "mask" => {
                // Bits lie in integers of any width.
                let t = if self.seed.is_multiple_of(3) { DType::U32 } else { DType::U8 };
                let bytes = self.cols.div_ceil(8).next_multiple_of(32) + 32 * slack;
                let line = bytes / t.size() as u32;
                self.tile("mask", t, (rows, line), (self.rows, line))
            }
            "idx" if u.op.operator == Operator::Sort => {
                let shape = (rows, self.cols.next_multiple_of(32) + 8 * slack);
                self.tile("idx", DType::U32, shape, (self.rows, self.cols))
            }
            _ => return None,
        })
    }

    /// The full operand and the one of one value or block per row.
    fn expanded(&self, u: &Unit) -> Vec<Tile> {
        let names = if self.swapped { ["src1", "src0"] } else { ["src0", "src1"] };
        let which = if self.in_place & 1 == 1 { DST } else { 1 };
        let full = self.full(u, names[0], u.from, which);
        let exp = if self.blocks {
            let block = 32 / u.from.size() as u32;
            let shape = (self.rows + self.below, self.line(u, block, 2));
            self.tile(names[1], u.from, shape, (self.rows, block))
        } else {
            Spec { turned: false, ..*self }.column(u, names[1], u.from, 2)
        };
        if self.swapped { vec![exp, full] } else { vec![full, exp] }
    }

    /// tmp as small as allowed, or a block wider and a row higher.
    fn needed(&self, u: &Unit, (t, rows, cols): (DType, u32, u32)) -> Option<Tile> {
        if u.op.sig.tmp == Tmp::Optional && self.tmp.is_multiple_of(4) {
            return None;
        }
        let more = u32::from(self.tmp % 4 == 1);
        let shape = (
            rows + more,
            cols.next_multiple_of(32 / t.size() as u32) + more * 32 / t.size() as u32,
        );
        let tile = self.tile("tmp", t, shape, shape);
        Some(Tile { static_rows: true, static_cols: true, ..tile })
    }

    fn scratch(&self, u: &Unit) -> Option<Tile> {
        let whole = |(rows, cols): (u32, u32), t| {
            let tile = self.tile("tmp", t, (rows, cols), (rows, cols));
            Tile { static_rows: true, static_cols: true, ..tile }
        };
        let rows = self.rows + self.below;
        let given = self.tmp % 4;
        match (u.op.sig.tmp, u.form) {
            (Tmp::None, _) => None,
            (Tmp::Optional, _) if given == 0 => None,
            (_, Form::RowReduce) => {
                let e = u.repeat();
                let chunks = (self.cols / e / 2).max(1);
                let cols = match given {
                    0 | 1 => self.line(u, self.cols, if given == 0 { 1 } else { TMP }),
                    2 => e * chunks,
                    _ => u.block(),
                };
                Some(whole((rows, cols), u.from))
            }
            (_, Form::RowExpandBin) => {
                let bytes = match given {
                    1 => 7680,
                    _ => 256 * self.rows.div_ceil(8).clamp(1, 30),
                };
                Some(whole((1, bytes / u.from.size() as u32), u.from))
            }
            (_, Form::ColReduce) => {
                let half = (self.rows / 2).max(1);
                let shape = if given == 1 { rows } else { half };
                Some(whole((shape, self.line(u, self.cols, TMP)), u.from))
            }
            _ if u.from != u.to => {
                let repeats = (self.cols / 64).clamp(1, 255);
                Some(whole((1, 64 * repeats), DType::I32))
            }
            _ => Some(whole((rows, self.line(u, self.cols, TMP)), u.from)),
        }
    }

    /// Sources, tmp, dst one after the other; a source in place lies where dst lies.
    fn place(&self, call: &mut Call) {
        let mut at = 0u64;
        let mut next = |t: &mut Tile, which: usize| {
            t.addr = at.next_multiple_of(32) + 32 * u64::from(self.shift[which]);
            at = t.end();
        };
        let alike = |s: &Tile, d: &Tile| s.bytes() == d.bytes() && s.row_stride() == d.row_stride();
        let full = |i: usize| {
            // In expanding operations the first bit speaks of the full operand.
            let expands = call.op.expands_rows() || call.op.name.starts_with("tcolexpand");
            let expands = expands && call.op.sig.srcs == 2;
            if expands { (self.swapped as usize == i) as usize } else { 1 << i }
        };
        let shared: Vec<bool> = (0..call.src.len())
            .map(|i| {
                let asked = usize::from(self.in_place) & full(i) != 0 || call.in_place();
                asked && alike(&call.src[i], &call.dst)
            })
            .collect();
        for (i, t) in call.src.iter_mut().enumerate().filter(|(i, _)| !shared[*i]) {
            next(t, (i + 1).min(2));
        }
        if let Some(t) = &mut call.tmp {
            next(t, TMP);
        }
        next(&mut call.dst, DST);
        for (t, _) in call.src.iter_mut().zip(shared).filter(|(_, s)| *s) {
            t.addr = call.dst.addr;
        }
    }
}

/// About two thirds of `n`, where that is asked.
fn shorter(n: u32, asked: bool) -> u32 {
    if asked { n - n.div_ceil(3) } else { n }
}

fn name(n: u8, i: u8) -> &'static str {
    match (n, i) {
        (1, _) => "src",
        (_, 0) => "src0",
        _ => "src1",
    }
}

/// The column-major tile of the same bytes.
fn transposed(mut t: Tile) -> Tile {
    t.layout = Layout::ColMajor;
    (t.rows, t.cols) = (t.cols, t.rows);
    (t.valid_rows, t.valid_cols) = (t.valid_cols, t.valid_rows);
    (t.static_rows, t.static_cols) = (t.static_cols, t.static_rows);
    t
}
