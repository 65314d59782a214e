//! The part of the uses a function is for.

use super::spec::Spec;
use super::unit::{Form, Unit};
use crate::exec::Own;
use crate::tile::{Layout, Tile, Tmp};

/// What uses are kept to: sizes, and the tiles a function declares.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Least and most valid rows.
    pub rows: (u32, u32),
    /// Least and most valid columns.
    pub cols: (u32, u32),
    /// Declared tiles: dst, sources, tmp.
    pub tiles: [Option<Tile>; 4],
    /// Must tmp be given, or left out?
    pub tmp: Option<bool>,
}

impl Default for Domain {
    fn default() -> Self {
        Domain { rows: (1, 600), cols: (1, u32::MAX), tiles: [const { None }; 4], tmp: None }
    }
}

impl Domain {
    /// The tiles a function of the user declares.
    pub fn of(own: &Own) -> Domain {
        let find = |roles: &[&str]| roles.iter().find_map(|r| own.declared(r)).cloned();
        let tiles = [find(&["dst"]), find(&["src", "src0"]), find(&["src1"]), find(&["tmp"])];
        Domain { tiles, tmp: Some(own.takes_tmp()), ..Domain::default() }
    }

    /// Is the size of a use in the domain?
    pub fn holds(&self, s: &Spec) -> bool {
        let within = |n: u32, (lo, hi): (u32, u32)| (lo..=hi).contains(&n);
        within(s.rows, self.rows) && within(s.cols, self.cols)
    }

    /// The use moved into the domain, as far as that can be said without its call.
    pub(super) fn keep(&self, u: &Unit, mut s: Spec) -> Spec {
        let tiles = self.sorted(u, &mut s);
        let full: &[usize] = match u.form {
            Form::RowReduce | Form::ColReduce | Form::Turned => &[1],
            Form::RowExpand => &[0],
            Form::RowExpandBin | Form::ColExpand => &[0, 1],
            Form::Elementwise => &[0, 1, 2],
        };
        let first = full.iter().find_map(|k| tiles[*k].as_ref()).map(Tile::storage_rows);
        let (mut rows, mut cols) = (self.rows, self.cols);
        if let Some(t) = &first {
            s.dynamic = [!t.static_rows, !t.static_cols];
            let range = |fixed: bool, n: u32, all: u32, (lo, hi): (u32, u32)| match fixed {
                true => (n, n),
                false => (lo.min(all), hi.min(all)),
            };
            rows = range(t.static_rows, t.valid_rows, t.rows, rows);
            cols = range(t.static_cols, t.valid_cols, t.cols, cols);
        }
        (s.rows, s.cols) = (moved(s.rows, rows).max(1), moved(s.cols, cols).max(1));
        if let Some(t) = &first {
            s.below = t.rows.saturating_sub(s.rows);
        }
        for (k, t) in tiles.iter().enumerate() {
            let Some(t) = t.as_ref().filter(|t| t.cols > 1) else { continue };
            let one = matches!((u.form, k), (Form::RowReduce, 0) | (Form::RowExpand, 1));
            let valid = if one { 1 } else { s.cols };
            let least = valid.next_multiple_of(u.block());
            let spare = t.storage_rows().cols.saturating_sub(least) / u.block();
            s.slack[k] = spare.min(u32::from(u16::MAX)) as u16;
        }
        match self.tmp {
            Some(false) if u.op.sig.tmp == Tmp::Optional => s.tmp = 0,
            Some(true) if u.op.sig.tmp == Tmp::Optional => s.tmp = s.tmp.max(1),
            Some(true) if tiles[3].is_some() => s.tmp = 1,
            _ => {}
        }
        s
    }

    /// The declared tiles with the full operand before the expanded one; layouts and the order of
    /// operands follow from them.
    fn sorted(&self, u: &Unit, s: &mut Spec) -> [Option<Tile>; 4] {
        let mut tiles = self.tiles.clone();
        let column = |t: &Option<Tile>| t.as_ref().map(|t| t.layout == Layout::ColMajor);
        match u.form {
            Form::RowReduce => s.turned = column(&tiles[0]).map_or(s.turned, |c| !c),
            Form::RowExpand => s.turned = column(&tiles[1]).map_or(s.turned, |c| !c),
            Form::Elementwise => s.turned = column(&tiles[0]).unwrap_or(s.turned),
            Form::RowExpandBin => {
                let valid = |t: &Option<Tile>| t.as_ref().map(|t| t.valid_cols);
                if tiles[1].is_some() && tiles[2].is_some() {
                    s.swapped = valid(&tiles[1]) != valid(&tiles[0]);
                    if s.swapped {
                        tiles.swap(1, 2);
                    }
                    s.blocks = column(&tiles[2]) == Some(false);
                }
            }
            _ => {}
        }
        tiles
    }
}

/// `n` if it lies in the range, else a number of the range that depends on it.
fn moved(n: u32, (lo, hi): (u32, u32)) -> u32 {
    match n {
        n if (lo..=hi).contains(&n) => n,
        n => lo.saturating_add(n % (hi.max(lo) - lo).saturating_add(1)),
    }
}
