//! Tile operations at run time: operands to numbers, legality, order, microcode.

use super::auto_sync::Touch;
use super::frame::{Frame, bits_of, get, kind, refuse_with, set};
use super::program::{Operand, TileStmt};
use super::queue::Held;
use super::run::Exec;
use super::value::{Value, View};
use crate::a5::Cmp;
use crate::machine::Stop;
use crate::tile::{
    self, Attrs, Call, Family, GmLayout, GmView, Layout, Operator, Sat, Scalar, Tile, Tmp,
};
use ptoemu_core::access::Space;
use ptoemu_core::diag::{Diagnostic, Level, Span};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Round;
use ptoemu_core::stream::Pipe;
use std::sync::Arc;

type Done = Result<(), Stop>;

/// Operands sorted by what they are.
#[derive(Default)]
struct Sorted {
    tiles: Vec<Tile>,
    views: Vec<Arc<View>>,
    scalars: Vec<(usize, Operand, Value)>,
}

impl Exec<'_> {
    pub(super) fn tile_statement(&mut self, frame: &mut Frame, t: &TileStmt, span: Span) -> Done {
        let call = self.assemble(frame, t)?;
        self.note_attributes(&call, t);
        let family = self.options.settings.family;
        let notes = tile::check(&call, family, &self.options.limits)
            .map_err(|d| Stop(Box::new(self.with_places(frame, t, *d, span))))?;
        for n in notes {
            let n = self.with_places(frame, t, n, span);
            if !self.notes.contains(&n) {
                self.notes.push(n);
            }
        }
        if let Some((slot, _, _)) = &t.result {
            set(frame, *slot, Value::Tile(Arc::new(call.dst.clone())));
        }
        let pipe = self.pipe(&call);
        self.begin_group(&call);
        if !call.op.is_store() {
            self.machine.defines((call.dst.addr, call.dst.end()), call.partial());
        }
        self.order(pipe, &touches(&call, &self.options.limits))?;
        if matches!(call.op.operator, Operator::Gather | Operator::GatherB) {
            self.positions(pipe, &call)?;
        }
        if let Some(own) = self.program.microcode.iter().find(|o| o.op.name == call.op.name) {
            return own.issue(&call, &mut self.machine, &mut self.a5.core);
        }
        match family {
            Family::A2A3 => tile::a2a3(&call, self),
            Family::A5 if self.queues.blocked(pipe) => self.hold(pipe, Held::Tile(Box::new(call))),
            Family::A5 => {
                let (machine, core) = (&mut self.machine, &mut self.a5.core);
                tile::a5(&call, &mut tile::a5::Values { machine, core })
            }
        }
    }

    /// Checks the positions the data of a call names, as soon as the data is there.
    fn positions(&mut self, pipe: Pipe, call: &Call) -> Done {
        match self.queues.blocked(pipe) {
            true => self.hold(pipe, Held::Positions(Box::new(call.clone()))),
            false => tile::positions(call, self.machine.ub.bytes.as_slice()),
        }
    }

    /// Carets at the operands the message names, or else at the whole statement.
    fn with_places(&self, frame: &Frame, t: &TileStmt, d: Diagnostic, span: Span) -> Diagnostic {
        if !d.labels.is_empty() {
            return d;
        }
        let named = |o: &&Operand| match get(frame, o.slot) {
            Value::Tile(t) => d.message.contains(&format!("`{}`", t.name)),
            _ => false,
        };
        let places: Vec<Span> = t.ins.iter().chain(&t.outs).filter(named).map(|o| o.span).collect();
        let source = &self.program.source;
        match places.is_empty() {
            true => d.at(source, span, ""),
            false => places.into_iter().fold(d, |d, at| d.at(source, at, "")),
        }
    }

    fn pipe(&self, call: &Call) -> Pipe {
        match (&call.view, call.op.is_store()) {
            (Some(_), true) => Pipe::Mte3,
            (Some(_), false) => Pipe::Mte2,
            (None, _) => Pipe::V,
        }
    }

    fn assemble(&mut self, frame: &Frame, t: &TileStmt) -> Result<Call, Stop> {
        let ins = self.sort(frame, &t.ins)?;
        let merges = t.op.operator == Operator::Merge;
        // What a merge says of its lists is no tile.
        let is_tile = |o: &&Operand| !merges || matches!(get(frame, o.slot), Value::Tile(_));
        let written: Vec<Operand> = t.outs.iter().filter(is_tile).copied().collect();
        let outs = self.sort(frame, &written)?;
        let sig = t.op.sig;
        let mut sources = usize::from(sig.srcs);
        let mut given = ins.tiles;
        if merges {
            given.extend(outs.tiles.get(1).cloned());
            sources = given.len().saturating_sub(1).max(sources);
        }
        let mut tiles = given.into_iter();
        let form = || format!("its form is {}", t.op.form());
        let wrong = |what: &str| {
            refuse_with("lower.operand", format!("{} needs {what}", t.op.name), form())
        };
        let result = match &t.result {
            Some((_, tile, place)) => {
                let tile = Tile { addr: self.address(frame, *place)?, ..(**tile).clone() };
                self.own(&tile);
                Some(tile)
            }
            None => None,
        };
        let dst = if t.op.is_store() {
            tiles.next().ok_or_else(|| wrong("a tile to store"))?
        } else {
            outs.tiles.into_iter().next().or(result).ok_or_else(|| wrong("a destination tile"))?
        };
        let srcs: Vec<Tile> = tiles.by_ref().take(sources).collect();
        if srcs.len() < usize::from(sig.srcs) {
            return Err(wrong(&format!("{} source tiles, {} given", sig.srcs, srcs.len())));
        }
        let mut call = Call::new(t.op, dst, srcs);
        call.tmp = tiles.next();
        if tiles.next().is_some() || (call.tmp.is_some() && sig.tmp == Tmp::None) {
            let what = format!("{} takes fewer tiles", t.op.name);
            return Err(refuse_with("lower.operand", what, form()));
        }
        if let (None, Some((tmp, place))) = (&call.tmp, &t.tmp) {
            let tile = Tile { addr: self.address(frame, *place)?, ..(**tmp).clone() };
            self.own(&tile);
            self.note_tmp(&tile, t);
            call.tmp = Some(tile);
        }
        let view = ins.views.into_iter().chain(outs.views).next();
        if sig.view {
            call.view = Some(gm_view(&*view.ok_or_else(|| wrong("a view of global memory"))?)?);
        }
        let numbers: Vec<u64> =
            ins.scalars.iter().filter_map(|(_, _, v)| bits_of(v, DType::I64)).collect();
        match (t.op.operator, &numbers[..]) {
            (Operator::Extract | Operator::Insert, [r, c, ..]) => call.attrs.at = (*r, *c),
            (Operator::Extract | Operator::Insert, _) => return Err(wrong("a row and a column")),
            (Operator::MergeBlock, [n, ..]) => call.attrs.block = *n,
            _ => {}
        }
        if sig.scalar {
            // The diagonal of a triangle is a number of columns.
            let tri = t.op.operator == Operator::Tri;
            let t0 = if tri { DType::I32 } else { call.dtype() };
            let (at, operand, v) = ins.scalars.first().ok_or_else(|| wrong("a scalar"))?;
            let written = operand.scalar.unwrap_or(t0);
            // Shift counts are integers of any width, slopes floats of any.
            let free = match call.op.operator {
                Operator::Shl | Operator::Shr | Operator::Tri | Operator::Iota => {
                    !written.is_float()
                }
                Operator::Leaky => written.is_float(),
                _ => false,
            };
            let dtype = if free { t0 } else { written };
            let bits = bits_of(v, t0).ok_or_else(|| kind("a scalar", v))?;
            call.scalar = Some(Scalar { dtype, bits });
            call.attrs.reversed = *at == 0 && sig.srcs > 0;
        }
        call.attrs = attributes(call.attrs, &t.attrs)?;
        call.quirks = self.options.quirks;
        call.family = self.options.settings.family;
        let rounds = |k: &str| matches!(k, "rmode" | "round_mode" | "rnd");
        if call.family == Family::A5 && !t.attrs.iter().any(|(k, _)| rounds(k)) {
            // A conversion that says nothing rounds to nearest even [D: GOLD:tcvt].
            call.attrs.round = Some(Round::NearestEven);
        }
        call.operand_order = self.options.operand_order;
        Ok(call)
    }

    fn note_tmp(&mut self, tile: &Tile, t: &TileStmt) {
        let message = format!(
            "{} got a scratch tile of {} bytes at {:#x}; the program gives none",
            t.op.name,
            tile.bytes(),
            tile.addr
        );
        self.note("note.tmp", message);
    }

    /// Says a thing once.
    fn note(&mut self, code: &'static str, message: String) {
        if !self.notes.iter().any(|n| n.message == message) {
            self.notes.push(Diagnostic::new(code, Level::Note, message));
        }
    }

    /// Attributes public kernels carry that change nothing here.
    fn note_attributes(&mut self, call: &Call, t: &TileStmt) {
        let written =
            |key: &str| t.attrs.iter().find(|(k, _)| k == key).map(|(_, v)| v.to_ascii_lowercase());
        let name = t.op.name;
        let precise = written("precision_mode").is_some_and(|v| v == "high_precision")
            || written("highPrecision").is_some_and(|v| v == "true");
        if precise {
            let text = format!(
                "{name}: high precision changes no value here, results are correctly rounded \
                 either way; the cycles are those of the plain instructions"
            );
            self.note("note.precision", text);
        }
        let blocks = call.op.expands_rows()
            && call.src.len() == 2
            && call.source(1).layout == Layout::RowMajor;
        if blocks && written("src1Col").is_some_and(|v| v == "1") {
            let text = format!(
                "{name} has no attribute src1Col: a row-major src1 holds one 32-byte block per row, \
                 and column j takes element j mod {}; for one value per row make src1 a col_major \
                 column",
                32 / call.dst.dtype.size()
            );
            self.note("note.attribute", text);
        }
    }

    fn sort(&self, frame: &Frame, operands: &[Operand]) -> Result<Sorted, Stop> {
        let mut out = Sorted::default();
        for (i, o) in operands.iter().enumerate() {
            match get(frame, o.slot) {
                Value::Tile(t) => out.tiles.push((**t).clone()),
                Value::View(v) => out.views.push(v.clone()),
                v @ (Value::Int(_) | Value::Float(..)) => out.scalars.push((i, *o, v.clone())),
                other => {
                    let mut stop = kind("a tile, a view or a scalar", other);
                    *stop.0 = stop.0.clone().at(&self.program.source, o.span, "");
                    return Err(stop);
                }
            }
        }
        Ok(out)
    }
}

