//! Where the shipped headers differ from the meaning of an operation, each with a name.
//!
//! `corrected` microcode has none of them, `vendor` microcode has them all. Each is tested at the
//! one place where it matters, so that a finding can say which one it comes from.

macro_rules! quirks {
    ($($name:ident $about:literal, $repair:literal;)*) => {
        /// One known difference between shipped microcode and the meaning of its operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Quirk { $(#[doc = $about] $name),* }

        impl Quirk {
            /// Every quirk.
            pub const ALL: &'static [Quirk] = &[$(Quirk::$name),*];

            /// Short name, `D11`.
            pub const fn name(self) -> &'static str {
                match self { $(Quirk::$name => stringify!($name)),* }
            }

            /// What it does, for reports.
            pub const fn about(self) -> &'static str {
                match self { $(Quirk::$name => $about),* }
            }

            /// What the shipped code would have to do instead.
            pub const fn repair(self) -> &'static str {
                match self { $(Quirk::$name => $repair),* }
            }
        }
    };
}

quirks! {
    A4 "a repeat count above 255 is cut to 8 bits",
        "issue rounds of at most 255 repeats, or use counter mode";
    A6 "instructions of no repeat or no element are issued",
        "leave out rounds of no rows and masks of no lanes";
    D2 "row-expand ops accept two operands of the destination's valid shape",
        "assert that exactly one operand is full, or break the tie by row stride with tmp too";
    D4 "mode 2 steps one block per row, whatever the expanded tile's row stride",
        "step by the row stride of the expanded tile, or assert one block per row";
    D5 "950: narrow row expand steps the full operand by the columns of dst",
        "step the full operand by its own row stride";
    D6 "950: mode 1 steps one element per column of the expanded tile",
        "step one element per row of a column-major tile";
    D11 "from 256 rows on, a remainder of 233..239 rows modulo 240 runs 240 rows",
        "run min(240, rows left) rows in every round";
    D12 "1-byte row expand with odd valid columns writes one more byte per row",
        "fill floor(columns / 2) pairs and store the last odd byte by itself";
    D13 "float row reductions do not look at the width of tmp",
        "assert the columns tmp needs: one repeat, for sums half the repeats of a row";
    D14 "whole blocks are copied where only part of the last one is valid",
        "copy whole blocks, then the rest of the row under a mask";
    D15 "row expand of an empty region still issues its instructions",
        "return before the first instruction when a valid size is 0";
    D16 "a one-row source of row expand is read as one scalar per row",
        "take the broadcast path for column-major sources of whole 8-row groups only";
    D18 "950: byte row maximum and minimum of odd columns take one element more",
        "make a predicate of its own for the odd half";
    D19 "unary ops skip whole repeats when a row stride exceeds 255 blocks",
        "use one counter-mode instruction per row when a stride exceeds its field";
    D20 "binary and tile-scalar ops lose columns past one repeat when a row stride exceeds 255 blocks",
        "use one counter-mode instruction per row when a stride exceeds its field";
    Q1 "fill treats a partly valid static tile as contiguous",
        "compare the valid columns with the columns of the tile, not with themselves";
    Q3 "tile-scalar ops and conversions step one element per row of a column-major tile",
        "treat a column-major tile as the row-major one of the same bytes";
    Q4 "moving part of a column-major tile walks it as row-major",
        "treat a column-major tile as the row-major one of the same bytes";
    Q5 "storing a one-column or one-row tile follows the tile's layout, not GM's",
        "choose the bursts by the layout of global memory";
    Q6 "transfers trust the GM shape, even beyond the valid region",
        "clip the transfer to the valid region, take gaps from the real strides";
    Q8 "conversions obey the saturation request only for some pairs",
        "set the saturation bit for every pair that obeys it, with tmp or without";
    Q9 "tile / scalar in place multiplies by the rounded reciprocal",
        "keep the scalar in scratch and divide";
    Q10 "tile - scalar negates an integer scalar through f32",
        "negate the scalar as an integer";
    Q11 "padding more than 510 rows keeps 8 bits of the rest, and overwrites copies without a barrier",
        "run rounds of at most 255 rows, with a barrier after the copy";
    Q12 "comparisons of 32-bit integers test for equality whatever is asked",
        "refuse lt, le, gt and ge of i32 at compile time";
    Q13 "comparisons of 16-bit integers take the bits as f16",
        "refuse 16-bit integers at compile time";
    Q14 "col-expand ops of static full-width tiles keep 8 bits of rows and strides",
        "run rounds of at most 255 rows, counter mode for wider strides";
    Q21 "a remainder by a scalar repairs signs by the bits of columns 0..63",
        "select with the bits in memory, as the form of two tiles does";
    Q30 "unsaturated f32 to i16 walks tmp with the row stride of the source",
        "walk tmp from its start for every row, with a barrier between rows";
    Q31 "a remainder fills a whole repeat behind a row of tmp",
        "fill the two words the select reads";
    Q34 "padding a tile whose source has the same pad value skips the rest of the last valid block",
        "fill it whatever the source's pad value is";
    Q35 "comparisons take columns behind the valid ones, ne turns whole rows over",
        "count the valid columns, turn over the bytes that were written";
    Q40 "a conversion without an instruction does nothing",
        "refuse the pair of types at compile time";
    Q41 "rounding modes without an instruction fall back silently",
        "refuse the rounding mode at compile time";
    R2 "950: V does not wait for integers divided by the scalar unit",
        "wait for the scalar unit before the next vector function";
    R4 "950: select steps its mask by as many bytes a row as the mask has columns",
        "step by the bytes of a row of the mask tile";
    R5 "950: select of bytes steps its mask by half of what a chunk uses",
        "take 32 bytes of bits for 256 bytes of elements";
    R6 "950: unsaturated floats to i16 go through 32 bits in contiguous tiles only",
        "convert through 32-bit integers in both walks";
    R11 "950: padding a tile of fewer valid rows than the source wraps its row count",
        "assert at least as many valid rows as the source has";
    R13 "950: compare of 32-bit elements exchanges the row strides of its sources",
        "step each source by its own row stride in both chunks";
    R14 "950: binary column sums store twice to a row of tmp, and reuse it, without barriers",
        "put VST_VST between stores to one row, VLD_VST before stores over rows loaded before";
    R15 "950: a binary column sum of one row adds it to +0 and loses the sign of -0",
        "copy the only row";
    R16 "950: places of extremes lose a chunk of a row that holds NaN, and NaN below row 0",
        "compare for unordered values too";
    R17 "950: a remainder by a scalar does not repair its sign",
        "repair the sign as the form of two tiles does";
    R29 "950: a multiple of 255 groups to sort leaves the last 255 unsorted",
        "give the last round min(255, groups left) groups";
}

