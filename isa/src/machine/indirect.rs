//! Instructions whose operands are named by data or registers: what they may reach is checked before
//! they execute, value by value.

use super::plan::{Plan, field, named};
use super::regs::Regs;
use super::verify::{Check, Memories, name};
use super::{active, lane_addr};
use crate::families::sort::RECORD;
use crate::instr::Instr;
use crate::table::{Form, What};
use ptoemu_core::check::bounds;
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::state::Memory;

/// Do its bytes depend on values or registers?
pub fn indirect(form: Form) -> bool {
    matches!(
        form,
        Form::Gather | Form::GatherB | Form::Reduce | Form::Vnchw | Form::VnchwHalf | Form::Merge
    )
}

/// Rows of a transposition: addresses of two registers, and the steps of a repeat.
pub struct Va {
    rows: [[u64; 16]; 2],
    step: [u64; 2],
}

impl Va {
    /// The rows an instruction names.
    pub fn of(i: &Instr, regs: &Regs) -> Va {
        let list = |param| {
            let first = named(i, param) as usize;
            std::array::from_fn(|k| {
                let row = regs.va.get(first + k / 8).and_then(|a| a.get(k % 8));
                row.copied().unwrap_or(0)
            })
        };
        // One repeat has no strides.
        let on = u64::from(field(i, What::Repeat) > 1);
        let step = [0, 1].map(|n| field(i, What::Rep(n)) as u64 * 32 * on);
        Va { rows: [list("dst_va"), list("src_va")], step }
    }

    /// First byte of source row `k` in repeat `r`.
    pub fn src(&self, k: usize, r: u64) -> u64 {
        self.at(1, k, r)
    }

    /// First byte of destination slot `k` in repeat `r`.
    pub fn dst(&self, k: usize, r: u64) -> u64 {
        self.at(0, k, r)
    }

    fn at(&self, side: usize, k: usize, r: u64) -> u64 {
        let row = self.rows[side].get(k).copied().unwrap_or(0);
        row.saturating_add(self.step[side].saturating_mul(r))
    }
}

/// The lists of a merge.
pub struct Lists {
    /// First byte of the result.
    pub dst: u64,
    /// First byte of each list.
    pub at: [u64; 4],
    /// Records of each list.
    pub len: [u64; 4],
    /// Merges, each of the lists that follow.
    pub repeats: u64,
    /// Stop when a list is exhausted.
    pub exhaust: bool,
    count: usize,
}

impl Lists {
    /// The lists an instruction names; `None` if its list mask is none.
    pub fn of(i: &Instr) -> Option<Lists> {
        let (config, lens) = (named(i, "config"), named(i, "lens") as u64);
        let count = match config >> 8 & 0xF {
            0b0011 => 2,
            0b0111 => 3,
            0b1111 => 4,
            _ => return None,
        };
        let addr = |n| i.get(What::Addr(n)).unwrap_or(0) as u64;
        let len = |l: usize| if l < count { lens >> (16 * l) & 0xFFFF } else { 0 };
        Some(Lists {
            dst: addr(0),
            at: [3, 4, 5, 6].map(addr),
            len: std::array::from_fn(len),
            repeats: (config & 0xFF) as u64,
            exhaust: config >> 12 & 1 == 1,
            count,
        })
    }

    /// Bytes of all lists.
    pub fn span(&self) -> u64 {
        self.len.iter().sum::<u64>() * RECORD
    }

    /// Rules of the configuration.
    pub fn legal(i: &Instr) -> Check {
        let refuse = |text: String, help: &str| {
            Err(Box::new(Diagnostic::error("memcheck.param", text).help(help)))
        };
        let Some(lists) = Lists::of(i) else {
            let mask = named(i, "config") >> 8 & 0xF;
            return refuse(
                format!("vmrgsort4: list mask {mask:#06b} in bits 8 to 11 of config"),
                "use 0b0011, 0b0111 or 0b1111: two, three or four lists",
            );
        };
        let equal = lists.count == 4 && lists.len.iter().all(|l| *l == lists.len[0]);
        if lists.repeats > 1 && (lists.exhaust || !equal) {
            return refuse(
                format!(
                    "vmrgsort4: {} repeats of unequal lists or in exhausted mode",
                    lists.repeats
                ),
                "several repeats need four equal lists and bit 12 of config at 0",
            );
        }
        Ok(())
    }
}

/// Elements of one repeat of a compaction: the count in counter mode, else a whole repeat.
pub fn reduce_elements(i: &Instr, regs: &Regs) -> u64 {
    if regs.counter() { regs.count() } else { 256 / i.dtype.size() as u64 }
}

