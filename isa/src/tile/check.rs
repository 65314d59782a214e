//! Legality of a use: types, layout, extents, operands and placement, each rule with its name.
//!
//! Under shipped microcode, what the shipped header accepts is a warning instead of a refusal.

use super::asm::{SCRATCH, SCRATCH_BYTES};
use super::call::Call;
use super::op::{Operator, Tmp, Types};
use super::quirks::{Quirk, Quirks};
use super::{Family, Layout, Loc, Tile};
use ptoemu_core::diag::{Diagnostic, Level};
use std::fmt::Write as _;
use std::ops::Range;

/// Sizes that placement is checked against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of UB.
    pub ub_bytes: u64,
    /// Window that operations called without tmp use.
    pub reserved: Range<u64>,
}

impl Limits {
    /// UB and scratch window of a family [D: PTO buffer limits].
    pub fn of(family: Family) -> Limits {
        match family {
            Family::A2A3 => {
                Limits { ub_bytes: 192 * 1024, reserved: SCRATCH..SCRATCH + SCRATCH_BYTES }
            }
            Family::A5 => Limits { ub_bytes: 256 * 1024, reserved: 0..0 },
        }
    }
}

pub(super) type Verdict = Result<(), Box<Diagnostic>>;

/// Is the use legal? Notes and warnings if it is, the broken rule if it is not.
pub fn check(
    call: &Call,
    family: Family,
    limits: &Limits,
) -> Result<Vec<Diagnostic>, Box<Diagnostic>> {
    rules(call, family, limits).map_err(|d| Box::new(d.note(operand_list(call))))
}

fn rules(call: &Call, family: Family, limits: &Limits) -> Result<Vec<Diagnostic>, Box<Diagnostic>> {
    let mut c = Checker { family, limits, quirks: call.quirks, remarks: Vec::new() };
    c.operands(call)?;
    c.types(call)?;
    for (role, tile) in call.tiles() {
        c.tile(role, tile, call.op.sig.view)?;
    }
    (call.op.check)(call, &mut c)?;
    if family == Family::A5 && super::a5::by_software(call) {
        let text = format!(
            "{} of {} has no instruction on the 950 and runs as a routine of the emulator: \
             its cycles are assumed",
            call.op.name, call.dst.dtype
        );
        c.remark(Level::Note, "note.software", text);
    }
    Ok(c.remarks)
}

/// Every operand with shape, type and place, for messages.
fn operand_list(call: &Call) -> String {
    let mut out = call.op.name.to_string();
    for (i, (role, t)) in call.tiles().enumerate() {
        let valid = match (t.valid_rows, t.valid_cols) == (t.rows, t.cols) {
            true => String::new(),
            false => format!(" valid {}", extent(t)),
        };
        let layout = if t.layout == Layout::ColMajor { " col_major" } else { "" };
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            out,
            "{comma} {role} `{}` {}x{}{valid} {}{layout} at {:#x}",
            t.name, t.rows, t.cols, t.dtype, t.addr
        );
    }
    if let Some(v) = &call.view {
        let sizes: Vec<String> = v.shape.iter().map(u32::to_string).collect();
        let _ = write!(out, ", GM view {} {}", sizes.join("x"), v.dtype);
    }
    out
}

/// Collects what is worth saying about a use.
pub struct Checker<'a> {
    /// Family the use is for.
    pub family: Family,
    limits: &'a Limits,
    quirks: Quirks,
    remarks: Vec<Diagnostic>,
}

/// A refusal.
pub(super) fn refuse(
    code: &'static str,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Verdict {
    Err(Box::new(Diagnostic::error(code, message).help(help)))
}

/// `16x32` of the valid region.
pub(super) fn extent(t: &Tile) -> String {
    format!("{}x{}", t.valid_rows, t.valid_cols)
}

