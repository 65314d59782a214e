//! Tile operations of the language that are not emulated on any family, and why.

/// An operation nobody built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unbuilt {
    /// Mnemonic.
    pub name: &'static str,
    /// Why it is not there.
    pub why: &'static str,
}

const SIMULATOR: &str = "exists in the library's simulator only, on no chip";
const TWO_RESULTS: &str = "has two destination tiles, an operation has one here";
const CUBE: &str = "belongs to the matrix unit, which is not modelled";
const CORES: &str = "moves tiles between cores";
const MANAGEMENT: &str = "manages the program, has no vector semantics";
const INDEXED: &str = "loops over global memory in a way that no listing describes";

macro_rules! unbuilt {
    ($($why:expr => $($name:literal)*;)*) => {
        /// Every one of them, in no order that matters.
        pub static UNBUILT: &[Unbuilt] = &[$($(Unbuilt { name: $name, why: $why }),*),*];
    };
}

unbuilt! {
    SIMULATOR => "taddc" "tsubc" "taddsc" "tsubsc";
    TWO_RESULTS => "tpartargmax" "tpartargmin" "tinterleave" "tdeinterleave";
    CUBE => "tmatmul" "tgemv" "timg2col" "textract_fp" "tinsert_fp" "tget_scale_addr";
    CORES => "tpush" "tpop" "tput_async" "tget_async";
    MANAGEMENT => "talloc" "tfree" "tprefetch" "tprint" "tsync";
    INDEXED => "mgather" "mscatter";
    "is a long approximation whose bits no source gives" => "tpow" "tpows";
    "lays its results out in two ways, which its headers leave open" => "tpairreducesum";
    "overwrites its sources, which no operation here may" => "tadddeqrelu" "tquant";
    "is Philox-like by constants no document gives" => "trandom";
    "counts bytes that pass a filter, whose layout no document gives in full" => "thistogram";
    "packs by a rule no document states" => "tpack";
}

/// Why an operation of this name, or of a name built on it, is not there.
pub fn unbuilt_because(name: &str) -> Option<&'static str> {
    let built_on =
        |base| name.strip_prefix(base).is_some_and(|s| s.is_empty() || s.starts_with('_'));
    UNBUILT.iter().find(|u| built_on(u.name)).map(|u| u.why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_built_is_called_unbuilt() {
        for u in UNBUILT {
            assert!(crate::tile::find(u.name).is_none(), "{}", u.name);
            assert_eq!(UNBUILT.iter().filter(|v| v.name == u.name).count(), 1, "{}", u.name);
        }
    }
}
