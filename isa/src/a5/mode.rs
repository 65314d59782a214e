//! The named modes of micro-ops: distribution, part, pattern, comparison, order, rounding.

use ptoemu_core::num::Round;

macro_rules! modes {
    ($(#[$doc:meta])* $name:ident, $default:ident: $($variant:ident $($text:literal)|+,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
        #[allow(missing_docs, non_camel_case_types)] // the names are the language's
        pub enum $name { $(#[doc = concat!($("`", $text, "` ",)+)] $variant,)* #[default] $default }

        impl $name {
            /// Spellings, in declaration order.
            pub const NAMES: &'static [&'static str] = &[$($($text),+),*];

            /// By its spelling.
            pub fn parse(s: &str) -> Option<$name> {
                Some(match s { $($($text)|+ => $name::$variant,)* _ => return None })
            }
        }
    };
}

modes! {
    /// How a load or a store distributes elements.
    Dist, Plain:
    Norm "NORM" | "NORM_B8" | "NORM_B16" | "NORM_B32",
    BrcB8 "BRC_B8", BrcB16 "BRC_B16", BrcB32 "BRC_B32",
    Blk "BLK" | "BRC_BLK",
    E2bB16 "E2B_B16", E2bB32 "E2B_B32",
    UsB8 "US_B8", UsB16 "US_B16",
    DsB8 "DS_B8", DsB16 "DS_B16",
    UnpkB8 "UNPK_B8", UnpkB16 "UNPK_B16", UnpkB32 "UNPK_B32",
    Unpk4 "UNPK4_B8" | "UNPK4",
    DintlvB8 "DINTLV_B8", DintlvB16 "DINTLV_B16", DintlvB32 "DINTLV_B32",
    Bdintlv "BDINTLV",
    OneptB8 "ONEPT_B8" | "1PT_B8", OneptB16 "ONEPT_B16" | "1PT_B16", OneptB32 "ONEPT_B32" | "1PT_B32",
    PkB16 "PK_B16", PkB32 "PK_B32", PkB64 "PK_B64",
    Pk4B32 "PK4_B32",
    IntlvB8 "INTLV_B8", IntlvB16 "INTLV_B16", IntlvB32 "INTLV_B32",
    Us "US", Ds "DS", Pk "PK",
    Split "SPLT2CHN_B8" | "SPLT2CHN_B16" | "SPLT4CHN_B8" | "SPLT4CHN",
    Merge "MRG2CHN_B8" | "MRG2CHN_B16" | "MRG4CHN_B8" | "MRG4CHN" | "MRG2CHN",
}

modes! {
    /// Lanes a predicate pattern sets.
    Pattern, None:
    All "PAT_ALL", AllF "PAT_ALLF",
    Vl1 "PAT_VL1", Vl2 "PAT_VL2", Vl3 "PAT_VL3", Vl4 "PAT_VL4", Vl8 "PAT_VL8", Vl16 "PAT_VL16",
    Vl32 "PAT_VL32", Vl64 "PAT_VL64", Vl128 "PAT_VL128",
    M3 "PAT_M3", M4 "PAT_M4", H "PAT_H", Q "PAT_Q",
}

impl Pattern {
    /// Does the pattern set lane `i` of `lanes`? `PAT_H` and `PAT_Q` are the first half and the
    /// first quarter `[D: GOLD:pset-pattern]`.
    pub fn sets(self, i: usize, lanes: usize) -> bool {
        let first = match self {
            Pattern::None | Pattern::AllF => 0,
            Pattern::All => lanes,
            Pattern::Vl1 => 1,
            Pattern::Vl2 => 2,
            Pattern::Vl3 => 3,
            Pattern::Vl4 => 4,
            Pattern::Vl8 => 8,
            Pattern::Vl16 => 16,
            Pattern::Vl32 => 32,
            Pattern::Vl64 => 64,
            Pattern::Vl128 => 128,
            Pattern::H => lanes / 2,
            Pattern::Q => lanes / 4,
            Pattern::M3 => return i.is_multiple_of(3),
            Pattern::M4 => return i.is_multiple_of(4),
        };
        i < first
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs)]
pub enum Cmp {
    #[default]
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Cmp {
    /// Every comparison.
    pub const ALL: [Cmp; 6] = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge];

    /// By its name.
    pub fn parse(s: &str) -> Option<Cmp> {
        Some(match s.to_ascii_lowercase().as_str() {
            "eq" => Cmp::Eq,
            "ne" => Cmp::Ne,
            "lt" => Cmp::Lt,
            "le" => Cmp::Le,
            "gt" => Cmp::Gt,
            "ge" => Cmp::Ge,
            _ => return None,
        })
    }

    /// Does it hold for an ordering (`None`: unordered)? Unordered operands are only unequal.
    pub fn holds(self, o: Option<std::cmp::Ordering>) -> bool {
        match self {
            Cmp::Eq => o.is_some_and(|o| o.is_eq()),
            Cmp::Ne => o.is_none_or(|o| o.is_ne()),
            Cmp::Lt => o.is_some_and(|o| o.is_lt()),
            Cmp::Le => o.is_some_and(|o| o.is_le()),
            Cmp::Gt => o.is_some_and(|o| o.is_gt()),
            Cmp::Ge => o.is_some_and(|o| o.is_ge()),
        }
    }
}

/// A kind of memory access inside a vecscope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Vector or predicate load `[I: predicate accesses count]`.
    Vld,
    /// Vector or predicate store.
    Vst,
    /// Scalar load.
    Ld,
    /// Scalar store.
    St,
}

impl Class {
    /// How many there are.
    pub const COUNT: usize = 4;

    /// Does it write?
    pub fn writes(self) -> bool {
        matches!(self, Class::Vst | Class::St)
    }

    /// Is it one of the scalar unit?
    pub fn scalar(self) -> bool {
        matches!(self, Class::Ld | Class::St)
    }

    /// Must it be ordered before a later access of the same bytes? The scalar unit keeps the order
    /// of its own accesses.
    pub fn conflicts(self, later: Class) -> bool {
        (self.writes() || later.writes()) && !(self.scalar() && later.scalar())
    }

    fn name(self) -> &'static str {
        match self {
            Class::Vld => "VLD",
            Class::Vst => "VST",
            Class::Ld => "LD",
            Class::St => "ST",
        }
    }

    /// The spelling of the barrier between it and a later access: `VST_VLD`.
    pub fn barrier(self, later: Class) -> String {
        format!("{}_{}", self.name(), later.name())
    }
}

