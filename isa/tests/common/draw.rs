//! Drawn calls: shapes around the boundaries that matter, hostile contents, in place or not.

use super::{judge, place, run, tile, valid};
use proptest::prelude::*;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Dist;
use ptoemu_isa::case::to_pto;
use ptoemu_isa::tile::{
    Call, Family, Layout, Limits, OperandOrder, Operator, Scalar, Tile, TileOp, check,
};

/// Draws a call needs; every field is reduced to what fits.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    pub op: usize,
    pub dtype: usize,
    pub other: usize,
    pub rows: u32,
    pub cols: u32,
    pub slack_rows: u32,
    pub slack: [u32; 3],
    pub fixed: bool,
    pub column: bool,
    pub mode2: bool,
    pub swapped: bool,
    pub tmp: bool,
    pub in_place: bool,
    pub flag: bool,
    pub order: bool,
    pub round: usize,
    pub sat: usize,
    pub dist: usize,
    pub seed: u64,
}

/// Sizes near block, repeat and two-repeat boundaries, and any.
pub fn near(limit: u32) -> impl Strategy<Value = u32> {
    let edges = prop::sample::select(vec![
        1u32, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256,
        257, 320, 384, 511, 512, 513,
    ]);
    prop_oneof![3 => edges, 1 => 1..limit].prop_map(move |n| n.min(limit))
}

pub fn rows() -> impl Strategy<Value = u32> {
    let edges = prop::sample::select(vec![
        1u32, 2, 7, 8, 9, 128, 239, 240, 241, 254, 255, 256, 257, 472, 473, 477, 479, 480, 481,
        510, 511,
    ]);
    prop_oneof![2 => edges, 2 => 1u32..40, 1 => 1u32..600]
}

/// Blocks of a row beyond the valid columns; rarely so many that strides do not fit their field.
pub fn slack() -> impl Strategy<Value = u32> {
    prop_oneof![12 => 0u32..6, 1 => 250u32..262]
}

pub fn draw() -> impl Strategy<Value = Draw> {
    let shape = (rows(), near(1100), 0u32..40, [slack(), slack(), slack()]);
    let picks = (0usize..64, 0usize..16, 0usize..16, 0usize..8, 0usize..3, 0usize..8, any::<u64>());
    (shape, picks, any::<[bool; 8]>()).prop_map(|(s, p, b)| Draw {
        op: p.0,
        dtype: p.1,
        other: p.2,
        rows: s.0,
        cols: s.1,
        slack_rows: s.2,
        slack: s.3,
        fixed: b[0],
        column: b[1],
        mode2: b[2],
        swapped: b[3],
        tmp: b[4],
        in_place: b[5],
        flag: b[6],
        order: b[7],
        round: p.3,
        sat: p.4,
        dist: p.5,
        seed: p.6,
    })
}

/// Bytes of UB a drawn call may use.
pub const BUDGET: u64 = 180 * 1024;

pub struct Shaper {
    pub d: Draw,
    pub t: DType,
    pub rows: u32,
    pub cols: u32,
}

impl Shaper {
    /// Shrinks the rows until `tiles` tiles of `t` fit, with their slack.
    pub fn new(d: Draw, t: DType, tiles: u32) -> Shaper {
        let size = t.size() as u64;
        let widest = BUDGET / u64::from(tiles) / size / 2;
        let cols = u64::from(d.cols).min(widest).max(1);
        let slack = d.slack.iter().max().map_or(0, |s| u64::from(*s));
        let line = (cols * size).next_multiple_of(32) + 32 * slack;
        let most = (BUDGET / u64::from(tiles) / line).max(1);
        Shaper { d, t, rows: (u64::from(d.rows).min(most)) as u32, cols: cols as u32 }
    }

    /// A tile around the valid region; its row stride is drawn for each operand.
    pub fn full(&self, name: &str, which: usize) -> Tile {
        let block = 32 / self.t.size() as u32;
        let cols = self.cols.next_multiple_of(block) + block * self.d.slack[which % 3];
        let t = tile(name, self.t, self.rows + self.slack_rows(), cols, Layout::RowMajor);
        valid(t, self.rows, self.cols, self.d.fixed)
    }

