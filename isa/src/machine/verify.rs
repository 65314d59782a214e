//! What is checked before an instruction executes. Every fault found here stops the run.

use super::indirect::{self, Lists};
use super::plan::{self, Plan};
use super::regs::{CTRL_INT_SATURATE, Regs, Settings};
use crate::instr::Instr;
use crate::table::{Form, Op, Order, Shape, What, pair_name};
use ptoemu_core::access::{Lanes, Space, Walk};
use ptoemu_core::check::{Owner, bounds, params};
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::dtype::DType;
use ptoemu_core::state::{Gm, Memory};
use ptoemu_core::stream::{Kind, Pipe};

pub(super) type Check = Result<(), Box<Diagnostic>>;

/// `vadd.f32`, `vconv_f322f16r`, `pipe_barrier`: how messages name an instruction.
pub fn name(i: &Instr) -> String {
    let row = i.op.row();
    if row.types.len() < 2 {
        row.mnemonic.to_string()
    } else {
        format!("{}.{}", row.mnemonic, i.dtype)
    }
}

/// Everything that can refuse an instruction before it is recorded, except flags.
pub fn legal(i: &Instr, regs: &Regs, settings: &Settings) -> Check {
    well_formed(i, regs, settings).map_err(|d| operands(i, d))
}

/// Adds the full operand list, unless the message is about an instruction without operands.
fn operands(i: &Instr, d: Box<Diagnostic>) -> Box<Diagnostic> {
    if i.form().params().is_empty() { d } else { Box::new(d.note(i.to_string())) }
}

/// Element types and parameter widths.
fn well_formed(i: &Instr, regs: &Regs, settings: &Settings) -> Check {
    let row = i.op.row();
    if !row.accepts(i.dtype, i.src_dtype) {
        return Err(Box::new(wrong_type(i)));
    }
    for (p, &v) in row.form.params().iter().zip(&i.args) {
        let fits = p.bits >= 64 || v >= 0 && v < 1 << p.bits;
        let own_rule = matches!(p.what, What::Pipe | What::Order) || p.name == "event";
        if !fits && !own_rule {
            let repeat = p.what == What::Repeat;
            let unit = if row.kind() == Kind::Dma { "MTE" } else { "VEC" };
            let d = params::truncated(unit, &name(i), p.name, v, u32::from(p.bits), repeat);
            return Err(Box::new(d));
        }
    }
    special(i)?;
    let masked = (0..3).any(|n| row.form.operand(n).is_some_and(|o| o.0 == Shape::Lanes));
    if masked && regs.counter() && regs.count() > settings.ub_bytes {
        let d = Diagnostic::error(
            "memcheck.count",
            format!("{}: counter mode with {} elements, more than UB has bytes", name(i), regs.count()),
        )
        .note("in counter mode MASK[31:0] is the number of elements; mask bits read as a count look like this")
        .help("call set_vector_mask with the element count after set_mask_count");
        return Err(Box::new(d));
    }
    Ok(())
}

fn within(i: &Instr, param: &str, v: i64, lo: i64, hi: i64) -> Check {
    if (lo..=hi).contains(&v) {
        Ok(())
    } else {
        Err(Box::new(params::range(&name(i), param, v, lo, hi)))
    }
}

/// Rules of single instructions and forms.
fn special(i: &Instr) -> Check {
    let refuse =
        |code, what: String, help: &str| Err(Box::new(Diagnostic::error(code, what).help(help)));
    match i.form() {
        Form::Extreme => {
            let code = i.get(What::Order).unwrap_or(0);
            within(i, "mode", code, 0, Order::ALL.len() as i64 - 1)
        }
        Form::Merge => Lists::legal(i),
        Form::Vnchw | Form::VnchwHalf => {
            let va = |what| within(i, what, plan::named(i, what), 0, 6);
            va("dst_va").and_then(|()| va("src_va"))
        }
        Form::Sel => within(i, "mode", i.named("mode").unwrap_or(0), 0, 2),
        Form::VecS | Form::ShiftRight if matches!(i.op, Op::vshl | Op::vshr) => {
            let n = i.get(What::Scalar).unwrap_or(0);
            within(i, "shift", n, 0, 8 * i.dtype.size() as i64)
        }
        Form::Vec1 if i.op == Op::vcopy => {
            within(i, "dst_rpt", i.get(What::Rep(0)).unwrap_or(0), 0, 4095)?;
            within(i, "src_rpt", i.get(What::Rep(1)).unwrap_or(0), 0, 4095)
        }
        Form::Barrier => match plan::pipe(i, "pipe") {
            Some(Pipe::S) => refuse(
                "synccheck.barrier_s",
                "pipe_barrier(PIPE_S) is a hardware error".into(),
                "the scalar pipe is in order: drop the barrier",
            ),
            Some(_) => Ok(()),
            None => within(i, "pipe", i.args[0], 0, Pipe::ALL.len() as i64 - 1),
        },
        Form::Flag => flag(i),
        Form::SetReg if i.op == Op::set_ctrl && i.args[0] >> CTRL_INT_SATURATE & 1 == 1 => refuse(
            "memcheck.ctrl",
            "CTRL[53] = 1 (integer saturation) is not supported on dav-2201".into(),
            "leave bit 53 at 0: integers wrap",
        ),
        _ => Ok(()),
    }
}

