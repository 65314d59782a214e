//! Modules, functions, control flow, generic form, aliases, types.

use ptoemu_core::diag::SourceFile;
use ptoemu_isa::text::*;

fn file(text: &str) -> File {
    let (file, diags) = parse(&SourceFile::new("t.pto", text));
    assert!(diags.is_empty(), "{text}\n{diags:?}");
    let once = print(&file);
    let (again, diags) = parse(&SourceFile::new("t.pto", once.clone()));
    assert!(diags.is_empty(), "{once}\n{diags:?}");
    assert_eq!(print(&again), once);
    file
}

fn one(text: &str) -> Op {
    match file(text).items.pop() {
        Some(Item::Op(op)) => op,
        other => panic!("no statement: {other:?}"),
    }
}

fn ty(text: &str) -> Type {
    one(&format!("pto.x %a : {text}")).operand_types()[0].clone()
}

fn ops(region: &Region) -> Vec<&str> {
    region.blocks.iter().flat_map(|b| &b.ops).map(|o| &*o.name.text).collect()
}

#[test]
fn module_and_functions() {
    let f = file(
        "// head\nmodule @m attributes {pto.target_arch = \"a2a3\", \"pto.device-spec\" = \"X\"} {\n\
         func.func private @g(!pto.ptr<f32>) -> i32\n\
         module { func.func @f(%a: !pto.ptr<f32, gm> {pto.arg}, %n: i32) -> (i32, f32)\n\
         attributes { pto.entry , pto.aicore} { return %n, %n : i32, f32 } } }",
    );
    let funcs = f.funcs();
    assert_eq!(funcs.len(), 2);
    let (module, g) = funcs[0];
    let attrs = module.unwrap().attrs.as_ref().unwrap();
    assert_eq!(attrs.get("pto.target_arch").and_then(Arg::as_name), Some("a2a3"));
    assert!(attrs.has("pto.device-spec"));
    assert_eq!(g.visibility.as_ref().map(|v| &*v.text), Some("private"));
    assert!(g.body.is_none() && g.args[0].name.is_none());
    let (inner, f) = funcs[1];
    assert!(inner.unwrap().name.is_none());
    assert_eq!((f.args.len(), f.results.len()), (2, 2));
    assert!(f.attrs.as_ref().unwrap().has("pto.entry"));
    assert!(f.args[0].attrs.as_ref().unwrap().has("pto.arg"));
    assert_eq!(ops(f.body.as_ref().unwrap()), ["return"]);
}

#[test]
fn counted_loop() {
    let op = one(
        "%_:1 = scf.for %i = %c0 to %n step %c1 iter_args(%r = %x) -> (i32) {\n scf.yield %r : i32\n}",
    );
    assert_eq!(op.results[0].pack, Some(1));
    assert!(matches!(&op.args[0].kind, ArgKind::Bind { name, .. } if &*name.name == "i"));
    assert!(op.has_word("to") && op.has_word("step"));
    assert!(matches!(&op.call("iter_args").unwrap().args[0].kind, ArgKind::Bind { .. }));
    assert_eq!(op.types.as_ref().unwrap().form, SigForm::Arrow);
    assert_eq!(ops(&op.regions[0]), ["scf.yield"]);
    let op = one("scf.for %i = %c0 to %n\n step %c1 : i32 { }");
    assert_eq!(op.types.as_ref().unwrap().form, SigForm::Colon);
    assert_eq!((op.args.len(), op.regions.len()), (5, 1));
}

#[test]
fn branches_and_general_loops() {
    let op = one("%r = scf.if %c -> (i32) { scf.yield %a : i32 } else { scf.yield %b : i32 }");
    assert_eq!(op.regions.len(), 2);
    assert_eq!(op.regions[1].keyword.as_ref().map(|k| &*k.text), Some("else"));
    let op = one("%f:2 = scf.while (%i = %c0, %go = %t) : (index, i1) -> (index, i1) {\n\
         scf.condition(%go) %i, %go : index, i1\n} do {\n^bb0(%i2: index, %g2: i1):\n\
         scf.yield %i2, %f#1 : index, i1\n}");
    let body = &op.regions[1].blocks[0];
    assert_eq!(body.label.as_ref().map(|l| &*l.text), Some("bb0"));
    assert_eq!(body.args.len(), 2);
    assert_eq!(body.ops[0].args[1].as_value().unwrap().index, Some(1));
}

