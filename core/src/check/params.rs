//! memcheck: parameters that do not fit their fields, and types an instruction does not have.

use crate::diag::Diagnostic;

/// A parameter that its field would truncate; `unit` is VEC or MTE.
pub fn truncated(
    unit: &str,
    name: &str,
    param: &str,
    value: i64,
    bits: u32,
    repeat: bool,
) -> Diagnostic {
    let kept = if bits >= 64 { value as u64 } else { value as u64 & ((1 << bits) - 1) };
    let effect = if repeat { "would execute" } else { "truncates to" };
    Diagnostic::error(
        "memcheck.param",
        format!("{unit} instruction parameter is invalid: {name} {param} {value} does not fit; {effect} {kept}"),
    )
    .note(format!("the field `{param}` has {bits} bits"))
    .help(if unit == "MTE" {
        "split the transfer into several"
    } else if repeat {
        "issue several instructions, or use counter mode"
    } else {
        "use counter mode row by row, or another layout"
    })
}

/// A parameter outside its documented range.
pub fn range(name: &str, param: &str, value: i64, lo: i64, hi: i64) -> Diagnostic {
    Diagnostic::error(
        "memcheck.param",
        format!(
            "VEC instruction parameter is invalid: {name} {param} = {value}, allowed {lo} to {hi}"
        ),
    )
    .help(format!("use a value from {lo} to {hi}"))
}

/// An element type the instruction has no encoding for.
pub fn dtype(name: &str, got: &str, accepted: &str, help: &str) -> Diagnostic {
    Diagnostic::error(
        "memcheck.dtype",
        format!("{name} with {got} is illegal on dav-2201; it takes {accepted}"),
    )
    .help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_sees_what_the_field_keeps() {
        let d = truncated("VEC", "vadd.f32", "repeat", 256, 8, true);
        assert!(d.message.ends_with("repeat 256 does not fit; would execute 0"), "{}", d.message);
        let d = truncated("VEC", "vadd.f32", "dst_rpt", 257, 8, false);
        assert!(d.message.ends_with("truncates to 1"), "{}", d.message);
        let d = truncated("VEC", "vadd.f32", "dst_rpt", -1, 8, false);
        assert!(d.message.ends_with("truncates to 255"), "{}", d.message);
    }
}
