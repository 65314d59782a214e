//! What a wrong text is told, and that nothing makes the reader panic, overflow or slow down.

use ptoemu_core::diag::{Diagnostic, Level, SourceFile};
use ptoemu_isa::text::*;
use std::time::{Duration, Instant};

fn read(text: &str) -> (File, Vec<Diagnostic>) {
    parse(&SourceFile::new("t.pto", text))
}

/// The single error of a text: its message and the text under the caret.
fn error(text: &str) -> (String, String) {
    let (_, diags) = read(text);
    assert_eq!(diags.len(), 1, "{text}\n{diags:?}");
    let d = &diags[0];
    assert_eq!((d.code, d.level), ("syntax", Level::Error));
    let under = text.get(d.labels[0].span.range()).unwrap_or("?");
    (d.message.clone(), under.to_string())
}

#[track_caller]
fn says(text: &str, message: &str, under: &str) {
    assert_eq!(error(text), (message.to_string(), under.to_string()), "{text}");
}

#[test]
fn separators() {
    says("pto.vadd %a %b : f32", "expected `,` or `:` after `%a`", "%b");
    says("pto.vadd %p[%i] 3 : f32", "expected `,` or `:` after `%p[%i]`", "3");
    says("pto.vadd %a,, %b", "expected an operand after `,`", ",");
    says("pto.vadd %a,\n%c = pto.x", "expected an operand after `,`", "%c");
    says("pto.vadd %a,\npto.x", "expected an operand after `,`", "pto.x");
    says("pto.tabs ins(%a %b : f32)", "expected `,`, `:` or `)` after `%a`", "%b");
    says("pto.tabs ins(%a, %b : f32", "expected `,` or `)` after `f32`", "");
    says("pto.x [1 2]", "expected `,` or `]` after `1`", "2");
    says("pto.x {a = 1 b = 2}", "expected `,` or `}` after `1`", "b");
    says("pto.x {a = }", "expected a value after `=`", "}");
}

#[test]
fn statements() {
    says("%a pto.x", "expected `=` after `%a`", "pto.x");
    says("%a, = pto.x", "expected a `%name` after `,`", "=");
    says("%a = ", "expected an op name after `=`", "");
    says("pto.x %a : f32 f32", "expected a new line after `f32`", "f32");
    says("pto.y )", "expected a statement after `pto.y`", ")");
    says("pto.x \"abc", "the line ends inside a string", "\"abc");
    says("#pto.x %a", "expected a statement, found an attribute", "#pto.x");
    says("%a:x = pto.y", "expected the number of results after `:`", "x");
}

#[test]
fn structure() {
    says("func.func @f( {\n}\n", "expected a type after `(`", "{");
    says("func.func f()", "expected `@name` after `func.func`", "f");
    says("module @m\nfunc.func @f()", "expected `{` after `@m`", "func.func");
    says("}", "expected a statement", "}");
    let (_, diags) = read("module {\n func.func @f() {\n  pto.x\n");
    assert_eq!(diags.len(), 1, "{diags:?}");
    assert_eq!(diags[0].message, "expected `}` after `pto.x`");
    assert_eq!(diags[0].labels[1].span.range(), 25..26);
    assert_eq!(diags[0].labels[1].text, "to close this");
}

