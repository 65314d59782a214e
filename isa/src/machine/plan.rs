//! From an instruction and the registers to what it touches: walks, lanes, repeats.
//!
//! The executing machine and the recorder build records from the same plan, so that timing without
//! values sees the same bytes.

use super::regs::Regs;
use crate::families::Sem;
use crate::instr::Instr;
use crate::table::{Form, Op, Order, Row, Shape as Walks, What};
use ptoemu_core::access::{Lanes, Role, Space, Walk};
use ptoemu_core::dtype::DType;
use ptoemu_core::mask::Mask;
use ptoemu_core::stream::{Kind, OPERANDS, Pipe, Shape};

/// Addresses from here on are GM for scalar accesses: every GM buffer lies above.
const GM_FROM: u64 = 1 << 40;

/// What one instruction will touch.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Its row.
    pub row: &'static Row,
    /// Base address of each operand, destination first.
    pub base: [u64; OPERANDS],
    /// Walk of each operand.
    pub shape: Shape,
    /// Active lanes.
    pub lanes: Lanes,
    /// Repeats or bursts executed.
    pub repeats: u32,
    /// Lanes of one repeat.
    pub per_repeat: usize,
    /// Wider of the element types.
    pub wide: DType,
    /// Pipe of its record.
    pub pipe: Pipe,
}

impl Plan {
    /// Base and walk of operand `n`.
    pub fn operand(&self, n: usize) -> Option<(u64, Walk)> {
        Some((*self.base.get(n)?, (*self.shape.0.get(n)?)?))
    }

    /// Does the walk of the destination say no more than what data could make it?
    pub fn at_most(&self, i: &Instr) -> bool {
        match self.row.form {
            Form::Reduce => named(i, "mode") == 0,
            Form::Merge => super::Lists::of(i).is_some_and(|l| l.exhaust),
            _ => false,
        }
    }

    /// Base and walk of operand `n`; a walk of no bytes if the form has no such operand.
    pub fn or_empty(&self, n: usize) -> (u64, Walk) {
        let none = Walk {
            space: Space::Ub,
            role: Role::Read,
            elem: 0,
            blocks: 0,
            unit: 0,
            blk: 0,
            rep: 0,
        };
        self.operand(n).unwrap_or((0, none))
    }
}

/// The value of a parameter as its field holds it: surplus high bits are lost.
pub fn field(i: &Instr, what: What) -> i64 {
    let Some(at) = i.form().position(what) else { return 0 };
    kept(i, at)
}

/// The same for a parameter by its name in listings.
pub fn named(i: &Instr, name: &str) -> i64 {
    i.form().params().iter().position(|p| p.name == name).map_or(0, |at| kept(i, at))
}

fn kept(i: &Instr, at: usize) -> i64 {
    let bits = i.form().params()[at].bits;
    if bits >= 64 { i.args[at] } else { i.args[at] & ((1 << bits) - 1) }
}

/// The pipe a parameter names: its position in [`Pipe::ALL`].
pub fn pipe(i: &Instr, name: &str) -> Option<Pipe> {
    let code = i.named(name)?;
    usize::try_from(code).ok().and_then(|c| Pipe::ALL.get(c).copied())
}

/// Plans an instruction.
pub fn plan(i: &Instr, regs: &Regs) -> Plan {
    let row = i.op.row();
    let wide = if i.src_dtype.size() > i.dtype.size() { i.src_dtype } else { i.dtype };
    let per_repeat = 256 / wide.size();
    let (lanes, repeats) = lanes(i, regs, per_repeat);
    let mut plan = Plan {
        row,
        base: [0; OPERANDS],
        shape: Shape::default(),
        lanes,
        repeats,
        per_repeat,
        wide,
        pipe: record_pipe(i, row),
    };
    for n in 0..OPERANDS {
        // A form without destination keeps its sources in their slots, except a scalar load.
        let slot = if row.form == Form::Load { 0 } else { n };
        let Some((shape, role)) = row.form.operand(n as u8) else { continue };
        plan.base[slot] = field(i, What::Addr(n as u8)) as u64;
        plan.shape.0[slot] = walk(i, regs, &plan, n, shape, role);
    }
    plan
}

