//! TLOAD and TSTORE against their meaning, in both memories.

mod common;

use common::{tile, valid};
use proptest::prelude::*;
use ptoemu_core::diag::Level;
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Dist;
use ptoemu_core::state::{Buffer, Memory, WRITER_NONE};
use ptoemu_isa::machine::Machine;
use ptoemu_isa::tile::{
    Call, Family, GmLayout, GmView, Layout, Limits, Mem, Quirk, Quirks, Tile, a2a3, check, find,
    reference,
};

const GM_BYTES: usize = 1 << 20;

fn machine() -> (Machine, u64) {
    let mut m = Machine::default();
    let mut mem = Memory::new(GM_BYTES, 0);
    Dist::Full.fill(DType::U8, 1, 0, mem.bytes.as_mut_slice()).unwrap();
    mem.shadow.set(0, GM_BYTES as u64, true, WRITER_NONE);
    let base = m.gm.add(Buffer { name: "x".into(), dtype: DType::U8, mem });
    Dist::Full.fill(DType::U8, 2, 0, m.ub.bytes.as_mut_slice()).unwrap();
    m.ub.shadow.set(0, m.ub.len() as u64, true, WRITER_NONE);
    (m, base)
}

fn view(addr: u64, dtype: DType, shape: [u32; 5], strides: [i64; 5], layout: GmLayout) -> GmView {
    GmView { name: "x".into(), addr, dtype, shape, strides, layout }
}

fn transfer(op: &str, t: Tile, v: GmView) -> Call {
    let mut call = Call::new(find(op).unwrap(), t, []);
    call.view = Some(v);
    call
}

/// Runs both ways; says what differs.
fn compare(mut call: Call) -> Result<(), String> {
    let (mut m, base) = machine();
    if let Some(v) = &mut call.view {
        v.addr += base;
    }
    check(&call, Family::A2A3, &Limits::of(Family::A2A3)).map_err(|d| d.message)?;
    let (mut ub, mut gm) = (m.ub.bytes.as_slice().to_vec(), m.gm.clone());
    reference(&call, &mut Mem { ub: &mut ub, gm: Some(&mut gm) }).map_err(|s| s.0.message)?;
    let entry = m.modes();
    a2a3(&call, &mut m).map_err(|s| s.0.message)?;
    m.leave(&entry, true);
    if let Some(f) = m.findings.items().iter().find(|f| f.diag.level >= Level::Warning) {
        return Err(format!("{:?}", f.diag));
    }
    let differs = |what: &str, a: &[u8], b: &[u8]| match a.iter().zip(b).position(|(a, b)| a != b) {
        Some(at) => {
            Err(format!("{what} byte {at:#x} is {:#x}, the meaning is {:#x}", a[at], b[at]))
        }
        None => Ok(()),
    };
    differs("UB", m.ub.bytes.as_slice(), &ub)?;
    let bytes = |gm: &ptoemu_core::state::Gm| gm.buffers()[0].mem.bytes.as_slice().to_vec();
    differs("GM", &bytes(&m.gm), &bytes(&gm))
}

#[derive(Clone, Debug)]
struct Draw {
    store: bool,
    dn: bool,
    dtype: usize,
    outer: [u32; 3],
    rows: u32,
    cols: u32,
    gaps: [i64; 4],
    slack: u32,
    short: [u32; 2],
    pad: u8,
    repeat_rows: bool,
}

fn draw() -> impl Strategy<Value = Draw> {
    let sizes =
        ([1u32..4, 1u32..3, 1u32..3], 1u32..9, 1u32..70, [0i64..20, 0i64..9, 0i64..9, 0i64..40]);
    let flags = (any::<[bool; 3]>(), 0usize..11, 0u32..3, [0u32..2, 0u32..2], 0u8..4);
    (sizes, flags).prop_map(|(s, f)| Draw {
        store: f.0[0],
        dn: f.0[1],
        dtype: f.1,
        outer: s.0,
        rows: s.1,
        cols: s.2,
        gaps: s.3,
        slack: f.2,
        short: f.3,
        pad: f.4,
        repeat_rows: f.0[2] && s.3[0] == 0,
    })
}

