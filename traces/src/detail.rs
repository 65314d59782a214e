//! Operands of an instruction as the vendor's simulator prints them.
//!
//! Register numbers are of this writer: the emulator knows no allocation.

use crate::events::Trace;
use crate::put;
use ptoemu_core::access::{Lanes, Role, Walk};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{Kind, Pipe, Record};
use ptoemu_isa::table::{Form, Op};

/// Records looked at behind a mask write for an instruction that shows the mask.
const LOOK_AHEAD: usize = 64;

/// Appends the operands of record `i`. `half` is which half of the mask a mask write shows.
pub(crate) fn detail(t: &Trace, i: u32, half: u32, out: &mut Vec<u8>) {
    let Some((r, _)) = t.record(i) else { return };
    match r.kind {
        Kind::Vector | Kind::Copy => vector(t, r, out),
        Kind::Dma => transfer(t, r, out),
        Kind::ScalarLoad | Kind::ScalarStore => scalar(t, r, out),
        Kind::MaskWrite => mask(t, i, half, out),
        Kind::CtrlWrite => out.extend_from_slice(b"SPR:CTRL"),
        Kind::Function => {
            out.extend_from_slice(b"VF:");
            put::dec(out, u64::from(r.link));
            if let Some(f) = t.functions.get(r.link) {
                number(out, "INSTR", f.instructions());
                if f.shown() < f.instructions() {
                    number(out, "NOT_SHOWN", f.instructions() - f.shown());
                }
            }
        }
        Kind::Barrier => {
            out.extend_from_slice(b"PIPE:");
            out.extend_from_slice(short(r.pipe).as_bytes());
        }
        Kind::SetFlag | Kind::WaitFlag => {
            let Some(f) = r.flag() else { return };
            out.extend_from_slice(b"PIPE:");
            out.extend_from_slice(short(f.src).as_bytes());
            out.extend_from_slice(b", TRIGGER PIPE:");
            out.extend_from_slice(short(f.dst).as_bytes());
            out.extend_from_slice(b", FLAG ID:");
            put::dec(out, u64::from(f.id));
            out.push(b',');
        }
    }
}

/// A pipe as dumps write it.
pub(crate) fn short(p: Pipe) -> &'static str {
    match p {
        Pipe::S => "SCALAR",
        Pipe::V => "VEC",
        Pipe::Mte2 => "MTE2",
        Pipe::Mte3 => "MTE3",
        Pipe::M => "CUBE",
        Pipe::Mte1 => "MTE1",
        Pipe::Fix => "FIXP",
        Pipe::All => "ALL",
    }
}

/// An element type as dumps write it.
pub(crate) fn dtype(t: DType) -> &'static str {
    match t {
        DType::I8 => "S8",
        DType::U8 => "U8",
        DType::I16 => "S16",
        DType::U16 => "U16",
        DType::F16 => "F16",
        DType::BF16 => "BF16",
        DType::I32 => "S32",
        DType::U32 => "U32",
        DType::F32 => "F32",
        DType::I64 => "S64",
        DType::U64 => "U64",
    }
}

fn register(out: &mut Vec<u8>, operand: &str, number: u64, value: u64) {
    if !out.ends_with(b" ") && !out.is_empty() {
        out.extend_from_slice(b", ");
    }
    out.extend_from_slice(operand.as_bytes());
    out.extend_from_slice(b":X");
    put::dec(out, number);
    out.push(b'=');
    put::hex(out, value);
}

fn number(out: &mut Vec<u8>, name: &str, value: u64) {
    out.extend_from_slice(b", ");
    out.extend_from_slice(name.as_bytes());
    out.push(b':');
    put::dec(out, value);
}

fn vector(t: &Trace, r: &Record, out: &mut Vec<u8>) {
    out.extend_from_slice(b"Dtype:");
    out.extend_from_slice(dtype(r.dtype).as_bytes());
    out.extend_from_slice(b", ");
    addresses(t, r, out);
    if r.kind == Kind::Copy {
        number(out, "BURSTS", u64::from(r.repeats));
        number(out, "BYTES", t.stream.bytes(r));
    } else {
        register(out, "XT", 3, packed(t, r));
    }
}

fn addresses(t: &Trace, r: &Record, out: &mut Vec<u8>) {
    let mut names = ["XN", "XM"].into_iter().zip(1u64..);
    for (base, walk) in t.stream.operands(r) {
        let (name, n) = match walk.role {
            Role::Write | Role::Update => ("XD", 0),
            Role::Read => names.next().unwrap_or(("XM", 2)),
        };
        register(out, name, n, base);
    }
}