#[test]
fn bodies_and_dictionaries_are_told_apart() {
    let f = file(
        "pto.vecscope { }\npto.section.vector {\n return\n}\npto.x {transpose}\npto.y {}\npto.vecscope { return }",
    );
    let shape: Vec<_> = f
        .items
        .iter()
        .map(|i| match i {
            Item::Op(o) => (o.args.len(), o.regions.len()),
            _ => (9, 9),
        })
        .collect();
    assert_eq!(shape, [(0, 1), (0, 1), (1, 0), (1, 0), (0, 1)]);
}

#[test]
fn calls_casts_and_constants() {
    let op = one("%r = func.call @f(%a, %b) : (i32, f32) -> i32");
    assert_eq!(op.args[0].kind, ArgKind::Symbol("f".into()));
    assert_eq!(one("call @f(%a) : (i32) -> ()").canonical(), "func.call");
    let op = one("%i = arith.index_cast %x : i32 to index");
    assert_eq!(op.types.as_ref().unwrap().form, SigForm::ColonTo);
    let op = one("%c = arith.constant -1.5e-3 : f32");
    assert!(matches!(op.args[0].kind, ArgKind::Float { value, .. } if value == -1.5e-3));
    assert_eq!(one("%c = arith.constant true").args[0].as_bool(), Some(true));
    let op = one("%c = arith.constant dense<[1, 2]> : vector<2xi32>");
    assert!(matches!(&op.args[0].kind, ArgKind::Opaque { body, .. } if &**body == "[1, 2]"));
    let op = one("%s = arith.addi %a, %b overflow<nsw> : i32");
    assert_eq!(op.args.len(), 3);
    assert!(one("%c = arith.cmpi slt, %a, %b : index").has_word("slt"));
}

#[test]
fn generic_form() {
    let op = one(
        "%r = \"pto.tmov\"(%a, %b) <{sizes = array<i32: 1, 1>, on}> ({\n pto.x\n}, {}) {k = 1 : i64} : (i32, f32) -> i32",
    );
    assert_eq!((op.form, op.regions.len()), (Form::Generic, 2));
    assert_eq!(op.canonical(), "pto.tmov");
    assert!(op.attr("k").is_some() && op.dicts().count() == 2);
    let one_value = op.args.iter().filter(|a| a.as_value().is_some()).count();
    assert_eq!(one_value, 2);
}

#[test]
fn aliases_and_locations_leave_the_tree() {
    let f = file(
        "#loc0 = loc(\"a.py\":1:2)\n#ub = #pto.address_space<vec>\n!t = !pto.ptr<f32, ub>\n\
         #map = affine_map<(d0) -> (d0)>\n\
         func.func @f(%a: !t loc(\"x\"), %m: memref<4xf32, #ub>) {\n pto.x %a {m = #map} : !t loc(#loc0)\n return loc(fused<\"a\">[\"b\", #loc0])\n} loc(#loc0)",
    );
    assert_eq!(f.items.len(), 1);
    let (_, f) = f.funcs()[0];
    assert!(matches!(f.args[0].ty.kind, TypeKind::Ptr { space: Some(Space::Ub), .. }));
    assert!(
        matches!(&f.args[1].ty.kind, TypeKind::MemRef { space: Some(s), .. } if s.value() == Some("vec"))
    );
    let op = &f.body.as_ref().unwrap().blocks[0].ops[0];
    assert!(
        matches!(&op.attr("m").unwrap().kind, ArgKind::Opaque { head, .. } if &**head == "affine_map")
    );
}

#[test]
fn keyed_lists_with_a_colon() {
    let op = one(
        "%v = memref.reinterpret_cast %a to offset: [%c], sizes: [1, %n], strides: [%n, 1] {l = #pto.layout<nd>} : memref<4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>, #pto.address_space<gm>>",
    );
    assert_eq!(op.keyed("sizes").and_then(Arg::as_list).unwrap().len(), 2);
    let TypeKind::MemRef { layout, space, dims, .. } = &op.result_types()[0].kind else {
        panic!("{:?}", op.result_types());
    };
    assert_eq!(layout.as_deref(), Some("strided<[4, 1], offset: ?>"));
    assert_eq!((space.as_ref().unwrap().value(), dims.len()), (Some("gm"), 2));
    assert_eq!(one("%a = memref.alloc() : memref<2x?xf32>").args.len(), 1);
}