/// Ranges of a call, for ordering: whole tiles, and the reach of the GM view.
fn touches(call: &Call, limits: &tile::Limits) -> Vec<Touch> {
    let ub = |t: &Tile, write| Touch { space: Space::Ub, start: t.addr, end: t.end(), write };
    let mut out: Vec<Touch> = call.src.iter().map(|t| ub(t, false)).collect();
    out.push(ub(&call.dst, !call.op.is_store()));
    if call.reads_dst() {
        out.push(ub(&call.dst, false));
    }
    out.extend(call.tmp.iter().map(|t| ub(t, true)));
    if call.uses_scratch() {
        out.push(Touch {
            space: Space::Ub,
            start: limits.reserved.start,
            end: limits.reserved.end,
            write: true,
        });
    }
    if let Some(v) = &call.view {
        let last = v.shape.iter().zip(v.strides).fold(0i64, |a, (n, s)| {
            a.saturating_add(i64::from(n.saturating_sub(1)).saturating_mul(s.max(0)))
        });
        let bytes = (last as u64).saturating_add(1).saturating_mul(v.dtype.size() as u64);
        let end = v.addr.saturating_add(bytes);
        out.push(Touch { space: Space::Gm, start: v.addr, end, write: call.op.is_store() });
    }
    out
}