/// What a memory barrier orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Barrier {
    /// Everything (`VV_ALL`) `[U: documents also say vector accesses only]`.
    #[default]
    All,
    /// Later loads behind earlier stores (`VST_VLD`).
    StoreLoad,
    /// Later stores behind earlier loads (`VLD_VST`).
    LoadStore,
    /// Later stores behind earlier stores (`VST_VST`).
    StoreStore,
    /// Later vector accesses behind earlier scalar ones (`SV_ALL`).
    ScalarVector,
    /// Later scalar accesses behind earlier vector ones (`VS_ALL`).
    VectorScalar,
    /// Later accesses of one class behind earlier ones of another, one of them scalar (`ST_VLD`).
    Mixed(Class, Class),
}

impl Barrier {
    /// Spellings `[D: GYM]`.
    pub const NAMES: &'static [&'static str] = &[
        "VV_ALL", "VST_VLD", "VLD_VST", "VST_VST", "SV_ALL", "VS_ALL", "ST_VLD", "LD_VST",
        "ST_VST", "VST_LD", "VLD_ST", "VST_ST",
    ];

    /// By its spelling.
    pub fn parse(s: &str) -> Option<Barrier> {
        use Class::*;
        Some(match s {
            "VV_ALL" => Barrier::All,
            "VST_VLD" => Barrier::StoreLoad,
            "VLD_VST" => Barrier::LoadStore,
            "VST_VST" => Barrier::StoreStore,
            "SV_ALL" => Barrier::ScalarVector,
            "VS_ALL" => Barrier::VectorScalar,
            "ST_VLD" => Barrier::Mixed(St, Vld),
            "LD_VST" => Barrier::Mixed(Ld, Vst),
            "ST_VST" => Barrier::Mixed(St, Vst),
            "VST_LD" => Barrier::Mixed(Vst, Ld),
            "VLD_ST" => Barrier::Mixed(Vld, St),
            "VST_ST" => Barrier::Mixed(Vst, St),
            _ => return None,
        })
    }

    /// Which accesses it orders before which later ones.
    pub fn orders(self) -> impl Iterator<Item = (Class, Class)> {
        use Class::*;
        let all = [Vld, Vst, Ld, St];
        let pairs = all.into_iter().flat_map(move |a| all.into_iter().map(move |b| (a, b)));
        pairs.filter(move |&(a, b)| match self {
            Barrier::All => true,
            Barrier::StoreLoad => (a, b) == (Vst, Vld),
            Barrier::LoadStore => (a, b) == (Vld, Vst),
            Barrier::StoreStore => (a, b) == (Vst, Vst),
            Barrier::ScalarVector => a.scalar() && !b.scalar(),
            Barrier::VectorScalar => !a.scalar() && b.scalar(),
            Barrier::Mixed(x, y) => (a, b) == (x, y),
        })
    }
}

