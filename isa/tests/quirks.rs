//! One input per quirk of the shipped headers: with the quirk alone the use goes wrong, without
//! it microcode computes the meaning.

mod common;

use common::{judge, place, run, tile, valid};
use ptoemu_core::dtype::DType::{self, F16, F32, I8, I16, I32};
use ptoemu_core::num::{Dist, Round};
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::Lister;
use ptoemu_isa::tile::Layout::{ColMajor, RowMajor};
use ptoemu_isa::tile::{Call, Quirk, Quirks, Sat, Scalar, Tile, a2a3, find};

fn call(op: &str, dst: Tile, src: impl IntoIterator<Item = Tile>) -> Call {
    let mut call = Call::new(find(op).unwrap(), dst, src);
    place(&mut call);
    call
}

fn with_tmp(mut call: Call, tmp: Tile) -> Call {
    call.tmp = Some(tmp);
    place(&mut call);
    call
}

fn row(name: &str, t: DType, shape: (u32, u32), region: (u32, u32)) -> Tile {
    valid(tile(name, t, shape.0, shape.1, RowMajor), region.0, region.1, true)
}

fn column(name: &str, t: DType, rows: u32, region: u32) -> Tile {
    valid(tile(name, t, rows, 1, ColMajor), region, 1, true)
}

fn scalar(mut call: Call, dtype: DType, bits: u64) -> Call {
    call.scalar = Some(Scalar { dtype, bits });
    call
}

/// Fills every tile with small distinct values and says whether the use goes right.
fn goes_right(mut call: Call, quirks: Quirks) -> Result<(), String> {
    call.quirks = quirks;
    let tiles = std::iter::once(&call.dst).chain(&call.src);
    let contents: Vec<Vec<u8>> = tiles
        .zip(0..)
        .map(|(t, k)| {
            let mut bytes = vec![0; t.bytes() as usize];
            let dist = if t.dtype.is_float() { Dist::Unit } else { Dist::Full };
            dist.fill(t.dtype, 7, k, &mut bytes).unwrap();
            bytes
        })
        .collect();
    let contents = if call.src.first().is_some_and(|s| s.addr == call.dst.addr) {
        vec![contents[1].clone(), contents[1].clone()]
    } else {
        contents
    };
    run(&call, &contents).and_then(|r| judge(&call, &r))
}

fn witness(quirk: Quirk, call: Call) {
    let name = quirk.name();
    assert_eq!(goes_right(call.clone(), Quirks::corrected()), Ok(()), "{name}: corrected");
    let only = Quirks::corrected().with(quirk);
    assert!(goes_right(call.clone(), only).is_err(), "{name} alone does no harm");
    let others = Quirks::vendor().without(quirk).without(Quirk::A6);
    assert_eq!(goes_right(call, others), Ok(()), "{name}: every other quirk");
}

#[test]
fn row_expansion() {
    let (full, region) = ((600, 8), (473, 8));
    let broadcast = [row("full", F32, full, region), column("exp", F32, 600, 473)];
    witness(Quirk::D11, call("trowexpandmax", row("dst", F32, full, region), broadcast));
    let wide = [row("full", F32, (8, 16), (4, 16)), row("exp", F32, (8, 16), (4, 8))];
    witness(Quirk::D4, call("trowexpandmax", row("dst", F32, (8, 16), (4, 16)), wide));
    let bytes = row("dst", I8, (16, 64), (4, 31));
    witness(Quirk::D12, call("trowexpand", bytes, [column("src", I8, 32, 4)]));
}

#[test]
fn fills() {
    let part = call("texpands", row("dst", F32, (16, 64), (16, 32)), []);
    witness(Quirk::Q1, scalar(part, F32, 0x40E0_0000));
}

#[test]
fn wide_strides() {
    let dst = || row("dst", F32, (8, 128), (8, 100));
    let far = || row("src", F32, (8, 2048), (8, 100));
    witness(Quirk::D19, call("texp", dst(), [far()]));
    witness(Quirk::D20, scalar(call("tadds", dst(), [far()]), F32, 0x4000_0000));
    let halves =
        call("tadds", row("dst", F16, (8, 144), (8, 128)), [row("src", F16, (8, 4096), (8, 128))]);
    witness(Quirk::D20, scalar(halves, F16, 0x4000));
}

#[test]
fn repeats_beyond_the_field() {
    let tall = row("dst", F32, (2, 16448), (2, 16384));
    let mut exp = call("texp", tall.clone(), [tall]);
    exp.src[0].addr = exp.dst.addr;
    witness(Quirk::A4, exp);
}

