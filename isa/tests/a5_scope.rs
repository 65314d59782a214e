//! Vecscopes: carried registers, isolation, what survives, what a listener hears.

use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType;
use ptoemu_isa::a5::{Executed, Kind, LoopEntry, MicroSink, UB_BYTES};
use ptoemu_isa::exec::{self, ArgValue, Binding, Outcome};
use ptoemu_isa::{machine::Settings, text, tile};

const HEAD: &str = r#"module attributes {pto.target_arch = "a5"} {
  func.func @k(%g: !pto.ptr<f32, gm>, %n: i32) attributes {pto.aicore} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %z = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %len = arith.constant 1024 : i64
    %ub = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %g, %ub, %z, %len nburst(%one, %len, %len) : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
"#;
const TAIL: &str = r#"
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mte_ub_gm %ub, %g, %len nburst(%one, %len, %len) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    return
  }
}
"#;

fn run(body: &str, sink: Option<&mut dyn MicroSink>) -> Result<(Outcome, Vec<f32>), String> {
    let source = SourceFile::new("scope.pto", format!("{HEAD}{body}{TAIL}"));
    let (file, diags) = text::parse(&source);
    assert!(diags.is_empty(), "{diags:?}");
    let options = exec::LowerOptions {
        entry: None,
        limits: exec::Limits { align: 32, auto_end: UB_BYTES },
        tiles: vec![],
    };
    let program = exec::lower(&file, &options).map_err(|d| d[0].message.clone())?;
    let input: Vec<u8> = (0..256).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let options = exec::Options {
        args: vec![
            Binding { name: "g".into(), value: ArgValue::Bytes(input) },
            Binding { name: "n".into(), value: ArgValue::Scalar(DType::I32, 1) },
        ],
        blocks: 1,
        auto_sync: None,
        quirks: Default::default(),
        operand_order: Default::default(),
        settings: Settings::of(tile::Family::A5),
        limits: tile::Limits::of(tile::Family::A5),
        max_steps: Some(10_000),
        progress: None,
    };
    let out = exec::run_with(&program, &options, sink).map_err(|d| d[0].message.clone())?;
    if let Some(stop) = &out.stop {
        return Err(stop.message.clone());
    }
    let bytes = &out.outputs[0].bytes;
    let floats = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let floats = floats.collect();
    Ok((out, floats))
}

