//! Settings that change values: mode bits of the control register and the choices the
//! documentation leaves open.

/// What happens to INF and NaN results of float operations, CTRL[48].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Overflow {
    /// INF and NaN are kept (CTRL[48] = 1, the power-on value `[I]`).
    #[default]
    Keep,
    /// INF becomes the largest finite value of its sign, NaN becomes +0 (CTRL[48] = 0).
    Saturate,
}

/// What happens to values that do not fit an integer destination, CTRL[59].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Narrow {
    /// The nearest representable value (CTRL[59] = 0, the power-on value `[I]`).
    #[default]
    Clamp,
    /// The low bits of the exact integer (CTRL[59] = 1).
    LowBits,
}

/// How vmax and vmin treat NaN `[U: not documented for A2/A3]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum NanRule {
    /// A NaN operand makes the result NaN, as the 950 golden data show.
    #[default]
    Propagate,
    /// IEEE 754-2008 maxNum / minNum: the other operand wins.
    MaxNum,
}

/// Whether vmla, vmadd and vaxpy round the product `[U: choose fused]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Fusion {
    /// One rounding, after the addition.
    #[default]
    Fused,
    /// The product is rounded to the element type, then the sum.
    Separate,
}

/// Accuracy of vrec and vrsqrt `[U: choose correctly rounded]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Reciprocal {
    /// Correctly rounded.
    #[default]
    Exact,
    /// Truncated to 12 significand bits, to make precision traps visible. f16 has 11, so it
    /// is not affected.
    Approx12,
}

/// Treatment of subnormals in vexp, vln and vsqrt `[U: choose IEEE]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Precision {
    /// Subnormals are ordinary numbers.
    #[default]
    Ieee,
    /// Subnormal results of vexp and subnormal sources of vln and vsqrt count as zero, as the
    /// shipped 950 wrappers imply `[I]`.
    HwLike,
}

/// All value settings of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct NumMode {
    /// CTRL[48].
    pub overflow: Overflow,
    /// CTRL[59].
    pub narrow: Narrow,
    /// NaN in vmax and vmin.
    pub nan_rule: NanRule,
    /// Multiply-add rounding.
    pub fusion: Fusion,
    /// vrec and vrsqrt.
    pub reciprocal: Reciprocal,
    /// Subnormals in vexp, vln and vsqrt.
    pub precision: Precision,
}

/// Bit of CTRL that keeps INF and NaN when set.
pub const CTRL_KEEP_INF_NAN: u32 = 48;
/// Bit of CTRL that makes narrowing conversions keep the low bits when set.
pub const CTRL_LOW_BITS: u32 = 59;

impl NumMode {
    /// The same settings with the two mode bits taken from a CTRL value.
    pub const fn with_ctrl(mut self, ctrl: u64) -> Self {
        self.overflow = match ctrl >> CTRL_KEEP_INF_NAN & 1 {
            0 => Overflow::Saturate,
            _ => Overflow::Keep,
        };
        self.narrow = match ctrl >> CTRL_LOW_BITS & 1 {
            0 => Narrow::Clamp,
            _ => Narrow::LowBits,
        };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_bits() {
        let m = NumMode::default().with_ctrl(1 << 48);
        assert_eq!(m, NumMode::default());
        let m = m.with_ctrl(1 << 59);
        assert_eq!((m.overflow, m.narrow), (Overflow::Saturate, Narrow::LowBits));
    }
}
