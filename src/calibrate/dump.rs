//! Instruction dumps of the vendor's simulator and the profiles its viewer makes of them.
//!
//! A dump is two files: when each instruction was issued (`instr_popped_log`) and when it ended
//! (`instr_log`). The k-th issue of an address belongs to its k-th end. The operands tell which
//! instruction it was, so that it can be timed alone: element type, addresses, and the strides and
//! repeats packed into XT.

use super::dump_950;
use super::samples::{Exe, Options};
use crate::measured::{Measured, Record, column, number};
use crate::session::Refusal;
use crate::work::{Part, Reading, Work};
use anyhow::{Context, anyhow};
use indexmap::IndexMap;
use ptoemu_core::dtype::DType;
use ptoemu_core::target::{Family, Target};
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::{Backend, Recorder};
use ptoemu_isa::table::{Form, Op, What};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

/// Folders looked into below the one given.
const DEPTH: usize = 4;

/// Every pair of dumps in a folder; if there is none, its profiles.
pub fn folder(dir: &Path, target: &Target, options: Options<'_>) -> Result<Vec<Measured>, Refusal> {
    let mut files = Vec::new();
    list(dir, DEPTH, &mut files);
    files.sort();
    let name = |p: &PathBuf| p.file_name().map(|n| n.to_string_lossy().into_owned());
    let ending = |p: &PathBuf, end: &str| name(p).is_some_and(|n| n.ends_with(end));
    let mut all = Vec::new();
    for issued in files.iter().filter(|p| ending(p, "instr_popped_log.dump")) {
        let partner = name(issued).unwrap_or_default().replace("instr_popped_log", "instr_log");
        let ended = issued.with_file_name(partner);
        all.extend(pair(&text(issued)?, &text(&ended)?, target));
    }
    if all.is_empty() {
        for profile in files.iter().filter(|p| ending(p, "instr_exe.csv")) {
            let rows = crate::measured::records(&text(profile)?)
                .with_context(|| profile.display().to_string())?;
            all.extend(exe(&rows, target, options.exe));
        }
    }
    if all.is_empty() {
        let what =
            "neither a pair `*instr_popped_log.dump` and `*instr_log.dump` nor an `*instr_exe.csv`";
        return Err(anyhow!("{} holds {what}", dir.display()).into());
    }
    Ok(all)
}

fn text(path: &Path) -> Result<String, Refusal> {
    Ok(std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?)
}

fn list(dir: &Path, depth: usize, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if depth > 0 => list(&path, depth - 1, out),
            true => {}
            false => out.push(path),
        }
    }
}

/// One line of a dump.
pub(super) struct Line<'t> {
    pub tick: u64,
    pc: &'t str,
    pub pipe: &'t str,
    /// Number of the instruction, on the 950.
    pub id: Option<u64>,
    pub name: &'t str,
    pub detail: &'t str,
}

/// `[info] [TICK] (PC: 0x..) PIPE : (Binary: 0x..) [(ID: n)] NAME  DETAIL`.
fn line(text: &str) -> Option<Line<'_>> {
    let rest = text.strip_prefix("[info] [")?;
    let (tick, rest) = rest.split_once("] (PC: ")?;
    let (pc, rest) = rest.split_once(')')?;
    let (pipe, rest) = rest.split_once(": (Binary: ")?;
    let (_, mut rest) = rest.split_once(") ")?;
    let mut id = None;
    if let Some((n, after)) = rest.strip_prefix("(ID: ").and_then(|r| r.split_once(") ")) {
        (id, rest) = (n.trim().parse().ok(), after);
    }
    let (name, detail) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let tick = tick.trim().parse().ok()?;
    Some(Line { tick, pc, pipe: pipe.trim(), id, name, detail: detail.trim() })
}

/// An element type as dumps write it.
pub(super) fn dtype_of(text: &str) -> Option<DType> {
    let text = text.to_ascii_lowercase();
    // Signed integers are S in dumps.
    let text = text.strip_prefix('s').map_or(text.clone(), |bits| format!("i{bits}"));
    text.parse().ok()
}

