//! Findings about overlapping operands of one instruction.

use super::plan::Plan;
use super::{Machine, name};
use crate::instr::Instr;
use crate::table::{Form, Op};
use ptoemu_core::access::{Role, Walk};
use ptoemu_core::check::alias::{self, Overlap};
use ptoemu_core::check::owners;
use ptoemu_core::diag::{Diagnostic, Level};
use ptoemu_core::dtype::DType;

/// Reports what the rules of overlap forbid; values follow program order all the same.
pub fn check(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) {
    let repeats = u64::from(p.repeats);
    if repeats == 0 {
        return;
    }
    let Some((dst, w)) = p.operand(0).filter(|(_, w)| w.role != Role::Read) else { return };
    let again = repeats > 1 && w.rep == 0 && w.role == Role::Write;
    if again && !accumulates(i, p, (dst, &w)) && !seen(m, i, "alias.repeat_stride") {
        let d = warn(
            "alias.repeat_stride",
            format!("{}: destination repeat stride 0, every repeat overwrites the last", name(i)),
        );
        m.report(i, rec, d.help("use a repeat stride, or one repeat"), (dst, dst), None);
    }
    for n in 1..p.base.len() {
        let Some((src, sw)) = p.operand(n) else { continue };
        if n == 2 && accumulates(i, p, (dst, &w)) {
            continue;
        }
        let found = alias::examine((dst, &w), (src, &sw), repeats, &p.lanes);
        if !found.is_clean() {
            overlap(m, i, p, rec, n, &found);
        }
    }
}

/// The documented accumulate form: two sources, dst is the second one, repeat stride 0.
fn accumulates(i: &Instr, p: &Plan, dst: (u64, &Walk)) -> bool {
    let Some((src1, w)) = p.operand(2) else { return false };
    i.form() == Form::Vec2
        && matches!(i.dtype, DType::F16 | DType::I32 | DType::F32)
        && src1 == dst.0
        && (dst.1.rep == 0 || w.rep == 0)
}

fn warn(code: &'static str, what: String) -> Diagnostic {
    Diagnostic::new(code, Level::Warning, what)
}

fn seen(m: &mut Machine, i: &Instr, code: &'static str) -> bool {
    m.findings.seen(code, m.log.site, i.op.id())
}

fn overlap(m: &mut Machine, i: &Instr, p: &Plan, rec: u32, n: usize, found: &Overlap) {
    let source = if n == 1 { "src0" } else { "src1" };
    if let Some(ends) = found.across {
        across(m, i, rec, source, ends);
    } else if let Some(at) = found.within {
        within(m, i, p, rec, source, at, found.downward);
    }
}

fn across(
    m: &mut Machine,
    i: &Instr,
    rec: u32,
    source: &str,
    (reader, writer, at): (u64, u64, u64),
) {
    if seen(m, i, "alias.across_repeats") {
        return;
    }
    let name = name(i);
    let what =
        format!("{name}: repeat {reader} reads `{source}` bytes that repeat {writer} of it wrote");
    let rule = "what a repeat writes must not be read by a later repeat of the same instruction";
    let mut d = Diagnostic::error("alias.across_repeats", what)
        .note(format!("first such byte {at:#x}"))
        .note(rule)
        .help("move the destination, or issue one repeat at a time with barriers");
    if let Some(o) = owners(&m.owners, at, at + 1) {
        d = d.note(format!("the byte belongs to `{o}`"));
    }
    m.report(i, rec, d, (at, at + 1), None);
}

fn within(
    m: &mut Machine,
    i: &Instr,
    p: &Plan,
    rec: u32,
    source: &str,
    (repeat, at): (u64, u64),
    downward: bool,
) {
    let brcb = i.op == Op::vbrcb;
    // Downward compaction is what the shipped reduction trees do.
    if downward && !brcb || seen(m, i, "alias.within_repeat") {
        return;
    }
    // One repeat of a block broadcast in place is shipped use; more of them are not supported.
    let level = if brcb && p.repeats > 1 { Level::Error } else { Level::Warning };
    let name = name(i);
    let what = format!("{name}: `{source}` partly overlaps the destination in repeat {repeat}");
    let rule = "a source is exactly the destination or disjoint from it";
    let d = Diagnostic::new("alias.within_repeat", level, what)
        .note(format!("first shared byte {at:#x}; {rule}"))
        .help("move the destination, or make both operands the same elements");
    m.report(i, rec, d, (at, at + 1), None);
}
