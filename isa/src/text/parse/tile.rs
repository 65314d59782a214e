//! Tile types: one reader for the keyed, compact, shaped and positional spellings.

use super::ty::Body;
use super::*;
use crate::text::lexer::collapse;
use crate::text::types::*;

/// Help beside an unknown field.
const FIELDS: &str =
    "fields are loc dtype rows cols v_row v_col valid blayout slayout fractal pad compact";

/// Fields as they are met; each may come once.
#[derive(Default)]
struct Fields {
    loc: Option<Space>,
    dtype: Option<Scalar>,
    rows: Option<u64>,
    cols: Option<u64>,
    v_row: Option<Dim>,
    v_col: Option<Dim>,
    blayout: Option<Layout>,
    slayout: Option<Layout>,
    fractal: Option<u32>,
    pad: Option<Pad>,
    compact: Option<Compact>,
    strides: Option<Arc<str>>,
    keyed: bool,
    shaped: bool,
    bare_loc: bool,
    /// A positional `None` stands for a fractal size left alone.
    no_fractal: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn tile(&mut self, body: &mut Body<'a>, buf: bool) -> Parsed<Option<TypeKind>> {
        let whole = Span::new(body.pos, body.end);
        if body.rest().trim() == "..." {
            return Ok(Some(TypeKind::TileUnknown { buf }));
        }
        let mut fields = Fields::default();
        loop {
            self.tile_item(body, &mut fields)?;
            if !body.eat(b',') {
                break;
            }
        }
        self.body_end(body)?;
        let tile = self.finish(fields, whole, buf)?;
        Ok(Some(TypeKind::Tile(Box::new(tile))))
    }

    fn tile_item(&mut self, body: &mut Body<'a>, f: &mut Fields) -> Parsed<()> {
        let first = body.peek();
        let at = body.pos;
        if first == b'#' {
            let loc = self.space(body)?;
            return self.once(&mut f.loc, loc, at, body, "loc");
        }
        if first == b'?' || first == b'-' || first.is_ascii_digit() {
            return self.tile_number(body, f);
        }
        let mut ahead = *body;
        let Some(word) = ahead.word() else {
            return Err(self.body_fault(body, "a field of the tile type"));
        };
        match ahead.peek() {
            b'=' => {
                ahead.eat(b'=');
                *body = ahead;
                self.tile_key(word, at, body, f)
            }
            b'<' => {
                let raw = body.item();
                let text = Arc::from(collapse(raw));
                self.once(&mut f.strides, text, at, body, word)
            }
            _ => {
                *body = ahead;
                self.tile_word(word, at, body, f)
            }
        }
    }

    fn once<T>(
        &self,
        slot: &mut Option<T>,
        value: T,
        at: usize,
        body: &Body,
        name: &str,
    ) -> Parsed<()> {
        if slot.is_some() {
            let at = Span::new(at, body.pos);
            return Err(self.fault(at, format!("`{name}` is given twice"), ""));
        }
        *slot = Some(value);
        Ok(())
    }

    /// A shape such as `16x64xf32`, or a number in the positional spelling.
    fn tile_number(&mut self, body: &mut Body<'a>, f: &mut Fields) -> Parsed<()> {
        let at = body.pos;
        let mut ahead = *body;
        if let Some(Ok(n)) = ahead.number()
            && matches!(ahead.peek(), b',' | 0)
        {
            *body = ahead;
            let slot = match (&f.rows, &f.cols) {
                (None, _) => &mut f.rows,
                (_, None) => &mut f.cols,
                _ => {
                    f.no_fractal = true;
                    let size = u32::try_from(n).ok();
                    let size = size.ok_or_else(|| self.too_large(at, body))?;
                    return self.once(&mut f.fractal, size, at, body, "fractal");
                }
            };
            *slot = Some(n);
            return Ok(());
        }
        let (dims, elem) = self.shape(body)?;
        f.shaped = true;
        let [Dim::Static(rows), Dim::Static(cols)] = dims[..] else {
            let at = Span::new(at, body.pos);
            return Err(self.fault(at, "a tile has two fixed sizes", "as in `16x64xf32`"));
        };
        self.once(&mut f.rows, rows, at, body, "rows")?;
        self.once(&mut f.cols, cols, at, body, "cols")?;
        self.once(&mut f.dtype, elem, at, body, "dtype")
    }

    fn too_large(&self, at: usize, body: &Body) -> Fault {
        self.fault(Span::new(at, body.pos), "the number is too large", "")
    }

    /// `key=value`
    fn tile_key(
        &mut self,
        key: &str,
        at: usize,
        body: &mut Body<'a>,
        f: &mut Fields,
    ) -> Parsed<()> {
        f.keyed |= matches!(key, "dtype" | "rows" | "cols");
        match key {
            "loc" => {
                let v = self.space(body)?;
                self.once(&mut f.loc, v, at, body, key)
            }
            "dtype" => {
                let v = self.elem(body)?;
                self.once(&mut f.dtype, v, at, body, key)
            }
            "rows" | "cols" => {
                let v = self.tile_size(body)?;
                let slot = if key == "rows" { &mut f.rows } else { &mut f.cols };
                self.once(slot, v, at, body, key)
            }
            "v_row" | "v_col" => {
                let v = self.tile_dim(body)?;
                let slot = if key == "v_row" { &mut f.v_row } else { &mut f.v_col };
                self.once(slot, v, at, body, key)
            }
            "valid" => {
                let rows = self.tile_dim(body)?;
                if !body.eat(b'x') {
                    return Err(self.body_fault(body, "`x`"));
                }
                let cols = self.tile_dim(body)?;
                self.once(&mut f.v_row, rows, at, body, key)?;
                self.once(&mut f.v_col, cols, at, body, key)
            }
            _ => self.layout_key(key, at, body, f),
        }
    }

