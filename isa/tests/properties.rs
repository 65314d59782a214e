//! Microcode without quirks computes the meaning: every operation, element type, layout, mode and
//! awkward shape, with hostile padding and special values, no byte outside the valid region
//! touched and nothing for the machine to report.
//!
//! `PTOEMU_CASES` sets the cases per property.

mod common;

use common::{judge, place, run, tile, valid};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::{Dist, Round};
use ptoemu_isa::tile::{
    Call, Family, Layout, Limits, OPS, OperandOrder, Sat, Scalar, Tile, TileOp, check, find,
};

fn config(default: u32) -> Config {
    let cases = std::env::var("PTOEMU_CASES").ok().and_then(|s| s.parse().ok());
    Config { cases: cases.unwrap_or(default), failure_persistence: None, ..Config::default() }
}

/// Draws a call needs; every field is reduced to what fits.
#[derive(Clone, Copy, Debug)]
struct Draw {
    op: usize,
    dtype: usize,
    other: usize,
    rows: u32,
    cols: u32,
    slack_rows: u32,
    slack: [u32; 3],
    fixed: bool,
    column: bool,
    mode2: bool,
    swapped: bool,
    tmp: bool,
    in_place: bool,
    flag: bool,
    order: bool,
    round: usize,
    sat: usize,
    dist: usize,
    seed: u64,
}

/// Sizes near block, repeat and two-repeat boundaries, and any.
fn near(limit: u32) -> impl Strategy<Value = u32> {
    let edges = prop::sample::select(vec![
        1u32, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256,
        257, 320, 384, 511, 512, 513,
    ]);
    prop_oneof![3 => edges, 1 => 1..limit].prop_map(move |n| n.min(limit))
}

fn rows() -> impl Strategy<Value = u32> {
    let edges = prop::sample::select(vec![
        1u32, 2, 7, 8, 9, 128, 239, 240, 241, 254, 255, 256, 257, 472, 473, 477, 479, 480, 481,
        510, 511,
    ]);
    prop_oneof![2 => edges, 2 => 1u32..40, 1 => 1u32..600]
}

/// Blocks of a row beyond the valid columns; rarely so many that strides do not fit their field.
fn slack() -> impl Strategy<Value = u32> {
    prop_oneof![12 => 0u32..6, 1 => 250u32..262]
}

