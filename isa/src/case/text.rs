//! A call as a program: tiles at the addresses of the call, sources filled from global memory,
//! the operation, the valid region of the result stored.

use crate::tile::{Call, Layout, OperandOrder, Operator, Quirks, Sat, Tile};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::Round;
use std::fmt::Write as _;

/// The program `ptoemu run` executes for a call, its first lines a comment with the command line.
/// `data` gives the value of source `k`, for example `rand(1,unit,0)`. `None` for transfers: their
/// other side is no tile.
///
/// Sources are loaded whole, padding included, in the order of storage.
pub fn to_pto(call: &Call, data: &dyn Fn(usize, DType) -> String) -> Option<String> {
    if call.op.sig.view {
        return None;
    }
    let names: Vec<&str> = call.tiles().map(|(role, _)| role).collect();
    let mut w = Writer::default();
    for (k, t) in call.src.iter().enumerate() {
        w.source(names[k + 1], t);
    }
    w.tile("dst", &call.dst);
    if let Some(t) = &call.tmp {
        w.tile("tmp", t);
    }
    w.operation(call, &names);
    w.result(&call.dst);
    let tiles = std::iter::once(&call.dst).chain(&call.src);
    let args: Vec<String> = names
        .iter()
        .zip(tiles)
        .map(|(name, t)| format!("%{name}: !pto.ptr<{}>", element(t.dtype)))
        .collect();
    Some(format!(
        "// {}\n{}\nmodule {{\n  func.func @{}({}) {{\n{}    return\n  }}\n}}\n",
        title(call),
        command(call, &names, data),
        call.op.name,
        args.join(", "),
        w.body
    ))
}

/// A program whose buffers are the bytes of the tiles: dst and sources whole, before the operation,
/// and dst whole after it; `outside` is one more range of UB that is filled and stored back.
/// `comment` stands at its head. Arguments: `dst`, the sources, `outside`.
pub fn to_replay(call: &Call, outside: Option<(u64, u64)>, comment: &str) -> Option<String> {
    if call.op.sig.view {
        return None;
    }
    let names: Vec<&str> = call.tiles().map(|(role, _)| role).collect();
    let mut w = Writer::default();
    let bytes = |addr: u64, rows: u32, line: u64| {
        let cols = u32::try_from(line).unwrap_or(u32::MAX);
        let t = Tile { name: String::new(), dtype: DType::U8, addr, ..call.dst.clone() };
        let t = Tile { layout: Layout::RowMajor, rows, cols, valid_rows: rows, pad: 0, ..t };
        Tile { valid_cols: cols, static_rows: true, static_cols: true, ..t }
    };
    let whole = |t: &Tile| {
        let raw = t.storage_rows();
        bytes(t.addr, raw.rows, u64::from(raw.cols) * raw.dtype.size() as u64)
    };
    let outside = outside.map(|(start, end)| bytes(start, 1, end - start));
    let mut filled: Vec<(&str, Tile)> = Vec::new();
    filled.extend(outside.iter().map(|t| ("outside", t.clone())));
    let tiles = std::iter::once(&call.dst).chain(&call.src);
    filled.extend(names.iter().copied().zip(tiles.map(whole)));
    for (name, t) in &filled {
        let part = w.view(name, t);
        w.line(&format!("%{name}_at = arith.constant {:#x} : i64", t.addr));
        w.whole(name, t);
        let ty = tile_type(t);
        w.line(&format!("pto.tload ins(%{name}_part : {part}) outs(%{name}_all : {ty})"));
    }
    if let Some(t) = &call.tmp {
        w.line(&format!("%tmp_at = arith.constant {:#x} : i64", t.addr));
    }
    for (role, t) in call.tiles() {
        w.alloc(role, t);
    }
    w.operation(call, &names);
    for (name, t) in filled.iter().filter(|(name, _)| matches!(*name, "dst" | "outside")) {
        let (ty, part) = (tile_type(t), view_type("partition_tensor_view", t));
        w.line(&format!("pto.tstore ins(%{name}_all : {ty}) outs(%{name}_part : {part})"));
    }
    filled.rotate_left(usize::from(outside.is_some()));
    let args: Vec<String> =
        filled.iter().map(|(name, _)| format!("%{name}: !pto.ptr<ui8>")).collect();
    Some(format!(
        "{comment}module {{\n  func.func @{}({}) {{\n{}    return\n  }}\n}}\n",
        call.op.name,
        args.join(", "),
        w.body
    ))
}