/// Latencies of the instructions of a dump; calls with the same operands share a row, which holds
/// their mean.
fn pair(issued: &str, ended: &str, target: &Target) -> Vec<Measured> {
    let issued: Vec<Line> = issued.lines().filter_map(line).collect();
    let ended: Vec<Line> = ended.lines().filter_map(line).collect();
    let mut ends: BTreeMap<&str, VecDeque<u64>> = BTreeMap::new();
    for l in &ended {
        ends.entry(l.pc).or_default().push_back(l.tick);
    }
    let functions = match target.family {
        Family::A5 => dump_950::functions(&issued, &ended, target),
        Family::A2A3 => Vec::new(),
    };
    // Those of vector functions overlap: only their own latency is told.
    let alone = |l: &&Line| {
        target.family == Family::A2A3 || !l.pipe.starts_with("RVEC") && l.pipe != "PUSHQ"
    };
    let mut masked = false;
    let mut rows: IndexMap<(&str, &str, bool), (u64, u64)> = IndexMap::new();
    for l in issued.iter().filter(alone) {
        if l.name == "MOVEMASK" {
            masked = masked_off(l.detail, masked);
        }
        let Some(end) = ends.get_mut(l.pc).and_then(VecDeque::pop_front) else { continue };
        if end >= l.tick && !l.detail.is_empty() {
            let row = rows.entry((l.name, l.detail, masked)).or_default();
            *row = (row.0 + end - l.tick, row.1 + 1);
        }
    }
    let row = |((name, detail, masked), (cycles, calls)): ((&str, &str, bool), (u64, u64))| {
        let work = match masked && instruction(name, detail).is_ok_and(|i| i.1) {
            true => Err("behind a mask: the dump does not say in which mode".into()),
            false => work(name, detail, Reading::Latency, target),
        };
        measured("dump", name, detail, cycles as f64 / calls.max(1) as f64, work)
    };
    rows.into_iter().map(row).chain(functions).collect()
}

/// Is less than everything active after this write?
fn masked_off(detail: &str, before: bool) -> bool {
    let low = detail.contains("Pos:0");
    match value(detail, "XN") {
        Some(u64::MAX) => before && !low,
        Some(_) => true,
        None => before,
    }
}

/// Rows of an `instr_exe.csv`: cycles of all calls of an instruction.
pub fn exe(rows: &[Record], target: &Target, meaning: Exe) -> Vec<Measured> {
    let row = |r: &Record| {
        let (name, detail) = (column(r, "instr"), column(r, "detail"));
        let calls = number(r, "call_count").unwrap_or(1.0).max(1.0);
        let reading = match meaning {
            Exe::Latency => Reading::Latency,
            Exe::Busy => Reading::Busy { calls: 1.0 },
        };
        let cycles = number(r, "cycles").unwrap_or(0.0);
        if target.family == Family::A5 && name.starts_with("RV_") {
            // Whatever its operands, an instruction of a vector function has one latency.
            let t = dump_950::type_text(detail);
            let lone = dump_950::lone(column(r, "pipe"), name, t, target, Part::First);
            return measured("profile", name, detail, cycles / calls, lone);
        }
        let work = match calls > 1.0 {
            true => {
                Err("called more than once: the row shows the operands of one call only".into())
            }
            false => work(name, detail, reading, target),
        };
        measured("profile", name, detail, cycles, work)
    };
    rows.iter().map(row).collect()
}

pub(super) fn measured(
    kind: &str,
    name: &str,
    detail: &str,
    cycles: f64,
    work: Result<Work, String>,
) -> Measured {
    let (kind, case) = (kind.to_string(), format!("{name} {detail}"));
    Measured { kind, case, columns: Record::new(), measured: cycles, work }
}