const SUM: &str = r#"
    pto.vecscope {
      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %none = pto.pset_b32 "PAT_ALLF" : !pto.mask<b32>
      %init = pto.vbr 0.0 : f32 -> !pto.vreg<64xf32>
      %yes = arith.constant true
      %m = scf.if %yes -> (!pto.mask<b32>) {
        scf.yield %all : !pto.mask<b32>
      } else {
        scf.yield %none : !pto.mask<b32>
      }
      %acc = scf.for %i = %c0 to %c256 step %c64 iter_args(%s = %init) -> (!pto.vreg<64xf32>) {
        %v = pto.vlds %ub[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
        %t = pto.vadd %s, %v, %m : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
        scf.yield %t : !pto.vreg<64xf32>
      }
      pto.mem_bar "VLD_VST"
      pto.vsts %acc, %ub[%c0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    }
"#;

#[test]
fn registers_flow_through_loops_and_branches() {
    let (out, values) = run(SUM, None).unwrap();
    // 0 + 64 + 128 + 192, one more four times in every lane.
    assert_eq!(values[..3], [384.0, 388.0, 392.0]);
    assert_eq!(values[64], 64.0);
    assert!(out.blocks[0].findings.is_empty(), "{:?}", out.blocks[0].findings);
}

#[derive(Default)]
struct Heard(Vec<String>);

impl MicroSink for Heard {
    fn enter_scope(&mut self, _: ptoemu_core::diag::Span) {
        self.0.push("scope".into());
    }
    fn leave_scope(&mut self) {
        self.0.push("end".into());
    }
    fn enter_loop(&mut self, l: &LoopEntry<'_>) {
        assert_eq!((l.carried.len(), l.yields.len(), l.results.len()), (1, 1, 1));
        self.0.push(format!("loop {} from {:?}", l.trips, l.range));
    }
    fn round(&mut self, iv: i64) {
        self.0.push(format!("round {iv}"));
    }
    fn leave_loop(&mut self) {
        self.0.push("done".into());
    }
    fn micro(&mut self, e: &Executed<'_>) {
        let bytes: Vec<_> = e.touched.iter().map(|t| (t.addr, t.bytes, t.write)).collect();
        let vectors = |r: &[ptoemu_isa::a5::RegId]| r.iter().filter(|r| r.kind == Kind::V).count();
        let name = e.step.op.mnemonic();
        self.0.push(format!("{name} {}>{} {bytes:?}", vectors(e.reads), vectors(e.writes)));
    }
}

#[test]
fn a_listener_hears_every_micro_op() {
    let mut heard = Heard::default();
    run(SUM, Some(&mut heard)).unwrap();
    let all = heard.0;
    assert_eq!(
        all[..5],
        ["scope", "pset_b32 0>0 []", "pset_b32 0>0 []", "vbr 0>1 []", "loop 4 from (0, 64)"]
    );
    assert_eq!(all[5..8], ["round 0", "vlds 0>1 [(0, 256, false)]", "vadd 2>1 []"]);
    assert_eq!(all[9], "vlds 0>1 [(256, 256, false)]");
    assert_eq!(all[17..], ["done", "mem_bar 0>0 []", "vsts 1>0 [(0, 256, true)]", "end"]);
}

#[test]
fn a_strict_vecscope_sees_its_arguments_only() {
    let body = r#"
    pto.strict_vecscope(%ub, %n) {
    ^bb0(%p: !pto.ptr<f32, ub>, %left: i32):
      %z0 = arith.constant 0 : index
      %m, %next = pto.plt_b32 %left : i32 -> !pto.mask<b32>, i32
      %v = pto.vlds %p[%z0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      %w = pto.vadds %v, 5.0, %m : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %w, %p[%z0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    } : (!pto.ptr<f32, ub>, i32) -> ()
"#;
    let (_, values) = run(body, None).unwrap();
    assert_eq!(values[..2], [5.0, 1.0]);
    let leak = body.replace("%p[%z0]", "%ub[%z0]");
    assert_eq!(run(&leak, None).unwrap_err(), "use of undefined value %ub");
}

#[test]
fn registers_live_in_one_vecscope() {
    let after = r#"
    pto.vecscope {
      %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
    }
    pto.vecscope {
      %v = pto.vlds %ub[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      pto.vsts %v, %ub[%c0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    }
"#;
    assert_eq!(run(after, None).unwrap_err(), "use of undefined value %m");
    let outside = "%m = pto.pset_b32 \"PAT_ALL\" : !pto.mask<b32>";
    assert_eq!(run(outside, None).unwrap_err(), "pto.pset_b32 outside a vecscope");
    // A section may hold micro-ops, but a vecscope inside starts with empty registers.
    let section = r#"
    pto.section.vector {
      %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %v = pto.vlds %ub[%c64] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      pto.vecscope {
        %a = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
        pto.vsts %v, %ub[%c0], %a : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
      }
    }
"#;
    let (out, _) = run(section, None).unwrap();
    let codes: Vec<_> = out.blocks[0].findings.iter().map(|f| f.diag.code).collect();
    assert_eq!(codes, ["initcheck.undefined"], "poison reaches GM");
}

#[test]
fn what_was_never_written_is_reported_where_it_decides() {
    let body = |read: &str| {
        format!(
            r#"
    pto.vecscope {{
      %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %v = pto.vlds %ub[%c256] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      {read}
    }}
"#
        )
    };
    let codes = |read: &str| {
        let (out, _) = run(&body(read), None).unwrap();
        out.blocks[0].findings.iter().map(|f| f.diag.code).collect::<Vec<_>>()
    };
    assert!(codes("").is_empty(), "loads may read too much");
    let sum = "%r = pto.vcadd %v, %m : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>";
    assert_eq!(codes(sum), ["initcheck.undefined"]);
    let cmp = "%r = pto.vcmps %v, 0.0, %m, \"gt\" : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.mask<b32>";
    assert_eq!(codes(cmp), ["initcheck.undefined"]);
    let tail = "%al = pto.init_align : !pto.align %k = arith.constant 3 : i32 %p = pto.addptr %ub, %c64 : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub> %w = pto.vbr 1.0 : f32 -> !pto.vreg<64xf32> %am = pto.vstus %al, %k, %w, %p : !pto.align, i32, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align";
    assert_eq!(codes(tail), ["align.flush"]);
}

/// Codes found in a vecscope of these statements over `%v` = lanes 0..64, `%w` = ones.
fn hazards(body: &str) -> Vec<String> {
    let text = format!(
        r#"
    pto.vecscope {{
      %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %w = pto.vbr 1.0 : f32 -> !pto.vreg<64xf32>
      {body}
    }}
"#
    )
    .replace("USE", "pto.vsts %v, %ub[%c64], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>")
    .replace("LOAD", "%v = pto.vlds %ub[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>")
    .replace("ADD", "%s = pto.vadd %v, %w, %m : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>")
    .replace("STORE(%w)", "pto.vsts %w, %ub[%c0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>")
    .replace("STORE(%s)", "pto.vsts %s, %ub[%c0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>")
    .replace("NEXT(%w)", "pto.vsts %w, %ub[%c64], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>");
    let (out, _) = run(&text, None).unwrap();
    let found = out.blocks[0].findings.iter().filter(|f| f.diag.code == "racecheck.mem_bar");
    found.filter_map(|f| f.ends.as_ref().map(|e| e.fix.clone())).collect()
}

#[test]
fn accesses_of_the_same_bytes_need_a_barrier() {
    let need = |kind: &str| vec![format!("pto.mem_bar \"{kind}\"")];
    assert_eq!(hazards("STORE(%w) LOAD USE"), need("VST_VLD"));
    assert!(hazards("STORE(%w) pto.mem_bar \"VST_VLD\" LOAD USE").is_empty());
    assert_eq!(hazards("STORE(%w) pto.mem_bar \"VST_VST\" LOAD USE"), need("VST_VLD"));
    assert_eq!(hazards("LOAD STORE(%w) USE"), need("VLD_VST"));
    assert!(hazards("LOAD pto.mem_bar \"VV_ALL\" STORE(%w) USE").is_empty());
    // The stored value comes from the load: the register keeps the order.
    assert!(hazards("LOAD ADD STORE(%s)").is_empty());
    assert_eq!(hazards("STORE(%w) STORE(%w)"), need("VST_VST"));
    assert!(hazards("STORE(%w) NEXT(%w)").is_empty());
    // What nobody uses is not read.
    assert!(hazards("STORE(%w) LOAD").is_empty());
    // One vecscope is done before the next begins.
    let all = "%m = pto.pset_b32 \"PAT_ALL\" : !pto.mask<b32>";
    assert!(hazards(&format!("STORE(%w) }} pto.vecscope {{ {all} LOAD USE")).is_empty());
}

#[test]
fn a_barrier_carries_order_through_memory() {
    // The load feeds a store, the barrier waits for it, so the load is long done.
    let chain = "LOAD NEXT(%v) pto.mem_bar \"VST_VLD\" %t = pto.vlds %ub[%c64] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32> STORE(%t)";
    let chain = chain
        .replace(
            "NEXT(%v)",
            "pto.vsts %v, %ub[%c64], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>",
        )
        .replace(
            "STORE(%t)",
            "pto.vsts %t, %ub[%c0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>",
        );
    assert!(hazards(&chain).is_empty());
}

/// A vecscope is one record; its loop stays a loop with affine addresses and a carried register.
#[test]
fn a_vecscope_is_recorded_with_its_loop() {
    use ptoemu_core::stream::{Kind as Record, Pipe};
    use ptoemu_core::time::vf::{Node, UB};
    let (out, _) = run(SUM, None).unwrap();
    let stream = &out.blocks[0].stream;
    let kinds: Vec<(Record, Pipe)> = stream.records.iter().map(|r| (r.kind, r.pipe)).collect();
    let transfers = kinds.iter().filter(|k| k.0 == Record::Dma).count();
    assert_eq!(transfers, 2, "{kinds:?}");
    let scopes: Vec<_> = stream.records.iter().filter(|r| r.kind == Record::Function).collect();
    assert_eq!(scopes.len(), 1);
    let p = stream.functions.get(scopes[0].link).unwrap();
    let loops: Vec<_> = p
        .body
        .iter()
        .filter_map(|n| match n {
            Node::Loop(l) => Some(l),
            Node::Inst(_) => None,
        })
        .collect();
    assert_eq!(loops.len(), 1, "{p:?}");
    assert_eq!((loops.len(), loops[0].trips, loops[0].body.len()), (1, 4, 2));
    let insts: Vec<_> = loops[0]
        .body
        .iter()
        .filter_map(|n| match n {
            Node::Inst(i) => Some(&p.insts[*i as usize]),
            Node::Loop(_) => None,
        })
        .collect();
    let access = insts[0].access.as_ref().unwrap();
    assert_eq!((access.region, access.base, access.deltas[0], access.bytes), (UB, 0, 256, 256));
    assert_eq!(insts[1].dst[0], insts[1].src[0], "the sum is one register");
}
