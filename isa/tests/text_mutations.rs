//! Damaged texts: never a panic, every caret inside the text, and whatever still reads without
//! an error prints to a text that reads and prints the same.

use ptoemu_core::diag::SourceFile;
use ptoemu_isa::text::{parse, print};

const PROGRAMS: &[&str] = &[
    r#"
// A tile program.
#loc1 = loc("k.py":3:1)
!row = !pto.tile_buf<vec, 16x64xf32, valid=16x63>
module attributes {pto.target_arch = "a2a3", "pto.device-spec" = "Ascend910B1"} {
  func.func private @h(!pto.ptr<f32>, i32) -> (i32, f32)
  func.func @k(%src: !pto.ptr<f32, gm>, %n: i32 {pto.x}) attributes {pto.entry, pto.aicore} {
    %c0 = arith.constant 0 : index
    %f = arith.constant -1.5e-3 : f32
    %v = pto.make_tensor_view %src, shape = [%c0, 16] strides = [%c0, %c0] : !pto.tensor_view<?x16xf32>
    %t = pto.alloc_tile addr = %a valid_row = %n : !row
    pto.tcmps ins(%t, %f {cmpMode = #pto<cmp lt>} : !row, f32)
      outs(%t : !pto.tile_buf<loc=vec, dtype=ui8, rows=16, cols=64, v_row=?, v_col=64, pad=1>)
    %_:2 = scf.for %i = %c0 to %c1 step %c2 iter_args(%x = %a, %y = %b) -> (i32, f32) {
      %q:2 = scf.if %p -> (i32, f32) { scf.yield %x, %y : i32, f32 } else { scf.yield %y#1, %x : i32, f32 }
      scf.yield %q#0, %q#1 : i32, f32
    } loc(#loc1)
    scf.while (%w = %c0) : (index) -> (index) {
      scf.condition(%g) %w : index
    } do {
    ^bb0(%z: index):
      scf.yield %z : index
    }
    pto.mte_l0c_gm %s, %d, pre_quant(%q, mode = qf322f16), nz2nd, loop3(%a, %b), sat
      : !pto.ptr<f32, l0c>, <f16, gm>, nz2nd, loop3(i64), ctrl i64, i1
    "pto.tmov"(%a, %b) <{n = array<i32: 1, 0>}> ({ pto.x }) {k} : (f32, !pto.tile<...>) -> ()
    %m = memref.reinterpret_cast %a to offset: [%c0], sizes: [1, ?] : memref<0x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>, #pto.address_space<gm>>
    func.call @h(%src, %n) : (!pto.ptr<f32>, i32) -> (i32, f32)
    return
  }
}
"#,
    r#"
# Bare tile statements.
# pto.tassign %arg0, @tile(0x1000)
pto.tassign %arg1, @tile(0x2000)
%dst = trowmax %src : !pto.tile<...> -> !pto.tile<...>
%d = pto.trowmax %s, %t : (!pto.tile<f32, 16, 16>, !pto.tile<16x8xf32>) -> !pto.tile<loc=vec, f32, 16, 16, ColMajor, NoneBox, None, Zero>
pto.trowmax ins(%src, %tmp : !pto.tile_buf<...>, !pto.tile_buf<...>) outs(%dst : !pto.tile_buf<...>)
tadd %d, %a, %b : !pto.tile<f32,16,16>
tstore %t, %g[%c0, 1] #atomic=add
pto.vmax %d, %a, %b {repeat = 8, dst_blk = 1 : i64} : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>
pto.set_vector_mask -1, 0xFF
pto.set_flag["PIPE_V", <PIPE_MTE3>, #pto.event<EVENT_ID0>]
pto.vecscope {
  %m, %r = pto.plt_b32 %c7 : i32 -> !pto.mask<b32>, i32
  %v = pto.vlds %p[%i] {dist = "BRC_B32"} : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
  %o = arith.index_cast %i : index to i32
}
"#,
];

/// A small deterministic generator (xorshift).
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    const SPICE: &[u8] = b"()<>[]{}%#!@^:=,-\"/\\.x0?a \n\0\xc3";
    let at = rng.below(bytes.len());
    let len = rng.below(12).min(bytes.len() - at);
    match rng.below(6) {
        0 => drop(bytes.drain(at..at + len)),
        1 => bytes.insert(at, SPICE[rng.below(SPICE.len())]),
        2 => bytes[at] = SPICE[rng.below(SPICE.len())],
        3 => {
            let copy = bytes[at..at + len].to_vec();
            let to = rng.below(bytes.len());
            bytes.splice(to..to, copy);
        }
        4 => bytes.swap(at, at + len.saturating_sub(1)),
        _ if rng.below(8) == 0 => bytes.truncate(at.max(1)),
        _ => bytes[at] = bytes[at].wrapping_add(1),
    }
}

fn check(text: String) {
    let source = SourceFile::new("m.pto", text);
    let (file, diags) = parse(&source);
    for label in diags.iter().flat_map(|d| &d.labels) {
        assert!(source.text.get(label.span.range()).is_some(), "{:?}\n{}", label, source.text);
    }
    if !diags.is_empty() {
        return;
    }
    let once = print(&file);
    let (again, diags) = parse(&SourceFile::new("p.pto", once.clone()));
    assert!(diags.is_empty(), "{}\n----\n{once}\n{:?}", source.text, diags[0]);
    let twice = print(&again);
    assert!(once == twice, "{}\n----\n{once}\n----\n{twice}", source.text);
}

#[test]
fn damaged_texts() {
    let rounds = std::env::var("PTOEMU_MUTATIONS").ok().and_then(|n| n.parse().ok());
    let mut rng = Rng(0x9E37_79B9_7F4A_7C15);
    for program in PROGRAMS {
        let (_, diags) = parse(&SourceFile::new("p.pto", *program));
        assert!(diags.is_empty(), "{diags:?}");
        let lines: Vec<&str> = program.lines().collect();
        for round in 0..rounds.unwrap_or(4000) {
            // Whole programs find recovery faults, single lines reach the printer more often.
            let mut bytes = match round % 4 {
                0 => program.as_bytes().to_vec(),
                _ => lines[rng.below(lines.len())].as_bytes().to_vec(),
            };
            for _ in 0..=rng.below(3) {
                if !bytes.is_empty() {
                    mutate(&mut bytes, &mut rng);
                }
            }
            check(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}