fn record_pipe(i: &Instr, row: &Row) -> Pipe {
    let name = match row.kind() {
        Kind::Barrier => "pipe",
        Kind::SetFlag => "src_pipe",
        Kind::WaitFlag => "dst_pipe",
        _ => return row.pipe(),
    };
    pipe(i, name).unwrap_or(Pipe::All)
}

fn lanes(i: &Instr, regs: &Regs, per_repeat: usize) -> (Lanes, u32) {
    let repeat = match i.form() {
        Form::Merge => super::Lists::of(i).map_or(0, |l| l.repeats as u32),
        _ => field(i, What::Repeat) as u32,
    };
    let masked = (0..3).any(|n| i.form().operand(n).is_some_and(|o| o.0 == Walks::Lanes));
    if !masked {
        let repeats = i.form().position(What::Repeat).is_some() || i.form() == Form::Merge;
        return (Lanes::All, if repeats { repeat } else { 1 });
    }
    if !regs.counter() {
        let mask = Mask::from_hi_lo(regs.mask_hi, regs.mask_lo);
        return (Lanes::Norm(mask.and(&Mask::first(per_repeat))), repeat);
    }
    let total = regs.count();
    if i.op == Op::vcopy {
        return (Lanes::Norm(Mask::first(total as usize)), if total == 0 { 0 } else { repeat });
    }
    let repeats = total.div_ceil(per_repeat as u64) as u32;
    (Lanes::Count { total, per_repeat: per_repeat as u16 }, repeats)
}

/// Walk of operand `n`.
fn walk(i: &Instr, regs: &Regs, p: &Plan, n: usize, shape: Walks, role: Role) -> Option<Walk> {
    let dtype = if n == 0 { i.dtype } else { i.src_dtype };
    let size = dtype.size() as u32;
    let blk = match i.form().position(What::Blk(n as u8)) {
        Some(_) => field(i, What::Blk(n as u8)) as i32 * 32,
        None => 32,
    };
    let rep = field(i, What::Rep(n as u8));
    let reads_dst = matches!(p.row.sem, Sem::AccOne(_) | Sem::AccTwo(_));
    let role = if n == 0 && reads_dst { Role::Update } else { role };
    let plain = Walk { space: Space::Ub, role, elem: 0, blocks: 1, unit: 0, blk: 0, rep: 0 };
    let one = |unit: u32, rep: i64| Walk { unit, rep, ..plain };
    Some(match shape {
        Walks::Lanes => return lane_walk(i, regs, p, n, Walk { blk, ..one(32, rep * 32) }, size),
        Walks::PerRepeat => {
            let unit = match i.form() {
                Form::Extreme => order(i).bytes(size as usize) as u32,
                _ => size,
            };
            one(unit, rep * i64::from(unit))
        }
        Walks::PerBlock => one(written_blocks(i, p) * size, rep * 8 * i64::from(size)),
        Walks::Pairs => one(128, rep * 128),
        Walks::Eight => one(8 * size, 8 * i64::from(size)),
        Walks::Blocks => Walk { blocks: 8, blk, ..one(32, rep * 32) },
        Walks::Bits => {
            let unit = (p.per_repeat / 8) as u32;
            one(unit, i64::from(unit))
        }
        Walks::One => {
            Walk { space: space_of(field(i, What::Addr(n as u8)) as u64), ..one(size, 0) }
        }
        Walks::CmpMask => one(16, 0),
        Walks::Offsets => {
            let rep = 4 * p.per_repeat as i64;
            Walk { elem: 4, blocks: (p.per_repeat / 8) as u16, blk: 32, ..one(32, rep) }
        }
        Walks::EightWords => one(32, 32),
        Walks::Whole => Walk { blocks: whole_blocks(i, regs), blk, ..one(32, rep * 32) },
        Walks::Packed => {
            let most =
                super::indirect::most_kept(named(i, "mode"), super::reduce_elements(i, regs));
            let unit = u32::try_from(most * u64::from(size)).unwrap_or(u32::MAX);
            one(unit, i64::from(unit))
        }
        Walks::PatternBits if named(i, "mode") != 0 => return None,
        Walks::PatternBits => one(
            super::reduce_elements(i, regs).div_ceil(8).min(u64::from(u32::MAX)) as u32,
            rep * 32,
        ),
        Walks::Scores => one(32 * size, 32 * i64::from(size)),
        Walks::Words => one(128, 128),
        Walks::Records => one(256, 256),
        Walks::Merged => {
            let span = super::Lists::of(i).map_or(0, |l| l.span());
            one(u32::try_from(span).unwrap_or(u32::MAX), span as i64)
        }
        Walks::Square => one(512, 0),
        Walks::Burst => burst(i, regs, n, role),
    })
}