#[test]
fn types() {
    says("pto.x %a : ", "expected a type after `:`", "");
    says("pto.x %a : !pto.ptr<f32, xx>", "unknown address space `xx`", "xx");
    says("pto.x %a : !pto.vreg<?xf32>", "a vector register has one fixed size", "?xf32");
    says("pto.x %a : !pto.mask<b9>", "expected `b8`, `b16` or `b32`", "b9");
    says("pto.x %a : !pto.tile_buf<vec, 16x64xf99>", "unknown element type `f99`", "f99");
    says("pto.x %a : !pto.tile_buf<vec, ?x64xf32>", "a tile has two fixed sizes", "?x64xf32");
    says("pto.x %a : !pto.tile_buf<loc=vec, foo=1>", "unknown tile field `foo`", "foo");
    says(
        "pto.x %a : !pto.tile_buf<dtype=f32, cols=1>",
        "the tile type lacks `rows`",
        "dtype=f32, cols=1",
    );
    says("pto.x %a : !pto.tile_buf<vec, 4x4xf32, rows=4>", "`rows` is given twice", "rows=4");
    says("pto.x %a : !pto.tile_buf<vec, 4x4xf32, pad=9>", "expected a padding (0 to 3)", "9");
    says("pto.x %a : !pto.tile_buf<vec, 4x4xf32", "`<` is never closed", "<");
    says(
        "pto.x %a : !pto.tensor_view<99999999999999999999xf32>",
        "the size is too large",
        "99999999999999999999",
    );
    says("!t = (i32) -> i32", "a function type cannot have an alias", "(i32) -> i32");
}

#[test]
fn numbers() {
    let long = format!("0x{}", "1".repeat(40));
    says(&format!("pto.x {long}"), "the number does not fit in 128 bits", &long);
    says("pto.tassign %a, @tile(-1)", "not an address of the unified buffer", "-1");
    says("pto.x %a#99999999999", "the result number is too large", "%a#99999999999");
}

#[test]
fn reading_goes_on_behind_an_error() {
    let text = "func.func @f() {\n  pto.a %x %y\n  scf.for %i = %a to %b %c {\n    pto.b\n  }\n  pto.c {k = }\n  pto.d\n}\nfunc.func @g() {\n  return\n}\n";
    let (file, diags) = read(text);
    assert_eq!(diags.len(), 3, "{diags:?}");
    let funcs = file.funcs();
    assert_eq!(funcs.len(), 2);
    let names: Vec<_> =
        funcs[0].1.body.iter().flat_map(|b| &b.blocks[0].ops).map(|o| &*o.name.text).collect();
    assert_eq!(names, ["pto.d"]);
}

#[test]
fn errors_are_capped() {
    let (_, diags) = read(&"pto.x %a %b\n".repeat(1000));
    assert_eq!(diags.len(), 21);
    assert_eq!(diags[20].level, Level::Note);
}

#[test]
fn deep_nesting_is_refused() {
    for open in
        ["(", "[", "{a = ", "x(", "a = ", "!t<", "<", "\"a\"({", "-> (", ": (", "%a[", "^b("]
    {
        let (_, diags) = read(&format!("pto.x {}", open.repeat(50_000)));
        assert!(!diags.is_empty(), "{open}");
    }
    for open in ["scf.if %c {\n", "module {\n", "func.func @f() {\n", "pto.vecscope {\n^a:\n"] {
        let (_, diags) = read(&open.repeat(50_000));
        assert!(diags.iter().any(|d| d.message.contains("levels deep")), "{open}");
    }
    let nested = format!("{}{}", "scf.if %c {\n".repeat(60), "}\n".repeat(60));
    assert!(read(&nested).1.is_empty());
}

#[test]
fn time_is_linear() {
    let rows = 40_000;
    let texts = [
        "pto.x %a,\n".repeat(rows),
        "%a,\n".repeat(rows),
        "pto.x <\n".repeat(rows),
        "pto.x (\n".repeat(rows),
        "{ } (".repeat(rows),
        format!("pto.x {}", "%a,\n".repeat(rows)),
        format!("pto.x [{}", "%a,\n".repeat(rows)),
        format!("pto.x {}%z", "w ".repeat(rows)),
        format!("pto.x !t<{}>", "<a>, ".repeat(rows)),
        format!("pto.x %a : memref<4xf32{}>", ", a<b>".repeat(rows)),
        "// c\n".repeat(rows),
        "loc(\n".repeat(rows),
        "\"\n".repeat(rows),
    ];
    for text in texts {
        let start = Instant::now();
        read(&text);
        let took = start.elapsed();
        assert!(took < Duration::from_secs(1), "{took:?}: {:?}", &text[..20]);
    }
}