fn title(call: &Call) -> String {
    let t = call.src.first().unwrap_or(&call.dst);
    format!(
        "{} of {}x{} {}, {}x{} valid",
        call.op.name, t.rows, t.cols, t.dtype, t.valid_rows, t.valid_cols
    )
}

/// `// run: --arg ...` and the settings that are no part of a program.
fn command(call: &Call, names: &[&str], data: &dyn Fn(usize, DType) -> String) -> String {
    let mut out = "// run: --sync auto".to_string();
    for (k, t) in call.src.iter().enumerate() {
        let raw = t.storage_rows();
        let value = data(k, t.dtype);
        let _ =
            write!(out, " --arg {}={value}:{}[{}x{}]", names[k + 1], t.dtype, raw.rows, raw.cols);
    }
    if call.quirks == Quirks::vendor() {
        out.push_str(" --microcode vendor");
    }
    if call.operand_order == OperandOrder::Vendor {
        out.push_str(" --operand-order vendor");
    }
    out
}

/// Element type as programs spell it.
pub(crate) fn element(t: DType) -> String {
    match t {
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => format!("ui{}", 8 * t.size()),
        _ => t.name().to_string(),
    }
}

/// A tile type; valid sizes that are run-time values are written `?`.
pub(crate) fn tile_type(t: &Tile) -> String {
    let size = |fixed: bool, n: u32| if fixed { n.to_string() } else { "?".to_string() };
    let layout = if t.layout == Layout::ColMajor { "col_major" } else { "row_major" };
    format!(
        "!pto.tile_buf<loc=vec, dtype={}, rows={}, cols={}, v_row={}, v_col={}, blayout={layout}, \
         slayout=none_box, fractal=512, pad={}>",
        element(t.dtype),
        t.rows,
        t.cols,
        size(t.static_rows, t.valid_rows),
        size(t.static_cols, t.valid_cols),
        t.pad
    )
}

/// The type of a view of the valid region of a tile.
fn view_type(kind: &str, t: &Tile) -> String {
    format!("!pto.{kind}<{}x{}x{}>", t.valid_rows, t.valid_cols, element(t.dtype))
}

/// The bytes of a tile as a row-major tile of its own, valid sizes static.
fn raw(t: &Tile, whole: bool) -> Tile {
    let mut raw = t.storage_rows();
    if whole {
        (raw.valid_rows, raw.valid_cols) = (raw.rows, raw.cols);
    }
    (raw.static_rows, raw.static_cols) = (true, true);
    raw.pad = 0;
    raw
}

#[derive(Default)]
struct Writer {
    body: String,
}

impl Writer {
    fn line(&mut self, text: &str) {
        self.body.push_str("    ");
        self.body.push_str(text);
        self.body.push('\n');
    }

    fn index(&mut self, name: &str, v: u64) {
        self.line(&format!("%{name} = arith.constant {v} : index"));
    }

    fn tile(&mut self, name: &str, t: &Tile) {
        self.line(&format!("%{name}_at = arith.constant {:#x} : i64", t.addr));
        self.alloc(name, t);
    }

    /// The bytes of a tile as a tile of their own, at the same place.
    fn whole(&mut self, name: &str, t: &Tile) {
        let ty = tile_type(t);
        self.line(&format!("%{name}_all = pto.alloc_tile addr = %{name}_at : {ty}"));
    }

    /// A tile at the constant `%name_at`.
    fn alloc(&mut self, name: &str, t: &Tile) {
        let mut place = format!("addr = %{name}_at");
        if !t.static_rows {
            self.index(&format!("{name}_rows"), t.valid_rows.into());
            let _ = write!(place, " valid_row = %{name}_rows");
        }
        if !t.static_cols {
            self.index(&format!("{name}_cols"), t.valid_cols.into());
            let _ = write!(place, " valid_col = %{name}_cols");
        }
        self.line(&format!("%{name}_tile = pto.alloc_tile {place} : {}", tile_type(t)));
    }