/// A view as the five dimensions transfers work on.
fn gm_view(v: &View) -> Result<GmView, Stop> {
    let n = v.sizes.len();
    if n == 0 || n > 5 {
        return Err(refuse_with(
            "legality.view",
            format!("a transfer takes 1 to 5 dimensions, the view has {n}"),
            "leave out dimensions of size 1, or transfer in a loop",
        ));
    }
    let mut shape = [1u32; 5];
    let mut strides = [0i64; 5];
    for (i, (size, step)) in v.sizes.iter().zip(&v.strides).enumerate() {
        let to = 5 - n + i;
        shape[to] = u32::try_from(*size).map_err(|_| {
            refuse_with(
                "legality.view",
                format!("dimension {i} of the view has size {size}"),
                "sizes are not negative: check what it was computed from",
            )
        })?;
        strides[to] = *step;
    }
    if n == 1 {
        strides[3] = v.sizes[0];
    }
    // Strides tell where the text names no layout: the last but one dimension is contiguous.
    let columns = shape[4] > 1 && strides[3] == 1 && strides[4] != 1;
    let layout = if v.dn || columns { GmLayout::Dn } else { GmLayout::Nd };
    Ok(GmView { name: String::new(), addr: v.addr, dtype: v.elem, shape, strides, layout })
}

