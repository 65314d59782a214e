//! The microcode of one use written out as a function a user can start from.

mod a5;

use crate::case::{element, tile_type};
use crate::instr::Instr;
use crate::machine::{Backend, Stop};
use crate::table::{Form, Order, What};
use crate::tile::{Call, Family};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::Pipe;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What a scalar load gives while instructions are collected: this and its number.
const TOKEN: u64 = 0x5EED_0000_0000_0000;

/// A microcode file for a use, or what keeps it from being written.
pub fn template(call: &Call) -> Result<String, String> {
    let mut t = Text::new(call);
    match call.family {
        Family::A2A3 => {
            let mut all = Collect::default();
            crate::tile::a2a3(call, &mut all).map_err(|s| s.0.message)?;
            all.0.iter().try_for_each(|i| t.instruction(i))?;
        }
        Family::A5 => a5::write(&mut t)?,
    }
    Ok(t.finish())
}

/// Collects instructions; every load gives a number of its own.
#[derive(Default)]
struct Collect(Vec<Instr>, u64);

impl Backend for Collect {
    fn issue(&mut self, i: &Instr) -> Result<u64, Stop> {
        self.0.push(*i);
        if i.form() != Form::Load {
            return Ok(0);
        }
        self.1 += 1;
        Ok(TOKEN + self.1 - 1)
    }
}

/// The text under construction.
struct Text<'c> {
    call: &'c Call,
    body: String,
    indent: usize,
    /// Index constants in use.
    numbers: BTreeSet<i64>,
    /// Pointers that were made: address, type, name.
    pointers: Vec<(u64, DType, String)>,
    loads: u64,
    names: u32,
}

fn pointer(t: DType) -> String {
    format!("!pto.ptr<{}, ub>", element(t))
}

/// Name of the constant `n`.
fn constant(n: i64) -> String {
    if n < 0 { format!("%m{}", n.unsigned_abs()) } else { format!("%c{n}") }
}

