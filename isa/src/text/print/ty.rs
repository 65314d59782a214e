//! Text of types and signatures.

use super::*;
use crate::text::types::*;

impl Printer {
    pub(super) fn signature(&mut self, sig: &TypeSig) {
        match sig.form {
            SigForm::Colon => self.operand_types(sig),
            SigForm::ColonArrow => {
                self.operand_types(sig);
                self.result_types(" -> ", sig);
            }
            SigForm::ColonTo => {
                self.operand_types(sig);
                self.result_types(" to ", sig);
            }
            SigForm::Arrow => self.result_types(" -> ", sig),
            SigForm::ArrowColon => {
                self.result_types(" -> ", sig);
                self.operand_types(sig);
            }
        }
    }

    fn result_types(&mut self, arrow: &str, sig: &TypeSig) {
        self.push(arrow);
        let parens = sig.result_parens || sig.results.is_empty();
        self.parenthesised(&sig.results, parens);
    }

    fn parenthesised(&mut self, types: &[Type], parens: bool) {
        if parens {
            self.push("(");
        }
        self.list(types, Self::ty);
        if parens {
            self.push(")");
        }
    }

    fn operand_types(&mut self, sig: &TypeSig) {
        self.push(" : ");
        if sig.operand_parens || (sig.operands.is_empty() && sig.marks.is_empty()) {
            return self.parenthesised(&sig.operands, true);
        }
        let mut marks = sig.marks.iter().peekable();
        let (mut first, mut i) = (true, 0);
        while i < sig.operands.len() || marks.peek().is_some() {
            if !first {
                self.push(", ");
            }
            first = false;
            let Some(mark) = marks.next_if(|m| m.before <= i || i >= sig.operands.len()) else {
                self.list(&sig.operands[i..=i], Self::ty);
                i += 1;
                continue;
            };
            self.push(&mark.word.text);
            if let Some(n) = mark.group {
                let end = sig.operands.len().min(i.saturating_add(n));
                self.parenthesised(&sig.operands[i..end], true);
                i = end;
            } else if mark.joined
                && let Some(ty) = sig.operands.get(i)
            {
                self.push(" ");
                self.ty(ty);
                i += 1;
            }
        }
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        let open = |name: &'static str| if ty.elided { "" } else { name };
        match &ty.kind {
            TypeKind::Scalar(s) => self.fmt(format_args!("{s}")),
            TypeKind::Ptr { elem, space } => {
                self.fmt(format_args!("{}<{elem}", open("!pto.ptr")));
                if let Some(s) = space {
                    self.fmt(format_args!(", {}", s.name()));
                }
                self.push(">");
            }
            TypeKind::View { kind, dims, elem } => {
                self.fmt(format_args!("!pto.{}<", kind.name()));
                self.shape(dims, *elem);
                self.push(">");
            }
            TypeKind::Tile(t) => {
                self.push(open(if t.buf { "!pto.tile_buf" } else { "!pto.tile" }));
                self.tile(t);
            }
            TypeKind::TileUnknown { buf } => {
                self.push(open(if *buf { "!pto.tile_buf" } else { "!pto.tile" }));
                self.push("<...>");
            }
            TypeKind::Vreg { lanes, elem } => self.fmt(format_args!("!pto.vreg<{lanes}x{elem}>")),
            TypeKind::Mask { bits: Some(b) } => self.fmt(format_args!("!pto.mask<b{b}>")),
            TypeKind::Mask { bits: None } => self.push("!pto.mask<G>"),
            TypeKind::Align => self.push("!pto.align"),
            TypeKind::MemRef { dims, elem, layout, space } => {
                self.push("memref<");
                self.shape(dims, *elem);
                if let Some(l) = layout {
                    self.fmt(format_args!(", {l}"));
                }
                if let Some(s) = space {
                    self.push(", ");
                    self.attr(s);
                }
                self.push(">");
            }
            TypeKind::Vector { dims, elem } => {
                self.push("vector<");
                self.shape(dims, *elem);
                self.push(">");
            }
            TypeKind::Func { operands, results } => {
                self.parenthesised(operands, true);
                self.push(" -> ");
                self.parenthesised(results, true);
            }
            TypeKind::Other { name, body } => {
                self.push(name);
                if let Some(b) = body {
                    self.fmt(format_args!("<{b}>"));
                }
            }
        }
    }