fn flag(i: &Instr) -> Check {
    let ends = [("src_pipe", 0), ("dst_pipe", 1)];
    for (what, at) in ends {
        if plan::pipe(i, what).is_none_or(|p| p == Pipe::All) {
            return within(i, what, i.args[at], 0, Pipe::ALL.len() as i64 - 2);
        }
    }
    if i.args[0] == i.args[1] {
        let what = format!("{} with equal source and destination pipe", i.op.mnemonic());
        let d =
            Diagnostic::error("synccheck.same_pipe", what).help("use pipe_barrier inside one pipe");
        return Err(Box::new(d));
    }
    within(i, "event", i.args[2], 0, 7)
}

fn wrong_type(i: &Instr) -> Diagnostic {
    let row = i.op.row();
    let accepted: Vec<String> = row.types.iter().map(|&(d, s)| pair_name(d, s)).collect();
    let arithmetic =
        matches!(i.form(), Form::Vec2 | Form::Vec1 | Form::VecS | Form::Extreme | Form::Sum);
    let bitwise = matches!(i.op, Op::vand | Op::vor | Op::vnot);
    let help = match i.dtype {
        _ if bitwise => "process the data as a 16-bit view with twice or half the count",
        DType::BF16 if arithmetic => "legal on 950; on dav-2201 widen with vconv_bf162f32 first",
        _ if arithmetic && row.accepts(DType::F32, DType::F32) => {
            "legal on 950 for more types; on dav-2201 convert to a listed type first"
        }
        _ => "use one of the listed element types",
    };
    params::dtype(row.mnemonic, &pair_name(i.dtype, i.src_dtype), &accepted.join(", "), help)
}

/// Alignment an operand's base needs; 1 for GM.
fn alignment(i: &Instr, n: usize, shape: Shape) -> u64 {
    let size = i.dtype.size();
    match shape {
        Shape::PerRepeat if i.form() == Form::Extreme => plan::order(i).bytes(size) as u64,
        Shape::PerRepeat => size as u64,
        Shape::Offsets => 4,
        Shape::One => (if n == 0 { size } else { i.src_dtype.size() }) as u64,
        _ => 32,
    }
}

/// What an instruction may reach.
pub struct Memories<'a> {
    /// Global memory.
    pub gm: &'a Gm,
    /// Limits.
    pub settings: &'a Settings,
    /// Unified Buffer: offsets lie in it.
    pub ub: &'a Memory,
    /// Registers: addresses lie in them.
    pub regs: &'a Regs,
    /// Named allocations of UB.
    pub owners: &'a [Owner],
}

/// Ranges, alignment and the destination block stride.
pub fn reach(i: &Instr, p: &Plan, m: &Memories) -> Check {
    if p.repeats == 0 {
        return Ok(());
    }
    inside(i, p, m)
        .and_then(|()| select_bits(i, p, m))
        .and_then(|()| one_destination_block(i, p))
        .and_then(|()| indirect::reach(i, p, m))
        .map_err(|d| operands(i, d))
}

/// Mode 2 of `vsel` reads its bits from where CMPMASK points.
fn select_bits(i: &Instr, p: &Plan, m: &Memories) -> Check {
    if i.form() != Form::Sel || plan::named(i, "mode") != 2 {
        return Ok(());
    }
    let base = m.regs.cmpmask[0] & 0xFFFF_FFFF;
    if !base.is_multiple_of(32) {
        let d = bounds::misaligned(&name(i), "bits (CMPMASK)", base, 32, false, m.owners);
        return Err(Box::new(d));
    }
    let limit = m.settings.ub_bytes;
    let end = base + u64::from(p.repeats) * p.per_repeat as u64 / 8;
    if end <= limit {
        return Ok(());
    }
    let (start, end) = (i128::from(base), i128::from(end));
    let at = bounds::Piece { repeat: 0, block: 0, start, end };
    Err(Box::new(bounds::outside(&name(i), "bits (CMPMASK)", &at, limit, m.owners)))
}

