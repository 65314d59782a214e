//! Where the bytes of vector registers come from: for every result its micro-op and operands, so
//! that what reaches memory or a predicate can be followed back to the bytes of UB it was loaded
//! from. Lanes that nobody wants in the end were not read, as far as the checks are concerned.

use super::core::Step;
use super::form::Form;
use super::mode::Dist;
use super::reg::{VL, byte_mask, lanes_where, whole_lanes};
use super::table::Op;
use ptoemu_core::mask::Mask;

/// A load that filled a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lineage {
    /// First byte loaded.
    pub base: u64,
    /// Number of the load in its vecscope.
    pub access: u32,
    /// How it distributes elements.
    pub dist: Dist,
    /// First or second register of the load.
    pub half: u8,
}

/// How a register came to its contents.
#[derive(Clone, Debug)]
enum What {
    Load(Lineage),
    /// A micro-op, its operands, and which of its results it is.
    Op(Step, [u32; 3], u8),
    /// Lanes of this size of the first register, by the numbers in the second.
    Pick(usize, Box<[u8; VL]>, [u32; 2]),
    /// Lanes of this size from the second where the mask is set, else from the first.
    Merge(usize, [u32; 2]),
}

#[derive(Clone, Debug)]
struct Node {
    what: What,
    /// Governing predicate.
    mask: Mask,
    /// Bytes that were followed back already.
    seen: Mask,
}

/// The registers of a vecscope; 0 stands for contents that no load has a part in.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    nodes: Vec<Node>,
    stack: Vec<(u32, Mask)>,
}

impl Flow {
    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
    }

    fn push(&mut self, what: What, mask: Mask) -> u32 {
        self.nodes.push(Node { what, mask, seen: Mask::NONE });
        u32::try_from(self.nodes.len()).unwrap_or(0)
    }

    /// A register filled by a load.
    pub fn load(&mut self, from: Lineage) -> u32 {
        self.push(What::Load(from), Mask::NONE)
    }

    /// Result `half` of a micro-op.
    pub fn op(&mut self, step: &Step, mask: Mask, args: [u32; 3], half: u8) -> u32 {
        match args {
            [0, 0, 0] => 0,
            _ => self.push(What::Op(*step, args, half), mask),
        }
    }

    /// Lanes of `size` bytes of `from[0]`, picked by the numbers `picks` that `from[1]` holds.
    pub fn pick(&mut self, size: usize, picks: Box<[u8; VL]>, from: [u32; 2]) -> u32 {
        match from {
            [0, 0] => 0,
            _ => self.push(What::Pick(size, picks, from), Mask::NONE),
        }
    }

    /// `new` in the active lanes of `size` bytes, `old` in the others.
    pub fn merge(&mut self, size: usize, mask: Mask, old: u32, new: u32) -> u32 {
        match (old, new) {
            (0, 0) => 0,
            _ => self.push(What::Merge(size, [old, new]), mask),
        }
    }

    /// Calls `f` with every load that bytes `used` of a register come from, and the bytes of its
    /// register, unless they were named before.
    pub fn follow(&mut self, register: u32, used: Mask, mut f: impl FnMut(&Lineage, &Mask)) {
        let mut stack = std::mem::take(&mut self.stack);
        stack.push((register, used));
        while let Some((id, used)) = stack.pop() {
            let Some(node) = (id as usize).checked_sub(1).and_then(|i| self.nodes.get_mut(i))
            else {
                continue;
            };
            let fresh = without(&used, &node.seen);
            if fresh.is_empty() {
                continue;
            }
            node.seen = or(&node.seen, &fresh);
            match &node.what {
                What::Load(from) => f(from, &fresh),
                What::Op(step, args, half) => {
                    for (n, arg) in args.iter().enumerate().filter(|(_, a)| **a != 0) {
                        let of = (step, &node.mask, *half);
                        stack.push((*arg, wanted(of, n, &fresh)));
                    }
                }
                What::Pick(size, picks, [from, index]) => {
                    let lanes = whole_lanes(&fresh, *size);
                    let lane = |i: usize| usize::from(picks[i / size]) * size + i % size;
                    stack.push((*from, moved(&lanes, |i| Some(lane(i)))));
                    stack.push((*index, lanes));
                }
                What::Merge(size, [old, new]) => {
                    let active = byte_mask(&node.mask, *size);
                    stack.push((*new, fresh.and(&active)));
                    stack.push((*old, without(&fresh, &active)));
                }
            }
        }
        self.stack = stack;
    }
}

