//! Spellings of the closed sets of words in types.

use super::types::*;

impl Float {
    /// Every format with its name.
    const NAMES: &[(Float, &str)] = &[
        (Float::F16, "f16"),
        (Float::BF16, "bf16"),
        (Float::TF32, "tf32"),
        (Float::F32, "f32"),
        (Float::F64, "f64"),
        (Float::F8E4M3, "f8E4M3"),
        (Float::F8E4M3FN, "f8E4M3FN"),
        (Float::F8E5M2, "f8E5M2"),
        (Float::F8E8M0FNU, "f8E8M0FNU"),
        (Float::F4E2M1FN, "f4E2M1FN"),
        (Float::HiF8, "hif8"),
    ];

    /// Name in the text.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(f, _)| *f == self).map_or("", |(_, n)| n)
    }
}

impl Scalar {
    /// `f32`, `ui16`, `index`; `None` for any other word.
    pub fn from_name(word: &str) -> Option<Scalar> {
        if word == "index" {
            return Some(Scalar::Index);
        }
        if let Some((f, _)) = Float::NAMES.iter().find(|(_, n)| *n == word) {
            return Some(Scalar::Float(*f));
        }
        let (sign, digits) = if let Some(d) = word.strip_prefix("si") {
            (Sign::Signed, d)
        } else if let Some(d) = word.strip_prefix("ui") {
            (Sign::Unsigned, d)
        } else {
            (Sign::Signless, word.strip_prefix('i')?)
        };
        let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        let bits = digits.parse().ok().filter(|_| plain)?;
        Some(Scalar::Int { bits, sign })
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scalar::Index => f.write_str("index"),
            Scalar::Float(x) => f.write_str(x.name()),
            Scalar::Int { bits, sign } => {
                let prefix = match sign {
                    Sign::Signless => "i",
                    Sign::Signed => "si",
                    Sign::Unsigned => "ui",
                };
                write!(f, "{prefix}{bits}")
            }
        }
    }
}

impl Space {
    /// Every space with its name.
    const NAMES: &[(Space, &str)] = &[
        (Space::Gm, "gm"),
        (Space::Ub, "ub"),
        (Space::L1, "l1"),
        (Space::L0a, "l0a"),
        (Space::L0b, "l0b"),
        (Space::L0c, "l0c"),
        (Space::Bt, "bt"),
        (Space::Fb, "fb"),
        (Space::Vec, "vec"),
        (Space::Mat, "mat"),
        (Space::Left, "left"),
        (Space::Right, "right"),
        (Space::Acc, "acc"),
        (Space::Bias, "bias"),
        (Space::Scaling, "scaling"),
    ];

    /// Space of that name.
    pub fn from_name(word: &str) -> Option<Space> {
        Self::NAMES.iter().find(|(_, n)| n.eq_ignore_ascii_case(word)).map(|(s, _)| *s)
    }

    /// Name in the text.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(s, _)| *s == self).map_or("", |(_, n)| n)
    }
}

impl Layout {
    /// `row_major` and the C++ spelling `RowMajor`.
    pub fn from_name(word: &str) -> Option<Layout> {
        Some(match word {
            "row_major" | "RowMajor" => Layout::RowMajor,
            "col_major" | "ColMajor" => Layout::ColMajor,
            "none_box" | "NoneBox" => Layout::NoneBox,
            _ => return None,
        })
    }

    /// Name in keyed types.
    pub fn name(self) -> &'static str {
        match self {
            Layout::RowMajor => "row_major",
            Layout::ColMajor => "col_major",
            Layout::NoneBox => "none_box",
        }
    }

    /// Name in positional types.
    pub fn long_name(self) -> &'static str {
        match self {
            Layout::RowMajor => "RowMajor",
            Layout::ColMajor => "ColMajor",
            Layout::NoneBox => "NoneBox",
        }
    }
}

impl Pad {
    /// Every mode in the order of its number.
    const NAMES: &[(Pad, &str)] =
        &[(Pad::Null, "Null"), (Pad::Zero, "Zero"), (Pad::Max, "Max"), (Pad::Min, "Min")];

    /// A number from 0 to 3 or a name.
    pub fn from_name(word: &str) -> Option<Pad> {
        let by_number = word.parse().ok().and_then(|n: usize| Self::NAMES.get(n));
        let by_name = || Self::NAMES.iter().find(|(_, n)| n.eq_ignore_ascii_case(word));
        by_number.or_else(by_name).map(|(p, _)| *p)
    }

    /// Name in positional types.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(p, _)| *p == self).map_or("", |(_, n)| n)
    }

    /// Number in keyed types.
    pub fn number(self) -> usize {
        Self::NAMES.iter().position(|(p, _)| *p == self).unwrap_or(0)
    }
}

impl Compact {
    /// Every mode in the order of its number.
    const NAMES: &[(Compact, &str)] = &[
        (Compact::Null, "Null"),
        (Compact::Normal, "Normal"),
        (Compact::RowPlusOne, "row_plus_one"),
    ];

    /// A number from 0 to 2 or a name.
    pub fn from_name(word: &str) -> Option<Compact> {
        let by_number = word.parse().ok().and_then(|n: usize| Self::NAMES.get(n));
        let by_name = || Self::NAMES.iter().find(|(_, n)| n.eq_ignore_ascii_case(word));
        let long = (word == "RowPlusOne").then_some(Compact::RowPlusOne);
        by_number.or_else(by_name).map(|(c, _)| *c).or(long)
    }

    /// Number in keyed types.
    pub fn number(self) -> usize {
        Self::NAMES.iter().position(|(c, _)| *c == self).unwrap_or(0)
    }
}

impl ViewKind {
    /// Type name without `!pto.`.
    pub fn name(self) -> &'static str {
        match self {
            ViewKind::Tensor => "tensor_view",
            ViewKind::Partition => "partition_tensor_view",
            ViewKind::Tile => "tile_view",
        }
    }
}

impl TileType {
    /// Bytes of a fractal unless the type says otherwise.
    pub const FRACTAL: u32 = 512;
}