fn inside(i: &Instr, p: &Plan, m: &Memories) -> Check {
    for (n, operand) in ["dst", "src0", "src1"].into_iter().enumerate() {
        let slot = if i.form() == Form::Load { 0 } else { n };
        let shape = i.form().operand(n as u8);
        if n == 0 && p.at_most(i) {
            continue;
        }
        if let (Some((shape, _)), Some((base, w))) = (shape, p.operand(slot)) {
            let need = alignment(i, n, shape);
            operand_inside(i, p, m, (operand, base, &w), (need, shape == Shape::One))?;
        }
    }
    Ok(())
}

/// Alignment and range of one operand; `align` is what its base needs, and whether it is a scalar.
fn operand_inside(
    i: &Instr,
    p: &Plan,
    m: &Memories,
    (operand, base, w): (&str, u64, &Walk),
    (need, scalar): (u64, bool),
) -> Check {
    let gm = w.space == Space::Gm;
    let owners = if gm { &[] } else { m.owners };
    if (!gm || scalar) && !base.is_multiple_of(need.max(1)) {
        let d = bounds::misaligned(&name(i), operand, base, need, scalar, owners);
        return Err(Box::new(d));
    }
    if gm {
        return gm_range(i, operand, base, w, u64::from(p.repeats), m.gm);
    }
    let limit = m.settings.ub_bytes;
    match bounds::first_outside(base, w, u64::from(p.repeats), &p.lanes, limit) {
        Some(at) => match m.gm.locate(base) {
            Some((buffer, _)) => Err(Box::new(not_ub(i, operand, &m.gm.buffers()[buffer].name))),
            None => Err(Box::new(bounds::outside(&name(i), operand, &at, limit, owners))),
        },
        None => Ok(()),
    }
}

/// A pointer to global memory where the instruction takes one to UB.
fn not_ub(i: &Instr, operand: &str, buffer: &str) -> Diagnostic {
    let what = format!(
        "{} works on UB, and operand `{operand}` is a pointer to global memory (`{buffer}`)",
        name(i)
    );
    Diagnostic::error("memcheck.space", what)
        .help("bring the data to UB first, with pto.tload or a copy_gm_to_ubuf instruction")
}

fn gm_range(i: &Instr, operand: &str, base: u64, w: &Walk, repeats: u64, gm: &Gm) -> Check {
    for r in 0..repeats {
        let at = w.addr(base, r, 0);
        let end = at.and_then(|a| a.checked_add(u64::from(w.unit)));
        let inside = at.zip(end).is_some_and(|(a, b)| gm.range(a, b).is_some());
        if inside || w.unit == 0 {
            continue;
        }
        let start = i128::from(base) + i128::from(w.rep) * i128::from(r);
        let piece = bounds::Piece { repeat: r, block: 0, start, end: start + i128::from(w.unit) };
        let buffer = at.and_then(|a| gm.locate(a).map(|(b, at)| (&gm.buffers()[b], a - at)));
        let buffer = buffer.map(|(b, base)| (b.name.as_str(), base, b.mem.len() as u64));
        return Err(Box::new(bounds::outside_gm(&name(i), operand, &piece, buffer)));
    }
    Ok(())
}

/// Destination block stride 0 is supported with one active block only.
fn one_destination_block(i: &Instr, p: &Plan) -> Check {
    let Some((_, w)) = p.operand(0).filter(|(_, w)| w.elem > 0 && w.blk == 0) else {
        return Ok(());
    };
    let mask = match p.lanes {
        Lanes::All => return Ok(()),
        other => other.of_repeat(0),
    };
    let active = (0..usize::from(w.blocks)).filter(|&b| w.block_active(&mask, b)).count();
    if active <= 1 {
        return Ok(());
    }
    let what = format!(
        "VEC instruction parameter is invalid: {} dst_blk 0 with {active} active blocks",
        name(i)
    );
    let d = Diagnostic::error("memcheck.dst_stride", what)
        .note("all blocks of a repeat would be written to the same 32 bytes; not supported")
        .help("use dst_blk 1, or a mask or count that leaves one block active");
    Err(Box::new(d))
}