#[test]
fn partial_blocks() {
    let (dst, src) = (row("dst", F32, (1, 8), (1, 5)), row("src", F32, (3, 8), (3, 5)));
    witness(Quirk::D14, call("tcolmax", dst, [src]));
    let (dst, src) = (row("dst", I8, (3, 64), (3, 37)), row("src", I8, (3, 64), (3, 37)));
    witness(Quirk::D14, call("tmov", dst, [src]));
}

#[test]
fn column_major_tiles() {
    let fluid = |name| valid(tile(name, F32, 16, 1, ColMajor), 16, 1, false);
    let adds = scalar(call("tadds", fluid("dst"), [fluid("src")]), F32, 0x3F80_0000);
    witness(Quirk::Q3, adds);
    let half = tile("dst", F16, 16, 1, ColMajor);
    witness(Quirk::Q3, call("tcvt", half, [tile("src", F32, 16, 1, ColMajor)]));
    let part = |name| valid(tile(name, F32, 16, 4, ColMajor), 8, 4, true);
    witness(Quirk::Q4, call("tmov", part("dst"), [part("src")]));
}

#[test]
fn scalars() {
    let whole = |name| tile(name, F32, 8, 64, RowMajor);
    let mut div = scalar(call("tdivs", whole("dst"), [whole("src")]), F32, 0x4040_0000);
    div.src[0].addr = div.dst.addr;
    witness(Quirk::Q9, div);
    let ints = |name| tile(name, I32, 8, 64, RowMajor);
    witness(Quirk::Q10, scalar(call("tsubs", ints("dst"), [ints("src")]), I32, 16_777_217));
}

#[test]
fn conversion_scratch() {
    let region = (8, 100);
    let convert =
        call("tcvt", row("dst", I16, (8, 128), region), [row("src", F32, (8, 128), region)]);
    let mut convert = with_tmp(convert, tile("tmp", I32, 1, 64, RowMajor));
    convert.attrs.sat = Some(Sat::Off);
    witness(Quirk::Q30, convert);
}

/// Instructions of a call under some quirks.
fn list(call: &Call, quirks: Quirks) -> Vec<Instr> {
    let mut call = call.clone();
    call.quirks = quirks;
    let mut out = Lister::default();
    a2a3(&call, &mut out).unwrap();
    out.0
}

/// Quirks that change what is legal or what the meaning is: the microcode differs.
fn differs(quirk: Quirk, call: &Call) {
    let (with, without) = (Quirks::corrected().with(quirk), Quirks::corrected());
    assert_ne!(list(call, with), list(call, without), "{}", quirk.name());
}

#[test]
fn legality_and_requests() {
    let narrow = with_tmp(
        call("trowmax", column("dst", F32, 8, 8), [row("src", F32, (8, 128), (8, 100))]),
        row("tmp", F32, (8, 8), (8, 8)),
    );
    differs(Quirk::D13, &narrow);
    let empty =
        call("trowexpand", row("dst", F32, (16, 16), (4, 0)), [row("src", F32, (16, 8), (4, 1))]);
    differs(Quirk::D15, &empty);
    let flat =
        call("trowexpand", tile("dst", F32, 8, 8, RowMajor), [tile("src", F32, 1, 8, RowMajor)]);
    differs(Quirk::D16, &flat);
    let few = call("texp", row("dst", F32, (1, 64), (1, 5)), [row("src", F32, (1, 64), (1, 5))]);
    differs(Quirk::A6, &few);
    let mut convert =
        call("tcvt", tile("dst", I32, 8, 64, RowMajor), [tile("src", F32, 8, 64, RowMajor)]);
    convert.attrs.sat = Some(Sat::Off);
    differs(Quirk::Q8, &convert);
}

#[test]
fn unlisted_conversions_are_refused_and_do_nothing_as_shipped() {
    let pair = call("tcvt", tile("dst", F32, 8, 64, RowMajor), [tile("src", I8, 8, 64, RowMajor)]);
    let refusal = goes_right(pair.clone(), Quirks::corrected()).unwrap_err();
    assert!(refusal.contains("no instruction converts i8 to f32"), "{refusal}");
    assert!(list(&pair, Quirks::vendor()).is_empty());
    let mut odd =
        call("tcvt", tile("dst", I32, 8, 64, RowMajor), [tile("src", F32, 8, 64, RowMajor)]);
    odd.attrs.round = Some(Round::Odd);
    let refusal = goes_right(odd.clone(), Quirks::corrected()).unwrap_err();
    assert!(refusal.contains("no rounding to odd"), "{refusal}");
    assert_eq!(goes_right(odd, Quirks::corrected().with(Quirk::Q41)), Ok(()));
}