fn or(a: &Mask, b: &Mask) -> Mask {
    let (a, b) = (a.words(), b.words());
    Mask::from_words(std::array::from_fn(|i| a[i] | b[i]))
}

fn without(a: &Mask, b: &Mask) -> Mask {
    let (a, b) = (a.words(), b.words());
    Mask::from_words(std::array::from_fn(|i| a[i] & !b[i]))
}

/// Every byte `from(i)` of the bytes `i` that are set.
fn moved(used: &Mask, from: impl Fn(usize) -> Option<usize>) -> Mask {
    let mut words = [0u64; 4];
    for i in used.iter().filter_map(from).filter(|i| *i < VL) {
        words[i / 64] |= 1 << (i % 64);
    }
    Mask::from_words(words)
}

/// Bytes of vector operand `n` that bytes `used` of a result are computed from.
fn wanted((step, mask, half): (&Step, &Mask, u8), n: usize, used: &Mask) -> Mask {
    let (op, size) = (step.op, step.st.size());
    let active = || byte_mask(mask, size);
    let part = usize::from(step.mods.part);
    match op.form() {
        _ if op == Op::vusqz => Mask::NONE,
        _ if gathers(op) => active(),
        Form::V2 if op == Op::vsel => {
            let lanes = whole_lanes(used, size);
            if n == 0 { lanes.and(&active()) } else { without(&lanes, &active()) }
        }
        Form::V2Part if step.dt.size() > size => widened(mask, size, 2 * size, part & 1, used),
        Form::Convert if step.dt.size() > size => {
            let to = step.dt.size();
            widened(mask, size, to, part % (to / size), used)
        }
        Form::V1
        | Form::V2
        | Form::V3
        | Form::VS
        | Form::VVS
        | Form::V2Part
        | Form::Trunc
        | Form::Wide
        | Form::Convert => whole_lanes(used, size).and(&active()),
        Form::Dup if part == 0 => Mask::first(size),
        Form::Dup => byte_mask(&lanes_where(size, |i| i == VL / size - 1), size),
        Form::VPair => paired(op, size, usize::from(half), n, used),
        Form::Pack => {
            // The low half of lane i stands at slot i of one half.
            let (to, base) = (size / 2, VL / 2 * (part & 1));
            let from =
                |i: usize| Some(i.checked_sub(base)?).map(|i| i / to.max(1) * size + i % to.max(1));
            moved(used, from)
        }
        Form::Same => *used,
        _ => Mask::first(VL),
    }
}

/// Do results depend on every active lane?
fn gathers(op: Op) -> bool {
    matches!(
        op,
        Op::vcadd
            | Op::vcmax
            | Op::vcmin
            | Op::vcgadd
            | Op::vcgmax
            | Op::vcgmin
            | Op::vcpadd
            | Op::vsqz
    )
}

/// Elements of `size` bytes that stand in one part of lanes of `to` bytes.
fn widened(mask: &Mask, size: usize, to: usize, part: usize, used: &Mask) -> Mask {
    // The governing bit is that of the wider lane for conversions, of the narrower for others.
    let lanes = whole_lanes(used, to);
    let on = |lane: usize| mask.get(lane * to) || mask.get(lane * to + part * size);
    moved(&lanes, |i| (on(i / to) && i % to < size).then_some(i / to * to + part * size + i % to))
}

/// Interleaving and its reverse.
fn paired(op: Op, size: usize, half: usize, n: usize, used: &Mask) -> Mask {
    moved(used, |i| {
        let (lane, byte) = (i / size, i % size);
        let lanes = VL / size;
        let (operand, from) = match op {
            Op::vintlv => (lane % 2, half * lanes / 2 + lane / 2),
            _ => (2 * lane / lanes, (2 * lane + half) % lanes),
        };
        (operand == n).then_some(from * size + byte)
    })
}

#[cfg(test)]
mod tests {
    use super::super::core::{Args, Core, Outs};
    use super::super::mode::Mods;
    use super::super::reg::VReg;
    use super::*;
    use proptest::prelude::*;
    use ptoemu_core::dtype::DType::{self, *};
    use ptoemu_core::state::Memory;