    /// `key=value` of the fields that have defaults.
    fn layout_key(
        &mut self,
        key: &str,
        at: usize,
        body: &mut Body<'a>,
        f: &mut Fields,
    ) -> Parsed<()> {
        match key {
            "fractal" => {
                let v = self.tile_size(body)?;
                let v = u32::try_from(v).map_err(|_| self.too_large(at, body))?;
                self.once(&mut f.fractal, v, at, body, key)
            }
            "blayout" | "slayout" => {
                let v = self.choice(body, Layout::from_name, "a layout")?;
                let slot = if key == "blayout" { &mut f.blayout } else { &mut f.slayout };
                self.once(slot, v, at, body, key)
            }
            "pad" => {
                let v = self.choice(body, Pad::from_name, "a padding (0 to 3)")?;
                self.once(&mut f.pad, v, at, body, key)
            }
            "compact" => {
                let v = self.choice(body, Compact::from_name, "a compact mode (0 to 2)")?;
                self.once(&mut f.compact, v, at, body, key)
            }
            _ => Err(self.unknown_field(key, at)),
        }
    }

    fn unknown_field(&self, key: &str, at: usize) -> Fault {
        let at = Span::new(at, at + key.len());
        let mut fault = self.fault(at, format!("unknown tile field `{key}`"), "");
        fault.0.help = Some(FIELDS.to_string());
        fault
    }

    fn tile_size(&self, body: &mut Body<'a>) -> Parsed<u64> {
        body.blank();
        match body.number() {
            Some(n) => n.map_err(|at| self.fault(at, "the number is too large", "")),
            None => Err(self.body_fault(body, "a number")),
        }
    }

    fn tile_dim(&self, body: &mut Body<'a>) -> Parsed<Dim> {
        match body.dim() {
            Some(d) => d.map_err(|at| self.fault(at, "the size is too large", "")),
            None => Err(self.body_fault(body, "a number or `?`")),
        }
    }

    fn choice<T>(
        &self,
        body: &mut Body<'a>,
        find: impl Fn(&str) -> Option<T>,
        what: &str,
    ) -> Parsed<T> {
        body.blank();
        let start = *body;
        let found = body.word().and_then(find);
        found.ok_or_else(|| self.body_fault(&start, what))
    }

    /// A word without `=`: location, element type, or a positional layout, padding, mode.
    fn tile_word(&mut self, word: &str, at: usize, body: &Body<'a>, f: &mut Fields) -> Parsed<()> {
        if let Some(loc) = Space::from_name(word) {
            f.bare_loc = true;
            return self.once(&mut f.loc, loc, at, body, "loc");
        }
        if let Some(dtype) = Scalar::from_name(word) {
            return self.once(&mut f.dtype, dtype, at, body, "dtype");
        }
        if let Some(layout) = Layout::from_name(word) {
            let first = f.blayout.is_none();
            let slot = if first { &mut f.blayout } else { &mut f.slayout };
            return self.once(slot, layout, at, body, "slayout");
        }
        if !f.no_fractal && f.slayout.is_some() && word == "None" {
            f.no_fractal = true;
            return Ok(());
        }
        if f.pad.is_none()
            && let Some(pad) = Pad::from_name(word)
        {
            f.pad = Some(pad);
            return Ok(());
        }
        if let Some(compact) = Compact::from_name(word) {
            return self.once(&mut f.compact, compact, at, body, "compact");
        }
        let at = Span::new(at, at + word.len());
        Err(self.fault(at, format!("`{word}` is no field of a tile type"), ""))
    }

    fn finish(&self, f: Fields, whole: Span, buf: bool) -> Parsed<TileType> {
        let missing = |name: &str| self.fault(whole, format!("the tile type lacks `{name}`"), "");
        let dtype = f.dtype.ok_or_else(|| missing("dtype"))?;
        let rows = f.rows.ok_or_else(|| missing("rows"))?;
        let cols = f.cols.ok_or_else(|| missing("cols"))?;
        let spelling = match (f.keyed, f.shaped, f.bare_loc) {
            (true, ..) => TileSpelling::Keyed,
            (_, true, true) => TileSpelling::Compact,
            (_, true, false) => TileSpelling::Shaped,
            _ => TileSpelling::Positional,
        };
        Ok(TileType {
            spelling,
            buf,
            loc: f.loc,
            dtype,
            rows,
            cols,
            v_row: f.v_row.unwrap_or(Dim::Static(rows)),
            v_col: f.v_col.unwrap_or(Dim::Static(cols)),
            blayout: f.blayout.unwrap_or(Layout::RowMajor),
            slayout: f.slayout.unwrap_or(Layout::NoneBox),
            fractal: f.fractal.unwrap_or(TileType::FRACTAL),
            pad: f.pad.unwrap_or(Pad::Null),
            compact: f.compact.unwrap_or(Compact::Null),
            strides: f.strides,
        })
    }
}