fn work(name: &str, detail: &str, reading: Reading, target: &Target) -> Result<Work, String> {
    let (instr, vector) = instruction(name, detail)?;
    if vector && target.family != Family::A2A3 {
        return Err("an instruction of A2/A3".into());
    }
    let mut r = Recorder::of(target.family);
    r.issue(&instr).map_err(|s| s.0.message.clone())?;
    Ok(Work::Stream(Box::new(r.into_stream()), reading))
}

/// The instruction of a line, and whether a mask applies to it.
fn instruction(name: &str, detail: &str) -> Result<(Instr, bool), String> {
    match name {
        "MOV_OUT_TO_UB" => return transfer(Op::copy_gm_to_ubuf_align_b8, detail),
        "MOV_UB_TO_OUT" => return transfer(Op::copy_ubuf_to_gm_align_b8, detail),
        _ => {}
    }
    let op = Op::find(&name.to_ascii_lowercase()).ok_or("no vector instruction or transfer")?;
    let packed = value(detail, "XT").ok_or("its operands are not in the dump")?;
    let dtype = dump_950::type_text(detail);
    let dtype = dtype_of(dtype).ok_or("unknown element type")?;
    let form = op.form();
    let fields = strides(form, packed).ok_or("how its operands are packed is not known")?;
    let args: Vec<i64> = form
        .params()
        .iter()
        .map(|p| match p.what {
            What::Addr(n) => {
                let register = ["XD", "XN", "XM"].get(usize::from(n)).copied().unwrap_or("");
                value(detail, register).unwrap_or(0) as i64
            }
            What::Repeat => (packed >> 56) as i64,
            What::Blk(n) => fields[usize::from(n.min(2))].0 as i64,
            What::Rep(n) => fields[usize::from(n.min(2))].1 as i64,
            _ => 0,
        })
        .collect();
    Ok((Instr::new(op, dtype, &args), true))
}

/// Block and repeat strides of destination and sources.
fn strides(form: Form, x: u64) -> Option<[(u64, u64); 3]> {
    let bits = |at: u32, n: u32| x >> at & ((1 << n) - 1);
    Some(match form {
        Form::Vec2 => {
            [(bits(0, 8), bits(24, 8)), (bits(8, 8), bits(32, 8)), (bits(16, 8), bits(40, 8))]
        }
        Form::Vec1 | Form::VecS | Form::Dup | Form::Brcb => {
            let dst = bits(32, 8) | bits(52, 4) << 8;
            [(bits(0, 16), dst), (bits(16, 16), bits(40, 12)), (1, 8)]
        }
        Form::Extreme | Form::Sum | Form::Group | Form::Pair => {
            [(1, bits(0, 16)), (bits(16, 16), bits(32, 16)), (1, 8)]
        }
        _ => return None,
    })
}

/// A transfer as bursts that lie one behind the other.
fn transfer(op: Op, detail: &str) -> Result<(Instr, bool), String> {
    let number = |name: &str| -> Option<i64> {
        let text = detail.split_once(&format!("{name}:"))?.1;
        text.split(',').next()?.trim().parse().ok()
    };
    let (Some(bursts), Some(bytes)) = (number("BURSTS"), number("BYTES")) else {
        return Err("bursts and bytes are not in the dump".into());
    };
    if bursts < 1 || bytes < bursts {
        return Err("a transfer of nothing".into());
    }
    let at = |r| value(detail, r).unwrap_or(0) as i64;
    let args = [at("XD"), at("XN"), 0, bursts, bytes / bursts, 0, 0, 0, 0];
    Ok((Instr::new(op, DType::U8, &args), false))
}

/// Value of a register operand: `XD:X0=0x8000`.
fn value(detail: &str, register: &str) -> Option<u64> {
    let (_, rest) = detail.split_once(&format!("{register}:"))?;
    let (_, hex) = rest.split_once("=0x")?;
    let digits: String = hex.chars().take_while(char::is_ascii_hexdigit).collect();
    u64::from_str_radix(&digits, 16).ok()
}
