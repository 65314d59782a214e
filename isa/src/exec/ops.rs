//! Scalar operations of the `arith` dialect, as lowered programs name them.

/// Two-operand scalar operations of the `arith` dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are MLIR's
pub enum Bin {
    AddI,
    SubI,
    MulI,
    DivSI,
    DivUI,
    CeilDivSI,
    CeilDivUI,
    FloorDivSI,
    RemSI,
    RemUI,
    AndI,
    OrI,
    XorI,
    ShlI,
    ShrSI,
    ShrUI,
    MinSI,
    MaxSI,
    MinUI,
    MaxUI,
    AddF,
    SubF,
    MulF,
    DivF,
    MaximumF,
    MinimumF,
    MaxNumF,
    MinNumF,
}

/// Conversions of the `arith` dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Cast {
    SignExtend,
    ZeroExtend,
    Truncate,
    Bits,
    IntToFloat,
    UIntToFloat,
    FloatToInt,
    FloatToUInt,
    Float,
}

/// Comparison predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pred {
    /// Integer: signed/unsigned flag and relation.
    Int {
        /// Compare as unsigned.
        unsigned: bool,
        /// Which orderings hold: less, equal, greater.
        holds: [bool; 3],
    },
    /// Float: relation and the answer for NaN operands.
    Float {
        /// Which orderings hold: less, equal, greater.
        holds: [bool; 3],
        /// Result when an operand is NaN.
        nan: bool,
    },
}
