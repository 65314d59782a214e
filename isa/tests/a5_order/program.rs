//! Random programs of the 950 as data, and their text.

use proptest::prelude::*;
use ptoemu_core::stream::Pipe;
use std::fmt::Write;

/// Bytes of the part of UB that programs use, and of their buffer in global memory.
pub const UB: u64 = 2048;
pub const GM: u64 = 2048;

/// Distributions of loads: name for elements of 2 and 4 bytes, bytes read.
pub const LOADS: [(&str, &str, u64); 6] = [
    ("NORM", "NORM", 256),
    ("BRC_B16", "BRC_B32", 0),
    ("BLK", "BLK", 32),
    ("E2B_B16", "E2B_B32", 0),
    ("US_B16", "UNPK_B16", 128),
    ("DS_B16", "NORM", 512),
];
/// Distributions of stores.
pub const STORES: [(&str, &str); 3] =
    [("NORM_B16", "NORM_B32"), ("ONEPT_B16", "ONEPT_B32"), ("PK_B16", "PK_B32")];
/// Patterns of predicates.
pub const MASKS: [&str; 5] = ["PAT_ALL", "PAT_VL8", "PAT_VL1", "PAT_H", "PAT_M3"];
/// Kinds of `mem_bar`: first class, second class.
pub const BARS: [(&str, &[usize], &[usize]); 12] = [
    ("VV_ALL", &[0, 1, 2, 3], &[0, 1, 2, 3]),
    ("SV_ALL", &[2, 3], &[0, 1]),
    ("VS_ALL", &[0, 1], &[2, 3]),
    ("VST_VLD", &[1], &[0]),
    ("VLD_VST", &[0], &[1]),
    ("VST_VST", &[1], &[1]),
    ("ST_VLD", &[3], &[0]),
    ("LD_VST", &[2], &[1]),
    ("ST_VST", &[3], &[1]),
    ("VST_LD", &[1], &[2]),
    ("VLD_ST", &[0], &[3]),
    ("VST_ST", &[1], &[3]),
];

/// A statement of a vecscope. Registers are 0 to 3; addresses are bytes.
#[derive(Clone, Debug)]
pub enum Micro {
    Load { d: usize, dist: usize, at: u64 },
    Pair { d: usize, at: u64 },
    Add { d: usize, a: usize, b: usize, m: usize },
    Select { d: usize, a: usize, b: usize, m: usize },
    Interleave { d: usize, a: usize, b: usize },
    Max { d: usize, a: usize, m: usize },
    Store { a: usize, dist: usize, at: u64, m: usize },
    Both { a: usize, b: usize, at: u64 },
    ScalarLoad(u64),
    ScalarStore(u64),
    Bar(usize),
}

/// A statement of a kernel.
#[derive(Clone, Debug)]
pub enum Step {
    /// Burst length, number, stride in GM, stride in UB.
    In {
        ub: u64,
        gm: u64,
        len: u64,
        n: u64,
        steps: [u64; 2],
    },
    Out {
        ub: u64,
        gm: u64,
        len: u64,
        n: u64,
        steps: [u64; 2],
    },
    /// Element bytes and statements.
    Scope(u64, Vec<Micro>),
    ScalarLoad(u64),
    ScalarStore(u64),
    Barrier(Pipe),
    Flag(Pipe, Pipe, u8),
    Get(Pipe, u8),
    Release(Pipe, u8),
}

impl Step {
    /// Pipe of an access.
    pub fn pipe(&self) -> Option<Pipe> {
        Some(match self {
            Step::In { .. } => Pipe::Mte2,
            Step::Out { .. } => Pipe::Mte3,
            Step::Scope(..) => Pipe::V,
            Step::ScalarLoad(_) | Step::ScalarStore(_) => Pipe::S,
            _ => return None,
        })
    }
}

fn micro() -> impl Strategy<Value = Micro> {
    let r = || 0usize..4;
    let m = || 0..MASKS.len();
    // Few places, so that accesses meet.
    let block = || (0u64..8).prop_map(|n| 64 * n);
    let byte = || (0u64..96).prop_map(|n| 4 * n);
    prop_oneof![
        4 => (r(), 0..LOADS.len(), block()).prop_map(|(d, dist, at)| Micro::Load { d, dist, at }),
        1 => (r(), block()).prop_map(|(d, at)| Micro::Pair { d, at }),
        2 => (r(), r(), r(), m()).prop_map(|(d, a, b, m)| Micro::Add { d, a, b, m }),
        1 => (r(), r(), r(), m()).prop_map(|(d, a, b, m)| Micro::Select { d, a, b, m }),
        1 => (r(), r(), r()).prop_map(|(d, a, b)| Micro::Interleave { d, a, b }),
        1 => (r(), r(), m()).prop_map(|(d, a, m)| Micro::Max { d, a, m }),
        5 => (r(), 0..STORES.len(), block(), m())
            .prop_map(|(a, dist, at, m)| Micro::Store { a, dist, at, m }),
        1 => (r(), r(), block()).prop_map(|(a, b, at)| Micro::Both { a, b, at }),
        1 => byte().prop_map(Micro::ScalarLoad),
        1 => byte().prop_map(Micro::ScalarStore),
    ]
}

