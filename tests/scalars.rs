//! Scalar operands of instructions, and text that names one thing twice.

use ptoemu::args::arg;
use ptoemu::session::{Refusal, Request, execute};
use ptoemu::targets::find;
use ptoemu_core::diag::SourceFile;

/// Runs a kernel around `body` that leaves `%p` (f32 in UB) in GM; the first stored f32.
fn first(body: &str) -> Result<f32, String> {
    let text = format!(
        r#"module attributes {{pto.target_arch = "a3"}} {{
  func.func @k(%n: i32, %y: !pto.ptr<f32>) {{
    %c0 = arith.constant 0 : i64
    %p = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
    {body}
    pto.copy_ubuf_to_gm %y, %p, 0, 1, 8, 0, 0 : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>
    return
  }}
}}"#
    );
    let target = find("a3").map_err(|e| format!("{e:?}"))?;
    let given = ["n=3:i32", "y=zeros:f32[64]"].map(|a| arg(a).map_err(|e| e.to_string()));
    let args = given.into_iter().collect::<Result<Vec<_>, _>>()?;
    let req = Request { args, ..Request::default() };
    match execute(&SourceFile::new("k.pto", text), &target, &req) {
        Ok(ran) => {
            if let Some(stop) = &ran.outcome.stop {
                return Err(stop.message.clone());
            }
            let y = ran.outcome.outputs.iter().find(|o| o.name == "y").ok_or("no output")?;
            Ok(f32::from_le_bytes([y.bytes[0], y.bytes[1], y.bytes[2], y.bytes[3]]))
        }
        Err(Refusal::Program(d)) => Err(d[0].message.clone()),
        Err(Refusal::Usage(e)) => Err(e.to_string()),
    }
}

#[test]
fn an_integer_scalar_of_a_float_instruction_is_a_number() {
    let dup =
        |s: &str| first(&format!("pto.vector_dup %p, {s}, 1, 1, 1, 8, 8 : !pto.ptr<f32, ub>, f32"));
    assert_eq!(dup("3"), Ok(3.0));
    assert_eq!(dup("-2"), Ok(-2.0));
    assert_eq!(dup("%n"), Ok(3.0));
    assert_eq!(dup("0x40400000"), Ok(3.0), "hexadecimal gives the bits");
    let named =
        "%s = arith.constant 3 : i32 pto.vector_dup %p, %s, 1, 1, 1, 8, 8 : !pto.ptr<f32, ub>, i32";
    assert_eq!(first(named), Ok(3.0));
}

#[test]
fn a_parameter_given_twice_is_refused() {
    for form in ["%p, 3, 1, 1, 1, 8, 8 {repeat = 2}", "%p, 3 {repeat = 2, repeat = 3}"] {
        let e = first(&format!("pto.vector_dup {form} : !pto.ptr<f32, ub>, f32"));
        assert_eq!(e, Err("pto.vector_dup is given `repeat` twice".to_string()));
    }
}

#[test]
fn a_value_defined_twice_is_refused() {
    let e = first("%a = arith.constant 1 : i32 %a = arith.constant 2 : i32");
    assert_eq!(e, Err("%a is defined twice".to_string()));
    let inner = "%a = arith.constant 1 : i32 %o = arith.constant 1 : index \
                 scf.for %i = %o to %o step %o { %a = arith.constant 2 : i32 } \
                 pto.vector_dup %p, 3, 1, 1, 1, 8, 8 : !pto.ptr<f32, ub>, f32";
    assert_eq!(first(inner), Ok(3.0), "another region may use the name again");
}
