//! Microcode of the user: a function named after a tile operation that takes its place.
//!
//! Arguments are found by name. `dst`, `src`, `src0`, `src1`, `tmp` are the tiles of the operation,
//! as a tile or as a pointer to its first byte in UB; `scalar` is the scalar operand. Numbers are
//! `rows` and `cols`, the valid region the operation works through, and `TILE_rows`, `TILE_cols`
//! (valid), `TILE_stride` (elements from row to row) of any tile.

use super::frame::{refuse_with, value_of};
use super::lower;
use super::program::{ArgKind, Function, Program};
use super::run::{Exec, Options};
use super::value::{Ptr, Value};
use crate::a5::Core;
use crate::machine::{Machine, Settings, Stop};
use crate::text::File;
use crate::tile::{Call, Family, OPS, Tile, TileOp};
use ptoemu_core::access::Space;
use ptoemu_core::diag::{Diagnostic, SourceFile};
use std::sync::Arc;

/// Statements and loop rounds after which one use is given up.
const MOST_STEPS: u64 = 2_000_000;
/// Number of the microcode's file in the sites of a stream; the program's own is 0.
pub const MICROCODE_FILE: u16 = 1;

/// One function of a microcode file.
#[derive(Clone, Debug)]
pub struct Own {
    /// The operation it stands for.
    pub op: &'static TileOp,
    program: Arc<Program>,
}

impl Own {
    /// Every function of a file that is named after a tile operation.
    pub fn read(file: &File, options: &lower::Options) -> Result<Vec<Own>, Vec<Diagnostic>> {
        let mut out = Vec::new();
        for op in OPS.iter().filter(|op| !op.sig.view) {
            let names = |(_, f): &(_, &crate::text::Func)| *f.name.text == *op.name;
            if !file.funcs().iter().any(names) {
                continue;
            }
            let entry = Some(op.name.to_string());
            let program = lower::lower(file, &lower::Options { entry, ..options.clone() })?;
            let own = Own { op, program: Arc::new(program) };
            own.arguments()?;
            out.push(own);
        }
        if out.is_empty() {
            let text = "no function of the file is named after a tile operation";
            let help =
                "name it @trowmax, for example; its arguments are the tiles of the operation";
            return Err(vec![Diagnostic::error("usage.microcode", text).help(help)]);
        }
        Ok(out)
    }

