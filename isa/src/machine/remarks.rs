//! Findings that are no faults: instructions without effect, masks of the other mode, neighbours
//! written by accident.

use super::plan::Plan;
use super::{Machine, active, name};
use crate::instr::Instr;
use crate::table::Op;
use ptoemu_core::access::{Lanes, Role, Space};
use ptoemu_core::check::bounds::extent;
use ptoemu_core::diag::{Diagnostic, Level};
use ptoemu_core::stream::NONE;

/// Looks at one vector instruction before it executes.
pub fn check(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) {
    let masked = !matches!(p.lanes, Lanes::All);
    if masked {
        mask_mode(m, i, rec);
        mask_words(m, i, p, rec);
    }
    if p.repeats == 0 || masked && active(p, 0).mask().is_empty() {
        return no_work(m, i, p, rec);
    }
    neighbour(m, i, p, rec);
}

fn add(
    m: &mut Machine,
    i: &Instr,
    rec: u32,
    d: impl FnOnce(&Machine) -> Diagnostic,
    code: &'static str,
) {
    if !m.findings.seen(code, m.log.site, i.op.id()) {
        let d = d(m);
        m.report(i, rec, d, (0, 0), None);
    }
}

/// Level of what is suspicious when written by hand but normal inside a tile operation.
fn by_hand(m: &Machine) -> Level {
    if m.log.group == NONE { Level::Warning } else { Level::Note }
}

fn no_work(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) {
    // An empty reduction has its own finding, an error.
    let reduction = matches!(p.operand(0), Some((_, w)) if w.elem == 0 && p.repeats > 0);
    if reduction {
        return;
    }
    let counter = m.regs.counter();
    let how = match (p.repeats, counter) {
        (0, true) => "the count is 0",
        (0, false) => "repeat is 0",
        _ => "no mask bit is set",
    };
    let level = by_hand(m);
    let compose = |_: &Machine| {
        let what = format!("{}: {how}, the instruction does nothing", name(i));
        Diagnostic::new("memcheck.no_work", level, what)
            .help("drop it, or check the size it was computed from")
    };
    add(m, i, rec, compose, "memcheck.no_work");
}

/// Warns once when a vector instruction takes a mask written in the other mode.
fn mask_mode(m: &mut Machine, i: &Instr, rec: u32) {
    if m.regs.counter() == m.regs.mask_written_in_counter {
        m.mask_mode_warned = false;
        return;
    }
    if std::mem::replace(&mut m.mask_mode_warned, true) {
        return;
    }
    let compose = |m: &Machine| {
        let now = if m.regs.counter() { "counter" } else { "norm" };
        let what = format!("{}: mask mode became {now} after the last set_vector_mask", name(i));
        let how = if m.regs.counter() {
            format!("the mask bits are taken as a count of {} elements", m.regs.count())
        } else {
            format!("the count is taken as mask bits {:#x}:{:#x}", m.regs.mask_hi, m.regs.mask_lo)
        };
        Diagnostic::new("state.mask_mode", Level::Warning, what)
            .note(how)
            .help("call set_vector_mask after changing the mode")
    };
    add(m, i, rec, compose, "state.mask_mode");
}

/// Mask words that have no effect, and the count whose meaning surprises.
fn mask_words(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) {
    let hi = m.regs.mask_hi;
    // All-ones is how shipped code leaves the word it does not need.
    let idle = hi != 0 && hi != u64::MAX && (m.regs.counter() || p.per_repeat <= 64);
    if idle {
        let compose = |_: &Machine| {
            let what = format!("{}: the high mask word {hi:#x} has no effect", name(i));
            Diagnostic::new("state.mask_hi", Level::Note, what)
                .note("counter mode and elements of 32 bits use the low word only")
        };
        add(m, i, rec, compose, "state.mask_hi");
    }
    if i.op == Op::vcopy && m.regs.counter() {
        let compose = |m: &Machine| {
            let what = format!("vcopy: the count {} is per repeat, not in total", m.regs.count());
            Diagnostic::new("state.count_per_repeat", Level::Note, what)
        };
        add(m, i, rec, compose, "state.count_per_repeat");
    }
}

/// A write that starts in one named allocation and runs into another.
fn neighbour(m: &mut Machine, i: &Instr, p: &Plan, rec: u32) {
    let Some((base, w)) =
        p.operand(0).filter(|(_, w)| w.role != Role::Read && w.space == Space::Ub)
    else {
        return;
    };
    let (_, high) = extent(base, &w, u64::from(p.repeats));
    let holds = |o: &&ptoemu_core::check::Owner| o.start <= base && base < o.end;
    let Some(home) = m.owners.iter().filter(holds).max_by_key(|o| o.end) else { return };
    if high <= i128::from(home.end) {
        return;
    }
    let (home_name, home_end) = (home.name.clone(), home.end);
    let hit = (0..u64::from(p.repeats)).find_map(|r| {
        w.pieces(base, r, active(p, r).mask()).find_map(|(_, a, b)| {
            let beyond = m.owners.iter().find(|o| {
                b > home_end && a < o.end && o.start < b && o.end > home_end && o.start >= home_end
            })?;
            Some((r, a.max(home_end), b, beyond.name.clone()))
        })
    });
    let Some((r, a, b, other)) = hit else { return };
    if m.findings.seen("memcheck.overflow", m.log.site, i.op.id()) {
        return;
    }
    let what = format!("{}: tile `{home_name}` overflows into tile `{other}`", name(i));
    let d = Diagnostic::new("memcheck.overflow", Level::Warning, what)
        .note(format!("repeat {r} writes [{a:#x}, {b:#x}); `{home_name}` ends at {home_end:#x}"))
        .help("shorten the repeats or the mask, or make the tile larger");
    let writer = Some(m.ub.shadow.writer(a)).filter(|w| *w != ptoemu_core::state::WRITER_NONE);
    m.report(i, rec, d, (a, b), writer);
}
