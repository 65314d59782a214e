//! Where the shipped headers differ from the meaning of an operation, each with a name.
//!
//! `corrected` microcode has none of them, `vendor` microcode has them all. Each is tested at the
//! one place where it matters, so that a finding can say which one it comes from.

/// One known difference between shipped microcode and the meaning of its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Quirk {
    /// A row or column count of repeats above 255 is cut to 8 bits.
    A4,
    /// Instructions of no repeat or no element are issued.
    A6,
    /// Row-expand operations accept two operands of the destination's valid shape.
    D2,
    /// Row-expand mode 2 steps one block per row whatever the expanded tile's row stride.
    D4,
    /// 950: narrow row-expand steps the full operand by the valid columns of dst.
    D5,
    /// 950: row-expand mode 1 steps as many elements per row as the column tile has columns.
    D6,
    /// Row-expand mode 1 with at least 256 rows runs a last round of 240 rows when fewer remain.
    D11,
    /// 1-byte row expand with an odd column count writes one byte too many per row.
    D12,
    /// Float row reductions do not look at the width of tmp.
    D13,
    /// Whole blocks are copied where only part of the last one is valid.
    D14,
    /// Row expand of an empty region still issues its instructions.
    D15,
    /// A one-row source of row expand is read as one scalar per row.
    D16,
    /// 950: row maximum and minimum of bytes take one element too many from odd columns.
    D18,
    /// Unary operations skip whole repeats when a row stride exceeds 255 blocks.
    D19,
    /// Binary and tile-scalar operations mask more columns than a repeat has when a row stride
    /// exceeds 255 blocks.
    D20,
    /// Fill takes a tile for contiguous when its valid columns equal their own static count.
    Q1,
    /// Tile-scalar operations and conversions step one element per row of a column-major tile.
    Q3,
    /// Moving part of a column-major tile walks it as if it were row-major.
    Q4,
    /// Storing a one-column or one-row tile follows the layout of the tile, not of GM.
    Q5,
    /// Transfers trust the GM shape, even beyond the valid region.
    Q6,
    /// Conversions obey the saturation request only for some pairs.
    Q8,
    /// Tile / scalar in place multiplies by the rounded reciprocal.
    Q9,
    /// Tile - scalar negates an integer scalar through f32.
    Q10,
    /// Unsaturated f32 to i16 walks tmp with the row stride of the source.
    Q30,
    /// A conversion between types without an instruction does nothing.
    Q40,
    /// Rounding modes a conversion has no instruction for fall back silently.
    Q41,
    /// 950: the vector pipe does not wait for integers divided by the scalar unit.
    R2,
}

impl Quirk {
    /// Every quirk.
    pub const ALL: [Quirk; 27] = [
        Quirk::A4,
        Quirk::A6,
        Quirk::D2,
        Quirk::D4,
        Quirk::D5,
        Quirk::D6,
        Quirk::D11,
        Quirk::D12,
        Quirk::D13,
        Quirk::D14,
        Quirk::D15,
        Quirk::D16,
        Quirk::D18,
        Quirk::D19,
        Quirk::D20,
        Quirk::Q1,
        Quirk::Q3,
        Quirk::Q4,
        Quirk::Q5,
        Quirk::Q6,
        Quirk::Q8,
        Quirk::Q9,
        Quirk::Q10,
        Quirk::Q30,
        Quirk::Q40,
        Quirk::Q41,
        Quirk::R2,
    ];

