//! What no program can make the executor exceed: the stack, the step budget, buffers made up.

use ptoemu_core::diag::SourceFile;
use ptoemu_isa::exec::{self, ArgValue, Binding, LowerOptions, Outcome};
use ptoemu_isa::machine::Settings;
use ptoemu_isa::text::parse;
use ptoemu_isa::tile::{Family, Limits, OperandOrder, Quirks};

fn run(text: &str, args: Vec<Binding>, max_steps: Option<u64>) -> Result<Outcome, String> {
    let (file, errors) = parse(&SourceFile::new("k.pto", text));
    assert!(errors.is_empty(), "{errors:?}");
    let limits = Limits::of(Family::A2A3);
    let lower = LowerOptions {
        entry: None,
        limits: exec::Limits { align: 512, auto_end: limits.reserved.start },
        tiles: Vec::new(),
    };
    let program = exec::lower(&file, &lower).map_err(|d| d[0].message.clone())?;
    let options = exec::Options {
        args,
        blocks: 1,
        auto_sync: None,
        quirks: Quirks::corrected(),
        operand_order: OperandOrder::Seed,
        settings: Settings { inferred_bytes: 4096, ..Settings::default() },
        limits,
        max_steps,
        progress: None,
    };
    exec::run(&program, &options).map_err(|d| d[0].message.clone())
}

fn stop(out: Result<Outcome, String>) -> &'static str {
    out.expect("a run").stop.expect("a fault").code
}

#[test]
fn calls_inside_nested_bodies_fit_a_small_stack() {
    let text = format!(
        "func.func @f(%c: i1) {{\n{}func.call @f(%c) : (i1) -> ()\n{}return\n}}\n",
        "scf.if %c {\n".repeat(90),
        "}\n".repeat(90)
    );
    let on = ArgValue::Scalar(ptoemu_core::dtype::DType::I8, 1);
    let args = vec![Binding { name: "c".into(), value: on }];
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let code = thread.spawn(move || stop(run(&text, args, None))).expect("a thread").join();
    assert_eq!(code.expect("no overflow"), "limit.calls");
}

#[test]
fn bursts_of_a_transfer_are_steps() {
    let text = "func.func @k(%g: !pto.ptr<f32, gm>) attributes {pto.target_arch = \"a5\"} {
  %z = arith.constant 0 : i64
  %n = arith.constant 4000 : i64
  %b = arith.constant 32 : i64
  %p = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
  pto.mte_gm_ub %g, %p, %b nburst(%n, %z, %z) loop(%n, %z, %z) : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, nburst(i64, i64, i64), loop(i64, i64, i64)
  return
}
";
    let args = vec![Binding { name: "g".into(), value: ArgValue::Bytes(vec![0; 64]) }];
    assert_eq!(stop(run(text, args, Some(1000))), "limit.steps");
}

#[test]
fn buffers_made_up_share_one_limit() {
    let views = |n: u64| {
        format!(
            "func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) {{
  %n = arith.constant {n} : index
  %v = pto.make_tensor_view %a, shape = [%n, %n, %n] strides = [%n, %n, %n] : !pto.tensor_view<?x?x?xf32>
  %w = pto.make_tensor_view %b, shape = [%n, %n, %n] strides = [%n, %n, %n] : !pto.tensor_view<?x?x?xf32>
  return
}}
"
        )
    };
    // 4 x (1 + 3 x 13 x 14) bytes each: one fits 4096, both do not.
    assert!(run(&views(14), Vec::new(), None).is_err());
    assert!(run(&views(13), Vec::new(), None).expect("a run").stop.is_none());
    // Nor does the extent overflow.
    assert!(run(&views(i64::MAX as u64), Vec::new(), None).is_err());
}
