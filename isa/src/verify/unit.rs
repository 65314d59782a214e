//! What is verified as one: an operation on element types of a family, with one form of operands.

use super::spec::Spec;
use crate::tile::{Call, Family, Limits, Operator, Quirks, TileOp, Types};
use ptoemu_core::dtype::DType;

/// How the shapes of an operation's tiles depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// All tiles alike.
    Elementwise,
    /// One result per row.
    RowReduce,
    /// One result per column.
    ColReduce,
    /// One source element per row.
    RowExpand,
    /// A full tile and one value or block per row.
    RowExpandBin,
    /// One source row for all rows; the last source, where there are two.
    ColExpand,
    /// Rows and columns change places.
    Turned,
}

impl Form {
    /// Forms that operations nobody classified are tried with, in this order.
    const OTHERS: [Form; 5] =
        [Form::Elementwise, Form::ColExpand, Form::RowReduce, Form::RowExpand, Form::Turned];

    fn candidates(op: &TileOp) -> &'static [Form] {
        match op {
            _ if op.reduces_rows() => &[Form::RowReduce],
            _ if op.expands_rows() && op.sig.srcs == 2 => &[Form::RowExpandBin],
            _ if op.expands_rows() => &[Form::RowExpand],
            _ if op.operator == Operator::Trans => &[Form::Turned],
            _ if op.name.starts_with("tcolexpand") => &[Form::ColExpand],
            _ if op.reduces_cols() && op.sig.srcs == 1 => &[Form::ColReduce, Form::ColExpand],
            _ => &Form::OTHERS,
        }
    }
}

/// An operation on element types of a family, with one form of operands.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Family.
    pub family: Family,
    /// Operation.
    pub op: &'static TileOp,
    /// Element type of the sources.
    pub from: DType,
    /// Element type of the destination.
    pub to: DType,
    /// Form of the operands.
    pub form: Form,
    /// Column-major tiles are legal.
    pub turns: bool,
}

impl Unit {
    /// Every unit of an operation: type pairs and forms of which some simple use is legal.
    pub fn all(family: Family, op: &'static TileOp) -> Vec<Unit> {
        if op.sig.view {
            return Vec::new();
        }
        let types = op.types(family);
        let same = types.iter().map(|t| (*t, *t));
        let of_dst = op.sig.types == Types::Dst && op.name != "tcvt";
        let mixed = types
            .iter()
            .flat_map(|t| DType::ALL.map(|other| if of_dst { (other, *t) } else { (*t, other) }));
        let units = |pairs: &mut dyn Iterator<Item = (DType, DType)>| -> Vec<Unit> {
            pairs
                .filter_map(|(from, to)| {
                    let forms = Form::candidates(op).iter();
                    let unit =
                        |form: &Form| Unit { family, op, from, to, form: *form, turns: true };
                    let found = forms.map(unit).find(|u| u.accepted())?;
                    Some(Unit { turns: found.legal(true, Quirks::corrected()), ..found })
                })
                .collect()
        };
        // Conversions, bits and indices have a type of their own.
        let differ = match op.operator {
            Operator::Compare | Operator::ArgMax | Operator::ArgMin => true,
            _ => op.name == "tcvt",
        };
        match units(&mut same.into_iter()) {
            alike if !alike.is_empty() && !differ => alike,
            _ if op.sig.srcs == 0 => Vec::new(),
            _ => units(&mut mixed.into_iter()),
        }
    }

    /// Element types of the sources an operation takes; of the destination where it has none.
    pub fn sources(family: Family, op: &'static TileOp) -> Vec<DType> {
        let mut out: Vec<DType> = Vec::new();
        for unit in Unit::all(family, op) {
            if !out.contains(&unit.from) {
                out.push(unit.from);
            }
        }
        if out.is_empty() { op.types(family).to_vec() } else { out }
    }

    /// Is there a legal use, or one that shipped headers accept?
    fn accepted(&self) -> bool {
        self.legal(false, Quirks::corrected()) || self.legal(false, Quirks::vendor())
    }

    /// Is any of a few simple uses legal?
    fn legal(&self, turned: bool, quirks: Quirks) -> bool {
        let limits = Limits::of(self.family);
        [(16, 32), (32, 64), (8, 8)].into_iter().any(|(rows, cols)| {
            [0, 1].into_iter().any(|tmp| {
                let spec = Spec { rows, cols, tmp, turned, ..Spec::default() };
                let call = spec.call(self, quirks);
                crate::tile::check(&call, self.family, &limits).is_ok() && !unbuilt(&call)
            })
        })
    }

    /// Does its microcode run as a routine of the emulator?
    pub fn slow(&self) -> bool {
        let call = Spec { rows: 8, cols: 32, ..Spec::default() }.call(self, Quirks::corrected());
        self.family == Family::A5 && crate::tile::a5::by_software(&call)
    }

    /// Does it fill up the tile around its valid region?
    pub(super) fn pads(&self) -> bool {
        self.op.name.starts_with("tfillpad")
    }

    /// May the second source be valid in part only?
    pub fn partly(&self) -> bool {
        self.op.name.starts_with("tpart")
    }

    /// Is one of two sources a row for all rows?
    pub(super) fn repeats_row(&self) -> bool {
        self.form == Form::ColExpand && self.op.sig.srcs == 2
    }

    /// Elements of the narrowest block among the types.
    pub fn block(&self) -> u32 {
        32 / self.from.size().min(self.to.size()).min(4) as u32
    }

    /// Elements of one repeat of the source type.
    pub fn repeat(&self) -> u32 {
        256 / self.from.size() as u32
    }

    /// `f32`, or `f32-f16` where the types differ.
    pub fn types(&self) -> String {
        if self.from == self.to {
            self.from.name().to_string()
        } else {
            format!("{}-{}", self.from, self.to)
        }
    }
}

/// Legal on the 950, but its routine is not described.
pub(super) fn unbuilt(call: &Call) -> bool {
    call.family == Family::A5 && crate::tile::a5::unbuilt(call).is_some()
}
