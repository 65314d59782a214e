//! One call per quirk of the shipped 950 headers: with the quirk it goes wrong, without it it
//! computes the meaning.

mod common;

use common::{judge, place, run, tile, valid};
use ptoemu_core::dtype::DType::{self, F16, F32, I8, I16, U8, U16, U32};
use ptoemu_isa::a5::Cmp;
use ptoemu_isa::case::listing_a5;
use ptoemu_isa::tile::Layout::RowMajor;
use ptoemu_isa::tile::{Call, Family, Quirk, Quirks, Sat, Scalar, Tile, find};

fn call(op: &str, dst: Tile, src: impl IntoIterator<Item = Tile>) -> Call {
    let mut call = Call::new(find(op).unwrap(), dst, src);
    call.family = Family::A5;
    place(&mut call);
    call
}

fn row(name: &str, t: DType, rows: u32, cols: u32) -> Tile {
    tile(name, t, rows, cols, RowMajor)
}

/// Bytes of a tile by a function of its number (destination 0) and the byte's.
type Fill<'a> = &'a dyn Fn(usize, usize) -> u8;

fn outcome(call: &Call, fill: Fill) -> Result<(), String> {
    let tiles = std::iter::once(&call.dst).chain(&call.src).enumerate();
    let bytes: Vec<Vec<u8>> =
        tiles.map(|(k, t)| (0..t.bytes() as usize).map(|i| fill(k, i)).collect()).collect();
    run(call, &bytes).and_then(|r| judge(call, &r))
}

fn witness(quirk: Quirk, call: &Call, fill: Fill) {
    assert_eq!(outcome(call, fill), Ok(()), "{}: corrected", quirk.name());
    let mut shipped = call.clone();
    shipped.quirks = shipped.quirks.with(quirk);
    assert!(outcome(&shipped, fill).is_err(), "{} shows nothing", quirk.name());
}