    /// A view of the compact valid region of `t` in the buffer `%name`.
    fn view(&mut self, name: &str, t: &Tile) -> String {
        let (r, c) = (t.valid_rows, t.valid_cols);
        let (view, part) = (view_type("tensor_view", t), view_type("partition_tensor_view", t));
        self.index(&format!("{name}_zero"), 0);
        self.index(&format!("{name}_one"), 1);
        self.index(&format!("{name}_r"), r.into());
        self.index(&format!("{name}_c"), c.into());
        let sizes = format!("[%{name}_r, %{name}_c]");
        self.line(&format!(
            "%{name}_view = pto.make_tensor_view %{name}, shape = {sizes}, \
             strides = [%{name}_c, %{name}_one] : {view}"
        ));
        self.line(&format!(
            "%{name}_part = pto.partition_view %{name}_view, \
             offsets = [%{name}_zero, %{name}_zero], sizes = {sizes} : {view} -> {part}"
        ));
        part
    }

    fn source(&mut self, name: &str, t: &Tile) {
        let all = raw(t, true);
        let part = self.view(name, &all);
        self.tile(name, t);
        let ty = tile_type(&all);
        self.whole(name, &all);
        self.line(&format!("pto.tload ins(%{name}_part : {part}) outs(%{name}_all : {ty})"));
    }

    fn operation(&mut self, call: &Call, names: &[&str]) {
        let mut operands: Vec<(String, String)> = call
            .tiles()
            .zip(names)
            .skip(1)
            .map(|((_, t), name)| (format!("%{name}_tile"), tile_type(t)))
            .collect();
        let numbers = match call.op.operator {
            Operator::Extract | Operator::Insert => vec![call.attrs.at.0, call.attrs.at.1],
            Operator::MergeBlock => vec![call.attrs.block],
            _ => Vec::new(),
        };
        for (k, n) in numbers.into_iter().enumerate() {
            self.line(&format!("%number{k} = arith.constant {n} : index"));
            operands.push((format!("%number{k}"), "index".into()));
        }
        if let Some(s) = call.scalar {
            let ty = element(s.dtype);
            self.line(&format!("%scalar = arith.constant {:#x} : {ty}", s.bits));
            let at = if call.attrs.reversed { 0 } else { call.src.len() };
            operands.insert(at.min(operands.len()), ("%scalar".into(), ty));
        }
        let list = |f: &dyn Fn(&(String, String)) -> String| {
            operands.iter().map(f).collect::<Vec<_>>().join(", ")
        };
        self.line(&format!(
            "pto.{} ins({}{} : {}) outs(%dst_tile : {})",
            call.op.written(),
            list(&|o| o.0.clone()),
            attributes(call),
            list(&|o| o.1.clone()),
            tile_type(&call.dst)
        ));
    }

    fn result(&mut self, t: &Tile) {
        let valid = raw(t, false);
        if valid.valid_rows == 0 || valid.valid_cols == 0 {
            return;
        }
        let part = self.view("dst", &valid);
        let ty = tile_type(&valid);
        self.line(&format!("%dst_valid = pto.alloc_tile addr = %dst_at : {ty}"));
        self.line(&format!("pto.tstore ins(%dst_valid : {ty}) outs(%dst_part : {part})"));
    }
}

/// Settings of the operation as a dictionary, empty without any.
fn attributes(call: &Call) -> String {
    let mut out = Vec::new();
    if let Some(r) = call.attrs.round {
        let name = match r {
            Round::NearestEven => "RINT",
            Round::NearestAway => "ROUND",
            Round::Floor => "FLOOR",
            Round::Ceil => "CEIL",
            Round::Zero => "TRUNC",
            Round::Odd => "ODD",
        };
        out.push(format!("rmode = #pto<round_mode {name}>"));
    }
    if let Some(s) = call.attrs.sat {
        let name = if s == Sat::On { "ON" } else { "OFF" };
        out.push(format!("sat_mode = #pto<saturation_mode {name}>"));
    }
    let dictionary = [
        (
            call.op.operator == Operator::Compare,
            format!("cmpMode = #pto<cmp {:?}>", call.attrs.cmp),
        ),
        (call.attrs.down, "descending = true".into()),
        (call.attrs.upper, "upperOrLower = 1 : i32".into()),
        (
            call.op.operator == Operator::Pattern,
            format!("maskPattern = #pto.mask_pattern<P{:04b}>", call.attrs.pattern),
        ),
        (call.attrs.exhausted, "exhausted = true".into()),
    ];
    out.extend(dictionary.into_iter().filter(|(on, _)| *on).map(|(_, text)| text));
    if call.attrs.binary {
        out.push("isBinary = true".into());
    }
    if out.is_empty() { String::new() } else { format!(" {{{}}}", out.join(", ")) }
}