/// A set of quirks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quirks(u64);

impl Quirks {
    /// None: microcode computes the meaning for every legal use.
    pub const fn corrected() -> Quirks {
        Quirks(0)
    }

    /// All: microcode is what the shipped headers issue.
    pub const fn vendor() -> Quirks {
        Quirks((1 << Quirk::ALL.len()) - 1)
    }

    /// Is `q` in the set?
    pub const fn has(self, q: Quirk) -> bool {
        self.0 >> (q as u64) & 1 == 1
    }

    /// The set with `q`.
    pub const fn with(self, q: Quirk) -> Quirks {
        Quirks(self.0 | 1 << (q as u64))
    }

    /// The set without `q`.
    pub const fn without(self, q: Quirk) -> Quirks {
        Quirks(self.0 & !(1 << (q as u64)))
    }

    /// The quirks in it.
    pub fn iter(self) -> impl Iterator<Item = Quirk> {
        Quirk::ALL.iter().copied().filter(move |q| self.has(*q))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendor_is_every_quirk_and_order_matches_bits() {
        assert_eq!(Quirks::vendor().iter().count(), Quirk::ALL.len());
        assert_eq!(Quirks::corrected().iter().count(), 0);
        for (i, q) in Quirk::ALL.iter().copied().enumerate() {
            assert_eq!(q as usize, i);
            assert!(Quirks::corrected().with(q).has(q));
            assert!(!Quirks::vendor().without(q).has(q));
        }
    }
}