/// Attributes that change the meaning of an operation.
fn attributes(mut a: Attrs, written: &[(String, String)]) -> Result<Attrs, Stop> {
    for (key, value) in written {
        let lower = value.to_ascii_lowercase();
        match key.as_str() {
            "rmode" | "round_mode" | "rnd" => {
                a.round = round(lower.trim_start_matches("cast_")).ok_or_else(|| {
                    refuse_with(
                        "lower.operand",
                        format!("`{value}` is no rounding mode"),
                        "one of NONE RINT ROUND FLOOR CEIL TRUNC ODD",
                    )
                })?;
            }
            "sat_mode" | "satmode" | "sat" | "saturation_mode" => {
                a.sat = Some(if matches!(lower.as_str(), "on" | "sat" | "true") {
                    Sat::On
                } else {
                    Sat::Off
                });
            }
            "atomicType" | "atomic_type" | "atomic" => {
                a.atomic = lower.ends_with("add");
                if !a.atomic && !lower.ends_with("none") {
                    return Err(refuse_with(
                        "lower.operand",
                        format!("`{value}` is no atomic store"),
                        "stores of tiles add or overwrite: atomic_add or atomic_none",
                    ));
                }
            }
            "descending" => a.down = lower == "true",
            "upperOrLower" | "upper" => a.upper = matches!(lower.as_str(), "1" | "true"),
            "exhausted" => a.exhausted = lower == "true",
            "maskPattern" | "mask_pattern" => {
                let bits = lower.trim_start_matches('p');
                a.pattern = u8::from_str_radix(bits, 2).map_err(|_| {
                    refuse_with(
                        "lower.operand",
                        format!("`{value}` is no mask pattern"),
                        "one of P0101 P1010 P0001 P0010 P0100 P1000 P1111",
                    )
                })?;
            }
            "isBinary" | "is_binary" | "binary" => a.binary = lower == "true",
            "cmpMode" | "cmp_mode" | "cmp" => {
                a.cmp = Cmp::parse(&lower).ok_or_else(|| {
                    refuse_with(
                        "lower.operand",
                        format!("`{value}` is no comparison"),
                        "one of eq ne lt le gt ge",
                    )
                })?;
            }
            _ => {}
        }
    }
    Ok(a)
}

fn round(name: &str) -> Option<Option<Round>> {
    Some(match name {
        "none" => None,
        "rint" => Some(Round::NearestEven),
        "round" => Some(Round::NearestAway),
        "floor" => Some(Round::Floor),
        "ceil" => Some(Round::Ceil),
        "trunc" => Some(Round::Zero),
        "odd" => Some(Round::Odd),
        _ => return None,
    })
}
