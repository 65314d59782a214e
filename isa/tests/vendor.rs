//! What the verifier finds in the microcode as shipped, each finding shrunk and traced to its quirk:
//! the list in `docs/vendor-findings.md` is what this test finds again.
//!
//! `PTOEMU_BLESS=1` rewrites the list.

use ptoemu_core::dtype::DType;
use ptoemu_isa::tile::{Call, Family, Quirk, Quirks, find};
use ptoemu_isa::verify::{Bench, BuiltIn, Catch, Cause, Domain, Unit, Uses};
use std::fmt::Write as _;
use std::path::Path;

/// Where a quirk is looked for: operation, element type, rows, columns; the operations it was met in
/// when all were verified.
struct Entry {
    quirk: Quirk,
    family: Family,
    op: &'static str,
    from: DType,
    rows: (u32, u32),
    cols: (u32, u32),
    met: &'static str,
}

const EXPAND: &str = "trowexpand add, sub, mul, div, max, min, expdif";
const SCALAR: &str = "tadds, tsubs, tmuls, tdivs, tmaxs, tmins, tneg, trecip";

#[rustfmt::skip]
fn entries() -> Vec<Entry> {
    use DType::{F16, F32, I8, I16, I32};
    use Family::{A2A3, A5};
    let at = |quirk, family, op, from, rows, cols, met| Entry { quirk, family, op, from, rows, cols, met };
    vec![
        at(Quirk::D2, A2A3, "trowexpandsub", F32, (1, 16), (1, 8), EXPAND),
        at(Quirk::D4, A2A3, "trowexpandmax", F32, (1, 16), (1, 16), EXPAND),
        at(Quirk::D11, A2A3, "trowexpandmax", F32, (400, 500), (2, 8), EXPAND),
        at(Quirk::D12, A2A3, "trowexpand", I8, (1, 16), (1, 64), "trowexpand, texpands, the bitwise operations"),
        at(Quirk::D13, A2A3, "trowmax", F32, (1, 16), (65, 256), "trowmax, trowmin, trowsum"),
        at(Quirk::D14, A2A3, "tcolmax", F32, (1, 16), (1, 64), "tcolmax, tcolmin, tcolprod, tcolsum, tmov, tcolexpand, the tpart operations"),
        at(Quirk::D16, A2A3, "trowexpand", F32, (1, 16), (1, 16), "trowexpand"),
        at(Quirk::D19, A2A3, "texp", F32, (1, 16), (1, 200), "texp, tlog, tsqrt, tabs, trelu, tnot"),
        at(Quirk::D20, A2A3, "tadds", F32, (1, 16), (65, 200), SCALAR),
        at(Quirk::Q1, A2A3, "texpands", F32, (1, 16), (1, 64), "texpands"),
        at(Quirk::Q3, A2A3, "tadds", F32, (1, 16), (1, 64), "the tile-scalar operations, tcvt"),
        at(Quirk::Q4, A2A3, "tmov", F32, (1, 16), (1, 64), "tmov"),
        at(Quirk::Q9, A2A3, "tdivs", F32, (1, 16), (1, 64), "tdivs"),
        at(Quirk::Q10, A2A3, "tsubs", I32, (1, 16), (1, 64), "tsubs"),
        at(Quirk::Q11, A2A3, "tfillpad", F32, (1, 16), (1, 64), "tfillpad, tfillpad_expand"),
        at(Quirk::Q12, A2A3, "tcmp", I32, (1, 16), (1, 64), "tcmp, tcmps"),
        at(Quirk::Q13, A2A3, "tcmps", I16, (1, 16), (1, 64), "tcmps"),
        at(Quirk::Q14, A2A3, "tcolexpandadd", F32, (256, 600), (1, 64), "tcolexpand add, sub, mul, div, max, min, expdif"),
        at(Quirk::Q21, A2A3, "trems", F32, (1, 16), (65, 200), "trems"),
        at(Quirk::Q31, A2A3, "trem", F32, (1, 16), (1, 64), "trem, trems"),
        at(Quirk::Q34, A2A3, "tfillpad", F32, (1, 16), (1, 64), "tfillpad, tfillpad_inplace, tfillpad_expand"),
        at(Quirk::Q35, A2A3, "tcmp", F32, (1, 16), (1, 200), "tcmp, tcmps"),
        at(Quirk::Q30, A2A3, "tcvt", F32, (1, 16), (1, 200), "tcvt"),
        at(Quirk::Q40, A2A3, "tcvt", I8, (1, 16), (1, 64), "tcvt of every pair without an instruction"),
        at(Quirk::D4, A5, "trowexpandmax", F32, (1, 16), (1, 64), EXPAND),
        at(Quirk::D5, A5, "trowexpandmax", F32, (1, 16), (1, 64), EXPAND),
        at(Quirk::D6, A5, "trowexpandmax", F32, (1, 16), (1, 64), EXPAND),
        at(Quirk::D18, A5, "trowmax", I8, (1, 16), (1, 64), "trowmax, trowmin"),
        at(Quirk::R4, A5, "tsel", I32, (1, 16), (1, 64), "tsel"),
        at(Quirk::R5, A5, "tsel", I8, (1, 16), (1, 600), "tsel"),
        at(Quirk::R6, A5, "tcvt", F32, (1, 16), (1, 64), "tcvt"),
        at(Quirk::R11, A5, "tfillpad", F32, (1, 16), (1, 64), "tfillpad, tfillpad_inplace"),
        at(Quirk::R13, A5, "tcmp", I32, (1, 16), (1, 200), "tcmp"),
        at(Quirk::R14, A5, "tcolsum", F32, (1, 16), (1, 200), "tcolsum"),
        at(Quirk::R15, A5, "tcolsum", F32, (1, 16), (1, 64), "tcolsum"),
        at(Quirk::R16, A5, "trowargmax", F32, (1, 16), (1, 64), "trowargmax, trowargmin, tcolargmax, tcolargmin"),
        at(Quirk::R17, A5, "trems", F32, (1, 16), (1, 64), "trems"),
        at(Quirk::R29, A5, "tsort32", F16, (1, 16), (1, 20_000), "tsort32"),
    ]
}