    pub fn slack_rows(&self) -> u32 {
        let narrow = self.d.slack.iter().all(|s| *s < 6);
        if narrow && self.rows + self.d.slack_rows < 40 { self.d.slack_rows } else { 0 }
    }

    /// One column, column-major.
    pub fn column(&self, name: &str) -> Tile {
        let rows = (self.rows + self.slack_rows()).next_multiple_of(32);
        let t = tile(name, self.t, rows, 1, Layout::ColMajor);
        valid(t, self.rows, 1, self.d.fixed)
    }

    /// One block (or a little more) per row.
    pub fn blocks(&self, name: &str, valid_cols: u32) -> Tile {
        let block = 32 / self.t.size() as u32;
        let extra = if self.d.flag { self.d.slack[1] } else { 0 };
        let t = tile(
            name,
            self.t,
            self.rows + self.slack_rows(),
            block * (1 + extra),
            Layout::RowMajor,
        );
        valid(t, self.rows, valid_cols, self.d.fixed)
    }

    pub fn row_reduce(&self, op: &'static TileOp) -> Call {
        let dst = if self.d.column { self.column("dst") } else { self.blocks("dst", 1) };
        let mut call = Call::new(op, dst, [self.full("src", 0)]);
        // Any width the rule accepts: the shape of src is the safe one.
        call.tmp = Some(self.full("tmp", if self.d.tmp { 0 } else { 2 }));
        call
    }

    pub fn row_expand(&self, op: &'static TileOp) -> Call {
        let src = if self.d.column { self.column("src") } else { self.blocks("src", 1) };
        Call::new(op, self.full("dst", 0), [src])
    }

    pub fn row_expand_bin(&self, op: &'static TileOp) -> Call {
        let block = 32 / self.t.size() as u32;
        let exp = if self.d.mode2 { self.blocks("exp", block) } else { self.column("exp") };
        let full = self.full("full", 1);
        let src = if self.d.swapped { [exp, full] } else { [full, exp] };
        let mut call = Call::new(op, self.full("dst", 0), src);
        if self.d.tmp && !self.d.mode2 {
            call.tmp = Some(tile("tmp", self.t, 1, 8192 / self.t.size() as u32, Layout::RowMajor));
        }
        call.operand_order = if self.d.order { OperandOrder::Vendor } else { OperandOrder::Seed };
        call
    }

    pub fn col_reduce(&self, op: &'static TileOp) -> Call {
        let mut dst = self.full("dst", 0);
        (dst.rows, dst.valid_rows) = (1, 1);
        let mut call = Call::new(op, dst, [self.full("src", 1)]);
        if op.name == "tcolsum" && self.d.tmp {
            call.tmp = Some(self.full("tmp", 2));
            call.attrs.binary = true;
        }
        call
    }

    pub fn elementwise(&self, op: &'static TileOp) -> Call {
        let row_major = op.sig.srcs == 2
            || matches!(op.name, "texp" | "tlog" | "tsqrt" | "trsqrt" | "tabs" | "trelu" | "tnot")
            || matches!(op.operator, Operator::Rem | Operator::Mod);
        let turn = |t: Tile| if self.d.column && !row_major { turned(t) } else { t };
        let same = op.name == "tmov" || self.d.in_place;
        let src = (0..op.sig.srcs as usize).map(|i| {
            let names = ["src0", "src1"];
            turn(self.full(names[i], if same { 0 } else { i + 1 }))
        });
        let mut call = Call::new(op, turn(self.full("dst", 0)), src);
        call.attrs.reversed = self.d.flag;
        if op.name == "trsqrt" && self.d.tmp {
            call.tmp = Some(tile("tmp", self.t, 1, 32, Layout::RowMajor));
        }
        call
    }
}

/// The column-major tile of the same bytes.
pub fn turned(mut t: Tile) -> Tile {
    t.layout = Layout::ColMajor;
    (t.rows, t.cols) = (t.cols, t.rows);
    (t.valid_rows, t.valid_cols) = (t.valid_cols, t.valid_rows);
    t
}

pub fn dist(d: Draw, t: DType) -> Dist {
    let floats = [Dist::Unit, Dist::Special, Dist::SpecialNonan, Dist::Pos, Dist::Unit];
    let ints = [Dist::Full, Dist::Small, Dist::Nz, Dist::MinMax, Dist::Full];
    let all = if t.is_float() { floats } else { ints };
    all[d.dist % all.len()]
}