    /// Micro-ops with their types, and parts they have.
    const OPS: [(Op, DType, DType, u8); 15] = [
        (Op::vadd, I32, I32, 1),
        (Op::vsel, I16, I16, 1),
        (Op::vshl, U16, U16, 1),
        (Op::vintlv, I8, I8, 1),
        (Op::vintlv, I32, I32, 1),
        (Op::vdintlv, I16, I16, 1),
        (Op::vpack, U16, U32, 2),
        (Op::vsunpack, I16, I8, 1),
        (Op::vcvt, I32, I16, 2),
        (Op::vcvt, I16, I32, 2),
        (Op::vcvt, U8, U32, 4),
        (Op::vcadd, I32, I32, 1),
        (Op::vsqz, I16, I16, 1),
        (Op::vdup, I32, I32, 2),
        (Op::vselr, U16, U16, 1),
    ];

    proptest! {
        /// Bytes of an operand that are not wanted change nothing of the result that is.
        #[test]
        fn bytes_that_are_not_wanted_do_not_matter(
            which in 0..OPS.len(), part in 0u8..4, half in 0u8..2, n in 0usize..2,
            mask in any::<[u64; 4]>(), used in any::<[u64; 4]>(), data in any::<[u64; 8]>(),
            other in any::<u64>(),
        ) {
            let (op, dt, st, parts) = OPS[which];
            let mut step = Step::new(op, st);
            (step.dt, step.mods) = (dt, Mods { part: part % parts, ..Mods::default() });
            if op == Op::vdup {
                // The form that takes a register.
                step.mods.dist = Dist::Norm;
            }
            let (mask, used) = (Mask::from_words(mask), Mask::from_words(used));
            let mut v = [0, 1, 2].map(|k| VReg::splat(data[k], 8));
            for (i, b) in v.iter_mut().flat_map(|v| v.bytes_mut()).enumerate() {
                *b ^= (data[3 + i % 5] >> (i % 57)) as u8;
            }
            let half = if op.form() == Form::VPair { half } else { 0 };
            let result = |v: &[VReg; 3]| {
                let mut outs = Outs::default();
                let args = Args { v: [&v[0], &v[1], &v[2]], m: [mask; 3], ..Args::default() };
                let mut ub = Memory::new(512, 0);
                let done = Core::default().exec(&mut ub, &step, &args, &mut outs);
                prop_assert!(done.is_ok(), "{:?}", done.err().map(|s| s.0.message));
                Ok(outs.v[usize::from(half)])
            };
            if n >= op.form().vectors() {
                return Ok(());
            }
            let want = wanted((&step, &mask, half), n, &used);
            let before = result(&v)?;
            let wild = VReg::splat(other, 8);
            for i in (0..VL).filter(|i| !want.get(*i)) {
                v[n].bytes_mut()[i] = wild.bytes()[i] ^ i as u8;
            }
            let after = result(&v)?;
            for i in used.iter() {
                prop_assert_eq!(before.bytes()[i], after.bytes()[i], "{} byte {}", op.mnemonic(), i);
            }
        }
    }

    #[test]
    fn only_lanes_that_are_wanted_in_the_end() {
        let mut flow = Flow::default();
        let from = |access| Lineage { base: 0, access, dist: Dist::Norm, half: 0 };
        let (a, b) = (flow.load(from(1)), flow.load(from(2)));
        let all = Mask::first(VL);
        let sum = flow.op(&Step::new(Op::vadd, F32), all, [a, b, 0], 0);
        let mut seen = Vec::new();
        flow.follow(sum, Mask::first(6), |l, m| seen.push((l.access, *m)));
        seen.sort_by_key(|s| s.0);
        assert_eq!(seen, [(1, Mask::first(8)), (2, Mask::first(8))]);
        flow.follow(sum, Mask::first(6), |_, _| panic!("named before"));
        let mut picks = Box::new([0; VL]);
        picks[0] = 3;
        let third = flow.load(from(3));
        let picked = flow.pick(4, picks, [third, 0]);
        flow.follow(picked, Mask::first(1), |l, m| {
            assert_eq!((l.access, *m), (3, byte_mask(&lanes_where(4, |i| i == 3), 4)));
        });
        let twice = flow.merge(4, Mask::first(1), b, sum);
        seen.clear();
        flow.follow(twice, Mask::first(16), |l, m| seen.push((l.access, *m)));
        assert_eq!(seen, [(2, without(&Mask::first(16), &Mask::first(8)))]);
    }
}