/// Accesses alone.
pub fn accesses() -> impl Strategy<Value = Vec<Step>> {
    let transfer = || {
        (0u64..16, 0u64..64, 1u64..20, 1u64..4, 0u64..3, 0u64..3).prop_map(
            |(ub, gm, len, n, a, b)| {
                let len = 4 * len;
                (32 * ub, 8 * gm, len, n, [len + 8 * a, len.next_multiple_of(32) + 32 * b])
            },
        )
    };
    let step = prop_oneof![
        2 => transfer().prop_map(|(ub, gm, len, n, steps)| Step::In { ub, gm, len, n, steps }),
        2 => transfer().prop_map(|(ub, gm, len, n, steps)| Step::Out { ub, gm, len, n, steps }),
        4 => (any::<bool>(), prop::collection::vec(micro(), 1..9))
            .prop_map(|(wide, body)| Step::Scope(if wide { 4 } else { 2 }, body)),
        1 => (0u64..128).prop_map(|n| Step::ScalarLoad(4 * n)),
        1 => (0u64..128).prop_map(|n| Step::ScalarStore(4 * n)),
    ];
    prop::collection::vec(step, 2..7)
}

/// Text under way.
#[derive(Default)]
struct Text {
    out: String,
    names: usize,
}

impl Text {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "    {text}");
    }

    /// A constant.
    fn number(&mut self, n: u64, t: &str) -> String {
        self.names += 1;
        let name = format!("%n{}", self.names);
        self.line(&format!("{name} = arith.constant {n} : {t}"));
        name
    }

    /// A pointer to UB.
    fn pointer(&mut self, at: u64, t: &str) -> String {
        let n = self.number(at, "i64");
        self.names += 1;
        let name = format!("%p{}", self.names);
        self.line(&format!("{name} = pto.castptr {n} : i64 -> !pto.ptr<{t}, ub>"));
        name
    }
}

fn transfer(t: &mut Text, inward: bool, (ub, gm): (u64, u64), (len, n): (u64, u64), s: [u64; 2]) {
    let to = t.pointer(ub, "i8");
    let at = t.number(gm, "index");
    t.names += 1;
    let from = format!("%g{}", t.names);
    t.line(&format!("{from} = pto.addptr %x, {at} : !pto.ptr<i8, gm> -> !pto.ptr<i8, gm>"));
    let (len, n) = (t.number(len, "i64"), t.number(n, "i64"));
    let [a, b] = s.map(|s| t.number(s, "i64"));
    let (p, q, i) = ("!pto.ptr<i8, gm>", "!pto.ptr<i8, ub>", "i64, i64, i64, i64");
    if inward {
        let text = format!("{from}, {to}, %z, {len} nburst({n}, {a}, {b}) : {p}, {q}, i64, {i}");
        t.line(&format!("pto.mte_gm_ub {text}"));
    } else {
        let text = format!("{to}, {from}, {len} nburst({n}, {b}, {a}) : {q}, {p}, {i}");
        t.line(&format!("pto.mte_ub_gm {text}"));
    }
}