#[test]
fn tile_types_in_both_spellings_mean_the_same() {
    let a = ty(
        "!pto.tile_buf<loc=vec, dtype=f16, rows=16, cols=64, blayout=col_major,\n v_row=?, v_col=-1, slayout=row_major, fractal=1024, pad=3, compact=2>",
    );
    let b = ty(
        "!pto.tile_buf<vec, 16x64xf16, pad=Min, valid=?x?, slayout=row_major, fractal=1024, blayout=col_major, compact=2>",
    );
    let (mut a, b) = (a.as_tile().unwrap().clone(), b.as_tile().unwrap().clone());
    assert_eq!((a.spelling, b.spelling), (TileSpelling::Keyed, TileSpelling::Compact));
    a.spelling = TileSpelling::Compact;
    assert_eq!(a, b);
    assert_eq!(
        (a.rows, a.v_row, a.pad, a.compact),
        (16, Dim::Dynamic, Pad::Min, Compact::RowPlusOne)
    );
}

#[test]
fn tile_type_defaults_and_documentation_spellings() {
    let plain = ty("!pto.tile_buf<vec, 127x64xf32, valid=127x63>");
    let t = plain.as_tile().unwrap();
    assert_eq!((t.blayout, t.slayout, t.fractal), (Layout::RowMajor, Layout::NoneBox, 512));
    assert_eq!((t.pad, t.compact, t.v_col), (Pad::Null, Compact::Null, Dim::Static(63)));
    for text in ["!pto.tile<16x64xf32>", "!pto.tile<f32, 16, 64>"] {
        let t = ty(text);
        assert_eq!((t.as_tile().unwrap().rows, t.as_tile().unwrap().cols), (16, 64));
        assert_eq!(t.to_string(), text);
    }
    let t = ty("!pto.tile<loc=vec, f32, 16, 16, RowMajor, NoneBox, None, Zero>");
    let t = t.as_tile().unwrap();
    assert_eq!((t.loc, t.pad, t.fractal), (Some(Space::Vec), Pad::Zero, 512));
    let t = ty("<loc=bias, dtype=f32, rows=1, cols=16>");
    assert!(t.elided);
    assert_eq!(t.as_tile().unwrap().loc, Some(Space::Bias));
}

#[test]
fn dimension_lists_are_no_numbers() {
    assert!(matches!(ty("memref<0x4xf32>").kind, TypeKind::MemRef { dims, .. }
        if dims == [Dim::Static(0), Dim::Static(4)]));
    assert!(matches!(ty("!pto.vreg<64xf32>").kind, TypeKind::Vreg { lanes: 64, .. }));
    assert!(matches!(
        ty("!pto.ptr<f8E4M3FN, l0a>").kind,
        TypeKind::Ptr { elem: Scalar::Float(Float::F8E4M3FN), space: Some(Space::L0a) }
    ));
    assert!(matches!(ty("<f32, gm>").kind, TypeKind::Ptr { space: Some(Space::Gm), .. }));
    assert!(
        matches!(ty("vector<4x?xsi16>").kind, TypeKind::Vector { dims, .. } if dims.len() == 2)
    );
}

#[test]
fn unknown_types_keep_their_text() {
    for text in [
        "!pto.eventid_array<4>",
        "!pto.pipe",
        "tensor<4x!pto.ptr<f32>>",
        "memref<*xf32>",
        "memref<4xf32, affine_map<(d0) -> (d0)>, 1 : i32>",
        "!other.thing<a -> b, \"x > y\", [1]>",
        "!pto.ptr<!pto.ptr<f32>>",
    ] {
        assert_eq!(ty(text).to_string(), text);
    }
    let spread = ty("!x.y< a // note >\n  b >");
    assert_eq!(spread.to_string(), "!x.y<a b>");
}

#[test]
fn summary_counts() {
    let f = file(
        "module attributes {pto.target_arch = \"a5\"} { func.func @f() attributes {pto.entry} {\n scf.if %c {\n pto.x\n}\n return } }\ntadd %a, %b, %c",
    );
    let s = summary(&f);
    assert_eq!((s.modules, s.statements, s.bare_statements), (1, 4, 1));
    assert_eq!(s.targets, ["a5"]);
    assert_eq!(s.functions[0].statements, 3);
    assert!(s.functions[0].entry && !s.functions[0].declaration);
    assert_eq!(s.ops["pto.tadd"], 1);
    assert_eq!(s.ops["func.return"], 1);
}

#[test]
fn odd_white_space_and_foreign_letters() {
    let f = file(
        "\u{feff}// größe\r\nmodule\r\n{\r\n\tfunc.func @f() {\r\n\treturn // ß\r\n}\r\n}\r\n",
    );
    assert_eq!(f.funcs().len(), 1);
    assert!(file("").items.is_empty());
    assert!(file("  // only a comment").items.is_empty());
}
