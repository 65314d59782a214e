//! memcheck: ranges and alignment.

use super::{Owner, owners};
use crate::access::{Lanes, Walk};
use crate::diag::Diagnostic;

/// The bytes of one piece of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Repeat (burst).
    pub repeat: u64,
    /// Block of the repeat.
    pub block: usize,
    /// First byte; may lie below zero or beyond 64 bits.
    pub start: i128,
    /// One past the last byte.
    pub end: i128,
}

/// [`Walk::reach`] of the first `repeats` repeats.
pub fn extent(base: u64, walk: &Walk, repeats: u64) -> (i128, i128) {
    walk.reach(base, 0, repeats)
}

/// The first active piece that is not inside `0..limit`.
pub fn first_outside(
    base: u64,
    walk: &Walk,
    repeats: u64,
    lanes: &Lanes,
    limit: u64,
) -> Option<Piece> {
    let (lo, hi) = extent(base, walk, repeats);
    if lo >= 0 && hi <= i128::from(limit) {
        return None;
    }
    let n = walk.lanes_per_block();
    (0..repeats).find_map(|repeat| {
        let mask = lanes.of_repeat(repeat);
        (0..usize::from(walk.blocks)).find_map(|block| {
            let at = i128::from(base)
                + i128::from(walk.rep) * i128::from(repeat)
                + i128::from(walk.blk) * block as i128;
            let (mut start, mut end) = (at, at + i128::from(walk.unit));
            if n > 0 {
                let bits = mask.bits(block * n, n);
                if bits == 0 {
                    return None;
                }
                let e = i128::from(walk.elem);
                start = at + i128::from(bits.trailing_zeros()) * e;
                end = at + i128::from(64 - bits.leading_zeros()) * e;
            }
            (start < 0 || end > i128::from(limit)).then_some(Piece { repeat, block, start, end })
        })
    })
}

/// Writes an address as hexadecimal, also a negative one.
pub fn hex(at: i128) -> String {
    if at < 0 { format!("-{:#x}", at.unsigned_abs()) } else { format!("{at:#x}") }
}

/// The fault of an access outside its memory.
pub fn outside(name: &str, operand: &str, p: &Piece, limit: u64, all: &[Owner]) -> Diagnostic {
    let range = format!("[{}, {})", hex(p.start), hex(p.end));
    let place = format!("operand `{operand}`, repeat {}, block {}", p.repeat, p.block);
    let what = format!("ub address out of bounds: {name} accesses UB {range}");
    let mut d = Diagnostic::error("memcheck.range", what)
        .note(place)
        .note(format!("UB holds bytes [0x0, {limit:#x}); only active elements are checked"))
        .help("shorten the repeats or the mask, or move the operand to a lower address");
    // The tile whose walk ran off is the one that starts last below the fault.
    let below = all.iter().filter(|o| i128::from(o.start) <= p.start);
    if let Some(o) = below.max_by_key(|o| o.start) {
        let (name, start, end) = (&o.name, o.start, o.end);
        d = d.note(format!("nearest allocation below: `{name}` [{start:#x}, {end:#x})"));
    }
    d
}

/// The fault of an address that is not aligned to `need` bytes.
pub fn misaligned(
    name: &str,
    operand: &str,
    at: u64,
    need: u64,
    scalar: bool,
    all: &[Owner],
) -> Diagnostic {
    let unit = if scalar { "a scalar" } else { "the VEC" };
    let mut d = Diagnostic::error(
        "memcheck.align",
        format!("UB address accessed by {unit} instruction is not aligned: {name} at {at:#x}"),
    )
    .note(format!(
        "operand `{operand}` must be aligned to {need} bytes; it is {} past",
        at % need.max(1)
    ));
    if let Some(o) = owners(all, at, at.saturating_add(1)) {
        d = d.note(format!("the address lies in `{o}`"));
    }
    d.help(format!(
        "use {:#x} or {:#x}",
        at - at % need.max(1),
        at.saturating_add(need - at % need.max(1))
    ))
}

/// A transfer that leaves global memory: `buffer` is the one its address lies in or behind, with
/// its first byte and its size.
pub fn outside_gm(
    name: &str,
    operand: &str,
    p: &Piece,
    buffer: Option<(&str, u64, u64)>,
) -> Diagnostic {
    let device = "DDR address of the MTE instruction is out of range";
    let place = format!("operand `{operand}`, burst {}", p.repeat);
    let Some((buffer, base, held)) = buffer else {
        let range = format!("[{}, {})", hex(p.start), hex(p.end));
        return Diagnostic::error(
            "memcheck.gm_range",
            format!("{device}: {name} accesses GM {range}, where no buffer is"),
        )
        .note(place)
        .help("start from a pointer argument: addresses of global memory are its values");
    };
    let (start, end) = (p.start - i128::from(base), p.end - i128::from(base));
    let mut d = Diagnostic::error(
        "memcheck.gm_range",
        format!(
            "{device}: {name} accesses bytes [{start}, {end}) of `{buffer}`, which holds {held}"
        ),
    )
    .note(place);
    if end > i128::from(held) && start < i128::from(held) {
        d = d.note(format!("the last {} bytes lie behind the buffer", end - i128::from(held)));
    }
    d.help("check the burst length, the gaps and the size of the buffer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Role, Space};
    use crate::mask::Mask;

    const W: Walk = Walk {
        space: Space::Ub,
        role: Role::Read,
        elem: 4,
        blocks: 8,
        unit: 32,
        blk: 32,
        rep: 256,
    };

    #[test]
    fn only_active_elements_count() {
        let lanes = Lanes::Norm(Mask::first(8));
        assert_eq!(extent(0, &W, 2), (0, 512));
        assert_eq!(first_outside(0, &W, 2, &lanes, 288), None);
        let p = first_outside(0, &W, 2, &lanes, 287).unwrap();
        assert_eq!((p.repeat, p.block, p.start, p.end), (1, 0, 256, 288));
        let p = first_outside(32, &Walk { rep: -64, ..W }, 2, &lanes, 4096).unwrap();
        assert_eq!((p.repeat, p.start), (1, -32));
        assert_eq!(hex(p.start), "-0x20");
    }

    #[test]
    fn extremes_do_not_overflow() {
        let w = Walk { rep: i64::MAX, blk: i32::MIN, ..W };
        assert!(first_outside(u64::MAX, &w, 3, &Lanes::All, 1).is_some());
        assert_eq!(extent(u64::MAX, &w, 0), (0, 0));
    }
}
