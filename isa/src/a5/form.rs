//! Forms: the operands and results of each group of micro-ops, in text order.

/// Kind of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Vector register.
    V,
    /// Predicate register.
    M,
    /// Align register.
    A,
    /// Scalar of the element type.
    S,
    /// Scalar of the element type, or a vector whose lane is repeated.
    SV,
    /// Integer.
    I,
    /// UB pointer, with an index where the text has one.
    P,
}

/// What a form's string or attribute selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing.
    None,
    /// A distribution.
    Dist,
    /// A predicate pattern.
    Pattern,
    /// A comparison.
    Cmp,
    /// A half, a quarter or an end.
    Part,
    /// Rounding, saturation and part of a conversion.
    Convert,
    /// Rounding alone.
    Round,
    /// Counting up or down.
    Order,
    /// `POST_UPDATE` or `NO_POST_UPDATE`.
    Post,
    /// A special register.
    Register,
    /// A memory barrier.
    Barrier,
}

macro_rules! forms {
    ($($(#[$doc:meta])* $name:ident [$($i:ident)*] -> [$($o:ident)*] $mode:ident;)*) => {
        /// Operand and result kinds of a group of micro-ops.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Form { $($(#[$doc])* $name),* }

        impl Form {
            /// Every form.
            pub const ALL: &'static [Form] = &[$(Form::$name),*];

            /// Operands in text order.
            pub const fn operands(self) -> &'static [Kind] {
                match self { $(Form::$name => &[$(Kind::$i),*]),* }
            }

            /// Results in text order.
            pub const fn results(self) -> &'static [Kind] {
                match self { $(Form::$name => &[$(Kind::$o),*]),* }
            }

            /// What its string or attribute selects.
            pub const fn mode(self) -> Mode {
                match self { $(Form::$name => Mode::$mode),* }
            }
        }
    };
}

forms! {
    /// A predicate from a pattern.
    Pset [] -> [M] Pattern;
    /// A predicate from a remaining count.
    Plt [I] -> [M I] None;
    /// Predicate from two, under a third.
    P3 [M M M] -> [M] None;
    /// Predicate from one, under a second.
    P2 [M M] -> [M] None;
    /// Predicate from one.
    P1 [M] -> [M] Part;
    /// Two predicates from two.
    PPair [M M] -> [M M] None;
    /// Predicate load.
    PLoad [P] -> [M] Dist;
    /// Predicate store.
    PStore [M P] -> [] Dist;
    /// Predicate store into an unaligned stream.
    PStream [A M P] -> [A P] None;
    /// Vector load.
    Load [P] -> [V] Dist;
    /// Vector load into two registers.
    Load2 [P] -> [V V] Dist;
    /// Priming an unaligned load stream.
    Prime [P] -> [A] None;
    /// Unaligned load.
    LoadU [P A] -> [V A] None;
    /// Vector store.
    Store [V P M] -> [] Dist;
    /// Vector store from two registers.
    Store2 [V V P M] -> [] Dist;
    /// Block-strided load.
    LoadB [P I I M] -> [V] Post;
    /// Block-strided store.
    StoreB [V P I I M] -> [] Post;
    /// A fresh align register.
    Init [] -> [A] None;
    /// Unaligned store of a count of elements.
    StreamN [A I V P] -> [A] Post;
    /// Flush at an offset.
    FlushN [A P I] -> [] None;
    /// Unaligned store of what the last squeeze kept.
    StreamR [A V P] -> [A] Post;
    /// Flush at AR.
    FlushR [A P] -> [] None;
    /// Indexed load.
    Gather [P V M] -> [V] None;
    /// Indexed store.
    Scatter [V P V M] -> [] None;
    /// One source.
    V1 [V M] -> [V] None;
    /// Two sources.
    V2 [V V M] -> [V] None;
    /// Three sources.
    V3 [V V V M] -> [V] None;
    /// A source and a scalar.
    VS [V S M] -> [V] None;
    /// Two sources and a scalar.
    VVS [V V S M] -> [V] None;
    /// Two sources and a part.
    V2Part [V V M] -> [V] Part;
    /// Comparison of two registers.
    Cmp2 [V V M] -> [M] Cmp;
    /// Comparison with a scalar.
    CmpS [V S M] -> [M] Cmp;
    /// Sum or difference with carry out.
    Carry [V V M] -> [V M] None;
    /// The same with carry in.
    CarryIn [V V M M] -> [V M] None;
    /// Two sources, two results.
    Wide [V V M] -> [V V] None;
    /// Lanes by an index register.
    Index [V V] -> [V] None;
    /// A scalar in every lane.
    Splat [S] -> [V] None;
    /// A scalar or a lane in every active lane.
    Dup [SV M] -> [V] Part;
    /// Counting from a scalar.
    Count [S] -> [V] Order;
    /// Conversion.
    Convert [V M] -> [V] Convert;
    /// Rounding to integral values.
    Trunc [V M] -> [V] Round;
    /// Two registers rearranged into two.
    VPair [V V] -> [V V] None;
    /// Two registers rearranged into one.
    VHalf [V V] -> [V] Part;
    /// Halving the width.
    Pack [V] -> [V] Part;
    /// Doubling the width of one half.
    Unpack [V I] -> [V] None;
    /// The same bits.
    Same [V] -> [V] None;
    /// Accumulating counts.
    Histogram [V V M] -> [V] Part;
    /// A special register.
    Special [] -> [] Register;
    /// Reading VMS4_SR.
    ReadVms [] -> [I I I I] None;
    /// Sorting in UB.
    Sort [P P P I] -> [] None;
    /// Merging in UB.
    Merge [P P P P P I I] -> [] None;
    /// Ordering of memory accesses.
    Bar [] -> [] Barrier;
}

impl Form {
    /// Number of predicate operands.
    pub fn masks(self) -> usize {
        self.operands().iter().filter(|k| **k == Kind::M).count()
    }

    /// Number of vector operands.
    pub fn vectors(self) -> usize {
        self.operands().iter().filter(|k| matches!(k, Kind::V | Kind::SV)).count()
    }

    /// Number of operands of a kind.
    pub fn count(self, kind: Kind) -> usize {
        self.operands().iter().filter(|k| **k == kind).count()
    }

    /// Does it read or write memory?
    pub fn touches_memory(self) -> bool {
        self.operands().contains(&Kind::P) || matches!(self, Form::FlushN | Form::FlushR)
    }
}