/// Is element `e` of repeat `r` kept, and is that known?
pub fn kept(i: &Instr, p: &Plan, ub: &Memory, r: u64, e: u64) -> (bool, bool) {
    match named(i, "mode") {
        0 => {
            let (bits, w) = p.or_empty(2);
            let at = w.addr(bits, r, 0).unwrap_or(0).saturating_add(e / 8);
            let byte = ub.bytes.get(at, 1).map_or(0, |b| b[0]);
            (byte >> (e % 8) & 1 == 1, ub.shadow.is_defined(at, at.saturating_add(1)))
        }
        1 => (e.is_multiple_of(2), true),
        2 => (e % 2 == 1, true),
        mode @ 3..=6 => (e % 4 == mode as u64 - 3, true),
        _ => (true, true),
    }
}

/// Most elements a repeat of `n` keeps.
pub fn most_kept(mode: i64, n: u64) -> u64 {
    match mode {
        1 => n.div_ceil(2),
        2 => n / 2,
        k @ 3..=6 => (n + 6 - k as u64) / 4,
        _ => n,
    }
}

/// Ranges and alignment of what data and registers name.
pub fn reach(i: &Instr, p: &Plan, m: &Memories) -> Check {
    match i.form() {
        Form::Gather => {
            let (off, w) = p.or_empty(1);
            for r in 0..u64::from(p.repeats) {
                for lane in active(p, r).mask().iter() {
                    let at = lane_addr(&w, off, r, lane);
                    offset(i, m, at, (r, i.dtype.size() as u64))?;
                }
            }
            Ok(())
        }
        Form::GatherB => {
            let (off, w) = p.or_empty(1);
            for r in 0..u64::from(p.repeats) {
                let at = w.addr(off, r, 0).unwrap_or(0);
                (0..8).try_for_each(|b| offset(i, m, at.saturating_add(4 * b), (r, 32)))?;
            }
            Ok(())
        }
        Form::Reduce if named(i, "mode") == 0 => {
            let n = reduce_elements(i, m.regs);
            let chosen = (0..u64::from(p.repeats))
                .flat_map(|r| (0..n).map(move |e| (r, e)))
                .filter(|(r, e)| kept(i, p, m.ub, *r, *e).0);
            let bytes = chosen.count() as u64 * i.dtype.size() as u64;
            inside(i, m, "dst", p.base[0], bytes, 0)
        }
        Form::Vnchw | Form::VnchwHalf => rows(i, p, m),
        Form::Merge => lists(i, m),
        _ => Ok(()),
    }
}

/// One offset of a gather: a multiple of the unit that leads to bytes of UB.
fn offset(i: &Instr, m: &Memories, at: u64, (r, unit): (u64, u64)) -> Check {
    let bytes = m.ub.bytes.get(at, 4).unwrap_or(&[]);
    let value = bytes.iter().rev().fold(0u64, |acc, b| acc << 8 | u64::from(*b));
    if !value.is_multiple_of(unit) {
        let text = format!("{}: offset {value:#x} at {at:#x} is no multiple of {unit}", name(i));
        let d = Diagnostic::error("memcheck.align", text)
            .note("offsets are in bytes")
            .help("multiply element numbers by the size of an element");
        return Err(Box::new(d));
    }
    let base = i.get(What::Addr(3)).unwrap_or(0) as u64;
    inside(i, m, "srcBase + offset", base.saturating_add(value), unit, r)
}

fn inside(i: &Instr, m: &Memories, operand: &str, at: u64, bytes: u64, r: u64) -> Check {
    let (limit, end) = (m.settings.ub_bytes, at.saturating_add(bytes));
    if end <= limit {
        return Ok(());
    }
    let piece = bounds::Piece { repeat: r, block: 0, start: i128::from(at), end: i128::from(end) };
    Err(Box::new(bounds::outside(&name(i), operand, &piece, limit, m.owners)))
}

fn aligned(i: &Instr, m: &Memories, operand: &str, at: u64, need: u64) -> Check {
    match at.is_multiple_of(need) {
        true => Ok(()),
        false => Err(Box::new(bounds::misaligned(&name(i), operand, at, need, false, m.owners))),
    }
}

/// Rows of a transposition lie in UB and start at blocks.
fn rows(i: &Instr, p: &Plan, m: &Memories) -> Check {
    let va = Va::of(i, m.regs);
    for r in [0, u64::from(p.repeats).saturating_sub(1)] {
        for k in 0..16 {
            for (operand, at) in [("src row", va.src(k, r)), ("dst row", va.dst(k, r))] {
                aligned(i, m, operand, at, 32)?;
                inside(i, m, operand, at, 32, r)?;
            }
        }
    }
    Ok(())
}

/// Lists of a merge lie in UB and start at records.
fn lists(i: &Instr, m: &Memories) -> Check {
    let Some(lists) = Lists::of(i) else { return Ok(()) };
    let last = lists.repeats.saturating_sub(1) * lists.span();
    for (n, (at, len)) in lists.at.iter().zip(lists.len).enumerate() {
        let operand = ["list0", "list1", "list2", "list3"][n];
        if len > 0 {
            aligned(i, m, operand, *at, RECORD)?;
            inside(i, m, operand, *at, last + len * RECORD, 0)?;
        }
    }
    aligned(i, m, "dst", lists.dst, 32)
}