    /// Its text.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.program.source
    }

    /// The first instruction of another family, as a refusal.
    pub fn foreign(&self, family: Family) -> Option<Diagnostic> {
        self.program.foreign(family)
    }

    /// The tile type declared for an operand, if it is taken as a tile.
    pub fn declared(&self, role: &str) -> Option<&Tile> {
        self.function().args.iter().find(|a| a.name == role).and_then(|a| match &a.kind {
            ArgKind::Tile(t, _) => Some(&**t),
            _ => None,
        })
    }

    /// Does it take the scratch tile?
    pub fn takes_tmp(&self) -> bool {
        self.function().args.iter().any(|a| a.name == "tmp")
    }

    fn function(&self) -> &Function {
        &self.program.funcs[self.program.entry]
    }

    /// Is every argument one that the operation can give?
    fn arguments(&self) -> Result<(), Vec<Diagnostic>> {
        let sig = self.op.sig;
        let mut roles = vec!["dst"];
        roles.extend(["src", "src0", "src1"].iter().filter(|r| (sig.srcs == 1) == (**r == "src")));
        roles.truncate(1 + usize::from(sig.srcs));
        if sig.tmp != crate::tile::Tmp::None {
            roles.push("tmp");
        }
        let number = |name: &str| {
            let of = |r: &&str| {
                let rest = name.strip_prefix(*r).and_then(|n| n.strip_prefix('_'));
                matches!(rest, Some("rows" | "cols" | "stride"))
            };
            matches!(name, "rows" | "cols") || roles.iter().any(of)
        };
        let mut faults = Vec::new();
        for a in &self.function().args {
            let known = match &a.kind {
                ArgKind::Tile(..) | ArgKind::Buffer(_) => roles.contains(&a.name.as_str()),
                ArgKind::Scalar(_) => a.name == "scalar" && sig.scalar || number(&a.name),
                ArgKind::Other(_) => false,
            };
            if !known {
                let text = format!("{} has no operand `{}` of this type", self.op.name, a.name);
                let help = format!(
                    "tiles or pointers: {}; numbers: rows, cols, {}_stride and the like{}",
                    roles.join(", "),
                    roles.last().copied().unwrap_or("dst"),
                    if sig.scalar { "; scalar" } else { "" }
                );
                let d = Diagnostic::error("usage.microcode", text);
                faults.push(d.at(&self.program.source, a.span, "").help(help));
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Values of the arguments for a call, or why the function does not fit it.
    fn values(&self, call: &Call) -> Result<Vec<Value>, Stop> {
        let args = &self.function().args;
        args.iter()
            .map(|a| {
                let name = a.name.as_str();
                let tile = call.tiles().find(|(role, _)| *role == name).map(|(_, t)| t);
                let value = match (&a.kind, tile) {
                    (ArgKind::Tile(declared, _), Some(t)) => {
                        fits(declared, t).then(|| Value::Tile(Arc::new(t.clone())))
                    }
                    (ArgKind::Buffer(elem), Some(t)) => (*elem == t.dtype).then_some({
                        Value::Ptr(Ptr { space: Space::Ub, addr: t.addr, elem: t.dtype })
                    }),
                    (ArgKind::Scalar(s), _) => match call.scalar {
                        Some(v) if name == "scalar" => {
                            (s.dtype() == Some(v.dtype)).then(|| value_of(v.dtype, v.bits))
                        }
                        _ => number(call, name).map(Value::Int),
                    },
                    _ => None,
                };
                value.ok_or_else(|| {
                    let text = format!("the microcode of {} does not fit: `{name}`", call.op.name);
                    let help =
                        "its argument is declared for other types or sizes than this use has";
                    let mut stop = refuse_with("legality.microcode", text, help);
                    *stop.0 = stop.0.at(&self.program.source, a.span, "");
                    stop
                })
            })
            .collect()
    }

    /// Does the function take the operands of this call?
    pub fn takes(&self, call: &Call) -> bool {
        self.values(call).is_ok()
    }

    /// Runs the function in place of the microcode of a call.
    pub fn issue(&self, call: &Call, machine: &mut Machine, core: &mut Core) -> Result<(), Stop> {
        let values = self.values(call)?;
        let none = Settings { ub_bytes: 0, ..machine.settings.clone() };
        let own = std::mem::replace(machine, Machine::new(none));
        let options = Options {
            args: Vec::new(),
            blocks: 1,
            auto_sync: Some(false),
            quirks: call.quirks,
            operand_order: call.operand_order,
            settings: own.settings.clone(),
            limits: crate::tile::Limits::of(own.settings.family),
            max_steps: Some(MOST_STEPS),
            progress: None,
        };
        let mut exec = Exec::within(&self.program, &options, own, MICROCODE_FILE);
        std::mem::swap(&mut exec.a5.core, core);
        let done = exec.call(self.program.entry, values);
        std::mem::swap(&mut exec.a5.core, core);
        *machine = exec.machine;
        done.map(drop)
    }
}

/// Is a tile one of the declared type? Sizes written `?` take any.
fn fits(declared: &Tile, t: &Tile) -> bool {
    let valid =
        |fixed: bool, want: u32, is_fixed: bool, have: u32| !fixed || is_fixed && want == have;
    (declared.dtype, declared.layout) == (t.dtype, t.layout)
        && (declared.rows, declared.cols) == (t.rows, t.cols)
        && valid(declared.static_rows, declared.valid_rows, t.static_rows, t.valid_rows)
        && valid(declared.static_cols, declared.valid_cols, t.static_cols, t.valid_cols)
}

/// A number of a call by name.
fn number(call: &Call, name: &str) -> Option<i64> {
    let of = |t: &Tile, what: &str| {
        let n = match what {
            "rows" => t.valid_rows,
            "cols" => t.valid_cols,
            "stride" => t.row_stride(),
            _ => return None,
        };
        Some(i64::from(n))
    };
    if matches!(name, "rows" | "cols") {
        // The widest valid region: the source of a reduction, the destination of an expansion.
        let all = || std::iter::once(&call.dst).chain(&call.src);
        let widest = all().max_by_key(|t| u64::from(t.valid_rows) * u64::from(t.valid_cols))?;
        return of(widest, name);
    }
    let (role, what) = name.split_once('_')?;
    call.tiles().find(|(r, _)| *r == role).and_then(|(_, t)| of(t, what))
}
