//! One test per form of the language: what the tree says, and that its canonical text is stable.

use ptoemu_core::diag::SourceFile;
use ptoemu_isa::text::*;

/// Reads a text without errors and checks that printing is a fixed point.
fn file(text: &str) -> File {
    let (file, diags) = parse(&SourceFile::new("t.pto", text));
    assert!(diags.is_empty(), "{text}\n{diags:?}");
    let once = print(&file);
    let (again, diags) = parse(&SourceFile::new("t.pto", once.clone()));
    assert!(diags.is_empty(), "{once}\n{diags:?}");
    assert_eq!(print(&again), once);
    file
}

fn ops(text: &str) -> Vec<Op> {
    let op = |item| match item {
        Item::Op(op) => op,
        other => panic!("no statement: {other:?}"),
    };
    file(text).items.into_iter().map(op).collect()
}

fn one(text: &str) -> Op {
    let mut all = ops(text);
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0)
}

/// Canonical text of a single statement.
fn canon(text: &str) -> String {
    print_op(&one(text))
}

fn value(arg: &Arg) -> &str {
    arg.as_value().map_or("", |v| &v.name)
}

#[test]
fn tile_op_without_prefix() {
    let op = one("%dst = trowmax %src : !pto.tile<...> -> !pto.tile<...>");
    assert_eq!(op.canonical(), "pto.trowmax");
    assert_eq!(&*op.results[0].name, "dst");
    assert_eq!(value(&op.args[0]), "src");
    assert_eq!(op.operand_types()[0].kind, TypeKind::TileUnknown { buf: false });
    assert_eq!(op.result_types().len(), 1);
}

#[test]
fn tile_op_with_several_operands() {
    let op = one("%d = trowexpanddiv %a, %b : !pto.tile<...>, !pto.tile<...> -> !pto.tile<...>");
    assert_eq!((op.args.len(), op.operand_types().len()), (2, 2));
    let op = one("%d = pto.trowmax %s, %t : (!pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>");
    let sig = op.types.as_ref().unwrap();
    assert!(sig.operand_parens && !sig.result_parens);
    assert_eq!(sig.operands.len(), 2);
}

#[test]
fn tile_op_in_destination_style() {
    let op = one("pto.trowmax ins(%src, %tmp : !pto.tile_buf<...>, !pto.tile_buf<...>)\n\
         outs(%dst : !pto.tile_buf<...>)");
    let ins = op.call("ins").unwrap();
    assert_eq!((ins.args.len(), ins.types.len()), (2, 2));
    assert_eq!(value(&op.call("outs").unwrap().args[0]), "dst");
    assert_eq!(ins.types[0].kind, TypeKind::TileUnknown { buf: true });
    assert!(op.types.is_none());
}

#[test]
fn address_binding_may_be_a_comment() {
    let with = "# Manual mode\npto.tassign %arg0, @tile(0x1000)\n%d = pto.tabs %s : !pto.tile<...> -> !pto.tile<...>";
    let all = ops(with);
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].args[1].kind, ArgKind::TileAt(0x1000));
    let without = with.replace("pto.tassign", "# pto.tassign");
    assert_eq!(ops(&without).len(), 1);
}

#[test]
fn bare_lines_follow_each_other() {
    let all = ops("tadd %d, %a, %b : !pto.tile<f32,16,16>\ntstore %d, %out[%c0, %c0]\n\
                   tabs ins(%a : !pto.tile<...>) outs(%b : !pto.tile<...>)\n\
                   %e = tload %v[%c0, %c0] : (!pto.memref<...>, index, index) -> !pto.tile<...>\n\
                   tsync %e0, %e1 : !pto.event<...>, !pto.event<...>");
    let names: Vec<_> = all.iter().map(|o| o.canonical().into_owned()).collect();
    assert_eq!(names, ["pto.tadd", "pto.tstore", "pto.tabs", "pto.tload", "pto.tsync"]);
    assert_eq!(all[0].args.len(), 3);
    assert!(matches!(&all[1].args[1].kind, ArgKind::Index { indices, .. } if indices.len() == 2));
}