pub fn contents(call: &Call, d: Draw) -> Vec<Vec<u8>> {
    let tiles = std::iter::once(&call.dst).chain(&call.src);
    tiles
        .zip(0..)
        .map(|(t, k)| {
            let mut bytes = vec![0; t.bytes() as usize];
            dist(d, t.dtype).fill(t.dtype, d.seed, k, &mut bytes).unwrap();
            if k == 2 && call.op.operator.shifts() {
                counts(t.dtype, &mut bytes);
            }
            bytes
        })
        .collect()
}

/// Shift counts below the width: larger ones are reported.
fn counts(t: DType, bytes: &mut [u8]) {
    for element in bytes.chunks_exact_mut(t.size()) {
        element[0] %= 8 * t.size() as u8;
        element[1..].fill(0);
    }
}

/// Places the tiles; in place where drawn and legal.
pub fn settle(call: &mut Call, d: Draw, contents: &mut [Vec<u8>]) {
    place(call);
    if !d.in_place || call.src.is_empty() {
        return;
    }
    let mut shared = call.clone();
    for i in 0..shared.src.len() {
        let alike = shared.src[i].bytes() == shared.dst.bytes();
        if alike && shared.src[i].row_stride() == shared.dst.row_stride() {
            shared.src[i].addr = shared.dst.addr;
        }
    }
    if check(&shared, shared.family, &Limits::of(shared.family)).is_ok() {
        *call = shared;
        for i in 0..call.src.len() {
            if call.src[i].addr == call.dst.addr {
                contents[0] = contents[i + 1].clone();
                contents[i + 1].clone_from(&contents[0].clone());
            }
        }
        // Two sources at the place of dst hold the same bytes.
        let first = contents[0].clone();
        for (t, bytes) in call.src.iter().zip(&mut contents[1..]) {
            if t.addr == call.dst.addr {
                bytes.clone_from(&first);
            }
        }
    }
}

pub fn holds(mut call: Call, d: Draw) -> Result<(), TestCaseError> {
    if call.op.sig.scalar {
        let t = call.dtype();
        let dist = dist(d, t);
        let mut one = vec![0; t.size()];
        dist.fill(t, d.seed, 9, &mut one).unwrap();
        if call.op.operator.shifts() {
            counts(t, &mut one);
        }
        let bits = one.iter().rev().fold(0, |a, b| a << 8 | u64::from(*b));
        call.scalar = Some(Scalar { dtype: t, bits });
    }
    let mut bytes = contents(&call, d);
    settle(&mut call, d, &mut bytes);
    // Not every draw is legal (a zero divisor, a tmp below the need): those prove nothing here.
    if check(&call, call.family, &Limits::of(call.family)).is_err() || beyond(&call) {
        return Err(TestCaseError::reject("not legal"));
    }
    run(&call, &bytes).and_then(|r| judge(&call, &r)).map_err(|e| {
        // The shrunk case as a program to run and to keep.
        let data = |k: usize, t| format!("rand({},{},{})", d.seed, dist(d, t), k + 1);
        let text = to_pto(&call, &data).unwrap_or_default();
        TestCaseError::fail(format!("{e}\n{}\n{text}", describe(&call, d)))
    })
}

/// Legal on the 950, but its routine is not described.
fn beyond(call: &Call) -> bool {
    call.family == Family::A5 && ptoemu_isa::tile::a5::unbuilt(call).is_some()
}

/// The call in a few lines.
pub fn describe(call: &Call, d: Draw) -> String {
    let mut out = format!(
        "{} {:?} seed {:#x} {:?}",
        call.op.name,
        dist(d, call.dst.dtype),
        d.seed,
        call.attrs
    );
    for (role, t) in call.tiles() {
        let fixed = if t.static_cols { "static" } else { "dynamic" };
        out += &format!(
            "\n  {role} {} {}x{} {:?} valid {}x{} {fixed} at {:#x}",
            t.dtype, t.rows, t.cols, t.layout, t.valid_rows, t.valid_cols, t.addr
        );
    }
    out + &format!("\n  scalar {:x?} order {:?}", call.scalar, call.operand_order)
}