    fn dim(&mut self, dim: Dim) {
        match dim {
            Dim::Static(n) => self.fmt(format_args!("{n}")),
            Dim::Dynamic => self.push("?"),
        }
    }

    fn shape(&mut self, dims: &[Dim], elem: Scalar) {
        for d in dims {
            self.dim(*d);
            self.push("x");
        }
        self.fmt(format_args!("{elem}"));
    }

    fn tile(&mut self, t: &TileType) {
        self.push("<");
        match t.spelling {
            TileSpelling::Keyed => self.tile_keyed(t),
            TileSpelling::Compact => {
                if let Some(loc) = t.loc {
                    self.fmt(format_args!("{}, ", loc.name()));
                }
                self.fmt(format_args!("{}x{}x{}", t.rows, t.cols, t.dtype));
                self.tile_extras(t);
            }
            TileSpelling::Shaped => {
                self.fmt(format_args!("{}x{}x{}", t.rows, t.cols, t.dtype));
                if let Some(s) = &t.strides {
                    self.fmt(format_args!(", {s}"));
                }
                if let Some(loc) = t.loc {
                    self.fmt(format_args!(", #pto.address_space<{}>", loc.name()));
                }
                self.tile_extras(t);
            }
            TileSpelling::Positional => self.tile_positional(t),
        }
        self.push(">");
    }

    fn tile_keyed(&mut self, t: &TileType) {
        if let Some(loc) = t.loc {
            self.fmt(format_args!("loc={}, ", loc.name()));
        }
        self.fmt(format_args!("dtype={}, rows={}, cols={}, v_row=", t.dtype, t.rows, t.cols));
        self.dim(t.v_row);
        self.push(", v_col=");
        self.dim(t.v_col);
        self.fmt(format_args!(
            ", blayout={}, slayout={}, fractal={}, pad={}",
            t.blayout.name(),
            t.slayout.name(),
            t.fractal,
            t.pad.number()
        ));
        self.tile_compact(t);
    }

    fn tile_compact(&mut self, t: &TileType) {
        if t.compact != Compact::Null {
            self.fmt(format_args!(", compact={}", t.compact.number()));
        }
    }

    fn tile_valid(&mut self, t: &TileType) {
        if (t.v_row, t.v_col) != (Dim::Static(t.rows), Dim::Static(t.cols)) {
            self.push(", valid=");
            self.dim(t.v_row);
            self.push("x");
            self.dim(t.v_col);
        }
    }

    /// What differs from the defaults.
    fn tile_extras(&mut self, t: &TileType) {
        self.tile_valid(t);
        if t.blayout != Layout::RowMajor {
            self.fmt(format_args!(", blayout={}", t.blayout.name()));
        }
        if t.slayout != Layout::NoneBox {
            self.fmt(format_args!(", slayout={}", t.slayout.name()));
        }
        if t.fractal != TileType::FRACTAL {
            self.fmt(format_args!(", fractal={}", t.fractal));
        }
        if t.pad != Pad::Null {
            self.fmt(format_args!(", pad={}", t.pad.number()));
        }
        self.tile_compact(t);
    }

    fn tile_positional(&mut self, t: &TileType) {
        if let Some(loc) = t.loc {
            self.fmt(format_args!("loc={}, ", loc.name()));
        }
        self.fmt(format_args!("{}, {}, {}", t.dtype, t.rows, t.cols));
        let plain = t.blayout == Layout::RowMajor
            && t.slayout == Layout::NoneBox
            && t.fractal == TileType::FRACTAL
            && t.pad == Pad::Null;
        if !plain {
            self.fmt(format_args!(", {}, {}", t.blayout.long_name(), t.slayout.long_name()));
            match t.fractal {
                TileType::FRACTAL => self.push(", None"),
                n => self.fmt(format_args!(", {n}")),
            }
            self.fmt(format_args!(", {}", t.pad.name()));
        }
        self.tile_valid(t);
        self.tile_compact(t);
    }
}