#[test]
fn documentation_leftovers() {
    let op = one("tstore %t, %g #atomic=add");
    assert!(matches!(&op.args[2].kind, ArgKind::Modifier { sigil: '#', .. }));
    let op = one("tmov.m2l %d, %t!loc=vec");
    assert_eq!(op.canonical(), "pto.tmov.m2l");
    assert!(
        matches!(&op.args[2].kind, ArgKind::Modifier { sigil: '!', key, .. } if &*key.text == "loc")
    );
    let op = one("%d = pto.tadds %s, 0x3F800000");
    assert_eq!(op.args[1].kind, ArgKind::Int { value: 0x3F80_0000, hex: true });
    assert_eq!(ops("again:\n  pto.tabs ins(%a : f32)\n").len(), 1);
    let op = one("pto.tassign ins(%t, %a : !pto.tile<...>, dtype)");
    assert_eq!(op.call("ins").unwrap().types.len(), 2);
    let op = one("pto.tassign %t, %a : !pto.tile<...>, dtype");
    assert_eq!(&*op.types.unwrap().marks[0].word.text, "dtype");
}

#[test]
fn vector_instruction_by_position_and_by_name() {
    let op = one(
        "pto.vmax %d, %a, %b, 8, 1, 1, 1, 8, 8, 8\n : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>",
    );
    let numbers: Vec<_> = op.args.iter().filter_map(Arg::as_int).collect();
    assert_eq!(numbers, [8, 1, 1, 1, 8, 8, 8]);
    let op = one(
        "pto.vmax %d, %a, %b {repeat = 8, dst_blk = 1} : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>",
    );
    assert_eq!(op.attr("repeat").and_then(Arg::as_int), Some(8));
    assert_eq!(op.attr("dst_blk").and_then(Arg::as_int), Some(1));
    assert_eq!(op.args.iter().filter(|a| a.as_value().is_some()).count(), 3);
}

#[test]
fn reductions_masks_and_barriers() {
    let op =
        one("pto.vcmax %d, %s, 8, 1, 1, 8, \"ONLY_VALUE\" : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>");
    assert_eq!(op.args.last().and_then(Arg::as_name), Some("ONLY_VALUE"));
    let all = ops(
        "pto.set_mask_norm\npto.set_vector_mask -1, 0xFF : i64, i64\npto.set_vector_mask -1, -1\npto.set_mask_count",
    );
    assert_eq!(all.len(), 4);
    assert_eq!(all[1].args[0].as_int(), Some(-1));
    assert_eq!(all[2].args[1].as_int(), Some(-1));
    for text in
        ["pto.barrier #pto.pipe<PIPE_V>", "pto.pipe_barrier \"PIPE_V\"", "pto.barrier <PIPE_V>"]
    {
        assert_eq!(one(text).args[0].as_name(), Some("PIPE_V"));
    }
}