fn space_of(addr: u64) -> Space {
    if addr >= GM_FROM { Space::Gm } else { Space::Ub }
}

/// What a whole-repeat reduction writes; ONLY_VALUE if the number names no order.
pub fn order(i: &Instr) -> Order {
    Order::from_code(field(i, What::Order)).unwrap_or(Order::OnlyValue)
}

/// Results a group extreme writes per repeat: blocks up to the last one with an active lane.
/// Sums write all eight.
fn written_blocks(i: &Instr, p: &Plan) -> u32 {
    match p.lanes {
        Lanes::Norm(m) if i.op != Op::vcgadd => {
            let per_block = 32 / i.dtype.size();
            (0..8)
                .filter(|b| m.bits(b * per_block, per_block) != 0)
                .max()
                .map_or(0, |b| b as u32 + 1)
        }
        _ => 8,
    }
}

fn lane_walk(i: &Instr, regs: &Regs, p: &Plan, n: usize, w: Walk, size: u32) -> Option<Walk> {
    let masked = Walk { elem: size as u8, blocks: (p.per_repeat * size as usize / 32) as u16, ..w };
    if i.form() == Form::Sel && n == 2 && named(i, "mode") == 1 {
        let unit = (p.per_repeat / 8) as u32;
        return Some(Walk { elem: 0, blocks: 1, unit, blk: 0, rep: i64::from(unit), ..w });
    }
    // Half a byte per lane: two whole blocks, whatever the mask.
    if matches!(p.row.sem, Sem::Nibble(_)) && size == 1 {
        return Some(Walk { elem: 0, blocks: 2, ..w });
    }
    if i.op == Op::vcopy && regs.counter() {
        let total = regs.count();
        let blocks = u16::try_from((total * u64::from(size)).div_ceil(32)).unwrap_or(u16::MAX);
        // Beyond the lanes a mask holds, the last block counts as whole.
        let elem = if total <= 256 { size as u8 } else { 0 };
        return Some(Walk { elem, blocks, ..w });
    }
    Some(masked)
}

/// Blocks of a repeat of a compaction.
fn whole_blocks(i: &Instr, regs: &Regs) -> u16 {
    let bytes = super::reduce_elements(i, regs).saturating_mul(i.dtype.size() as u64);
    u16::try_from(bytes.div_ceil(32)).unwrap_or(u16::MAX)
}

/// Bytes one burst of an aligned load takes in UB before rounding: left pad, data, right pad.
pub fn padded(i: &Instr) -> (u64, u64, u64) {
    let size = i.dtype.size() as u64;
    let len = named(i, "lenBurst") as u64;
    (named(i, "leftPad") as u64 * size, len, named(i, "rightPad") as u64 * size)
}

fn burst(i: &Instr, regs: &Regs, n: usize, role: Role) -> Walk {
    let dst = n == 0;
    let len = named(i, "lenBurst");
    let gap = named(i, if dst { "dstGap" } else { "srcGap" });
    let gm = match i.form() {
        Form::CopyIn | Form::AlignIn => !dst,
        Form::CopyOut | Form::AlignOut => dst,
        _ => false,
    };
    let (unit, rep) = match i.form() {
        Form::AlignIn | Form::AlignOut if gm => (len, len + gap),
        Form::AlignIn => {
            let (l, n, r) = padded(i);
            let unit = (l + n + r).next_multiple_of(32) as i64;
            (unit, unit + gap * 32)
        }
        Form::AlignOut => (len, (len as u64).next_multiple_of(32) as i64 + gap * 32),
        _ => (len * 32, (len + gap) * 32),
    };
    let atomic = gm && dst && regs.atomic().0 != 0;
    Walk {
        space: if gm { Space::Gm } else { Space::Ub },
        role: if atomic { Role::Update } else { role },
        elem: 0,
        blocks: 1,
        unit: u32::try_from(unit).unwrap_or(u32::MAX),
        blk: 0,
        rep,
    }
}
