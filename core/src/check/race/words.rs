//! What a hazard says: both ends, the bytes, why nothing orders them, the line that does.

use super::{Check, Hazard, Pair, Place, REGISTERS};
use crate::access::Space;
use crate::check::{Ends, Finding};
use crate::diag::Diagnostic;
use crate::stream::{Group, Kind, Pipe, Record, Stream};
use crate::time::vf::{Inst, VfProgram};

/// Records looked at for an explanation; further ones are not worth the time.
const LOOK: u32 = 10_000;

/// The finding of a pair.
pub(super) fn finding(check: &Check, pair: &Pair, first: &Record, second: &Record) -> Finding {
    let (code, kind, [then, now]) = match pair.kind {
        Hazard::Raw => ("racecheck.raw", "RAW", ["Write", "Read"]),
        Hazard::Waw => ("racecheck.waw", "WAW", ["Write", "Write"]),
        Hazard::War => ("racecheck.war", "WAR", ["Read", "Write"]),
    };
    let (memory, at) = match pair.place {
        Place::Bytes(Space::Ub, a, b) => ("UB", format!("UB {a:#x}..{b:#x}")),
        Place::Bytes(Space::Gm, a, b) => ("GM", format!("GM {a:#x}..{b:#x}")),
        Place::Register(n) => (REGISTERS[n], REGISTERS[n].to_string()),
    };
    let (from, to) = (Pipe::ALL[pair.from].name(), Pipe::ALL[pair.to].name());
    let (older, newer) =
        (inside(check, pair, first, then == "Write"), inside(check, pair, second, now == "Write"));
    let core = check.options.core;
    let message = format!("Potential {kind} hazard detected at core{core} in {memory}");
    let end = |pipe: &str, what: &str, r: &Record, inst, i: u32| {
        format!("{pipe} {what} at {at} by {}, record {i}", name(check, r, inst))
    };
    let diag = Diagnostic::new(code, pair.level, message)
        .note(end(from, then, first, older, pair.first))
        .note(end(to, now, second, newer, pair.second))
        .note(why(check.stream, pair));
    let within = (first.group == second.group).then(|| group(check.stream, second)).flatten();
    let ends = Ends {
        here: format!("{to} {now}"),
        there: format!("{from} {then}"),
        fix: fix(check, pair),
        within: within.map(|g| g.name),
        inside: [newer, older].map(|i| i.and_then(|(_, i)| i.site)),
        accesses: None,
    };
    let finding = Finding::new(diag, pair.second, second.site).other(Some(pair.first));
    let finding = match pair.place {
        Place::Bytes(space, a, b) => finding.bytes(space, a, b),
        Place::Register(_) => finding,
    };
    Finding { ends: Some(Box::new(ends)), ..finding }
}

fn group<'s>(stream: &'s Stream, r: &Record) -> Option<&'s Group> {
    stream.groups.get(r.group as usize)
}

/// The instruction of a vector function that touches the bytes, if that is known.
fn inside<'s>(
    check: &Check<'s>,
    pair: &Pair,
    r: &Record,
    write: bool,
) -> Option<(&'s VfProgram, &'s Inst)> {
    let Place::Bytes(Space::Ub, a, b) = pair.place else { return None };
    let function = check.stream.functions.get(r.link).filter(|_| r.kind == Kind::Function)?;
    Some((function, function.touching(a..b, write)?))
}

/// `vadd.f32 of tadd`; an instruction of a vector function with the function it is in.
fn name(check: &Check, r: &Record, inst: Option<(&VfProgram, &Inst)>) -> String {
    let mnemonic = check.options.catalogue.get(r.op).map_or("?", |e| e.mnemonic);
    if r.kind == Kind::Function {
        let within = group(check.stream, r).map_or(String::new(), |g| format!(" of {}", g.name));
        let class = inst.and_then(|(p, i)| p.classes.get(usize::from(i.class)));
        let class = class.map_or(String::new(), |c| match c.dtype {
            Some(t) => format!("{}.{t} in ", c.name),
            None => format!("{} in ", c.name),
        });
        return format!("{class}{mnemonic}{within}");
    }
    match group(check.stream, r) {
        Some(g) => format!("{mnemonic}.{} of {}", r.dtype, g.name),
        None => format!("{mnemonic}.{}", r.dtype),
    }
}

/// The lines that order the second access after the first.
fn fix(check: &Check, pair: &Pair) -> String {
    let (from, to) = (Pipe::ALL[pair.from].name(), Pipe::ALL[pair.to].name());
    if pair.from == pair.to {
        return format!("pto.pipe_barrier \"{to}\"");
    }
    if let Some((_, buffer)) = released(check.stream, pair) {
        return format!(
            "pto.get_buf \"{to}\", {buffer}, 0, and behind that line pto.rls_buf \"{to}\", {buffer}, 0"
        );
    }
    let Some(id) = check.order.free_id(pair.from, pair.to) else {
        return format!("pto.pipe_barrier \"PIPE_ALL\" (all flags from {from} to {to} are in use)");
    };
    let flag = format!("[\"{from}\", \"{to}\", \"EVENT_ID{id}\"]");
    format!("pto.set_flag{flag} and pto.wait_flag{flag}")
}

/// The last buffer that the first pipe releases between the two, and where.
fn released(stream: &Stream, pair: &Pair) -> Option<(u32, u8)> {
    let start = pair.first.saturating_add(1).max(pair.second.saturating_sub(LOOK));
    (start..pair.second).rev().find_map(|i| {
        let flag = stream.records.get(i as usize)?.flag()?;
        let here = flag.dst == Pipe::All && flag.src == Pipe::ALL[pair.from];
        here.then_some((i, flag.id))
    })
}

/// Why nothing orders them: what stands between, and what it does not do.
fn why(stream: &Stream, pair: &Pair) -> String {
    let (from, to) = (Pipe::ALL[pair.from], Pipe::ALL[pair.to]);
    let start = pair.first.saturating_add(1).max(pair.second.saturating_sub(LOOK));
    let between = (start..pair.second)
        .filter_map(|i| Some((i, stream.records.get(i as usize)?)))
        .filter_map(|(i, r)| Some((i, r, r.flag()?)));
    if from == to {
        let from = from.name();
        return format!("no pipe_barrier of {from} stands between them; {from} may overlap them");
    }
    if let Some((i, buffer)) = released(stream, pair) {
        let (from, to) = (from.name(), to.name());
        return format!(
            "{from} releases buffer {buffer} between them (record {i}), but {to} does not get it"
        );
    }
    let (from, to) = (from.name(), to.name());
    let (mut early, mut unwaited, mut swapped) = (None, None, None);
    for (i, r, flag) in between {
        let pipes = (flag.src.name(), flag.dst.name());
        match r.kind {
            Kind::WaitFlag if pipes == (from, to) => early = Some(r.link),
            Kind::SetFlag if pipes == (from, to) => unwaited = Some(i),
            Kind::WaitFlag if pipes == (to, from) => swapped = Some(i),
            _ => {}
        }
    }
    if let Some(i) = swapped {
        return format!(
            "only a flag of the other direction, from {to} to {from}, stands between them \
             (record {i} waits for it)"
        );
    }
    if let Some(i) = unwaited {
        return format!(
            "record {i} sets a flag from {from} to {to}, but nothing waits for it before the second"
        );
    }
    match early {
        Some(i) => format!(
            "the flag from {from} to {to} waited for between them was set before the first (record {i})"
        ),
        None => format!(
            "no flag from {from} to {to} is set after the first and waited for before the second"
        ),
    }
}
