//! Number semantics: rounding, conversion, saturation, NaN rules, transcendental functions.
