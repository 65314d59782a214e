//! Dumps of the vendor's simulator, or ours, read back.

use super::{Records, Side};
use crate::profile::PipeSum;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::io::BufRead;

/// A line of an instruction dump.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line<'l> {
    tick: u64,
    pc: u64,
    pipe: &'l str,
    id: Option<u64>,
    name: &'l str,
    detail: &'l str,
}

/// `[info] [tick] (PC: 0x..) PIPE : (Binary: 0x..) [(ID: n)] NAME  detail`.
fn parse(text: &str) -> Option<Line<'_>> {
    let rest = text.strip_prefix("[info] [")?;
    let (tick, rest) = rest.split_once("] (PC: 0x")?;
    let (pc, rest) = rest.split_once(") ")?;
    let (pipe, rest) = rest.split_once(" : (Binary: ")?;
    let (_, mut rest) = rest.split_once(") ")?;
    let mut id = None;
    if let Some(more) = rest.strip_prefix("(ID: ") {
        let (n, more) = more.split_once(") ")?;
        (id, rest) = (Some(n.trim().parse().ok()?), more);
    }
    let end = rest.find([' ', '(']).unwrap_or(rest.len());
    let (name, detail) = rest.split_at(end);
    let (tick, pc) = (tick.trim().parse().ok()?, u64::from_str_radix(pc, 16).ok()?);
    Some(Line { tick, pc, pipe: pipe.trim(), id, name, detail: detail.trim() })
}

/// A pipe by the name of its lane.
fn lane(pipe: &str) -> &str {
    match pipe {
        "VEC" | "VEC0" | "VEC1" | "VECTOR" => "VECTOR",
        "FC" => "FLOWCTRL",
        "FIX_PIPE" => "FIXP",
        "ISSUE" => "EVENT",
        // Whole vector functions.
        "PUSHQ" => "VECTOR",
        other => other,
    }
}

/// Name of an instruction as traces have it: `VADD.f16`.
fn name(line: &Line) -> String {
    let named = line.detail.split_once("Dtype:").map(|(_, t)| t.trim_start());
    let Some(t) = named.and_then(|t| t.split([',', ' ']).next()).filter(|t| !t.is_empty()) else {
        return line.name.to_string();
    };
    let t = t.to_ascii_lowercase();
    // Signed integers are S in dumps.
    let t = t.strip_prefix('s').map_or(t.clone(), |n| format!("i{n}"));
    format!("{}.{t}", line.name)
}

/// What pairs an issue with its end: the id, or else the address.
type Key = (u64, bool);

fn key(l: &Line) -> Key {
    l.id.map_or((l.pc, false), |id| (id, true))
}

/// Reads the two instruction dumps of a core. An error says which line is no line of a dump.
pub fn read(name_of: &str, popped: impl BufRead, ended: impl BufRead) -> Result<Side, String> {
    let mut records = Records::default();
    let mut open: FxHashMap<Key, VecDeque<usize>> = FxHashMap::default();
    // Line of every issue, and the first end that no issue belongs to.
    let (mut lines, mut alone) = (Vec::new(), None);
    let cut_popped = each(popped, POPPED, |n, l| {
        open.entry(key(&l)).or_default().push_back(records.items.len());
        lines.push(n);
        let id = l.id.unwrap_or(records.items.len() as u64);
        records.push(id, (&name(&l), lane(l.pipe)), l.tick, u64::MAX);
    })?;
    let mut unpaired = 0u64;
    let cut_ended = each(ended, ENDED, |n, l| {
        let at = open.get_mut(&key(&l)).and_then(VecDeque::pop_front);
        match at.and_then(|i| records.items.get_mut(i)) {
            // The vendor's own tool drops pairs that end before they start.
            Some(r) => r.end = l.tick.max(r.start),
            None => {
                unpaired += 1;
                alone.get_or_insert(n);
            }
        }
    })?;
    let never = records.items.iter().zip(lines).find(|(r, _)| r.end == u64::MAX);
    let never = never.map(|(r, n)| {
        format!("{POPPED}, line {n}: {} at tick {} never ends", records.name(r), r.start)
    });
    let before = records.items.len();
    records.items.retain(|r| r.end != u64::MAX);
    unpaired += (before - records.items.len()) as u64;
    if records.items.is_empty() {
        return Err("the dumps hold no instruction that was issued and ended".into());
    }
    let start = records.items.iter().map(|r| r.start).min().unwrap_or(0);
    let end = records.items.iter().map(|r| r.end).max().unwrap_or(0);
    let mut side = Side {
        name: name_of.to_string(),
        cycles: end - start,
        pipes: busy(&records),
        ..Side::default()
    };
    for (what, line) in [(POPPED, cut_popped), (ENDED, cut_ended)] {
        if let Some(n) = line {
            side.notes.push(format!("{what} is cut off: line {n} has no end"));
        }
    }
    if unpaired > 0 {
        let alone = alone.map(|n| format!("{ENDED}, line {n}: nothing was issued that ends there"));
        let first = never.or(alone).unwrap_or_default();
        side.notes.push(format!(
            "the dumps are cut off or incomplete: {unpaired} lines have no partner ({first})"
        ));
    }
    side.records = Some(records);
    Ok(side)
}