/// Every mode a micro-op may carry; each op reads those it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Mods {
    /// Distribution.
    pub dist: Dist,
    /// Even/odd (0, 1), P0..P3, LOWER/HIGHER (0, 1), LOWEST/HIGHEST (0, 1), Bin_N0/N1 (0, 1).
    pub part: u8,
    /// Comparison.
    pub cmp: Cmp,
    /// Predicate pattern.
    pub pattern: Pattern,
    /// Rounding, if written.
    pub round: Option<Round>,
    /// Saturation, if written.
    pub sat: Option<bool>,
    /// Advance the base (or AR) after the access.
    pub post: bool,
    /// `vci` counts downwards.
    pub descending: bool,
    /// What `mem_bar` orders.
    pub bar: Barrier,
}

/// A part by any of its spellings.
pub fn parse_part(s: &str) -> Option<u8> {
    let s = s.strip_prefix("PART_").or_else(|| s.strip_prefix("POS_")).unwrap_or(s);
    Some(match s.to_ascii_uppercase().as_str() {
        "EVEN" | "LOWER" | "LOWEST" | "P0" | "BIN_N0" => 0,
        "ODD" | "HIGHER" | "HIGHEST" | "P1" | "BIN_N1" => 1,
        "P2" => 2,
        "P3" => 3,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        assert_eq!(Dist::parse("1PT_B32"), Some(Dist::OneptB32));
        assert_eq!(Dist::parse("BRC_BLK"), Dist::parse("BLK"));
        assert_eq!(Dist::parse("XYZ"), None);
        for n in Dist::NAMES.iter().chain(Pattern::NAMES) {
            assert!(Dist::parse(n).is_some() || Pattern::parse(n).is_some(), "{n}");
        }
        assert_eq!(
            (parse_part("PART_ODD"), parse_part("P3"), parse_part("x")),
            (Some(1), Some(3), None)
        );
    }

    #[test]
    fn patterns() {
        let count = |p: Pattern, lanes| (0..lanes).filter(|i| p.sets(*i, lanes)).count();
        assert_eq!(count(Pattern::M3, 64), 22);
        assert_eq!(count(Pattern::H, 128), 64);
        assert_eq!((count(Pattern::Vl128, 64), count(Pattern::Q, 256)), (64, 64));
        assert!(Cmp::Ne.holds(None) && !Cmp::Ge.holds(None));
    }
}