/// Uses after which an entry counts as not found.
const MOST: u64 = 6000;

fn caught(e: &Entry) -> Option<Catch> {
    let mut bench = Bench::default();
    let domain = Domain { rows: e.rows, cols: e.cols, ..Domain::default() };
    let mut units = Unit::all(e.family, find(e.op)?);
    units.retain(|u| u.from == e.from && (e.op != "tcvt" || u.to == DType::I16));
    let unit = units.first()?;
    let uses = Uses::within(*unit, 1, domain.clone());
    let cause = Cause::Quirk(e.quirk);
    let found = (0..MOST).step_by(64).find_map(|n| {
        let tally = bench.hunt(&uses, n..n + 64, Quirks::vendor(), &BuiltIn);
        tally.caught.get(&cause).cloned()
    })?;
    Some(bench.minimal(cause, &found, Quirks::vendor(), &BuiltIn, &domain))
}

fn section(e: &Entry, c: &Catch) -> String {
    let call: Call = c.spec.call(&c.unit, Quirks::vendor());
    let family = if e.family == Family::A5 { "950" } else { "A2/A3" };
    let mut out = format!("### {} on {family}\n\n", e.quirk.name());
    let about = e.quirk.about().trim_start_matches("950: ");
    let _ = writeln!(out, "{}{}.\n", about[..1].to_uppercase(), &about[1..]);
    let operands: Vec<String> = call.tiles().map(|(r, t)| format!("{r} {t}")).collect();
    let _ = writeln!(out, "* Input: {} {}: {}", e.op, c.unit.types(), operands.join(", "));
    if let Some(s) = call.scalar {
        let _ = writeln!(out, "* Scalar: {:#x}:{}", s.bits, s.dtype);
    }
    for f in &c.faults {
        let _ = writeln!(out, "* {}: {}", f.code, f.message);
    }
    let _ = writeln!(out, "* Met in: {}", e.met);
    let _ = writeln!(out, "* Repair: {}\n", e.quirk.repair());
    out
}

#[test]
fn every_known_difference_is_found_and_named() {
    let mut list = String::new();
    for e in entries() {
        let c = caught(&e).unwrap_or_else(|| panic!("{} is not found", e.quirk.name()));
        list.push_str(&section(&e, &c));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/vendor-findings.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once("<!-- list -->\n").expect("the list begins");
    let (old, tail) = rest.split_once("<!-- end of list -->").expect("the list ends");
    if std::env::var_os("PTOEMU_BLESS").is_some() {
        let new = format!("{head}<!-- list -->\n{list}<!-- end of list -->{tail}");
        return std::fs::write(&path, new).unwrap();
    }
    assert_eq!(old, list, "PTOEMU_BLESS=1 rewrites the list");
}

/// Without its quirk every such use is right: nothing else is wrong with it.
#[test]
fn findings_vanish_with_their_quirk() {
    for e in entries().into_iter().take(4) {
        let c = caught(&e).unwrap();
        let without = Quirks::vendor().without(e.quirk);
        let faults = Bench::default().verify(&c.unit, &c.spec, without, &BuiltIn);
        let left = faults.unwrap_or_default();
        assert!(left.iter().all(|f| f.code != c.code), "{}: {left:?}", e.quirk.name());
    }
}
