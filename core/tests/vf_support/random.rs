//! Random programs: loops of up to three levels over loads, stores, computations, predicates,
//! scalars and barriers.

use super::*;
use proptest::prelude::*;

/// An instruction to be: mnemonic, registers and address by number.
#[derive(Clone, Debug)]
pub struct Raw {
    op: u8,
    regs: [u16; 3],
    base: i64,
    deltas: [i64; 3],
    known: bool,
    post: bool,
}

/// Instruction, or loop of trips; are they dynamic, can it be a hardware loop?
#[derive(Clone, Debug)]
pub enum Tree {
    Inst(Raw),
    Loop(u64, [bool; 2], Vec<Tree>),
}

fn raw() -> impl Strategy<Value = Tree> {
    let delta = prop_oneof![
        3 => Just(256i64), 1 => Just(0i64), 1 => Just(512), 1 => Just(96), 1 => Just(-256), 1 => Just(4)
    ];
    (
        0u8..26,
        [0u16..9, 0u16..9, 0u16..9],
        (0i64..64).prop_map(|b| b * 32),
        [delta.clone(), delta.clone(), delta],
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(op, regs, base, deltas, known, post)| {
            Tree::Inst(Raw { op, regs, base, deltas, known, post })
        })
}

fn trips() -> impl Strategy<Value = u64> {
    prop_oneof![2 => 1u64..8, 2 => 8u64..80, 1 => 80u64..400]
}

/// Up to three levels of loops.
pub fn tree() -> impl Strategy<Value = Vec<Tree>> {
    let inner = prop::collection::vec(raw(), 1..9);
    let kind = || (any::<bool>(), prop::bool::weighted(0.8)).prop_map(|(d, h)| [d, h]);
    let looped = (trips(), kind(), inner).prop_map(|(n, d, b)| Tree::Loop(n, d, b));
    let two = prop_oneof![2 => raw(), 2 => looped];
    let outer = (1u64..40, kind(), prop::collection::vec(two, 1..5))
        .prop_map(|(n, d, b)| Tree::Loop(n, d, b));
    let three = prop_oneof![1 => raw(), 3 => outer];
    let top = (1u64..9, kind(), prop::collection::vec(three.clone(), 1..3))
        .prop_map(|(n, d, b)| Tree::Loop(n, d, b));
    prop::collection::vec(prop_oneof![2 => three, 1 => top], 1..4)
}

pub fn build(b: &mut Build, t: &[Tree]) -> Vec<Node> {
    t.iter()
        .map(|t| match t {
            Tree::Inst(r) => inst(b, r),
            Tree::Loop(n, [dynamic, hardware], body) => {
                let body = build(b, body);
                Node::Loop(Loop { trips: *n, body, hardware: *hardware, dynamic: *dynamic })
            }
        })
        .collect()
}

fn inst(b: &mut Build, r: &Raw) -> Node {
    let region = if r.known { UB } else { 1 + u32::from(r.regs[2] % 2) };
    let mut access = Access::contiguous(region, r.base, &r.deltas, 256);
    if r.regs[1] == 8 {
        (access.bytes, access.pieces, access.stride) = (32, 8, 32 * i32::from(r.regs[2]) - 96);
    }
    let align = Reg { file: File::Align, id: r.regs[2] % 2 };
    let [x, y, z] = r.regs;
    let node = match r.op {
        0..=4 => b.load(x),
        5..=8 => b.store(x),
        9 | 10 => b.op("vadd", x, &[y, z]),
        11 => b.op("vmul", x, &[y, z]),
        12 => b.op("vexp", x, &[y]),
        13 => b.op("vdiv", x, &[y, z]),
        14 => b.op("vcmax", x, &[y]),
        15 => b.op("vdup", x, &[y]),
        16 => b.op("vmax", x, &[x, y]),
        17 => b.inst("pset", Kind::Predicate, &[mreg(x % 3)], &[]),
        18 => b.inst("vsel", Kind::Compute, &[vreg(x)], &[vreg(y), vreg(z), mreg(x % 3)]),
        19 => b.inst("vcmp", Kind::Compute, &[mreg(x % 3)], &[vreg(y), vreg(z)]),
        20 => b.inst("sadd", Kind::Scalar, &[], &[]),
        21 => b.bar(Bar::StoreLoad),
        22 => b.bar(Bar::LoadStore),
        23 => b.inst("vldus", Kind::Load, &[vreg(x), align], &[align]),
        24 => b.inst("vstus", Kind::Store, &[align], &[vreg(x), align]),
        _ => b.bar(if x > 4 { Bar::All } else { Bar::StoreStore }),
    };
    if r.op < 9 {
        let node = b.at(node, access);
        if r.post {
            b.post_update(&node);
        }
        return node;
    }
    node
}

/// Number of [`tighten`]ings.
pub const SETTINGS: u8 = 7;

/// Makes one of the limits felt that programs seldom meet, or turns an optional rule on.
pub fn tighten(params: &mut VfParams, which: u8) {
    let set: &[(&str, u32)] = match which {
        1 => &[("vf.registers", 12)],
        2 => &[("vf.credits", 5), ("vf.bar.store_store", 3)],
        3 => &[("vf.loads_first", 0), ("vf.exu_queue", 2)],
        4 => &[("vf.software_loop", 83), ("vf.window", 24)],
        5 => &[("vf.bar.store_store", 3), ("vf.exus", 1)],
        6 => &[("vf.ub_shared", 0), ("vf.exu_inflight", 2), ("vf.dispatch_width", 1)],
        _ => &[],
    };
    for &(path, v) in set {
        assert!(params.set(path, v), "{path}");
    }
}