fn scope(t: &mut Text, size: u64, body: &[Micro]) {
    let (e, v) = match size {
        2 => ("i16", "!pto.vreg<128xi16>"),
        _ => ("i32", "!pto.vreg<64xi32>"),
    };
    let (m, p, g) = (format!("!pto.mask<b{}>", 8 * size), format!("!pto.ptr<{e}, ub>"), 8 * size);
    let mut at: Vec<String> = Vec::new();
    for micro in body {
        let here = match micro {
            Micro::Load { at, .. }
            | Micro::Pair { at, .. }
            | Micro::Store { at, .. }
            | Micro::Both { at, .. } => t.pointer(*at, e),
            Micro::ScalarLoad(at) | Micro::ScalarStore(at) => t.pointer(*at, "i32"),
            _ => String::new(),
        };
        at.push(here);
    }
    t.line("pto.vecscope {");
    for (n, pattern) in MASKS.iter().enumerate() {
        t.line(&format!("%m{n} = pto.pset_b{g} \"{pattern}\" : {m}"));
    }
    for r in 0..4 {
        t.line(&format!("%r{r} = pto.vbr %c{e} : {e} -> {v}"));
    }
    let mut now: Vec<String> = (0..4).map(|r| format!("%r{r}")).collect();
    for (n, micro) in body.iter().enumerate() {
        let here = &at[n];
        let (new, other) = (format!("%v{n}"), format!("%w{n}"));
        let name = |pair: (&'static str, &'static str)| if size == 2 { pair.0 } else { pair.1 };
        let text = match micro {
            Micro::Load { dist, .. } => {
                let (a, b, _) = LOADS[*dist];
                format!("{new} = pto.vlds {here}[%c0] {{dist = \"{}\"}} : {p} -> {v}", name((a, b)))
            }
            Micro::Pair { .. } => {
                format!(
                    "{new}, {other} = pto.vldsx2 {here}[%c0], \"DINTLV_B{g}\" : {p}, index -> {v}, {v}"
                )
            }
            Micro::Add { a, b, m: k, .. } => {
                format!("{new} = pto.vadd {}, {}, %m{k} : {v}, {v}, {m} -> {v}", now[*a], now[*b])
            }
            Micro::Select { a, b, m: k, .. } => {
                format!("{new} = pto.vsel {}, {}, %m{k} : {v}, {v}, {m} -> {v}", now[*a], now[*b])
            }
            Micro::Interleave { a, b, .. } => {
                format!(
                    "{new}, {other} = pto.vintlv {}, {} : {v}, {v} -> {v}, {v}",
                    now[*a], now[*b]
                )
            }
            Micro::Max { a, m: k, .. } => {
                format!("{new} = pto.vcmax {}, %m{k} : {v}, {m} -> {v}", now[*a])
            }
            Micro::Store { a, dist, m: k, .. } => {
                let dist = name(STORES[*dist]);
                format!(
                    "pto.vsts {}, {here}[%c0], %m{k} {{dist = \"{dist}\"}} : {v}, {p}, {m}",
                    now[*a]
                )
            }
            Micro::Both { a, b, .. } => format!(
                "pto.vstsx2 {}, {}, {here}[%c0], \"INTLV_B{g}\", %m0 : {v}, {v}, {p}, index, {m}",
                now[*a], now[*b]
            ),
            Micro::ScalarLoad(_) => {
                format!("{new} = pto.load_scalar {here}[%c0] : !pto.ptr<i32, ub> -> i32")
            }
            Micro::ScalarStore(_) => {
                format!("pto.store_scalar %ci32, {here}[%c0] : !pto.ptr<i32, ub>, i32")
            }
            Micro::Bar(kind) => format!("pto.mem_bar \"{}\"", BARS[*kind].0),
        };
        t.line(&text);
        match micro {
            Micro::Load { d, .. }
            | Micro::Add { d, .. }
            | Micro::Select { d, .. }
            | Micro::Max { d, .. } => now[*d] = new,
            Micro::Pair { d, .. } | Micro::Interleave { d, .. } => {
                now[*d] = new;
                now[(*d + 1) % 4] = other;
            }
            _ => {}
        }
    }
    t.line("}");
}

/// The program as `.pto`.
pub fn text(steps: &[Step]) -> String {
    let mut t = Text::default();
    for step in steps {
        match step {
            Step::In { ub, gm, len, n, steps } => {
                transfer(&mut t, true, (*ub, *gm), (*len, *n), *steps)
            }
            Step::Out { ub, gm, len, n, steps } => {
                transfer(&mut t, false, (*ub, *gm), (*len, *n), *steps);
            }
            Step::Scope(size, body) => scope(&mut t, *size, body),
            Step::ScalarLoad(at) => {
                let p = t.pointer(*at, "i32");
                t.names += 1;
                let name = format!("%s{}", t.names);
                t.line(&format!("{name} = pto.load_scalar {p}[%c0] : !pto.ptr<i32, ub> -> i32"));
            }
            Step::ScalarStore(at) => {
                let p = t.pointer(*at, "i32");
                t.line(&format!("pto.store_scalar %ci32, {p}[%c0] : !pto.ptr<i32, ub>, i32"));
            }
            Step::Barrier(p) => t.line(&format!("pto.barrier #pto.pipe<{}>", p.name())),
            Step::Flag(a, b, id) => {
                for what in ["set", "wait"] {
                    let ends = format!("\"{}\", \"{}\", \"EVENT_ID{id}\"", a.name(), b.name());
                    t.line(&format!("pto.{what}_flag[{ends}]"));
                }
            }
            Step::Get(p, id) => t.line(&format!("pto.get_buf \"{}\", {id}, 0", p.name())),
            Step::Release(p, id) => t.line(&format!("pto.rls_buf \"{}\", {id}, 0", p.name())),
        }
    }
    format!(
        "module attributes {{pto.target_arch = \"a5\"}} {{
  func.func @k(%x: !pto.ptr<i8, gm>) attributes {{pto.aicore}} {{
    %z = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %ci16 = arith.constant 3 : i16
    %ci32 = arith.constant 3 : i32
{}    return
  }}
}}
",
        t.out
    )
}