    /// Short name, `D11`.
    pub const fn name(self) -> &'static str {
        match self {
            Quirk::A4 => "A4",
            Quirk::A6 => "A6",
            Quirk::D2 => "D2",
            Quirk::D4 => "D4",
            Quirk::D5 => "D5",
            Quirk::D6 => "D6",
            Quirk::D11 => "D11",
            Quirk::D12 => "D12",
            Quirk::D13 => "D13",
            Quirk::D14 => "D14",
            Quirk::D15 => "D15",
            Quirk::D16 => "D16",
            Quirk::D18 => "D18",
            Quirk::D19 => "D19",
            Quirk::D20 => "D20",
            Quirk::Q1 => "Q1",
            Quirk::Q3 => "Q3",
            Quirk::Q4 => "Q4",
            Quirk::Q5 => "Q5",
            Quirk::Q6 => "Q6",
            Quirk::Q8 => "Q8",
            Quirk::Q9 => "Q9",
            Quirk::Q10 => "Q10",
            Quirk::Q30 => "Q30",
            Quirk::Q40 => "Q40",
            Quirk::Q41 => "Q41",
            Quirk::R2 => "R2",
        }
    }

    /// What it does, for reports.
    pub const fn about(self) -> &'static str {
        match self {
            Quirk::A4 => "a repeat count above 255 is cut to 8 bits",
            Quirk::A6 => "instructions of no repeat or no element are issued",
            Quirk::D2 => "row-expand ops accept two operands of the destination's valid shape",
            Quirk::D4 => "mode 2 steps one block per row, whatever the expanded tile's row stride",
            Quirk::D5 => "950: narrow row expand steps the full operand by the columns of dst",
            Quirk::D6 => "950: mode 1 steps one element per column of the expanded tile",
            Quirk::D11 => "from 256 rows on, a remainder of 233..239 rows modulo 240 runs 240 rows",
            Quirk::D12 => "1-byte row expand with odd valid columns writes one more byte per row",
            Quirk::D13 => "float row reductions do not look at the width of tmp",
            Quirk::D14 => "whole blocks are copied where only part of the last one is valid",
            Quirk::D15 => "row expand of an empty region still issues its instructions",
            Quirk::D16 => "a one-row source of row expand is read as one scalar per row",
            Quirk::D18 => "950: byte row maximum and minimum of odd columns take one element more",
            Quirk::D19 => "unary ops skip whole repeats when a row stride exceeds 255 blocks",
            Quirk::D20 => {
                "binary and tile-scalar ops lose columns past one repeat when a row stride exceeds 255 blocks"
            }
            Quirk::Q1 => "fill treats a partly valid static tile as contiguous",
            Quirk::Q3 => {
                "tile-scalar ops and conversions step one element per row of a column-major tile"
            }
            Quirk::Q4 => "moving part of a column-major tile walks it as row-major",
            Quirk::Q5 => "storing a one-column or one-row tile follows the tile's layout, not GM's",
            Quirk::Q6 => "transfers trust the GM shape, even beyond the valid region",
            Quirk::Q8 => "conversions obey the saturation request only for some pairs",
            Quirk::Q9 => "tile / scalar in place multiplies by the rounded reciprocal",
            Quirk::Q10 => "tile - scalar negates an integer scalar through f32",
            Quirk::Q30 => "unsaturated f32 to i16 walks tmp with the row stride of the source",
            Quirk::Q40 => "a conversion without an instruction does nothing",
            Quirk::Q41 => "rounding modes without an instruction fall back silently",
            Quirk::R2 => "950: V does not wait for integers divided by the scalar unit",
        }
    }

    /// What the shipped code would have to do instead.
    pub const fn repair(self) -> &'static str {
        match self {
            Quirk::A4 => "issue rounds of at most 255 repeats, or use counter mode",
            Quirk::A6 => "leave out rounds of no rows and masks of no lanes",
            Quirk::D2 => {
                "assert that exactly one operand is full, or break the tie by row stride with tmp too"
            }
            Quirk::D4 => "step by the row stride of the expanded tile, or assert one block per row",
            Quirk::D5 => "step the full operand by its own row stride",
            Quirk::D6 => "step one element per row of a column-major tile",
            Quirk::D11 => "run min(240, rows left) rows in every round",
            Quirk::D12 => "fill floor(columns / 2) pairs and store the last odd byte by itself",
            Quirk::D13 => {
                "assert the columns tmp needs: one repeat, for sums half the repeats of a row"
            }
            Quirk::D14 => "copy whole blocks, then the rest of the row under a mask",
            Quirk::D15 => "return before the first instruction when a valid size is 0",
            Quirk::D16 => {
                "take the broadcast path for column-major sources of whole 8-row groups only"
            }
            Quirk::D18 => "make a predicate of its own for the odd half",
            Quirk::D19 => {
                "use one counter-mode instruction per row when a stride exceeds its field"
            }
            Quirk::D20 => {
                "use one counter-mode instruction per row when a stride exceeds its field"
            }
            Quirk::Q1 => {
                "compare the valid columns with the columns of the tile, not with themselves"
            }
            Quirk::Q3 => "treat a column-major tile as the row-major one of the same bytes",
            Quirk::Q4 => "treat a column-major tile as the row-major one of the same bytes",
            Quirk::Q5 => "choose the bursts by the layout of global memory",
            Quirk::Q6 => "clip the transfer to the valid region, take gaps from the real strides",
            Quirk::Q8 => "set the saturation bit for every pair that obeys it, with tmp or without",
            Quirk::Q9 => "keep the scalar in scratch and divide",
            Quirk::Q10 => "negate the scalar as an integer",
            Quirk::Q30 => "walk tmp from its start for every row, with a barrier between rows",
            Quirk::Q40 => "refuse the pair of types at compile time",
            Quirk::Q41 => "refuse the rounding mode at compile time",
            Quirk::R2 => "wait for the scalar unit before the next vector function",
        }
    }
}

/// A set of quirks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quirks(u32);

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
        self.0 >> (q as u32) & 1 == 1
    }

    /// The set with `q`.
    pub const fn with(self, q: Quirk) -> Quirks {
        Quirks(self.0 | 1 << (q as u32))
    }

    /// The set without `q`.
    pub const fn without(self, q: Quirk) -> Quirks {
        Quirks(self.0 & !(1 << (q as u32)))
    }

    /// The quirks in it.
    pub fn iter(self) -> impl Iterator<Item = Quirk> {
        Quirk::ALL.into_iter().filter(move |q| self.has(*q))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendor_is_every_quirk_and_order_matches_bits() {
        assert_eq!(Quirks::vendor().iter().count(), Quirk::ALL.len());
        assert_eq!(Quirks::corrected().iter().count(), 0);
        for (i, q) in Quirk::ALL.into_iter().enumerate() {
            assert_eq!(q as usize, i);
            assert!(Quirks::corrected().with(q).has(q));
            assert!(!Quirks::vendor().without(q).has(q));
        }
    }
}