#[test]
fn flags_and_buffers() {
    let op = one("pto.set_flag[\"PIPE_V\", \"PIPE_MTE3\", \"EVENT_ID0\"]");
    let names: Vec<_> = op.args[0].as_list().unwrap().iter().filter_map(Arg::as_name).collect();
    assert_eq!(names, ["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]);
    let op = one("pto.set_flag_dyn [#pto.pipe<PIPE_V>, <PIPE_MTE3>, %e]");
    let list = op.args[0].as_list().unwrap();
    assert_eq!((list[0].as_name(), list[1].as_name()), (Some("PIPE_V"), Some("PIPE_MTE3")));
    assert_eq!(value(&list[2]), "e");
    let op = one("pto.sync.wait <PIPE_MTE3>, 1");
    assert_eq!(op.args[1].as_int(), Some(1));
    assert_eq!(canon("pto.get_buf \"PIPE_V\", 0, 0"), "pto.get_buf \"PIPE_V\", 0, 0");
    assert_eq!(one("pto.rls_buf [#pto.pipe_event_type<TVEC>, 0]").args.len(), 1);
}

#[test]
fn enumerators_in_every_spelling() {
    let op = one("pto.tcmp ins(%a, %b {cmpMode = #pto<cmp lt>} : f32, f32) outs(%c : i1)");
    let mode = op.attr("cmpMode").unwrap();
    assert_eq!(mode.as_name(), Some("lt"));
    assert!(matches!(&mode.kind, ArgKind::Attr(a) if a.kind() == Some("cmp")));
    let op = one("pto.tcmp ins(%a : f32) outs(%c : i1) {cmpMode = #pto.cmp<EQ>}");
    assert!(matches!(&op.attr("cmpMode").unwrap().kind, ArgKind::Attr(a)
        if a.kind() == Some("cmp") && a.value() == Some("EQ")));
    let op =
        one("pto.tgather ins(%s, {maskPattern = #pto.mask_pattern<P0101>} : f32) outs(%d : f32)");
    assert_eq!(op.attr("maskPattern").and_then(Arg::as_name), Some("P0101"));
}

#[test]
fn operands_with_their_own_types() {
    let text = "pto.tmov ins(%a : f32, %s : i64) outs(%b : f32) {split = 1 : i32}";
    let op = one(text);
    let ins = op.call("ins").unwrap();
    assert!(ins.each);
    assert_eq!((ins.args.len(), ins.types.len()), (2, 2));
    assert_eq!(op.attr("split").and_then(Arg::as_int), Some(1));
    assert_eq!(print_op(&op), text);
}

#[test]
fn views_and_allocation() {
    let op = one(
        "%v = pto.make_tensor_view %p, shape = [%c1, %c2] strides = [%c2, %c1] : !pto.tensor_view<?x?xf16>",
    );
    assert_eq!(op.keyed("shape").and_then(Arg::as_list).unwrap().len(), 2);
    assert_eq!(op.keyed("strides").and_then(Arg::as_list).unwrap().len(), 2);
    assert!(matches!(&op.operand_types()[0].kind,
        TypeKind::View { kind: ViewKind::Tensor, dims, .. } if dims == &[Dim::Dynamic; 2]));
    let op = one(
        "%t = pto.alloc_tile addr = %a valid_row = %r : !pto.tile_buf<vec, 8x64xf32, valid=?x64>",
    );
    assert_eq!(op.keyed("addr").map(value), Some("a"));
    assert_eq!(op.keyed("valid_row").map(value), Some("r"));
    let op =
        one("%t = pto.subset %a[%c0, %c0] sizes [32, 32] : <32x64xf32, #pto.address_space<vec>>");
    assert!(op.has_word("sizes"));
    assert_eq!(op.operand_types()[0].as_tile().unwrap().loc, Some(Space::Vec));
}

#[test]
fn transfers_with_clauses() {
    let op = one(
        "pto.mte_gm_ub %g, %u, %c, %n nburst(%a, %b, %c) loop(%x, %y, %z) loop(%x, %y, %w) pad(%v)\n\
         : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, loop i64, i64, i64, loop i64, i64, i64, pad f32",
    );
    assert_eq!(op.calls("loop").count(), 2);
    let sig = op.types.as_ref().unwrap();
    assert_eq!((sig.operands.len(), sig.marks.len()), (14, 3));
    assert_eq!(sig.marks[1].before, 10);
    let op = one("pto.mte_gm_l1_frac %s, %d, nd2nz, shape(%a, %b), src_layout(%l), ctrl(%x, %f)\n\
         : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, nd2nz, shape i64, i64, src_layout(i64),\n  ctrl i64, i1");
    assert!(op.has_word("nd2nz"));
    assert_eq!(op.types.as_ref().unwrap().marks[2].group, Some(1));
    let op = one(
        "pto.mte_l0c_gm %s, %d, pre_quant(%q, mode = qf322f16_pre), nz2nd,\n atomic(type = f32, op = add),\n sat\n : !pto.ptr<f32, l0c>, !pto.ptr<f16, gm>",
    );
    assert!(op.has_word("sat") && op.has_word("nz2nd"));
    assert!(
        op.call("atomic").unwrap().args.iter().all(|a| matches!(a.kind, ArgKind::Keyed { .. }))
    );
}

#[test]
fn register_instructions() {
    let op = one(
        "%s, %c = pto.vaddc %a, %b, %m : !pto.vreg<64xui32>, !pto.vreg<64xui32>, !pto.mask<b32> -> !pto.vreg<64xui32>, !pto.mask<b32>",
    );
    assert_eq!((op.results.len(), op.result_types().len()), (2, 2));
    let op = one(
        "%l, %h = pto.vldsx2 %p[%o], \"DINTLV_B32\" : !pto.ptr<f32, ub>, index -> !pto.vreg<64xf32>, !pto.vreg<64xf32>",
    );
    assert!(matches!(&op.args[0].kind, ArgKind::Index { base, .. } if &*base.name == "p"));
    let op =
        one("%v = pto.vlds %p[%o] {dist = \"BRC_B32\"} : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>");
    assert_eq!(op.attr("dist").and_then(Arg::as_name), Some("BRC_B32"));
    let op = one("%a = pto.init_align : !pto.align");
    assert_eq!(op.operand_types()[0].kind, TypeKind::Align);
}