/// The two dumps as messages name them.
const POPPED: &str = "instr_popped_log";
const ENDED: &str = "instr_log";

/// Lines of other kinds that dumps hold between those of instructions.
fn other(line: &str) -> bool {
    line.trim().is_empty() || line.contains("poped from IQ") || !line.starts_with("[info] [")
}

/// Calls `f` with the number and the content of every line that is one of an instruction. What it
/// returns is the number of a last line that has no end: whoever wrote the dump was stopped there.
fn each(
    dump: impl BufRead,
    what: &str,
    mut f: impl FnMut(usize, Line),
) -> Result<Option<usize>, String> {
    let (mut some, mut first, mut cut) = (false, None, None);
    let mut dump = dump;
    let mut bytes = Vec::new();
    for n in 1.. {
        bytes.clear();
        let read = dump.read_until(b'\n', &mut bytes).map_err(|e| format!("{what}: {e}"))?;
        if read == 0 {
            break;
        }
        if !bytes.ends_with(b"\n") {
            cut = Some(n);
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end();
        match parse(line) {
            Some(l) => {
                some = true;
                f(n, l);
            }
            None if other(line) => {
                if !line.trim().is_empty() {
                    first.get_or_insert(n);
                }
            }
            None if cut.is_some() && some => {}
            None => {
                let shown: String = line.chars().take(80).collect();
                return Err(format!("{what}, line {n}: no line of a dump: `{shown}`"));
            }
        }
    }
    match (some, first) {
        (true, _) => Ok(cut),
        (false, Some(n)) => Err(format!("{what}, line {n}: no line of an instruction dump")),
        (false, None) => Err(format!("{what} is empty")),
    }
}

/// Cycles in which at least one instruction of a pipe was open; what runs inside vector functions
/// is no pipe of its own.
fn busy(records: &Records) -> IndexMap<String, PipeSum> {
    let mut order: Vec<&super::Rec> = records.items.iter().collect();
    order.sort_by_key(|r| (r.lane, r.start, r.end));
    let mut out: IndexMap<String, PipeSum> = IndexMap::new();
    let (mut lane, mut until) = (u32::MAX, 0);
    for r in order {
        if r.lane != lane {
            (lane, until) = (r.lane, 0);
        }
        let name = records.name(r);
        let inside = records.lane(r).starts_with("RVEC");
        if inside || ["SET_FLAG", "WAIT_FLAG", "BAR"].contains(&name) {
            continue;
        }
        let sum = out.entry(records.lane(r).to_string()).or_default();
        sum.records += 1;
        sum.busy += r.end.saturating_sub(r.start.max(until));
        until = until.max(r.end);
    }
    out
}

/// Adds what a summary log says: ticks of the kernel and busy cycles of the pipes of core 0.
pub fn summary(side: &mut Side, log: impl BufRead) {
    for line in log.lines().map_while(Result::ok) {
        if let Some(n) =
            line.split_once("kernal total ticks :").and_then(|(_, n)| n.trim().parse().ok())
        {
            side.cycles = n;
        }
        let Some((name, n)) = line.split_once('|') else { continue };
        let (name, Ok(n)) = (name.trim(), n.trim().parse::<u64>()) else { continue };
        let lane = match name {
            _ if !name.contains("veccore0") || !name.ends_with("busy_cycle") => continue,
            _ if name.starts_with("mte2_") => "MTE2",
            _ if name.starts_with("mte3_") => "MTE3",
            _ if name.starts_with("vec_") || name.starts_with("rvec_veccore0_busy") => "VECTOR",
            _ if name.contains("scalar_") => "SCALAR",
            _ => continue,
        };
        side.pipes.entry(lane.to_string()).or_default().busy = n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "[info] [00000010] (PC: 0x10) MTE2     : (Binary: 0x40a01000) MOV_OUT_TO_UB  Src:OUT,\n\
        [info] [00000011] (PC: 0x14) VEC      : (Binary: 0x0) VADD  Dtype:F16, XD:X0=0x0\n\
        [info] [00000012] (PC: 0x14) VEC      : (Binary: 0x0) VADD  Dtype:F16, XD:X0=0x0\n";
    const ENDS: &str = "[info] [00000020] (PC: 0x14) VEC      : (Binary: 0x0) VADD  Dtype:F16,\n\
        [info] [00000025] (PC: 0x14) VEC      : (Binary: 0x0) VADD  Dtype:F16,\n\
        [info] [00000030] (PC: 0x10) MTE2     : (Binary: 0x0) MOV_OUT_TO_UB  Src:OUT,\n";

    #[test]
    fn issues_and_ends_are_paired() {
        let side = read("d", DUMP.as_bytes(), ENDS.as_bytes()).expect("sound");
        assert_eq!(side.cycles, 20);
        let busy = |lane: &str| side.pipes.get(lane).map(|p| p.busy);
        assert_eq!((busy("VECTOR"), busy("MTE2")), (Some(14), Some(20)));
        let sums = side.records.expect("records").issue_to_end();
        assert_eq!(sums.get("VADD.f16").map(|s| (s.count, s.busy)), Some((2, 22)));
        let v950 = "[info] [00002669] (PC: 0x13b3b720) RVECEX   : (Binary: 0x80082780) (ID: 000115) RV_VADD Dtype: F32  Vd[0]";
        let l = parse(v950).expect("a line");
        assert_eq!((l.id, l.pipe, name(&l).as_str()), (Some(115), "RVECEX", "RV_VADD.f32"));
    }

    #[test]
    fn what_is_no_dump_is_named() {
        let fails = |text: &str| read("d", text.as_bytes(), ENDS.as_bytes()).expect_err("refused");
        assert_eq!(fails(""), "instr_popped_log is empty");
        assert!(fails("hello\n").contains("line 1: no line of an instruction dump"));
        assert!(fails("[info] [00x] (PC: 0x10) MTE2\n").contains("line 1: no line of a dump"));
        let lone = "[info] [00000011] (PC: 0x99) VEC : (Binary: 0x0) VADD  \n";
        assert!(fails(lone).contains("no instruction that was issued and ended"));
    }

    /// Wherever a dump is cut off, that is said, and where.
    #[test]
    fn dumps_that_were_cut_off() {
        assert!(read("d", DUMP.as_bytes(), ENDS.as_bytes()).expect("sound").notes.is_empty());
        let first = ENDS.find('\n').expect("lines") + 1;
        for at in first..ENDS.len() {
            let notes = read("d", DUMP.as_bytes(), &ENDS.as_bytes()[..at]).expect("read").notes;
            assert!(!notes.is_empty(), "cut at {at}");
            let line = ENDS[..at].lines().count();
            let half = !ENDS[..at].ends_with('\n');
            let said = format!("instr_log is cut off: line {line} has no end");
            assert_eq!(notes.contains(&said), half, "cut at {at}: {notes:?}");
        }
        let notes = read("d", DUMP.as_bytes(), &ENDS.as_bytes()[..first]).expect("read").notes;
        assert_eq!(
            notes,
            ["the dumps are cut off or incomplete: 2 lines have no partner (instr_popped_log, \
              line 1: MOV_OUT_TO_UB at tick 10 never ends)"]
        );
        let short = DUMP.lines().next().expect("line").to_string() + "\n";
        let notes = read("d", short.as_bytes(), ENDS.as_bytes()).expect("read").notes;
        assert!(notes[0].contains("instr_log, line 1: nothing was issued"), "{notes:?}");
    }

    #[test]
    fn the_summary_log_wins() {
        let mut side = read("d", DUMP.as_bytes(), ENDS.as_bytes()).expect("sound");
        summary(
            &mut side,
            "kernal total ticks : 99\nvec_veccore0_su_busy_cycle   | 7\n".as_bytes(),
        );
        assert_eq!((side.cycles, side.pipes["VECTOR"].busy), (99, 7));
    }
}