/// f32 elements, one tile after the other.
fn floats<'a>(tiles: &'a [&'a [f32]]) -> impl Fn(usize, usize) -> u8 + 'a {
    move |k, i| {
        let value = tiles.get(k).and_then(|t| t.get(i / 4)).copied().unwrap_or(1.0);
        value.to_le_bytes()[i % 4]
    }
}

/// Rows of bits differ: the second one must not be read from the first.
#[test]
fn select_steps_its_mask() {
    let mask = row("mask", U16, 2, 16);
    let [dst, x, y] = ["dst", "x", "y"].map(|n| row(n, F32, 2, 64));
    let mut sel = call("tsel", dst, [mask, x, y]);
    sel.tmp = Some(row("tmp", U32, 1, 8));
    place(&mut sel);
    witness(Quirk::R4, &sel, &|k, i| match k {
        1 => (i as u8).wrapping_mul(29),
        _ => (k * 77 + i) as u8,
    });
    let mask = row("mask", U8, 1, 64);
    let [dst, x, y] = ["dst", "x", "y"].map(|n| row(n, I8, 1, 512));
    let mut sel = call("tsel", dst, [mask, x, y]);
    sel.tmp = Some(row("tmp", U32, 1, 8));
    place(&mut sel);
    // Columns 0..255 from the second operand, the others from the first.
    witness(Quirk::R5, &sel, &|k, i| match k {
        1 => 255 * u8::from(i >= 32),
        _ => k as u8,
    });
}

#[test]
fn compare_exchanges_strides() {
    let src0 = row("src0", F32, 2, 128);
    let src1 = valid(row("src1", F32, 2, 192), 2, 128, true);
    let mut cmp = call("tcmp", row("dst", U8, 2, 32), [src0, src1]);
    cmp.attrs.cmp = Cmp::Lt;
    witness(Quirk::R13, &cmp, &|k, i| ((k * 131 + i * 7) % 64) as u8);
}

#[test]
fn extremes_beside_nan() {
    let src = row("src", F32, 1, 64);
    let arg = call("trowargmax", valid(row("dst", U32, 1, 8), 1, 1, true), [src]);
    let mut values = [1.0; 64];
    (values[3], values[9]) = (f32::NAN, 5.0);
    witness(Quirk::R16, &arg, &floats(&[&[], &values]));
    let arg = call("tcolargmin", row("dst", U32, 1, 8), [row("src", F32, 3, 8)]);
    let column: Vec<f32> = (0..24).map(|i| if i == 8 { f32::NAN } else { i as f32 }).collect();
    witness(Quirk::R16, &arg, &floats(&[&[], &column]));
}

#[test]
fn remainder_by_a_scalar_keeps_a_wrong_sign() {
    let mut rem = call("trems", row("dst", F32, 1, 8), [row("src", F32, 1, 8)]);
    rem.scalar = Some(Scalar { dtype: F32, bits: 0.1f32.to_bits().into() });
    witness(Quirk::R17, &rem, &floats(&[&[], &[0.9; 8]]));
}

#[test]
fn sorting_a_multiple_of_255_groups() {
    let columns = 510 * 32;
    let (src, idx) = (row("src", F16, 1, columns), row("idx", U32, 1, columns));
    let sort = call("tsort32", row("dst", F16, 1, columns * 4), [src, idx]);
    witness(Quirk::R29, &sort, &|k, i| match k {
        1 => ((i / 2 * 7) % 59) as u8 * u8::from(i % 2 == 1),
        _ => (i % 4 == 0) as u8 * (i / 4) as u8,
    });
}

/// Refused; the shipped code fills 65,534 rows.
#[test]
fn padding_fewer_rows_than_there_are() {
    let src = row("src", F32, 4, 64);
    let dst = Tile { pad: 1, ..valid(row("dst", F32, 4, 64), 2, 64, true) };
    let fill = call("tfillpad", dst, [src]);
    let refused = outcome(&fill, &|_, _| 1).unwrap_err();
    assert!(refused.contains("valid rows differ"), "{refused}");
    let mut shipped = fill;
    shipped.quirks = shipped.quirks.with(Quirk::R11);
    let stopped = outcome(&shipped, &|_, _| 1).unwrap_err();
    assert!(stopped.contains("UB"), "{stopped}");
}

/// 3e9 does not fit 32 bits: through a clamped 32-bit integer it becomes -1.
#[test]
fn narrowing_depends_on_the_shape() {
    let part = |name, t| valid(row(name, t, 2, 64), 2, 32, true);
    let mut convert = call("tcvt", part("dst", I16), [part("src", F32)]);
    convert.attrs.sat = Some(Sat::Off);
    witness(Quirk::R6, &convert, &floats(&[&[], &[3e9; 128]]));
}

fn binary_sum(rows: u32) -> Call {
    let src = row("src", F32, rows, 72);
    let mut sum = call("tcolsum", row("dst", F32, 1, 72), [src]);
    sum.attrs.binary = true;
    sum.tmp = Some(row("tmp", F32, rows.div_ceil(2), 72));
    place(&mut sum);
    sum
}

/// -0 stays, or becomes +0: equal numbers, so the bits are compared.
#[test]
fn binary_sum_of_one_row() {
    let first = |quirks: Quirks| {
        let call = Call { quirks, ..binary_sum(1) };
        let zeros = |_: usize, i: usize| if i % 4 == 3 { 0x80 } else { 0 };
        let bytes: Vec<Vec<u8>> = [&call.dst, &call.src[0]]
            .map(|t| (0..t.bytes() as usize).map(|i| zeros(0, i)).collect())
            .into();
        let at = call.dst.addr as usize;
        run(&call, &bytes).unwrap().after[at..at + 4].to_vec()
    };
    assert_eq!(first(Quirks::corrected()), [0, 0, 0, 0x80]);
    assert_eq!(first(Quirks::corrected().with(Quirk::R15)), [0, 0, 0, 0]);
}

/// No value shows a missing barrier while stores keep their order.
#[test]
fn binary_sum_leaves_barriers_out() {
    let bars = |quirks: Quirks| {
        let call = Call { quirks, ..binary_sum(3) };
        let text = format!("{:?}", listing_a5(&call).unwrap());
        text.matches("mem_bar").count()
    };
    let (corrected, shipped) = (Quirks::corrected(), Quirks::corrected().with(Quirk::R14));
    assert_eq!((bars(corrected), bars(shipped)), (2, 0));
    assert_eq!(outcome(&binary_sum(3), &|_, i| (i % 7) as u8), Ok(()));
}
