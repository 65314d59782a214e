//! Element types.

use std::fmt;
use std::str::FromStr;

/// Element type of a tile, an operand or a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)] // the names say it
pub enum DType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    BF16,
    F32,
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [DType; 11] = [
        DType::I8,
        DType::U8,
        DType::I16,
        DType::U16,
        DType::I32,
        DType::U32,
        DType::I64,
        DType::U64,
        DType::F16,
        DType::BF16,
        DType::F32,
    ];

    /// Bytes per element.
    pub const fn size(self) -> usize {
        match self {
            DType::I8 | DType::U8 => 1,
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::I64 | DType::U64 => 8,
        }
    }

    /// True for f16, bf16 and f32.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::BF16 | DType::F32)
    }

    /// True for the signed integers.
    pub const fn is_signed(self) -> bool {
        matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }

    /// Command-line name: `i8 u8 ... f16 bf16 f32`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::I8 => "i8",
            DType::U8 => "u8",
            DType::I16 => "i16",
            DType::U16 => "u16",
            DType::I32 => "i32",
            DType::U32 => "u32",
            DType::I64 => "i64",
            DType::U64 => "u64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is no element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDType(pub String);

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown element type `{}`; one of i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32",
            self.0
        )
    }
}

impl std::error::Error for UnknownDType {}

impl FromStr for DType {
    type Err = UnknownDType;

    /// Accepts the command-line names and MLIR's `siN`, `uiN`.
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Ok(match s {
            "i8" | "si8" => DType::I8,
            "u8" | "ui8" => DType::U8,
            "i16" | "si16" => DType::I16,
            "u16" | "ui16" => DType::U16,
            "i32" | "si32" => DType::I32,
            "u32" | "ui32" => DType::U32,
            "i64" | "si64" => DType::I64,
            "u64" | "ui64" => DType::U64,
            "f16" => DType::F16,
            "bf16" => DType::BF16,
            "f32" => DType::F32,
            _ => return Err(UnknownDType(s.to_string())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for t in DType::ALL {
            assert_eq!(t.name().parse(), Ok(t));
        }
        assert_eq!("ui16".parse(), Ok(DType::U16));
        assert!("f64".parse::<DType>().is_err());
    }
}