impl Checker<'_> {
    /// Adds a remark.
    pub(super) fn remark(&mut self, level: Level, code: &'static str, text: impl Into<String>) {
        self.remarks.push(Diagnostic::new(code, level, text));
    }

    /// A refusal that is only a warning where shipped microcode with `quirk` accepts the use.
    pub(super) fn unless(&mut self, quirk: Quirk, verdict: Verdict) -> Verdict {
        match verdict {
            Err(mut d) if self.quirks.has(quirk) && self.here(quirk) => {
                d.level = Level::Warning;
                let why = format!("the shipped microcode accepts it (quirk {quirk:?})");
                self.remarks.push(d.note(why));
                Ok(())
            }
            other => other,
        }
    }

    /// Is the quirk one of this family's headers?
    fn here(&self, quirk: Quirk) -> bool {
        quirk.about().starts_with("950:") == (self.family == Family::A5)
    }

    fn operands(&self, call: &Call) -> Verdict {
        let (op, sig) = (call.op.name, call.op.sig);
        let least = usize::from(sig.srcs);
        if !(least..=least + usize::from(sig.more)).contains(&call.src.len()) {
            let text = format!("{op} takes {} source tiles, not {}", sig.srcs, call.src.len());
            return refuse("legality.operands", text, "give as many sources as the op has");
        }
        let missing = match () {
            _ if sig.tmp == Tmp::Required && call.tmp.is_none() => Some("a tmp tile"),
            _ if sig.scalar && call.scalar.is_none() => Some("a scalar"),
            _ if sig.view && call.view.is_none() => Some("a global memory view"),
            _ => None,
        };
        if let Some(what) = missing {
            return refuse("legality.operands", format!("{op} needs {what}"), "add the operand");
        }
        if sig.tmp == Tmp::None && call.tmp.is_some() {
            return refuse("legality.operands", format!("{op} has no tmp tile"), "drop tmp");
        }
        Ok(())
    }

    /// Element types: accepted by the operation here, and equal where they must be.
    fn types(&self, call: &Call) -> Verdict {
        let (op, t) = (call.op, call.dtype());
        if op.types(self.family).is_empty() {
            return Err(Box::new(super::op::unbuilt(op, self.family)));
        }
        if !op.types(self.family).contains(&t) {
            return self.wrong_type(call);
        }
        let all = op.sig.types == Types::All;
        for (role, tile) in call.tiles().filter(|(role, _)| all && *role != "tmp") {
            if tile.dtype != t {
                let text = format!("element types differ: {role} is {}, dst is {t}", tile.dtype);
                let help =
                    format!("{} takes tiles of one element type; convert with tcvt", op.name);
                return refuse("legality.type_mismatch", text, help);
            }
        }
        // The diagonal of a triangle is a number of columns.
        let free = op.operator == Operator::Tri;
        if let Some(s) = call.scalar.filter(|s| s.dtype != t && !free) {
            let text = format!("element types differ: the scalar is {}, the tile is {t}", s.dtype);
            return refuse("legality.type_mismatch", text, "give the scalar the tile's type");
        }
        Ok(())
    }

    fn wrong_type(&self, call: &Call) -> Verdict {
        let (op, t) = (call.op, call.dtype());
        let names = |f: Family| op.types(f).iter().map(|t| t.name()).collect::<Vec<_>>().join(" ");
        let (here, other) = match self.family {
            Family::A2A3 => ("A2/A3", Family::A5),
            Family::A5 => ("the 950", Family::A2A3),
        };
        let help = if op.types(other).contains(&t) {
            let there = if other == Family::A5 { "the 950" } else { "A2/A3" };
            format!("{there} accepts {t}; here use one of: {}", names(self.family))
        } else {
            format!("use one of: {}", names(self.family))
        };
        let text = format!("{} does not take element type {t} on {here}", op.name);
        refuse("legality.type", text, help)
    }

    /// Rules of every tile: location, valid region, row alignment, place in UB.
    fn tile(&mut self, role: &str, t: &Tile, transfer: bool) -> Verdict {
        let name = &t.name;
        if t.loc != Loc::Vec {
            let text = format!("{role} `{name}` is not a vector tile (loc = {:?})", t.loc);
            return refuse("legality.location", text, "use a tile of loc = vec");
        }
        if t.fractal && !transfer {
            let text = format!("{role} `{name}` has a fractal layout");
            return refuse("legality.layout", text, "use slayout = none_box");
        }
        if t.valid_rows > t.rows || t.valid_cols > t.cols {
            let text = format!(
                "valid region {} of {role} `{name}` exceeds its shape {}x{}",
                extent(t),
                t.rows,
                t.cols
            );
            return refuse("legality.valid", text, "keep the valid region inside the shape");
        }
        self.row_alignment(role, t)?;
        let end = t.end();
        if end > self.limits.ub_bytes {
            let text = format!(
                "{role} `{name}` ends at byte {end:#x}, past the {:#x} bytes of UB",
                self.limits.ub_bytes
            );
            return refuse("legality.ub_overflow", text, "place it lower or use a smaller tile");
        }
        if !t.addr.is_multiple_of(32) {
            let text =
                format!("{role} `{name}` starts at byte {:#x}, inside a 32-byte block", t.addr);
            let near = t.addr - t.addr % 32;
            let help = format!("use a multiple of 32: {near:#x} or {:#x}", near + 32);
            return refuse("legality.alignment", text, help);
        }
        Ok(())
    }

    /// Rows (columns of column-major tiles) are whole blocks [D: PTO Tile].
    fn row_alignment(&mut self, role: &str, t: &Tile) -> Verdict {
        let line = match t.layout {
            Layout::RowMajor => t.cols,
            Layout::ColMajor => t.rows,
        };
        let bytes = u64::from(line).saturating_mul(t.size());
        if bytes.is_multiple_of(32) {
            return Ok(());
        }
        let (what, name) = match t.layout {
            Layout::RowMajor => ("row", &t.name),
            Layout::ColMajor => ("column", &t.name),
        };
        let text =
            format!("one {what} of {role} `{name}` is {bytes} bytes, not whole 32-byte blocks");
        // The usual case: a column of values written as a row-major tile.
        let column = t.layout == Layout::RowMajor && t.cols == 1;
        let or = if column { ", or make it a column: blayout=col_major" } else { "" };
        refuse("legality.alignment", text, format!("pad the {what} to a multiple of 32 bytes{or}"))
    }

    /// Row-major, where the operation needs it.
    pub(super) fn row_major(&self, role: &str, t: &Tile) -> Verdict {
        if t.layout == Layout::RowMajor {
            return Ok(());
        }
        let text = format!("{role} `{}` must be row-major", t.name);
        refuse("legality.layout", text, "use blayout = row_major")
    }

    /// Same valid rows and columns.
    pub(super) fn same_valid(&self, role: &str, t: &Tile, dst: &Tile) -> Verdict {
        if t.valid_rows != dst.valid_rows {
            return self.row_mismatch(role, t, dst);
        }
        if t.valid_cols != dst.valid_cols {
            return self.col_mismatch(role, t, dst);
        }
        Ok(())
    }

    /// The refusal of unequal valid columns.
    pub(super) fn col_mismatch(&self, role: &str, t: &Tile, dst: &Tile) -> Verdict {
        let text = format!(
            "valid columns differ: {role} `{}` has {}, dst has {}",
            t.name, t.valid_cols, dst.valid_cols
        );
        refuse("legality.col_mismatch", text, "give both the same valid columns")
    }

    /// The refusal of unequal valid rows.
    pub(super) fn row_mismatch(&self, role: &str, t: &Tile, dst: &Tile) -> Verdict {
        let text = format!(
            "valid rows differ: {role} `{}` has {}, dst has {}",
            t.name, t.valid_rows, dst.valid_rows
        );
        refuse("legality.row_mismatch", text, "give both the same valid rows")
    }

    /// A region without rows or columns.
    pub(super) fn not_empty(&self, role: &str, t: &Tile) -> Verdict {
        let (code, what) = match (t.valid_rows, t.valid_cols) {
            (0, _) => ("legality.zero_rows", "rows"),
            (_, 0) => ("legality.zero_cols", "columns"),
            _ => return Ok(()),
        };
        let text = format!("{role} `{}` has no valid {what} ({})", t.name, extent(t));
        refuse(code, text, "the valid region must not be empty")
    }

    /// `a` and `b` share no byte.
    pub(super) fn disjoint(&self, a: (&str, &Tile), b: (&str, &Tile)) -> Verdict {
        if a.1.addr < b.1.end() && b.1.addr < a.1.end() {
            return overlap(a, b, "place them apart");
        }
        Ok(())
    }

    /// `a` and `b` share no byte, or are the same rows at the same place.
    pub(super) fn same_or_disjoint(&self, a: (&str, &Tile), b: (&str, &Tile)) -> Verdict {
        let (x, y) = (a.1, b.1);
        let same = x.addr == y.addr
            && x.dtype == y.dtype
            && x.layout == y.layout
            && x.row_stride() == y.row_stride()
            && (x.layout == Layout::RowMajor || x.cols == 1 || x.rows == y.rows);
        if same { Ok(()) } else { self.disjoint(a, b) }
    }

    /// tmp holds at least `bytes`.
    pub(super) fn tmp_size(&mut self, call: &Call, bytes: u64, why: &str) -> Verdict {
        let Some(tmp) = &call.tmp else { return Ok(()) };
        if tmp.bytes() >= bytes {
            return Ok(());
        }
        let text = format!(
            "tmp `{}` has {} bytes; {} needs {bytes} ({why})",
            tmp.name,
            tmp.bytes(),
            call.op.name
        );
        refuse("legality.tmp_too_small", text, format!("give tmp at least {bytes} bytes"))
    }

    /// No operand lies in the scratch window the microcode of this call uses.
    pub(super) fn keeps_off_scratch(&self, call: &Call) -> Verdict {
        let window = &self.limits.reserved;
        let end = window.end;
        for (role, t) in call.tiles() {
            if t.addr < end && window.start < t.end() {
                let text = format!(
                    "{role} `{}` [{:#x}, {:#x}) lies in UB [{:#x}, {end:#x}), which {} uses as scratch here",
                    t.name,
                    t.addr,
                    t.end(),
                    window.start,
                    call.op.name
                );
                return refuse("legality.reserved", text, "place it below, or pass a tmp tile");
            }
        }
        Ok(())
    }
}

/// The refusal of two tiles that share bytes.
pub(super) fn overlap(a: (&str, &Tile), b: (&str, &Tile), help: &str) -> Verdict {
    let text = format!(
        "{} `{}` [{:#x}, {:#x}) overlaps {} `{}` [{:#x}, {:#x})",
        a.0,
        a.1.name,
        a.1.addr,
        a.1.end(),
        b.0,
        b.1.name,
        b.1.addr,
        b.1.end()
    );
    refuse("legality.overlap", text, help)
}