impl<'c> Text<'c> {
    fn new(call: &'c Call) -> Text<'c> {
        Text {
            call,
            body: String::new(),
            indent: 2,
            numbers: BTreeSet::new(),
            pointers: Vec::new(),
            loads: 0,
            names: 0,
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.body, "{:1$}{text}", "", 2 * self.indent);
    }

    fn number(&mut self, n: i64) -> String {
        self.numbers.insert(n);
        constant(n)
    }

    fn name(&mut self, what: &str) -> String {
        self.names += 1;
        format!("%{what}{}", self.names)
    }

    /// A pointer to a UB byte; of a tile, relative to it.
    fn pointer(&mut self, addr: u64, t: DType) -> Result<String, String> {
        if let Some((_, _, name)) = self.pointers.iter().find(|p| (p.0, p.1) == (addr, t)) {
            return Ok(name.clone());
        }
        let tile = self.call.tiles().find(|(_, t)| (t.addr..t.end()).contains(&addr));
        let Some((role, tile)) = tile.map(|(r, t)| (r, t.clone())) else {
            return self.fixed(addr, t);
        };
        let base = match (addr == tile.addr, t == tile.dtype) {
            (true, true) => {
                let name = format!("%{role}_p");
                let (ty, ptr) = (tile_type(&tile), pointer(t));
                self.line(&format!("{name} = pto.tile_buf_addr %{role} : {ty} -> {ptr}"));
                name
            }
            (true, false) => {
                let from = self.pointer(tile.addr, tile.dtype)?;
                let name = format!("%{role}_{}", element(t));
                let (a, b) = (pointer(tile.dtype), pointer(t));
                self.line(&format!("{name} = pto.castptr {from} : {a} -> {b}"));
                name
            }
            (false, _) => {
                let (off, size) = (addr - tile.addr, t.size() as u64);
                if !off.is_multiple_of(size) {
                    return Err(format!("UB {addr:#x} is no whole element of {role}"));
                }
                let from = self.pointer(tile.addr, t)?;
                let at = self.number((off / size) as i64);
                let name = self.name(role);
                let ptr = pointer(t);
                self.line(&format!("{name} = pto.addptr {from}, {at} : {ptr} -> {ptr}"));
                name
            }
        };
        if self.indent == 2 {
            self.pointers.push((addr, t, base.clone()));
        }
        Ok(base)
    }

    /// A pointer to a fixed place: the scratch window.
    fn fixed(&mut self, addr: u64, t: DType) -> Result<String, String> {
        let at = self.name("at");
        self.line(&format!("{at} = arith.constant {addr:#x} : i64"));
        let name = self.name("scratch");
        self.line(&format!("{name} = pto.castptr {at} : i64 -> {}", pointer(t)));
        if self.indent == 2 {
            self.pointers.push((addr, t, name.clone()));
        }
        Ok(name)
    }

    fn instruction(&mut self, i: &Instr) -> Result<(), String> {
        let pipe = |v: i64| Pipe::ALL.get(v as usize).map_or("PIPE_ALL", |p| p.name());
        let name = i.op.mnemonic();
        match i.form() {
            Form::Load => {
                let p = self.pointer(i.args[0] as u64, i.dtype)?;
                let zero = self.number(0);
                let (n, ptr, t) = (self.loads, pointer(i.dtype), element(i.dtype));
                self.loads += 1;
                self.line(&format!("%loaded{n} = pto.load_scalar {p}[{zero}] : {ptr} -> {t}"));
            }
            Form::Store => {
                let v = self.scalar(i.args[0] as u64, i.dtype)?;
                let p = self.pointer(i.args[1] as u64, i.dtype)?;
                let (zero, ptr, t) = (self.number(0), pointer(i.dtype), element(i.dtype));
                self.line(&format!("pto.store_scalar {v}, {p}[{zero}] : {ptr}, {t}"));
            }
            Form::Flag => {
                let [s, d, e] = [i.args[0], i.args[1], i.args[2]];
                let (s, d) = (pipe(s), pipe(d));
                self.line(&format!("pto.{name}[\"{s}\", \"{d}\", \"EVENT_ID{e}\"]"));
            }
            Form::Barrier => self.line(&format!("pto.{name} \"{}\"", pipe(i.args[0]))),
            _ => self.vector(i)?,
        }
        Ok(())
    }

    /// Any other instruction: parameters in the order of its form, types behind the colon.
    fn vector(&mut self, i: &Instr) -> Result<(), String> {
        let (mut operands, mut types) = (Vec::new(), Vec::new());
        for (p, v) in i.form().params().iter().zip(i.args) {
            operands.push(match p.what {
                What::Addr(n) => {
                    let compares = matches!(i.form(), Form::Cmp2 | Form::CmpS);
                    let t = if n == 0 && !compares { i.dtype } else { i.src_dtype };
                    types.push(pointer(t));
                    self.pointer(v as u64, t)?
                }
                What::Scalar => {
                    types.push(element(i.dtype));
                    self.scalar(v as u64, i.dtype)?
                }
                What::Order => {
                    format!("\"{}\"", Order::from_code(v).unwrap_or(Order::ValueIndex).name())
                }
                _ => v.to_string(),
            });
        }
        let list =
            if operands.is_empty() { String::new() } else { format!(" {}", operands.join(", ")) };
        let types =
            if types.is_empty() { String::new() } else { format!(" : {}", types.join(", ")) };
        self.line(&format!("pto.{}{list}{types}", i.op.mnemonic()));
        Ok(())
    }

    /// A scalar: what was loaded, or a constant by its bits.
    fn scalar(&mut self, bits: u64, t: DType) -> Result<String, String> {
        match bits.checked_sub(TOKEN) {
            Some(n) if n < self.loads => Ok(format!("%loaded{n}")),
            Some(n) if n < TOKEN / 2 => Err("the scalar unit computes with loaded values".into()),
            _ if self.call.scalar.is_some_and(|s| (s.bits, s.dtype) == (bits, t)) => {
                Ok("%scalar".into())
            }
            _ => {
                let name = self.name("s");
                let ty = element(t);
                self.line(&format!("{name} = arith.constant {bits:#x} : {ty}"));
                Ok(name)
            }
        }
    }

    fn finish(self) -> String {
        let call = self.call;
        let arch = if call.family == Family::A5 { "a5" } else { "a3" };
        let args: Vec<String> =
            call.tiles().map(|(role, t)| format!("%{role}: {}", tile_type(t))).collect();
        let mut numbers = String::new();
        for n in &self.numbers {
            let _ = writeln!(numbers, "    {} = arith.constant {n} : index", constant(*n));
        }
        let scalar = call
            .scalar
            .map_or(String::new(), |s| format!(",\n      %scalar: {}", element(s.dtype)));
        format!(
            "// {0} for tiles of these types, as the built-in microcode does it. Change it, then\n\
             //     ptoemu verify {0} -v {arch} --microcode FILE.pto\n\
             // tries it on every use that fits the types; sizes written `?` take any value.\n\
             module attributes {{pto.target_arch = \"{arch}\"}} {{\n  func.func @{0}(\n      {1}{scalar}) \
             {{\n{numbers}{2}    return\n  }}\n}}\n",
            call.op.name,
            args.join(",\n      "),
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::{Quirks, find};
    use crate::verify::{Spec, Unit};

    #[test]
    fn instructions_stand_in_their_order() {
        let unit = Unit::all(Family::A2A3, find("tadd").unwrap())[1];
        let spec = Spec { rows: 8, cols: 64, ..Spec::default() };
        let text = template(&spec.call(&unit, Quirks::corrected())).unwrap();
        assert!(text.contains("pto.vadd %dst_p, %src0_p, %src1_p, 8, 1, 1, 1, 8, 8, 8"), "{text}");
    }
}