fn build(d: &Draw) -> Call {
    let t = DType::ALL[d.dtype % 11];
    let block = 32 / t.size() as u32;
    let [g0, g1, g2] = d.outer;
    // Row-major terms; exchanged below for DN.
    let row = if d.repeat_rows { 0 } else { i64::from(d.cols) + d.gaps[0] };
    let t2 = (i64::from(d.cols) + d.gaps[0]) * i64::from(d.rows) + d.gaps[1];
    let t1 = t2 * i64::from(g2) + d.gaps[2];
    let t0 = t1 * i64::from(g1) + d.gaps[3];
    let rows = g0 * g1 * g2 * d.rows;
    let width = d.cols.next_multiple_of(block) + block * d.slack;
    let (shape, strides, mut tile) = if d.dn {
        (
            [g0, g1, g2, d.cols, d.rows],
            [t0, t1, t2, 1, row],
            tile("t", t, width, rows, Layout::ColMajor),
        )
    } else {
        (
            [g0, g1, g2, d.rows, d.cols],
            [t0, t1, t2, row, 1],
            tile("t", t, rows, width, Layout::RowMajor),
        )
    };
    let (short_rows, short_cols) = ((rows - d.short[0]).max(1), (d.cols - d.short[1]).max(1));
    let region = if d.dn { (short_cols, short_rows) } else { (short_rows, short_cols) };
    tile = valid(tile, region.0, region.1, true);
    tile.addr = 4096;
    tile.pad = if d.short[1] == 0 { d.pad } else { 0 };
    let layout = if d.dn { GmLayout::Dn } else { GmLayout::Nd };
    let op = if d.store { "tstore" } else { "tload" };
    transfer(op, tile, view(4096, t, shape, strides, layout))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]
    #[test]
    fn transfers_move_what_both_sides_have(d in draw()) {
        let call = build(&d);
        let legal = check(&call, Family::A2A3, &Limits::of(Family::A2A3));
        prop_assume!(legal.is_ok());
        // Rows at one GM address cannot all be stored: the last one wins either way.
        if let Err(e) = compare(call.clone()) {
            return Err(TestCaseError::fail(format!("{e}\n{call:#?}")));
        }
    }
}

#[test]
fn more_rows_than_one_transfer_has_bursts() {
    let t = tile("t", DType::I8, 5000, 32, Layout::RowMajor);
    let v = view(0, DType::I8, [1, 1, 1, 5000, 32], [0, 0, 0, 32, 1], GmLayout::Nd);
    assert_eq!(compare(transfer("tload", t, v)), Ok(()));
}

fn with(call: &Call, quirk: Quirk) -> Call {
    let mut call = call.clone();
    call.quirks = Quirks::corrected().with(quirk);
    call
}

#[test]
fn gm_rows_longer_than_the_valid_region() {
    let t = valid(tile("t", DType::F32, 4, 40, Layout::RowMajor), 4, 32, true);
    let v = view(0, DType::F32, [1, 1, 1, 4, 40], [0, 0, 0, 100, 1], GmLayout::Nd);
    let call = transfer("tload", t, v);
    assert_eq!(compare(call.clone()), Ok(()));
    assert!(compare(with(&call, Quirk::Q6)).is_err());
}

#[test]
fn a_column_stored_to_strided_rows_is_refused_or_wrong() {
    let t = tile("t", DType::F32, 8, 1, Layout::ColMajor);
    let strided = |step| view(0, DType::F32, [1, 1, 1, 8, 1], [0, 0, 0, step, 1], GmLayout::Nd);
    let apart = transfer("tstore", t.clone(), strided(16));
    assert!(compare(apart.clone()).unwrap_err().contains("is ColMajor"));
    assert_eq!(compare(transfer("tstore", t.clone(), strided(1))), Ok(()));
    assert_eq!(compare(transfer("tload", t.clone(), strided(1))), Ok(()));
    assert!(compare(transfer("tload", t, strided(16))).unwrap_err().contains("is ColMajor"));
}

#[test]
fn views_that_do_not_fit_are_refused() {
    let t = tile("t", DType::F32, 4, 8, Layout::RowMajor);
    let tall = view(0, DType::F32, [1, 1, 2, 4, 8], [0, 0, 32, 8, 1], GmLayout::Nd);
    assert!(compare(transfer("tload", t.clone(), tall)).unwrap_err().contains("8 rows of 8"));
    let huge = view(0, DType::F32, [u32::MAX; 5], [i64::MAX; 5], GmLayout::Nd);
    let mut call = transfer("tload", t, huge);
    call.quirks = Quirks::vendor();
    assert!(compare(call).is_err());
}

/// Stripes of 32-byte columns: dense, partly valid, and farther apart than the tile is tall.
#[test]
fn nz_tiles() {
    for (rows, valid_rows, gap) in [(32, 32, 0), (32, 17, 0), (48, 32, 64)] {
        for op in ["tload", "tstore"] {
            let t = Tile {
                fractal: true,
                ..valid(tile("t", DType::F32, rows, 32, Layout::ColMajor), valid_rows, 32, true)
            };
            let step = i64::from(valid_rows) * 8 + gap;
            let shape = [2, 2, valid_rows, 1, 8];
            let v = view(0, DType::F32, shape, [2 * step, step, 8, 8, 1], GmLayout::Nd);
            assert_eq!(compare(transfer(op, t, v)), Ok(()), "{op} {rows} {valid_rows} {gap}");
        }
    }
    let t = Tile { fractal: true, ..tile("t", DType::F32, 32, 32, Layout::ColMajor) };
    let v = view(0, DType::F32, [1, 4, 32, 1, 4], [512, 128, 4, 4, 1], GmLayout::Nd);
    let refused = compare(transfer("tload", t, v)).unwrap_err();
    assert!(refused.contains("stripes of 8 columns"), "{refused}");
}