fn transfer(t: &Trace, r: &Record, out: &mut Vec<u8>) {
    let (src, dst) = if r.pipe == Pipe::Mte2 { ("OUT", "UB") } else { ("UB", "OUT") };
    out.extend_from_slice(format!("Src:{src}, Dst:{dst}, ").as_bytes());
    addresses(t, r, out);
    number(out, "BURSTS", u64::from(r.repeats));
    number(out, "BYTES", t.stream.bytes(r));
}

fn scalar(t: &Trace, r: &Record, out: &mut Vec<u8>) {
    let Some((base, _)) = t.stream.operands(r).next() else { return };
    out.extend_from_slice(b"Dtype:");
    out.extend_from_slice(dtype(r.dtype).as_bytes());
    out.extend_from_slice(b", ");
    register(out, "XN", 1, base);
}

/// The mask is read off the next vector instruction: records of mask writes do not hold it.
fn mask(t: &Trace, i: u32, half: u32, out: &mut Vec<u8>) {
    let later = t.stream.records.iter().skip(i as usize + 1).take(LOOK_AHEAD);
    let mut seen = later
        .take_while(|r| r.kind != Kind::MaskWrite)
        .filter(|r| r.kind == Kind::Vector)
        .map(|r| t.stream.lanes(r));
    let value = seen.find_map(|l| match l {
        Lanes::All => None,
        Lanes::Norm(m) => Some(m.words()[usize::from(half != 0)]),
        Lanes::Count { total, .. } => Some(if half == 0 { total } else { 0 }),
    });
    if let Some(v) = value {
        register(out, "XN", 2, v);
        out.extend_from_slice(b", ");
    }
    out.extend_from_slice(b"Pos:");
    put::dec(out, u64::from(half));
}

/// How the strides and the repeat count of a form share the 64 bits of XT.
enum Packing {
    Binary,
    Unary,
    Reduce,
}

fn packing(r: &Record) -> Packing {
    let form = Op::ALL.get(usize::from(r.op.0)).map(|op| op.form());
    match form {
        Some(Form::Vec2 | Form::Vec2Conv | Form::Cmp2 | Form::CmpReg | Form::Sel) => {
            Packing::Binary
        }
        Some(Form::Extreme | Form::Sum | Form::Group | Form::Pair) => Packing::Reduce,
        _ => Packing::Unary,
    }
}

/// Strides and repeat as the register holds them; what does not fit its field is cut off there,
/// as by the machine. A count-mode instruction shows the repeats it made, at most 255.
fn packed(t: &Trace, r: &Record) -> u64 {
    let w = t.stream.shape(r).0;
    let blk = |n: usize| w[n].map_or(0, |w| blocks(i64::from(w.blk)));
    let rep = |n: usize| w[n].map_or(0, |w| blocks(w.rep));
    let repeat = u64::from(r.repeats.min(255)) << 56;
    let fields: &[(u64, u32, u32)] = &match packing(r) {
        Packing::Binary => [
            (blk(0), 8, 0),
            (blk(1), 8, 8),
            (blk(2), 8, 16),
            (rep(0), 8, 24),
            (rep(1), 8, 32),
            (rep(2), 8, 40),
        ],
        Packing::Unary => [
            (blk(0), 16, 0),
            (blk(1), 16, 16),
            (rep(0), 8, 32),
            (rep(1), 12, 40),
            (rep(0) >> 8, 4, 52),
            (0, 0, 0),
        ],
        Packing::Reduce => [
            (w[0].map_or(0, results), 16, 0),
            (blk(1), 16, 16),
            (rep(1), 16, 32),
            (0, 0, 0),
            (0, 0, 0),
            (0, 0, 0),
        ],
    };
    fields.iter().fold(repeat, |x, &(v, bits, at)| x | (v & ((1 << bits) - 1)) << at)
}

/// A stride in blocks of 32 bytes.
fn blocks(bytes: i64) -> u64 {
    (bytes / 32) as u64
}

/// Repeat stride of a reduction's destination, in results of one repeat.
fn results(w: Walk) -> u64 {
    let unit = i64::from(w.unit) * i64::from(w.blocks);
    if unit == 0 { 0 } else { (w.rep / unit) as u64 }
}