fn draw() -> impl Strategy<Value = Draw> {
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
const BUDGET: u64 = 180 * 1024;

struct Shaper {
    d: Draw,
    t: DType,
    rows: u32,
    cols: u32,
}

impl Shaper {
    /// Shrinks the rows until `tiles` tiles of `t` fit, with their slack.
    fn new(d: Draw, t: DType, tiles: u32) -> Shaper {
        let size = t.size() as u64;
        let widest = BUDGET / u64::from(tiles) / size / 2;
        let cols = u64::from(d.cols).min(widest).max(1);
        let slack = d.slack.iter().max().map_or(0, |s| u64::from(*s));
        let line = (cols * size).next_multiple_of(32) + 32 * slack;
        let most = (BUDGET / u64::from(tiles) / line).max(1);
        Shaper { d, t, rows: (u64::from(d.rows).min(most)) as u32, cols: cols as u32 }
    }

    /// A tile around the valid region; its row stride is drawn for each operand.
    fn full(&self, name: &str, which: usize) -> Tile {
        let block = 32 / self.t.size() as u32;
        let cols = self.cols.next_multiple_of(block) + block * self.d.slack[which % 3];
        let t = tile(name, self.t, self.rows + self.slack_rows(), cols, Layout::RowMajor);
        valid(t, self.rows, self.cols, self.d.fixed)
    }

    fn slack_rows(&self) -> u32 {
        let narrow = self.d.slack.iter().all(|s| *s < 6);
        if narrow && self.rows + self.d.slack_rows < 40 { self.d.slack_rows } else { 0 }
    }

    /// One column, column-major.
    fn column(&self, name: &str) -> Tile {
        let rows = (self.rows + self.slack_rows()).next_multiple_of(32);
        let t = tile(name, self.t, rows, 1, Layout::ColMajor);
        valid(t, self.rows, 1, self.d.fixed)
    }

    /// One block (or a little more) per row.
    fn blocks(&self, name: &str, valid_cols: u32) -> Tile {
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

    fn row_reduce(&self, op: &'static TileOp) -> Call {
        let dst = if self.d.column { self.column("dst") } else { self.blocks("dst", 1) };
        let mut call = Call::new(op, dst, [self.full("src", 0)]);
        // Any width the rule accepts: the shape of src is the safe one.
        call.tmp = Some(self.full("tmp", if self.d.tmp { 0 } else { 2 }));
        call
    }

    fn row_expand(&self, op: &'static TileOp) -> Call {
        let src = if self.d.column { self.column("src") } else { self.blocks("src", 1) };
        Call::new(op, self.full("dst", 0), [src])
    }

    fn row_expand_bin(&self, op: &'static TileOp) -> Call {
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

    fn col_reduce(&self, op: &'static TileOp) -> Call {
        let mut dst = self.full("dst", 0);
        (dst.rows, dst.valid_rows) = (1, 1);
        let mut call = Call::new(op, dst, [self.full("src", 1)]);
        if op.name == "tcolsum" && self.d.tmp {
            call.tmp = Some(self.full("tmp", 2));
            call.attrs.binary = true;
        }
        call
    }

    fn elementwise(&self, op: &'static TileOp) -> Call {
        let row_major = op.sig.srcs == 2
            || matches!(op.name, "texp" | "tlog" | "tsqrt" | "trsqrt" | "tabs" | "trelu" | "tnot");
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
fn turned(mut t: Tile) -> Tile {
    t.layout = Layout::ColMajor;
    (t.rows, t.cols) = (t.cols, t.rows);
    (t.valid_rows, t.valid_cols) = (t.valid_cols, t.valid_rows);
    t
}

fn dist(d: Draw, t: DType) -> Dist {
    let floats = [Dist::Unit, Dist::Special, Dist::SpecialNonan, Dist::Pos, Dist::Unit];
    let ints = [Dist::Full, Dist::Small, Dist::Nz, Dist::MinMax, Dist::Full];
    let all = if t.is_float() { floats } else { ints };
    all[d.dist % all.len()]
}

fn contents(call: &Call, d: Draw) -> Vec<Vec<u8>> {
    let tiles = std::iter::once(&call.dst).chain(&call.src);
    tiles
        .zip(0..)
        .map(|(t, k)| {
            let mut bytes = vec![0; t.bytes() as usize];
            dist(d, t.dtype).fill(t.dtype, d.seed, k, &mut bytes).unwrap();
            bytes
        })
        .collect()
}

/// Places the tiles; in place where drawn and legal.
fn settle(call: &mut Call, d: Draw, contents: &mut [Vec<u8>]) {
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
    if check(&shared, Family::A2A3, &Limits::of(Family::A2A3)).is_ok() {
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

fn holds(mut call: Call, d: Draw) -> Result<(), TestCaseError> {
    if call.op.sig.scalar {
        let t = call.dst.dtype;
        let dist = dist(d, t);
        let mut one = vec![0; t.size()];
        dist.fill(t, d.seed, 9, &mut one).unwrap();
        let bits = one.iter().rev().fold(0, |a, b| a << 8 | u64::from(*b));
        call.scalar = Some(Scalar { dtype: t, bits });
    }
    let mut bytes = contents(&call, d);
    settle(&mut call, d, &mut bytes);
    // Not every draw is legal (a zero divisor, a tmp below the need): those prove nothing here.
    if check(&call, Family::A2A3, &Limits::of(Family::A2A3)).is_err() {
        return Err(TestCaseError::reject("not legal"));
    }
    run(&call, &bytes)
        .and_then(|r| judge(&call, &r))
        .map_err(|e| TestCaseError::fail(format!("{e}\n{}", describe(&call, d))))
}

/// The call in a few lines.
fn describe(call: &Call, d: Draw) -> String {
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

fn property(
    cases: u32,
    ops: &[&str],
    build: impl Fn(&Shaper, &'static TileOp) -> Call,
    tiles: u32,
) {
    let ops: Vec<&'static TileOp> = ops.iter().map(|n| find(n).unwrap()).collect();
    let mut runner = TestRunner::new(config(cases));
    let done = runner.run(&draw(), |d| {
        let op = ops[d.op % ops.len()];
        let t = op.a2a3[d.dtype % op.a2a3.len()];
        holds(build(&Shaper::new(d, t, tiles), op), d)
    });
    if let Err(e) = done {
        panic!("{e}");
    }
}

#[test]
fn row_reductions() {
    property(400, &["trowmax", "trowmin", "trowsum", "trowprod"], Shaper::row_reduce, 3);
}

/// The four static shapes with their own trees.
#[test]
fn row_reductions_of_fast_shapes() {
    for (rows, cols) in [(64, 128), (32, 256), (16, 512), (8, 1024)] {
        for op in ["trowmax", "trowmin", "trowsum"].map(|n| find(n).unwrap()) {
            for t in [DType::F32, DType::F16] {
                let src = tile("src", t, rows, cols, Layout::RowMajor);
                let dst = tile("dst", t, rows.next_multiple_of(16), 1, Layout::ColMajor);
                let mut call = Call::new(op, valid(dst, rows, 1, true), [src.clone()]);
                call.tmp = Some(src);
                place(&mut call);
                check_fixed(&call);
            }
        }
    }
}

/// Static tiles one block wide take one broadcast instruction, in pieces.
#[test]
fn row_expand_by_broadcast() {
    for rows in [8, 16, 600, 2032, 2040] {
        for t in [DType::F32, DType::U16, DType::BF16] {
            let block = 32 / t.size() as u32;
            let rows = if t.size() == 2 { u32::next_multiple_of(rows, 16) } else { rows };
            let src = tile("src", t, rows, 1, Layout::ColMajor);
            let dst = tile("dst", t, rows, block, Layout::RowMajor);
            let mut call = Call::new(find("trowexpand").unwrap(), dst, [src]);
            place(&mut call);
            check_fixed(&call);
        }
    }
}

fn check_fixed(call: &Call) {
    let bytes: Vec<Vec<u8>> = std::iter::once(&call.dst)
        .chain(&call.src)
        .zip(0..)
        .map(|(t, k)| {
            let dist = if t.dtype.is_float() { Dist::Special } else { Dist::Full };
            let mut bytes = vec![0; t.bytes() as usize];
            dist.fill(t.dtype, 3, k, &mut bytes).unwrap();
            bytes
        })
        .collect();
    let done = run(call, &bytes).and_then(|r| judge(call, &r));
    assert_eq!(done, Ok(()), "{} {:?}", call.op.name, call.dst);
}

#[test]
fn row_expand() {
    property(200, &["trowexpand"], Shaper::row_expand, 2);
}

#[test]
fn row_expand_with_an_operand() {
    let ops: Vec<&str> = OPS
        .iter()
        .map(|o| o.name)
        .filter(|n| n.starts_with("trowexpand") && *n != "trowexpand")
        .collect();
    property(600, &ops, Shaper::row_expand_bin, 3);
}

#[test]
fn column_reductions() {
    property(300, &["tcolmax", "tcolmin", "tcolsum", "tcolprod"], Shaper::col_reduce, 3);
}

#[test]
fn tile_tile() {
    property(300, &["tadd", "tsub", "tmul", "tdiv", "tmax", "tmin"], Shaper::elementwise, 3);
}

#[test]
fn tile_scalar() {
    let ops = ["tadds", "tsubs", "tmuls", "tdivs", "tmaxs", "tmins", "tneg", "trecip"];
    property(400, &ops, Shaper::elementwise, 2);
}

#[test]
fn unary() {
    let ops = ["texp", "tlog", "tsqrt", "trsqrt", "tabs", "trelu", "tnot"];
    property(400, &ops, Shaper::elementwise, 2);
}

#[test]
fn moves_and_fills() {
    property(400, &["tmov", "texpands"], Shaper::elementwise, 2);
}

/// Every pair of element types with a conversion.
fn convertible() -> Vec<(DType, DType)> {
    let op = find("tcvt").unwrap();
    let all = op.a2a3.iter().flat_map(|from| op.a2a3.iter().map(|to| (*from, *to)));
    all.filter(|(from, to)| {
        let mut call = Call::new(
            op,
            tile("dst", *to, 1, 32, Layout::RowMajor),
            [tile("src", *from, 1, 32, Layout::RowMajor)],
        );
        place(&mut call);
        check(&call, Family::A2A3, &Limits::of(Family::A2A3)).is_ok()
    })
    .collect()
}

#[test]
fn conversions() {
    const ROUNDS: [Option<Round>; 7] = [
        None,
        Some(Round::NearestEven),
        Some(Round::NearestAway),
        Some(Round::Floor),
        Some(Round::Ceil),
        Some(Round::Zero),
        Some(Round::Odd),
    ];
    property(
        600,
        &["tcvt"],
        |s, op| {
            let mut call = s.elementwise(op);
            let pairs = convertible();
            let (from, to) = pairs[(s.d.other * 16 + s.d.dtype) % pairs.len()];
            // Same rows and columns, padded to whole blocks of the narrower type.
            let wide = |mut t: Tile, dtype| {
                t.dtype = dtype;
                match t.layout {
                    Layout::RowMajor => t.cols = t.cols.next_multiple_of(32),
                    Layout::ColMajor => t.rows = t.rows.next_multiple_of(32),
                }
                t
            };
            call.dst = wide(call.dst.clone(), to);
            call.src[0] = wide(call.src[0].clone(), from);
            let odd = (from, to) == (DType::F32, DType::F16);
            call.attrs.round = ROUNDS[s.d.round % (ROUNDS.len() - usize::from(!odd))];
            call.attrs.sat = [None, Some(Sat::On), Some(Sat::Off)][s.d.sat];
            if s.d.tmp {
                let repeats = (call.src[0].valid_cols / 64).clamp(1, 255);
                call.tmp = Some(tile("tmp", DType::I32, 1, 64 * repeats, Layout::RowMajor));
            }
            call
        },
        4,
    );
}
