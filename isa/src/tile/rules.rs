//! Legality rules of groups of operations.

use super::call::Call;
use super::check::{Checker, Verdict, extent, overlap, refuse};
use super::meaning::is_column;
use super::quirks::Quirk;
use super::{Family, Layout, Tile};
use ptoemu_core::diag::Level;

impl Checker<'_> {
    /// Row reductions; `tmp_cols` columns of tmp are used per row (one row for integers).
    pub(super) fn row_reduce(&mut self, call: &Call, tmp_cols: u64) -> Verdict {
        let (src, dst) = (call.source(0), &call.dst);
        self.row_major("src", src)?;
        if dst.layout == Layout::ColMajor && dst.cols != 1 {
            let text = format!("column-major dst `{}` has {} columns", dst.name, dst.cols);
            return refuse("legality.layout", text, "use row_major, or col_major with one column");
        }
        self.not_empty("src", src)?;
        if src.valid_rows != dst.valid_rows {
            return self.row_mismatch("src", src, dst);
        }
        self.same_or_disjoint(("dst", dst), ("src", src))?;
        let Some(tmp) = &call.tmp else { return Ok(()) };
        if self.family == Family::A5 || tmp_cols == 0 {
            return Ok(());
        }
        if tmp.dtype != dst.dtype {
            let text = format!("element types differ: tmp is {}, dst is {}", tmp.dtype, dst.dtype);
            return refuse("legality.type_mismatch", text, "give tmp the type of src");
        }
        self.row_major("tmp", tmp)?;
        let verdict = self.tmp_width(call, tmp, tmp_cols);
        self.unless(Quirk::D13, verdict)?;
        self.disjoint(("tmp", tmp), ("src", src))?;
        self.disjoint(("tmp", tmp), ("dst", dst))
    }

    fn tmp_width(&mut self, call: &Call, tmp: &Tile, cols: u64) -> Verdict {
        let folds_in_place = !call.dst.dtype.is_float() || call.op.name == "trowprod";
        let rows = if folds_in_place { 1 } else { call.source(0).valid_rows };
        if u64::from(tmp.cols) < cols || tmp.rows < rows {
            let text = format!(
                "tmp `{}` is {}x{}; {} of {} {} columns needs at least {rows}x{cols}",
                tmp.name,
                tmp.rows,
                tmp.cols,
                call.op.name,
                call.source(0).valid_cols,
                call.dst.dtype
            );
            return refuse("legality.tmp_too_small", text, "give tmp the shape of src");
        }
        Ok(())
    }

    /// TROWEXPAND.
    pub(super) fn row_expand(&mut self, call: &Call) -> Verdict {
        let (src, dst) = (call.source(0), &call.dst);
        self.row_major("dst", dst)?;
        if src.layout == Layout::ColMajor && !is_column(src) {
            let text = format!("column-major src `{}` has {} columns", src.name, src.cols);
            return refuse("legality.layout", text, "use row_major, or col_major with one column");
        }
        if self.family == Family::A5 {
            self.not_empty("src", src)?;
            if src.valid_rows != dst.valid_rows {
                return self.row_mismatch("src", src, dst);
            }
        }
        if self.expands_nothing(call) {
            return Ok(());
        }
        if src.valid_rows < dst.valid_rows {
            let verdict = self.row_mismatch("src", src, dst);
            self.unless(Quirk::D16, verdict)?;
        } else if src.valid_rows > dst.valid_rows {
            let text = format!(
                "src has {} valid rows; the {} of dst are used",
                src.valid_rows, dst.valid_rows
            );
            self.remark(Level::Warning, "legality.row_mismatch", text);
        }
        if is_column(src) {
            let text = "column-major source: the document asks for ND, both headers accept it";
            self.remark(Level::Note, "legality.layout", text);
        }
        self.same_or_disjoint(("dst", dst), ("src", src))
    }

    /// An empty region is legal on A2/A3 and does nothing.
    fn expands_nothing(&mut self, call: &Call) -> bool {
        let empty = [&call.dst, call.source(0)]
            .into_iter()
            .find(|t| t.valid_rows == 0 || t.valid_cols == 0);
        if let Some(t) = empty {
            let text = format!(
                "`{}` has an empty valid region ({}): no effect, nothing is written",
                t.name,
                extent(t)
            );
            self.remark(Level::Note, "legality.empty", text);
        }
        empty.is_some()
    }

    /// TROWEXPAND with a second operand.
    pub(super) fn row_expand_bin(&mut self, call: &Call) -> Verdict {
        let dst = &call.dst;
        self.row_major("dst", dst)?;
        self.not_empty("dst", dst)?;
        self.one_full(call)?;
        if call.two_full() {
            return self.two_full(call);
        }
        let roles = call.roles();
        let (full_role, exp_role) = if roles.swapped { ("src1", "src0") } else { ("src0", "src1") };
        let (full, exp) = (roles.full, roles.exp);
        self.row_major(full_role, full)?;
        self.expanded(call, exp_role, exp)?;
        self.same_or_disjoint(("dst", dst), (full_role, full))?;
        self.disjoint(("dst", dst), (exp_role, exp))?;
        if self.family == Family::A5 || exp.layout == Layout::RowMajor {
            return Ok(());
        }
        let rows = u64::from(dst.valid_rows);
        let need = if rows < 256 { rows.div_ceil(8) * 256 } else { 7680 };
        self.broadcast_tmp(call, need, (exp_role, exp), (full_role, full))
    }

    /// What is left to check where shipped code accepts two full operands.
    fn two_full(&mut self, call: &Call) -> Verdict {
        let dst = &call.dst;
        let (s0, s1) = (call.source(0), call.source(1));
        self.same_or_disjoint(("dst", dst), ("src0", s0))?;
        self.same_or_disjoint(("dst", dst), ("src1", s1))?;
        let rows = u64::from(dst.valid_rows);
        let need = if rows < 256 { rows.div_ceil(8) * 256 } else { 7680 };
        self.broadcast_tmp(call, need, ("src1", s1), ("src0", s0))
    }

    /// Exactly one source has the valid shape of dst.
    fn one_full(&mut self, call: &Call) -> Verdict {
        let dst = &call.dst;
        let (s0, s1) = (call.source(0), call.source(1));
        let shapes =
            format!("src0 {}, src1 {}, dst {} (valid)", extent(s0), extent(s1), extent(dst));
        match (s0.valid() == dst.valid(), s1.valid() == dst.valid()) {
            (true, true) => {
                let verdict = refuse(
                    "legality.two_full_operands",
                    format!("both sources have the valid shape of dst: {shapes}"),
                    "exactly one source may be full; the other has one value or block per row",
                );
                self.unless(Quirk::D2, verdict)
            }
            (false, false) => refuse(
                "legality.no_full_operand",
                format!("no source has the valid shape of dst: {shapes}"),
                "give one source the valid region of dst",
            ),
            _ => Ok(()),
        }
    }

    /// The operand with one value (column-major) or one block (row-major) per row.
    fn expanded(&mut self, call: &Call, role: &str, exp: &Tile) -> Verdict {
        let (code, mode, want) = match exp.layout {
            Layout::ColMajor => ("legality.mode1_valid_cols", 1, 1),
            Layout::RowMajor => ("legality.mode2_valid_cols", 2, exp.per_block()),
        };
        if u64::from(exp.valid_cols) != want {
            let text = format!(
                "{role} `{}` has {} valid columns; the expanded operand of mode {mode} has {want}",
                exp.name, exp.valid_cols
            );
            let help = "mode 1: col_major, one column; mode 2: row_major, one 32-byte block";
            return refuse(code, text, help);
        }
        if exp.valid_rows != call.dst.valid_rows {
            return self.row_mismatch(role, exp, &call.dst);
        }
        if mode == 2 && call.tmp.is_some() {
            let text = "tmp is only for mode 1 (one value per row); mode 2 needs none";
            return refuse("legality.tmp_in_mode2", text, "drop tmp");
        }
        if mode == 1 && exp.cols != 1 && self.family == Family::A5 {
            let text =
                format!("{role} `{}` has {} columns of which one is valid", exp.name, exp.cols);
            self.remark(Level::Warning, "legality.layout", text);
        }
        Ok(())
    }

    /// Where the values are broadcast to.
    fn broadcast_tmp(
        &mut self,
        call: &Call,
        need: u64,
        exp: (&str, &Tile),
        full: (&str, &Tile),
    ) -> Verdict {
        let Some(tmp) = &call.tmp else {
            return self.keeps_off_scratch(call);
        };
        let rows = format!("{} valid rows", call.dst.valid_rows);
        self.tmp_size(call, need, &rows)?;
        self.disjoint(("tmp", tmp), ("dst", &call.dst))?;
        self.disjoint(("tmp", tmp), full)?;
        match self.disjoint(("tmp", tmp), exp) {
            Err(d) if call.dst.valid_rows <= 8 && tmp.addr == exp.1.addr => {
                self.remark(Level::Warning, d.code, d.message);
                Ok(())
            }
            Err(_) => overlap(
                ("tmp", tmp),
                exp,
                "place them apart: the broadcast of the first 8 rows overwrites values still to be read",
            ),
            Ok(()) => Ok(()),
        }
    }

    /// Element by element: equal valid regions, equal layouts, sources apart from dst or in place.
    pub(super) fn elementwise(&mut self, call: &Call, row_major: bool) -> Verdict {
        let dst = &call.dst;
        for (role, t) in call.tiles().filter(|(role, _)| *role != "tmp") {
            if row_major {
                self.row_major(role, t)?;
            } else if t.layout != dst.layout {
                let text = format!("{role} `{}` and dst differ in layout", t.name);
                return refuse("legality.layout", text, "give both tiles the same blayout");
            }
            self.same_valid(role, t, dst)?;
            if !std::ptr::eq(t, dst) {
                self.same_or_disjoint(("dst", dst), (role, t))?;
            }
        }
        if dst.valid_rows == 0 || dst.valid_cols == 0 {
            let text = format!("`{}` has an empty valid region ({})", dst.name, extent(dst));
            self.remark(Level::Note, "legality.empty", format!("{text}: nothing is written"));
        }
        Ok(())
    }

    /// Column reductions.
    pub(super) fn col_reduce(&mut self, call: &Call) -> Verdict {
        let (src, dst) = (call.source(0), &call.dst);
        self.row_major("src", src)?;
        self.row_major("dst", dst)?;
        self.not_empty("src", src)?;
        if src.valid_cols != dst.valid_cols {
            return self.col_mismatch("src", src, dst);
        }
        if dst.valid_rows == 0 {
            return self.not_empty("dst", dst);
        }
        self.same_or_disjoint(("dst", dst), ("src", src))?;
        let Some(tmp) = call.tmp.as_ref().filter(|_| call.attrs.binary) else { return Ok(()) };
        self.row_major("tmp", tmp)?;
        let rows = (src.valid_rows / 2).max(1);
        if tmp.dtype != dst.dtype || tmp.rows < rows || tmp.cols < src.valid_cols {
            let text = format!(
                "tmp `{}` is {}x{} {}; pairs of {} rows need {rows}x{} {}",
                tmp.name, tmp.rows, tmp.cols, tmp.dtype, src.valid_rows, src.valid_cols, dst.dtype
            );
            return refuse("legality.tmp_too_small", text, "give tmp half the rows of src");
        }
        self.disjoint(("tmp", tmp), ("src", src))?;
        self.disjoint(("tmp", tmp), ("dst", dst))
    }
}
